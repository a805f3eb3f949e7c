// The style of the map with streets: quiet, so that stops and the route stand out.
// Colors are those of map.css. Text is drawn with the fonts of the device.

import type {
  DataDrivenPropertyValueSpecification,
  ExpressionSpecification,
  FilterSpecification,
  LayerSpecification,
  StyleSpecification,
  VectorSourceSpecification,
} from 'maplibre-gl';
import { coastUntil } from '../coast.ts';
import type { Ink } from '../marks.ts';

type Numbers = DataDrivenPropertyValueSpecification<number>;
type Colors = DataDrivenPropertyValueSpecification<string>;

// MapLibre counts zoom levels from a world of 512 pixels, project.ts from 256.
export const levels = 1;

const regular = ['system-ui'];
const bold = ['Semibold', 'system-ui']; // the weight is read from the first name
const italic = ['Italic', 'system-ui'];

const classes = ['service', 'minor', 'tertiary', 'secondary', 'primary', 'trunk', 'motorway'] as const;

// widths are the widths of roads in pixels, by zoom level, in the order of classes.
const widths: [zoom: number, ...number[]][] = [
  [6, 0, 0, 0, 0, 0.4, 0.6, 0.8],
  [9, 0, 0, 0, 0.5, 0.9, 1.3, 1.8],
  [11, 0, 0, 0.7, 1.1, 1.6, 2.2, 2.8],
  [12, 0, 0.5, 1.1, 1.8, 2.4, 3, 3.6],
  [13, 0, 1, 1.9, 2.8, 3.5, 4, 4.6],
  [14, 0.8, 2, 3.2, 4.2, 5, 5.6, 6.4],
  [15, 1.7, 4, 5.4, 6.6, 7.6, 8.4, 9.4],
  [16, 3.2, 7.5, 9.2, 10.6, 11.6, 12.4, 13.5],
  [18, 9, 19, 22, 25, 28, 29, 31],
  [20, 26, 52, 62, 70, 76, 80, 86],
];

// byClass selects a value by the class of a road.
function byClass<T extends string | number>(values: T[]): ExpressionSpecification {
  const cases = classes.slice(1).flatMap((name, i) => [name, values[i + 1]!]);
  return ['match', ['get', 'class'], ...cases, values[0]!] as unknown as ExpressionSpecification;
}

// byZoom interpolates between values at zoom levels.
const byZoom = (base: number, ...stops: unknown[]): ExpressionSpecification =>
  ['interpolate', ['exponential', base], ['zoom'], ...stops] as unknown as ExpressionSpecification;

// width returns the width of roads or, with edge, of their casings.
function width(edge: boolean): Numbers {
  const edges = (zoom: number) => (zoom < 11 ? 0.6 : zoom < 15 ? 1.4 : 2.2);
  return byZoom(
    1.5,
    ...widths.flatMap(([zoom, ...values]) => [zoom, byClass(values.map((w) => (w > 0 && edge ? w + edges(zoom) : w)))]),
  );
}

const is = (property: string, ...values: string[]): ExpressionSpecification =>
  ['match', ['get', property], values, true, false] as unknown as ExpressionSpecification;
const not = (filter: ExpressionSpecification): ExpressionSpecification => ['!', filter];
const all = (...filters: ExpressionSpecification[]): FilterSpecification => ['all', ...filters];
const has = (property: string): ExpressionSpecification => ['to-boolean', ['get', property]];

// roads returns the casing and the surface of roads.
function roads(id: string, ink: Ink, filter: ExpressionSpecification, opacity = 1): LayerSpecification[] {
  const drawn = all(is('class', ...classes), filter);
  const layout = {
    'line-cap': 'round' as const,
    'line-join': 'round' as const,
    'line-sort-key': byClass([1, 2, 3, 4, 5, 6, 7]) as Numbers,
  };
  const colors = (edge: string): Colors => {
    const [plain, primary, trunk, motorway] = ['road', 'primary', 'trunk', 'motorway'].map((c) => ink(c + edge));
    return byClass([plain!, plain!, plain!, plain!, primary!, trunk!, motorway!]);
  };
  const base = { type: 'line' as const, source: 'map', 'source-layer': 'road', filter: drawn, layout };
  return [
    {
      ...base,
      id: `${id}-edge`,
      minzoom: 9,
      layout: { ...layout, 'line-cap': id === 'road' ? 'round' : 'butt' },
      paint: { 'line-color': colors('-edge'), 'line-width': width(true), 'line-opacity': opacity },
    },
    { ...base, id, paint: { 'line-color': colors(''), 'line-width': width(false), 'line-opacity': opacity } },
  ];
}

