// The map of every page. It draws streets if the server has tiles for the area and the
// device can draw them, and a simpler map otherwise. It switches when this changes.

import { Chart } from './chart.ts';
import { Glide, type Pose } from './glide.ts';
import { points, type Drawing, type Options, type Scene } from './scene.ts';
import { covers, tileSource, type TileSource } from './tiles.ts';
import { Way } from './way.ts';

export type { Options, Scene, Stop } from './scene.ts';

export class MapView {
  private scene: Scene = { stops: [], self: null, route: false };
  private way: Way | undefined;
  private pose: Pose | undefined; // where the vehicle is shown
  private drawing: Drawing;
  private streets: Drawing | undefined; // kept even while it is not shown
  private tiles: TileSource | null | undefined;
  private lost = true; // the streets cannot be drawn
  private starting = false;
  private failed = false;
  private gone = false;
  private at = -1; // index of the stop that was picked with keys
  private readonly credit = document.createElement('p');
  private readonly glide = new Glide(
    (pose) => this.draw(pose),
    () => matchMedia('(prefers-reduced-motion: reduce)').matches,
  );

  constructor(
    private readonly host: HTMLElement,
    private readonly options: Options,
  ) {
    host.classList.add('map-frame');
    host.classList.toggle('scrolls', options.scrolls ?? false);
    this.credit.className = 'map-credit';
    this.drawing = this.chart();
    host.addEventListener('keydown', this.key);
    addEventListener('online', this.find);
    this.find();
  }

  destroy() {
    this.gone = true;
    this.glide.stop();
    this.host.removeEventListener('keydown', this.key);
    removeEventListener('online', this.find);
    this.drawing.destroy();
    if (this.streets !== this.drawing) this.streets?.destroy();
    this.credit.remove();
  }

  // show replaces the content. A vehicle moves to its new location.
  show(scene: Scene) {
    const { self } = scene;
    const before = this.scene;
    this.scene = scene;
    const sameWay = scene.way === before.way || !this.changeWay(scene);
    this.host.dataset.line = this.way ? 'roads' : scene.route ? 'straight' : 'none';
    this.choose();
    if (!self) {
      this.glide.stop();
      this.pose = undefined;
      this.drawing.show(scene);
    } else if (sameWay && this.pose && before.self?.point.join() === self.point.join()) {
      this.draw(this.pose);
    } else this.glide.to(self.point, self.time ?? Date.now(), self.heading, this.way);
  }

  // changeWay adopts the way of a scene, and reports whether it is another one.
  private changeWay({ way, self }: Scene): boolean {
    const next = way && way.length > 1 ? new Way(way) : undefined;
    if (next && !next.replaces(this.way, self?.point)) return false;
    this.way = next;
    return true;
  }

  // draw shows the vehicle between two locations, and what is left of its way.
  private draw(pose: Pose) {
    this.pose = pose;
    const { scene, way } = this;
    if (!scene.self) return;
    const along = pose.along ?? way?.find(pose.point).along;
    this.drawing.show({
      ...scene,
      self: { ...scene.self, point: pose.point, heading: pose.heading },
      ...(way && along !== undefined && { way: [pose.point, ...way.rest(along)] }),
      ...(scene.trail && { trail: [...scene.trail.slice(0, -1), pose.point] }),
    });
  }

  fitAll() {
    this.drawing.fitAll();
  }

  zoomBy(by: number) {
    this.drawing.zoomBy(by);
  }

  label(text: string) {
    this.options.label = text;
    for (const drawing of [this.drawing, this.streets]) drawing?.canvas.setAttribute('aria-label', text);
  }

  // find requests the source of tiles once the page is painted.
  private readonly find = () => {
    requestAnimationFrame(() =>
      setTimeout(async () => {
        this.tiles ??= await tileSource();
        if (!this.gone) this.choose();
      }),
    );
  };

  // choose decides what draws the scene.
  private choose() {
    const { tiles, scene } = this;
    if (!tiles || this.failed) return;
    const seen = points(scene);
    const covered = seen.length === 0 || seen.some((p) => covers(tiles, p));
    this.give(covered ? tiles.attribution : '');
    if (covered && !this.streets && !this.starting) void this.start(tiles);
    if (!covered && this.streets && this.drawing === this.streets) this.change(this.chart());
    else if (covered && this.streets && this.drawing !== this.streets && !this.lost) this.change(this.streets);
  }

