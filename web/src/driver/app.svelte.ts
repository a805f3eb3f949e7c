// The state of the app, and everything that changes it.

import { battery, describe } from './device.ts';
import { departed, overlay, settle } from './overlay.ts';
import { discard, flush, isStuck, pause, waiting, withImages, type Image, type Item, type Send, type Verb } from './queue.ts'; // prettier-ignore
import { call, type Later, type Outcome, type Request } from './remote.ts';
import { link, replace } from './route.svelte.ts';
import { keepDrafts, kept, shelf, trail } from './shelf.ts';
import { follow } from './stream.ts';
import { keepArea } from './area.ts';
import { due, query, until, usable, type Routed } from './ways.ts';
import { distance } from '../map/project.ts';
import { onRoads, type Route } from '../map/way.ts';
import type { Self } from '../map/scene.ts';
import { detector } from './scanner.ts';
import {
  active,
  title,
  type Point,
  type Position,
  type Settings,
  type Task,
  type Worker,
  type WorkList,
} from './wire.ts';
import { choices, type NavigationApp } from './navigation.ts';
import { dictionary, english, fill, isLanguage, preferred, type Language, type Words } from './words.ts';

const pollEvery = 30_000; // ms between refreshes without a stream
const refreshEvery = 60_000; // the same with a stream, which does not report every change of an estimate
const historyFor = 3_600_000; // maximum age of the completed tasks of the day
const estimatesAfter = 2_000; // ms after a change until the server has new estimates
const sendPositionsEvery = 10_000;
const batch = 500; // positions in one request
const tickEvery = 20_000; // updates texts that depend on the time
const longestGap = 60_000; // without a position, before the worker is warned
const closeBy = 150; // metres from the destination within which directions are not needed
const freshFor = 120_000; // maximum age of a position that is attached to an action

export type Connection = 'live' | 'polling' | 'offline';

interface Kept {
  list: WorkList;
  at: number;
}

// Stay is the task that the worker has arrived at, and the location once it is
// known.
interface Stay {
  task: string;
  at: Point | null;
}

// Finished is the task that was completed last.
export interface Finished {
  id: string;
  title: string;
  success: boolean;
}

const none: WorkList = { version: 0, activeTask: null, tasks: [] };

class App {
  ready = $state(false);
  noStorage = $state(false); // the phone's storage cannot be used
  worker = $state<Worker | null>(null);
  mustSetPassword = $state(false);
  ended = $state(false); // the server ended the session
  list = $state.raw<WorkList>(none);
  listAt = $state(0);
  offered = $state.raw<Task[]>([]); // tasks that can be claimed
  settings = $state.raw<Settings | null>(null);
  history = $state.raw<Task[]>([]); // completed today
  finished = $state.raw<Finished | null>(null);
  navigated = $state.raw<ReadonlySet<string>>(new Set()); // tasks to which directions were shown
  navigator = $state<NavigationApp | ''>(''); // chosen by the worker
  choosing = $state.raw<Task | null>(null); // the task to show the way to, once the app is chosen
  keepAwake = $state(true);
  tracker = $state(false); // another app reports positions
  gap = $state.raw<{ from: number; to: number } | null>(null); // the last long period without a position
  now = $state(Date.now());
  items = $state.raw<Item[]>([]);
  arrivals = $state.raw<ReadonlySet<string>>(new Set());
  position = $state.raw<Position | null>(null);
  locationDenied = $state(false);
  connection = $state<Connection>('polling');
  sending = $state(false);
  unsaved = $state(false); // the last action could not be saved on the phone
  words = $state.raw<Words>(english);
  language = $state<Language>('en');
  chosen = $state<Language | ''>(''); // chosen by the worker

  mine = $derived(this.items.filter((i) => i.worker === this.worker?.id));
  waiting = $derived(waiting(this.items, this.worker?.id ?? ''));
  rejected = $derived(this.mine.filter((i) => i.rejection !== undefined));
  stuck = $derived(this.waiting.filter(isStuck));
  view = $derived(overlay(this.list, this.worker?.onDuty ?? false, this.waiting, this.arrivals));
  // What maps show: the worker, and the way through the open stops.
  self = $derived<Self | null>(
    this.position && {
      point: this.position.location,
      time: this.position.time,
      accuracy: this.position.accuracy,
      heading: this.position.heading,
    },
  );
  routed = $state.raw<Routed | null>(null);
  private stopsAhead = $derived(this.view.open.map((s) => s.task.destination.location));
  way = $derived(usable(this.routed, this.stopsAhead));
  wayToNext = $derived(this.stopsAhead[0] ? until(this.way, this.stopsAhead[0]) : []);
  home = $derived(this.settings?.home ?? null);
  offers = $derived(this.offered.filter((t) => !this.waiting.some((i) => i.kind === 'claim' && i.task === t.id)));

