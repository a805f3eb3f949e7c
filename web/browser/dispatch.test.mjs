// The dispatch page: dry runs are compared, applied, undone and discarded, with keys.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { api, browser, desk, eventually, gone, shot, temporaryPassword, url, violations, work } from './kit.mjs';

const depot = [-73.99, 40.73];

let chrome, opened, team, ada, bob, hub;

const list = async (worker) => (await api('GET', `/containers/workers/${worker}`)).tasks;
const waiting = async () => (await api('GET', `/containers/teams/${team}`)).tasks;
const drop = (name, east, more = {}) =>
  api('POST', '/tasks', {
    destination: {
      address: { number: '1', street: 'Plan Street', city: 'New York', country: 'US' },
      location: [depot[0] + east / 84_000, depot[1]],
    },
    recipients: [{ name, phone: `+1212555${7000 + Math.abs(east) / 10}` }],
    container: { type: 'TEAM', team },
    ...more,
  });

// member creates a worker of the team who is on duty.
async function member(name, number) {
  const { id } = await api('POST', '/workers', { name, phone: number, teams: [team], vehicle: { type: 'CAR' } });
  await work({ number, password: temporaryPassword(number) });
  return id;
}

// administrator invites a person and opens a page of the dashboard as that person.
async function administrator(name, more) {
  const admin = await api('POST', '/admins', { name, email: `${name}@example.com`, ...more });
  if (more.type === 'standard') await api('PUT', `/teams/${team}`, { managers: [admin.id] });
  const { link } = await api('POST', `/admins/${admin.id}/invitation`, {});
  const made = await desk(chrome, url, { bypassCSP: true });
  await made.page.goto(link);
  await made.page.getByLabel('New password').fill('correct horse battery');
  await made.page.getByRole('button', { name: 'Join' }).click();
  await made.page.getByRole('tree').waitFor();
  return made;
}

async function dryRun(page) {
  await page.keyboard.press('r');
  await page.getByRole('tree', { name: 'Plan' }).waitFor();
}

before(async () => {
  chrome = await browser();
  hub = await api('POST', '/hubs', {
    name: 'Plan Depot',
    address: { number: '2', street: 'Plan Street', city: 'New York', country: 'US' },
    location: depot,
  });
  team = (await api('POST', '/teams', { name: 'Planners', workers: [], managers: [], hub: hub.id })).id;
  [ada, bob] = [await member('Ada Plan', '+12125550191'), await member('Bob Plan', '+12125550192')];
  for (const [name, east] of [['Xenia', -900], ['Yves', 910], ['Zora', 1000]]) await drop(name, east); // prettier-ignore
  await drop('Overdue', 3000, { completeBefore: Date.now() - 3600_000, completeAfter: Date.now() - 7200_000 });
  opened = await administrator('Paula', { type: 'super' });
});
after(() => chrome?.close());

