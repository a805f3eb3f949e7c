// A signature as strokes, not pixels: rotating or reloading does not lose it.

export type Stroke = [x: number, y: number][]; // fractions of the width and the height

export function paint(
  ctx: CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D,
  strokes: Stroke[],
  width: number,
  height: number,
  colour: string,
) {
  ctx.lineWidth = Math.max(2, width / 130);
  ctx.lineCap = ctx.lineJoin = 'round';
  ctx.strokeStyle = ctx.fillStyle = colour;
  for (const stroke of strokes) {
    ctx.beginPath();
    stroke.forEach(([x, y], i) => (i === 0 ? ctx.moveTo(x * width, y * height) : ctx.lineTo(x * width, y * height)));
    if (stroke.length === 1) ctx.lineTo(stroke[0]![0] * width + 0.1, stroke[0]![1] * height);
    ctx.stroke();
  }
}

// image returns the signature for upload: dark on white, in dark mode too.
export async function image(strokes: Stroke[]): Promise<Blob> {
  const [width, height] = [720, 288];
  const page = new OffscreenCanvas(width, height);
  const ctx = page.getContext('2d')!;
  ctx.fillStyle = '#ffffff';
  ctx.fillRect(0, 0, width, height);
  paint(ctx, strokes, width, height, '#101818');
  return page.convertToBlob({ type: 'image/png' });
}
