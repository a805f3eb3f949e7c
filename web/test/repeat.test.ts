import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call, handlers, prefetch } from '../src/dashboard/api.ts';

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
  // After a success or a rejection, the same request is a new change with a new key.
  await hub();
  assert.notEqual(keys[6], keys[0]);
  await assert.rejects(hub(), { status: 400 });
  await hub();
  assert.equal(new Set(keys.slice(5)).size, 4);
});

test('a key is not used again after an hour', async (t) => {
  t.mock.timers.enable({ apis: ['Date'] });
  const keys: (string | undefined)[] = [];
  t.mock.method(globalThis, 'fetch', async (_: string, init: RequestInit) => {
    keys.push((init.headers as Record<string, string>)['Idempotency-Key']);
    throw new TypeError('Failed to fetch');
  });
  const hub = () => assert.rejects(call('POST', '/hubs', { name: 'Annex' }), { status: 0 });
  await hub();
  t.mock.timers.tick(3_599_999);
  await hub();
  t.mock.timers.tick(3_600_000);
  await hub();
  assert.equal(keys[1], keys[0]);
  assert.notEqual(keys[2], keys[0]);
});

test('every change has its own key, unless the caller passes one', async (t) => {
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

test('a response that is late is reported once, and still used', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const late = t.mock.method(handlers, 'late');
  let respond = (_: Response) => {};
  t.mock.method(globalThis, 'fetch', () => new Promise<Response>((resolve) => (respond = resolve)));
  const hubs = call('GET', '/hubs');
  t.mock.timers.tick(9_999);
  assert.equal(late.mock.callCount(), 0);
  t.mock.timers.tick(60_000);
  assert.equal(late.mock.callCount(), 1);
  respond(new Response('[]'));
  assert.deepEqual(await hubs, []);
});

test('a failed prefetch is requested again', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const responses = [() => Promise.reject(new TypeError('Failed to fetch')), async () => new Response('[]')];
  t.mock.method(globalThis, 'fetch', () => responses.shift()!());
  prefetch('/teams');
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(await call('GET', '/teams'), []);
});
