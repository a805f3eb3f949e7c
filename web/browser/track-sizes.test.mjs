// The tracking page in every state and size, in light and dark, with text in normal and
// double size: nothing is cut off, and axe finds nothing serious.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { api, browser, hire, manhattan, phone, shot, url, violations, work } from './kit.mjs';

let chrome;
before(async () => {
  chrome = await browser();
});
after(() => chrome?.close());

// make creates a task in each state and returns the links.
async function make() {
  const [going, standing] = [await hire('Ada Lovelace', '+12125551031'), await hire('Grace Hopper', '+12125551032')];
  const [go, stand] = [await work(going), await work(standing)];
  const task = (worker, more = {}) =>
    api('POST', '/tasks', {
      destination: { address: { city: 'New York', country: 'US' }, location: [-74.0106, 40.7075] },
      recipients: [],
      ...(worker && { container: { type: 'WORKER', worker: worker.id } }),
      ...more,
    });
  const links = { expired: `${url}/t/abcdefghijklmnopqrstuvwx` };
  const add = async (name, made, ...steps) => {
    links[name] = made.trackingURL;
    for (const [call, verb, body] of steps) {
      await call('POST', `/tasks/${made.id}/${verb}`, { actionId: name + verb, ...body });
    }
  };
  const here = [manhattan.longitude, manhattan.latitude];
  await go('POST', '/positions', { positions: [{ location: here, time: Date.now() }] });
  const requirements = { signature: true, photo: true, minimumAge: 18 };
  const [soon, later] = [Date.now() + 3600_000, Date.now() + 7200_000];
  await add('scheduled', await task(null, { completeAfter: soon, completeBefore: later, requirements }));
  await add('active', await task(going, { completeAfter: soon, completeBefore: later }), [go, 'start']);
  await add('assigned', await task(going, { completeBefore: Date.now() + 60_000 }));
  await add('completed', await task(standing), [stand, 'start'], [stand, 'complete', { success: true }]);
  const why = { success: false, failureReason: 'AGE_NOT_VERIFIED' };
  await add('failed', await task(standing), [stand, 'start'], [stand, 'arrive'], [stand, 'complete', why]);
  await add('arrived', await task(standing, { pickupTask: true }), [stand, 'start'], [stand, 'arrive']);
  return links;
}

test('the page works in every state, size, scheme and size of text', async () => {
  await api('PUT', '/organization/trackingPage', { phone: '+12125550100', color: '#f2b705', allowNewTimes: true });
  const links = await make();
  const found = [];
  for (const [width, locale] of [
    [320, 'de-DE'],
    [400, 'pt-BR'],
    [860, 'fr-FR'],
  ]) {
    const options = { viewport: { width, height: 800 }, locale, reducedMotion: 'reduce', bypassCSP: true };
    const { context, page, faults } = await phone(chrome, options);
    for (const [name, link] of Object.entries(links)) {
      await page.goto(link);
      if (name === 'active') await page.locator('.map-frame[data-location]').waitFor();
      for (const size of [100, 200])
        for (const colorScheme of ['light', 'dark']) {
          await page.emulateMedia({ colorScheme });
          await page.evaluate((s) => (document.documentElement.style.fontSize = `${s}%`), size);
          const wide = await page.evaluate(() => document.documentElement.scrollWidth);
          const what = `${name} ${width} ${colorScheme} ${size} %`;
          if (wide > width) found.push(`${what}: ${wide} wide`);
          const onlyColors = colorScheme === 'dark';
          for (const violation of await violations(page, { all: true, onlyColors }))
            found.push(`${what}: ${violation}`);
          await shot(page, `26-track-${name}-${width}-${colorScheme}-${size}`);
        }
    }
    assert.deepEqual(faults, []);
    await context.close();
  }
  await api('PUT', '/organization/trackingPage', { phone: null, color: null, allowNewTimes: false });
  assert.deepEqual(found, []);
});