test('a dry run starts from the palette, and is compared without changing anything', async () => {
  const { page } = opened;
  await page.keyboard.press('/');
  await page.getByRole('combobox', { name: 'Search' }).fill('plan this team: planners');
  await page.getByRole('option', { name: 'Plan this team: Planners' }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('Tasks waiting: 4. Workers on duty: 2 of 2.').waitFor();
  assert.deepEqual(await violations(page), []);
  await page.getByText('Nothing was planned yet').waitFor();
  await page.locator('#main').focus();
  await dryRun(page);
  assert.deepEqual((await waiting()).length, 4);
  await page.getByText('On routes').waitFor();
  await page.getByRole('definition').filter({ hasText: 'Before: 0' }).first().waitFor();

  // The row chosen in the list is marked on both sides.
  const tree = page.getByRole('tree', { name: 'Plan' });
  await tree.focus();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  const left = tree.getByRole('treeitem', { selected: true });
  await left.getByText('Overdue').waitFor();
  await left.getByText(/earliest .+, latest/).first().waitFor(); // prettier-ignore
  await page.keyboard.press('j');
  const name = await tree.getByRole('treeitem', { selected: true }).locator('.name').innerText();
  for (const side of ['Before', 'After']) {
    const row = page.getByRole('group', { name: `Timeline: ${side}` }).locator('.strip.shown');
    await eventually(side, async () => (await row.innerText()).includes(name));
  }
  assert.deepEqual(await violations(page), []);
  await shot(page, '60-dispatch');
});

test('a plan is applied with Enter, and undone', async () => {
  const { page } = opened;
  await page.getByRole('tree', { name: 'Plan' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('alertdialog').getByText('Tasks that get a worker: 3').waitFor();
  await page.keyboard.press('Tab');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Apply' }).click();
  await eventually('applied', async () => (await list(ada)).length + (await list(bob)).length === 3);
  await page.getByText('Plan applied, tasks changed: 3.').waitFor();
  await page.getByRole('link', { name: 'Open the board' }).waitFor();
  await page.locator('#main').focus();
  await page.keyboard.press('z');
  await eventually('undone', async () => (await waiting()).length === 4);
  assert.deepEqual([await list(ada), await list(bob)], [[], []]);
  const marked = async () => (await api('GET', `/teams/${team}/dispatches`))[0].processingDetails.undoTime;
  await eventually('marked', async () => (await marked()) > 0);
});

test('a changed schedule prevents a plan from being applied; a new plan is discarded', async () => {
  const { page, faults } = opened;
  await page.locator('#main').focus();
  await page.keyboard.press('r'); // again
  await page.getByRole('button', { name: /^Discard/ }).waitFor();
  const start = Date.now() + 60_000;
  const shifts = [[start, start + 1800_000]];
  for (const worker of [ada, bob]) {
    await api('POST', `/workers/${worker}/schedule`, {
      entries: [{ date: new Date(start).toISOString().slice(0, 10), timezone: 'UTC', shifts }],
    });
  }
  await page.getByRole('button', { name: /^Apply/ }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Apply' }).click();
  await page.getByRole('alertdialog').getByText('does not fit any more').waitFor();
  await page.keyboard.press('Escape');
  await gone(page.getByRole('alertdialog'));
  await page.getByText(/(Ada|Bob) Plan has another schedule\./).first().waitFor(); // prettier-ignore
  assert.ok(await page.getByRole('button', { name: /^Apply/ }).isDisabled());
  assert.equal((await waiting()).length, 4);
  await shot(page, '61-dispatch-stale');

  await page.locator('#main').focus();
  await page.keyboard.press('Escape');
  await page.getByRole('alertdialog').getByRole('button', { name: 'Discard' }).click();
  const plans = page.getByRole('table', { name: 'Earlier plans' });
  await plans.getByRole('row').filter({ hasText: 'Discarded' }).getByText('Paula').waitFor(); // prettier-ignore
  await plans.getByRole('row').filter({ hasText: 'Undone' }).waitFor();
  assert.equal((await waiting()).length, 4);
  assert.deepEqual(faults, []);
});

test('a deleted task prevents a plan from being applied, and is named once; the help has the keys', async () => {
  const { page } = opened;
  const left = await drop('Gone', 1200);
  await page.goto(`${url}/dashboard#/dispatch/teams/${team}`);
  await page.getByText('Tasks waiting: 5.').waitFor();
  await page.locator('#main').focus();
  await dryRun(page);
  const id = page.url().split('/').at(-1);
  await api('DELETE', `/tasks/${left.id}`);
  const changes = page.getByRole('alert').getByRole('listitem');
  await changes.getByText(`1 Plan Street, New York (${left.shortId}) was completed or deleted.`).waitFor();
  assert.equal(await changes.count(), 1);

  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  for (const what of ['Dry run, or plan again', 'Apply the plan', 'Discard the plan']) await help.getByText(what).waitFor(); // prettier-ignore
  await page.keyboard.press('Escape');
  await gone(help);

  // A confirmation dialog closes when its screen is left.
  await page.locator('#main').focus();
  await page.keyboard.press('Escape');
  await page.getByRole('alertdialog', { name: 'Discard' }).waitFor();
  await page.goBack();
  await page.getByText('Tasks waiting: 4.').waitFor();
  await gone(page.getByRole('alertdialog'));
  assert.equal((await api('GET', `/dispatches/${id}`)).processingDetails.status, 'planned');
});

test('a read-only administrator of the team can view plans, also on a phone', async () => {
  const { page, faults } = await administrator('Rolf', { type: 'standard', isReadOnly: true });
  await page.goto(`${url}/dashboard#/dispatch`);
  await page.getByText('Your account is read-only').waitFor();
  assert.deepEqual(await page.locator('select').first().locator('option').allInnerTexts(), ['Planners']);
  assert.ok(await page.getByRole('button', { name: /^Dry run/ }).isDisabled());
  await page.setViewportSize({ width: 400, height: 800 });
  await page.getByRole('row').filter({ hasText: 'Discarded' }).getByRole('link').click();
  await page.getByRole('tree', { name: 'Plan' }).waitFor();
  await page.getByRole('button', { name: 'After', exact: true }).click();
  await page.getByRole('region', { name: 'Map: After' }).waitFor();
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(faults, []);
});
