import './runes.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { offer, originsOf, place, uncreate, undo, unedit } from '../src/dashboard/board/actions.ts';
import { board } from '../src/dashboard/board/board.svelte.ts';
import { app } from '../src/dashboard/app.svelte.ts';
import type { FullTask } from '../src/dashboard/board/full.ts';
import type { HistoryEntry } from '../src/dashboard/board/taskhistory.ts';
import { Saving } from '../src/dashboard/board/saving.ts';
import type { BoardTask, BoardWorker, Snapshot } from '../src/dashboard/board/wire.ts';
import en from '../src/dashboard/words/en.ts';
import type { Me } from '../src/dashboard/wire.ts';

app.words = en;
app.me = { id: 'me', type: 'super', isReadOnly: false, organization: { timezone: 'UTC' } } as Me;

const task = (id: string, more: Partial<BoardTask> = {}): BoardTask => ({
  id,
  shortId: id,
  state: 0,
  timeLastModified: 1,
  container: { type: 'ORGANIZATION', organization: 'org' },
  destination: { id: `d${id}`, location: [0, 0], line: `${id} Main Street` },
  ...more,
});
const given = (id: string, worker: string, more: Partial<BoardTask> = {}): BoardTask =>
  task(id, { state: 1, worker, container: { type: 'WORKER', worker }, ...more });

// show puts tasks and the lists of workers on the board.
function show(tasks: BoardTask[], lists: Record<string, string[]>) {
  const worker = { phone: '', teams: [], onDuty: true };
  const workers: BoardWorker[] = Object.entries(lists).map(([id, tasks]) => ({ ...worker, id, name: id, tasks }));
  const from = Date.now() - 3_600_000;
  const day = { date: '2026-11-18', from, to: from + 86_400_000, timezone: 'UTC', truncated: false };
  const organization = { id: 'org', name: 'Org' };
  const snapshot: Snapshot = { ...day, cursor: '7', fleet: 1, organization, teams: [], hubs: [], workers, tasks };
  board.records.load(snapshot);
  board.show();
}

globalThis.fetch = async () => new Response('{}', { status: 503 });

test('nothing is undone while a past day is shown', async () => {
  let undone = 0;
  offer('Moved', async () => ++undone > 0);
  board.openPast('2026-11-16');
  await undo();
  await app.undo(); // of the message
  assert.equal(undone, 0);
  board.closePast();
  await undo();
  assert.equal(undone, 1);
});

// serve responds to requests from a table, and returns those that were sent.
function serve(responses: Record<string, unknown>): string[] {
  const sent: string[] = [];
  globalThis.fetch = async (path, init) => {
    const key = `${init?.method} ${String(path).replace('/api/v2', '')}`;
    sent.push(init?.body ? `${key} ${String(init.body)}` : key);
    return Response.json(responses[key] ?? {}, { status: key in responses ? 200 : 404 });
  };
  return sent;
}

const full = (more: Partial<FullTask>) => ({ id: 't', timeLastModified: 5, state: 0, notes: '', ...more }) as FullTask;
const entry = (type: HistoryEntry['actor']['type'], id: string, time: number) =>
  ({ time, timeRecorded: time + 1, actor: { type, id, name: `Name of ${id}` } }) as HistoryEntry;
const paths = { read: 'GET /tasks/t', history: 'GET /tasks/t/history', remove: 'DELETE /tasks/t' };

test('a change is undone after the undos before it have ended', async () => {
  const steps: string[] = [];
  const ends: (() => void)[] = [];
  for (const name of ['first', 'second', 'third']) {
    offer(name, async () => {
      steps.push(`begins with ${name}`);
      await new Promise<void>((resolve) => ends.push(resolve));
      steps.push(`ends with ${name}`);
      if (name === 'second') throw new Error('it fails');
      return true;
    });
  }
  const all = Promise.allSettled([undo(), undo(), undo()]);
  while (steps.length < 6) {
    await new Promise((resolve) => setTimeout(resolve));
    ends.shift()?.();
  }
  await all;
  const each = (name: string) => [`begins with ${name}`, `ends with ${name}`];
  assert.deepEqual(steps, ['third', 'second', 'first'].flatMap(each));
});

