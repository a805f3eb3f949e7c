// The dashboard, starting with the one-time link of a new server.

import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, test } from 'node:test';
import { browser, connect, desk, disconnect, eventually, gone, install, shot, violations, zone } from './kit.mjs';

const me = { name: 'Grace Hopper', email: 'grace@example.com', password: 'correct horse battery' };
const firstLoad = 200 * 1024; // bytes, compressed

let chrome, server, key;
before(async () => {
  [chrome, server] = [await browser(), await install()];
});
after(async () => {
  await chrome?.close();
  await server?.stop();
});

// signIn opens the dashboard and signs in.
async function signIn(page, password = me.password) {
  await page.goto(`${server.origin}/dashboard`);
  await page.getByLabel('Email').fill(me.email);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

// enter signs in with a new page.
async function enter(options) {
  const opened = await desk(chrome, server.origin, options);
  await signIn(opened.page);
  await opened.page
    .getByRole('navigation')
    .or(opened.page.getByRole('button', { name: 'Navigation' }))
    .first()
    .waitFor();
  return opened;
}

const visit = async (page, path, heading) => {
  await page.evaluate((hash) => (location.hash = hash), `#/${path}`);
  await page.getByRole('heading', { level: 1, name: heading }).waitFor();
};

const api = async (method, path, body) => {
  const response = await fetch(`${server.origin}/api/v2${path}`, {
    method,
    headers: { Authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` },
    body: body && JSON.stringify(body),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return text ? JSON.parse(text) : undefined;
};

test('the first start creates an organization and leads to the first task', async () => {
  const { context, page, faults } = await desk(chrome, server.origin);
  await page.goto(`${server.origin}/dashboard`);
  await page.getByText('no organization yet').waitFor();
  await page.goto(server.link);
  await page.reload();
  await page.getByLabel('Name of the organization').fill('Corner Courier');
  await page.getByLabel('Country').selectOption('US');
  await page.getByLabel('Your name').fill(me.name);
  await page.getByLabel('Email').fill(me.email);
  await page.getByLabel('New password').fill(me.password);
  await page.getByRole('button', { name: 'Create organization' }).click();

  await page.getByRole('heading', { name: 'Getting started' }).waitFor();
  assert.ok(!page.url().includes('link'), 'the token stays in the address');
  await page.getByLabel('Name', { exact: true }).fill('Depot');
  for (const [label, value] of [
    ['Number', '350'],
    ['Street', '5th Avenue'],
    ['City', 'New York'],
    ['Country', 'US'],
  ]) {
    await page.getByLabel(label, { exact: true }).fill(value);
  }
  await page.locator('canvas').click();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('Workers belong to teams').waitFor();
  await page.getByLabel('Name', { exact: true }).fill('Downtown');
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByText('It can be you').waitFor();
  await page.getByLabel('Name', { exact: true }).fill('Ada Lovelace');
  await page.getByLabel('Phone').fill('+12125550199');
  await page.getByRole('button', { name: 'Invite' }).click();
  await page.getByRole('img', { name: 'QR code' }).waitFor();
  const phone = await desk(chrome, server.origin);
  const password = await page.locator('[data-secret]').textContent();
  await phone.page.goto(`${server.origin}/driver#/invitation/+12125550199/${password}`);
  await phone.page.getByRole('button', { name: 'Sign in' }).click();
  await phone.page.getByLabel('New password').waitFor();
  assert.ok(!phone.page.url().includes(password), 'the password stays in the address');
  await phone.context.close();
  await page.getByRole('button', { name: 'Next' }).click();
  await gone(page.locator('[data-secret]'));
  await page.getByText('A delivery near your hub').waitFor();
  for (const [label, value] of [
    ['Number', '11'],
    ['Street', 'Wall Street'],
    ['City', 'New York'],
    ['Country', 'US'],
  ]) {
    await page.getByLabel(label, { exact: true }).fill(value);
  }
  await page.locator('canvas').click();
  await page.getByLabel('Phone').fill('+12125550142');
  await page.getByRole('button', { name: 'Create task' }).click();
  await page.getByRole('link', { name: '/t/' }).waitFor();
  await page.getByRole('link', { name: 'Finish' }).click();
  await page.getByRole('heading', { name: 'Board' }).waitFor();

  await page.goto(server.link);
  await page.reload();
  await page.getByRole('heading', { name: 'This link is not valid' }).waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('a wrong password does not sign in, the right one does, and signing out ends the session', async () => {
  const { context, page, faults } = await desk(chrome, server.origin);
  await signIn(page, 'not the password');
  await page.getByText('Email or password is wrong').waitFor();
  await signIn(page);
  await page.getByRole('heading', { name: 'Board' }).waitFor();
  await page.reload();
  await page.getByRole('heading', { name: 'Board' }).waitFor();
  await visit(page, 'settings/audit', 'Audit log');
  await page.getByText('Wrong password').waitFor();
  const cookies = (await context.cookies()).filter((c) => c.name.includes('session'));
  assert.ok(cookies.length === 1 && cookies[0].httpOnly && cookies[0].sameSite === 'Lax');
  await page.getByRole('button', { name: 'Account' }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  await context.addCookies(cookies); // as a thief would
  await page.reload();
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('a page can be left before its QR code is drawn', async () => {
  const { context, page, faults } = await enter();
  let release;
  const released = new Promise((resolve) => (release = resolve));
  await page.route('**/assets/qrcode-*.js', (route) => released.then(() => route.continue()));
  const asked = page.waitForRequest('**/assets/qrcode-*.js');
  await visit(page, 'start', 'Getting started');
  await asked;
  await visit(page, 'account', 'Account');
  const loaded = page.waitForResponse('**/assets/qrcode-*.js');
  release();
  await (await loaded).finished();
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
  assert.deepEqual(faults, []);
  await context.close();
});

test('the first load is small, not counting the map, which is loaded at the same time', async () => {
  const { context, page } = await enter();
  await page.getByRole('heading', { name: 'Board' }).waitFor();
  const files = await page.evaluate(() =>
    performance
      .getEntriesByType('resource')
      .filter((e) => e.name.includes('/assets/') && !/\/(engine|maplibre-gl-worker)-/.test(e.name))
      .map((e) => [e.name.split('/').pop(), e.encodedBodySize]),
  );
  const sum = files.reduce((all, [, size]) => all + size, 0);
  assert.ok(files.length > 3 && sum < firstLoad, `${sum} bytes: ${JSON.stringify(files)}`);
  await context.close();
});

test('a key is shown once, works, and is revoked', async () => {
  const { context, page, faults } = await enter();
  await visit(page, 'developers/keys', 'API keys');
  await page.getByRole('button', { name: 'Create key' }).first().click();
  await page.getByLabel('Name').fill('Browser test');
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
  key = await page.locator('[data-secret]').textContent();
  assert.match(key, /^dray_/);
  await api('GET', '/auth/test');
  await page.getByRole('button', { name: 'I have saved it' }).click();
  await gone(page.locator('[data-secret]'));
  const left = () => page.evaluate((k) => document.documentElement.outerHTML.includes(k), key);
  assert.equal(await left(), false);
  await page.reload();
  await page.getByRole('button', { name: 'Browser test', exact: true }).waitFor();
  assert.equal(await left(), false);

  await page.getByRole('button', { name: 'Create key' }).first().click();
  await page.getByLabel('Name').fill('Short-lived');
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
  const other = await page.locator('[data-secret]').textContent();
  await page.getByRole('button', { name: 'I have saved it' }).click();
  await page.getByRole('button', { name: 'Actions for Short-lived' }).click();
  await page.getByRole('menuitem', { name: 'Revoke' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Revoke' }).click();
  await gone(page.getByRole('button', { name: 'Short-lived', exact: true }));
  await eventually('the key is rejected', async () => {
    const headers = { Authorization: `Basic ${Buffer.from(`${other}:`).toString('base64')}` };
    return (await fetch(`${server.origin}/api/v2/auth/test`, { headers })).status === 401;
  });
  assert.deepEqual(faults, []);
  await context.close();
});

test('a webhook gets a test event, and its attempt can be read', async () => {
  const { context, page, faults } = await enter();
  await visit(page, 'developers/webhooks', 'Webhooks');
  await page.getByRole('button', { name: 'New webhook' }).first().click();
  await page.getByLabel('Name').fill('Orders');
  await page.getByLabel('URL').fill(process.env.DRAY_TEST_HOOK);
  await page.getByLabel('Trigger').selectOption({ label: 'taskCompleted (3)' });
  await page.getByRole('button', { name: 'Create' }).click();
  await page.getByRole('heading', { level: 1, name: 'Orders' }).waitFor();
  await page.getByRole('button', { name: 'Send test event' }).first().click();
  await page.getByRole('cell', { name: 'Delivered' }).waitFor();
  await page.getByRole('row').nth(1).getByRole('button').first().click();
  const sheet = page.getByRole('dialog');
  await sheet.getByText('200', { exact: true }).waitFor();
  assert.match(await sheet.locator('pre').textContent(), /"triggerName"|"triggerId"|"isTest"|"time"/);
  await page.keyboard.press('Escape');
  await gone(sheet);
  await page.getByRole('button', { name: 'Redeliver' }).first().click();
  await page.getByText('Sent again: 1').waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('notifications that were given up are sent again for a period in the organization’s time zone', async () => {
  const { context, page, faults } = await enter({ timezoneId: 'Asia/Tokyo' }); // not that of the organization
  await visit(page, 'developers/webhooks', 'Webhooks');
  await page.getByRole('cell').getByRole('link', { name: 'Orders' }).click();
  await page.getByRole('button', { name: 'Actions for Orders' }).click();
  await page.getByRole('menuitem', { name: 'Redeliver those that were given up' }).click();
  const sheet = page.getByRole('dialog');
  await sheet.getByLabel('Since').fill('2026-11-16T08:00');
  await sheet.getByLabel('Until').fill('2026-11-16T09:30');
  const sent = page.waitForRequest((r) => r.url().endsWith('/redeliver'));
  await sheet.getByRole('button', { name: 'Redeliver' }).click();
  const offset = { 'America/New_York': '-05:00', 'Asia/Singapore': '+08:00' }[zone];
  assert.deepEqual((await sent).postDataJSON(), {
    from: Date.parse(`2026-11-16T08:00${offset}`),
    to: Date.parse(`2026-11-16T09:30${offset}`),
  });
  await page.getByText('Sent again: 0').waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('the event log contains events from while it was not connected', async () => {
  const { context, page, faults } = await enter();
  let broken = 0;
  await page.route('**/api/v2/events', (route) => {
    broken++;
    return route.fulfill({ contentType: 'text/event-stream', body: ': following\n\n' });
  });
  await visit(page, 'developers/events', 'Event log');
  await eventually('the stream breaks', () => broken > 0);
  await api('POST', '/tasks', {
    destination: { address: { city: 'New York', country: 'US' }, location: [-74, 40.7] },
    recipients: [],
  });
  await page.unroute('**/api/v2/events');
  await page.getByRole('button', { name: 'taskCreated' }).waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('a page in the background does not use a connection, and catches up when it is shown', async () => {
  const { context, page, faults } = await enter();
  const turn = (hidden) =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'hidden', { value, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, hidden);
  await page.clock.install();
  await visit(page, 'developers/events', 'Event log');
  await page.locator('.chip', { hasText: 'Live' }).waitFor();
  const closed = page.waitForEvent('requestfailed', (r) => r.url().endsWith('/api/v2/events'));
  await turn(true);
  await page.clock.fastForward(11_000);
  await closed;
  await api('POST', '/tasks', {
    destination: { address: { city: 'New York', country: 'US' }, location: [-74, 40.7] },
    recipients: [],
  });
  await turn(false);
  await page.getByRole('button', { name: 'taskCreated' }).waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('a person is invited with one mail, and can remove their phone number', async () => {
  const { context, page, faults } = await enter();
  await page.route('**/account/v1/state', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), mail: true } });
  });
  await page.reload();
  await visit(page, 'settings/people', 'People');
  const sent = [];
  page.on('request', (r) => r.method() === 'POST' && sent.push(new URL(r.url()).pathname));
  await page.getByRole('button', { name: 'Invite person' }).click();
  const sheet = page.getByRole('dialog');
  await sheet.getByLabel('Name', { exact: true }).fill('Katherine Johnson');
  await sheet.getByLabel('Email').fill('katherine@example.com');
  await sheet.getByLabel('Phone').fill('+12125550171');
  await sheet.getByRole('button', { name: 'Invite' }).click();
  await page.getByText('on its way to katherine@example.com').waitFor();
  assert.deepEqual(sent, ['/api/v2/admins']);
  await page.getByRole('button', { name: 'Katherine Johnson', exact: true }).click();
  await sheet.getByLabel('Phone').fill('');
  await sheet.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  const saved = (await api('GET', '/admins')).find((a) => a.email === 'katherine@example.com');
  assert.equal(saved.phone, undefined);
  assert.deepEqual(faults, []);
  await context.close();
});

test('signatures are checked in the browser', async () => {
  const { context, page, faults } = await enter();
  await visit(page, 'developers/webhooks', 'Webhooks');
  const [secret, body] = ['0102030405', '{"time":1}'];
  const signed = createHmac('sha512', Buffer.from(secret, 'hex')).update(body).digest('hex');
  const sent = [];
  page.on('request', (r) => sent.push(r.url() + (r.postData() ?? '')));
  await page.getByRole('button', { name: 'Check a signature' }).click();
  await page.getByLabel('Secret').fill(secret);
  await page.getByLabel('Headers').fill(`X-Onfleet-Signature: ${signed}`);
  await page.getByLabel('Body').fill(body);
  await page.getByRole('button', { name: 'Check', exact: true }).click();
  await page.getByText('the signature is right').waitFor();
  await page.getByLabel('Body').fill(`${body} `);
  await page.getByRole('button', { name: 'Check', exact: true }).click();
  await page.getByText('the signature is wrong').waitFor();
  assert.ok(!sent.some((text) => text.includes(secret)), 'the secret left the page');
  assert.deepEqual(faults, []);
  await context.close();
});

test('a change of settings is saved, and undone with a key', async () => {
  const { context, page, faults } = await enter();
  await visit(page, 'fleet/teams', 'Teams');
  await page.getByRole('button', { name: 'Downtown', exact: true }).click();
  await page.getByLabel('Name').fill('Uptown');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  assert.equal((await api('GET', '/teams'))[0].name, 'Uptown');
  await page.keyboard.press('z');
  await page.getByText('Undone.').waitFor();
  await eventually('the old name', async () => (await api('GET', '/teams'))[0].name === 'Downtown');
  assert.deepEqual(faults, []);
  await context.close();
});

test('changes that are not saved yet are kept', async () => {
  const { context, page } = await enter();
  // Another section of the settings is saved.
  await visit(page, 'settings/organization', 'Settings');
  await page.getByLabel('Hide expected barcodes').check();
  await page.getByLabel('Least precision').selectOption('City');
  await page
    .locator('form', { has: page.getByLabel('Least precision') })
    .getByRole('button', { name: 'Save' })
    .click();
  await page.getByText('Saved.').waitFor();
  assert.ok(await page.getByLabel('Hide expected barcodes').isChecked());
  await page.keyboard.press('z');
  await eventually('the precision before', async () => (await page.getByLabel('Least precision').inputValue()) === 'any'); // prettier-ignore
  assert.ok(await page.getByLabel('Hide expected barcodes').isChecked());

  // Another page is opened.
  const question = page.getByRole('alertdialog', { name: 'Discard' });
  await page.getByRole('link', { name: 'Teams' }).click();
  await question.getByRole('button', { name: 'Keep typing' }).click();
  await gone(question);
  assert.ok(await page.getByLabel('Hide expected barcodes').isChecked());
  const asked = page.waitForEvent('dialog');
  await page.evaluate(() => void setTimeout(() => location.reload()));
  assert.equal((await asked).type(), 'beforeunload');
  assert.ok(await page.getByLabel('Hide expected barcodes').isChecked());
  await page.getByLabel('Hide expected barcodes').uncheck();
  await visit(page, 'fleet/teams', 'Teams'); // nothing is lost
  await visit(page, 'settings/organization', 'Settings');
  await page.getByLabel('Hide expected barcodes').check();
  await page.getByRole('link', { name: 'Teams' }).click();
  await question.getByRole('button', { name: 'Discard' }).click();
  await page.getByRole('heading', { name: 'Teams', level: 1 }).waitFor();

  // Another week of a schedule is shown.
  const team = await api('POST', '/teams', { name: 'Nights', workers: [], managers: [] });
  const worker = await api('POST', '/workers', { name: 'Ida Rhodes', phone: '+12125550178', teams: [team.id] });
  await visit(page, `fleet/workers/${worker.id}`, 'Ida Rhodes');
  const shifts = page.locator('input[type=time]');
  await page.getByRole('button', { name: /^Shift Sun/ }).click();
  assert.equal(await shifts.count(), 2);
  await page.getByRole('button', { name: 'Next week' }).click();
  assert.equal(await shifts.count(), 0);
  await page.getByRole('button', { name: 'Previous week' }).click();
  assert.equal(await shifts.count(), 2);
  await page.getByRole('button', { name: 'Next week' }).click();
  await page
    .locator('form', { has: page.locator('.shifts') })
    .getByRole('button', { name: 'Save' })
    .click();
  await page.getByText('The schedule is saved.').waitFor();
  assert.equal((await api('GET', `/workers/${worker.id}/schedule`)).entries.length, 1);

  // A worker who was deleted has nothing to save.
  const { id } = await api('POST', '/workers', { name: 'Jean Sammet', phone: '+12125550179', teams: [team.id] });
  await visit(page, `fleet/workers/${id}`, 'Jean Sammet');
  await page.getByLabel('Name', { exact: true }).fill('Jean E. Sammet');
  await page.getByRole('button', { name: 'Actions for Jean Sammet' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'Workers', level: 1 }).waitFor();
  assert.equal(await question.count(), 0);

  // A person is created once, even if a team cannot be saved.
  await visit(page, 'settings/people', 'People');
  let broken = true;
  await page.route('**/api/v2/teams/*', (r) => (broken ? r.abort() : r.continue()));
  const sent = [];
  page.on('request', (r) => r.method() === 'POST' && sent.push(new URL(r.url()).pathname));
  await page.getByRole('button', { name: 'Invite person' }).click();
  const sheet = page.getByRole('dialog', { name: 'Invite person' });
  await sheet.getByLabel('Name', { exact: true }).fill('Mina Rees');
  await sheet.getByLabel('Email').fill('mina@example.com');
  await sheet.getByLabel('Nights').check();
  await sheet.getByRole('button', { name: 'Invite' }).click();
  await sheet.locator('.banner.bad').waitFor();
  broken = false;
  await sheet.getByRole('button', { name: 'Invite' }).click();
  await gone(sheet);
  assert.equal(sent.filter((path) => path === '/api/v2/admins').length, 1);
  assert.equal((await api('GET', `/teams/${team.id}`)).managers.length, 1);
  await api('DELETE', `/workers/${worker.id}`);
  await api('DELETE', `/teams/${team.id}`);
  await context.close();
});

test('a report that is open at midnight shows the new day', async () => {
  const { context, page } = await enter();
  await page.clock.install();
  const ends = [];
  page.on('request', (r) => {
    const { pathname, searchParams } = new URL(r.url());
    if (pathname.endsWith('/analytics')) ends.push(Number(searchParams.get('to')));
  });
  await visit(page, 'reports', 'Reports');
  await eventually('a report', () => ends.length > 0);
  const last = Math.max(...ends);
  await page.clock.fastForward('24:00:00');
  await eventually('the next day', () => Math.max(...ends) > last);
  await context.close();
});

test('the owner tests a service, and chooses failure reasons', async () => {
  const { context, page, faults } = await enter();
  await visit(page, 'settings/installation', 'Installation');
  const geocoder = page.locator('section', { has: page.getByRole('heading', { name: 'Geocoder' }) });
  await geocoder.getByLabel('Service').selectOption({ label: 'Built-in cities and postal codes' });
  await geocoder.getByLabel('Address').fill('New York');
  await geocoder.getByRole('button', { name: 'Test' }).click();
  await geocoder.getByText('New York, New York').waitFor();
  await visit(page, 'settings/reasons', 'Failure reasons');
  await page.getByLabel('Offer Goods damaged').uncheck();
  await page.getByRole('button', { name: 'Move Something else up' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved.').waitFor();
  assert.deepEqual((await api('GET', '/organization/settings')).failureReasons.slice(-2), [
    'AGE_NOT_VERIFIED',
    'OTHER',
  ]);
  await visit(page, 'developers/triggers', 'Triggers');
  await page.getByRole('button', { name: 'taskFailed 4' }).click();
  await page.getByRole('heading', { name: 'taskFailed (4)' }).waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('the palette and the help open by keyboard', async () => {
  const { context, page, faults } = await enter();
  await page.getByRole('heading', { name: 'Board' }).waitFor();
  await page.keyboard.press('?');
  await page.getByRole('heading', { name: 'Keyboard shortcuts' }).waitFor();
  await page.keyboard.press('Escape');
  await gone(page.getByRole('dialog'));
  await page.keyboard.press('Control+k');
  const field = page.getByRole('combobox', { name: 'Search' });
  await field.waitFor();
  await field.fill('webh');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('a lost connection is reported, and data that could not be read is loaded later', async () => {
  const { context, page } = await enter();
  await page.getByRole('heading', { name: 'Board' }).waitFor();
  // The code of the screen is loaded; its data is not.
  await visit(page, 'fleet/hubs', 'Hubs');
  await visit(page, 'fleet/teams', 'Teams');
  await disconnect(context);
  await visit(page, 'fleet/hubs', 'Hubs');
  await page.getByText('Trying again').waitFor();
  await page.getByRole('alert').waitFor();
  await shot(page, '40-dashboard-lost');
  await connect(context);
  await page.getByRole('cell', { name: 'Depot' }).waitFor();
  await gone(page.getByText('Trying again'));

  // An error of the server is reported, and the request is not repeated.
  let asked = 0;
  await page.route('**/api/v2/messages?*', (route) => {
    asked++;
    return route.fulfill({ status: 500, body: '{}' });
  });
  await visit(page, 'exceptions', 'Exceptions');
  await page.getByRole('alert').getByText('The server could not do this').waitFor();
  assert.equal(await page.getByText('Everything goes as planned').count(), 0);
  await page.getByRole('button', { name: 'Try again' }).click();
  await eventually('another request', () => asked > 1);
  assert.equal(asked, 2);

  // A past day is loaded when there is a connection again.
  await page.route('**/api/v2/board/history*', (route) => route.abort());
  await visit(page, 'replay', 'Replay');
  await page.getByRole('alert').getByText('no connection').waitFor();
  assert.equal(await page.locator('.bones').count(), 0);
  await page.unroute('**/api/v2/board/history*');
  await gone(page.getByRole('alert').getByText('no connection'));
  await page.getByRole('treeitem').first().waitFor();

  // Code that cannot be loaded is reported, too.
  await page.route('**/assets/Audit-*', (route) => route.abort());
  await page.evaluate(() => (location.hash = '#/settings/audit'));
  await page.getByText('This page could not be loaded').waitFor();
  // Without a connection, trying again does not leave the dashboard.
  await page.route('**/healthz', (route) => route.abort());
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('Trying again').waitFor();
  await page.getByText('This page could not be loaded').waitFor();
  await page.unroute('**/assets/Audit-*');
  await page.unroute('**/healthz');
  await page.getByRole('heading', { level: 1, name: 'Audit log' }).waitFor();

  // The message covers neither the drawer nor the bar of narrow screens.
  await visit(page, 'account', 'Account');
  const { tasks } = await api('GET', '/tasks/all?from=1');
  await page.evaluate((id) => (location.hash = `#/tasks/${id}`), tasks[0].id);
  await page.getByRole('complementary').getByRole('button', { name: 'Close' }).waitFor();
  await disconnect(context);
  await page.getByText('Trying again').waitFor();
  await page.getByRole('complementary').getByRole('button', { name: 'Close' }).click();
  await visit(page, 'account', 'Account');
  await page.setViewportSize({ width: 400, height: 800 });
  await page.evaluate(() => scrollTo(0, 400));
  await page.getByRole('button', { name: 'Navigation' }).click();
  await page.getByRole('dialog').waitFor();
  await context.close();
});

test('every page shows that it is loading', async () => {
  const { context, page } = await enter();
  await page.getByRole('heading', { name: 'Board' }).waitFor();
  await page.route(/\/api\/v2\/|\/account\/v1\/installation/, () => {}); // no response ever
  for (const [path, heading] of screens) {
    if (['account', 'developers/events', 'developers/triggers'].includes(path)) continue; // they show no data at first
    await page.goto('about:blank');
    await page.goto(`${server.origin}/dashboard#/${path}`);
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    await page.locator('.bones').first().waitFor();
  }
  await context.close();
});

// totp returns the code of an authenticator app (RFC 6238).
function totp(secret, at) {
  const bits = [...secret.replace(/=+$/, '')]
    .map((c) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(c).toString(2).padStart(5, '0'))
    .join('');
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(at / 30_000)));
  const sum = createHmac('sha1', Buffer.from(bits.match(/.{8}/g).map((b) => parseInt(b, 2))))
    .update(counter)
    .digest();
  const code = sum.readUInt32BE(sum[19] & 15) & 0x7fffffff;
  return String(code % 1_000_000).padStart(6, '0');
}

test('a second factor is set up with a QR code, and required when signing in', async () => {
  const { context, page, faults } = await enter();
  await visit(page, 'account', 'Account');
  await page.getByRole('button', { name: 'Set up second factor' }).click();
  await page.getByLabel('Password', { exact: true }).fill(me.password);
  await page.getByRole('button', { name: 'Next', exact: true }).click();
  await page.getByRole('img', { name: 'QR code' }).waitFor();
  const secret = (await page.getByRole('dialog').locator('code').textContent()).replace(/\s/g, '');
  await page.getByRole('textbox', { name: 'Code' }).fill(totp(secret, Date.now()));
  await page.getByRole('button', { name: 'Confirm' }).click();
  const [recovery] = (await page.locator('[data-secret]').textContent()).trim().split('\n');
  await page.getByRole('button', { name: 'I have saved them' }).click();
  await gone(page.locator('[data-secret]'));
  assert.equal(await page.evaluate((s) => document.documentElement.outerHTML.includes(s), recovery), false);

  const other = await desk(chrome, server.origin);
  await signIn(other.page);
  await other.page.getByRole('heading', { name: 'Second factor' }).waitFor();
  await other.page.getByRole('textbox', { name: 'Code' }).fill('000000');
  await other.page.getByRole('button', { name: 'Sign in' }).click();
  await other.page.getByText('The code is wrong').waitFor();
  await other.page.getByRole('textbox', { name: 'Code' }).fill(recovery);
  await other.page.getByRole('button', { name: 'Sign in' }).click();
  await other.page.getByRole('heading', { name: 'Board' }).waitFor();
  assert.deepEqual(other.faults, []);
  await other.context.close();

  await page.getByRole('button', { name: 'Remove second factor' }).click();
  await page.getByLabel('Password', { exact: true }).fill(me.password);
  await page.getByRole('button', { name: 'Remove', exact: true }).click();
  await page.getByRole('button', { name: 'Set up second factor' }).waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

// screens are all pages of the dashboard: path, heading, and the button that opens a dialog.
const screens = [
  ['', 'Board', 'Create task'],
  ['exceptions', 'Exceptions'],
  ['dispatch', 'Dispatch'],
  ['table', 'Table'],
  ['replay', 'Replay'],
  ['reports', 'Reports'],
  ['import', 'Import'],
  ['today', 'Today'],
  ['start', 'Getting started'],
  ['account', 'Account'],
  ['fleet/workers', 'Workers', 'Invite worker'],
  ['fleet/teams', 'Teams', 'New team'],
  ['fleet/hubs', 'Hubs', 'New hub'],
  ['settings/fields', 'Custom fields', 'New field'],
  ['settings/branding', 'Branding'],
  ['recipients/messages', 'Messages'],
  ['settings/messages', 'Message texts'],
  ['settings/organization', 'Settings'],
  ['business/orders', 'Orders'],
  ['business/clients', 'Clients', 'New client'],
  ['business/services', 'Delivery services', 'New service'],
  ['settings/people', 'People', 'Invite person'],
  ['settings/audit', 'Audit log'],
  ['settings/installation', 'Installation'],
  ['settings/reasons', 'Failure reasons'],
  ['developers/keys', 'API keys', 'Create key'],
  ['developers/webhooks', 'Webhooks', 'New webhook'],
  ['developers/events', 'Event log'],
  ['developers/triggers', 'Triggers'],
];

// small lists the controls that are not high enough to tap with a finger. The height of a
// checkbox is that of its label.
function small() {
  const lowest = 23.5; // pixels; 24, as browsers round
  return [...document.querySelectorAll('button, input, select, textarea, summary, a.button, a.open')]
    .map((e) => (e.matches('[type=checkbox], [type=radio]') && e.labels[0]) || e)
    .filter((e) => e.checkVisibility({ opacityProperty: true }) && !e.closest('.unseen, .skip'))
    .map((e) => [e.getBoundingClientRect(), e])
    .filter(([box]) => box.width > 1 && box.height < lowest)
    .map(([box, e]) => `${box.height} high: ${e.outerHTML.slice(0, 140)}`);
}

// problems lists the problems of a screen.
async function problems(page, width, onlyColors) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  return [
    ...(wide > width ? [`${wide} wide`] : []),
    ...(width < 500 ? await page.evaluate(small) : []),
    ...(await violations(page, { onlyColors })),
  ];
}

test('every page works in every size and scheme', async () => {
  const found = [];
  for (const [width, ...schemes] of [
    [1440, 'light', 'dark'],
    [1024, 'light'],
    [400, 'dark', 'light'],
  ]) {
    const viewport = { width, height: width < 500 ? 800 : 900 };
    const options = { viewport, colorScheme: schemes[0], reducedMotion: 'reduce', bypassCSP: true };
    const { context, page, faults } = await enter(options);
    const look = async (what) => {
      for (const colorScheme of schemes) {
        await page.emulateMedia({ colorScheme });
        for (const problem of await problems(page, width, colorScheme !== schemes[0]))
          found.push(`${what} ${width} ${colorScheme}: ${problem}`);
        await shot(page, `41-dashboard-${what.replace('/', '-')}-${width}-${colorScheme}`);
      }
    };
    for (const [path, heading, dialog] of screens) {
      await visit(page, path, heading);
      await gone(page.locator('.bones'));
      await look(path || 'board');
      if (!dialog) continue;
      await page.getByRole('button', { name: dialog }).first().click();
      await page
        .getByRole('dialog')
        .getByLabel(/Name|Recipient/)
        .first()
        .waitFor();
      await look(`${path || 'board'}-dialog`);
      await page.keyboard.press('Escape');
      await gone(page.getByRole('dialog'));
    }
    assert.deepEqual(faults, []);
    await context.close();
  }
  assert.deepEqual(found, []);
});

test('the page is in the language of the browser until another is chosen', async () => {
  const { context, page } = await desk(chrome, server.origin, { locale: 'fr-CA' });
  await page.goto(`${server.origin}/dashboard`);
  await page.getByRole('heading', { name: 'Se connecter' }).waitFor();
  await context.close();
  await api('POST', '/teams', { name: 'Harbor', workers: [], managers: [] }); // so that there is a choice of teams
  for (const [language, heading, complaint] of [
    ['de', 'Leitstand', '„abc“ ist keine Telefonnummer'],
    ['fr', 'Tableau', '« abc » n’est pas un numéro'],
    ['es', 'Tablero', '«abc» no es un número'],
    ['pt', 'Quadro', '“abc” não é um número'],
  ]) {
    const { context, page, faults } = await desk(chrome, server.origin, { viewport: { width: 1280, height: 800 } });
    await page.goto(`${server.origin}/dashboard`);
    await page.getByRole('combobox', { name: 'Language' }).selectOption(language);
    await page.locator('input[type=email]').fill(me.email);
    await page.locator('input[type=password]').fill(me.password);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: heading }).waitFor();
    assert.equal(await page.evaluate(() => document.documentElement.lang), language);
    await page.locator('.top select').waitFor();
    const bar = await page.evaluate(() => {
      const [day, teams, create] = ['.day', 'select', '.main'].map((s) => document.querySelector(`.top ${s}`));
      const width = teams.offsetWidth;
      teams.style.maxWidth = 'none';
      return { wraps: create.offsetTop > day.offsetTop + day.offsetHeight, cut: teams.offsetWidth > width };
    });
    assert.deepEqual(bar, { wraps: false, cut: false }, language);
    await page.evaluate(() => (location.hash = '#/account'));
    await page.locator('input[type=tel]').fill('abc');
    await page.locator('form button.main').first().click();
    await page.getByText(complaint).waitFor();
    assert.deepEqual(faults, []);
    await context.close();
  }
});
