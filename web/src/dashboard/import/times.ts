// Dates and times as people write them.

import { instant } from '../schedule.ts';

export type Order = 'day' | 'month'; // which comes first in 04/05/2026

const date = /^(\d{1,4})[./-](\d{1,2})[./-](\d{2,4})\.?$/;

// orderOf returns the order of day and month in dates, if it is clear from one of them.
export function orderOf(values: readonly string[]): Order | undefined {
  for (const value of values) {
    const parts = date.exec(value.trim().split(/[\sT]/)[0] ?? '');
    if (!parts || parts[1]!.length > 2) continue;
    if (Number(parts[1]) > 12) return 'day';
    if (Number(parts[2]) > 12) return 'month';
    if (value.includes('.')) return 'day';
  }
  return undefined;
}

// isAmbiguous reports whether a value depends on the order of day and month.
export const isAmbiguous = (value: string): boolean => {
  const parts = date.exec(value.trim().split(/[\sT]/)[0] ?? '');
  return parts !== null && parts[1]!.length <= 2 && parts[1] !== parts[2];
};

const two = (n: number) => String(n).padStart(2, '0');

// readDay returns a date as YYYY-MM-DD.
export function readDay(text: string, order: Order): string | undefined {
  const parts = date.exec(text.trim());
  if (!parts) return undefined;
  const [a, b, c] = parts.slice(1).map(Number) as [number, number, number];
  const first = parts[1]!.length > 2; // the year
  const year = first ? a : c < 100 ? 2000 + c : c;
  const month = first || order === 'day' ? b : a;
  const day = first ? c : order === 'day' ? a : b;
  const made = new Date(Date.UTC(year, month - 1, day));
  if (made.getUTCMonth() !== month - 1 || made.getUTCDate() !== day || year < 2000 || year > 2100) return undefined;
  return `${year}-${two(month)}-${two(day)}`;
}

// readClock returns a time of day as HH:MM.
export function readClock(text: string): string | undefined {
  const parts = /^(\d{1,2})(?:\s*[:.hH]\s*(\d{2})?(?::(\d{2})(?:\.\d+)?)?)?\s*([ap]\.?\s?m\.?|uhr|h|hrs)?$/i.exec(
    text.trim(),
  );
  if (!parts) return undefined;
  let hour = Number(parts[1]);
  const minute = Number(parts[2] ?? 0);
  const half = parts[4]?.toLowerCase()[0];
  if (half === 'a' || half === 'p') {
    if (hour < 1 || hour > 12) return undefined;
    hour = (hour % 12) + (half === 'p' ? 12 : 0);
  }
  return hour < 24 && minute < 60 ? `${two(hour)}:${two(minute)}` : undefined;
}

// readTime returns the time in a cell: a date with a time, or a time on the given day. zone
// is used if the cell has none.
export function readTime(text: string, day: string, zone: string, order: Order): number | undefined {
  const trimmed = text.trim();
  if (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/i.test(trimmed)) {
    const at = Date.parse(trimmed);
    return Number.isNaN(at) ? undefined : at;
  }
  const [, on, clock] = /^(\S+?)(?:[,T]\s*|\s+)(\d.*)$/.exec(trimmed) ?? [];
  const whole = on && readDay(on, order);
  const time = readClock(whole ? clock! : trimmed);
  return time ? instant(whole || day, time, zone) : undefined;
}

// readWindow returns the two times in a cell such as 9:00-12:00.
export function readWindow(text: string): [string, string] | undefined {
  const parts = text.trim().split(/\s*[–—-]\s*|\s+(?:to|and|bis|a|y|à|et|as|às|até)\s+/i);
  return parts.length === 2 && readClock(parts[0]!) && readClock(parts[1]!) ? [parts[0]!, parts[1]!] : undefined;
}
