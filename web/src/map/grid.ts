// Squares of a round number of metres, so that distances can be estimated where nothing
// else is drawn.

import { metresPerUnit, round, size, type Place } from './project.ts';

// Frame is the part of the world that a picture shows.
interface Frame {
  centre: Place;
  zoom: number;
  width: number; // pixels
  height: number;
}

// gridLines returns where vertical and horizontal lines cross the edges of a picture, in
// pixels from its left and upper edge.
export function gridLines({ centre, zoom, width, height }: Frame): { across: number[]; down: number[] } {
  const scale = size(zoom);
  const step = round((metresPerUnit(centre) / scale) * 130) / metresPerUnit(centre);
  const lines = (middle: number, length: number) => {
    const half = length / 2 / scale;
    const found: number[] = [];
    for (let at = Math.ceil((middle - half) / step) * step; at < middle + half; at += step) {
      found.push(Math.round(length / 2 + (at - middle) * scale) + 0.5);
    }
    return found;
  };
  return { across: lines(centre[0], width), down: lines(centre[1], height) };
}

type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

// paintGrid draws the lines in a picture, and in a margin around it.
export function paintGrid(ctx: Context, frame: Frame, color: string, alpha: number, margin = 0) {
  const [width, height] = [frame.width + 2 * margin, frame.height + 2 * margin];
  const { across, down } = gridLines({ ...frame, width, height });
  ctx.save();
  ctx.translate(-margin, -margin);
  ctx.globalAlpha = alpha;
  ctx.strokeStyle = color;
  ctx.lineWidth = 1;
  ctx.beginPath();
  for (const x of across) {
    ctx.moveTo(x, 0);
    ctx.lineTo(x, height);
  }
  for (const y of down) {
    ctx.moveTo(0, y);
    ctx.lineTo(width, y);
  }
  ctx.stroke();
  ctx.restore();
}
