// The history of a task, as the API reports it.

import type { Words } from '../words.ts';

export interface HistoryEntry {
  id: string;
  time: number;
  timeRecorded: number;
  triggerName: string | null;
  request: string | null;
  actor: {
    type: 'admin' | 'key' | 'worker' | 'organization' | 'recipient' | 'system';
    id: string | null;
    name: string | null;
  };
  worker: { id: string; name: string | null } | null;
  step: string | null;
  changed: string[] | null;
}

export interface TaskHistory {
  entries: HistoryEntry[];
  lastId?: string; // absent on the last page
}

type Say = (key: keyof Words, values?: Record<string, string | number>) => string;
type SayIf = (prefix: string, value: string) => string;

// describe returns a description of what happened.
export function describe(d: HistoryEntry, say: Say, sayIf: SayIf): string {
  if (d.request) return sayIf('did', d.request);
  if (d.step) return sayIf('step', d.step);
  const worker = d.worker?.name;
  if (worker && d.triggerName === 'taskAssigned') return say('assignedTo', { name: worker });
  if (worker && d.triggerName === 'taskUnassigned') return say('takenFrom', { name: worker });
  if (d.triggerName === 'taskUpdated' && d.changed?.length === 1) {
    const only = sayIf('sole', d.changed[0]!);
    if (only !== d.changed[0]) return only;
  }
  return sayIf('did', d.triggerName ?? '');
}

// fields returns the names of the fields that have changed.
export function fields(d: HistoryEntry, sayIf: SayIf): string {
  if (!d.changed || (d.changed.length === 1 && sayIf('sole', d.changed[0]!) !== d.changed[0])) return '';
  return d.changed.map((name) => sayIf('taskField', name)).join(', ');
}

// authorOf returns the name of the actor.
export function authorOf(d: HistoryEntry, say: Say): string {
  const { type, name, id } = d.actor;
  if (type === 'system') return say('bySystem');
  if (type === 'recipient') return say('recipient');
  if (type === 'worker' && !name) return say('byTheirWorker');
  if (type === 'key') return say('byKey', { name: name ?? id ?? '' });
  return name ?? say('byFormer');
}

// recordedLate reports whether something was recorded long after it happened, because the phone
// was offline.
export const recordedLate = (d: HistoryEntry): boolean => d.timeRecorded - d.time > 60_000;
