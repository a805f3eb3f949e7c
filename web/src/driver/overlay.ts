// The list as the worker sees it: the server's last response with all later actions
// applied.

import type { Item } from './queue.ts';
import { distance } from '../map/project.ts';
import { active, completed, hasArrived, type Point, type Position, type Task, type WorkList } from './wire.ts';

export interface Seen {
  task: Task;
  arrived: boolean;
  pending: boolean; // some action on it is not acknowledged yet
}

export interface Overlay {
  open: Seen[]; // the active one first
  done: Seen[]; // completed on this phone, not acknowledged yet
  active: string | null;
  onDuty: boolean;
}

export function overlay(list: WorkList, onDuty: boolean, items: Item[], arrivals: ReadonlySet<string>): Overlay {
  const seen = new Map<string, Seen>();
  for (const task of list.tasks)
    seen.set(task.id, { task, arrived: arrivals.has(task.id) || hasArrived(task), pending: false });
  let current = list.activeTask;
  for (const item of items) {
    if (item.rejection !== undefined) continue;
    if (item.kind === 'duty') {
      onDuty = item.body.onDuty === true;
      continue;
    }
    const entry = seen.get(item.task ?? '');
    if (!entry) continue;
    entry.pending = true;
    switch (item.kind) {
      case 'start':
        entry.task = { ...entry.task, state: active };
        current = entry.task.id;
        break;
      case 'arrive':
        entry.arrived = true;
        break;
      case 'complete':
        entry.task = { ...entry.task, state: completed };
        if (current === entry.task.id) current = null;
        break;
    }
  }
  const all = [...seen.values()];
  const open = all.filter((s) => s.task.state !== completed);
  return {
    open: [...open.filter((s) => s.task.id === current), ...open.filter((s) => s.task.id !== current)],
    done: all.filter((s) => s.task.state === completed),
    active: current,
    onDuty,
  };
}

// settle returns the list after the server accepted an action: what the server
// would return now, without having to wait for a connection.
export function settle(list: WorkList, item: Item): WorkList {
  const others = list.tasks.filter((t) => t.id !== item.task);
  const task = list.tasks.find((t) => t.id === item.task);
  if (!task) return list;
  if (item.kind === 'start') return { ...list, activeTask: task.id, tasks: [{ ...task, state: active }, ...others] };
  if (item.kind !== 'complete') return list;
  return { ...list, activeTask: list.activeTask === task.id ? null : list.activeTask, tasks: others };
}

// departed reports whether a worker has left the location of the arrival: farther
// than from a door to a parked van, and beyond the accuracy of the position.
export function departed(arrived: Point, now: Position): boolean {
  const doubt = now.accuracy ?? 0;
  return doubt <= 100 && distance(arrived, now.location) > 200 + doubt;
}

// obstacle returns why a task cannot be started now; undefined if it can.
export function obstacle(view: Overlay, task: Task): 'offDuty' | 'otherActive' | 'blocked' | undefined {
  if (!view.onDuty) return 'offDuty';
  if (view.active && view.active !== task.id) return 'otherActive';
  const open = new Set(view.open.map((s) => s.task.id));
  return task.dependencies.some((id) => open.has(id)) ? 'blocked' : undefined;
}
