// Web Mercator: the world as a square of one unit, north up.

export type Point = readonly [lon: number, lat: number];
export type Place = readonly [x: number, y: number];

const maxLatitude = 85.0511;
const earth = 40_075_016.686; // metres round the equator

export function project([lon, lat]: Point): Place {
  const bounded = Math.max(-maxLatitude, Math.min(maxLatitude, lat));
  const sin = Math.sin((bounded * Math.PI) / 180);
  return [lon / 360 + 0.5, 0.5 - Math.log((1 + sin) / (1 - sin)) / (4 * Math.PI)];
}

export function unproject([x, y]: Place): Point {
  return [(x - 0.5) * 360, (Math.atan(Math.sinh(Math.PI * (1 - 2 * y))) * 180) / Math.PI];
}

// metresPerUnit returns the length of one unit in metres at the latitude of a place.
export function metresPerUnit([, y]: Place): number {
  const [, lat] = unproject([0, y]);
  return earth * Math.cos((lat * Math.PI) / 180);
}

// near returns a longitude or x less than half a turn from another, so that lines and
// shapes cross the antimeridian instead of going around the world.
export const near = (x: number, other: number, turn: number): number => x - Math.round((x - other) / turn) * turn;

// unwrapped returns points of a line whose longitudes continue past 180 degrees.
export function unwrapped(points: readonly Point[]): Point[] {
  let last = points[0]?.[0] ?? 0;
  return points.map(([lon, lat]) => [(last = near(lon, last, 360)), lat]);
}

// size returns the width of the world in pixels at a zoom level.
export const size = (zoom: number): number => 256 * 2 ** zoom;

// Inset is the covered part of the viewport, in pixels.
export interface Inset {
  top: number;
  right: number;
  bottom: number;
  left: number;
}

// together moves points around the world so that they are as close to each other as
// possible: the widest gap between them is left out.
function together(xs: number[]): number[] {
  const sorted = xs.map((x) => x - Math.floor(x)).sort((a, b) => a - b);
  let [start, widest] = [sorted[0]!, sorted[0]! + 1 - sorted.at(-1)!];
  for (let i = 1; i < sorted.length; i++) {
    const gap = sorted[i]! - sorted[i - 1]!;
    if (gap > widest) [start, widest] = [sorted[i]!, gap];
  }
  return sorted.map((x) => (x < start ? x + 1 : x)).sort((a, b) => a - b);
}

// fit returns the centre and zoom that show all points in the uncovered part.
export function fit(
  places: Place[],
  width: number,
  height: number,
  inset: Inset,
  closest: number,
): { centre: Place; zoom: number } {
  const xs = together(places.map((p) => p[0]));
  const ys = places.map((p) => p[1]).sort((a, b) => a - b);
  const [west, east, north, south] = [xs[0]!, xs.at(-1)!, ys[0]!, ys.at(-1)!];
  const across = Math.max(
    (east - west) / Math.max(40, width - inset.left - inset.right),
    (south - north) / Math.max(40, height - inset.top - inset.bottom),
  );
  const zoom = Math.max(1, Math.min(closest, across > 0 ? Math.log2(1 / (256 * across)) : closest));
  const scale = size(zoom);
  const x = (west + east) / 2 + (inset.right - inset.left) / 2 / scale;
  const y = (north + south) / 2 + (inset.bottom - inset.top) / 2 / scale;
  return { centre: [x, y], zoom };
}

// round returns the largest of 1, 2, 5, 10, … that is at most a length, for the
// scale.
export function round(length: number): number {
  const power = 10 ** Math.floor(Math.log10(length));
  const lead = length / power;
  return (lead >= 5 ? 5 : lead >= 2 ? 2 : 1) * power;
}

// marked returns the length in metres of a scale of at most `most` metres, and its label.
export function marked(most: number, miles: boolean): [number, string] {
  const units = miles
    ? ([
        [1609.344, 'mi'],
        [0.3048, 'ft'],
      ] as const)
    : ([
        [1000, 'km'],
        [1, 'm'],
      ] as const);
  const [metres, name] = units.find(([metres]) => metres <= most) ?? units[1];
  const n = round(most / metres);
  return [n * metres, `${n} ${name}`];
}

// distance returns the metres between two points, along a great circle.
export function distance(a: Point, b: Point): number {
  const rad = Math.PI / 180;
  const [dLat, dLon] = [(b[1] - a[1]) * rad, (b[0] - a[0]) * rad];
  const h = Math.sin(dLat / 2) ** 2 + Math.cos(a[1] * rad) * Math.cos(b[1] * rad) * Math.sin(dLon / 2) ** 2;
  return (earth / Math.PI) * Math.asin(Math.min(1, Math.sqrt(h)));
}
