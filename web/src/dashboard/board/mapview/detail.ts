// The resolution at which the streets are drawn. If drawing them is slow, the page waits for
// every picture; a coarser one keeps it responsive.

import type { Map as Engine } from 'maplibre-gl';

const slow = 40; // ms between two pictures of a map that moves
const enough = 4; // slow pictures in a row, after which they become coarser
const gap = 500; // ms between two pictures, above which they belong to different moves
const moving = 0.5; // share of the full pixel ratio while the map moves
const resting = 0.75; // the same, while it rests
const rest = 250; // ms without a move after which the map rests

export class Detail {
  private slow = 0; // number of slow pictures in a row
  private last = 0; // performance.now of the last picture
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
    // Always by a timer: the map cannot be drawn from within one of its own events.
    this.timer = setTimeout(() => this.apply(detail), detail === moving ? 0 : rest);
  }

  private apply(detail: number) {
    const ratio = this.full * detail;
    if (ratio === this.engine.getPixelRatio()) return;
    this.applying = true; // the map emits events of moves meanwhile
    try {
      this.engine.setPixelRatio(ratio);
      this.engine.redraw(); // otherwise the map is blank until the next frame
    } finally {
      this.applying = false;
    }
  }
}
