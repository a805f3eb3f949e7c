// The addresses of rows, which are resolved before tasks are created.

import type { Address, Found, Point } from '../wire.ts';
import { fold } from './fields.ts';
import type { Draft } from './rows.ts';

// Place is the result of resolving a row's address.
export interface Place {
  state: 'exact' | 'given' | 'approximate' | 'unknown';
  line: string; // as it was found
  location?: Point;
  destination: { address: Address | { unparsed: string; apartment?: string }; location?: Point };
}

export type Search = (q: { q: string } | { location: string }) => Promise<Found[]>;

// fits reports whether a house that was found is the one in the line: the line must contain
// its number, and at least the beginning of a word of its street.
export function fits(line: string, hit: Found): boolean {
  if (hit.precision !== 'house' || hit.warnings?.length) return false;
  const words = fold(line).split(' ');
  const number = fold(hit.address.number ?? '');
  if (number && !number.split(' ').every((n) => words.includes(n))) return false;
  const street = fold(hit.address.street ?? '').split(' ');
  return street.some((word) => words.some((w) => w.length > 1 && word.startsWith(w)));
}

// locate resolves the address of a row.
export async function locate(d: Draft, country: string, search: Search): Promise<Place> {
  const { line, parts, location } = d;
  const apartment = parts.apartment ? { apartment: parts.apartment } : {};
  if (location) {
    let address: Address = { ...parts, country: parts.country ?? country };
    if (!parts.city) {
      const hit = (line && (await search({ q: line }))[0]) || undefined;
      const near = hit && fits(line, hit) ? undefined : (await search({ location: location.join(',') }))[0];
      if (near)
        address = { ...near.address, ...(line && { street: line, number: '' }), ...apartment }; // keeps what was written
      else if (hit) address = { ...hit.address, ...apartment };
      else address = { ...address, city: line || location.toReversed().join(', ') };
    }
    return { state: 'given', line: line || lineOf(address), location, destination: { address, location } };
  }
  const [hit] = await search({ q: line });
  if (hit && fits(line, hit)) {
    const address = { ...hit.address, ...apartment };
    return {
      state: 'exact',
      line: hit.line,
      location: hit.location,
      destination: { address, location: hit.location },
    };
  }
  const { number, street, city } = parts;
  const whole = street && city ? numbered(number, street) : undefined;
  const address = whole && { ...parts, ...whole, country: parts.country ?? country };
  return {
    state: hit ? 'approximate' : 'unknown',
    line: hit ? hit.line : line,
    destination: { address: address ?? { unparsed: line, ...apartment } },
  };
}

// numbered returns a street and the number of the house, which may be in the same cell. The
// server keeps the number of an address in parts, even if it does not know the house.
function numbered(number: string | undefined, street: string) {
  if (number) return { number, street };
  const first = /^(\d+\p{L}?)\s+(.+)$/u.exec(street);
  if (first) return { number: first[1]!, street: first[2]! };
  const last = /^(.*\p{L}.*?)\s+(\d+\s?\p{L}?)$/u.exec(street);
  return last ? { number: last[2]!, street: last[1]! } : undefined;
}

const lineOf = (a: Address): string =>
  [[a.number, a.street].filter(Boolean).join(' '), a.city].filter(Boolean).join(', ');

const parallel = 6; // requests at the same time

// each runs a function for all items, a few at a time, until the signal ends it.
export async function each<T>(items: readonly T[], run: (item: T) => Promise<void>, signal: AbortSignal) {
  let next = 0;
  const one = async () => {
    while (next < items.length && !signal.aborted) await run(items[next++]!);
  };
  await Promise.all(Array.from({ length: Math.min(parallel, items.length) }, one));
}

// remembering returns a search that sends each query only once.
export function remembering(search: Search): Search {
  const known = new Map<string, Promise<Found[]>>();
  return (q) => {
    const key = JSON.stringify(q);
    let found = known.get(key);
    if (!found) {
      found = search(q);
      known.set(key, found);
      found.catch(() => known.delete(key));
    }
    return found;
  };
}
