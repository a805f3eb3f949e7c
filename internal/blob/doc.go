// Package blob is the places that can keep the bytes of uploads: a folder, the
// database, or a service that speaks the protocol of S3. It knows nothing of
// what the bytes are.
package blob
