// The part of the world that the map shows, and the positions of locations on the screen.
// Because the map cannot be rotated, each of the thousands of positions takes only one
// multiplication per axis.

import { project, type Point } from '../../../map/project.ts';

export class Camera {
  width = 0; // pixels
  height = 0;
  zoom = 0; // zoom level of MapLibre
  private left = 0;
  private top = 0;
  private scale = 1;

  // look sets the part of the world that is shown.
  look(centre: Point, zoom: number, width: number, height: number) {
    const [x, y] = project(centre);
    this.scale = 512 * 2 ** zoom;
    this.zoom = zoom;
    this.width = width;
    this.height = height;
    this.left = x - width / 2 / this.scale;
    this.top = y - height / 2 / this.scale;
  }

  x(place: number): number {
    return (place - this.left) * this.scale;
  }

  y(place: number): number {
    return (place - this.top) * this.scale;
  }

  // sees reports whether a point of the screen is visible, or less than margin outside.
  sees(x: number, y: number, margin = 24): boolean {
    return x > -margin && y > -margin && x < this.width + margin && y < this.height + margin;
  }
}

// inside reports whether a point is in a polygon.
export function inside(x: number, y: number, polygon: readonly (readonly [number, number])[]): boolean {
  let within = false;
  for (let i = 0, j = polygon.length - 1; i < polygon.length; j = i++) {
    const [[ax, ay], [bx, by]] = [polygon[i]!, polygon[j]!];
    if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) within = !within;
  }
  return within;
}
