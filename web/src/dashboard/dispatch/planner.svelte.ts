// The dispatch that is shown, the task or worker that its views emphasize, and its requests.

import { call, Failure, patiently } from '../api.ts';
import { app } from '../app.svelte.ts';
import { board } from '../board/board.svelte.ts';
import { toTask, type ApiTask, type BoardTask } from '../board/wire.ts';
import { compare, plannedName, type Comparison, type Side } from './compare.ts';
import { isActive, type Difference, type Dispatch, type DispatchStatus, type Route } from './wire.ts';

const soon = 400; // ms between requests while routes are planned
const settle = 2500; // ms after a change until the differences are read from the server
const tones = 8; // colors of routes
const mostLookups = 200; // maximum number of tasks to read that are not on the board
const atOnce = 4; // concurrent requests

// Mark is emphasized in all views: a worker, or a task and the worker who has it.
export interface Mark {
  worker: string;
  task: string;
}

const nothing: Mark = { worker: '', task: '' };

export class Planner {
  dispatch = $state.raw<Dispatch>();
  differences = $state.raw<readonly Difference[]>([]); // these prevent the plan from being applied
  failure = $state.raw<unknown>();
  busy = $state(false); // a request of the person is under way
  picked = $state.raw<Mark>(nothing);
  hovered = $state.raw<Mark>(nothing);
  range = $state.raw<readonly [number, number]>([0, 1]); // the range of both timelines
  own = $state(false);
  found = $state(0); // incremented when tasks were read that the board does not have
  private readonly others = new Map<string, BoardTask>();
  private gone = false;
  private latest = 0; // number of the last read
  private reading = Promise.resolve(); // the last read
  private timer: ReturnType<typeof setTimeout> | undefined;

  readonly comparison = $derived<Comparison | undefined>(this.isPlanned ? compare(this.dispatch!) : undefined);
  readonly tones = $derived(new Map((this.dispatch?.plan.routes ?? []).map((r, i) => [r.routeId, `tone${i % tones}`])));
  readonly shown = $derived<Mark>(this.hovered.worker || this.hovered.task ? this.hovered : this.picked);

  get status(): DispatchStatus | undefined {
    return this.dispatch?.processingDetails.status;
  }

  // isPlanned reports whether there is a plan to show.
  get isPlanned(): boolean {
    const { status } = this;
    return status === 'planned' || status === 'applying' || status === 'success' || status === 'discarded';
  }

  get start(): number {
    return this.dispatch?.processingDetails.startTime ?? 0;
  }

  // open shows a dispatch, and follows it until it has ended. After a change, the plan of a
  // dry run is compared with the current state again.
  open(id: string): () => void {
    void this.read(id);
    const unwatch = board.watch(({ all, tasks, lists, workers }) => {
      if (this.status === 'planned' && (all || tasks.size + lists.size + workers.size > 0)) this.later(id);
    });
    return () => {
      this.gone = true;
      clearTimeout(this.timer);
      unwatch();
    };
  }

  // later reads the dispatch again after a while, which is longer for a large one.
  private later(id: string, after = settle + (this.dispatch?.tasks.length ?? 0) * 10) {
    this.timer ??= setTimeout(() => void this.read(id), after);
  }

