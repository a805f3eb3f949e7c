// Reads shapes from TopoJSON, in which neighbors share the lines between them.

import { unwrapped, type Point } from './project.ts';

export interface Outline {
  land: Point[][][]; // polygons: the outer ring, then holes
  borders: Point[][];
}

export interface Topology {
  transform: { scale: [number, number]; translate: [number, number] };
  arcs: [number, number][][];
  objects: { land: Geometry; countries: { geometries: Geometry[] } };
}

interface Geometry {
  type: string;
  arcs?: unknown;
  geometries?: Geometry[];
}

export function outline(topology: Topology): Outline {
  const arcs = topology.arcs.map((arc) => decode(arc, topology.transform));
  const land = polygons(topology.objects.land).map((rings) => rings.map((ring) => closed(joined(ring, arcs))));
  return { land, borders: borders(topology, arcs) };
}

// decode turns the deltas of an arc into points.
function decode(arc: [number, number][], { scale, translate }: Topology['transform']): Point[] {
  let [x, y] = [0, 0];
  return arc.map(([dx, dy]) => {
    x += dx;
    y += dy;
    return [x * scale[0] + translate[0], y * scale[1] + translate[1]];
  });
}

// polygons returns the lists of arcs that bound a shape.
function polygons(geometry: Geometry): number[][][] {
  switch (geometry.type) {
    case 'GeometryCollection':
      return (geometry.geometries ?? []).flatMap(polygons);
    case 'MultiPolygon':
      return geometry.arcs as number[][][];
    case 'Polygon':
      return [geometry.arcs as number[][]];
    default:
      return [];
  }
}

const joined = (ring: number[], arcs: Point[][]): Point[] =>
  ring.flatMap((index) => (index < 0 ? [...(arcs[~index] ?? [])].reverse() : (arcs[index] ?? [])));

// closed returns a ring that does not jump at the antimeridian. A ring around a pole
// ends 360° from where it began; it is closed along the edge of the map.
function closed(ring: Point[]): Point[] {
  const line = unwrapped(ring);
  const [first, last] = [line[0], line.at(-1)];
  if (!first || !last || Math.abs(last[0] - first[0]) < 180) return line;
  const edge = first[1] < 0 ? -90 : 90;
  return [...line, [last[0], edge], [first[0], edge], first];
}

// borders returns the arcs that two countries share.
function borders(topology: Topology, arcs: Point[][]): Point[][] {
  const used = new Map<number, number>();
  for (const country of topology.objects.countries.geometries) {
    for (const index of polygons(country).flat(2)) {
      const arc = index < 0 ? ~index : index;
      used.set(arc, (used.get(arc) ?? 0) + 1);
    }
  }
  return [...used].filter(([, count]) => count > 1).map(([arc]) => unwrapped(arcs[arc] ?? []));
}
