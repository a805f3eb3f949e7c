// The map of the board: MapLibre draws the streets, and two canvases above it show the stops
// and the vehicles. Changes of stops and vehicles never make MapLibre draw again.

import { Map as Engine, ScaleControl } from 'maplibre-gl';
import { coastUntil } from '../../../map/coast.ts';
import { paintGrid } from '../../../map/grid.ts';
import { inkOf, type Ink } from '../../../map/marks.ts';
import { keeping, keepTrying, options, styled, World } from '../../../map/ondemand/engine.ts';
import { levels } from '../../../map/ondemand/style.ts';
import { fit, project, unproject, type Point } from '../../../map/project.ts';
import type { TileSource } from '../../../map/tiles.ts';
import { Camera, inside } from './camera.ts';
import { Copy, type View } from './copy.ts';
import { Detail } from './detail.ts';
import type { Fleet } from './fleet.ts';
import { pass, type Line } from './routes.ts';
import { drawStops, nearest, Sprites, type Stop } from './stops.ts';
import { Picture } from '../picture.ts';
import { eased, forgo, turn } from '../turns.ts';

const reach = 14; // pixels around the pointer
const frame = 33; // ms between pictures of moving vehicles, if they move fast
const softly = 250; // the same, without a graphics processor
const calmest = 200; // the same, if none moves by a pixel meanwhile
const refresh = 400; // ms between pictures of stops that change by themselves
const seldom = 700; // the same, without a graphics processor
const longest = 2000; // ms between pictures of lines that only begin elsewhere
const lag = 3; // pixels between a vehicle and the beginning of its line
const follow = 100; // ms between pictures of stops while the map moves
const slice = 3; // ms at a time in which stops are drawn
const margin = 120; // pixels around the map that are drawn, too
const farthest = 5; // zoom levels between a picture and the map, above which it is hidden

// Shown is what is emphasized.
export interface Shown {
  worker: string;
  selection: ReadonlySet<string>;
  numbers: ReadonlyMap<string, number>;
  tones?: ReadonlyMap<string, string>; // colors of routes, by worker
}

// Next is a picture of the stops that is not complete.
interface Next {
  view: View;
  camera: Camera;
  rest: Generator<undefined, number>;
}

export interface Hit {
  task: string;
  worker: string;
}

export class BoardView {
  readonly engine: Engine;
  readonly camera = new Camera();
  private readonly below = layer(margin); // routes and stops
  private readonly above = layer(margin);
  private readonly pictures = { below: new Picture(this.below), above: new Picture(this.above) };
  private readonly calm = matchMedia('(prefers-reduced-motion: reduce)');
  private readonly scheme = matchMedia('(prefers-color-scheme: dark)');
  private readonly ratio = Math.min(2, devicePixelRatio || 1);
  private readonly world: World;
  private ink: Ink;
  private sprites: Sprites;
  private shown: Shown = { worker: '', selection: new Set(), numbers: new Map() };
  private hovered: Hit = { task: '', worker: '' };
  private lasso: [number, number][] = [];
  private due = 0;
  private dueAt = 0;
  private stale = 0; // performance.now at which the stops must be drawn again; 0 if they need not
  private drawnAt = 0; // when the stops were drawn
  private vehiclesAt = 0;
  private drawn: View = { lng: 0, lat: 0, zoom: 0 }; // the view that the pictures show
  private next: Next | undefined;
  private jumped = true; // the pictures show another view than the map, and are hidden
  private unfitted: readonly Point[] = []; // points to fit when the map becomes visible
  private ownView = false; // a person has moved the map
  private placed = false; // fit has moved the map
  private gone = false;

  constructor(
    private readonly host: HTMLElement,
    private tiles: TileSource,
    label: string,
    private readonly software: boolean, // there is no graphics processor
    private readonly stops: ReadonlyMap<string, Stop>,
    private readonly fleet: Fleet,
    private readonly lines: ReadonlyMap<string, Line>, // by worker
  ) {
    this.ink = inkOf(host);
    this.sprites = new Sprites(this.ink, this.ratio);
    const inner = document.createElement('div');
    host.replaceChildren(inner, this.below, this.above);
    this.engine = new Engine({
      container: inner,
      style: styled(this.ink, tiles, false),
      ...options,
      boxZoom: false, // Shift draws a lasso
      doubleClickZoom: false, // a double click opens a task
      fadeDuration: 0,
      locale: { 'Map.Title': label },
      ...(software && { pixelRatio: 1, canvasContextAttributes: { preserveDrawingBuffer: true } }),
      ...(tiles.center && { center: [...tiles.center] as [number, number], zoom: 11 }),
    });
    this.engine.touchZoomRotate.disableRotation();
    this.engine.keyboard.disableRotation();
    this.engine.addControl(new ScaleControl({ maxWidth: 90 }), 'bottom-left');
    keepTrying(this.engine);
    this.world = new World(this.engine, () => styled(this.ink, this.tiles, true));
    this.engine.on('move', () => this.pan());
    this.engine.on('movestart', (e) => (this.ownView ||= 'originalEvent' in e && e.originalEvent !== undefined));
    this.engine.on('resize', () => {
      if (this.unfitted.length > 0) this.fit(this.unfitted, false);
      this.draw();
    });
    if (software) {
      const copy = layer(0);
      host.prepend(copy);
      new Copy(this.engine, copy, this.view, this.follow);
    } else new Detail(this.engine);
    this.scheme.addEventListener('change', this.repaint);
    document.addEventListener('visibilitychange', this.resume);
    this.draw();
  }

