import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { BoardTask, BoardWorker } from '../src/dashboard/board/wire.ts';
import {
  barsOf,
  compare,
  moved,
  newcomers,
  plannedName,
  readable,
  ruleCounts,
  totalsOf,
  touched,
  undone,
  vehiclesOf,
} from '../src/dashboard/dispatch/compare.ts';
import { bodyOf, defaults, routeOf, planOptionsOf } from '../src/dashboard/dispatch/request.ts';
import { phraseOf } from '../src/dashboard/dispatch/reasons.ts';
import { leftKey, rowsOf } from '../src/dashboard/dispatch/rows.ts';
import type { Dispatch, Options, Route, Stop } from '../src/dashboard/dispatch/wire.ts';

const start = Date.UTC(2026, 10, 16, 10);
const minute = 60_000;
const hour = 60 * minute;

const stop = (id: string, at: number, more: Partial<Stop> = {}): Stop => ({
  id,
  arrivalTime: start + at * minute,
  departTime: start + (at + 2) * minute,
  lateness: 0,
  active: false,
  pinned: null,
  ...more,
});
const route = (worker: string, stops: Stop[], more: Partial<Route> = {}): Route => ({
  routeId: worker,
  stops,
  cost: {
    travel: 60 * stops.length,
    service: 120 * stops.length,
    waiting: 0,
    lateness: stops.reduce((sum, s) => sum + s.lateness, 0),
    distance: 1000 * stops.length,
    workers: stops.length > 0 ? 1 : 0,
  },
  tasksBefore: [],
  vehicleType: 'CAR',
  shifts: [],
  travelSource: 'roads',
  ...more,
});
const options: Options = {
  maxAllowedDelay: 10,
  maxTasksPerRoute: 100,
  routeEnd: null,
  scheduleTimeWindow: [start, start + 6 * hour],
  serviceTime: 2,
  taskTimeWindow: [start - 4 * hour, start + 4 * hour],
  maxContainerSize: 100,
  vehicleType: null,
};
const planned = (before: Route[], after: Route[], left: string[] = []): Dispatch => {
  const ids = [...new Set([...before, ...after].flatMap((r) => r.stops.map((s) => s.id)).concat(left))];
  const cost = route('', []).cost;
  return {
    id: 'd',
    team: 't',
    worker: null,
    timeCreated: start,
    requestedBy: null,
    appliedBy: null,
    dryRun: true,
    replanning: null,
    options,
    progress: null,
    plan: { routes: after, unplanned: left.map((id) => ({ id, reasons: [] })), cost },
    before,
    processingDetails: { startTime: start, endTime: start + 5000, status: 'planned', failure: null },
    tasks: ids.map((id) => ({ id, shortId: id, address: '', completeAfter: null, completeBefore: null })),
    changes: [],
    differences: [],
  };
};
const board = (id: string, more: Partial<BoardTask> = {}): BoardTask => ({
  id,
  shortId: id,
  state: 0,
  timeLastModified: 1,
  destination: { id: `d${id}`, location: [0, 0], line: '' },
  ...more,
});

test('an applied plan is undone when the lists that it changed are as they were', () => {
  const before = [route('A', [stop('1', 10), stop('2', 20)]), route('B', [stop('3', 5)])];
  const after = [route('A', [stop('2', 8), stop('4', 12), stop('1', 30)]), route('B', [stop('3', 5)])];
  const c = compare(planned(before, after));
  const is = (a: string[], open = ['1', '2', '3', '4']) =>
    undone(c, (id) => open.includes(id), (worker) => (worker === 'A' ? a : [])); // prettier-ignore
  assert.ok(!is(['2', '4', '1']), 'as planned');
  assert.ok(!is(['2', '1']), 'another order');
  assert.ok(is(['1', '2']));
  assert.ok(is(['9', '1', '8', '2']), 'with tasks that came later');
  assert.ok(is(['2'], ['2', '4']), 'one has started since');
  assert.ok(!is(['2'], ['2']), 'what is left is where both have it');
});

test('totals count tasks, lateness, travel and workers', () => {
  const routes = [
    route('A', [stop('1', 5), stop('2', 20, { lateness: 180 })]),
    route('B', []),
    route('C', [stop('3', 9)]),
  ];
  assert.deepEqual(totalsOf(routes, 5), {
    served: 3,
    left: 2,
    late: 1,
    lateness: 180,
    travel: 180,
    distance: 3000,
    workers: 2,
    end: start + 22 * minute,
  });
  assert.equal(totalsOf([], 0).end, 0);
});

