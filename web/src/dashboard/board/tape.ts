// A past day: the board at its beginning, and what happened since, in order. The board at
// any moment is the beginning with all entries up to that moment applied.

import type { Point } from '../../map/project.ts';
import type { Records } from './records.ts';
import type { ApiTask, BoardTask, Event, Position, Snapshot } from './wire.ts';

export interface History {
  board: Snapshot;
  lastEvent: number;
  storedSince: number | null;
  created: BoardTask[]; // tasks that were created without an event
}

export interface LogEntry {
  number: number;
  timeStored: number;
  event: Event;
}

// Entry is something that happened: an event, or a task that was created without one.
export interface Entry {
  time: number;
  event?: Event;
  task?: BoardTask;
}

const taskFields = ['id', 'shortId', 'state', 'timeLastModified', 'timeCreated', 'completeAfter', 'completeBefore', 'pickupTask', 'quantity', 'serviceTime', 'estimatedArrivalTime', 'estimatedCompletionTime', 'delayTime', 'worker', 'container', 'dependencies', 'orderShortId', 'notes', 'completedWithGeofenceWarning', 'recipients', 'priority'] as const; // prettier-ignore
const workerFields = ['id', 'name', 'phone', 'teams', 'onDuty', 'activeTask', 'tasks', 'location', 'timeLastSeen', 'delayTime', 'vehicle', 'capacity', 'userData'] as const; // prettier-ignore

function pick(from: object, names: readonly string[]): Record<string, unknown> {
  const all = from as Record<string, unknown>;
  return Object.fromEntries(names.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]])));
}

// slim returns the parts of an event that the board reads: a day has many thousands of events.
export function slim(event: Event): Event {
  const { task, worker } = event.data;
  const { taskId, workerId, actionContext, triggerId, triggerName, time } = event;
  const data: Event['data'] = {};
  if (task) {
    const { id, location, address, warnings } = task.destination;
    const { success, time: at, failureReason, events } = task.completionDetails ?? {};
    data.task = {
      ...pick(task, taskFields),
      destination: { id, location, address, ...(warnings?.length && { warnings }) },
      completionDetails: { success, time: at, failureReason, events: events?.filter((e) => e.name !== 'departure') },
    } as ApiTask;
  }
  if (worker) data.worker = pick(worker, workerFields) as unknown as NonNullable<typeof worker>;
  return { taskId, workerId, actionContext, triggerId, triggerName, time, data };
}

export class Tape {
  readonly entries: Entry[] = [];
  private created: Entry[]; // tasks of history.created that are not among the entries yet

  constructor(readonly history: History) {
    this.created = history.created
      .map((task) => ({ time: task.timeCreated ?? history.board.from, task }))
      .sort((a, b) => a.time - b.time);
  }

  // add appends events of the log, in order. Their time is when they were stored, because
  // that is when the board showed them.
  add(log: readonly LogEntry[]) {
    for (const { timeStored, event } of log) {
      const last = this.entries.at(-1)?.time ?? 0;
      const time = Math.max(timeStored, last); // clocks of servers may differ
      this.addCreated(time);
      this.entries.push({ time, event: slim(event) });
    }
  }

  // end completes the entries after the last event.
  end() {
    this.addCreated(Infinity);
  }

  private addCreated(until: number) {
    const n = this.created.findIndex((e) => e.time > until);
    this.entries.push(...this.created.splice(0, n < 0 ? this.created.length : n));
  }

  // places returns the destinations of the tasks for which wanted returns true.
  places(wanted: (task: BoardTask | ApiTask) => boolean): Point[] {
    const found = new Map<string, Point>();
    const add = (task: BoardTask | ApiTask | undefined) => {
      if (task && wanted(task)) found.set(task.id, task.destination.location);
    };
    this.history.board.tasks.forEach(add);
    for (const { event, task } of this.entries) {
      add(task);
      add(event?.data.task);
    }
    return [...found.values()];
  }

  // at returns the number of entries up to a time.
  at(time: number): number {
    let [low, high] = [0, this.entries.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.entries[middle]!.time <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

// play applies an entry to the records. A worker's list gets the order that the event
// contains.
export function play(records: Records, { event, task }: Entry) {
  if (task) records.addTask(task);
  if (!event) return;
  records.apply(event);
  const { worker } = event.data;
  if (worker?.tasks) records.reorder(worker.id, worker.tasks);
}

// latest returns the last position of each worker after a time and up to another.
export function latest(positions: readonly Position[], after: number, until: number): Position[] {
  const found = new Map<string, Position>();
  for (const p of positions) {
    if (p.time > until) break;
    if (p.time > after) found.set(p.worker, p);
  }
  return [...found.values()];
}
