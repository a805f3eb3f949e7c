package storetest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
	"dray/internal/textmessage"
	"dray/internal/work"
)

// runWork tests the leases of background work.
func runWork(t *testing.T, open func(t *testing.T) *sqlstore.Store) {
	t.Run("organizations take turns with work", func(t *testing.T) { testTurns(t, open(t)) })
	for kind, add := range workOf {
		t.Run("one process at a time has a lease of "+string(kind), func(t *testing.T) { testLeases(t, open(t), kind, add) })
		t.Run("leases of "+string(kind)+" are renewed together", func(t *testing.T) { testRenewals(t, open(t), kind, add) })
		t.Run("work of kind "+string(kind)+" is advanced", func(t *testing.T) { testAdvance(t, open(t), kind, add) })
	}
	t.Run("estimates of workers on duty are advanced", func(t *testing.T) { testAdvanceOnDuty(t, open(t)) })
	t.Run("the failures of jobs are counted", func(t *testing.T) { testFailures(t, open(t)) })
	t.Run("the backlog is counted", func(t *testing.T) { testBacklog(t, open(t)) })
}

const sweep work.Kind = "sweep"

// workOf adds an item of each kind.
var workOf = map[work.Kind]func(ctx context.Context, w *sqlstore.Tx, org lastmile.OrganizationID, name string, due time.Time) error{
	sweep: func(ctx context.Context, w *sqlstore.Tx, org lastmile.OrganizationID, name string, due time.Time) error {
		return w.AddJob(ctx, job(org, name, due))
	},
	work.Messages: func(ctx context.Context, w *sqlstore.Tx, org lastmile.OrganizationID, name string, due time.Time) error {
		m := textmessage.New(id[lastmile.MessageID](name), org, textmessage.KindInvitation, "+12125550100", "hello", due, due)
		return w.SaveMessage(ctx, m)
	},
	work.Estimates: func(ctx context.Context, w *sqlstore.Tx, org lastmile.OrganizationID, name string, due time.Time) error {
		return w.ScheduleEstimate(ctx, org, id[lastmile.WorkerID](name), due)
	},
	work.Replans: func(ctx context.Context, w *sqlstore.Tx, org lastmile.OrganizationID, name string, due time.Time) error {
		owner, on := team(name), assignment.DefaultReplanning
		owner.Organization, on.Enabled = org, true
		return errors.Join(w.SaveReplanning(ctx, org, on), w.SaveTeam(ctx, owner), w.RequestReplan(ctx, org, owner.ID, "", lastmile.Replan{}, due))
	},
	work.Webhooks: func(ctx context.Context, w *sqlstore.Tx, org lastmile.OrganizationID, name string, due time.Time) error {
		e := happened(org, "e"+name, workerCreated, int(due.Sub(now).Milliseconds()))
		e.Webhooks = []lastmile.WebhookID{id[lastmile.WebhookID](name)}
		return errors.Join(w.SaveWebhook(ctx, hook(org, name, workerCreated)), insertEvents(ctx, w, []lastmile.Event{e}))
	},
}

func job(org lastmile.OrganizationID, name string, due time.Time) work.Job {
	return work.Job{Organization: org, ID: id[string](name), Kind: sweep, Due: due, Created: now}
}

// testAdvance checks that work becomes due if it was scheduled too far ahead, and no other
// work does.
func testAdvance(t *testing.T, s *sqlstore.Store, kind work.Kind, add func(context.Context, *sqlstore.Tx, lastmile.OrganizationID, string, time.Time) error) {
	ctx := t.Context()
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(add(ctx, w, acme, "far", now.Add(2*time.Hour)), add(ctx, w, acme, "near", now.Add(time.Minute)))
	})
	write(t, s, func(w *sqlstore.Tx) error {
		errs := []error{w.AdvanceWork(ctx, "other", now, now)}
		for other := range workOf {
			if other != kind {
				errs = append(errs, w.AdvanceWork(ctx, other, now, now))
			}
		}
		return errors.Join(errs...)
	})
	if got := findWork(t, s, work.Query{Kind: kind, Now: now, PerOrganization: 10, Limit: 10}); len(got) != 0 {
		t.Errorf("after work of other kinds was advanced, due is %+v", got)
	}
	write(t, s, func(w *sqlstore.Tx) error { return w.AdvanceWork(ctx, kind, now, now.Add(30*time.Minute)) })
	got := findWork(t, s, work.Query{Kind: kind, Now: now, PerOrganization: 10, Limit: 10})
	if len(got) != 1 || got[0].ID != id[string]("far") || !got[0].Due.Equal(now) {
		t.Errorf("due is %+v", got)
	}
}