test('changes that could not be undone without a connection are undone in the same order later', async () => {
  const undone: string[] = [];
  for (const name of ['first', 'second', 'third'])
    offer(name, async () => {
      if (!app.lost) undone.push(name);
      return !app.lost;
    });
  app.lost = true;
  await Promise.all([undo(), undo(), undo()]);
  app.lost = false;
  for (let n = 0; n < 3; n++) await undo();
  assert.deepEqual(undone, ['third', 'second', 'first']);
});

test('a task that was created is deleted only if nobody else has changed it', async () => {
  let sent = serve({ [paths.read]: full({}), [paths.remove]: {} });
  assert.equal(await uncreate(full({})), true);
  assert.deepEqual(sent, [paths.read, paths.remove]);

  const mine = [entry('system', '', 8), entry('recipient', '', 7), entry('admin', 'me', 6), entry('admin', 'me', 5)];
  const now = full({ timeLastModified: 8 });
  sent = serve({ [paths.read]: now, [paths.history]: { entries: mine }, [paths.remove]: {} });
  assert.equal(await uncreate(full({})), true);
  assert.deepEqual(sent, [paths.read, paths.history, paths.remove]);

  const entries = [...mine.slice(0, 3), entry('admin', 'grace', 6), ...mine.slice(3)];
  sent = serve({ [paths.read]: now, [paths.history]: { entries }, [paths.remove]: {} });
  assert.equal(await uncreate(full({})), false);
  assert.deepEqual(sent, [paths.read, paths.history]);
  assert.match(app.toasts.at(-1)!.text, /changed by Name of grace/);
});

test('an edit is taken back only if nobody else has changed the same fields', async () => {
  const saved = full({ notes: 'mine', quantity: 2 });
  const put = 'PUT /tasks/t';
  let sent = serve({ [paths.read]: { ...saved, timeLastModified: 6, quantity: 3 }, [put]: {} });
  assert.equal(await unedit(saved, { notes: '' }), true, 'another field');
  assert.deepEqual(sent, [paths.read, `${put} {"notes":""}`]);

  const entries = [entry('key', 'shop', 6), entry('admin', 'me', 5), entry('admin', 'grace', 4)];
  sent = serve({ [paths.read]: { ...saved, timeLastModified: 6, notes: 'other' }, [paths.history]: { entries } });
  assert.equal(await unedit(saved, { notes: '' }), false);
  assert.deepEqual(sent, [paths.read, paths.history]);
  assert.match(app.toasts.at(-1)!.text, /changed by Name of shop/);

  const own = { [paths.history]: { entries: entries.slice(1) }, [put]: {} };
  sent = serve({ [paths.read]: { ...saved, timeLastModified: 6, notes: 'mine too' }, ...own });
  assert.equal(await unedit(saved, { notes: '' }), true, 'nobody else');

  sent = serve({ [paths.read]: { ...saved, state: 2 }, [put]: {} });
  assert.equal(await unedit(saved, { quantity: 1 }), false, 'the server would ignore it');
  assert.deepEqual(sent, [paths.read]);
  assert.match(app.toasts.at(-1)!.text, /only its notes can be changed/);
  assert.equal(await unedit(saved, { notes: '' }), true);
});

test('an edit of a task that has started meanwhile is not reported as saved', async () => {
  const put = 'PUT /tasks/t';
  let sent = serve({ [paths.read]: full({ state: 2 }), [put]: full({ state: 2 }) });
  await assert.rejects(new Saving(full({ state: 1 })).save({ notes: 'mine', quantity: 2 }), /only its notes/);
  assert.deepEqual(sent, [paths.read]);
  await new Saving(full({ state: 1 })).save({ notes: 'mine' });
  assert.equal(sent.at(-1), `${put} {"notes":"mine"}`);
  sent = serve({ [paths.read]: full({ state: 3 }), [put]: full({ state: 3 }) });
  await assert.rejects(new Saving(full({ state: 1 })).save({ notes: 'mine' }), /It is completed/);
  assert.deepEqual(sent, [paths.read]);
});

