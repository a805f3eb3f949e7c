// Times and durations of the board.

import { app } from '../app.svelte.ts';
import { numbers, times } from '../format.ts';

// clock formats a time of day.
export const clock = (ms: number): string => times({ hour: 'numeric', minute: '2-digit' }).format(ms);

// clockNear formats a time of day, with the date if it is 12 hours or more from another time.
export const clockNear = (ms: number, other: number): string =>
  Math.abs(ms - other) < 43_200_000
    ? clock(ms)
    : times({ day: 'numeric', month: 'short', hour: 'numeric', minute: '2-digit' }).format(ms);

// dayName formats a date such as 2026-11-16.
export const dayName = (date: string): string =>
  new Intl.DateTimeFormat(app.locale, { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' }).format(
    Date.parse(`${date}T00:00:00Z`),
  );

// Day is the period that the board shows, in Unix milliseconds.
export interface Day {
  from: number;
  to: number;
}

const dayLength = 86_400_000;

const hours = new WeakMap<Intl.DateTimeFormat, boolean>(); // results of is24Hour

// is24Hour reports whether a format has a 24-hour clock.
function is24Hour(format: Intl.DateTimeFormat): boolean {
  let is = hours.get(format);
  if (is === undefined) hours.set(format, (is = !format.resolvedOptions().hour12));
  return is;
}

// span formats the window of a task, with dates if a bound is not on the given day, or if the
// window is longer than a day.
export function span(after: number | undefined, before: number | undefined, day?: Day): string {
  const outside = (ms: number | undefined) => day !== undefined && ms !== undefined && (ms < day.from || ms >= day.to);
  const long = after !== undefined && before !== undefined && before - after >= dayLength;
  const time = { hour: 'numeric', minute: '2-digit' } as const;
  const shown = times(long || outside(after) || outside(before) ? { day: 'numeric', month: 'short', ...time } : time);
  if (after !== undefined && before !== undefined) {
    // With a 24-hour clock, formatRange would format times differently from format.
    return is24Hour(shown) ? `${shown.format(after)}–${shown.format(before)}` : shown.formatRange(after, before);
  }
  if (before !== undefined) return app.say('byTime', { time: shown.format(before) });
  return after === undefined ? '' : app.say('fromTime', { time: shown.format(after) });
}

// minutes formats a duration, such as 1 h 5 min.
export function minutes(ms: number): string {
  const all = ms === 0 ? 0 : Math.max(1, Math.round(ms / 60_000));
  const [h, m] = [Math.floor(all / 60), all % 60];
  const part = (n: number, unit: string) => numbers({ style: 'unit', unit, unitDisplay: 'short' }).format(n);
  return [h > 0 && part(h, 'hour'), (m > 0 || h === 0) && part(m, 'minute')].filter(Boolean).join(' ');
}

export const percent = (share: number): string => numbers({ style: 'percent' }).format(share);

// kilometers formats a distance in meters.
export const kilometers = (meters: number): string =>
  numbers({ style: 'unit', unit: 'kilometer', maximumFractionDigits: 1 }).format(meters / 1000);
