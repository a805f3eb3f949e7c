import { app } from './app.svelte.ts';
import type { Task } from './wire.ts';
import { distance } from '../map/project.ts';

const isToday = (ms: number): boolean => new Date(ms).toDateString() === new Date().toDateString();

// clock formats a time of day, with the date if it is neither today nor soon.
export function clock(ms: number): string {
  const at = new Date(ms);
  const soon = Math.abs(ms - Date.now()) < 12 * 3600_000;
  const day = soon || isToday(ms) ? {} : ({ weekday: 'short', day: 'numeric', month: 'short' } as const);
  return new Intl.DateTimeFormat(app.language, { hour: 'numeric', minute: '2-digit', ...day }).format(at);
}

// span formats a time range without repeating the common part.
function span(from: number, to: number): string {
  const format = new Intl.DateTimeFormat(app.language, { hour: 'numeric', minute: '2-digit' });
  if (isToday(from) && isToday(to)) return format.formatRange(from, to);
  return app.say('between', { from: clock(from), to: clock(to) });
}

// timeWindow formats the time window of a task; "" if it has none.
export function timeWindow({ completeAfter, completeBefore }: Task): string {
  if (completeAfter && completeBefore) return span(completeAfter, completeBefore);
  if (completeAfter) return app.say('from', { from: clock(completeAfter) });
  return completeBefore ? app.say('until', { to: clock(completeBefore) }) : '';
}

// length formats a time span such as "1 hr 5 min", in whole minutes.
export function length(seconds: number): string {
  const minutes = Math.max(1, Math.round(seconds / 60));
  const part = (n: number, unit: string) =>
    new Intl.NumberFormat(app.language, { style: 'unit', unit, unitDisplay: 'short' }).format(n);
  const [hours, rest] = [Math.floor(minutes / 60), minutes % 60];
  return [hours > 0 && part(hours, 'hour'), (rest > 0 || hours === 0) && part(rest, 'minute')]
    .filter(Boolean)
    .join(' ');
}

// inMiles reports whether distances are in miles where the organization is.
export const inMiles = (): boolean => ['US', 'GB', 'LR', 'MM'].includes(app.settings?.country ?? '');

// away formats how far a task is from the worker; "" if it is not known.
export function away(task: Task): string {
  if (!app.position || app.isClose(task)) return '';
  const metres = distance(app.position.location, task.destination.location);
  const [n, unit] = inMiles()
    ? metres < 300
      ? [Math.round(metres / 0.3048 / 50) * 50, 'foot']
      : [metres / 1609.344, 'mile']
    : metres < 1000
      ? [Math.round(metres / 50) * 50, 'meter']
      : [metres / 1000, 'kilometer'];
  return new Intl.NumberFormat(app.language, { style: 'unit', unit, maximumFractionDigits: n < 10 ? 1 : 0 }).format(n);
}

// phoneLink returns a link to a phone number, reduced to its digits and plus.
export const phoneLink = (scheme: 'tel' | 'sms', phone: string): string => `${scheme}:${phone.replace(/[^+\d]/g, '')}`;
