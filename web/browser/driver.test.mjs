import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import {
  api,
  browser,
  connect,
  disconnect,
  eventually,
  goOnDuty,
  gone,
  hire,
  manhattan,
  open,
  phone,
  shot,
  sign,
  signIn,
  swipe,
  url,
} from './kit.mjs';

const picture = {
  name: 'door.png',
  mimeType: 'image/png',
  buffer: readFileSync(new URL('../public/driver/icon-192.png', import.meta.url)),
};

let chrome;
before(async () => {
  chrome = await browser();
});
after(() => chrome?.close());

const stops = [
  ['Grace Hopper', '350', '5th Ave', -73.9857, 40.7484],
  ['Ada Lovelace', '11', 'W 53rd St', -73.9776, 40.7614],
  ['Katherine Johnson', '1', 'Wall St', -74.0106, 40.7075],
  ['Annie Easley', '200', 'Eastern Pkwy', -73.9636, 40.6712],
];

// route creates a task for each stop and assigns it to the worker.
async function route(worker, more = []) {
  const ids = [];
  for (const [i, [name, number, street, lon, lat]] of stops.entries()) {
    const task = await api('POST', '/tasks', {
      destination: {
        address: { number, street, city: 'New York', state: 'NY', postalCode: '10001', country: 'United States' },
        location: [lon, lat],
        notes: i === 0 ? 'Freight entrance on 33rd Street, ring twice.' : '',
      },
      recipients: [{ name, phone: `+1212555${2000 + Number(worker.number.slice(-3)) * 10 + i}`, notes: '' }],
      container: { type: 'WORKER', worker: worker.id },
      completeAfter: Date.now() - 3600_000,
      completeBefore: Date.now() + (i + 1) * 3600_000,
      quantity: i + 1,
      ...more[i],
    });
    ids.push(task.id);
  }
  return ids;
}

