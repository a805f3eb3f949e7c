// The driver app in the field: scanning, time windows, claiming, positions, history.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { generate } from 'lean-qr';
import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';
import { api, browser, eventually, goOnDuty, hire, manhattan, open, phone, shot, signIn, swipe, url } from './kit.mjs';

prepareZXingModule({
  overrides: { wasmBinary: readFileSync(new URL(import.meta.resolve('zxing-wasm/reader/zxing_reader.wasm'))).buffer },
});

// film writes a video of QR codes, one after the other, for the fake camera.
function film(path, codes) {
  const [width, height, scale] = [640, 480, 9];
  const frames = [];
  for (const code of codes) {
    const bits = generate(code);
    const luma = Buffer.alloc(width * height, 235);
    const [left, top] = [(width - bits.size * scale) >> 1, (height - bits.size * scale) >> 1];
    for (let y = 0; y < bits.size * scale; y++)
      for (let x = 0; x < bits.size * scale; x++)
        if (bits.get(Math.floor(x / scale), Math.floor(y / scale))) luma[(top + y) * width + left + x] = 16;
    const frame = Buffer.concat([Buffer.from('FRAME\n'), luma, Buffer.alloc((width * height) / 2, 128)]);
    for (let i = 0; i < 20; i++) frames.push(frame);
  }
  writeFileSync(
    path,
    Buffer.concat([Buffer.from(`YUV4MPEG2 W${width} H${height} F10:1 Ip A1:1 C420jpeg\n`), ...frames]),
  );
}

const base64 = (text) => Buffer.from(text).toString('base64');

function task(worker, name, more = {}) {
  return api('POST', '/tasks', {
    destination: {
      address: {
        name: 'Empire State Building',
        number: '350',
        street: '5th Ave',
        city: 'New York',
        state: 'NY',
        country: 'US',
      },
      location: [-73.9857, 40.7484],
    },
    recipients: [{ name, phone: `+1646555${String(Math.floor(Math.random() * 9000) + 1000)}` }],
    container: { type: 'WORKER', worker: worker.id },
    quantity: 3,
    ...more,
  });
}

let chrome;
let folder;
before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'dray-film.'));
  const video = join(folder, 'codes.y4m');
  film(video, ['PKG-OTHER', 'PKG-STRAY', 'PKG-1', 'PKG-2']);
  chrome = await browser([
    '--use-fake-ui-for-media-stream',
    '--use-fake-device-for-media-stream',
    `--use-file-for-fake-video-capture=${video}`,
  ]);
});
after(async () => {
  await chrome?.close();
  rmSync(folder, { recursive: true });
});

