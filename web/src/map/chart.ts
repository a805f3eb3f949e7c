// A map without tiles: stops in route order, the worker, a scale; coasts and borders
// at low zoom. It draws on a canvas and supports touch, mouse, wheel and keys.

import { coasts, coastUntil } from './coast.ts';
import { paintGrid } from './grid.ts';
import { inkOf, middle, paintSelf, paintStop, smallFont, type Ink } from './marks.ts';
import { fit, marked, metresPerUnit, near, project, size, unproject, type Place, type Point } from './project.ts';
import { extent, line as route, type Drawing, type Options, type Scene, type Stop, type View } from './scene.ts';

interface Shapes {
  land: Path2D; // in units of the world
  borders: Path2D;
}

const minZoom = 1;
const maxZoom = 18;

export class Chart implements Drawing {
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
    readonly canvas: HTMLCanvasElement,
    private readonly options: Options,
  ) {
    this.ctx = canvas.getContext('2d')!;
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(canvas);
    this.scheme.addEventListener('change', this.redraw);
    if (!options.still) this.listen();
    this.resize();
  }

  private listen() {
    const { canvas } = this;
    canvas.addEventListener('pointerdown', this.press);
    canvas.addEventListener('pointermove', this.drag);
    canvas.addEventListener('pointerup', this.lift);
    canvas.addEventListener('pointercancel', this.lift);
    canvas.addEventListener('wheel', this.turn, { passive: false });
    canvas.addEventListener('dblclick', this.closer);
    canvas.addEventListener('keydown', this.key);
  }

  destroy() {
    cancelAnimationFrame(this.frame);
    this.observer.disconnect();
    this.scheme.removeEventListener('change', this.redraw);
    this.canvas.remove();
  }

  show(scene: Scene) {
    this.scene = scene;
    if (this.touched) this.redraw();
    else this.fitAll();
  }

  fitAll() {
    this.touched = false;
    const places = extent(this.scene).map(project);
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

  moved(): View | undefined {
    return this.touched ? { centre: unproject(this.centre), zoom: this.zoom } : undefined;
  }

  middle(): Point {
    return unproject(this.centre);
  }

  look({ centre, zoom }: View) {
    [this.centre, this.zoom] = [project(centre), zoom];
    this.move();
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
      const [dx, dy] = [(x - this.width / 2) / scale, (y - this.height / 2) / scale];
      this.options.place(unproject([this.centre[0] + dx, this.centre[1] + dy]));
      return;
    }
    let best: Stop | undefined;
    let nearest = 26; // pixels, the size of a thumb
    for (const stop of this.scene.stops) {
      const [sx, sy] = this.pixel(project(stop.point));
      const away = Math.hypot(sx - x, sy + middle(stop.tone) - y);
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
    const dx = near(x, this.centre[0], 1) - this.centre[0]; // the shorter way around the world
    return [this.width / 2 + dx * scale, this.height / 2 + (y - this.centre[1]) * scale];
  }

  // line returns the pixels of a line, which may cross the antimeridian.
  private line(points: readonly Point[]): [number, number][] {
    const world = size(this.zoom);
    let before: number | undefined;
    return points.map((point) => {
      const [x, y] = this.pixel(project(point));
      before = before === undefined ? x : near(x, before, world);
      return [before, y];
    });
  }

  private paint() {
    if (this.width === 0) return;
    const ink = inkOf(this.canvas);
    const { ctx, centre, zoom, width, height } = this;
    ctx.clearRect(0, 0, width, height);
    const far = Math.max(0, Math.min(1, coastUntil - zoom));
    ctx.fillStyle = ink('ground');
    ctx.fillRect(0, 0, width, height);
    if (far > 0) this.paintCoasts(far, ink);
    if (far < 1) paintGrid(ctx, { centre, zoom, width, height }, ink('grid'), 1 - far);
    this.paintRoute(ink);
    this.paintStops(ink);
    this.paintSelf(ink);
    this.paintScale(ink);
  }

  private paintCoasts(alpha: number, ink: Ink) {
    if (!this.coasts) {
      if (!this.asked) {
        this.asked = true;
        coasts().then(
          ({ land, borders }) => {
            this.coasts = { land: path(land.flat()), borders: path(borders) };
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

  private paintRoute(ink: Ink) {
    this.paintTrail(ink);
    const line = this.line(route(this.scene));
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

  private paintTrail(ink: Ink) {
    const [first, ...rest] = this.line(this.scene.trail ?? []);
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

  private paintStops(ink: Ink) {
    const { ctx } = this;
    const taken: [number, number, number, number][] = [];
    ctx.save();
    ctx.textBaseline = 'middle';
    const placed = this.scene.stops.map((stop) => ({ stop, at: this.pixel(project(stop.point)) }));
    for (const { stop, at } of placed) {
      const y = at[1] + middle(stop.tone);
      taken.push([at[0] - 15, y - 15, at[0] + 15, y + 15]);
    }
    for (const { stop, at } of [...placed].reverse()) {
      ctx.save();
      ctx.translate(...at);
      paintStop(ctx, stop, ink);
      ctx.restore();
    }
    ctx.font = smallFont;
    ctx.textAlign = 'left';
    for (const { stop, at } of placed) {
      if (!stop.label || (this.zoom < 11 && stop.tone === 'open')) continue;
      const text = stop.label.length > 26 ? stop.label.slice(0, 25) + '…' : stop.label;
      const wide = ctx.measureText(text).width;
      const left = at[0] + 22 + wide > this.width - 6 ? at[0] - 22 - wide : at[0] + 22;
      const y = at[1] + middle(stop.tone);
      const box: [number, number, number, number] = [left - 3, y - 9, left + wide + 3, y + 9];
      if (taken.some((t) => box[0] < t[2] && t[0] < box[2] && box[1] < t[3] && t[1] < box[3])) continue;
      taken.push(box);
      ctx.strokeStyle = ink('halo');
      ctx.lineWidth = 4;
      ctx.lineJoin = 'round';
      ctx.strokeText(text, left, y);
      ctx.fillStyle = ink('text');
      ctx.fillText(text, left, y);
    }
    ctx.restore();
  }

  private paintSelf(ink: Ink) {
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
    ctx.translate(x, y);
    ctx.rotate(((self.heading ?? 0) * Math.PI) / 180);
    paintSelf(ctx, self.heading !== null, ink);
    ctx.restore();
  }

  private paintScale(ink: Ink) {
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

// path returns lines of points in units of the world.
function path(lines: Point[][]): Path2D {
  const drawn = new Path2D();
  for (const line of lines) {
    line.forEach((point, i) => (i === 0 ? drawn.moveTo(...project(point)) : drawn.lineTo(...project(point))));
  }
  return drawn;
}
