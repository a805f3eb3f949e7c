import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { held, spanOf, zoomed, type Span } from '../src/dashboard/board/bars.ts';
import { everything, Groups, type Group } from '../src/dashboard/board/groups.ts';
import { headHeight, Layout, rowHeight, settled, Slots } from '../src/dashboard/board/layout.ts';
import { room } from '../src/dashboard/board/mapview/fleet.ts';
import { find } from '../src/dashboard/board/find.ts';
import { planned } from '../src/dashboard/board/moves.ts';
import { problemsOf } from '../src/dashboard/board/problems.ts';
import { listOf, pool, Records } from '../src/dashboard/board/records.ts';
import { arrivalOf, lateness, risk } from '../src/dashboard/board/status.ts';
import { toTask, type BoardTask, type BoardWorker, type Event, type Snapshot } from '../src/dashboard/board/wire.ts';
import type { Address } from '../src/dashboard/wire.ts';

const now = Date.now();
const hour = 3600_000;

const made = (id: string, more: Partial<BoardTask> = {}): BoardTask => ({
  id,
  shortId: id,
  state: 0,
  timeLastModified: 1,
  container: { type: 'ORGANIZATION', organization: 'org' },
  destination: { id: `d${id}`, location: [0, 0], line: `${id} Main Street` },
  ...more,
});
const given = (id: string, worker: string, more: Partial<BoardTask> = {}): BoardTask =>
  made(id, { state: 1, worker, container: { type: 'WORKER', worker }, ...more });
const person = (id: string, tasks: string[], more: Partial<BoardWorker> = {}): BoardWorker => ({
  id,
  name: `Worker ${id}`,
  phone: '',
  teams: ['t'],
  onDuty: true,
  tasks,
  ...more,
});

function snapshot(tasks: BoardTask[], workers: BoardWorker[]): Snapshot {
  const from = now - 6 * hour;
  return {
    cursor: '7',
    fleet: 1,
    date: '2026-11-16',
    from,
    to: from + 24 * hour,
    timezone: 'UTC',
    organization: { id: 'org', name: 'Org' },
    teams: [{ id: 't', name: 'Team', workers: workers.map((w) => w.id), tasks: [] }],
    hubs: [],
    workers,
    tasks,
    truncated: false,
  };
}

function opened(tasks: BoardTask[], workers: BoardWorker[]) {
  const records = new Records();
  const groups = new Groups(records);
  const show = () => groups.update(records.take(), now);
  records.load(snapshot(tasks, workers));
  show();
  return { records, groups, show, ids: (key: string) => groups.group(key)?.ids ?? [] };
}

// wire returns an event with a task as the API has it.
const wire = (triggerId: number, task?: BoardTask, worker?: BoardWorker): Event => ({
  taskId: task?.id ?? null,
  workerId: worker?.id ?? null,
  triggerId,
  triggerName: '',
  time: now,
  actionContext: { type: 'ADMIN', id: 'someone' },
  data: {
    ...(task && {
      task: { ...task, destination: { ...task.destination, address: { street: task.destination.line } } },
    }),
    ...(worker && { worker }),
  },
});

test('an event moves a task between lists, and only these lists are rebuilt', () => {
  const { records, groups, show, ids } = opened(
    [made('a'), made('b'), given('c', 'w')],
    [person('w', ['c']), person('v', [])],
  );
  assert.deepEqual(ids(pool), ['a', 'b']);
  const untouched = groups.group(listOf('v'));
  records.apply(wire(9, given('a', 'w', { timeLastModified: 2 }), person('w', ['a', 'c'])));
  show();
  assert.deepEqual(ids(pool), ['b']);
  assert.deepEqual(ids(listOf('w')), ['c', 'a']); // at the end, until the list reports the position
  records.applyOrder({ container: { type: 'WORKER', worker: 'w' }, tasks: ['a', 'c'], version: 2 });
  show();
  assert.deepEqual(ids(listOf('w')), ['a', 'c']);
  assert.equal(groups.group(listOf('v')), untouched);
  assert.equal(groups.counts.assigned, 2);
  assert.equal(groups.counts.unassigned, 1);
  assert.equal(records.actors.get('a')?.id, 'someone');
});

test('a record older than the known one changes nothing', () => {
  const { records } = opened([given('a', 'w', { timeLastModified: 5 })], [person('w', ['a'])]);
  records.apply(wire(3, made('a', { timeLastModified: 4 })));
  assert.equal(records.tasks.get('a')?.state, 1);
  assert.equal(records.actors.get('a'), undefined);
});

