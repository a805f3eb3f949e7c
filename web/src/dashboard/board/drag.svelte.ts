// Dragging tasks with the mouse from any view to a list. With the keyboard, the command
// "assign" and Alt with the arrow keys do the same.

import { board } from './board.svelte.ts';
import type { ListKey } from './records.ts';

const slack = 5; // pixels of movement before a drag begins

export interface Target {
  key: ListKey;
  before: string; // the task to insert before; '' for the end
}

class Drag {
  ids = $state.raw<readonly string[]>([]); // empty if nothing is dragged
  x = $state(0);
  y = $state(0);
  over = $state.raw<Target | undefined>();
  justEnded = false; // set during the click event that follows a drag, which must be ignored
  dropped: (ids: readonly string[], target: Target) => void = () => {};
  locate: ((key: ListKey, clientX: number) => string) | undefined; // returns Target.before in a row of the timeline
  private end: (() => void) | undefined;

  begin(event: PointerEvent, ids: readonly string[]) {
    if (event.button !== 0 || event.pointerType === 'touch' || ids.length === 0) return;
    const [startX, startY] = [event.clientX, event.clientY];
    const move = (e: PointerEvent) => {
      if (this.ids.length === 0) {
        if (Math.hypot(e.clientX - startX, e.clientY - startY) < slack) return;
        this.ids = ids;
        getSelection()?.removeAllRanges();
      }
      [this.x, this.y] = [e.clientX, e.clientY];
      this.over = this.find(e);
      e.preventDefault();
    };
    const up = () => {
      const { over } = this;
      const dragged = this.ids.length > 0;
      this.cancel();
      if (!dragged) return;
      this.justEnded = true;
      setTimeout(() => (this.justEnded = false));
      if (over) this.dropped(ids, over);
    };
    const key = (e: KeyboardEvent) => {
      if (e.key !== 'Escape' || this.ids.length === 0) return;
      e.stopPropagation();
      this.cancel();
    };
    this.end = () => {
      removeEventListener('pointermove', move);
      removeEventListener('pointerup', up);
      removeEventListener('pointercancel', this.cancel);
      removeEventListener('keydown', key, true);
    };
    addEventListener('pointermove', move);
    addEventListener('pointerup', up);
    addEventListener('pointercancel', this.cancel);
    addEventListener('keydown', key, true);
  }

  readonly cancel = () => {
    this.end?.();
    this.end = undefined;
    this.ids = [];
    this.over = undefined;
  };

  // find returns the list under the pointer, and the position in it.
  private find({ clientX, clientY }: PointerEvent): Target | undefined {
    const row = document.elementFromPoint(clientX, clientY)?.closest<HTMLElement>('[data-list]');
    const key = row?.dataset['list'];
    if (!row || !key) return undefined;
    if (row.dataset['located'] !== undefined) return { key, before: this.locate?.(key, clientX) ?? '' };
    const { top, height } = row.getBoundingClientRect();
    const before = board.groups.slot(key, row.dataset['task'] ?? '', clientY >= top + height / 2, this.ids);
    return before === undefined ? undefined : { key, before };
  }
}

export const drag = new Drag();