test('a phone without a barcode reader scans codes one after the other and rejects wrong ones', async () => {
  const worker = await hire('Bessie Coleman', '+12125553001');
  const first = await task(worker, 'Grace Hopper', {
    scanOnlyRequiredBarcodes: true,
    barcodes: ['PKG-1', 'PKG-2'].map((code) => ({ data: base64(code), blockCompletion: true })),
  });
  await task(worker, 'Ada Lovelace', { barcodes: [{ data: base64('PKG-OTHER'), blockCompletion: true }] });
  const { context, page, faults } = await phone(chrome, { permissions: ['geolocation', 'camera'] });
  await page.addInitScript(() => delete globalThis.BarcodeDetector); // as on every iPhone
  const loaded = [];
  page.on('request', (r) => loaded.push(new URL(r.url()).pathname));
  await signIn(page, worker);
  await goOnDuty(page, worker);
  await open(page, 'Grace Hopper');
  assert.ok(!loaded.some((path) => path.endsWith('.wasm')), 'the reader was loaded before it was needed');
  await swipe(page);
  await page.getByRole('button', { name: 'I have arrived' }).click();
  await page.getByRole('link', { name: 'Complete' }).click();
  await page.getByText('PKG-1', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Scan', exact: true }).click();
  await page.getByText('PKG-OTHER belongs to another stop: Ada Lovelace.').waitFor();
  await shot(page, '30-scan-other');
  await page.getByText('PKG-STRAY does not belong to this task.').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Add it anyway' }).count(), 0);
  await page.getByText('Still missing: 1').waitFor(); // the camera stays on
  await page.getByText('Scanned: PKG-2').waitFor();
  await page.getByRole('button', { name: 'Scan', exact: true }).waitFor(); // the camera is off
  assert.ok(loaded.some((path) => path.startsWith('/assets/') && path.endsWith('.wasm')));
  await page.getByRole('button', { name: 'Complete task' }).click();
  await page.getByRole('heading', { name: 'Completed' }).waitFor();
  const done = await eventually('completed', async () => {
    const shown = await api('GET', `/tasks/${first.id}`);
    return shown.state === 3 && shown;
  });
  assert.deepEqual(
    done.barcodes.captured.map((c) => [Buffer.from(c.data, 'base64').toString(), c.symbology, c.wasRequested]).sort(),
    [
      ['PKG-1', 'QRCODE', true],
      ['PKG-2', 'QRCODE', true],
    ],
  );
  assert.deepEqual(faults, []);
  await context.close();
});

test('expected codes are hidden if the organization has chosen so', async () => {
  const dray = new URL('../../bin/dray', import.meta.url).pathname;
  const set = (what) =>
    execFileSync(dray, [
      'org',
      'set',
      '--data',
      process.env.DRAY_TEST_DATA,
      '--org',
      process.env.DRAY_TEST_ORG,
      '--barcodes',
      what,
    ]);
  set('hide');
  const worker = await hire('Ida Wells', '+12125553002');
  await task(worker, 'Grace Hopper', { barcodes: [{ data: base64('PKG-1'), blockCompletion: true }] });
  const { context, page, faults } = await phone(chrome);
  await signIn(page, worker);
  await goOnDuty(page, worker);
  await open(page, 'Grace Hopper');
  await swipe(page);
  await page.getByRole('link', { name: 'Complete' }).click();
  await page.getByText('Barcode 1').waitFor();
  assert.equal(await page.getByText('PKG-1').count(), 0);
  await page.getByLabel('Barcode', { exact: true }).fill('PKG-9');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('PKG-9 does not belong to this task.').waitFor();
  await page.getByRole('button', { name: 'Add it anyway' }).waitFor();
  await page.getByLabel('Barcode', { exact: true }).fill('PKG-1');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('PKG-1', { exact: true }).waitFor();
  set('show');
  assert.deepEqual(faults, []);
  await context.close();
});

test('a worker is warned of an early start, gets directions, and sees which tasks will be late', async () => {
  const worker = await hire('Amelia Earhart', '+12125553003');
  const hour = 3600_000;
  const far = {
    destination: {
      address: { name: 'Yankee Stadium', street: 'E 161st St', number: '1', city: 'Bronx', country: 'US' },
      location: [-73.9262, 40.8296],
    },
  };
  const first = await task(worker, 'Grace Hopper', {
    ...far,
    completeAfter: Date.now() + 3 * hour,
    completeBefore: Date.now() + 5 * hour,
  });
  await task(worker, 'Ada Lovelace', { completeAfter: Date.now() - 2 * hour, completeBefore: Date.now() - hour / 2 });
  const { context, page, faults } = await phone(chrome);
  await signIn(page, worker);
  await goOnDuty(page, worker);
  const card = page.locator('li', { hasText: 'Grace Hopper' });
  await card.getByText('Yankee Stadium').waitFor();
  await card.getByText(/\d mi$/).waitFor();
  await page.locator('li', { hasText: 'Ada Lovelace' }).getByText(/late$/).waitFor();
  await shot(page, '31-windows');
  await open(page, 'Grace Hopper');
  await swipe(page);
  await page.getByText(/The time window opens at .* early\./).waitFor();
  await shot(page, '32-too-early');
  await page.getByRole('button', { name: 'Wait' }).click();
  assert.equal((await api('GET', `/tasks/${first.id}`)).state, 1);
  await swipe(page);
  await page.getByRole('button', { name: 'Start anyway' }).click();
  await eventually('started', async () => (await api('GET', `/tasks/${first.id}`)).state === 2);

  // The first time, the worker chooses an app. Links do not open anything here.
  await page.evaluate(() => {
    globalThis.opened = [];
    addEventListener('click', (e) => {
      const link = e.target.closest('a');
      if (!link || link.hash) return;
      if (!e.defaultPrevented) globalThis.opened.push(link.href);
      e.preventDefault();
    });
  });
  await page.getByRole('link', { name: 'Navigate' }).click();
  await page.getByText('Show the way with').waitFor();
  await shot(page, '33-navigate-with');
  await page.getByRole('link', { name: 'Waze' }).click();
  const ways = ['https://waze.com/ul?ll=40.829600,-73.926200&navigate=yes'];
  await page.getByRole('button', { name: 'I have arrived' }).waitFor(); // the next step
  assert.deepEqual(await page.evaluate(() => globalThis.opened), ways);
  await page.getByRole('link', { name: 'Navigate' }).click(); // remembered
  assert.deepEqual(await page.evaluate(() => globalThis.opened), [...ways, ...ways]);
  await page.getByRole('button', { name: 'I have arrived' }).click();
  await page.getByText(/The time window opens at .* Wait if you can\./).waitFor();
  await shot(page, '34-arrived-early');
  assert.deepEqual(faults, []);
  await context.close();
});

test('a task to claim appears at once with the facts to decide, and disappears when another has it', async () => {
  const worker = await hire('Nellie Bly', '+12125553004');
  const { teams } = await api('GET', `/workers/${worker.id}`);
  await api('PUT', `/teams/${teams[0]}`, { enableSelfAssignment: true });
  const { context, page, faults } = await phone(chrome);
  await signIn(page, worker);
  await goOnDuty(page, worker);
  await page.getByText('Live').waitFor(); // from now on the app polls only every minute
  const team = { container: { type: 'TEAM', team: teams[0] } };
  const offered = await task(worker, 'Grace Hopper', {
    ...team,
    notes: 'Two heavy boxes.',
    completeBefore: Date.now() + 3600_000,
    requirements: { signature: true },
  });
  const second = await task(worker, 'Ada Lovelace', team);
  const card = page.locator(`[data-offer="${offered.id}"]`);
  await card.waitFor();
  for (const text of ['Drop-off', 'Empire State Building', '350 5th Ave', 'Two heavy boxes.', 'a signature'])
    await card.getByText(text, { exact: true }).first().waitFor();
  await card.getByText(/until/).waitFor();
  await card.getByText(/Quantity:\s*3/).waitFor();
  await page.locator(`[data-offer="${second.id}"]`).waitFor();
  await shot(page, '35-claim');
  await card.getByRole('button', { name: 'Take' }).click();
  await eventually('claimed', async () => (await api('GET', `/tasks/${offered.id}`)).worker === worker.id);
  await api('DELETE', `/tasks/${second.id}`);
  await eventually('gone', async () => (await page.locator('[data-offer]').count()) === 0);
  assert.deepEqual(faults, []);
  await context.close();
});

test('a gap in the positions is shown, and a tracker app can take over', async () => {
  const worker = await hire('Sally Ride', '+12125553005');
  await task(worker, 'Grace Hopper');
  const { context, page, faults } = await phone(chrome);
  await page.addInitScript(() => {
    globalThis.locks = 0;
    navigator.wakeLock.request = () => {
      globalThis.locks++;
      return Promise.resolve({ released: false, release: () => Promise.resolve() });
    };
    navigator.geolocation.watchPosition = (success) => {
      globalThis.locate = (timestamp) =>
        success({ timestamp, coords: { longitude: -73.9857, latitude: 40.7484, accuracy: 9, speed: 3, heading: 90 } });
      globalThis.locate(Date.now());
      return 1;
    };
    globalThis.front = (is) => {
      Object.defineProperty(document, 'visibilityState', { value: is ? 'visible' : 'hidden', configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    };
  });
  await signIn(page, worker);
  await goOnDuty(page, worker);
  assert.equal(await page.evaluate(() => globalThis.locks), 0);
  await open(page, 'Grace Hopper');
  await swipe(page);
  await page.getByRole('button', { name: 'I have arrived' }).waitFor();
  await page.waitForFunction(() => globalThis.locks > 0); // the screen stays on during a task
  await page.getByRole('button', { name: 'Back' }).click();
  await page.evaluate(() => {
    globalThis.front(false);
    globalThis.front(true);
    globalThis.locate(Date.now() + 20_000);
  });
  assert.equal(await page.getByText('Your position was not recorded').count(), 0);
  await page.evaluate(() => {
    globalThis.front(false);
    globalThis.front(true);
    globalThis.locate(Date.now() + 600_000);
  });
  await page.getByText(/Your position was not recorded from/).waitFor();
  await shot(page, '36-gap');
  await page.getByRole('link', { name: 'How to prevent it' }).click();
  await page.getByRole('button', { name: 'Set up Traccar Client' }).click();
  const link = await page.getByRole('link', { name: 'Open Traccar Client' }).getAttribute('href');
  assert.match(link, /^org\.traccar\.client:\/\/config\?/);
  const settings = new URLSearchParams(link.split('?')[1]);
  assert.equal(settings.get('url'), `${url}/driver/v1/osmand`);
  const code = page.getByRole('img', { name: /QR code/ });
  await code.scrollIntoViewIfNeeded();
  await shot(page, '37-tracker');
  await eventually('the same in the code', async () => {
    const [found] = await readBarcodes(new Uint8Array(await code.screenshot()));
    return found?.text === link;
  });
  const report = await fetch(settings.get('url'), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      device_id: settings.get('id'),
      location: { timestamp: new Date().toISOString(), coords: { latitude: 40.75, longitude: -73.99, accuracy: 5 } },
    }),
  });
  assert.equal(report.status, 200, await report.text());
  await page.getByRole('button', { name: 'Stop it' }).click();
  await page.getByRole('button', { name: 'Set up Traccar Client' }).waitFor();
  assert.deepEqual(faults, []);
  await context.close();
});

test('a worker signs in with a number in local format, and finds version and help in the account', async () => {
  const worker = await hire('Maria Mitchell', '+12125553006');
  const { context, page, faults } = await phone(chrome);
  await signIn(page, { ...worker, number: '(212) 555-3006' });
  await page.getByRole('link', { name: 'Account' }).click();
  await page.getByText(/^Times are.*Dray \S+ · app \S{6,}/).waitFor();
  await page.getByText('For anything else, ask your dispatcher.').waitFor();
  await page.getByLabel('Show the way with').selectOption('google');
  await page.reload();
  await page.getByLabel('Show the way with').waitFor();
  assert.equal(await page.getByLabel('Show the way with').inputValue(), 'google');
  await shot(page, '38-account');
  assert.deepEqual(faults, []);
  await context.close();
});
