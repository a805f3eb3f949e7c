// Maps with streets, in the generated town.

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
  look,
  phone as anyPhone,
  shot,
  signIn,
  violations,
  work,
} from '../kit.mjs';

let chrome;
before(async () => {
  chrome = await browser(['--enable-unsafe-swiftshader']);
});
after(() => chrome?.close());

// Places in the town, on both sides of its river.
const start = { longitude: -73.9815, latitude: 40.7525, accuracy: 12 };
const places = [
  [-73.9775, 40.7562],
  [-73.9702, 40.7511],
  [-73.971, 40.7601],
];

// phone opens a small page, because it is drawn without a graphics card.
const phone = (chrome, options) =>
  anyPhone(chrome, { deviceScaleFactor: 1, viewport: { width: 360, height: 640 }, ...options });

let number = 12125556000;

// route hires a worker with a task at every location.
async function route(locations) {
  const worker = await hire('Bessie Coleman', `+${++number}`);
  const tasks = [];
  for (const [i, location] of locations.entries()) {
    tasks.push(
      await api('POST', '/tasks', {
        destination: { address: { number: String(i + 1), street: 'Test St', city: 'Town', country: 'US' }, location },
        recipients: [{ name: `Recipient ${i + 1}`, phone: `+1646${++number % 10_000_000}`.padEnd(12, '5') }],
        container: { type: 'WORKER', worker: worker.id },
      }),
    );
  }
  return { worker, tasks };
}

const streets = (page) => page.locator('.map-frame[data-drawn=streets]').first();
const plain = (page) => page.locator('.map-frame[data-drawn=plain]').first();

// colors counts the colors of an element.
const colors = async (locator) => (await look(locator)).count;

// tilesOf collects the tiles that a page loads.
function tilesOf(page) {
  const tiles = new Set();
  page.on('response', (r) => {
    if (r.ok() && new URL(r.url()).pathname.startsWith('/tiles/')) tiles.add(r.url());
  });
  return tiles;
}

async function openMap(page) {
  await page.evaluate(() => (location.hash = '#/map'));
  await page.getByRole('button', { name: 'Zoom in' }).waitFor();
}

// loaded returns the compressed sizes of the scripts and styles that a page has loaded, by
// name.
const loaded = (page) =>
  page.evaluate(() => {
    const sizes = {};
    for (const { name, encodedBodySize } of performance.getEntriesByType('resource')) {
      const part = /\/assets\/(.+)-[\w-]{8}\.(?:m?js|css)$/.exec(name)?.[1];
      if (part) sizes[part] = (sizes[part] ?? 0) + encodedBodySize;
    }
    return sizes;
  });

test("the driver's map has streets and a route along roads, and works without signal", async () => {
  const { worker, tasks } = await route(places);
  const { context, page, faults } = await phone(chrome, { geolocation: start });
  const tiles = tilesOf(page);
  await signIn(page, worker);
  await goOnDuty(page, worker);
  await page.getByText('Recipient 1').waitFor();
  const first = await loaded(page);
  const sum = Object.values(first).reduce((a, b) => a + b, 0);
  assert.ok(sum < 90_000, `the app loads ${sum} bytes at first: ${JSON.stringify(first)}`);
  assert.ok(!('street' in first) && !('engine' in first), 'the library is loaded before a map is shown');

  await openMap(page);
  await streets(page).waitFor();
  await page.locator('.map-frame[data-line=roads]').waitFor();
  assert.ok(tiles.size > 0, 'no tiles');
  await eventually('drawn', async () => (await colors(streets(page))) > 100);
  await page.getByText('OpenStreetMap').waitFor();
  await shot(page, '50-map-streets');

  const canvas = page.locator('.maplibregl-canvas');
  await canvas.focus();
  await page.keyboard.press('PageDown');
  await page.keyboard.press('PageDown');
  await page.locator('a.card', { hasText: 'Recipient 2' }).waitFor();
  await page.keyboard.press('0');
  await page.keyboard.press('+');
  assert.deepEqual(await violations(page), []);

  const marker = page.locator('.maplibregl-marker');
  const before = await marker.evaluate((e) => e.style.transform);
  await context.setGeolocation({ ...start, latitude: start.latitude + 0.0006 });
  await eventually('the vehicle moves', async () => (await marker.evaluate((e) => e.style.transform)) !== before);

  const kept = () => page.evaluate(async () => (await (await caches.open('dray-tiles')).keys()).map((r) => r.url));
  await eventually('tiles are kept', async () => (await kept()).length > 20);
  await eventually('and what draws them', () =>
    page.evaluate(async () => {
      const names = (await caches.keys()).filter((n) => n.startsWith('dray-driver-'));
      const files = (await Promise.all(names.map(async (n) => (await caches.open(n)).keys()))).flat();
      return ['/street-', '/engine-', 'worker-'].every((part) => files.some((f) => f.url.includes(part)));
    }),
  );
  tiles.clear();
  await disconnect(context);
  await page.reload();
  await page.getByText('Recipient 1').first().waitFor();
  await streets(page).waitFor();
  await page.locator('.map-frame[data-line=roads]').waitFor();
  await eventually('drawn offline', async () => (await colors(streets(page))) > 100);
  await shot(page, '51-map-offline');
  const here = new Set(await kept());
  assert.ok(tiles.size > 0);
  assert.deepEqual(
    [...tiles].filter((tile) => !here.has(tile)),
    [],
    'tiles that are not kept',
  );
  await connect(context);
  await page.evaluate((hash) => (location.hash = hash), `#/task/${tasks[0].id}`);
  await streets(page).waitFor();
  await shot(page, '52-task-streets');
  assert.deepEqual(faults, []);
  await context.close();
});

