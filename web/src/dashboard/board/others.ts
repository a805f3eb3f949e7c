// What others have changed about a task since a person last saw it.

import type { FullTask } from './full.ts';
import type { HistoryEntry } from './taskhistory.ts';

// changedFields returns the fields of a request whose values have changed between two
// responses with the task.
export const changedFields = (before: FullTask, now: FullTask, body: object): string[] =>
  Object.keys(body).filter(
    (name) => JSON.stringify(before[name as keyof FullTask]) !== JSON.stringify(now[name as keyof FullTask]),
  );

// renamedElsewhere reports whether a recipient has another name or phone number between two
// responses, but not because of what the person did to the task. A recipient can be changed
// without the task, and then no entry in its history says so.
export const renamedElsewhere = (
  before: FullTask,
  now: FullTask,
  entries: readonly HistoryEntry[],
  person: string,
): boolean =>
  namesOf(before) !== namesOf(now) &&
  !entries.some(({ actor, time }) => time > before.timeLastModified && actor.id === person);

const namesOf = ({ recipients }: FullTask) => JSON.stringify(recipients.map(({ name, phone }) => [name, phone]));

// Entries of older versions name these fields only if they are another record, not if its contents
// have changed.
const records = ['destination', 'recipients'];

// mayHaveChanged reports whether an entry may have changed one of some fields.
const mayHaveChanged = ({ changed, triggerName }: HistoryEntry, names: readonly string[]): boolean =>
  !changed || // it is unknown
  changed.some((name) => names.includes(name)) ||
  (triggerName === 'taskUpdated' && names.some((name) => records.includes(name)));

// byOthers returns the entries in the history of a task that are after a time and not by a
// person, and that may have changed one of some fields, by default any. It skips what happens
// automatically or on the tracking page: no work of others is lost with it.
export const byOthers = (
  entries: readonly HistoryEntry[],
  person: string,
  since = 0,
  names?: readonly string[],
): HistoryEntry[] =>
  entries.filter(
    (entry) =>
      entry.time > since &&
      entry.actor.type !== 'system' &&
      entry.actor.type !== 'recipient' &&
      entry.actor.id !== person &&
      (!names || mayHaveChanged(entry, names)),
  );
