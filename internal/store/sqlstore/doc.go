// Package sqlstore implements package store in SQL: the statements of every
// noun, once for both databases. The databases themselves are packages
// engine/sqlite and engine/postgres.
//
// It is not an object mapper. A function passed to Store.Write may run more
// than once; see package engine.
package sqlstore
