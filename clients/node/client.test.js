// Uses the unmodified published client for Node against the built program.
// `make test-clients` runs it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import Onfleet from '@onfleet/node-onfleet';

const url = process.env.DRAY_TEST_URL;
const onfleet = new Onfleet(process.env.DRAY_TEST_KEY, 30000, null, url, '/api', '/v2');
const address = { number: '543', street: 'Howard St', city: 'San Francisco', state: 'CA', postalCode: '94105', country: 'USA' };
const place = { address, location: [-122.39703, 37.78808] };
const id = /^[A-Za-z0-9*~]{24}$/;

// eventually waits for something that happens in the background.
async function eventually(look) {
  for (let tries = 0; tries < 600; tries++) {
    const found = await look();
    if (found) return found;
    await new Promise((resolve) => { setTimeout(resolve, 100); });
  }
  throw new Error('it did not happen');
}

// rejected expects the call to fail. The client turns every error response into a
// TypeError ("HttpError is not a constructor"), so tests can only see that the
// call failed.
async function rejected(call) {
  await assert.rejects(call);
}

const made = {};

test('the key is valid and belongs to the organization', async () => {
  assert.equal(await onfleet.verifyKey(), true);
  const organization = await onfleet.organization.get();
  assert.equal(organization.id, process.env.DRAY_TEST_ORG);
  const own = await onfleet.organization.get(organization.id);
  assert.equal(own.name, 'Clients');
});

test('administrators are created, listed, found, changed and deleted', async () => {
  const admin = await onfleet.admins.create({
    name: 'Ada', email: 'ada@example.com', type: 'super', metadata: [{ name: 'desk', type: 'number', value: 4 }],
  });
  assert.match(admin.id, id);
  assert.equal(admin.isActive, false);
  assert.equal((await onfleet.administrators.get()).length, 1);
  assert.equal((await onfleet.admins.matchMetadata([{ name: 'desk', type: 'number', value: 4 }])).length, 1);
  assert.equal((await onfleet.admins.update(admin.id, { name: 'Ada L.' })).name, 'Ada L.');
  made.admin = (await onfleet.admins.create({ name: 'Bob', email: 'bob@example.com' })).id;
  assert.equal(await onfleet.admins.deleteOne(admin.id), 200);
});

test('teams, hubs and workers', async () => {
  const team = await onfleet.teams.create({ name: 'North', workers: [], managers: [made.admin] });
  made.team = team.id;
  assert.ok(!('tasks' in team));
  assert.deepEqual((await onfleet.teams.get(team.id)).tasks, []);
  assert.equal((await onfleet.teams.get()).length, 1);
  assert.equal((await onfleet.teams.update(team.id, { name: 'North-West' })).name, 'North-West');

  const hub = await onfleet.hubs.create({ name: 'Depot', ...place, teams: [team.id] });
  made.hub = hub.id;
  assert.equal((await onfleet.hubs.get()).length, 1);
  assert.equal((await onfleet.hubs.update(hub.id, { name: 'Main depot' })).name, 'Main depot');

  const worker = await onfleet.workers.create({
    name: 'Grace', phone: '617-342-8853', teams: [team.id], vehicle: { type: 'CAR', licensePlate: 'FKNS9A' }, capacity: 10,
  });
  made.worker = worker.id;
  assert.equal(worker.phone, '+16173428853');
  assert.equal(worker.accountStatus, 'INVITED');
  assert.equal((await onfleet.workers.get()).length, 1);
  assert.equal((await onfleet.workers.get({ teams: team.id })).length, 1);
  assert.equal((await onfleet.workers.get(worker.id)).id, worker.id);
  assert.equal((await onfleet.workers.update(worker.id, { name: 'Grace H.', phone: '+12125550100' })).phone, '+16173428853');
  assert.deepEqual((await onfleet.workers.getByLocation({ longitude: -122.4, latitude: 37.8, radius: 6000 })).workers, []);
  await rejected(() => onfleet.workers.create({ name: 'Again', phone: '+16173428853', teams: [team.id] }));
});

test('a team is dispatched', async () => {
  const { dispatchId } = await onfleet.teams.autoDispatch(made.team, { maxTasksPerRoute: 20, serviceTime: 2, routeEnd: null });
  assert.match(dispatchId, /^[A-Za-z0-9*~]{24}$/);
});

test('a schedule is set and read', async () => {
  const day = new Date(Date.now() + 2 * 86400000).toISOString().slice(0, 10);
  const start = Date.parse(`${day}T09:00:00Z`);
  const entries = [{ date: day, timezone: 'UTC', shifts: [[start, start + 3600000]] }];
  assert.deepEqual((await onfleet.workers.setSchedule(made.worker, { entries })).entries, entries);
  assert.deepEqual((await onfleet.workers.getSchedule(made.worker)).entries, entries);
});

