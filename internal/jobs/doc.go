// Package jobs runs background work that was added in a transaction.
//
// A job is a row of the database, so that a change and the work that follows
// from it are kept together or not at all, and so that any node may do the
// work. What the work is, is not known here: a use case gives a Handler for
// each kind.
//
// The one thing to know: a job is done at least once, and its effects happen
// once. A process may be killed or frozen anywhere; another then claims the
// job and goes on. The first, should it come back, can write nothing more,
// because every transaction of a handler proves with HoldJob that the job is
// still its own, and the job ends in the same transaction as its last effect.
//
// Claims end by the clock of the nodes. When their clocks differ, a job may
// change hands too early or late, and nothing worse.
package jobs
