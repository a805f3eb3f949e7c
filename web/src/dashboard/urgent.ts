// The tasks that are due first, of a list that is read in another order.

interface Due {
  id: string;
  completeBefore: number | null;
}

export interface TaskPage<T> {
  tasks: T[];
  lastId?: string; // if there are more
}

const never = 4_102_444_800_000; // the latest time that the API accepts: the end of 2099
const maxReads = 10; // enough for 500 tasks in the worst order, and for any number in random order

// urgent returns the n tasks that are due first, tasks without a deadline last. read returns
// the first page of all tasks or, with a time, of those due by then. Each further read is
// limited to tasks due no later than n of those on the page before.
export async function urgent<T extends Due>(n: number, read: (by?: number) => Promise<TaskPage<T>>) {
  const due = (t: T) => t.completeBefore ?? never;
  const sorted = (tasks: Iterable<T>) => [...tasks].sort((a, b) => due(a) - due(b)).slice(0, n);
  const first = await read();
  const found = new Map(first.tasks.map((t) => [t.id, t]));
  let [page, by] = [first, never + 1];
  for (let i = 1; page.lastId !== undefined && i < maxReads; i++) {
    const last = sorted(page.tasks).at(-1);
    by = Math.min(last ? due(last) : never, by - 1);
    page = await read(by);
    for (const task of page.tasks) found.set(task.id, task);
  }
  return { tasks: sorted(found.values()), count: first.tasks.length, more: first.lastId !== undefined };
}
