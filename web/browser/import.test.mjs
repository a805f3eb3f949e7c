// Importing tasks from files: bad rows, corrections, and the same file again.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { api, browser, desk, eventually, shot, url, violations } from './kit.mjs';

const rows = 160;
const bad = { 5: 'phone', 50: 'time', 77: 'place', 120: 'team' };

let chrome, context, page, faults;

// file returns a file whose rows have coordinates, because no map is imported.
function file() {
  const lines = ['Order;Customer;Phone;Street;City;Lat;Lon;Until;Team;Depends on;Notes'];
  for (let i = 1; i <= rows; i++) {
    const cells = [
      `I-${i}`,
      `Import ${i}`,
      `+1212555${String(2000 + i)}`,
      `${i} File Street`,
      'New York',
      '40,75',
      `-73,${98000 + i}`,
    ];
    cells.push('23:59', '', i === 2 ? 'I-1' : '', '"two\nlines"');
    if (bad[i] === 'phone') cells[2] = '7';
    if (bad[i] === 'time') cells[7] = 'noonish';
    if (bad[i] === 'place') cells[5] = '140';
    if (bad[i] === 'team') cells[8] = 'No such team';
    lines.push(cells.join(';'));
  }
  return { name: 'orders.csv', mimeType: 'text/csv', buffer: Buffer.from('\ufeff' + lines.join('\r\n')) };
}

async function imported() {
  const found = [];
  for (let last = ''; ;) {
    const { tasks, lastId } = await api('GET', `/tasks/all?from=1${last && `&lastId=${last}`}`);
    found.push(...tasks.filter((t) => t.destination.address.street?.includes('File Street')));
    if (!(last = lastId)) return found;
  }
}

const sums = () => page.locator('.sums dd').allInnerTexts();

before(async () => {
  chrome = await browser();
  const admin = await api('POST', '/admins', { name: 'Ilse', email: 'ilse@example.com', type: 'super' });
  const { link } = await api('POST', `/admins/${admin.id}/invitation`, {});
  ({ context, page, faults } = await desk(chrome, url, { bypassCSP: true, acceptDownloads: true }));
  await page.goto(link);
  await page.getByLabel('New password').fill('correct horse battery');
  await page.getByRole('button', { name: 'Join' }).click();
  await page.getByRole('tree').waitFor();
});
after(() => chrome?.close());

async function check() {
  await page.locator('input[type=file]').setInputFiles(file());
  await page.getByRole('button', { name: 'Find the addresses' }).click();
  await page.getByRole('button', { name: 'Create tasks' }).waitFor();
}

test('a file becomes tasks, and its bad rows are reported', async () => {
  await page.goto(`${url}/dashboard/#/import`);
  await page.getByRole('heading', { name: 'Drop a CSV file here' }).waitFor();
  await page.locator('input[type=file]').setInputFiles(file());
  assert.equal(await page.getByLabel('Means: Customer').inputValue(), 'name');
  assert.equal(await page.getByLabel('Means: Depends on').inputValue(), 'after');
  assert.deepEqual(await violations(page), []);
  await page.getByRole('button', { name: 'Find the addresses' }).click();
  await page.getByText('156 ready').waitFor();
  for (const text of [
    'Phone: “7” cannot be read.',
    'Until: “noonish” cannot be read.',
    'Lat: “140” cannot be read.',
    'There is no team “No such team”.',
  ]) {
    await page.getByText(text).waitFor();
  }
  // The cells themselves are marked.
  assert.deepEqual(await page.locator('mark').allInnerTexts(), ['7', 'noonish', '140', 'No such team']);
  assert.deepEqual(await violations(page), []);
  await shot(page, 'import-check');

  // One row is corrected in place.
  await page.getByRole('button', { name: /Row 51$/ }).click();
  assert.equal(await page.getByLabel('Until').getAttribute('aria-invalid'), 'true');
  assert.equal(await page.getByLabel('Customer').getAttribute('aria-invalid'), 'false');
  await page.getByLabel('Until').fill('17:30');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Create tasks: 157' }).click();
  await page.getByRole('heading', { name: 'Import finished' }).waitFor();
  assert.deepEqual(await sums(), ['157', '0', '3']);
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download the rows with errors' }).click(),
  ]);
  const text = readFileSync(await saved.path(), 'utf8');
  assert.match(text, /^\ufeffOrder;Customer;.*;error\r\n/); // in the format of the file
  assert.match(text, /I-120;.*There is no team “No such team”/s);
  const made = await imported();
  assert.equal(made.length, 157);
  const of = (n) => made.find((t) => t.recipients[0]?.name === `Import ${n}`);
  assert.deepEqual(of(2).dependencies, [of(1).id]);
  assert.equal(of(1).notes, 'two\nlines');
  assert.deepEqual(of(1).destination.location, [-73.98001, 40.75]);
});

