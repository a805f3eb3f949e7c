// The map with streets, drawn by MapLibre from the server's tiles.

import type { Feature, Geometry } from 'geojson';
import { Map as Engine, Marker, ScaleControl, type GeoJSONSource, type MapMouseEvent } from 'maplibre-gl';
import { inkOf, markSize, middle, paintSelf, paintStop, picture, selfSize, type Ink } from '../marks.ts';
import { fit, metresPerUnit, project, unproject, unwrapped, type Place, type Point } from '../project.ts';
import { extent, line, type Drawing, type Options, type Scene, type Stop, type View } from '../scene.ts';
import type { TileSource } from '../tiles.ts';
import { keeping, keepTrying, options as common, styled, World } from './engine.ts';
import { levels } from './style.ts';

const reach = 26; // pixels around a tap in which a stop is found
const lineEvery = 250; // ms between updates of lines while a vehicle moves
const follows = 900; // ms that the view takes to follow
const roomLeft = 0.8; // zoom levels by which the view may be too far out before it zooms in

// Turns are called when the map can be drawn, and when it no longer can.
export interface Turns {
  ready: () => void; // everything is drawn, also after the context was lost
  lost: () => void; // the graphics context is gone
}

type Features = Feature[];

export class Street implements Drawing {
  readonly canvas: HTMLCanvasElement;
  private readonly map: Engine;
  private readonly scheme = matchMedia('(prefers-color-scheme: dark)');
  private readonly calm = matchMedia('(prefers-reduced-motion: reduce)');
  private readonly ratio = Math.min(3, Math.max(2, Math.ceil(devicePixelRatio || 1)));
  private ink: Ink;
  private scene: Scene = { stops: [], self: null, route: false };
  private vehicle: Marker | undefined;
  private directed: boolean | undefined;
  private linesAt = 0;
  private linesDue: ReturnType<typeof setTimeout> | undefined;
  private shown: readonly Stop[] | undefined;
  private scale: ScaleControl | undefined;
  private miles: boolean | undefined;
  private touched = false;
  private opened = false;
  private live = false; // the style is loaded
  private readonly world: World;

  constructor(
    private readonly host: HTMLElement,
    private readonly tiles: TileSource,
    private readonly options: Options,
    turns: Turns,
  ) {
    this.ink = inkOf(host);
    this.map = new Engine({
      container: host,
      style: styled(this.ink, tiles, false),
      ...common,
      interactive: !options.still,
      cooperativeGestures: options.scrolls ?? false,
      fadeDuration: this.calm.matches ? 0 : 200,
      locale: { 'Map.Title': options.label },
      trackResize: true,
    });
    this.canvas = this.map.getCanvas();
    this.map.touchZoomRotate?.disableRotation();
    this.map.keyboard?.disableRotation();
    this.scheme.addEventListener('change', this.repaint);
    this.map.once('load', () => this.begin(turns.ready));
    this.map.on('webglcontextlost', () => {
      this.live = false;
      turns.lost();
    });
    this.map.on('webglcontextrestored', () => this.map.once('idle', () => this.begin(turns.ready)));
    keepTrying(this.map);
    this.map.on('movestart', (e) => {
      if ((e as { originalEvent?: Event }).originalEvent) this.touched = true;
    });
    this.world = new World(this.map, () => styled(this.ink, this.tiles, true));
    this.map.on('resize', () => {
      if (!this.touched) this.aim(false);
    });
    this.map.on('click', (e) => this.choose(e));
  }

  // begin draws the scene with a new style.
  private begin(ready: () => void) {
    this.live = true;
    this.shown = undefined;
    this.linesAt = 0;
    this.update();
    this.map.once('idle', ready);
  }

  destroy() {
    this.live = false;
    clearTimeout(this.linesDue);
    this.scheme.removeEventListener('change', this.repaint);
    this.map.remove();
    this.host.remove();
  }

  show(scene: Scene) {
    const before = this.scene;
    this.scene = scene;
    if (!this.opened) this.aim(false);
    else if (!this.touched) this.follow(before);
    if (this.live) this.update();
  }

  fitAll() {
    this.touched = false;
    this.aim(true);
  }

  zoomBy(by: number) {
    this.touched = true;
    const { clientWidth, clientHeight } = this.host;
    const { top = 0, right = 0, bottom = 0, left = 0 } = this.options.covered ?? {};
    const middle: [number, number] = [(clientWidth + left - right) / 2, (clientHeight + top - bottom) / 2];
    this.map.easeTo({
      zoom: this.map.getZoom() + by,
      around: this.map.unproject(middle),
      duration: this.calm.matches ? 0 : 250,
    });
  }

