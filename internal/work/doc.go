// Package work runs work that is kept in the database: batches of tasks,
// notifications to webhooks, text messages, estimates.
//
// An item of work is a row with a time at which it is due. A node that works on
// it takes a lease: a token of its own in the row, and a time at which the lease
// ends unless it is renewed. Any number of nodes may run a Loop of the same kind
// on one database; an item is leased by one of them at a time.
//
// The one thing to know: an item is done at least once, and its effects happen
// once. A process may be killed or frozen anywhere; when its lease has ended,
// another node takes over. The first, should it come back, can write nothing
// more, because every transaction of a handler proves with Lease.Hold that the
// lease is still there, and the lease ends in the same transaction as the last
// effect.
//
// A lease lasts only as long as a handler runs. A Loop renews the leases of
// handlers that are running and no others, releases the lease of a handler that
// has returned, and does not let go of it before the release is committed.
// Leases end by the clocks of the nodes. When those differ or jump, an item may
// change hands too early or, by at most MaxLease, too late, and nothing worse.
package work
