import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { api, browser, eventually, goOnDuty, gone, hire, manhattan, phone, shot, signIn, swipe, work } from './kit.mjs';

let chrome;
before(async () => {
  chrome = await browser();
});
after(() => chrome?.close());

test('a recipient follows the worker in their own language, and gives feedback', async () => {
  const worker = await hire('Sojourner Truth', '+12125551011');
  const task = await api('POST', '/tasks', {
    destination: {
      address: { number: '1', street: 'Wall St', city: 'New York', country: 'US' },
      location: [-74.0106, 40.7075],
    },
    recipients: [{ name: 'Bessie Coleman', phone: '+12125553999' }],
    container: { type: 'WORKER', worker: worker.id },
    completeBefore: Date.now() + 3600_000,
    requirements: { signature: true },
  });

  const recipient = await phone(chrome, { locale: 'es-MX', permissions: [] });
  await recipient.page.goto(task.trackingURL);
  await recipient.page.locator('.steps[data-stage=assigned]').waitFor();
  assert.equal(await recipient.page.locator('html').getAttribute('lang'), 'es');
  assert.equal(await recipient.page.locator('.map-frame').count(), 0, 'no worker is on the way, and there is a map');
  await shot(recipient.page, '20-track-assigned');
  await eventually('viewed', async () => (await api('GET', `/tasks/${task.id}`)).trackingViewed);

  const driver = await phone(chrome);
  await signIn(driver.page, worker);
  await goOnDuty(driver.page, worker);
  await driver.page.getByText('Bessie Coleman').click();
  await swipe(driver.page);
  await recipient.page.locator('.steps[data-stage=active]').waitFor();
  for (const latitude of [manhattan.latitude, 40.7476, 40.7469]) {
    await driver.context.setGeolocation({ ...manhattan, latitude });
    await recipient.page.locator(`.map-frame[data-location="${manhattan.longitude},${latitude}"]`).waitFor();
  }
  await shot(recipient.page, '21-track-active');

  await driver.page.getByRole('button', { name: 'I have arrived' }).click();
  await recipient.page.locator('.steps[data-stage=arrived]').waitFor();
  await driver.page.getByRole('link', { name: 'Complete' }).click();
  await driver.page.getByLabel('Or type the name instead').fill('B. Coleman');
  await driver.page.getByRole('button', { name: 'Complete task' }).click();
  await recipient.page.locator('form.stars').waitFor();
  await gone(recipient.page.locator('.map-frame')); // and the worker with it
  await recipient.page.locator('input[value="4"]').check({ force: true });
  await recipient.page.locator('textarea').fill('Muy amable <b>gracias</b>');
  await shot(recipient.page, '22-track-feedback');
  await recipient.page.locator('form button').click();
  const said = await eventually('feedback', async () => (await api('GET', `/tasks/${task.id}`)).feedback[0]);
  assert.equal(said.rating, 4);
  assert.equal(said.comments, 'Muy amable <b>gracias</b>');
  await recipient.page.locator('form').waitFor({ state: 'detached' });
  await shot(recipient.page, '23-track-thanks');
  assert.deepEqual(recipient.faults, []);
  assert.deepEqual(driver.faults, []);
  await recipient.context.close();
  await driver.context.close();
});

test('without a script, the page has the same text, and accepts feedback', async () => {
  const worker = await hire('Mary Fields', '+12125551012');
  const task = await api('POST', '/tasks', {
    destination: { address: { city: 'New York', country: 'US' }, location: [-74.0106, 40.7075] },
    recipients: [],
    container: { type: 'WORKER', worker: worker.id },
  });
  const { context, page } = await phone(chrome, { javaScriptEnabled: false });
  await page.goto(task.trackingURL);
  await page.locator('h1.assigned').waitFor();
  await shot(page, '24-track-plain');

  const call = await work(worker);
  await call('POST', `/tasks/${task.id}/start`, { actionId: 'start' });
  await call('POST', `/tasks/${task.id}/complete`, { actionId: 'complete', success: true });
  await page.reload();
  await page.locator('input[value="5"]').check();
  await page.locator('textarea').fill('Quick');
  await page.locator('form button').click();
  await page.locator('form').waitFor({ state: 'detached' });
  const [said] = (await api('GET', `/tasks/${task.id}`)).feedback;
  assert.deepEqual([said.rating, said.comments], [5, 'Quick']);
  await context.close();
});

