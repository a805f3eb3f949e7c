// Reads the rows of a file as tasks, and finds what is wrong with their cells.

import { instant, next } from '../schedule.ts';
import type { Address, Point } from '../wire.ts';
import type { Words } from '../words.ts';
import { fold, type Field, type Match } from './fields.ts';
import { readClock, readDay, readTime, readWindow, type Order } from './times.ts';

export const maxKey = 100; // maximum number of characters of an import key
const longestNight = 16 * 3_600_000; // ms; maximum length of a time window that ends on the next day
const maxAfter = 100; // maximum number of dependencies of a task

export interface Problem {
  code: keyof Words;
  values?: Record<string, string | number>;
  at: readonly Match[]; // the cells that are wrong
}

export interface CustomKind {
  key: string;
  name: string;
  type: string;
}

export interface Options {
  headers: readonly string[];
  matches: readonly Match[];
  custom: readonly CustomKind[];
  teams: readonly { id: string; name: string }[];
  workers: readonly { id: string; name: string; phone: string }[];
  day: string; // the date of times without one, as YYYY-MM-DD
  order: Order;
  zone: string;
  country: string; // the country of addresses without one
}

// Draft is a row as a task, before its address is resolved.
export interface Draft {
  reference: string;
  recipient: { name: string; phone: string; notes: string } | undefined;
  line: string; // the address, as it is searched for
  parts: Address;
  location: Point | undefined;
  from: number | undefined;
  until: number | undefined;
  day: string; // the chosen day; '' if the row has a date
  after: string[]; // references of the rows that it depends on
  team: string;
  worker: string;
  body: Record<string, unknown>; // the fields that need no further work
  problems: Problem[];
}

const yes = new Set(
  'yes y true 1 x ja wahr si verdadero oui vrai sim verdadeiro pickup pick up collect collection abholung recogida recoger collecte enlevement ramassage coleta recolha'.split(
    ' ',
  ),
).add('pick up');
const no = new Set(
  'no n false 0 nein falsch falso non faux nao delivery deliver dropoff drop lieferung zustellung entrega livraison'.split(
    ' ',
  ),
).add('drop off');

// readFlag reads yes or no, in several languages; undefined if it is neither.
export function readFlag(text: string): boolean | undefined {
  const word = fold(text);
  if (!word || no.has(word)) return false;
  return yes.has(word) ? true : undefined;
}

