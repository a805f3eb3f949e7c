// Opens a PMTiles file with the published reader and decodes its tiles with the
// published decoder of vector tiles: node tiles.js FILE. Prints what it found as JSON.

import { open } from 'node:fs/promises';
import { VectorTile } from '@mapbox/vector-tile';
import { PbfReader } from 'pbf';
import { PMTiles, tileIdToZxy } from 'pmtiles';

const path = process.argv[2];
const file = await open(path);
const archive = new PMTiles({
  getKey: () => path,
  async getBytes(offset, length) {
    const { buffer, bytesRead } = await file.read(new Uint8Array(length), 0, length, offset);
    return { data: buffer.buffer.slice(0, bytesRead) };
  },
});

const header = await archive.getHeader();
const metadata = await archive.getMetadata();
const found = { header, layers: metadata.vector_layers.map((l) => l.id), attribution: metadata.attribution, tiles: 0, features: {}, bytes: 0 };

async function visit(offset, length) {
  for (const entry of await archive.cache.getDirectory(archive.source, offset, length, header)) {
    if (entry.runLength === 0) {
      await visit(header.leafDirectoryOffset + entry.offset, entry.length);
      continue;
    }
    found.tiles += entry.runLength;
    if (found.tiles > 2000 && entry.tileId % 20 > 0) continue; // a sample is enough
    const [z, x, y] = tileIdToZxy(entry.tileId);
    const tile = await archive.getZxy(z, x, y);
    found.bytes = Math.max(found.bytes, tile.data.byteLength);
    for (const [name, layer] of Object.entries(new VectorTile(new PbfReader(new Uint8Array(tile.data))).layers)) {
      if (layer.version !== 2 || layer.extent !== 4096) throw new Error(`${name} has version ${layer.version}`);
      for (let i = 0; i < layer.length; i++) {
        const feature = layer.feature(i);
        feature.toGeoJSON(x, y, z);
        if (z === header.maxZoom) found.features[name] = (found.features[name] ?? 0) + 1;
      }
    }
  }
}
await visit(header.rootDirectoryOffset, header.rootDirectoryLength);
await file.close();
console.log(JSON.stringify(found));