  destroy() {
    this.gone = true;
    this.scheme.removeEventListener('change', this.repaint);
    document.removeEventListener('visibilitychange', this.resume);
    clearTimeout(this.due);
    forgo(this);
    this.engine.remove();
  }

  // use switches to other tiles. The view stays if a person or fit has chosen it.
  use(tiles: TileSource) {
    if (tiles === this.tiles) return;
    this.tiles = tiles;
    this.repaint();
    if (tiles.center && !this.placed && !this.ownView) {
      this.engine.jumpTo({ center: [...tiles.center] as [number, number], zoom: 11 });
    }
  }

  // repaint draws the map again with the current colors and tiles.
  readonly repaint = () => {
    this.ink = inkOf(this.host);
    this.sprites = new Sprites(this.ink, this.ratio);
    this.engine.setStyle(styled(this.ink, this.tiles, this.world.loaded), keeping('world'));
    this.draw();
  };

  emphasize(shown: Shown) {
    const { worker, selection, numbers, tones } = this.shown;
    this.shown = shown;
    if (worker !== shown.worker || selection !== shown.selection) this.changed(true);
    else if (tones !== shown.tones || !same(numbers, shown.numbers)) this.changed();
  }

  hover(hit: Hit) {
    if (hit.task === this.hovered.task && hit.worker === this.hovered.worker) return;
    this.hovered = hit;
    this.changed(true);
  }

  // changed draws the stops again: in the next frame if now is true, otherwise soon.
  changed(now = false) {
    this.expire(now ? 0 : this.drawnAt + eased(this.software ? seldom : refresh));
    this.plan();
  }

  // moved draws the vehicles until none moves. If lined is true, lines begin at some of them.
  moved(lined: boolean) {
    if (lined) this.expire(this.drawnAt + eased(Math.max(refresh, Math.min(longest, lag * this.pixel(performance.now()))))); // prettier-ignore
    this.plan();
  }

  // expire draws the stops again at a time at the latest.
  private expire(at: number) {
    const due = Math.max(at, performance.now());
    this.stale = this.stale ? Math.min(this.stale, due) : due;
  }

  private readonly view = (): View => ({ ...this.engine.getCenter(), zoom: this.engine.getZoom() });

  // follow moves a picture with the map.
  private readonly follow = (canvas: HTMLCanvasElement, from: View) => {
    const to = this.view();
    const far = Math.abs(to.zoom - from.zoom) > farthest; // for example from the world to the first fit
    canvas.style.visibility = far ? 'hidden' : '';
    if (far) return;
    const [before, now] = [project([from.lng, from.lat]), project([to.lng, to.lat])];
    const size = 512 * 2 ** to.zoom;
    canvas.style.transform = `translate(${(before[0] - now[0]) * size}px, ${(before[1] - now[1]) * size}px) scale(${2 ** (to.zoom - from.zoom)})`; // prettier-ignore
  };

  // align moves the pictures of stops and vehicles with the map.
  private align() {
    for (const canvas of [this.below, this.above]) {
      this.follow(canvas, this.drawn);
      if (this.jumped) canvas.style.visibility = 'hidden';
    }
  }

  // pan moves the pictures with the map, and draws new ones now and then.
  private pan() {
    this.align();
    this.expire(this.jumped ? 0 : this.drawnAt + eased(follow));
    this.plan();
  }

  // resume draws what has changed while the page was hidden.
  private readonly resume = () => this.plan();

