import assert from 'node:assert/strict';
import { test } from 'node:test';
import { choices, navigationLink } from '../src/driver/navigation.ts';
import { addressName, early, encoded, checkScan, late, symbology, type Task } from '../src/driver/wire.ts';

function task(id: string, codes: (string | undefined)[], more: Partial<Task> = {}): Task {
  const required = codes.map((code, i) => ({
    id: `${id}${i}`,
    blockCompletion: true,
    ...(code === undefined ? {} : { data: encoded(code) }),
  }));
  return {
    id,
    delayTime: null,
    completeAfter: null,
    completeBefore: null,
    estimatedArrivalTime: null,
    scanOnlyRequiredBarcodes: false,
    barcodes: { required },
    destination: { location: [-73.98, 40.75], address: {}, notes: '' },
    ...more,
  } as Task;
}

test('a scanned code is expected, already scanned, of another stop, or wrong', () => {
  const other = task('other', ['C']);
  const both = task('both', ['A', 'B']);
  const scans = [{ data: encoded('A') }];
  assert.deepEqual(checkScan(both, scans, 'B', []), { kind: 'expected', data: encoded('B') });
  assert.equal(checkScan(both, scans, 'A', []).kind, 'again');
  assert.equal(checkScan(both, scans, 'C', [both, other]).owner, other);
  const twice = task('twice', ['A', 'A']);
  assert.equal(checkScan(twice, scans, 'A', []).kind, 'expected');
  assert.equal(checkScan(twice, [...scans, ...scans], 'A', []).kind, 'again');
  assert.deepEqual(checkScan(both, scans, 'D', [other]), { kind: 'wrong', data: encoded('D'), mayKeep: true });
  assert.equal(checkScan(task('only', ['A'], { scanOnlyRequiredBarcodes: true }), [], 'D', []).mayKeep, false);
  assert.equal(checkScan(task('free', []), [], 'D', []).kind, 'extra');
  assert.equal(checkScan(task('none', [], { scanOnlyRequiredBarcodes: true }), [], 'D', []).kind, 'wrong');
  const count = task('count', ['A', undefined]);
  assert.equal(checkScan(count, scans, 'anything', []).kind, 'expected');
  assert.equal(checkScan(count, [...scans, { data: encoded('x') }], 'more', []).kind, 'wrong');
});

test('a UPC code is the same with 12 digits and, as EAN, with 13', () => {
  const short = task('short', ['012345678905']);
  assert.deepEqual(checkScan(short, [], '0012345678905', []), { kind: 'expected', data: encoded('012345678905') });
  assert.equal(checkScan(short, [{ data: encoded('012345678905') }], '0012345678905', []).kind, 'again');
  const long = task('long', ['0012345678905']);
  assert.deepEqual(checkScan(long, [], '012345678905', []), { kind: 'expected', data: encoded('0012345678905') });
});

test('symbologies of barcodes have the names of the API', () => {
  assert.deepEqual(['code_128', 'QRCode', 'upc_a', 'EAN-13'].map(symbology), ['CODE128', 'QRCODE', 'UPCA', 'EAN13']);
});

test('lateness is as the server predicts, or as it is now if that is more', () => {
  const now = 10_000_000;
  assert.equal(late(task('t', [], { delayTime: 300 }), false, now), 300);
  assert.equal(late(task('t', [], { delayTime: 300, completeBefore: now - 600_000 }), false, now), 600);
  assert.equal(late(task('t', [], { delayTime: null, completeBefore: now - 600_000 }), true, now), 0);
  assert.equal(late(task('t', [], { completeBefore: now + 1 }), false, now), 0);
});

test('an early start is one that arrives before the time window', () => {
  const now = 10_000_000;
  const hour = 3_600_000;
  assert.equal(early(task('t', []), now), 0);
  assert.equal(early(task('t', [], { completeAfter: now + hour }), now), 3600);
  assert.equal(early(task('t', [], { completeAfter: now + hour, estimatedArrivalTime: now + hour / 2 }), now), 1800);
  assert.equal(early(task('t', [], { completeAfter: now + hour, estimatedArrivalTime: now - hour }), now), 3600);
  assert.equal(early(task('t', [], { completeAfter: now + hour, estimatedArrivalTime: now + 2 * hour }), now), 0);
  const last = task('t', [], { completeAfter: now + hour, estimatedArrivalTime: now + 2 * hour });
  assert.equal(early(last, now, 600), 3000, 'out of order');
});

test('the name of an address is shown beside the street', () => {
  assert.equal(addressName({ name: 'Town Hall', street: 'Main St' }), 'Town Hall');
  assert.equal(addressName({ name: 'Town Hall' }), ''); // it is the street line
});

test("directions open in the chosen app, or in the phone's own", () => {
  const iphone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)';
  assert.deepEqual(choices(iphone), ['apple', 'google', 'waze']);
  assert.equal(navigationLink(task('t', []), '', iphone), 'https://maps.apple.com/?daddr=40.750000,-73.980000');
  assert.equal(navigationLink(task('t', []), '', 'Android'), 'geo:40.750000,-73.980000?q=40.750000,-73.980000');
  assert.match(navigationLink(task('t', []), 'waze', iphone), /^https:\/\/waze\.com\/ul\?ll=40\.75/);
});
