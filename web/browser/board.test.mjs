// The dispatcher's board: two dispatchers, with the keyboard and with the mouse.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { administrator, api, browser, desk, eventually, gone, hire, phone, shot, url, violations, work, zone } from './kit.mjs'; // prettier-ignore

const around = [-73.98, 40.75];

let chrome, first, second, ada, bob;
const tasks = {};

// dispatcher invites an administrator and opens the board.
async function dispatcher(name) {
  const admin = await api('POST', '/admins', { name, email: `${name}@example.com`, type: 'super' });
  const { link } = await api('POST', `/admins/${admin.id}/invitation`, {});
  const opened = await desk(chrome, url, { bypassCSP: true });
  await opened.page.goto(link);
  await opened.page.getByLabel('New password').fill('correct horse battery');
  await opened.page.getByRole('button', { name: 'Join' }).click();
  await opened.page.getByRole('tree').waitFor();
  return opened;
}

const row = (page, name) => page.getByRole('treeitem').filter({ hasText: name });
const list = async (worker) => (await api('GET', `/containers/workers/${worker}`)).tasks;
const shown = (page, worker) =>
  page.evaluate((key) => document.querySelector('[role=tree]').board.records.list(key), `W${worker}`);

before(async () => {
  chrome = await browser();
  const team = await api('POST', '/teams', { name: 'Board', workers: [], managers: [] });
  ada = (await api('POST', '/workers', { name: 'Ada Board', phone: '+12125550171', teams: [team.id] })).id;
  bob = (await api('POST', '/workers', { name: 'Bob Board', phone: '+12125550172', teams: [team.id] })).id;
  for (const [i, name] of ['Iris', 'Jonas', 'Kim', 'Lena'].entries()) {
    const task = await api('POST', '/tasks', {
      destination: {
        address: { number: String(i + 1), street: 'Board Street', city: 'New York', country: 'US' },
        location: [around[0] + i / 1000, around[1]],
      },
      recipients: [{ name, phone: `+121255501${80 + i}` }],
      completeBefore: Date.now() + (i + 1) * 3600_000,
    });
    tasks[name] = task.id;
  }
  [first, second] = [await dispatcher('Ines'), await dispatcher('Jorge')];
});
after(() => chrome?.close());

test('tasks are assigned, reordered and put back with keys, and the other dispatcher sees it', async () => {
  const { page } = first;
  await page.getByLabel('Filter tasks').fill('Board Street');
  await page.getByRole('tree').focus();
  await eventually('Iris', async () => (await row(page, 'Iris').count()) === 1);
  await row(page, 'Iris').click();
  await page.keyboard.press('Shift+J');
  await page.getByText('2 selected').waitFor();
  await page.keyboard.press('a');
  await page.getByRole('combobox', { name: 'Assign' }).fill('ada b');
  await page.keyboard.press('Enter');
  await eventually('assigned', async () => (await list(ada)).join() === [tasks.Iris, tasks.Jonas].join());
  await eventually('seen', async () => (await shown(second.page, ada)).join() === (await list(ada)).join());

  await page.getByRole('tree').focus();
  await row(page, 'Iris').click();
  await page.keyboard.press('Alt+ArrowDown');
  await eventually('reordered', async () => (await list(ada)).join() === [tasks.Jonas, tasks.Iris].join());
  await eventually('seen', async () => (await shown(second.page, ada)).join() === (await list(ada)).join());

  await page.keyboard.press('z');
  await eventually('undone', async () => (await list(ada))[0] === tasks.Iris);
  await page.keyboard.press('z');
  await eventually('unassigned', async () => (await list(ada)).length === 0);
  await eventually('seen', async () => (await shown(second.page, ada)).length === 0);
});

test('a change is undone after another day was chosen', async () => {
  const { page } = first;
  await row(page, 'Iris').click();
  await page.keyboard.press('a');
  await page.getByRole('combobox', { name: 'Assign' }).fill('ada b');
  await page.keyboard.press('Enter');
  await eventually('assigned', async () => (await list(ada)).join() === tasks.Iris);
  await page.getByRole('tree').focus();
  await page.keyboard.press(']');
  await gone(row(page, 'Iris'));
  await page.getByRole('tree').focus();
  await page.keyboard.press('z');
  await eventually('undone', async () => (await list(ada)).length === 0);
  await page.keyboard.press('t');
  await row(page, 'Iris').waitFor();
});

