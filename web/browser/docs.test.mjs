import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { api, browser, desk, eventually, shot, url, violations } from './kit.mjs';

const most = 200 * 1024; // maximum bytes that a page loads, compressed

let chrome, key;
before(async () => {
  chrome = await browser();
  key = (await api('POST', '/apiKeys', { name: 'reader' })).key;
});
after(() => chrome?.close());

test('a reader finds an operation, fills in the key, copies a command and tries it', async () => {
  const { context, page, faults } = await desk(chrome, url);
  await page.goto(`${url}/docs`);
  await page.keyboard.press('/');
  await page.keyboard.type('clone a task');
  await page.getByRole('option').first().waitFor();
  await shot(page, 'docs-search');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${url}/docs#cloneTask`);
  await eventually('at the top', async () => Math.abs((await page.locator('#cloneTask').boundingBox()).y - 68) < 20);
  const loaded = await page.evaluate(() =>
    [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].reduce(
      (sum, entry) => sum + entry.encodedBodySize,
      0,
    ),
  );
  assert.ok(loaded > 50_000 && loaded < most, `${loaded} bytes`);

  await page.getByRole('button', { name: 'Your key' }).click();
  await page.getByRole('textbox', { name: 'API key' }).fill('$(rm -rf ~)');
  await page.getByRole('button', { name: 'Use this key' }).click();
  await page.getByText('This is not an API key').waitFor();
  await page.getByRole('textbox', { name: 'API key' }).fill(key);
  await shot(page, 'docs-key');
  await page.keyboard.press('Enter');
  const hello = page.locator('#testAPIKey');
  await hello.getByRole('button', { name: 'Copy' }).first().click();
  assert.equal(
    await eventually('copied', () => page.evaluate(() => navigator.clipboard.readText())),
    `curl -u "${key}:" "${url}/api/v2/auth/test"`,
  );
  await hello.getByRole('button', { name: 'Try it' }).click();
  await hello.getByRole('button', { name: 'Send' }).click();
  await hello.getByText('200 OK').waitFor();
  await hello.getByText('Hello organization').last().waitFor();
  await shot(page, 'docs-try');

  // The key survives a reload of this tab, and is nowhere else.
  await page.reload();
  await page.getByRole('button', { name: 'Your key ✓' }).click();
  await page.getByRole('button', { name: 'Remove' }).click();
  assert.ok((await page.locator('#testAPIKey pre.shell').textContent()).includes('$KEY'));
  assert.equal(await page.evaluate(() => sessionStorage.length + localStorage.length + document.cookie.length), 0);
  assert.deepEqual(faults, []);
  await context.close();
});

test('guides and error pages fit every size and scheme', async () => {
  const found = [];
  for (const [width, colorScheme] of [
    [400, 'light'],
    [1440, 'dark'],
  ]) {
    const { context, page, faults } = await desk(chrome, url, { viewport: { width, height: 900 }, colorScheme });
    for (const path of ['/docs/moving', '/nothing']) {
      await page.goto(url + path);
      await shot(page, `docs${path.replaceAll('/', '-')}-${width}-${colorScheme}`);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      if (wide > width) found.push(`${path} is ${wide} wide`);
      for (const one of await violations(page)) found.push(`${path} ${width} ${colorScheme}: ${one}`);
    }
    await page.getByRole('link', { name: 'Go to the dashboard' }).click();
    await page.waitForURL(/\/dashboard/);
    assert.deepEqual(faults, []);
    await context.close();
  }
  assert.deepEqual(found, []);
});
