// MapLibre with the server's tiles.

import { addProtocol, setWorkerUrl, type StyleSpecification } from 'maplibre-gl';
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url';
import type { Ink } from '../marks.ts';
import type { TileSource } from '../tiles.ts';
import './street.css';
import { style } from './style.ts';

setWorkerUrl(workerUrl);

// The page fetches the tiles, not MapLibre's worker: only then do its service worker
// and its content policy apply. Where there is no tile, the map is empty.
const scheme = 'tiles://';
addProtocol('tiles', async ({ url }, { signal }) => {
  const response = await fetch(url.slice(scheme.length), { signal });
  if (!response.ok && response.status !== 404) throw new Error(`tile: ${response.status}`);
  return { data: response.ok ? await response.arrayBuffer() : new ArrayBuffer(0) };
});

// styled returns the style of the map of a server's tiles.
export function styled(ink: Ink, source: TileSource, withCoasts: boolean): StyleSpecification {
  const { bounds, minzoom, maxzoom } = source;
  const tiles = source.tiles.map((url) => scheme + url);
  const [west, , east] = bounds;
  const limits = west < east ? { bounds } : {}; // across the antimeridian there is no way to state them
  return style(ink, { type: 'vector', tiles, minzoom, maxzoom, ...limits }, withCoasts);
}

// options are those of every map.
export const options = {
  attributionControl: false as const,
  dragRotate: false,
  pitchWithRotate: false,
  touchPitch: false,
  minZoom: 1,
  maxZoom: 19,
};
