// Actions that the server has not acknowledged yet. Every action is stored on the
// phone with an id and a time, and sent until the server responds; the server
// applies each id once, however often it arrives.

import type { Outcome, Request } from './remote.ts';

export type Verb = 'start' | 'arrive' | 'depart' | 'complete' | 'claim';

export interface Attachment {
  field: 'signature' | 'photo';
  blob: string; // key of the stored image
  uploadId?: string; // once the server has it
}

export interface Item {
  id: string;
  worker: string;
  order: number; // grows with every action
  made: number; // Unix ms
  kind: 'duty' | Verb;
  task?: string;
  label: string; // title of the task
  body: Record<string, unknown>;
  files: Attachment[];
  rejection?: string; // the server's reason, if it has rejected the action
  gone?: boolean; // the task is no longer the worker's
  stuck?: Stuck;
}

// Stuck counts the attempts to send an item that failed although the server works otherwise,
// for example because a proxy rejects it.
export interface Stuck {
  status: number;
  tries: number;
  until: number; // time of the next attempt in Unix ms
}

const patience = 3; // attempts during which other items wait
const minute = 60_000;

// isStuck reports whether other items no longer wait for an item.
export const isStuck = (item: Item): boolean => item.rejection === undefined && (item.stuck?.tries ?? 0) >= patience;

// dependents returns the items that wait for a stuck item: later ones of the same task.
export const dependents = (items: Item[], stuck: Item): Item[] =>
  waiting(items, stuck.worker).filter((i) => i.task === stuck.task && i.order > stuck.order);

// Shelf stores items so that they survive a restart of the phone.
export interface Shelf {
  items(): Promise<Item[]>;
  put(item: Item): Promise<void>;
  remove(id: string): Promise<void>;
  blob(key: string): Promise<Blob | undefined>;
  putBlob(key: string, blob: Blob): Promise<void>;
  removeBlob(key: string): Promise<void>;
}

// Image is an image of a new item. It has a key if it is on the shelf already.
export interface Image {
  field: Attachment['field'];
  blob: Blob;
  key?: string;
}

// withImages stores images and saves an item that refers to them. If it fails, the images that
// it has stored are removed.
export async function withImages(
  shelf: Shelf,
  images: readonly Image[],
  save: (files: Attachment[]) => Promise<void>,
): Promise<void> {
  const stored: string[] = [];
  try {
    const files: Attachment[] = [];
    for (const image of images) {
      const key = image.key ?? crypto.randomUUID();
      if (!image.key) {
        await shelf.putBlob(key, image.blob);
        stored.push(key);
      }
      files.push({ field: image.field, blob: key });
    }
    await save(files);
  } catch (error) {
    await Promise.allSettled(stored.map((key) => shelf.removeBlob(key)));
    throw error;
  }
}

export type Send = <T>(request: Request) => Promise<Outcome<T>>;

export type Flushed =
  | { kind: 'idle' } // nothing is waiting
  | { kind: 'later'; after?: number }
  | { kind: 'signedOut' };

// waiting lists the pending items of one worker, in order. On a shared phone, the
// items of another worker wait for that worker.
export function waiting(items: Item[], worker: string): Item[] {
  return items.filter((i) => i.worker === worker && i.rejection === undefined).sort((a, b) => a.order - b.order);
}

// flush sends the pending items one by one, in order. It stops at the first item
// that cannot be sent now, because later ones may depend on it. If the server works but
// the item fails again and again, it is kept for later, and so are other actions on its task.
// flush calls `settled` with each item after the response: rejected, or accepted and removed.
export async function flush(
  shelf: Shelf,
  worker: string,
  send: Send,
  settled: (item: Item) => void,
  now = Date.now(),
): Promise<Flushed> {
  const passed = new Set<string>(); // items
  const held = new Set<string>(); // tasks
  for (;;) {
    const item = waiting(await shelf.items(), worker).find((i) => !passed.has(i.id));
    if (!item) return { kind: 'idle' };
    const pass = () => {
      passed.add(item.id);
      held.add(item.task ?? '');
    };
    if (held.has(item.task ?? '') || (item.stuck && item.stuck.until > now)) {
      pass();
      continue;
    }
    const outcome = await deliver(shelf, item, send);
    switch (outcome.kind) {
      case 'done':
        await discard(shelf, item);
        settled(item);
        break;
      case 'rejected': {
        const gone = outcome.status === 401 || outcome.status === 404;
        const rejected = { ...item, rejection: outcome.message, gone };
        await shelf.put(rejected);
        settled(rejected);
        break;
      }
      case 'later': {
        const { status } = outcome;
        if (status === undefined || !(await works(send))) return outcome;
        const tries = (item.stuck?.tries ?? 0) + 1;
        const until = tries < patience ? 0 : now + Math.min(10, tries - patience + 1) * minute;
        await shelf.put({ ...item, stuck: { status, tries, until } });
        if (tries < patience) return outcome;
        pass();
        break;
      }
      default:
        return outcome;
    }
  }
}

// works reports whether the server responds to other requests.
const works = async (send: Send): Promise<boolean> =>
  (await send<unknown>({ method: 'GET', path: '/me' })).kind === 'done';

// discard deletes an item and its images.
export async function discard(shelf: Shelf, item: Item): Promise<void> {
  await shelf.remove(item.id);
  for (const file of item.files) await shelf.removeBlob(file.blob);
}

// deliver sends one item: first its images, each once, then the action.
async function deliver(shelf: Shelf, item: Item, send: Send): Promise<Outcome<unknown>> {
  for (const file of item.files) {
    if (file.uploadId) continue;
    const blob = await shelf.blob(file.blob);
    if (!blob) continue; // the browser evicted it; the server reports whether it is required
    const outcome = await send<{ uploadId: string }>({ method: 'POST', path: '/uploads', file: blob });
    if (outcome.kind !== 'done') return outcome;
    file.uploadId = outcome.value.uploadId;
    await shelf.put(item);
  }
  return send(request(item));
}

// request returns an item as the worker's API expects it.
export function request(item: Item): Request {
  if (item.kind === 'duty') return { method: 'PUT', path: '/duty', body: item.body };
  const body: Record<string, unknown> = { actionId: item.id, time: item.made, ...item.body };
  const photos = item.files.filter((f) => f.field === 'photo' && f.uploadId).map((f) => f.uploadId);
  const signature = item.files.find((f) => f.field === 'signature' && f.uploadId);
  if (photos.length > 0) body.photoUploadIds = photos;
  if (signature) body.signatureUploadId = signature.uploadId;
  return { method: 'POST', path: `/tasks/${encodeURIComponent(item.task ?? '')}/${item.kind}`, body };
}

// pause returns the delay before the next attempt in ms: exponential up to a minute,
// with jitter, so that the phones of a fleet do not retry together.
export function pause(failures: number, random: number): number {
  return Math.min(60_000, 1000 * 2 ** Math.min(failures, 6)) * (0.5 + random / 2);
}