test('a plan is compared with the routes before, worker by worker', () => {
  const before = [
    route('A', [stop('0', 1, { active: true }), stop('1', 10), stop('2', 20)]),
    route('B', [stop('3', 5)]),
    route('C', []),
  ];
  const after = [
    route('A', [stop('0', 1, { active: true }), stop('2', 8), stop('4', 12), stop('1', 30)]),
    route('B', [stop('3', 5)]),
    route('C', []),
  ];
  const c = compare(planned(before, after, ['5']));
  assert.ok(c.known);
  assert.deepEqual([c.before.served, c.before.left, c.after.served, c.after.left], [4, 2, 5, 1]);
  assert.deepEqual(
    c.rows.map((r) => [r.worker, r.changed, r.before.served, r.after.served]),
    [
      ['A', true, 3, 4],
      ['B', false, 1, 1],
      ['C', false, 0, 0],
    ],
  );
  assert.deepEqual(
    moved(c).map((f) => f.id),
    ['4'],
  );
  assert.deepEqual(touched(c).sort(), ['1', '2', '4']); // neither the active task nor routes that stay
  assert.deepEqual([c.fates.get('1')!.number, c.fates.get('2')!.number, c.fates.get('0')!.number], [3, 1, 0]);
  assert.deepEqual([c.fates.get('4')!.from, c.fates.get('4')!.to, c.fates.get('5')!.to], ['', 'A', '']);
  assert.deepEqual(c.span, [start - 5 * minute, Math.max(start + 32 * minute + 15 * minute, start + 55 * minute)]);
});

test('if the routes before are not known, the lists show who had a task', () => {
  const c = compare(planned([], [route('A', [stop('1', 5), stop('2', 9)], { tasksBefore: ['1'] })]));
  assert.ok(!c.known);
  assert.deepEqual([c.fates.get('1')!.from, c.fates.get('2')!.from, c.rows[0]!.changed], ['A', '', true]);
});

test('rows are the tasks left out, then workers with the tasks that they get and lose', () => {
  const before = [route('A', [stop('1', 5)]), route('B', [])];
  const c = compare(planned(before, [route('A', [stop('3', 9)]), route('B', [stop('1', 4)])], ['2']));
  assert.deepEqual(
    rowsOf(c, new Set()).map((r) => r.key),
    [leftKey, 'A', 'B'],
  );
  assert.deepEqual(
    rowsOf(c, new Set([leftKey, 'A', 'B'])).map((r) => r.key),
    [leftKey, 'left 2', 'A', 'A 3', 'A 1', 'B', 'B 1'],
  );
  assert.deepEqual(
    rowsOf(compare(planned(before, before)), new Set()).map((r) => r.key),
    ['A', 'B'],
  );
});

test('a bar is the time at a stop, after the drive and the wait', () => {
  const tasks = new Map([
    ['1', board('1', { completeAfter: start + 30 * minute })],
    ['2', board('2', { completeBefore: start + 36 * minute })],
  ]);
  const bars = barsOf(
    route('A', [
      stop('1', 10, { departTime: start + 32 * minute }),
      stop('gone', 33),
      stop('2', 40, { lateness: 240 }),
    ]),
    start,
    (id) => tasks.get(id),
  );
  assert.deepEqual(
    bars.map((b) => [b.id, (b.drive - start) / minute, (b.from - start) / minute, (b.to - start) / minute, b.risk]),
    [
      ['1', 0, 30, 32, ''],
      ['2', 35, 40, 42, 'late'],
    ],
  );
});

test('tasks and workers that a plan does not contain are listed, unless its options exclude them', () => {
  const d = planned([], [route('A', [stop('1', 5)])], ['2']);
  const waiting = [board('1'), board('2'), board('3'), board('4', { completeAfter: start + 5 * hour })];
  const person = (id: string, more: Partial<BoardWorker> = {}): BoardWorker => ({
    id,
    name: id,
    phone: '',
    teams: ['t'],
    onDuty: true,
    tasks: [],
    ...more,
  });
  const people = [person('A'), person('B'), person('C', { onDuty: false }), person('D', { teams: ['u'] })];
  assert.deepEqual(newcomers(d, waiting, people), { tasks: ['3'], workers: ['B'] });
  const bikes = { ...d, options: { ...options, vehicleType: 'BICYCLE' } };
  assert.deepEqual(newcomers(bikes, [], [person('B', { vehicle: { type: 'CAR' } })]).workers, []);
  assert.deepEqual(newcomers({ ...d, team: null, worker: 'A' }, waiting, people), { tasks: [], workers: [] });
});

test('reasons are counted by rule, and formatted for people', () => {
  const reasons = [
    { worker: 'A', rule: 'capacity', detail: '' },
    { worker: 'B', rule: 'window', detail: '' },
    { worker: 'C', rule: 'window', detail: '' },
    { worker: null, rule: 'filter', detail: '' },
    { worker: null, rule: 'capacity', detail: 'also 40 other workers' },
  ];
  assert.deepEqual(ruleCounts(reasons), [['capacity', 41], ['window', 2], ['filter', 0]]); // prettier-ignore
  const clock = (ms: number) => `<${(ms - start) / hour}>`;
  const name = (id: string) => (id.startsWith('K') ? 'Ada' : '');
  const text = 'task K2dF8gHj5LzX9cVb7NmQ4wRt would have earliest start 12:00 UTC, latest 00:30 UTC + 10 min';
  assert.equal(readable(text, start, clock, name), 'task Ada would have earliest start <2>, latest <-9.5> + 10 min');
  assert.equal(readable('from 01:00 UTC', start + 13 * hour, clock, name), 'from <15>'); // after midnight
  const day = new Date(start + 20 * hour).toISOString().slice(0, 10);
  assert.equal(readable(`ends at ${day} 06:00 UTC`, start, clock, name), 'ends at <20>');
});

