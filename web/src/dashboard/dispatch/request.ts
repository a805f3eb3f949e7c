// The options of a dispatch in the form, and the request with them.

import type { Options } from './wire.ts';

export interface PlanOptions {
  hours: number; // hours to plan ahead
  vehicle: string; // '' for all
  maxTasks: number;
  delay: number; // minutes
  service: number; // minutes
  end: string; // as the API names it; '' for anywhere
  busy: number | null; // workers with more tasks are left out; null for no limit
}

export const teamHub = 'teams://DEFAULT';
export const ownAddress = 'workers://ROUTING_ADDRESS';
export const hoursAhead = [2, 4, 6, 8, 12] as const;

export const defaults: PlanOptions = { hours: 4, vehicle: '', maxTasks: 100, delay: 10, service: 2, end: teamHub, busy: null }; // prettier-ignore

const hour = 3600; // seconds
const overdue = 4; // hours for which overdue tasks are still planned
const furthest = 12 * hour - 600; // the API's limit, less a margin for a clock that is fast

// bodyOf returns the request for a team.
export function bodyOf(w: PlanOptions, now: number, dryRun: boolean) {
  const at = Math.floor(now / 1000);
  const workers = { ...(w.vehicle ? { vehicleType: w.vehicle } : { anyVehicle: true }), ...(w.busy !== null && { maxContainerSize: Math.min(w.busy, w.maxTasks) }) }; // prettier-ignore
  return {
    ...routeOf(w, dryRun),
    maxTasksPerRoute: w.maxTasks,
    taskTimeWindow: [at - overdue * hour, at + Math.min(w.hours * hour, furthest)],
    // Routes may go on after the last window has begun.
    scheduleTimeWindow: [at, at + (w.hours + 2) * hour],
    filters: { workers },
  };
}

// routeOf returns the request for the route of one worker.
export const routeOf = ({ service, end, delay }: PlanOptions, dryRun: boolean) => ({
  serviceTime: service,
  routeEnd: end || null,
  maxAllowedDelay: delay,
  dryRun,
});

// planOptionsOf returns the options of a dispatch as the form has them, to plan again with the
// same ones.
export function planOptionsOf(o: Options, created: number): PlanOptions {
  const hours = (o.taskTimeWindow[1] - created) / 3_600_000;
  return {
    hours: Math.min(12, Math.max(1, Math.round(hours))),
    vehicle: o.vehicleType ?? '',
    maxTasks: o.maxTasksPerRoute,
    delay: Math.max(1, Math.round(o.maxAllowedDelay)),
    service: Math.round(o.serviceTime),
    end: o.routeEnd ?? '',
    busy: o.maxContainerSize === o.maxTasksPerRoute ? null : o.maxContainerSize,
  };
}
