// The lists of the board as they are shown: filtered, counted, and rebuilt one by one as
// they change.

import { listOf, pool, teamList, workerOf, type ListKey, type Records, type Touched } from './records.ts';
import { isLate, risk, status, type Risk, type Status } from './status.ts';
import type { BoardTask } from './wire.ts';

export interface Filter {
  text: string;
  statuses: ReadonlySet<Status>; // empty for open tasks or, if there is a text, for all
  late: boolean; // only open tasks that are late or will be
  team: string; // '' for all
}

export const everything: Filter = { text: '', statuses: new Set(), late: false, team: '' };

// narrow reports whether a filter excludes tasks of the chosen team.
export const narrow = (f: Filter): boolean => f.text !== '' || f.statuses.size > 0 || f.late;

export interface Group {
  key: ListKey;
  ids: readonly string[]; // the tasks that are shown, in their order
  open: number; // tasks that are not completed, shown or not
  done: number;
  failed: number;
  late: number; // open tasks that are late or will be
}

export type Counts = Record<Status | 'late', number>;

const { compare } = new Intl.Collator();
const haystacks = new WeakMap<BoardTask, string>();

// haystack returns the text of a task that searches match.
export function haystack(task: BoardTask): string {
  let text = haystacks.get(task);
  if (text === undefined) {
    const { shortId, id, orderShortId = '', destination, notes = '' } = task;
    const { name = '', phone = '' } = task.recipients?.[0] ?? {};
    text = `${shortId}\n${id}\n${orderShortId}\n${name}\n${phone}\n${destination.line}\n${notes}`.toLowerCase();
    haystacks.set(task, text);
  }
  return text;
}

// due is the sort key of tasks in pools: the earliest deadline comes first.
const due = (t: BoardTask): number => t.completeBefore ?? t.completeAfter ?? Number.MAX_SAFE_INTEGER;

export class Groups {
  groups: Group[] = [];
  counts: Counts = { unassigned: 0, assigned: 0, active: 0, completed: 0, failed: 0, late: 0 };
  private readonly byKey = new Map<ListKey, Group>();
  private readonly counted = new Map<string, { status: Status; late: boolean; risk: Risk }>();
  private filter: Filter = everything;
  private words: string[] = [];
  private readonly names = new Map<string, string>(); // names of workers in lower case, by name

  constructor(private readonly records: Records) {}

  // update applies changes of the records, and reports whether a list may have changed.
  update(touched: Touched, now: number): boolean {
    if (touched.all) {
      this.recount(now);
      this.rebuild(now);
      return true;
    }
    for (const id of touched.tasks) this.count(id, now);
    for (const key of touched.lists) this.build(key, now);
    const changed = touched.lists.size > 0 || touched.workers.size > 0;
    if (changed) this.order();
    return changed;
  }

  // narrow applies a filter.
  narrow(filter: Filter, now: number) {
    const { text, statuses, late, team } = this.filter;
    if (filter.text === text && filter.statuses === statuses && filter.late === late && filter.team === team) return;
    this.filter = filter;
    this.words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
    if (team !== filter.team) this.recount(now);
    this.rebuild(now);
  }

  // elapse updates which tasks are late at a time, and returns those whose risk has changed.
  elapse(now: number): Set<string> {
    const changed = new Set<string>();
    for (const id of this.records.tasks.keys()) if (this.count(id, now)) changed.add(id);
    this.rebuild(now);
    return changed;
  }

  group(key: ListKey): Group | undefined {
    return this.byKey.get(key);
  }

  // slot returns the task of a list before which tasks are inserted that are dropped on a row
  // or below it; '' for the end. They cannot be inserted before each other, nor before a task
  // that has started. Pools are sorted, so that tasks have no position in them: tasks that are
  // in the pool already cannot be dropped there, and slot returns undefined.
  slot(key: ListKey, row: string, below: boolean, dropped: readonly string[]): string | undefined {
    if (!workerOf(key)) return dropped.every((id) => this.records.home(id) === key) ? undefined : '';
    if (!row) return '';
    const ids = this.byKey.get(key)?.ids ?? [];
    const from = ids.indexOf(row) + (below ? 1 : 0);
    return ids.slice(from).find((id) => this.records.home(id) === key && !dropped.includes(id)) ?? '';
  }

  // includes reports whether a task belongs to the chosen team.
  includes(id: string): boolean {
    return this.counted.has(id);
  }

  // passes reports whether the lists show a task.
  passes(task: BoardTask, now: number): boolean {
    const { statuses: wanted, late } = this.filter;
    if (wanted.size > 0) {
      if (!wanted.has(this.statusOf(task))) return false;
    } else if (task.state === 3 && this.words.length === 0) return false;
    if (late && !isLate(task, now)) return false;
    if (this.words.length === 0) return true;
    const text = haystack(task);
    return this.words.every((word) => text.includes(word) || this.nameOf(task.worker).includes(word));
  }

