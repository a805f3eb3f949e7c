// Moves the worker smoothly from one reported location to the next.

import { distance, type Point } from '../map/project.ts';

const shortest = 400; // ms
const longest = 5000; // ms: what is shown is at most this old
const jump = 3000; // metres from which on a location is not the continuation of a drive

// between is the point on the way from a to b, at a part of it from 0 to 1.
export const between = (a: Point, b: Point, part: number): Point => [
  a[0] + (b[0] - a[0]) * part,
  a[1] + (b[1] - a[1]) * part,
];

// span is how long a move takes, in ms, after a gap between two reports; 0 to jump.
export function span(from: Point, to: Point, gap: number): number {
  const metres = distance(from, to);
  if (metres < 1 || metres > jump) return 0;
  return Math.max(shortest, Math.min(longest, gap * 0.9));
}

export class Glide {
  private at: Point | undefined;
  private reported = 0;
  private frame = 0;

  constructor(
    private readonly draw: (at: Point) => void,
    private readonly still: () => boolean, // the user wants no motion
  ) {}

  // to moves to the location that was reported at a time.
  to(point: Point, time: number) {
    cancelAnimationFrame(this.frame);
    const from = this.at;
    const takes = from && !this.still() ? span(from, point, time - this.reported) : 0;
    this.reported = time;
    if (!from || takes === 0) {
      this.show(point);
      return;
    }
    const start = performance.now();
    const step = (now: number) => {
      const part = Math.min(1, Math.max(0, now - start) / takes);
      this.show(between(from, point, part));
      if (part < 1) this.frame = requestAnimationFrame(step);
    };
    this.frame = requestAnimationFrame(step);
  }

  stop() {
    cancelAnimationFrame(this.frame);
    this.at = undefined;
  }

  private show(at: Point) {
    this.at = at;
    this.draw(at);
  }
}
