// Tiles that could not be loaded.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { administrator, api, browser } from '../kit.mjs';

test('the streets of a map come when the connection does', async (t) => {
  const chrome = await browser();
  t.after(() => chrome.close());
  const { page } = await administrator(chrome, 'Nora Tiles');
  await api('POST', '/hubs', { name: 'Depot', location: [-73.98, 40.75], address: { number: '350', street: '5th Avenue', city: 'New York', country: 'US' } }); // prettier-ignore
  const tiles = /\/tiles\/\d+\//;
  await page.route(tiles, (route) => route.abort());
  const lost = page.waitForEvent('requestfailed', (request) => tiles.test(request.url()));
  await page.evaluate(() => (location.hash = '#/fleet/hubs'));
  await page.getByRole('button', { name: 'Depot', exact: true }).click();
  const url = (await lost).url();
  await page.unroute(tiles);
  const loaded = await page.waitForResponse(url);
  assert.equal(loaded.status(), 200);
});