test('known forms of reasons are recognized, and others stay as they are', () => {
  const words = (text: string) => phraseOf(text)?.words;
  assert.deepEqual(phraseOf('earliest start 9:32 AM, latest 9:00 AM + 10 min'), {
    words: 'why_window',
    values: { start: '9:32 AM', latest: '9:00 AM', n: '10' },
  });
  assert.equal(words('task Ada would have earliest start 14:32, latest 14:00 + 10 min'), 'why_otherWindow');
  assert.deepEqual(phraseOf('capacityA 12.5 of 10')?.values, { kind: 'A', n: '12.5', most: '10' });
  assert.equal(words('the route would end at 18:40, the shift ends at 18:00'), 'why_shift');
  assert.equal(
    words(
      'task Ada would have earliest start 12:20, latest 12:18 because of a task on another route that depends on it',
    ),
    'why_needed',
  );
  assert.equal(words('no way to the end of the route'), 'why_noWayBack');
  assert.deepEqual(phraseOf('no way to task Ada'), { words: 'why_noWayTo', values: { task: 'Ada' } });
  assert.equal(words('has 7 tasks, at most 5'), 'why_tasks');
  assert.equal(words('1 task, at most 0'), 'why_tasks');
  // Reasons of automatic assignments.
  assert.deepEqual(phraseOf('capacity exceeded: capacityB 12 of 10')?.values, { kind: 'B', n: '12', most: '10' });
  assert.deepEqual(phraseOf('has as many tasks as allowed: 3 of 3')?.values, { n: '3', most: '3' });
  assert.equal(words('not in the team'), 'why_otherTeam');
  assert.equal(words('excluded by the request'), 'why_excluded');
  assert.equal(words('something else'), undefined);
});

test('a request has the chosen options, within the limits of the API', () => {
  const body = bodyOf(defaults, start, true);
  const at = start / 1000;
  assert.deepEqual(body.taskTimeWindow, [at - 4 * 3600, at + 4 * 3600]);
  assert.deepEqual(body.scheduleTimeWindow, [at, at + 6 * 3600]);
  assert.deepEqual(body.filters, { workers: { anyVehicle: true } });
  assert.deepEqual([body.routeEnd, body.dryRun], ['teams://DEFAULT', true]);
  const long = bodyOf({ ...defaults, hours: 12, vehicle: 'CAR', busy: 150, end: '' }, start, false);
  assert.ok(long.taskTimeWindow[1]! - long.taskTimeWindow[0]! <= 16 * 3600 && long.taskTimeWindow[1]! < at + 12 * 3600);
  assert.ok(long.scheduleTimeWindow[1]! - at <= 16 * 3600);
  assert.deepEqual(long.filters, { workers: { vehicleType: 'CAR', maxContainerSize: 100 } });
  assert.equal(long.routeEnd, null);
  assert.deepEqual(routeOf(defaults, true), {
    serviceTime: 2,
    routeEnd: 'teams://DEFAULT',
    maxAllowedDelay: 10,
    dryRun: true,
  });
});

test('a plan can be requested again with the same options', () => {
  const again = planOptionsOf({ ...options, taskTimeWindow: [start - 4 * hour, start + 8 * hour - 3000], maxContainerSize: 7, routeEnd: 'hub://x' }, start); // prettier-ignore
  assert.deepEqual(again, { hours: 8, vehicle: '', maxTasks: 100, delay: 10, service: 2, end: 'hub://x', busy: 7 });
});

test('vehicles are counted, the most frequent first', () => {
  const vehicle = (type: string) => ({ vehicle: { type } });
  assert.deepEqual(vehiclesOf([vehicle('CAR'), { vehicle: null }, vehicle('BICYCLE'), vehicle('CAR')]), [['CAR', 2], ['', 1], ['BICYCLE', 1]]); // prettier-ignore
  assert.deepEqual(vehiclesOf([]), []);
});

test('a deleted task has the name that the plan contains', () => {
  assert.equal(plannedName({ shortId: '5f2c81d0', address: '1 Plan Street, New York, NY 10003, US' }), '1 Plan Street, New York (5f2c81d0)'); // prettier-ignore
  assert.equal(plannedName({ shortId: '5f2c81d0', address: '' }), '5f2c81d0');
});
