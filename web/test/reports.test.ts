import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deviation, legs, loads, type WorkerStop } from '../src/dashboard/day.ts';
import { bounds, change, days, latest, metrics, previous, reasonsOf, table, valid, within, type Group } from '../src/dashboard/reports/report.ts'; // prettier-ignore
import { every, line, steps } from '../src/dashboard/reports/scale.ts';
import { cell, table as csv } from '../src/dashboard/csv.ts';

const group = (more: Partial<Group> = {}): Group => ({
  completed: 10,
  succeeded: 8,
  failed: 2,
  failureReasons: { NO_ACCESS: 1, NONE: 1 },
  onTime: 6,
  early: 1,
  late: 1,
  distance: 12_500,
  driveTime: 6000,
  serviceTime: 1800,
  arrivals: { count: 4, close: 3, error: 90, delay: -30 },
  feedback: { count: 2, rating: 4.5 },
  ...more,
});
const value = (name: string, g: Group) => metrics.find((m) => m.name === name)!.of(g);

test('a period is compared with the one before, of the same length', () => {
  const week = latest(7, '2026-11-16');
  assert.deepEqual(week, { first: '2026-11-10', last: '2026-11-16' });
  assert.deepEqual(previous(week), { first: '2026-11-03', last: '2026-11-09' });
  assert.equal(days({ first: '2026-03-01', last: '2026-03-31' }), 31);
  const { from, to } = bounds({ first: '2026-10-31', last: '2026-11-01' }, 'America/New_York');
  assert.equal(to - from, 49 * 3600_000); // clocks change
});

test('a period has at most 31 days: if one end is changed, the other follows', () => {
  assert.ok(!valid({ first: '2026-01-01', last: '2026-02-01' }));
  assert.deepEqual(within({ first: '2026-01-01', last: '2026-02-01' }, 'first'), { first: '2026-01-01', last: '2026-01-31' }); // prettier-ignore
  assert.deepEqual(within({ first: '2026-01-01', last: '2026-02-01' }, 'last'), { first: '2026-01-02', last: '2026-02-01' }); // prettier-ignore
  assert.deepEqual(within({ first: '2026-01-05', last: '2026-01-02' }, 'last'), { first: '2026-01-02', last: '2026-01-02' }); // prettier-ignore
});

test('metrics are shares and averages; without tasks, they are unknown', () => {
  const g = group();
  assert.equal(value('completed', g), 8); // without failed tasks, as on the board
  assert.equal(value('onTimeShare', g), 0.75);
  assert.equal(value('failedShare', g), 0.2);
  assert.equal(value('etaClose', g), 0.75);
  assert.equal(value('etaError', g), 1.5);
  assert.equal(value('driveTime', g), 10);
  assert.equal(value('stopTime', g), 3);
  const none = group({ completed: 0, onTime: 0, early: 0, late: 0, arrivals: { count: 0, close: 0, error: null, delay: null }, feedback: { count: 0, rating: null } }); // prettier-ignore
  for (const name of ['onTimeShare', 'failedShare', 'etaClose', 'etaError', 'driveTime', 'rating']) {
    assert.equal(value(name, none), null, name);
  }
  const [count, share] = [metrics[0]!, metrics[1]!];
  assert.equal(change(count, 12, 10)!.toFixed(3), '0.200');
  assert.equal(change(share, 0.9, 0.8)!.toFixed(3), '0.100');
  assert.equal(change(count, 5, 0), undefined);
});

test('the file has a row for each group, and no formulas', () => {
  const rows = table('worker', [group({ worker: 'w' })], () => '=Ada');
  assert.equal(rows[1]!.length, rows[0]!.length);
  assert.equal(rows[1]![4], 'NO_ACCESS 1; NONE 1');
  assert.deepEqual(reasonsOf(group({ failureReasons: { A: 1, B: 3 } })), [['B', 3], ['A', 1]]); // prettier-ignore
  assert.equal(csv([['=1+1', 'a,b', '-5']]), `'=1+1,"a,b",-5\r\n`);
  assert.equal(cell('say "no"'), '"say ""no"""');
});

test('the axis has few round numbers', () => {
  assert.deepEqual(steps(0), [0, 1]);
  assert.deepEqual(steps(1), [0, 0.25, 0.5, 0.75, 1]);
  assert.deepEqual(steps(7), [0, 2, 4, 6, 8]);
  assert.deepEqual(steps(4321), [0, 2000, 4000, 6000]);
  assert.equal(every(31, 310, 46), 5);
  assert.equal(line([[0, 1], [1, null], [2, 3], [3, 4]]), 'M0.0 1.0M2.0 3.0L3.0 4.0'); // prettier-ignore
});

test('the day of a worker has the deviations of arrivals, and the sums of tasks done and left', () => {
  const stop = (more: Partial<WorkerStop>) => ({ arrivalTime: null, estimatedArrivalTime: null, location: [0, 0], ...more }) as WorkerStop; // prettier-ignore
  assert.equal(deviation(stop({ arrivalTime: 90, estimatedArrivalTime: 100 })), -10);
  assert.equal(deviation(stop({ arrivalTime: 90 })), undefined);
  const of = loads([
    { worker: 'w', state: 3, quantity: 4 },
    { worker: 'w', state: 2, quantity: 2 },
    { worker: 'w', state: 1 },
    { state: 0, quantity: 9 },
  ]);
  assert.deepEqual([...of], [['w', { done: 1, left: 2, used: 2 }]]);
  const way = Array.from({ length: 120 }, (_, i): [number, number] => [i, 0]);
  const parts = legs([[0, 0], ...way]);
  assert.deepEqual(parts.map((p) => p.length), [50, 50, 22]); // prettier-ignore
  assert.deepEqual(parts[1]![0], parts[0]!.at(-1));
  assert.deepEqual(legs([[1, 1]]), []);
});