test('a drag assigns, and a rejected move is taken back with the reason', async () => {
  const { page } = first;
  await page.getByLabel('Filter tasks').fill('');
  const from = await row(page, 'Kim').boundingBox();
  const to = await row(page, 'Bob Board').boundingBox();
  await page.mouse.move(from.x + 60, from.y + 20);
  await page.mouse.down();
  await page.mouse.move(to.x + 60, to.y + 20, { steps: 5 });
  await page.mouse.up();
  await eventually('assigned', async () => (await list(bob)).join() === tasks.Kim);
  assert.deepEqual(await shown(page, bob), [tasks.Kim]);

  await page.route('**/api/v2/containers/**', (route) =>
    route.fulfill({ status: 400, json: { message: { error: 1000, message: 'The list is closed.' } } }),
  );
  await row(page, 'Lena').click();
  await page.keyboard.press('a');
  await page.getByRole('combobox', { name: 'Assign' }).fill('bob b');
  await page.keyboard.press('Enter');
  await page.getByText('The list is closed.').waitFor();
  assert.deepEqual(await shown(page, bob), [tasks.Kim]);
  await page.unroute('**/api/v2/containers/**');
});

test('a drag within the unassigned tasks, which have no order, does nothing', async () => {
  const { page } = first;
  const sent = [];
  const note = (r) => r.method() === 'PUT' && sent.push(r.url());
  page.on('request', note);
  const from = await row(page, 'Lena').boundingBox();
  const to = await row(page, 'Iris').boundingBox();
  await page.mouse.move(from.x + 60, from.y + 20);
  await page.mouse.down();
  await page.mouse.move(to.x + 60, to.y + 5, { steps: 5 });
  await page.locator('.row-of.dragged').waitFor();
  assert.equal(await page.locator('.row-of.over').count(), 0);
  await page.mouse.up();
  await gone(page.locator('.row-of.dragged'));
  await row(page, 'Lena').click(); // anything sent before has been noted
  await page.getByRole('treeitem', { name: /Lena/, selected: true }).waitFor();
  assert.deepEqual(sent, []);
  page.off('request', note);
});

test('a filter removes hidden tasks from the selection', async () => {
  const { page } = first;
  await row(page, 'Iris').click();
  await row(page, 'Lena').click({ modifiers: ['Control'] });
  await page.getByText('2 selected').waitFor();
  await page.getByLabel('Filter tasks').fill('Lena');
  await page.getByText('1 selected').waitFor();
  await page.getByLabel('Filter tasks').fill('');
  await row(page, 'Iris')
    .and(page.getByRole('treeitem', { selected: false }))
    .waitFor();
  await row(page, 'Lena')
    .and(page.getByRole('treeitem', { selected: true }))
    .waitFor();
});

test('if a change of many tasks fails, each is listed by name with the reason, and can be opened', async () => {
  const { page } = first;
  const report = page.getByRole('dialog', { name: 'Not everything was done' });
  await page.getByLabel('Filter tasks').fill('Board Street');
  await eventually('Iris', async () => (await row(page, 'Iris').count()) === 1);
  await row(page, 'Iris').click();
  await page.keyboard.press('Shift+J');
  await page.getByText('2 selected').waitFor();

  // If one request for all tasks is rejected, each has its reason.
  await page.route('**/api/v2/containers/**', (route) =>
    route.fulfill({ status: 400, json: { message: { error: 1000, message: 'The list is closed.' } } }),
  );
  await page.keyboard.press('a');
  await page.getByRole('combobox', { name: 'Assign' }).fill('bob b');
  await page.keyboard.press('Enter');
  await report.getByText('0 of 2').waitFor();
  assert.equal(await report.getByText('The list is closed.').count(), 2);
  await page.keyboard.press('Escape');
  await gone(report);
  await page.unroute('**/api/v2/containers/**');

  // With a request for each task, each has its own reason.
  await page.route(`**/api/v2/tasks/${tasks.Jonas}`, (route) =>
    route.request().method() === 'DELETE'
      ? route.fulfill({ status: 412, json: { message: { error: 2218, message: 'It is on the road.' } } })
      : route.continue(),
  );
  await page.keyboard.press('Delete');
  await page
    .getByRole('alertdialog', { name: 'Delete tasks: 2' })
    .getByRole('button', { name: 'Delete' })
    .press('Enter');
  await report.getByText('1 of 2').waitFor();
  await page.getByText('Tasks deleted: 1.').waitFor();
  await report.getByText('It is on the road.').waitFor();
  await report.getByRole('button', { name: 'Jonas' }).press('Enter');
  await page.getByRole('complementary', { name: 'Task' }).getByRole('heading', { name: 'Jonas' }).waitFor();
  await gone(row(page, 'Iris'));
  await page.keyboard.press('Escape');
  await page.unroute(`**/api/v2/tasks/${tasks.Jonas}`);
  await page.getByLabel('Filter tasks').fill('');
});

