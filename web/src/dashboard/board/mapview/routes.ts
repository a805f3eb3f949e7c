// The routes of workers along roads, requested one at a time: first the one that is shown,
// then the others of a small fleet.

import type { Point } from '../../../map/project.ts';
import { project } from '../../../map/project.ts';
import { decode, type Route } from '../../../map/way.ts';
import { call } from '../../api.ts';
import { listOf, type Records } from '../records.ts';

const mostStops = 50; // maximum number of stops in a request
export const fewWorkers = 40; // if there are more, only one route is shown
const rest = 4000; // ms until a route is requested again
const between = 150; // ms between requests, so that others are not slowed down

export interface Line {
  stops: string; // key of the stops it was requested for; '' if the request failed
  places: (readonly [number, number])[]; // in units of project.ts
  asked: number;
  passed: number; // number of places that the vehicle has passed
}

// Journeys provides the stops of workers for which lines are requested.
export interface Journeys {
  workers: () => Iterable<string>;
  few: () => boolean; // whether the lines of all workers are shown, not only one
  start: (worker: string) => Point | undefined; // the location of the vehicle, from which the line is drawn
  stops: (worker: string) => Point[];
  vehicle: (worker: string) => string;
}

// journeysOf returns the journeys of the board: from the location of each worker on duty
// through their open tasks, at most mostStops stops.
export const journeysOf = (records: Records): Journeys => ({
  workers: () => records.workers.keys(),
  few: () => records.workers.size <= fewWorkers,
  start: (id) => {
    const worker = records.workers.get(id);
    return (worker?.onDuty && worker.location) || undefined;
  },
  stops: (id) => {
    const worker = records.workers.get(id);
    if (!worker) return [];
    const ids = [worker.activeTask, ...records.list(listOf(id))];
    const points = ids.flatMap((task) => {
      const found = task ? records.tasks.get(task) : undefined;
      return found && found.state < 3 ? [found.destination.location] : [];
    });
    return points.slice(0, mostStops - 1);
  },
  vehicle: (id) => records.workers.get(id)?.vehicle?.type ?? 'FOOT',
});

export class Routes {
  readonly lines = new Map<string, Line>();
  private readonly wanted = new Set<string>();
  private busy = false;
  private gone = false;

  constructor(
    private readonly journeys: Journeys,
    private readonly drawn: () => void,
  ) {}

  destroy() {
    this.gone = true;
  }

  // want requests the routes of workers whose lists have changed, or of all workers if
  // undefined. If there are many workers, it requests only the route that is shown, and the
  // others when they are shown next.
  want(workers: Iterable<string> | undefined, shown: string) {
    const { journeys } = this;
    const few = journeys.few();
    for (const id of workers ?? journeys.workers()) {
      if (few || id === shown) this.wanted.add(id);
      else this.lines.delete(id);
    }
    if (shown && !this.lines.has(shown)) this.wanted.add(shown);
    void this.run(shown);
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
    const start = this.journeys.start(id);
    const stops = this.journeys.stops(id);
    const known = this.lines.get(id);
    // The vehicle moves along the line: only a change of the stops needs a new one.
    const key = `${start ? 'vehicle' : ''};${stops.join(';')}`;
    if (start && stops.length > 0) stops.unshift(start);
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
    const places: Line['places'] = [];
    let failed = false;
    for (let i = 0; i + 1 < stops.length; i += mostStops - 1) {
      const part = stops.slice(i, i + mostStops);
      const text = part.map(([lon, lat]) => `${lon.toFixed(5)},${lat.toFixed(5)}`).join(';');
      try {
        const route = await call<Route>('GET', `/route?stops=${text}&vehicle=${this.journeys.vehicle(id)}`);
        places.push(...decode(route.geometry).map(project));
      } catch {
        places.push(...part.map(project)); // a straight line
        failed = true;
      }
    }
    // A failed request is repeated with the next change, or when there is a connection.
    this.lines.set(id, { stops: failed ? '' : key, places, asked: Date.now(), passed: 0 });
    if (!this.gone) this.drawn();
  }
}

const lookAhead = 80; // places in which the vehicle is searched for
const near = 2e-6; // units of project.ts, about 60 m

// pass advances line.passed to the place nearest to the vehicle, if one is near.
export function pass(line: Line, [x, y]: readonly [number, number]) {
  let least = near;
  for (let i = line.passed; i < Math.min(line.places.length, line.passed + lookAhead); i++) {
    const away = Math.hypot(line.places[i]![0] - x, line.places[i]![1] - y);
    if (away < least) [least, line.passed] = [away, i];
  }
}
