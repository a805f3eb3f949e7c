import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shown, whileShown } from '../src/dashboard/visible.ts';

class Page extends EventTarget {
  hidden = false;
  turn(hidden: boolean) {
    this.hidden = hidden;
    this.dispatchEvent(new Event('visibilitychange'));
  }
}

const ended = (signal: AbortSignal) =>
  new Promise<string>((resolve) => signal.addEventListener('abort', () => resolve('ended')));

test('a hidden page closes its stream after a while and reopens it when it is shown', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const page = new Page();
  globalThis.document = page as unknown as Document;
  const stop = new AbortController();

  const first = whileShown(stop.signal, ended);
  page.turn(true);
  t.mock.timers.tick(9_999);
  page.turn(false); // in time
  t.mock.timers.tick(60_000);
  let over = false;
  void first.then(() => (over = true));
  await Promise.resolve();
  assert.equal(over, false);
  page.turn(true);
  t.mock.timers.tick(10_000);
  assert.deepEqual(await first, { result: 'ended', hidden: true });

  let back = false;
  const waiting = shown(stop.signal).then(() => (back = true));
  await Promise.resolve();
  assert.equal(back, false);
  page.turn(false);
  await waiting;

  const second = whileShown(stop.signal, ended);
  stop.abort();
  assert.deepEqual(await second, { result: 'ended', hidden: false });
  page.turn(true);
  await shown(stop.signal); // it has stopped
});
