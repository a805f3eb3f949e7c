import './runes.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { app } from '../src/dashboard/app.svelte.ts';
import { board } from '../src/dashboard/board/board.svelte.ts';
import type { BoardTask, Snapshot } from '../src/dashboard/board/wire.ts';
import type { Me } from '../src/dashboard/wire.ts';

const hour = 3_600_000;
const midnight = Date.parse('2026-11-19T00:00Z');
const dueAt = midnight - 60_000;

app.me = { id: 'me', type: 'super', isReadOnly: false, organization: { timezone: 'UTC' } } as Me;

const asked: string[] = []; // the days that were read
globalThis.fetch = async (input) => {
  const path = String(input);
  if (!path.startsWith('/api/v2/board')) return new Promise<Response>(() => {}); // the stream
  const date = new URL(path, 'http://dray').searchParams.get('date') ?? '';
  asked.push(date);
  const from = Date.parse(`${date || new Date(Date.now()).toISOString().slice(0, 10)}T00:00Z`);
  const task: BoardTask = {
    id: 'task',
    shortId: 'task',
    state: 0,
    timeLastModified: 1,
    completeBefore: dueAt,
    container: { type: 'ORGANIZATION', organization: 'org' },
    destination: { id: 'd', location: [0, 0], line: 'Main Street' },
  };
  const snapshot: Snapshot = {
    cursor: '7',
    fleet: 1,
    date: new Date(from).toISOString().slice(0, 10),
    from,
    to: from + 24 * hour,
    timezone: 'UTC',
    organization: { id: 'org', name: 'Org' },
    teams: [],
    hubs: [],
    workers: [],
    tasks: [task],
    truncated: false,
  };
  return Response.json(snapshot);
};

const pause = () => new Promise((resolve) => setTimeout(resolve, 20));

async function until(holds: () => boolean) {
  for (let i = 0; i < 100 && !holds(); i++) await pause();
  assert.ok(holds());
}

test('tasks turn late in all views as time passes', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'Date'], now: midnight - 120_000 });
  const leave = board.use();
  await until(() => board.ready);
  const seen: string[] = [];
  const ignore = board.watch(({ all, tasks }) => seen.push(...(all ? ['all'] : tasks)));
  t.mock.timers.tick(30_000);
  await pause();
  assert.deepEqual(seen, []);
  t.mock.timers.tick(60_000);
  await until(() => seen.length > 0);
  assert.deepEqual(seen, ['task'], 'it is late now');
  assert.equal(board.groups.counts.late, 1);
  ignore();
  leave();
  board.closePast();
});

test('a day that was opened in advance is today when it begins', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'Date'], now: midnight - 120_000 });
  const leave = board.use();
  board.choose('2026-11-19');
  await until(() => board.ready);
  asked.length = 0;
  t.mock.timers.tick(150_000);
  await pause();
  assert.deepEqual(asked, [], 'the server’s clock may be behind');
  t.mock.timers.tick(30_000);
  await until(() => asked.length > 0);
  assert.deepEqual(asked, ['']);
  assert.deepEqual([board.date, board.renewed, board.ready], ['', true, true]);
  board.choose('2026-11-19');
  assert.deepEqual([board.date, board.renewed], ['', false]);
  leave();
  board.closePast();
});

test('yesterday stays yesterday if it is opened right after midnight', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'Date'], now: midnight - 20_000 });
  const leave = board.use();
  await until(() => board.ready);
  asked.length = 0;
  t.mock.timers.tick(21_000);
  await until(() => asked.length > 0);
  assert.deepEqual(asked, [''], 'today is read as soon as it begins');
  await until(() => board.ready);
  board.shift(-1);
  t.mock.timers.tick(120_000);
  await until(() => board.ready);
  assert.deepEqual(asked, ['', '2026-11-18']);
  assert.equal(board.date, '2026-11-18');
  leave();
  board.closePast();
});
