// The service worker caches the app, so that it opens offline. It never touches the
// API: pending actions are handled by the page.

export {}; // makes the file a module for the compiler

declare const __FILES__: string;
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
  if (event.request.method !== 'GET' || url.origin !== worker.location.origin) return;
  if (url.pathname === page) event.respondWith(newest(event.request));
  else if (url.pathname.startsWith('/assets/') || files.includes(url.pathname))
    event.respondWith(keptFirst(event.request));
});

// newest fetches the page from the server and falls back to the cached one if there
// is no response soon.
async function newest(request: Request): Promise<Response> {
  const cache = await caches.open(version);
  try {
    const answer = await fetch(request, { signal: AbortSignal.timeout(3000) });
    if (answer.ok) return answer;
  } catch {
    // offline
  }
  return (await cache.match(page)) ?? Response.error();
}

// keptFirst serves immutable files from the cache.
async function keptFirst(request: Request): Promise<Response> {
  const cache = await caches.open(version);
  const found = await cache.match(request, { ignoreVary: true });
  if (found) return found;
  const answer = await fetch(request);
  if (answer.ok) await cache.put(request, answer.clone());
  return answer;
}