test('destinations and recipients', async () => {
  const destination = await onfleet.destinations.create({ ...place, notes: 'ring twice', metadata: [{ name: 'floor', type: 'string', value: '3' }] });
  made.destination = destination.id;
  assert.deepEqual(destination.location, place.location);
  assert.equal((await onfleet.destinations.get(destination.id)).notes, 'ring twice');
  assert.equal((await onfleet.destinations.matchMetadata([{ name: 'floor', type: 'string', value: '3' }])).length, 1);

  const recipient = await onfleet.recipients.create({ name: 'Boris Foster', phone: '650-555-1133', notes: 'always orders sauce' , skipPhoneNumberValidation: false }).catch(() => null)
    ?? await onfleet.recipients.create({ name: 'Boris Foster', phone: '+16505551133', skipPhoneNumberValidation: true });
  made.recipient = recipient.id;
  assert.equal((await onfleet.recipients.get(recipient.id)).name, 'Boris Foster');
  assert.equal((await onfleet.recipients.get('boris foster', 'name')).id, recipient.id);
  assert.equal((await onfleet.recipients.get('+16505551133', 'phone', { skipPhoneNumberValidation: 'true' })).id, recipient.id);
  assert.equal((await onfleet.recipients.update(recipient.id, { notes: 'no sauce', metadata: [{ name: 'vip', type: 'boolean', value: true }] })).notes, 'no sauce');
  assert.equal((await onfleet.recipients.matchMetadata([{ name: 'vip', type: 'boolean', value: true }])).length, 1);
});

test('a task is created, changed, moved, cloned and deleted', async () => {
  const task = await onfleet.tasks.create({
    destination: made.destination, recipients: [made.recipient], notes: 'order 332', metadata: [{ name: 'order', type: 'number', value: 332 }],
    container: { type: 'WORKER', worker: made.worker },
  });
  assert.match(task.id, id);
  assert.equal(task.state, 1);
  assert.equal(task.worker, made.worker);
  assert.equal((await onfleet.tasks.get(task.id)).shortId, task.shortId);
  assert.equal((await onfleet.tasks.get(task.shortId, 'shortId')).id, task.id);
  assert.ok((await onfleet.tasks.get({ from: Date.now() - 3600000, lastId: undefined })).tasks.length > 0);
  assert.equal((await onfleet.tasks.update(task.id, { notes: 'order 333' })).notes, 'order 333');
  assert.equal((await onfleet.tasks.matchMetadata([{ name: 'order', type: 'number', value: 332 }])).length, 1);
  assert.equal((await onfleet.workers.getTasks(made.worker)).tasks.length, 1);

  const clone = await onfleet.tasks.clone(task.id);
  assert.equal(clone.sourceTaskId, task.id);
  const second = await onfleet.tasks.clone(task.id, { options: { includeMetadata: true, overrides: { notes: 'second' } } });
  assert.equal(second.notes, 'second');
  assert.equal(second.metadata.length, 1);

  assert.deepEqual((await onfleet.workers.insertTask(made.worker, { tasks: [-1, clone.id] })).tasks, [task.id, clone.id]);
  assert.deepEqual((await onfleet.workers.insertTask(made.worker, { tasks: [0, clone.id] })).tasks, [clone.id, task.id]);
  assert.deepEqual((await onfleet.containers.get(made.worker, 'workers')).tasks, [clone.id, task.id]);
  assert.deepEqual((await onfleet.teams.insertTask(made.team, { tasks: [-1, second.id] })).tasks, [second.id]);
  assert.equal((await onfleet.teams.getTasks(made.team)).tasks.length, 1);
  assert.ok((await onfleet.organization.insertTask(process.env.DRAY_TEST_ORG, { tasks: [-1, second.id] })).tasks.includes(second.id));

  await rejected(() => onfleet.tasks.forceComplete(task.id, { completionDetails: { success: true } })); // it is not started
  assert.deepEqual(await onfleet.tasks.autoAssign({ tasks: [second.id], options: { mode: 'distance' } }), { assignedTasksCount: 0, assignedTasks: {} });
  assert.equal(await onfleet.tasks.deleteOne(clone.id), 200);
  await rejected(() => onfleet.tasks.get(clone.id));
  made.task = task.id;
});

test('batches are created synchronously and asynchronously', async () => {
  const body = { destination: made.destination, recipients: [] };
  const now = await onfleet.tasks.batchCreate({ tasks: [body, { recipients: [] }] });
  assert.equal(now.tasks.length, 1);
  assert.equal(now.errors.length, 1);
  const job = await onfleet.tasks.batchCreateAsync({ tasks: [body, body] });
  assert.equal(job.status, 'pending');
  assert.match(job.jobId, id);
  const done = await eventually(async () => {
    const state = await onfleet.tasks.getBatch(job.jobId);
    return state.status === 'succeeded' && state;
  });
  assert.equal(done.tasksCreated, 2);
});

