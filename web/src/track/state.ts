// The state of a task as the tracking page receives it.

import type { Point } from '../map/project.ts';
import type { Route } from '../map/way.ts';

export interface State {
  stage: 'scheduled' | 'assigned' | 'active' | 'arrived' | 'completed' | 'failed';
  estimatedArrivalTime: number | null;
  worker: { name: string; location: Point | null; locationTime: number | null; destination: Point | null } | null;
  route?: Route | null; // from the worker to the destination
  feedback: { allowed: boolean; given: boolean };
}

// same reports whether two states have the same text, so that only the worker's
// location and way have changed.
export function same(a: State, b: State): boolean {
  const words = (s: State) =>
    JSON.stringify({
      ...s,
      route: null,
      worker: s.worker && { ...s.worker, location: null, locationTime: null, destination: null },
    });
  return words(a) === words(b);
}

// later returns the delay before reconnecting, in ms.
export const later = (failures: number): number => Math.min(60_000, 3000 * 2 ** Math.min(failures, 5));

// minutesLeft returns the number of minutes until the expected time, or 0 when there is
// nothing to count.
export function minutesLeft(state: State, now: number): number {
  if (state.stage !== 'active' && state.stage !== 'assigned') return 0;
  return Math.max(0, Math.ceil(((state.estimatedArrivalTime ?? 0) - now) / 60_000));
}

// worthSaying reports whether screen readers announce the remaining minutes: often
// enough to be ready, and not every minute.
export function worthSaying(before: number, now: number): boolean {
  return now > 0 && [30, 15, 10, 5, 2].some((mark) => before > mark && now <= mark);
}
