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

// risk reports whether a task is late, or will be, or has little time left.
export function risk(task: BoardTask, now: number): Risk {
  const { completeBefore: due, state } = task;
  if (due === undefined) return '';
  if (state === 3) {
    const { success, time } = task.completionDetails ?? {};
    return success !== false && time !== undefined && time > due ? 'late' : '';
  }
  const arrival = Math.max(task.estimatedArrivalTime ?? 0, now);
  if (arrival > due) return 'late';
  return state > 0 && task.estimatedArrivalTime !== undefined && arrival > due - tight ? 'tight' : '';
}

// lateness returns how late a task is or will be, in ms; 0 if it is on time.
export function lateness(task: BoardTask, now: number): number {
  const { completeBefore: due, state } = task;
  if (due === undefined) return 0;
  const at = state === 3 ? (task.completionDetails?.time ?? 0) : Math.max(task.estimatedArrivalTime ?? 0, now);
  return Math.max(0, at - due);
}
