// Package upload accepts the images that workers send, signatures and photos, and
// the logos of organizations.
//
// No image is kept as it was sent. It is measured before it is decoded, decoded,
// and encoded again, so that the result is an image and nothing else: without the
// position or the name of a phone, and without a second file hidden behind the
// first. Storing the bytes is left to Blobs.
package upload
