// The names of the people and programs that have requested or applied dispatches.

import { app } from '../app.svelte.ts';
import { board } from '../board/board.svelte.ts';
import type { Actor, Summary } from './wire.ts';

export function actorName(actor: Actor | null): string {
  if (!actor) return '';
  if (actor.type !== 'ADMIN') return app.say('byApi');
  if (actor.id === app.me?.id) return app.me.name || app.me.email;
  return board.people.get(actor.id) ?? app.say('otherDispatcher');
}

// origin returns who has started a dispatch; '' if it is not known.
export const origin = (d: Pick<Summary, 'replanning' | 'requestedBy'>): string =>
  d.replanning ? app.say('replanning') : actorName(d.requestedBy);