  moved(): View | undefined {
    if (!this.touched) return undefined;
    const { lng, lat } = this.map.getCenter();
    return { centre: [lng, lat], zoom: this.map.getZoom() + levels };
  }

  middle(): Point {
    const { lng, lat } = this.map.getCenter().wrap();
    return [lng, lat];
  }

  look({ centre, zoom }: View) {
    this.touched = this.opened = true;
    this.map.jumpTo({ center: [...centre], zoom: zoom - levels });
  }

  // aim shows the whole content.
  private aim(smoothly: boolean) {
    const view = this.wanted();
    if (!view) return;
    this.opened = true;
    if (smoothly && !this.calm.matches) this.map.easeTo({ ...view, duration: follows });
    else this.map.jumpTo(view);
  }

  private wanted(): { center: [number, number]; zoom: number } | undefined {
    const places = extent(this.scene).map(project);
    const { clientWidth, clientHeight } = this.host;
    if (clientWidth === 0) return undefined;
    if (places.length === 0) {
      if (!this.tiles.center) return undefined;
      places.push(project(this.tiles.center));
    }
    const inset = { top: 44, right: 44, bottom: 44, left: 44, ...this.options.covered };
    const view = fit(places, clientWidth, clientHeight, inset, this.options.closest ?? 16);
    const [lon, lat] = unproject(view.centre);
    return { center: [lon, lat], zoom: Math.max(1, view.zoom - levels) };
  }

  // follow moves the view when its content has changed, or is about to leave it. It
  // does not follow every meter: a map that always moves cannot be read.
  private follow(before: Scene) {
    if (this.map.isMoving()) return;
    const view = this.wanted();
    if (!view) return;
    const { self } = this.scene;
    const spots = (s: Scene) => s.stops.map((stop) => stop.point.join()).join(';');
    const changed =
      !self !== !before.self || (before.stops !== this.scene.stops && spots(before) !== spots(this.scene));
    if (changed || view.zoom - this.map.getZoom() > roomLeft || (self && !this.sees(self.point))) this.aim(true);
  }

  // sees reports whether a point is well inside the uncovered part of the view.
  private sees(point: Point): boolean {
    const { lng } = this.map.getCenter();
    const [at] = unwrapped([[lng, 0], point]).slice(1);
    const { x, y } = this.map.project([at![0], at![1]]);
    const { top = 0, right = 0, bottom = 0, left = 0 } = this.options.covered ?? {};
    const { clientWidth, clientHeight } = this.host;
    return x > left + 24 && x < clientWidth - right - 24 && y > top + 24 && y < clientHeight - bottom - 24;
  }

  // repaint applies the colors of the scheme.
  private readonly repaint = () => {
    this.ink = inkOf(this.host);
    const kept = keeping('world', 'trail', 'route', 'accuracy', 'stops');
    this.map.setStyle(styled(this.ink, this.tiles, this.world.loaded), kept);
    for (const image of this.map.listImages()) this.map.removeImage(image);
    this.shown = this.directed = undefined;
    this.vehicle?.remove();
    this.vehicle = undefined;
    if (this.live) this.update();
  };

  // update passes the scene to the map.
  private update() {
    if (this.scene.stops !== this.shown) this.setStops();
    this.setSelf();
    this.setScale();
    const wait = this.linesAt + lineEvery - performance.now();
    if (wait <= 0) this.setLines();
    else this.linesDue ??= setTimeout(() => this.setLines(), wait);
  }

  private set(source: string, features: Features) {
    this.map.getSource<GeoJSONSource>(source)?.setData({ type: 'FeatureCollection', features });
  }

