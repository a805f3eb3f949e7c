// Actions of a dispatcher on tasks. A change is shown at once, and taken back with the
// reason if the server rejects it. Most changes can be undone.

import { call, Failure } from '../api.ts';
import { app } from '../app.svelte.ts';
import { listed } from '../format.ts';
import { confirm } from '../ui/confirm.svelte.ts';
import { board, type Outcome } from './board.svelte.ts';
import { lockOf } from './edit.ts';
import type { FullTask } from './full.ts';
import { authorOf, type HistoryEntry, type TaskHistory } from './taskhistory.ts';
import { obstacleOf, planned } from './moves.ts';
import { changedFields, byOthers, renamedElsewhere } from './others.ts';
import { listOf, pool, workerOf, type ListKey } from './records.ts';
import { toTask, type ApiTask, type BoardTask, type ListChange } from './wire.ts';

// Changed is the server's response to a change of a list.
interface Changed extends Omit<ListChange, 'container'> {
  type: string;
  worker?: string;
  team?: string;
  timeLastModified: number;
}

const maxUndo = 50;
let undos: Undo[] = []; // oldest first
let changes = 0;

// Undo takes back a change.
interface Undo {
  number: number; // of the change
  run: () => Promise<boolean>;
}

// undo takes back the last change, even if its message is no longer shown.
export async function undo() {
  if (undos.length > 0 && !mayUndo()) return;
  const last = undos.pop();
  if (!last) app.toast(app.say('nothingToUndo'));
  else if (await takeBack(last)) app.toast(app.say('undone'));
}

// mayUndo reports whether changes can be undone now. A past day cannot be changed, and nor can
// the present while it is shown.
function mayUndo(): boolean {
  if (!board.mayChange) app.toast(app.say('readOnlyReplay'));
  return board.mayChange;
}

let undoing: Promise<unknown> = Promise.resolve(); // ends with the last undo

// takeBack undoes a change after the undos before it, which may be of the same task. Without a
// connection, it can be tried again later.
async function takeBack(undo: Undo): Promise<boolean> {
  const ended = undoing.then(() => attempt(undo));
  undoing = ended.catch(() => {});
  return await ended;
}

async function attempt(undo: Undo): Promise<boolean> {
  let done = false;
  try {
    done = await undo.run();
  } finally {
    if (!done && app.lost) undos = [...undos, undo].sort((a, b) => a.number - b.number);
  }
  return done;
}

// offer shows what was done, and offers to undo it.
export function offer(text: string, run: () => Promise<boolean>) {
  const undo = { number: ++changes, run };
  undos = [...undos, undo].slice(-maxUndo);
  app.toast(text, async () => {
    if (!mayUndo()) return false;
    undos = undos.filter((u) => u !== undo);
    return await takeBack(undo);
  });
}

// nameOf returns the name of a list.
export function nameOf(key: ListKey): string {
  const { workers, teams } = board.records;
  if (key === pool) return app.say('unassigned');
  return workers.get(workerOf(key))?.name ?? teams.get(key.slice(1))?.name ?? '';
}

// unshown contains tasks that the board does not show, as they were read for the last undo.
const unshown = new Map<string, BoardTask>();

const taskOf = (id: string): BoardTask | undefined => board.records.tasks.get(id) ?? unshown.get(id);

// titleOf returns the name of a task: that of its recipient, or else an id.
export function titleOf(id: string): string {
  const task = taskOf(id);
  return task?.recipients?.[0]?.name || task?.orderShortId || task?.shortId || id;
}

// why returns the reason that a task cannot move, '' if it can.
function why(id: string): string {
  const obstacle = obstacleOf(board.records.tasks.has(id) ? board.records : { tasks: unshown }, id);
  return obstacle && app.say(obstacle);
}

// place moves tasks into a list, before one of its tasks or to the end.
export const place = (ids: readonly string[], to: ListKey, before = '') => app.during(moveTo(ids, to, before));

