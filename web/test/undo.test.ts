import './runes.ts';
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { offer, undo } from '../src/dashboard/board/actions.ts';
import { board } from '../src/dashboard/board/board.svelte.ts';
import { app } from '../src/dashboard/app.svelte.ts';
import en from '../src/dashboard/words/en.ts';
import type { Me } from '../src/dashboard/wire.ts';

app.words = en;
app.me = { id: 'me', type: 'super', isReadOnly: false, organization: { timezone: 'UTC' } } as Me;

globalThis.fetch = async () => new Response('{}', { status: 503 });

test('nothing is undone while a past day is shown', async () => {
  let undone = 0;
  offer('Moved', async () => ++undone > 0);
  board.openPast('2026-11-16');
  await undo();
  await app.undo(); // of the message
  assert.equal(undone, 0);
  board.closePast();
  await undo();
  assert.equal(undone, 1);
});
