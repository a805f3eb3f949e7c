import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call } from '../src/dashboard/api.ts';

test('a change whose outcome is not known is sent again with its key', async (t) => {
  const keys: (string | undefined)[] = [];
  const outcomes = ['lost', 'broken', 503, 429, 401, 200, 200, 400, 200];
  t.mock.method(globalThis, 'fetch', async (_: string, init: RequestInit) => {
    keys.push((init.headers as Record<string, string>)['Idempotency-Key']);
    const outcome = outcomes.shift()!;
    if (outcome === 'lost') throw new TypeError('Failed to fetch');
    if (outcome === 'broken')
      return new Response(new ReadableStream({ start: (c) => c.error(new TypeError('reset')) }));
    return new Response('{}', { status: outcome as number });
  });
  const hub = () => call('POST', '/hubs', { name: 'Depot' });
  await assert.rejects(hub(), { status: 0 });
  await assert.rejects(hub(), { status: 0 });
  for (const status of [503, 429, 401]) await assert.rejects(hub(), { status });
  await hub();
  assert.ok(keys[0]);
  assert.deepEqual(keys, Array(6).fill(keys[0]));
  // The next one is another hub of the same name, and what was rejected was not made.
  await hub();
  assert.notEqual(keys[6], keys[0]);
  await assert.rejects(hub(), { status: 400 });
  await hub();
  assert.equal(new Set(keys.slice(5)).size, 4);
});

test('another change, or a key of the caller, has its own key', async (t) => {
  const keys: (string | undefined)[] = [];
  t.mock.method(globalThis, 'fetch', async (_: string, init: RequestInit) => {
    keys.push((init.headers as Record<string, string>)['Idempotency-Key']);
    throw new TypeError('Failed to fetch');
  });
  await assert.rejects(call('POST', '/hubs', { name: 'North' }));
  await assert.rejects(call('POST', '/hubs', { name: 'South' }));
  await assert.rejects(call('POST', '/teams', { name: 'North' }));
  assert.equal(new Set(keys).size, 3);
  await assert.rejects(call('POST', '/hubs', { name: 'North' }, undefined, { 'Idempotency-Key': 'mine' }));
  assert.equal(keys[3], 'mine');
  await assert.rejects(call('GET', '/hubs'));
  await assert.rejects(call('POST', '/account/v1/sign-in', {}));
  assert.deepEqual(keys.slice(4), [undefined, undefined]);
});