// ground returns areas: land use, water, buildings.
function ground(ink: Ink): LayerSpecification[] {
  const land = (id: string, color: string, kinds: string[], minzoom = 0): LayerSpecification => ({
    id,
    type: 'fill',
    source: 'map',
    'source-layer': 'landuse',
    minzoom,
    filter: is('kind', ...kinds),
    paint: { 'fill-color': ink(color), 'fill-opacity': byZoom(1, 8, 0.5, 11, 1) as Numbers },
  });
  return [
    land('residential', 'residential', ['residential']),
    land('built', 'built', ['industrial', 'commercial'], 9),
    land('public', 'public', ['school', 'hospital'], 11),
    land('grass', 'grass', ['grass', 'cemetery'], 9),
    land('forest', 'forest', ['forest']),
    land('park', 'park', ['park'], 9),
    land('pedestrian', 'pedestrian', ['pedestrian'], 13),
    {
      id: 'waterway',
      type: 'line',
      source: 'map',
      'source-layer': 'waterway',
      layout: { 'line-cap': 'round', 'line-join': 'round' },
      paint: {
        'line-color': ink('water'),
        'line-width': byZoom(
          1.4,
          8,
          ['match', ['get', 'kind'], ['river', 'canal'], 0.8, 0.2],
          14,
          ['match', ['get', 'kind'], ['river', 'canal'], 4, 1.2],
          18,
          ['match', ['get', 'kind'], ['river', 'canal'], 18, 5],
        ) as Numbers,
      },
    },
    {
      id: 'water',
      type: 'fill',
      source: 'map',
      'source-layer': 'water',
      paint: { 'fill-color': ink('water') },
    },
    {
      id: 'building',
      type: 'fill',
      source: 'map',
      'source-layer': 'building',
      minzoom: 13,
      paint: {
        'fill-color': ink('building'),
        'fill-outline-color': ink('building-edge'),
        'fill-opacity': byZoom(1, 13, 0, 14, 0.6, 15, 1) as Numbers,
      },
    },
  ];
}

// network returns everything that vehicles, trains and people move on.
function network(ink: Ink): LayerSpecification[] {
  const [tunnel, bridge] = [has('tunnel'), has('bridge')];
  const line = { type: 'line' as const, source: 'map', 'source-layer': 'road' };
  return [
    {
      ...line,
      id: 'ferry',
      minzoom: 9,
      filter: is('class', 'ferry'),
      paint: { 'line-color': ink('sea'), 'line-dasharray': [4, 4], 'line-width': 1.2, 'line-opacity': 0.6 },
    },
    ...roads('tunnel', ink, tunnel, 0.45),
    {
      ...line,
      id: 'path',
      minzoom: 13.5,
      filter: is('class', 'path'),
      layout: { 'line-join': 'round' },
      paint: {
        'line-color': ink('path'),
        'line-width': byZoom(1.5, 14, 0.8, 18, 3) as Numbers,
        'line-dasharray': [2.5, 1.5],
      },
    },
    ...roads('road', ink, all(not(tunnel), not(bridge)) as ExpressionSpecification),
    {
      ...line,
      id: 'rail',
      minzoom: 10,
      filter: all(is('class', 'rail'), not(tunnel)),
      paint: { 'line-color': ink('rail'), 'line-width': byZoom(1.4, 10, 0.5, 14, 1.4, 18, 4) as Numbers },
    },
    {
      ...line,
      id: 'sleepers',
      minzoom: 14,
      filter: all(is('class', 'rail'), not(tunnel)),
      paint: {
        'line-color': ink('rail'),
        'line-width': byZoom(1.4, 14, 4, 18, 11) as Numbers,
        'line-dasharray': [0.2, 2.2],
      },
    },
    ...roads('bridge', ink, bridge),
  ];
}

