import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minutesLeft, same, worthSaying, type State } from '../src/track/state.ts';
import type { Point } from '../src/map/project.ts';

const home: Point = [-74, 40.7];
const state = (more: Partial<State>): State => ({
  stage: 'active',
  estimatedArrivalTime: null,
  worker: { name: 'Ada', location: home, locationTime: 1, destination: home },
  feedback: { allowed: false, given: false },
  ...more,
});

test('the text is reloaded only if it has changed', () => {
  const moved = state({ worker: { name: 'Ada', location: [-74, 40.8], locationTime: 2, destination: home } });
  assert.ok(same(state({}), moved));
  assert.ok(same(state({}), { ...moved, route: { source: 'roads', geometry: '_p~iF' } }));
  assert.ok(!same(state({}), state({ stage: 'arrived' })));
  assert.ok(!same(state({}), state({ estimatedArrivalTime: 5 })));
});

test('minutes are counted until the worker arrives', () => {
  const now = 1_000_000_000_000;
  assert.equal(minutesLeft(state({ estimatedArrivalTime: now + 61_000 }), now), 2);
  assert.equal(minutesLeft(state({ estimatedArrivalTime: now - 1 }), now), 0);
  assert.equal(minutesLeft(state({}), now), 0);
  assert.equal(minutesLeft(state({ stage: 'arrived', estimatedArrivalTime: now + 600_000 }), now), 0);
});

test('only some of the minutes are announced to screen readers', () => {
  const announced = [];
  for (let left = 40; left > 0; left--) if (worthSaying(left + 1, left)) announced.push(left);
  assert.deepEqual(announced, [30, 15, 10, 5, 2]);
  assert.ok(worthSaying(12, 4), 'a mark that was skipped');
  assert.ok(!worthSaying(0, 8), 'the first minutes are in the text');
});