  private async start(tiles: TileSource) {
    this.starting = true;
    const inner = document.createElement('div');
    try {
      if (graphics() === 'none') throw new Error('no WebGL');
      const { Street } = await import('./ondemand/street.ts');
      if (this.gone) return;
      this.host.prepend(inner); // below the drawing, until it is ready
      const street = new Street(inner, tiles, this.options, {
        ready: () => this.turn(false),
        lost: () => this.turn(true),
      });
      const view = this.drawing.moved();
      if (view) street.look(view);
      street.show(this.current());
      this.streets = street;
    } catch {
      inner.remove();
      this.failed = true; // this map does not try again, but the next one does
    } finally {
      this.starting = false;
    }
  }

  // turn is called when the streets can be drawn, or no longer can.
  private turn(lost: boolean) {
    if (this.gone || !this.streets) return;
    this.lost = lost;
    if (lost && this.drawing === this.streets) this.change(this.chart());
    else this.choose();
  }

  private change(next: Drawing) {
    const before = this.drawing;
    const focused = document.activeElement === before.canvas;
    const view = before.moved();
    this.drawing = next;
    if (view) next.look(view);
    if (this.pose) this.draw(this.pose);
    else next.show(this.scene);
    if (before === this.streets) before.canvas.tabIndex = -1;
    else before.destroy();
    if (!this.options.still) next.canvas.tabIndex = 0;
    this.host.dataset.drawn = next === this.streets ? 'streets' : 'plain';
    if (focused) next.canvas.focus({ preventScroll: true });
  }

  private chart(): Chart {
    const canvas = document.createElement('canvas');
    canvas.setAttribute('aria-label', this.options.label);
    canvas.setAttribute('role', this.options.still ? 'img' : 'region');
    if (!this.options.still) canvas.tabIndex = 0;
    this.host.append(canvas);
    this.host.dataset.drawn = 'plain';
    return new Chart(canvas, this.options);
  }

  // give shows the attribution of the map's data. It may contain HTML, of which only text
  // and links are used.
  private give(attribution: string) {
    if (attribution === this.credit.dataset.text) return;
    this.credit.dataset.text = attribution;
    const linked = attribution.includes('<a')
      ? attribution
      : attribution.replace('OpenStreetMap', '<a href="https://www.openstreetmap.org/copyright">OpenStreetMap</a>');
    const parsed = new DOMParser().parseFromString(linked, 'text/html').body;
    const parts = [...parsed.childNodes].map((node) => {
      const text = node.textContent ?? '';
      if (this.options.still || !(node instanceof HTMLAnchorElement) || !/^https?:/.test(node.href)) return text;
      const link = Object.assign(document.createElement('a'), { href: node.href, textContent: text });
      link.target = '_blank';
      link.rel = 'noreferrer';
      return link;
    });
    this.credit.replaceChildren(...parts);
    if (parts.length > 0) this.host.append(this.credit);
    else this.credit.remove();
  }

  private readonly key = (e: KeyboardEvent) => {
    if (this.options.still || e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === '0') this.fitAll();
    else if (e.key === 'Enter' && this.options.place) this.options.place(this.drawing.middle());
    else if (e.key === 'PageDown' || e.key === 'PageUp') this.step(e.key === 'PageDown' ? 1 : -1);
    else return;
    e.preventDefault();
  };

  // step picks the next or previous stop, and shows it.
  private step(by: number) {
    const { stops } = this.scene;
    if (!this.options.pick || stops.length === 0) return;
    this.at = (this.at + by + stops.length) % stops.length;
    const stop = stops[this.at]!;
    this.options.pick(stop.id);
    this.drawing.look({ centre: stop.point, zoom: Math.max(16, this.drawing.moved()?.zoom ?? 0) });
  }

  private current(): Scene {
    const { scene, pose } = this;
    return scene.self && pose ? { ...scene, self: { ...scene.self, point: pose.point, heading: pose.heading } } : scene;
  }
}

// graphics returns how the device draws with WebGL 2: not at all, in software, or with a
// graphics processor.
export function graphics(): 'none' | 'software' | 'hardware' {
  const gl = document.createElement('canvas').getContext('webgl2');
  if (!gl) return 'none';
  const unmasked = gl.getExtension('WEBGL_debug_renderer_info')?.UNMASKED_RENDERER_WEBGL ?? gl.RENDERER;
  const name = String(gl.getParameter(unmasked));
  gl.getExtension('WEBGL_lose_context')?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name) ? 'software' : 'hardware';
}
