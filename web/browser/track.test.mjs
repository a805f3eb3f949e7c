import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { api, browser, eventually, goOnDuty, gone, hire, manhattan, phone, shot, signIn, swipe, work } from './kit.mjs';

let chrome;
before(async () => {
  chrome = await browser();
});
after(() => chrome?.close());

test('a recipient follows the worker in her language and says how it was', async () => {
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
  assert.equal(await recipient.page.locator('canvas').count(), 0, 'nobody is on the way, and there is a map');
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
    await recipient.page.locator(`canvas[data-location="${manhattan.longitude},${latitude}"]`).waitFor();
  }
  await shot(recipient.page, '21-track-active');

  await driver.page.getByRole('button', { name: 'I have arrived' }).click();
  await recipient.page.locator('.steps[data-stage=arrived]').waitFor();
  await driver.page.getByRole('link', { name: 'Complete' }).click();
  await driver.page.getByLabel('Or type the name instead').fill('B. Coleman');
  await driver.page.getByRole('button', { name: 'Complete task' }).click();
  await recipient.page.locator('form.stars').waitFor();
  await gone(recipient.page.locator('canvas')); // and the worker with it
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

test('without a script the page says the same, and takes the feedback', async () => {
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