test('a task is shown in the drawer, and changes made elsewhere appear', async () => {
  const { page, faults } = first;
  await row(page, 'Lena').click();
  await page.keyboard.press('Enter');
  const drawer = page.getByRole('complementary', { name: 'Task' });
  await drawer.getByText('Board Street').first().waitFor();
  await api('PUT', `/tasks/${tasks.Lena}`, { notes: 'Ring twice at the blue door.' });
  await drawer.getByText('Ring twice at the blue door.').waitFor();
  assert.deepEqual(await violations(page), []);
  await shot(page, '50-board');
  await page.keyboard.press('Escape');
  await gone(drawer);
  assert.deepEqual(faults, []);
  assert.deepEqual(second.faults, []);
});

test('a task is created, and found in the table', async () => {
  const { page, faults } = second;
  await page.getByRole('tree').focus();
  await page.keyboard.press('n');
  const form = page.getByRole('dialog', { name: 'Create task' });
  await form.getByLabel('Find address').and(page.locator(':focus')).waitFor();
  await form.getByLabel('Number').fill('5');
  await form.getByLabel('Street').fill('Keyboard Street');
  await form.getByLabel('City').fill('New York');
  await form.getByLabel('Recipient').fill('Mona Keys');
  await form.getByRole('button', { name: 'Create task' }).press('Enter');
  await form.getByLabel('Phone').and(page.locator(':focus:invalid')).waitFor(); // a recipient needs one
  await form.getByLabel('Phone').fill('+12125550189');
  await form.locator('canvas').first().click();
  await form.getByRole('button', { name: 'Create task' }).press('Enter');
  await gone(form);
  await page.getByRole('treeitem', { name: /Mona Keys/, selected: true }).waitFor();
  await page.evaluate(() => (location.hash = '#/table'));
  await page.getByLabel('Filter: Recipient').fill('mona');
  await page.getByRole('row').filter({ hasText: 'Mona Keys' }).waitFor();
  assert.equal(await page.getByRole('row').count(), 2);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ]);
  assert.match(readFileSync(await download.path(), 'utf8'), /Mona Keys/);

  // A reload keeps the filter, and a view that another tab has saved meanwhile.
  const other = await page.context().newPage();
  await other.goto(`${url}/dashboard/#/table`);
  const save = async (on, name) => {
    await on.getByRole('button', { name: 'Save view' }).click();
    await on.getByRole('dialog').getByRole('textbox').fill(name);
    await on.keyboard.press('Enter');
    await gone(on.getByRole('dialog'));
  };
  await save(other, 'Everything');
  await other.close();
  await save(page, 'Only Mona');
  await page.reload();
  await page.getByRole('row').filter({ hasText: 'Mona Keys' }).waitFor();
  const views = page.getByLabel('Saved views');
  assert.deepEqual(await views.locator('option').allInnerTexts(), ['All tasks', 'Everything', 'Only Mona']);
  assert.equal(await views.inputValue(), 'Only Mona');
  assert.equal(await page.getByLabel('Filter: Recipient').inputValue(), 'mona');
  await views.selectOption('All tasks');
  // The task is where the map was when it was clicked: on a slow machine, anywhere in the world.
  const { tasks: all } = await api('GET', '/tasks/all?from=1');
  await api('DELETE', `/tasks/${all.find(({ recipients: [to] }) => to?.name === 'Mona Keys').id}`);
  assert.deepEqual(faults, []);
});

