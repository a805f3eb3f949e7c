package webhook

import (
	"context"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// noSecretPause is how long what cannot be signed waits.
const noSecretPause = time.Minute

// result is what came of an attempt; a zero attempt gives the notification
// back, to be tried at a time.
type result struct {
	n       lastmile.Notification
	attempt lastmile.Attempt
	again   time.Time
}

// want is a wish for notifications of a webhook that are due.
type want struct {
	lane  *lane
	count int
}

// catch is what became of a want.
type catch struct {
	want
	hook    lastmile.Webhook
	found   []lastmile.Notification
	until   time.Time // it is claimed
	secrets [][]byte
}

// booking is what one transaction was to do, and did: results are recorded,
// and more is claimed.
type booking struct {
	results  []result
	catches  []catch
	disabled []lastmile.WebhookID
	failed   bool
}

// book records results and claims what lanes want, in the background: many at
// once, and both in one transaction.
func (s *Sender) book(ctx context.Context) {
	if s.booking || len(s.unsaved)+len(s.wants) == 0 {
		return
	}
	b := booking{results: s.unsaved[:min(len(s.unsaved), recordAtOnce)]}
	for _, w := range s.wants {
		b.catches = append(b.catches, catch{want: w})
	}
	s.unsaved, s.wants, s.booking = s.unsaved[len(b.results):], nil, true
	s.background.Go(func() {
		if err := s.transact(context.WithoutCancel(ctx), &b); err != nil {
			b.failed = true
			s.Log.Error("record attempts and claim notifications", "error", err)
			pause := time.NewTimer(errorPause)
			defer pause.Stop()
			select {
			case <-pause.C:
			case <-ctx.Done():
			}
		}
		s.booked <- b
	})
}

// transact does what a booking says.
func (s *Sender) transact(ctx context.Context, b *booking) error {
	if len(b.results)+len(b.catches) == 0 {
		return nil
	}
	var t tally
	now, token := s.Now(), s.NewID()
	err := s.Store.Write(ctx, func(w store.Writer) error {
		t = tally{hooks: map[lastmile.WebhookID]*lastmile.Webhook{}}
		for _, r := range b.results {
			if err := t.record(ctx, w, r); err != nil {
				return err
			}
		}
		if err := t.save(ctx, w); err != nil {
			return err
		}
		for i := range b.catches {
			if err := b.catches[i].claim(ctx, w, now, token); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.delivered.Add(t.delivered)
	s.failed.Add(t.failed)
	s.fenced.Add(t.fenced)
	b.disabled = t.disabled
	s.addSecrets(ctx, b.catches)
	return nil
}

// claim takes what is wanted of one webhook.
func (c *catch) claim(ctx context.Context, w store.Writer, now time.Time, token string) (err error) {
	c.until = now.Add(queueFor + totalTimeout)
	c.found, err = w.ClaimNotifications(ctx, c.lane.id, now, c.until, token, c.count)
	if err == nil && len(c.found) > 0 {
		c.hook, err = w.Webhook(ctx, c.lane.org, c.lane.id)
	}
	return err
}

// addSecrets reads the secrets that sign what was claimed. They are read each
// time: a new one counts at once.
func (s *Sender) addSecrets(ctx context.Context, catches []catch) {
	known := map[lastmile.OrganizationID][][]byte{}
	for i := range catches {
		c := &catches[i]
		if len(c.found) == 0 {
			continue
		}
		secrets, ok := known[c.lane.org]
		if !ok {
			var err error
			if secrets, err = s.Secrets(ctx, c.lane.org); err != nil {
				s.Log.Error("read webhook secrets", "organization", c.lane.org, "error", err)
			}
			known[c.lane.org] = secrets
		}
		c.secrets = secrets
	}
}

// enter puts what was claimed into its lanes. The first of it has a slot.
func (s *Sender) enter(ctx, sending context.Context, b booking) {
	s.booking = false
	if b.failed {
		s.unsaved = slices.Concat(b.results, s.unsaved)
	}
	for _, id := range b.disabled {
		if l := s.lanes[id]; l != nil {
			l.queue = nil // it was given up
		}
	}
	for _, c := range b.catches {
		l := c.lane
		l.claiming = false
		switch {
		case b.failed:
			l.due = true
		case len(c.found) > 0 && len(c.secrets) == 0:
			for _, n := range c.found {
				s.unsaved = append(s.unsaved, result{n: n, again: s.Now().Add(noSecretPause)})
			}
		case len(c.found) > 0:
			s.fill(l, c)
		}
		if l.reserved != nil && l.reserved.fits(l) && len(l.queue) > 0 {
			s.start(ctx, sending, l)
		}
		if l.reserved != nil {
			s.slots.give(*l.reserved)
			l.reserved = nil
		}
		s.line(l)
	}
}

// fill puts notifications into a lane's queue.
func (s *Sender) fill(l *lane, c catch) {
	l.url, l.host, l.secrets = c.hook.URL, host(c.hook.URL), c.secrets
	l.due = l.due || len(c.found) == c.count
	if l.pace == unknown && c.hook.FailureStreak > 0 {
		l.pace = dead
	}
	for _, n := range c.found {
		l.queue = append(l.queue, claimed{Notification: n, until: c.until})
	}
}

// tally is what results make of webhooks, within one transaction.
type tally struct {
	hooks                     map[lastmile.WebhookID]*lastmile.Webhook
	disabled                  []lastmile.WebhookID
	delivered, failed, fenced int64
}

// record stores one result: the attempt, and what becomes of its notification.
// A webhook that is gone, and a notification that another process has claimed
// since, are left as they are.
func (t *tally) record(ctx context.Context, w store.Writer, r result) error {
	if r.attempt.Number == 0 {
		return w.ReleaseNotification(ctx, r.n, r.again)
	}
	hook := t.hooks[r.n.Webhook]
	if hook == nil {
		found, err := w.Webhook(ctx, r.n.Organization, r.n.Webhook)
		if lastmile.IsNotFound(err) {
			return nil
		}
		if err != nil {
			return err
		}
		hook = &found
	}
	after, n := *hook, r.n
	n.Record(&after, r.attempt)
	saved, err := w.SaveResult(ctx, n, r.attempt)
	switch {
	case err != nil:
		return err
	case !saved:
		t.fenced++
		return nil
	case r.attempt.Delivered():
		t.delivered++
	default:
		t.failed++
	}
	if hook.Enabled && !after.Enabled {
		t.disabled = append(t.disabled, after.ID)
	}
	t.hooks[n.Webhook] = &after
	return nil
}

// save stores what became of the webhooks. One that was disabled is owed
// nothing any more.
func (t *tally) save(ctx context.Context, w store.Writer) error {
	for _, hook := range t.hooks {
		if err := w.SaveTally(ctx, *hook); err != nil {
			return err
		}
	}
	for _, id := range t.disabled {
		if err := w.GiveUpNotifications(ctx, t.hooks[id].Organization, id); err != nil {
			return err
		}
	}
	return nil
}
