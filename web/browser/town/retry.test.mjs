// Tiles that could not be loaded.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { administrator, api, browser, eventually, organization } from '../kit.mjs';

const depot = {
  name: 'Depot',
  location: [-73.98, 40.75],
  address: { number: '350', street: '5th Avenue', city: 'New York', country: 'US' },
};

test('the streets of a map appear when the connection is back', async (t) => {
  const chrome = await browser();
  t.after(() => chrome.close());
  const { page } = await administrator(chrome, 'Nora Tiles');
  await api('POST', '/hubs', depot);
  const tiles = /\/tiles\/1\d\//; // tiles of levels with streets, which a board without tasks does not request
  const lost = new Set();
  await page.route(tiles, (route) => {
    lost.add(route.request().url());
    return route.abort();
  });
  await page.evaluate(() => (location.hash = '#/fleet/hubs'));
  await page.getByRole('button', { name: 'Depot', exact: true }).click();
  await eventually('asked for', () => lost.size > 0);
  const loaded = page.waitForResponse((r) => lost.has(r.url()) && r.ok());
  await page.unroute(tiles);
  await loaded;
});

test('the board gets its streets when the server responds again, and stays where it was moved', async (t) => {
  const chrome = await browser();
  t.after(() => chrome.close());
  const { api: own } = organization('Streets'); // others have tasks elsewhere, where the town has no tiles
  await own('POST', '/hubs', depot);
  const { page } = await administrator(chrome, 'Nora Streets', { type: 'super' }, own);
  let asked = 0;
  await page.route('**/tiles.json', (route) => {
    asked++;
    return route.abort();
  });
  await page.emulateMedia({ reducedMotion: 'reduce' }); // the map moves at once
  await page.reload();
  const map = page.locator('.map-frame[data-drawn=streets]');
  await map.waitFor();
  const scale = page.locator('.maplibregl-ctrl-scale');
  const before = await scale.textContent();
  await page.locator('.map-tools').getByRole('button', { name: 'Zoom in' }).click();
  await eventually('zoomed', async () => (await scale.textContent()) !== before);
  await eventually('asked again', () => asked > 1);
  assert.equal(await page.locator('.map-credit').count(), 0, 'it says what is not known');
  const chosen = await scale.textContent();
  const loaded = page.waitForResponse((r) => /\/tiles\/\d+\//.test(r.url()) && r.ok());
  await page.unroute('**/tiles.json');
  await loaded;
  await page.locator('.map-credit', { hasText: 'OpenStreetMap' }).waitFor();
  assert.equal(await scale.textContent(), chosen);
});
