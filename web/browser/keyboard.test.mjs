// A dispatcher's work without a mouse: every step uses only keys.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { administrator, api, browser, eventually, gone, temporaryPassword, work } from './kit.mjs';

const around = [-73.97, 40.76];
let chrome, page, faults, team, ada, bob, call;
const tasks = {};

const list = async (worker) => (await api('GET', `/containers/workers/${worker}`)).tasks;
const press = (...keys) => keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());
const type = (text) => page.keyboard.type(text);
const focused = (locator) => locator.evaluateAll((all) => all.some((e) => e.contains(document.activeElement)));

// tabTo presses Tab until something has the focus.
async function tabTo(locator) {
  await locator.first().waitFor();
  for (let i = 0; i < 80 && !(await focused(locator)); i++) await press('Tab');
  assert.ok(await focused(locator), `Tab reaches ${locator}`);
}

// find searches in the palette, and opens a result.
async function find(text, option) {
  await press('/');
  await page.getByRole('combobox', { name: 'Search' }).and(page.locator(':focus')).waitFor();
  await type(text);
  const palette = page.getByRole('dialog', { name: 'Search' });
  await palette.getByRole('option', { name: option }).first().waitFor();
  await press('Enter');
  await gone(palette);
}

// assign assigns the chosen tasks to a worker.
async function assign(name) {
  await press('a');
  await page.getByRole('combobox', { name: 'Assign' }).and(page.locator(':focus')).waitFor();
  await type(name);
  await page.getByRole('option', { name }).first().waitFor();
  await press('Enter');
}

// undo undoes the change that a message reports.
async function undo(text) {
  await page.getByRole('status').getByText(text).waitFor();
  await press('z');
}

async function drop(name, east, more = {}, street = 'Keys Street') {
  const task = await api('POST', '/tasks', {
    destination: {
      address: { number: '1', street, city: 'New York', country: 'US' },
      location: [around[0] + east, around[1]],
    },
    recipients: [{ name, phone: `+1212555${6000 + Object.keys(tasks).length}` }],
    ...more,
  });
  tasks[name] = task.id;
}

before(async () => {
  chrome = await browser();
  const hub = await api('POST', '/hubs', {
    name: 'Keys Depot',
    address: { number: '2', street: 'Keys Street', city: 'New York', country: 'US' },
    location: around,
  });
  team = (await api('POST', '/teams', { name: 'Keys', workers: [], managers: [], hub: hub.id })).id;
  const hire = async (name, phone) => {
    const { id } = await api('POST', '/workers', { name, phone, teams: [team], vehicle: { type: 'CAR' } });
    return [id, await work({ number: phone, password: temporaryPassword(phone) })];
  };
  [ada, call] = await hire('Ada Keys', '+12125550151');
  [bob] = await hire('Bob Keys', '+12125550152');
  for (const [i, name] of ['Una', 'Vera'].entries()) await drop(name, i / 1000, {}, 'Pair Street');
  await drop('Wilma', 0.004, { container: { type: 'TEAM', team } });
  await drop('Tardy', 0.005, { completeBefore: Date.now() - 1800_000 });
  await drop('Proven', 0.006, { container: { type: 'WORKER', worker: ada } });
  await call('POST', `/tasks/${tasks.Proven}/start`, { actionId: 'start', location: around });
  const details = { success: true, notes: 'Left with the porter.' };
  await call('POST', `/tasks/${tasks.Proven}/complete`, { actionId: 'done', ...details });
  ({ page, faults } = await administrator(chrome, 'Kay Keys'));
});
after(() => chrome?.close());

