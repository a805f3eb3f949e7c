import assert from 'node:assert/strict';
import { test } from 'node:test';

const frames: (() => void)[] = [];
Object.assign(globalThis, { requestAnimationFrame: (f: () => void) => frames.push(f) });
const { forgo, turn } = await import('../src/dashboard/board/turns.ts');

function draw() {
  for (const f of frames.splice(0)) f();
}

test('each piece of work has its own frame', () => {
  const done: string[] = [];
  turn('map', () => done.push('map'));
  turn('lists', () => done.push('lists'));
  turn('map', () => done.push('newer map')); // in the place of the first request
  draw();
  assert.deepEqual(done, ['newer map']);
  draw();
  assert.deepEqual(done, ['newer map', 'lists']);
  draw();
  assert.deepEqual(done, ['newer map', 'lists']);
  assert.equal(frames.length, 0);
});

test('work that fails or is withdrawn does not stop the rest', () => {
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
