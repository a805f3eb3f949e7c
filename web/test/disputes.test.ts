import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Disputes } from '../src/dashboard/board/disputes.ts';
import { listOf, Records } from '../src/dashboard/board/records.ts';

test('many changes of a long list are read together, and only for the day that is shown', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  globalThis.fetch = (path) => {
    asked.push(String(path));
    const response = Response.json({ type: 'WORKER', worker: 'w', tasks: ['a'], version: 1 });
    return new Promise((resolve) => answers.push(() => resolve(response)));
  };
  const settled = async () => {
    for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
  };
  let stream: object | undefined = {};
  let changes = 0;
  const disputes = new Disputes(new Records(), () => stream, () => changes++); // prettier-ignore
  for (let i = 0; i < 100; i++) disputes.reread(listOf('w'));
  assert.deepEqual(asked, ['/api/v2/containers/workers/w']);
  answers[0]!();
  await settled();
  assert.equal(changes, 1);
  t.mock.timers.tick(1000);
  await settled();
  assert.equal(asked.length, 2);
  stream = undefined; // as in a replay
  disputes.reread(listOf('w'));
  answers[1]!();
  await settled();
  t.mock.timers.tick(1000);
  await settled();
  assert.equal(changes, 1);
  assert.equal(asked.length, 2);
});
