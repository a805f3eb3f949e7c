import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import type { Map as Engine } from 'maplibre-gl';
import { Copy, type View } from '../src/dashboard/board/mapview/copy.ts';

const [unsignaled, signaled] = [1, 2];

// The parts of a map that Copy uses.
class FakeMap {
  private readonly handlers = new Map<string, (() => void)[]>();
  readonly canvas = { width: 800, height: 600, style: { width: '800px', height: '600px' } };
  pictures = 0; // number drawn
  complete = false; // the last picture is complete
  repaints = 0;
  painter = this.newPainter();

  newPainter() {
    const gl = {
      SYNC_GPU_COMMANDS_COMPLETE: 0,
      SYNC_STATUS: 0,
      UNSIGNALED: unsignaled,
      fenceSync: () => ({}),
      flush: () => {},
      getSyncParameter: () => (this.complete ? signaled : unsignaled),
      deleteSync: () => {},
    };
    return {
      context: { gl },
      render: () => {
        this.pictures++;
        this.complete = false;
      },
    };
  }
  getContainer() {
    return { classList: new Set() };
  }
  getCanvas() {
    return this.canvas;
  }
  on(event: string, handler: () => void) {
    this.handlers.set(event, [...(this.handlers.get(event) ?? []), handler]);
  }
  emit(event: string) {
    for (const handler of this.handlers.get(event) ?? []) handler();
  }
  triggerRepaint() {
    this.repaints++;
  }
}

class FakeCanvas {
  getContext() {
    return { setTransform: () => {}, clearRect: () => {}, drawImage: () => {} };
  }
  transferToImageBitmap() {
    return {};
  }
}

let map: FakeMap;
let view: View;
let copied: number;
let followed: View[];

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout'] });
  Object.assign(globalThis, { requestAnimationFrame: (work: () => void) => setTimeout(work, 16) });
  map = new FakeMap();
  view = { lng: 1, lat: 2, zoom: 3 };
  copied = 0;
  followed = [];
  Object.assign(globalThis, { OffscreenCanvas: FakeCanvas });
  const canvas = { style: {}, getContext: () => ({ transferFromImageBitmap: () => copied++ }) };
  new Copy(
    map as unknown as Engine,
    canvas as unknown as HTMLCanvasElement,
    () => ({ ...view }),
    (_, from) => followed.push(from),
  );
});
afterEach(() => {
  mock.timers.reset();
});

// wait passes time in small steps, for timers that set others.
const wait = (ms: number) => {
  for (let i = 0; i < ms; i++) mock.timers.tick(1);
};

test('a picture is copied once it is complete, and the next is not begun before', () => {
  map.painter.render();
  view = { lng: 9, lat: 9, zoom: 9 }; // the map moves on
  map.painter.render();
  wait(500);
  assert.deepEqual([map.pictures, copied, map.repaints], [1, 0, 0]);
  map.complete = true;
  wait(500);
  assert.deepEqual([map.pictures, copied, map.repaints], [1, 1, 1]);
  assert.deepEqual(followed, [{ lng: 1, lat: 2, zoom: 3 }], 'it shows what was drawn');
  map.emit('move');
  assert.equal(followed.length, 2);
  map.painter.render();
  assert.equal(map.pictures, 2);
});

test('a map that does not change is not drawn again', () => {
  map.painter.render();
  map.complete = true;
  wait(1000);
  assert.deepEqual([copied, map.repaints], [1, 0]);
});

test('a picture of a former size is not copied, and only delays the next', () => {
  map.painter.render();
  for (let i = 0; i < 3; i++) {
    map.emit('resize');
    map.painter.render();
    wait(50);
  }
  assert.equal(map.pictures, 1, 'they do not pile up');
  map.complete = true;
  wait(500);
  assert.deepEqual([copied, map.repaints], [0, 1]);
  map.painter.render();
  map.complete = true;
  wait(500);
  assert.deepEqual([map.pictures, copied], [2, 1]);
});

test('a map at rest is drawn at once when its size changes', () => {
  map.painter.render();
  wait(200);
  map.complete = true;
  wait(50);
  assert.equal(copied, 1);
  map.emit('resize');
  map.painter.render();
  assert.equal(map.pictures, 2);
});

test('after a graphics context was lost and restored, the map is drawn as before', () => {
  map.painter.render();
  map.emit('webglcontextlost');
  map.painter = map.newPainter();
  map.emit('webglcontextrestored');
  map.painter.render();
  map.painter.render();
  assert.equal(map.pictures, 2);
  map.complete = true;
  wait(500);
  assert.equal(copied, 1);
});