test('a worker signs in, starts a task with a swipe and completes it with proof', async () => {
  const worker = await hire('Rosa Parks', '+12125551001');
  const [first] = await route(worker, [
    {
      notes: 'Fragile. Do not leave with the neighbours.',
      requirements: { signature: true, photo: true, notes: true, minimumAge: 21 },
      barcodes: [{ data: Buffer.from('PKG-1001').toString('base64'), blockCompletion: true }],
      metadata: [{ name: 'Door code', type: 'string', value: '4711#', visibility: ['api', 'worker'] }],
    },
  ]);
  const { context, page, faults } = await phone(chrome);
  await page.goto(`${url}/driver`);
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  await shot(page, '01-sign-in');
  await page.getByLabel('Phone number').fill(worker.number);
  await page.getByLabel('Password').fill('nonsense');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Phone number or password is wrong').waitFor();
  await signIn(page, worker);
  await page.getByText('Grace Hopper').waitFor();
  await shot(page, '02-list-off-duty');

  await page.getByText('Grace Hopper').click();
  await page.getByText('Go on duty to start this task.').waitFor();
  await page.getByRole('button', { name: 'Back' }).click();
  await goOnDuty(page, worker);
  await open(page, 'Grace Hopper');
  await page.getByText('4711#').waitFor();
  assert.match(await page.getByRole('link', { name: 'Navigate' }).getAttribute('href'), /^geo:40\.748400,-73\.985700/);
  assert.match(await page.getByRole('link', { name: 'Call' }).getAttribute('href'), /^tel:\+1212555\d+$/);
  await shot(page, '03-task');
  await swipe(page);
  await page.getByRole('button', { name: 'I have arrived' }).click();
  await eventually('active', async () => (await api('GET', `/tasks/${first}`)).state === 2);
  await shot(page, '04-active');

  await page.getByRole('link', { name: 'Complete' }).click();
  const submit = page.getByRole('button', { name: 'Complete task' });
  assert.equal(await submit.isDisabled(), true);
  await page.getByText('Still missing').waitFor();
  await page.getByLabel(/I checked an identity document/).check();
  await page.getByLabel('Barcode', { exact: true }).fill('PKG-1001');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByLabel('Take a photo').setInputFiles(picture);
  await page.getByAltText('Photo 1').waitFor();
  await sign(page);
  await shot(page, '05-proof');
  await page.reload(); // as on phones that need the memory for the camera
  await page.getByAltText('Photo 1').waitFor();
  assert.equal(await page.getByLabel(/I checked an identity document/).isChecked(), true);
  await page.getByRole('button', { name: 'Clear' }).waitFor(); // the signature is still there
  await page.getByLabel('Name of the person who signed').fill('G. Hopper');
  await page.getByLabel('Note').fill('Handed over at the desk.');
  await page.getByRole('group', { name: /Signature.*done/ }).waitFor();
  await shot(page, '06-signature');
  await submit.click();
  await page.getByRole('heading', { name: 'Completed' }).waitFor();
  await page.getByText('Next stop').waitFor();
  await page.getByText('Sent', { exact: true }).waitFor();
  await shot(page, '06-done');

  const done = await eventually('completed', async () => {
    const task = await api('GET', `/tasks/${first}`);
    return task.state === 3 && task;
  });
  const details = done.completionDetails;
  assert.equal(details.success, true);
  assert.equal(details.notes, 'Handed over at the desk.');
  assert.equal(details.signatureText, 'G. Hopper');
  assert.ok(details.signatureUploadId);
  assert.equal(details.photoUploadIds.length, 1);
  assert.equal(done.barcodes.captured[0].wasRequested, true);
  assert.deepEqual(
    details.events.map((e) => e.name),
    ['start', 'arrival'],
  );
  await eventually('a position', async () => (await api('GET', `/workers/${worker.id}`)).location?.[1] === 40.7484);

  await page.getByText('Ada Lovelace').waitFor();
  await page.getByRole('link', { name: 'All tasks' }).click();
  await gone(page.getByText('Grace Hopper'));
  await shot(page, '07-list-after');
  await page.getByRole('link', { name: 'Done today: 1' }).click();
  await page.getByText('Grace Hopper').waitFor();
  await page.getByRole('button', { name: 'Back' }).click();
  await page.getByRole('link', { name: 'Map' }).click();
  await page.getByRole('button', { name: 'Zoom in' }).waitFor();
  await page.waitForTimeout(300);
  await shot(page, '08-map');
  const coasts = page.waitForResponse(/countries/);
  for (let i = 0; i < 7; i++) await page.getByRole('button', { name: 'Zoom out' }).click();
  await coasts;
  await page.waitForTimeout(500);
  await shot(page, '09-map-far');

  await page.getByRole('link', { name: 'Tasks' }).click();
  await open(page, 'Ada Lovelace');
  await swipe(page);
  await page.getByRole('link', { name: 'Could not be done' }).click();
  await page.getByLabel('Nobody was there').check();
  await page.getByLabel('Note').fill('Rang twice');
  await page.locator('input[type=file]').setInputFiles(picture);
  await page.getByAltText('Photo 1').waitFor();
  await page.reload(); // as on phones with little memory
  await page.getByAltText('Photo 1').waitFor();
  assert.equal(await page.getByLabel('Note').inputValue(), 'Rang twice');
  assert.ok(await page.getByLabel('Nobody was there').isChecked());
  await shot(page, '10-fail');
  await page.getByRole('button', { name: 'Report as failed' }).click();
  await page.getByRole('link', { name: 'Account' }).click();
  await shot(page, '11-account');
  assert.deepEqual(faults, []);
  await context.close();
});

test('a worker changes the password and signs out on all devices', async () => {
  const worker = await hire('Mary Seacole', '+12125551009');
  const { context, page, faults } = await phone(chrome);
  await signIn(page, worker);
  await page.getByRole('link', { name: 'Account' }).click();
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByLabel('Current password').fill('wrong horse battery');
  await page.getByLabel('New password').fill('paper clip stapler');
  await page.getByRole('button', { name: 'Save password' }).click();
  await page.getByText('The current password is wrong.').waitFor();
  await page.getByLabel('Current password').fill('correct horse battery');
  await page.getByRole('button', { name: 'Save password' }).click();
  await page.getByText('The password is changed').waitFor();
  await shot(page, '20-account-password');
  const token = await page.evaluate(() => localStorage.getItem('dray.token'));
  const me = () => fetch(`${url}/driver/v1/me`, { headers: { Authorization: `Bearer ${token}` } });
  assert.equal((await me()).status, 200);
  await page.getByRole('button', { name: 'Sign out on all devices' }).click();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  assert.equal((await me()).status, 401);
  await page.getByLabel('Phone number').fill(worker.number);
  await page.getByLabel('Password').fill('paper clip stapler');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('Nothing left to do').waitFor(); // the list, not the account

  // The organization ends the session, and the open app notices by itself.
  await page.getByText('Live').waitFor();
  await api('DELETE', `/workers/${worker.id}/sessions`);
  await page.getByText('You were signed out.').waitFor();
  await page.getByLabel('Phone number').fill(worker.number);
  await page.getByLabel('Password').fill('paper clip stapler');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('switch').waitFor();
  const again = await page.evaluate(() => localStorage.getItem('dray.token'));
  await page.getByRole('link', { name: 'Account' }).click();
  await page.getByRole('button', { name: 'Sign out', exact: true }).click();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  await eventually('signed out on the server', async () => {
    const response = await fetch(`${url}/driver/v1/me`, { headers: { Authorization: `Bearer ${again}` } });
    return response.status === 401;
  });
  assert.deepEqual(faults, []);
  await context.close();
});

