import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kept } from '../src/driver/shelf.ts';

interface Connection {
  onclose?: () => void;
  transaction: () => unknown;
}

// storage opens connections in turn; undefined is one that fails.
function storage(...connections: (Connection | undefined)[]) {
  const open = () => {
    const result = connections.shift();
    const request: Record<string, unknown> = { result, error: new Error('no storage') };
    queueMicrotask(() => (request[result ? 'onsuccess' : 'onerror'] as () => void)());
    return request;
  };
  return { open };
}

function connection(value: string): Connection {
  const transaction = () => {
    const tx: Record<string, unknown> = { objectStore: () => ({ get: () => ({ result: value }) }) };
    tx['commit'] = () => queueMicrotask(() => (tx['oncomplete'] as () => void)());
    return tx;
  };
  return { transaction };
}

test('storage that failed or was closed is opened again', async () => {
  const [first, second] = [connection('first'), connection('second')];
  const indexedDB = storage(undefined, undefined, first, second, connection('third'));
  Object.assign(globalThis, { indexedDB });
  await assert.rejects(kept.get('x'), /no storage/);
  assert.equal(await kept.get('x'), 'first');
  assert.equal(await kept.get('x'), 'first');
  first.onclose!();
  assert.equal(await kept.get('x'), 'second');
  second.transaction = () => {
    throw new Error('the connection is closing');
  };
  assert.equal(await kept.get('x'), 'third');
});
