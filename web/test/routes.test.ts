import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

import { Routes } from '../src/dashboard/board/mapview/routes.ts';
import type { Point } from '../src/map/project.ts';

const usual = globalThis.fetch;
afterEach(() => (globalThis.fetch = usual));

test('a route that could not be loaded is requested again', async () => {
  let asked = 0;
  globalThis.fetch = () => {
    asked++;
    return Promise.reject(new TypeError('offline'));
  };
  let drawn: () => void;
  const routes = new Routes(
    { workers: () => ['w'], few: () => true, start: () => undefined, stops: () => [[-74, 40.7], [-74, 40.8]], vehicle: () => 'CAR' }, // prettier-ignore
    () => drawn(),
  );
  await new Promise<void>((resolve) => {
    drawn = resolve;
    routes.want(undefined, '');
  });
  assert.equal(asked, 1);
  const line = routes.lines.get('w')!;
  assert.equal(line.places.length, 2); // straight, until it is known
  line.asked = 0; // a while ago
  await new Promise<void>((resolve) => {
    drawn = resolve;
    setTimeout(() => routes.want(undefined, ''), 200);
  });
  assert.equal(asked, 2);
  routes.destroy();
});

test('a route is requested again if a stop changes, but not if the vehicle moves', async () => {
  const asked: string[] = [];
  globalThis.fetch = (url) => {
    asked.push(new URL(String(url), 'http://x').searchParams.get('stops')!);
    return Promise.resolve(new Response(JSON.stringify({ geometry: '' }), { status: 200 }));
  };
  let start: Point | undefined;
  let first: Point = [-74, 40.7];
  const last: Point = [-74, 40.8];
  const routes = new Routes(
    { workers: () => ['w'], few: () => true, start: () => start, stops: () => [first, last], vehicle: () => 'CAR' },
    () => {},
  );
  const want = async () => {
    const known = routes.lines.get('w');
    if (known) known.asked = 0; // a while ago
    routes.want(undefined, '');
    while ((routes as unknown as { busy: boolean }).busy) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  await want();
  await want();
  first = [-74, 40.6];
  await want();
  start = [-74, 40.5];
  await want();
  start = [-74, 40.55];
  await want();
  routes.destroy();
  assert.deepEqual(asked, [
    '-74.00000,40.70000;-74.00000,40.80000',
    '-74.00000,40.60000;-74.00000,40.80000',
    '-74.00000,40.50000;-74.00000,40.60000;-74.00000,40.80000',
  ]);
});

test('in a large fleet, a route that changed while another was shown is requested when it is shown again', async () => {
  const asked: string[] = [];
  globalThis.fetch = (url) => {
    asked.push(new URL(String(url), 'http://x').searchParams.get('stops')!);
    return Promise.resolve(new Response(JSON.stringify({ geometry: '' }), { status: 200 }));
  };
  const stops: Record<string, Point[]> = { a: [[1, 1], [1, 2]], b: [[2, 1], [2, 2]] }; // prettier-ignore
  const routes = new Routes(
    { workers: () => ['a', 'b'], few: () => false, start: () => undefined, stops: (id) => [...stops[id]!], vehicle: () => 'CAR' }, // prettier-ignore
    () => {},
  );
  const want = async (changed: string[], shown: string) => {
    routes.want(changed, shown);
    while ((routes as unknown as { busy: boolean }).busy) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  await want([], 'a');
  await want([], 'b');
  await want([], 'a');
  assert.equal(asked.length, 2);
  await want([], 'b');
  stops['a'] = [[1, 1], [1, 3]]; // prettier-ignore
  await want(['a'], 'b');
  assert.equal(asked.length, 2);
  await want([], 'a');
  assert.match(asked[2] ?? '', /3\.00000$/);
  routes.destroy();
});