test('without signal, actions are kept and shown, and sent when it is back', async () => {
  const worker = await hire('Harriet Tubman', '+12125551002');
  const [first, second] = await route(worker);
  const { context, page, faults } = await phone(chrome, { colorScheme: 'dark' });
  await signIn(page, worker);
  await goOnDuty(page, worker);
  await page.getByText('Ada Lovelace').waitFor();
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));

  const devtools = await context.newCDPSession(page);
  await eventually('installable', async () => {
    const { installabilityErrors } = await devtools.send('Page.getInstallabilityErrors');
    return installabilityErrors.every((e) => e.errorId === 'in-incognito'); // test pages are incognito
  });

  await disconnect(context);
  await open(page, 'Grace Hopper');
  await swipe(page);
  await page.getByRole('link', { name: 'Complete' }).click();
  await page.getByLabel('Take a photo').setInputFiles(picture);
  await page.getByAltText('Photo 1').waitFor();
  await page.getByRole('button', { name: 'Complete task' }).click();
  await page.getByText('Saved on this phone.').waitFor();
  await page.getByRole('link', { name: 'All tasks' }).click();
  await page.getByText('Done, waiting to be sent').waitFor();
  await shot(page, '12-offline-list');
  await page.reload(); // the app is cached on the phone
  await page.getByText('Done, waiting to be sent').waitFor();
  await open(page, 'Ada Lovelace');
  await swipe(page);
  await page.getByRole('button', { name: 'I have arrived' }).waitFor();
  await page.getByRole('button', { name: 'Back' }).click();
  await page.getByRole('link', { name: /Outbox/ }).click();
  await page.locator('[data-item]').first().waitFor();
  assert.equal(await page.locator('[data-item]').count(), 3);
  await shot(page, '13-offline-outbox');
  assert.equal((await api('GET', `/tasks/${first}`)).state, 1);

  // In the meantime the dispatcher unassigns the second task.
  await api('PUT', `/tasks/${second}`, {
    container: { type: 'ORGANIZATION', organization: process.env.DRAY_TEST_ORG },
  });
  await connect(context);
  await eventually('sent', async () => (await api('GET', `/tasks/${first}`)).state === 3);
  const details = (await api('GET', `/tasks/${first}`)).completionDetails;
  assert.equal(details.photoUploadIds.length, 1);
  await page.getByText('Rejected:').waitFor();
  await shot(page, '14-rejected');
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await page.getByText('Everything is sent').waitFor();
  await page.getByRole('link', { name: 'Tasks' }).click();
  await page.getByText('Katherine Johnson').waitFor();
  await gone(page.getByText('Ada Lovelace'));
  await shot(page, '15-list-dark');
  assert.deepEqual(faults, []);
  await context.close();
});

test('codes can be typed on a phone without a camera, and the phone notices a departure', async () => {
  const worker = await hire('Mary Seacole', '+12125551004');
  const code = Buffer.from('PKG-7').toString('base64');
  const [first] = await route(worker, [
    { barcodes: [{ data: code, blockCompletion: true }, { blockCompletion: true }] },
  ]);
  const { context, page, faults } = await phone(chrome);
  await signIn(page, worker);
  await goOnDuty(page, worker);
  const { userData } = await api('GET', `/workers/${worker.id}`);
  assert.ok(userData.appVersion && userData.deviceDescription && userData.platform, JSON.stringify(userData));
  await eventually('a position', async () => (await api('GET', `/workers/${worker.id}`)).location);
  await open(page, 'Grace Hopper');
  await swipe(page);
  await page.getByRole('button', { name: 'I have arrived' }).click();
  const steps = async () => (await api('GET', `/tasks/${first}`)).completionDetails.events.map((e) => e.name);
  await eventually('arrived', async () => (await steps()).includes('arrival'));
  await context.setGeolocation({ ...manhattan, latitude: manhattan.latitude + 0.0005 }); // to the van
  await context.setGeolocation({ ...manhattan, latitude: manhattan.latitude + 0.01 });
  await eventually('departed', async () => (await steps()).includes('departure'));
  await page.getByRole('link', { name: 'Complete' }).click();
  await page.getByRole('button', { name: 'Scan' }).click();
  await page.getByText('The camera cannot be used.').waitFor();
  const submit = page.getByRole('button', { name: 'Complete task' });
  for (const text of ['PKG-7', 'PKG-8']) {
    assert.equal(await submit.isDisabled(), true);
    await page.getByLabel('Barcode', { exact: true }).fill(text);
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByText(`Scanned: ${text}`).waitFor();
  }
  await submit.click();
  const done = await eventually('completed', async () => {
    const task = await api('GET', `/tasks/${first}`);
    return task.state === 3 && task;
  });
  assert.deepEqual(
    done.barcodes.captured.map((c) => Buffer.from(c.data, 'base64').toString()),
    ['PKG-7', 'PKG-8'],
  );
  assert.deepEqual(await steps(), ['start', 'arrival', 'departure']);
  assert.deepEqual(faults, []);
  await context.close();
});

