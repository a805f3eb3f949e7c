package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
)

// insertUnnumbered stores events without numbers, as every database did once.
func insertUnnumbered(ctx context.Context, w *sqlstore.Tx, events ...lastmile.Event) error {
	if err := insertEvents(ctx, w, events); err != nil || !w.Conn().Dialect().InOrder {
		return err
	}
	for _, e := range events {
		if err := w.Conn().Send(ctx, `UPDATE event SET seq = NULL WHERE org = $1 AND id = $2`, e.Organization, e.ID); err != nil {
			return err
		}
		if err := w.Conn().Send(ctx, `UPDATE event_head SET seq = seq - 1 WHERE org = $1`, e.Organization); err != nil {
			return err
		}
	}
	return nil
}

func testNumbers(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	append1 := func(e lastmile.Event) {
		t.Helper()
		write(t, s, func(w *sqlstore.Tx) error { return insertUnnumbered(ctx, w, e) })
	}
	number := func(limit int) (count int) {
		t.Helper()
		write(t, s, func(w *sqlstore.Tx) (err error) {
			numbered, err := w.NumberEvents(ctx, limit)
			count = len(numbered)
			return err
		})
		return count
	}
	log := func(org lastmile.OrganizationID, after int64, limit int) (list []string) {
		t.Helper()
		for _, e := range read(t, s, func(r *sqlstore.Tx) ([]store.LoggedEvent, error) { return r.EventsAfter(ctx, org, after, limit, 0) }) {
			list = append(list, fmt.Sprint(e.Seq, " ", e.ID[:2]))
		}
		return list
	}
	if pending := read(t, s, func(r *sqlstore.Tx) (bool, error) { return r.EventsPending(ctx) }); pending {
		t.Error("events are pending before there are any")
	}
	for i, e := range []lastmile.Event{
		happened(acme, "a2", workerCreated, 2), happened(acme, "a1", workerCreated, 1), happened(zenith, "z1", workerCreated, 1), happened(acme, "a3", workerCreated, 3),
	} {
		append1(e)
		if i == 1 && (number(1) != 1 || number(10) != 1) {
			t.Error("two events were there to be numbered")
		}
	}
	// The later event has an earlier time, because the clock of its node was behind.
	for sequence, name := range []string{"t1", "t2"} {
		e := happened(acme, name, lastmile.TriggerTaskUpdated, 10-sequence)
		e.Worker, e.Task, e.Sequence = nil, &lastmile.Task{ID: id[lastmile.TaskID]("t"), Organization: acme}, int64(sequence+1)
		append1(e)
	}
	same(t, "before the rest is numbered", log(acme, 0, 10), []string{"1 a1", "2 a2"})
	if number(10) != 4 || number(10) != 0 {
		t.Error("four more were to be numbered")
	}
	same(t, "all", log(acme, 0, 10), []string{"1 a1", "2 a2", "3 a3", "4 t1", "5 t2"})
	same(t, "after one, up to a limit", log(acme, 2, 2), []string{"3 a3", "4 t1"})
	same(t, "of the other organization", log(zenith, 0, 10), []string{"1 z1"})
	if last := read(t, s, func(r *sqlstore.Tx) (int64, error) { return r.LastEvent(ctx, acme) }); last != 5 {
		t.Errorf("the last is %d", last)
	}
	var caused []lastmile.Event
	for i, name := range []string{"f9", "f2", "f7", "f4", "f8", "f3"} {
		e := happened(acme, name, workerCreated, 20)
		if i%2 == 0 {
			e.Worker, e.Task, e.Sequence = nil, &lastmile.Task{ID: id[lastmile.TaskID](name), Organization: acme}, int64(10-i)
		}
		caused = append(caused, e)
	}
	write(t, s, func(w *sqlstore.Tx) error {
		return insertUnnumbered(ctx, w, caused...)
	})
	number(10)
	same(t, "of one change, at one time", log(acme, 5, 10), []string{"6 f9", "7 f2", "8 f7", "9 f4", "10 f8", "11 f3"})
}

