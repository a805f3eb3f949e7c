import assert from 'node:assert/strict';
import { test } from 'node:test';
import { urgent } from '../src/dashboard/urgent.ts';

interface Task {
  id: string;
  completeBefore: number | null;
}

// listed returns a function that reads the first page of some tasks, like the API.
function listed(deadlines: (number | null)[]) {
  const tasks: Task[] = deadlines.map((completeBefore, i) => ({ id: `t${i}`, completeBefore }));
  let reads = 0;
  const read = async (by?: number) => {
    reads++;
    assert.ok(by === undefined || by <= 4_102_444_800_000, `the API rejects ${by}`);
    const all = tasks.filter((t) => by === undefined || (t.completeBefore !== null && t.completeBefore <= by));
    return { tasks: all.slice(0, 64), ...(all.length > 64 && { lastId: all[63]!.id }) };
  };
  return { read, reads: () => reads };
}

const times = (tasks: Task[]) => tasks.map((t) => t.completeBefore);

test('the tasks due first are found however late they were created', async () => {
  // Each page has the latest deadlines: the worst order there is.
  const { tasks, count, more } = await urgent(8, listed(Array.from({ length: 500 }, (_, i) => 500 - i)).read);
  assert.deepEqual(times(tasks), [1, 2, 3, 4, 5, 6, 7, 8]);
  assert.deepEqual([count, more], [64, true]);

  const endless = listed(Array.from({ length: 5000 }, (_, i) => 5000 - i));
  assert.equal((await urgent(8, endless.read)).tasks.length, 8);
  assert.equal(endless.reads(), 10);

  const mixed = listed(Array.from({ length: 5000 }, (_, i) => (i * 7919) % 5003));
  const expected = Array.from({ length: 5000 }, (_, i) => (i * 7919) % 5003).sort((a, b) => a - b);
  assert.deepEqual(times((await urgent(8, mixed.read)).tasks), expected.slice(0, 8));
  assert.ok(mixed.reads() < 6, `${mixed.reads()} reads`);
});

test('tasks without a deadline come last, and equal deadlines hide no earlier one', async () => {
  const few = listed([null, 3, null, 1]);
  assert.deepEqual(times((await urgent(3, few.read)).tasks), [1, 3, null]);
  assert.equal(few.reads(), 1);
  assert.deepEqual(times((await urgent(3, listed([...Array(100).fill(null), 5, 4]).read)).tasks), [4, 5, null]);
  assert.deepEqual(times((await urgent(3, listed([...Array(100).fill(9), 5, 4]).read)).tasks), [4, 5, 9]);
  assert.deepEqual((await urgent(3, listed([]).read)).tasks, []);
});
