package webhook

import (
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// mutePause is how long a webhook waits that nothing can be signed for.
const mutePause = time.Minute

// want is a wish for what a webhook is owed, and what was found.
type want struct {
	lane  *lane
	limit int // with what the lane holds already; 0 is to read the webhook alone
	after store.Place

	gone    bool
	hook    lastmile.Webhook
	found   []lastmile.Notification
	secrets [][]byte
}

// fetch is what is read at one time.
type fetch struct {
	of    int // the Sender's lists of wants
	wants []want
	at    time.Time
	err   error
}

// wish has a lane read more, or just its webhook when count is 0, or first get
// the claim it takes.
func (s *Sender) wish(l *lane, count int) {
	l.fetching = true
	w := want{lane: l, limit: count, after: l.fetched}
	if count > 0 {
		l.due = false
		if l.fetched.Next.IsZero() {
			w.limit += len(l.held)
		}
	}
	if now := s.Now(); !l.claimed(now) {
		s.claims = append(s.claims, claim{want: w, old: l.claim, fresh: s.NewID(), until: s.claimUntil(now)})
		return
	}
	s.wants[l.queueAt()] = append(s.wants[l.queueAt()], w)
}

// fetch reads what the lanes of a list want, in the background.
func (s *Sender) fetch(ctx context.Context, of int) {
	if s.fetching[of] || len(s.wants[of]) == 0 {
		return
	}
	f := fetch{of: of, wants: s.wants[of], at: s.Now()}
	s.wants[of], s.fetching[of] = nil, true
	s.background.Go(func() {
		if f.err = s.read(ctx, &f); f.err != nil && ctx.Err() == nil {
			s.Log.Error("read notifications", "error", f.err)
			s.pause(ctx)
		}
		s.fetched <- f
	})
}

// pause waits after an error.
func (s *Sender) pause(ctx context.Context) {
	timer := time.NewTimer(errorPause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// read reads what is wanted and what it takes to send it: each time, so that
// what was changed counts at once.
func (s *Sender) read(ctx context.Context, f *fetch) error {
	err := s.Store.Read(ctx, func(r store.Reader) error {
		for i := range f.wants {
			if err := f.wants[i].read(ctx, r, f.at); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	known := map[lastmile.OrganizationID][][]byte{}
	for i := range f.wants {
		w := &f.wants[i]
		if len(w.found) == 0 && w.limit > 0 {
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

func (w *want) read(ctx context.Context, r store.Reader, now time.Time) (err error) {
	w.hook, err = r.Webhook(ctx, w.lane.org, w.lane.id)
	if w.gone = lastmile.IsNotFound(err); w.gone {
		return nil
	}
	if err != nil || w.limit == 0 {
		return err
	}
	w.found, err = r.DueNotifications(ctx, w.lane.id, now, w.after, w.limit)
	return err
}

// enter puts what was read into its lanes. The first of it has a slot.
func (s *Sender) enter(ctx, sending context.Context, f fetch) {
	s.fetching[f.of] = false
	for _, w := range f.wants {
		if f.err == nil {
			w.lane.fill(w, f.at)
		} else {
			w.lane.due = true
		}
		s.fetchedFor(ctx, sending, w.lane)
	}
}

// fetchedFor has a lane go on after it has read, or could not.
func (s *Sender) fetchedFor(ctx, sending context.Context, l *lane) {
	l.fetching = false
	for _, id := range l.settled {
		delete(l.held, id)
	}
	l.settled = nil
	if l.reserved != nil && l.reserved.fits(l) && len(l.queue) > 0 {
		s.start(ctx, sending, l)
	}
	if l.reserved != nil {
		s.slots.give(*l.reserved)
		l.reserved = nil
	}
	s.line(l)
}

// fill puts what was read into a lane.
func (l *lane) fill(w want, at time.Time) {
	switch {
	case w.gone:
		l.lose()
		return
	case len(w.secrets) == 0 && (len(w.found) > 0 || w.limit == 0):
		l.muted = at.Add(mutePause)
		l.empty()
		l.due = false
		return
	}
	l.url, l.host = w.hook.URL, host(w.hook.URL)
	if len(w.secrets) > 0 { // they are not read when nothing was found
		l.secrets, l.read = w.secrets, at
	}
	if l.pace == unknown && w.hook.FailureStreak > 0 {
		l.pace = dead
	}
	if w.limit == 0 {
		if !w.hook.Enabled { // what it was owed was given up, or most of it
			l.empty()
		}
		return
	}
	l.fetched = store.Place{}
	if len(w.found) == w.limit {
		last := w.found[len(w.found)-1]
		l.due, l.fetched = true, store.Place{Next: last.Next, ID: last.ID}
	}
	l.add(w.found...)
}