  private token = '';
  private failures = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private syncing: Promise<void> | undefined;
  private again = false;
  private stop: AbortController | undefined;
  private watch: number | undefined;
  private lastNoted: Position | undefined;
  private lastOrder = 0;
  private stay: Stay | null = null;
  private streaming = false;
  private hiddenSince = 0;
  private awake: WakeLockSentinel | undefined;
  private outline = '';
  private maps = 0; // number of visible maps
  private routing = false;
  private historyAt = 0; // when the completed tasks were fetched; 0 if they have changed

  // open restores the state stored on the phone. Without storage, actions could be lost, so that
  // the app cannot be used.
  async open() {
    try {
      await this.restore();
    } catch (error) {
      console.error(error);
      if (!this.chosen) await this.learn(preferred(navigator.languages));
      this.noStorage = true;
    }
    this.ready = true;
  }

  private async restore() {
    await this.speak(localStorage.getItem('dray.language') ?? '');
    this.token = localStorage.getItem('dray.token') ?? '';
    this.keepAwake = localStorage.getItem('dray.sleep') !== '1';
    this.tracker = localStorage.getItem('dray.tracker') === '1';
    const navigator = localStorage.getItem('dray.navigator') as NavigationApp | null;
    if (navigator && choices(globalThis.navigator.userAgent).includes(navigator)) this.navigator = navigator;
    this.items = await shelf.items();
    this.lastOrder = Math.max(0, ...this.items.map((i) => i.order));
    if (this.token) {
      this.worker = (await kept.get<Worker>('worker')) ?? null;
      this.mustSetPassword = (await kept.get<boolean>('mustSetPassword')) ?? false;
      await this.recall();
    }
    if (!this.worker) this.token = '';
    else if (!this.mustSetPassword) this.begin();
  }

  private async recall() {
    const last = await kept.get<Kept>('list');
    this.list = last?.list ?? none;
    this.listAt = last?.at ?? 0;
    this.arrivals = new Set((await kept.get<string[]>('arrivals')) ?? []);
    this.stay = (await kept.get<Stay | null>('stay')) ?? null;
    this.settings = (await kept.get<Settings>('settings')) ?? null;
    this.history = (await kept.get<Task[]>('history')) ?? [];
    this.navigated = new Set((await kept.get<string[]>('navigated')) ?? []);
    this.routed = (await kept.get<Routed>('routed')) ?? null;
  }

  // say returns a text of the dictionary.
  say(name: keyof Words, values: Record<string, string | number> = {}): string {
    return fill(this.words[name], values);
  }

  // speak changes the language; "" means the phone's.
  async speak(language: string) {
    this.chosen = isLanguage(language) ? language : '';
    await this.learn(this.chosen || preferred(navigator.languages));
    localStorage.setItem('dray.language', this.chosen);
  }

  private async learn(language: Language) {
    this.language = language;
    document.documentElement.lang = this.language;
    try {
      this.words = await dictionary(this.language);
    } catch {
      this.words = english; // not cached, and offline
    }
  }

  // signIn signs in, and returns why it failed, or "". It sends the token of an earlier
  // sign-in on this phone, so that failed attempts on other phones do not count.
  async signIn(phone: string, password: string): Promise<string> {
    const device = localStorage.getItem('dray.device') ?? '';
    const request = { method: 'POST', path: '/login', body: { phone, password, device } };
    const send = () => call<{ token: string; device: string; mustSetPassword: boolean; worker: Worker }>('', request);
    let outcome = await send();
    for (let i = 0; i < 3 && outcome.kind === 'later' && outcome.after === 1000; i++) {
      await new Promise((resume) => setTimeout(resume, 1000 + 1000 * Math.random())); // many sign in at once
      outcome = await send();
    }
    if (outcome.kind === 'later') return this.delayed(outcome);
    if (outcome.kind !== 'done') return this.say('wrongPassword');
    const { token, worker, mustSetPassword, device: known } = outcome.value;
    try {
      await this.keepSession(token, worker, mustSetPassword, known);
    } catch {
      return this.say('notSaved');
    }
    this.ended = false;
    if (!mustSetPassword) this.begin();
    return '';
  }

