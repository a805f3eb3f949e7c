package webhook

import (
	"context"
	"slices"
	"sync"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/work"
)

// result is an attempt that is to be recorded.
type result struct {
	notification lastmile.Notification
	attempt      lastmile.Attempt
}

// batch is a set of results of one webhook.
type batch struct {
	lease   work.Item
	results []result
	written func(err error)

	lost     bool // the lease was lost, so nothing was recorded
	disabled bool // the webhook was disabled, because it failed too often

	delivered, failed, fenced int64
}

// recorder writes the batches of all webhooks, in one transaction at a time.
// Concurrent transactions of many webhooks would conflict on PostgreSQL.
type recorder struct {
	store store.Transactor[Reader, Writer]
	now   func() time.Time

	mu      sync.Mutex
	waiting []*batch
	busy    bool
}

// add queues a batch to be written. After a transaction the recorder waits for
// flushGap, so that batches are written together.
func (r *recorder) add(ctx context.Context, b *batch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = append(r.waiting, b)
	if !r.busy {
		r.busy = true
		go r.run(context.WithoutCancel(ctx))
	}
}

func (r *recorder) run(ctx context.Context) {
	for batches := r.take(); len(batches) > 0; batches = r.take() {
		err := r.write(ctx, batches)
		for _, b := range batches {
			b.written(err)
		}
		<-time.After(flushGap)
	}
}

// take returns the batches of the next transaction.
func (r *recorder) take() []*batch {
	r.mu.Lock()
	defer r.mu.Unlock()
	count, size := 0, 0
	for count < len(r.waiting) && size < recordAtOnce {
		size += len(r.waiting[count].results)
		count++
	}
	taken := r.waiting[:count]
	r.waiting = slices.Clone(r.waiting[count:])
	r.busy = count > 0
	return taken
}

// write records the batches whose leases are still held, in one transaction.
func (r *recorder) write(ctx context.Context, batches []*batch) error {
	ctx, cancel := context.WithTimeout(ctx, leaseFor)
	defer cancel()
	leases := make([]work.Item, len(batches))
	for i, b := range batches {
		leases[i] = b.lease
	}
	return r.store.Write(ctx, func(w Writer) error {
		lost, err := w.HoldWork(ctx, leases, r.now().Add(leaseFor))
		if err != nil {
			return err
		}
		most := clearedAtOnce // for all webhooks that this transaction disables together
		for _, b := range batches {
			b.lost = slices.Contains(lost, b.lease)
			givenUp, err := b.write(ctx, w, most, r.now())
			if err != nil {
				return err
			}
			most -= givenUp
		}
		return nil
	})
}

// write records the results of one webhook. If that disables it, up to most of its pending
// notifications are given up at once; write returns how many.
func (b *batch) write(ctx context.Context, w Writer, most int, now time.Time) (givenUp int, err error) {
	b.delivered, b.failed, b.fenced, b.disabled = 0, 0, 0, false
	if b.lost {
		b.fenced = int64(len(b.results))
		return 0, nil
	}
	hook, err := w.Webhook(ctx, b.lease.Organization, lastmile.WebhookID(b.lease.ID))
	if err != nil {
		return 0, err
	}
	enabled := hook.Enabled
	for _, r := range b.results {
		if err := b.save(ctx, w, &hook, r); err != nil {
			return 0, err
		}
	}
	b.disabled = enabled && !hook.Enabled
	if err := w.SaveCounts(ctx, hook); err != nil || !b.disabled {
		return 0, err
	}
	return giveUp(ctx, w, hook, most, now)
}

// save records one result: the attempt, and its effect on the notification and
// the webhook.
func (b *batch) save(ctx context.Context, w Writer, hook *lastmile.Webhook, r result) error {
	after, n := *hook, r.notification
	n.Record(&after, r.attempt)
	saved, err := w.SaveAttempt(ctx, n, r.attempt)
	switch {
	case err != nil:
		return err
	case !saved:
		b.fenced++
		return nil
	case r.attempt.Delivered():
		b.delivered++
	default:
		b.failed++
	}
	*hook = after
	return nil
}

// flush hands the results to the recorder.
func (d *delivery) flush(ctx context.Context) {
	if d.saving || d.paused || len(d.unsaved) == 0 {
		return
	}
	b := &batch{lease: d.lease.Item, results: d.unsaved}
	b.written = func(err error) {
		final := ctx.Err() != nil // no time is left for a retry
		d.calls <- func() { d.applyBatch(b, err, final) }
	}
	d.saving, d.unsaved = true, nil
	d.recorder.add(ctx, b)
}

// applyBatch continues after a batch was written, or could not be.
func (d *delivery) applyBatch(b *batch, err error, final bool) {
	d.saving = false
	switch {
	case err != nil && !final:
		d.Log.Error("record attempts", "webhook", d.id, "error", err)
		d.unsaved = slices.Concat(b.results, d.unsaved)
		d.paused = true
		d.later(errorPause, func() { d.paused = false })
		return
	case err != nil:
		d.err, d.ending = err, true
		return
	case b.lost:
		d.err, d.ending = work.ErrLost, true
	case b.disabled: // its pending notifications were given up
		d.unqueue()
		d.ending = true
	}
	d.delivered.Add(b.delivered)
	d.failed.Add(b.failed)
	d.fenced.Add(b.fenced)
	for _, r := range b.results {
		delete(d.known, r.notification.ID)
	}
}
