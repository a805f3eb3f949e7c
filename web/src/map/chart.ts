// A map without tiles: stops in route order, the worker, a scale; coasts and borders
// at low zoom. It draws on a canvas and supports touch, mouse, wheel and keys.

import { shapes, type Shapes } from './coast.ts';
import {
  fit,
  marked,
  metresPerUnit,
  project,
  round,
  size,
  unproject,
  type Inset,
  type Place,
  type Point,
} from './project.ts';

export interface Stop {
  id: string;
  point: Point;
  mark: string; // number in the route, or a symbol
  label: string;
  tone: 'open' | 'active' | 'done' | 'goal';
}

export interface Self {
  point: Point;
  accuracy: number | null; // metres
  heading: number | null;
}

export interface Scene {
  stops: Stop[];
  self: Self | null;
  route: boolean; // draw a line from the worker through the stops
  trail?: Point[]; // where the worker came from
  miles?: boolean; // of the scale, instead of kilometres
}

export interface Options {
  pick?: (id: string) => void;
  place?: (point: Point) => void; // a click, or Enter for the middle of the map
  covered?: Partial<Inset>; // by elements over the map
  closest?: number; // maximum zoom of fitAll
}

const minZoom = 1;
const maxZoom = 18;
const coastUntil = 8; // zoom at which the coasts have faded out

