// The shared state of the board: its records, the selection and the filter. Map, lists,
// timeline and table are views of it. It outlives the screens that show it.

import type { Message } from '../../driver/stream.ts';
import { call, handlers, query } from '../api.ts';
import { app } from '../app.svelte.ts';
import { day } from '../format.ts';
import { next } from '../schedule.ts';
import type { Admin } from '../wire.ts';
import { Conflicts } from './conflicts.ts';
import { everything, Groups, narrow, type Filter } from './groups.ts';
import { Replay } from './replay.svelte.ts';
import { listOf, nothing, pool, Records, type ListKey, type Touched } from './records.ts';
import { Stream } from './stream.ts';
import { eased, forgo, nextTurn, turn } from './turns.ts';
import { toTask, type ApiTask } from './wire.ts';
import type { BoardTask, BoardWorker, Estimates, Event, ListChange, Position, Snapshot } from './wire.ts';

const batch = 200; // ms between two updates of the views
const slice = 6; // ms of one update in which events are applied
const breath = 30; // ms between two parts of an update
const longest = 400; // ms between two updates of the views while many events are applied
const lingers = 60_000; // ms for which the records stay current after the last screen closes
const retries = 5; // attempts to read teams, hubs and workers while workers change
const rest = 1000; // ms between two of these reads
const ahead = 60_000; // ms by which this computer's clock is probably ahead of the server's at most
const old = 9; // seconds without a message after which the board shows their number

// Outcome is the result of a change for one of its tasks.
export interface Outcome {
  id: string;
  reason: string; // '' if it was done
}

type Watcher = (touched: Touched) => void;

class Board {
  readonly records = new Records();
  readonly groups = new Groups(this.records);
  frame = $state(0); // incremented when records have changed
  now = $state(Date.now()); // updated every 10 seconds
  ready = $state(false);
  failure = $state.raw<unknown>();
  connected = $state(false);
  age = $state(0); // seconds since the last message; 0 if it is recent
  date = $state(''); // '' for today
  private early = false; // the day that is shown was chosen before it began
  renewed = false; // the day that is shown has begun since the person chose what to show
  filter = $state.raw<Filter>(everything);
  selection = $state.raw<ReadonlySet<string>>(new Set());
  cursor = $state(''); // the row of the keyboard cursor: a task or a list
  open = $state(''); // the task in the drawer
  unfolded = $state.raw<ReadonlySet<ListKey>>(new Set([pool]));
  worker = $state(''); // the worker whose route is shown
  report = $state.raw<readonly Outcome[]>([]); // outcomes of the last change of several tasks
  replay = $state.raw<Replay>(); // set while a past day is shown
  table: (() => string[]) | undefined; // set while the table is shown; returns the tasks in it
  private past = false; // whether a past day is shown instead of the present
  readonly people = new Map<string, string>(); // names of administrators, as far as known
  private whole = true; // the tasks of all teams are read, not only of the chosen one
  private anchor = '';
  private stream: Stream | undefined;
  private users = 0;
  private queue: Message[] = [];
  private head = 0;
  private part: Generator<void> | undefined; // the rest of the message that is being applied
  private due: ReturnType<typeof setTimeout> | undefined;
  private shownAt = 0; // performance.now of the last update of the views
  private searching: ReturnType<typeof setTimeout> | undefined;
  private readonly clocked = {}; // identifies the periodic update in turns.ts
  private clock: ReturnType<typeof setInterval> | undefined;
  private receivedAt = 0;
  private staff = 0; // the latest version of teams, hubs and schedules that the stream has announced
  private staffing = false; // teams, hubs and schedules are being read
  private admitting = false; // the tasks of newcomers are being read
  private readonly watchers = new Set<Watcher>();
  private readonly conflicts = new Conflicts(this.records, () => this.stream, () => this.plan()); // prettier-ignore

  constructor() {
    this.records.clock = () => this.time();
    $effect.root(() => {
      $effect(() => {
        if (app.reconnected) this.stream?.hurry();
      });
    });
  }

  // time returns the time that is shown: that of the replay, or else the current time.
  time(): number {
    return this.replay?.time ?? Date.now();
  }