test('columns that were matched by hand are remembered', async () => {
  const paste = async (text) => {
    await page.goto(`${url}/dashboard/#/table`);
    await page.goto(`${url}/dashboard/#/import`);
    await page.getByLabel('Or paste cells from a spreadsheet').fill(text);
    await page.getByRole('button', { name: 'Read the cells' }).click();
  };
  await paste('Wer\tWohin\nIda\t1 Nowhere at all');
  await page.getByLabel('Means: Wer').selectOption('notes');
  await page.getByLabel('Means: Wohin').selectOption('address');
  await page.getByRole('button', { name: 'Find the addresses' }).click();
  await page.getByText('1 uncertain').waitFor();
  await paste('Wohin\tWer\n2 Nowhere at all\tIda');
  await page.getByText('Matched as in the last import').waitFor();
  assert.equal(await page.getByLabel('Means: Wer').inputValue(), 'notes');
  assert.equal(await page.getByLabel('Means: Wohin').inputValue(), 'address');
  await page.goto(`${url}/dashboard/#/table`);
  await page.goto(`${url}/dashboard/#/import`);
});

test('the same file again creates nothing', async () => {
  await check();
  // Leaving during the import would stop it: it is asked about first.
  let release;
  const held = new Promise((done) => (release = done));
  await page.route('**/tasks/batch-async', async (route) => {
    await held;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Create tasks' }).click();
  await page.getByText('Creating tasks: 0').first().waitFor();
  await page.evaluate(() => (location.hash = '#/table'));
  await page.getByRole('alertdialog', { name: 'Stop the import?' }).waitFor();
  assert.equal(await page.evaluate(() => location.hash), '#/import');
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('Creating tasks: 0').first().waitFor();
  release();
  await page.getByRole('heading', { name: 'Import finished' }).waitFor();
  await page.unroute('**/tasks/batch-async');
  assert.deepEqual(await sums(), ['0', '156', '4']);
  assert.equal((await imported()).length, 157);
});

test('a reference that is there twice is corrected', async () => {
  await page.getByRole('button', { name: 'Import another file' }).click();
  const row = (i, order, before) =>
    [order, before, `Twice ${i}`, `+1212555${3000 + i}`, `${i} Pasted Street`, 'New York', '40.75', '-73.98'].join(
      '\t',
    );
  await page
    .getByLabel('Or paste cells from a spreadsheet')
    .fill(
      [
        'Order\tDepends on\tCustomer\tPhone\tStreet\tCity\tLat\tLon',
        row(2, 'A1', ''),
        row(3, 'C3', 'B2'),
        row(4, 'A1', ''),
        row(5, 'A1', ''),
      ].join('\n'),
    );
  await page.getByRole('button', { name: 'Read the cells' }).click();
  await page.getByRole('button', { name: 'Find the addresses' }).click();
  await page.getByText('3 with errors').waitFor();
  await page.getByRole('button', { name: /Row 4$/ }).click();
  await page.getByLabel('Order').fill('B2');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Create tasks: 3' }).click();
  await page.getByRole('heading', { name: 'Import finished' }).waitFor();
  assert.deepEqual(await sums(), ['3', '0', '1']);
  const [saved] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download the rows with errors' }).click(),
  ]);
  assert.match(readFileSync(await saved.path(), 'utf8'), /A1\t\tTwice 5\t.*more than once/);
});

