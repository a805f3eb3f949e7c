import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listOf, pool, Records } from '../src/dashboard/board/records.ts';
import { latest, play, Tape, type History, type LogEntry } from '../src/dashboard/board/tape.ts';
import type { BoardTask, Event, Position } from '../src/dashboard/board/wire.ts';

const from = 1_000_000;
const place = { id: 'd', location: [0, 0] as [number, number], line: 'Main Street' };

const task = (id: string, more: Partial<BoardTask> = {}): BoardTask => ({
  id,
  shortId: id,
  state: 0,
  timeLastModified: from,
  container: { type: 'ORGANIZATION', organization: 'o' },
  destination: place,
  ...more,
});

const history = (created: BoardTask[] = []): History => ({
  board: {
    cursor: 4,
    fleet: 0,
    date: '2026-11-16',
    from,
    to: from + 86_400_000,
    timezone: 'UTC',
    organization: { id: 'o', name: 'Acme' },
    teams: [],
    hubs: [],
    workers: [{ id: 'w', name: 'Ada', phone: '', teams: [], onDuty: true, tasks: ['a', 'b'] }],
    tasks: ['a', 'b'].map((id) => task(id, { state: 1, worker: 'w', container: { type: 'WORKER', worker: 'w' } })),
    truncated: false,
  },
  lastEvent: 9,
  storedSince: 0,
  created,
});

const api = (id: string, time: number, more: object) => ({
  ...task(id, { timeLastModified: time }),
  destination: { id: 'd', location: [0, 0], address: { street: 'Main Street' } },
  metadata: [{ name: 'long', value: 'x'.repeat(1000) }],
  ...more,
});

const entry = (number: number, time: number, triggerId: number, data: object): LogEntry =>
  ({
    number,
    timeStored: time,
    event: { taskId: 'a', workerId: null, actionContext: null, triggerId, triggerName: 't', time, data },
  }) as unknown as LogEntry;

const worker = (tasks: string[], activeTask: string | null) => ({ id: 'w', name: 'Ada', phone: '', teams: [], onDuty: true, tasks, activeTask }); // prettier-ignore

test('a moment of a day is its beginning with the events up to that moment', () => {
  const tape = new Tape(history([task('c', { timeCreated: from + 25, timeLastModified: from + 25 })]));
  const own = { container: { type: 'WORKER', worker: 'w' }, worker: 'w' };
  tape.add([
    entry(5, from + 10, 9, { task: api('a', from + 10, { ...own, state: 1 }), worker: worker(['b', 'a'], null) }),
    entry(6, from + 20, 0, { task: api('b', from + 20, { ...own, state: 2 }), worker: worker(['a'], 'b') }),
  ]);
  tape.add([entry(7, from + 15, 8, { task: api('a', from + 30, own) })]); // by a clock that is slow
  tape.end();
  assert.deepEqual(tape.entries.map((e) => e.time - from), [10, 20, 20, 25]); // prettier-ignore
  assert.deepEqual([from, from + 10, from + 20, from + 99].map((t) => tape.at(t)), [0, 1, 3, 4]); // prettier-ignore
  assert.ok(!JSON.stringify(tape.entries).includes('metadata'));

  const records = new Records();
  records.clock = () => from + 50;
  records.load(tape.history.board);
  play(records, tape.entries[0]!);
  assert.deepEqual(records.list(listOf('w')), ['b', 'a']);
  play(records, tape.entries[1]!);
  assert.deepEqual([records.list(listOf('w')), records.workers.get('w')!.activeTask], [['a'], 'b']);
  play(records, tape.entries[2]!);
  play(records, tape.entries[3]!);
  assert.deepEqual([...records.tasks.keys()], ['b', 'c']);
  assert.deepEqual(records.list(pool), ['c']);
});

test('an event keeps the fields of a task that the board shows', () => {
  const tape = new Tape(history());
  const done = api('a', from + 10, { state: 3, worker: 'w', container: null, notes: 'Ring', recipients: [{ name: 'Mary', phone: '+1', notes: '' }], completionDetails: { success: false, time: from + 9, failureReason: 'NO_ACCESS', events: [{ name: 'start', time: from + 3 }, { name: 'arrival', time: from + 5 }] } }); // prettier-ignore
  const whole = new Records();
  const replayed = new Records();
  const event = entry(5, from + 10, 4, { task: done }).event as Event;
  tape.add([{ number: 5, timeStored: from + 10, event }]);
  for (const records of [whole, replayed]) records.load(tape.history.board);
  whole.apply(event);
  play(replayed, tape.entries[0]!);
  assert.deepEqual(replayed.tasks.get('a'), whole.tasks.get('a'));
  assert.equal(replayed.tasks.get('a')!.startTime, from + 3);
  assert.equal(replayed.tasks.get('a')!.arrivalTime, from + 5);
});

test('of many positions, the last one up to the time counts', () => {
  const at = (worker: string, time: number): Position => ({ worker, time, location: [time, 0] });
  const all = [at('v', 1), at('w', 2), at('v', 5), at('w', 9)];
  assert.deepEqual(latest(all, 0, 5).map((p) => [p.worker, p.time]), [['v', 5], ['w', 2]]); // prettier-ignore
  assert.deepEqual(latest(all, 2, 9).map((p) => p.time), [5, 9]); // prettier-ignore
});

test('the places of a day are the destinations of all its tasks', () => {
  const at = (lon: number) => ({ ...place, location: [lon, 0] as [number, number] });
  const tape = new Tape(history([task('c', { timeCreated: from + 25, destination: at(1) })]));
  tape.add([entry(5, from + 10, 9, { task: api('d', from + 10, { destination: { ...at(2), address: {} } }) })]);
  tape.end();
  assert.deepEqual(tape.places(() => true), [[0, 0], [0, 0], [2, 0], [1, 0]]); // prettier-ignore
  assert.deepEqual(tape.places(({ worker }) => !worker), [[2, 0], [1, 0]]); // prettier-ignore
});
