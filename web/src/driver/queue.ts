// What the worker did and the server has not answered yet. Every action is kept
// on the phone with an id and a time made there, and sent until it is answered;
// the server does an id once, however often it comes.

import type { Outcome, Request } from './remote.ts';

export type Verb = 'start' | 'arrive' | 'depart' | 'complete' | 'claim';

export interface Attachment {
  field: 'signature' | 'photo';
  blob: string; // key of the kept image
  uploadId?: string; // once the server has it
}

export interface Item {
  id: string;
  worker: string;
  order: number; // grows with every action
  made: number; // Unix ms
  kind: 'duty' | Verb;
  task?: string;
  label: string; // what the task was called
  body: Record<string, unknown>;
  files: Attachment[];
  refusal?: string; // why the server said no
  gone?: boolean; // because the task is hers no more
}

// Shelf is where items survive a restart of the phone.
export interface Shelf {
  items(): Promise<Item[]>;
  put(item: Item): Promise<void>;
  remove(id: string): Promise<void>;
  blob(key: string): Promise<Blob | undefined>;
  removeBlob(key: string): Promise<void>;
}

export type Send = <T>(request: Request) => Promise<Outcome<T>>;

export type Flushed =
  | { kind: 'idle' } // nothing is waiting
  | { kind: 'later'; after?: number }
  | { kind: 'signedOut' };

// waiting lists what one worker has not got an answer to, in order. What another
// worker left on a shared phone waits for her.
export function waiting(items: Item[], worker: string): Item[] {
  return items.filter((i) => i.worker === worker && i.refusal === undefined).sort((a, b) => a.order - b.order);
}

// flush sends what is waiting, one by one and in order. It stops at the first
// item that cannot be sent now: a later one may depend on it. `answered` is told
// of each item as it is kept then: with a refusal, or taken in and forgotten.
export async function flush(
  shelf: Shelf,
  worker: string,
  send: Send,
  answered: (item: Item) => void,
): Promise<Flushed> {
  for (;;) {
    const [item] = waiting(await shelf.items(), worker);
    if (!item) return { kind: 'idle' };
    const outcome = await deliver(shelf, item, send);
    switch (outcome.kind) {
      case 'done':
        await discard(shelf, item);
        answered(item);
        break;
      case 'refused': {
        const gone = outcome.status === 401 || outcome.status === 404;
        const refused = { ...item, refusal: outcome.message, gone };
        await shelf.put(refused);
        answered(refused);
        break;
      }
      default:
        return outcome;
    }
  }
}

// discard forgets an item and its images.
export async function discard(shelf: Shelf, item: Item): Promise<void> {
  await shelf.remove(item.id);
  for (const file of item.files) await shelf.removeBlob(file.blob);
}

// deliver sends one item: first its images, each once, then the action.
async function deliver(shelf: Shelf, item: Item, send: Send): Promise<Outcome<unknown>> {
  for (const file of item.files) {
    if (file.uploadId) continue;
    const blob = await shelf.blob(file.blob);
    if (!blob) continue; // the browser threw it away; the server says if it is needed
    const outcome = await send<{ uploadId: string }>({ method: 'POST', path: '/uploads', file: blob });
    if (outcome.kind !== 'done') return outcome;
    file.uploadId = outcome.value.uploadId;
    await shelf.put(item);
  }
  return send(request(item));
}

// request is an item as the worker's interface takes it.
export function request(item: Item): Request {
  if (item.kind === 'duty') return { method: 'PUT', path: '/duty', body: item.body };
  const body: Record<string, unknown> = { actionId: item.id, time: item.made, ...item.body };
  const photos = item.files.filter((f) => f.field === 'photo' && f.uploadId).map((f) => f.uploadId);
  const signature = item.files.find((f) => f.field === 'signature' && f.uploadId);
  if (photos.length > 0) body.photoUploadIds = photos;
  if (signature) body.signatureUploadId = signature.uploadId;
  return { method: 'POST', path: `/tasks/${encodeURIComponent(item.task ?? '')}/${item.kind}`, body };
}

// pause is how long to wait before the next try, in ms: longer each time, up to
// a minute, and never the same for all phones of a fleet.
export function pause(failures: number, random: number): number {
  return Math.min(60_000, 1000 * 2 ** Math.min(failures, 6)) * (0.5 + random / 2);
}