test('custom fields and route plans', async () => {
  await onfleet.customfields.create({
    model: 'Task', field: [{ name: 'Gate code', key: 'gate', type: 'single_line_text_field', visibility: ['api'], editability: ['api'], contexts: [{ name: 'save', isRequired: false, conditions: [] }] }],
  });
  assert.equal((await onfleet.customfields.get()).fields.length, 1);
  const task = await onfleet.tasks.create({ destination: made.destination, recipients: [], customFields: [{ key: 'gate', value: '1234' }] });
  assert.equal(task.customFields[0].value, '1234');

  const plan = await onfleet.routeplan.create({ name: 'Morning', startTime: Date.now() + 3600000, tasks: [task.id] });
  assert.match(plan.id, id);
  assert.deepEqual(plan.tasks, [task.id]);
  assert.equal((await onfleet.routeplan.get(plan.id)).name, 'Morning');
  assert.ok(Array.isArray(await onfleet.routeplan.get()));
  assert.equal((await onfleet.routeplan.update(plan.id, { name: 'Late morning' })).name, 'Late morning');
  assert.equal((await onfleet.routeplan.addTasksToRoutePlan(plan.id, { tasks: [made.task] })).tasks.length, 2);
  assert.equal(await onfleet.routeplan.deleteOne(plan.id), 200);
});

test('a manifest is generated', async () => {
  const manifest = await onfleet.workers.getDeliveryManifest({ hubId: made.hub, workerId: made.worker });
  assert.equal(manifest.driver.phone, '+16173428853');
  assert.ok(Array.isArray(manifest.tasks));
});

test('a task is placed with a connected organization', async () => {
  const response = await fetch(`${url}/api/v2/clients`, {
    method: 'POST', headers: { Authorization: `Basic ${btoa(`${process.env.DRAY_TEST_KEY}:`)}` }, body: JSON.stringify({ name: 'Shop' }),
  });
  const client = await response.json();
  const shop = new Onfleet(client.apiKey, 30000, null, url, '/api', '/v2');
  const courier = process.env.DRAY_TEST_ORG;
  assert.deepEqual((await shop.organization.get()).delegatees, [courier]);
  assert.equal((await shop.organization.get(courier)).name, 'Clients');
  assert.equal((await onfleet.organization.get(client.organization)).name, 'Shop');

  const task = await shop.tasks.create({ destination: place, recipients: [{ name: 'Ann', phone: '+16505551144', skipPhoneNumberValidation: true }], executor: courier });
  assert.equal(task.organization, client.organization);
  assert.deepEqual(task.container, { type: 'ORGANIZATION', organization: courier });
  assert.ok((await onfleet.containers.get(courier, 'organizations')).tasks.includes(task.id));
  assert.equal((await onfleet.tasks.get(task.id)).merchant, client.organization);
  await rejected(() => shop.organization.insertTask(courier, { tasks: [-1, task.id] }));

  await onfleet.workers.insertTask(made.worker, { tasks: [-1, task.id] });
  assert.equal((await shop.tasks.get(task.shortId, 'shortId')).worker, made.worker);
  assert.ok((await shop.tasks.get({ from: Date.now() - 3600000 })).tasks.some((listed) => listed.id === task.id));
  const manifest = await onfleet.workers.getDeliveryManifest({ hubId: made.hub, workerId: made.worker });
  assert.ok(manifest.tasks.some((listed) => listed.id === task.id));
  await rejected(() => shop.workers.getDeliveryManifest({ hubId: made.hub, workerId: made.worker }));
  await rejected(() => shop.workers.get(made.worker));
  assert.equal(await shop.tasks.deleteOne(task.id), 200);
});

test('a webhook is validated, notified and deleted', async () => {
  const hook = await onfleet.webhooks.create({ url: process.env.DRAY_TEST_HOOK, trigger: 6, name: 'created' });
  assert.equal(hook.count, 0);
  await onfleet.tasks.create({ destination: made.destination, recipients: [] });
  await eventually(async () => (await onfleet.webhooks.get()).find((h) => h.id === hook.id && h.count === 1));
  assert.equal(await onfleet.webhooks.deleteOne(hook.id), 200);
});

test('thirty calls in a row do not stop the client', async () => {
  for (let call = 0; call < 30; call++) {
    assert.equal((await onfleet.teams.get(made.team)).id, made.team);
  }
});

test('the records are deleted', async () => {
  assert.equal(await onfleet.workers.deleteOne(made.worker), 200);
  assert.equal(await onfleet.teams.deleteOne(made.team), 200);
});
