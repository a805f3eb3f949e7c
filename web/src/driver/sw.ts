// The service worker caches the app and the map of the day, so that they open offline. It
// never touches the API: pending actions are handled by the page.

export {}; // makes the file a module for the compiler

declare const __FILES__: string;
declare const __LATER__: string;
declare const __VERSION__: string;

const worker = self as unknown as ServiceWorkerGlobalScope;
const version = `dray-driver-${__VERSION__}`;
const page = '/driver';
const files: string[] = [
  page,
  '/driver/manifest.webmanifest',
  '/driver/icon.svg',
  ...(JSON.parse(__FILES__) as string[]),
];
const mapFiles = JSON.parse(__LATER__) as string[]; // files of the map with streets, which are cached once it is used

// Tiles are kept apart from the app: a new version of it needs no other tiles. Their
// addresses contain the version of the map.
const tileCache = 'dray-tiles';
const tileSource = '/tiles.json';
const mostBytes = 32 << 20;
const atOnce = 4; // concurrent requests

worker.addEventListener('install', (event) => {
  const fill = async () => {
    const cache = await caches.open(version);
    await cache.addAll(files.map((path) => new Request(path, { cache: 'no-cache' })));
    await worker.skipWaiting();
  };
  event.waitUntil(fill());
});

worker.addEventListener('activate', (event) => {
  const clean = async () => {
    for (const other of await caches.keys()) {
      if (other.startsWith('dray-driver-') && other !== version) await caches.delete(other);
    }
    await worker.clients.claim();
  };
  event.waitUntil(clean());
});

worker.addEventListener('fetch', (event) => {
  const url = new URL(event.request.url);
  if (event.request.method !== 'GET') return;
  // From other servers, the page may request only tiles.
  if (url.origin !== worker.location.origin) event.respondWith(tile(event.request));
  else if (url.pathname === page) event.respondWith(newest(event.request, version));
  else if (url.pathname === tileSource) event.respondWith(newest(event.request, tileCache));
  else if (url.pathname.startsWith('/tiles/')) event.respondWith(tile(event.request));
  else if (url.pathname.startsWith('/assets/') || files.includes(url.pathname))
    event.respondWith(keptFirst(event.request));
});

// newest fetches a file from the server and falls back to the cached one if there is no
// response soon.
async function newest(request: Request, name: string): Promise<Response> {
  const cache = await caches.open(name);
  const { pathname } = new URL(request.url);
  try {
    const response = await fetch(request, { signal: AbortSignal.timeout(3000) });
    if (response.ok && pathname === tileSource) await cache.put(pathname, response.clone());
    if (response.ok) return response;
  } catch {
    // offline
  }
  return (await cache.match(pathname)) ?? Response.error();
}

async function tile(request: Request): Promise<Response> {
  const cache = await caches.open(tileCache);
  return (await cache.match(request, { ignoreVary: true })) ?? fetch(request);
}

worker.addEventListener('message', (event) => {
  const { kind, tiles } = event.data as { kind?: string; tiles: string[] };
  if (kind !== 'area') return;
  event.waitUntil(keepOnly(tiles).then((all) => event.ports[0]?.postMessage(all)));
});

let keeping = 0; // number of calls of keepOnly: a new list of tiles replaces the one before

// keepOnly caches these tiles and no others, within a limit of bytes, and the files that
// draw them. It reports whether it has all of them.
async function keepOnly(tiles: string[]): Promise<boolean> {
  const turn = ++keeping;
  const cache = await caches.open(tileCache);
  const wanted = new Set(tiles);
  let bytes = 0;
  for (const { url } of await cache.keys()) {
    if (wanted.has(url)) {
      bytes += (await (await cache.match(url))?.blob())?.size ?? 0;
      wanted.delete(url);
    } else if (new URL(url).pathname !== tileSource) await cache.delete(url);
  }
  const app = await caches.open(version);
  const queue = [...wanted];
  for (const file of mapFiles) if (tiles.length > 0 && !(await app.match(file))) queue.unshift(file);
  let complete = true;
  const fetchSome = async () => {
    for (let next = queue.shift(); next && turn === keeping && bytes < mostBytes; next = queue.shift()) {
      try {
        const response = await fetch(next);
        const body = await response.clone().blob();
        if (response.ok) await (next.startsWith('/') ? app : cache).put(next, response);
        else if (response.status !== 404) complete = false;
        bytes += body.size;
      } catch {
        complete = false;
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, fetchSome));
  return complete && turn === keeping;
}

// keptFirst serves immutable files from the cache.
async function keptFirst(request: Request): Promise<Response> {
  const cache = await caches.open(version);
  const found = await cache.match(request, { ignoreVary: true });
  if (found) return found;
  const response = await fetch(request);
  if (response.ok) await cache.put(request, response.clone());
  return response;
}
