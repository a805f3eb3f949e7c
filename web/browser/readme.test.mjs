// The two pages that the README shows. `make screenshots` saves them as its images.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { api, browser, eventually, goOnDuty, hire, manhattan, phone, signIn, work, zone } from './kit.mjs';
import { reduced } from './png.mjs';

let chrome;
before(async () => {
  chrome = await browser();
});
after(() => chrome?.close());

const minute = 60_000;
const screen = { viewport: { width: 390, height: 720 }, timezoneId: zone };

// picture saves an image of the README if DRAY_README_IMAGES names a folder.
async function picture(page, name) {
  const folder = process.env.DRAY_README_IMAGES;
  if (!folder) return;
  const png = await page.screenshot({ animations: 'disabled' });
  const blank = await chrome.newPage();
  writeFileSync(`${folder}/${name}.png`, await reduced(blank, png));
  await blank.close();
}

const stops = [
  { name: 'Grace Hopper', number: '98', street: 'E 37th St', location: [-73.9792, 40.7487], notes: 'Ring twice' },
  { name: 'Ada Lovelace', number: '230', street: 'E 45th St', location: [-73.9716, 40.7524], quantity: 2 },
  { name: 'Katherine Johnson', number: '401', street: 'E 22nd St', location: [-73.9805, 40.7365] },
  { name: 'Annie Easley', number: '501', street: 'W 21st St', location: [-74.0063, 40.7468], quantity: 3 },
];

// route assigns a task for every stop to a worker.
async function route(worker) {
  const tasks = [];
  const began = Date.now() - (Date.now() % (15 * minute));
  for (const [i, stop] of stops.entries()) {
    tasks.push(
      await api('POST', '/tasks', {
        destination: {
          address: { number: stop.number, street: stop.street, city: 'New York', state: 'NY', country: 'US' },
          location: stop.location,
        },
        recipients: [{ name: stop.name, phone: `+1212555${3100 + Number(worker.number.slice(-2)) * 10 + i}` }],
        container: { type: 'WORKER', worker: worker.id },
        completeAfter: began + i * 15 * minute,
        completeBefore: began + (i + 3) * 15 * minute,
        quantity: stop.quantity ?? 1,
        notes: stop.notes ?? '',
      }),
    );
  }
  return tasks;
}

test('the driver app shows the list of the day', async () => {
  const worker = await hire('Rosa Parks', '+12125551041');
  await route(worker);
  const { context, page, faults } = await phone(chrome, screen);
  await signIn(page, worker);
  await goOnDuty(page, worker);
  for (const stop of stops) await page.getByText(stop.name).waitFor();
  await picture(page, 'driver-app');
  assert.deepEqual(faults, []);
  await context.close();
});

test('the tracking page shows a worker on the way', async () => {
  const worker = await hire('Rosa Parks', '+12125551042');
  const [task] = await route(worker);
  const call = await work(worker);
  await call('POST', `/tasks/${task.id}/start`, { actionId: 'start' });
  const { longitude, latitude } = manhattan;
  await call('POST', '/positions', {
    positions: [{ time: Date.now(), location: [longitude, latitude], accuracy: 8 }],
  });
  await eventually('estimated', async () => (await api('GET', `/tasks/${task.id}`)).estimatedArrivalTime);
  const { context, page, faults } = await phone(chrome, { ...screen, permissions: [] });
  await page.goto(task.trackingURL);
  await page.locator('.steps[data-stage=active]').waitFor();
  await page.locator(`.map-frame[data-location="${longitude},${latitude}"]`).waitFor();
  if (process.env.DRAY_TEST_TOWN) await page.locator('.map-frame[data-drawn=streets][data-line=roads]').waitFor();
  await picture(page, 'tracking-page');
  assert.deepEqual(faults, []);
  await context.close();
});
