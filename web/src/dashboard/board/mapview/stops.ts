// The stops of a day on the map: one picture for each kind, drawn thousands of times.

import { project } from '../../../map/project.ts';
import type { Ink } from '../../../map/marks.ts';
import type { Risk, Status } from '../status.ts';
import type { BoardTask } from '../wire.ts';
import type { Camera } from './camera.ts';

export interface Stop {
  id: string;
  x: number; // in units of project.ts
  y: number;
  status: Status;
  risk: Risk;
  task: BoardTask;
  tone: string; // replaces the color of the status; '' for none
}

// stopOf returns the stop of a task. before is its former stop, if there is one.
export const stopOf = (task: BoardTask, status: Status, risk: Risk, tone = '', before?: Stop): Stop => {
  const [lon, lat] = task.destination.location;
  const at = before?.task.destination.location;
  const [x, y] = at && at[0] === lon && at[1] === lat ? [before.x, before.y] : project([lon, lat]);
  return { id: task.id, x, y, status, risk, task, tone };
};

// alike reports whether two stops look the same.
export const alike = (a: Stop, b: Stop): boolean =>
  a.x === b.x && a.y === b.y && a.status === b.status && a.risk === b.risk && a.tone === b.tone;

// In the order in which they are drawn: the last are on top.
const kinds = ['completed', 'failed', 'assigned', 'active', 'unassigned'] as const;
const order = (s: Stop): number => kinds.indexOf(s.status) + (s.status !== 'completed' && s.risk === 'late' ? 5 : 0);

// radius returns the radius of a stop in pixels.
export const radius = (zoom: number, status: Status): number => {
  const size = zoom < 10 ? 3 : zoom < 12 ? 4 : zoom < 14 ? 5.5 : 7;
  return status === 'completed' ? size * 0.75 : size;
};

const colors = { completed: 'done', assigned: 'open', active: 'active', unassigned: 'goal', failed: 'failed' };

export class Sprites {
  private readonly made = new Map<string, ImageBitmap>();

  constructor(
    private readonly ink: Ink,
    private readonly ratio: number,
  ) {}

  // get returns the picture of a stop, to be centered on its location.
  get({ status, risk, tone }: Stop, r: number, chosen: boolean): ImageBitmap {
    const key = `${status} ${risk} ${r} ${chosen} ${tone}`;
    let picture = this.made.get(key);
    if (!picture) {
      const size = 2 * Math.ceil(r + 5);
      const canvas = new OffscreenCanvas(size * this.ratio, size * this.ratio);
      const ctx = canvas.getContext('2d')!;
      ctx.scale(this.ratio, this.ratio);
      ctx.translate(size / 2, size / 2);
      this.paint(ctx, status, r, chosen, risk === 'late' ? 'failed' : tone || colors[status]);
      picture = canvas.transferToImageBitmap(); // much cheaper to draw than a canvas
      this.made.set(key, picture);
    }
    return picture;
  }

  private paint(ctx: OffscreenCanvasRenderingContext2D, status: Status, r: number, chosen: boolean, color: string) {
    const { ink } = this;
    const shape = (margin: number) => {
      ctx.beginPath();
      if (status === 'failed') {
        const d = r + margin + 1;
        ctx.moveTo(0, -d);
        ctx.lineTo(d, 0);
        ctx.lineTo(0, d);
        ctx.lineTo(-d, 0);
        ctx.closePath();
      } else if (status === 'active') ctx.roundRect(-r - margin, -r - margin, 2 * (r + margin), 2 * (r + margin), 2);
      else ctx.arc(0, 0, r + margin, 0, 7);
      ctx.fill();
    };
    ctx.fillStyle = chosen ? ink('self') : ink('halo');
    shape(chosen ? 3.5 : 1.5);
    if (chosen) {
      ctx.fillStyle = ink('halo');
      shape(1.5);
    }
    ctx.fillStyle = ink(color);
    shape(0);
    if (status === 'unassigned') {
      ctx.fillStyle = ink('halo');
      ctx.beginPath();
      ctx.arc(0, 0, r * 0.45, 0, 7);
      ctx.fill();
    }
  }
}

const portion = 50; // stops between two chances to pause

// drawStops draws stops, and returns the number of visible ones. It yields now and then,
// because thousands of stops take longer than a frame.
export function* drawStops(
  ctx: OffscreenCanvasRenderingContext2D,
  camera: Camera,
  stops: Iterable<Stop>,
  sprites: Sprites,
  chosen: ReadonlySet<string>,
  numbers: ReadonlyMap<string, number>, // positions in the route that is shown, by task
  ink: Ink,
): Generator<undefined, number> {
  const layers: Stop[][] = Array.from({ length: 11 }, () => []);
  // Of several stops of one kind within a few pixels, only one is drawn: thousands in a city
  // would only cover one another.
  const cell = Math.max(2, radius(camera.zoom, 'assigned') * 0.75);
  const columns = Math.ceil((camera.width + 400) / cell);
  const taken = new Map<number, number>(); // kinds in each cell, as bits
  let [seen, looked, drawn] = [0, 0, 0];
  for (const stop of [...stops]) {
    if (++looked % (10 * portion) === 0) yield;
    const [x, y] = [camera.x(stop.x), camera.y(stop.y)];
    if (!camera.sees(x, y, 140)) continue;
    seen++;
    if (chosen.has(stop.id) || numbers.has(stop.id)) {
      layers[10]!.push(stop);
      continue;
    }
    const kind = order(stop);
    const at = Math.floor((y + 200) / cell) * columns + Math.floor((x + 200) / cell);
    const kinds = taken.get(at) ?? 0;
    if (kinds & (1 << kind)) continue;
    taken.set(at, kinds | (1 << kind));
    layers[kind]!.push(stop);
  }
  ctx.font = '700 11px system-ui, sans-serif';
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  ctx.imageSmoothingEnabled = false;
  for (const layer of layers) {
    for (const stop of layer) {
      if (++drawn % portion === 0) yield;
      const number = numbers.get(stop.id);
      const r = number ? 10 : radius(camera.zoom, stop.status);
      const sprite = sprites.get(stop, r, chosen.has(stop.id));
      const size = 2 * Math.ceil(r + 5);
      // At whole pixels, a picture is copied; elsewhere, each of its pixels would be computed.
      const [x, y] = [Math.round(camera.x(stop.x)), Math.round(camera.y(stop.y))];
      ctx.drawImage(sprite, x - size / 2, y - size / 2, size, size);
      if (!number) continue;
      ctx.fillStyle = ink('mark');
      ctx.fillText(String(number), x, y + 0.5);
    }
  }
  return seen;
}

// nearest returns the stop at a point of the screen, if there is one within reach.
export function nearest(stops: Iterable<Stop>, camera: Camera, x: number, y: number, reach: number): Stop | undefined {
  let best: Stop | undefined;
  let least = reach;
  for (const stop of stops) {
    const away = Math.hypot(camera.x(stop.x) - x, camera.y(stop.y) - y);
    if (away < least) [best, least] = [stop, away];
  }
  return best;
}