async function moveTo(ids: readonly string[], to: ListKey, before: string) {
  if (!board.mayChange) return;
  const { wanted, free, at, list } = planned(board.records, ids, to, before);
  const outcomes = wanted.map((id) => ({ id, reason: why(id) }));
  const unmoved = free.every((id) => board.records.home(id) === to);
  const same = unmoved && list.join() === board.records.list(to).join();
  if (free.length === 0 || same) {
    report(outcomes);
    return;
  }
  const origins = originsOf(free);
  if (!(await put(free, to, at, outcomes))) return;
  const text = free.length === 1 ? app.say('movedOne', { task: titleOf(free[0]!), list: nameOf(to) }) : app.say('movedMany', { n: free.length, list: nameOf(to) }); // prettier-ignore
  offer(text, () => putBack(origins, () => to));
  report(outcomes);
}

// put sends a move, and reports whether it was done. If some of the tasks have started
// meanwhile, it sends the move again without them.
async function put(ids: string[], to: ListKey, at: number, outcomes: Outcome[]): Promise<boolean> {
  const { records } = board;
  const move = records.move({ ids, to, at });
  board.show();
  try {
    const changed = await call<Changed>('PUT', records.path(to), { tasks: [at, ...ids] });
    const { type, worker, team, tasks, version } = changed;
    records.applyOrder({ container: { type, ...(worker && { worker }), ...(team && { team }) }, tasks, version });
    records.adopt(ids, to);
    return true;
  } catch (error) {
    const stuck = await settled(ids, error);
    if (stuck.length === 0 || stuck.length === ids.length) {
      if (outcomes.length === 1) explain(ids, error);
      else {
        for (const outcome of outcomes) if (ids.includes(outcome.id)) outcome.reason = why(outcome.id) || app.explain(error); // prettier-ignore
        report(outcomes);
      }
      return false;
    }
    for (const outcome of outcomes) if (stuck.includes(outcome.id)) outcome.reason = why(outcome.id);
    return await put(ids.filter((id) => !stuck.includes(id)), to, at, outcomes); // prettier-ignore
  } finally {
    records.settle(move);
    board.show();
  }
}

// settled returns the tasks of a rejected request that cannot move, after giving the stream
// time to report them.
async function settled(ids: readonly string[], error: unknown): Promise<string[]> {
  if (!(error instanceof Failure) || error.status < 400 || error.status >= 500) return [];
  if (!ids.some(why)) await new Promise((resolve) => setTimeout(resolve, 1500));
  return ids.filter(why);
}

// explain shows why a change was rejected, and who last changed the task.
function explain(ids: readonly string[], error: unknown) {
  const actor = ids.length === 1 ? board.records.actors.get(ids[0]!) : undefined;
  const recent = actor && Date.now() - actor.time < 60_000 && actor.id !== app.me?.id;
  const who = recent ? ` ${app.say('changedBy', { name: actorName(actor) })}` : '';
  app.toast(app.explain(error) + who, undefined, true);
}

// actorName returns the name of an actor, or a general term if the board does not know it.
function actorName({ type, id }: { type: string; id: string }): string {
  return board.records.workers.get(id)?.name ?? (type === 'ADMIN' ? (board.people.get(id) ?? app.say('otherDispatcher')) : type); // prettier-ignore
}

// report shows which tasks could not be changed, and why.
function report(outcomes: Outcome[]) {
  const bad = outcomes.filter((o) => o.reason);
  if (bad.length === 0) return;
  if (outcomes.length === 1) app.toast(`${titleOf(bad[0]!.id)}: ${bad[0]!.reason}`, undefined, true);
  else board.report = outcomes;
}

export interface Origin {
  id: string;
  key: ListKey;
  at: number;
}

// originsOf returns the lists and positions of tasks, for putBack.
export function originsOf(ids: readonly string[]): Origin[] {
  const { records } = board;
  const places = new Map<ListKey, Map<string, number>>(); // indexes of tasks, by list
  return ids.flatMap((id) => {
    const key = records.home(id);
    if (key === undefined) return [];
    let indexes = places.get(key);
    if (!indexes) places.set(key, (indexes = new Map(records.list(key).map((other, at) => [other, at]))));
    return [{ id, key, at: indexes.get(id) ?? -1 }];
  });
}