test('an edit replaces what others have changed meanwhile only if it is saved again', async () => {
  const put = 'PUT /tasks/t';
  const entries = [entry('admin', 'grace', 6)];
  const seen = full({ notes: 'old', quantity: 2 });
  let sent = serve({ [paths.read]: { ...seen, timeLastModified: 6, quantity: 3 }, [put]: { id: 't' } });
  let saving = new Saving(seen);
  assert.deepEqual(await saving.save({ notes: 'mine' }), { id: 't' });
  assert.deepEqual(sent, [paths.read, `${put} {"notes":"mine"}`]);
  assert.equal(saving.replaces, false);

  // The drawer may not have the person's own last change yet.
  const mine = { [paths.history]: { entries: [entry('admin', 'me', 6), entry('key', 'shop', 5)] }, [put]: { id: 't' } };
  sent = serve({ [paths.read]: { ...seen, timeLastModified: 6, notes: 'mine' }, ...mine });
  assert.deepEqual(await new Saving(seen).save({ notes: 'mine too' }), { id: 't' });
  assert.deepEqual(sent, [paths.read, paths.history, `${put} {"notes":"mine too"}`]);

  sent = serve({
    [paths.read]: { ...seen, timeLastModified: 6, notes: 'theirs' },
    [paths.history]: { entries },
    [put]: {},
  });
  saving = new Saving(seen);
  await assert.rejects(saving.save({ notes: 'mine' }), /changed by Name of grace since .*: notes/);
  assert.deepEqual(sent, [paths.read, paths.history]);
  await saving.save({ notes: 'mine' });
  assert.deepEqual(sent.slice(2), [paths.read, `${put} {"notes":"mine"}`]);
  assert.equal(saving.replaces, true);
});

test('a conflict names each of several who have changed the same field once', async () => {
  const seen = full({ notes: 'old' });
  const noted = (id: string, time: number) => ({ ...entry('admin', id, time), changed: ['notes'] });
  const entries = [noted('grace', 9), noted('me', 8), noted('ada', 7), noted('grace', 6), noted('rosa', 4)];
  serve({ [paths.read]: { ...seen, timeLastModified: 9, notes: 'theirs' }, [paths.history]: { entries } });
  await assert.rejects(new Saving(seen).save({ notes: 'mine' }), /changed by Name of grace and Name of ada since/);
  assert.equal(await unedit(seen, { notes: '' }), false);
  assert.match(app.toasts.at(-1)!.text, /changed by Name of grace and Name of ada\./);
  assert.equal(await uncreate(full({})), false);
  assert.match(app.toasts.at(-1)!.text, /changed by Name of grace, Name of ada, and Name of rosa\./);
});

test('a conflict names who has changed the same field, not who has changed the task last', async () => {
  const seen = full({ notes: 'old' });
  const now = { [paths.read]: { ...seen, timeLastModified: 8, notes: 'theirs' }, 'PUT /tasks/t': {} };
  const assigned = { ...entry('key', 'shop', 8), changed: ['worker', 'state', 'container'] };
  const noted = { ...entry('admin', 'grace', 7), changed: ['notes', 'quantity'] };
  serve({ ...now, [paths.history]: { entries: [assigned, noted] } });
  await assert.rejects(new Saving(seen).save({ notes: 'mine' }), /changed by Name of grace since .*: notes/);

  serve({ ...now, [paths.history]: { entries: [{ ...assigned, changed: null }, noted] } });
  await assert.rejects(
    new Saving(seen).save({ notes: 'mine' }),
    /changed by Name of shop .API key. and Name of grace since/,
    'perhaps the same field',
  );

  const sent = serve({ ...now, [paths.history]: { entries: [assigned, { ...noted, actor: entry('admin', 'me', 7).actor }] } }); // prettier-ignore
  await new Saving(seen).save({ notes: 'mine' });
  assert.equal(sent.length, 3, 'only the person has changed the field');

  const recipient = (name: string) => ({ recipients: [{ id: 'r', name, phone: '+1', notes: '' }] });
  const renamed = { ...noted, triggerName: 'taskUpdated', changed: [] }; // the recipient is the same record
  serve({ [paths.read]: full({ timeLastModified: 8, ...recipient('Anna') }), [paths.history]: { entries: [assigned, renamed] } }); // prettier-ignore
  await assert.rejects(
    new Saving(full(recipient('Ann'))).save({ recipients: [] }),
    /changed by Name of grace since .*: recip/,
  );
});

