import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  dependents,
  discard,
  flush,
  isStuck,
  pause,
  request,
  waiting,
  withImages,
  type Item,
  type Send,
  type Shelf,
} from '../src/driver/queue.ts';
import { classify, type Outcome, type Request } from '../src/driver/remote.ts';

class Memory implements Shelf {
  kept = new Map<string, Item>();
  blobs = new Map<string, Blob>();
  items = async () => structuredClone([...this.kept.values()]);
  put = async (item: Item) => void this.kept.set(item.id, structuredClone(item));
  remove = async (id: string) => void this.kept.delete(id);
  blob = async (key: string) => this.blobs.get(key);
  putBlob = async (key: string, blob: Blob) => void this.blobs.set(key, blob);
  removeBlob = async (key: string) => void this.blobs.delete(key);
}

function item(id: string, order: number, more: Partial<Item> = {}): Item {
  return {
    id,
    worker: 'w',
    order,
    made: 1000 + order,
    kind: 'start',
    task: 't',
    label: '',
    body: {},
    files: [],
    ...more,
  };
}

// server responds to requests in turn and records them.
function server(...outcomes: Outcome<unknown>[]): { send: Send; got: Request[] } {
  const got: Request[] = [];
  const send = async (r: Request) => {
    got.push(r);
    return outcomes.shift() ?? { kind: 'done', value: {} };
  };
  return { send: send as Send, got };
}

const done: Outcome<unknown> = { kind: 'done', value: {} };
const ignore = () => {};

test('actions are sent in the order they were made, with their id and time', async () => {
  const shelf = new Memory();
  await shelf.put(item('second', 2, { kind: 'complete', body: { success: true } }));
  await shelf.put(item('first', 1));
  const { send, got } = server();
  assert.deepEqual(await flush(shelf, 'w', send, ignore), { kind: 'idle' });
  assert.deepEqual(
    got.map((r) => [r.path, r.body]),
    [
      ['/tasks/t/start', { actionId: 'first', time: 1001 }],
      ['/tasks/t/complete', { actionId: 'second', time: 1002, success: true }],
    ],
  );
  assert.equal(shelf.kept.size, 0);
});

test('without signal everything stays, and the same ids are sent again', async () => {
  const shelf = new Memory();
  await shelf.put(item('a', 1));
  await shelf.put(item('b', 2));
  const lost = server(done, { kind: 'later' });
  assert.deepEqual(await flush(shelf, 'w', lost.send, ignore), { kind: 'later' });
  assert.deepEqual([...shelf.kept.keys()], ['b']);
  const back = server();
  await flush(shelf, 'w', back.send, ignore);
  assert.deepEqual(back.got, [lost.got[1]]);
});

test('a rejected action is kept with the reason, and does not block others', async () => {
  const shelf = new Memory();
  await shelf.put(item('a', 1));
  await shelf.put(item('b', 2));
  const settled: string[] = [];
  const { send, got } = server({ kind: 'rejected', status: 400, message: 'go on duty before starting a task' });
  await flush(shelf, 'w', send, (i) => settled.push(i.id));
  assert.equal(got.length, 2);
  assert.equal(shelf.kept.get('a')?.rejection, 'go on duty before starting a task');
  assert.deepEqual(settled, ['a', 'b']);
  assert.deepEqual(waiting(await shelf.items(), 'w'), []);
});

// picky fails for some items, and responds to other requests as `up` says.
const picky =
  (bad: string[], got: string[], up = () => true): Send =>
  async (r: Request) => {
    const id = (r.body as { actionId?: string } | undefined)?.actionId;
    if (id) got.push(id);
    if (!up() || bad.includes(id ?? '')) return { kind: 'later', status: 413 };
    return { kind: 'done', value: {} as never };
  };

test('an item that always fails is kept, and other items no longer wait for it', async () => {
  const shelf = new Memory();
  await shelf.put(item('a', 1));
  await shelf.put(item('b', 2, { kind: 'complete' })); // of the same task
  await shelf.put(item('c', 3, { task: 'u' }));
  const got: string[] = [];
  const later = { kind: 'later', status: 413 } as const;
  const send = picky(['a'], got);
  assert.deepEqual(await flush(shelf, 'w', send, ignore, 0), later);
  assert.deepEqual(await flush(shelf, 'w', send, ignore, 1000), later);
  assert.ok(!isStuck(shelf.kept.get('a')!));
  assert.deepEqual(await flush(shelf, 'w', send, ignore, 3000), { kind: 'idle' });
  assert.deepEqual(got, ['a', 'a', 'a', 'c']);
  assert.ok(isStuck(shelf.kept.get('a')!));
  assert.deepEqual([...shelf.kept.keys()], ['a', 'b']);
  // It is sent again after a while, and then what waited for it.
  await flush(shelf, 'w', send, ignore, 4000);
  assert.equal(got.length, 4);
  await flush(shelf, 'w', picky([], got), ignore, 63_000);
  assert.deepEqual(got.slice(4), ['a', 'b']);
  assert.equal(shelf.kept.size, 0);
});

test('while the server does not work at all, items wait in order', async () => {
  const shelf = new Memory();
  await shelf.put(item('a', 1));
  await shelf.put(item('b', 2, { task: 'u' }));
  const got: string[] = [];
  for (let i = 0; i < 5; i++) await flush(shelf, 'w', picky([], got, () => false), ignore, i); // prettier-ignore
  assert.deepEqual(got, ['a', 'a', 'a', 'a', 'a']);
  await flush(shelf, 'w', picky([], got), ignore, 5);
  assert.deepEqual(got.slice(5), ['a', 'b']);
});