// readUnshown reads the tasks that the board does not show, for example because another day was
// chosen since. It returns why tasks could not be read.
async function readUnshown(ids: readonly string[]): Promise<Map<string, string>> {
  unshown.clear();
  const outcomes: Outcome[] = ids.filter((id) => !board.records.tasks.has(id)).map((id) => ({ id, reason: '' }));
  await each(outcomes, async (id) => {
    try {
      unshown.set(id, toTask(await call<ApiTask>('GET', `/tasks/${id}`)));
    } catch (error) {
      if (!(error instanceof Failure) || error.status !== 404) throw error; // otherwise it was deleted
    }
  });
  return new Map(outcomes.map(({ id, reason }) => [id, reason]));
}

// listNow returns the list that a task is in.
function listNow(id: string): ListKey | undefined {
  const { state, container } = unshown.get(id) ?? {};
  if (state === undefined) return board.records.home(id);
  return state < 2 && container ? board.records.keyOf(container) : undefined;
}

// putBack returns tasks to where they were, except those that were moved again or have
// started, which it shows with the reason. It reports whether all returned.
export async function putBack(origins: Origin[], from: (id: string) => ListKey): Promise<boolean> {
  const unread = await readUnshown(origins.map(({ id }) => id));
  const outcomes: Outcome[] = origins.map(({ id }) => {
    const obstacle = unread.get(id) || why(id);
    if (obstacle) return { id, reason: obstacle };
    const now = listNow(id);
    if (now === from(id)) return { id, reason: '' };
    const actor = board.records.actors.get(id);
    const by = actor ? actorName(actor) : app.say('otherDispatcher');
    return { id, reason: app.say('movedSince', { list: now ? nameOf(now) : '–', name: by }) };
  });
  const stays = new Set(outcomes.filter((o) => o.reason).map((o) => o.id));
  const runs = runsOf(origins.filter(({ id }) => !stays.has(id)));
  for (const { key, at, ids } of runs) if (!(await put(ids, key, at, outcomes))) return false;
  if (stays.size > 0 && stays.size < origins.length) app.toast(app.say('undoneSome', { n: origins.length - stays.size, all: origins.length })); // prettier-ignore
  report(outcomes);
  return stays.size === 0;
}

// runsOf groups tasks that were next to each other, in the order of their lists.
function runsOf(origins: Origin[]): { key: ListKey; at: number; ids: string[] }[] {
  const runs: { key: ListKey; at: number; ids: string[] }[] = [];
  const sorted = origins.toSorted((a, b) => a.key.localeCompare(b.key) || a.at - b.at);
  for (const { id, key, at } of sorted) {
    const last = runs.at(-1);
    if (last?.key === key && (key === pool || last.at + last.ids.length === at)) last.ids.push(id);
    else runs.push({ key, at: key === pool ? -1 : at, ids: [id] });
  }
  return runs;
}

// shift moves tasks up or down in their list.
export async function shift(ids: readonly string[], by: -1 | 1) {
  const key = board.records.home(ids[0] ?? '');
  if (!key || !workerOf(key) || ids.some((id) => board.records.home(id) !== key)) return;
  const list = board.records.list(key);
  const moving = new Set(ids);
  const first = list.findIndex((id) => moving.has(id));
  const rest = list.filter((id) => !moving.has(id));
  const at = Math.max(0, Math.min(rest.length, first + by));
  await place(list.filter((id) => moving.has(id)), key, rest[at] ?? ''); // prettier-ignore
}

export const unassign = (ids: readonly string[]) =>
  place(ids.filter((id) => board.records.home(id)?.startsWith('W')), pool); // prettier-ignore

export type Pin = 'worker' | 'position' | undefined;

// pin makes assigned tasks stay with their workers when routes are planned, or also at their
// positions, or neither.
export const pin = (ids: readonly string[], to: Pin) => app.during(pinAll(ids, to));

