// Package sqlstore keeps everything Dray knows in one SQL database: SQLite in
// a data folder, or PostgreSQL when several nodes share the work.
//
// It is not an object mapper and has no second text for the second database:
// every statement is written once, with $1, $2 …, in SQL that both take. Two
// engines (engine.go) hide what differs: how a transaction is opened, how
// concurrent writers are kept apart, what is done when one of them loses.
//
// The one thing to know: a function handed to a write may run more than once.
// SQLite commits many waiting operations in one transaction and runs them
// again, one by one, when that transaction breaks; PostgreSQL runs an
// operation again when it lost against another. So such a function reads,
// decides and writes through the connection it is given and touches nothing
// else. A statement that fails ends its operation on both engines: to go on
// after a duplicate key, write ON CONFLICT.
package sqlstore
