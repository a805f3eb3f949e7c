// Package blob stores the bytes of uploads: in a folder, in the database, or in a bucket of a
// service that is compatible with S3.
package blob
