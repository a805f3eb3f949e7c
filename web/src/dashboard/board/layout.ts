// Computes the positions of the rows of the lists without building all rows.

import type { Group } from './groups.ts';
import type { ListKey } from './records.ts';

export const headHeight = 46; // pixels
export const rowHeight = 44;

export interface Row {
  key: ListKey; // key of the list
  id: string; // id of the task; '' for the head of the list
  y: number;
  index: number; // position in the list; -1 for the head
  size: number; // number of tasks that the list shows
  group?: Group; // only for heads
}

export class Layout {
  readonly height: number;
  private readonly tops: number[] = [];

  constructor(
    private readonly groups: readonly Group[],
    private readonly unfolds: (key: string) => boolean,
  ) {
    let y = 0;
    for (const group of groups) {
      this.tops.push(y);
      y += headHeight + (unfolds(group.key) ? group.ids.length * rowHeight : 0);
    }
    this.height = y;
  }

  // visible returns the rows between two heights.
  visible(from: number, to: number): Row[] {
    const rows: Row[] = [];
    for (let g = this.groupAt(from); g < this.groups.length && this.tops[g]! < to; g++) {
      const group = this.groups[g]!;
      const { key, ids } = group;
      const y = this.tops[g]!;
      const size = ids.length;
      rows.push({ key, id: '', y, index: -1, size, group });
      if (!this.unfolds(key)) continue;
      const first = Math.max(0, Math.floor((from - y - headHeight) / rowHeight));
      const last = Math.min(size, Math.ceil((to - y - headHeight) / rowHeight));
      for (let i = first; i < last; i++) {
        rows.push({ key, id: ids[i]!, y: y + headHeight + i * rowHeight, index: i, size });
      }
    }
    return rows;
  }

  // find returns the top and height of the row of a list or a task.
  find(row: string): { y: number; height: number } | undefined {
    for (let g = 0; g < this.groups.length; g++) {
      const { key, ids } = this.groups[g]!;
      if (key === row) return { y: this.tops[g]!, height: headHeight };
      const i = this.unfolds(key) ? ids.indexOf(row) : -1;
      if (i >= 0) return { y: this.tops[g]! + headHeight + i * rowHeight, height: rowHeight };
    }
    return undefined;
  }

  private groupAt(y: number): number {
    let [low, high] = [0, this.tops.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.tops[middle]! <= y) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }
}

// settled returns rows in which each row that is equal to a former one is the same object,
// which is not rendered again.
export function settled(before: Row[], rows: readonly Row[]): Row[] {
  const known = new Map(before.map((r) => [r.id || r.key, r]));
  const next = rows.map((row) => {
    const old = known.get(row.id || row.key);
    const { key, y, index, size, group } = row;
    const same = old?.key === key && old.y === y && old.index === index && old.size === size && old.group === group;
    return same ? old : row;
  });
  return next.length === before.length && next.every((row, i) => row === before[i]) ? before : next;
}

// Slots gives rows that appear the elements of rows that disappear: creating elements costs
// more than changing their texts.
export class Slots {
  private taken = new Map<string, number>();

  // give returns the slots of rows, by their keys. Rows that stay keep their slots.
  give(keys: readonly string[]): ReadonlyMap<string, number> {
    const given = new Map<string, number>();
    const free = new Set(this.taken.values());
    let next = Math.max(-1, ...free) + 1;
    for (const key of keys) {
      const slot = this.taken.get(key);
      if (slot !== undefined && free.delete(slot)) given.set(key, slot);
    }
    const left = [...free];
    for (const key of keys) if (!given.has(key)) given.set(key, left.pop() ?? next++);
    return (this.taken = given);
  }
}