  // keepSession stores a new session, and restores what is known of its worker.
  private async keepSession(token: string, worker: Worker, mustSetPassword: boolean, device: string) {
    localStorage.setItem('dray.device', device);
    const before = await kept.get<Worker>('worker');
    if (before && before.id !== worker.id) {
      await keepDrafts(new Set()); // drafts of another worker
      await kept.clear();
      await trail.clear();
    }
    await kept.put('worker', worker);
    await kept.put('mustSetPassword', mustSetPassword);
    await this.recall();
    localStorage.setItem('dray.token', token);
    this.token = token;
    this.mustSetPassword = mustSetPassword;
    this.worker = worker; // shows the app
  }

  // delayed explains why a request can succeed only later. If the server asks to wait for
  // one second, it is busy, and no limit is reached.
  delayed({ after = 0, limited }: Later): string {
    if (limited && after > 1000) return this.say('tooManyAttempts', { n: Math.ceil(after / 1000) });
    return this.say(after ? 'busy' : 'noSignal');
  }

  // setPassword sets the password; oldPassword is empty if the old one was temporary.
  async setPassword(password: string, oldPassword: string): Promise<Outcome<unknown>> {
    const outcome = await this.call({ method: 'POST', path: '/password', body: { password, oldPassword } });
    if (outcome.kind === 'done' && this.mustSetPassword) {
      await this.keepMustSet(false);
      this.begin();
    }
    return outcome;
  }

  // signOutEverywhere ends all sessions of the worker.
  async signOutEverywhere(): Promise<Outcome<unknown>> {
    const outcome = await this.call({ method: 'DELETE', path: '/sessions' });
    if (outcome.kind === 'done') await this.reset();
    return outcome;
  }

  // signOut ends the session, if there is a connection, and removes the worker.
  // Actions not yet sent are kept for the next sign-in.
  async signOut() {
    void call(this.token, { method: 'POST', path: '/logout' });
    await this.reset();
  }

  private async reset() {
    this.halt();
    this.token = ''; // first: responses on the way are then ignored
    localStorage.removeItem('dray.token');
    this.ended = false;
    this.worker = null;
    this.list = none;
    this.offered = [];
    this.finished = this.gap = null;
    this.tracker = false; // signing out everywhere revokes its token
    localStorage.removeItem('dray.tracker');
    this.routed = null;
    replace(link.list); // where the next sign-in begins
    await keepDrafts(new Set());
    await kept.clear();
    await trail.clear();
    await keepArea([], []).catch(() => {});
  }

  // attempt runs an action, and shows if it could not be saved on the phone.
  async attempt(action: () => Promise<void>) {
    this.unsaved = false;
    await action().catch(() => (this.unsaved = true));
  }

  // act queues an action and sends it as soon as possible. Images are already on
  // the shelf, under their keys, or are stored there.
  async act(verb: Verb, task: Task, body: Record<string, unknown> = {}, images: Image[] = []) {
    const here = this.here();
    await withImages(shelf, images, (files) =>
      this.add({
        kind: verb,
        task: task.id,
        label: title(task),
        body: here ? { location: here, ...body } : body,
        files,
      }),
    );
    if (verb === 'arrive') {
      this.arrivals = new Set([...this.arrivals, task.id]);
      await Promise.allSettled([
        kept.put('arrivals', [...this.arrivals]),
        this.keepStay({ task: task.id, at: here ?? null }),
      ]);
    }
  }

  // finish completes a task, and shows the confirmation.
  async finish(task: Task, body: Record<string, unknown>, images: Image[]) {
    const finished = { id: task.id, title: title(task), success: body.success === true };
    await this.act('complete', task, body, images);
    this.finished = finished;
    this.historyAt = 0;
    replace(link.done);
  }