test('an edited address is sent without its former location, and any suggestion can be chosen again', async () => {
  const { page, faults } = second;
  const { id } = await api('POST', '/tasks', {
    destination: { address: { number: '1', street: 'Edit Street', city: 'New York', country: 'US' }, location: around },
    recipients: [],
  });
  const requests = [];
  await page.route(`**/api/v2/tasks/${id}`, (route, request) => {
    if (request.method() === 'PUT') requests.push(request.postDataJSON());
    return route.continue();
  });
  const found = (text) =>
    ['First', 'Second', 'Third'].map((name, i) => ({
      line: `${text} ${name} Street`,
      address: { number: '1', street: `${text} ${name} Street`, city: 'New York', country: 'US' },
      location: [around[0] + i / 100, around[1]],
    }));
  await page.route('**/api/v2/geocode?q=*', (route, request) =>
    route.fulfill({ json: found(new URL(request.url()).searchParams.get('q')) }),
  );
  await page.evaluate((task) => (location.hash = `#/tasks/${task}`), id);
  const form = page.getByRole('dialog', { name: 'Edit task' });
  const edit = async () => {
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    await form.locator('canvas').waitFor();
  };
  const save = async (n) => {
    await form.getByRole('button', { name: 'Save' }).click();
    await gone(form);
    assert.equal(requests.length, n);
    return requests.at(-1);
  };
  await edit();
  await form.getByLabel('Number').fill('100');
  await form.getByText('Click on the map').waitFor();
  const { destination, ...others } = await save(1);
  assert.deepEqual(others, {});
  assert.equal(destination.address.number, '100');
  assert.equal(destination.location, undefined);

  await edit();
  for (const text of ['Old', 'New']) {
    await form.getByLabel('Find address').fill(text);
    await page.getByRole('option', { name: `${text} Third Street` }).click();
    assert.equal(await form.getByLabel('Street').inputValue(), `${text} Third Street`);
  }
  const chosen = await save(2);
  assert.deepEqual(chosen.destination.location, found('New')[2].location);
  await page.unroute('**/api/v2/geocode?q=*');
  await page.unroute(`**/api/v2/tasks/${id}`);
  await api('DELETE', `/tasks/${id}`);
  assert.deepEqual(faults, []);
});

test('what others have changed while the form was open is replaced only if it is saved again', async () => {
  const { page, faults } = second;
  const { id } = await api('POST', '/tasks', {
    destination: { address: { street: 'Form Street', city: 'New York', country: 'US' }, location: around },
    recipients: [],
  });
  await page.evaluate((task) => (location.hash = `#/tasks/${task}`), id);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const form = page.getByRole('dialog', { name: 'Edit task' });
  await form.getByLabel('Notes').fill('Second floor');
  await api('PUT', `/tasks/${id}`, { notes: 'Third floor', quantity: 2 });
  const save = form.getByRole('button', { name: 'Save' });
  await save.click();
  await form.getByText('since you opened the form: notes').waitFor();
  assert.ok(await save.evaluate((button) => button.getBoundingClientRect().bottom <= innerHeight), 'it is visible');
  assert.equal((await api('GET', `/tasks/${id}`)).notes, 'Third floor');
  await save.click();
  await gone(form);
  await page.getByRole('button', { name: 'Edit', exact: true }).click(); // at once
  assert.equal(await form.getByLabel('Notes').inputValue(), 'Second floor');
  await form.getByRole('button', { name: 'Cancel' }).click();
  await gone(form);
  const { notes, quantity } = await api('GET', `/tasks/${id}`);
  assert.deepEqual([notes, quantity], ['Second floor', 2]);
  await api('DELETE', `/tasks/${id}`);
  assert.deepEqual(faults, []);
});

test('the notes of a task under way can be edited, and nothing else', async () => {
  const { page, faults } = second;
  const worker = await hire('Wanda Way', '+12125550174');
  const { id } = await api('POST', '/tasks', {
    destination: { address: { street: 'Way Street', city: 'New York', country: 'US' }, location: around },
    recipients: [],
    container: { type: 'WORKER', worker: worker.id },
  });
  const call = await work(worker);
  await call('POST', `/tasks/${id}/start`, { actionId: 'start' });
  await page.evaluate((task) => (location.hash = `#/tasks/${task}`), id);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const form = page.getByRole('dialog', { name: 'Edit task' });
  await form.getByText('only its notes can be changed').waitFor();
  assert.equal(await form.getByRole('textbox').count(), 1);
  await form.getByLabel('Notes').fill('Ring twice');
  await form.getByRole('button', { name: 'Save' }).click();
  await gone(form);
  assert.equal((await api('GET', `/tasks/${id}`)).notes, 'Ring twice');

  await call('POST', `/tasks/${id}/complete`, { actionId: 'complete', success: true });
  await gone(page.getByRole('button', { name: 'Edit', exact: true }));
  await page.keyboard.press('e');
  await page.getByText('It is completed.').waitFor();
  assert.deepEqual(faults, []);
});