// testNumbersOfTwo stores events of two organizations together, after a transaction that fails.
func testNumbersOfTwo(t *testing.T, s *sqlstore.Store) {
	ctx, broken := t.Context(), errors.New("broken")
	insert := func(w *sqlstore.Tx) error {
		var records []lastmile.EventRecord
		for i, org := range []lastmile.OrganizationID{acme, zenith, zenith, acme, zenith} {
			e := happened(org, fmt.Sprint("e", i), workerCreated, i)
			records = append(records, lastmile.EventRecord{Event: e, Order: int64(i), Body: []byte("{}")})
		}
		_, err := w.InsertEvents(ctx, records)
		return err
	}
	if err := s.Write(ctx, func(w *sqlstore.Tx) error { return errors.Join(insert(w), broken) }); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	write(t, s, insert)
	write(t, s, func(w *sqlstore.Tx) error {
		_, err := w.NumberEvents(ctx, 10)
		return err
	})
	for org, want := range map[lastmile.OrganizationID][]string{acme: {"1 e0", "2 e3"}, zenith: {"1 e1", "2 e2", "3 e4"}} {
		var got []string
		for _, e := range read(t, s, func(r *sqlstore.Tx) ([]store.LoggedEvent, error) { return r.EventsAfter(ctx, org, 0, 10, 0) }) {
			got = append(got, fmt.Sprint(e.Seq, " ", e.ID[:2]))
		}
		same(t, "the log of "+string(org), got, want)
	}
}

// testNumbersAtOnce numbers events on several nodes, while others store more and a follower
// reads them: it must see every event once, and none after a gap.
func testNumbersAtOnce(t *testing.T, s *sqlstore.Store) {
	const writers, rounds = 3, 20
	orgs := []lastmile.OrganizationID{zenith, acme}
	var storing, numbering sync.WaitGroup
	for i := range writers {
		storing.Go(func() {
			for round := range rounds {
				list := make([]lastmile.Event, len(orgs))
				for j, org := range orgs {
					list[(i+j)%len(orgs)] = happened(org, fmt.Sprintf("%d-%02d", i, round), workerCreated, round)
				}
				if err := s.Write(t.Context(), func(w *sqlstore.Tx) error { return insertEvents(t.Context(), w, list) }); err != nil {
					t.Error(err)
				}
			}
		})
	}
	stop := make(chan struct{})
	for range 3 {
		numbering.Go(func() {
			for done := false; ; {
				count := 0
				err := s.Write(lastmile.Locking(t.Context()), func(w *sqlstore.Tx) error {
					numbered, err := w.NumberEvents(t.Context(), 7)
					count = len(numbered)
					return err
				})
				if err != nil {
					t.Error(err)
				}
				if done && count == 0 || err != nil {
					return
				}
				select {
				case <-stop:
					done = true
				default:
				}
			}
		})
	}
	seen := map[lastmile.OrganizationID]int64{}
	follow := func() {
		for _, org := range orgs {
			for _, e := range read(t, s, func(r *sqlstore.Tx) ([]store.LoggedEvent, error) {
				return r.EventsAfter(t.Context(), org, seen[org], 100, 0)
			}) {
				if e.Seq != seen[org]+1 {
					t.Errorf("event %d of %s follows %d", e.Seq, org, seen[org])
				}
				seen[org] = e.Seq
			}
		}
	}
	stored := make(chan struct{})
	go func() { storing.Wait(); close(stored) }()
	for {
		follow()
		select {
		case <-stored:
			close(stop)
			numbering.Wait()
			follow()
			for _, org := range orgs {
				if seen[org] != writers*rounds {
					t.Errorf("%d events of %s were seen, want %d", seen[org], org, writers*rounds)
				}
			}
			return
		default:
		}
	}
}

