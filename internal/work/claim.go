package work

import (
	"context"
	"slices"
	"time"

	"dray/internal/lastmile"
)

// fill finds, leases and starts items until no more are admitted or due. It returns
// how many it leased.
func (s *session[R, W]) fill(ctx context.Context) (leased int, err error) {
	for {
		if err := s.find(ctx); err != nil {
			return leased, err
		}
		n, err := s.startAdmitted(ctx)
		leased += n
		if err != nil || n == 0 {
			return leased, err
		}
	}
}

// find replaces the candidates with the items that are due now. Items that were offered
// while they run stay candidates.
func (s *session[R, W]) find(ctx context.Context) error {
	now := s.Now()
	q := Query{
		Kind: s.Kind, Now: now, Until: now.Add(s.Poll.Idle), After: s.after,
		PerOrganization: s.Candidates.PerOrganization, Limit: s.Candidates.Total,
	}
	var found []Item
	err := s.Store.Read(ctx, func(r R) (err error) {
		found, err = r.DueWork(ctx, q)
		return err
	})
	if err != nil {
		return err
	}
	s.next = time.Time{}
	s.candidates = slices.DeleteFunc(s.candidates, func(i Item) bool { return s.held[i.key()] == nil })
	for _, item := range inTurns(found) {
		switch {
		case s.held[item.key()] != nil:
		case !item.Due.After(now):
			s.candidates = append(s.candidates, item)
		case s.next.IsZero() || item.Due.Before(s.next):
			s.next = item.Due
		}
	}
	if s.Order != nil {
		slices.SortStableFunc(s.candidates, s.Order)
	}
	return nil
}

// inTurns orders items so that the first ones of all organizations come before any
// second one.
func inTurns(items []Item) []Item {
	ordered := make([]Item, 0, len(items))
	var rounds [][]Item
	count := 0
	for i, item := range items {
		if i > 0 && items[i-1].Organization != item.Organization {
			count = 0
		}
		if count == len(rounds) {
			rounds = append(rounds, nil)
		}
		rounds[count] = append(rounds[count], item)
		count++
	}
	for _, round := range rounds {
		ordered = append(ordered, round...)
	}
	return ordered
}

// startAdmitted leases and starts the candidates that are admitted, and returns
// how many it leased. The others stay candidates.
func (s *session[R, W]) startAdmitted(ctx context.Context) (leased int, err error) {
	for ctx.Err() == nil {
		batch := s.admit()
		if len(batch) == 0 {
			return leased, nil
		}
		taken, err := s.claim(ctx, batch)
		started := map[key]bool{}
		for _, p := range taken {
			if !p.Done {
				started[p.key()] = true
				s.start(ctx, p)
			} else if s.Finished != nil {
				s.Finished(p)
			}
		}
		for _, item := range batch {
			if !started[item.key()] {
				s.Admission.Done(item)
			}
		}
		if err != nil {
			s.disown(batch)
			return leased, err
		}
		s.ran += len(taken)
		leased += len(taken)
		s.after = batch[len(batch)-1].Organization
	}
	return leased, ctx.Err()
}

// admit removes and returns a batch of candidates that may run. An item that was
// offered while it runs stays a candidate: it may be due again afterwards.
func (s *session[R, W]) admit() (batch []Item) {
	rest := s.candidates[:0]
	seen := map[key]bool{}
	for _, item := range s.candidates {
		if seen[item.key()] {
			continue
		}
		seen[item.key()] = true
		switch {
		case s.held[item.key()] == nil && len(batch) < s.Batch && s.Admission.Admit(item):
			item.Kind, item.Lease = s.Kind, s.NewID()
			batch = append(batch, item)
		default:
			rest = append(rest, item)
		}
	}
	s.candidates = rest
	return batch
}

// claim leases items in one transaction and returns those that it leased.
func (s *session[R, W]) claim(ctx context.Context, batch []Item) (taken []*Prepared, err error) {
	now := s.Now()
	if s.Prepare == nil || s.Locking {
		ctx = lastmile.Locking(ctx)
	}
	// Nodes lock items in one order, so that they do not wait for each other.
	ordered := slices.SortedFunc(slices.Values(batch), Item.compare)
	err = s.Store.Write(ctx, func(w W) error {
		taken = nil
		leased := map[key]bool{}
		for _, item := range ordered {
			ok, err := w.ClaimWork(ctx, item, now, now.Add(s.LeaseFor))
			if err != nil {
				return err
			}
			leased[item.key()] = ok // else another node was faster
		}
		for _, item := range batch {
			if leased[item.key()] {
				item.Attempt++
				taken = append(taken, &Prepared{Item: item})
			}
		}
		if s.Prepare == nil || len(taken) == 0 {
			return nil
		}
		if err := s.Prepare(ctx, w, taken); err != nil {
			return err
		}
		return finishDone(ctx, w, taken)
	})
	if err != nil {
		return nil, err
	}
	return taken, nil
}

// disown releases items after their transaction failed, because it may have been
// committed all the same.
func (s *session[R, W]) disown(batch []Item) {
	for _, item := range batch {
		h := &holding{lease: &Lease{Item: item}, done: true, release: &Release{Due: item.Due, Failures: item.Failures}}
		if h.release.Due.IsZero() { // the item was offered
			h.release.Due = s.Now()
		}
		s.held[item.key()] = h
		s.endings = append(s.endings, h)
	}
}

// finishDone ends the leases of items that Prepare has marked as done.
func finishDone(ctx context.Context, w Writer, items []*Prepared) error {
	for _, p := range items {
		if !p.Done {
			continue
		}
		if err := w.FinishWork(ctx, p.Item); err != nil {
			return err
		}
	}
	return nil
}
