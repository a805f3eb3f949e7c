// The map of the board: MapLibre draws the streets, and two canvases above it the stops
// and the vehicles. What changes never makes MapLibre draw again.

import { Map as Engine, ScaleControl } from 'maplibre-gl';
import { inkOf, type Ink } from '../../../map/marks.ts';
import { options, styled } from '../../../map/ondemand/engine.ts';
import { fit, project, unproject, type Point } from '../../../map/project.ts';
import type { TileSource } from '../../../map/tiles.ts';
import { Camera, inside } from './camera.ts';
import type { Fleet } from './fleet.ts';
import { pass, type Routes } from './routes.ts';
import { drawStops, nearest, Sprites, type Stop } from './stops.ts';

const reach = 14; // pixels around the pointer
const frame = 33; // ms between pictures of moving vehicles

// Shown is what is emphasized.
export interface Shown {
  worker: string;
  selection: ReadonlySet<string>;
  numbers: ReadonlyMap<string, number>;
}

export interface Hit {
  task: string;
  worker: string;
}

export class BoardView {
  readonly engine: Engine;
  readonly camera = new Camera();
  private readonly below = layer();
  private readonly above = layer();
  private readonly calm = matchMedia('(prefers-reduced-motion: reduce)');
  private readonly ratio = Math.min(2, devicePixelRatio || 1);
  private ink: Ink;
  private sprites: Sprites;
  private shown: Shown = { worker: '', selection: new Set(), numbers: new Map() };
  private hovered: Hit = { task: '', worker: '' };
  private lasso: [number, number][] = [];
  private due = 0;
  private stale = false; // the stops have changed
  private drawnAt = 0;
  private gone = false;

  constructor(
    private readonly host: HTMLElement,
    private readonly tiles: TileSource,
    label: string,
    private readonly stops: ReadonlyMap<string, Stop>,
    private readonly fleet: Fleet,
    private readonly routes: Routes,
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
      ...(tiles.center && { center: [...tiles.center] as [number, number], zoom: 11 }),
    });
    this.engine.touchZoomRotate.disableRotation();
    this.engine.keyboard.disableRotation();
    this.engine.addControl(new ScaleControl({ maxWidth: 90 }), 'bottom-left');
    this.engine.on('error', () => {}); // a tile that is missing is not the page's fault
    this.engine.on('move', () => this.draw());
    this.engine.on('resize', () => this.draw());
    this.draw();
  }

  destroy() {
    this.gone = true;
    cancelAnimationFrame(this.due);
    this.engine.remove();
  }

  // repaint applies other colors.
  repaint() {
    this.ink = inkOf(this.host);
    this.sprites = new Sprites(this.ink, this.ratio);
    this.engine.setStyle(styled(this.ink, this.tiles, false));
    this.draw();
  }

  emphasize(shown: Shown) {
    this.shown = shown;
    this.changed();
  }

  hover(hit: Hit) {
    if (hit.task === this.hovered.task && hit.worker === this.hovered.worker) return;
    this.hovered = hit;
    this.changed();
  }

  // changed draws the stops in the next frame.
  changed() {
    this.stale = true;
    this.plan();
  }

  // moved draws the vehicles until none moves.
  moved() {
    this.plan();
  }

  private plan() {
    if (this.due || this.gone || document.hidden) return;
    this.due = requestAnimationFrame((now) => {
      this.due = 0;
      if (this.stale) this.draw();
      else if (now - this.drawnAt >= frame) this.drawVehicles(now);
      if (this.fleet.moving(now)) this.plan();
    });
  }

  fit(points: readonly Point[], smoothly: boolean) {
    const places = points.map(project);
    const { clientWidth: width, clientHeight: height } = this.host;
    if (places.length === 0 || width === 0) return;
    const view = fit(places, width, height, { top: 40, right: 40, bottom: 40, left: 40 }, 16);
    const [lon, lat] = unproject(view.centre);
    const to = { center: [lon, lat] as [number, number], zoom: Math.max(1, view.zoom - 1) };
    if (smoothly && !this.calm.matches) this.engine.easeTo({ ...to, duration: 500 });
    else this.engine.jumpTo(to);
  }

  // reveal moves the map if a location is not visible.
  reveal(point: Point) {
    const [x, y] = project(point);
    if (this.camera.sees(this.camera.x(x), this.camera.y(y), -30)) return;
    this.engine.easeTo({ center: [...point] as [number, number], duration: this.calm.matches ? 0 : 400 });
  }

  // hit returns what is at a point of the screen. Vehicles are on top.
  hit(x: number, y: number): Hit {
    const worker = this.fleet.find(this.camera, x, y, reach, performance.now());
    if (worker) return { task: '', worker };
    return { task: nearest(this.stops.values(), this.camera, x, y, reach)?.id ?? '', worker: '' };
  }

  // rope draws a lasso, and returns the stops in it when it is complete.
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
    this.stale = false;
    const { clientWidth: width, clientHeight: height } = this.host;
    const { lng, lat } = this.engine.getCenter();
    this.camera.look([lng, lat], this.engine.getZoom(), width, height);
    const ctx = this.clear(this.below);
    this.drawRoutes(ctx);
    const { selection, numbers } = this.shown;
    const chosen = this.hovered.task ? new Set([...selection, this.hovered.task]) : selection;
    const seen = drawStops(ctx, this.camera, this.stops.values(), this.sprites, chosen, numbers, this.ink);
    this.host.dataset['stops'] = String(seen);
    this.drawVehicles(performance.now());
  }

  private drawRoutes(ctx: CanvasRenderingContext2D) {
    const { camera, ink } = this;
    const main = this.hovered.worker || this.shown.worker;
    ctx.lineJoin = ctx.lineCap = 'round';
    const stroke = (id: string, width: number, color: string, alpha: number) => {
      const line = this.routes.lines.get(id);
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
    for (const id of this.routes.lines.keys()) if (id !== main) stroke(id, 2.5, 'route', main ? 0.18 : 0.45);
    if (!main) return;
    stroke(main, 8, 'halo', 0.9);
    stroke(main, 4.5, 'route', 1);
  }

  private drawVehicles(now: number) {
    this.drawnAt = now;
    const ctx = this.clear(this.above);
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
    if (this.fleet.moving(now)) this.plan();
  }

  private clear(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
    const [width, height] = [Math.round(this.camera.width * this.ratio), Math.round(this.camera.height * this.ratio)];
    const ctx = canvas.getContext('2d')!;
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    ctx.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    ctx.clearRect(0, 0, this.camera.width, this.camera.height);
    return ctx;
  }
}

function layer(): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.style.pointerEvents = 'none';
  canvas.setAttribute('aria-hidden', 'true');
  return canvas;
}
