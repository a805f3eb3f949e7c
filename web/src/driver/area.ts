// The tiles that the phone keeps, so that the map of the day works without signal:
// around the stops, and along the way between them.

import { project, type Point } from '../map/project.ts';
import { tileSource, type TileSource } from '../map/tiles.ts';

export const mostTiles = 400;
const widest = 6; // zoom level of the first tile
const around = 1; // tiles on each side of a stop, at the levels of streets
const streets = 13; // first level at which the tiles around a stop are kept, too

// area returns the tiles to keep, the most useful first: the overview, the stops, their
// surroundings, the way.
export function area(stops: readonly Point[], way: readonly Point[], { minzoom, maxzoom }: TileSource): string[] {
  const found = new Set<string>();
  const add = (point: Point, zoom: number, margin: number) => {
    const count = 2 ** zoom;
    const [x, y] = project(point).map((v) => Math.floor(v * count)) as [number, number];
    for (let dx = -margin; dx <= margin; dx++) {
      for (let dy = -margin; dy <= margin; dy++) {
        const [column, row] = [(((x + dx) % count) + count) % count, y + dy];
        if (row >= 0 && row < count) found.add(`${zoom}/${column}/${row}`);
      }
    }
  };
  for (let zoom = Math.max(minzoom, widest); zoom < streets; zoom++) for (const stop of stops) add(stop, zoom, 0);
  for (const margin of [0, around]) {
    for (const stop of stops) for (let zoom = streets; zoom <= maxzoom; zoom++) add(stop, zoom, margin);
  }
  for (let zoom = streets - 3; zoom <= maxzoom; zoom++) for (const point of along(way)) add(point, zoom, 0);
  return [...found].slice(0, mostTiles);
}

// along returns points on a way that are close enough to each other to miss no tile.
function along(way: readonly Point[]): Point[] {
  const step = 0.004; // degrees, a fifth of a tile at level 14
  return way.flatMap((to, i) => {
    const from = way[i - 1] ?? to;
    const parts = Math.min(1000, Math.ceil(Math.max(Math.abs(to[0] - from[0]), Math.abs(to[1] - from[1])) / step)) || 1;
    return Array.from({ length: parts }, (_, part): Point => [
      from[0] + ((to[0] - from[0]) * (part + 1)) / parts,
      from[1] + ((to[1] - from[1]) * (part + 1)) / parts,
    ]);
  });
}

// addresses returns the URLs of the tiles of an area, on this server or on another, in the
// form in which the cache of the phone lists them.
export function addresses(stops: readonly Point[], way: readonly Point[], source: TileSource): string[] {
  const template = source.tiles[0] ?? '';
  return area(stops, way, source).map((tile) => {
    const [z = '', x = '', y = ''] = tile.split('/');
    return new URL(template.replaceAll('{z}', z).replaceAll('{x}', x).replaceAll('{y}', y)).href;
  });
}

let asked = '';

// keepArea makes the service worker keep the tiles of an area, and no others.
export async function keepArea(stops: readonly Point[], way: readonly Point[]) {
  const worker = navigator.serviceWorker?.controller;
  if (!worker) return;
  const source = stops.length > 0 ? await tileSource() : null;
  if (source === undefined) return; // the kept tiles may still be needed
  const tiles = source ? addresses(stops, way, source) : [];
  const wanted = tiles.join();
  if (wanted === asked) return;
  const reply = new MessageChannel();
  const complete = new Promise<boolean>((done) => (reply.port1.onmessage = (e) => done(e.data === true)));
  asked = wanted;
  worker.postMessage({ kind: 'area', tiles }, [reply.port2]);
  if (!(await complete) && asked === wanted) asked = ''; // the rest is requested with the next list
}
