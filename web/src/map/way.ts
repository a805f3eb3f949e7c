// A line along roads: decoding it, and finding locations on it.

import { distance, near, unwrapped, type Point } from './project.ts';

// decode reads a polyline with five decimals, as routers encode it.
export function decode(text: string): Point[] {
  const points: Point[] = [];
  let [lat, lon, i] = [0, 0, 0];
  const next = () => {
    let [value, shift, byte] = [0, 0, 0x20];
    while (byte >= 0x20 && i < text.length) {
      byte = text.charCodeAt(i++) - 63;
      value |= (byte & 0x1f) << shift;
      shift += 5;
    }
    return value & 1 ? ~(value >> 1) : value >> 1;
  };
  while (i < text.length) {
    lat += next();
    lon += next();
    points.push([lon / 1e5, lat / 1e5]);
  }
  return points;
}

const ahead = 25; // metres of a way that determine its direction

// beside is the maximum distance of a vehicle from the way that it follows, in metres.
export const beside = 30;

// Route is a route as the server describes it.
export interface Route {
  source: string; // "roads" if all of it is along roads
  geometry: string;
}

// onRoads returns the points of a route between a number of stops; none if it consists only
// of straight lines from stop to stop.
export function onRoads(route: Route | null | undefined, stops: number): Point[] {
  const points = decode(route?.geometry ?? '');
  return route?.source === 'roads' || points.length > stops ? points : [];
}

// bearing returns the direction from a to b, in degrees from north.
export function bearing(a: Point, b: Point): number {
  const east = near(b[0], a[0], 360) - a[0];
  const dx = east * Math.cos((((a[1] + b[1]) / 2) * Math.PI) / 180);
  return ((Math.atan2(dx, b[1] - a[1]) * 180) / Math.PI + 360) % 360;
}

// Spot describes a location next to a way: metres along the way, and metres off it.
export interface Spot {
  along: number;
  off: number;
}

export class Way {
  readonly points: readonly Point[];
  private readonly reached: number[]; // metres from the beginning to each point

  constructor(points: readonly Point[]) {
    this.points = unwrapped(points);
    let sum = 0;
    this.reached = this.points.map((p, i) => (sum += i === 0 ? 0 : distance(this.points[i - 1]!, p)));
  }

  // find returns the spot nearest to a point, after a distance that was already passed. If
  // two are equally near, it returns the first: a way may use a street twice.
  find([lon, lat]: Point, since = 0): Spot {
    const metres = 111_320;
    const shrink = Math.cos((lat * Math.PI) / 180) * metres;
    const { points, reached } = this;
    let best: Spot = { along: 0, off: Infinity };
    for (let i = 1; i < points.length; i++) {
      const [a, b] = [points[i - 1]!, points[i]!];
      const [ax, ay] = [(a[0] - near(lon, a[0], 360)) * shrink, (a[1] - lat) * metres];
      const [dx, dy] = [(b[0] - a[0]) * shrink, (b[1] - a[1]) * metres];
      const part = Math.max(0, Math.min(1, -(ax * dx + ay * dy) / (dx * dx + dy * dy || 1)));
      const off = Math.hypot(ax + dx * part, ay + dy * part);
      const along = reached[i - 1]! + (reached[i]! - reached[i - 1]!) * part;
      if (along < since - 20) continue;
      if (off < best.off - 5 || (off < best.off && along - best.along < 50)) best = { along, off };
    }
    return best;
  }

  // at returns the point at a distance from the beginning, and the direction from there on.
  // Short pieces, such as the one from a door to its street, do not count.
  at(along: number): { point: Point; heading: number } {
    const length = this.reached.at(-1)!;
    const from = this.point(Math.min(along, length - ahead));
    return { point: this.point(along), heading: bearing(from, this.point(Math.min(along + ahead, length))) };
  }

  private point(along: number): Point {
    const { points, reached } = this;
    const i = Math.min(this.after(along), points.length - 1);
    const [a, b] = [points[i - 1]!, points[i]!];
    const length = reached[i]! - reached[i - 1]!;
    const part = length > 0 ? Math.max(0, Math.min(1, (along - reached[i - 1]!) / length)) : 0;
    return [a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part];
  }

  // replaces reports whether this way must replace another for a vehicle at a point. A
  // vehicle that still follows the other way to the same end keeps it.
  replaces(other: Way | undefined, at: Point | undefined): boolean {
    if (!other || !at) return true;
    const [end, before] = [this.points.at(-1)!, other.points.at(-1)!];
    return distance(end, before) > beside || other.find(at).off > beside;
  }

  // rest returns the rest of the way from a distance on.
  rest(along: number): Point[] {
    if (this.points.length < 2) return [...this.points];
    return [this.point(along), ...this.points.slice(this.after(along))];
  }

  // first returns the beginning of the way up to a distance.
  first(along: number): Point[] {
    return [...this.points.slice(0, this.after(along)), this.point(along)];
  }

  // after returns the index of the first point beyond a distance, at least 1.
  private after(along: number): number {
    let [low, high] = [1, this.reached.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.reached[middle]! <= along) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
