// Reads barcodes from the camera: with the browser's reader or, where there is none,
// with one that is loaded when it is needed.

export interface Found {
  rawValue: string;
  format: string;
}

export interface Detector {
  detect(source: HTMLVideoElement): Promise<Found[]>;
}

interface Native {
  new (): Detector;
  getSupportedFormats(): Promise<string[]>;
}

let made: Promise<Detector> | undefined;

// detector returns a reader. Without a connection, it fails if the browser has no reader and
// ours is not cached.
export function detector(): Promise<Detector> {
  made ??= make().catch((fault: unknown) => {
    made = undefined; // the next attempt may have a connection
    throw fault;
  });
  return made;
}

async function make(): Promise<Detector> {
  const { BarcodeDetector: Native } = globalThis as { BarcodeDetector?: Native };
  // Android without Google's services has the class, but no format.
  if (Native && (await Native.getSupportedFormats().catch(() => [])).length > 0) return new Native();
  return (await import('./ondemand/decoder.ts')).load();
}
