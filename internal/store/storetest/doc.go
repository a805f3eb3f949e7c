// Package storetest is a test suite for the store: it runs on private databases of
// both kinds and tests everything that use cases rely on.
//
// Except where a test sets ranks, it contains no SQL. A test for a bug of one database
// belongs here too, so that it runs on both.
package storetest
