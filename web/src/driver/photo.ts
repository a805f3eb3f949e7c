// Prepares a photo for upload: small enough for a weak signal, large enough to read
// a house number, and without the camera's metadata.

const longest = 1600; // pixels

export async function shrink(file: Blob): Promise<Blob> {
  const picture = await createImageBitmap(file, { imageOrientation: 'from-image' });
  const scale = Math.min(1, longest / Math.max(picture.width, picture.height));
  const page = new OffscreenCanvas(
    Math.max(1, Math.round(picture.width * scale)),
    Math.max(1, Math.round(picture.height * scale)),
  );
  page.getContext('2d')!.drawImage(picture, 0, 0, page.width, page.height);
  picture.close();
  return page.convertToBlob({ type: 'image/jpeg', quality: 0.8 });
}