async function pinAll(ids: readonly string[], to: Pin) {
  if (ids.length === 0 || !board.mayChange) return;
  const before = new Map(ids.map((id) => [id, board.records.tasks.get(id)?.pinned as Pin]));
  const outcomes = ids.map((id) => ({ id, reason: board.records.tasks.get(id)?.state === 1 ? '' : app.say('notAssigned') })); // prettier-ignore
  await each(outcomes, (id) => setPin(id, to));
  const done = outcomes.filter((o) => !o.reason).map((o) => o.id);
  const text = app.say(to ? 'tasksPinned' : 'tasksUnpinned', { n: done.length });
  if (done.length > 0) {
    offer(text, async () => {
      const back: Outcome[] = done.map((id) => ({ id, reason: '' }));
      await each(back, (id) => setPin(id, before.get(id)));
      report(back);
      return back.every((o) => !o.reason);
    });
  }
  report(outcomes);
}

const setPin = (id: string, to: Pin) =>
  to ? call('PUT', `/tasks/${id}/pin`, { position: to === 'position' }) : call('DELETE', `/tasks/${id}/pin`);

// togglePin pins tasks to their workers, or removes the pins if all have one.
export const togglePin = (ids: readonly string[]) =>
  pin(ids, ids.every((id) => board.records.tasks.get(id)?.pinned) ? undefined : 'worker'); // prettier-ignore

interface Assigned {
  assignedTasks: Record<string, string>;
  assignedTasksCount: number;
}

// autoAssign assigns tasks to the workers who suit them best. A single task is opened
// afterwards, with the explanation.
export const autoAssign = (ids: readonly string[]) => app.during(assignAll(ids));

async function assignAll(ids: readonly string[]) {
  const open = ids.filter((id) => board.records.tasks.get(id)?.state === 0);
  if (open.length === 0 || !board.mayChange) return;
  const origins = originsOf(open);
  try {
    const { assignedTasks } = await call<Assigned>('POST', '/tasks/autoAssign', {
      tasks: open,
      options: { mode: 'distance' },
    });
    const outcomes = open.map((id) => ({ id, reason: assignedTasks[id] ? '' : app.say('noWorkerFound') }));
    const done = open.filter((id) => assignedTasks[id]);
    for (const id of done) board.records.adopt([id], listOf(assignedTasks[id]!));
    board.show();
    if (done.length === 1) board.open = done[0]!; // with the explanation
    if (done.length > 0) {
      const moved = origins.filter(({ id }) => assignedTasks[id]);
      offer(app.say('autoAssigned', { n: done.length }), () => putBack(moved, (id) => listOf(assignedTasks[id]!)));
    }
    report(outcomes);
  } catch (error) {
    if (open.length === 1) app.complain(error);
    else report(open.map((id) => ({ id, reason: app.explain(error) })));
  }
}

// finish completes a task that is under way, on behalf of its worker.
export const finish = (id: string, success: boolean) =>
  call('POST', `/tasks/${id}/complete`, { completionDetails: { success } });

// clone creates a task like another, and opens it.
export async function clone(id: string) {
  try {
    const made = await call<Made>('POST', `/tasks/${id}/clone`, {});
    board.open = made.id;
    offer(app.say('taskCreated'), () => uncreate(made));
  } catch (error) {
    app.complain(error);
  }
}

type Made = Pick<FullTask, 'id' | 'timeLastModified'>;

// uncreate deletes a task that the person has created, unless another person or program has
// changed it since, and reports whether it did.
export async function uncreate({ id, timeLastModified }: Made): Promise<boolean> {
  const now = await call<FullTask>('GET', `/tasks/${id}`);
  const entries = now.timeLastModified === timeLastModified ? [] : await historyOf(id);
  const others = byOthers(entries, app.me?.id ?? '');
  if (others.length > 0) {
    report([{ id, reason: app.say('changedBy', { name: byWhom(others) }) }]);
    return false;
  }
  await removeTask(id);
  return true;
}

