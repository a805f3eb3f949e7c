import './runes.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Planner } from '../src/dashboard/dispatch/planner.svelte.ts';
import type { DispatchStatus } from '../src/dashboard/dispatch/wire.ts';

test('the end of a dispatch is awaited even if its page is left', async () => {
  let status: DispatchStatus = 'applying';
  let busy = 0; // requests that fail
  globalThis.fetch = async () => {
    if (busy-- > 0) return new Response('', { status: 503 });
    return Response.json({ id: 'd', processingDetails: { status }, differences: [], tasks: [] });
  };
  const planner = new Planner();
  const leave = planner.open('d');
  await planner.read('d');
  assert.equal(planner.status, 'applying');
  const ended = planner.ended();
  leave();
  busy = 1;
  setTimeout(() => (status = 'success'), 600);
  assert.equal(await ended, 'success');
  status = 'failed';
  assert.equal(await planner.ended(), 'failed', 'even if it was left before');
});
