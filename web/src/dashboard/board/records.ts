// The records of the board, kept current by the event stream. Every change notes what it
// touched, so that views update only that. Moves that the server has not confirmed are
// shown on top of the confirmed records, and never change them.

import { Orders } from './orders.ts';
import {
  toTask,
  toWorker,
  type BoardHub,
  type BoardTask,
  type BoardTeam,
  type BoardWorker,
  type Container,
  type Estimate,
  type Estimates,
  type Event,
  type ListChange,
  type Position,
  type Snapshot,
} from './wire.ts';

// ListKey names a list by its kind and owner: W and a worker's id, T and a team's id, or O
// for the pool of the organization.
export type ListKey = string;
export const pool: ListKey = 'O';
export const listOf = (worker: string): ListKey => `W${worker}`;
export const teamList = (team: string): ListKey => `T${team}`;
export const workerOf = (key: ListKey): string => (key.startsWith('W') ? key.slice(1) : '');

// Move puts tasks into a list at an index, which counts after they were removed from where
// they are.
export interface Move {
  ids: readonly string[];
  to: ListKey;
  at: number; // -1 for the end
}

// Touched is what has changed since the last call of take.
export interface Touched {
  all: boolean; // everything may have changed
  tasks: Set<string>;
  lists: Set<ListKey>;
  workers: Set<string>;
  moved: Set<string>; // workers whose location has changed
}

export interface Actor {
  type: string;
  id: string;
  time: number;
}

const taskDeleted = 8;
const workerDeleted = 16;

// staff encodes the fields of a worker that both replaceFleet and events change.
const staff = (w: BoardWorker | undefined) =>
  w && JSON.stringify([w.name, w.phone, w.teams, w.vehicle?.type, w.capacity]);

export const nothing = (): Touched => ({
  all: false,
  tasks: new Set(),
  lists: new Set(),
  workers: new Set(),
  moved: new Set(),
});

export class Records {
  readonly tasks = new Map<string, BoardTask>();
  readonly workers = new Map<string, BoardWorker>();
  readonly teams = new Map<string, BoardTeam>();
  readonly hubs = new Map<string, BoardHub>();
  readonly done = new Map<string, Set<string>>(); // completed tasks, by worker
  readonly actors = new Map<string, Actor>(); // who last changed a task, if known
  from = 0;
  to = 0;
  date = '';
  timezone = '';
  truncated = false;
  clock: () => number = Date.now; // returns the time that is shown
  fleet = 0; // version of teams, hubs and schedules
  fleetChanges = 0; // number of events that changed fields which replaceFleet replaces
  readonly newcomers = new Set<ListKey>(); // workers and teams that the snapshot lacked
  readonly removed = new Set<string>(); // tasks that were removed since the set was last cleared
  private organization = '';
  // Both the task and the list report which list a task is in, and either can come first:
  // the latest report is used. Only the list reports its order.
  private readonly homes = new Map<string, ListKey>();
  private readonly members = new Map<ListKey, Set<string>>();
  private readonly orders = new Orders();
  private readonly lists = new Map<ListKey, string[]>(); // computed from members and orders; deleted when one of them changes
  private readonly tasksWithoutList = new Set<string>(); // tasks that left a list, and are in no other yet
  private readonly contested = new Map<string, ListKey>(); // by task: the list that it left, which still names it
  private readonly moves = new Map<number, Move>(); // moves that are not confirmed, oldest first
  private shown = new Map<ListKey, string[]>(); // lists as changed by moves
  private movedTo = new Map<string, ListKey>();
  private counter = 0;
  private touched = nothing();

