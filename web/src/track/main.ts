// Makes the tracking page live. The server has already rendered the text; this
// script follows the task, shows the worker on a map, counts down, and sends the
// feedback. If it fails, the page stays as it is.

import './track.css';
import { later, same, steps, type State } from './state.ts';
import type { Chart } from '../map/chart.ts';
import type { Point } from '../map/project.ts';

function follow(main: HTMLElement, base: string) {
  const language = main.dataset.language || 'en';
  const page = new Page(main, base, language);
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

class Page {
  private state: State | undefined;
  private chart: Chart | undefined;
  private canvas: HTMLCanvasElement | undefined;
  private readonly trail: Point[] = [];
  private readonly relative: Intl.RelativeTimeFormat;

  constructor(
    private readonly main: HTMLElement,
    private readonly base: string,
    language: string,
  ) {
    this.relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
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
    if (before && !same(before, state)) void this.reload();
    this.dress();
    void this.locate();
    this.tick();
  }

  // reload fetches the rendered text from the server, which knows the language and
  // the texts of each stage. Feedback being written is kept.
  async reload() {
    try {
      const response = await fetch(this.base, { headers: { Accept: 'text/html' } });
      if (!response.ok && response.status !== 404) return;
      const fresh = new DOMParser().parseFromString(await response.text(), 'text/html').querySelector('main');
      const writing = this.main.querySelector('form');
      if (!fresh || (writing && fresh.querySelector('form'))) return;
      this.main.replaceChildren(...fresh.childNodes);
      if (!this.state?.worker?.location) this.drop();
      this.dress();
      this.tick();
    } catch {
      // offline: the page keeps its text
    }
  }

  // dress adds the interactive parts to the text.
  private dress() {
    const heading = this.main.querySelector('h1');
    if (heading && this.state && this.main.querySelector('.steps')?.getAttribute('data-stage') !== this.state.stage) {
      this.main.querySelector('.steps')?.remove();
      heading.after(progress(this.state.stage));
    }
    const map = this.canvas?.parentElement;
    if (map && !map.isConnected) (this.main.querySelector('.steps') ?? heading)?.after(map);
    const form = this.main.querySelector('form');
    if (form && !form.dataset.live) {
      form.dataset.live = 'yes';
      form.classList.add('stars');
      form.addEventListener('submit', (e) => void this.rate(e, form));
    }
  }

  private async rate(event: SubmitEvent, form: HTMLFormElement) {
    event.preventDefault();
    const said = new FormData(form);
    const body = JSON.stringify({ rating: Number(said.get('rating')), comments: String(said.get('comments') ?? '') });
    const button = form.querySelector('button');
    if (button) button.disabled = true;
    try {
      const headers = { 'Content-Type': 'application/json' };
      const response = await fetch(`${this.base}/feedback`, { method: 'POST', headers, body });
      if (!response.ok) throw new Error(String(response.status));
      form.remove();
      await this.reload();
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
    if (last?.[0] !== worker.location[0] || last[1] !== worker.location[1]) this.trail.push(worker.location);
    if (!this.canvas) {
      const frame = document.createElement('figure');
      const caption = document.createElement('figcaption');
      this.canvas = document.createElement('canvas');
      this.canvas.tabIndex = 0;
      frame.append(this.canvas, caption);
      this.dress();
      const { Chart } = await import('../map/chart.ts');
      if (!this.canvas) return;
      this.chart = new Chart(this.canvas, { closest: 14 });
    }
    this.canvas.setAttribute(
      'aria-label',
      `${worker.name}: ${worker.location[1].toFixed(4)}, ${worker.location[0].toFixed(4)}`,
    );
    this.canvas.dataset.location = worker.location.join(',');
    this.chart?.show({
      stops: worker.destination
        ? [{ id: 'destination', point: worker.destination, mark: '⌂', label: '', tone: 'goal' }]
        : [],
      route: true,
      trail: this.trail,
      self: { point: worker.location, accuracy: null, heading: null },
    });
  }

  private drop() {
    this.chart?.destroy();
    this.canvas?.parentElement?.remove();
    this.chart = this.canvas = undefined;
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
    const left = state.estimatedArrivalTime ? state.estimatedArrivalTime - Date.now() : 0;
    const counting = left > 0 && (state.stage === 'active' || state.stage === 'assigned');
    if (!counting) countdown?.remove();
    else if (heading) {
      if (!countdown) {
        countdown = document.createElement('p');
        countdown.className = 'countdown';
        heading.after(countdown);
      }
      const text = this.relative.format(Math.ceil(left / 60_000), 'minute');
      if (countdown.textContent !== text) countdown.textContent = text;
    }
  }

  private since(ms: number): string {
    const seconds = Math.max(0, Math.round((Date.now() - ms) / 1000));
    return seconds < 60
      ? this.relative.format(-seconds, 'second')
      : this.relative.format(-Math.round(seconds / 60), 'minute');
  }
}

// progress draws the progress of the task; the text contains it too.
function progress(stage: string): HTMLElement {
  const line = document.createElement('div');
  line.className = `steps ${stage}`;
  line.dataset.stage = stage;
  line.setAttribute('aria-hidden', 'true');
  const { at, of } = steps(stage);
  for (let i = 0; i < of; i++) {
    const step = document.createElement('i');
    step.className = i < at ? 'past' : i === at ? 'now' : '';
    line.append(step);
  }
  return line;
}

const main = document.querySelector<HTMLElement>('main#track[data-token]');
if (main?.dataset.token) follow(main, `/t/${encodeURIComponent(main.dataset.token)}`);
