// Package postgres implements package engine over PostgreSQL, or over a
// database that speaks its protocol and dialect.
package postgres
