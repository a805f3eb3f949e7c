package webhook

import (
	"time"

	"dray/internal/lastmile"
)

// attempt is one request under way.
type attempt struct {
	notification lastmile.Notification
	slot         slot
	signers      *signerPool
	late         *time.Timer
	done         bool
}

// start begins as many attempts as there are slots for.
func (d *delivery) start() {
	for len(d.queue) > 0 && !d.ending && !d.paused && d.acquire() {
		a := &attempt{notification: d.queue[0], slot: *d.reserved, signers: d.signers}
		d.queue, d.reserved = d.queue[1:], nil
		d.queued.Add(-1)
		d.inFlight++
		a.late = d.later(d.profile.patience(), func() { d.demote(a) })
		go d.post(a, d.url)
	}
	if d.reserved != nil {
		d.limiter.release(*d.reserved)
		d.reserved = nil
	}
}

// acquire reserves a slot for the next attempt. A webhook that has none at all
// waits for one without its lease.
func (d *delivery) acquire() bool {
	want := d.profile.slot
	if d.reserved != nil && *d.reserved == want {
		return true
	}
	if d.reserved != nil {
		d.limiter.release(*d.reserved)
		d.reserved = nil
	}
	if d.inFlight >= paceLimits[want.pace].webhook {
		return false
	}
	if !d.limiter.acquire(want) {
		d.ending = d.inFlight == 0
		return false
	}
	d.reserved = &want
	return true
}

// post makes an attempt, in its own goroutine.
func (d *delivery) post(a *attempt, url string) {
	n, now := a.notification, d.Now()
	made := lastmile.Attempt{Organization: n.Organization, Notification: n.ID, Number: n.Attempts + 1, At: now}
	made.Status, made.Reason = d.Poster.Post(d.sending, url, a.signers.header(n, now), n.Body)
	a.late.Stop()
	made.Took = d.Now().Sub(now)
	aborted := d.sending.Err() != nil && !made.Delivered()
	d.calls <- func() { d.finish(a, made, aborted) }
}

// demote makes an attempt that takes long count as slow.
func (d *delivery) demote(a *attempt) {
	if a.done || a.slot.pace >= slow {
		return
	}
	d.profile.slot.pace = max(d.profile.slot.pace, slow)
	a.slot = d.limiter.demote(a.slot)
}

// finish keeps the result of an attempt and releases its slot.
func (d *delivery) finish(a *attempt, made lastmile.Attempt, aborted bool) {
	a.done = true
	d.inFlight--
	d.sent++
	contended := d.limiter.contended(a.slot)
	d.limiter.release(a.slot)
	if aborted { // by this process, so it is not a failure of the webhook
		delete(d.known, a.notification.ID)
		d.more = true
		return
	}
	d.profile.update(made)
	d.unsaved = append(d.unsaved, result{notification: a.notification, attempt: made})
	quickly := d.profile.slot.pace == quick
	if !quickly { // only quick webhooks have a queue in memory
		d.unqueue()
	}
	if contended && (!quickly || d.sent >= turnLength) {
		d.ending = true
	}
}