test('an action that the phone cannot save is reported, and can be repeated', async () => {
  const worker = await hire('Mary Jackson', '+12125551062');
  const [first] = await route(worker);
  const { context, page } = await phone(chrome);
  await signIn(page, worker);
  await goOnDuty(page, worker);
  await open(page, 'Grace Hopper');
  await page.evaluate(() => {
    const { put } = IDBObjectStore.prototype;
    IDBObjectStore.prototype.put = function (...args) {
      if (this.name === 'items' && globalThis.full !== false) throw new DOMException('full', 'QuotaExceededError');
      return put.apply(this, args);
    };
  });
  const fault = page.getByRole('alert').getByText('could not be saved on this phone');
  await swipe(page);
  await fault.waitFor();
  await shot(page, 'not-saved');
  await page.getByRole('button', { name: 'Back' }).click();
  await fault.waitFor();
  await shot(page, 'not-saved-list');
  await open(page, 'Grace Hopper');
  await page.evaluate(() => (globalThis.full = false));
  await swipe(page);
  await eventually('started', async () => (await api('GET', `/tasks/${first}`)).state === 2);
  await gone(fault);

  // If only what the app remembers about a saved action cannot be stored, the action is not repeated.
  await page.evaluate(() => {
    const { put } = IDBObjectStore.prototype;
    IDBObjectStore.prototype.put = function (...args) {
      if (this.name === 'kept') throw new DOMException('full', 'QuotaExceededError');
      return put.apply(this, args);
    };
  });
  const arrived = page.waitForResponse('**/driver/v1/tasks/*/arrive');
  await page.getByRole('button', { name: 'I have arrived' }).click();
  await arrived;
  await page.getByRole('link', { name: 'Complete' }).waitFor();
  assert.equal(await fault.count(), 0);
  await page.waitForResponse('**/driver/v1/tasks'); // and the app continues to ask
  await page.waitForResponse('**/driver/v1/tasks');
  await context.close();
});

test('without storage, the app says what to do, and a sign-in that cannot be saved can be repeated', async () => {
  const worker = await hire('Mary Golda Ross', '+12125551068');
  const { context, page } = await phone(chrome);
  await context.addInitScript(() => {
    if (localStorage.getItem('private') === 'no') return;
    IDBFactory.prototype.open = () => {
      throw new DOMException('not allowed', 'SecurityError');
    };
  });
  await page.goto(`${url}/driver`);
  await page.getByRole('alert').getByText('cannot store anything on this phone').waitFor();
  await page.getByText('Leave private browsing').waitFor();
  await shot(page, 'no-storage');
  await page.evaluate(() => localStorage.setItem('private', 'no'));
  await page.getByRole('button', { name: 'Load again' }).click();
  await page.getByLabel('Phone number').fill(worker.number);
  await page.getByLabel('Password').fill(worker.password);
  await page.evaluate(() => {
    const { put } = IDBObjectStore.prototype;
    IDBObjectStore.prototype.put = function (...args) {
      if (globalThis.full !== false) throw new DOMException('full', 'QuotaExceededError');
      return put.apply(this, args);
    };
  });
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('could not be saved on this phone').waitFor();
  await page.evaluate(() => (globalThis.full = false));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('New password').waitFor();
  await context.close();
});

