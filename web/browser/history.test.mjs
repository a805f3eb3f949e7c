// The history of a task, its webhooks, webhooks that fail, and changed teams on the board.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { api, browser, desk, eventually, shot, url, violations } from './kit.mjs';

let chrome, opened, task, hook;

before(async () => {
  chrome = await browser();
  hook = await api('POST', '/webhooks', { name: 'Shop', url: process.env.DRAY_TEST_HOOK, trigger: 7 });
  task = await api('POST', '/tasks', {
    destination: {
      address: { number: '1', street: 'History Street', city: 'New York', country: 'US' },
      location: [-73.98, 40.75],
    },
    recipients: [{ name: 'Hypatia', phone: '+12125550196' }],
  });
  const admin = await api('POST', '/admins', {
    name: 'Grace Hopper',
    email: 'grace-history@example.com',
    type: 'super',
  });
  const { link } = await api('POST', `/admins/${admin.id}/invitation`, {});
  opened = await desk(chrome, url, { bypassCSP: true });
  await opened.page.goto(link);
  await opened.page.getByLabel('New password').fill('correct horse battery');
  await opened.page.getByRole('button', { name: 'Join' }).click();
  await opened.page.getByRole('tree').waitFor();
});
after(async () => {
  await api('DELETE', `/webhooks/${hook.id}`);
  await chrome?.close();
});

test('the drawer shows who changed a task, and which notifications webhooks got', async () => {
  const { page, faults } = opened;
  await page.evaluate((path) => fetch(path, { method: 'PUT', body: '{"notes":"Ring twice"}', headers: { 'Dray-Request': '1', 'Content-Type': 'application/json' } }), `/api/v2/tasks/${task.id}`); // prettier-ignore
  await api('PUT', `/tasks/${task.id}`, { quantity: 3 });
  await page.getByLabel('Filter tasks').fill('History Street');
  await page.getByRole('treeitem').filter({ hasText: 'Hypatia' }).dblclick();
  const drawer = page.locator('#drawer');
  const history = drawer.locator('section').filter({ has: page.getByRole('heading', { name: 'History' }) });
  await history.getByText('Created').waitFor();
  await history.getByText('Changed: quantity').waitFor();
  await history.getByText('Changed: notes').waitFor();
  assert.match(await history.textContent(), /Changed: notes\s*Grace Hopper/);
  assert.match(await history.textContent(), /Created\s*.+\(API key\)/);
  const hooks = drawer.locator('section').filter({ has: page.getByRole('heading', { name: 'Webhooks' }) });
  await hooks.getByText('Delivered').first().waitFor();
  assert.match(await hooks.textContent(), /attempts: 1 · 200/);
  await shot(page, 'history');
  assert.deepEqual(await violations(page, { within: '#drawer', all: true }), []);
  await hooks.getByRole('button', { name: 'Redeliver' }).first().click();
  await page.getByText('Sent again: 1').waitFor();
  // Later changes are shown, too.
  await api('PUT', `/tasks/${task.id}`, { serviceTime: 4 });
  await history.getByText('Changed: time on site').waitFor();
  await hooks.getByRole('link', { name: 'Shop' }).first().click();
  await page.getByRole('heading', { level: 1, name: 'Shop' }).waitFor();
  assert.deepEqual(faults, []);
});

test('a failing webhook is listed among the exceptions, with the next step', async () => {
  const { page, faults } = opened;
  await page.route('**/api/v2/webhooks', async (route) => {
    const hooks = await (await route.fetch()).json();
    await route.fulfill({ json: hooks.map((h) => (h.id === hook.id ? { ...h, failures: 4 } : h)) });
  });
  await page.goto(`${url}/dashboard/#/exceptions`);
  await page.getByText('4 attempts failed in a row').waitFor();
  const failing = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Failing webhooks' }) });
  await failing.getByRole('button', { name: 'Send test event' }).click();
  await page.getByText('A test event is on its way.').waitFor();
  await failing.getByRole('button', { name: 'Redeliver failed' }).click();
  await page.getByText('Sent again: 0').waitFor();
  await failing.getByRole('link', { name: 'Open' }).click();
  await page.getByRole('heading', { level: 1, name: 'Shop' }).waitFor();
  await page.unroute('**/api/v2/webhooks');
  assert.deepEqual(faults, []);
});

test('a renamed team appears on the board at once', async () => {
  const { page } = opened;
  for (const name of ['East', 'West']) await api('POST', '/teams', { name, workers: [], managers: [] });
  const team = await api('POST', '/teams', { name: 'Before', workers: [], managers: [] });
  await page.goto(`${url}/dashboard/#/`);
  await page.getByRole('tree').waitFor();
  const names = () => page.locator('select option').allTextContents();
  await eventually('the new team', async () => (await names()).some((n) => n.includes('Before')));
  await api('PUT', `/teams/${team.id}`, { name: 'Afterwards' });
  await eventually('the new name', async () => (await names()).some((n) => n.includes('Afterwards')));
  await api('DELETE', `/teams/${team.id}`);
  await eventually('gone', async () => !(await names()).some((n) => n.includes('Afterwards')));
});
