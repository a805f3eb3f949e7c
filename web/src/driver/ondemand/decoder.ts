// The barcode reader for browsers without one, such as those of iPhones: ZXing, in
// WebAssembly.

import { prepareZXingModule, readBarcodes } from 'zxing-wasm/reader';
import program from 'zxing-wasm/reader/zxing_reader.wasm?url';
import type { Detector } from '../scanner.ts';

const longest = 1024; // pixels; more takes longer and finds no more

export async function load(): Promise<Detector> {
  await prepareZXingModule({ overrides: { locateFile: () => program }, fireImmediately: true });
  const canvas = document.createElement('canvas');
  const ctx = canvas.getContext('2d', { willReadFrequently: true })!;
  return {
    async detect(video) {
      const scale = Math.min(1, longest / Math.max(video.videoWidth, video.videoHeight));
      canvas.width = Math.max(1, Math.round(video.videoWidth * scale));
      canvas.height = Math.max(1, Math.round(video.videoHeight * scale));
      ctx.drawImage(video, 0, 0, canvas.width, canvas.height);
      const found = await readBarcodes(ctx.getImageData(0, 0, canvas.width, canvas.height), { maxNumberOfSymbols: 8 });
      return found.filter((f) => f.isValid).map((f) => ({ rawValue: f.text, format: f.format }));
    },
  };
}