test('who changed a task last is known even if the task is not of this day', () => {
  const { records } = opened([made('a')], []);
  records.apply(wire(7, made('a', { timeLastModified: 2, completeAfter: now + 48 * hour })));
  records.apply(wire(7, made('b', { timeLastModified: 2, completeAfter: now + 48 * hour })));
  assert.deepEqual([...records.tasks.keys()], []);
  assert.deepEqual([...records.actors.keys()], ['a', 'b']);
  records.apply(wire(8, made('a')));
  records.apply(wire(8, made('b')));
  assert.equal(records.actors.size, 0);
});

test('tasks that are deleted, completed or of another day leave their list', () => {
  const { records, groups, show, ids } = opened(
    [made('a'), made('b'), given('c', 'w'), given('d', 'w')],
    [person('w', ['c', 'd'])],
  );
  records.apply(wire(8, made('a')));
  records.apply(wire(7, made('b', { timeLastModified: 2, completeAfter: now + 48 * hour })));
  const done = { success: false, time: now, failureReason: 'OTHER' };
  records.apply(wire(4, given('c', 'w', { timeLastModified: 2, state: 3, completionDetails: done })));
  show();
  assert.deepEqual(ids(pool), []);
  assert.deepEqual(ids(listOf('w')), ['d']);
  assert.equal(groups.group(listOf('w'))?.failed, 1);
  assert.deepEqual([groups.counts.failed, groups.counts.unassigned], [1, 0]);
});

test('a list is in the order of its latest version', () => {
  const { records, show, ids } = opened([given('a', 'w'), given('b', 'w')], [person('w', ['a', 'b'])]);
  const container = { type: 'WORKER', worker: 'w' };
  records.applyOrder({ container, tasks: ['b', 'a'], version: 5 });
  records.applyOrder({ container, tasks: ['a', 'b'], version: 4 });
  show();
  assert.deepEqual(ids(listOf('w')), ['b', 'a']);
});

test('a pin ends when its task leaves the worker', () => {
  const { records } = opened([given('a', 'w'), given('b', 'w')], [person('w', ['a', 'b']), person('v', [])]);
  const list = (worker: string, tasks: string[], version: number, pinned: Record<string, string> = {}) =>
    records.applyOrder({ container: { type: 'WORKER', worker }, activeTask: null, tasks, version, pinned });
  const pinned = (id: string) => records.tasks.get(id)?.pinned;
  list('w', ['a', 'b'], 2, { a: 'worker', b: 'position' });
  records.apply(wire(7, given('a', 'w', { timeLastModified: 2 })));
  assert.deepEqual([pinned('a'), pinned('b')], ['worker', 'position']); // task events do not contain pins
  list('w', ['b', 'a'], 1, {});
  assert.equal(pinned('b'), 'position'); // an older list
  records.apply(wire(10, made('a', { timeLastModified: 3 })));
  assert.equal(pinned('a'), undefined);
  list('w', ['a', 'b'], 3, { a: 'worker', b: 'position' }); // as it was before the task left
  assert.equal(pinned('a'), undefined);
  list('w', ['b'], 4, {});
  assert.equal(pinned('b'), undefined);
  list('w', ['b'], 5, { b: 'worker' });
  records.apply(wire(0, given('b', 'w', { timeLastModified: 4, state: 2 })));
  assert.equal(pinned('b'), 'worker');
  records.apply(wire(3, given('b', 'w', { timeLastModified: 5, state: 3 })));
  assert.equal(pinned('b'), undefined);
});

test('it does not matter whether a task or its list arrives first', () => {
  const { records, show, ids } = opened([given('c', 'w')], [person('w', ['c']), person('v', [])]);
  const list = (worker: string, tasks: string[], version: number) =>
    records.applyOrder({ container: { type: 'WORKER', worker }, tasks, version });
  list('w', ['a', 'c'], 2); // the task is not known yet
  records.apply(wire(6, made('a', { timeLastModified: 2 })));
  assert.deepEqual(records.conflictingLists(), [listOf('w')]);
  records.apply(wire(9, given('a', 'w', { timeLastModified: 3 })));
  show();
  assert.deepEqual(records.conflictingLists(), []);
  assert.deepEqual([ids(pool), ids(listOf('w'))], [[], ['a', 'c']]);
  // A move reported only by the lists.
  list('v', ['a'], 2);
  list('w', ['c'], 3);
  show();
  assert.deepEqual([ids(listOf('v')), ids(listOf('w'))], [['a'], ['c']]);
  assert.deepEqual(records.conflictingLists(), []);
});