  // load replaces everything.
  load(snapshot: Snapshot) {
    for (const map of [this.tasks, this.workers, this.teams, this.hubs, this.done, this.actors]) map.clear();
    for (const map of [this.homes, this.members, this.orders, this.lists, this.contested]) map.clear();
    for (const set of [this.tasksWithoutList, this.newcomers, this.removed]) set.clear();
    ({ from: this.from, to: this.to, date: this.date, timezone: this.timezone } = snapshot);
    this.truncated = snapshot.truncated;
    this.fleet = snapshot.fleet;
    this.organization = snapshot.organization.id;
    for (const team of snapshot.teams) this.teams.set(team.id, team);
    for (const hub of snapshot.hubs) this.hubs.set(hub.id, hub);
    for (const worker of snapshot.workers) this.workers.set(worker.id, worker);
    for (const task of snapshot.tasks) this.setTask(task);
    for (const { id, tasks, version } of snapshot.workers) this.setOrder(listOf(id), tasks, version);
    for (const { id, tasks = [], version } of snapshot.teams) this.setOrder(teamList(id), tasks, version);
    this.touched = { ...nothing(), all: true };
    this.arrange();
  }

  // replaceFleet replaces teams, hubs and the master data of workers by those of a snapshot
  // without tasks. The lists and positions of known workers stay: they may be newer than the
  // snapshot. Nothing else may be newer: fleetChanges must not have changed since the snapshot
  // was requested. If managed is true, the user sees only the teams that they manage, and the
  // tasks of workers who have left these teams are removed.
  replaceFleet(snapshot: Snapshot, managed = false) {
    if (snapshot.fleet < this.fleet) return;
    this.fleet = snapshot.fleet;
    this.hubs.clear();
    for (const hub of snapshot.hubs) this.hubs.set(hub.id, hub);
    const teams = new Set(snapshot.teams.map((team) => team.id));
    for (const id of [...this.teams.keys()]) {
      if (teams.has(id)) continue;
      this.setOrder(teamList(id), [], undefined);
      this.teams.delete(id);
    }
    for (const team of snapshot.teams) {
      if (!this.teams.has(team.id)) this.newcomers.add(teamList(team.id));
      this.teams.set(team.id, team);
      this.setOrder(teamList(team.id), team.tasks ?? [], team.version);
    }
    for (const worker of snapshot.workers) {
      const before = this.workers.get(worker.id);
      const { name, phone, teams, schedule, vehicle, capacity } = worker;
      this.workers.set(worker.id, before ? { ...before, name, phone, teams, schedule, vehicle, capacity } : worker);
      if (before) continue;
      this.newcomers.add(listOf(worker.id));
      this.setOrder(listOf(worker.id), worker.tasks, worker.version);
    }
    const workers = new Set(snapshot.workers.map((worker) => worker.id));
    const left = new Set([...this.workers.keys()].filter((id) => !workers.has(id)));
    if (managed && left.size > 0) {
      for (const { id, worker } of [...this.tasks.values()]) if (worker && left.has(worker)) this.removeTask(id);
    }
    for (const id of left) this.removeWorker(id);
    this.touched.all = true;
  }

  // admit adds the tasks of newcomers. Other tasks of the snapshot are not newer than those
  // of the stream, which may also have removed some since the snapshot was requested.
  admit(snapshot: Snapshot) {
    for (const task of snapshot.tasks) if (!this.tasks.has(task.id) && !this.removed.has(task.id)) this.setTask(task);
    for (const { id, tasks, version } of snapshot.workers) {
      if (this.newcomers.has(listOf(id))) this.setOrder(listOf(id), tasks, version);
    }
    this.newcomers.clear();
  }

  // take returns what has changed since the last call.
  take(): Touched {
    if (this.moves.size > 0 && (this.touched.all || this.touched.lists.size > 0)) this.arrange();
    const taken = this.touched;
    this.touched = nothing();
    return taken;
  }

  list(key: ListKey): readonly string[] {
    return this.shown.get(key) ?? this.confirmedList(key);
  }

  // confirmedList returns a list as the server has it.
  confirmedList(key: ListKey): readonly string[] {
    let list = this.lists.get(key);
    if (!list) {
      const members = new Set(this.members.get(key));
      list = this.orders.get(key).filter((id) => members.delete(id) || !this.tasks.has(id));
      list.push(...members);
      this.lists.set(key, list);
    }
    return list;
  }

