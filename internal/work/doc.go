// Package work runs background work that is stored in the database: batches of
// tasks, notifications to webhooks, text messages, estimates.
//
// An item of work is a row with the time at which it is due. A node that works on
// it takes a lease: it writes a unique token into the row, and the time at which
// the lease expires unless it is renewed. Any number of nodes may run a Loop of the
// same kind on one database; an item is leased by one of them at a time.
//
// A handler runs at least once for each item, and the effects that it writes to
// the database happen exactly once. A process may be killed or frozen at any point;
// when its lease has expired, another node takes over. Should the first process
// continue, it can write nothing more, because every transaction of a handler
// checks with Lease.Hold that it still has the lease, and the lease ends in the
// same transaction as the last effect.
//
// A lease lasts only as long as a handler runs. A Loop renews only the leases of
// running handlers. When a handler returns, the Loop releases its lease, and
// retries until the release is committed. Leases expire by the clocks of the nodes.
// When those differ or jump, an item may be taken over too early or, by at most
// MaxLease, too late; its effects still happen once.
package work
