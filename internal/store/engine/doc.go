// Package engine defines what the rest of the store needs of an SQL database,
// and what both databases have in common: migrations, the list of tables,
// counters. It knows SQL and no nouns. Packages sqlite and postgres implement
// it.
//
// A statement is written once, with $1, $2 …, in SQL that both databases
// accept. An Engine hides what differs: how a transaction begins, how
// concurrent writers are kept apart, and what happens when one of them loses.
//
// A function passed to Engine.Write may run more than once. SQLite commits many
// waiting operations in one transaction and runs them again one by one if that
// transaction fails; PostgreSQL runs an operation again if it lost against
// another one. Such a function therefore reads, decides and writes through its
// connection and has no other effects. A statement that fails ends its
// operation in both databases: to continue after a duplicate key, write
// ON CONFLICT.
package engine
