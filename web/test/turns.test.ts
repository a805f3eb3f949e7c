import assert from 'node:assert/strict';
import { mock, test } from 'node:test';

const frames: (() => void)[] = [];
Object.assign(globalThis, { requestAnimationFrame: (f: () => void) => frames.push(f) });
const { eased, forgo, inParts, turn } = await import('../src/dashboard/board/turns.ts');

// draw draws a frame, and runs the task that follows it.
function draw() {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    for (const f of frames.splice(0)) f();
    mock.timers.tick(1);
  } finally {
    mock.timers.reset();
  }
}

test('each piece of work has its own task after a frame', () => {
  const done: string[] = [];
  turn('map', () => done.push('map'));
  turn('lists', () => done.push('lists'));
  turn('map', () => done.push('newer map')); // replaces the first request
  draw();
  assert.deepEqual(done, ['newer map']);
  draw();
  assert.deepEqual(done, ['newer map', 'lists']);
  draw();
  assert.deepEqual(done, ['newer map', 'lists']);
  assert.equal(frames.length, 0);
});

test('work that fails or is canceled does not stop the rest', () => {
  const done: string[] = [];
  turn('failing', () => {
    throw new Error('expected');
  });
  turn('withdrawn', () => done.push('withdrawn'));
  turn('rest', () => done.push('rest'));
  forgo('withdrawn');
  assert.throws(draw, /expected/);
  draw();
  assert.deepEqual(done, ['rest']);
  turn('again', () => done.push('again'));
  forgo('again');
  draw();
  turn('last', () => done.push('last'));
  draw();
  assert.deepEqual(done, ['rest', 'last']);
});

test('automatic updates are drawn less often while frames are late', () => {
  let now = 0;
  mock.method(performance, 'now', () => now);
  const frames = (ms: number) => {
    for (let i = 0; i < 100; i++) {
      turn('map', () => {});
      now += ms;
      draw();
    }
  };
  frames(10);
  assert.ok(eased(80) < 81);
  frames(37);
  assert.equal(Math.round(eased(80)), 160);
  frames(5000);
  assert.equal(eased(80), 240);
  assert.equal(eased(400), 1000);
  assert.equal(eased(3000), 3000);
  frames(10);
  assert.ok(eased(80) < 81);
  mock.restoreAll();
});

test('long work is done in parts, until it is replaced or canceled', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  let now = 0;
  mock.method(performance, 'now', () => now);
  const done: string[] = [];
  const work = function* (name: string) {
    for (let i = 0; i < 4; i++) {
      done.push(name + i);
      now += 3; // ms
      yield;
    }
  };
  inParts('map', work('a'));
  assert.deepEqual(done, []);
  mock.timers.tick(1);
  assert.deepEqual(done, ['a0', 'a1']);
  inParts('map', work('b'));
  for (let i = 0; i < 5; i++) mock.timers.tick(1);
  assert.deepEqual(done.splice(0), ['a0', 'a1', 'b0', 'b1', 'b2', 'b3']);
  inParts('map', work('c'));
  mock.timers.tick(1);
  forgo('map');
  mock.timers.tick(10);
  assert.deepEqual(done, ['c0', 'c1']);
  mock.timers.reset();
  mock.restoreAll();
});
