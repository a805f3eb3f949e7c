// The steps of an import: columns are matched, addresses are resolved, and tasks are created.

import { call, newKey, patiently, query } from '../api.ts';
import { app } from '../app.svelte.ts';
import type { ApiTask } from '../board/wire.ts';
import { decode, download, read } from '../csv.ts';
import { bytes, day as dayOf, number } from '../format.ts';
import { Load } from '../load.svelte.ts';
import type { CustomField, Found, Team, Worker } from '../wire.ts';
import type { Words } from '../words.ts';
import { looksLikeHeaders, matchColumns, type Match } from './fields.ts';
import { columns } from './memory.ts';
import { each, locate, remembering, type Place } from './places.ts';
import { draft, keysOf, relate, type CustomKind, type Draft, type Options, type Problem } from './rows.ts';
import { send, type Item, type Report, type Result } from './send.ts';
import { isAmbiguous, orderOf, type Order } from './times.ts';

export interface Row {
  n: number; // line in the file
  key: string; // import key if there is no reference
  cells: string[]; // as corrected
  draft: Draft;
  problems: Problem[]; // conflicts with other rows
  place?: Place;
  lost?: string; // error of the search for the address
  result?: Result;
}

export type Standing = 'ready' | 'uncertain' | 'bad' | 'pending';

export const maxRows = 20_000;
const maxBytes = 20_000_000;
const redraw = 150; // milliseconds between two updates of the page during work

// standing returns the state of a row: whether it can become a task.
export function standing(r: Row): Standing {
  if (r.draft.problems.length || r.problems.length || r.lost) return 'bad';
  if (!r.place) return 'pending';
  return r.place.state === 'exact' || r.place.state === 'given' ? 'ready' : 'uncertain';
}

// wrong returns what is wrong with a row.
export const wrong = (r: Row): string[] => [
  ...[...r.draft.problems, ...r.problems].map((p) => app.say(p.code, p.values)),
  ...(r.lost ? [r.lost] : []),
];

// why returns what is uncertain about the address of a row.
export function why({ place }: Row): string {
  if (place?.state === 'approximate') return app.say('importApproximateWhy', { line: place.line });
  return place?.state === 'unknown' ? app.say('importUnknownWhy') : '';
}

// reason returns what went wrong with a row; '' for nothing.
export function reason(r: Row): string {
  const { result } = r;
  if (result?.state === 'failed') return result.message;
  if (result?.state === 'orphan') return app.say('importOrphan');
  if (result && 'task' in result && result.warning) {
    return app.say(result.state === 'created' ? 'importUnassigned' : 'importThereUnassigned', {
      reason: result.warning,
    });
  }
  if (result) return '';
  return wrong(r).join(' ') || why(r);
}

const tooLarge = () => app.say('importTooLarge', { n: number(maxRows), size: bytes(maxBytes) });

export class Importer {
  readonly organization = app.me!.organization;
  readonly known = new Load(async () => {
    const [teams, workers, { fields: all }] = await Promise.all([
      call<Team[]>('GET', '/teams'),
      call<Worker[]>('GET', '/workers'),
      call<{ fields: (CustomField & { asArray: boolean })[] }>('GET', '/customFields/Task'),
    ]);
    const custom: CustomKind[] = all.filter((f) => !f.asArray);
    return { teams, workers, custom };
  });

  stage = $state<'source' | 'columns' | 'check' | 'sending' | 'done'>('source');
  fault = $state('');
  file = $state(''); // name of the file
  cells = $state.raw<string[][]>([]);
  hasHeaders = $state(true);
  matches = $state.raw<Match[]>([]);
  remembered = $state(false); // the columns were matched as in an earlier import
  keepRest = $state(false);
  day = $state(dayOf(Date.now()));
  chosenOrder = $state<Order | ''>('');
  frame = $state(0); // incremented when changes of the rows must be drawn
  busy = $state(''); // word for the work in progress; '' for none
  finished = $state(0);
  total = $state(0);
  only = $state(true); // only rows to check are shown
  uncertain = $state(false); // rows with uncertain addresses are imported as well
  stopped = $state(false);
  rows: Row[] = [];
  private delimiter = ',';
  private waves: number[][] = [];
  private work: AbortController | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  readonly headers = $derived(
    (this.cells[0] ?? []).map((name, i) => (this.hasHeaders && name) || `${app.say('importColumn')} ${i + 1}`),
  );
  readonly width = $derived(this.cells[0]?.length ?? 0);
  readonly body = $derived(this.hasHeaders ? this.cells.slice(1) : this.cells);
  private readonly dates = $derived.by(() => {
    const at = (['day', 'from', 'until'] as Match[]).map((f) => this.matches.indexOf(f)).filter((i) => i >= 0);
    return this.body.slice(0, 2000).flatMap((row) => at.map((i) => row[i] ?? '')).filter(Boolean); // prettier-ignore
  });
  readonly ambiguous = $derived(orderOf(this.dates) ? undefined : this.dates.find(isAmbiguous));
  readonly order = $derived<Order>(
    orderOf(this.dates) ?? (this.chosenOrder || (/^(US|United States)$/.test(this.organization.country) ? 'month' : 'day')), // prettier-ignore
  );
  readonly placed = $derived(
    this.matches.some((m) => m === 'address' || m === 'street' || m === 'city') ||
      (this.matches.includes('latitude') && this.matches.includes('longitude')),
  );

