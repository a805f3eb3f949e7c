import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paced, spaced } from '../src/dashboard/paced.ts';

test('paced work does not begin again before it has ended, and then runs once more', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const ends: (() => void)[] = [];
  const { plan, stop } = paced(() => new Promise<void>((resolve) => ends.push(resolve)), 3000);
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  plan();
  plan();
  assert.equal(ends.length, 0);
  t.mock.timers.tick(3000);
  assert.equal(ends.length, 1);
  plan();
  plan();
  t.mock.timers.tick(9000); // it takes longer than the delay
  assert.equal(ends.length, 1);
  ends[0]!();
  await settled();
  t.mock.timers.tick(3000);
  assert.equal(ends.length, 2);
  ends[1]!();
  await settled();
  t.mock.timers.tick(9000); // nothing was planned meanwhile
  assert.equal(ends.length, 2);
  plan();
  stop();
  t.mock.timers.tick(9000);
  assert.equal(ends.length, 2);
});

test('spaced work runs at once, and for all calls until it has rested once more', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const read = spaced((key: string) => {
    begun.push(key);
    return new Promise<void>((resolve) => ends.push(resolve));
  }, 1000);
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  read('a');
  for (let i = 0; i < 100; i++) read('a');
  read('b');
  assert.deepEqual(begun, ['a', 'b']);
  ends.forEach((end) => end());
  await settled();
  read('a');
  assert.deepEqual(begun, ['a', 'b']);
  t.mock.timers.tick(1000);
  await settled();
  assert.deepEqual(begun, ['a', 'b', 'a']);
  ends[2]!();
  await settled();
  t.mock.timers.tick(1000);
  await settled();
  assert.deepEqual(begun, ['a', 'b', 'a']);
  read('a');
  assert.deepEqual(begun, ['a', 'b', 'a', 'a']);
});