  private setStops() {
    const { stops } = this.scene;
    this.shown = stops;
    // Labels point to the middle of the map, so that they are not cut off at its edge.
    const xs = unwrapped(stops.map((s) => s.point)).map(([lon]) => lon);
    const middleOf = (Math.min(...xs) + Math.max(...xs)) / 2;
    const rank = { done: 0, failed: 1, hub: 2, open: 3, goal: 4, active: 5 };
    const features = stops.map((stop, i) => {
      const image = `${stop.tone} ${stop.mark}`;
      if (!this.map.hasImage(image)) {
        const data = picture(2 * markSize, this.ratio, (ctx) => paintStop(ctx, stop, this.ink));
        this.map.addImage(image, data, { pixelRatio: this.ratio });
      }
      const label = stop.label.length > 40 ? stop.label.slice(0, 39) + '…' : stop.label;
      // Of marks that overlap, those of the next stops are on top.
      const order = rank[stop.tone] * stops.length + (stops.length - i);
      const main = stop.tone === 'active' || stop.tone === 'goal';
      const side = `${middle(stop.tone) < 0 ? 'pin' : 'disc'} ${xs[i]! > middleOf ? 'right' : 'left'}`;
      return feature({ image, label, order, main, side }, { type: 'Point', coordinates: [...stop.point] });
    });
    this.set('stops', features);
  }

  private setSelf() {
    const { self } = this.scene;
    if (!self) {
      this.vehicle?.remove();
      this.vehicle = undefined;
      return;
    }
    const directed = self.heading !== null;
    if (this.vehicle && this.directed !== directed) {
      this.vehicle.remove();
      this.vehicle = undefined;
    }
    const { heading, point } = self;
    if (!this.vehicle) {
      this.directed = directed;
      const element = document.createElement('div');
      element.append(vehicle(directed, this.ink, this.ratio));
      element.setAttribute('aria-hidden', 'true');
      this.vehicle = new Marker({ element, rotationAlignment: 'map', pitchAlignment: 'map' });
      this.vehicle
        .setLngLat([...point])
        .setRotation(heading ?? 0)
        .addTo(this.map);
      return;
    }
    this.vehicle.setLngLat([...point]).setRotation(heading ?? 0);
  }

  private setLines() {
    this.linesDue = undefined;
    this.linesAt = performance.now();
    if (!this.live) return;
    const { trail = [], way, self } = this.scene;
    this.set('trail', strand(trail, {}));
    this.set('route', strand(line(this.scene), { roads: (way?.length ?? 0) > 1 }));
    this.set('accuracy', self?.accuracy ? [circle(self.point, self.accuracy)] : []);
  }

  private setScale() {
    const miles = this.scene.miles ?? false;
    if (this.options.still || miles === this.miles) return;
    this.miles = miles;
    this.scale ??= new ScaleControl({ maxWidth: 90 });
    this.scale.setUnit(miles ? 'imperial' : 'metric');
    if (!this.map.hasControl(this.scale)) this.map.addControl(this.scale, 'bottom-left');
  }

  private choose({ point: { x, y }, lngLat }: MapMouseEvent) {
    if (this.options.place) {
      this.touched = true; // the view stays where it is
      const { lng, lat } = lngLat.wrap();
      this.options.place([lng, lat]);
      return;
    }
    let best: Stop | undefined;
    let nearest = reach;
    for (const stop of this.scene.stops) {
      const [, at] = unwrapped([[this.map.getCenter().lng, 0], stop.point]);
      const seen = this.map.project([at![0], at![1]]);
      const away = Math.hypot(seen.x - x, seen.y + middle(stop.tone) - y);
      if (away < nearest) [best, nearest] = [stop, away];
    }
    if (best) this.options.pick?.(best.id);
  }
}

function vehicle(directed: boolean, ink: Ink, ratio: number): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = selfSize * ratio;
  canvas.style.width = canvas.style.height = `${selfSize}px`;
  canvas.getContext('2d')!.putImageData(
    picture(selfSize, ratio, (ctx) => paintSelf(ctx, directed, ink)),
    0,
    0,
  );
  return canvas;
}

const feature = <G extends Geometry>(properties: Record<string, unknown>, geometry: G): Feature => ({
  type: 'Feature',
  properties,
  geometry,
});

// strand returns a line that may cross the antimeridian.
function strand(line: readonly Point[], properties: Record<string, unknown>): Features {
  if (line.length < 2) return [];
  return [feature(properties, { type: 'LineString', coordinates: unwrapped(line).map((p) => [...p]) })];
}

// circle returns the area within metres of a point.
function circle(point: Point, metres: number): Feature {
  const [x, y] = project(point);
  const radius = metres / metresPerUnit([x, y]);
  const ring = Array.from({ length: 65 }, (_, i) => {
    const turn = (i / 64) * 2 * Math.PI;
    const place: Place = [x + radius * Math.cos(turn), y + radius * Math.sin(turn)];
    return [...unproject(place)];
  });
  return feature({}, { type: 'Polygon', coordinates: [ring] });
}
