// Package upload accepts images: signatures and photos that workers send, photos of workers,
// and logos of organizations.
//
// No image is kept as it was sent. Its size is checked, and it is decoded and encoded again, so
// that the result is only an image, without metadata such as the location of a phone, and
// without another file appended to it. Blobs store the bytes.
package upload