test('cells are pasted, and an unknown address is shown before anything is created', async () => {
  await page.getByRole('button', { name: 'Import another file' }).click();
  await page
    .getByLabel('Or paste cells from a spreadsheet')
    .fill('Name\tPhone\tAddress\nPasted\t+12125552999\t1 Nowhere at all\nPasted\t+12125552999\t1 Nowhere at all');
  await page.getByRole('button', { name: 'Read the cells' }).click();
  await page.getByText('rows are recognized by their cells').waitFor();
  await page.getByRole('button', { name: 'Find the addresses' }).click();
  await page.getByText('2 uncertain').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Create tasks: 0' }).isDisabled());
  await page.getByRole('button', { name: /Row 2$/ }).click();
  await page.getByLabel('Address', { exact: true }).fill('San Francisco');
  await page.getByRole('button', { name: 'Save' }).click();
  await eventually('approximate', () => page.getByText('Approximate', { exact: true }).count());
  // For an address that the server cannot find either, its message is shown at the end.
  await page.getByLabel('Also import rows with an uncertain address').check();
  await page.getByRole('button', { name: 'Create tasks: 2' }).click();
  await page.getByRole('heading', { name: 'Import finished' }).waitFor();
  assert.deepEqual(await sums(), ['1', '0', '1']);
  await page.getByText('address cannot be geocoded').waitFor();
});

test('tables are exported, and large pictures scaled', async () => {
  const worker = await api('POST', '/workers', {
    name: '=Ida',
    phone: '+12125552777',
    teams: [(await api('POST', '/teams', { name: 'Export', workers: [], managers: [] })).id],
  });
  await page.goto(`${url}/dashboard/#/fleet/workers`);
  await page.getByRole('link', { name: '=Ida' }).waitFor();
  const [saved] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name: 'Export CSV' }).click()]); // prettier-ignore
  const text = readFileSync(await saved.path(), 'utf8');
  assert.match(text, new RegExp(`^\\ufeffid,.*\\r\\n`));
  assert.match(text, /,'=Ida,/);
  await page.goto(`${url}/dashboard/#/fleet/workers/${worker.id}`);
  await page.getByText('Choose a picture').waitFor();
  // A picture that cannot be compressed, larger than the megabyte that the server accepts.
  const noise = await page.evaluate(async () => {
    const canvas = new OffscreenCanvas(1200, 900);
    const paint = canvas.getContext('2d');
    const image = paint.createImageData(1200, 900);
    for (let i = 0; i < image.data.length; i += 65536) crypto.getRandomValues(image.data.subarray(i, i + 65536));
    paint.putImageData(image, 0, 0);
    const blob = await canvas.convertToBlob({ type: 'image/png' });
    return new Promise((done) => {
      const reader = new FileReader();
      reader.onload = () => done(reader.result.replace(/^.*,/, ''));
      reader.readAsDataURL(blob);
    });
  });
  const picture = { name: 'noise.png', mimeType: 'image/png', buffer: Buffer.from(noise, 'base64') };
  assert.ok(picture.buffer.length > 1 << 20);
  await page.locator('input[type=file]').setInputFiles(picture);
  await page.getByAltText('Photo of =Ida').waitFor();
  const width = () => page.evaluate(() => document.querySelector('.photo img, .row img.logo')?.naturalWidth);
  assert.equal(await eventually('the photo', width), 512);
  await page.goto(`${url}/dashboard/#/settings/branding`);
  await page.locator('input[type=file]').setInputFiles(picture);
  assert.equal(await eventually('the logo', width), 256); // no logo is noise
  assert.deepEqual(faults, []);
  await context.close();
});
