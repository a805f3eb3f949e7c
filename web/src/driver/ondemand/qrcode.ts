// Draws QR codes.

import { generate } from 'lean-qr';

// draw shows a text as a QR code, dark on white in dark mode too, with the margin that
// scanners need.
export function draw(canvas: HTMLCanvasElement, text: string) {
  generate(text).toCanvas(canvas, { on: [0, 0, 0, 255], off: [255, 255, 255, 255] });
}
