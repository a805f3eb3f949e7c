import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { api, browser, desk, eventually, gone, hire, phone, shot, signIn, goOnDuty, url } from './kit.mjs';

let chrome;
before(async () => {
  chrome = await browser();
});
after(() => chrome?.close());

// Texts that do harm if they are treated as anything but text. Each calls hit, which
// must never happen.
const forms = [
  (n) => `<script>hit(${n})</script>`,
  (n) => `"><script>hit(${n})</script>`,
  (n) => `</script><script>hit(${n})</script>`,
  (n) => `<img src=x onerror=hit(${n})>`,
  (n) => `'><img src=x onerror="hit(${n})">`,
  (n) => `<svg/onload=hit(${n})>`,
  (n) => `<svg><animate onbegin=hit(${n}) attributeName=x dur=1s>`,
  (n) => `<iframe srcdoc="<script>parent.hit(${n})</script>"></iframe>`,
  (n) => `<a href="javascript:hit(${n})">x</a>`,
  (n) => `javascript:hit(${n})`,
  (n) => `<details open ontoggle=hit(${n})>`,
  (n) => `<input autofocus onfocus=hit(${n})>`,
  (n) => `</textarea><img src=x onerror=hit(${n})>`,
  (n) => `</style><script>hit(${n})</script>`,
  (n) => `<math><mi//xlink:href="data:x,<script>hit(${n})</script>">`,
  (n) => `<template><img src=x onerror=hit(${n})></template>`,
  (n) => `{@html "<img src=x onerror=hit(${n})>"}`,
  (n) => `{{constructor.constructor("hit(${n})")()}}`,
  (n) => '${hit(' + n + ')}',
  (n) => `'-hit(${n})-'`,
  (n) => `\u202Ehit(${n})\u202D<b>`,
  (n) => `\u2067\u2066<img src=x onerror=hit(${n})>`,
  (n) => `\u200F\u061C\u200Bhit(${n})\uFEFF`,
  (n) => `%3Cscript%3Ehit(${n})%3C/script%3E&lt;script&gt;`,
  (n) => `<<SCRIPT>hit(${n});//<</SCRIPT>`,
];
const tasks = 25;
const fields = 20;
let used = 0;
const bad = () => forms[used % forms.length](++used);

function task(worker, i) {
  const entry = () => ({ name: `${i} ${bad()}`, type: 'string', value: bad(), visibility: ['worker'] });
  const address = { country: 'United States' };
  for (const part of ['name', 'number', 'street', 'apartment', 'city', 'state', 'postalCode']) address[part] = bad();
  return {
    destination: { address, location: [-73.9 - i / 500, 40.7 + i / 700], notes: bad() },
    recipients: [{ name: bad(), phone: `+1212555${6000 + i}`, notes: bad() }],
    notes: bad(),
    barcodes: [{ data: Buffer.from(bad()).toString('base64'), blockCompletion: true }],
    metadata: [entry(), entry(), entry(), { name: bad(), type: 'string', value: `${bad()}`, visibility: ['worker'] }],
    container: { type: 'WORKER', worker },
  };
}