  // home returns the list of a task that is neither active nor completed.
  home(id: string): ListKey | undefined {
    return this.movedTo.get(id) ?? this.homes.get(id);
  }

  // confirmed returns the list of a task as the server has it.
  confirmed(id: string): ListKey | undefined {
    return this.homes.get(id);
  }

  // keyOf returns the key of a container of the API.
  keyOf({ type, worker = '', team = '' }: Container): ListKey {
    return type === 'WORKER' ? listOf(worker) : type === 'TEAM' ? teamList(team) : pool;
  }

  // path returns the path of a list in the API.
  path(key: ListKey): string {
    if (key === pool) return `/containers/organizations/${this.organization}`;
    return `/containers/${key.startsWith('T') ? 'teams' : 'workers'}/${key.slice(1)}`;
  }

  // apply applies an event of the log.
  apply(event: Event) {
    const { task, worker } = event.data;
    if (event.triggerId === taskDeleted) {
      if (event.taskId) this.removeTask(event.taskId);
      return;
    }
    if (event.triggerId === workerDeleted) {
      this.fleetChanges++;
      if (event.workerId) this.removeWorker(event.workerId);
      return;
    }
    if (task) {
      const current = this.setTask(toTask(task));
      if (current && event.actionContext) this.actors.set(task.id, { ...event.actionContext, time: event.time });
    }
    if (worker) {
      const before = this.workers.get(worker.id);
      const after = toWorker(worker, before);
      if (staff(before) !== staff(after)) this.fleetChanges++;
      this.setWorker(after);
    }
  }

  // applyOrder applies the active task and the order of a list. An order that is older than
  // the known one changes nothing.
  applyOrder({ container, activeTask, tasks, pinned, version }: ListChange) {
    const key = this.keyOf(container);
    if (this.orders.isOlder(key, version)) return;
    const worker = this.workers.get(workerOf(key));
    if (worker && activeTask !== undefined && worker.activeTask !== activeTask) {
      this.setWorker({ ...worker, activeTask });
      this.mark(key);
    }
    if (!tasks || key === pool) return;
    this.setOrder(key, tasks, version);
    if (!pinned || !worker) return;
    // A task may have moved on since the list was read.
    for (const id of [activeTask, ...tasks]) {
      if (id && this.tasks.get(id)?.worker === worker.id) this.setPin(id, pinned[id]);
    }
  }

  // reorder puts the tasks of a worker's list in the order of ids, which may lack some.
  reorder(worker: string, ids: readonly string[]) {
    this.orders.set(listOf(worker), ids);
    this.mark(listOf(worker));
  }

  // orphans returns open tasks that are in no list.
  orphans(): string[] {
    for (const id of this.tasksWithoutList) {
      if (this.homes.has(id) || (this.tasks.get(id)?.state ?? 3) > 1) this.tasksWithoutList.delete(id);
    }
    return [...this.tasksWithoutList];
  }

  // conflictingLists returns the lists that name tasks which name another list. This is
  // normal for a moment, until both the task and the list have arrived.
  conflictingLists(): ListKey[] {
    for (const [id, key] of this.contested) {
      if (this.homes.get(id) === key || !this.orders.names(key, id)) this.contested.delete(id);
    }
    return [...new Set(this.contested.values())];
  }

  position(p: Position) {
    const worker = this.workers.get(p.worker);
    if (!worker || (worker.timeLocated ?? 0) > p.time) return;
    this.workers.set(p.worker, {
      ...worker,
      location: p.location,
      timeLocated: p.time,
      timeLastSeen: Math.max(p.timeLastSeen ?? p.time, worker.timeLastSeen ?? 0),
      heading: p.heading ?? null,
      speed: p.speed ?? null,
      battery: p.battery ?? worker.battery ?? null,
    });
    this.touched.moved.add(p.worker);
  }

