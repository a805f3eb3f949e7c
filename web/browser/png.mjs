// Small PNG files: at most 256 colors, which is enough for pages without photos.

import { crc32, deflateSync } from 'node:zlib';

// reduced returns an image with its 256 most frequent colors; others become the
// nearest of them. The page decodes the image.
export async function reduced(page, png) {
  const { width, height, palette, pixels } = await page.evaluate(reduce, png.toString('base64'));
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3], 8); // eight bits per pixel, a palette
  const indices = Buffer.from(pixels, 'base64');
  const lines = Buffer.alloc((width + 1) * height); // each begins with its filter: none
  for (let y = 0; y < height; y++) indices.copy(lines, y * (width + 1) + 1, y * width, (y + 1) * width);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from(palette)),
    chunk('IDAT', deflateSync(lines, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}

// reduce runs in the page.
async function reduce(base64) {
  const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
  const image = await createImageBitmap(new Blob([bytes]));
  const { width, height } = image;
  const context = new OffscreenCanvas(width, height).getContext('2d');
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const counts = new Map();
  const colors = new Int32Array(width * height);
  for (let i = 0; i < colors.length; i++) {
    const color = (data[4 * i] << 16) | (data[4 * i + 1] << 8) | data[4 * i + 2];
    colors[i] = color;
    counts.set(color, (counts.get(color) ?? 0) + 1);
  }
  const kept = [...counts].sort((a, b) => b[1] - a[1] || a[0] - b[0]).slice(0, 256);
  const palette = kept.flatMap(([color]) => [color >> 16, (color >> 8) & 255, color & 255]);
  const index = new Map(kept.map(([color], i) => [color, i]));
  for (const color of counts.keys()) {
    if (index.has(color)) continue;
    let best = 0;
    let least = Infinity;
    for (let i = 0; i < kept.length; i++) {
      const [r, g, b] = [16, 8, 0].map((shift, c) => ((color >> shift) & 255) - palette[3 * i + c]);
      const distance = r * r + g * g + b * b;
      if (distance < least) [best, least] = [i, distance];
    }
    index.set(color, best);
  }
  let pixels = '';
  for (const color of colors) pixels += String.fromCharCode(index.get(color));
  return { width, height, palette, pixels: btoa(pixels) };
}