test('a task is created and found', async () => {
  await press('n');
  const form = page.getByRole('dialog', { name: 'Create task' });
  await form.getByLabel('Find address').and(page.locator(':focus')).waitFor();
  await type('New York');
  await page.locator('.addresses [role=option]').first().waitFor();
  await press('ArrowDown', 'Enter');
  await tabTo(form.getByLabel('Number'));
  await type('7');
  await tabTo(form.getByLabel('Street'));
  await type('Keys Street');
  await tabTo(form.getByLabel('Recipient'));
  await type('Xara');
  await press('Tab');
  await type('+12125556100');
  await press('Enter');
  await gone(form);
  await page.getByRole('treeitem', { name: /Xara/, selected: true }).waitFor();
  await find('xara', /Xara/);
  await page.getByRole('complementary', { name: 'Task' }).getByText('7 Keys Street').first().waitFor();
  await press('Escape');
});

test('Escape does not discard what was typed for a task', async () => {
  await press('n');
  const form = page.getByRole('dialog', { name: 'Create task' });
  await form.getByLabel('Find address').and(page.locator(':focus')).waitFor();
  await press('Escape');
  await gone(form); // nothing was typed
  await press('n');
  const notes = form.getByLabel('Notes');
  await tabTo(notes);
  await type('Two flights up');
  await press('Escape');
  const question = page.getByRole('alertdialog', { name: 'Discard' });
  await question.waitFor();
  await press('Escape');
  await gone(question);
  assert.equal(await notes.inputValue(), 'Two flights up');
  await notes.and(page.locator(':focus')).waitFor();
  await press('Escape');
  await tabTo(question.getByRole('button', { name: 'Discard' }));
  await press('Enter');
  await gone(form);
});

test('a key works while a dialog that was closed fades away', async () => {
  const slow = '.dialog[data-state=closed] { animation: fade 3s } @keyframes fade { to { opacity: 0 } }';
  const style = await page.addStyleTag({ content: slow });
  await press('n');
  await tabTo(page.getByRole('dialog', { name: 'Create task' }).getByLabel('Notes'));
  await type('Nothing');
  await press('Escape');
  await tabTo(page.getByRole('alertdialog', { name: 'Discard' }).getByRole('button', { name: 'Discard' }));
  await press('Enter');
  const fading = page.locator('.dialog[data-state=closed]');
  await fading.waitFor();
  await press('f');
  await type('Pair');
  assert.equal(await fading.count(), 1, 'the dialog is still there');
  assert.equal(await page.locator('#board-filter').inputValue(), 'Pair');
  await style.evaluate((e) => e.remove());
  await gone(fading);
  await page.locator('#board-filter').fill('');
  await tabTo(page.getByRole('tree'));
});

test('tasks are assigned, and the assignment is undone', async () => {
  await page.getByRole('tree').waitFor();
  await press('f');
  await type('Pair Street');
  await tabTo(page.getByRole('tree'));
  await gone(page.getByRole('treeitem').filter({ hasText: 'Xara' }));
  const selected = () => page.evaluate(() => document.querySelector('[role=tree]').board.selection.size);
  await press('Home');
  for (let i = 0; i < 12 && (await selected()) === 0; i++) await press('j');
  await press('Shift+J');
  await page.getByText('2 selected').waitFor();
  await assign('Ada Keys');
  await eventually('assigned', async () => (await list(ada)).length === 2);
  await undo('→ Ada Keys');
  await eventually('undone', async () => (await list(ada)).length === 0);
});

test('the palette finds tasks of the day by the last name of the recipient', async () => {
  await drop('Grace Hopperson', 0.008);
  await press('/');
  await page.getByRole('combobox', { name: 'Search' }).and(page.locator(':focus')).waitFor();
  await type('hopper');
  await page.getByRole('option', { name: 'Grace Hopperson' }).waitFor();
  await press('Enter');
  await page.getByRole('heading', { name: 'Grace Hopperson' }).waitFor();
});