// names returns the labels, the least important first.
function names(ink: Ink): LayerSpecification[] {
  const paint = (color: string, wide = 1.6) => ({
    'text-color': ink(color),
    'text-halo-color': ink('name-halo'),
    'text-halo-width': wide,
  });
  const street = all(['has', 'name'], not(is('class', 'rail', 'ferry')));
  const place = (
    id: string,
    kinds: string[],
    zooms: [number, number],
    sizes: unknown[],
    font: string[],
  ): LayerSpecification => ({
    id,
    type: 'symbol',
    source: 'map',
    'source-layer': 'place',
    minzoom: zooms[0],
    maxzoom: zooms[1],
    filter: is('kind', ...kinds),
    layout: {
      'text-field': ['get', 'name'],
      'text-font': font,
      'text-size': byZoom(1.2, ...sizes) as Numbers,
      'text-max-width': 8,
      'text-padding': 6,
      'symbol-sort-key': ['to-number', ['get', 'rank'], 99] as Numbers,
    },
    paint: paint(id === 'quarter' ? 'name' : 'place', 1.8),
  });
  return [
    {
      id: 'house-number',
      type: 'symbol',
      source: 'map',
      'source-layer': 'housenumber',
      minzoom: 17 - levels,
      layout: {
        'text-field': ['to-string', ['get', 'number']],
        'text-font': regular,
        'text-size': 10.5,
        'text-padding': 3,
      },
      paint: paint('number', 1.2),
    },
    {
      id: 'one-way',
      type: 'symbol',
      source: 'map',
      'source-layer': 'road',
      minzoom: 15,
      filter: all(has('oneway'), is('class', ...classes)),
      layout: {
        'symbol-placement': 'line',
        'symbol-spacing': 140,
        'text-field': '→',
        'text-font': regular,
        'text-size': byZoom(1.2, 15, 11, 18, 18) as Numbers,
        'text-keep-upright': false,
        'text-rotate': ['case', ['==', ['get', 'oneway'], -1], 180, 0],
        'text-padding': 0,
        'text-allow-overlap': false,
      },
      paint: { 'text-color': ink('name'), 'text-opacity': 0.55 },
    },
    {
      id: 'water-name',
      type: 'symbol',
      source: 'map',
      'source-layer': 'waterway',
      minzoom: 12,
      filter: ['has', 'name'],
      layout: {
        'symbol-placement': 'line',
        'symbol-spacing': 350,
        'text-field': ['get', 'name'],
        'text-font': italic,
        'text-size': 12,
        'text-letter-spacing': 0.08,
      },
      paint: paint('sea', 1.2),
    },
    {
      id: 'street-name',
      type: 'symbol',
      source: 'map',
      'source-layer': 'road',
      minzoom: 12,
      filter: all(street as ExpressionSpecification, [
        'any',
        ['>=', ['zoom'], 14],
        is('class', 'motorway', 'trunk', 'primary', 'secondary', 'tertiary'),
      ]),
      layout: {
        'symbol-placement': 'line',
        'symbol-spacing': 260,
        'symbol-sort-key': byClass([7, 6, 5, 4, 3, 2, 1]) as Numbers,
        'text-field': ['get', 'name'],
        'text-font': regular,
        'text-size': byZoom(
          1.2,
          12,
          byClass([10, 10, 10, 10.5, 11, 11, 11]),
          18,
          byClass([12, 13, 14, 15, 16, 16, 16]),
        ) as Numbers,
        'text-max-angle': 35,
        'text-padding': 4,
      },
      paint: paint('name'),
    },
    {
      id: 'road-number',
      type: 'symbol',
      source: 'map',
      'source-layer': 'road',
      minzoom: 9,
      filter: all(['has', 'ref'], is('class', 'motorway', 'trunk', 'primary')),
      layout: {
        'symbol-placement': 'line',
        'symbol-spacing': 500,
        'text-field': ['get', 'ref'],
        'text-font': bold,
        'text-size': 10.5,
        'text-rotation-alignment': 'viewport',
        'text-padding': 20,
      },
      paint: paint('name', 2.5),
    },
    place('quarter', ['suburb', 'neighbourhood'], [11.5, 16], [12, 11, 15, 14], regular),
    place('village', ['village'], [10, 15], [10, 11, 14, 15], regular),
    place('town', ['town'], [7, 13.2], [8, 11, 13, 17], bold),
    place('city', ['city'], [4, 13.5], [5, 12, 12, 20], bold),
  ];
}

