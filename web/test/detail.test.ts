import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import type { Map as Engine } from 'maplibre-gl';
import { Detail } from '../src/dashboard/board/mapview/detail.ts';

// The parts of a map that Detail uses. Like the real map, it fails if it is drawn from within
// one of its events, and emits events of a move when its pixel ratio changes.
class FakeMap {
  private readonly handlers = new Map<string, (() => void)[]>();
  private emitting = 0;
  ratio = 2;
  moving = false;
  broken = false;

  on(event: string, handler: () => void) {
    this.handlers.set(event, [...(this.handlers.get(event) ?? []), handler]);
  }
  emit(event: string) {
    this.emitting++;
    for (const handler of this.handlers.get(event) ?? []) handler();
    this.emitting--;
  }
  getPixelRatio() {
    return this.ratio;
  }
  isMoving() {
    return this.moving;
  }
  setPixelRatio(ratio: number) {
    this.ratio = ratio;
    this.emit('movestart');
    this.emit('moveend');
  }
  redraw() {
    assert.equal(this.emitting, 0, 'drawn from within an event');
    if (this.broken) throw new Error('the graphics context is lost');
  }

  start() {
    this.moving = true;
    this.emit('movestart');
  }
  stop() {
    this.moving = false;
    this.emit('moveend');
  }
}

let now = 0;
beforeEach(() => {
  now = 1000;
  mock.timers.enable({ apis: ['setTimeout'] });
  mock.method(performance, 'now', () => now);
});
afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
});

function pictures(map: FakeMap, count: number, ms: number) {
  for (let i = 0; i < count; i++) {
    now += ms;
    map.emit('render');
  }
}

function slowMap() {
  const map = new FakeMap();
  new Detail(map as unknown as Engine);
  map.start();
  pictures(map, 6, 60);
  return map;
}

test('a map that is drawn quickly keeps its resolution', () => {
  const map = new FakeMap();
  new Detail(map as unknown as Engine);
  map.start();
  pictures(map, 100, 17);
  map.stop();
  mock.timers.tick(10_000);
  assert.equal(map.ratio, 2);
});

test('a slow map is coarse whenever it moves, and finer at rest', () => {
  const map = slowMap();
  mock.timers.tick(0);
  assert.equal(map.ratio, 1);
  for (let i = 0; i < 3; i++) {
    map.stop();
    mock.timers.tick(100);
    assert.equal(map.ratio, 1, 'it may move on');
    mock.timers.tick(200);
    assert.equal(map.ratio, 1.5);
    map.start();
    mock.timers.tick(0);
    assert.equal(map.ratio, 1);
  }
});

test('a picture that fails does not end the changes of resolution', () => {
  const map = slowMap();
  map.broken = true;
  assert.throws(() => mock.timers.tick(0));
  map.broken = false;
  map.stop();
  mock.timers.tick(300);
  assert.equal(map.ratio, 1.5);
});

test('a map is not changed after it is removed', () => {
  const map = slowMap();
  map.emit('remove');
  mock.timers.tick(1000);
  assert.equal(map.ratio, 2);
});
