// A copy of the streets, for devices that draw them without a graphics processor. A page that
// shows the map itself waits for every picture of it. Instead, the board shows a copy of the
// last complete picture, and moves it with the map until the next one is complete.

import type { Map as Engine } from 'maplibre-gl';
import { Picture } from '../picture.ts';
import { forgo, turn } from '../turns.ts';

const glance = 10; // ms between two checks whether a picture is complete
const longest = 300; // ms between two pictures

// View is the part of the world that a picture shows.
export interface View {
  lng: number;
  lat: number;
  zoom: number;
}

type Painter = Engine['painter'];

export class Copy {
  private readonly picture: Picture;
  private view: View | undefined; // what the copy shows
  private next: View | undefined; // what the picture that is being drawn shows
  private wanted = false; // another picture must be drawn after next
  private drawing = false; // next is not complete
  private gone = false; // next is to be discarded, because the map was resized
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly engine: Engine,
    private readonly canvas: HTMLCanvasElement,
    private readonly viewed: () => View,
    private readonly follow: (canvas: HTMLCanvasElement, from: View) => void,
  ) {
    this.picture = new Picture(canvas);
    engine.getContainer().classList.add('copied');
    // The copy stays centered on the map, even while the map has another size.
    Object.assign(canvas.style, { inset: '50% auto auto 50%', translate: '-50% -50%' });
    engine.on('move', () => this.moved());
    engine.on('resize', () => this.resized());
    engine.on('webglcontextlost', () => this.reset());
    engine.on('webglcontextrestored', () => this.tame());
    engine.on('remove', () => this.reset());
    this.tame();
  }

  // tame lets the map draw only when its last picture is complete.
  private tame() {
    const { painter } = this.engine;
    const render = painter.render.bind(painter);
    painter.render = (...frame: Parameters<Painter['render']>) => {
      if (this.next) {
        this.wanted = true;
        return;
      }
      render(...frame);
      this.next = this.viewed();
      this.wanted = false;
      this.await(painter.context.gl as WebGL2RenderingContext);
    };
  }

  private await(gl: WebGL2RenderingContext) {
    const begun = performance.now();
    this.drawing = true;
    const drawn = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    gl.flush();
    const look = () => {
      if (drawn && gl.getSyncParameter(drawn, gl.SYNC_STATUS) === gl.UNSIGNALED) {
        this.timer = setTimeout(look, glance);
        return;
      }
      gl.deleteSync(drawn);
      this.drawing = false;
      if (this.gone) {
        this.gone = false;
        this.rested();
        return;
      }
      const took = performance.now() - begun;
      turn(this, () => {
        this.take();
        // The processor is left to other work for as long as the picture took.
        this.timer = setTimeout(() => this.rested(), Math.min(longest, took));
      });
    };
    this.timer = setTimeout(look, glance);
  }

  private take() {
    const { canvas, next } = this;
    const from = this.engine.getCanvas();
    if (!next || from.width === 0 || from.height === 0) return;
    this.picture.begin(from.width, from.height).drawImage(from, 0, 0);
    this.picture.show();
    canvas.style.width = from.style.width;
    canvas.style.height = from.style.height;
    this.view = next;
    this.moved();
  }

  private rested() {
    this.next = undefined;
    if (this.wanted) this.engine.triggerRepaint();
  }

  private moved() {
    if (this.view) this.follow(this.canvas, this.view);
  }

  // resized discards the last picture. It still waits for one that is being drawn: otherwise,
  // pictures would pile up while a window is being resized.
  private resized() {
    if (this.drawing) this.gone = this.wanted = true;
    else this.reset();
  }

  private reset() {
    clearTimeout(this.timer);
    forgo(this);
    this.next = undefined;
    this.drawing = this.gone = false;
  }
}
