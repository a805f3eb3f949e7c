import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addresses, area, mostTiles } from '../src/driver/area.ts';
import { due, query, until, usable, type Routed } from '../src/driver/ways.ts';
import type { Position } from '../src/driver/wire.ts';
import type { Point } from '../src/map/project.ts';
import type { TileSource } from '../src/map/tiles.ts';

const source = { minzoom: 0, maxzoom: 14 } as TileSource;
const [a, b, c]: [Point, Point, Point] = [
  [-73.98, 40.75],
  [-73.97, 40.75],
  [-73.9, 40.8],
];
const at = ([lon, lat]: Point, accuracy = 10) => ({ location: [lon, lat], accuracy }) as Position;

test('the tiles around the stops and along the way are kept', () => {
  const tiles = area([a], [a, c], source);
  for (const tile of ['6/18/24', '12/1206/1539', '14/4825/6157', '14/4824/6156', '14/4826/6158'])
    assert.ok(tiles.includes(tile), `no ${tile} in ${tiles.join(' ')}`);
  assert.ok(tiles.includes('14/4828/6154'), 'not along the way');
  assert.equal(new Set(tiles).size, tiles.length);
  assert.deepEqual(area([], [], source), []);
});

test('the number of tiles is limited, and those of the stops come first', () => {
  const stops = Array.from({ length: 200 }, (_, i): Point => [-74 + (i % 20) * 0.05, 40 + Math.floor(i / 20) * 0.05]);
  const tiles = area(stops, [[-74, 40], [-60, 50]], source); // prettier-ignore
  assert.equal(tiles.length, mostTiles);
  assert.ok(tiles[0]!.startsWith('6/'));
});

test('the tiles of another server are kept under its URLs', () => {
  const other = { ...source, tiles: ['https://tiles.example.com/{z}/{x}/{y}.pbf?key=k'] };
  const tiles = addresses([a], [], other);
  assert.ok(tiles.includes('https://tiles.example.com/14/4825/6157.pbf?key=k'), tiles.join(' '));
  assert.equal(tiles.length, area([a], [], other).length);
  const odd = addresses([a], [], { ...source, tiles: ['HTTPS://Tiles.example.com:443/{z}/{x}/{y}?style=dark grey'] });
  assert.ok(odd.includes('https://tiles.example.com/14/4825/6157?style=dark%20grey'), odd.join(' '));
});

test('tiles at the antimeridian are on both sides', () => {
  const tiles = area([[179.999, -17]], [], source);
  assert.ok(tiles.some((t) => t.startsWith('14/0/')) && tiles.some((t) => t.startsWith('14/16383/')), tiles.join(' '));
});

test('a way is requested when the stops change or the worker leaves it, and not all the time', () => {
  const last: Routed = { stops: [b, c], at: 0, points: [a, b, c] };
  const [soon, later] = [5_000, 60_000];
  assert.ok(due(null, [b], at(a), soon));
  assert.ok(!due(null, [], at(a), soon));
  assert.ok(!due(null, [b], null, soon), 'there is no way to a single stop from nowhere');
  assert.ok(due(last, [c], at(a), soon));
  assert.ok(!due(last, [b, c], at(a), later));
  assert.ok(due(last, [b, c], at([-73.99, 40.76]), later));
  assert.ok(!due(last, [b, c], at([-73.99, 40.76]), soon), 'asked too often');
  assert.ok(!due(last, [b, c], at([-73.99, 40.76], 5000), later), 'the location is not accurate');
  assert.ok(!due({ ...last, points: [] }, [b, c], at(c), later), 'there are no roads here');
});

test('only the rest of the way is shown', () => {
  const last: Routed = { stops: [b, c], at: 0, points: [a, b, c] };
  assert.deepEqual(usable(last, [b, c]), [a, b, c]);
  assert.deepEqual(usable(last, [c]), [a, b, c]); // the worker is at b
  assert.deepEqual(usable(last, [c, b]), []);
  assert.deepEqual(usable(null, [c]), []);
  assert.equal(until([a, b, c], b).length, 3); // a, b, and b again
  assert.deepEqual(until([a, b], c), []);
  assert.equal(query([b], at(a)), '-73.980000,40.750000;-73.970000,40.750000');
  assert.equal(
    query(
      Array.from({ length: 300 }, () => b),
      at(a),
    ).split(';').length,
    25,
  );
});
