// Makes the tracking page live. The server has already rendered the text; this
// script follows the task, shows the worker on a map, counts down, announces changes
// to screen readers, and sends the forms. If it fails, the page stays as it is.

import './track.css';
import { later, minutesLeft, same, worthSaying, type State } from './state.ts';
import type { MapView } from '../map/map.ts';
import { distance, type Point } from '../map/project.ts';
import { onRoads } from '../map/way.ts';

const maxTrail = 500; // locations

function follow(main: HTMLElement, base: string) {
  const page = new Page(main, base, main.dataset.language || 'en');
  void fetch(`${base}/viewed`, { method: 'POST' }).catch(() => {});
  let failures = 0;
  const connect = () => {
    const events = new EventSource(`${base}/events`);
    events.addEventListener('state', (e) => {
      failures = 0;
      page.show(JSON.parse((e as MessageEvent<string>).data) as State);
    });
    events.addEventListener('gone', () => {
      events.close();
      void page.reload();
    });
    events.onerror = () => {
      if (events.readyState !== EventSource.CLOSED) return; // the browser reconnects by itself
      setTimeout(connect, later(failures++));
      void page.ask();
    };
  };
  connect();
}

const inMiles = /-(US|GB)$/.test(navigator.language);

class Page {
  private state: State | undefined;
  private gone = false; // the server no longer shows the task
  private map: MapView | undefined;
  private frame: HTMLElement | undefined; // around the map
  private trail: Point[] = [];
  private minutes = 0; // until the expected time, when last checked
  private readonly relative: Intl.RelativeTimeFormat;
  private readonly length: Intl.NumberFormat;
  private readonly metersPerUnit: number;
  private way: { text: string; points: Point[] } = { text: '', points: [] };

  constructor(
    private readonly main: HTMLElement,
    private readonly base: string,
    language: string,
  ) {
    this.relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
    this.metersPerUnit = inMiles ? 1609.344 : 1000;
    this.length = new Intl.NumberFormat(language, {
      style: 'unit',
      unit: inMiles ? 'mile' : 'kilometer',
      unitDisplay: 'long',
      maximumFractionDigits: 1,
    });
    setInterval(() => this.tick(), 1000);
    this.dress();
  }

  // ask reads the state once, for servers that accept no followers at the moment.
  async ask() {
    try {
      const response = await fetch(`${this.base}/state`);
      if (response.ok) this.show((await response.json()) as State);
      else if (response.status === 404) await this.reload();
    } catch {
      // offline
    }
  }

  show(state: State) {
    const before = this.state;
    this.state = state;
    if (this.gone || (before && !same(before, state))) void this.reload();
    this.dress();
    void this.locate();
    this.tick();
  }

  // reload fetches the rendered text from the server, which knows the language and
  // the texts of each stage. A form that is being filled in is kept.
  async reload() {
    try {
      const response = await fetch(this.base, { headers: { Accept: 'text/html' } });
      if (!response.ok && response.status !== 404) return;
      const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
      const before = this.summary();
      const focused = this.frame?.contains(document.activeElement) ? document.activeElement : null;
      for (const part of this.main.querySelectorAll('section')) {
        const other = fresh.getElementById(part.id);
        if (!other || (part.querySelector('form[data-filled]') && other.querySelector('form'))) continue;
        part.replaceChildren(...other.childNodes);
      }
      document.title = fresh.title;
      this.gone = response.status === 404;
      if (this.gone) this.state = undefined; // there is nothing to count down to
      if (!this.state?.worker?.location) this.drop();
      this.dress();
      this.tick();
      if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
      if (this.summary() !== before) this.say(this.summary());
    } catch {
      // offline: the page keeps its text
    }
  }

  // summary returns the text whose changes are announced.
  private summary(): string {
    const parts = this.main.querySelectorAll('h1, .detail, #next > p');
    return [...parts].map((p) => p.textContent).join(' ');
  }

  private say(text: string) {
    const live = this.main.querySelector('#live');
    if (live) live.textContent = text;
  }

  // dress adds the interactive parts to the text.
  private dress() {
    const map = this.frame?.parentElement;
    if (map && !map.isConnected) this.main.querySelector('.steps')?.after(map);
    for (const form of this.main.querySelectorAll<HTMLFormElement>('form:not([data-live])')) {
      form.dataset.live = 'yes';
      if (form.querySelector('[name=rating]')) form.classList.add('stars');
      form.addEventListener('input', () => (form.dataset.filled = 'yes'));
      form.addEventListener('submit', (e) => void this.send(e, form));
    }
  }

