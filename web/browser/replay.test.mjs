// The past: reports, the day of a worker, and the replay of a day.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { api, browser, desk, eventually, hire, shot, url, violations, work } from './kit.mjs';

const around = [-73.98, 40.75];

let chrome, page, faults, rosa;
const tasks = [];

before(async () => {
  chrome = await browser();
  rosa = await hire('Rosa Replay', '+12125550193');
  await api('POST', '/hubs', {
    name: 'Replay Depot',
    address: { number: '1', street: 'Replay Street', city: 'New York', country: 'US' },
    location: around,
  });
  const call = await work(rosa);
  for (const [i, name] of ['Olaf', 'Petra'].entries()) {
    const task = await api('POST', '/tasks', {
      destination: {
        address: { number: String(i + 1), street: 'Replay Street', city: 'New York', country: 'US' },
        location: [around[0] + i / 5, around[1]], // far apart
      },
      recipients: [{ name, phone: `+121255502${10 + i}` }],
      container: { type: 'WORKER', worker: rosa.id },
    });
    tasks.push(task.id);
    await call('POST', `/tasks/${task.id}/start`, { actionId: `start ${i}`, location: around });
    await call('POST', `/tasks/${task.id}/arrive`, { actionId: `arrive ${i}` });
    const failed = i === 1 && { success: false, failureReason: 'NO_ACCESS' };
    await call('POST', `/tasks/${task.id}/complete`, { actionId: `complete ${i}`, success: true, ...failed });
  }
  const admin = await api('POST', '/admins', { name: 'Rita', email: 'rita@example.com', type: 'super' });
  const { link } = await api('POST', `/admins/${admin.id}/invitation`, {});
  ({ page, faults } = await desk(chrome, url, { bypassCSP: true }));
  await page.goto(link);
  await page.getByLabel('New password').fill('correct horse battery');
  await page.getByRole('button', { name: 'Join' }).click();
  await page.getByRole('tree').waitFor();
});
after(() => chrome?.close());

test('reports show what was done, as a chart and as a file', async () => {
  await page.goto(`${url}/dashboard/#/reports`);
  const completed = page.getByRole('button', { name: /Tasks completed/ });
  await completed.waitFor();
  assert.equal(await completed.getAttribute('aria-pressed'), 'true');
  await page.getByRole('img', { name: 'Tasks completed' }).focus();
  await page.keyboard.press('End');
  await page.getByText('This period:').waitFor();
  await page.getByRole('list', { name: 'Failures by reason' }).getByText('No access').waitFor();
  assert.deepEqual(await violations(page), [], 'reports');
  await shot(page, 'reports');

  await page.getByRole('button', { name: 'By worker' }).click();
  await page.getByRole('link', { name: 'Rosa Replay' }).waitFor();
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Export CSV' }).click(),
  ]);
  const text = readFileSync(await file.path(), 'utf8');
  assert.match(text, /^\ufeffworker,completed,succeeded,failed/);
  assert.match(text, /\r\nRosa Replay,2,1,1,NO_ACCESS 1,/);
});

test('the day of a worker is shown, with planned and actual times', async () => {
  await page.goto(`${url}/dashboard/#/fleet/workers`);
  const row = page.getByRole('row').filter({ hasText: 'Rosa Replay' });
  await row.getByText('2 of 2').waitFor();
  await row.getByRole('link').click();
  const stops = page.getByRole('table', { name: 'Route of the day' });
  await stops.getByRole('row').filter({ hasText: 'Olaf' }).getByText('in time').waitFor();
  await stops.getByRole('row').filter({ hasText: 'Petra' }).getByText('Failed').waitFor();
  assert.deepEqual(await violations(page), [], 'worker');
  await shot(page, 'worker-day');
});

test('a replay shows the day, event by event', async () => {
  await page.getByRole('link', { name: 'Replay this day' }).click();
  const bar = page.getByRole('group', { name: 'Replay', exact: true });
  await eventually('all events are loaded', async () => /of \d/.test(await bar.locator('.count').innerText()));
  await page.getByText('Read-only').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Create task' }).count(), 0);
  assert.deepEqual(await violations(page), [], 'replay');

  const state = () =>
    page.evaluate(() => {
      const { records, replay } = document.querySelector('[role=tree]')?.board ?? {};
      if (!replay) return { done: -1, count: -1 }; // the replay is loading
      const shown = [...records.tasks.values()].map(({ id, state, worker }) => [id, state, worker ?? null]);
      return { tasks: shown.sort(), done: replay.done, count: replay.count, time: replay.time };
    });
  // Each step applies one more event, at the time at which it was stored.
  await page.getByRole('main').focus();
  const start = await state();
  await page.keyboard.press('.');
  await eventually('a step', async () => (await state()).done === start.done + 1);
  await page.keyboard.press(',');
  await eventually('a step back', async () => (await state()).done === start.done);
  assert.deepEqual((await state()).tasks, start.tasks);
  await page.keyboard.press('.');
  await bar.locator('.chip').filter({ hasText: /^(Task|Worker) / }).waitFor(); // prettier-ignore

  // At its end, the replay shows what the board of the day shows.
  await page.getByRole('button', { name: '600×' }).click();
  const slider = page.getByRole('slider', { name: 'Time of the replay' });
  await slider.focus();
  await page.keyboard.press('End');
  const end = await eventually('the end', async () => {
    const now = await state();
    return now.done === now.count && now;
  });
  const { tasks: live } = await api('GET', '/board');
  const own = ([id]) => tasks.includes(id);
  assert.deepEqual(end.tasks.filter(own), live.map((t) => [t.id, t.state, t.worker ?? null]).filter(own).sort()); // prettier-ignore
  assert.equal(end.tasks.filter(own).length, 2);
  // The map fits the whole day, though only its beginning was shown at first.
  const stops = () =>
    page.evaluate(() => {
      const { records, groups } = document.querySelector('[role=tree]').board;
      return [...records.tasks.keys()].filter((id) => groups.shows(id, Date.now())).length;
    });
  await eventually('all stops are on the map', async () => {
    const drawn = await page.locator('[data-stops]').getAttribute('data-stops');
    return Number(drawn) > 1 && Number(drawn) === (await stops());
  });
  await shot(page, 'replay');

  await page.keyboard.press('Home');
  await page.keyboard.press(' ');
  await eventually('it plays', async () => (await state()).time > start.time);

  // Another day stays until today is chosen.
  await page.getByRole('main').focus();
  await page.keyboard.press('[');
  await page.getByText('No events of this day are stored').waitFor();
  await page.keyboard.press('t');
  await eventually('today', async () => (await state()).count >= end.count);
  await page.getByRole('link', { name: 'Board', exact: true }).click();
  await page.getByText('Live', { exact: true }).waitFor();
  assert.deepEqual(faults, []);
});

test('a replay that continues does not bring back a person who has left it', async () => {
  await page.goto(`${url}/dashboard/#/replay`);
  await page.getByRole('group', { name: 'Replay', exact: true }).waitFor();
  await eventually('the day is shown', () => page.url().includes('?date='));
  await page.evaluate(() => {
    location.hash = '#/settings/audit';
    document.querySelector('[role=tree]').board.show();
  });
  await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor();
});
