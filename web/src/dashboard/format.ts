// Times and numbers in the reader's language and the organization's time zone. Formats are
// kept, because creating one takes longer than using it, and rows of lists use them often.

import { app } from './app.svelte.ts';

const zone = () => app.me?.organization.timezone || undefined;

const formats = new Map<string, unknown>();

function once<T>(kind: string, options: object, make: () => T): T {
  const key = `${kind} ${app.locale} ${zone()} ${JSON.stringify(options)}`;
  if (!formats.has(key)) formats.set(key, make());
  return formats.get(key) as T;
}

// times returns a format for times.
export const times = (options: Intl.DateTimeFormatOptions, language: string = app.locale): Intl.DateTimeFormat =>
  once(`times ${language}`, options, () => {
    try {
      return new Intl.DateTimeFormat(language, { timeZone: zone(), ...options });
    } catch {
      return new Intl.DateTimeFormat(language, options); // the browser does not know the zone
    }
  });

// numbers returns a format for numbers.
export const numbers = (options: Intl.NumberFormatOptions): Intl.NumberFormat =>
  once('numbers', options, () => new Intl.NumberFormat(app.locale, options));

// listed returns texts as an enumeration, such as "a, b and c".
export const listed = (texts: Iterable<string>): string =>
  once('list', {}, () => new Intl.ListFormat(app.locale)).format(texts);

const clockOptions = { hour: 'numeric', minute: '2-digit' } as const;

// day returns the date of a time, as YYYY-MM-DD.
export const day = (ms: number): string => times({ dateStyle: 'short' }, 'en-CA').format(ms);

// when formats a time; without the date if it is today.
export function when(ms: number): string {
  if (day(ms) === day(Date.now())) return times(clockOptions).format(ms);
  const sameYear = day(ms).slice(0, 4) === day(Date.now()).slice(0, 4);
  return times({ day: 'numeric', month: 'short', ...(!sameYear && { year: 'numeric' }), ...clockOptions }).format(ms);
}

// exactly formats a time to the second, with its zone.
export const exactly = (ms: number): string =>
  times({
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
  }).format(ms);

// date formats a day.
export const date = (ms: number): string => times({ weekday: 'long', day: 'numeric', month: 'long' }).format(ms);

// ago formats how long ago a time was.
export function ago(ms: number, now = Date.now()): string {
  const apart = Math.round((ms - now) / 1000);
  const seconds = apart > 0 && apart < 10 ? 0 : apart; // clocks differ
  const options = { numeric: 'auto', style: 'short' } as const;
  const relative = once('ago', options, () => new Intl.RelativeTimeFormat(app.locale, options));
  for (const [unit, size] of [
    ['day', 86_400],
    ['hour', 3600],
    ['minute', 60],
  ] as const) {
    if (Math.abs(seconds) >= size) return relative.format(Math.trunc(seconds / size), unit);
  }
  return relative.format(seconds, 'second');
}

export const number = (n: number): string => numbers({}).format(n);

export function money(amount: number, currency: string): string {
  try {
    return numbers({ style: 'currency', currency }).format(amount);
  } catch {
    return `${amount} ${currency}`;
  }
}

// country returns the name of a country, by its code.
export function country(code: string): string {
  try {
    return new Intl.DisplayNames(app.locale, { type: 'region' }).of(code) ?? code;
  } catch {
    return code;
  }
}

// bytes formats a size.
export function bytes(n: number): string {
  const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;
  const step = Math.min(n < 1 ? 0 : Math.floor(Math.log10(n) / 3), units.length - 1);
  return numbers({ style: 'unit', unit: units[step]!, maximumSignificantDigits: 3 }).format(n / 1000 ** step);
}
