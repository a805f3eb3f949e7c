// Moves a vehicle smoothly from one reported location to the next: along its way if it is
// near it, and straight otherwise.

import { distance, near, type Point } from './project.ts';
import { bearing, beside, type Way } from './way.ts';

const shortest = 400; // ms
const longest = 5000; // ms: the location shown is at most this old
const jump = 3000; // metres beyond which a location does not continue a drive
const turned = 5; // metres above which a move shows the direction

// Pose is where a vehicle is shown. `along` is set while it is on the way.
export interface Pose {
  point: Point;
  heading: number | null;
  along?: number;
}

// between returns the point at a part, from 0 to 1, of the line from a to b.
export const between = (a: Point, b: Point, part: number): Point => [
  a[0] + (near(b[0], a[0], 360) - a[0]) * part,
  a[1] + (b[1] - a[1]) * part,
];

// span returns the duration of a move in ms, given the time between two reports; 0 for a jump.
export function span(from: Point, to: Point, gap: number): number {
  const metres = distance(from, to);
  if (metres < 1 || metres > jump) return 0;
  return Math.max(shortest, Math.min(longest, gap * 0.9));
}

// poses returns the pose at each part, from 0 to 1, of a move.
export function poses(from: Pose | undefined, to: Point, heading: number | null, way?: Way): (part: number) => Pose {
  const spot = way && way.points.length > 1 ? way.find(to, from?.along) : undefined;
  if (way && spot && spot.off <= beside) {
    const begin = from && way.find(from.point, from.along);
    // A vehicle that has just come to the way, or skipped a loop of it, moves straight.
    if (!from || !begin || begin.off > 2 || begin.along > spot.along || spot.along - begin.along > 2 * jump) {
      const end: Pose = { ...way.at(spot.along), along: spot.along };
      return (part) => (part < 1 && from ? { ...end, point: between(from.point, end.point, part) } : end);
    }
    return (part) => {
      const along = begin.along + (spot.along - begin.along) * part;
      return { ...way.at(along), along };
    };
  }
  const direction = heading ?? (from && distance(from.point, to) > turned ? bearing(from.point, to) : from?.heading);
  return (part) => ({ point: from ? between(from.point, to, part) : to, heading: direction ?? null });
}

export class Glide {
  private pose: Pose | undefined;
  private reported = 0;
  private frame = 0;

  constructor(
    private readonly draw: (pose: Pose) => void,
    private readonly still: () => boolean, // the user wants no motion
  ) {}

  // to moves to the location that was reported at a time.
  to(point: Point, time: number, heading: number | null, way?: Way) {
    cancelAnimationFrame(this.frame);
    const move = poses(this.pose, point, heading, way);
    const takes = this.pose && !this.still() ? span(this.pose.point, move(1).point, time - this.reported) : 0;
    this.reported = time;
    if (takes === 0) {
      this.show(move(1));
      return;
    }
    const start = performance.now();
    const step = (now: number) => {
      const part = Math.min(1, Math.max(0, now - start) / takes);
      this.show(move(part));
      if (part < 1) this.frame = requestAnimationFrame(step);
    };
    this.frame = requestAnimationFrame(step);
  }

  stop() {
    cancelAnimationFrame(this.frame);
    this.pose = undefined;
  }

  private show(pose: Pose) {
    this.pose = pose;
    this.draw(pose);
  }
}
