// How finely the streets are drawn. Where drawing them is slow, as without a graphics
// processor, the page waits for every picture: a coarser one keeps it responsive.

import type { Map as Engine } from 'maplibre-gl';

const slow = 40; // ms between two pictures of a map that moves
const enough = 4; // of them in a row
const gap = 500; // ms: they are of two moves
const moving = 0.5; // of the pixels of the screen, to the side, while the map moves
const resting = 0.75;
const rest = 250; // ms without a move

export class Detail {
  private slow = 0; // pictures in a row
  private last = 0; // picture, of performance.now
  private coarse = false; // the device is slow
  private applying = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly full: number;

  constructor(private readonly engine: Engine) {
    this.full = engine.getPixelRatio();
    engine.on('render', () => this.measure());
    engine.on('movestart', () => this.moved(moving));
    engine.on('moveend', () => this.moved(resting));
    engine.on('remove', () => clearTimeout(this.timer));
  }

  private measure() {
    const now = performance.now();
    const took = now - this.last;
    this.last = now;
    if (this.coarse || this.applying || !this.engine.isMoving() || took > gap) return;
    this.slow = took > slow ? this.slow + 1 : 0;
    if (this.slow < enough) return;
    this.coarse = true;
    this.moved(moving);
  }

  private moved(detail: number) {
    if (!this.coarse || this.applying) return;
    clearTimeout(this.timer);
    // Later in any case: the map cannot be drawn from within one of its own events.
    this.timer = setTimeout(() => this.apply(detail), detail === moving ? 0 : rest);
  }

  private apply(detail: number) {
    const ratio = this.full * detail;
    if (ratio === this.engine.getPixelRatio()) return;
    this.applying = true; // the map says that it moves
    try {
      this.engine.setPixelRatio(ratio);
      this.engine.redraw(); // without it, there is nothing to see until the next frame
    } finally {
      this.applying = false;
    }
  }
}
