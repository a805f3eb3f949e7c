// The content of a map, and the interface of its implementations.

import type { Inset, Point } from './project.ts';

export interface Stop {
  id: string;
  point: Point;
  mark: string; // number in the route; "" for tones with a symbol
  label: string;
  tone: Tone;
}

// Tone is the state of a stop. Each has its own shape and color.
export type Tone = 'open' | 'active' | 'done' | 'failed' | 'goal' | 'hub';

export interface Self {
  point: Point;
  time?: number; // when the location was reported, in ms
  accuracy: number | null; // metres
  heading: number | null; // degrees from north
}

export interface Scene {
  stops: readonly Stop[];
  self: Self | null;
  route: boolean; // draw a line from the worker through the stops
  way?: readonly Point[]; // the line along roads, if it is known
  trail?: readonly Point[]; // where the worker came from
  miles?: boolean; // the scale is in miles instead of kilometres
  home?: Point | null; // shown when there is nothing else
}

export interface Options {
  label: string; // for screen readers
  pick?: (id: string) => void;
  place?: (point: Point) => void; // called for a click, or for Enter with the middle of the map
  covered?: Partial<Inset>; // parts of the map that other elements cover
  closest?: number; // maximum zoom of fitAll, in units of project.ts
  scrolls?: boolean; // one finger on the map scrolls the page
  still?: boolean; // no interaction: a picture
}

// View is the part of the world that is visible.
export interface View {
  centre: Point;
  zoom: number;
}

// Drawing draws scenes: with streets, or without.
export interface Drawing {
  readonly canvas: HTMLCanvasElement;
  // show replaces the content. The view follows until the user moves it.
  show(scene: Scene): void;
  // fitAll zooms to the whole content.
  fitAll(): void;
  zoomBy(by: number): void;
  // moved returns the view that the user chose, if any.
  moved(): View | undefined;
  look(view: View): void;
  middle(): Point; // returns the middle of the visible part
  destroy(): void;
}

// points returns the locations that must be visible; home if there are none.
export function points(scene: Scene): Point[] {
  const all = scene.stops.map((s) => s.point);
  if (scene.self) all.push(scene.self.point);
  if (all.length === 0 && scene.home) all.push(scene.home);
  return all;
}

// extent returns the points of the whole content, including the way.
export const extent = (scene: Scene): Point[] => [...points(scene), ...(scene.way ?? [])];

// line returns the line of the route: along roads if they are known, straight from the
// worker through the open stops otherwise.
export function line({ way, route, stops, self }: Scene): readonly Point[] {
  if (way && way.length > 1) return way;
  if (!route) return [];
  const open = stops.filter((s) => s.tone !== 'done' && s.tone !== 'failed' && s.tone !== 'hub').map((s) => s.point);
  return self ? [self.point, ...open] : open;
}
