// The state of the app, and everything that changes it.

import { battery, describe } from './device.ts';
import { departed, overlay, settle } from './overlay.ts';
import { discard, flush, pause, waiting, type Attachment, type Item, type Verb } from './queue.ts';
import { call, type Later, type Outcome, type Request } from './remote.ts';
import { link, replace } from './route.svelte.ts';
import { drafts, kept, shelf, trail } from './shelf.ts';
import { follow } from './stream.ts';
import { distance } from '../map/project.ts';
import { title, type Point, type Position, type Task, type Worker, type WorkList } from './wire.ts';
import { dictionary, english, fill, isLanguage, preferred, type Language, type Words } from './words.ts';

const pollEvery = 30_000; // without a stream
const refreshEvery = 120_000; // with a stream, in case it has silently failed
const sendPositionsEvery = 10_000;
const batch = 500; // positions in one request
const freshFor = 120_000; // how old a position attached to an action may be

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

const none: WorkList = { version: 0, activeTask: null, tasks: [] };

class App {
  ready = $state(false);
  worker = $state<Worker | null>(null);
  mustSetPassword = $state(false);
  ended = $state(false); // the server ended the session
  list = $state.raw<WorkList>(none);
  listAt = $state(0);
  offered = $state.raw<Task[]>([]); // claimable
  items = $state.raw<Item[]>([]);
  arrivals = $state.raw<ReadonlySet<string>>(new Set());
  position = $state.raw<Position | null>(null);
  locationDenied = $state(false);
  connection = $state<Connection>('polling');
  sending = $state(false);
  words = $state.raw<Words>(english);
  language = $state<Language>('en');
  chosen = $state<Language | ''>(''); // chosen by the worker

  mine = $derived(this.items.filter((i) => i.worker === this.worker?.id));
  waiting = $derived(waiting(this.items, this.worker?.id ?? ''));
  refused = $derived(this.mine.filter((i) => i.refusal !== undefined));
  view = $derived(overlay(this.list, this.worker?.onDuty ?? false, this.waiting, this.arrivals));
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

  // open restores the state stored on the phone.
  async open() {
    await this.speak(localStorage.getItem('dray.language') ?? '');
    this.token = localStorage.getItem('dray.token') ?? '';
    this.items = await shelf.items();
    this.lastOrder = Math.max(0, ...this.items.map((i) => i.order));
    if (this.token) {
      this.worker = (await kept.get<Worker>('worker')) ?? null;
      this.mustSetPassword = (await kept.get<boolean>('mustSetPassword')) ?? false;
      await this.recall();
    }
    if (!this.worker) this.token = '';
    else if (!this.mustSetPassword) this.begin();
    this.ready = true;
  }

  private async recall() {
    const last = await kept.get<Kept>('list');
    this.list = last?.list ?? none;
    this.listAt = last?.at ?? 0;
    this.arrivals = new Set((await kept.get<string[]>('arrivals')) ?? []);
    this.stay = (await kept.get<Stay | null>('stay')) ?? null;
  }

  // say returns a text of the dictionary.
  say(name: keyof Words, values: Record<string, string | number> = {}): string {
    return fill(this.words[name], values);
  }

  // speak changes the language; "" means the phone's.
  async speak(language: string) {
    this.chosen = isLanguage(language) ? language : '';
    this.language = this.chosen || preferred(navigator.languages);
    localStorage.setItem('dray.language', this.chosen);
    document.documentElement.lang = this.language;
    try {
      this.words = await dictionary(this.language);
    } catch {
      this.words = english; // not cached, and offline
    }
  }

