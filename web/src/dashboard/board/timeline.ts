// How a row of the timeline is drawn.

import type { Bar } from './bars.ts';

export const rowTall = 30; // pixels

export type Palette = (name: string) => string; // returns a color of the style sheet

export interface Strip {
  y: number;
  x: (time: number) => number;
  wide: number;
  bars: readonly Bar[];
  shifts: readonly (readonly [number, number])[];
  chosen: ReadonlySet<string>;
}

const tall = 14; // height of a stop in pixels
const colors = { completed: 'map-done', failed: 'bad', active: 'map-active', assigned: 'map-open', unassigned: 'warn' };

export function paint(
  ctx: OffscreenCanvasRenderingContext2D,
  ink: Palette,
  { y, x, wide, bars, shifts, chosen }: Strip,
) {
  ctx.fillStyle = ink('sunk');
  for (const [from, to] of shifts) ctx.fillRect(x(from), y + 1, x(to) - x(from), rowTall - 2);
  const top = y + (rowTall - tall) / 2 - 2;
  ctx.font = '600 10px system-ui, sans-serif';
  ctx.textAlign = 'center';
  ctx.textBaseline = 'middle';
  let number = 0;
  for (const bar of bars) {
    if (bar.status === 'assigned') number++;
    const [left, right] = [x(bar.from), Math.max(x(bar.to), x(bar.from) + 4)];
    const start = x(bar.drive);
    if (right < -20 || start > wide + 20) continue;
    const late = bar.risk === 'late';
    const color = ink(late ? 'bad' : colors[bar.status]);
    if (left - start > 1) {
      ctx.fillStyle = color;
      ctx.globalAlpha = 0.4;
      ctx.fillRect(start, top + tall / 2 - 1, left - start, 2);
      ctx.globalAlpha = 1;
    }
    // The window, below the stop; open ends fade.
    const { completeAfter, completeBefore } = bar.task;
    if (bar.status !== 'completed' && (completeAfter !== undefined || completeBefore !== undefined)) {
      const from = completeAfter === undefined ? left - 12 : x(completeAfter);
      const to = completeBefore === undefined ? right + 12 : x(completeBefore);
      ctx.fillStyle = late ? ink('bad') : bar.risk === 'tight' ? ink('warn') : ink('soft');
      ctx.globalAlpha = chosen.has(bar.id) ? 1 : 0.35;
      ctx.fillRect(from, y + rowTall - 5, to - from, 2);
      if (completeBefore !== undefined) ctx.fillRect(to - 2, y + rowTall - 8, 2, 5);
      ctx.globalAlpha = 1;
    }
    ctx.fillStyle = color;
    ctx.globalAlpha = bar.status === 'completed' ? 0.55 : 1;
    ctx.beginPath();
    ctx.roundRect(left, top, right - left, tall, 3);
    ctx.fill();
    ctx.globalAlpha = 1;
    if (bar.risk === 'tight') {
      ctx.fillStyle = ink('warn');
      ctx.fillRect(left, top + tall - 3, right - left, 3);
    }
    if (chosen.has(bar.id)) {
      ctx.strokeStyle = ink('map-self');
      ctx.lineWidth = 2;
      ctx.stroke();
    }
    if (right - left > 15 && (bar.status === 'assigned' || bar.status === 'failed')) {
      ctx.fillStyle = ink('card');
      ctx.fillText(bar.status === 'failed' ? '×' : String(number), (left + right) / 2, top + tall / 2 + 0.5);
    }
  }
}
