// Converts between a worker's week, as the editor shows it, and the days of the API.

import type { ScheduleEntry } from './wire.ts';

export interface Shift {
  from: string; // HH:MM
  to: string; // HH:MM; on the next day if not after from
}

export interface Day {
  date: string; // YYYY-MM-DD
  timezone?: string; // of the entry, if there is one
  shifts: Shift[];
}

const dayLength = 86_400_000;

// offset returns the offset of a zone from UTC at a time, in milliseconds.
function offset(zone: string, at: number): number {
  const parts = Object.fromEntries(
    new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    })
      .formatToParts(at)
      .map((p) => [p.type, Number(p.value)]),
  );
  const shown = Date.UTC(
    parts['year']!,
    parts['month']! - 1,
    parts['day'],
    parts['hour'],
    parts['minute'],
    parts['second'],
  );
  return shown - Math.floor(at / 1000) * 1000;
}

// instant returns the time at which clocks in a zone show a date and a time of day. If clocks
// skip that time when they are set forward, as at midnight in Chile, it returns the time of
// the change or a later one.
export function instant(date: string, clock: string, zone: string): number {
  const plain = Date.parse(`${date}T${clock}:00Z`);
  const guess = plain - offset(zone, plain);
  const at = plain - offset(zone, guess);
  return offset(zone, at) === offset(zone, guess) ? at : Math.max(at, guess);
}

// clock returns the time of day in a zone, as HH:MM.
export const clock = (at: number, zone: string): string =>
  new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(at);

// next returns the date a number of days later.
export const next = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * dayLength).toISOString().slice(0, 10);

// monday returns the first day of the week of a date.
export const monday = (date: string): string => next(date, -((new Date(`${date}T00:00:00Z`).getUTCDay() + 6) % 7));

export const toDay = (entry: ScheduleEntry): Day => ({
  date: entry.date,
  timezone: entry.timezone,
  shifts: entry.shifts.map(([from, to]) => ({ from: clock(from, entry.timezone), to: clock(to, entry.timezone) })),
});

// toEntry returns a day as an entry, in its own zone if it has one.
export function toEntry(day: Day, organization: string): ScheduleEntry {
  const zone = day.timezone ?? organization;
  return {
    date: day.date,
    timezone: zone,
    shifts: day.shifts
      .map(({ from, to }): [number, number] => {
        const start = instant(day.date, from, zone);
        return [start, instant(to > from ? day.date : next(day.date, 1), to, zone)];
      })
      .sort((a, b) => a[0] - b[0]),
  };
}

const outline = (d: Day | undefined) => JSON.stringify((d?.shifts ?? []).map((s) => [s.from, s.to]).sort());

// isSame reports whether two days have the same shifts.
export const isSame = (a: Day | undefined, b: Day | undefined): boolean => outline(a) === outline(b);

// merge replaces the days of a week in a schedule. It drops days without a shift and, like
// the server, days before today.
export function merge(entries: ScheduleEntry[], week: Day[], zone: string, today: string): ScheduleEntry[] {
  const dates = new Set(week.map((d) => d.date));
  return [...entries.filter((e) => !dates.has(e.date)), ...week.map((d) => toEntry(d, zone))]
    .filter((e) => e.date >= today && e.shifts.length > 0)
    .sort((a, b) => a.date.localeCompare(b.date));
}
