// When to request the way through the stops, and which part of it to show.

import type { Point } from '../map/project.ts';
import { Way } from '../map/way.ts';
import type { Position } from './wire.ts';

const mostStops = 25; // in one request: a day has more, but no driver reads them all
const strayed = 80; // metres off the way, beyond which a new one is requested
const pause = 20_000; // ms between requests while the stops are the same

// Routed is the way that was requested last. It has no points if there is none along roads.
export interface Routed {
  stops: readonly Point[];
  at: number; // ms
  points: Point[];
}

const same = (a: readonly Point[], b: readonly Point[]): boolean =>
  a.length === b.length && a.every((p, i) => p[0] === b[i]![0] && p[1] === b[i]![1]);

// due reports whether a new way is needed.
export function due(last: Routed | null, stops: readonly Point[], self: Position | null, now: number): boolean {
  if (stops.length === 0 || (stops.length === 1 && !self)) return false;
  if (!last || !same(last.stops, stops)) return true;
  if (now - last.at < pause || !self || last.points.length < 2) return false;
  return new Way(last.points).find(self.location).off > strayed + (self.accuracy ?? 0);
}

// query returns the stops as the server expects them: from the worker, if the location is
// known, through the first stops.
export function query(stops: readonly Point[], self: Position | null): string {
  const points = self ? [self.location, ...stops] : stops;
  return points
    .slice(0, mostStops)
    .map(([lon, lat]) => `${lon.toFixed(6)},${lat.toFixed(6)}`)
    .join(';');
}

// usable returns the part of a way that leads to stops that are still open: the first
// ones are completed one by one.
export function usable(last: Routed | null, stops: readonly Point[]): Point[] {
  if (!last || stops.length === 0) return [];
  const done = last.stops.length - stops.length;
  return done >= 0 && same(last.stops.slice(done), stops) ? last.points : [];
}

// until returns the part of a way up to a stop, if it leads there.
export function until(points: readonly Point[], stop: Point): Point[] {
  if (points.length < 2) return [];
  const way = new Way(points);
  const { along, off } = way.find(stop);
  return off < 200 ? way.first(along) : [];
}
