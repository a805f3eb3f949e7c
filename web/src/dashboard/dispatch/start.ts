// Starting a dispatch.

import { call } from '../api.ts';
import { go } from '../route.svelte.ts';
import { bodyOf, routeOf, type PlanOptions } from './request.ts';

// start starts a dispatch for a team or a worker, and shows it.
export async function start(of: { team: string | null; worker: string | null }, options: PlanOptions, dryRun: boolean) {
  const { dispatchId } = of.worker
    ? await call<{ dispatchId: string }>('POST', `/workers/${of.worker}/dispatch`, routeOf(options, dryRun))
    : await call<{ dispatchId: string }>('POST', `/teams/${of.team}/dispatch`, bodyOf(options, Date.now(), dryRun));
  go(`dispatch/${dispatchId}`);
}
