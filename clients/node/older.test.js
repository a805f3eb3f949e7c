// Uses an older version of the published client for Node, unmodified: 1.3.3 is the
// oldest whose server URL can be set. Unlike 1.4.0 it exposes the errors of the
// API. `make test-clients` runs it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Onfleet from 'onfleet-older';

const connect = (key) => new Onfleet(key, 30000, null, process.env.DRAY_TEST_URL, '/api', '/v2');
const onfleet = connect(process.env.DRAY_TEST_KEY);
const place = { address: { number: '543', street: 'Howard St', city: 'San Francisco', country: 'USA' }, location: [-122.39703, 37.78808] };
const made = {};

// rejected expects the call to fail with an error of the client and returns it.
async function rejected(name, code, call) {
  const error = await call().then(() => null, (e) => e);
  assert.ok(error, 'the call succeeded');
  assert.deepEqual([error.name, error.status], [name, code], error.message);
  assert.match(error.request, /^[0-9a-f-]{36}$/);
  return error;
}

// withoutTimes returns a record without the fields that every change sets.
function withoutTimes({ timeLastModified, ...record }) {
  assert.ok(timeLastModified > 0);
  return record;
}

test('records are created and found', async () => {
  assert.equal(await onfleet.verifyKey(), true);
  assert.equal(await connect('0'.repeat(32)).verifyKey(), false);
  made.admin = (await onfleet.administrators.create({ name: 'Ada', email: 'older@example.com', phone: '+16173428850' })).id;
  made.team = (await onfleet.teams.create({ name: 'South', workers: [], managers: [made.admin] })).id;
  made.hub = (await onfleet.hubs.create({ name: 'Depot', ...place, teams: [made.team] })).id;
  made.worker = (await onfleet.workers.create({ name: 'Grace', phone: '617-342-8853', teams: [made.team], vehicle: { type: 'BICYCLE' } })).id;
  made.recipient = (await onfleet.recipients.create({ name: "Zoë O'Neil", phone: '617-342-8854' })).id;
  assert.equal((await onfleet.recipients.get("zoë o'neil", 'name')).id, made.recipient);
  assert.equal((await onfleet.recipients.get('+16173428854', 'phone')).id, made.recipient);
  made.parent = (await onfleet.tasks.create({ destination: { address: { unparsed: '2829 Vallejo St, SF, CA, USA' } }, recipients: [null] })).id;
  made.task = (await onfleet.tasks.create({
    destination: place, recipients: [made.recipient], dependencies: [made.parent], barcodes: [{ data: 'QQ==' }],
    container: { type: 'WORKER', worker: made.worker }, completeAfter: Date.now() + 3600000.5,
  })).id;
});

test('lists in the query are one comma-separated or several parameters', async () => {
  for (const states of ['0,1', ['2', '0']]) {
    assert.equal((await onfleet.workers.get({ states })).length, 1);
    assert.equal((await onfleet.tasks.get({ from: 1, state: [0, 1] })).tasks.length, 2);
  }
  assert.equal((await onfleet.workers.get({ states: ['1', '2'] })).length, 0);
});

test('a task is changed by sending back what was read', async () => {
  const { barcodes, ...before } = await onfleet.tasks.get(made.task);
  const sent = { ...before, barcodes, destination: before.destination.id, recipients: [made.recipient], notes: 'new' };
  const { barcodes: codes, ...after } = await onfleet.tasks.update(made.task, sent);
  assert.deepEqual(withoutTimes(after), { ...withoutTimes(before), notes: 'new' });
  assert.equal(codes.required[0].data, 'QQ==');
  for (const [of, id] of [['teams', made.team], ['workers', made.worker], ['recipients', made.recipient]]) {
    const record = await onfleet[of].get(id);
    assert.equal((await onfleet[of].update(id, { ...record, name: 'Other' })).name, 'Other');
  }
});

test('errors have distinct names and codes', async () => {
  await rejected('PermissionError', 1102, () => connect('0'.repeat(32)).teams.get());
  await rejected('HttpError', 1402, () => onfleet.tasks.get('missingmissingmissing000'));
  await rejected('HttpError', 1000, () => onfleet.recipients.create({ name: 'R', phone: '12' }));
  await rejected('HttpError', 1000, () => onfleet.tasks.forceComplete(made.task, { completionDetails: { success: true } }));
  await rejected('HttpError', 1900, () => onfleet.workers.create({ name: 'W', phone: '617-342-8855' }));
  await rejected('HttpError', 1901, () => onfleet.teams.create({ name: 'Other', workers: [], managers: [] }));
  const twice = await rejected('HttpError', 1004, () => onfleet.workers.create({ name: 'W', phone: '617-342-8853', teams: [made.team] }));
  assert.deepEqual(twice.cause, { type: 'duplicateKey', key: 'phone', value: '+16173428853' });
});

test('tasks are moved, cloned and deleted', async () => {
  assert.deepEqual((await onfleet.containers.get(made.worker, 'workers')).tasks, [made.task]);
  assert.deepEqual((await onfleet.workers.insertTask(made.worker, { tasks: [0, made.parent] })).tasks, [made.parent, made.task]);
  const clone = await onfleet.tasks.clone(made.task);
  assert.equal(clone.sourceTaskId, made.task);
  assert.deepEqual((await onfleet.teams.insertTask(made.team, { tasks: [-1, clone.id] })).tasks, [clone.id]);
  assert.equal(await onfleet.tasks.deleteOne(made.parent), 200);
  assert.deepEqual((await onfleet.tasks.get(made.task)).dependencies, []);
  assert.equal(await onfleet.workers.deleteOne(made.worker), 200);
  assert.deepEqual((await onfleet.containers.get(process.env.DRAY_TEST_ORG, 'organizations')).tasks, [made.task]);
});