  // navigate is called before directions to a task are shown. It returns false if the
  // worker has to choose an app first.
  navigate(task: Task): boolean {
    if (!this.navigator) {
      this.choosing = task;
      return false;
    }
    this.navigated = new Set([...this.navigated, task.id]);
    void kept.put('navigated', [...this.navigated]);
    return true;
  }

  chooseNavigator(chosen: NavigationApp | '') {
    this.navigator = chosen;
    localStorage.setItem('dray.navigator', chosen);
    if (chosen && this.choosing) this.navigate(this.choosing);
    this.choosing = null;
  }

  // isClose reports whether the worker is at a task already.
  isClose(task: Task): boolean {
    const { position } = this;
    if (!position) return false;
    return distance(position.location, task.destination.location) < closeBy + Math.min(position.accuracy ?? 0, closeBy);
  }

  // drive estimates the seconds to a task that would be started out of order, as the
  // server does for cars; undefined if it is the next one or the position is unknown.
  drive(task: Task): number | undefined {
    const next = this.view.open.find((s) => s.task.state !== active);
    if (!this.position || next?.task.id === task.id) return undefined;
    return distance(this.position.location, task.destination.location) ** 0.75;
  }

  // watchWay keeps the way up to date while a map is visible, until the returned
  // function is called. A phone on which a map was seen also keeps the area for use
  // without signal.
  watchWay(): () => void {
    this.maps++;
    localStorage.setItem('dray.map', '1');
    void this.findWay();
    return () => this.maps--;
  }

  private async findWay() {
    const { position, stopsAhead, token } = this;
    if (this.routing || !token || !due(this.routed, stopsAhead, position, Date.now())) return;
    this.routing = true;
    const outcome = await this.call<Route>({ method: 'GET', path: `/route?stops=${query(stopsAhead, position)}` });
    this.routing = false;
    if (outcome.kind === 'later' || token !== this.token) return;
    const points = outcome.kind === 'done' ? onRoads(outcome.value, stopsAhead.length + 1) : [];
    this.routed = { stops: stopsAhead, at: Date.now(), points };
    await kept.put('routed', this.routed);
    void this.keepMap();
  }

  // keepMap stores the tiles of the day's area on the phone.
  private async keepMap() {
    if (localStorage.getItem('dray.map') !== '1') return;
    await keepArea(this.stopsAhead, this.way).catch(() => {}); // the map works without
  }

  // setTracker creates a token for a tracker app, which replaces an earlier token, or
  // revokes the token. It returns the new token.
  async setTracker(on: boolean): Promise<Outcome<{ token: string }>> {
    const outcome = await this.call<{ token: string }>({ method: on ? 'POST' : 'DELETE', path: '/tracker' });
    if (outcome.kind === 'done') {
      this.tracker = on;
      this.gap = null;
      localStorage.setItem('dray.tracker', on ? '1' : '');
    }
    return outcome;
  }

  setKeepAwake(on: boolean) {
    this.keepAwake = on;
    localStorage.setItem('dray.sleep', on ? '' : '1');
    void this.stayAwake();
  }

  // stayAwake keeps the screen on during a task: a phone that sleeps reports no
  // positions. Browsers end the lock when the app is not in front.
  private async stayAwake() {
    const wanted = this.keepAwake && this.worker !== null && this.view.onDuty && this.view.active !== null;
    if (!wanted || document.visibilityState !== 'visible') {
      await this.awake?.release();
      this.awake = undefined;
    } else if ((!this.awake || this.awake.released) && 'wakeLock' in navigator) {
      this.awake = await navigator.wakeLock.request('screen').catch(() => undefined); // low battery
    }
  }

  // leave reports, once, that the worker left the destination before completing
  // the task: service times are learned from it.
  private async leave(now: Position) {
    const { stay } = this;
    if (!stay) return;
    const seen = this.view.open.find((s) => s.task.id === stay.task);
    if (!seen || this.view.active !== stay.task) return this.keepStay(null);
    if (!stay.at) return this.keepStay({ ...stay, at: now.location });
    if (!departed(stay.at, now)) return;
    await this.keepStay(null);
    await this.act('depart', seen.task);
  }

  private async keepStay(stay: Stay | null) {
    this.stay = stay;
    await kept.put('stay', stay);
  }

  async setDuty(onDuty: boolean) {
    const device = describe(navigator.userAgent, import.meta.url);
    const level = await battery();
    const userData = level === null ? device : { ...device, batteryLevel: level };
    await this.add({ kind: 'duty', label: '', body: { onDuty, userData }, files: [] });
    this.watchDuty();
  }

