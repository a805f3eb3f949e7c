// The parts of the snapshot and of the event stream that the board reads.

import { envelope, type Address, type Point } from '../wire.ts';

export interface BoardTask {
  id: string;
  shortId: string;
  state: number; // 0 unassigned, 1 assigned, 2 active, 3 completed
  timeLastModified: number;
  timeCreated?: number;
  completeAfter?: number;
  completeBefore?: number;
  pickupTask?: boolean;
  quantity?: number;
  serviceTime?: number; // minutes
  estimatedArrivalTime?: number;
  estimatedCompletionTime?: number;
  delayTime?: number; // seconds
  startTime?: number;
  arrivalTime?: number;
  worker?: string;
  container?: Container;
  dependencies?: string[];
  orderShortId?: string;
  notes?: string;
  completionDetails?: { success?: boolean; time?: number; failureReason?: string };
  completedWithGeofenceWarning?: boolean;
  destination: { id: string; location: Point; line: string; warnings?: string[] };
  recipients?: { name: string; phone: string }[]; // only the first
  priority?: number;
  pinned?: string; // 'worker', or 'position' if it is pinned to its position, too
}

export interface Container {
  type: string;
  worker?: string;
  team?: string;
  organization?: string;
}

export interface BoardWorker {
  id: string;
  name: string;
  phone: string;
  teams: string[];
  onDuty: boolean;
  activeTask?: string | null;
  tasks: string[];
  version?: number; // version of the list
  location?: Point | null;
  timeLocated?: number | null;
  timeLastSeen?: number | null;
  delayTime?: number | null;
  vehicle?: { type: string } | null;
  capacity?: number;
  battery?: number | null; // 0 to 1
  heading?: number | null;
  speed?: number | null;
  appVersion?: string | null;
  schedule?: [number, number][];
}

export interface BoardTeam {
  id: string;
  name: string;
  workers: string[];
  hub?: string | null;
  tasks?: string[];
  version?: number; // version of the list
}

export interface BoardHub {
  id: string;
  name: string;
  location: Point;
  address?: string;
}

export interface Snapshot {
  cursor: string | number;
  fleet: number; // version of teams, hubs and schedules
  date: string;
  from: number;
  to: number;
  timezone: string;
  organization: { id: string; name: string; location?: Point };
  teams: BoardTeam[];
  hubs: BoardHub[];
  workers: BoardWorker[];
  tasks: BoardTask[];
  truncated: boolean;
}

// Position is the location of a worker, which is not part of the event log.
export interface Position {
  worker: string;
  location: Point;
  time: number;
  timeLastSeen?: number;
  heading?: number | null;
  speed?: number | null;
  battery?: number | null;
}

export interface Estimate {
  id: string;
  estimatedArrivalTime: number | null;
  estimatedCompletionTime: number | null;
  delayTime: number | null;
}

// Estimates contains the estimates of all open tasks of a worker.
export interface Estimates {
  worker: string;
  delayTime: number | null;
  tasks: Estimate[];
}

export interface ListChange {
  container: Container;
  activeTask?: string | null;
  tasks: string[] | null; // null if the list is too long for the stream
  pinned?: Record<string, string>;
  version?: number | undefined;
}

// Event is an entry of the event log, with the records as they were after it.
export interface Event {
  taskId: string | null;
  workerId: string | null;
  data: { task?: ApiTask; worker?: ApiWorker };
  actionContext: { type: string; id: string } | null;
  triggerId: number;
  triggerName: string;
  time: number;
}

export interface ApiTask extends Omit<
  BoardTask,
  'destination' | 'completionDetails' | 'worker' | 'orderShortId' | 'completeAfter' | 'completeBefore'
> {
  worker?: string | null;
  orderShortId?: string | null;
  completeAfter?: number | null;
  completeBefore?: number | null;
  destination: { id: string; location: Point; address: Address; warnings?: string[] };
  completionDetails?: {
    success?: boolean;
    time?: number | null;
    failureReason?: string;
    events?: { name: string; time: number }[];
  };
}

interface ApiWorker extends Omit<BoardWorker, 'battery' | 'appVersion'> {
  userData?: { appVersion?: string; batteryLevel?: number };
}

const maxNotes = 200; // characters

// shortened returns the beginning of notes. The server counts characters, not UTF-16 units.
const shortened = (notes: string): string => (notes.length > maxNotes ? [...notes].slice(0, maxNotes).join('') : notes);

// toTask converts a task of the API to the form that it has in the snapshot.
export function toTask(t: ApiTask): BoardTask {
  const { success, time, failureReason, events } = t.completionDetails ?? {};
  const timeOf = (name: string) => events?.find((e) => e.name === name)?.time;
  const { id, location, address, warnings } = t.destination;
  const task: Record<string, unknown> = {
    id: t.id,
    shortId: t.shortId,
    state: t.state,
    timeLastModified: t.timeLastModified,
    timeCreated: t.timeCreated,
    completeAfter: t.completeAfter,
    completeBefore: t.completeBefore,
    pickupTask: t.pickupTask || undefined,
    quantity: t.quantity || undefined,
    serviceTime: t.serviceTime || undefined,
    estimatedArrivalTime: t.estimatedArrivalTime,
    estimatedCompletionTime: t.estimatedCompletionTime,
    delayTime: t.delayTime,
    startTime: timeOf('start'),
    arrivalTime: timeOf('arrival'),
    worker: t.worker,
    container: t.container,
    dependencies: t.dependencies?.length ? t.dependencies : undefined,
    orderShortId: t.orderShortId,
    notes: t.notes ? shortened(t.notes) : undefined,
    completedWithGeofenceWarning: t.completedWithGeofenceWarning || undefined,
    completionDetails: t.state === 3 ? { success, time: time ?? undefined, failureReason } : undefined,
    destination: {
      id,
      location,
      line: envelope(address),
      ...(warnings?.length && { warnings }),
    },
    recipients: t.recipients?.length ? t.recipients.slice(0, 1).map(({ name, phone }) => ({ name, phone })) : undefined,
    priority: t.priority || undefined,
  };
  // Deleting the other properties instead would make the object slow to read.
  const known = Object.entries(task).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(known) as unknown as BoardTask;
}

// toWorker converts a worker of the API to the form that it has in the snapshot. Fields that
// only positions and the snapshot contain stay as they were.
export function toWorker(w: ApiWorker, before: BoardWorker | undefined): BoardWorker {
  const older = (w.timeLastSeen ?? 0) < Math.max(before?.timeLastSeen ?? 0, before?.timeLocated ?? 0);
  return {
    ...before,
    id: w.id,
    name: w.name,
    phone: w.phone,
    teams: w.teams,
    onDuty: w.onDuty,
    activeTask: w.activeTask ?? null,
    tasks: w.tasks,
    location: older ? before?.location : w.location,
    timeLastSeen: older ? before?.timeLastSeen : w.timeLastSeen,
    delayTime: w.delayTime ?? null,
    vehicle: w.vehicle ? { type: w.vehicle.type } : null,
    capacity: w.capacity,
    battery: w.userData?.batteryLevel ?? before?.battery ?? null,
    appVersion: w.userData?.appVersion ?? before?.appVersion ?? null,
  };
}