// findWork lists the work that can be leased.
func findWork(t *testing.T, s *sqlstore.Store, q work.Query) []work.Item {
	t.Helper()
	if q.Until.IsZero() {
		q.Until = q.Now
	}
	return read(t, s, func(r *sqlstore.Tx) ([]work.Item, error) { return r.DueWork(t.Context(), q) })
}

func testTurns(t *testing.T, s *sqlstore.Store) {
	const boreal, cumulus lastmile.OrganizationID = "borealborealborealboreal", "cumuluscumuluscumuluscum"
	ctx, soon := t.Context(), now.Add(time.Second)
	write(t, s, func(w *sqlstore.Tx) error {
		var errs []error
		for i := range 20 {
			errs = append(errs, w.AddJob(ctx, job(acme, fmt.Sprintf("a%02d", i), now.Add(time.Duration(i)*time.Millisecond))))
		}
		other := job(zenith, "z2", now)
		other.Kind = "other"
		return errors.Join(append(errs,
			w.AddJob(ctx, job(boreal, "b1", now.Add(time.Hour))), // not due yet
			w.AddJob(ctx, job(cumulus, "c1", now)),
			w.AddJob(ctx, job(zenith, "z1", soon)),
			w.AddJob(ctx, other),
		)...)
	})
	tests := map[string]struct {
		q    work.Query
		want []string
	}{
		"one of each organization, the longest due": {work.Query{Kind: sweep, Now: soon, PerOrganization: 1, Limit: 10}, []string{"a00", "c10", "z10"}},
		"two of each":                     {work.Query{Kind: sweep, Now: soon, PerOrganization: 2, Limit: 10}, []string{"a00", "a01", "c10", "z10"}},
		"none before its time":            {work.Query{Kind: sweep, Now: now, PerOrganization: 1, Limit: 10}, []string{"a00", "c10"}},
		"not at all before any":           {work.Query{Kind: sweep, Now: now.Add(-1), PerOrganization: 1, Limit: 10}, nil},
		"what will be due":                {work.Query{Kind: sweep, Now: now, Until: soon, PerOrganization: 1, Limit: 10}, []string{"a00", "c10", "z10"}},
		"beginning after an organization": {work.Query{Kind: sweep, Now: soon, After: acme, PerOrganization: 1, Limit: 2}, []string{"c10", "z10"}},
		"and going around":                {work.Query{Kind: sweep, Now: soon, After: cumulus, PerOrganization: 1, Limit: 10}, []string{"z10", "a00", "c10"}},
		"around from the last":            {work.Query{Kind: sweep, Now: soon, After: zenith, PerOrganization: 1, Limit: 1}, []string{"a00"}},
		"of the kind asked for":           {work.Query{Kind: "other", Now: soon, PerOrganization: 1, Limit: 10}, []string{"z20"}},
		"of no kind":                      {work.Query{Kind: "none", Now: soon, PerOrganization: 1, Limit: 10}, nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, item := range findWork(t, s, tt.q) {
				got = append(got, item.ID[:3])
			}
			same(t, "due work", got, tt.want)
		})
	}
}

// leasing is a test of one item's leases.
type leasing struct {
	t *testing.T
	s *sqlstore.Store
	work.Item
}

// due reports whether the item can be leased at a time.
func (l leasing) due(at time.Time) bool {
	l.t.Helper()
	found := findWork(l.t, l.s, work.Query{Kind: l.Kind, Now: at, PerOrganization: 5, Limit: 5})
	if len(found) > 0 && (len(found) > 1 || found[0].ID != l.ID || found[0].Organization != l.Organization || found[0].Due.After(at)) {
		l.t.Fatalf("due are %+v", found)
	}
	return len(found) == 1
}

// claim leases the item for a minute.
func (l leasing) claim(token string, at time.Time) (item work.Item, ok bool) {
	l.t.Helper()
	item = l.Item
	item.Lease = token
	write(l.t, l.s, func(w *sqlstore.Tx) (err error) {
		ok, err = w.ClaimWork(l.t.Context(), item, at, at.Add(time.Minute))
		return err
	})
	return item, ok
}

