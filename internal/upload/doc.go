// Package upload takes in the images that workers send: signatures and photos.
//
// Nothing is kept as it was sent. An image is measured before it is decoded,
// decoded, and encoded anew, so that what is kept is an image and nothing else:
// no position, no name of a phone, no second file hidden behind the first. Where
// the bytes go is not known here: see Bytes.
package upload