test('the active task comes first, and is in no list that can be changed', () => {
  const { records, ids } = opened([given('a', 'w', { state: 2 }), given('b', 'w')], [person('w', ['b'], { activeTask: 'a' })]); // prettier-ignore
  assert.deepEqual(ids(listOf('w')), ['a', 'b']);
  assert.equal(records.home('a'), undefined);
});

test('a move is shown at once, stays on top of events, and ends with the state of the server', () => {
  const tasks = [made('a'), made('b'), given('c', 'w'), given('d', 'w')];
  const { records, groups, show, ids } = opened(tasks, [person('w', ['c', 'd']), person('v', [])]);
  const move = records.move({ ids: ['a', 'd'], to: listOf('w'), at: 0 });
  show();
  assert.deepEqual(ids(listOf('w')), ['a', 'd', 'c']);
  assert.deepEqual(ids(pool), ['b']);
  assert.equal(groups.counts.assigned, 3);
  // Another dispatcher takes one of them meanwhile.
  records.apply(wire(9, given('c', 'v', { timeLastModified: 2 }), person('v', ['c'])));
  show();
  assert.deepEqual(ids(listOf('w')), ['a', 'd']);
  assert.deepEqual(ids(listOf('v')), ['c']);
  records.settle(move); // rejected
  show();
  assert.deepEqual(ids(listOf('w')), ['d']);
  assert.deepEqual(ids(pool), ['a', 'b']);
  assert.equal(groups.counts.assigned, 2);
  assert.equal(records.waiting, false);
});

test('two moves of the same task are shown in order, and settle one by one', () => {
  const { records, show, ids } = opened([made('a')], [person('v', []), person('w', [])]);
  const first = records.move({ ids: ['a'], to: listOf('v'), at: -1 });
  const second = records.move({ ids: ['a'], to: listOf('w'), at: -1 });
  show();
  assert.deepEqual([ids(listOf('v')), ids(listOf('w'))], [[], ['a']]);
  records.applyOrder({ container: { type: 'WORKER', worker: 'v' }, tasks: ['a'] });
  records.settle(first);
  show();
  assert.deepEqual([ids(listOf('v')), ids(listOf('w'))], [[], ['a']]);
  records.settle(second);
  show();
  assert.deepEqual([ids(listOf('v')), ids(listOf('w'))], [['a'], []]);
});

test('positions and estimates replace only what they contain', () => {
  const { records } = opened([given('a', 'w')], [person('w', ['a'], { timeLocated: 10, battery: 0.4 })]);
  records.position({ worker: 'w', location: [1, 2], time: 20, heading: 90 });
  records.position({ worker: 'w', location: [9, 9], time: 15 });
  assert.deepEqual(records.workers.get('w')?.location, [1, 2]);
  assert.equal(records.workers.get('w')?.battery, 0.4);
  const expect = (estimatedArrivalTime: number, delayTime: number | null) =>
    records.estimate({
      worker: 'w',
      delayTime,
      tasks: [{ id: 'a', estimatedArrivalTime, estimatedCompletionTime: null, delayTime }],
    });
  expect(5, 3);
  expect(6, null);
  const { estimatedArrivalTime, delayTime } = records.tasks.get('a')!;
  assert.deepEqual([estimatedArrivalTime, delayTime], [6, undefined]);
});

test('the filter applies to states, lateness, teams and any text', () => {
  const tasks = [
    made('a', { recipients: [{ name: 'Ada Lovelace', phone: '+1' }] }),
    given('b', 'w', { completeBefore: now + hour, estimatedArrivalTime: now + 2 * hour }),
    given('c', 'w', { state: 3, completeBefore: now - hour, completionDetails: { success: true, time: now } }),
  ];
  const { groups } = opened(tasks, [person('w', ['b']), person('v', [], { teams: ['u'] })]);
  const shown = () => groups.groups.flatMap((g) => g.ids);
  const seen = () => ['a', 'b', 'c'].filter((id) => groups.shows(id, now));
  assert.deepEqual(shown(), ['a', 'b']); // without completed tasks
  assert.deepEqual(seen(), ['a', 'b', 'c']); // the map shows completed tasks, too
  groups.narrow({ ...everything, text: 'lovelace ADA' }, now);
  assert.deepEqual(shown(), ['a']);
  assert.deepEqual(seen(), ['a']);
  groups.narrow({ ...everything, text: 'worker w' }, now);
  assert.deepEqual(shown(), ['c', 'b']);
  groups.narrow({ ...everything, late: true }, now);
  assert.deepEqual(shown(), ['b']);
  groups.narrow({ ...everything, statuses: new Set(['completed']) }, now);
  assert.deepEqual(shown(), ['c']);
  groups.narrow({ ...everything, team: 'u' }, now);
  assert.deepEqual(groups.groups.map((g) => g.key), [pool, listOf('v')]); // prettier-ignore
  assert.equal(groups.counts.assigned, 0);
  assert.ok(!groups.includes('b'));
  assert.deepEqual(seen(), ['a']);
  groups.narrow(everything, now);
  assert.equal(groups.counts.assigned, 1);
  assert.ok(groups.includes('b'));
});

