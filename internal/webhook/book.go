package webhook

import (
	"context"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// mutePause is how long a webhook waits that nothing can be signed for.
const mutePause = time.Minute

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

// want is a wish for what a webhook is owed, and what became of it.
type want struct {
	lane  *lane
	count int
	limit int // with what the lane holds already
	after store.Place
	claim string // that the lane has, and has then; empty for none
	fresh string // a claim to make if it has none
	until time.Time

	hook    lastmile.Webhook
	found   []lastmile.Notification
	secrets [][]byte
}

// booking is what is done with the database at one time: results are recorded,
// then more is read.
type booking struct {
	results  []result
	holds    []hold
	wants    []want
	disabled []*lane
	at       time.Time
	unsaved  bool // results could not be recorded
	unread   bool // nothing could be read
}

// claimUntil is how long a claim lasts that is made or prolonged now.
func (s *Sender) claimUntil(now time.Time) time.Time {
	if s.Alone {
		return now.Add(claimAlone)
	}
	return now.Add(claimFor)
}

// want is what a lane wants next.
func (s *Sender) want(l *lane, count int) want {
	w := want{lane: l, count: count, limit: count, after: l.fetched, claim: l.claim, until: l.until}
	if l.fetched.Next.IsZero() {
		w.limit += len(l.held)
	}
	if now := s.Now(); !l.claimed(now) {
		w.fresh, w.until = s.NewID(), s.claimUntil(now)
	}
	return w
}

// book records results and reads what lanes want, in the background.
func (s *Sender) book(ctx context.Context) {
	if s.booking || len(s.unsaved)+len(s.wants) == 0 {
		return
	}
	b := booking{results: s.unsaved[:min(len(s.unsaved), recordAtOnce)], wants: s.wants, at: s.Now()}
	s.unsaved, s.wants, s.booking = s.unsaved[len(b.results):], nil, true
	b.holds = s.holds(b.results)
	s.background.Go(func() {
		if err := s.transact(context.WithoutCancel(ctx), &b); err != nil && ctx.Err() == nil {
			s.Log.Error("record attempts and read notifications", "error", err)
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

// holds are the claims under which results came about. They last on, unless
// there is nothing left to do: then another process may have the webhook.
func (s *Sender) holds(results []result) []hold {
	until, saved := s.claimUntil(s.Now()), map[*lane]int{}
	var holds []hold
	for _, r := range results {
		saved[r.lane]++
		if !slices.ContainsFunc(holds, func(h hold) bool { return h.claim == r.claim }) {
			holds = append(holds, hold{lane: r.lane, claim: r.claim, until: until})
		}
	}
	for i, h := range holds {
		l := h.lane
		idle := len(l.held) == saved[l] && l.inFlight == 0 && !l.due && !l.fetching && !s.Alone
		if l.claim != h.claim || idle {
			holds[i].until = s.Now()
		}
		if idle {
			l.claim, l.until = "", time.Time{}
		}
	}
	return holds
}

// transact does what a booking says.
func (s *Sender) transact(ctx context.Context, b *booking) error {
	claims := slices.ContainsFunc(b.wants, func(w want) bool { return w.fresh != "" })
	if len(b.results)+len(b.holds) > 0 || claims {
		var t tally
		before := slices.Clone(b.wants)
		err := s.Store.Write(ctx, func(w store.Writer) (err error) {
			copy(b.wants, before)
			if t, err = record(ctx, w, b.holds, b.results); err != nil {
				return err
			}
			for i := range b.wants {
				if err := b.wants[i].take(ctx, w, b.at); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.unsaved, b.unread = true, true
			return err
		}
		b.disabled = t.disabled
		s.delivered.Add(t.delivered)
		s.failed.Add(t.failed)
		s.fenced.Add(t.fenced)
	}
	if err := s.read(ctx, b); err != nil {
		b.unread = true
		return err
	}
	return nil
}

// take sees that a webhook is claimed before anything is read of it.
func (w *want) take(ctx context.Context, tx store.Writer, now time.Time) error {
	if w.fresh == "" {
		return nil
	}
	org, id := w.lane.org, w.lane.id
	if w.claim != "" {
		held, err := tx.HoldWebhook(ctx, org, id, w.claim, w.until)
		if err != nil || held {
			return err
		}
	}
	w.claim = ""
	taken, err := tx.ClaimWebhook(ctx, org, id, w.fresh, now, w.until)
	if taken {
		w.claim = w.fresh
	}
	return err
}

// read reads what is wanted of webhooks that are claimed, and what it takes to
// send it. That is read each time: what was changed counts at once.
func (s *Sender) read(ctx context.Context, b *booking) error {
	if len(b.wants) == 0 {
		return nil
	}
	err := s.Store.Read(ctx, func(r store.Reader) (err error) {
		for i := range b.wants {
			w := &b.wants[i]
			if w.claim == "" {
				continue
			}
			w.hook, err = r.Webhook(ctx, w.lane.org, w.lane.id)
			if lastmile.IsNotFound(err) {
				w.claim = ""
				continue
			}
			if err != nil {
				return err
			}
			if w.found, err = r.DueNotifications(ctx, w.lane.id, b.at, w.after, w.limit); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	known := map[lastmile.OrganizationID][][]byte{}
	for i := range b.wants {
		w := &b.wants[i]
		if len(w.found) == 0 {
			continue
		}
		secrets, ok := known[w.lane.org]
		if !ok {
			if secrets, err = s.Secrets(ctx, w.lane.org); err != nil {
				s.Log.Error("read webhook secrets", "organization", w.lane.org, "error", err)
			}
			known[w.lane.org] = secrets
		}
		w.secrets = secrets
	}
	return nil
}

// enter notes what was done with the database, and puts what was read into its
// lanes. The first of it has a slot.
func (s *Sender) enter(ctx, sending context.Context, b booking) {
	s.booking = false
	if b.unsaved {
		s.unsaved = slices.Concat(b.results, s.unsaved)
	} else {
		s.settle(b)
	}
	for _, w := range b.wants {
		l := w.lane
		l.fetching = false
		if b.unread {
			l.due = true
		} else {
			s.fill(l, w, b.at)
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

// settle notes what became of results and claims.
func (s *Sender) settle(b booking) {
	for _, r := range b.results {
		delete(r.lane.held, r.n.ID)
	}
	for _, h := range b.holds {
		switch l := h.lane; {
		case l.claim != h.claim:
		case h.lost:
			s.lose(l)
		default:
			l.until = h.until
		}
	}
	for _, l := range b.disabled { // what it was owed was given up
		l.drop(l.queue)
		l.queue, l.due = nil, false
	}
}

// lose lets go of a webhook that another process sends to.
func (s *Sender) lose(l *lane) {
	l.claim, l.until = "", time.Time{}
	l.drop(l.queue)
	l.queue, l.due = nil, false
}

// fill puts what was read into a lane.
func (s *Sender) fill(l *lane, w want, at time.Time) {
	switch {
	case w.claim == "":
		s.lose(l)
		return
	case len(w.found) > 0 && len(w.secrets) == 0:
		l.muted = at.Add(mutePause)
		return
	}
	if w.fresh != "" {
		l.claim, l.until = w.claim, w.until
	}
	l.url, l.host, l.secrets, l.read = w.hook.URL, host(w.hook.URL), w.secrets, at
	if l.pace == unknown && w.hook.FailureStreak > 0 {
		l.pace = dead
	}
	l.fetched = store.Place{}
	if len(w.found) == w.limit {
		last := w.found[len(w.found)-1]
		l.due, l.fetched = true, store.Place{Next: last.Next, ID: last.ID}
	}
	l.add(w.found...)
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
