// The axis of a chart.

// steps returns equidistant round numbers from 0 to at least a value, with at most the
// given number of intervals.
export function steps(most: number, parts = 4): number[] {
  if (!(most > 0)) return [0, 1];
  const rough = most / parts;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((n) => n * power).find((s) => s >= rough * (1 - 1e-9))!;
  const count = Math.ceil(most / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, i) => Number((i * step).toPrecision(12)));
}

// every returns n such that the labels fit if only every nth is shown.
export const every = (count: number, width: number, label: number): number =>
  Math.max(1, Math.ceil((count * label) / Math.max(1, width)));

// line returns the SVG path through points, with a gap where a value is null.
export function line(points: readonly (readonly [number, number | null])[]): string {
  let path = '';
  let pen = 'M';
  for (const [x, y] of points) {
    if (y === null) pen = 'M';
    else {
      path += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
      pen = 'L';
    }
  }
  return path;
}
