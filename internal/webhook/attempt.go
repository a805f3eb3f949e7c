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
	for len(d.queue) > 0 && !d.ending && !d.paused && d.reserve() {
		a := &attempt{notification: d.queue[0], slot: *d.profile.reserved, signers: d.signers}
		d.queue, d.profile.reserved = d.queue[1:], nil
		d.queued.Add(-1)
		d.inFlight++
		a.late = d.later(d.profile.patience(), func() { d.demote(a) })
		go d.post(a, d.url)
	}
	d.profile.release(d.limiter)
}

// reserve reserves a slot for the next attempt. A webhook without any slot waits
// for one without its lease.
func (d *delivery) reserve() bool {
	p := d.profile
	if p.reserved != nil && *p.reserved == p.slot {
		return true
	}
	p.release(d.limiter)
	if d.inFlight >= paceLimits[p.slot.pace].webhook {
		return false
	}
	reserved := p.slot
	if !d.limiter.acquire(reserved) {
		d.ending = d.inFlight == 0
		return false
	}
	p.reserved = &reserved
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
