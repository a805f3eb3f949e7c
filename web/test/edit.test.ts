import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changed, created, windowOf, type Fields } from '../src/dashboard/board/edit.ts';
import type { FullTask } from '../src/dashboard/board/full.ts';

const zone = 'America/New_York';
const at = (text: string) => Date.parse(text);

const given = (more: Partial<FullTask> = {}) =>
  ({
    id: 'task',
    destination: { location: [-73.98, 40.75], address: { number: '1', street: 'Wall Street' } },
    recipients: [
      { id: 'r1', name: 'Ruth', phone: '+12125550177' },
      { id: 'r2', name: 'Otto', phone: '+12125550178' },
    ],
    completeAfter: null,
    completeBefore: null,
    notes: '',
    requirements: { signature: true, photo: false, notes: true, minimumAge: 21 },
    ...more,
  }) as unknown as FullTask;

const fieldsOf = (task: FullTask): Fields => ({
  ...windowOf(task, '2026-11-18', zone),
  address: task.destination.address,
  location: task.destination.location,
  name: task.recipients[0]!.name,
  phone: task.recipients[0]!.phone,
  notes: task.notes,
  quantity: 0,
  service: 0,
  pickup: false,
  signature: task.requirements.signature,
  photo: task.requirements.photo,
});

// sent returns what is sent if a person changes some fields of a task.
function sent(task: FullTask, change: Partial<Fields>) {
  const initial = fieldsOf(task);
  return changed(task, initial, { ...initial, ...change }, zone);
}

test('only the changed fields of a task are sent', () => {
  const task = given({
    completeAfter: at('2026-11-18T09:00:30-05:00'),
    completeBefore: at('2026-11-21T17:00:00-05:00'),
  });
  assert.deepEqual(sent(task, {}), {});
  assert.deepEqual(sent(task, { notes: 'Ring twice.' }), { notes: 'Ring twice.' });
});

test('requirements and recipients that the form does not show are kept', () => {
  assert.deepEqual(sent(given(), { photo: true }), {
    requirements: { signature: true, photo: true, notes: true, minimumAge: 21 },
  });
  assert.deepEqual(sent(given(), { phone: '+12125550179' }), {
    recipients: [{ name: 'Ruth', phone: '+12125550179' }, 'r2'],
  });
});

test('each end of a window is sent only if it was changed', () => {
  const task = given({
    completeAfter: at('2026-11-18T09:00:30-05:00'),
    completeBefore: at('2026-11-18T17:00:45-05:00'),
  });
  assert.deepEqual(sent(task, { until: '18:00' }), { completeBefore: at('2026-11-18T18:00:00-05:00') });
  assert.deepEqual(sent(task, { from: '' }), { completeAfter: null });
});

test('a window can end on the next day', () => {
  const task = given();
  const night = { completeAfter: at('2026-11-18T22:00:00-05:00'), completeBefore: at('2026-11-19T02:00:00-05:00') };
  assert.deepEqual(sent(task, { from: '22:00', until: '02:00' }), night);
  assert.equal(created({ ...fieldsOf(task), from: '22:00', until: '02:00' }, zone).completeBefore, night.completeBefore); // prettier-ignore
  assert.deepEqual(windowOf(given(night), '', zone), { on: '2026-11-18', from: '22:00', until: '02:00', last: '' });
  assert.deepEqual(sent(given(night), { until: '03:00' }), { completeBefore: at('2026-11-19T03:00:00-05:00') });
});

test('a longer window has two dates', () => {
  const task = given({
    completeAfter: at('2026-11-18T09:00:00-05:00'),
    completeBefore: at('2026-11-19T17:00:00-05:00'),
  });
  assert.deepEqual(windowOf(task, '', zone), { on: '2026-11-18', from: '09:00', until: '17:00', last: '2026-11-19' });
  assert.deepEqual(sent(task, { last: '2026-11-20' }), { completeBefore: at('2026-11-20T17:00:00-05:00') });
});

test('the end of a window without a beginning is on its day', () => {
  const task = given({ completeBefore: at('2026-11-20T00:00:00-05:00') });
  assert.deepEqual(windowOf(task, '', zone), { on: '2026-11-20', from: '', until: '00:00', last: '' });
  assert.deepEqual(sent(task, { until: '08:00' }), { completeBefore: at('2026-11-20T08:00:00-05:00') });
});
