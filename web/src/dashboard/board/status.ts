// The state of a task as a dispatcher sees it.

import type { BoardTask } from './wire.ts';

export type Status = 'unassigned' | 'assigned' | 'active' | 'completed' | 'failed';
export const statuses: readonly Status[] = ['unassigned', 'assigned', 'active', 'completed', 'failed'];

export type Risk = '' | 'tight' | 'late';

const tight = 10 * 60_000; // ms before the deadline

export function status(task: Pick<BoardTask, 'state'> & { completionDetails?: { success?: boolean } }): Status {
  if (task.state === 3) return task.completionDetails?.success === false ? 'failed' : 'completed';
  return task.state === 2 ? 'active' : task.state === 1 ? 'assigned' : 'unassigned';
}

interface Timed {
  state: number;
  completeBefore?: number | null | undefined;
  estimatedArrivalTime?: number | null | undefined;
  arrivalTime?: number | null | undefined;
  completionDetails?: { time?: number | null | undefined };
}

// lateness returns how late a task is or will be, in ms; 0 if it is on time. As in the API,
// that depends on when the service begins: at the arrival or, until then, when the worker is
// expected, but not before now. For a task that was completed without an arrival, it is the
// completion.
export function lateness(task: Timed, now: number): number {
  const { completeBefore: due, state, arrivalTime: arrived } = task;
  if (!due) return 0;
  const done = task.completionDetails?.time ?? 0;
  const expected = Math.max(task.estimatedArrivalTime ?? 0, now);
  const begins = state === 3 ? Math.min(arrived ?? done, done) : (arrived ?? expected);
  return Math.max(0, begins - due);
}

// risk reports whether a task is late, will be late, or has little time left. A failed task
// has no risk.
export function risk(task: BoardTask, now: number): Risk {
  if (lateness(task, now) > 0) return status(task) === 'failed' ? '' : 'late';
  const { completeBefore: due, estimatedArrivalTime: expected, arrivalTime, state } = task;
  const open = state === 1 || state === 2;
  if (!open || due === undefined || expected === undefined || arrivalTime !== undefined) return '';
  return Math.max(expected, now) > due - tight ? 'tight' : '';
}

// isLate reports whether an open task is late or will be. Every view that counts, filters or
// lists late tasks uses it.
export const isLate = (task: BoardTask, now: number): boolean => task.state < 3 && lateness(task, now) > 0;

// arrivalOf returns when the worker of an open task has arrived or is expected, and the word
// that describes which.
export function arrivalOf(task: Timed): { word: 'arrivedAt' | 'etaAt'; time: number } | undefined {
  if (task.state === 3) return undefined;
  if (task.arrivalTime) return { word: 'arrivedAt', time: task.arrivalTime };
  return task.estimatedArrivalTime ? { word: 'etaAt', time: task.estimatedArrivalTime } : undefined;
}