export class Chart {
  private readonly ctx: CanvasRenderingContext2D;
  private readonly observer: ResizeObserver;
  private readonly scheme = matchMedia('(prefers-color-scheme: dark)');
  private readonly fingers = new Map<number, [number, number]>();
  private scene: Scene = { stops: [], self: null, route: false };
  private centre: Place = [0.5, 0.4];
  private zoom = 1;
  private width = 0;
  private height = 0;
  private frame = 0;
  private travelled = 0;
  private coasts: Shapes | undefined;
  private asked = false;
  private touched = false;
  private waitingToFit = false;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly options: Options = {},
  ) {
    this.ctx = canvas.getContext('2d')!;
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(canvas);
    this.scheme.addEventListener('change', this.redraw);
    canvas.addEventListener('pointerdown', this.press);
    canvas.addEventListener('pointermove', this.drag);
    canvas.addEventListener('pointerup', this.lift);
    canvas.addEventListener('pointercancel', this.lift);
    canvas.addEventListener('wheel', this.turn, { passive: false });
    canvas.addEventListener('dblclick', this.closer);
    canvas.addEventListener('keydown', this.key);
    this.resize();
  }

  destroy() {
    cancelAnimationFrame(this.frame);
    this.observer.disconnect();
    this.scheme.removeEventListener('change', this.redraw);
    this.canvas.removeEventListener('pointerdown', this.press);
    this.canvas.removeEventListener('pointermove', this.drag);
    this.canvas.removeEventListener('pointerup', this.lift);
    this.canvas.removeEventListener('pointercancel', this.lift);
    this.canvas.removeEventListener('wheel', this.turn);
    this.canvas.removeEventListener('dblclick', this.closer);
    this.canvas.removeEventListener('keydown', this.key);
  }

  // show replaces the content of the map. The view follows until the user moves it.
  show(scene: Scene) {
    this.scene = scene;
    if (this.touched) this.redraw();
    else this.fitAll();
  }

  // fitAll zooms to the whole content.
  fitAll() {
    this.touched = false;
    const places = this.scene.stops.map((s) => project(s.point));
    if (this.scene.self) places.push(project(this.scene.self.point));
    if (this.width === 0) {
      this.waitingToFit = true;
      return;
    }
    if (places.length > 0) {
      const inset = { top: 44, right: 44, bottom: 44, left: 44, ...this.options.covered };
      const view = fit(places, this.width, this.height, inset, this.options.closest ?? 16);
      this.centre = view.centre;
      this.zoom = view.zoom;
    }
    this.redraw();
  }

  // zoomBy zooms around a point of the canvas.
  zoomBy(by: number, x = this.width / 2, y = this.height / 2) {
    const zoom = Math.max(minZoom, Math.min(maxZoom, this.zoom + by));
    const [before, after] = [size(this.zoom), size(zoom)];
    const [dx, dy] = [x - this.width / 2, y - this.height / 2];
    this.centre = [this.centre[0] + dx / before - dx / after, this.centre[1] + dy / before - dy / after];
    this.zoom = zoom;
    this.move();
  }

  private pan(dx: number, dy: number) {
    const scale = size(this.zoom);
    this.centre = [this.centre[0] - dx / scale, Math.max(0, Math.min(1, this.centre[1] - dy / scale))];
    this.move();
  }

  private move() {
    this.touched = true;
    this.redraw();
  }

  private readonly press = (e: PointerEvent) => {
    this.canvas.setPointerCapture(e.pointerId);
    this.fingers.set(e.pointerId, [e.offsetX, e.offsetY]);
    if (this.fingers.size === 1) this.travelled = 0;
  };

  private readonly drag = (e: PointerEvent) => {
    const before = this.fingers.get(e.pointerId);
    if (!before) return;
    const now: [number, number] = [e.offsetX, e.offsetY];
    const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
    this.travelled += Math.hypot(dx, dy);
    if (this.fingers.size === 2) {
      const other = [...this.fingers].find(([id]) => id !== e.pointerId)![1];
      const spread = (p: [number, number]) => Math.max(1, Math.hypot(p[0] - other[0], p[1] - other[1]));
      this.fingers.set(e.pointerId, now);
      this.pan(dx / 2, dy / 2);
      this.zoomBy(Math.log2(spread(now) / spread(before)), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
    } else if (this.travelled > 4) {
      this.fingers.set(e.pointerId, now);
      this.pan(dx, dy);
    }
  };

  private readonly lift = (e: PointerEvent) => {
    const alone = this.fingers.size === 1;
    this.fingers.delete(e.pointerId);
    if (alone && this.travelled <= 4 && e.type === 'pointerup') this.choose(e.offsetX, e.offsetY);
  };

  private readonly turn = (e: WheelEvent) => {
    e.preventDefault();
    this.zoomBy(-e.deltaY / 300, e.offsetX, e.offsetY);
  };

  private readonly closer = (e: MouseEvent) => this.zoomBy(1, e.offsetX, e.offsetY);

  private readonly key = (e: KeyboardEvent) => {
    const steps: Record<string, () => void> = {
      '+': () => this.zoomBy(1),
      '=': () => this.zoomBy(1),
      '-': () => this.zoomBy(-1),
      ArrowLeft: () => this.pan(60, 0),
      ArrowRight: () => this.pan(-60, 0),
      ArrowUp: () => this.pan(0, 60),
      ArrowDown: () => this.pan(0, -60),
      '0': () => this.fitAll(),
      ...(this.options.place && { Enter: () => this.choose(this.width / 2, this.height / 2) }),
    };
    const step = steps[e.key];
    if (!step) return;
    e.preventDefault();
    step();
  };

  private choose(x: number, y: number) {
    if (this.options.place) {
      const scale = size(this.zoom);
      this.touched = true; // the view stays where it is
      this.options.place(
        unproject([this.centre[0] + (x - this.width / 2) / scale, this.centre[1] + (y - this.height / 2) / scale]),
      );
      return;
    }
    let best: Stop | undefined;
    let nearest = 26; // pixels, the size of a thumb
    for (const stop of this.scene.stops) {
      const [sx, sy] = this.pixel(project(stop.point));
      const away = Math.hypot(sx - x, sy - y);
      if (away < nearest) [best, nearest] = [stop, away];
    }
    if (best) this.options.pick?.(best.id);
  }

  private resize() {
    const { clientWidth, clientHeight } = this.canvas;
    const ratio = Math.min(3, devicePixelRatio || 1);
    [this.width, this.height] = [clientWidth, clientHeight];
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    this.ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (this.waitingToFit && clientWidth > 0) {
      this.waitingToFit = false;
      this.fitAll();
    } else if (!this.touched) this.fitAll();
    else this.paint();
  }

  private readonly redraw = () => {
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.paint());
  };

  private pixel([x, y]: Place): [number, number] {
    const scale = size(this.zoom);
    let dx = x - this.centre[0];
    dx -= Math.round(dx); // the shorter way around the world
    return [this.width / 2 + dx * scale, this.height / 2 + (y - this.centre[1]) * scale];
  }

  private paint() {
    if (this.width === 0) return;
    const style = getComputedStyle(this.canvas);
    const ink = (name: string) => style.getPropertyValue(`--map-${name}`).trim();
    const { ctx } = this;
    ctx.clearRect(0, 0, this.width, this.height);
    const far = Math.max(0, Math.min(1, coastUntil - this.zoom));
    ctx.fillStyle = ink('ground');
    ctx.fillRect(0, 0, this.width, this.height);
    if (far > 0) this.paintCoasts(far, ink);
    if (far < 1) this.paintGrid(1 - far, ink);
    this.paintRoute(ink);
    this.paintStops(ink);
    this.paintSelf(ink);
    this.paintScale(ink);
  }

  private paintCoasts(alpha: number, ink: (name: string) => string) {
    if (!this.coasts) {
      if (!this.asked) {
        this.asked = true;
        shapes().then(
          (found) => {
            this.coasts = found;
            this.redraw();
          },
          () => (this.asked = false), // offline: the map works without
        );
      }
      return;
    }
    const { ctx } = this;
    const scale = size(this.zoom);
    ctx.save();
    ctx.globalAlpha = alpha;
    ctx.fillStyle = ink('water');
    ctx.fillRect(0, 0, this.width, this.height);
    for (const turn of [-1, 0, 1]) {
      ctx.save();
      ctx.translate(this.width / 2, this.height / 2);
      ctx.scale(scale, scale);
      ctx.translate(turn - this.centre[0], -this.centre[1]);
      ctx.fillStyle = ink('ground');
      ctx.fill(this.coasts.land, 'evenodd');
      ctx.strokeStyle = ink('line');
      ctx.lineWidth = 1 / scale;
      ctx.stroke(this.coasts.land);
      ctx.stroke(this.coasts.borders);
      ctx.restore();
    }
    ctx.restore();
  }

  // paintGrid draws squares of a round number of metres, so that distances can be
  // estimated where nothing else is drawn.
  private paintGrid(alpha: number, ink: (name: string) => string) {
    const { ctx } = this;
    const scale = size(this.zoom);
    const step = round((metresPerUnit(this.centre) / scale) * 130) / metresPerUnit(this.centre);
    ctx.save();
    ctx.globalAlpha = alpha;
    ctx.strokeStyle = ink('grid');
    ctx.lineWidth = 1;
    ctx.beginPath();
    const [halfX, halfY] = [this.width / 2 / scale, this.height / 2 / scale];
    for (let x = Math.ceil((this.centre[0] - halfX) / step) * step; x < this.centre[0] + halfX; x += step) {
      const px = Math.round(this.width / 2 + (x - this.centre[0]) * scale) + 0.5;
      ctx.moveTo(px, 0);
      ctx.lineTo(px, this.height);
    }
    for (let y = Math.ceil((this.centre[1] - halfY) / step) * step; y < this.centre[1] + halfY; y += step) {
      const py = Math.round(this.height / 2 + (y - this.centre[1]) * scale) + 0.5;
      ctx.moveTo(0, py);
      ctx.lineTo(this.width, py);
    }
    ctx.stroke();
    ctx.restore();
  }

  private paintRoute(ink: (name: string) => string) {
    this.paintTrail(ink);
    if (!this.scene.route) return;
    const line = this.scene.stops.filter((s) => s.tone !== 'done').map((s) => this.pixel(project(s.point)));
    if (this.scene.self) line.unshift(this.pixel(project(this.scene.self.point)));
    if (line.length < 2) return;
    const { ctx } = this;
    ctx.save();
    ctx.lineJoin = ctx.lineCap = 'round';
    for (const [colour, width] of [
      [ink('halo'), 7],
      [ink('route'), 3.5],
    ] as const) {
      ctx.beginPath();
      line.forEach(([x, y], i) => (i === 0 ? ctx.moveTo(x, y) : ctx.lineTo(x, y)));
      ctx.strokeStyle = colour;
      ctx.lineWidth = width;
      ctx.stroke();
    }
    ctx.restore();
  }

  private paintTrail(ink: (name: string) => string) {
    const [first, ...rest] = (this.scene.trail ?? []).map((p) => this.pixel(project(p)));
    if (!first) return;
    const { ctx } = this;
    ctx.save();
    ctx.beginPath();
    ctx.moveTo(...first);
    for (const at of rest) ctx.lineTo(...at);
    ctx.strokeStyle = ink('self');
    ctx.globalAlpha = 0.45;
    ctx.lineWidth = 4;
    ctx.lineJoin = ctx.lineCap = 'round';
    ctx.stroke();
    ctx.restore();
  }

  private paintStops(ink: (name: string) => string) {
    const { ctx } = this;
    const taken: [number, number, number, number][] = [];
    ctx.save();
    ctx.textBaseline = 'middle';
    const placed = this.scene.stops.map((stop) => ({ stop, at: this.pixel(project(stop.point)) }));
    for (const { at } of placed) taken.push([at[0] - 15, at[1] - 15, at[0] + 15, at[1] + 15]);
    for (const { stop, at } of [...placed].reverse()) {
      const [x, y] = at;
      const radius = stop.tone === 'active' || stop.tone === 'goal' ? 16 : 13;
      ctx.beginPath();
      ctx.arc(x, y, radius + 2.5, 0, 7);
      ctx.fillStyle = ink('halo');
      ctx.fill();
      ctx.beginPath();
      ctx.arc(x, y, radius, 0, 7);
      ctx.fillStyle = ink(stop.tone);
      ctx.fill();
      ctx.fillStyle = ink('mark');
      ctx.font = `700 ${radius < 16 ? 13 : 15}px system-ui, sans-serif`;
      ctx.textAlign = 'center';
      ctx.fillText(stop.mark, x, y + 0.5);
    }
    ctx.font = '600 12px system-ui, sans-serif';
    ctx.textAlign = 'left';
    for (const { stop, at } of placed) {
      if (!stop.label || (this.zoom < 11 && stop.tone === 'open')) continue;
      const text = stop.label.length > 26 ? stop.label.slice(0, 25) + '…' : stop.label;
      const wide = ctx.measureText(text).width;
      const left = at[0] + 22 + wide > this.width - 6 ? at[0] - 22 - wide : at[0] + 22;
      const box: [number, number, number, number] = [left - 3, at[1] - 9, left + wide + 3, at[1] + 9];
      if (taken.some((t) => box[0] < t[2] && t[0] < box[2] && box[1] < t[3] && t[1] < box[3])) continue;
      taken.push(box);
      ctx.strokeStyle = ink('halo');
      ctx.lineWidth = 4;
      ctx.lineJoin = 'round';
      ctx.strokeText(text, left, at[1]);
      ctx.fillStyle = ink('text');
      ctx.fillText(text, left, at[1]);
    }
    ctx.restore();
  }

  private paintSelf(ink: (name: string) => string) {
    const { self } = this.scene;
    if (!self) return;
    const place = project(self.point);
    const [x, y] = this.pixel(place);
    const { ctx } = this;
    ctx.save();
    const spread = ((self.accuracy ?? 0) / metresPerUnit(place)) * size(this.zoom);
    if (spread > 12) {
      ctx.beginPath();
      ctx.arc(x, y, Math.min(spread, 4000), 0, 7);
      ctx.globalAlpha = 0.15;
      ctx.fillStyle = ink('self');
      ctx.fill();
      ctx.globalAlpha = 1;
    }
    if (self.heading !== null) {
      ctx.save();
      ctx.translate(x, y);
      ctx.rotate((self.heading * Math.PI) / 180);
      ctx.beginPath();
      ctx.moveTo(0, -21);
      ctx.lineTo(7, -10);
      ctx.lineTo(-7, -10);
      ctx.fillStyle = ink('self');
      ctx.fill();
      ctx.restore();
    }
    ctx.beginPath();
    ctx.arc(x, y, 10, 0, 7);
    ctx.fillStyle = ink('halo');
    ctx.shadowColor = 'rgb(0 0 0 / 35%)';
    ctx.shadowBlur = 6;
    ctx.fill();
    ctx.shadowBlur = 0;
    ctx.beginPath();
    ctx.arc(x, y, 7, 0, 7);
    ctx.fillStyle = ink('self');
    ctx.fill();
    ctx.restore();
  }

  private paintScale(ink: (name: string) => string) {
    const { ctx } = this;
    const perPixel = metresPerUnit(this.centre) / size(this.zoom);
    const [length, unit] = marked(perPixel * 90, this.scene.miles ?? false);
    const wide = length / perPixel;
    const [x, y] = [14, this.height - 14];
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = ink('text');
    ctx.globalAlpha = 0.75;
    ctx.lineWidth = 1.5;
    ctx.beginPath();
    ctx.moveTo(x, y - 5);
    ctx.lineTo(x, y);
    ctx.lineTo(x + wide, y);
    ctx.lineTo(x + wide, y - 5);
    ctx.stroke();
    ctx.font = '11px system-ui, sans-serif';
    ctx.fillText(unit, x + 5, y - 7);
    ctx.restore();
  }
}
