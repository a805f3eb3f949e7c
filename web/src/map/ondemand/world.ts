// Coasts and borders below the streets, which are loaded when they become visible.

import type { Feature, MultiLineString, MultiPolygon } from 'geojson';
import type { GeoJSONSource, Map as Engine, StyleSpecification } from 'maplibre-gl';
import { coasts, coastUntil } from '../coast.ts';
import type { Outline } from '../topology.ts';
import { levels } from './style.ts';

export class World {
  loaded = false;
  private asked = false;

  constructor(
    private readonly map: Engine,
    private readonly style: () => StyleSpecification, // returns the style with coasts
  ) {
    map.on('load', this.need);
    map.on('zoom', this.need);
  }

  private readonly need = () => {
    if (this.asked || this.map.getZoom() + levels >= coastUntil) return;
    this.asked = true;
    coasts().then(
      (outline) => this.show(outline),
      () => (this.asked = false), // offline: the map works without
    );
  };

  private show(outline: Outline) {
    const { map } = this;
    const style = map.style as unknown; // none before it is loaded, nor after the context was lost
    const world = style ? map.getSource<GeoJSONSource>('world') : undefined;
    if (!world) {
      this.asked = false;
      return;
    }
    world.setData({ type: 'FeatureCollection', features: features(outline) });
    this.loaded = true;
    const ground = this.style().layers[0]!;
    if (ground.type === 'background')
      map.setPaintProperty('ground', 'background-color', ground.paint?.['background-color']);
  }
}

function features({ land, borders }: Outline): Feature[] {
  const areas: MultiPolygon = {
    type: 'MultiPolygon',
    coordinates: land.map((p) => p.map((r) => r.map((q) => [...q]))),
  };
  const lines: MultiLineString = { type: 'MultiLineString', coordinates: borders.map((l) => l.map((p) => [...p])) };
  return [areas, lines].map((geometry) => ({ type: 'Feature', properties: {}, geometry }));
}