  // signIn signs in. With the token of an earlier sign-in on this phone, failed
  // attempts of others do not count. It returns why it failed, or "".
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
    const { token, worker, mustSetPassword } = outcome.value;
    localStorage.setItem('dray.device', outcome.value.device);
    const before = await kept.get<Worker>('worker');
    if (before && before.id !== worker.id) {
      await drafts.keepOnly(new Set()); // drafts of another worker
      await kept.clear();
      await trail.clear();
    }
    this.token = token;
    localStorage.setItem('dray.token', token);
    await this.keepWorker(worker);
    await this.keepMustSet(mustSetPassword);
    await this.recall();
    this.ended = false;
    if (!mustSetPassword) this.begin();
    return '';
  }

  // delayed explains why something may succeed only later. Waits of a second are for
  // a turn, not for a limit.
  delayed({ after = 0, limited }: Later): string {
    if (limited && after > 1000) return this.say('tooManyAttempts', { n: Math.ceil(after / 1000) });
    return this.say(after ? 'busy' : 'noSignal');
  }

  // setPassword sets the password; oldPassword is empty if that was temporary.
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
    if (outcome.kind === 'done') await this.forget();
    return outcome;
  }

  // signOut ends the session, if there is a connection, and removes the worker.
  // Actions not yet sent are kept for the next sign-in.
  async signOut() {
    void call(this.token, { method: 'POST', path: '/logout' });
    await this.forget();
  }

  private async forget() {
    this.halt();
    await drafts.keepOnly(new Set());
    this.token = '';
    localStorage.removeItem('dray.token');
    this.worker = null;
    this.list = none;
    await kept.clear();
    await trail.clear();
    replace(link.list); // where the next sign-in begins
  }

  // act queues an action and sends it as soon as possible. Images are already on
  // the shelf, under their keys, or are stored there.
  async act(
    verb: Verb,
    task: Task,
    body: Record<string, unknown> = {},
    images: { field: Attachment['field']; blob: Blob; key?: string }[] = [],
  ) {
    const files: Attachment[] = [];
    for (const image of images) {
      const key = image.key ?? crypto.randomUUID();
      if (!image.key) await shelf.putBlob(key, image.blob);
      files.push({ field: image.field, blob: key });
    }
    const here = this.here();
    await this.add({
      kind: verb,
      task: task.id,
      label: title(task),
      body: here ? { location: here, ...body } : body,
      files,
    });
    if (verb === 'arrive') {
      this.arrivals = new Set([...this.arrivals, task.id]);
      await kept.put('arrivals', [...this.arrivals]);
      await this.keepStay({ task: task.id, at: here ?? null });
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

  async retry(item: Item) {
    const { refusal: _, gone: __, ...again } = item;
    await shelf.put(again);
    await this.reload();
    void this.sync();
  }

  async dismiss(item: Item) {
    await discard(shelf, item);
    await this.reload();
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

  private async exchange() {
    const worker = this.worker?.id;
    if (!worker) return;
    clearTimeout(this.timer);
    this.sending = this.waiting.length > 0;
    const result = await alone(() =>
      flush(
        shelf,
        worker,
        (r) => this.call(r),
        (item) => this.answered(item),
      ),
    );
    this.sending = false;
    await this.reload();
    if (result.kind === 'signedOut' || !this.worker) return;
    let later = result.kind === 'later' ? result : undefined;
    if (!later && !(await this.sendPositions())) later = { kind: 'later' };
    if (!later && !(await this.refresh())) later = { kind: 'later' };
    this.failures = later ? this.failures + 1 : 0;
    if (later) this.connection = 'offline';
    else this.connection = this.streaming ? 'live' : 'polling';
    if (!this.worker) return;
    const rest = this.connection === 'live' ? refreshEvery : pollEvery;
    this.timer = setTimeout(
      () => void this.sync(),
      later ? (later.after ?? pause(this.failures, Math.random())) : rest,
    );
  }

  // answered shows the result of an action before the list is fetched.
  private answered(item: Item) {
    if (item.refusal === undefined) {
      if (item.kind === 'duty' && this.worker)
        void this.keepWorker({ ...this.worker, onDuty: item.body.onDuty === true });
      this.list = settle(this.list, item);
      void kept.put('list', { list: this.list, at: this.listAt } satisfies Kept);
    }
    void this.reload();
  }

  // refresh fetches the list and the worker, and reports whether that succeeded.
  private async refresh(): Promise<boolean> {
    const list = await this.call<WorkList>({ method: 'GET', path: '/tasks' });
    if (list.kind !== 'done') return list.kind !== 'later';
    const worker = await this.call<Worker>({ method: 'GET', path: '/me' });
    if (worker.kind !== 'done') return worker.kind !== 'later';
    const offered = await this.call<Task[]>({ method: 'GET', path: '/tasks/available' });
    if (offered.kind !== 'done') return offered.kind !== 'later';
    this.offered = offered.value;
    this.list = list.value;
    this.listAt = Date.now();
    await kept.put('list', { list: list.value, at: this.listAt } satisfies Kept);
    await this.keepWorker(worker.value);
    const open = new Set(list.value.tasks.map((t) => t.id));
    const arrivals = [...this.arrivals].filter((id) => open.has(id));
    if (arrivals.length !== this.arrivals.size) {
      this.arrivals = new Set(arrivals);
      await kept.put('arrivals', arrivals);
    }
    await drafts.keepOnly(open);
    this.watchDuty();
    return true;
  }

  private async sendPositions(): Promise<boolean> {
    for (;;) {
      const { positions, last } = await trail.first(batch);
      if (last === undefined) return true;
      const outcome = await this.call({ method: 'POST', path: '/positions', body: { positions } });
      if (outcome.kind === 'later' || outcome.kind === 'signedOut') return outcome.kind !== 'later';
      await trail.forget(last); // accepted or rejected: resending changes nothing
    }
  }

  // call sends a request as this worker and notices when the session has ended.
  private async call<T>(request: Request): Promise<Outcome<T>> {
    const { token } = this;
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
    await this.reload();
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
    document.addEventListener('visibilitychange', () => document.visibilityState === 'visible' && this.wake(), {
      signal,
    });
    const positions = setInterval(() => void this.reportPositions(), sendPositionsEvery);
    signal.addEventListener('abort', () => clearInterval(positions));
    this.watchDuty();
    void this.sync();
    void this.listen(signal);
  }

  private wake() {
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
        void this.sync();
      };
      const ended = await follow('/driver/v1/events', headers, signal, opened, () => void this.sync());
      if (signal.aborted) return;
      this.streaming = false;
      if (this.connection === 'live') this.connection = 'polling';
      if (ended === 'signedOut') {
        void this.sync(); // asks for the worker to sign in again
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
      this.position = null;
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

// alone runs work in one tab at a time.
async function alone<T>(work: () => Promise<T>): Promise<T> {
  if (!('locks' in navigator)) return work();
  return navigator.locks.request('dray-queue', work) as Promise<T>;
}

export const app = new App();
