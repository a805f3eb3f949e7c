// The columns of the table, and its export.

import { app } from '../app.svelte.ts';
import type { Words } from '../words.ts';
import { board } from './board.svelte.ts';
import { lateness } from './status.ts';
import { clock, minutes, span } from './times.ts';
import type { BoardTask } from './wire.ts';

export interface Column {
  name: string;
  label: keyof Words;
  wide: number; // pixels
  text: (task: BoardTask) => string; // returns the text that is shown
  order?: (task: BoardTask) => number; // sort key; default text
  plain?: (task: BoardTask) => string; // returns the text that is exported; default text
}

const iso = (ms: number | undefined) => (ms === undefined ? '' : new Date(ms).toISOString());
const last = Number.MAX_SAFE_INTEGER;

let windows = new WeakMap<BoardTask, string>(); // texts of time windows
let formatted = ''; // the day and the language of windows

// windowText returns the text of a time window. Formatting thousands of them takes long.
function windowText(task: BoardTask): string {
  const { from, to } = board.records;
  const context = `${from} ${to} ${app.locale} ${app.language}`;
  if (formatted !== context) [windows, formatted] = [new WeakMap(), context];
  let text = windows.get(task);
  if (text === undefined) {
    text = span(task.completeAfter, task.completeBefore, board.records);
    windows.set(task, text);
  }
  return text;
}

export const columns: Column[] = [
  { name: 'state', label: 'state', wide: 150, text: (t) => app.say(board.groups.statusOf(t)) },
  { name: 'recipient', label: 'recipient', wide: 170, text: (t) => t.recipients?.[0]?.name ?? '' },
  { name: 'phone', label: 'phone', wide: 130, text: (t) => t.recipients?.[0]?.phone ?? '' },
  { name: 'destination', label: 'destination', wide: 300, text: (t) => t.destination.line },
  { name: 'worker', label: 'worker', wide: 150, text: (t) => board.records.workers.get(workerOfTask(t))?.name ?? '' },
  {
    name: 'window',
    label: 'window',
    wide: 140,
    text: windowText,
    order: (t) => t.completeBefore ?? t.completeAfter ?? last,
    plain: (t) => `${iso(t.completeAfter)}/${iso(t.completeBefore)}`,
  },
  {
    name: 'arrival',
    label: 'arrival',
    wide: 150,
    text: (t) => (t.state < 3 && t.estimatedArrivalTime ? clock(t.estimatedArrivalTime) : ''),
    order: (t) => (t.state < 3 ? (t.estimatedArrivalTime ?? last) : last),
    plain: (t) => (t.state < 3 ? iso(t.estimatedArrivalTime) : ''),
  },
  {
    name: 'completed',
    label: 'completed',
    wide: 110,
    text: (t) => (t.completionDetails?.time ? clock(t.completionDetails.time) : ''),
    order: (t) => t.completionDetails?.time ?? last,
    plain: (t) => iso(t.completionDetails?.time),
  },
  {
    name: 'late',
    label: 'late',
    wide: 90,
    text: (t) => (lateness(t, board.now) > 60_000 ? minutes(lateness(t, board.now)) : ''),
    order: (t) => -lateness(t, board.now),
    plain: (t) => String(Math.round(lateness(t, board.now) / 60_000)),
  },
  {
    name: 'quantity',
    label: 'quantity',
    wide: 80,
    text: (t) => String(t.quantity ?? ''),
    order: (t) => t.quantity ?? 0,
  },
  { name: 'shortId', label: 'task', wide: 90, text: (t) => t.shortId },
  { name: 'notes', label: 'notes', wide: 220, text: (t) => t.notes ?? '' },
];

// workerOfTask returns the worker of a task, including moves that are not confirmed.
function workerOfTask(task: BoardTask): string {
  const home = board.records.home(task.id);
  if (home) return home.startsWith('W') ? home.slice(1) : '';
  return task.worker ?? '';
}

export interface View {
  filters: Record<string, string>;
  sort: string;
  down: boolean;
}

export const usual: View = { filters: {}, sort: 'window', down: false };

let previous: string[] = []; // ids of the rows that were sorted last

// rowsOf returns the tasks that a view shows, in its order. Of tasks with the same key, those
// that the board knows longer come first.
export function rowsOf({ filters, sort, down }: View): BoardTask[] {
  const wanted = columns.flatMap((c) => {
    const text = filters[c.name]?.trim().toLowerCase();
    return text ? [{ c, text }] : [];
  });
  const { records, filter } = board;
  const found: BoardTask[] = [];
  for (const task of records.tasks.values()) {
    if (filter.team && !board.groups.includes(task.id)) continue;
    if (wanted.every(({ c, text }) => c.text(task).toLowerCase().includes(text))) found.push(task);
  }
  const column = columns.find((c) => c.name === sort) ?? columns[0]!;
  const { order } = column;
  const keyed = new Map(found.map((task, n) => [task.id, { task, n, key: order ? order(task) : column.text(task) }]));
  // Few rows have moved since the last time: sorting what is almost sorted takes few comparisons.
  const rows = previous.flatMap((id) => {
    const row = keyed.get(id);
    return row && keyed.delete(id) ? [row] : [];
  });
  rows.push(...keyed.values());
  const { compare } = new Intl.Collator(app.locale, { numeric: true });
  rows.sort((a, b) => {
    const by = typeof a.key === 'number' ? a.key - (b.key as number) : compare(a.key, b.key as string);
    return (down ? -by : by) || a.n - b.n;
  });
  previous = rows.map(({ task }) => task.id);
  return rows.map(({ task }) => task);
}

// sheet returns the cells of the exported table.
export const sheet = (rows: readonly BoardTask[]): string[][] => [
  ['id', ...columns.map((c) => c.name)],
  ...rows.map((t) => [t.id, ...columns.map((c) => (c.plain ?? c.text)(t))]),
];