test('results for an earlier text are not opened', async (t) => {
  await drop('Planck', 0.007);
  await page.route(/search\?q=plan./, () => {}); // no response
  t.after(() => page.unrouteAll());
  await press('/');
  await page.getByRole('combobox', { name: 'Search' }).and(page.locator(':focus')).waitFor();
  await type('plan');
  const found = page.getByRole('dialog', { name: 'Search' }).getByRole('option');
  await found.filter({ hasText: 'Planck' }).waitFor();
  await type(' this team: keys');
  await press('Enter');
  await page.getByText('Workers on duty: 2 of 2.').waitFor();
  assert.match(page.url(), new RegExp(`/dispatch/teams/${team}$`));
});

test('routes are planned, stopped, viewed, applied, and undone', async () => {
  const some = Array.from({ length: 90 }, (_, i) => ({
    destination: {
      address: { number: String(i + 1), street: 'Route Street', city: 'New York', country: 'US' },
      location: [around[0] + (i % 10) / 1000, around[1] + i / 5000],
    },
    recipients: [],
    container: { type: 'TEAM', team },
  }));
  assert.deepEqual((await api('POST', '/tasks/batch', { tasks: some })).errors, []);
  const waiting = async () => (await api('GET', `/containers/teams/${team}`)).tasks;
  const before = await waiting();

  await find('plan this team: keys', 'Plan this team: Keys');
  await page.getByText('Tasks waiting: 91. Workers on duty: 2 of 2.').waitFor();
  await press('r');
  await page.getByRole('button', { name: /^Stop/ }).waitFor();
  const stopped = page.waitForResponse((r) => r.url().endsWith('/stop'));
  await press('s');
  assert.equal((await stopped).status(), 200);
  const plan = page.getByRole('tree', { name: 'Plan' });
  await plan.waitFor();
  assert.deepEqual(await waiting(), before);

  // A route is unfolded, and one of its stops is shown on both sides.
  await press('j', 'ArrowRight');
  await tabTo(plan);
  for (let i = 0; i < 5 && (await plan.getByRole('treeitem', { level: 2, selected: true }).count()) === 0; i++) {
    await press('ArrowRight', 'j');
  }
  await plan.getByRole('treeitem', { level: 2, selected: true }).waitFor();
  await press('Enter');
  await page.getByRole('alertdialog', { name: 'Apply' }).waitFor();
  await press('Enter');
  await eventually('applied', async () => (await list(ada)).length + (await list(bob)).length > 0);
  await undo('Plan applied');
  await eventually('undone', async () => (await waiting()).join() === before.join());
});

test('a late task is fixed, and undone', async () => {
  const worse = Array.from({ length: 50 }, (_, i) => ({
    destination: {
      address: { number: String(i + 1), street: 'Late Street', city: 'New York', country: 'US' },
      location: around,
    },
    recipients: [],
    completeBefore: Date.now() - 7200_000,
  }));
  const { tasks: created } = await api('POST', '/tasks/batch', { tasks: worse });
  await find('exceptions', /^Exceptions/);
  const more = page.getByRole('button', { name: 'Show more' });
  await more.focus();
  await press('Enter');
  const late = page.getByRole('button', { name: 'Tardy' });
  await late.waitFor();
  for (let i = 0; i < 120 && !(await focused(late)); i++) await press('j');
  await assign('Bob Keys');
  await eventually('assigned', async () => (await list(bob)).includes(tasks.Tardy));
  await undo('→ Bob Keys');
  await eventually('undone', async () => !(await list(bob)).includes(tasks.Tardy));
  for (const { id } of created) await api('DELETE', `/tasks/${id}`);
});

test('a proof of delivery is opened', async () => {
  await find('proven', /Proven/);
  const drawer = page.getByRole('complementary', { name: 'Task' });
  await drawer.getByRole('heading', { name: 'Proof' }).waitFor();
  await drawer.getByText('Left with the porter.').waitFor();
  await tabTo(drawer.getByRole('button', { name: /PDF/ }));
  await press('Escape');
  await gone(drawer);
  assert.deepEqual(faults, []);
});