test('nothing of a worker who has signed out is sent or shown for the next one', async () => {
  const worker = await hire('Ida Wells', '+12125551063');
  const other = await hire('Maria Stewart', '+12125551064');
  const [first] = await route(worker);
  const { context, page, faults } = await phone(chrome, { serviceWorkers: 'block' });
  const signOut = async (unsent = false) => {
    await page.getByRole('link', { name: 'Account' }).click();
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    if (unsent) await page.getByRole('button', { name: 'Sign out anyway' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
  };
  const signInAgain = async ({ number }) => {
    await page.getByLabel('Phone number').fill(number);
    await page.getByLabel('Password').fill('correct horse battery');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('switch').waitFor();
  };
  await signIn(page, other);
  await signOut();
  await signIn(page, worker);
  await goOnDuty(page, worker);

  // hold lets the server respond to one request, and delivers the response later.
  const hold = async (path) => {
    let deliver;
    const held = new Promise((resolve) => {
      void page.route(
        path,
        async (r) => {
          const response = await r.fetch();
          deliver = () => r.fulfill({ response });
          resolve();
        },
        { times: 1 },
      );
    });
    return { held, deliver: () => deliver() };
  };

  const list = await hold('**/driver/v1/tasks');
  await page.evaluate(() => dispatchEvent(new Event('online')));
  await list.held;
  await signOut();
  const delivered = page.waitForResponse('**/driver/v1/tasks');
  await list.deliver();
  await (await delivered).finished();
  await signInAgain(other);
  await page.getByText('Nothing left to do').waitFor();
  assert.equal(await page.getByText('Grace Hopper').count(), 0);
  await signOut();

  await signInAgain(worker);
  await open(page, 'Grace Hopper');
  const start = await hold('**/driver/v1/tasks/*/start');
  await swipe(page);
  await start.held;
  await page.getByRole('button', { name: 'I have arrived' }).click();
  await page.getByRole('button', { name: 'Back' }).click();
  await signOut(true);
  assert.equal(await page.getByText('You were signed out').count(), 0);
  await signInAgain(other);
  const arrivals = [];
  page.on('request', (r) => r.url().endsWith('/arrive') && arrivals.push(r.headers().authorization));
  const next = page.waitForResponse('**/driver/v1/tasks');
  await start.deliver();
  await next;
  assert.deepEqual(arrivals, []);
  assert.equal((await api('GET', `/tasks/${first}`)).state, 2);
  assert.deepEqual(faults, []);
  await context.close();
});

test('an action that a proxy rejects can be dismissed, and a screen that is missing loaded again', async () => {
  const worker = await hire('Bessie Coleman', '+12125551061');
  await route(worker);
  const { context, page } = await phone(chrome, { serviceWorkers: 'block' });
  await signIn(page, worker);
  await goOnDuty(page, worker);
  await page.route('**/driver/v1/tasks/*/arrive', (r) => r.fulfill({ status: 413, body: '<html>too large</html>' }));
  await open(page, 'Grace Hopper');
  await swipe(page);
  await page.getByRole('button', { name: 'I have arrived' }).click();
  await page.getByRole('button', { name: 'Back' }).click();
  await page.getByRole('link', { name: /Outbox/ }).click();
  await page.getByText('(error 413)').waitFor();
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await page.getByRole('button', { name: 'Cancel' }).click();
  assert.equal(await page.locator('[data-item=arrive]').count(), 1);
  const tried = page.waitForRequest('**/driver/v1/tasks/*/arrive');
  await page.getByRole('button', { name: 'Try again' }).last().click(); // the one for all
  await tried;

  await page.getByRole('link', { name: 'Tasks' }).click();
  await open(page, 'Grace Hopper');
  await page.getByRole('link', { name: 'Complete' }).click();
  await page.getByRole('button', { name: 'Complete task' }).click();
  await page.getByRole('heading', { name: 'Completed' }).waitFor();
  await page.getByRole('link', { name: /Outbox/ }).click();
  await page.getByRole('button', { name: 'Dismiss' }).click();
  await page.getByText('Later actions on the same task are then sent without it.').waitFor();
  await shot(page, 'outbox-dismiss');
  await page.getByRole('button', { name: 'Delete it' }).click();
  await page.getByText('Everything is sent').waitFor();

  await page.route('**/assets/Account-*.js', (r) => r.abort());
  await page.getByRole('link', { name: 'Account' }).click();
  await page.getByRole('alert').getByText('could not be loaded').waitFor();
  await page.unroute('**/assets/Account-*.js');
  await page.getByRole('button', { name: 'Load again' }).click();
  await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor();
  await context.close();
});
