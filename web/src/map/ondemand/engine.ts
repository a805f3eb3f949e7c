// MapLibre with the server's tiles.

import {
  addProtocol,
  setWorkerUrl,
  type Map as Engine,
  type StyleSpecification,
  type StyleSwapOptions,
} from 'maplibre-gl';
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url';
import type { Ink } from '../marks.ts';
import type { TileSource } from '../tiles.ts';
import './street.css';
import { style } from './style.ts';

export { World } from './world.ts';

setWorkerUrl(workerUrl);

// The page fetches the tiles, not MapLibre's worker: only then do its service worker
// and its content policy apply. Where there is no tile, the map is empty.
const scheme = 'tiles://';
addProtocol('tiles', async ({ url }, { signal }) => {
  const response = await fetch(url.slice(scheme.length), { signal });
  if (!response.ok && response.status !== 404) throw new Error(`tile: ${response.status}`);
  return { data: response.ok ? await response.arrayBuffer() : new ArrayBuffer(0) };
});

// styled returns the style of a map with a server's tiles.
export function styled(ink: Ink, source: TileSource, withCoasts: boolean): StyleSpecification {
  const { bounds, minzoom, maxzoom } = source;
  const tiles = source.tiles.map((url) => scheme + url);
  const [west, , east] = bounds;
  const limits = west < east ? { bounds } : {}; // bounds across the antimeridian cannot be expressed
  return style(ink, { type: 'vector', tiles, minzoom, maxzoom, ...limits }, withCoasts);
}

// keeping makes a new style keep the data of the named sources of the last one.
export const keeping = (...names: string[]): StyleSwapOptions => ({
  transformStyle: (before, next) => ({
    ...next,
    sources: {
      ...next.sources,
      ...Object.fromEntries(Object.entries(before?.sources ?? {}).filter(([name]) => names.includes(name))),
    },
  }),
});

// options apply to every map.
export const options = {
  attributionControl: false as const,
  dragRotate: false,
  pitchWithRotate: false,
  touchPitch: false,
  minZoom: 1,
  maxZoom: 19,
};

const retry = 5000; // ms

interface TileError {
  sourceId?: string;
  tile?: { tileID: { canonical: { x: number; y: number; z: number } } };
}

// keepTrying loads again tiles that could not be loaded: the connection may be back. Handling
// their errors also keeps MapLibre from logging them.
export function keepTrying(map: Engine) {
  const failed = new Map<string, { x: number; y: number; z: number }[]>(); // by source
  let due: ReturnType<typeof setTimeout> | undefined;
  const again = () => {
    due = undefined;
    const tiles = [...failed];
    failed.clear();
    for (const [source, ids] of tiles) if (map.getSource(source)) map.refreshTiles(source, ids);
  };
  map.on('error', (event) => {
    const { sourceId, tile } = event as TileError;
    if (!sourceId || !tile) return;
    failed.set(sourceId, [...(failed.get(sourceId) ?? []), tile.tileID.canonical]);
    due ??= setTimeout(again, retry);
  });
  map.on('remove', () => clearTimeout(due));
}
