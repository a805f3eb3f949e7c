// Requests to the public API (/api/v2) and to the user's account (/account/v1), with the
// session's cookie.

// Failure is an error that the server has reported, or an attempt to reach it that failed.
export class Failure extends Error {
  constructor(
    readonly status: number, // 0 if there was no response
    message: string,
    readonly number = 0, // error number of the API
    readonly cause: unknown = undefined,
    readonly request = '',
    readonly retryAfter = 0, // seconds; 0 if the server has not sent it
  ) {
    super(message);
  }

  // has reports whether the server has reported this cause.
  has(cause: string): boolean {
    return this.cause === cause || (this.cause as { type?: string } | undefined)?.type === cause;
  }
}

// Notice is an error of the page itself, in the language of the reader.
export class Notice extends Error {}

interface ErrorBody {
  message?: string | { error?: number; message?: string; cause?: unknown; request?: string };
}

export const account = '/account/v1';
const base = '/api/v2';

// url returns the path of a request on the server.
export const url = (path: string): string => (path.startsWith('/account/') ? path : base + path);

// Functions that are called when a request shows something that concerns the whole page.
export const handlers = {
  lost: () => {},
  late: () => {}, // a response is late
  signedOut: () => {},
};

const unauthenticated = 1102;
const patience = 10_000; // ms after which a response is late
const fresh = 10_000; // ms for which a prefetched response is used

const ahead = new Map<string, Promise<unknown>>(); // by path

// prefetch sends a request before the screen that needs the response is loaded. The first
// call with the same path gets the response.
export function prefetch(path: string) {
  const response = call('GET', path);
  ahead.set(path, response);
  response.catch(() => ahead.delete(path)); // the next call sends the request again
  setTimeout(() => ahead.delete(path), fresh);
}

// Idempotency keys of changes whose outcome is not known, by path and body. If the same
// change is sent again, it has the same key, so that the server makes it only once. Much later,
// a person who makes the same change means another one.
const unsure = new Map<string, { key: string; at: number }>();
const keyLife = 3_600_000; // milliseconds
const undecided = [401, 429]; // responses that say nothing about an earlier attempt

// newKey returns a new idempotency key. Pages without https have no randomUUID.
export const newKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((b) => b.toString(16)).join('.');

// watched calls handlers.late if a response is late.
export function watched<T>(asked: Promise<T>): Promise<T> {
  const timer = setTimeout(() => handlers.late(), patience);
  return asked.finally(() => clearTimeout(timer));
}

// call sends a request and returns the decoded response; undefined if it has none.
export async function call<T>(
  method: string,
  path: string,
  body?: unknown,
  signal?: AbortSignal,
  more: Record<string, string> = {}, // headers
): Promise<T> {
  const early = method === 'GET' ? ahead.get(path) : undefined;
  if (early) {
    ahead.delete(path);
    return early as Promise<T>;
  }
  const headers: Record<string, string> = { ...more };
  if (method !== 'GET') headers['Dray-Request'] = '1';
  const raw = body instanceof Blob;
  const sent = raw ? body : body === undefined ? null : JSON.stringify(body);
  const change =
    method === 'POST' && !raw && !more['Idempotency-Key'] && !path.startsWith(account) ? `${path} ${sent}` : '';
  const earlier = unsure.get(change);
  const key = earlier && Date.now() - earlier.at < keyLife ? earlier.key : newKey();
  if (change) headers['Idempotency-Key'] = key;
  if (body !== undefined && !raw) headers['Content-Type'] = 'application/json';
  let response: Response;
  let text: string;
  try {
    const asked = fetch(url(path), {
      method,
      headers,
      body: sent,
      signal: signal ?? null,
      cache: 'no-store',
    });
    response = await watched(asked);
    text = await watched(response.text());
  } catch (error) {
    if (signal?.aborted) throw error;
    if (change) unsure.set(change, { key, at: Date.now() });
    handlers.lost();
    throw new Failure(0, '');
  }
  if (response.status >= 500 && change) unsure.set(change, { key, at: Date.now() });
  else if (!undecided.includes(response.status)) unsure.delete(change);
  if (response.ok) return (text ? JSON.parse(text) : undefined) as T;
  const failure = read(response.status, text, Number(response.headers.get('Retry-After') ?? 0));
  if (failure.number === unauthenticated && !path.startsWith(account)) handlers.signedOut();
  throw failure;
}

function read(status: number, text: string, after: number): Failure {
  try {
    const { message } = JSON.parse(text) as ErrorBody;
    if (typeof message === 'string') return new Failure(status, message, 0, undefined, '', after); // the error of a task in a batch
    return new Failure(status, message?.message ?? '', message?.error, message?.cause, message?.request, after);
  } catch {
    return new Failure(status, text.slice(0, 300), 0, undefined, '', after);
  }
}

const longest = 30; // seconds between two attempts

// patiently repeats a request while the server is busy or cannot be reached.
export async function patiently<T>(request: () => Promise<T>, signal: AbortSignal, tries = 8): Promise<T> {
  for (let failed = 0; ; failed++) {
    try {
      return await request();
    } catch (error) {
      const passes = error instanceof Failure && [0, 429, 502, 503].includes(error.status);
      if (!passes || failed + 1 >= tries || signal.aborted) throw error;
      const pause = Math.min(longest, error.retryAfter || 2 ** failed / 2);
      await new Promise((resolve) => setTimeout(resolve, pause * 1000));
    }
  }
}

// query returns the parameters that have a value as a query string, with its question mark.
export function query(values: Record<string, string | number | boolean | null | undefined>): string {
  const found = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined && value !== null && value !== '') found.set(name, String(value));
  }
  const text = found.toString();
  return text && `?${text}`;
}