test('the page of a failed delivery shows the reason, and the recipient requests another time', async () => {
  await api('PUT', '/organization/trackingPage', { phone: '+12125550100', color: '#f2b705', allowNewTimes: true });
  const worker = await hire('Bass Reeves', '+12125551013');
  const task = await api('POST', '/tasks', {
    destination: { address: { city: 'New York', country: 'US' }, location: [-74.0106, 40.7075] },
    recipients: [],
    container: { type: 'WORKER', worker: worker.id },
  });
  const call = await work(worker);
  const { context, page, faults } = await phone(chrome, { viewport: { width: 320, height: 720 }, colorScheme: 'dark' });
  await page.goto(task.trackingURL);
  await page.locator('.steps[data-stage=assigned]').waitFor();
  await call('POST', `/tasks/${task.id}/start`, { actionId: 'start' });
  await page.locator('li.now', { hasText: 'On the way' }).waitFor();
  await page.getByRole('status').filter({ hasText: 'on its way' }).waitFor({ state: 'attached' });
  await call('POST', `/tasks/${task.id}/arrive`, { actionId: 'arrive' });
  await page.locator('li.now', { hasText: 'Arrived' }).waitFor();
  assert.equal(await page.getByText('Coming to you').count(), 0, 'who has arrived is not coming any more');
  assert.equal(await page.locator('.countdown').count(), 0);
  await call('POST', `/tasks/${task.id}/complete`, { actionId: 'end', success: false, failureReason: 'NO_ACCESS' });
  await page.getByText('We could not get access to the building.').first().waitFor();
  assert.equal(await page.getByRole('link', { name: /\(212\) 555-0100/ }).getAttribute('href'), 'tel:+12125550100');
  const times = page.getByLabel('Another time');
  const wanted = await times.locator('option').nth(3).getAttribute('value');
  await times.selectOption(wanted);
  await page.getByRole('button', { name: 'Request this time' }).click();
  await page.locator('#next').getByText('has received your request').waitFor();
  const { metadata } = await api('GET', `/tasks/${task.id}`);
  assert.equal(metadata[0].name, 'requestedTime');
  assert.equal(metadata[0].value.completeAfter, Number(wanted));
  const wide = await page.evaluate(() => document.documentElement.scrollWidth);
  assert.ok(wide <= 320, `the page is ${wide} pixels wide`);
  await shot(page, '25-track-failed');
  await api('PUT', '/organization/trackingPage', { phone: null, color: null, allowNewTimes: false });
  assert.deepEqual(faults, []);
  await context.close();
});

test('the worker moves between two reports, unless the recipient wants no motion', async () => {
  const worker = await hire('Stagecoach Fields', '+12125551014');
  const task = await api('POST', '/tasks', {
    destination: { address: { city: 'New York', country: 'US' }, location: [-74.0106, 40.7075] },
    recipients: [],
    container: { type: 'WORKER', worker: worker.id },
  });
  const call = await work(worker);
  const at = (latitude) =>
    call('POST', '/positions', { positions: [{ location: [manhattan.longitude, latitude], time: Date.now() }] });
  await at(manhattan.latitude);
  await call('POST', `/tasks/${task.id}/start`, { actionId: 'start' });
  const pages = {};
  for (const reducedMotion of ['no-preference', 'reduce']) {
    const opened = await phone(chrome, { reducedMotion });
    // Every picture of the map begins with this call.
    await opened.context.addInitScript(() => {
      globalThis.pictures = 0;
      const clear = CanvasRenderingContext2D.prototype.clearRect;
      CanvasRenderingContext2D.prototype.clearRect = function (...box) {
        globalThis.pictures++;
        return clear.apply(this, box);
      };
    });
    await opened.page.goto(task.trackingURL);
    await opened.page.locator('.map-frame[data-location]').waitFor();
    await eventually('a map', () => opened.page.evaluate(() => globalThis.pictures > 0));
    pages[reducedMotion] = opened;
  }
  for (const { page } of Object.values(pages)) await page.evaluate(() => (globalThis.pictures = 0));
  const latitude = manhattan.latitude - 0.001;
  await at(latitude);
  for (const { page } of Object.values(pages)) {
    await page.locator(`.map-frame[data-location="${manhattan.longitude},${latitude}"]`).waitFor();
    assert.match(await page.locator('.map-frame canvas').getAttribute('aria-label'), /^Map: Stagecoach, [\d.]+ miles$/);
  }
  const count = (name) => pages[name].page.evaluate(() => globalThis.pictures);
  await eventually('movement', async () => (await count('no-preference')) > 5);
  assert.ok((await count('reduce')) <= 3, 'a page without motion moves');
  for (const { context, faults } of Object.values(pages)) {
    assert.deepEqual(faults, []);
    await context.close();
  }
});

test('the page of a task that was deleted neither counts down nor shows a map', async () => {
  const worker = await hire('Stephanie Kwolek', '+12125551015');
  const call = await work(worker);
  await call('POST', '/positions', {
    positions: [{ location: [manhattan.longitude, manhattan.latitude], time: Date.now() }],
  });
  const task = await api('POST', '/tasks', {
    destination: { address: { city: 'New York', country: 'US' }, location: [-74.0106, 40.7075] },
    recipients: [],
    container: { type: 'WORKER', worker: worker.id },
  });
  const { context, page, faults } = await phone(chrome);
  await page.goto(task.trackingURL);
  await page.locator('.countdown').waitFor();
  await api('DELETE', `/tasks/${task.id}`);
  await page.getByRole('heading', { name: 'not available' }).waitFor();
  await page.waitForTimeout(1500); // longer than between two updates of the time
  assert.equal(await page.locator('.countdown, figure').count(), 0);
  assert.deepEqual(faults, []);
  await context.close();
});