  estimate({ worker: id, delayTime, tasks }: Estimates) {
    const worker = this.workers.get(id);
    if (worker && worker.delayTime !== delayTime) {
      this.workers.set(id, { ...worker, delayTime });
      this.touched.workers.add(id);
    }
    for (const task of tasks) if (this.tasks.get(task.id)?.worker === id) this.expect(task);
  }

  private expect({ id, estimatedArrivalTime, estimatedCompletionTime, delayTime }: Estimate) {
    const task = this.tasks.get(id);
    if (!task || task.state === 3) return;
    const estimates = Object.entries({ estimatedArrivalTime, estimatedCompletionTime, delayTime });
    if (estimates.every(([name, value]) => (task[name as 'delayTime'] ?? null) === value)) return;
    const next = { ...task };
    for (const [name, value] of estimates) {
      if (value === null) delete next[name as 'delayTime'];
      else next[name as 'delayTime'] = value;
    }
    this.tasks.set(id, next);
    this.touch(next);
  }

  // move shows a move before it is confirmed, and returns its number.
  move(move: Move): number {
    this.moves.set(++this.counter, move);
    for (const id of move.ids) this.touchHome(id);
    this.arrange();
    return this.counter;
  }

  // settle ends a move that was confirmed or rejected: only the confirmed lists are shown.
  settle(number: number) {
    const move = this.moves.get(number);
    if (!move) return;
    this.moves.delete(number);
    for (const id of move.ids) {
      this.touched.tasks.add(id);
      this.touchHome(id);
    }
    this.arrange();
  }

  // adopt puts tasks into a list after the server has confirmed it, before the events of the
  // tasks arrive.
  adopt(ids: readonly string[], key: ListKey) {
    for (const id of ids) {
      if ((this.tasks.get(id)?.state ?? 3) > 1) continue;
      this.house(id, key);
      this.touched.tasks.add(id);
    }
  }

  get waiting(): boolean {
    return this.moves.size > 0;
  }

  // addTask saves a new task of the stream. It may arrive after an event with the same
  // version of the task, whose estimates and pin are newer.
  addTask(task: BoardTask) {
    const before = this.tasks.get(task.id);
    if (!before || before.timeLastModified < task.timeLastModified) this.setTask(task);
  }

  // setTask saves a task and the list that it names, if the task belongs to this day. It reports
  // whether no newer version of the task is known.
  setTask(task: BoardTask): boolean {
    const before = this.tasks.get(task.id);
    if (before && before.timeLastModified > task.timeLastModified) return false;
    // Events do not contain pins. A pin ends when the task leaves its worker or is completed.
    const stays = task.worker && task.worker === before?.worker && task.state < 3;
    if (stays && before.pinned && !task.pinned) task = { ...task, pinned: before.pinned };
    if (!this.belongs(task)) {
      if (before) this.removeTask(task.id);
      return true;
    }
    this.tasks.set(task.id, task);
    this.removed.delete(task.id);
    const c = task.container;
    // The active task is in no list: it cannot move.
    const home = task.state > 1 || !c ? undefined : this.keyOf(c);
    this.house(task.id, home);
    if (before?.worker !== task.worker || before?.state !== task.state) {
      if (before?.worker) this.done.get(before.worker)?.delete(task.id);
      if (task.state === 3 && task.worker) {
        let set = this.done.get(task.worker);
        if (!set) this.done.set(task.worker, (set = new Set()));
        set.add(task.id);
      }
      if (before?.worker) this.touched.lists.add(listOf(before.worker));
    }
    this.touch(task);
    return true;
  }

  private touch(task: BoardTask) {
    this.touched.tasks.add(task.id);
    this.touchHome(task.id);
    if (task.worker) this.touched.lists.add(listOf(task.worker));
  }

  private touchHome(id: string) {
    const home = this.home(id);
    if (home) this.touched.lists.add(home);
  }

