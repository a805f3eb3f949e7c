// Every screen of the driver app in every size, in light and dark, with text in normal and
// double size: nothing is cut off, and axe finds nothing serious.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  api,
  browser,
  connect,
  disconnect,
  eventually,
  goOnDuty,
  hire,
  phone,
  shot,
  signIn,
  swipe,
  url,
  violations,
} from './kit.mjs';

let chrome;
before(async () => {
  chrome = await browser();
});
after(() => chrome?.close());

const sizes = [
  { name: '320', width: 320, height: 568 },
  { name: '400', width: 400, height: 800 },
  { name: '860', width: 860, height: 1100 },
  { name: 'landscape', width: 740, height: 360 },
];

// cutOff lists the elements that a worker could not read or reach. On phones, a page that is
// too wide makes the window wider.
function cutOff(width) {
  const found = [];
  const name = (e) => `${e.tagName.toLowerCase()}.${e.className} "${e.textContent.trim().slice(0, 40)}"`;
  if (document.scrollingElement.scrollWidth > width + 1)
    found.push(`the page is ${document.scrollingElement.scrollWidth} wide`);
  const main = document.querySelector('main');
  if (main && main.scrollWidth > main.clientWidth + 1) found.push(`main is ${main.scrollWidth} wide`);
  for (const e of document.querySelectorAll('a, button, input, select, textarea, h1, h2, p, strong, .chip, canvas')) {
    const box = e.getBoundingClientRect();
    if (box.width === 0 || e.closest('.unseen') || e.matches('.unseen')) continue;
    if (box.left < -1 || box.right > width + 1) found.push(`out of view: ${name(e)}`);
    if (e.matches('button, a.button') && (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 2))
      found.push(`too large for its button: ${name(e)}`);
  }
  return found;
}

// problems lists the problems of a screen.
async function problems(page, width, onlyColors) {
  return [...(await page.evaluate(cutOff, width)), ...(await violations(page, { onlyColors }))];
}

test('every screen works in every size, scheme and size of text', async () => {
  const worker = await hire('Wilhelmina Featherstonehaugh-Cholmondeley', '+12125554001');
  const { teams } = await api('GET', `/workers/${worker.id}`);
  await api('PUT', `/teams/${teams[0]}`, { enableSelfAssignment: true });
  const make = (name, more) =>
    api('POST', '/tasks', {
      destination: {
        address: {
          name: 'Metropolitan Museum of Art',
          number: '1000',
          street: '5th Ave',
          city: 'New York',
          state: 'NY',
          postalCode: '10028',
          country: 'US',
        },
        location: [-73.9632, 40.7794],
        notes: 'Ring twice at the freight entrance.',
      },
      recipients: [{ name, phone: `+1646556${String(Math.floor(Math.random() * 9000) + 1000)}` }],
      container: { type: 'WORKER', worker: worker.id },
      quantity: 12,
      completeAfter: Date.now() - 3600_000,
      completeBefore: Date.now() - 600_000,
      notes: 'Fragile. Do not leave with the neighbours.',
      requirements: { signature: true, photo: true, notes: true, minimumAge: 21 },
      barcodes: [{ data: Buffer.from('PKG-1001-LONG-CODE-4711').toString('base64'), blockCompletion: true }],
      ...more,
    });
  const first = await make('Grace Brewster Murray Hopper');
  await make('Ada Lovelace', { completeAfter: Date.now() + 4 * 3600_000, completeBefore: Date.now() + 6 * 3600_000 });
  await make('Katherine Johnson', { container: { type: 'TEAM', team: teams[0] } });
  const { context, page, faults } = await phone(chrome, { deviceScaleFactor: 1 });
  const devtools = await context.newCDPSession(page);
  const found = [];
  const everySize = async (screen) => {
    for (const size of sizes)
      for (const text of [100, 200])
        for (const colorScheme of ['light', 'dark']) {
          await page.setViewportSize({ width: size.width, height: size.height });
          await page.emulateMedia({ colorScheme });
          await devtools.send('Page.setFontSizes', {
            fontSizes: { standard: (16 * text) / 100, fixed: (13 * text) / 100 },
          });
          await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
          assert.equal(
            await page.evaluate(() => getComputedStyle(document.documentElement).fontSize),
            `${(16 * text) / 100}px`,
          );
          await shot(page, `sizes/${screen}-${size.name}-${colorScheme}-${text}`);
          for (const problem of await problems(page, size.width, colorScheme === 'dark'))
            found.push(`${screen} ${size.name} ${colorScheme} ${text} %: ${problem}`);
        }
    await page.setViewportSize({ width: 400, height: 800 });
    await devtools.send('Page.setFontSizes', { fontSizes: { standard: 16, fixed: 13 } });
  };
  const go = async (hash, visible) => {
    await page.goto(`${url}/driver${hash}`);
    await visible.first().waitFor();
  };

  await page.goto(`${url}/driver`);
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  await everySize('sign-in');
  await signIn(page, worker);
  await goOnDuty(page, worker);
  await page.getByText('Katherine Johnson').waitFor();
  await everySize('list');
  await go('#/map', page.getByRole('button', { name: 'Zoom in' }));
  await everySize('map');
  await go('#/account', page.getByRole('button', { name: 'Set up Traccar Client' }));
  await page.getByRole('button', { name: 'Change password' }).click();
  await page.getByRole('button', { name: 'Set up Traccar Client' }).click();
  await page.getByRole('img', { name: /QR code/ }).waitFor();
  await everySize('account');
  await go(`#/task/${first.id}`, page.getByText('Metropolitan Museum'));
  await everySize('task');
  await swipe(page);
  await page.getByRole('button', { name: 'I have arrived' }).waitFor();
  await everySize('active');
  await page.getByRole('link', { name: 'Navigate' }).click();
  await page.getByText('Show the way with').waitFor();
  await everySize('navigate');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await go(`#/task/${first.id}/fail`, page.getByLabel('Nobody was there'));
  await everySize('fail');
  await go(`#/task/${first.id}/complete`, page.getByText('Still missing'));
  await page.getByLabel('Barcode', { exact: true }).fill('PKG-1001-WRONG');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await everySize('complete');

  // Offline and back.
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
  await disconnect(context);
  await go(`#/task/${first.id}/fail`, page.getByLabel('Nobody was there'));
  await page.getByLabel('Nobody was there').check();
  await page.getByRole('button', { name: 'Report as failed' }).click();
  await page.getByText('Saved on this phone.').waitFor();
  await everySize('done-offline');
  await page.getByRole('link', { name: /Outbox/ }).click();
  await page.locator('[data-item]').first().waitFor();
  await everySize('outbox-offline');
  await connect(context);
  await eventually('sent', async () => (await api('GET', `/tasks/${first.id}`)).state === 3);
  await go('#/history', page.getByText('Reported as failed: Nobody was there'));
  await everySize('history');
  assert.deepEqual(found, []);
  assert.deepEqual(faults, []);
  await context.close();
});
