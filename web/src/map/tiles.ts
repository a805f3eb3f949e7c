// The source of the map's tiles.

import type { Point } from './project.ts';

// TileSource is the part of TileJSON that the map uses.
export interface TileSource {
  tiles: string[];
  minzoom: number;
  maxzoom: number;
  bounds: [west: number, south: number, east: number, north: number];
  center: Point | null;
  attribution: string;
}

const freshFor = 3_600_000; // ms: another map may be imported while the page is open

let known: { at: number; source: Promise<TileSource | null | undefined> } | undefined;

// tileSource returns the tiles of this server; null if it has none, undefined if it did not
// respond.
export function tileSource(): Promise<TileSource | null | undefined> {
  if (!known || Date.now() - known.at > freshFor) {
    const source = load().catch(() => {
      known = undefined; // ask again next time
      return undefined;
    });
    known = { at: Date.now(), source };
  }
  return known.source;
}

async function load(): Promise<TileSource | null> {
  const response = await fetch('/tiles.json');
  if (!response.ok) throw new Error(`tiles: ${response.status}`);
  const { tiles, minzoom, maxzoom, bounds, center, attribution } = (await response.json()) as Partial<TileSource>;
  if (!tiles?.length) return null;
  return {
    tiles: tiles.map((url) => (url.startsWith('/') ? location.origin + url : url)),
    minzoom: minzoom ?? 0,
    maxzoom: maxzoom ?? 14,
    bounds: bounds ?? [-180, -90, 180, 90],
    center: center ? [center[0], center[1]] : null,
    attribution: attribution ?? '',
  };
}

// covers reports whether a point is in the area of the tiles.
export function covers({ bounds: [west, south, east, north] }: TileSource, [lon, lat]: Point): boolean {
  const turn = (x: number) => ((x % 360) + 360) % 360;
  const inside = east - west >= 360 || turn(lon - west) <= turn(east - west);
  return inside && lat >= south && lat <= north;
}
