// Coasts and borders of the world, from Natural Earth. They are too coarse for
// streets: the map shows, and loads, them only at low zoom.

import source from 'world-atlas/countries-50m.json?url';
import { outline, type Outline, type Topology } from './topology.ts';

export const coastUntil = 8; // zoom at which the coasts have faded out

let loading: Promise<Outline> | undefined;

export function coasts(): Promise<Outline> {
  loading ??= load().catch((fault: unknown) => {
    loading = undefined;
    throw fault;
  });
  return loading;
}

async function load(): Promise<Outline> {
  const response = await fetch(source);
  if (!response.ok) throw new Error(`coasts: ${response.status}`);
  return outline((await response.json()) as Topology);
}
