// The marks of stops and vehicles, the same on every map.

import type { Stop, Tone } from './scene.ts';

// Ink returns a color of map.css.
export type Ink = (name: string) => string;

// inkOf returns the colors that apply to an element.
export function inkOf(element: Element): Ink {
  const style = getComputedStyle(element);
  const known = new Map<string, string>(); // reading them is slow
  return (name) => {
    let color = known.get(name);
    if (color === undefined) known.set(name, (color = style.getPropertyValue(`--map-${name}`).trim()));
    return color;
  };
}

export const markSize = 48; // pixels of a mark with its outline
export const selfSize = 56;
export const smallFont = '600 12px system-ui, sans-serif';

const outline = 2.5;

// radius is half of the size of a mark. Stops that are next are larger.
const radius = (tone: Tone): number => ({ open: 13, active: 16, done: 11, failed: 12, goal: 16, hub: 14 })[tone];

// middle returns the vertical offset of a mark from its location, in pixels: pins are above
// their locations.
export const middle = (tone: Tone): number => (tone === 'active' || tone === 'goal' ? -20 : 0);

// shape returns the outline of a mark, with a margin around it.
function shape(tone: Tone, margin: number): Path2D {
  const path = new Path2D();
  const r = radius(tone) + margin;
  const y = middle(tone);
  switch (tone) {
    case 'active':
    case 'goal': {
      // A pin: its tip is at the location.
      const spread = 0.55; // radians from straight down to where the tip begins
      path.arc(0, y, r, Math.PI / 2 + spread, Math.PI / 2 - spread);
      path.lineTo(0, margin);
      path.closePath();
      break;
    }
    case 'failed':
      path.moveTo(0, -r - 2);
      for (const [dx, dy] of [[1, 0], [0, 1], [-1, 0]] as const) path.lineTo(dx * (r + 2), dy * (r + 2)); // prettier-ignore
      path.closePath();
      break;
    case 'hub':
      path.roundRect(-r, -r, 2 * r, 2 * r, 6);
      break;
    default:
      path.arc(0, 0, r, 0, 7);
  }
  return path;
}

// symbols are drawn instead of a number, as lines of points.
const house = [[[-7, 0.5], [0, -6.5], [7, 0.5]], [[-4.5, -1], [-4.5, 6], [4.5, 6], [4.5, -1]]]; // prettier-ignore
const symbols: Partial<Record<Tone, number[][][]>> = {
  done: [[[-4.5, 0], [-1.5, 3.5], [4.5, -3.5]]], // prettier-ignore
  failed: [[[-3.5, -3.5], [3.5, 3.5]], [[3.5, -3.5], [-3.5, 3.5]]], // prettier-ignore
  goal: house,
  hub: house,
};

// paintStop draws a stop with its location at the origin.
export function paintStop(ctx: CanvasRenderingContext2D, { tone, mark }: Pick<Stop, 'tone' | 'mark'>, ink: Ink) {
  ctx.save();
  ctx.shadowColor = 'rgb(0 0 0 / 35%)';
  ctx.shadowBlur = 5;
  ctx.shadowOffsetY = 1;
  ctx.fillStyle = ink('halo');
  ctx.fill(shape(tone, outline));
  ctx.shadowColor = 'transparent';
  ctx.fillStyle = ink(tone);
  ctx.fill(shape(tone, 0));
  ctx.translate(0, middle(tone));
  ctx.fillStyle = ctx.strokeStyle = ink('mark');
  const symbol = mark ? undefined : symbols[tone];
  if (symbol) {
    ctx.lineWidth = 2.2;
    ctx.lineCap = ctx.lineJoin = 'round';
    for (const line of symbol) {
      ctx.beginPath();
      for (const [x, y] of line) ctx.lineTo(x!, y!);
      ctx.stroke();
    }
  } else {
    const wide = mark.length > 2;
    ctx.font = `700 ${radius(tone) < 16 ? (wide ? 10 : 13) : wide ? 12 : 15}px system-ui, sans-serif`;
    ctx.textAlign = 'center';
    ctx.textBaseline = 'middle';
    ctx.fillText(mark, 0, 0.5);
  }
  ctx.restore();
}

// paintSelf draws a vehicle at the origin: an arrow to the north if its direction is
// known, a dot otherwise.
export function paintSelf(ctx: CanvasRenderingContext2D, directed: boolean, ink: Ink) {
  ctx.save();
  ctx.shadowColor = 'rgb(0 0 0 / 40%)';
  ctx.shadowBlur = 7;
  ctx.fillStyle = ink('halo');
  ctx.beginPath();
  ctx.arc(0, 0, directed ? 17 : 11, 0, 7);
  ctx.fill();
  ctx.shadowColor = 'transparent';
  ctx.fillStyle = ink('self');
  ctx.beginPath();
  ctx.arc(0, 0, directed ? 14 : 8, 0, 7);
  ctx.fill();
  if (directed) {
    ctx.fillStyle = ink('halo');
    ctx.beginPath();
    for (const [x, y] of [[0, -9], [6.5, 7], [0, 3.5], [-6.5, 7]] as const) ctx.lineTo(x, y); // prettier-ignore
    ctx.closePath();
    ctx.fill();
  }
  ctx.restore();
}

// picture returns a square image of what paint draws around its center.
export function picture(size: number, ratio: number, paint: (ctx: CanvasRenderingContext2D) => void): ImageData {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = Math.round(size * ratio);
  const ctx = canvas.getContext('2d')!;
  ctx.scale(ratio, ratio);
  ctx.translate(size / 2, size / 2);
  paint(ctx);
  return ctx.getImageData(0, 0, canvas.width, canvas.height);
}