  // retry sends rejected and stuck items again now. A rejected one may have been too far from
  // its destination, and gets the current location.
  async retry(items: Item[]) {
    const here = this.here();
    for (const { rejection, gone: _, stuck, ...again } of items) {
      if (rejection !== undefined && here && again.task) again.body = { ...again.body, location: here };
      await shelf.put(stuck ? { ...again, stuck: { ...stuck, until: 0 } } : again);
    }
    await this.reload();
    void this.sync();
  }

  async dismiss(item: Item) {
    await alone(() => discard(shelf, item)); // not while it is being sent
    await this.reload();
    void this.sync(); // actions on the same task have waited for it
  }

  // sync sends pending actions and fetches the list. A call while it is running
  // makes it run once more.
  sync(): Promise<void> {
    if (this.syncing) {
      this.again = true;
      return this.syncing;
    }
    this.syncing = this.exchange().finally(() => {
      this.syncing = undefined;
      if (this.again) {
        this.again = false;
        void this.sync();
      }
    });
    return this.syncing;
  }

  // exchange sends and fetches everything once, and plans the next time.
  private async exchange() {
    const { token } = this;
    const worker = this.worker?.id;
    if (!worker) return;
    clearTimeout(this.timer);
    const { version } = this.list;
    let acted = false;
    const settled = (item: Item) => {
      acted = true;
      if (token === this.token) this.settled(item);
    };
    const later = await this.transfer(worker, token, settled).catch(() => 'unsaved' as const);
    if (token !== this.token) return; // signed out, and perhaps in again
    this.failures = later ? this.failures + 1 : 0;
    if (later !== 'unsaved') this.connection = later ? 'offline' : this.streaming ? 'live' : 'polling';
    const changed = acted || this.list.version !== version;
    const rest = changed ? estimatesAfter : this.connection === 'live' ? refreshEvery : pollEvery;
    const after = later && later !== 'unsaved' ? later.after : undefined;
    this.timer = setTimeout(() => void this.sync(), later ? (after ?? pause(this.failures, Math.random())) : rest);
  }

  // transfer sends pending actions of a worker and fetches the list. It returns when to
  // continue if the server did not respond, and fails if the phone's storage does.
  private async transfer(
    worker: string,
    token: string,
    settled: (item: Item) => void,
  ): Promise<{ after?: number } | undefined> {
    this.sending = this.waiting.length > 0;
    const send: Send = (request) => this.call(request, token);
    const result = await alone(() => flush(shelf, worker, send, settled)).finally(() => (this.sending = false));
    await this.reload();
    void this.stayAwake();
    if (token !== this.token) return undefined;
    if (result.kind === 'later') return result;
    await this.sendPositions(); // if it fails, it is repeated soon; the list does not wait for it
    return (await this.refresh()) ? undefined : {};
  }

  // settled shows the result of an action before the list is fetched.
  private settled(item: Item) {
    if (item.rejection === undefined) {
      if (item.kind === 'complete') this.historyAt = 0;
      if (item.kind === 'duty' && this.worker)
        void this.keepWorker({ ...this.worker, onDuty: item.body.onDuty === true });
      this.list = settle(this.list, item);
      void kept.put('list', { list: this.list, at: this.listAt } satisfies Kept);
    }
    void this.reload();
  }

  // refresh fetches the list and the worker, and reports whether the server responded.
  private async refresh(): Promise<boolean> {
    const { token } = this;
    const [list, worker, offers] = await Promise.all([
      this.call<WorkList>({ method: 'GET', path: '/tasks' }),
      this.call<Worker>({ method: 'GET', path: '/me' }),
      this.refreshOffers(),
    ]);
    if (list.kind !== 'done') return list.kind !== 'later';
    if (worker.kind !== 'done') return worker.kind !== 'later';
    if (!offers) return false;
    if (token !== this.token) return true; // signed out meanwhile
    this.list = list.value;
    this.listAt = this.now = Date.now();
    const stored = kept.put('list', { list: list.value, at: this.listAt } satisfies Kept);
    await Promise.all([stored, this.keepWorker(worker.value)]);
    if (token !== this.token) return true;
    const open = new Set(list.value.tasks.map((t) => t.id));
    this.arrivals = await keepOnly('arrivals', this.arrivals, open);
    this.navigated = await keepOnly('navigated', this.navigated, open);
    await keepDrafts(open);
    if (this.maps > 0) void this.findWay();
    void this.keepMap();
    this.watchDuty();
    void this.stayAwake();
    const current = list.value.tasks.find((t) => t.id === list.value.activeTask);
    if (current && current.barcodes.required.length > 0) detector().catch(() => {}); // the stop may have no signal
    await this.refreshDay();
    return true;
  }

