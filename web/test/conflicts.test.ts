import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Conflicts } from '../src/dashboard/board/conflicts.ts';
import { listOf, Records } from '../src/dashboard/board/records.ts';

test('many changes of a long list are read together, and only for the day that is shown', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const requested: string[] = [];
  const respond: (() => void)[] = [];
  globalThis.fetch = (path) => {
    requested.push(String(path));
    const response = Response.json({ type: 'WORKER', worker: 'w', tasks: ['a'], version: 1 });
    return new Promise((resolve) => respond.push(() => resolve(response)));
  };
  const settled = async () => {
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
  };
  let stream: object | undefined = {};
  let changes = 0;
  const conflicts = new Conflicts(new Records(), () => stream, () => changes++); // prettier-ignore
  for (let i = 0; i < 100; i++) conflicts.reread(listOf('w'));
  assert.deepEqual(requested, ['/api/v2/containers/workers/w']);
  respond[0]!();
  await settled();
  assert.equal(changes, 1);
  t.mock.timers.tick(1000);
  await settled();
  assert.equal(requested.length, 2);
  stream = undefined; // as in a replay
  conflicts.reread(listOf('w'));
  respond[1]!();
  await settled();
  t.mock.timers.tick(1000);
  await settled();
  assert.equal(changes, 1);
  assert.equal(requested.length, 2);
});
