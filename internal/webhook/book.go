package webhook

import (
	"context"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// result is what came of an attempt that was made under a claim.
type result struct {
	lane    *lane
	claim   string
	n       lastmile.Notification
	attempt lastmile.Attempt
}

// hold says how long a claim is to last.
type hold struct {
	lane  *lane
	claim string
	until time.Time
	lost  bool // it was not there any more
}

// claim is a wish for a claim, without which nothing is read.
type claim struct {
	want
	old   string // the claim that the lane has; empty for none
	fresh string // the one to make if it has none
	until time.Time
	got   string // the one it has then; empty for none
}

// booking is what is written at one time: results of attempts, and claims.
type booking struct {
	results  []result
	holds    []hold
	claims   []claim
	disabled []*lane
	at       time.Time
	err      error
}

// claimUntil is how long a claim lasts that is made or prolonged now.
func (s *Sender) claimUntil(now time.Time) time.Time {
	if s.Alone {
		return now.Add(claimAlone)
	}
	return now.Add(claimFor)
}

// book records results and makes claims, in the background: many at once.
// Results that come right after others wait a moment for more.
func (s *Sender) book(ctx context.Context) {
	if s.booking || len(s.unsaved)+len(s.claims) == 0 {
		return
	}
	if s.resting && len(s.claims) == 0 && len(s.unsaved) < recordAtOnce {
		return
	}
	b := booking{results: s.unsaved[:min(len(s.unsaved), recordAtOnce)], claims: s.claims, at: s.Now()}
	s.unsaved, s.claims, s.booking = s.unsaved[len(b.results):], nil, true
	b.holds = s.holds(b.results)
	s.background.Go(func() {
		if b.err = s.write(context.WithoutCancel(ctx), &b); b.err != nil && ctx.Err() == nil {
			s.Log.Error("record attempts and claim webhooks", "error", b.err)
			s.pause(ctx)
		}
		s.booked <- b
	})
}

// holds are the claims under which results came about. They last on, unless
// there is nothing left to do: then another process may have the webhook.
func (s *Sender) holds(results []result) []hold {
	now, saved, known := s.Now(), map[*lane]int{}, map[string]bool{}
	var holds []hold
	for _, r := range results {
		saved[r.lane]++
		if !known[r.claim] {
			known[r.claim] = true
			holds = append(holds, hold{lane: r.lane, claim: r.claim, until: s.claimUntil(now)})
		}
	}
	for i, h := range holds {
		l := h.lane
		idle := len(l.held) == saved[l] && l.inFlight == 0 && !l.due && !l.fetching && !s.Alone
		if l.claim != h.claim || idle {
			holds[i].until = now
		}
		if idle {
			l.claim, l.until = "", time.Time{}
		}
	}
	return holds
}

// write does what a booking says, in one transaction.
func (s *Sender) write(ctx context.Context, b *booking) error {
	if len(b.holds)+len(b.claims) == 0 {
		return nil
	}
	var t tally
	err := s.Store.Write(ctx, func(w store.Writer) (err error) {
		if t, err = record(ctx, w, b.holds, b.results); err != nil {
			return err
		}
		for i := range b.claims {
			if err := b.claims[i].make(ctx, w, b.at); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	b.disabled = t.disabled
	s.delivered.Add(t.delivered)
	s.failed.Add(t.failed)
	s.fenced.Add(t.fenced)
	return nil
}

// make prolongs the claim of a lane, or makes another.
func (c *claim) make(ctx context.Context, w store.Writer, now time.Time) error {
	org, id := c.lane.org, c.lane.id
	c.got = ""
	if c.old != "" {
		held, err := w.HoldWebhook(ctx, org, id, c.old, c.until)
		if err != nil || held {
			c.got = c.old
			return err
		}
	}
	taken, err := w.ClaimWebhook(ctx, org, id, c.fresh, now, c.until)
	if taken {
		c.got = c.fresh
	}
	return err
}

// settle notes what was written.
func (s *Sender) settle(ctx, sending context.Context, b booking) {
	s.booking = false
	if b.err != nil {
		s.unsaved = slices.Concat(b.results, s.unsaved)
		for _, c := range b.claims {
			c.lane.due = true
			s.fetchedFor(ctx, sending, c.lane)
		}
		return
	}
	for _, r := range b.results {
		r.lane.forget(r.n.ID)
	}
	for _, h := range b.holds {
		switch l := h.lane; {
		case l.claim != h.claim:
		case h.lost:
			l.lose()
		default:
			l.until = h.until
		}
	}
	for _, l := range b.disabled { // what it was owed was given up
		l.empty()
		l.due = false
	}
	for _, c := range b.claims {
		if c.got == "" {
			c.lane.lose()
			s.fetchedFor(ctx, sending, c.lane)
			continue
		}
		c.lane.claim, c.lane.until = c.got, c.until
		s.wants[c.lane.queueAt()] = append(s.wants[c.lane.queueAt()], c.want)
	}
}

// tally is what results make of webhooks.
type tally struct {
	hooks                     map[lastmile.WebhookID]*lastmile.Webhook
	disabled                  []*lane
	delivered, failed, fenced int64
}

// record stores results, as far as their claims hold.
func record(ctx context.Context, w store.Writer, holds []hold, results []result) (tally, error) {
	t := tally{hooks: map[lastmile.WebhookID]*lastmile.Webhook{}}
	lost := map[string]bool{}
	for i := range holds {
		h := &holds[i]
		held, err := w.HoldWebhook(ctx, h.lane.org, h.lane.id, h.claim, h.until)
		if err != nil {
			return t, err
		}
		h.lost = !held
		lost[h.claim] = h.lost
	}
	for _, r := range results {
		if lost[r.claim] {
			t.fenced++
			continue
		}
		if err := t.record(ctx, w, r); err != nil {
			return t, err
		}
	}
	for _, hook := range t.hooks {
		if err := w.SaveTally(ctx, *hook); err != nil {
			return t, err
		}
	}
	for _, l := range t.disabled {
		if err := w.GiveUpNotifications(ctx, l.org, l.id); err != nil {
			return t, err
		}
	}
	return t, nil
}

// record stores one result: the attempt, and what becomes of its notification
// and its webhook.
func (t *tally) record(ctx context.Context, w store.Writer, r result) error {
	hook := t.hooks[r.n.Webhook]
	if hook == nil {
		found, err := w.Webhook(ctx, r.n.Organization, r.n.Webhook)
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
		t.disabled = append(t.disabled, r.lane)
	}
	t.hooks[n.Webhook] = &after
	return nil
}
