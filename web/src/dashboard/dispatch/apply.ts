// Applying a plan, and undoing it.

import { app } from '../app.svelte.ts';
import { offer, originsOf, putBack } from '../board/actions.ts';
import { board } from '../board/board.svelte.ts';
import { listOf } from '../board/records.ts';
import { touched } from './compare.ts';
import type { Planner } from './planner.svelte.ts';

const catchesUp = 3000; // maximum ms to wait until the board has received the changes

// apply applies the plan that is shown. It can be undone if the board knows the former lists
// of all tasks. Tasks that workers have started since the plan was made are not put back.
export async function apply(planner: Planner) {
  const ids = touched(planner.comparison!).filter((id) => (board.task(id)?.state ?? 0) <= 1);
  const origins = originsOf(ids);
  await planner.request('apply');
  void planner.ended().then(async (status) => {
    if (status !== 'success') return;
    const to = new Map([...planner.comparison!.fates.values()].map((f) => [f.id, f.to]));
    const done = origins.filter(({ id }) => to.get(id));
    await board.until(() => done.every(({ id }) => board.records.home(id) === listOf(to.get(id)!)), catchesUp);
    const text = app.say('planApplied', { n: done.length });
    const back = async () => {
      const all = await putBack(done, (id) => listOf(to.get(id)!));
      if (all) await planner.request('undone').catch(() => {}); // the tasks were put back nevertheless
      return all;
    };
    if (origins.length === ids.length) offer(text, back);
    else app.toast(`${text} ${app.say('noPlanUndo')}`);
  });
}
