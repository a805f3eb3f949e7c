import assert from 'node:assert/strict';
import { test } from 'node:test';
import { obstacle, overlay, settle } from '../src/driver/overlay.ts';
import type { Item } from '../src/driver/queue.ts';
import { decoded, encoded, streetLine, title, townLine, type Task, type WorkList } from '../src/driver/wire.ts';
import { reader } from '../src/driver/stream.ts';
import { distance, fit, marked, project, round, unproject } from '../src/map/project.ts';

function task(id: string, more: Partial<Task> = {}): Task {
  return {
    id,
    shortId: id,
    state: 1,
    dependencies: [],
    recipients: [],
    overrides: { recipientName: null, recipientNotes: null },
    destination: { location: [0, 0], address: {}, notes: '' },
    ...more,
  } as unknown as Task;
}

const list = (active: string | null, ...tasks: Task[]): WorkList => ({ version: 1, activeTask: active, tasks });
const did = (kind: Item['kind'], id: string, more: Partial<Item> = {}): Item => ({
  id: kind + id,
  worker: 'w',
  order: 1,
  made: 1,
  kind,
  task: id,
  label: '',
  body: {},
  files: [],
  ...more,
});
const none = new Set<string>();

test('actions made offline are shown at once', () => {
  const before = list(null, task('a'), task('b'));
  const duty = did('duty', '', { body: { onDuty: true } });
  const started = overlay(before, false, [duty, did('start', 'b')], none);
  assert.equal(started.onDuty, true);
  assert.equal(started.active, 'b');
  assert.deepEqual(
    started.open.map((s) => [s.task.id, s.task.state, s.pending]),
    [
      ['b', 2, true],
      ['a', 1, false],
    ],
  );
  const ended = overlay(before, false, [duty, did('start', 'b'), did('arrive', 'b'), did('complete', 'b')], none);
  assert.equal(ended.active, null);
  assert.deepEqual(
    ended.open.map((s) => s.task.id),
    ['a'],
  );
  assert.deepEqual(
    ended.done.map((s) => [s.task.id, s.arrived]),
    [['b', true]],
  );
});

test('an arrival that another phone reported counts, until the task is started again', () => {
  const arrived = (...names: string[]) => {
    const events = names.map((name, time) => ({ name, time }));
    const started = task('a', { state: 2, completionDetails: { time: null, failureReason: 'NONE', events } });
    return overlay(list('a', started), true, [], none).open[0]?.arrived;
  };
  assert.equal(arrived('start'), false);
  assert.equal(arrived('start', 'arrival'), true);
  assert.equal(arrived('start', 'arrival', 'start'), false);
});

test('actions that the server accepted stay applied before the list is reloaded', () => {
  const before = list('b', task('a'), task('b', { state: 2 }));
  const ended = settle(before, did('complete', 'b'));
  assert.deepEqual([ended.activeTask, ended.tasks.map((t) => t.id)], [null, ['a']]);
  const started = settle(ended, did('start', 'a'));
  assert.deepEqual([started.activeTask, started.tasks[0]?.state], ['a', 2]);
  assert.equal(settle(started, did('arrive', 'a')), started);
  assert.equal(settle(started, did('start', 'gone')), started);
});

test('rejected actions, and actions on tasks that are gone, are not shown', () => {
  const view = overlay(
    list(null, task('a')),
    true,
    [did('start', 'a', { rejection: 'no' }), did('start', 'gone')],
    none,
  );
  assert.equal(view.active, null);
  assert.equal(view.open[0]?.pending, false);
});

test('a task cannot be started off duty, during another, or before its dependencies', () => {
  const [a, b] = [task('a'), task('b', { dependencies: ['a'] })];
  assert.equal(obstacle(overlay(list(null, a, b), false, [], none), a), 'offDuty');
  assert.equal(obstacle(overlay(list('a', a, b), true, [], none), b), 'otherActive');
  assert.equal(obstacle(overlay(list(null, a, b), true, [], none), b), 'blocked');
  assert.equal(obstacle(overlay(list(null, a, b), true, [], none), a), undefined);
  const after = overlay(list(null, a, b), true, [did('start', 'a'), did('complete', 'a')], none);
  assert.equal(obstacle(after, b), undefined);
});

test('titles and addresses are built from the fields that are set', () => {
  const address = { number: '5', street: 'Main St', apartment: '2B', city: 'Troy', state: 'NY', postalCode: '12180' };
  assert.equal(streetLine(address), '5 Main St, 2B');
  assert.equal(townLine(address), 'Troy, NY 12180');
  assert.equal(streetLine({ name: 'Harbour' }), 'Harbour');
  assert.equal(townLine({ city: 'Troy\u202E', state: '\u2069NY' }), 'Troy, NY');
  assert.equal(title(task('x')), 'x');
  assert.equal(title(task('x', { overrides: { recipientName: 'Ada', recipientNotes: null } })), 'Ada');
});

test('barcodes survive the conversion to base64 and back', () => {
  for (const text of ['ABC-123', 'žluťoučký', '']) assert.equal(decoded(encoded(text)), text);
  assert.equal(decoded('not base64!'), 'not base64!');
});

test('a stream is parsed however it is split into chunks', () => {
  const text = ': hello\n\nid: 7\nevent: taskUpdated\ndata: {"a":\ndata: 1}\n\ndata:x\r\n\r\nevent: none\n\n';
  for (const step of [1, 2, 3, 7, text.length]) {
    const read = reader();
    const got = [];
    for (let i = 0; i < text.length; i += step) got.push(...read(text.slice(i, i + step)));
    assert.deepEqual(got, [
      { id: '7', event: 'taskUpdated', data: '{"a":\n1}' },
      { event: 'message', data: 'x' },
    ]);
  }
});

test('unproject is the inverse of project', () => {
  for (const point of [
    [0, 0],
    [-73.98, 40.75],
    [179, -60],
  ] as const) {
    const [lon, lat] = unproject(project(point));
    assert.ok(Math.abs(lon - point[0]) < 1e-9 && Math.abs(lat - point[1]) < 1e-9);
  }
  const edge = { top: 50, right: 50, bottom: 150, left: 50 };
  const view = fit([project([-74, 40.7]), project([-73.9, 40.8])], 400, 600, edge, 16);
  assert.ok(view.zoom > 10 && view.zoom < 14);
  assert.equal(fit([project([1, 1])], 400, 600, edge, 15).zoom, 15);
  assert.deepEqual([round(130), round(4999), round(0.3)], [100, 2000, 0.2]);
  assert.ok(Math.abs(distance([0, 0], [0, 1]) - 111_319) < 200);
});

test('the scale has the units of the country', () => {
  assert.deepEqual(marked(900, false), [500, '500 m']);
  assert.deepEqual(marked(2500, false), [2000, '2 km']);
  const [feet, name] = marked(900, true);
  assert.equal(name, '2000 ft');
  assert.equal(Math.round(feet), 610);
  assert.equal(marked(1700, true)[1], '1 mi');
});