test('the late tasks that are listed match the count', () => {
  const tasks = [
    made('overdue', { completeBefore: now - 1 }),
    given('late', 'w', { completeBefore: now + hour, estimatedArrivalTime: now + 2 * hour }),
    given('tight', 'w', { completeBefore: now + hour, estimatedArrivalTime: now + hour - 1 }),
    given('there', 'w', { state: 2, completeBefore: now - 1, estimatedArrivalTime: now - 2, arrivalTime: now - 2 }),
    given('done', 'w', { state: 3, completeBefore: now - hour, completionDetails: { success: true, time: now } }),
  ];
  const { records, groups } = opened(tasks, [person('w', ['late', 'tight'], { activeTask: 'there' })]);
  assert.equal(risk(tasks[2]!, now), 'tight');
  groups.narrow({ ...everything, late: true }, now);
  const listed = groups.groups.flatMap((g) => g.ids);
  const seen = tasks.map((t) => t.id).filter((id) => groups.shows(id, now));
  const excepted = problemsOf(records, now).flatMap((p) => (p.kind === 'late' ? [p.task!.id] : []));
  assert.deepEqual(listed, ['overdue', 'late']);
  assert.deepEqual(seen, listed);
  assert.deepEqual(excepted.sort(), [...listed].sort());
  assert.equal(groups.counts.late, listed.length);
  assert.deepEqual(groups.groups.map((g) => g.late), [1, 1]); // prettier-ignore
});

test('tasks whose risk changes as time passes are reported', () => {
  const tasks = [
    given('late', 'w', { completeBefore: now + hour, estimatedArrivalTime: now }),
    made('overdue', { completeBefore: now + hour }),
    given('tight', 'w', { completeBefore: now + hour + 60_000, estimatedArrivalTime: now }),
    given('there', 'w', { state: 2, completeBefore: now + hour, arrivalTime: now }),
    made('later', { completeBefore: now + 3 * hour }),
  ];
  const { groups } = opened(tasks, [person('w', ['late', 'tight'], { activeTask: 'there' })]);
  groups.narrow({ ...everything, late: true }, now);
  assert.deepEqual([...groups.elapse(now)], []);
  const then = now + hour + 1;
  assert.deepEqual([...groups.elapse(then)], ['late', 'overdue', 'tight']);
  assert.equal(groups.counts.late, 2);
  assert.ok(groups.shows('overdue', then));
  assert.deepEqual([...groups.elapse(then)], []);
});

test('of each kind of problem, the worst comes first', () => {
  const minute = 60_000;
  const ended = [7, 70, 33, 52, 91, 18, 45, 64];
  const tasks = ended.map((ago) =>
    made(`f${ago}`, { state: 3, completionDetails: { success: false, time: now - ago * minute } }),
  );
  const silent = [30, 80, 20, 60, 40];
  const workers = silent.map((ago) => person(`s${ago}`, [], { timeLastSeen: now - ago * minute }));
  const empty = [0.1, 0.02, 0.14].map((battery) => person(`b${battery}`, [], { battery }));
  const found = problemsOf(opened(tasks, [...workers, ...empty]).records, now);
  const of = (kind: string) => found.filter((p) => p.kind === kind).map((p) => p.task?.id ?? p.worker!.id);
  assert.deepEqual(of('failed'), ['f7', 'f18', 'f33', 'f45', 'f52', 'f64', 'f70', 'f91']);
  assert.deepEqual(of('silent'), ['s80', 's60', 's40', 's30', 's20']);
  assert.deepEqual(of('battery'), ['b0.02', 'b0.1', 'b0.14']);
});