// overlay returns the layers of the scene, without the marks, which are above labels.
function overlay(ink: Ink): LayerSpecification[] {
  const layout = { 'line-cap': 'round' as const, 'line-join': 'round' as const };
  const wide = (by: number) => byZoom(1.3, 8, 2.5 + by, 14, 5 + by, 18, 10 + by) as Numbers;
  return [
    {
      id: 'trail',
      type: 'line',
      source: 'trail',
      layout,
      paint: { 'line-color': ink('self'), 'line-opacity': 0.4, 'line-width': 4 },
    },
    {
      id: 'route-edge',
      type: 'line',
      source: 'route',
      layout,
      paint: { 'line-color': ink('halo'), 'line-width': wide(4) },
    },
    {
      id: 'route',
      type: 'line',
      source: 'route',
      filter: ['get', 'roads'],
      layout,
      paint: { 'line-color': ink('route'), 'line-width': wide(0) },
    },
    {
      id: 'straight',
      type: 'line',
      source: 'route',
      filter: ['!', ['get', 'roads']],
      paint: { 'line-color': ink('route'), 'line-width': 3.5, 'line-dasharray': [2, 1.5] },
    },
    {
      id: 'accuracy',
      type: 'fill',
      source: 'accuracy',
      paint: { 'fill-color': ink('self'), 'fill-opacity': 0.13 },
    },
  ];
}

function stops(ink: Ink): LayerSpecification {
  return {
    id: 'stops',
    type: 'symbol',
    source: 'stops',
    layout: {
      'icon-image': ['get', 'image'],
      'icon-allow-overlap': true,
      'icon-ignore-placement': false,
      'symbol-sort-key': ['get', 'order'],
      'text-field': ['step', ['zoom'], ['case', ['get', 'main'], ['get', 'label'], ''], 12, ['get', 'label']],
      'text-font': bold,
      'text-size': 12.5,
      'text-optional': true,
      'text-variable-anchor-offset': [
        'match',
        ['get', 'side'],
        'pin left',
        ['literal', ['left', [1.7, -1.6], 'right', [-1.7, -1.6]]],
        'pin right',
        ['literal', ['right', [-1.7, -1.6], 'left', [1.7, -1.6]]],
        'disc right',
        ['literal', ['right', [-1.5, 0], 'left', [1.5, 0], 'top', [0, 1.4], 'bottom', [0, -1.4]]],
        ['literal', ['left', [1.5, 0], 'right', [-1.5, 0], 'top', [0, 1.4], 'bottom', [0, -1.4]]],
      ] as never,
      'text-justify': 'auto',
      'text-max-width': 12,
    },
    paint: { 'text-color': ink('text'), 'text-halo-color': ink('halo'), 'text-halo-width': 2 },
  };
}

// style returns the whole style. With coasts, the sea is drawn at low zoom.
export function style(ink: Ink, map: VectorSourceSpecification, withCoasts: boolean): StyleSpecification {
  const empty = { type: 'geojson' as const, data: { type: 'FeatureCollection' as const, features: [] } };
  const near = coastUntil - levels; // zoom at which nothing of the coasts is visible
  const fade = byZoom(1, near - 1, 1, near, 0) as DataDrivenPropertyValueSpecification<number>;
  const sea = withCoasts ? byZoom(1, near - 1, ink('water'), near, ink('ground')) : ink('ground');
  return {
    version: 8,
    sources: { map, world: empty, trail: empty, route: { ...empty }, accuracy: empty, stops: empty },
    layers: [
      { id: 'ground', type: 'background', paint: { 'background-color': sea as never } },
      {
        id: 'land',
        type: 'fill',
        source: 'world',
        maxzoom: near,
        filter: ['==', ['geometry-type'], 'Polygon'],
        paint: { 'fill-color': ink('ground'), 'fill-opacity': fade as Numbers },
      },
      {
        id: 'coast',
        type: 'line',
        source: 'world',
        maxzoom: near,
        paint: { 'line-color': ink('line'), 'line-width': 1, 'line-opacity': fade as Numbers },
      },
      ...ground(ink),
      ...network(ink),
      ...overlay(ink),
      ...names(ink),
      stops(ink),
    ],
  };
}
