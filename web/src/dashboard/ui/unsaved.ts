// Asks before changes that are not saved are lost.

import { app } from '../app.svelte.ts';
import { stayWhile } from '../route.svelte.ts';
import { confirm } from './confirm.svelte.ts';

// askToDiscard asks before it runs an action that loses what was typed.
export function askToDiscard(run: () => void) {
  const lead = app.say('discardTypedLead');
  confirm(app.say('discardTyped'), lead, app.say('discardTyped'), async () => run(), true, app.say('keepTyping'));
}

// keepUnsaved asks before another screen is opened while there are unsaved changes.
export const keepUnsaved = (unsaved: () => boolean) => stayWhile(unsaved, askToDiscard);