// testManyEvents stores more events at once than one statement inserts.
func testManyEvents(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	h := hook(acme, "h", workerCreated)
	const count = 60
	var want, got []string
	write(t, s, func(w *sqlstore.Tx) error {
		records, notifications := make([]lastmile.EventRecord, count), make([]lastmile.Notification, 0, count)
		want = nil
		for i := range records {
			e := happened(acme, fmt.Sprintf("%02d", count-i), workerCreated, 1)
			records[i] = lastmile.EventRecord{Event: e, Order: int64(i), Body: []byte(e.ID)}
			notifications = append(notifications, e.Notifications([]lastmile.Webhook{h}, records[i].Body)...)
			want = append(want, fmt.Sprint(i+1, " ", e.ID, " ", e.ID))
		}
		numbered, err := w.InsertEvents(ctx, records)
		if numbered != w.Conn().Dialect().InOrder {
			t.Errorf("events are numbered when they are stored: %v", numbered)
		}
		return errors.Join(err, w.SaveWebhook(ctx, h), w.InsertNotifications(ctx, notifications))
	})
	write(t, s, func(w *sqlstore.Tx) error {
		numbered, err := w.NumberEvents(ctx, 2*count)
		want := count
		if w.Conn().Dialect().InOrder { // they have numbers already
			want = 0
		}
		if len(numbered) != want || slices.ContainsFunc(numbered, func(org lastmile.OrganizationID) bool { return org != acme }) {
			t.Errorf("numbered events of %v", numbered)
		}
		return err
	})
	for _, e := range read(t, s, func(r *sqlstore.Tx) ([]store.LoggedEvent, error) { return r.EventsAfter(ctx, acme, 0, 2*count, 0) }) {
		got = append(got, fmt.Sprint(e.Seq, " ", e.ID, " ", string(e.Body)))
	}
	same(t, "events in the order in which they were caused", got, want)
	for _, n := range dueTo(t, s, h, now.Add(time.Second), store.NotificationCursor{}, 2*count) {
		if n.Attempts != 0 || n.State != lastmile.NotificationPending || !n.Due.Equal(n.Next) || string(n.Body) != n.Event {
			t.Errorf("a new notification is %+v", n)
		}
	}
	if n := len(dueTo(t, s, h, now.Add(time.Second), store.NotificationCursor{}, 2*count)); n != count {
		t.Errorf("%d notifications are due", n)
	}
	err := s.Write(ctx, func(w *sqlstore.Tx) error {
		e := lastmile.EventRecord{Event: happened(acme, "01", workerCreated, 1), Body: []byte("other")}
		_, err := w.InsertEvents(ctx, []lastmile.EventRecord{e})
		return err
	})
	if err == nil {
		t.Error("an event was stored twice")
	}
}

func testPurge(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	h := hook(acme, "h", workerCreated)
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(w.SaveWebhook(ctx, h), insertUnnumbered(ctx, w,
			happened(acme, "o1", workerCreated, 1), happened(acme, "o2", workerUpdated, 2), happened(acme, "n1", workerUpdated, 5_000),
		))
	})
	purge := func() {
		t.Helper()
		for more := int64(1); more > 0; {
			write(t, s, func(w *sqlstore.Tx) (err error) {
				more, err = w.DeleteEvents(ctx, now.Add(time.Second), 1)
				return err
			})
		}
	}
	left := func() (list []string) {
		t.Helper()
		for _, e := range read(t, s, func(r *sqlstore.Tx) ([]store.LoggedEvent, error) { return r.EventsAfter(ctx, acme, 0, 10, 0) }) {
			list = append(list, e.ID[:2])
		}
		return list
	}
	purge() // no event has a number yet, so streams may still need them
	write(t, s, func(w *sqlstore.Tx) error {
		_, err := w.NumberEvents(ctx, 10)
		return err
	})
	same(t, "before", left(), []string{"o1", "o2", "n1"})
	purge()
	same(t, "while one is still to be sent", left(), []string{"o1", "n1"})
	giveUp(t, s, h.ID, 10)
	purge()
	same(t, "when it was given up", left(), []string{"n1"})
	write(t, s, func(w *sqlstore.Tx) error {
		_, err := w.NumberEvents(ctx, 10)
		return errors.Join(err, insertEvents(ctx, w, []lastmile.Event{happened(acme, "n2", workerUpdated, 6_000)}))
	})
	write(t, s, func(w *sqlstore.Tx) error {
		_, err := w.NumberEvents(ctx, 10)
		return err
	})
	if last := read(t, s, func(r *sqlstore.Tx) (int64, error) { return r.LastEvent(ctx, acme) }); last != 4 {
		t.Errorf("numbers begin again: the last is %d", last)
	}
}
