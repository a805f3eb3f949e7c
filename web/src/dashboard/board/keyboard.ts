// The keys of the board. Everything that the mouse can do has one.

import { covered, typing } from '../keys.ts';
import { askToFinish, askToRemove, shift, togglePin, unassign } from './actions.ts';
import { board } from './board.svelte.ts';
import { listOf, workerOf } from './records.ts';

export interface Commands {
  assign: () => void;
  create: () => void;
  edit: () => void;
}

// chosen returns the tasks that a command applies to: the selection or, if it is empty, the
// task at the cursor.
export function chosen(): string[] {
  if (board.selection.size > 0) return [...board.selection];
  return board.records.tasks.has(board.cursor) ? [board.cursor] : [];
}

// handle handles a key, and reports whether it has a meaning.
export function handle(event: KeyboardEvent, commands: Commands): boolean {
  // A key that has closed a dialog must not also close what is behind it.
  if (event.defaultPrevented || covered()) return false;
  const on = event.target as HTMLElement;
  // If nothing has the focus, as after a dialog, keys go to the list, if there is one.
  const tree = document.querySelector('[role="tree"]');
  const list = tree !== null && (tree.contains(on) || on === document.body || on.id === 'main');
  const field = on.isContentEditable || on.matches('input, select, textarea');
  if (event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown') && !field) {
    void shift(chosen(), event.key === 'ArrowUp' ? -1 : 1);
    return true;
  }
  if (
    (event.ctrlKey || event.metaKey) &&
    event.key === 'a' &&
    (list || on === document.body || on.closest('[role="grid"]') !== null) &&
    !on.matches('input')
  ) {
    board.selectAll(board.rows().filter((id) => board.records.tasks.has(id)));
    return true;
  }
  // On many layouts, brackets are typed with Option or AltGr.
  if ((event.key === '[' || event.key === ']') && !field && !(event.metaKey || (event.ctrlKey && !event.altKey))) {
    board.shift(event.key === '[' ? -1 : 1);
    return true;
  }
  if (typing(event) && !list) return false;
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  switch (event.key) {
    case 'j':
    case 'J':
      return step(1, event.shiftKey);
    case 'k':
    case 'K':
      return step(-1, event.shiftKey);
    case 'ArrowDown':
    case 'ArrowUp':
      return list && step(event.key === 'ArrowDown' ? 1 : -1, event.shiftKey);
    case 'ArrowRight':
    case 'ArrowLeft':
      return list && unfold(event.key === 'ArrowRight');
    case 'Home':
    case 'End':
      return list && step(event.key === 'End' ? Infinity : -Infinity, event.shiftKey);
    case 'x':
    case ' ':
      if (event.key === ' ' && !list) return false;
      if (board.records.tasks.has(board.cursor)) board.select(board.cursor, 'toggle');
      return true;
    case 'Enter':
      if (!list && on !== document.body && on.id !== 'main') return false;
      if (!board.records.tasks.has(board.cursor)) board.fold(board.cursor);
      else if (board.open === board.cursor) document.getElementById('drawer')?.focus();
      else board.open = board.cursor;
      return true;
    case 'a':
      if (chosen().length > 0 && board.mayChange) commands.assign();
      return true;
    case 'u':
      void unassign(chosen());
      return true;
    case 'p':
      void togglePin(chosen());
      return true;
    case 'c':
      askToFinish(chosen());
      return true;
    case 'Delete':
      askToRemove(chosen());
      return true;
    case 'n':
      if (board.mayChange) commands.create();
      return true;
    case 'e':
      if (board.mayChange) commands.edit();
      return true;
    case 'f':
      document.getElementById('board-filter')?.focus();
      return true;
    case 't':
      board.choose('');
      return true;
    case 'Escape':
      if (board.open) board.open = '';
      else if (board.selection.size > 0) board.clear();
      else board.worker = '';
      return true;
  }
  return false;
}

function step(by: number, extend: boolean): boolean {
  const rows = board.rows();
  const at = rows.indexOf(board.cursor);
  const to = at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + by));
  const row = rows[to];
  if (!row) return true;
  if (!board.records.tasks.has(row)) {
    board.cursor = row;
    if (workerOf(row)) board.worker = workerOf(row);
  } else board.select(row, extend ? 'range' : 'only', rows);
  if (board.open && board.records.tasks.has(row)) board.open = row;
  return true;
}

// unfold opens or closes the list at the cursor, or moves the cursor from a task to its list.
function unfold(open: boolean): boolean {
  const task = board.records.tasks.get(board.cursor);
  if (!task) board.fold(board.cursor, open);
  else if (!open) {
    const key = board.records.home(task.id) ?? (task.worker ? listOf(task.worker) : 'O');
    board.cursor = key;
  }
  return true;
}
