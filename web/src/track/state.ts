// The state of a task as the tracking page receives it.

import type { Point } from '../map/project.ts';

export interface State {
  stage: 'scheduled' | 'assigned' | 'active' | 'arrived' | 'completed' | 'failed';
  estimatedArrivalTime: number | null;
  worker: { name: string; location: Point | null; locationTime: number | null; destination: Point | null } | null;
  feedback: { allowed: boolean; given: boolean };
}

// same reports whether two states have the same text, so that only the worker's
// location has changed.
export function same(a: State, b: State): boolean {
  const words = (s: State) =>
    JSON.stringify({
      ...s,
      worker: s.worker && { ...s.worker, location: null, locationTime: null, destination: null },
    });
  return words(a) === words(b);
}

// later is the delay before reconnecting, in ms.
export const later = (failures: number): number => Math.min(60_000, 3000 * 2 ** Math.min(failures, 5));

const order = ['scheduled', 'assigned', 'active', 'arrived', 'completed'];

// steps returns the number of steps and the step of a stage. A failed task is at
// its last step too.
export function steps(stage: string): { at: number; of: number } {
  const at = order.indexOf(stage);
  return { at: stage === 'completed' || stage === 'failed' ? order.length : at, of: order.length };
}
