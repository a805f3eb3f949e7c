// The data of reports: periods, metrics of the API's analytics, and their table as CSV.

import { instant, next } from '../schedule.ts';

export const longest = 31; // maximum number of days in a period

export interface Group {
  day?: string;
  team?: string;
  worker?: string;
  created?: number;
  completed: number; // succeeded and failed
  succeeded: number;
  failed: number;
  failureReasons: Record<string, number>;
  onTime: number;
  early: number;
  late: number;
  distance: number; // meters
  driveTime: number; // seconds
  serviceTime: number;
  arrivals: { count: number; close: number; error: number | null; delay: number | null };
  feedback: { count: number; rating: number | null };
}

export interface Analytics {
  from: number;
  to: number;
  total: Group;
  groups: Group[];
}

export const groupings = ['day', 'team', 'worker'] as const;
export type Grouping = (typeof groupings)[number];

// Period is a range of days, with its first and last day.
export interface Period {
  first: string;
  last: string;
}

// days returns the number of days in a period.
export const days = ({ first, last }: Period): number =>
  Math.round((Date.parse(`${last}T00:00:00Z`) - Date.parse(`${first}T00:00:00Z`)) / 86_400_000) + 1;

// latest returns the period of `count` days that ends today.
export const latest = (count: number, today: string): Period => ({ first: next(today, 1 - count), last: today });

// previous returns the period of the same length before another.
export const previous = (p: Period): Period => ({ first: next(p.first, -days(p)), last: next(p.first, -1) });

// valid reports whether a period can be requested.
export const valid = (p: Period): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(p.first) && /^\d{4}-\d\d-\d\d$/.test(p.last) && days(p) >= 1 && days(p) <= longest;

// within returns a valid period after one end was chosen: it moves the other end if necessary.
export function within(p: Period, chosen: 'first' | 'last'): Period {
  if (valid(p)) return p;
  const length = days(p) < 1 ? 1 : longest;
  return chosen === 'first'
    ? { first: p.first, last: next(p.first, length - 1) }
    : { first: next(p.last, 1 - length), last: p.last };
}

// bounds returns the times of a period, as the API expects them.
export const bounds = (p: Period, zone: string): { from: number; to: number } => ({
  from: instant(p.first, '00:00', zone),
  to: instant(next(p.last, 1), '00:00', zone),
});

export type Unit = 'count' | 'share' | 'minutes' | 'km' | 'rating';

export interface Metric {
  name: 'completed' | 'failedShare' | 'onTimeShare' | 'distance' | 'driveTime' | 'stopTime' | 'etaClose' | 'etaError' | 'rating'; // prettier-ignore
  unit: Unit;
  better: 1 | -1 | 0; // 1 if more is better, -1 if less is
  of: (group: Group) => number | null; // null if there is nothing to count
}

const per = (sum: number, count: number): number | null => (count > 0 ? sum / count : null);

export const metrics: Metric[] = [
  { name: 'completed', unit: 'count', better: 1, of: (g) => g.succeeded },
  { name: 'onTimeShare', unit: 'share', better: 1, of: (g) => per(g.onTime, g.onTime + g.early + g.late) },
  { name: 'failedShare', unit: 'share', better: -1, of: (g) => per(g.failed, g.completed) },
  { name: 'etaClose', unit: 'share', better: 1, of: (g) => per(g.arrivals.close, g.arrivals.count) },
  { name: 'etaError', unit: 'minutes', better: -1, of: (g) => (g.arrivals.error === null ? null : g.arrivals.error / 60) }, // prettier-ignore
  { name: 'driveTime', unit: 'minutes', better: -1, of: (g) => per(g.driveTime / 60, g.completed) },
  { name: 'stopTime', unit: 'minutes', better: -1, of: (g) => per(g.serviceTime / 60, g.completed) },
  { name: 'distance', unit: 'km', better: 0, of: (g) => g.distance / 1000 },
  { name: 'rating', unit: 'rating', better: 1, of: (g) => g.feedback.rating },
];

// change returns the change of a value: the difference of shares and ratings, and the relative
// change of others; undefined if it cannot be computed.
export function change(metric: Metric, now: number | null, before: number | null): number | undefined {
  if (now === null || before === null) return undefined;
  if (metric.unit === 'share' || metric.unit === 'rating') return now - before;
  return before === 0 ? undefined : now / before - 1;
}

// reasonsOf returns the reasons of failures, the most frequent first.
export const reasonsOf = (group: Group): [string, number][] =>
  Object.entries(group.failureReasons).sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));

// table returns the rows of the CSV file, which programs can read.
export function table(by: Grouping, groups: readonly Group[], name: (group: Group) => string): string[][] {
  const text = (n: number | null) => (n === null ? '' : String(Math.round(n * 1000) / 1000));
  const head = [by, ...(by === 'day' ? ['created'] : []), 'completed', 'succeeded', 'failed', 'failureReasons', 'onTime', 'early', 'late', 'distanceMeters', 'driveSeconds', 'serviceSeconds', 'estimatedArrivals', 'arrivalsWithin5Minutes', 'arrivalErrorSeconds', 'arrivalDelaySeconds', 'ratings', 'rating']; // prettier-ignore
  return [
    head,
    ...groups.map((g) => [
      name(g),
      ...(by === 'day' ? [text(g.created ?? 0)] : []),
      ...[g.completed, g.succeeded, g.failed].map(text),
      reasonsOf(g).map(([reason, n]) => `${reason} ${n}`).join('; '), // prettier-ignore
      ...[g.onTime, g.early, g.late, g.distance, g.driveTime, g.serviceTime].map(text),
      ...[g.arrivals.count, g.arrivals.close, g.arrivals.error, g.arrivals.delay].map(text),
      ...[g.feedback.count, g.feedback.rating].map(text),
    ]),
  ];
}