test('without WebGL the map is drawn without streets, and nothing is loaded for them', async () => {
  const { worker } = await route(places);
  const { context, page, faults } = await phone(chrome, { geolocation: start });
  await page.addInitScript(() => {
    const get = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, ...more) {
      return kind.startsWith('webgl') ? null : get.call(this, kind, ...more);
    };
  });
  await signIn(page, worker);
  await goOnDuty(page, worker);
  await page.getByText('Recipient 1').waitFor();
  const described = page.waitForResponse(/tiles\.json/);
  await openMap(page);
  await described;
  await plain(page).waitFor();
  await page.locator('.map-frame[data-line=roads]').waitFor(); // the route needs no tiles
  await eventually('drawn', async () => (await colors(plain(page))) > 20);
  await page.getByRole('button', { name: 'Zoom in' }).click();
  const without = await loaded(page);
  assert.ok(!('street' in without) && !('engine' in without));
  await shot(page, '53-map-without-webgl');
  assert.deepEqual(faults, []);
  await context.close();
});

test('a recipient sees the vehicle move along roads; a map that is lost is drawn again', async () => {
  const { worker, tasks } = await route(places);
  const call = await work(worker);
  const at = (longitude, latitude) =>
    call('POST', '/positions', { positions: [{ location: [longitude, latitude], time: Date.now() }] });
  await at(start.longitude, start.latitude);
  await call('POST', `/tasks/${tasks[0].id}/start`, { actionId: 'start' });
  const { context, page, faults } = await phone(chrome, { permissions: [], colorScheme: 'dark' });
  const tiles = tilesOf(page);
  await page.goto(tasks[0].trackingURL);
  await streets(page).waitFor();
  await page.locator('.map-frame[data-line=roads]').waitFor();
  assert.ok(tiles.size > 0);
  await eventually('drawn', async () => (await colors(streets(page))) > 100);
  await shot(page, '54-track-streets');

  assert.ok((await look(streets(page))).light < 110, 'not dark');
  await page.emulateMedia({ colorScheme: 'light' });
  await eventually('light', async () => {
    const { count, light } = await look(streets(page));
    return count > 100 && light > 170;
  });

  const sizes = await loaded(page);
  const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime);
  const asked = await page.evaluate(
    () => performance.getEntriesByType('resource').find((r) => r.name.includes('/assets/engine-')).startTime,
  );
  assert.ok(paint < asked, `painted at ${paint}, library at ${asked}`);
  const { street, engine, 'maplibre-gl-worker': thread = 0, map, ...rest } = sizes;
  const page1 = Object.values(rest).reduce((a, b) => a + b, 0);
  assert.ok(page1 < 12_000, `the page loads ${page1} bytes before the map: ${JSON.stringify(rest)}`);
  assert.ok(map < 12_000, `the map without streets has ${map} bytes`);
  assert.ok(street + engine + thread < 470_000, `the library has ${street} + ${engine} + ${thread} bytes`);

  const marker = page.locator('.maplibregl-marker');
  // The page itself records every location of the vehicle: polling from here could miss some.
  await marker.evaluate((e) => {
    globalThis.places = new Set();
    const note = () => globalThis.places.add(e.style.transform);
    new MutationObserver(note).observe(e, { attributeFilter: ['style'] });
  });
  await new Promise((resolve) => setTimeout(resolve, 1500)); // time between two reports
  await at(start.longitude + 0.0008, start.latitude + 0.0004);
  await eventually('the vehicle moves smoothly', () => page.evaluate(() => globalThis.places.size > 3));

  const lose = (method) =>
    page.evaluate((name) => {
      const gl = document.querySelector('.maplibregl-canvas').getContext('webgl2');
      globalThis.loser ??= gl.getExtension('WEBGL_lose_context');
      globalThis.loser[name]();
    }, method);
  await lose('loseContext');
  await plain(page).waitFor();
  assert.ok((await colors(plain(page))) > 10);
  await lose('restoreContext');
  await streets(page).waitFor();
  await eventually('drawn again', async () => (await colors(streets(page))) > 100);
  assert.deepEqual(faults, []);
  await context.close();
});

test('a map across the antimeridian shows its surroundings, not the world', async () => {
  const { worker, tasks } = await route([[-179.95, -16.85]]);
  const call = await work(worker);
  await call('POST', '/positions', { positions: [{ location: [179.95, -16.8], time: Date.now() }] });
  await call('POST', `/tasks/${tasks[0].id}/start`, { actionId: 'start' });
  for (const tiles of [true, false]) {
    const { context, page, faults } = await phone(chrome, { permissions: [] });
    // Tiles of the whole world, or none.
    await page.route('**/tiles.json', async (r) => {
      const description = await (await r.fetch()).json();
      return tiles
        ? r.fulfill({ json: { ...description, bounds: [-180, -85, 180, 85] } })
        : r.fulfill({ json: { ...description, tiles: [] } });
    });
    await page.goto(tasks[0].trackingURL);
    await (tiles ? streets : plain)(page).waitFor();
    if (tiles) {
      const scale = await page.locator('.maplibregl-ctrl-scale').textContent();
      assert.match(scale, /^\d\s(mi)$/, `the scale is ${scale}`);
      const box = await page.locator('.map-frame').boundingBox();
      const vehicle = await page.locator('.maplibregl-marker').boundingBox();
      assert.ok(vehicle.x > box.x && vehicle.x + vehicle.width < box.x + box.width, 'the vehicle is out of view');
    } else await eventually('drawn', async () => (await colors(plain(page))) > 10);
    await shot(page, `55-antimeridian-${tiles ? 'streets' : 'plain'}`);
    assert.deepEqual(faults, []);
    await context.close();
  }
});
