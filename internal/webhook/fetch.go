package webhook

import (
	"context"
	"net/url"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// fetch reads the next page of due notifications when the queue is low, and the
// URL and the secrets of the webhook again when they are stale. Nothing is read
// for a webhook that has no slot.
func (d *delivery) fetch(ctx context.Context) {
	if d.ending || d.paused {
		return
	}
	now := d.Now()
	limit, bytes := d.room()
	if len(d.queue) > 0 && limit > 0 && now.Sub(d.fetched).Abs() >= max(freshFor, d.linger()) {
		d.more = true // others may have become due, or were added by another node
	}
	ahead := d.inFlight > 0 && d.profile.slot.pace == quick
	switch {
	case d.more && limit > 0 && (ahead || d.reserve()):
		if d.after.Next.IsZero() {
			limit += len(d.known) // the query returns these first
		}
	case len(d.queue) > 0 && !isAhead(d.staleAt, now, freshFor) && d.reserve():
		limit = 0 // read only the webhook
	default:
		return
	}
	var (
		hook     lastmile.Webhook
		clearing bool // the pending notifications are being given up
		found    []lastmile.Notification
	)
	d.queued.Add(int64(bytes)) // for what is read, so that others do not use the same memory
	defer d.queued.Add(-int64(bytes))
	err := d.Store.Read(ctx, func(r Reader) (err error) {
		if hook, err = r.Webhook(ctx, d.lease.Organization, d.id); err == nil && !hook.Enabled {
			clearing, err = r.HasJob(ctx, d.lease.Organization, string(d.id))
		}
		if err == nil && limit > 0 && !clearing {
			found, err = r.DueNotifications(ctx, d.id, now, d.after, limit, bytes)
		}
		return err
	})
	switch {
	case lastmile.IsNotFound(err), err == nil && clearing:
		d.unqueue()
		d.more, d.ending = false, true
		return
	case err != nil:
		d.Log.Error("read notifications", "webhook", d.id, "error", err)
		d.profile.blockedUntil, d.ending = now.Add(errorPause), true
		return
	}
	changed := !d.modified.IsZero() && !hook.Modified.Equal(d.modified)
	d.modified = hook.Modified
	switch {
	case changed || limit == 0 && !hook.Enabled: // most of the queue may have been given up
		d.unqueue()
		d.more, d.after = true, store.NotificationCursor{}
	case limit > 0:
		d.fetched, d.more, d.after = now, len(found) == limit || bodies(found) >= bytes, store.NotificationCursor{}
		if d.more {
			last := found[len(found)-1]
			d.after = store.NotificationCursor{Next: last.Next, ID: last.ID}
		}
		d.enqueue(found...)
		if d.more && len(d.queue) == 0 { // all of them are known
			d.wake()
		}
	}
	d.update(ctx, hook)
}

// refresh reports whether to fetch while an attempt is under way, so that the next
// notification need not wait until the webhook has been read again.
func (d *delivery) refresh() bool {
	if d.ending || d.paused || d.inFlight == 0 || d.profile.slot.pace != quick {
		return false
	}
	if limit, _ := d.room(); limit == 0 || d.Now().Sub(d.fetched).Abs() < freshFor/2 {
		return false
	}
	d.more = true
	return true
}

// room returns how many notifications to read into the queue, and how many bytes.
func (d *delivery) room() (limit, bytes int) {
	pace := d.profile.slot.pace
	bytes = minPage
	if pace == quick && d.queued.Load()+maxPage <= maxQueuedTotal {
		bytes = maxPage
	}
	switch {
	case pace == quick && len(d.queue) <= lowWater && d.size < bytes:
		return pageSize, bytes
	case pace != quick && len(d.queue) == 0:
		return 1, bytes
	}
	return 0, 0
}

// bodies returns the length of the bodies of notifications.
func bodies(list []lastmile.Notification) (bytes int) {
	for _, n := range list {
		bytes += len(n.Body)
	}
	return bytes
}

// update applies the current state of the webhook.
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
