import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describe } from '../src/driver/device.ts';
import { departed } from '../src/driver/overlay.ts';
import { unscanned, type Position, type Task } from '../src/driver/wire.ts';

test('a phone is described by the user agent of its browser', () => {
  const script = 'https://dray.example/assets/driver-Ab3_x-9Z.js';
  const iphone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';
  assert.deepEqual(describe(iphone, script), {
    appVersion: 'Ab3_x-9Z',
    deviceDescription: 'iPhone; CPU iPhone OS 18_1 like Mac OS X',
    platform: 'IOS',
  });
  assert.equal(describe('Mozilla/5.0 (Linux; Android 15; Pixel 9)', script).platform, 'ANDROID');
  assert.deepEqual(describe('nonsense', 'http://localhost/src/driver/main.ts'), {
    appVersion: '',
    deviceDescription: '',
    platform: 'WEB',
  });
});

test('a worker has departed when they are well away from where they arrived', () => {
  const door: [number, number] = [-73.9857, 40.7484];
  const at = (lat: number, accuracy: number | null): Position =>
    ({ location: [-73.9857, lat], time: 0, accuracy }) as Position;
  assert.equal(departed(door, at(40.7495, 10)), false); // 120 m: the van
  assert.equal(departed(door, at(40.7509, 10)), true); // 280 m
  assert.equal(departed(door, at(40.7509, 90)), false); // or 190 m
  assert.equal(departed(door, at(40.7509, null)), true);
  assert.equal(departed(door, at(41.5, 3000)), false); // too inaccurate
});

test('a scan counts for one barcode', () => {
  const task = (...data: (string | undefined)[]): Task =>
    ({ barcodes: { required: data.map((d, i) => ({ id: String(i), data: d, blockCompletion: true })) } }) as Task;
  const left = (t: Task, ...scans: string[]) =>
    unscanned(
      t,
      scans.map((data) => ({ data })),
    ).map((b) => b.id);
  assert.deepEqual(left(task('a', undefined)), ['0', '1']);
  assert.deepEqual(left(task('a', undefined), 'a'), ['1']);
  assert.deepEqual(left(task(undefined, 'a'), 'a'), ['0']);
  assert.deepEqual(left(task('a', undefined), 'x'), ['0']);
  assert.deepEqual(left(task(undefined, undefined), 'x'), ['1']);
  assert.deepEqual(left(task(undefined, 'a'), 'x', 'a'), []);
});
