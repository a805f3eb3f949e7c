// What the form of a task sends: all of a new task, or the changes of an existing one.

import { clock, instant, next } from '../schedule.ts';
import type { Address, Point } from '../wire.ts';
import type { FullTask } from './full.ts';

export interface Window {
  on: string; // date of the first time
  from: string; // HH:MM; '' for none
  until: string;
  last: string; // date of until; '' if on, or the next day if until is earlier than from
}

export interface Fields extends Window {
  address: Address;
  location: Point | null;
  name: string;
  phone: string;
  notes: string;
  quantity: number;
  service: number;
  pickup: boolean;
  signature: boolean;
  photo: boolean;
}

const dayOf = (ms: number, zone: string) =>
  new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' }).format(ms);

// lastOf returns the date of the end of a window.
const lastOf = ({ on, from, until, last }: Window) => last || (from && until && until < from ? next(on, 1) : on);

// windowOf returns the window of a task, or one without times on a date.
export function windowOf(task: FullTask | undefined, date: string, zone: string): Window {
  const { completeAfter: after, completeBefore: before } = task ?? {};
  const start = after ?? before;
  const on = start ? dayOf(start, zone) : date;
  const window = { on, from: after ? clock(after, zone) : '', until: before ? clock(before, zone) : '', last: '' };
  const last = before ? dayOf(before, zone) : on;
  return last === lastOf(window) ? window : { ...window, last };
}

// bodyOf returns the fields of a task as the API has them. What the form does not show is
// taken from the task as it was before.
function bodyOf(f: Fields, before: FullTask | undefined, zone: string) {
  const [name, phone] = [f.name.trim(), f.phone.trim()];
  const others = before?.recipients.slice(1).map(({ id }) => id) ?? [];
  return {
    destination: { address: f.address, ...(f.location && { location: f.location }) },
    recipients: [...(name || phone ? [{ name, phone }] : []), ...others],
    completeAfter: f.from ? instant(f.on, f.from, zone) : null,
    completeBefore: f.until ? instant(lastOf(f), f.until, zone) : null,
    notes: f.notes,
    quantity: f.quantity,
    serviceTime: f.service,
    pickupTask: f.pickup,
    requirements: { ...before?.requirements, signature: f.signature, photo: f.photo },
  };
}

// created returns the body of the request that creates a task.
export const created = (fields: Fields, zone: string) => bodyOf(fields, undefined, zone);

// changed returns the body of the request that updates a task: only what the person has
// changed, so that changes made elsewhere meanwhile stay.
export function changed(task: FullTask, initial: Fields, fields: Fields, zone: string): Record<string, unknown> {
  const old: Record<string, unknown> = bodyOf(initial, task, zone);
  const all = Object.entries(bodyOf(fields, task, zone));
  return Object.fromEntries(all.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(old[name])));
}

// lockOf returns why a task cannot be updated with a request, '' if it can. Of a task that has
// started, only the notes can change, and of a completed one none of these fields. The server
// ignores the others without an error.
export function lockOf({ state }: FullTask, body: object): '' | 'isStarted' | 'isCompleted' {
  if (state === 3) return 'isCompleted';
  return state === 2 && Object.keys(body).some((name) => name !== 'notes') ? 'isStarted' : '';
}
