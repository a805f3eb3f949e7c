// Coasts and borders of the world, from Natural Earth. They are too coarse for
// streets: the map shows, and loads, them only at low zoom.

import source from 'world-atlas/countries-50m.json?url';
import { project, type Place } from './project.ts';

export interface Shapes {
  land: Path2D; // in units of the world
  borders: Path2D;
}

interface Topology {
  transform: { scale: [number, number]; translate: [number, number] };
  arcs: [number, number][][];
  objects: { land: Geometry; countries: { geometries: Geometry[] } };
}

interface Geometry {
  type: string;
  arcs?: unknown;
  geometries?: Geometry[];
}

let loading: Promise<Shapes> | undefined;

export function shapes(): Promise<Shapes> {
  loading ??= load().catch((fault: unknown) => {
    loading = undefined;
    throw fault;
  });
  return loading;
}

async function load(): Promise<Shapes> {
  const response = await fetch(source);
  if (!response.ok) throw new Error(`shapes: ${response.status}`);
  const topology = (await response.json()) as Topology;
  const arcs = topology.arcs.map((arc) => decode(arc, topology.transform));
  const land = new Path2D();
  for (const ring of rings(topology.objects.land)) draw(land, ring, arcs, true);
  return { land, borders: borders(topology, arcs) };
}

// decode turns the deltas of an arc into points.
function decode(arc: [number, number][], { scale, translate }: Topology['transform']): Place[] {
  let [x, y] = [0, 0];
  return arc.map(([dx, dy]) => {
    x += dx;
    y += dy;
    return project([x * scale[0] + translate[0], y * scale[1] + translate[1]]);
  });
}

// rings returns the lists of arcs that bound a shape.
function rings(geometry: Geometry): number[][] {
  switch (geometry.type) {
    case 'GeometryCollection':
      return (geometry.geometries ?? []).flatMap(rings);
    case 'MultiPolygon':
      return (geometry.arcs as number[][][]).flat();
    case 'Polygon':
      return geometry.arcs as number[][];
    default:
      return [];
  }
}

function draw(path: Path2D, ring: number[], arcs: Place[][], close: boolean) {
  let first = true;
  for (const index of ring) {
    const arc = arcs[index < 0 ? ~index : index] ?? [];
    for (const [x, y] of index < 0 ? [...arc].reverse() : arc) {
      if (first) path.moveTo(x, y);
      else path.lineTo(x, y);
      first = false;
    }
  }
  if (close) path.closePath();
}

// borders returns the arcs that two countries share.
function borders(topology: Topology, arcs: Place[][]): Path2D {
  const used = new Map<number, number>();
  for (const country of topology.objects.countries.geometries) {
    for (const index of rings(country).flat()) {
      const arc = index < 0 ? ~index : index;
      used.set(arc, (used.get(arc) ?? 0) + 1);
    }
  }
  const path = new Path2D();
  for (const [arc, count] of used) if (count > 1) draw(path, [arc], arcs, false);
  return path;
}