test('the timeline is never zoomed or moved to an empty period', () => {
  const busy: Span = [now - hour, now + hour];
  let shown: Span = [now - 2 * hour, now + 4 * hour];
  for (let i = 0; i < 20; i++) {
    shown = held(zoomed(shown, 0.7, now), busy);
    assert.ok(shown[0] < now && now < shown[1]);
  }
  assert.equal(Math.round(shown[1] - shown[0]), hour / 2);
  assert.ok(Math.abs((now - shown[0]) / (shown[1] - shown[0]) - 1 / 3) < 0.01); // where it was
  for (const by of [-9 * hour, 9 * hour]) {
    const [from, to] = held([shown[0] + by, shown[1] + by], busy);
    assert.equal(Math.round(to - from), hour / 2);
    assert.ok(from < busy[1] - hour / 10 && to > busy[0] + hour / 10, `${(from - now) / hour} to ${(to - now) / hour}`);
  }
  assert.deepEqual(held([now + hour, now + 2 * hour], [now, now]), [now, now + hour]); // without tasks
  const { records } = opened([given('a', 'w', { estimatedArrivalTime: now + 3 * hour, estimatedCompletionTime: now + 4 * hour })], [person('w', ['a'])]); // prettier-ignore
  const { busy: working, whole } = spanOf(records, now);
  assert.deepEqual(working, [now, now + 4 * hour]);
  assert.ok(whole[0] < now && whole[1] > now + 4 * hour);
});

test('after the arrival, lateness is that of the arrival and no longer grows', () => {
  const due = now - hour;
  const there = (at: number) => given('a', 'w', { state: 2, completeBefore: due, estimatedArrivalTime: at, arrivalTime: at }); // prettier-ignore
  assert.deepEqual([lateness(there(due), now), risk(there(due), now)], [0, '']);
  assert.deepEqual([lateness(there(due + 300_000), now), risk(there(due + 300_000), now)], [300_000, 'late']);
  const done = (arrivalTime: number | undefined, time: number, success = true) =>
    given('a', 'w', { state: 3, completeBefore: due, ...(arrivalTime && { arrivalTime }), completionDetails: { success, time } }); // prettier-ignore
  assert.deepEqual([lateness(done(due, now), now), risk(done(due, now), now)], [0, '']);
  assert.equal(lateness(done(due + 1, now), now), 1);
  assert.equal(lateness(done(undefined, due + 2), now), 2); // without an arrival
  assert.equal(lateness(done(now, due), now), 0); // an arrival that was reported afterwards
  assert.equal(risk(done(undefined, due + 2, false), now), ''); // it is shown as failed, which is worse
});

test('the time of arrival is read from events as in the snapshot', () => {
  const events = ['start', 'arrival', 'departure', 'arrival'].map((name, i) => ({ name, time: now + i }));
  const task = { ...made('a'), destination: { ...made('a').destination, address: {} as Address } };
  assert.equal(toTask({ ...task, completionDetails: { events } }).arrivalTime, now + 1);
});

test('lateness depends on the expected arrival or, if that has passed, on the current time', () => {
  const due = now + hour;
  assert.equal(risk(given('a', 'w', { completeBefore: due, estimatedArrivalTime: due + 1 }), now), 'late');
  assert.equal(risk(given('a', 'w', { completeBefore: due, estimatedArrivalTime: due - 60_000 }), now), 'tight');
  assert.equal(risk(given('a', 'w', { completeBefore: due, estimatedArrivalTime: due - hour / 2 }), now), '');
  assert.equal(risk(made('a', { completeBefore: now - 1 }), now), 'late');
  assert.equal(lateness(made('a', { completeBefore: now - hour }), now), hour);
});

test('only visible rows are built', () => {
  const ids = Array.from({ length: 5000 }, (_, i) => `t${i}`);
  const group = (key: string, ids: string[]) => ({ key, ids, open: 0, done: 0, failed: 0, late: 0 });
  const layout = new Layout([group('O', ids), group('W1', ['x'])], () => true);
  assert.equal(layout.height, 2 * headHeight + 5001 * rowHeight);
  const rows = layout.visible(1000, 1400);
  assert.ok(rows.length < 14);
  assert.ok(rows.slice(1).every((r) => r.y > 1000 - rowHeight && r.y < 1400));
  assert.deepEqual(layout.find('x'), { y: layout.height - rowHeight, height: rowHeight });
  assert.equal(layout.visible(layout.height - 10, layout.height).at(-1)?.id, 'x');
});