// unedit takes back an edit, unless another person or program has changed the same fields
// since, and reports whether it did. saved is the task after the edit, and body the request
// that reverts it.
export async function unedit(saved: FullTask, body: object): Promise<boolean> {
  const { id } = saved;
  const now = await call<FullTask>('GET', `/tasks/${id}`);
  const lock = lockOf(now, body);
  let reason = lock && app.say(lock);
  if (!lock) {
    const names = changedFields(saved, now, body);
    const others = names.length > 0 ? await changedBy(saved, now, names) : undefined;
    if (others !== undefined) reason = others ? app.say('changedBy', { name: others }) : app.say('recipientChanged');
  }
  if (reason) report([{ id, reason }]);
  else await call('PUT', `/tasks/${id}`, body);
  return !reason;
}

// changedBy returns the names of the other actors who changed one of the fields in which two
// responses with a task differ; '' if they are unknown, and undefined if there are none.
export async function changedBy(
  before: FullTask,
  now: FullTask,
  names: readonly string[],
): Promise<string | undefined> {
  const [entries, me] = [await historyOf(now.id), app.me?.id ?? ''];
  const others = byOthers(entries, me, before.timeLastModified, names);
  if (others.length > 0) return byWhom(others);
  return names.includes('recipients') && renamedElsewhere(before, now, entries, me) ? '' : undefined;
}

const historyOf = async (id: string): Promise<HistoryEntry[]> =>
  (await call<TaskHistory>('GET', `/tasks/${id}/history`)).entries;

// byWhom names each actor of some entries once, the last one first.
const byWhom = (entries: readonly HistoryEntry[]): string =>
  listed(new Set(entries.map((entry) => authorOf(entry, app.say.bind(app)))));

export async function removeTask(id: string) {
  await call('DELETE', `/tasks/${id}`);
  if (board.open === id) board.open = '';
}

const atOnce = 4; // concurrent requests

// forAll calls run for each task without an obstacle, and shows which tasks were left out or
// failed.
async function forAll(
  ids: readonly string[],
  done: 'tasksDeleted' | 'tasksCompleted',
  obstacle: (id: string) => string,
  run: (id: string) => Promise<unknown>,
) {
  // prettier-ignore
  const outcomes: Outcome[] = ids.map((id) => ({ id, reason: obstacle(id) }));
  await each(outcomes, run);
  const n = outcomes.filter((o) => !o.reason).length;
  if (n > 0) app.toast(app.say(done, { n }));
  report(outcomes);
}

// each calls run for each task that has no reason yet, and sets the reason if it fails.
async function each(outcomes: Outcome[], run: (id: string) => Promise<unknown>) {
  const rest = outcomes.filter((o) => !o.reason);
  const next = async () => {
    for (let o = rest.shift(); o; o = rest.shift()) {
      try {
        await run(o.id);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        o.reason = app.explain(error);
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, next));
}

// removeAll deletes tasks that are not started.
export const removeAll = (ids: readonly string[]) => forAll(ids, 'tasksDeleted', why, removeTask);

// finishAll completes tasks that are under way, on behalf of their workers.
export const finishAll = (ids: readonly string[]) =>
  forAll(ids, 'tasksCompleted', (id) => (board.records.tasks.get(id)?.state === 2 ? '' : app.say('notUnderWay')), (id) => finish(id, true)); // prettier-ignore

// askToRemove and askToFinish ask first: neither can be undone.
export function askToRemove(ids: readonly string[]) {
  if (ids.length === 0 || !board.mayChange) return;
  confirm(app.say('deleteTasks', { n: ids.length }), app.say('deleteTasksLead'), app.say('delete'), () => removeAll(ids)); // prettier-ignore
}

export function askToFinish(ids: readonly string[]) {
  if (ids.length === 0 || !board.mayChange) return;
  confirm(app.say('completeTasks', { n: ids.length }), app.say('completeTasksLead'), app.say('completeTask'), () => finishAll(ids), false); // prettier-ignore
}