  // view is shown before tasks are created.
  readonly view = $derived.by(() => {
    void this.frame;
    const counts = { ready: 0, uncertain: 0, bad: 0, pending: 0 };
    for (const row of this.rows) counts[standing(row)]++;
    const bad = this.rows.filter((r) => standing(r) === 'bad' || standing(r) === 'uncertain');
    const create = counts.ready + (this.uncertain ? counts.uncertain : 0);
    return { counts, shown: this.only ? bad : [...this.rows], bad: bad.length, create };
  });

  // outcome is the result of the import.
  readonly outcome = $derived.by(() => {
    void this.frame;
    const counts = { created: 0, there: 0, failed: 0, unsent: 0 };
    const failed: Row[] = [];
    for (const row of this.rows) {
      const state = row.result?.state;
      if (state === 'created' || state === 'there') counts[state]++;
      else if (!state && this.stopped && this.included(row)) counts.unsent++;
      else counts.failed++;
      if (reason(row)) failed.push(row);
    }
    return { counts, failed };
  });

  private readonly search = remembering((q) =>
    patiently(() => call<Found[]>('GET', `/geocode${query({ ...q, limit: 1 })}`), this.work!.signal),
  );

  close() {
    this.work?.abort();
    clearTimeout(this.timer);
  }

  stop() {
    this.work?.abort();
  }

  // restart begins with another file. A day that has passed meanwhile is replaced by today.
  restart() {
    const today = dayOf(Date.now());
    if (this.day < today) this.day = today;
    this.rows = [];
    this.cells = [];
    this.stopped = false;
    this.stage = 'source';
  }

  async open(files: FileList | null | undefined) {
    const chosen = files?.[0];
    if (!chosen) return;
    if (chosen.size > maxBytes) this.fault = tooLarge();
    else this.begin(decode(await chosen.arrayBuffer()), chosen.name);
  }

  // begin shows the columns of a table.
  begin(text: string, name: string) {
    this.fault = '';
    const { rows: found, delimiter } = read(text);
    if (found.length === 0) return void (this.fault = app.say('importNothing'));
    if (found.length > maxRows + 1) return void (this.fault = tooLarge());
    const wide = found.reduce((most, row) => Math.max(most, row.length), 0);
    this.cells = found.map((row) => [...row, ...Array<string>(wide - row.length).fill('')]);
    this.hasHeaders = looksLikeHeaders(this.cells[0]!) || this.cells.length > 1;
    this.file = name;
    this.delimiter = delimiter;
    this.match();
    this.stage = 'columns';
  }

  // match matches the columns as in an earlier import, or else by their names.
  match() {
    const first = this.cells[0]!;
    const custom = this.known.data?.custom ?? [];
    const last = this.hasHeaders ? columns.recall(first, custom) : undefined;
    this.remembered = last !== undefined;
    this.matches = last ?? matchColumns(this.hasHeaders ? first : first.map(() => ''), custom);
  }

  choose(i: number, to: Match) {
    this.matches = this.matches.map((m, at) => (at === i ? to : m === to && to !== 'metadata' ? '' : m));
  }

  private options(): Options {
    const { custom, teams, workers } = this.known.data!;
    const matches = this.matches.map((m) => m || (this.keepRest ? 'metadata' : ''));
    const { headers, day, order, organization } = this;
    return { headers, matches, custom, teams, workers, day, order, zone: organization.timezone, country: organization.country }; // prettier-ignore
  }

