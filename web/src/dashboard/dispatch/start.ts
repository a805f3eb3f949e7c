// Starting a dispatch.

import { call } from '../api.ts';
import { go } from '../route.svelte.ts';
import { bodyOf, routeOf, type Wishes } from './request.ts';

// start starts a dispatch for a team or a worker, and shows it.
export async function start(of: { team: string | null; worker: string | null }, wishes: Wishes, dryRun: boolean) {
  const { dispatchId } = of.worker
    ? await call<{ dispatchId: string }>('POST', `/workers/${of.worker}/dispatch`, routeOf(wishes, dryRun))
    : await call<{ dispatchId: string }>('POST', `/teams/${of.team}/dispatch`, bodyOf(wishes, Date.now(), dryRun));
  go(`dispatch/${dispatchId}`);
}
