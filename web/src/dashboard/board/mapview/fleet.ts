// Vehicles that move smoothly from one reported location to the next.

import type { Ink } from '../../../map/marks.ts';
import { distance, project, type Point } from '../../../map/project.ts';
import { span } from '../../../map/glide.ts';
import { bearing } from '../../../map/way.ts';
import type { BoardWorker } from '../wire.ts';
import type { Camera } from './camera.ts';

const silent = 10 * 60_000; // ms without contact on duty
const lowBattery = 0.15;
const turned = 5; // metres above which a move shows the direction
const half = 16; // half the side of a picture, in pixels
const step = 7.5; // degrees between two pictures
const gap = 16; // pixels between the location of a vehicle and its name

interface Vehicle {
  worker: BoardWorker;
  from: readonly [number, number]; // in units of project.ts
  to: readonly [number, number];
  since: number; // performance.now() when the move began
  takes: number; // duration of the move in ms; 0 if it has ended
  reported: number;
  point: Point;
  heading: number | null;
}

export class Fleet {
  private readonly vehicles = new Map<string, Vehicle>();
  private readonly widths = new Map<string, number>(); // widths of names in pixels
  private readonly pictures = new Map<string, ImageBitmap>(); // in the colors of ink
  private ink: Ink | undefined;

  constructor(
    private readonly still: () => boolean,
    private readonly clock: () => number = Date.now, // returns the time that is shown
    private readonly pace: () => number = () => 1, // returns how fast that time passes; 1 is real time
  ) {}

  get size(): number {
    return this.vehicles.size;
  }

  // set updates a worker, and reports whether the vehicles must be drawn again.
  set(worker: BoardWorker, now: number): boolean {
    const { location } = worker;
    if (!location || (!worker.onDuty && !worker.activeTask)) return this.vehicles.delete(worker.id);
    const time = worker.timeLocated ?? worker.timeLastSeen ?? 0;
    const known = this.vehicles.get(worker.id);
    const place = project(location);
    if (!known) {
      this.vehicles.set(worker.id, {
        worker,
        from: place,
        to: place,
        since: 0,
        takes: 0,
        reported: time,
        point: location,
        heading: worker.heading ?? null,
      });
      return true;
    }
    known.worker = worker;
    if (known.point[0] === location[0] && known.point[1] === location[1]) return true;
    known.takes = this.still() ? 0 : span(known.point, location, Math.min(5000, (time - known.reported) / this.pace()));
    known.from = this.at(known, now);
    known.to = place;
    known.since = now;
    known.reported = time;
    if (distance(known.point, location) > turned) known.heading = worker.heading ?? bearing(known.point, location);
    known.point = location;
    return true;
  }

  keep(ids: ReadonlyMap<string, unknown>) {
    for (const id of this.vehicles.keys()) if (!ids.has(id)) this.vehicles.delete(id);
  }

  // moving reports whether a vehicle is between two locations.
  moving(now: number): boolean {
    for (const v of this.vehicles.values()) if (v.takes > 0 && now < v.since + v.takes) return true;
    return false;
  }

  // fastest returns the greatest speed of a vehicle, in units of project.ts per ms.
  fastest(now: number): number {
    let most = 0;
    for (const { from, to, since, takes } of this.vehicles.values()) {
      if (takes > 0 && now < since + takes) most = Math.max(most, Math.hypot(to[0] - from[0], to[1] - from[1]) / takes);
    }
    return most;
  }

  place(id: string, now: number): readonly [number, number] | undefined {
    const vehicle = this.vehicles.get(id);
    return vehicle && this.at(vehicle, now);
  }

  // find returns the worker nearest to a point of the screen, within reach; '' for none.
  find(camera: Camera, x: number, y: number, reach: number, now: number): string {
    let best = '';
    let least = reach;
    for (const [id, vehicle] of this.vehicles) {
      const [px, py] = this.at(vehicle, now);
      const away = Math.hypot(camera.x(px) - x, camera.y(py) - y);
      if (away < least) [best, least] = [id, away];
    }
    return best;
  }