test('rows that do not change stay the same objects', () => {
  const group = (key: string, ids: string[]) => ({ key, ids, open: 0, done: 0, failed: 0, late: 0 });
  const [pooled, carried] = [group('O', ['a', 'b']), group('W1', ['x'])];
  const rows = (...groups: Group[]) => new Layout(groups, () => true).visible(0, 1000);
  const first = settled([], rows(pooled, carried));
  assert.equal(settled(first, rows(pooled, carried)), first);
  const second = settled(first, rows(group('O', ['a', 'b']), carried));
  assert.deepEqual(second.map((row, i) => row === first[i]), [false, true, true, true, true]); // prettier-ignore
  const third = settled(second, rows(pooled, group('W1', ['x', 'a'])));
  assert.deepEqual(third.filter((row) => second.includes(row)).map((r) => r.id), ['a', 'b']); // prettier-ignore
  const fourth = settled(second, rows(group('O', ['b', 'a']), carried));
  assert.deepEqual(fourth.slice(1, 3).map((r) => [r.id, r.index]), [['b', 0], ['a', 1]]); // prettier-ignore
});

test('rows that stay keep their elements, and new ones reuse those of others', () => {
  const slots = new Slots();
  const first = slots.give(['a', 'b', 'c']);
  assert.equal(new Set(first.values()).size, 3);
  const second = slots.give(['b', 'c', 'd', 'e']);
  assert.deepEqual([second.get('b'), second.get('c')], [first.get('b'), first.get('c')]);
  assert.equal(second.get('d'), first.get('a'));
  assert.equal(new Set(second.values()).size, 4);
  assert.deepEqual([...slots.give(['x']).keys()], ['x']);
  assert.equal(new Set(slots.give(['x', 'y', 'z']).values()).size, 3);
});

test('an event on a day of 5,000 tasks takes little work', () => {
  const people = Array.from({ length: 200 }, (_, w) => `w${w}`);
  const tasks = Array.from({ length: 5000 }, (_, i) => (i % 5 ? given(`t${i}`, people[i % 200]!) : made(`t${i}`)));
  const lists = people.map((w) => person(w, tasks.filter((t) => t.worker === w).map((t) => t.id))); // prettier-ignore
  const { records, groups, show } = opened(tasks, lists);
  let built = 0;
  const count = groups as unknown as { build: (key: string, now: number) => void };
  const build = count.build.bind(groups);
  count.build = (key, at) => {
    built++;
    build(key, at);
  };
  records.apply(wire(7, given('t1', 'w1', { timeLastModified: 2 })));
  show();
  assert.equal(built, 1);
});

test('tasks that leave a long list are not searched for one by one', () => {
  let searches = 0;
  const order = Array.from({ length: 2000 }, (_, i) => `t${i}`);
  const list = Object.assign([...order], {
    includes: () => assert.fail('the list was searched'),
    indexOf: () => assert.fail('the list was searched'),
    [Symbol.iterator]: () => (searches++, order[Symbol.iterator]()),
  });
  const { records, show, ids } = opened(order.map((id) => given(id, 'a')), [person('a', list), person('b', [])]); // prettier-ignore
  searches = 0;
  for (const id of order) records.apply(wire(7, given(id, 'b', { timeLastModified: 2 })));
  assert.deepEqual(records.conflictingLists(), [listOf('a')]);
  show();
  assert.equal(ids(listOf('b')).length, 2000);
  assert.ok(searches <= 1);
});

test('a new task does not replace the same version of it', () => {
  const { records, show, ids } = opened([], [person('a', [])]);
  records.addTask(made('x', { notes: 'first' }));
  show();
  assert.deepEqual(ids(pool), ['x']);
  records.addTask(made('x', { notes: 'again' }));
  assert.equal(records.tasks.get('x')?.notes, 'first');
  records.addTask(made('x', { notes: 'newer', timeLastModified: 2 }));
  assert.equal(records.tasks.get('x')?.notes, 'newer');
});

test('names on the map cover neither vehicles nor each other', () => {
  const taken: [number, number, number, number][] = [
    [90, 90, 110, 110],
    [130, 90, 150, 110],
  ];
  assert.equal(room(100, 100, 60, taken, 800), 24); // another vehicle is on the right
  assert.equal(room(140, 100, 60, taken, 800), 156);
  assert.equal(room(60, 100, 60, taken, 800), undefined); // a vehicle and a name
});