test('a window of several days is shown with its end, and the last day cannot be before its first day', async () => {
  const { page, faults } = second;
  const from = Date.now() - 86_400_000;
  const { id } = await api('POST', '/tasks', {
    destination: { address: { street: 'Long Street', city: 'New York', country: 'US' }, location: around },
    recipients: [],
    completeAfter: from,
    completeBefore: from + 3 * 86_400_000,
  });
  await page.evaluate(() => (location.hash = '#/'));
  const window = row(page, 'Long Street').locator('[title]', { hasText: /^by / });
  await window.waitFor();
  assert.match(await window.getAttribute('title'), /\d.* – .*\d/);
  await page.evaluate((task) => (location.hash = `#/tasks/${task}`), id);
  await page.getByRole('button', { name: 'Edit', exact: true }).click();
  const form = page.getByRole('dialog', { name: 'Edit task' });
  const [day, last] = [form.getByLabel('Day', { exact: true }), form.getByLabel('Last day')];
  const end = await last.inputValue();
  assert.notEqual(end, await day.inputValue());
  await last.fill('2020-01-01');
  await form.getByRole('button', { name: 'Save' }).click();
  await last.and(page.locator(':focus:invalid')).waitFor();
  await last.fill(end);
  await form.getByRole('button', { name: 'Save' }).click();
  await gone(form);
  await api('DELETE', `/tasks/${id}`);
  assert.deepEqual(faults, []);
});

test('keys in the table apply to its rows', async () => {
  const { page, faults } = second;
  const ids = [];
  for (const name of ['Row One', 'Row Two', 'Row Three']) {
    const { id } = await api('POST', '/tasks', {
      destination: { address: { street: 'Row Street', city: 'New York', country: 'US' }, location: around },
      recipients: [{ name, phone: `+1212555016${ids.length}` }],
      completeBefore: Date.now() + (ids.length + 1) * 3600_000,
    });
    ids.push(id);
  }
  await page.evaluate(() => (location.hash = '#/'));
  await page.getByRole('tree').waitFor();
  await page.evaluate((key) => {
    const { board } = document.querySelector('[role=tree]');
    board.clear();
    board.open = '';
    board.cursor = key;
  }, `W${ada}`);
  await page.evaluate(() => (location.hash = '#/table'));
  await page.getByLabel('Filter: Recipient').fill('row');
  const count = (n, selected = '') =>
    eventually(`${n} rows ${selected}`, async () => (await page.locator(`[role=row].line${selected}`).count()) === n);
  const focused = (id) =>
    eventually('focused', () => page.evaluate((row) => document.activeElement.id === row, `r-${id}`));
  await count(3);
  await count(1, '[tabindex="0"]');
  await page.locator('[role=row].line[tabindex="0"]').focus();
  for (const id of ids.slice(0, 2)) {
    await page.keyboard.press('j');
    await count(1, `#r-${id}[aria-selected=true]`);
    await focused(id);
  }
  await page.keyboard.press('ArrowUp');
  await focused(ids[0]);
  await page.keyboard.press('Control+a');
  await count(3, '[aria-selected=true]');
  await page.getByLabel('Filter: Recipient').fill('row three');
  await count(1);
  await page.getByLabel('Filter: Recipient').fill('row');
  await count(3);
  await count(1, '[aria-selected=true]');
  await page.getByRole('button', { name: 'Recipient' }).focus();
  await page.keyboard.press('Control+a');
  await count(3, '[aria-selected=true]');
  for (const id of ids) await api('DELETE', `/tasks/${id}`);
  assert.deepEqual(faults, []);
});

test('when the session ends, the board asks to sign in, and follows events afterwards', async () => {
  const { page } = second;
  const events = '**/api/v2/events?lists=1*';
  await page.route(events, (route) => route.fulfill({ status: 401, json: {} }));
  await page.evaluate(() => (location.hash = '#/'));
  await page.reload();
  await page.getByLabel('Password').waitFor();
  await page.unroute(events);
  await page.getByLabel('Email').fill('Jorge@example.com');
  await page.getByLabel('Password').fill('correct horse battery');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('tree').waitFor();
  await page.getByText('Live', { exact: true }).first().waitFor();
});