const compact = (text: string) => text.replace(/[\s\u00a0']/g, '');

// readNumber reads a number with a decimal point or comma.
export function readNumber(text: string): number | undefined {
  const plain = compact(text);
  const pointed = /^[+-]?\d{1,3}((\.\d{3})+,\d+|(\.\d{3}){2,})$/.test(plain)
    ? plain.replaceAll('.', '').replace(',', '.')
    : /^[+-]?\d{1,3}((,\d{3})+\.\d+|(,\d{3}){2,})$/.test(plain)
      ? plain.replaceAll(',', '')
      : plain.replace(',', '.');
  return /^[+-]?\d+(\.\d+)?$/.test(pointed) ? Number(pointed) : undefined;
}

// meanings returns the two numbers that a text such as 1,000 or 1.250 can mean; undefined if
// there is no doubt.
export function meanings(text: string): { whole: string; decimal: string } | undefined {
  const [, whole, part] = /^([+-]?[1-9]\d{0,2})[.,](\d{3})$/.exec(compact(text)) ?? [];
  return whole && part ? { whole: whole + part, decimal: String(Number(`${whole}.${part}`)) } : undefined;
}

// readMinutes reads a number of minutes, or hours and minutes.
function readMinutes(text: string): number | undefined {
  const [, hours, minutes] = /^(\d{1,2}):(\d{2})(?::\d{2})?$/.exec(text.trim()) ?? [];
  if (hours) return Number(hours) * 60 + Number(minutes);
  return readNumber(withoutUnit(text));
}

const withoutUnit = (text: string) => text.replace(/\s*(min|mins|minutes|minuten|minutos|m|')\.?$/i, '');

// keysOf returns the import key of each row, if it has no reference: a hash of its cells, of the
// chosen day if it has no date, and of the number of equal rows before it. A row keeps it when it
// is corrected, so that the same file creates nothing twice on a day.
export function keysOf(rows: readonly (readonly string[])[], days: readonly string[]): string[] {
  const times = new Map<string, number>();
  return rows.map((cells, i) => {
    const text = cells.join('\u0001').replace(/\u0001+$/, '');
    const hash = hashOf(JSON.stringify(days[i] ? `${text}\u0002${days[i]}` : text));
    const nth = (times.get(hash) ?? 0) + 1;
    times.set(hash, nth);
    return `row ${hash} ${nth}`;
  });
}

// hashOf returns a hash of 106 bits that is not cryptographic: collisions can be constructed.
// The browser's own hashes are available only on pages that were loaded with TLS.
export function hashOf(text: string): string {
  const part = (seed: number) => {
    let a = 0xdeadbeef ^ seed;
    let b = 0x41c6ce57 ^ seed;
    for (let i = 0; i < text.length; i++) {
      const c = text.charCodeAt(i);
      a = Math.imul(a ^ c, 2654435761);
      b = Math.imul(b ^ c, 1597334677);
    }
    a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
    b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
    return (4294967296 * (2097151 & b) + (a >>> 0)).toString(36).padStart(11, '0');
  };
  return part(1) + part(2);
}

const digits = (phone: string) => phone.replace(/\D/g, '');

interface Named {
  id: string;
  name: string;
  phone?: string;
}

const known = new WeakMap<Named, { name: string; number: string }>(); // names and numbers as they are compared

// plain returns the name and the number of a team or worker as they are compared.
function plain(record: Named): { name: string; number: string } {
  let found = known.get(record);
  if (!found) known.set(record, (found = { name: fold(record.name), number: digits(record.phone ?? '') }));
  return found;
}

// find returns the id of the team or worker that a cell names.
function find(cell: string, records: readonly Named[], problems: Problem[], unknown: keyof Words, at: Field): string {
  if (!cell) return '';
  const wanted = fold(cell);
  const number = digits(cell);
  const found = records.filter(
    (r) => plain(r).name === wanted || (number.length > 5 && plain(r).number.endsWith(number)),
  );
  if (found.length === 1) return found[0]!.id;
  problems.push({ code: found.length ? 'importNotUnique' : unknown, values: { value: cell }, at: [at] });
  return '';
}

// draft reads a row.
export function draft(cells: readonly string[], o: Options): Draft {
  const problems: Problem[] = [];
  const values = {} as Record<Field, string>;
  const metadata: { name: string; type: string; value: string }[] = [];
  const customFields: { key: string; value: unknown }[] = [];
  o.matches.forEach((match, i) => {
    const cell = cells[i]?.trim() ?? '';
    if (!match || !cell) return;
    if (match === 'metadata') metadata.push({ name: o.headers[i] || `column ${i + 1}`, type: 'string', value: cell });
    else if (match.startsWith('custom:')) {
      const kind = o.custom.find((c) => c.key === match.slice(7));
      const value = kind && customValue(cell, kind.type, o.order);
      const doubt = isNumeric(kind?.type) && meanings(cell);
      if (doubt)
        problems.push({
          code: 'importTwoNumbers',
          values: { column: o.headers[i]!, value: cell, ...doubt },
          at: [match],
        });
      else if (value === undefined)
        problems.push({ code: 'importBadValue', values: { column: o.headers[i]!, value: cell }, at: [match] });
      else customFields.push({ key: kind!.key, value });
    } else values[match as Field] = cell;
  });
  const get = (field: Field) => values[field] ?? '';
  const bad = (field: Field, code: keyof Words = 'importBadValue', more: Record<string, string> = {}) =>
    problems.push({
      code,
      values: { column: o.headers[o.matches.indexOf(field)] || field, value: get(field), ...more },
      at: [field],
    });
  const numberOf = (field: Field, read = readNumber): number | undefined => {
    if (!get(field)) return undefined;
    const value = read(get(field));
    const doubt = meanings(withoutUnit(get(field)));
    if (doubt) bad(field, 'importTwoNumbers', doubt);
    else if (value === undefined || value < 0) bad(field);
    return value;
  };

  const reference = get('reference');
  if ([...reference].length > maxKey)
    problems.push({ code: 'importLongReference', values: { n: maxKey }, at: ['reference'] });

  // Recipient
  let recipient: Draft['recipient'];
  if (get('name') || get('phone')) {
    recipient = { name: get('name'), phone: get('phone'), notes: get('recipientNotes') };
    if (!recipient.phone) problems.push({ code: 'importNoPhone', at: ['phone'] });
    else if (digits(recipient.phone).length < 5) bad('phone');
    else if (!recipient.name) problems.push({ code: 'importNoName', at: ['name'] });
  }

  // Address
  const parts: Address = {};
  for (const part of ['number', 'street', 'apartment', 'city', 'state', 'postalCode', 'country'] as const) {
    if (get(part)) parts[part] = get(part);
  }
  let location: Point | undefined;
  if (get('latitude') || get('longitude')) {
    const lat = readNumber(get('latitude'));
    const lon = readNumber(get('longitude'));
    if (lat === undefined || Math.abs(lat) > 90) bad('latitude');
    else if (lon === undefined || Math.abs(lon) > 180) bad('longitude');
    else if (lat || lon) location = [lon, lat];
  }
  const inParts = [
    [parts.number, parts.street].filter(Boolean).join(' '),
    [parts.postalCode, parts.city].filter(Boolean).join(' '),
    parts.state,
  ].filter(Boolean);
  const lineParts = [get('address'), ...inParts].filter(Boolean);
  const place = lineParts.join(', ');
  // Files have coordinates of 0 where there are none.
  const misread = problems.some((p) => p.at.includes('latitude') || p.at.includes('longitude'));
  if (!place && !location && !misread)
    problems.push({ code: 'importNoAddress', at: ['address', 'street', 'city', 'latitude', 'longitude'] });
  const line = place && [place, parts.country ?? (inParts.length ? o.country : '')].filter(Boolean).join(', ');

  // Times
  let day = o.day;
  if (get('day')) {
    const read = readDay(get('day').split(/[\sT]/)[0]!, o.order);
    if (read) day = read;
    else bad('day');
  }
  let [from, until] = [get('from'), get('until')];
  if (get('window')) {
    const ends = readWindow(get('window'));
    if (ends) [from, until] = [from || ends[0], until || ends[1]];
    else bad('window');
  }
  const time = (text: string, field: Field): number | undefined => {
    if (!text) return undefined;
    const at = readTime(text, day, o.zone, o.order);
    if (at !== undefined) return at;
    const only = readDay(text, o.order); // a whole day
    if (only) return instant(only, field === 'from' ? '00:00' : '23:59', o.zone);
    bad(field);
    return undefined;
  };
  let start = time(from, 'from');
  let end = time(until, 'until');
  const isDated = (text: string, at: number | undefined) => !text || (at !== undefined && !readClock(text));
  const dated = get('day') || ((from || until) && isDated(from, start) && isDated(until, end));
  if (get('day') && !from && !until && !get('window')) {
    start = instant(day, '00:00', o.zone);
    end = instant(day, '23:59', o.zone);
  }
  if (start !== undefined && end !== undefined && end <= start && readClock(from) && readClock(until)) {
    const nextDay = readTime(until, next(day, 1), o.zone, o.order)!;
    if (nextDay - start <= longestNight) end = nextDay; // a longer one is more likely to be a mistake
  }
  if (start !== undefined && end !== undefined && end <= start)
    problems.push({ code: 'importWindowEnds', at: ['window', 'from', 'until'] });

  const pickup = get('pickup') ? readFlag(get('pickup')) : false;
  if (pickup === undefined) bad('pickup');
  const quantity = numberOf('quantity');
  const service = numberOf('service', readMinutes);
  const after = [...new Set(get('after').split(/[,;|\n]/).map((r) => r.trim()).filter(Boolean))]; // prettier-ignore
  if (after.length > maxAfter) problems.push({ code: 'importManyAfter', values: { n: maxAfter }, at: ['after'] });
  return {
    reference,
    recipient,
    line,
    parts,
    location,
    from: start,
    until: end,
    day: dated ? '' : o.day,
    after,
    team: find(get('team'), o.teams, problems, 'importNoTeam', 'team'),
    worker: find(get('worker'), o.workers, problems, 'importNoWorker', 'worker'),
    body: {
      ...(start !== undefined && { completeAfter: start }),
      ...(end !== undefined && { completeBefore: end }),
      ...(get('notes') && { notes: get('notes') }),
      ...(quantity !== undefined && { quantity }),
      ...(service !== undefined && { serviceTime: service }),
      ...(pickup && { pickupTask: true }),
      ...(customFields.length && { customFields }),
      ...(metadata.length && { metadata }),
    },
    problems,
  };
}

const isNumeric = (type = '') => type === 'integer' || type === 'decimal';

function customValue(text: string, type: string, order: Order): unknown {
  if (type === 'boolean') return readFlag(text);
  if (isNumeric(type)) return readNumber(text);
  if (type === 'date') return readDay(text, order);
  return text;
}

// relate finds conflicts between rows: references that occur twice, and dependencies that
// cannot be met. It returns the waves in which to create tasks, one after the other.
export function relate(drafts: readonly Draft[]): { problems: Problem[][]; waves: number[][] } {
  const problems: Problem[][] = drafts.map(() => []);
  const at = new Map<string, number>();
  drafts.forEach((d, i) => {
    if (!d.reference) return;
    const first = at.get(d.reference);
    if (first === undefined) at.set(d.reference, i);
    else problems[i]!.push({ code: 'importReferenceTwice', values: { value: d.reference }, at: ['reference'] });
  });
  const pending = new Set(drafts.keys());
  for (const [i, d] of drafts.entries()) {
    const lost = d.after.find((r) => !at.has(r));
    if (lost !== undefined) {
      problems[i]!.push({ code: 'importNoReference', values: { value: lost }, at: ['after'] });
      pending.delete(i); // the task is not created
    }
  }
  const lostRows = drafts.map((_, i) => !pending.has(i));
  const waves: number[][] = [];
  const done = new Set<number>();
  while (pending.size) {
    const wave = [...pending].filter((i) =>
      drafts[i]!.after.every((r) => done.has(at.get(r)!) || lostRows[at.get(r)!]),
    );
    if (wave.length === 0) break;
    for (const i of wave) {
      pending.delete(i);
      done.add(i);
    }
    waves.push(wave);
  }
  for (const i of pending) problems[i]!.push({ code: 'importCircle', at: ['after'] });
  return { problems, waves };
}

// wrongCells returns the cells that problems are about, each with the first of its problems.
export function wrongCells(
  problems: readonly Problem[],
  matches: readonly Match[],
): { column: number; match: Match; problem: Problem }[] {
  const found = new Map<number, { column: number; match: Match; problem: Problem }>();
  for (const problem of problems) {
    for (const match of problem.at) {
      const column = matches.indexOf(match);
      if (column >= 0 && !found.has(column)) found.set(column, { column, match, problem });
    }
  }
  return [...found.values()];
}

const parts: Partial<Record<Match, 'recipient' | 'place' | 'time'>> = {};
for (const field of ['reference', 'name', 'phone', 'recipientNotes'] as const) parts[field] = 'recipient';
for (const field of ['address', 'street', 'number', 'apartment', 'postalCode', 'city', 'state', 'country', 'latitude', 'longitude'] as const) parts[field] = 'place'; // prettier-ignore
for (const field of ['day', 'window', 'from', 'until'] as const) parts[field] = 'time';

// partOf returns the part of a task that a cell belongs to.
export const partOf = (match: Match): 'recipient' | 'place' | 'time' | 'other' => parts[match] ?? 'other';