  // read reads the dispatch. Of several concurrent calls, all wait for the last, whose response
  // is the newest.
  read(id: string): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    return (this.reading = this.fetch(id, ++this.latest));
  }

  private async fetch(id: string, number: number): Promise<void> {
    try {
      const dispatch = await call<Dispatch>('GET', `/dispatches/${encodeURIComponent(id)}`);
      if (this.gone) return;
      if (number !== this.latest) return await this.reading;
      const first = !this.isPlanned;
      this.failure = undefined;
      this.differences = dispatch.differences;
      // A plan that has not changed is not drawn again.
      const { status } = dispatch.processingDetails;
      if (status !== 'planned' || status !== this.status) this.dispatch = dispatch;
      if (isActive(status)) this.later(id, soon);
      else if (first) void this.lookUp();
    } catch (error) {
      if (this.gone) return;
      if (number !== this.latest) return await this.reading;
      this.failure = error;
      // Without a connection, or if the server fails, it tries again.
      if (error instanceof Failure && (error.status === 0 || error.status >= 500)) this.later(id, 3000);
    }
  }

  // request sends a request that changes the dispatch.
  async request(what: 'stop' | 'apply' | 'discard' | 'undone') {
    const id = this.dispatch?.id;
    if (!id) return;
    this.busy = true;
    try {
      await call('POST', `/dispatches/${id}/${what}`, {});
    } finally {
      this.busy = false;
      await this.read(id);
    }
  }

  // ended waits until the server has finished the dispatch, even if the page is left meanwhile,
  // and returns its status.
  async ended(): Promise<DispatchStatus> {
    for (;;) {
      const status = this.gone ? await this.poll() : this.status;
      if (!status || !isActive(status)) return status ?? 'failed';
      await new Promise((resolve) => setTimeout(resolve, this.gone ? soon : 100));
    }
  }

  // poll returns the status that the server reports; undefined if it cannot be reached.
  private async poll(): Promise<DispatchStatus | undefined> {
    const read = () => call<Dispatch>('GET', `/dispatches/${this.dispatch!.id}`);
    try {
      return (await patiently(read, new AbortController().signal)).processingDetails.status;
    } catch {
      return undefined;
    }
  }

  // route returns the route of a worker on one side of the comparison.
  route(side: Side, worker: string): Route | undefined {
    const { plan, before } = this.dispatch!;
    return (side === 'before' ? before : plan.routes).find((r) => r.routeId === worker);
  }

  task(id: string): BoardTask | undefined {
    void this.found;
    return board.task(id) ?? this.others.get(id);
  }

  // titleOf returns the name of a task.
  titleOf(id: string): string {
    const task = this.task(id);
    if (task) return task.recipients?.[0]?.name || task.shortId;
    const planned = this.dispatch?.tasks.find((t) => t.id === id); // the task was deleted
    return planned ? plannedName(planned) : id;
  }

  nameOf(worker: string): string {
    return board.person(worker)?.name ?? worker;
  }

  // called returns the name of a worker or task; '' if the id is neither.
  called(id: string): string {
    return board.person(id)?.name ?? (this.task(id) ? this.titleOf(id) : '');
  }

  // lookUp reads the tasks of the plan that are not on the board, for their names and
  // locations.
  private async lookUp() {
    while (!board.ready && !this.gone) await new Promise((resolve) => setTimeout(resolve, 100));
    const missing = [...(this.comparison?.fates.keys() ?? [])].filter((id) => !board.records.tasks.has(id) && !this.others.has(id)).slice(0, mostLookups); // prettier-ignore
    const next = async () => {
      for (let id = missing.pop(); id && !this.gone; id = missing.pop()) {
        try {
          this.others.set(id, toTask(await call<ApiTask>('GET', `/tasks/${id}`)));
        } catch {
          // The task was deleted: only the plan contains it.
        }
      }
    };
    await Promise.all(Array.from({ length: atOnce }, next));
    if (this.others.size > 0) this.found++;
  }

  pick(worker: string, task = '') {
    this.picked = { worker, task };
    this.hovered = nothing; // until the pointer moves
  }

  // whose returns the worker who has a task on one side or, if none has, on the other.
  whose(task: string, side: Side = 'after'): string {
    const fate = this.comparison?.fates.get(task);
    return (side === 'before' ? fate?.from || fate?.to : fate?.to || fate?.from) ?? '';
  }

  hover(worker: string, task = '') {
    const { hovered } = this;
    if (hovered.worker !== worker || hovered.task !== task) this.hovered = { worker, task };
  }

  get mayChange(): boolean {
    return board.mayChange && !app.lost;
  }
}