test('a task is pinned and unpinned with a key, and keys work after the map was used', async () => {
  const { page, faults } = second;
  const { id } = await api('POST', '/tasks', {
    destination: { address: { street: 'Pin Street', city: 'New York', country: 'US' }, location: around },
    recipients: [],
    container: { type: 'WORKER', worker: ada },
  });
  const pinned = async () => (await api('GET', `/tasks/${id}/pin`)).pinned;
  await page.evaluate(() => (location.hash = '#/'));
  await page.getByRole('tree').waitFor();
  await eventually('shown', async () => (await shown(page, ada)).includes(id));
  await page.evaluate((task) => {
    const { board } = document.querySelector('[role=tree]');
    board.clear();
    board.cursor = board.open = task;
  }, id);
  const drawer = page.getByRole('complementary', { name: 'Task' });
  await drawer.getByRole('link', { name: 'Ada Board' }).waitFor();
  await page.locator('.maplibregl-canvas').focus();
  await page.keyboard.press('p');
  await drawer.getByText('stays with the worker').waitFor();
  assert.equal(await pinned(), 'worker');
  await page.keyboard.press('z');
  await gone(drawer.getByText('stays with the worker'));
  assert.equal(await pinned(), null);
  await page.keyboard.press('Escape');
  await gone(drawer);
  assert.deepEqual(faults, []);
});

