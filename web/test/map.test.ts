import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { between, poses, span } from '../src/map/glide.ts';
import { gridLines } from '../src/map/grid.ts';
import { distance, fit, project, unproject, unwrapped, type Point } from '../src/map/project.ts';
import { line, points, type Scene } from '../src/map/scene.ts';
import { covers, tileSource, type TileSource } from '../src/map/tiles.ts';
import { outline, type Topology } from '../src/map/topology.ts';
import { bearing, decode, onRoads, Way } from '../src/map/way.ts';

const home: Point = [-74, 40.7];
const inset = { top: 0, right: 0, bottom: 0, left: 0 };
const close = (a: Point, b: Point, metres = 2) => assert.ok(distance(a, b) < metres, `${a} is not ${b}`);

test('a vehicle moves for about the time between two reports, and jumps over long distances', () => {
  const near: Point = [-74, 40.701]; // about 110 m
  assert.equal(span(home, near, 4000), 3600);
  assert.equal(span(home, near, 60_000), 5000);
  assert.equal(span(home, near, 10), 400);
  assert.equal(span(home, home, 4000), 0);
  assert.equal(span(home, [-74, 40.8], 4000), 0); // 11 km
  assert.deepEqual(between([0, 0], [2, 4], 0.5), [1, 2]);
  assert.deepEqual(between([0, 0], [2, 4], 1), [2, 4]);
  assert.deepEqual(between([179.5, 0], [-179.5, 0], 0.5), [180, 0]);
});

test('points on both sides of the antimeridian are close to each other', () => {
  const fiji = [[179.5, -17], [-179.5, -17.5]].map((p) => project(p as [number, number])); // prettier-ignore
  const { centre, zoom } = fit(fiji, 400, 400, inset, 16);
  close(unproject(centre), [180, -17.25], 100);
  assert.ok(zoom > 7, `zoom ${zoom} shows the world`);
  const here = [[-74, 40.7], [-73.9, 40.8]].map((p) => project(p as [number, number])); // prettier-ignore
  close(unproject(fit(here, 400, 400, inset, 16).centre), [-73.95, 40.75], 100);
  assert.equal(fit([project(home)], 400, 400, inset, 16).zoom, 16);
  assert.deepEqual(
    unwrapped([
      [179, 1],
      [-179, 2],
      [-178, 3],
    ]),
    [
      [179, 1],
      [181, 2],
      [182, 3],
    ],
  );
});

test('no shape of the world jumps at the antimeridian', () => {
  const file = 'node_modules/world-atlas/countries-50m.json';
  const { land, borders } = outline(JSON.parse(readFileSync(file, 'utf8')) as Topology);
  const rings = [...land.flat(), ...borders];
  assert.ok(land.length > 1000 && borders.length > 300);
  const crossing = rings.filter((ring) => ring.some(([lon]) => Math.abs(lon) > 180.001));
  assert.ok(crossing.length > 0, 'nothing crosses it: the test tests nothing');
  for (const ring of rings) {
    for (let i = 1; i < ring.length; i++) {
      const [a, b] = [ring[i - 1]!, ring[i]!];
      const edge = Math.abs(a[1]) === 90 || Math.abs(b[1]) === 90; // around a pole
      assert.ok(edge || Math.abs(a[0] - b[0]) < 180, `${a} to ${b}`);
    }
  }
});

test('a polyline is decoded', () => {
  assert.deepEqual(decode('_p~iF~ps|U_ulLnnqC_mqNvxq`@'), [
    [-120.2, 38.5],
    [-120.95, 40.7],
    [-126.453, 43.252],
  ]);
  assert.deepEqual(decode(''), []);
  assert.equal(onRoads({ source: 'roads', geometry: '_p~iF~ps|U_ulLnnqC' }, 2).length, 2);
  assert.equal(onRoads({ source: 'formula', geometry: '_p~iF~ps|U_ulLnnqC' }, 2).length, 0);
  assert.equal(onRoads({ source: 'formula', geometry: '_p~iF~ps|U_ulLnnqC_mqNvxq`@' }, 2).length, 3); // a part of it
  assert.equal(onRoads(null, 2).length, 0);
});

// An L: 1 km to the east, then 1 km to the north.
const [east, north] = [0.00898315, 0.00904367];
const way = new Way([
  [0, 0],
  [east, 0],
  [east, north],
]);

test('a way finds locations on it, and returns its rest', () => {
  const corner = way.find([east / 2, 0.0001]);
  assert.ok(Math.abs(corner.along - 500) < 2 && Math.abs(corner.off - 11) < 1, JSON.stringify(corner));
  close(way.at(1500).point, [east, north / 2], 5);
  assert.equal(Math.round(way.at(500).heading), 90);
  assert.equal(Math.round(way.at(9999).heading), 0);
  // A few metres from a door to the street are not the direction of the drive.
  const door = new Way([[0, 0.00005], [0, 0], [east, 0]]); // prettier-ignore
  assert.ok(Math.abs(door.at(0).heading - 90) < 30, `heading ${door.at(0).heading}`);
  assert.equal(Math.round(way.at(1500).heading), 0);
  assert.equal(way.rest(500).length, 3);
  assert.equal(way.rest(1500).length, 2);
  assert.equal(way.first(1500).length, 3);
  close(way.first(1500).at(-1)!, [east, north / 2], 5);
  close(way.at(9999).point, [east, north]);
  assert.equal(Math.round(bearing([179.9, 0], [-179.9, 0])), 90);
  // Back on the same street, a vehicle that has turned is on the second pass.
  const back = new Way([[0, 0], [east, 0], [0, 0]]); // prettier-ignore
  assert.ok(Math.abs(back.find([east / 4, 0]).along - 250) < 2);
  assert.ok(Math.abs(back.find([east / 4, 0], 1200).along - 1750) < 5);
});