  // changed draws the rows a few times a second, though they may change thousands of times.
  private changed() {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.frame++;
    }, redraw);
  }

  private included(row: Row): boolean {
    const state = standing(row);
    return state === 'ready' || (state === 'uncertain' && this.uncertain);
  }

  private async resolve(i: number) {
    const { draft } = this.rows[i]!;
    if (draft.line || draft.location) {
      try {
        const place = await locate(draft, this.organization.country, this.search);
        const { lost: _, ...row } = this.rows[i]!;
        this.rows[i] = { ...row, place };
      } catch (error) {
        if (!this.work?.signal.aborted) this.rows[i] = { ...this.rows[i]!, lost: app.explain(error) };
      }
    }
    this.finished++;
    this.changed();
  }

  private compare() {
    const related = relate(this.rows.map((r) => r.draft));
    this.waves = related.waves;
    this.rows = this.rows.map((row, i) => ({ ...row, problems: related.problems[i]! }));
    this.frame++;
  }

  // run resolves the addresses of rows.
  private async run(what: keyof Words, which: number[]) {
    this.work = new AbortController();
    this.busy = what;
    [this.finished, this.total] = [0, which.length];
    await each(which, (i) => this.resolve(i), this.work.signal);
    this.busy = '';
    this.frame++;
  }

  // find reads the rows, and resolves their addresses.
  async find() {
    if (this.hasHeaders) columns.remember(this.cells[0]!, this.matches);
    const options = this.options();
    const drafts = this.body.map((cells) => draft(cells, options));
    const keys = keysOf(this.body, drafts.map((d) => d.day)); // prettier-ignore
    const n = this.hasHeaders ? 2 : 1;
    this.rows = this.body.map((cells, i) => ({ n: i + n, key: keys[i]!, cells, draft: drafts[i]!, problems: [] }));
    this.compare();
    this.stage = 'check';
    this.only = true;
    this.uncertain = false;
    await this.run('importFinding', [...this.rows.keys()]);
  }

  findRest() {
    return this.run('importFinding', [...this.rows.keys()].filter((i) => standing(this.rows[i]!) === 'pending')); // prettier-ignore
  }

  // correct changes the cells of a row.
  async correct({ n }: Row, cells: string[]) {
    const i = this.rows.findIndex((r) => r.n === n);
    const { place: _, lost: __, ...row } = this.rows[i]!;
    this.rows[i] = { ...row, cells, draft: draft(cells, this.options()) };
    this.compare();
    await this.run('importFinding', [i]);
  }

  // create creates tasks from the rows that can become one.
  async create() {
    this.stage = 'sending';
    this.work = new AbortController();
    const { signal } = this.work;
    const plan = this.waves
      .map((wave) => wave.filter((i) => this.included(this.rows[i]!)))
      .filter((wave) => wave.length);
    [this.finished, this.total] = [0, plan.reduce((sum, wave) => sum + wave.length, 0)];
    const at = new Map<Item, number>();
    const itemAt = (i: number) => {
      const item = itemOf(this.rows[i]!);
      at.set(item, i);
      return item;
    };
    let ended = 0;
    try {
      await send(
        plan.map((wave) => wave.map(itemAt)),
        server(signal),
        (item, result) => {
          const i = at.get(item)!;
          if (!this.rows[i]!.result) ended++;
          this.rows[i] = { ...this.rows[i]!, result };
          this.finished = ended;
          this.changed();
        },
        (created) => (this.finished = ended + created),
        signal,
      );
    } catch (error) {
      app.complain(error);
    }
    this.stopped = signal.aborted;
    this.frame++;
    this.stage = 'done';
  }

  // save downloads the rows that were not imported, as a file with the same columns.
  save() {
    const name = `${this.file.replace(/\.\w+$/, '') || 'import'}-errors`;
    const failed = this.outcome.failed.filter(({ result }) => !result || !('task' in result));
    const rows = failed.map((r) => [...r.cells, reason(r)]);
    download(name, [[...this.headers, 'error'], ...rows], this.delimiter);
  }
}

function itemOf({ key, draft: d, place }: Row): Item {
  return {
    key: d.reference || key,
    after: d.after,
    worker: d.worker,
    body: {
      destination: place!.destination,
      recipients: d.recipient ? [{ ...d.recipient, ...(!d.recipient.notes && { notes: undefined }) }] : [],
      ...d.body,
      ...(d.team && { container: { type: 'TEAM', team: d.team } }),
    },
  };
}

const server = (signal: AbortSignal) => ({
  submit: async (tasks: Record<string, unknown>[], key: string) => {
    const headers = { 'Idempotency-Key': key };
    const post = () => call<{ jobId: string }>('POST', '/tasks/batch-async', { tasks }, undefined, headers);
    return (await patiently(post, signal)).jobId;
  },
  report: (job: string) => patiently(() => call<Report>('GET', `/tasks/batch/${job}`), signal),
  assign: (worker: string, tasks: string[]) =>
    patiently(() => call<void>('PUT', `/containers/workers/${worker}`, { tasks: [-1, ...tasks] }), signal),
  obstacle: async (id: string, worker: string) => {
    const task = await patiently(() => call<ApiTask>('GET', `/tasks/${id}`), signal);
    if (task.state === 0) return '';
    return task.worker === worker ? undefined : app.say(task.state === 3 ? 'isCompleted' : 'importOtherWorker');
  },
  wait: (ms: number) => new Promise<void>((done) => setTimeout(done, ms)),
  newKey,
  explain: (error: unknown) => app.explain(error),
});
