// Package contract holds the tests of the product: they drive the whole program
// over HTTP, on each database, and promise what clients rely on.
//
// It contains tests only. Tests of one package's code are beside that code.
package contract