  private belongs(task: BoardTask): boolean {
    if (task.state === 3) {
      const time = task.completionDetails?.time ?? this.from;
      return time >= this.from && time < this.to;
    }
    const { completeAfter = -Infinity, completeBefore = Infinity } = task;
    if (completeAfter >= this.to) return false;
    const now = this.clock();
    return completeBefore >= this.from || (now >= this.from && now < this.to);
  }

  // house makes a list the only one that contains a task. If key is undefined, none does.
  private house(id: string, key: ListKey | undefined) {
    const before = this.homes.get(id);
    if (before === key) return;
    if (before !== undefined) {
      this.members.get(before)?.delete(id);
      if (this.orders.names(before, id)) this.contested.set(id, before);
      this.mark(before);
    }
    if (key === undefined) {
      this.homes.delete(id);
      this.tasksWithoutList.add(id);
      return;
    }
    this.homes.set(id, key);
    this.tasksWithoutList.delete(id);
    let members = this.members.get(key);
    if (!members) this.members.set(key, (members = new Set()));
    members.add(id);
    this.mark(key);
  }

  // setOrder applies the order of a list as the server has it, unless a newer one is known.
  private setOrder(key: ListKey, ids: readonly string[], version: number | undefined) {
    if (this.orders.isOlder(key, version)) return;
    if (version !== undefined) this.orders.setVersion(key, version);
    this.orders.set(key, ids);
    for (const id of [...(this.members.get(key) ?? [])]) if (!this.orders.names(key, id)) this.house(id, undefined);
    for (const id of ids) if ((this.tasks.get(id)?.state ?? 0) < 2) this.house(id, key);
    this.mark(key);
  }

  private setPin(id: string, pinned: string | undefined) {
    const task = this.tasks.get(id);
    if (!task || task.pinned === pinned) return;
    const { pinned: _, ...rest } = task;
    this.tasks.set(id, pinned ? { ...rest, pinned } : rest);
    this.touched.tasks.add(id);
  }

  private mark(key: ListKey) {
    this.lists.delete(key);
    this.touched.lists.add(key);
  }

  removeTask(id: string) {
    this.removed.add(id);
    this.actors.delete(id);
    const task = this.tasks.get(id);
    this.house(id, undefined);
    if (!task) return;
    if (task.worker) {
      this.done.get(task.worker)?.delete(id);
      this.touched.lists.add(listOf(task.worker));
    }
    this.tasks.delete(id);
    this.touched.tasks.add(id);
  }

  private setWorker(worker: BoardWorker) {
    const before = this.workers.get(worker.id);
    this.workers.set(worker.id, worker);
    this.touched.workers.add(worker.id);
    if (before) return;
    this.touched.all = true; // there is a new list
    this.newcomers.add(listOf(worker.id));
  }

  private removeWorker(id: string) {
    this.setOrder(listOf(id), [], undefined);
    if (this.workers.delete(id)) this.touched.all = true;
  }

  // arrange applies the moves that are not confirmed to the lists that are shown.
  private arrange() {
    for (const key of this.shown.keys()) this.touched.lists.add(key);
    this.shown = new Map();
    this.movedTo = new Map();
    for (const { ids, to, at } of this.moves.values()) {
      const moved = ids.filter((id) => this.home(id) !== undefined && (this.tasks.get(id)?.state ?? 3) < 2);
      const taken = new Set(moved);
      for (const key of new Set([to, ...moved.map((id) => this.home(id)!)])) {
        this.shown.set(key, this.list(key).filter((id) => !taken.has(id))); // prettier-ignore
        this.touched.lists.add(key);
      }
      const list = this.shown.get(to)!;
      list.splice(at < 0 ? list.length : Math.min(at, list.length), 0, ...moved);
      for (const id of moved) {
        this.movedTo.set(id, to);
        this.touched.tasks.add(id);
      }
    }
  }
}
