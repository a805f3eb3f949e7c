// A lost connection must not destroy what a person has begun.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { administrator, browser, connect, disconnect, eventually, organization } from './kit.mjs';

const long = 'Internationaler Frischedienst für Lebensmittel und Getränke Nordwest';
let chrome, api, desk;

before(async () => {
  ({ api } = organization('Reconnect'));
  await api('POST', '/teams', { name: long, workers: [], managers: [] });
  await api('POST', '/teams', { name: 'Short', workers: [], managers: [] });
  chrome = await browser();
  desk = await administrator(chrome, 'Nora Reconnect', { type: 'super' }, api);
});
after(() => chrome?.close());

const visit = (page, path) => page.evaluate((to) => (location.hash = to), `#/${path}`);

test('a change whose response was lost is made only once, however often it is sent', async () => {
  const { page, faults } = desk;
  await visit(page, 'fleet/teams');
  await page.getByRole('button', { name: 'New team' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Name', { exact: true }).fill('Once');
  await page.route('**/api/v2/teams', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    await route.fetch(); // the server has made the change
    return route.abort();
  });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('There is no connection to the server').waitFor();
  assert.equal(await dialog.getByLabel('Name', { exact: true }).inputValue(), 'Once');
  await page.unroute('**/api/v2/teams');
  await page.getByText('Trying again').waitFor({ state: 'detached' });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  const teams = await api('GET', '/teams');
  assert.equal(teams.filter((t) => t.name === 'Once').length, 1);
  assert.deepEqual(faults, []);
});

test('after a reconnection, a page shows changes made meanwhile, and keeps unsaved input', async () => {
  const { page, context } = desk;
  const back = () => page.getByText('Trying again').waitFor({ state: 'detached' });
  await visit(page, 'fleet/teams');
  await page.getByRole('button', { name: 'Short', exact: true }).waitFor();
  await disconnect(context);
  await page.getByText('Trying again').waitFor();
  await api('POST', '/teams', { name: 'Meanwhile', workers: [], managers: [] });
  await connect(context);
  await page.getByRole('button', { name: 'Meanwhile', exact: true }).waitFor();

  await visit(page, 'settings/organization');
  const support = page.getByLabel('Support email for workers');
  await support.fill('begun@example.com');
  await disconnect(context);
  await page.getByText('Trying again').waitFor();
  await api('PUT', '/organization/settings', { name: 'Reconnected' });
  await connect(context);
  await back();
  await page.waitForTimeout(500); // a request would have had its response by now
  assert.equal(await support.inputValue(), 'begun@example.com');
  await disconnect(context);
  await page.getByText('Trying again').waitFor();
  const read = page.waitForResponse((r) => r.url().endsWith('/teams') && r.request().method() === 'GET');
  await visit(page, 'fleet/teams');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Discard' }).click();
  await connect(context);
  await read;
  await visit(page, 'settings/organization');
  assert.equal(await page.getByLabel('Name of the organization').inputValue(), 'Reconnected');
  assert.equal(await support.inputValue(), '');
});

test('pages that follow events are live again as soon as the connection is back', async (t) => {
  const { page, context } = desk;
  t.after(() => page.clock.resume());
  const back = async (live) => {
    await live.waitFor();
    const now = await page.evaluate(() => Date.now()); // the page's clock, which differs from ours after a pause
    await page.clock.pauseAt(now + 60_000); // timers of the page never expire
    await disconnect(context);
    await page.locator('.chip', { hasText: 'Connecting' }).waitFor();
    await eventually('live', async () => {
      await connect(context); // a request may be sent before the network has changed
      return live.isVisible();
    });
    await page.clock.resume();
  };
  await page.clock.install();
  await page.reload();
  await visit(page, 'developers/events');
  await back(page.locator('.chip', { hasText: 'Live' }));
  await visit(page, '');
  await back(page.locator('.chip', { hasText: 'Live' }));
});

test('a form that cannot be opened without a connection opens when there is one', async () => {
  const { page, context, faults } = desk;
  await visit(page, '');
  await page.reload();
  await page.getByText('Live', { exact: true }).waitFor();
  await disconnect(context);
  await page.getByText('Trying again').waitFor();
  await page.getByRole('button', { name: 'Create task' }).first().click();
  await page.getByText('There is no connection to the server. Check it and try again.').waitFor();
  await page.getByRole('button', { name: 'Account' }).click();
  for (const theme of ['Dark', 'Colors of the system']) {
    const choice = page.getByRole('menuitemradio', { name: theme });
    await choice.click();
    await choice.and(page.locator('[aria-checked=true]')).waitFor();
  }
  await page.keyboard.press('Escape');
  await connect(context);
  await page.getByText('Trying again').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Create task' }).first().click();
  const form = page.getByRole('dialog');
  await form.locator('canvas').waitFor(); // without its style sheet, it has no height
  await page.keyboard.press('Escape');
  assert.deepEqual(faults, []);
});

test('a dashboard that cannot be opened does not ask to sign in while it tries again', async () => {
  const { page } = desk;
  const heading = page.getByRole('heading', { name: 'The dashboard cannot be opened' });
  await page.route('**/healthz', (route) => route.abort());
  await page.route('**/account/v1/state', (route) => route.abort());
  await page.reload();
  await heading.waitFor();
  await page.unroute('**/account/v1/state');
  let respond;
  await page.route('**/account/v1/state', (route) => (respond = () => route.continue()));
  const again = page.getByRole('button', { name: 'Try again' });
  await again.click();
  await again.and(page.locator(':disabled')).waitFor();
  await eventually('asked', () => respond);
  assert.equal(await heading.count(), 1);
  await respond();
  await heading.waitFor({ state: 'detached' });
  await page.getByRole('navigation').first().waitFor();
  await page.unroute('**/account/v1/state');
  await page.unroute('**/healthz');
  await page.getByText('Trying again').waitFor({ state: 'detached' });
});

test('the navigation entry of the page stays in view below the message of a lost connection', async () => {
  const { page, context } = desk;
  await page.setViewportSize({ width: 1440, height: 600 });
  await visit(page, 'settings/people');
  const entry = page.locator('nav [aria-current]').first();
  await entry.waitFor();
  // The entry fits exactly, so that it is the first to be hidden.
  const height = await page.evaluate(() => {
    const nav = document.querySelector('nav');
    nav.scrollTop = 0;
    return innerHeight + Math.ceil(nav.querySelector('[aria-current]').getBoundingClientRect().bottom - nav.getBoundingClientRect().bottom); // prettier-ignore
  });
  await page.setViewportSize({ width: 1440, height });
  await disconnect(context);
  await page.getByText('Trying again').waitFor();
  const hidden = await entry.evaluate(
    (e) => e.getBoundingClientRect().bottom - e.closest('nav').getBoundingClientRect().bottom,
  );
  await connect(context);
  await page.setViewportSize({ width: 1280, height: 800 });
  assert.ok(hidden <= 1, `${hidden} pixels are hidden`);
});

test('the message of a lost connection is above a form, and covers no part of it', async () => {
  const { page, context } = desk;
  const covered = {};
  for (const width of [1440, 1024, 400]) {
    await page.setViewportSize({ width, height: 800 });
    await visit(page, 'fleet/teams');
    await page.getByRole('button', { name: 'New team' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).waitFor();
    await disconnect(context);
    const message = page.getByText('Trying again');
    await message.waitFor();
    const [said, form] = [await message.boundingBox(), await dialog.boundingBox()];
    if (form.y < said.y + said.height || form.y + form.height > 801) covered[width] = [said, form];
    await connect(context);
    await message.waitFor({ state: 'detached' });
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  }
  await page.setViewportSize({ width: 1280, height: 800 });
  assert.deepEqual(covered, {});
});

test('a form without unsaved input shows changes made meanwhile', async () => {
  const { page, context } = desk;
  const [team] = await api('GET', '/teams');
  const worker = await api('POST', '/workers', { name: 'Ada Before', phone: '+12125550179', teams: [team.id] });
  await visit(page, `fleet/workers/${worker.id}`);
  const name = page.getByLabel('Name', { exact: true });
  const meanwhile = async (now) => {
    await disconnect(context);
    await page.getByText('Trying again').waitFor();
    await api('PUT', `/workers/${worker.id}`, { name: now });
    await connect(context);
    await page.getByText('Trying again').waitFor({ state: 'detached' });
  };
  await name.waitFor();
  await meanwhile('Ada After');
  await page.getByRole('heading', { name: 'Ada After' }).waitFor();
  assert.equal(await name.inputValue(), 'Ada After');
  await name.fill('Ada Begun');
  await meanwhile('Ada Last');
  assert.equal(await name.inputValue(), 'Ada Begun');
  await visit(page, 'fleet/workers');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Discard' }).click();
});

test('a page is not wider than the screen, however long a name is', async () => {
  const { page } = desk;
  const [team] = await api('GET', '/teams');
  await api('POST', '/workers', {
    name: `Wilhelmina ${'Featherstone'.repeat(4)}`,
    phone: '+12125550178',
    teams: [team.id],
    vehicle: { type: 'MOTORCYCLE' },
    capacity: 100,
  });
  await page.setViewportSize({ width: 1024, height: 768 });
  await visit(page, 'fleet/workers');
  const table = page.getByRole('table', { name: 'Workers' });
  await table.waitFor();
  assert.ok((await table.evaluate((t) => t.offsetWidth - t.parentElement.clientWidth)) <= 0);
  await page.setViewportSize({ width: 1280, height: 800 });
});

test('long names fit into the dialogs of a phone, each choice below the other', async () => {
  const { page } = desk;
  await page.setViewportSize({ width: 400, height: 800 });
  const sideways = () => page.locator('.dialog .body').evaluate((body) => body.scrollWidth - body.clientWidth);
  await visit(page, 'fleet/workers');
  await page.getByRole('button', { name: 'Invite worker' }).first().click();
  const rows = await page.locator('.dialog .options label').evaluateAll((all) =>
    all.map((label) => {
      const { top, bottom } = label.getBoundingClientRect();
      return { top, bottom, needs: top + label.scrollHeight };
    }),
  );
  assert.ok(rows.length > 1);
  for (const [i, row] of rows.entries()) {
    assert.ok(row.needs <= row.bottom + 1, 'the name is longer than its row');
    if (i > 0) assert.ok(row.top >= rows[i - 1].bottom, 'rows overlap');
  }
  assert.ok((await sideways()) <= 0);
  await page.keyboard.press('Escape');
  await visit(page, 'settings/people');
  await page.getByRole('button', { name: 'Invite person' }).click();
  await page.getByLabel('Name', { exact: true }).fill('A Person');
  await page.getByLabel('Email').fill(`person.with.a.long.address.${'x'.repeat(30)}@subsidiary.example.com`);
  await page.locator('.dialog button.main').click();
  await page.locator('[data-secret]').waitFor();
  assert.ok((await sideways()) <= 0, 'the link is cut');
  await page.keyboard.press('Escape');
  await page.setViewportSize({ width: 1280, height: 800 });
});

test('Escape closes the form of a task, not the task behind it', async () => {
  const { page } = desk;
  const task = await api('POST', '/tasks', { destination: { address: { number: '1', street: 'Wall Street', city: 'New York', country: 'US' }, location: [-74.01, 40.707] }, recipients: [{ name: 'Ruth Escape', phone: '+12125550177' }] }); // prettier-ignore
  await visit(page, `tasks/${task.id}`);
  const edit = page.getByRole('button', { name: 'Edit', exact: true });
  await edit.click();
  await page.locator('.dialog canvas').waitFor();
  await page.locator('.dialog header button').focus();
  await page.keyboard.press('Escape');
  await page.locator('.dialog').waitFor({ state: 'detached' });
  assert.equal(await page.locator('#drawer').count(), 1);
  assert.ok(await edit.evaluate((button) => button === document.activeElement));
});

test('pages are printed in light colors, whatever the color scheme', async () => {
  const { page } = desk;
  const ink = () =>
    page.evaluate(() => Math.max(...getComputedStyle(document.body).color.match(/\d+/g).slice(0, 3).map(Number)));
  await visit(page, 'account');
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitemradio', { name: 'Dark' }).click();
  await page.keyboard.press('Escape');
  assert.ok((await ink()) > 200, 'the screen is not dark');
  await page.emulateMedia({ media: 'print' });
  assert.ok((await ink()) < 100, 'light text on paper');
  await page.emulateMedia({ media: null });
});
