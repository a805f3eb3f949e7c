// Creates the tasks of rows, in batches, one after the other.

import { Failure } from '../api.ts';
import { each } from './places.ts';

export const batchSize = 500; // tasks of a batch, the API's limit
const pollInterval = 400; // milliseconds

export interface Item {
  key: string;
  after: string[]; // keys of the rows that must be created before it
  worker: string;
  body: Record<string, unknown>;
}

export type Result =
  | { state: 'created' | 'there'; task: string; warning?: string }
  | { state: 'failed'; message: string }
  | { state: 'orphan' }; // a row that it depends on was not created

export interface Report {
  status: string;
  tasksCreated: number;
  tasksErrored: number;
  errors: { errorCode: number; message: string; cause: string; taskData: { importKey?: string } }[];
  newTasks: { id: string }[];
}

export interface Server {
  submit: (tasks: Record<string, unknown>[], idempotencyKey: string) => Promise<string>; // returns the job
  report: (job: string) => Promise<Report>;
  assign: (worker: string, tasks: string[]) => Promise<void>;
  // obstacle returns why a task that was there cannot be assigned to a worker; '' if it can, and
  // undefined if the worker has it.
  obstacle: (task: string, worker: string) => Promise<string | undefined>;
  wait: (ms: number) => Promise<void>;
  newKey: () => string;
  explain: (error: unknown) => string;
}

const duplicate = 1004;

// existing returns the task that already has the import key, according to an error.
export function existing(error: Report['errors'][number]): string | undefined {
  if (error.errorCode !== duplicate) return undefined;
  return /^duplicateKey: importKey [^]*, id (\S+)$/.exec(error.cause)?.[1];
}

// sort returns the result of each item of a batch.
export function sort(items: readonly Item[], report: Report): Result[] {
  const errors = new Map<string, Report['errors']>();
  for (const error of report.errors) {
    const key = error.taskData.importKey ?? '';
    errors.set(key, [...(errors.get(key) ?? []), error]);
  }
  const created = items.length - report.errors.length;
  const complete = created === report.newTasks.length; // none was deleted meanwhile
  let next = 0;
  return items.map((item): Result => {
    const error = errors.get(item.key)?.shift();
    if (!error) return { state: 'created', task: complete ? report.newTasks[next++]!.id : '' };
    const task = existing(error);
    return task ? { state: 'there', task } : { state: 'failed', message: said(error) };
  });
}

const said = (e: Report['errors'][number]) => (e.cause ? `${e.message.replace(/\.$/, '')}: ${e.cause}` : e.message);

// send creates the items, wave by wave, and reports each result. If the signal is aborted, it
// sends no more batches, but waits for the one that was sent.
export async function send(
  waves: readonly (readonly Item[])[],
  server: Server,
  done: (item: Item, result: Result) => void,
  progress: (created: number) => void, // called with the tasks of the current batch that are done
  signal: AbortSignal,
) {
  const tasks = new Map<string, string>();
  for (const wave of waves) {
    if (signal.aborted) break; // the rest was not sent, whatever it depends on
    const ready: Item[] = [];
    for (const item of wave) {
      if (item.after.every((key) => tasks.has(key))) ready.push(item);
      else done(item, { state: 'orphan' });
    }
    for (let from = 0; from < ready.length && !signal.aborted; from += batchSize) {
      const some = ready.slice(from, from + batchSize);
      const bodies = some.map(({ key, after, body }) => ({
        ...body,
        importKey: key,
        ...(after.length && { dependencies: after.map((a) => tasks.get(a)!) }),
      }));
      let results: Result[];
      try {
        const job = await server.submit(bodies, server.newKey());
        let report = await server.report(job);
        while (report.status === 'pending' || report.status === 'inProgress') {
          progress(report.tasksCreated + report.tasksErrored);
          await server.wait(pollInterval);
          report = await server.report(job);
        }
        results = sort(some, report);
      } catch (error) {
        if (!(error instanceof Failure)) throw error;
        results = some.map(() => ({ state: 'failed', message: server.explain(error) }));
      }
      some.forEach((item, i) => {
        const result = results[i]!;
        if ('task' in result && result.task) tasks.set(item.key, result.task);
        done(item, result);
      });
      progress(0);
      await assign(some, results, server, done);
    }
  }
}

const whole = new AbortController().signal; // what was created is assigned even if the import is stopped

// assign assigns the tasks of a batch, which creates unassigned ones, and reports those that
// cannot be assigned. A task that was there may be of an import that was interrupted.
async function assign(
  items: readonly Item[],
  results: readonly Result[],
  server: Server,
  done: (item: Item, result: Result) => void,
) {
  const made = items.flatMap((item, i) => {
    const result = results[i]!;
    return item.worker && 'task' in result && result.task ? [{ item, result, free: result.state === 'created' }] : [];
  });
  // attempt reports the failure of a request.
  const attempt = async (affected: typeof made, request: () => Promise<unknown>) => {
    try {
      await request();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      for (const { item, result } of affected) done(item, { ...result, warning: server.explain(error) });
    }
  };
  await each(
    made.filter((m) => !m.free),
    (m) =>
      attempt([m], async () => {
        const warning = await server.obstacle(m.result.task, m.item.worker);
        m.free = warning === '';
        if (warning) done(m.item, { ...m.result, warning });
      }),
    whole,
  );
  const lists = new Map<string, typeof made>();
  for (const m of made) if (m.free) lists.set(m.item.worker, [...(lists.get(m.item.worker) ?? []), m]);
  for (const [worker, list] of lists) await attempt(list, () => server.assign(worker, list.map((m) => m.result.task))); // prettier-ignore
}
