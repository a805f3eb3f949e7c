import assert from 'node:assert/strict';
import { test } from 'node:test';
import { call, handlers, prefetch } from '../src/dashboard/api.ts';

test('the first call gets the prefetched response, and later calls send a request', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let requests = 0;
  t.mock.method(globalThis, 'fetch', async () => Response.json({ n: ++requests }));
  prefetch('/board');
  prefetch('/hubs');
  assert.deepEqual(await call('GET', '/board'), { n: 1 });
  assert.deepEqual(await call('GET', '/board'), { n: 3 });
  t.mock.timers.tick(10_000); // too long ago
  assert.deepEqual(await call('GET', '/hubs'), { n: 4 });
});

test('the error of a prefetch is returned by the call', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(globalThis, 'fetch', async () => new Response('{}', { status: 503 }));
  prefetch('/board');
  await assert.rejects(call('GET', '/board'), { status: 503 });
});

test('a response that breaks off is a lost connection', async (t) => {
  const body = new ReadableStream({ start: (c) => c.error(new TypeError('reset')) });
  t.mock.method(globalThis, 'fetch', async () => new Response(body));
  const lost = t.mock.method(handlers, 'lost');
  await assert.rejects(call('GET', '/hubs'), { status: 0 });
  assert.equal(lost.mock.callCount(), 1);
});
