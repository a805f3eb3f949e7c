import './runes.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { app } from '../src/dashboard/app.svelte.ts';
import { board } from '../src/dashboard/board/board.svelte.ts';
import { columns, rowsOf, usual } from '../src/dashboard/board/columns.ts';
import type { BoardTask, Snapshot } from '../src/dashboard/board/wire.ts';
import type { Me } from '../src/dashboard/wire.ts';
import en from '../src/dashboard/words/en.ts';

const hour = 3_600_000;
const from = Date.parse('2026-11-18T00:00Z');

app.me = { id: 'me', type: 'super', isReadOnly: false, organization: { timezone: 'UTC' } } as Me;
app.words = en;
app.locale = 'en-GB';

const task = (id: string, name: string, at: number): BoardTask => ({
  id,
  shortId: id,
  state: 0,
  timeLastModified: 1,
  completeAfter: from + at * hour,
  completeBefore: from + (at + 1) * hour,
  container: { type: 'ORGANIZATION', organization: 'org' },
  destination: { id: `d${id}`, location: [0, 0], line: 'Main Street' },
  recipients: [{ name, phone: '' }],
});

function show(tasks: BoardTask[], start = from) {
  const day = { date: '2026-11-18', from: start, to: start + 24 * hour, timezone: 'UTC', truncated: false };
  const organization = { id: 'org', name: 'Org' };
  const snapshot: Snapshot = { ...day, cursor: '7', fleet: 1, organization, teams: [], hubs: [], workers: [], tasks };
  board.records.clock = () => start;
  board.records.load(snapshot);
  board.show();
}

test('windows are formatted once, until they, the day or the language change', (t) => {
  const asked = t.mock.method(Intl.DateTimeFormat.prototype, 'resolvedOptions').mock;
  const said = t.mock.method(app, 'say').mock;
  const { text } = columns.find((c) => c.name === 'window')!;
  const { completeAfter: _, ...open } = task('c', 'Cy', 12);
  const tasks = [task('a', 'Ada', 10), task('b', 'Bob', 11), open];
  show(tasks);
  assert.deepEqual(tasks.map(text), ['10:00–11:00', '11:00–12:00', 'by 13:00']);
  const { length } = said.calls;
  tasks.forEach(text);
  assert.equal(said.calls.length, length, 'not again');
  assert.ok(asked.callCount() <= 1, 'per format');
  assert.deepEqual(rowsOf({ ...usual, filters: { window: '11:00–' } }).map((r) => r.id), ['b']); // prettier-ignore
  app.locale = 'en-US';
  assert.match(text(tasks[0]!), /10:00.*11:00.*AM/);
  app.locale = 'en-GB';
  assert.equal(text({ ...tasks[0]!, completeBefore: from + 12 * hour }), '10:00–12:00');
  show(tasks, from - 24 * hour);
  assert.match(text(tasks[0]!), /18 Nov/);
});

test('rows that are almost sorted are compared few times, and ties keep their order', (t) => {
  const names = Array.from({ length: 500 }, (_, i) => `Name ${(i * 7919) % 250}`);
  const tasks = names.map((name, i) => task(`t${i}`, name, i % 20));
  show(tasks);
  let compared = 0;
  const { Collator } = Intl;
  t.mock.method(Intl, 'Collator', function (...args: [string, Intl.CollatorOptions]) {
    const { compare } = new Collator(...args);
    return { compare: (a: string, b: string) => (compared++, compare(a, b)) };
  });
  const ids = (down = false) => rowsOf({ ...usual, sort: 'recipient', down }).map((r) => r.id);
  const fresh = (down = false) => {
    const { compare } = new Collator(app.locale, { numeric: true });
    const name = (t: BoardTask) => t.recipients![0]!.name;
    return [...board.records.tasks.values()]
      .sort((a, b) => (down ? -1 : 1) * compare(name(a), name(b)))
      .map((t) => t.id);
  };
  assert.deepEqual(ids(), fresh());
  const first = compared;
  board.records.setTask({ ...task('t7', 'Name 9', 3), timeLastModified: 2 });
  board.records.removeTask('t8');
  board.records.setTask(task('new', 'Name 9', 3));
  compared = 0;
  assert.deepEqual(ids(), fresh());
  assert.ok(compared < first / 2, `${compared} of ${first}`);
  assert.deepEqual(ids(true), fresh(true));
});
