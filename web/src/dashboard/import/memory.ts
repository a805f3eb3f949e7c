// Remembers how the columns of files were matched, by the names of the columns.

import { fields, fold, type Match } from './fields.ts';

const item = 'dray.import.columns';
const most = 50; // sets of columns to remember

// Kept lists sets of column names, whatever their order in the file, with the meanings of the
// columns. The set that was used last comes first.
type Kept = [columns: string, meanings: Record<string, Match>][];

const known = new Set<string>(fields);

// named returns the names of columns. Repeated names get a number.
function named(headers: readonly string[]): string[] {
  const times = new Map<string, number>();
  return headers.map((header) => {
    const name = fold(header);
    const nth = (times.get(name) ?? 0) + 1;
    times.set(name, nth);
    return nth > 1 ? `${name} ${nth}` : name;
  });
}

const setOf = (names: readonly string[]) => names.toSorted().join('|');

// remember adds the meanings of columns to what is kept, and returns the result.
export function remember(kept: string | null, headers: readonly string[], matches: readonly Match[]): string {
  const names = named(headers);
  const set = setOf(names);
  const meanings = Object.fromEntries(names.map((name, i) => [name, matches[i] ?? '']));
  return JSON.stringify([[set, meanings], ...read(kept).filter(([other]) => other !== set)].slice(0, most));
}

// recall returns what columns meant the last time; undefined if they are new. Columns of
// deleted custom fields mean nothing.
export function recall(
  kept: string | null,
  headers: readonly string[],
  custom: readonly { key: string }[],
): Match[] | undefined {
  const names = named(headers);
  const set = setOf(names);
  const meanings = read(kept).find(([other]) => other === set)?.[1];
  const means = (match: Match | undefined): Match =>
    match && (known.has(match) || match === 'metadata' || custom.some((c) => match === `custom:${c.key}`)) ? match : '';
  return meanings && names.map((name) => means(meanings[name]));
}

function read(kept: string | null): Kept {
  try {
    const all: unknown = JSON.parse(kept ?? '[]');
    return Array.isArray(all) ? (all as Kept).filter((k) => Array.isArray(k) && k.length === 2) : [];
  } catch {
    return []; // not written by remember
  }
}

// columns keeps meanings in the browser's storage, if it is allowed.
export const columns = {
  recall(headers: readonly string[], custom: readonly { key: string }[]): Match[] | undefined {
    try {
      return recall(localStorage.getItem(item), headers, custom);
    } catch {
      return undefined;
    }
  },
  remember(headers: readonly string[], matches: readonly Match[]) {
    try {
      localStorage.setItem(item, remember(localStorage.getItem(item), headers, matches));
    } catch {
      // The columns will be matched by their names again.
    }
  },
};