  // openPast shows a past day instead of the present, until closePast.
  openPast(date: string) {
    if (this.replay && (date || day(Date.now())) === (this.date || day(Date.now()))) return;
    this.past = true;
    this.choose(date);
  }

  closePast() {
    this.past = this.renewed = this.early = false;
    this.date = '';
    this.open = '';
    this.stop();
    this.ready = false;
    if (this.users > 0) this.start();
  }

  // use keeps the board current for a screen, until the function that it returns is called.
  use(): () => void {
    this.users++;
    if (!this.stream && !this.replay) this.start();
    return () => {
      this.users--;
      setTimeout(() => this.users === 0 && this.stop(), lingers);
    };
  }

  // watch calls a function after every change, with what has changed.
  watch(watcher: Watcher): () => void {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  }

  // until waits until the records are as expected, but no longer than ms.
  until(expected: () => boolean, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        ignore();
        resolve();
      };
      const timer = setTimeout(end, ms);
      const ignore = this.watch(() => expected() && end());
      if (expected()) end();
    });
  }

  private start(ready = false) {
    this.ready = ready; // the former records are shown until the others are read
    this.failure = undefined;
    if (this.past) {
      this.replay = new Replay(this.date, this.records, (first) => {
        if (first) this.ready = true;
        this.now = this.time();
        this.show();
      });
      return;
    }
    this.stream = new Stream(this.date, this.whole ? '' : this.filter.team, {
      loaded: async (snapshot, signal) => {
        this.drop();
        this.records.load(snapshot);
        this.hear();
        await nextTurn();
        if (signal.aborted) return;
        this.show();
        this.ready = true;
        this.failure = undefined;
      },
      alive: () => this.hear(),
      message: (message) => {
        this.queue.push(message);
        this.plan();
      },
      connected: (connected) => {
        this.connected = connected;
        if (connected) this.hear();
        else void app.probe(); // the network may be down, and no other request under way
      },
      failed: (error) => (this.failure = error),
      signedOut: () => {
        this.stop(); // the next screen starts again
        handlers.signedOut();
      },
    });
    let ticks = 0;
    this.clock ??= setInterval(() => {
      const silent = Math.floor((performance.now() - this.receivedAt) / 1000);
      this.age = this.ready && silent >= old ? silent : 0;
      const begun = this.early && this.date === day(Date.now() - ahead);
      if (begun || this.stream?.outdated(Date.now())) {
        this.now = Date.now();
        this.date = '';
        this.early = false;
        this.renewed = true;
        this.again(this.ready);
      }
      if (++ticks % 10 !== 0) return;
      this.now = Date.now();
      if (ticks % 30 === 0 && this.ready) {
        turn(this.clocked, () => {
          const tasks = this.groups.elapse(this.now);
          if (tasks.size > 0) this.inform({ ...nothing(), tasks });
          this.frame++;
        });
      }
    }, 1000);
  }

  private stop() {
    this.stream?.close();
    this.stream = undefined;
    this.replay?.close();
    this.replay = undefined;
    clearInterval(this.clock);
    clearTimeout(this.due);
    forgo(this);
    forgo(this.clocked);
    this.conflicts.stop();
    this.clock = this.due = undefined;
    this.drop();
    this.connected = false;
  }

  // drop discards the messages that are not applied.
  private drop() {
    this.queue = [];
    this.head = 0;
    this.part = undefined;
  }

  // again starts over with a new snapshot.
  again(ready = false) {
    this.stop();
    this.start(ready);
  }

  // show updates the views after the records have changed.
  show() {
    this.digest();
    this.frame++;
  }

  // digest updates what is derived from the records.
  private digest() {
    const touched = this.records.take();
    this.groups.update(touched, this.time());
    this.prune(touched);
    this.inform(touched);
  }

  private inform(touched: Touched) {
    for (const watcher of this.watchers) watcher(touched);
  }

  task(id: string): BoardTask | undefined {
    void this.frame;
    return this.records.tasks.get(id);
  }

  person(id: string): BoardWorker | undefined {
    void this.frame;
    return this.records.workers.get(id);
  }

  private hear() {
    this.receivedAt = performance.now();
    this.age = 0;
  }

  private plan(wait = eased(batch)) {
    this.due ??= setTimeout(() => this.flush(), wait);
  }

  // flush applies the messages in the queue and then shows the result, in short steps, so
  // that the page stays responsive.
  private flush() {
    this.due = undefined;
    const news = this.queue.length > 0; // otherwise something was read again
    const until = performance.now() + slice;
    while ((this.part ?? this.head < this.queue.length) && performance.now() < until) {
      this.part ??= this.apply(this.queue[this.head++]!);
      if (this.part.next().done) this.part = undefined;
    }
    const rest = this.part !== undefined || this.head < this.queue.length;
    if (rest && performance.now() < this.shownAt + longest) {
      this.plan(breath);
      return;
    }
    if (!rest) this.drop();
    this.due = setTimeout(() => {
      this.due = undefined;
      this.shownAt = performance.now();
      this.digest();
      if (news) this.conflicts.settle();
      void this.admit();
      if (rest || this.queue.length > 0) this.plan(rest ? breath : undefined);
      if (document.hidden) this.frame++;
      else turn(this, () => this.frame++);
    });
  }

  // apply applies a message, in parts if it contains many records.
  private *apply({ event, data }: Message): Generator<void> {
    const { records } = this;
    if (event === 'positions') for (const p of JSON.parse(data) as Position[]) records.position(p);
    else if (event === 'tasks') for (const t of JSON.parse(data) as BoardTask[]) yield records.addTask(t);
    else if (event === 'estimates') for (const e of JSON.parse(data) as Estimates[]) yield records.estimate(e);
    else if (event === 'hidden') records.removeTask((JSON.parse(data) as { task: string }).task);
    else if (event === 'fleet') void this.refreshFleet((JSON.parse(data) as { version: number }).version);
    else if (event === 'containers') {
      const change = JSON.parse(data) as ListChange;
      records.applyOrder(change);
      if (!change.tasks) this.conflicts.reread(records.keyOf(change.container));
    } else records.apply(JSON.parse(data) as Event);
  }

  // refreshFleet reads teams, hubs and workers after their version has changed. Changes that
  // come at the same time are read together.
  private async refreshFleet(version: number) {
    this.staff = version;
    if (this.staffing) return;
    this.staffing = true;
    const { stream, records } = this;
    const path = this.path({ tasks: false });
    try {
      for (let i = 0; i < retries && this.staff > records.fleet; i++) {
        const { fleetChanges } = records;
        const shown = await call<Snapshot>('GET', path);
        if (stream !== this.stream) break;
        if (fleetChanges === records.fleetChanges) {
          // otherwise an event is newer than what was read
          records.replaceFleet(shown, app.me?.type !== 'super');
          this.show();
          i = 0;
        }
        await new Promise((resolve) => setTimeout(resolve, rest));
      }
    } catch {
      // The next stream announces the version again.
    }
    this.staffing = false;
    if (this.stream && stream !== this.stream && this.staff > records.fleet) void this.refreshFleet(this.staff);
  }

  // admit reads the tasks of workers and teams that a standard administrator did not see
  // before. Events report only what happens to them from now on.
  private async admit() {
    const { stream, records } = this;
    if (this.admitting || records.newcomers.size === 0 || app.me?.type === 'super') return;
    this.admitting = true;
    await new Promise((resolve) => setTimeout(resolve, rest)); // so that several are read together
    try {
      records.removed.clear();
      const shown = await call<Snapshot>('GET', this.path());
      if (stream === this.stream) {
        records.admit(shown);
        this.show();
      }
    } catch {
      // The next message causes another attempt.
    }
    this.admitting = false;
  }

  // path returns the path of the board's snapshot.
  private path(more = {}): string {
    return `/board${query({ date: this.date, ...(!this.whole && { teams: this.filter.team }), ...more })}`;
  }

  // created selects and opens a new task at once, whether or not the stream has sent it.
  created(task: ApiTask) {
    this.records.addTask(toTask(task));
    this.show();
    this.reveal(task.id);
    this.open = task.id;
  }

  // prune removes from the selection tasks that no longer exist.
  private prune(touched: Touched) {
    if (touched.all || [...touched.tasks].some((id) => this.selection.has(id))) {
      this.retain((id) => this.records.tasks.has(id));
    }
  }

  // retain removes from the selection tasks that are not visible any more: actions must not
  // affect them.
  retain(stays: (id: string) => boolean) {
    const ids = [...this.selection].filter(stays);
    if (ids.length < this.selection.size) this.selection = new Set(ids);
  }

  // choose shows another day; '' for today.
  choose(date: string) {
    const today = day(Date.now());
    this.date = date === today ? '' : date;
    this.early = date > today;
    this.renewed = false;
    this.clear();
    this.open = '';
    this.again();
  }

  shift(days: number) {
    const date = next(this.date || day(Date.now()), days);
    if (!this.past || date <= day(Date.now())) this.choose(date);
  }

  // search shows tasks that match a text. It searches before the frame that shows the result.
  search(text: string) {
    clearTimeout(this.searching);
    this.searching = setTimeout(() => {
      this.groups.narrow({ ...this.filter, text }, this.time());
      turn(this.narrow, () => this.narrow({ text }));
    });
  }

  narrow(change: Partial<Filter>) {
    const other = change.team !== undefined && change.team !== this.filter.team;
    this.filter = { ...this.filter, ...change };
    this.groups.narrow(this.filter, this.time());
    this.retain((id) => this.groups.shows(id, this.time()));
    this.frame++;
    this.inform({ ...nothing(), all: true });
    // If the day has too many tasks, only those of the chosen team are read.
    if (other && (this.records.truncated || !this.whole)) {
      this.whole = this.filter.team === '';
      this.again();
    }
  }

  // rows returns the visible rows of the table or, if it is not shown, of the lists, in order:
  // keys of lists and ids of tasks.
  rows(): string[] {
    if (this.table) return this.table();
    return this.groups.groups.flatMap((g) => (this.unfolds(g.key) ? [g.key, ...g.ids] : [g.key]));
  }

  unfolds(key: ListKey): boolean {
    return this.unfolded.has(key) || narrow(this.filter);
  }

  fold(key: ListKey, unfold = !this.unfolded.has(key)) {
    const next = new Set(this.unfolded);
    if (unfold) next.add(key);
    else next.delete(key);
    this.unfolded = next;
  }

  // select selects only one task, adds it to the selection or removes it, or extends the
  // selection to it from the task that was selected last.
  select(id: string, how: 'only' | 'toggle' | 'range' = 'only', among: readonly string[] = this.rows()) {
    if (how === 'range' && this.anchor) {
      const [a, b] = [among.indexOf(this.anchor), among.indexOf(id)];
      const range = among.slice(Math.min(a, b), Math.max(a, b) + 1).filter((row) => this.records.tasks.has(row));
      this.selection = new Set([...(a < 0 ? this.selection : []), ...range, id]);
    } else if (how === 'toggle') {
      const next = new Set(this.selection);
      if (!next.delete(id)) next.add(id);
      this.selection = next;
      this.anchor = id;
    } else {
      this.selection = new Set([id]);
      this.anchor = id;
    }
    this.cursor = id;
    this.worker = this.records.tasks.get(id)?.worker ?? this.worker;
  }

  selectAll(ids: Iterable<string>, add = false) {
    this.selection = new Set([...(add ? this.selection : []), ...ids]);
  }

  clear() {
    this.selection = new Set();
    this.anchor = '';
  }

  // reveal shows a task in every view: its list is unfolded and scrolled to.
  reveal(id: string) {
    const task = this.records.tasks.get(id);
    if (!task) return;
    const key = this.records.home(id) ?? (task.worker ? listOf(task.worker) : pool);
    if (!this.unfolds(key)) this.fold(key, true);
    this.select(id);
  }

  // meet reads the names of administrators. Standard administrators may not read them.
  async meet() {
    if (app.me?.type !== 'super') return;
    try {
      for (const { id, name } of await call<Admin[]>('GET', '/admins')) this.people.set(id, name);
    } catch {
      // They are shown as other dispatchers.
    }
  }

  get mayChange(): boolean {
    return app.me !== undefined && !app.me.isReadOnly && !this.past;
  }
}

export const board = new Board();
