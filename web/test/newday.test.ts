import './runes.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { app } from '../src/dashboard/app.svelte.ts';
import { Importer } from '../src/dashboard/import/importer.svelte.ts';
import { onNewDay } from '../src/dashboard/newday.ts';
import type { Me } from '../src/dashboard/wire.ts';

app.me = { organization: { timezone: 'America/New_York' } } as Me;

test('a new day is noticed at midnight, or when the page is shown again', (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'Date'], now: Date.parse('2026-11-17T04:58Z') });
  const seen: string[] = [];
  const stop = onNewDay((now, before) => seen.push(`${before} ${now}`));
  t.mock.timers.tick(60_000);
  document.dispatchEvent(new Event('visibilitychange'));
  assert.deepEqual(seen, []);
  t.mock.timers.tick(60_000);
  assert.deepEqual(seen, ['2026-11-16 2026-11-17']);
  t.mock.timers.setTime(Date.parse('2026-11-19T12:00Z')); // the computer slept
  assert.deepEqual(seen.length, 1);
  document.dispatchEvent(new Event('visibilitychange'));
  assert.deepEqual(seen.slice(1), ['2026-11-17 2026-11-19']);
  stop();
  t.mock.timers.tick(24 * 3_600_000);
  document.dispatchEvent(new Event('visibilitychange'));
  assert.equal(seen.length, 2);
});

test('an import that begins again on a later day is not for the day before', (t) => {
  globalThis.fetch = async () => new Response('{}', { status: 403 });
  t.mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-11-17T23:00Z') });
  const importer = new Importer();
  assert.equal(importer.day, '2026-11-17');
  t.mock.timers.setTime(Date.parse('2026-11-18T12:00Z'));
  importer.restart();
  assert.equal(importer.day, '2026-11-18');
  importer.day = '2026-11-20';
  importer.restart();
  assert.equal(importer.day, '2026-11-20', 'a day that was chosen stays');
});
