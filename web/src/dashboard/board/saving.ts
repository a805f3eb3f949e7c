// Saves what a form has changed about a task.

import { call, Notice } from '../api.ts';
import { app } from '../app.svelte.ts';
import { changedBy } from './actions.ts';
import { lockOf } from './edit.ts';
import type { FullTask } from './full.ts';
import { changedFields } from './others.ts';

export class Saving {
  replaces = false; // it replaces a change of another person or program

  constructor(private seen: FullTask) {} // the task as the person knows it

  // save sends the changes, and returns the task afterwards. If the task has started meanwhile, so
  // that they cannot be made, it throws a Notice that says so. It does the same if others have
  // changed the same fields since the person saw the task; the next call replaces them.
  async save(body: object): Promise<FullTask> {
    const { id } = this.seen;
    const now = await call<FullTask>('GET', `/tasks/${id}`);
    const lock = lockOf(now, body);
    if (lock) throw new Notice(app.say(lock));
    const names = changedFields(this.seen, now, body);
    const others = names.length > 0 ? await changedBy(this.seen, now, names) : undefined;
    if (others !== undefined) {
      const fields = names.map((field) => app.sayIf('taskField', field)).join(', ');
      [this.seen, this.replaces] = [now, true];
      throw new Notice(app.say('changedMeanwhile', { name: others || app.say('someone'), fields }));
    }
    return await call<FullTask>('PUT', `/tasks/${id}`, body);
  }
}
