// Server-sent events over fetch: EventSource cannot send the worker's token.

export interface Message {
  id?: string;
  event: string;
  data: string;
}

// reader returns a function that takes chunks of text and returns the messages they
// complete.
export function reader(): (chunk: string) => Message[] {
  let rest = '';
  let current: Message = { event: 'message', data: '' };
  let lines: string[] = [];
  return (chunk) => {
    const messages: Message[] = [];
    const parts = (rest + chunk).split(/\r\n|\n|\r(?!$)/);
    rest = parts.pop() ?? '';
    for (const line of parts) {
      if (line === '') {
        if (lines.length > 0) messages.push({ ...current, data: lines.join('\n') });
        current = { event: 'message', data: '' };
        lines = [];
        continue;
      }
      const colon = line.indexOf(':');
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
      if (field === 'data') lines.push(value);
      else if (field === 'event') current.event = value;
      else if (field === 'id') current.id = value;
    }
    return messages;
  };
}

export type Ended = 'signedOut' | 'absent' | 'stale' | 'broken';

// follow reads a stream until it ends and returns the reason. Servers send a
// heartbeat every 20 seconds; a stream that is silent for longer than `silence` is
// dead, even if the phone has not noticed.
export async function follow(
  path: string,
  headers: Record<string, string>,
  stop: AbortSignal,
  opened: () => void,
  receive: (message: Message) => void,
  silence = 50_000,
  alive: () => void = () => {}, // called when data arrives, even if only a heartbeat
): Promise<Ended> {
  const cut = new AbortController();
  const end = () => cut.abort();
  stop.addEventListener('abort', end);
  let timer = setTimeout(end, silence);
  try {
    const response = await fetch(path, { headers, signal: cut.signal, cache: 'no-store' });
    if (response.status === 401) return 'signedOut';
    if (response.status === 404 || response.status === 405) return 'absent';
    if (response.status === 400 && (await response.text()).includes('cursorTooOld')) return 'stale';
    if (!response.ok || !response.body) return 'broken';
    opened();
    const read = reader();
    const text = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { value, done } = await text.read();
      if (done) return 'broken';
      clearTimeout(timer);
      timer = setTimeout(end, silence);
      alive();
      read(value).forEach(receive);
    }
  } catch {
    return 'broken';
  } finally {
    clearTimeout(timer);
    stop.removeEventListener('abort', end);
    cut.abort();
  }
}
