// The orders page, on both sides: a shop tests prices and orders, and a courier rejects.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { administrator, api, browser, gone, organization, shot, url, violations } from './kit.mjs';

const at = (street, location) => ({
  destination: { address: { number: '1', street, city: 'New York', country: 'US' }, location },
});
const ends = {
  pickupTask: at('Kitchen Street', [-73.98, 40.75]),
  dropoffTask: { ...at('Diner Avenue', [-73.98, 40.7]), recipients: [{ name: 'Mary', phone: '+12125550142' }] },
};

let chrome, shop, courier, client, first, second;

before(async () => {
  chrome = await browser();
  shop = organization('Corner Shop');
  client = await api('POST', '/clients', { organization: shop.id, name: 'Corner' });
  await shop.api('POST', `/clients/invitations/${client.id}/accept`);
  const rate = { name: 'Base', ratingType: 'flat', amount: 4, isBaseRate: true };
  const service = await api('POST', '/deliveryServices', { displayName: 'Lunch Run', currency: 'USD', rates: [rate], clients: [client.id] }); // prettier-ignore
  for (const _ of [0, 1]) [first, second] = [second, await shop.api('POST', '/taskOrders', { ...ends, deliveryServiceId: service.id })]; // prettier-ignore
  courier = await administrator(chrome, 'Olga Courier');
});
after(async () => {
  await api('DELETE', `/clients/${client.id}`).catch(() => {});
  await chrome?.close();
});

test('a courier sees an order, and rejects it with a reason', async () => {
  const { page, faults } = courier;
  await page.goto(`${url}/dashboard#/business/orders`);
  const row = page.getByRole('row').filter({ hasText: first.shortId });
  await row.getByText('Corner').waitFor();
  await row.getByText('Lunch Run').waitFor();
  await row.getByText('$4.00').waitFor();
  assert.deepEqual(await violations(page), []);
  await row.getByRole('button', { name: first.shortId, exact: true }).click();
  const sheet = page.getByRole('dialog', { name: `Order ${first.shortId}` });
  await sheet.getByText('1 Kitchen Street').first().waitFor();
  await sheet.getByText('Mary').waitFor();
  await shot(page, '80-order');
  // The confirmation dialog is above the sheet, which fills the screen of a phone.
  await page.setViewportSize({ width: 400, height: 800 });
  await sheet.getByRole('button', { name: 'Cancel order' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Keep order' }).click();
  await gone(page.getByRole('alertdialog'));
  await page.setViewportSize({ width: 1440, height: 900 });
  await sheet.getByRole('button', { name: 'Reject order' }).click();
  await page.getByLabel('Reason').fill('No driver at noon');
  await page.getByRole('dialog').getByRole('button', { name: 'Reject order' }).click();
  await row.getByText('Rejected').waitFor();
  await page.getByLabel('State').selectOption({ label: 'Rejected' });
  await gone(page.getByRole('row').filter({ hasText: second.shortId }));
  await row.waitFor();
  assert.deepEqual(faults, []);
});

test('a shop tests prices, sees its orders with service and reason, and cancels one', async () => {
  const { page, faults } = await administrator(chrome, 'Sam Shop', { type: 'super' }, shop.api);
  await page.goto(`${url}/dashboard#/business/orders`);
  await page.getByRole('button', { name: 'Try prices' }).click();
  const dialog = page.getByRole('dialog', { name: 'Try prices' });
  for (const [i, city] of ['New York', 'Newark'].entries()) {
    await dialog.getByLabel('Find address').nth(i).fill(city);
    await page.locator('.addresses [role=option]').first().click();
    await gone(page.locator('.addresses'));
  }
  await dialog.getByRole('button', { name: 'Show prices' }).click();
  await dialog.getByRole('heading', { name: 'Lunch Run' }).waitFor();
  await dialog.getByText('$4.00').first().waitFor();
  await shot(page, '81-quote');
  await page.keyboard.press('Escape');
  await gone(dialog);

  const rejected = page.getByRole('row').filter({ hasText: first.shortId });
  await rejected.getByText('Lunch Run').waitFor(); // the shop may not read the service itself
  await rejected.getByRole('button', { name: first.shortId, exact: true }).click();
  await page.getByRole('dialog').getByText('No driver at noon').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('row').filter({ hasText: second.shortId }).getByRole('button', { name: second.shortId, exact: true }).click(); // prettier-ignore
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel order' }).click();
  await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel order' }).click();
  await page.getByRole('row').filter({ hasText: second.shortId }).getByText('Cancelled').waitFor();
  assert.equal((await shop.api('GET', `/taskOrders/${second.id}`)).status, 'cancelled');
  await page.setViewportSize({ width: 400, height: 800 });
  assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  assert.deepEqual(await violations(page), []);
  assert.deepEqual(faults, []);
});