  private plan() {
    if (this.gone || document.hidden || this.camera.width === 0) return; // it is not visible
    const now = performance.now();
    const next = this.fleet.moving(now) ? this.vehiclesAt + this.pace(now) : Infinity;
    const at = this.next ? now : Math.min(this.stale || Infinity, next);
    if (at === Infinity || (this.due && at >= this.dueAt)) return;
    clearTimeout(this.due);
    this.dueAt = at;
    const part = this.next !== undefined; // it is drawn at once, and shown in the next frame
    this.due = window.setTimeout(() => (part ? this.frame() : turn(this, () => this.frame())), Math.max(part ? 1 : 0, at - now - 8)); // prettier-ignore
  }

  private frame() {
    this.due = 0;
    if (this.gone) return;
    const now = performance.now();
    if (!this.next && this.stale && this.stale <= now + 8) this.begin();
    // Vehicles move on while the stops are drawn.
    if (!this.next || now > this.vehiclesAt + Math.max(calmest, this.pace(now))) this.drawVehicles(now);
    else this.proceed(now + slice);
    this.plan();
  }

  // pace returns the ms until the vehicles are drawn again: about when one has moved by a
  // pixel.
  private pace(now: number): number {
    return eased(Math.max(this.software ? softly : frame, Math.min(calmest, 0.7 * this.pixel(now))));
  }

  // pixel returns the ms in which the fastest vehicle moves by a pixel.
  private pixel(now: number): number {
    return 1 / Math.max(this.fleet.fastest(now) * 512 * 2 ** this.camera.zoom, 1e-6);
  }

  fit(points: readonly Point[], smoothly: boolean) {
    const places = points.map(project);
    const { clientWidth: width, clientHeight: height } = this.host;
    this.unfitted = width === 0 ? points : [];
    if (places.length === 0 || width === 0) return;
    const view = fit(places, width, height, { top: 40, right: 40, bottom: 40, left: 40 }, 16);
    const [lon, lat] = unproject(view.centre);
    const to = { center: [lon, lat] as [number, number], zoom: Math.max(1, view.zoom - 1) };
    this.ownView = false;
    this.placed = true;
    if (smoothly && !this.calm.matches) {
      this.engine.easeTo({ ...to, duration: 500 });
      return;
    }
    // Pictures of another zoom level would be shown enlarged until they are drawn again.
    this.jumped = true;
    this.next = undefined;
    this.engine.jumpTo(to);
  }

  // fitted reports whether no person has moved the map since the last fit.
  get fitted(): boolean {
    return !this.ownView;
  }

  // zoom zooms in or out by one level, for the buttons.
  zoom(by: 1 | -1) {
    this.ownView = true;
    if (by > 0) this.engine.zoomIn();
    else this.engine.zoomOut();
  }

  // reveal moves the map if a location is not visible.
  reveal(point: Point) {
    const [x, y] = project(point);
    if (this.camera.sees(this.camera.x(x), this.camera.y(y), -30)) return;
    this.engine.easeTo({ center: [...point] as [number, number], duration: this.calm.matches ? 0 : 400 });
  }

  // at returns the position of an event on the map, in pixels.
  at(e: MouseEvent): [number, number] {
    const box = this.host.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  }

  // hit returns what is at a point of the screen. Vehicles are on top.
  hit(x: number, y: number): Hit {
    const worker = this.fleet.find(this.camera, x, y, reach, performance.now());
    if (worker) return { task: '', worker };
    return { task: nearest(this.stops.values(), this.camera, x, y, reach)?.id ?? '', worker: '' };
  }

  // rope draws a lasso. When it is complete, caught returns the stops in it.
  rope(points: [number, number][]) {
    this.lasso = points;
    this.drawVehicles(performance.now());
  }

  caught(): string[] {
    const { camera, lasso } = this;
    const found = [...this.stops.values()].filter((s) => inside(camera.x(s.x), camera.y(s.y), lasso)).map((s) => s.id);
    this.rope([]);
    return found;
  }

  private draw() {
    this.begin();
    this.proceed(Infinity);
  }

  // begin starts the next picture of the stops.
  private begin() {
    this.stale = 0;
    this.drawnAt = performance.now();
    const { clientWidth: width, clientHeight: height } = this.host;
    const view = this.view();
    const camera = new Camera();
    camera.look([view.lng, view.lat], view.zoom, width, height);
    const ctx = this.clear('below', camera);
    if (this.tiles.tiles.length === 0) this.drawGrid(ctx, camera, view);
    this.drawRoutes(ctx, camera);
    const { selection, numbers } = this.shown;
    const chosen = this.hovered.task ? new Set([...selection, this.hovered.task]) : selection;
    this.next = { view, camera, rest: drawStops(ctx, camera, this.stops.values(), this.sprites, chosen, numbers, this.ink) }; // prettier-ignore
  }

