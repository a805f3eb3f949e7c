// The texts of a task's history.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorOf, describe, fields, recordedLate, type HistoryEntry } from '../src/dashboard/board/taskhistory.ts';
import words from '../src/dashboard/words/en.ts';

const dictionary = words as Record<string, string>;
const say = (key: string, values: Record<string, string | number> = {}) =>
  Object.entries(values).reduce((text, [name, value]) => text.replace(`{${name}}`, String(value)), dictionary[key]!);
const sayIf = (prefix: string, value: string) => dictionary[prefix + value] ?? value;

const entry = (more: Partial<HistoryEntry>): HistoryEntry => ({
  id: 'e',
  time: 1_000,
  timeRecorded: 1_000,
  triggerName: 'taskUpdated',
  request: null,
  actor: { type: 'admin', id: 'a', name: 'Grace' },
  worker: null,
  step: null,
  changed: [],
  ...more,
});

test('each entry says what happened', () => {
  const cases: [Partial<HistoryEntry>, string, string][] = [
    [{ triggerName: 'taskCreated' }, 'Created', ''],
    [{ changed: ['notes', 'completeBefore'] }, 'Changed', 'notes, latest time'],
    [{ changed: ['trackingViewed'] }, 'Tracking page opened', ''],
    [{ changed: null }, 'Changed', ''],
    [{ changed: ['somethingNew'] }, 'Changed', 'somethingNew'],
    [{ triggerName: 'taskAssigned', worker: { id: 'w', name: 'Ada' } }, 'Assigned to Ada', ''],
    [{ triggerName: 'taskUnassigned', worker: { id: 'w', name: 'Ada' } }, 'Taken from Ada', ''],
    [{ triggerName: 'taskAssigned', worker: { id: 'w', name: null } }, 'Assigned', ''],
    [{ step: 'arrival' }, 'Arrived', ''],
    [{ triggerName: null, request: 'PUT /tasks/{id}/pin', changed: null }, 'Pinned', ''],
    [{ triggerName: null, request: 'POST /tasks/{id}/other', changed: null }, 'POST /tasks/{id}/other', ''],
  ];
  for (const [more, expected, list] of cases) {
    assert.equal(describe(entry(more), say, sayIf), expected);
    assert.equal(fields(entry(more), sayIf), list);
  }
});

test('each entry names the actor', () => {
  const cases: [HistoryEntry['actor'], string][] = [
    [{ type: 'admin', id: 'a', name: 'Grace' }, 'Grace'],
    [{ type: 'admin', id: 'a', name: null }, 'Someone who is no longer here'],
    [{ type: 'key', id: 'k', name: 'Shop' }, 'Shop (API key)'],
    [{ type: 'worker', id: 'w', name: null }, 'A worker of another team or of the courier'],
    [{ type: 'recipient', id: null, name: null }, 'Recipient'],
    [{ type: 'organization', id: 'o', name: 'Zenith' }, 'Zenith'],
    [{ type: 'system', id: null, name: null }, 'Automatic'],
  ];
  for (const [actor, expected] of cases) assert.equal(authorOf(entry({ actor }), say), expected);
  assert.equal(recordedLate(entry({ timeRecorded: 2_000 })), false);
  assert.equal(recordedLate(entry({ timeRecorded: 100_000 })), true);
});