// lost checks that nothing can be written under a lease any more, by trying each step with
// another write in the same transaction.
func (l leasing) lost(what string, item work.Item) {
	l.t.Helper()
	ctx := l.t.Context()
	for name, step := range map[string]func(w *sqlstore.Tx) error{
		"hold": func(w *sqlstore.Tx) error {
			return (&work.Lease{Item: item, For: time.Minute}).Hold(ctx, w, now)
		},
		"release": func(w *sqlstore.Tx) error { return w.ReleaseWork(ctx, item, work.Release{Due: now}) },
		"finish":  func(w *sqlstore.Tx) error { return w.FinishWork(ctx, item) },
	} {
		err := l.s.Write(ctx, func(w *sqlstore.Tx) error {
			return errors.Join(w.SaveDestination(ctx, destination(acme, name)), step(w))
		})
		if !errors.Is(err, work.ErrLost) {
			l.t.Errorf("%s, %s: %v, want that the lease is lost", what, name, err)
		}
		err = l.s.Read(ctx, func(r *sqlstore.Tx) error {
			_, err := r.Destination(ctx, acme, id[lastmile.DestinationID](name))
			return err
		})
		if err == nil {
			l.t.Errorf("%s, %s: the rest of the transaction was kept", what, name)
		}
	}
}

type addWork = func(ctx context.Context, w *sqlstore.Tx, org lastmile.OrganizationID, name string, due time.Time) error

func testLeases(t *testing.T, s *sqlstore.Store, kind work.Kind, add addWork) {
	ctx := t.Context()
	write(t, s, func(w *sqlstore.Tx) error { return add(ctx, w, acme, "j", now) })
	l := leasing{t, s, work.Item{Kind: kind, Organization: acme, ID: id[string]("j")}}
	expect := func(what string, got, want bool) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	expect("due before its time", l.due(now.Add(-time.Millisecond)), false)
	expect("due", l.due(now), true)
	if kind != work.Webhooks { // whose leases do not depend on what is due
		_, ok := l.claim("early", now.Add(-time.Millisecond))
		expect("leased before its time", ok, false)
	}
	first, ok := l.claim("first", now)
	expect("leased", ok, true)
	_, ok = l.claim("second", now)
	expect("leased twice", ok, false)
	expect("due while leased", l.due(now.Add(time.Minute-time.Millisecond)), false)
	write(t, s, func(w *sqlstore.Tx) error {
		return (&work.Lease{Item: first, For: time.Minute}).Hold(ctx, w, now.Add(30*time.Second))
	})
	expect("due after it was renewed", l.due(now.Add(time.Minute)), false)

	later := now.Add(2 * time.Minute)
	expect("due when the lease has ended", l.due(later), true)
	second, ok := l.claim("second", later)
	expect("leased when the lease has ended", ok, true)
	l.lost("the first", first)
	write(t, s, func(w *sqlstore.Tx) error { return w.ReleaseWork(ctx, second, work.Release{Due: later}) })
	l.lost("the second, after it was released", second)
	expect("due after it was released", l.due(later), true)

	third, _ := l.claim("third", later)
	expect("due after a lease", l.due(later), false)
	write(t, s, func(w *sqlstore.Tx) error { return w.ResetWork(ctx, kind, later) })
	l.lost("the third, after all were reset", third)
	expect("due after all leases were reset", l.due(later), true)

	// The clock was days ahead, and is right again.
	_, ok = l.claim("ahead", later.Add(48*time.Hour))
	expect("leased under a clock that is ahead", ok, true)
	expect("due when the clock is right", l.due(later), true)
	fourth, ok := l.claim("fourth", later)
	expect("leased when the clock is right", ok, true)

	write(t, s, func(w *sqlstore.Tx) error { return w.FinishWork(ctx, fourth) })
	l.lost("the fourth, after it was finished", fourth)
	if kind != work.Webhooks { // whose notification is still to be sent
		expect("due after it was finished", l.due(later.Add(time.Hour)), false)
	}
}

