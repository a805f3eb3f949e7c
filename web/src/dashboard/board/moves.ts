// What a move of tasks into a list does: which tasks move, and how the list is afterwards.

import { pool, workerOf, type ListKey, type Records } from './records.ts';

// obstacleOf returns why a task cannot move, '' if it can.
export function obstacleOf(
  { tasks }: Pick<Records, 'tasks'>,
  id: string,
): '' | 'taskGone' | 'isUnderWay' | 'isCompleted' {
  const task = tasks.get(id);
  if (!task) return 'taskGone';
  return task.state === 2 ? 'isUnderWay' : task.state === 3 ? 'isCompleted' : '';
}

export interface Planned {
  wanted: string[]; // the tasks to move, even if they cannot
  free: string[]; // the tasks that can
  at: number; // the index in the list without them; -1 for the end
  list: string[]; // the list afterwards
}

// planned returns what a move does. The tasks are inserted before one of the list, or at the
// end. A worker gets them together with the tasks that are linked to them.
export function planned(records: Records, ids: readonly string[], to: ListKey, before = ''): Planned {
  let wanted = to === pool || workerOf(to) ? withFamily(records, ids, to) : [...ids];
  if (!workerOf(to)) wanted = wanted.filter((id) => records.home(id) !== to); // a pool has no order
  const free = wanted.filter((id) => !obstacleOf(records, id));
  const taken = new Set(free);
  const list = records.list(to).filter((id) => !taken.has(id));
  const at = before && !taken.has(before) ? list.indexOf(before) : -1;
  list.splice(at < 0 ? list.length : at, 0, ...free);
  return { wanted, free, at, list };
}

// withFamily adds the linked tasks that can move and are not in the list yet.
function withFamily(records: Records, ids: readonly string[], to: ListKey): string[] {
  const wanted = new Set(ids);
  return family(records, ids).filter((id) => wanted.has(id) || (records.home(id) !== to && !obstacleOf(records, id)));
}

// family returns tasks together with all tasks that are linked to them by dependencies: one
// worker carries both a pickup and its drop-off.
function family({ tasks }: Records, ids: readonly string[]): string[] {
  const all = new Set<string>();
  const dependents = new Map<string, string[]>();
  for (const task of tasks.values()) {
    for (const other of task.dependencies ?? []) dependents.set(other, [...(dependents.get(other) ?? []), task.id]);
  }
  const add = (id: string) => {
    if (all.has(id) || !tasks.has(id)) return;
    for (const other of tasks.get(id)?.dependencies ?? []) add(other);
    all.add(id);
    for (const other of dependents.get(id) ?? []) add(other);
  };
  ids.forEach(add);
  return [...all];
}
