// The routes of workers along roads, asked for one at a time: the one that is shown
// first, then the others of a small fleet.

import type { Point } from '../../../map/project.ts';
import { project } from '../../../map/project.ts';
import { decode, type Route } from '../../../map/way.ts';
import { call } from '../../api.ts';
import { listOf, type Records } from '../records.ts';

const mostStops = 50; // of a request
const fewWorkers = 40; // up to which all routes are shown
const rest = 4000; // ms until a route is asked for again
const between = 150; // ms between requests, so that others are not slowed down

export interface Line {
  stops: string; // what it was asked for
  places: (readonly [number, number])[]; // in units of project.ts
  asked: number;
  passed: number; // places that the vehicle has passed
}

export class Routes {
  readonly lines = new Map<string, Line>();
  private readonly wanted = new Set<string>();
  private busy = false;
  private gone = false;

  constructor(
    private readonly records: Records,
    private readonly drawn: () => void,
  ) {}

  destroy() {
    this.gone = true;
  }

  // want asks for the routes of workers whose lists have changed, of all if undefined.
  want(workers: Iterable<string> | undefined, shown: string) {
    const { records } = this;
    const few = records.workers.size <= fewWorkers;
    for (const id of workers ?? records.workers.keys()) if (few || id === shown) this.wanted.add(id);
    if (shown && !this.lines.has(shown)) this.wanted.add(shown);
    void this.run(shown);
  }

  // stopsOf returns where a worker goes: from where they are through all open tasks.
  private stopsOf(id: string): Point[] {
    const worker = this.records.workers.get(id);
    if (!worker) return [];
    const ids = [worker.activeTask, ...this.records.list(listOf(id))];
    const points = ids.flatMap((task) => {
      const found = task ? this.records.tasks.get(task) : undefined;
      return found && found.state < 3 ? [found.destination.location] : [];
    });
    if (points.length > 0 && worker.location && worker.onDuty) points.unshift(worker.location);
    return points.slice(0, mostStops);
  }

  private async run(shown: string) {
    if (this.busy) return;
    this.busy = true;
    while (this.wanted.size > 0 && !this.gone) {
      const id = this.wanted.has(shown) ? shown : this.wanted.values().next().value!;
      this.wanted.delete(id);
      await this.ask(id);
      await new Promise((resolve) => setTimeout(resolve, between));
    }
    this.busy = false;
  }

  private async ask(id: string) {
    const stops = this.stopsOf(id);
    const known = this.lines.get(id);
    // The vehicle moves along the way: only other stops are another way.
    const key = stops.slice(1).join(';');
    if (known?.stops === key) return;
    if (known && Date.now() - known.asked < rest) {
      setTimeout(() => this.want([id], id), rest);
      return;
    }
    if (stops.length < 2) {
      this.lines.delete(id);
      this.drawn();
      return;
    }
    const text = stops.map(([lon, lat]) => `${lon.toFixed(5)},${lat.toFixed(5)}`).join(';');
    const vehicle = this.records.workers.get(id)?.vehicle?.type ?? 'FOOT';
    try {
      const route = await call<Route>('GET', `/route?stops=${text}&vehicle=${vehicle}`);
      this.lines.set(id, { stops: key, places: decode(route.geometry).map(project), asked: Date.now(), passed: 0 });
    } catch {
      this.lines.set(id, { stops: key, places: stops.map(project), asked: Date.now(), passed: 0 }); // straight
    }
    if (!this.gone) this.drawn();
  }
}

const lookAhead = 80; // places in which the vehicle is looked for
const near = 2e-6; // units of project.ts, about 60 m

// pass drops what the vehicle has passed from the beginning of a line.
export function pass(line: Line, [x, y]: readonly [number, number]) {
  let least = near;
  for (let i = line.passed; i < Math.min(line.places.length, line.passed + lookAhead); i++) {
    const away = Math.hypot(line.places[i]![0] - x, line.places[i]![1] - y);
    if (away < least) [least, line.passed] = [away, i];
  }
}
