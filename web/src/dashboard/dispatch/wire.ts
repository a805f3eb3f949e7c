// The parts of dispatches that the page reads.

export type DispatchStatus = 'pending' | 'running' | 'planned' | 'applying' | 'success' | 'failed' | 'discarded';

// isActive reports whether the server is still at work.
export const isActive = (s: DispatchStatus): boolean => s === 'pending' || s === 'running' || s === 'applying';

export interface Cost {
  travel: number; // seconds, like all times of Cost
  service: number;
  waiting: number;
  lateness: number;
  distance: number; // meters
  workers: number;
}

export interface Stop {
  id: string;
  arrivalTime: number; // ms
  departTime: number;
  lateness: number; // seconds
  active: boolean;
  pinned: string | null;
}

export interface Route {
  routeId: string; // the worker
  stops: Stop[];
  cost: Cost;
  tasksBefore: string[];
  vehicleType: string | null;
  shifts: [number, number][];
  travelSource: string;
}

export interface Reason {
  worker: string | null;
  rule: string;
  detail: string;
}

export interface LeftOut {
  id: string;
  reasons: Reason[];
}

export interface Actor {
  type: string;
  id: string;
}

interface Details {
  startTime: number | null;
  endTime: number | null;
  undoTime?: number | null; // missing in dispatches of older versions
  status: DispatchStatus;
  failure: string | null;
}

export interface Summary {
  id: string;
  timeCreated: number;
  requestedBy: Actor | null;
  appliedBy: Actor | null;
  dryRun: boolean;
  replanning: { cause: string; changed: boolean } | null;
  processingDetails: Details;
  cost: Cost;
  tasksPlanned: number;
  tasksUnplanned: number;
}

export interface PlannedTask {
  id: string;
  shortId: string;
  address: string; // '' in plans of older versions
  completeAfter: number | null;
  completeBefore: number | null;
}

export interface Difference {
  what: string;
  task: string | null;
  worker: string | null;
}

export interface Options {
  maxAllowedDelay: number; // minutes
  maxTasksPerRoute: number;
  routeEnd: string | null;
  scheduleTimeWindow: [number, number]; // ms
  serviceTime: number; // minutes
  taskTimeWindow: [number, number]; // ms
  maxContainerSize: number;
  vehicleType: string | null;
}

export interface Dispatch {
  id: string;
  team: string | null;
  worker: string | null;
  timeCreated: number;
  requestedBy: Actor | null;
  appliedBy: Actor | null;
  dryRun: boolean;
  replanning: Summary['replanning'];
  options: Options;
  progress: { phase: string; until: number | null; tasksPlanned: number; cost: Cost } | null;
  plan: { routes: Route[]; unplanned: LeftOut[]; cost: Cost };
  before: Route[];
  processingDetails: Details;
  tasks: PlannedTask[];
  changes: string[];
  differences: Difference[];
}
