import { app } from './app.svelte.ts';
import type { Task } from './wire.ts';

// clock formats a time of day, with the date if it is not today.
export function clock(ms: number): string {
  const at = new Date(ms);
  const today = at.toDateString() === new Date().toDateString();
  const day = today ? {} : ({ weekday: 'short', day: 'numeric', month: 'short' } as const);
  return new Intl.DateTimeFormat(app.language, { hour: 'numeric', minute: '2-digit', ...day }).format(at);
}

// span formats a time range without repeating the common part.
function span(from: number, to: number): string {
  const format = new Intl.DateTimeFormat(app.language, { hour: 'numeric', minute: '2-digit' });
  const days = [from, to, Date.now()].map((ms) => new Date(ms).toDateString());
  if (days.every((d) => d === days[0])) return format.formatRange(from, to);
  return app.say('between', { from: clock(from), to: clock(to) });
}

// timeWindow formats the time window of a task; "" if it has none.
export function timeWindow({ completeAfter, completeBefore }: Task): string {
  if (completeAfter && completeBefore) return span(completeAfter, completeBefore);
  if (completeAfter) return app.say('from', { from: clock(completeAfter) });
  return completeBefore ? app.say('until', { to: clock(completeBefore) }) : '';
}

export function isLate(task: Task): boolean {
  return task.completeBefore !== null && task.completeBefore < Date.now();
}

// navigationLink opens directions to a task in the phone's map app. Apple devices
// do not support geo: URLs.
export function navigationLink(task: Task, agent: string): string {
  const [lon, lat] = task.destination.location;
  const at = `${lat.toFixed(6)},${lon.toFixed(6)}`;
  return /iPhone|iPad|Macintosh/.test(agent) ? `https://maps.apple.com/?daddr=${at}` : `geo:${at}?q=${at}`;
}

// phoneLink returns a number as links need it: digits and a plus.
export const phoneLink = (scheme: 'tel' | 'sms', phone: string): string => `${scheme}:${phone.replace(/[^+\d]/g, '')}`;