  // shows reports whether any view shows a task. The map also shows completed tasks, faintly,
  // if there is no filter besides the team.
  shows(id: string, now: number): boolean {
    const task = this.records.tasks.get(id);
    if (!task || !this.includes(id)) return false;
    return this.passes(task, now) || (task.state === 3 && !narrow(this.filter));
  }

  // nameOf returns the name of a worker in lower case, for searches.
  private nameOf(id: string | undefined): string {
    const worker = id ? this.records.workers.get(id)?.name : undefined;
    if (!worker) return '';
    let name = this.names.get(worker);
    if (name === undefined) this.names.set(worker, (name = worker.toLowerCase()));
    return name;
  }

  // statusOf returns the state of a task, including moves that are not confirmed.
  statusOf(task: BoardTask): Status {
    if (task.state > 1) return status(task);
    return this.records.home(task.id)?.startsWith('W') ? 'assigned' : 'unassigned';
  }

  private recount(now: number) {
    this.counted.clear();
    this.counts = { unassigned: 0, assigned: 0, active: 0, completed: 0, failed: 0, late: 0 };
    for (const id of this.records.tasks.keys()) this.count(id, now);
  }

  // count counts a task, and reports whether it is counted or shown differently than before.
  private count(id: string, now: number): boolean {
    const before = this.counted.get(id);
    const task = this.records.tasks.get(id);
    const counts = task && this.ofTeam(task);
    const status = counts ? this.statusOf(task) : undefined;
    const late = counts ? isLate(task, now) : false;
    const danger = counts ? risk(task, now) : '';
    if (before?.status === status && before?.late === late && before?.risk === danger) return false;
    if (before) {
      this.counts[before.status]--;
      if (before.late) this.counts.late--;
      this.counted.delete(id);
    }
    if (!status) return true;
    this.counts[status]++;
    if (late) this.counts.late++;
    this.counted.set(id, { status, late, risk: danger });
    return true;
  }

  private ofTeam(task: BoardTask): boolean {
    const { team } = this.filter;
    if (!team) return true;
    const key = this.records.home(task.id) ?? (task.worker ? listOf(task.worker) : pool);
    return this.inTeam(key);
  }

  private inTeam(key: ListKey): boolean {
    const { team } = this.filter;
    if (!team || key === pool || key === teamList(team)) return true;
    return this.records.workers.get(workerOf(key))?.teams.includes(team) ?? false;
  }

  private rebuild(now: number) {
    this.byKey.clear();
    this.build(pool, now);
    for (const id of this.records.teams.keys()) this.build(teamList(id), now);
    for (const id of this.records.workers.keys()) this.build(listOf(id), now);
    this.order();
  }

  // build builds one list.
  private build(key: ListKey, now: number) {
    const { records } = this;
    const worker = workerOf(key);
    if (worker ? !records.workers.has(worker) : key !== pool && !records.teams.has(key.slice(1))) return;
    const group: Group = { key, ids: [], open: 0, done: 0, failed: 0, late: 0 };
    const found: BoardTask[] = [];
    const add = (id: string | null | undefined) => {
      const task = id ? records.tasks.get(id) : undefined;
      if (!task) return;
      if (task.state === 3) {
        group.done++;
        if (status(task) === 'failed') group.failed++;
      } else {
        group.open++;
        if (isLate(task, now)) group.late++;
      }
      if (this.passes(task, now)) found.push(task);
    };
    if (worker) {
      const done = [...(records.done.get(worker) ?? [])];
      const time = (id: string) => records.tasks.get(id)?.completionDetails?.time ?? 0;
      done.sort((a, b) => time(a) - time(b)).forEach(add);
      const list = records.list(key);
      const active = records.workers.get(worker)?.activeTask;
      if (active && !list.includes(active) && records.tasks.get(active)?.state !== 3) add(active);
      list.forEach(add);
    } else {
      records.list(key).forEach(add);
      found.sort((a, b) => due(a) - due(b));
    }
    group.ids = found.map((t) => t.id);
    this.byKey.set(key, group);
  }

  // order sorts the lists: pools, then workers on duty, then the others.
  private order() {
    const { workers, teams } = this.records;
    const rank = (g: Group) => {
      if (!g.key.startsWith('W')) return g.key === pool ? 0 : 1;
      return workers.get(workerOf(g.key))?.onDuty ? 2 : g.open > 0 ? 3 : 4;
    };
    const name = (g: Group) => workers.get(workerOf(g.key))?.name ?? teams.get(g.key.slice(1))?.name ?? '';
    const filtered = narrow(this.filter);
    const seen = [...this.byKey.values()].filter((g) => {
      if (!this.inTeam(g.key)) return false;
      if (filtered && g.ids.length === 0) return false;
      return g.key === pool || !g.key.startsWith('T') || g.ids.length > 0;
    });
    this.groups = seen
      .map((group) => ({ group, rank: rank(group), name: name(group) }))
      .sort((a, b) => a.rank - b.rank || compare(a.name, b.name))
      .map(({ group }) => group);
  }
}
