package webhook

import (
	"context"
	"sync"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/work"
)

// delivery sends the due notifications of one webhook while this process holds
// the webhook's lease. One goroutine owns its fields; attempts, writes and
// timers report to that goroutine through calls.
type delivery struct {
	*Sender
	id      lastmile.WebhookID
	lease   *work.Lease
	profile *profile
	calls   chan func()
	inbox   inbox

	url      string
	signers  *signerPool
	staleAt  time.Time // when url and secrets must be read again
	modified time.Time // the webhook's Modified when it was last read
	fetched  time.Time // when notifications were last read

	queue    []lastmile.Notification
	size     int                      // bytes of the notifications that are queued or under way
	known    map[string]bool          // ids that are queued, under way or not recorded yet
	more     bool                     // the database may have other due notifications
	after    store.NotificationCursor // where the next page begins
	inFlight int
	sent     int // attempts that have ended

	unsaved []result
	saving  bool // a batch is being written
	paused  bool // a write failed less than errorPause ago
	idle    *time.Timer
	expired bool // there was nothing to do for a while
	ending  bool // no more attempts are made
	err     error
}

// inbox holds notifications that were handed over, until the delivery takes
// them.
type inbox struct {
	mu     sync.Mutex
	list   []lastmile.Notification
	size   int  // bytes of the list
	more   bool // some must be read from the database
	closed bool
}

// maxCalls is enough that attempts, writes and timers rarely wait to report.
const maxCalls = 32

// run sends until nothing is due, other webhooks need the slots, or ctx ends.
func (d *delivery) run(ctx, sending context.Context) {
	defer context.AfterFunc(ctx, d.wake)()
	for {
		d.ending = d.ending || ctx.Err() != nil
		d.receive()
		d.fetch(ctx)
		d.start(ctx, sending)
		if d.refresh() {
			continue
		}
		d.flush(ctx)
		if d.over() {
			return
		}
		(<-d.calls)()
	}
}

// wake makes the delivery's goroutine check its inbox and its context.
func (d *delivery) wake() {
	select {
	case d.calls <- func() {}:
	default: // the channel is full, and the goroutine checks after each call
	}
}

// later has the delivery's goroutine call f after a while.
func (d *delivery) later(wait time.Duration, f func()) *time.Timer {
	return time.AfterFunc(wait, func() { d.calls <- f })
}

// over reports whether the delivery can end. A webhook without due notifications
// lingers before it does.
func (d *delivery) over() bool {
	busy := d.inFlight > 0 || d.saving || len(d.unsaved) > 0
	if busy || !d.ending && (len(d.queue) > 0 || d.more) {
		if d.idle != nil {
			d.idle.Stop()
			d.idle = nil
		}
		d.expired = false
		if !busy { // fetch again
			d.wake()
		}
		return false
	}
	if d.ending || d.expired || d.profile.slot.pace != quick {
		return d.close()
	}
	if d.idle == nil {
		d.idle = d.later(d.linger(), func() { d.expired = true })
	}
	return false
}

// linger returns how long an idle delivery keeps its lease.
func (d *delivery) linger() time.Duration {
	if d.Alone {
		return lingerAlone
	}
	return lingerShared
}

// hand adds a notification to the inbox, and reports false if the delivery has
// ended.
func (d *delivery) hand(n lastmile.Notification) bool {
	d.inbox.mu.Lock()
	defer d.inbox.mu.Unlock()
	notified := len(d.inbox.list) > 0 || d.inbox.more
	switch {
	case d.inbox.closed:
		return false
	case n.Body == nil || d.inbox.size >= maxQueued || d.queued.Load() >= maxQueuedTotal:
		d.inbox.more = true
	default:
		d.inbox.list = append(d.inbox.list, n)
		d.inbox.size += sizeOf(n)
		d.queued.Add(int64(sizeOf(n)))
	}
	if !notified {
		d.wake()
	}
	return true
}

// receive queues the notifications from the inbox that can be sent directly. The
// others, and those that the last read may have returned already, are read from the
// database.
func (d *delivery) receive() {
	d.inbox.mu.Lock()
	list, size, more := d.inbox.list, d.inbox.size, d.inbox.more
	d.inbox.list, d.inbox.size, d.inbox.more = nil, 0, false
	d.inbox.mu.Unlock()
	d.more = d.more || more
	now := d.Now()
	for _, n := range list {
		direct := !d.more && !d.ending && d.profile.slot.pace == quick && d.size < maxQueued
		if direct && n.Due.After(d.fetched) && !n.Next.After(now) {
			d.enqueue(n)
			continue
		}
		d.more = true
	}
	d.queued.Add(-int64(size))
}

// close ends the delivery unless the inbox has been filled in the meantime.
func (d *delivery) close() bool {
	d.inbox.mu.Lock()
	defer d.inbox.mu.Unlock()
	if !d.ending && (len(d.inbox.list) > 0 || d.inbox.more) {
		return false
	}
	d.inbox.closed = true
	d.more = d.more || d.inbox.more || len(d.inbox.list) > 0 || len(d.queue) > 0
	d.queued.Add(-int64(d.inbox.size + d.size))
	return true
}

// enqueue adds notifications that are not known yet.
func (d *delivery) enqueue(list ...lastmile.Notification) {
	for _, n := range list {
		if !d.known[n.ID] {
			d.known[n.ID] = true
			d.queue = append(d.queue, n)
			d.resize(sizeOf(n))
		}
	}
}

// resize counts bytes that are added to memory or, if negative, removed from it.
func (d *delivery) resize(bytes int) {
	d.size += bytes
	d.queued.Add(int64(bytes))
}

// sizeOf returns the approximate size of a notification in memory.
func sizeOf(n lastmile.Notification) int { return len(n.Body) + 256 }

// unqueue empties the queue. Its notifications will be read from the database again.
func (d *delivery) unqueue() {
	if len(d.queue) == 0 {
		return
	}
	for _, n := range d.queue {
		delete(d.known, n.ID)
		d.resize(-sizeOf(n))
	}
	d.queue, d.more, d.after = nil, true, store.NotificationCursor{}
}