  draw(ctx: OffscreenCanvasRenderingContext2D, camera: Camera, ink: Ink, shown: string, hovered: string, now: number) {
    const time = this.clock();
    const names = this.vehicles.size <= 30 ? camera.zoom > 11 : camera.zoom > 13;
    const seen: { id: string; vehicle: Vehicle; x: number; y: number }[] = [];
    for (const [id, vehicle] of this.vehicles) {
      const [px, py] = this.at(vehicle, now);
      const [x, y] = [camera.x(px), camera.y(py)];
      if (camera.sees(x, y, 140)) seen.push({ id, vehicle, x, y });
    }
    if (ink !== this.ink) this.pictures.clear();
    this.ink = ink;
    const ratio = ctx.getTransform().a;
    for (const { id, vehicle, x, y } of seen) {
      const { worker, heading } = vehicle;
      const warn = time - (worker.timeLastSeen ?? time) > silent || (worker.battery ?? 1) < lowBattery;
      const main = id === shown || id === hovered;
      ctx.globalAlpha = shown && !main ? 0.75 : 1;
      const picture = this.picture(heading, warn, main, ratio);
      ctx.drawImage(picture, Math.round(x) - half, Math.round(y) - half, 2 * half, 2 * half);
    }
    ctx.globalAlpha = 1;
    ctx.textAlign = 'left';
    ctx.textBaseline = 'middle';
    ctx.font = '600 12px system-ui, sans-serif';
    ctx.lineWidth = 3;
    ctx.strokeStyle = ink('halo');
    ctx.fillStyle = ink('text');
    const main = ({ id }: { id: string }) => id === shown || id === hovered;
    const taken: Box[] = seen.map(({ x, y }) => [x - 10, y - 10, x + 10, y + 10]);
    for (const one of [...seen.filter(main), ...(names ? seen.filter((v) => !main(v)) : [])]) {
      const { name } = one.vehicle.worker;
      const width = this.width(ctx, name);
      const at = room(one.x, one.y, width, taken, camera.width) ?? (main(one) ? beside(one.x, width, camera.width)[0] : undefined); // prettier-ignore
      if (at === undefined) continue; // names that cover one another cannot be read
      ctx.strokeText(name, at, one.y);
      ctx.fillText(name, at, one.y);
    }
  }

  // picture returns the picture of a vehicle, to be centered on its location. Directions are
  // rounded, so that there are few pictures.
  private picture(heading: number | null, warn: boolean, main: boolean, ratio: number): ImageBitmap {
    const turn = heading === null ? -1 : Math.round(heading / step) % (360 / step);
    const key = `${turn} ${warn} ${main}`;
    let picture = this.pictures.get(key);
    if (!picture) {
      const canvas = new OffscreenCanvas(2 * half * ratio, 2 * half * ratio);
      const ctx = canvas.getContext('2d')!;
      ctx.scale(ratio, ratio);
      ctx.translate(half, half);
      paint(ctx, this.ink!, turn < 0 ? null : turn * step, warn, main);
      this.pictures.set(key, (picture = canvas.transferToImageBitmap()));
    }
    return picture;
  }

  private width(ctx: OffscreenCanvasRenderingContext2D, name: string): number {
    let width = this.widths.get(name);
    if (width === undefined) this.widths.set(name, (width = ctx.measureText(name).width));
    return width;
  }

  private at({ from, to, since, takes }: Vehicle, now: number): readonly [number, number] {
    if (takes === 0) return to;
    const part = Math.min(1, Math.max(0, (now - since) / takes));
    return [from[0] + (to[0] - from[0]) * part, from[1] + (to[1] - from[1]) * part];
  }
}

type Box = readonly [left: number, top: number, right: number, bottom: number];

// room returns the left end of the name of a vehicle, to its right or left, where the name
// covers nothing, and adds its box to taken. It returns undefined if there is no room.
export function room(x: number, y: number, width: number, taken: Box[], edge: number): number | undefined {
  for (const at of beside(x, width, edge)) {
    const box: Box = [at, y - 8, at + width, y + 8];
    if (taken.some((b) => b[0] < box[2] && box[0] < b[2] && b[1] < box[3] && box[1] < b[3])) continue;
    taken.push(box);
    return at;
  }
  return undefined;
}

// beside returns possible left ends of the name of a vehicle: those at which the edge of the
// map does not cut the name or, if there are none, both.
function beside(x: number, width: number, edge: number): number[] {
  const [right, left] = [x + gap, x - gap - width];
  const sides = [...(right + width <= edge ? [right] : []), ...(left >= 0 ? [left] : [])];
  return sides.length > 0 && x >= 0 && x <= edge ? sides : [right, left];
}

function paint(ctx: OffscreenCanvasRenderingContext2D, ink: Ink, heading: number | null, warn: boolean, main: boolean) {
  ctx.fillStyle = ink('halo');
  circle(ctx, main ? 14 : 11);
  ctx.fillStyle = warn ? ink('goal') : ink('self');
  circle(ctx, main ? 12 : 9.5);
  ctx.fillStyle = ink('halo');
  if (heading === null) {
    circle(ctx, 3.5);
    return;
  }
  ctx.rotate((heading * Math.PI) / 180);
  ctx.scale(main ? 1.2 : 1, main ? 1.2 : 1);
  ctx.beginPath();
  for (const [dx, dy] of [[0, -6.5], [4.8, 5], [0, 2.6], [-4.8, 5]] as const) ctx.lineTo(dx, dy); // prettier-ignore
  ctx.fill();
}

function circle(ctx: OffscreenCanvasRenderingContext2D, r: number) {
  ctx.beginPath();
  ctx.arc(0, 0, r, 0, 7);
  ctx.fill();
}
