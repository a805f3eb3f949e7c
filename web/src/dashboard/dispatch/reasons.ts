// Translates the details of reasons of plans and of automatic assignments. The server sends
// them in English and in a few forms; a detail of another form is shown as it is.

import type { Words } from '../words.ts';

export interface Phrase {
  words: keyof Words;
  values: Record<string, string>;
}

const forms: [RegExp, keyof Words][] = [
  [/^earliest start (?<start>.+), latest (?<latest>.+) \+ (?<n>\d+) min$/, 'why_window'],
  [
    /^task (?<task>.+) would have earliest start (?<start>.+), latest (?<latest>.+) \+ (?<n>\d+) min$/,
    'why_otherWindow',
  ],
  [
    /^task (?<task>.+) would have earliest start (?<start>.+), latest (?<latest>.+) because of a task on another route that depends on it$/,
    'why_needed',
  ],
  [/^(?:capacity exceeded: )?capacity(?<kind>[ABC]?) (?<n>\S+) of (?<most>\S+)$/, 'why_capacity'],
  [/^the route would end at (?<end>.+), the shift ends at (?<shift>.+)$/, 'why_shift'],
  [/^no shift between (?<from>.+) and (?<to>.+)$/, 'why_noShift'],
  [/^no worker is on duty$/, 'why_nobody'],
  [/^(?:has )?(?<n>\d+) tasks?, at most (?<most>\d+)$/, 'why_tasks'],
  [/^has as many tasks as allowed: (?<n>\d+) of (?<most>\d+)$/, 'why_tasks'],
  [/^vehicle type (?<type>\S+), required (?<wanted>\S+)$/, 'why_vehicle'],
  [/^no way to the task$/, 'why_noWay'],
  [/^no way to the end of the route$/, 'why_noWayBack'],
  [/^no way to task (?<task>.+)$/, 'why_noWayTo'],
  [/^no known location$/, 'why_noLocation'],
  [/^also (?<n>\d+) other workers$/, 'why_others'],
  [/^depends on task (?<task>.+), which is left out$/, 'why_dependency'],
  [/^the task belongs on the route of another worker$/, 'why_elsewhere'],
  [/^not in the team$/, 'why_otherTeam'],
  [/^excluded by the request$/, 'why_excluded'],
];

export function phraseOf(detail: string): Phrase | undefined {
  for (const [form, words] of forms) {
    const found = form.exec(detail);
    if (found) return { words, values: { ...found.groups } };
  }
  return undefined;
}