test('names on the map are not cut at its edge', () => {
  assert.equal(room(724, 100, 60, [], 800), 740);
  assert.equal(room(725, 100, 60, [], 800), 649);
  assert.equal(room(75, 100, 60, [[90, 90, 110, 110]], 800), undefined); // cut on the left
  assert.equal(room(50, 100, 60, [], 100), 66); // cut on both sides
  assert.equal(room(810, 100, 60, [], 800), 826); // the vehicle is not visible, either
});

test('teams, hubs and schedules are replaced, and newer positions and lists of workers stay', () => {
  const kept = person('w', ['a'], { location: [1, 2] });
  const { records, show, ids } = opened([given('a', 'w')], [kept, person('gone', [])]);
  const fresh = snapshot([], [{ ...kept, tasks: [], location: [0, 0], schedule: [[1, 2]], teams: ['u'] }]);
  fresh.teams = [{ id: 'u', name: 'Other', workers: ['w'], tasks: [] }];
  fresh.hubs = [{ id: 'h', name: 'Hub', location: [3, 4] }];
  records.replaceFleet({ ...fresh, fleet: 0 }); // older than what is shown
  assert.ok(records.teams.has('t'));
  records.replaceFleet({ ...fresh, fleet: 2 });
  show();
  assert.deepEqual([...records.teams.keys()], ['u']);
  assert.deepEqual([...records.workers.keys()], ['w']);
  assert.equal(records.hubs.get('h')?.name, 'Hub');
  const { location, schedule, teams } = records.workers.get('w')!;
  assert.deepEqual({ location, schedule, teams }, { location: [1, 2], schedule: [[1, 2]], teams: ['u'] });
  assert.deepEqual(ids('Ww'), ['a']);
  assert.equal(records.fleet, 2);
});

test('a manager of some teams no longer sees the tasks of a worker who leaves', () => {
  const done = given('a', 'gone', { state: 3, completionDetails: { success: true, time: now } });
  for (const managed of [false, true]) {
    const { records, groups, show } = opened([done, given('b', 'w')], [person('w', ['b']), person('gone', [])]);
    assert.equal(groups.counts.completed, 1);
    records.replaceFleet({ ...snapshot([], [person('w', ['b'])]), fleet: 2 }, managed);
    show();
    assert.deepEqual([...records.tasks.keys()], managed ? ['b'] : ['a', 'b']);
    assert.equal(groups.counts.completed, managed ? 0 : 1);
  }
});

test('the tasks of a worker who joins are read once', () => {
  const { records, show, ids } = opened([given('a', 'w')], [person('w', ['a'])]);
  assert.equal(records.newcomers.size, 0);
  records.apply(wire(6, undefined, person('x', ['b', 'c', 'd'])));
  assert.deepEqual([...records.newcomers], ['Wx']);
  records.apply(wire(8, given('c', 'x'))); // deleted while the snapshot, which still contains it, is being read
  records.admit(
    snapshot(
      [given('a', 'w', { notes: 'old' }), given('b', 'x'), given('c', 'x'), given('d', 'x')],
      [person('w', []), person('x', ['d', 'b', 'c'], { version: 3 })],
    ),
  );
  show();
  assert.deepEqual([...records.tasks.keys()].sort(), ['a', 'b', 'd']);
  assert.equal(records.tasks.get('a')?.notes, undefined);
  assert.deepEqual([ids('Ww'), ids('Wx')], [['a'], ['d', 'b']]);
  assert.equal(records.newcomers.size, 0);
});

test('a task from an event has the same text as in the snapshot', () => {
  const file = '../internal/lastmile/testdata/lines.json';
  const tests = JSON.parse(readFileSync(file, 'utf8')) as { address: Address; line: string }[];
  assert.ok(tests.length > 0);
  const destination = { id: 'd', location: [0, 0] as [number, number] };
  for (const { address, line } of tests) {
    assert.equal(toTask({ ...made('a'), destination: { ...destination, address } }).destination.line, line);
  }
  const notes = '🚪'.repeat(201);
  assert.equal(toTask({ ...made('a'), notes, destination: { ...destination, address: {} } }).notes, '🚪'.repeat(200));
});

test('a worker who has arrived is no longer expected', () => {
  const expected = { state: 2, estimatedArrivalTime: now };
  assert.deepEqual(arrivalOf(expected), { word: 'etaAt', time: now });
  assert.deepEqual(arrivalOf({ ...expected, arrivalTime: now - hour }), { word: 'arrivedAt', time: now - hour });
  assert.equal(arrivalOf({ ...expected, state: 3, arrivalTime: now - hour }), undefined);
  assert.equal(arrivalOf({ state: 1 }), undefined);
});