func testRenewals(t *testing.T, s *sqlstore.Store, kind work.Kind, add addWork) {
	ctx := t.Context()
	const many = 300 // more than one statement renews
	var items []work.Item
	write(t, s, func(w *sqlstore.Tx) error {
		items = nil
		for i := range many {
			name := fmt.Sprintf("j%03d", i)
			item := work.Item{Kind: kind, Organization: acme, ID: id[string](name), Lease: "token" + name}
			if err := add(ctx, w, acme, name, now); err != nil {
				return err
			}
			if ok, err := w.ClaimWork(ctx, item, now, now.Add(time.Minute)); err != nil || !ok {
				return errors.Join(err, fmt.Errorf("%s was leased: %v", name, ok))
			}
			items = append(items, item)
		}
		return nil
	})
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(w.ReleaseWork(ctx, items[7], work.Release{Due: now}), w.FinishWork(ctx, items[200]))
	})
	var lost []work.Item
	write(t, s, func(w *sqlstore.Tx) (err error) {
		lost, err = w.HoldWork(ctx, items, now.Add(time.Hour/10))
		return err
	})
	same(t, "lost leases", lost, []work.Item{items[7], items[200]})
	due := findWork(t, s, work.Query{Kind: kind, Now: now.Add(5 * time.Minute), PerOrganization: many, Limit: many})
	want := 1
	if kind == work.Webhooks { // a finished one still has its notification
		want = 2
	}
	if len(due) != want {
		t.Errorf("%d are due after the others were renewed, want %d", len(due), want)
	}
	if due := findWork(t, s, work.Query{Kind: kind, Now: now.Add(6 * time.Minute), PerOrganization: 50, Limit: many}); len(due) != 50 {
		t.Errorf("%d are due after all leases ended, want 50 of each organization", len(due))
	}
}

func testFailures(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	write(t, s, func(w *sqlstore.Tx) error { return w.AddJob(ctx, job(acme, "j", now)) })
	l := leasing{t, s, work.Item{Kind: sweep, Organization: acme, ID: id[string]("j")}}
	first, _ := l.claim("first", now)
	write(t, s, func(w *sqlstore.Tx) error {
		return w.ReleaseWork(ctx, first, work.Release{Due: now, Failures: 3, Reason: "broken"})
	})
	found := findWork(t, s, work.Query{Kind: sweep, Now: now, PerOrganization: 1, Limit: 1})
	if len(found) != 1 || found[0].Failures != 3 || found[0].Attempt != 1 {
		t.Fatalf("released as %+v", found)
	}
	second, _ := l.claim("second", now)
	write(t, s, func(w *sqlstore.Tx) error {
		return w.ReleaseWork(ctx, second, work.Release{Failures: 4, Reason: "broken"})
	})
	if l.due(now.Add(24 * time.Hour)) {
		t.Error("a job that was given up is due")
	}
	same(t, "backlog", read(t, s, func(r *sqlstore.Tx) (work.Backlog, error) { return r.WorkBacklog(ctx, sweep, now) }), work.Backlog{GivenUp: 1})
}

func testBacklog(t *testing.T, s *sqlstore.Store) {
	ctx, at := t.Context(), now.Add(time.Minute)
	counted := func(kind work.Kind) work.Backlog {
		t.Helper()
		return read(t, s, func(r *sqlstore.Tx) (work.Backlog, error) { return r.WorkBacklog(ctx, kind, at) })
	}
	for kind, add := range workOf {
		same(t, "no "+string(kind), counted(kind), work.Backlog{})
		write(t, s, func(w *sqlstore.Tx) error {
			err := errors.Join(add(ctx, w, acme, "k1", now), add(ctx, w, zenith, "k2", now.Add(time.Second)), add(ctx, w, zenith, "k3", now.Add(2*time.Second)),
				add(ctx, w, zenith, "k4", at.Add(time.Second)))
			held, ended := work.Item{Kind: kind, Organization: acme, ID: id[string]("k1"), Lease: "1"}, work.Item{Kind: kind, Organization: zenith, ID: id[string]("k2"), Lease: "2"}
			_, err1 := w.ClaimWork(ctx, held, now.Add(time.Second), now.Add(time.Hour))
			_, err2 := w.ClaimWork(ctx, ended, now.Add(time.Second), now.Add(5*time.Second))
			return errors.Join(err, err1, err2)
		})
		want := work.Backlog{Waiting: 4, Due: 2, Oldest: now.Add(2 * time.Second), Leased: 1}
		if kind == work.Webhooks { // whose notifications are counted, leased or not
			want = work.Backlog{Waiting: 4, Due: 3, Oldest: now, Leased: 1}
		}
		same(t, "some of "+string(kind), counted(kind), want)
	}
}