test('on a phone, the bar below the lists explains how to select', async () => {
  const { context, page, faults } = await phone(chrome, { storageState: await first.context.storageState() });
  await page.goto(`${url}/dashboard/`);
  await row(page, 'Lena').waitFor();
  await page.getByText('Tap a task to select it').waitFor();
  assert.equal(await page.getByText('all keys').isVisible(), false);
  await row(page, 'Lena').tap();
  await page.getByText('1 selected').waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('a lasso drawn with a finger selects tasks, and does not move the map', async () => {
  const { context, page, faults } = await phone(chrome, { storageState: await first.context.storageState() });
  await page.goto(`${url}/dashboard/`);
  await page.getByRole('button', { name: 'Map', exact: true }).tap();
  await page.locator('[data-stops]:not([data-stops="0"])').waitFor();
  await page.getByRole('button', { name: 'Select with a lasso' }).tap();
  await page.evaluate(() => {
    globalThis.moves = [];
    new MutationObserver((changes) => {
      for (const { target } of changes) if (/translate\((?!0px, 0px)/.test(target.style.transform)) globalThis.moves.push(target.style.transform); // prettier-ignore
    }).observe(document.querySelector('[data-stops]'), { subtree: true, attributeFilter: ['style'] });
  });
  const box = await page.locator('.map-frame').boundingBox();
  const session = await context.newCDPSession(page);
  const touch = (type, points) => session.send('Input.dispatchTouchEvent', { type, touchPoints: points.map(([x, y]) => ({ x: box.x + x * box.width, y: box.y + y * box.height })) }); // prettier-ignore
  await touch('touchStart', [[0.02, 0.02]]);
  for (const at of [[0.4, 0.02], [0.8, 0.02], [0.8, 0.5], [0.8, 0.95], [0.4, 0.95], [0.02, 0.95], [0.02, 0.5]]) await touch('touchMove', [at]); // prettier-ignore
  await touch('touchEnd', []);
  await eventually('selected', () =>
    page.evaluate(() => document.querySelector('[role=tree]').board.selection.size > 0),
  );
  assert.deepEqual(await page.evaluate(() => globalThis.moves), []);
  assert.deepEqual(faults, []);
  await context.close();
});

test('no picture of stops is enlarged while the board opens', async () => {
  const { page } = first;
  // At first, the map shows an area far from the stops, as with the tiles of a city.
  await page.route('**/tiles.json', (route) =>
    route.fulfill({ json: { tiles: ['/tiles/none/{z}/{x}/{y}'], center: [...around, 11] } }),
  );
  await page.addInitScript(() => {
    globalThis.widest = 0;
    new MutationObserver((changes) => {
      for (const { target } of changes) {
        // The canvases of stops and vehicles have a margin around the map.
        if (!(parseFloat(target.style.top) < 0) || target.style.visibility === 'hidden') continue;
        const scale = Number(/scale\((.+)\)/.exec(target.style.transform)?.[1] ?? 0);
        globalThis.widest = Math.max(globalThis.widest, scale);
      }
    }).observe(document, { subtree: true, attributeFilter: ['style'] });
  });
  await page.goto('about:blank');
  await page.goto(`${url}/dashboard/`);
  await page.locator('[data-stops]:not([data-stops="0"])').waitFor();
  const scale = page.locator('.maplibregl-ctrl-scale');
  await eventually('the map shows the stops', async () => /^\d+\sm$/.test(await scale.innerText()));
  const widest = await page.evaluate(() => globalThis.widest);
  assert.ok(widest > 0.99 && widest < 1.01, `enlarged ${widest} times`);
  await page.unroute('**/tiles.json');
});

test('the map shows what has changed while the page was hidden', async () => {
  const { page, faults } = first;
  const turn = (hidden) =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'hidden', { value, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  const drawn = async () => Number(await page.locator('[data-stops]').getAttribute('data-stops'));
  await page.locator('[data-stops]:not([data-stops="0"])').waitFor();
  const before = await drawn();
  await turn(true);
  const { id } = await api('POST', '/tasks', {
    destination: { address: { street: 'Map Street', city: 'New York', country: 'US' }, location: around },
    recipients: [{ name: 'Mona', phone: '+12125550186' }],
  });
  await row(page, 'Mona').waitFor();
  assert.equal(await drawn(), before);
  await turn(false);
  await eventually('the task is on the map', async () => (await drawn()) === before + 1);
  await api('DELETE', `/tasks/${id}`);
  await gone(row(page, 'Mona'));
  assert.deepEqual(faults, []);
});

test('the timeline zooms around the current time, and back', async () => {
  const { page } = first;
  const time = page.getByRole('region', { name: 'Timeline' });
  // The times at the top, in minutes of the day.
  const ticks = async () => {
    const texts = await time.locator('.tick').allInnerTexts();
    return texts.map((text) => {
      const [, hours, minutes, half] = /^(\d+):(\d+)\s(AM|PM)$/.exec(text);
      return (Number(hours) % 12) * 60 + Number(minutes) + (half === 'PM' ? 720 : 0);
    });
  };
  const around = async (name) => {
    const clock = { timeZone: zone, hour: 'numeric', minute: 'numeric', hourCycle: 'h23' };
    const [hours, minutes] = new Intl.DateTimeFormat('en-US', clock).format(new Date()).split(':').map(Number);
    const now = hours * 60 + minutes;
    const shown = await ticks();
    const away = (at) => Math.min(Math.abs(at - now), 1440 - Math.abs(at - now));
    assert.ok(shown.some((at) => away(at) <= 15), `${name}: ${shown} at ${now}`); // prettier-ignore
    return shown.length > 1 ? (shown[1] - shown[0] + 1440) % 1440 : 0;
  };
  const before = await around('at first');
  for (let i = 0; i < 8; i++) await time.getByRole('button', { name: 'Zoom in' }).click();
  await eventually('zoomed in', async () => (await ticks()).length > 0);
  const near = await around('zoomed in');
  assert.ok(near < before, `${near} minutes between ticks, of ${before}`);
  // However far it is moved, something is visible.
  const box = await time.boundingBox();
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.keyboard.down('Shift');
  for (let i = 0; i < 20; i++) await page.mouse.wheel(0, -900);
  await page.keyboard.up('Shift');
  await around('moved');
  await time.getByRole('button', { name: 'Show everything' }).click();
  await eventually('all of it', async () => (await around('all of it')) === before);
});

test('the drawer shows whole titles and all candidates, in every language and on a phone', async () => {
  const name = 'Wolfgang-Maximilian von Hohenlohe-Schillingsfürst';
  const task = await api('POST', '/tasks', {
    destination: {
      address: { number: '5', street: 'Board Street', city: 'New York', country: 'US' },
      location: around,
    },
    recipients: [{ name, phone: '+12125550189' }],
  });
  const candidates = Array.from({ length: 9 }, (_, i) => ({ worker: `w${i}`, name: `Candidate ${i}`, distance: null, excluded: 'not in the team' })); // prettier-ignore
  const all = {
    de: 'Alle 9 zeigen',
    es: 'Mostrar los 9',
    fr: 'Afficher les 9',
    pt: 'Mostrar os 9',
    en: 'Show all 9',
  };
  for (const [language, label] of Object.entries(all)) {
    const { context, page, faults } = await phone(chrome, { storageState: await first.context.storageState(), viewport: { width: 400, height: 800 } }); // prettier-ignore
    await page.addInitScript((l) => localStorage.setItem('dray.language', l), language);
    await page.route('**/explanation?*', (route) =>
      route.fulfill({ json: { time: Date.now(), mode: 'distance', worker: null, candidates } }),
    );
    await page.goto(`${url}/dashboard/`);
    await page.getByRole('tree').waitFor();
    await eventually('the task', () => page.evaluate((id) => document.querySelector('[role=tree]').board.records.tasks.has(id), task.id)); // prettier-ignore
    await page.evaluate((id) => (document.querySelector('[role=tree]').board.open = id), task.id);
    const title = page.locator('#drawer h2');
    await page.locator('#drawer .acts').waitFor();
    assert.equal(await title.innerText(), name);
    const cut = await page
      .locator('#drawer header *')
      .evaluateAll((all) => all.filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0).map((e) => e.textContent.trim())); // prettier-ignore
    assert.deepEqual(cut, [], language);
    assert.equal(await page.getByText('Candidate 6').count(), 0);
    await page.getByRole('button', { name: label }).click();
    await page.getByText('Candidate 8').waitFor();
    if (language === 'de') await shot(page, '53-drawer-de');
    assert.deepEqual(faults, []);
    await context.close();
  }
  await api('DELETE', `/tasks/${task.id}`);
});

test('what is typed while a dialog opens is for the dialog', async () => {
  const { context, page, faults } = await desk(chrome, url, { storageState: await first.context.storageState() });
  for (const name of ['AssignDialog', 'Palette']) {
    await page.route(`**/assets/${name}-*.js`, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      await route.continue();
    });
  }
  const { id: zeno } = await hire('Zeno Early', '+12125550175');
  const { id } = await api('POST', '/tasks', {
    destination: { address: { street: 'Early Street', city: 'New York', country: 'US' }, location: around },
    recipients: [],
  });
  await page.goto(`${url}/dashboard/`);
  await row(page, 'Early Street').waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('zen', { delay: 20 });
  const search = page.getByRole('combobox', { name: 'Search' });
  await page.getByRole('option', { name: /Zeno Early/ }).waitFor();
  assert.equal(await search.inputValue(), 'zen');
  await page.keyboard.press('Escape');
  await gone(search);

  await row(page, 'Early Street').click();
  await page.keyboard.press('a');
  await page.keyboard.type('zen', { delay: 20 }); // undo, edit, create
  await page.keyboard.press('Enter');
  const field = page.getByRole('combobox', { name: 'Assign' });
  await field.and(page.locator(':focus')).waitFor();
  assert.equal(await field.inputValue(), 'zen');
  await page.getByRole('option', { name: /Zeno Early/, selected: true }).waitFor();
  await page.keyboard.press('Enter');
  await eventually('assigned', async () => (await list(zeno)).includes(id));
  assert.deepEqual(faults, []);
  await context.close();
  await api('DELETE', `/tasks/${id}`);
  await api('DELETE', `/workers/${zeno}`);
});

test('the next person who signs in sees nothing of the one before', async () => {
  const team = await api('POST', '/teams', { name: 'Few', workers: [], managers: [] });
  const few = await administrator(chrome, 'Fern Few', { type: 'standard' });
  await api('PUT', `/teams/${team.id}`, { managers: [few.id] });
  await few.context.close();
  const { page, faults } = second;
  await page.evaluate(() => (location.hash = '#/'));
  await page.getByLabel('Filter tasks').fill('Ada Board');
  await row(page, 'Ada Board').first().waitFor();
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByLabel('Email').fill('Fern.Few@example.com');
  await page.getByLabel('Password').fill('correct horse battery');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('tree').waitFor();
  await page.getByText('Live', { exact: true }).first().waitFor();
  assert.equal(await row(page, 'Ada Board').count(), 0);

  // The tasks of a worker who joins the team appear with the worker.
  const given = await api('POST', '/tasks', {
    destination: {
      address: { number: '9', street: 'Few Street', city: 'New York', country: 'US' },
      location: around,
    },
    recipients: [],
    container: { type: 'WORKER', worker: ada },
  });
  const { teams } = await api('GET', `/workers/${ada}`);
  await api('PUT', `/workers/${ada}`, { teams: [...teams, team.id] });
  await row(page, 'Ada Board').waitFor();
  await row(page, 'Ada Board').click();
  await row(page, '9 Few Street').waitFor();
  assert.ok((await shown(page, ada)).includes(given.id));
  assert.deepEqual(faults, []);
});
