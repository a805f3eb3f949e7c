import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

import { Routes } from '../src/dashboard/board/mapview/routes.ts';

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
    { workers: () => ['w'], few: () => true, stops: () => [[-74, 40.7], [-74, 40.8]], vehicle: () => 'CAR' }, // prettier-ignore
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