test('a vehicle follows its way around the corner, and leaves it when it is elsewhere', () => {
  const start = poses(undefined, [east * 0.9, 0.0001], null, way)(1);
  close(start.point, [east * 0.9, 0]);
  assert.equal(Math.round(start.heading!), 90);
  const move = poses(start, [east, north * 0.1], null, way);
  close(move(0.5).point, [east, 0], 10); // not across the block
  assert.equal(Math.round(move(1).heading!), 0);
  const astray = poses(start, [east * 0.9, north], null, way);
  close(astray(0.5).point, [east * 0.9, north / 2], 10);
  assert.equal(astray(1).along, undefined);
  assert.equal(Math.round(astray(1).heading!), 0);
  assert.equal(poses(start, [east * 0.9, north], 45, way)(1).heading, 45);
});

test('a vehicle keeps its way if a new one is only the rest of it', () => {
  const rest = new Way(way.rest(800));
  assert.ok(!rest.replaces(way, [east * 0.8, 0.0001]));
  assert.ok(rest.replaces(way, [east * 0.8, 0.001]), 'the vehicle has left it');
  assert.ok(new Way([[0, 0], [0.1, 0.1]]).replaces(way, [0, 0]), 'it leads elsewhere'); // prettier-ignore
  assert.ok(rest.replaces(undefined, [0, 0]));
});

const scene: Scene = { stops: [], self: null, route: true };

test('a map opens at the stops, the worker or the hub', () => {
  const stop = { id: 'a', point: home, mark: '1', label: '', tone: 'open' as const };
  const self = { point: [-73, 40] as Point, accuracy: null, heading: null };
  assert.deepEqual(points({ ...scene, stops: [stop], self, home: [1, 1] }), [home, [-73, 40]]);
  assert.deepEqual(points({ ...scene, self, home: [1, 1] }), [[-73, 40]]);
  assert.deepEqual(points({ ...scene, home: [1, 1] }), [[1, 1]]);
  assert.deepEqual(points(scene), []);
  assert.deepEqual(line({ ...scene, stops: [stop, { ...stop, tone: 'done' }], self }), [[-73, 40], home]);
  assert.deepEqual(line({ ...scene, stops: [stop], way: [home, [1, 2]] }), [home, [1, 2]]);
  assert.deepEqual(line({ ...scene, stops: [stop], route: false }), []);
});

test('tiles cover their area, even across the antimeridian', () => {
  const source = (bounds: TileSource['bounds']) => ({ bounds }) as TileSource;
  assert.ok(covers(source([-75, 40, -73, 41]), home));
  assert.ok(!covers(source([-75, 40, -74.5, 41]), home));
  assert.ok(!covers(source([-75, 41, -73, 42]), home));
  assert.ok(covers(source([-180, -85, 180, 85]), home));
  assert.ok(covers(source([177, -20, -178, -15]), [179.9, -17]));
  assert.ok(covers(source([177, -20, -178, -15]), [-179.9, -17]));
  assert.ok(!covers(source([177, -20, -178, -15]), [0, -17]));
});

test('a server is assumed to have no tiles only after it has responded', async (t) => {
  t.mock.timers.enable({ apis: ['Date'] });
  const respond = (response: () => Promise<Response>) => t.mock.method(globalThis, 'fetch', response).mock;
  respond(() => Promise.reject(new TypeError('no connection')));
  assert.equal(await tileSource(), undefined);
  respond(() => Promise.resolve(new Response('', { status: 503 })));
  assert.equal(await tileSource(), undefined);
  const none = respond(() => Promise.resolve(Response.json({ tiles: [] })));
  assert.equal(await tileSource(), null);
  assert.equal(await tileSource(), null);
  assert.equal(none.callCount(), 1, 'asked again, although it is known');
  t.mock.timers.tick(3_600_001);
  respond(() => Promise.resolve(Response.json({ tiles: ['https://tiles.example.com/{z}/{x}/{y}'] })));
  assert.deepEqual((await tileSource())?.tiles, ['https://tiles.example.com/{z}/{x}/{y}']);
});

test('the squares of a map without tiles have a round number of metres, and stay in place', () => {
  const frame = { centre: project(home), zoom: 14, width: 400, height: 300 };
  const { across, down } = gridLines(frame);
  assert.ok(across.length > 1 && down.length > 1);
  const [a, b] = across.map((x) => unproject([frame.centre[0] + (x - 200) / (256 * 2 ** 14), frame.centre[1]]));
  const metres = distance(a!, b!);
  assert.ok(Math.abs(metres - 500) < 5, `${metres} m`);
  // With a margin, the same lines are further from the edge by the margin.
  const wider = gridLines({ ...frame, width: 600, height: 500 });
  for (const x of across) assert.ok(wider.across.includes(x + 100));
  for (const y of down) assert.ok(wider.down.includes(y + 100));
});
