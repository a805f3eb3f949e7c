// Package sqlboard has the SQL statements of the board. Its part is composed with the
// transactions of package sqlstore.
package sqlboard
