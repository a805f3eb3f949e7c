package webhook

import (
	"context"
	"errors"
	"slices"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/work"
)

// result is an attempt that is to be recorded.
type result struct {
	notification lastmile.Notification
	attempt      lastmile.Attempt
}

// counts is the effect of a batch of results.
type counts struct {
	delivered, failed, fenced int64
	disabled                  bool // the webhook failed too often
}

// flush writes results in the background. Results that follow a batch wait a
// moment for others.
func (d *delivery) flush(ctx context.Context) {
	if d.saving || d.paused || len(d.unsaved) == 0 || d.resting && !d.ending && len(d.unsaved) < maxBatch {
		return
	}
	batch := d.unsaved[:min(len(d.unsaved), maxBatch)]
	d.saving, d.unsaved = true, d.unsaved[len(batch):]
	go func() {
		writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaseFor)
		defer cancel()
		c, err := d.writeBatch(writing, batch)
		final := ctx.Err() != nil // there is no time for another try
		d.calls <- func() { d.applyBatch(batch, c, err, final) }
	}()
}

// writeBatch records results in one transaction, which fails if the lease was
// lost.
func (d *delivery) writeBatch(ctx context.Context, batch []result) (c counts, err error) {
	err = d.Store.Write(ctx, func(w store.Writer) error {
		c = counts{}
		if err := d.lease.Hold(ctx, w, d.Now()); err != nil {
			return err
		}
		hook, err := w.Webhook(ctx, d.lease.Organization, d.id)
		if err != nil {
			return err
		}
		enabled := hook.Enabled
		for _, r := range batch {
			if err := c.record(ctx, w, &hook, r); err != nil {
				return err
			}
		}
		c.disabled = enabled && !hook.Enabled
		if err := w.SaveCounts(ctx, hook); err != nil || !c.disabled {
			return err
		}
		return w.GiveUpNotifications(ctx, hook.Organization, hook.ID)
	})
	return c, err
}

// record stores one result: the attempt, and its effect on the notification and
// the webhook.
func (c *counts) record(ctx context.Context, w store.Writer, hook *lastmile.Webhook, r result) error {
	after, n := *hook, r.notification
	n.Record(&after, r.attempt)
	saved, err := w.SaveAttempt(ctx, n, r.attempt)
	switch {
	case err != nil:
		return err
	case !saved:
		c.fenced++
		return nil
	case r.attempt.Delivered():
		c.delivered++
	default:
		c.failed++
	}
	*hook = after
	return nil
}

// applyBatch continues after a batch was written, or could not be.
func (d *delivery) applyBatch(batch []result, c counts, err error, final bool) {
	d.saving = false
	lost := errors.Is(err, work.ErrLost) || lastmile.IsNotFound(err)
	if err != nil && !lost {
		d.Log.Error("record attempts", "webhook", d.id, "error", err)
		if !final {
			d.unsaved = slices.Concat(batch, d.unsaved)
			d.paused = true
			d.later(errorPause, func() { d.paused = false })
			return
		}
		lost = true
	}
	if lost {
		c = counts{fenced: int64(len(batch) + len(d.unsaved))}
		d.unsaved, d.ending, d.err = nil, true, err
	}
	d.delivered.Add(c.delivered)
	d.failed.Add(c.failed)
	d.fenced.Add(c.fenced)
	for _, r := range batch {
		delete(d.known, r.notification.ID)
	}
	if c.disabled { // its pending notifications were given up
		d.unqueue()
		d.ending = true
	}
	d.resting = true
	d.later(flushGap, func() { d.resting = false })
}
