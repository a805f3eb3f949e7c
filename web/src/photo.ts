// Prepares a picture for upload: small enough for a weak signal and for the server, and
// without the camera's metadata.

const readable = 1600; // pixels; large enough to read a house number

// shrink returns a picture whose longer side has at most `longest` pixels. Pictures that may
// be transparent are kept so.
export async function shrink(file: Blob, longest = readable, type = 'image/jpeg'): Promise<Blob> {
  const picture = await createImageBitmap(file, { imageOrientation: 'from-image' });
  const scale = Math.min(1, longest / Math.max(picture.width, picture.height));
  const page = new OffscreenCanvas(
    Math.max(1, Math.round(picture.width * scale)),
    Math.max(1, Math.round(picture.height * scale)),
  );
  page.getContext('2d')!.drawImage(picture, 0, 0, page.width, page.height);
  picture.close();
  return page.convertToBlob({ type, quality: 0.8 });
}

const portrait = 512; // pixels
const largest = 240 << 10; // bytes of a logo, within the server's limit

// avatar prepares the photo of a person, and logo a picture that may be transparent. A file
// that the browser cannot read is returned unchanged, so that the server reports the error.
export const avatar = (file: Blob): Promise<Blob> => shrink(file, portrait).catch(() => file);

export async function logo(file: Blob): Promise<Blob> {
  const type = file.type === 'image/jpeg' ? file.type : 'image/png';
  try {
    let small = await shrink(file, portrait, type);
    for (let size = portrait / 2; small.size > largest && size > 32; size /= 2) small = await shrink(file, size, type);
    return small;
  } catch {
    return file;
  }
}
