// The records of the API that the dashboard reads.

export type Point = [number, number]; // longitude, latitude

export interface Organization {
  id: string;
  name: string;
  timezone: string;
  country: string;
  image?: string | null;
}

export interface Me {
  id: string;
  name: string;
  email: string;
  phone?: string | null;
  type: 'super' | 'standard';
  isReadOnly: boolean;
  teams: string[];
  language?: string | null;
  secondFactor: boolean;
  hasPassword: boolean;
  isInstallationOwner: boolean;
  organization: Organization;
}

export interface State {
  needsSetup: boolean;
  signedIn: boolean;
  mail: boolean;
  version: string;
  demo: boolean;
}

export interface Session {
  id: string;
  created: number;
  lastUsed: number;
  expires: number;
  userAgent: string;
  address: string | null;
  current: boolean;
}

export interface Admin {
  id: string;
  name: string;
  email: string;
  phone?: string;
  type: 'super' | 'standard';
  isActive: boolean;
  isReadOnly: boolean;
  isAccountOwner: boolean;
  teams: string[];
}

export interface OneTimeLink {
  link: string | null; // null if it was mailed
  expires: number;
  sent: boolean;
}

export interface ApiKey {
  id: string;
  name: string;
  hint: string;
  timeCreated: number;
  timeLastUsed: number | null;
  isActive: boolean;
  key?: string; // only in the response that creates it
}

export interface Team {
  id: string;
  name: string;
  enableSelfAssignment: boolean;
  workers: string[];
  managers: string[];
  hub: string | null;
  tasks?: string[];
}

export interface Address {
  name?: string;
  number?: string;
  street?: string;
  apartment?: string;
  city?: string;
  state?: string;
  postalCode?: string;
  country?: string;
}

export interface Hub {
  id: string;
  name: string;
  phone?: string;
  location: Point;
  address: Address;
  teams: string[];
}

export interface Found {
  location: Point;
  address: Address;
  line: string;
  precision: string;
  warnings?: string[];
}

export interface Vehicle {
  type: string;
  description?: string | null;
  licensePlate?: string | null;
  color?: string | null;
}

export interface Worker {
  id: string;
  name: string;
  displayName: string | null;
  phone: string;
  capacity: number;
  additionalCapacities: { capacityA: number; capacityB: number; capacityC: number };
  userData: { appVersion?: string; batteryLevel?: number; deviceDescription?: string; platform?: string };
  accountStatus: string;
  vehicle: Vehicle | null;
  imageUrl: string | null;
  teams: string[];
  activeTask: string | null;
  tasks: string[];
  onDuty: boolean;
  timeLastSeen: number | null;
  delayTime: number | null;
  location: Point | null;
}

export interface ScheduleEntry {
  date: string; // YYYY-MM-DD
  timezone: string;
  shifts: [number, number][];
}

export interface Task {
  id: string;
  shortId: string;
  trackingURL: string;
  state: number;
  worker: string | null;
  completeAfter: number | null;
  completeBefore: number | null;
  delayTime?: number | null;
  estimatedArrivalTime?: number | null;
  completionDetails: { success?: boolean; time: number | null; failureReason: string };
  recipients: { name: string; phone: string }[];
  destination: { address: Address; location: Point };
  container: { type: string; worker?: string; team?: string };
}

export interface Webhook {
  id: string;
  name: string;
  url: string;
  trigger: number;
  threshold?: number;
  count: number;
  isEnabled: boolean;
  failures?: number; // consecutive failures
}

export interface Notification {
  id: string;
  triggerId: number;
  taskId: string | null;
  time: number;
  state: 'pending' | 'delivered' | 'givenUp';
  attempts: number;
  nextTime: number | null;
}

export interface Attempt {
  number: number;
  time: number;
  duration: number;
  status: number | null;
  reason: string | null;
  response: string | null; // beginning of the response, if the notification was rejected
}

export interface DetailedNotification extends Notification {
  log: Attempt[];
  body: unknown;
}

export interface Trigger {
  id: number;
  name: string;
  description: string;
  sample: unknown;
}

export interface CustomField {
  key: string;
  name: string;
  description: string;
  type: string;
  asArray: boolean;
  visibility: string[];
  editability: string[];
  contexts: { isRequired: boolean; conditions: unknown[]; name: string }[];
  value: unknown;
}

export interface Client {
  id: string;
  name: string | null;
  organization: string;
  status: string;
  showClientName: boolean;
  apiKey?: string;
}

export interface Courier {
  id: string;
  courier: string;
  courierName: string;
  status: string;
  showClientName: boolean;
}

export interface Rate {
  name: string;
  ratingType: string;
  isBaseRate: boolean;
  amount: number;
  unit: string | null;
  free: number;
  tiers: { upTo: number; amount: number }[];
  when: WeekWindow | null;
}

export interface WeekWindow {
  days: string[];
  from: string;
  to: string;
}

export interface DeliveryService {
  id: string;
  displayName: string;
  currency: string;
  clients: string[];
  timezone: string;
  hours: WeekWindow[];
  leadTime: number;
  sameDayUntil: string | null;
  dueIn: number;
  limits: Record<string, unknown>;
  rates: Rate[];
}

// envelope formats an address in one line, as the server does.
export function envelope(a: Address): string {
  const street = joined(' ', a.number, a.street);
  return joined(', ', street, a.apartment, a.city, joined(' ', a.state, a.postalCode), a.country);
}

// line formats an address in one line with its name but without its country.
export const line = (a: Address): string => joined(', ', a.name, envelope({ ...a, country: '' }));

const joined = (separator: string, ...parts: (string | undefined)[]): string =>
  parts.map((part) => part?.trim()).filter(Boolean).join(separator); // prettier-ignore

// Installation is the state of the installation, for its owner.
export interface Installation {
  version: string;
  url: string;
  time: number;
  problem: string | null;
  database: { engine: string; bytes: number | null; waitingWrites: number };
  disk: { free: number; total: number } | null;
  lastBackup: number | null;
  queues: InstallationQueue[];
  maps: InstallationMap[];
  mapsNote: string | null;
  services: InstallationService[];
}

export interface InstallationQueue {
  kind: string;
  waiting: number;
  due: number;
  running: number;
  failed: number;
  oldestDue: number | null;
}

export interface InstallationMap {
  name: string;
  source: string;
  imported: number;
  products: { name: string; bytes: number; checksum: string }[];
  area: [[number, number], [number, number]] | null;
}

export interface InstallationService {
  id: string;
  kind: 'geocoder' | 'router' | 'sms' | 'mail';
  name: string;
  host: string | null;
  sender: string | null;
  testable: boolean;
}

export interface ServiceResult {
  ok: boolean;
  took: number; // milliseconds
  problem: string | null;
  location: [number, number] | null;
  address: string | null;
  precision: string | null;
  seconds: number | null;
  meters: number | null;
  sentTo: string | null;
}