  // refreshOffers fetches the tasks that can be claimed, and reports whether the server
  // responded.
  private async refreshOffers(): Promise<boolean> {
    const { token } = this;
    const offered = await this.call<Task[]>({ method: 'GET', path: '/tasks/available' });
    if (offered.kind === 'done' && token === this.token) this.offered = offered.value;
    return offered.kind !== 'later';
  }

  // refreshDay fetches the completed tasks of the day and the settings, which change
  // rarely. By default, it does so only at the start, after a task was completed, and every
  // hour, because the day ends.
  async refreshDay(due = Date.now() - this.historyAt > historyFor) {
    if (!due) return;
    const { token } = this;
    const history = await this.call<Task[]>({ method: 'GET', path: '/tasks/completed' });
    if (history.kind !== 'done' || token !== this.token) return;
    this.historyAt = Date.now();
    this.history = history.value;
    await kept.put('history', history.value);
    const settings = await this.call<Settings>({ method: 'GET', path: '/settings' });
    if (settings.kind !== 'done' || token !== this.token) return;
    this.settings = settings.value;
    await kept.put('settings', settings.value);
  }

  // receive fetches what has changed according to an event of the stream.
  private receive(data: string) {
    try {
      const { available: _, ...rest } = JSON.parse(data) as { available?: string };
      const outline = JSON.stringify(rest);
      const only = outline === this.outline;
      this.outline = outline;
      if (only) return void this.refreshOffers();
    } catch {
      // not a known event
    }
    void this.sync();
  }

  private async sendPositions(): Promise<boolean> {
    const { token } = this;
    for (;;) {
      const { positions, last } = await trail.first(batch);
      if (last === undefined) return true;
      const outcome = await this.call({ method: 'POST', path: '/positions', body: { positions } }, token);
      if (outcome.kind === 'later' || outcome.kind === 'signedOut') return outcome.kind !== 'later';
      await trail.discard(last); // accepted or rejected: resending changes nothing
    }
  }

  // call sends a request as this worker and notices when the session has ended. With the token
  // of an earlier session, it sends nothing.
  private async call<T>(request: Request, token = this.token): Promise<Outcome<T>> {
    if (!token || token !== this.token) return { kind: 'signedOut' };
    const outcome = await call<T>(token, request);
    if (outcome.kind === 'signedOut' && token === this.token) {
      this.halt();
      this.token = '';
      localStorage.removeItem('dray.token');
      this.worker = null;
      this.ended = true;
    }
    return outcome;
  }

  private async add(item: Pick<Item, 'kind' | 'task' | 'label' | 'body' | 'files'>) {
    this.lastOrder = Math.max(this.lastOrder + 1, Date.now());
    await shelf.put({
      ...item,
      id: crypto.randomUUID(),
      worker: this.worker!.id,
      order: this.lastOrder,
      made: Date.now(),
    });
    this.unsaved = false;
    await this.reload().catch(() => {}); // the action is saved, and must not be repeated
    this.failures = 0;
    void this.sync();
  }

  private async reload() {
    this.items = await shelf.items();
  }

  private async keepWorker(worker: Worker) {
    this.worker = worker;
    await kept.put('worker', worker);
  }

  private async keepMustSet(must: boolean) {
    this.mustSetPassword = must;
    await kept.put('mustSetPassword', must);
  }

  private begin() {
    this.halt();
    this.stop = new AbortController();
    const { signal } = this.stop;
    addEventListener('online', () => this.wake(), { signal });
    addEventListener('offline', () => (this.connection = 'offline'), { signal });
    document.addEventListener('visibilitychange', () => this.turned(), { signal });
    const positions = setInterval(() => void this.reportPositions(), sendPositionsEvery);
    const clock = setInterval(() => (this.now = Date.now()), tickEvery);
    signal.addEventListener('abort', () => {
      clearInterval(positions);
      clearInterval(clock);
      void this.stayAwake();
    });
    this.historyAt = 0;
    this.watchDuty();
    void this.sync();
    void this.listen(signal);
  }