  // send sends a form without leaving the page.
  private async send(event: SubmitEvent, form: HTMLFormElement) {
    event.preventDefault();
    const said = new FormData(form);
    const [path, body] = said.has('time')
      ? ['newTime', { completeAfter: Number(said.get('time')) }]
      : ['feedback', { rating: Number(said.get('rating')), comments: String(said.get('comments') ?? '') }];
    const button = form.querySelector('button');
    if (button) button.disabled = true;
    try {
      const headers = { 'Content-Type': 'application/json' };
      const response = await fetch(`${this.base}/${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
      if (!response.ok) throw new Error(String(response.status));
      const part = form.closest('section');
      delete form.dataset.filled;
      await this.reload();
      if (!part) return;
      part.tabIndex = -1; // the button that had the focus is gone
      part.focus({ preventScroll: true });
      this.say(part.querySelector('p')?.textContent ?? '');
    } catch {
      form.submit(); // works without a script
    }
  }

  // locate shows the worker if the server shares the location.
  private async locate() {
    const worker = this.state?.worker;
    if (!worker?.location) {
      this.drop();
      return;
    }
    const last = this.trail.at(-1);
    const moved = last?.[0] !== worker.location[0] || last[1] !== worker.location[1];
    if (moved) this.trail = [...this.trail, worker.location].slice(-maxTrail);
    const away = worker.destination ? distance(worker.location, worker.destination) / this.metersPerUnit : null;
    const label = [`${this.main.dataset.map}: ${worker.name}`, ...(away === null ? [] : [this.length.format(away)])];
    if (!this.frame) {
      const figure = document.createElement('figure');
      this.frame = document.createElement('div');
      figure.append(this.frame, document.createElement('figcaption'));
      this.dress();
      const map = await import('../map/map.ts').catch(() => undefined);
      if (!this.frame) return;
      if (!map) return this.drop(); // the next position tries again
      const { MapView } = map;
      this.map = new MapView(this.frame, { label: '', closest: 16, scrolls: true });
    }
    this.map?.label(label.join(', '));
    this.frame.dataset.location = worker.location.join(',');
    this.draw();
  }

  private draw() {
    const { worker, route } = this.state ?? {};
    if (!worker?.location) return;
    const text = route?.geometry ?? '';
    if (text !== this.way.text) this.way = { text, points: onRoads(route, 2) };
    const goal = worker.destination;
    this.map?.show({
      stops: goal ? [{ id: 'destination', point: goal, mark: '', label: '', tone: 'goal' }] : [],
      route: true,
      way: this.way.points,
      miles: inMiles,
      trail: this.trail,
      self: { point: worker.location, time: worker.locationTime ?? Date.now(), accuracy: null, heading: null },
    });
  }

  private drop() {
    this.map?.destroy();
    this.frame?.parentElement?.remove();
    this.map = this.frame = undefined;
    this.trail = [];
  }

  // tick updates the time until arrival and since the last position.
  private tick() {
    const { state } = this;
    if (!state) return;
    const caption = this.main.querySelector('figcaption');
    if (caption && state.worker?.locationTime) {
      caption.textContent = `${state.worker.name} · ${this.since(state.worker.locationTime)}`;
    }
    const heading = this.main.querySelector('h1');
    let countdown = this.main.querySelector('.countdown');
    const left = minutesLeft(state, Date.now());
    if (left === 0) countdown?.remove();
    else if (heading) {
      if (!countdown) {
        countdown = document.createElement('p');
        countdown.className = 'countdown';
        heading.after(countdown);
      }
      const text =
        left < 100 ? this.relative.format(left, 'minute') : this.relative.format(Math.round(left / 60), 'hour');
      if (countdown.textContent !== text) countdown.textContent = text;
      if (worthSaying(this.minutes, left)) this.say(`${heading.textContent} ${text}`);
    }
    this.minutes = left;
  }

  private since(ms: number): string {
    const seconds = Math.max(0, Math.round((Date.now() - ms) / 1000));
    return seconds < 60
      ? this.relative.format(-seconds, 'second')
      : this.relative.format(-Math.round(seconds / 60), 'minute');
  }
}

const main = document.querySelector<HTMLElement>('main#track[data-token]');
if (main?.dataset.token) follow(main, `/t/${encodeURIComponent(main.dataset.token)}`);