test('if the session has ended, sending stops and nothing is lost', async () => {
  const shelf = new Memory();
  await shelf.put(item('a', 1));
  assert.deepEqual(await flush(shelf, 'w', server({ kind: 'signedOut' }).send, ignore), { kind: 'signedOut' });
  assert.equal(shelf.kept.size, 1);
});

test("another worker's actions wait for that worker", async () => {
  const shelf = new Memory();
  await shelf.put(item('a', 1, { worker: 'other' }));
  const { send, got } = server();
  assert.deepEqual(await flush(shelf, 'w', send, ignore), { kind: 'idle' });
  assert.equal(got.length, 0);
  assert.equal(shelf.kept.size, 1);
});

test('images are sent first, each once, and deleted with the action', async () => {
  const shelf = new Memory();
  for (const key of ['p1', 'p2', 's']) shelf.blobs.set(key, new Blob([key]));
  await shelf.put(
    item('c', 1, {
      kind: 'complete',
      body: { success: true },
      files: [
        { field: 'signature', blob: 's' },
        { field: 'photo', blob: 'p1' },
        { field: 'photo', blob: 'p2' },
      ],
    }),
  );
  const uploaded = (uploadId: string): Outcome<unknown> => ({ kind: 'done', value: { uploadId } });
  const lost = server(uploaded('S'), uploaded('P1'), { kind: 'later' });
  await flush(shelf, 'w', lost.send, ignore);
  const back = server(uploaded('P2'));
  await flush(shelf, 'w', back.send, ignore);
  assert.deepEqual(
    back.got.map((r) => r.path),
    ['/uploads', '/tasks/t/complete'],
  );
  const body = back.got[1]?.body as Record<string, unknown>;
  assert.deepEqual([body.signatureUploadId, body.photoUploadIds], ['S', ['P1', 'P2']]);
  assert.equal(shelf.blobs.size, 0);
});

test('dismissing an action discards its images', async () => {
  const shelf = new Memory();
  shelf.blobs.set('p', new Blob(['p']));
  const rejected = item('c', 1, { files: [{ field: 'photo', blob: 'p' }], rejection: 'no' });
  await shelf.put(rejected);
  await discard(shelf, rejected);
  assert.deepEqual([shelf.kept.size, shelf.blobs.size], [0, 0]);
});

test('duty is sent as the API expects it', () => {
  assert.deepEqual(request(item('d', 1, { kind: 'duty', body: { onDuty: true } })), {
    method: 'PUT',
    path: '/duty',
    body: { onDuty: true },
  });
});

test('the delay between attempts grows, up to a minute', () => {
  assert.equal(pause(0, 1), 1000);
  assert.equal(pause(0, 0), 500);
  assert.equal(pause(3, 1), 8000);
  assert.equal(pause(50, 1), 60_000);
});

test('responses are classified', () => {
  const error = (code: number, message: string, cause?: string) =>
    JSON.stringify({ code: 'X', message: { error: code, message, cause, request: 'r' } });
  const cases: [status: number, text: string, after: string | null, want: Outcome<unknown>][] = [
    [200, '{"id":1}', null, { kind: 'done', value: { id: 1 } }],
    [200, '', null, { kind: 'done', value: undefined }],
    [200, '<html>sign in to the hotel</html>', null, { kind: 'later' }],
    [401, error(1102, 'bad token'), null, { kind: 'signedOut' }],
    [401, error(1103, 'not yours'), null, { kind: 'rejected', status: 401, message: 'not yours' }],
    [400, error(1000, 'cannot', 'because'), null, { kind: 'rejected', status: 400, message: 'cannot (because)' }],
    [413, error(1006, 'too large'), null, { kind: 'rejected', status: 413, message: 'too large' }],
    [403, '<html>proxy</html>', null, { kind: 'later', status: 403 }],
    [413, '', null, { kind: 'later', status: 413 }],
    [408, '', null, { kind: 'later' }],
    [429, error(2300, 'slow down'), '3', { kind: 'later', after: 3000, limited: true }],
    [500, error(2500, 'fault'), null, { kind: 'later', status: 500 }],
    [503, '', '2', { kind: 'later', after: 2000 }],
  ];
  for (const [status, text, after, want] of cases)
    assert.deepEqual(classify(status, text, after), want, `${status} ${text}`);
});

test('later actions on the same task depend on a stuck one', () => {
  const stuck = item('stuck', 2, { stuck: { status: 413, tries: 3, until: 0 } });
  const items = [
    item('earlier', 1),
    stuck,
    item('later', 3),
    item('rejected', 4, { rejection: 'no' }),
    item('of another task', 5, { task: 'u' }),
    item('of another worker', 6, { worker: 'v' }),
  ];
  assert.deepEqual(
    dependents(items, stuck).map((i) => i.id),
    ['later'],
  );
});

test('images of an action that cannot be saved are not left on the phone', async () => {
  const shelf = new Memory();
  await shelf.putBlob('photo', new Blob(['photo'])); // belongs to a draft
  const images = [
    { field: 'signature' as const, blob: new Blob(['signature']) },
    { field: 'photo' as const, blob: new Blob(['photo']), key: 'photo' },
  ];
  const full = withImages(shelf, images, async () => {
    throw new Error('full');
  });
  await assert.rejects(full, /full/);
  assert.deepEqual([...shelf.blobs.keys()], ['photo']);
  await withImages(shelf, images, (files) => shelf.put(item('a', 1, { files })));
  const { files } = shelf.kept.get('a')!;
  assert.deepEqual(
    files.map((f) => [f.field, shelf.blobs.has(f.blob)]),
    [
      ['signature', true],
      ['photo', true],
    ],
  );
});
