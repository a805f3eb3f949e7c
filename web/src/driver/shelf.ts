// The phone's storage in IndexedDB: pending actions, their images, positions not
// sent yet, and the last list from the server.

import type { Item, Shelf } from './queue.ts';
import type { Stroke } from './signature.ts';
import type { Position } from './wire.ts';

let opening: Promise<IDBDatabase> | undefined;

function open(): Promise<IDBDatabase> {
  opening ??= new Promise((resolve, reject) => {
    const request = indexedDB.open('dray-driver', 1);
    request.onupgradeneeded = () => {
      const db = request.result;
      db.createObjectStore('items', { keyPath: 'id' });
      db.createObjectStore('blobs');
      db.createObjectStore('positions', { autoIncrement: true });
      db.createObjectStore('kept');
    };
    request.onsuccess = () => {
      request.result.onclose = release;
      resolve(request.result);
    };
    request.onerror = () => {
      release(); // the next use tries again
      reject(request.error);
    };
  });
  return opening;
}

function release() {
  opening = undefined;
}

// begin begins a transaction. Browsers close the storage of apps in the background, some
// without an event.
async function begin(store: string, mode: IDBTransactionMode): Promise<IDBTransaction> {
  const options = { durability: 'strict' } as const;
  try {
    return (await open()).transaction(store, mode, options);
  } catch {
    release();
    return (await open()).transaction(store, mode, options);
  }
}

// use runs requests on one store and resolves when they are on disk.
async function use<T>(
  store: string,
  mode: IDBTransactionMode,
  work: (s: IDBObjectStore) => IDBRequest<T> | void,
): Promise<T> {
  const tx = await begin(store, mode);
  return new Promise((resolve, reject) => {
    const request = work(tx.objectStore(store));
    tx.commit(); // now, even if the page is closed
    tx.oncomplete = () => resolve(request ? request.result : (undefined as T));
    tx.onerror = tx.onabort = () => reject(tx.error);
  });
}

// Values with Svelte's proxies inside cannot be stored.
const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

// Images are kept as bytes: some browsers lose Blobs in IndexedDB.
interface Stored {
  type: string;
  bytes: ArrayBuffer;
}

export const shelf: Shelf = {
  items: () => use<Item[]>('items', 'readonly', (s) => s.getAll() as IDBRequest<Item[]>),
  put: async (item) => void (await use('items', 'readwrite', (s) => s.put(plain(item)))),
  remove: async (id) => void (await use('items', 'readwrite', (s) => s.delete(id))),
  async blob(key) {
    const image = await use<Stored | undefined>(
      'blobs',
      'readonly',
      (s) => s.get(key) as IDBRequest<Stored | undefined>,
    );
    return image && new Blob([image.bytes], { type: image.type });
  },
  removeBlob: async (key) => void (await use('blobs', 'readwrite', (s) => s.delete(key))),
  async putBlob(key, blob) {
    const image: Stored = { type: blob.type, bytes: await blob.arrayBuffer() };
    await use('blobs', 'readwrite', (s) => s.put(image, key));
  },
};

// kept holds single named values.
export const kept = {
  get: <T>(name: string) => use<T | undefined>('kept', 'readonly', (s) => s.get(name) as IDBRequest<T | undefined>),
  put: async (name: string, value: unknown) => void (await use('kept', 'readwrite', (s) => s.put(plain(value), name))),
  clear: async () => void (await use('kept', 'readwrite', (s) => s.clear())),
};

// Draft is the proof collected for a task that is not completed yet. Phones with
// little memory kill the app while the camera is open; nothing may be lost then.
export interface Draft {
  notes: string;
  signer: string;
  scans: { data: string; symbology: string }[];
  oldEnough: boolean;
  photos: string[]; // keys of images
  strokes?: Stroke[]; // strokes of the signature
}

// Failure is the report of a task that could not be done, before it is sent.
export interface Failure {
  reason: string;
  notes: string;
  photos: string[]; // keys of images
}

// Drafts stores what was entered for tasks, by their ids.
class Drafts<T extends { photos: string[] }> {
  constructor(private readonly prefix: string) {}

  async get(task: string): Promise<{ draft: T; photos: { key: string; blob: Blob }[] } | undefined> {
    const draft = await kept.get<T>(this.prefix + task);
    if (!draft) return undefined;
    const photos = [];
    for (const key of draft.photos) {
      const blob = await shelf.blob(key);
      if (blob) photos.push({ key, blob });
    }
    return { draft, photos };
  }

  put(task: string, draft: T): Promise<void> {
    return kept.put(this.prefix + task, draft);
  }

  // discard deletes a draft, and its images if images is true. Otherwise they belong to an
  // action in the queue.
  async discard(task: string, images: boolean) {
    const draft = await kept.get<T>(this.prefix + task);
    await use('kept', 'readwrite', (s) => s.delete(this.prefix + task));
    if (images) for (const key of draft?.photos ?? []) await shelf.removeBlob(key);
  }

  // keepOnly deletes the drafts of all other tasks.
  async keepOnly(tasks: ReadonlySet<string>) {
    const names = await use<IDBValidKey[]>('kept', 'readonly', (s) =>
      s.getAllKeys(IDBKeyRange.bound(this.prefix, this.prefix + '\uffff')),
    );
    for (const name of names) {
      const task = String(name).slice(this.prefix.length);
      if (!tasks.has(task)) await this.discard(task, true);
    }
  }
}

export const drafts = new Drafts<Draft>('draft ');
export const failures = new Drafts<Failure>('failure ');

// keepDrafts deletes what was entered for other tasks.
export async function keepDrafts(tasks: ReadonlySet<string>) {
  await drafts.keepOnly(tasks);
  await failures.keepOnly(tasks);
}

// trail holds the positions that have not been sent yet.
export const trail = {
  add: async (position: Position) => void (await use('positions', 'readwrite', (s) => s.add(plain(position)))),
  // first returns the oldest positions and the key of the last of them.
  async first(count: number): Promise<{ positions: Position[]; last?: IDBValidKey }> {
    const keys = await use<IDBValidKey[]>('positions', 'readonly', (s) => s.getAllKeys(null, count));
    const last = keys.at(-1);
    if (last === undefined) return { positions: [] };
    const positions = await use<Position[]>('positions', 'readonly', (s) => s.getAll(IDBKeyRange.upperBound(last)));
    return { positions, last };
  },
  discard: async (last: IDBValidKey) =>
    void (await use('positions', 'readwrite', (s) => s.delete(IDBKeyRange.upperBound(last)))),
  clear: async () => void (await use('positions', 'readwrite', (s) => s.clear())),
};