test(`none of ${tasks * fields} hostile texts on the pages has an effect`, async () => {
  const worker = await hire(`Eve <img src=x onerror=hit(0)> \u202E`, '+12125551021');
  const sent = [];
  for (let i = 0; i < tasks; i++) sent.push(task(worker.id, i));
  assert.equal(used, tasks * fields);
  const made = await api('POST', '/tasks/batch', { tasks: sent });
  assert.equal(made.tasks.length, tasks, JSON.stringify(made.errors));

  const { context, page, faults } = await phone(chrome);
  await signIn(page, worker);
  await goOnDuty(page, worker);
  await page
    .locator('[data-task]')
    .nth(tasks - 1)
    .waitFor();
  await shot(page, '30-payloads');

  // clean counts what was injected into the page.
  const clean = () =>
    page.evaluate(() => ({
      strange: document.querySelectorAll(
        'script:not([src]), iframe, [onerror], [onload], [onfocus], [ontoggle], a[href^="javascript"], img[src="x"], math, template, animate',
      ).length,
      loose: [...document.querySelectorAll('.said')].filter((e) => getComputedStyle(e).unicodeBidi !== 'isolate')
        .length,
      wide: document.documentElement.scrollWidth > innerWidth,
    }));
  const sound = { strange: 0, loose: 0, wide: false };
  assert.deepEqual(await clean(), sound);
  for (const [i, { id }] of made.tasks.entries()) {
    await page.evaluate((hash) => (location.hash = hash), `#/task/${id}`);
    await page.getByRole('button', { name: 'Start task' }).waitFor();
    const { notes, destination, recipients, metadata } = sent[i];
    for (const text of [
      notes,
      destination.notes,
      recipients[0].name,
      recipients[0].notes,
      destination.address.street.replace(/[\u202A-\u202E\u2066-\u2069]/g, ''),
      metadata[0].value,
    ]) {
      await eventually(`task ${i} shows ${text}`, async () =>
        (await page.locator('#app').textContent()).includes(text),
      );
    }
    assert.deepEqual(await clean(), sound, `task ${i}`);
    if (i % 5 === 0) {
      await page.evaluate((hash) => (location.hash = hash), `#/task/${id}/complete`);
      await page.getByRole('button', { name: 'Complete task' }).waitFor();
      assert.deepEqual(await clean(), sound, `completing task ${i}`);
    }
  }
  await page.evaluate(() => (location.hash = '#/task/<img src=x onerror=hit(1)>'));
  await page.getByText('no longer on your list').waitFor();
  for (const screen of ['map', 'outbox', 'account']) {
    await page.evaluate((hash) => (location.hash = hash), `#/${screen}`);
    await page.locator(`nav a[href="#/${screen}"][aria-current]`).waitFor();
    assert.deepEqual(await clean(), sound, screen);
  }
  await page.evaluate(() => (location.hash = '#/'));
  const [first] = made.tasks;
  await page.evaluate((hash) => (location.hash = hash), `#/task/${first.id}`);
  await page.getByRole('button', { name: 'Start task' }).press('Enter');
  await page.getByRole('button', { name: 'I have arrived' }).waitFor();
  await page.goto(first.trackingURL);
  await page.locator('.steps').waitFor();
  const strange = await page.evaluate(
    () => document.querySelectorAll('script:not([src]), [onerror], img[src="x"]').length,
  );
  assert.equal(strange, 0);
  assert.deepEqual(faults, []);
  await context.close();
});

test('hostile names have no effect in the dashboard', async () => {
  const address = { number: '1', street: forms[3](1), city: forms[0](2), country: 'US' };
  for (const [i, form] of forms.entries()) {
    const name = `${i} ${form(i)}`;
    const team = await api('POST', '/teams', { name, workers: [], managers: [] });
    await api('POST', '/workers', { name, phone: `+1212555${7000 + i}`, teams: [team.id] });
    await api('POST', '/hubs', { name, address, location: [-73.9, 40.7] });
    await api('POST', '/customFields', {
      model: 'Task',
      field: [{ key: `k${i}`, name, description: form(i), type: 'boolean' }],
    });
  }
  const name = forms[3](0);
  const admin = await api('POST', '/admins', { name, email: 'hostile@example.com', type: 'super' });
  const { link } = await api('POST', `/admins/${admin.id}/invitation`, {});

  const { context, page, faults } = await desk(chrome, url);
  await page.goto(link);
  await page.getByLabel('New password').fill('correct horse battery');
  await page.getByRole('button', { name: 'Join' }).click();
  await page.getByRole('heading', { name: 'Board' }).waitFor();
  for (const [path, heading] of [
    ['', 'Board'],
    ['today', 'Today'],
    ['fleet/workers', 'Workers'],
    ['fleet/teams', 'Teams'],
    ['fleet/hubs', 'Hubs'],
    ['settings/fields', 'Custom fields'],
    ['settings/people', 'People'],
    ['developers/webhooks/<img src=x onerror=hit(1)>', 'Webhook'],
  ]) {
    await page.evaluate((hash) => (location.hash = hash), `#/${path}`);
    await page.getByRole('heading', { level: 1, name: heading }).waitFor();
    await gone(page.locator('.bones'));
    const strange = await page.evaluate(
      () =>
        document.querySelectorAll(
          'script:not([src]), iframe, [onerror], [onload], [onfocus], [ontoggle], a[href^="javascript"], img[src="x"], math, animate',
        ).length,
    );
    assert.equal(strange, 0, heading);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${heading} is too wide`);
    await shot(page, `31-payloads-${heading}`);
  }
  assert.deepEqual(faults, []);
  await context.close();
});
