// Pictures that are drawn now and then, and shown in a canvas. The browser copies a canvas that
// was drawn to with every frame of the page, but a picture only once.

export class Picture {
  private readonly drawing = new OffscreenCanvas(1, 1);
  private readonly context = this.drawing.getContext('2d')!;

  constructor(private readonly canvas: HTMLCanvasElement) {}

  // begin returns what the next picture is drawn with. It is empty.
  begin(width: number, height: number): OffscreenCanvasRenderingContext2D {
    const { drawing, context } = this;
    const [w, h] = [Math.max(1, width), Math.max(1, height)]; // of none, there is no picture
    if (drawing.width !== w || drawing.height !== h) [drawing.width, drawing.height] = [w, h];
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.clearRect(0, 0, w, h);
    return context;
  }

  // show shows what was drawn since begin.
  show() {
    this.canvas.getContext('bitmaprenderer')!.transferFromImageBitmap(this.drawing.transferToImageBitmap());
  }
}
