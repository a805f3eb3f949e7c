// A picture that is drawn off screen now and then, and shown in a canvas. The browser copies
// it only once; a canvas that is drawn to directly is copied in every frame of the page.

export class Picture {
  private readonly drawing = new OffscreenCanvas(1, 1);
  private readonly context = this.drawing.getContext('2d')!;

  constructor(private readonly canvas: HTMLCanvasElement) {}

  // begin returns the context in which to draw the next picture, which is empty at first.
  begin(width: number, height: number): OffscreenCanvasRenderingContext2D {
    const { drawing, context } = this;
    const [w, h] = [Math.max(1, width), Math.max(1, height)]; // an empty canvas has no bitmap
    if (drawing.width !== w || drawing.height !== h) [drawing.width, drawing.height] = [w, h];
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, w, h);
    return context;
  }

  // flush lets the browser compute the pixels of what was drawn, which it would otherwise do
  // for all of the picture when it is shown.
  flush() {
    this.context.getImageData(0, 0, 1, 1);
  }

  // show shows what was drawn since begin.
  show() {
    this.canvas.getContext('bitmaprenderer')!.transferFromImageBitmap(this.drawing.transferToImageBitmap());
  }
}
