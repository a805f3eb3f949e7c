// Package engine defines what the store needs of an SQL database, and contains the code
// that both databases share: migrations, the list of tables, counters, and helpers for
// statements. It knows SQL but no records. Packages sqlite and postgres implement it.
//
// A statement is written once, with $1, $2 …, in SQL that both databases accept.
// A function passed to Engine.Write may run more than once: SQLite commits many
// operations in one transaction and repeats them one by one if it fails, and
// PostgreSQL repeats an operation after a conflict. The function must have no effect
// except through its connection. A statement that fails ends its operation; to
// continue after a duplicate key, write ON CONFLICT.
package engine
