// Calls the server. Every result is one of four outcomes, so that callers need not
// know about status codes or network errors.

export type Outcome<T> =
  | { kind: 'done'; value: T }
  | { kind: 'rejected'; status: number; message: string } // retrying will not help
  | Later
  | { kind: 'signedOut' };

// Later means that there is no signal, the server is busy, or a limit is reached. `after` is
// the time to wait in ms. `status` is that of a response that explains nothing: it may be due
// to the request itself.
export interface Later {
  kind: 'later';
  after?: number;
  limited?: boolean;
  status?: number;
}

const base = '/driver/v1';

// unauthenticated is the API's error number for an invalid token; other errors with
// status 401 are about the record, not the caller.
const unauthenticated = 1102;

export interface Request {
  method: string;
  path: string;
  body?: unknown;
  file?: Blob;
}

export async function call<T>(token: string, request: Request): Promise<Outcome<T>> {
  const headers: Record<string, string> = {};
  if (token) headers.Authorization = `Bearer ${token}`;
  let body: BodyInit | undefined;
  if (request.file) {
    headers['Content-Type'] = request.file.type || 'application/octet-stream';
    body = request.file;
  } else if (request.body !== undefined) {
    headers['Content-Type'] = 'application/json';
    body = JSON.stringify(request.body);
  }
  let response: Response;
  let text: string;
  try {
    const limit = AbortSignal.timeout(request.file ? 120_000 : 30_000);
    response = await fetch(base + request.path, {
      method: request.method,
      headers,
      body,
      signal: limit,
      cache: 'no-store',
    });
    text = await response.text();
  } catch {
    return { kind: 'later' };
  }
  return classify<T>(response.status, text, response.headers.get('Retry-After'));
}

// classify returns the outcome that a response stands for.
export function classify<T>(status: number, text: string, retryAfter: string | null): Outcome<T> {
  const parsed = parse(text);
  if (status >= 200 && status < 300) {
    // HTML instead of JSON comes from a captive portal or a proxy.
    return parsed.fault ? { kind: 'later' } : { kind: 'done', value: parsed.value as T };
  }
  if (status >= 500 || status === 408 || status === 425 || status === 429) {
    const seconds = Number(retryAfter);
    if (!(seconds > 0)) return status >= 500 ? { kind: 'later', status } : { kind: 'later' };
    const later: Later = { kind: 'later', after: seconds * 1000 };
    return status === 429 ? { ...later, limited: true } : later;
  }
  const inner = (parsed.value as { message?: { error?: number; message?: string; cause?: unknown } } | undefined)
    ?.message;
  if (!inner?.message)
    return status === 404 ? { kind: 'rejected', status, message: String(status) } : { kind: 'later', status };
  if (status === 401 && inner.error === unauthenticated) return { kind: 'signedOut' };
  const cause = typeof inner.cause === 'string' ? ` (${inner.cause})` : '';
  return { kind: 'rejected', status, message: inner.message + cause };
}

function parse(text: string): { value?: unknown; fault: boolean } {
  if (text.trim() === '') return { fault: false };
  try {
    return { value: JSON.parse(text), fault: false };
  } catch {
    return { fault: true };
  }
}
