// The parts of the worker's API that the app uses.

export type Point = [lon: number, lat: number];

export interface Entry {
  name: string;
  type: string;
  visibility: string[];
  value: unknown;
}

export interface CustomField {
  key: string;
  name: string;
  visibility: string[];
  value: unknown;
}

export interface Worker {
  id: string;
  name: string;
  phone: string;
  onDuty: boolean;
}

export interface Recipient {
  id: string;
  name: string;
  phone: string;
  notes: string;
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

export interface Task {
  id: string;
  shortId: string;
  state: number;
  notes: string;
  pickupTask: boolean;
  completeAfter: number | null;
  completeBefore: number | null;
  estimatedArrivalTime: number | null;
  estimatedServiceTime?: number | null; // the arrival, or the start of the time window if that is later
  earlyTime?: number | null; // seconds before the time window, as predicted
  delayTime: number | null; // seconds after the time window, as predicted
  quantity: number;
  dependencies: string[];
  metadata: Entry[];
  customFields: CustomField[];
  scanOnlyRequiredBarcodes: boolean;
  barcodes: { required: { data?: string; blockCompletion: boolean; id: string }[] };
  requirements: { signature: boolean; photo: boolean; notes: boolean; minimumAge: number };
  overrides: { recipientName: string | null; recipientNotes: string | null };
  recipients: Recipient[];
  destination: { location: Point; address: Address; notes: string };
  completionDetails?: {
    time: number | null;
    success?: boolean;
    failureReason: string;
    events?: { name: string; time: number }[]; // the oldest first
  };
}

// Settings are the settings of the app, from the organization and the server.
export interface Settings {
  organization: string;
  supportEmail: string;
  country: string;
  hideBarcodes: boolean;
  failureReasons: string[];
  home?: Point | null; // the location of a hub
  version: string;
}

// States of a task.
export const assigned = 1;
export const active = 2;
export const completed = 3;

export interface WorkList {
  version: number;
  activeTask: string | null;
  tasks: Task[];
}

export interface Position {
  location: Point;
  time: number;
  accuracy: number | null;
  speed: number | null;
  heading: number | null;
  battery: number | null;
}

// title names a task in a list: by the recipient, or else the address, or else the short id.
export function title(task: Task): string {
  return (
    task.overrides.recipientName || task.recipients[0]?.name || streetLine(task.destination.address) || task.shortId
  );
}

// even removes bidirectional control characters, so that one text in a combined
// line cannot reverse the others.
const even = (text: string | undefined): string => (text ?? '').replace(/[\u202A-\u202E\u2066-\u2069]/g, '');

// joined joins the non-empty parts.
const joined = (parts: (string | undefined)[], between: string): string =>
  parts.map(even).filter(Boolean).join(between);

// streetLine returns the first line of an address.
export function streetLine(a: Address): string {
  return joined([joined([a.number, a.street], ' ') || a.name, a.apartment], ', ');
}

// addressName returns the name of a building or business; "" if there is none, or if
// it is the street line.
export function addressName(a: Address): string {
  return a.street ? even(a.name) : '';
}

// hasArrived reports whether the server knows of an arrival since the last start, which
// may have been reported by another phone.
export function hasArrived(task: Task): boolean {
  const names = task.completionDetails?.events?.map((e) => e.name) ?? [];
  return task.state === active && names.lastIndexOf('arrival') > names.lastIndexOf('start');
}

// late returns how late a task will be, in seconds: as the server predicts or, if it is
// already later than that, as it is now.
export function late(task: Task, arrived: boolean, now: number): number {
  const predicted = Math.max(0, task.delayTime ?? 0);
  if (arrived || !task.completeBefore) return predicted;
  return Math.max(predicted, Math.floor((now - task.completeBefore) / 1000));
}

// early returns how early, in seconds, a worker who starts a task now would arrive before
// its time window. Predictions assume the order of the list; for a start out of order,
// `drive` is the time to the task in seconds.
export function early(task: Task, now: number, drive?: number): number {
  if (!task.completeAfter) return 0;
  const arrival = drive === undefined ? Math.max(now, task.estimatedArrivalTime ?? now) : now + drive * 1000;
  return Math.max(0, Math.floor((task.completeAfter - arrival) / 1000));
}

// townLine returns the second line of an address.
export function townLine(a: Address): string {
  return joined([joined([a.city, a.state], ', '), a.postalCode], ' ');
}

// forWorker reports whether an entry or field is visible to workers.
export function forWorker(entry: { visibility: string[] }): boolean {
  return entry.visibility.includes('worker');
}

// shown formats a value of metadata or of a custom field.
export function shown(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map(shown).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

// unscanned lists the barcodes of a task that have not been scanned. Like the
// server, it matches a scan to the code with its data first, then to one that
// accepts any data.
export function unscanned(task: Task, scans: { data: string }[]): Task['barcodes']['required'] {
  const left = scans.map((s) => s.data);
  const take = (i: number) => i >= 0 && left.splice(i, 1).length > 0;
  const { required } = task.barcodes;
  const missed = new Set(required.filter((b) => b.data && !take(left.indexOf(b.data))));
  for (const b of required) if (!b.data && !take(left.length - 1)) missed.add(b);
  return required.filter((b) => missed.has(b));
}

// decoded decodes the data of a barcode, which the API carries in base64.
export function decoded(data: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(atob(data), (c) => c.charCodeAt(0)));
  } catch {
    return data;
  }
}

// encoded is the inverse of decoded.
export function encoded(text: string): string {
  return btoa(String.fromCharCode(...new TextEncoder().encode(text)));
}

// Verdict classifies a scanned code for a task. `data` is in base64, as in the API.
export interface Verdict {
  kind: 'expected' | 'extra' | 'again' | 'wrong';
  data: string;
  owner?: Task; // another task that expects the code
  mayKeep?: boolean; // the task also accepts codes that it does not expect
}

// checkScan compares a scanned code with those that a task expects. Readers report the same UPC code with 12
// digits or, as EAN, with 13.
export function checkScan(task: Task, scans: { data: string }[], text: string, others: Task[]): Verdict {
  const forms = [text];
  if (/^0\d{12}$/.test(text)) forms.push(text.slice(1));
  if (/^\d{12}$/.test(text)) forms.push('0' + text);
  const datas = forms.map(encoded);
  const expects = (t: Task) => datas.find((d) => t.barcodes.required.some((b) => b.data === d));
  const left = unscanned(task, scans);
  const wanted = datas.find((d) => left.some((b) => b.data === d)); // several parcels may have the same code
  if (wanted) return { kind: 'expected', data: wanted };
  const data = expects(task) ?? datas[0]!;
  if (datas.some((d) => scans.some((s) => s.data === d))) return { kind: 'again', data };
  if (left.some((b) => !b.data)) return { kind: 'expected', data };
  const mayKeep = !task.scanOnlyRequiredBarcodes;
  if (task.barcodes.required.length === 0 && mayKeep) return { kind: 'extra', data };
  const owner = others.find((t) => t.id !== task.id && expects(t));
  return owner ? { kind: 'wrong', data, owner, mayKeep } : { kind: 'wrong', data, mayKeep };
}

// symbology names a kind of barcode as the API does, such as CODE128.
export const symbology = (format: string): string => format.replace(/[^a-z0-9]/gi, '').toUpperCase();
