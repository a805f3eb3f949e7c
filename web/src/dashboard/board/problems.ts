// Everything that does not go as planned: what a manager sees first.

import type { Records } from './records.ts';
import { isLate, lateness, status } from './status.ts';
import type { BoardTask, BoardWorker } from './wire.ts';

export interface Problem {
  kind: 'late' | 'failed' | 'silent' | 'battery' | 'geofence' | 'address';
  task?: BoardTask;
  worker?: BoardWorker;
  value: number; // by kind: lateness in ms, a time, or the level of the battery
}

const silent = 10 * 60_000; // ms without contact on duty
const lowBattery = 0.15;

// problemsOf returns the problems of a day, of each kind the worst first.
export function problemsOf(records: Records, now: number): Problem[] {
  const found: Problem[] = [];
  for (const task of records.tasks.values()) {
    const worker = task.worker ? records.workers.get(task.worker) : undefined;
    const add = (kind: Problem['kind'], value: number) => found.push({ kind, task, value, ...(worker && { worker }) });
    if (isLate(task, now)) add('late', lateness(task, now));
    if (status(task) === 'failed') add('failed', task.completionDetails?.time ?? 0);
    if (task.completedWithGeofenceWarning) add('geofence', task.completionDetails?.time ?? 0);
    if (task.state < 3 && task.destination.warnings?.length) add('address', -(task.completeBefore ?? now));
  }
  for (const worker of records.workers.values()) {
    if (!worker.onDuty) continue;
    const seen = worker.timeLastSeen ?? now;
    if (now - seen > silent) found.push({ kind: 'silent', worker, value: seen });
    if ((worker.battery ?? 1) < lowBattery) found.push({ kind: 'battery', worker, value: worker.battery! });
  }
  // For silence and batteries, the smallest value is the worst.
  const badness = ({ kind, value }: Problem) => (kind === 'silent' || kind === 'battery' ? -value : value);
  return found.sort((a, b) => badness(b) - badness(a));
}