test('dropped tasks are inserted before a task that can move and is not dropped', () => {
  const { groups } = opened(
    [
      given('done', 'w', { state: 3, completionDetails: { time: now, success: true } }),
      given('active', 'w', { state: 2 }),
      ...['a', 'b', 'c'].map((id) => given(id, 'w')),
      made('free'),
    ],
    [person('w', ['a', 'b', 'c'], { activeTask: 'active' })],
  );
  groups.narrow({ ...everything, statuses: new Set(['completed', 'active', 'assigned']) }, now);
  assert.deepEqual(groups.group('Ww')?.ids, ['done', 'active', 'a', 'b', 'c']);
  const slot = (row: string, below: boolean, ...dropped: string[]) => groups.slot('Ww', row, below, dropped);
  assert.equal(slot('b', false, 'free'), 'b');
  assert.equal(slot('b', true, 'free'), 'c');
  assert.equal(slot('c', true, 'free'), '');
  assert.equal(slot('b', false, 'b'), 'c', 'on itself');
  assert.equal(slot('a', true, 'b'), 'c', 'below the row above it');
  assert.equal(slot('a', false, 'a', 'b'), 'c');
  assert.equal(slot('done', false, 'c'), 'a');
  assert.equal(slot('active', false, 'c'), 'a');
});

test('a move takes linked tasks along, and leaves out those that cannot move', () => {
  const tasks = [
    made('pickup'),
    made('drop', { dependencies: ['pickup'] }),
    given('started', 'v', { state: 2 }),
    given('a', 'w'),
    given('b', 'w'),
  ];
  const { records } = opened(tasks, [person('w', ['a', 'b']), person('v', [], { activeTask: 'started' })]);
  const move = planned(records, ['pickup', 'started', 'gone'], listOf('w'), 'b');
  assert.deepEqual(move.wanted, ['pickup', 'drop', 'started']);
  assert.deepEqual(move.free, ['pickup', 'drop']);
  assert.deepEqual([move.at, move.list], [1, ['a', 'pickup', 'drop', 'b']]);
  assert.deepEqual(planned(records, ['a'], listOf('w')).list, ['b', 'a']);
  assert.deepEqual(planned(records, ['a'], listOf('w'), 'a').list, ['b', 'a'], 'not before itself');
  assert.deepEqual(planned(records, ['a', 'pickup'], pool).free, ['a'], 'the others are in the pool already');
});

test('tasks have no position in a pool, and stay in the one where they are', () => {
  const { groups } = opened([made('free'), made('other'), given('a', 'w')], [person('w', ['a'])]);
  assert.equal(groups.slot('O', 'other', false, ['a']), '');
  assert.equal(groups.slot('O', 'other', true, ['a', 'free']), '');
  assert.equal(groups.slot('O', 'other', false, ['free']), undefined);
  assert.equal(groups.slot('O', '', false, ['free', 'other']), undefined);
});

test('an older order does not change the active task', () => {
  const { records } = opened([given('a', 'w'), given('b', 'w')], [person('w', ['a', 'b'], { version: 5 })]);
  const container = { type: 'WORKER', worker: 'w' };
  records.applyOrder({ container, activeTask: 'a', tasks: ['b'], version: 6 });
  records.applyOrder({ container, activeTask: null, tasks: ['a', 'b'], version: 5 });
  assert.equal(records.workers.get('w')?.activeTask, 'a');
  assert.deepEqual(records.list('Ww'), ['b']);
});

test('tasks and workers of the board are found by any part of their names, open tasks first', () => {
  const to = (name: string, phone = '') => ({ recipients: [{ name, phone }] });
  const { records } = opened(
    [
      made('done', { state: 3, worker: 'w', ...to('Carmen Kowalski') }),
      made('open', to('Jamal Kowalski', '+12125550123')),
      made('other', to('Ada Example')),
    ],
    [person('w', [], { name: 'Dmitri Kowal', phone: '+12125550142' })],
  );
  const found = (text: string) => {
    const { tasks, workers } = find(records, text);
    return [...tasks, ...workers].map(({ id }) => id).join();
  };
  assert.equal(found('kowal'), 'open,done,w');
  assert.equal(found('Kowalski jam'), 'open');
  assert.equal(found('555012'), 'open');
  assert.equal(found('other main'), 'other');
  assert.equal(found('k'), '', 'too short');
});