test('a recipient who was changed without the task is a change of others', async () => {
  const put = 'PUT /tasks/t';
  const person = (name: string, timeLastModified: number) => ({
    id: 'r',
    name,
    phone: '+1',
    notes: '',
    timeLastModified,
  });
  const seen = full({ recipients: [person('Ann', 5)] });
  const [mine, back] = [{ recipients: [{ name: 'Annie', phone: '+1' }] }, { recipients: [{ name: 'A', phone: '+1' }] }];
  const old = [entry('key', 'shop', 5)];
  const state = (name: string, entries: HistoryEntry[]) =>
    serve({ [paths.read]: full({ recipients: [person(name, 6)] }), [paths.history]: { entries }, [put]: {} });

  let sent = state('Anna', [entry('system', '', 6), ...old]);
  const saving = new Saving(seen);
  await assert.rejects(saving.save(mine), /changed by someone since .*: recipient/);
  await saving.save(mine);
  assert.deepEqual(sent.slice(2), [paths.read, `${put} ${JSON.stringify(mine)}`]);
  assert.equal(await unedit(seen, back), false);
  assert.match(app.toasts.at(-1)!.text, /recipient was changed/);
  assert.equal(await unedit(seen, { notes: '' }), true, 'another field');

  sent = state('Anna', [entry('admin', 'me', 6), ...old]);
  await new Saving(seen).save(mine); // the person has changed it here before
  assert.equal(sent.length, 3);
  sent = state('Ann', old);
  await new Saving(seen).save(mine); // only the time of the recipient is another
  assert.equal(sent.length, 3);
});

test('the origins of tasks are their lists and positions', () => {
  show([task('p'), given('a', 'x'), given('b', 'x'), given('c', 'y')], { x: ['a', 'b'], y: ['c'] });
  board.records.list = (
    (list) => (key) =>
      Object.assign([...list(key)], { indexOf: () => assert.fail('searched') })
  )(board.records.list.bind(board.records));
  assert.deepEqual(originsOf(['c', 'b', 'gone', 'p', 'a']), [
    { id: 'c', key: 'Wy', at: 0 },
    { id: 'b', key: 'Wx', at: 1 },
    { id: 'p', key: 'O', at: 0 },
    { id: 'a', key: 'Wx', at: 0 },
  ]);
  Reflect.deleteProperty(board.records, 'list');
});

test('a change that is under way is undone once it has ended', async () => {
  show([task('t')], { ada: [] });
  const sent: string[] = [];
  let end = () => {};
  globalThis.fetch = async (path, init) => {
    sent.push(`${init?.method} ${String(path)} ${String(init?.body)}`);
    if (sent.length === 1) await new Promise<void>((resolve) => (end = resolve));
    const assigned = sent.length === 1;
    return Response.json(
      assigned ? { type: 'WORKER', worker: 'ada', tasks: ['t'] } : { type: 'ORGANIZATION', tasks: ['t'] },
    );
  };
  let older = 0;
  offer('Moved', async () => ++older > 0);
  const moved = place(['t'], 'Wada');
  const undone = app.undo();
  end();
  await Promise.all([moved, undone]);
  assert.equal(older, 0);
  assert.equal(sent.length, 2);
  assert.match(sent[1]!, /organizations\/org/);
});
