// Finds tasks and workers among the records of the board, by any part of their texts. The
// server, which has all records, finds them only by how a name, street or number begins.

import type { Records } from './records.ts';
import type { BoardTask, BoardWorker } from './wire.ts';

const most = 10; // results of a kind
const shortest = 2; // characters of a text

// find returns the records that contain every word of a text, tasks that are not completed first.
export function find(
  { tasks, workers }: Pick<Records, 'tasks' | 'workers'>,
  text: string,
): { tasks: BoardTask[]; workers: BoardWorker[] } {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const has = (...texts: (string | undefined)[]) => {
    const all = texts.join('\n').toLowerCase();
    return words.every((word) => all.includes(word));
  };
  if (text.trim().length < shortest) return { tasks: [], workers: [] };
  return {
    tasks: [...tasks.values()]
      .filter((t) =>
        has(t.shortId, t.orderShortId, t.recipients?.[0]?.name, t.recipients?.[0]?.phone, t.destination.line),
      )
      .sort((a, b) => Number(a.state === 3) - Number(b.state === 3))
      .slice(0, most),
    workers: [...workers.values()].filter((w) => has(w.name, w.phone)).slice(0, most),
  };
}
