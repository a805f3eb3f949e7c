// The rows of the list next to a comparison: the tasks that are left out, then the workers
// with their tasks.

import type { Comparison } from './compare.ts';

export const leftKey = 'left'; // the row of the tasks that are left out

export interface ListRow {
  key: string;
  worker: string; // '' for tasks that are left out
  task: string; // '' for a head
}

// rowsOf returns the visible rows. Below a worker are the tasks of their planned route, then
// the tasks that go to others.
export function rowsOf(c: Comparison, unfolded: ReadonlySet<string>): ListRow[] {
  const rows: ListRow[] = [];
  if (c.left.length > 0) {
    rows.push({ key: leftKey, worker: '', task: '' });
    if (unfolded.has(leftKey))
      for (const { id } of c.left) rows.push({ key: `${leftKey} ${id}`, worker: '', task: id });
  }
  const tasks = new Map<string, string[]>();
  const put = (worker: string, id: string) => {
    if (!unfolded.has(worker)) return;
    const list = tasks.get(worker);
    if (list) list.push(id);
    else tasks.set(worker, [id]);
  };
  const fates = [...c.fates.values()];
  for (const f of fates.filter((f) => f.to).sort((a, b) => a.after!.arrivalTime - b.after!.arrivalTime))
    put(f.to, f.id);
  for (const f of fates) if (f.from && f.to && f.from !== f.to) put(f.from, f.id);
  for (const { worker } of c.rows) {
    rows.push({ key: worker, worker, task: '' });
    for (const task of tasks.get(worker) ?? []) rows.push({ key: `${worker} ${task}`, worker, task });
  }
  return rows;
}
