package webhook

import (
	"context"
	"net/url"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// fetch reads the next page of due notifications when the queue is low. It reads
// the URL and the secrets again when they are older than freshFor, so that
// changes take effect soon; that is also when notifications are found that other
// nodes have stored, or that became due again.
func (d *delivery) fetch(ctx context.Context) {
	if d.ending || d.paused {
		return
	}
	now, quota := d.Now(), d.room()
	stale := !now.Before(d.staleAt)
	switch {
	case d.more && quota > 0:
	case stale && len(d.queue) > 0 && quota > 0:
	case stale && len(d.queue) > 0:
		quota = 0 // only the webhook
	default:
		return
	}
	limit := quota
	if limit > 0 && d.after.Next.IsZero() {
		limit += len(d.known) // they come first
	}
	var (
		hook  lastmile.Webhook
		found []lastmile.Notification
	)
	err := d.Store.Read(ctx, func(r store.Reader) (err error) {
		if hook, err = r.Webhook(ctx, d.lease.Organization, d.id); err == nil && limit > 0 {
			found, err = r.DueNotifications(ctx, d.id, now, d.after, limit)
		}
		return err
	})
	switch {
	case lastmile.IsNotFound(err):
		d.unqueue()
		d.more, d.ending = false, true
		return
	case err != nil:
		d.Log.Error("read notifications", "webhook", d.id, "error", err)
		d.profile.blockedUntil, d.ending = now.Add(errorPause), true
		return
	}
	if limit > 0 {
		d.fetched, d.more, d.after = now, len(found) == limit, store.NotificationCursor{}
		if d.more {
			last := found[len(found)-1]
			d.after = store.NotificationCursor{Next: last.Next, ID: last.ID}
		}
		d.enqueue(found...)
	} else if !hook.Enabled { // most of the queue has been given up
		d.unqueue()
	}
	d.update(ctx, hook)
}

// room is how many notifications to read.
func (d *delivery) room() int {
	pace := d.profile.slot.pace
	switch {
	case pace == quick && len(d.queue) <= lowWater:
		return pageSize
	case pace != quick && len(d.queue) == 0 && d.inFlight < paceLimits[pace].webhook:
		return 1
	}
	return 0
}

// update applies what was read of the webhook.
func (d *delivery) update(ctx context.Context, hook lastmile.Webhook) {
	d.url = hook.URL
	d.profile.slot.host = host(hook.URL)
	if hook.FailureStreak > 0 {
		d.profile.suspect()
	}
	if len(d.queue) == 0 {
		return
	}
	now := d.Now()
	secrets, err := d.Secrets(ctx, d.lease.Organization)
	if err != nil {
		d.Log.Error("read webhook secrets", "organization", d.lease.Organization, "error", err)
	}
	if len(secrets) == 0 {
		d.profile.blockedUntil = now.Add(unsignedWait)
		d.unqueue()
		d.ending = true
		return
	}
	d.signers, d.staleAt = &signerPool{secrets: secrets}, now.Add(freshFor)
}

func host(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	return u.Host
}
