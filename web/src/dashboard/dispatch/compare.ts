// A plan compared with the routes before it: totals, workers and tasks.

import type { Bar } from '../board/bars.ts';
import type { BoardTask, BoardWorker } from '../board/wire.ts';
import { phraseOf } from './reasons.ts';
import type { Dispatch, LeftOut, PlannedTask, Reason, Route, Stop } from './wire.ts';

export type Side = 'before' | 'after';

export interface Totals {
  served: number; // tasks on routes
  left: number; // tasks on no route
  late: number; // late tasks
  lateness: number; // seconds
  travel: number;
  distance: number; // meters
  workers: number; // workers with at least one task
  end: number; // ms: when the last task is done; 0 if there is none
}

// totalsOf returns the totals of routes. considered is the number of tasks, on routes or not.
export function totalsOf(routes: readonly Route[], considered: number): Totals {
  const all: Totals = { served: 0, left: 0, late: 0, lateness: 0, travel: 0, distance: 0, workers: 0, end: 0 };
  for (const { stops, cost } of routes) {
    all.served += stops.length;
    all.late += stops.filter((s) => s.lateness > 0).length;
    all.lateness += cost.lateness;
    all.travel += cost.travel;
    all.distance += cost.distance;
    all.workers += stops.length > 0 ? 1 : 0;
    all.end = Math.max(all.end, stops.at(-1)?.departTime ?? 0);
  }
  all.left = Math.max(0, considered - all.served);
  return all;
}

// Row is the route of a worker before and after.
export interface Row {
  worker: string;
  before: Totals;
  after: Totals;
  was: string[]; // tasks before, without the active one
  next: string[]; // tasks after, without the active one
  changed: boolean; // the tasks or their order differ
}

// Fate is the effect of a plan on a task.
export interface Fate {
  id: string;
  from: string; // the worker before; '' for none
  to: string; // the worker after; '' if it is left out
  before: Stop | undefined;
  after: Stop | undefined;
  number: number; // position on the route after, without the active task; 0 for none
}

export interface Comparison {
  known: boolean; // the routes before are known
  before: Totals;
  after: Totals;
  rows: Row[];
  fates: Map<string, Fate>;
  left: LeftOut[];
  span: [number, number]; // the period in which something happens, in ms
}

export function compare(dispatch: Dispatch): Comparison {
  const { plan, before, tasks } = dispatch;
  const known = before.length > 0 || plan.routes.length === 0;
  const fates = new Map<string, Fate>();
  const fate = (id: string): Fate => {
    let found = fates.get(id);
    if (!found) fates.set(id, (found = { id, from: '', to: '', before: undefined, after: undefined, number: 0 }));
    return found;
  };
  let [first, last] = [Infinity, 0];
  for (const [routes, side] of [
    [before, 'before'],
    [plan.routes, 'after'],
  ] as const) {
    for (const { routeId, stops } of routes) {
      let number = 0;
      for (const stop of stops) {
        const of = fate(stop.id);
        of[side] = stop;
        of[side === 'before' ? 'from' : 'to'] = routeId;
        if (!stop.active) number++;
        if (side === 'after') of.number = stop.active ? 0 : number;
        first = Math.min(first, stop.arrivalTime);
        last = Math.max(last, stop.departTime);
      }
    }
  }
  // If the routes before are not known, the lists show who had a task.
  if (!known) for (const { routeId, tasksBefore } of plan.routes) for (const id of tasksBefore) fate(id).from = routeId;
  for (const { id } of plan.unplanned) fate(id);

  const earlier = new Map(before.map((r) => [r.routeId, r]));
  const rows = plan.routes.map((route): Row => {
    const old = earlier.get(route.routeId);
    const was = old ? old.stops.filter((s) => !s.active).map((s) => s.id) : route.tasksBefore;
    const next = route.stops.filter((s) => !s.active).map((s) => s.id);
    return {
      worker: route.routeId,
      before: totalsOf(old ? [old] : [], 0),
      after: totalsOf([route], 0),
      was,
      next,
      changed: was.join() !== next.join(),
    };
  });
  // Workers whose routes change come first, and those with the most tasks first among them.
  rows.sort((a, b) => Number(b.changed) - Number(a.changed) || b.after.served - a.after.served || (a.worker < b.worker ? -1 : 1)); // prettier-ignore
  const start = dispatch.processingDetails.startTime ?? dispatch.timeCreated;
  const from = Math.min(first, start) - 300_000;
  return {
    known,
    before: totalsOf(before, tasks.length),
    after: { ...totalsOf(plan.routes, tasks.length), left: plan.unplanned.length },
    rows,
    fates,
    left: plan.unplanned,
    span: [from, Math.max(last + 900_000, from + 3_600_000)],
  };
}

// moved returns the tasks that a plan gives to a worker who did not have them.
export const moved = ({ fates }: Comparison): Fate[] => [...fates.values()].filter((f) => f.to && f.to !== f.from);

// touched returns the tasks whose list or position changes.
export function touched({ fates, rows }: Comparison): string[] {
  const changed = new Set(rows.filter((r) => r.changed).map((r) => r.worker));
  return [...fates.values()].filter((f) => f.after && !f.after.active && changed.has(f.to)).map((f) => f.id);
}

