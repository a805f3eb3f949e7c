// Package sqlite implements package engine over a data folder with one SQLite
// database. One connection writes and commits many operations at once
// (writer.go); others read (readers.go).
package sqlite
