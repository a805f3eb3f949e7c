// Package storetest is what every store must do: a suite that each
// implementation of the storage port passes, and the private databases that
// tests run it on.
//
// It tests through the port alone and knows no SQL of the stores; what only
// one database does wrong becomes a case here for all of them.
package storetest