// undone reports whether the lists that an applied plan has changed are as they were before,
// and differ from the plan. Only open tasks are compared: started ones cannot be put back.
export function undone(
  { fates, rows }: Comparison,
  open: (id: string) => boolean,
  list: (worker: string) => readonly string[],
): boolean {
  let differs = false;
  for (const { worker, was, next, changed } of rows) {
    if (!changed) continue;
    const before = was.filter(open).join();
    if (list(worker).filter((id) => fates.has(id) && open(id)).join() !== before) return false; // prettier-ignore
    differs ||= next.filter(open).join() !== before;
  }
  return differs;
}

// plannedName returns the name of a task that only the plan contains: street and city, and
// the short id.
export function plannedName({ shortId, address }: Pick<PlannedTask, 'shortId' | 'address'>): string {
  const short = address.split(', ').slice(0, 2).join(', ');
  return short ? `${short} (${shortId})` : shortId;
}

const brief = 60_000; // ms
const tight = 10 * brief;

// barsOf returns a route as bars of the timeline. A bar is the time at a stop; the line to it
// is the drive, and the wait for the window to open.
export function barsOf(route: Route | undefined, start: number, task: (id: string) => BoardTask | undefined): Bar[] {
  let free = start;
  return (route?.stops ?? []).flatMap((stop): Bar[] => {
    const found = task(stop.id);
    const drive = Math.min(free, stop.arrivalTime);
    free = stop.departTime;
    if (!found) return [];
    const { completeAfter = 0, completeBefore = Infinity } = found;
    const from = stop.active ? stop.arrivalTime : Math.min(Math.max(stop.arrivalTime, completeAfter), stop.departTime);
    const risk = stop.lateness > 0 ? 'late' : from > completeBefore - tight ? 'tight' : '';
    const to = Math.max(stop.departTime, from + brief);
    return [{ id: stop.id, task: found, drive, from, to, status: stop.active ? 'active' : 'assigned', risk }];
  });
}

// Newcomers are tasks and workers that a plan does not contain. It can be applied nevertheless.
export interface Newcomers {
  tasks: string[];
  workers: string[];
}

// newcomers returns the waiting tasks of the team and the workers on duty that are not part
// of a plan, though its options do not exclude them.
export function newcomers(
  { team, tasks, options, plan }: Dispatch,
  waiting: readonly BoardTask[],
  workers: Iterable<BoardWorker>,
): Newcomers {
  if (!team) return { tasks: [], workers: [] };
  const known = new Set([...tasks, ...plan.unplanned].map((t) => t.id));
  const crew = new Set(plan.routes.map((r) => r.routeId));
  const [from, to] = options.taskTimeWindow;
  const considered = ({ completeAfter = -Infinity, completeBefore = Infinity }: BoardTask) =>
    completeBefore >= from && completeAfter < to;
  const takes = (w: BoardWorker) =>
    w.onDuty &&
    w.teams.includes(team) &&
    (options.vehicleType === null || w.vehicle?.type === options.vehicleType) &&
    w.tasks.length <= options.maxContainerSize;
  return {
    tasks: waiting.filter((t) => !known.has(t.id) && considered(t)).map((t) => t.id),
    workers: [...workers].filter((w) => takes(w) && !crew.has(w.id)).map((w) => w.id),
  };
}

// ruleCounts returns the number of workers that each rule excludes from a task, the most
// frequent rule first. A reason without a worker may contain the number of other workers that
// it applies to.
export function ruleCounts(reasons: readonly Reason[]): [string, number][] {
  const workers = new Map<string, Set<string>>();
  const others = new Map<string, number>();
  for (const { worker, rule, detail } of reasons) {
    let set = workers.get(rule);
    if (!set) workers.set(rule, (set = new Set()));
    if (worker) set.add(worker);
    const phrase = phraseOf(detail);
    if (phrase?.words === 'why_others') others.set(rule, Number(phrase.values.n));
  }
  return [...workers]
    .map(([rule, set]): [string, number] => [rule, set.size + (others.get(rule) ?? 0)])
    .sort((a, b) => b[1] - a[1]);
}

// readable formats the detail of a reason for people: with local times of day, and with names
// instead of ids.
export function readable(detail: string, near: number, clock: (ms: number) => string, nameOf: (id: string) => string) {
  return detail
    .replace(/\b(?:(\d{4}-\d\d-\d\d) )?(\d\d):(\d\d) UTC/g, (_, day: string | undefined, h: string, m: string) =>
      clock(day ? Date.parse(`${day}T${h}:${m}Z`) : nearest(near, Number(h), Number(m))),
    )
    .replace(/\b[0-9A-Za-z]{24}\b/g, (id) => nameOf(id) || id);
}

// nearest returns the time with a time of day in UTC that is nearest to another time.
function nearest(near: number, hour: number, minute: number): number {
  const day = 86_400_000;
  const at = Math.floor(near / day) * day + hour * 3_600_000 + minute * 60_000;
  return [at - day, at, at + day].reduce((a, b) => (Math.abs(b - near) < Math.abs(a - near) ? b : a));
}

// vehiclesOf returns the types of vehicles of workers, the most frequent first.
// Workers on foot have ''.
export function vehiclesOf(workers: readonly Pick<BoardWorker, 'vehicle'>[]): [string, number][] {
  const count = new Map<string, number>();
  for (const { vehicle } of workers) {
    const type = vehicle?.type ?? '';
    count.set(type, (count.get(type) ?? 0) + 1);
  }
  return [...count].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}
