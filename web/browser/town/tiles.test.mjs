// Tiles of another server (--tiles): the driver's map shows them, also without signal.

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { disconnect, dray, eventually, freePort, look, url as town } from '../kit.mjs';

const maps = join(dirname(process.env.DRAY_TEST_DATA), 'town', 'maps');
const file = readFileSync(
  join(
    maps,
    readdirSync(maps).find((name) => name.endsWith('.tiles')),
  ),
);

// tileServer serves the tiles of the town from another origin: each by itself, and all in one
// file that supports range requests. Browsers must not cache them.
async function tileServer() {
  const server = createServer(async (request, response) => {
    response.setHeader('Access-Control-Allow-Origin', '*').setHeader('Cache-Control', 'no-store');
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
    if (request.url === '/town.pmtiles' && range) {
      const [first, last] = [Number(range[1]), Math.min(Number(range[2]), file.length - 1)];
      response.writeHead(206, { 'Content-Range': `bytes ${first}-${last}/${file.length}` });
      return response.end(file.subarray(first, last + 1));
    }
    const tile = await fetch(`${town}/tiles${request.url}`);
    response.writeHead(tile.status, { 'Content-Type': tile.headers.get('Content-Type') ?? '' });
    return response.end(Buffer.from(await tile.arrayBuffer()));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const stop = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return { origin: `http://127.0.0.1:${server.address().port}`, stop };
}

// serve starts a server without a map, with tiles at a URL, and returns what the tests need.
async function serve(tiles) {
  const data = mkdtempSync(join(tmpdir(), 'dray-tiles.'));
  const made = execFileSync(
    dray,
    ['org', 'create', '--data', data, '--name', 'Tiles', '--country', 'US'].concat('--timezone', 'America/New_York', '--json'), // prettier-ignore
    { encoding: 'utf8' },
  );
  const listen = `127.0.0.1:${await freePort()}`;
  const server = spawn(dray, ['serve', '--data', data, '--listen', listen, '--admin-listen', '', '--tiles', tiles], {
    stdio: 'ignore',
  });
  const url = `http://${listen}`;
  await eventually('ready', async () => (await fetch(`${url}/readyz`).catch(() => null))?.ok);
  Object.assign(process.env, { DRAY_TEST_URL: url, DRAY_TEST_DATA: data, DRAY_TEST_KEY: JSON.parse(made).apiKey });
  const kit = await import(`../kit.mjs?${url}`); // a copy, which uses this server
  const stop = async () => {
    const ended = new Promise((resolve) => server.once('exit', resolve));
    server.kill();
    await ended;
    rmSync(data, { recursive: true, force: true });
  };
  return { kit, stop };
}

for (const [kind, path] of [
  ['by themselves', '/{z}/{x}/{y}.pbf'],
  ['in one file', '/town.pmtiles'],
]) {
  test(`the driver's map has the tiles of another server, ${kind}, and works without signal`, async (t) => {
    const tiles = await tileServer();
    t.after(tiles.stop);
    const { kit, stop } = await serve(tiles.origin + path);
    t.after(stop);
    const chrome = await kit.browser(['--enable-unsafe-swiftshader']);
    t.after(() => chrome.close());

    const worker = await kit.hire('Bessie Coleman', '+12125557001');
    await kit.api('POST', '/tasks', {
      destination: { address: { number: '1', street: 'Test St', city: 'Town', country: 'US' }, location: [-73.9775, 40.7562] },
      recipients: [{ name: 'Recipient 1', phone: '+16465557001' }],
      container: { type: 'WORKER', worker: worker.id },
    }); // prettier-ignore
    const { context, page, faults } = await kit.phone(chrome, {
      deviceScaleFactor: 1,
      viewport: { width: 360, height: 640 },
      geolocation: { longitude: -73.9815, latitude: 40.7525, accuracy: 12 },
    });
    await kit.signIn(page, worker);
    await kit.goOnDuty(page, worker);
    await page.getByText('Recipient 1').waitFor();
    await page.evaluate(() => (location.hash = '#/map'));
    const streets = page.locator('.map-frame[data-drawn=streets]').first();
    const colors = async () => (await look(streets)).count;
    await streets.waitFor();
    await eventually('drawn', async () => (await colors()) > 100);
    await eventually('tiles are kept', () =>
      page.evaluate(async () => (await (await caches.open('dray-tiles')).keys()).length > 20),
    );

    const online = await colors();
    await tiles.stop();
    await disconnect(context);
    for (const time of [1, 2]) {
      // The first time, the list of tiles is compared with the cached ones.
      await page.reload();
      await streets.waitFor();
      await eventually(`drawn offline, ${time}`, async () => (await colors()) > online / 2);
    }
    await kit.shot(page, `56-tiles-of-another-server-${kind.replaceAll(' ', '-')}`);
    const server = `request to ${tiles.origin}/`; // requests to it are allowed here
    assert.deepEqual(faults.filter((fault) => !fault.startsWith(server)), []); // prettier-ignore
  });
}