  // proceed draws until a time, and shows the picture once it is complete.
  private proceed(until: number) {
    const { view, camera: of, rest } = this.next!;
    let part = rest.next();
    while (!part.done && performance.now() < until) part = rest.next();
    if (!part.done) {
      if (this.software) this.pictures.below.flush();
      return;
    }
    this.next = undefined;
    this.host.dataset['stops'] = String(part.value);
    this.show('below', of);
    const { camera, drawn } = this;
    const { lng, lat, zoom } = view;
    const moved = lng !== drawn.lng || lat !== drawn.lat || zoom !== drawn.zoom || of.width !== camera.width || of.height !== camera.height; // prettier-ignore
    this.drawn = view;
    camera.look([lng, lat], zoom, of.width, of.height);
    if (moved || !this.fleet.moving(this.drawnAt)) this.drawVehicles(performance.now());
    this.jumped = false;
    this.align();
  }

  // drawGrid draws the grid of a map without tiles, if it is zoomed in too far for coasts.
  private drawGrid(ctx: OffscreenCanvasRenderingContext2D, { width, height }: Camera, { lng, lat, zoom }: View) {
    const frame = { centre: project([lng, lat]), zoom: zoom + levels, width, height };
    const alpha = Math.min(1, frame.zoom - coastUntil + 1);
    if (alpha > 0) paintGrid(ctx, frame, this.ink('grid'), alpha, margin);
  }

  private drawRoutes(ctx: OffscreenCanvasRenderingContext2D, camera: Camera) {
    const { ink } = this;
    const main = this.hovered.worker || this.shown.worker;
    ctx.lineJoin = ctx.lineCap = 'round';
    const stroke = (id: string, width: number, color: string, alpha: number) => {
      const line = this.lines.get(id);
      if (!line) return;
      const vehicle = this.fleet.place(id, performance.now());
      if (vehicle) pass(line, vehicle);
      ctx.beginPath();
      if (vehicle && line.passed > 0) ctx.lineTo(camera.x(vehicle[0]), camera.y(vehicle[1]));
      for (let i = line.passed; i < line.places.length; i++) {
        ctx.lineTo(camera.x(line.places[i]![0]), camera.y(line.places[i]![1]));
      }
      ctx.lineWidth = width;
      ctx.globalAlpha = alpha;
      ctx.strokeStyle = ink(color);
      ctx.stroke();
      ctx.globalAlpha = 1;
    };
    const { tones } = this.shown;
    const tone = (id: string) => tones?.get(id) ?? 'route';
    for (const id of this.lines.keys()) if (id !== main) stroke(id, 2.5, tone(id), main ? 0.18 : tones ? 0.8 : 0.45);
    if (!main) return;
    stroke(main, 8, 'halo', 0.9);
    stroke(main, 4.5, tone(main), 1);
  }

  private drawVehicles(now: number) {
    this.vehiclesAt = now;
    const ctx = this.clear('above', this.camera);
    this.fleet.draw(ctx, this.camera, this.ink, this.shown.worker, this.hovered.worker, now);
    if (this.lasso.length > 1) {
      ctx.beginPath();
      for (const [x, y] of this.lasso) ctx.lineTo(x, y);
      ctx.closePath();
      ctx.strokeStyle = ctx.fillStyle = this.ink('self');
      ctx.lineWidth = 2;
      ctx.stroke();
      ctx.globalAlpha = 0.12;
      ctx.fill();
      ctx.globalAlpha = 1;
    }
    this.show('above', this.camera);
    this.plan();
  }

  private clear(name: 'below' | 'above', of: Camera): OffscreenCanvasRenderingContext2D {
    const { ratio } = this;
    const size = (pixels: number) => Math.round((pixels + 2 * margin) * ratio);
    const ctx = this.pictures[name].begin(size(of.width), size(of.height));
    ctx.setTransform(ratio, 0, 0, ratio, margin * ratio, margin * ratio);
    return ctx;
  }

  private show(name: 'below' | 'above', of: Camera) {
    this.pictures[name].show();
    this[name].style.width = `${of.width + 2 * margin}px`;
    this[name].style.height = `${of.height + 2 * margin}px`;
  }
}

const same = (a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): boolean =>
  a.size === b.size && [...a].every(([id, n]) => b.get(id) === n);

// layer returns a canvas that covers the map and a margin around it.
function layer(margin: number): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.style.cssText = `pointer-events: none; will-change: transform; inset: -${margin}px auto auto -${margin}px`;
  canvas.setAttribute('aria-hidden', 'true');
  return canvas;
}
