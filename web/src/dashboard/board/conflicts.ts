// Lists and tasks that contradict each other: the board reads them again.

import { call, Failure } from '../api.ts';
import { spaced } from '../paced.ts';
import { pool, type ListKey, type Records } from './records.ts';
import { toTask, type ApiTask, type Container, type ListChange } from './wire.ts';

const patience = 2000; // ms for which a list and its tasks may contradict each other
const rest = 1000; // ms between two reads of a list
const mostTasks = 100; // maximum number of tasks to read at a time

export class Conflicts {
  private due: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly records: Records,
    private readonly stream: () => object | undefined, // returns the stream that is followed; what was read for another one is dropped
    private readonly changed: () => void, // called when the records have changed
  ) {}

  // reread reads a list that is too long for the stream, or that contradicts a task. Many
  // changes of a list are read together.
  readonly reread = spaced(async (key: ListKey) => {
    const stream = this.stream();
    if (key === pool || !stream) return;
    try {
      const { type, worker, team, ...list } = await call<Container & ListChange>('GET', this.records.path(key));
      if (stream !== this.stream()) return; // another day is shown
      this.records.applyOrder({ ...list, container: { type, ...(worker && { worker }), ...(team && { team }) } });
      this.changed();
    } catch {
      // The stream will report the list again.
    }
  }, rest);

  // settle rereads lists that still contradict a task after a while, and tasks that are in no
  // list: if a task moves to a team that the user does not see, the stream reports only the
  // list that it left.
  settle() {
    const { records } = this;
    if (this.due || (records.conflictingLists().length === 0 && records.orphans().length === 0)) return;
    this.due = setTimeout(() => {
      this.due = undefined;
      for (const key of records.conflictingLists()) this.reread(key);
      for (const id of records.orphans().slice(0, mostTasks)) void this.find(id);
    }, patience);
  }

  stop() {
    clearTimeout(this.due);
    this.due = undefined;
  }

  private async find(id: string) {
    const stream = this.stream();
    try {
      const task = await call<ApiTask>('GET', `/tasks/${id}`);
      if (stream !== this.stream()) return;
      this.records.setTask(toTask(task));
    } catch (error) {
      if (stream !== this.stream()) return;
      if (!(error instanceof Failure) || error.status < 400 || error.status >= 500) return;
      this.records.removeTask(id);
    }
    this.changed();
  }
}
