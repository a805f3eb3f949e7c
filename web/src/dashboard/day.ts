// The day of a worker: stops with their estimated and actual times.

import type { Stop } from '../map/scene.ts';
import type { Point } from './wire.ts';

export interface WorkerStop {
  task: string;
  shortId: string;
  state: number;
  pickupTask: boolean;
  recipient: string | null;
  address: string;
  location: Point;
  quantity: number;
  completeAfter: number | null;
  completeBefore: number | null;
  estimatedArrivalTime: number | null;
  startTime: number | null;
  arrivalTime: number | null;
  completionTime: number | null;
  success: boolean | null;
  failureReason: string | null;
  distance: number;
}

// deviation returns how much later than estimated an arrival was, in milliseconds; undefined
// if the arrival or the estimate is not known.
export const deviation = (s: WorkerStop): number | undefined =>
  s.arrivalTime === null || s.estimatedArrivalTime === null ? undefined : s.arrivalTime - s.estimatedArrivalTime;

// onMap returns stops as a map shows them, numbered in order.
export const onMap = (stops: readonly WorkerStop[]): Stop[] =>
  stops.map((s, i) => ({
    id: s.task,
    point: s.location,
    mark: String(i + 1),
    label: s.recipient ?? s.shortId,
    tone: s.state === 3 ? (s.success ? 'done' : 'failed') : s.state === 2 ? 'active' : 'open',
  }));

// Load is the work of a worker on a day.
export interface Load {
  done: number;
  left: number;
  used: number; // capacity taken by the tasks that are left
}

// loads sums up the tasks of a day by worker.
export function loads(tasks: readonly { worker?: string; state: number; quantity?: number }[]): Map<string, Load> {
  const all = new Map<string, Load>();
  for (const { worker, state, quantity = 0 } of tasks) {
    if (!worker) continue;
    let of = all.get(worker);
    if (!of) all.set(worker, (of = { done: 0, left: 0, used: 0 }));
    if (state === 3) of.done++;
    else {
      of.left++;
      of.used += quantity;
    }
  }
  return all;
}

const mostStops = 50; // maximum number of stops in a request for a route
const apart = 0.00005; // degrees, about 5 m

// legs divides a route into parts that fit into a request, without consecutive stops at the
// same location. Each part begins where the one before ends.
export function legs(points: readonly Point[]): Point[][] {
  const distinct = points.filter((p, i) => {
    const before = points[i - 1];
    return !before || Math.hypot(p[0] - before[0], p[1] - before[1]) > apart;
  });
  const parts: Point[][] = [];
  for (let i = 0; i < distinct.length - 1; i += mostStops - 1) parts.push(distinct.slice(i, i + mostStops));
  return parts;
}
