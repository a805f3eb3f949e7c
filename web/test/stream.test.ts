import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { Stream, type StreamHandlers } from '../src/dashboard/board/stream.ts';

const usual = globalThis.fetch;
afterEach(() => (globalThis.fetch = usual));
globalThis.document = Object.assign(new EventTarget(), { hidden: false }) as unknown as Document;

const hour = 3_600_000;

// opened returns a stream whose day ends at a time, and what happens to it first.
function opened(date: string, to: number, events: typeof fetch) {
  globalThis.fetch = (path, init) =>
    String(path).includes('/events') ? events(path, init) : Promise.resolve(Response.json({ cursor: '7', to }));
  let stream: Stream;
  const happened = new Promise<string>((resolve) => {
    const handlers: StreamHandlers = {
      loaded: () => Promise.resolve(),
      message: () => {},
      alive: () => {},
      connected: (connected) => connected && resolve('connected'),
      failed: () => resolve('failed'),
      signedOut: () => resolve('signedOut'),
    };
    stream = new Stream(date, '', handlers);
  });
  return { stream: stream!, happened };
}

// open returns a stream without events, which ends when the request is aborted.
const open: typeof fetch = async (_, init) => {
  const start = (stream: ReadableStreamDefaultController) =>
    init!.signal!.addEventListener('abort', () => stream.error(init!.signal!.reason));
  return new Response(new ReadableStream({ start }));
};

test('a stream reports that the session has ended', async () => {
  const { happened } = opened('', Date.now() + hour, () => Promise.resolve(new Response('', { status: 401 })));
  assert.equal(await happened, 'signedOut');
});

test('the snapshot of today is outdated when the day ends', async () => {
  const to = Date.now() + hour;
  const current = opened('', to, open);
  assert.equal(current.stream.outdated(to), false, 'nothing is read yet');
  await current.happened;
  assert.equal(current.stream.outdated(to - 1), false);
  assert.equal(current.stream.outdated(to), true);
  current.stream.close();

  const chosen = opened('2026-11-16', to, open);
  await chosen.happened;
  assert.equal(chosen.stream.outdated(to), false);
  chosen.stream.close();

  const late = opened('', Date.now() + 60_000, open);
  await late.happened;
  assert.equal(late.stream.outdated(Date.now() + 60_000), true, 'it was read shortly before');
  late.stream.close();
});

test('a clock that is ahead of the server’s does not read the snapshot again and again', async () => {
  const { stream, happened } = opened('', Date.now() - hour, open);
  await happened;
  assert.equal(stream.outdated(Date.now()), false);
  assert.equal(stream.outdated(Date.now() + 60_000), true);
  stream.close();
});

test('a snapshot is decoded, loaded and followed in different turns', async () => {
  const happened: string[] = [];
  const turn = (name: string) => setTimeout(() => happened.push(name));
  globalThis.fetch = async (path, init) => {
    if (String(path).includes('/events')) {
      happened.push('followed');
      return open(path, init);
    }
    const response = Response.json({ cursor: '7', to: 0 });
    response.text = async () => (turn('turn'), '{"cursor":"7","to":0}');
    return response;
  };
  let loaded = (_: string) => {};
  const handlers: StreamHandlers = {
    loaded: async () => {
      happened.push('loaded');
      turn('another turn');
      await new Promise((resolve) => (loaded = resolve));
    },
    message: () => {},
    alive: () => {},
    connected: () => {},
    failed: () => {},
    signedOut: () => {},
  };
  const rest = () => new Promise((resolve) => setTimeout(resolve, 20));
  const has = async (name: string) => {
    while (!happened.includes(name)) await rest();
  };
  const stream = new Stream('', '', handlers);
  await has('another turn');
  loaded('');
  await has('followed');
  assert.deepEqual(happened, ['turn', 'loaded', 'another turn', 'followed']);
  stream.close();

  happened.length = 0;
  const closed = new Stream('', '', handlers);
  await Promise.resolve();
  setTimeout(() => closed.close()); // before the turn in which it would be loaded
  await has('turn');
  await rest();
  assert.deepEqual(happened, ['turn']);
});