  // turned is called when the app comes to the foreground, or leaves it.
  private turned() {
    if (document.visibilityState === 'visible') this.wake();
    else if (this.watch !== undefined) this.hiddenSince ||= Date.now();
    void this.stayAwake();
  }

  private wake() {
    this.now = Date.now();
    this.failures = 0;
    void this.sync();
  }

  private halt() {
    this.stop?.abort();
    this.streaming = false;
    clearTimeout(this.timer);
    if (this.watch !== undefined) navigator.geolocation.clearWatch(this.watch);
    this.watch = undefined;
  }

  private async reportPositions() {
    if (this.syncing || this.connection === 'offline') return; // the queue comes first
    await this.sendPositions();
  }

  // listen follows the server's event stream and fetches the list on every change.
  // Without a stream it polls.
  private async listen(signal: AbortSignal) {
    let failures = 0;
    while (!signal.aborted) {
      const headers = { Authorization: `Bearer ${this.token}` };
      const opened = () => {
        failures = 0;
        this.streaming = true;
        this.outline = '';
        void this.sync();
      };
      const ended = await follow('/driver/v1/events', headers, signal, opened, (m) => this.receive(m.data));
      if (signal.aborted) return;
      this.streaming = false;
      if (this.connection === 'live') this.connection = 'polling';
      if (ended === 'signedOut') {
        void this.sync(); // shows the sign-in, because its requests are rejected, too
        return;
      }
      failures++;
      await new Promise((resolve) => setTimeout(resolve, ended === 'absent' ? 60_000 : pause(failures, Math.random())));
    }
  }

  // watchDuty tracks the phone's position while the worker is on duty, and only
  // then.
  private watchDuty() {
    const wanted = this.worker !== null && this.view.onDuty && 'geolocation' in navigator;
    if (!wanted) {
      if (this.watch !== undefined) navigator.geolocation.clearWatch(this.watch);
      this.watch = undefined;
      this.position = this.gap = null;
      this.hiddenSince = 0;
    } else if (this.watch === undefined) {
      this.watch = navigator.geolocation.watchPosition(
        (found) => void this.note(found),
        (fault) => (this.locationDenied = fault.code === fault.PERMISSION_DENIED),
        { enableHighAccuracy: true, maximumAge: 5000, timeout: 30_000 },
      );
    }
  }

  private async note({ coords, timestamp }: GeolocationPosition) {
    this.locationDenied = false;
    const position: Position = {
      location: [coords.longitude, coords.latitude],
      time: Math.round(timestamp),
      accuracy: coords.accuracy,
      speed: coords.speed,
      heading: Number.isFinite(coords.heading) ? coords.heading : null,
      battery: await battery(),
    };
    this.position = position;
    if (this.maps > 0) void this.findWay();
    if (this.hiddenSince) {
      const from = Math.max(this.hiddenSince, this.lastNoted?.time ?? 0);
      if (!this.tracker && position.time - from > longestGap) this.gap = { from, to: position.time };
      this.hiddenSince = 0;
    }
    await this.leave(position);
    const last = this.lastNoted;
    const moved = !last || distance(last.location, position.location) > 10 || position.time - last.time > 15_000;
    if (!moved) return;
    this.lastNoted = position;
    await trail.add(position);
  }

  private here(): Point | undefined {
    const { position } = this;
    return position && Date.now() - position.time < freshFor ? position.location : undefined;
  }
}

// keepOnly removes tasks that are not open from a stored set, and returns the rest.
async function keepOnly(
  name: string,
  ids: ReadonlySet<string>,
  open: ReadonlySet<string>,
): Promise<ReadonlySet<string>> {
  const left = [...ids].filter((id) => open.has(id));
  if (left.length === ids.size) return ids;
  await kept.put(name, left);
  return new Set(left);
}

// alone runs work in one tab at a time.
async function alone<T>(work: () => Promise<T>): Promise<T> {
  if (!('locks' in navigator)) return work();
  return navigator.locks.request('dray-queue', work) as Promise<T>;
}

export const app = new App();
