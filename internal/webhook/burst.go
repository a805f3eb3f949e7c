package webhook

import (
	"context"
	"slices"
	"time"

	"dray/internal/lastmile"
)

// maxBurst is the maximum number of notifications sent one after another in one slot.
const maxBurst = 16

// burst is a series of attempts that are made one after another in one slot.
type burst struct {
	results []result // the notifications, and the attempts made so far
	slot    slot
	url     string
	signers *signerPool
	late    time.Duration // an attempt that takes longer counts as slow
	done    bool
}

// start begins as many bursts as there are slots for.
func (d *delivery) start(ctx, sending context.Context) {
	for len(d.queue) > 0 && !d.ending && !d.paused && d.reserve() {
		size := 1
		if d.profile.slot.pace == quick { // leave notifications for the other slots
			size = min(max(len(d.queue)/paceLimits[quick].webhook, 1), maxBurst)
		}
		b := &burst{
			results: make([]result, size), slot: *d.profile.reserved, url: d.url, signers: d.signers, late: d.profile.patience(),
		}
		for i, n := range d.queue[:size] {
			b.results[i].notification = n
		}
		d.queue, d.profile.reserved = d.queue[size:], nil
		d.inFlight++
		go d.send(ctx, sending, b)
	}
	d.profile.release(d.limiter)
}

// reserve reserves a slot for the next burst. A webhook that has no slot at all gives
// up its lease and waits for one.
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

// send makes the attempts of a burst, in its own goroutine. It ends early when an
// attempt fails or takes long, and when the delivery must end.
func (d *delivery) send(ctx, sending context.Context, b *burst) {
	late := d.later(b.late, func() { d.demote(b) })
	defer late.Stop()
	for i := range b.results {
		late.Reset(b.late)
		made := d.post(sending, b, b.results[i].notification)
		late.Stop()
		b.results[i].attempt = made
		aborted := sending.Err() != nil && !made.Delivered()
		done := i+1 == len(b.results) || !made.Delivered() || made.Took >= slowAfter || ctx.Err() != nil
		d.calls <- func() {
			d.finish(b.results[i], aborted)
			if done {
				d.endBurst(b, b.results[i+1:])
			}
		}
		if done {
			return
		}
	}
}

// post makes one attempt.
func (d *delivery) post(ctx context.Context, b *burst, n lastmile.Notification) lastmile.Attempt {
	now := d.Now()
	made := lastmile.Attempt{Organization: n.Organization, Notification: n.ID, Number: n.Attempts + 1, At: now}
	made.Status, made.Reason, made.Response = d.Poster.Post(ctx, b.url, b.signers.header(n, now), n.Body)
	made.Took = d.Now().Sub(now)
	return made
}

// demote makes a burst count as slow because of an attempt that takes long.
func (d *delivery) demote(b *burst) {
	if !b.done && b.slot.pace < slow {
		d.profile.slot.pace = max(d.profile.slot.pace, slow)
		b.slot = d.limiter.demote(b.slot)
	}
}

// finish adds the result of an attempt to the unsaved ones.
func (d *delivery) finish(r result, aborted bool) {
	d.sent++
	d.resize(-sizeOf(r.notification))
	r.notification.Body = nil // only the attempt is recorded
	if aborted {              // by this process, so it is not a failure of the webhook
		delete(d.known, r.notification.ID)
		d.more = true
		return
	}
	d.profile.update(r.attempt)
	d.unsaved = append(d.unsaved, r)
}

// endBurst releases the slot of a burst and puts back the notifications it has
// not sent. A webhook that has had its turn yields to others that wait for slots.
func (d *delivery) endBurst(b *burst, rest []result) {
	b.done = true
	d.inFlight--
	for _, r := range slices.Backward(rest) {
		d.queue = slices.Insert(d.queue, 0, r.notification)
	}
	quickly := d.profile.slot.pace == quick
	if !quickly { // only quick webhooks have a queue in memory
		d.unqueue()
	}
	if d.limiter.contended(b.slot) && (!quickly || d.sent >= turnLength) {
		d.ending = true
	}
	d.limiter.release(b.slot)
}
