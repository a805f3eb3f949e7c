// A worker's day as bars on the timeline: past and expected drives and stops.

import { listOf, type Records } from './records.ts';
import { risk, status, type Risk, type Status } from './status.ts';
import type { BoardTask } from './wire.ts';

export interface Bar {
  id: string;
  task: BoardTask;
  drive: number; // beginning of the drive to the stop, in ms; equal to from if it is not known
  from: number; // arrival
  to: number; // departure
  status: Status;
  risk: Risk;
}

const usual = 3 * 60_000; // ms at a stop that has no service time
const brief = 60_000;

// barsOf returns the bars of a worker, in the order of the day.
export function barsOf(records: Records, worker: string, now: number): Bar[] {
  const bars: Bar[] = [];
  const done = [...(records.done.get(worker) ?? [])].flatMap((id) => records.tasks.get(id) ?? []);
  done.sort((a, b) => (a.completionDetails?.time ?? 0) - (b.completionDetails?.time ?? 0));
  for (const task of done) {
    const to = task.completionDetails?.time ?? 0;
    const from = Math.max(task.arrivalTime ?? to - stay(task), task.startTime ?? 0);
    bars.push({ id: task.id, task, drive: Math.min(task.startTime ?? from, from), from: Math.min(from, to - brief), to, status: status(task), risk: risk(task, now) }); // prettier-ignore
  }
  const active = records.workers.get(worker)?.activeTask;
  let free = now; // when the worker can drive on
  for (const id of [active, ...records.list(listOf(worker))]) {
    const task = id ? records.tasks.get(id) : undefined;
    if (!task || task.state === 3) continue;
    // A task whose arrival is not known yet follows the one before it.
    const from = Math.max(task.estimatedArrivalTime ?? free + usual, task.state === 2 ? 0 : free);
    const to = Math.max(task.estimatedCompletionTime ?? 0, from + stay(task));
    const drive = task.state === 2 ? Math.min(task.startTime ?? from, from) : free;
    bars.push({ id: task.id, task, drive, from, to, status: task.state === 2 ? 'active' : 'assigned', risk: risk(task, now) }); // prettier-ignore
    free = to;
  }
  return bars;
}

const stay = (task: BoardTask): number => (task.serviceTime ? task.serviceTime * 60_000 : usual);

// Span is a period of time, in ms.
export type Span = readonly [from: number, to: number];

// spanOf returns the period in which something happens, and the period that the timeline
// shows at first.
export function spanOf(records: Records, now: number): { busy: Span; whole: Span } {
  const { from, to } = records;
  const today = now >= from && now < to;
  let [first, last] = today ? [now, now] : [Infinity, -Infinity];
  for (const task of records.tasks.values()) {
    if (!task.worker) continue;
    const begin = task.startTime ?? task.estimatedArrivalTime;
    const end = task.completionDetails?.time ?? task.estimatedCompletionTime;
    if (begin !== undefined) first = Math.min(first, begin);
    if (end !== undefined) last = Math.max(last, end);
  }
  const [usually, until] = today ? [now - 1800_000, now + 2 * 3600_000] : [from + 8 * 3600_000, from + 18 * 3600_000];
  const begin = Math.max(from, Math.min(usually, first - 600_000));
  const whole: Span = [begin, Math.max(Math.min(to + 6 * 3600_000, Math.max(until, last + 600_000)), begin + 3600_000)];
  return { busy: first < last ? [first, last] : today ? [now, now] : whole, whole };
}

const shortest = 1_800_000; // period that the timeline can show, in ms
const longest = 36 * 3600_000;

// zoomed returns a span that is longer by a factor, in which the time `about` keeps its
// position.
export function zoomed([from, to]: Span, factor: number, about: number): Span {
  const share = (about - from) / (to - from);
  const length = Math.max(shortest, Math.min(longest, (to - from) * factor));
  return [about - length * share, about + length * (1 - share)];
}

// held moves a span so that at least a quarter of it overlaps another span, or so that it
// contains all of the other if that is shorter.
export function held([from, to]: Span, [first, last]: Span): Span {
  const least = Math.min((to - from) / 4, last - first);
  const by = Math.max(0, first + least - to) - Math.max(0, from - (last - least));
  return [from + by, to + by];
}

// ticks returns the times to show at the top of the timeline: multiples of a few minutes or
// of hours, so that they have enough space.
export function ticks(from: number, to: number, width: number, offset: number): number[] {
  const steps = [300_000, 900_000, 1_800_000, 3_600_000, 7_200_000, 10_800_000, 21_600_000];
  const step = steps.find((s) => (width * s) / (to - from) >= 64) ?? 43_200_000;
  const found: number[] = [];
  for (let t = Math.ceil((from + offset) / step) * step - offset; t <= to; t += step) found.push(t);
  return found;
}
