package board

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
)

// countedBoard is a board that counts how often its parts are read and encoded.
type countedBoard struct {
	LiveReader
	mu             sync.Mutex
	entries        int64 // number of entries of the log of lists
	estimated      time.Time
	lists, encoded int
}

func (b *countedBoard) Read(_ context.Context, fn func(LiveReader) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return fn(b)
}

func (b *countedBoard) Write(_ context.Context, fn func(LiveReader) error) error { return fn(b) }

func (b *countedBoard) EventKept(context.Context, lastmile.OrganizationID, int64) (int64, time.Time, error) {
	return 1, time.Time{}, nil
}

func (b *countedBoard) ListsBefore(context.Context, lastmile.OrganizationID, int64) (int64, error) {
	return b.entries, nil
}

func (b *countedBoard) FleetVersion(context.Context, lastmile.OrganizationID) (int64, error) {
	b.lists++
	return 0, nil
}

func (b *countedBoard) ListEntries(_ context.Context, _ lastmile.OrganizationID, _ lastmile.AdminID, after, seq int64, _ int) (all []ListEntry, last int64, err error) {
	for last = after; last < b.entries; {
		last++
		all = append(all, ListEntry{Nth: last, Seq: seq, Name: "containers", Body: fmt.Append(nil, last)})
	}
	return all, last, nil
}

func (b *countedBoard) LastPositions(context.Context, lastmile.OrganizationID) (map[lastmile.WorkerID]Moved, error) {
	return map[lastmile.WorkerID]Moved{}, nil
}

func (b *countedBoard) LastEstimates(context.Context, lastmile.OrganizationID) (map[lastmile.WorkerID]Estimated, error) {
	return map[lastmile.WorkerID]Estimated{"ada": {Worker: "ada", At: b.estimated}, "bob": {Worker: "bob", At: b.estimated}}, nil
}

func (b *countedBoard) EstimatesOf(context.Context, lastmile.OrganizationID, []lastmile.WorkerID, int) (map[lastmile.WorkerID][]EstimatedTask, error) {
	return map[lastmile.WorkerID][]EstimatedTask{"ada": {{ID: "t1"}, {ID: "t2"}}}, nil
}

// encode encodes estimates as the ids of workers and tasks.
func (b *countedBoard) encode(all []Estimated) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.encoded++
	text := ""
	for _, e := range all {
		text += string(e.Worker)
		for _, t := range e.Tasks {
			text += string(t.ID)
		}
	}
	return []byte("[" + text + "]"), nil
}

// TestFollowersShareBoards: a change of a list is read once, and the estimates of a worker
// are encoded once, however many clients follow the board.
func TestFollowersShareBoards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &countedBoard{estimated: time.Now()}
		live := &Live{Store: b, Hub: events.NewHub(events.HubOptions{}), Now: time.Now, EncodeEstimates: b.encode}
		var followers []*Follower
		for range 50 {
			f, err := live.Follow(t.Context(), lastmile.Principal{Organization: "acme"}, 5, Wanted{Lists: true})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			followers = append(followers, f)
		}
		take := func(f *Follower, want ...string) {
			t.Helper()
			messages, err := f.Take(t.Context(), 5)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, m := range messages {
				got = append(got, m.Name+" "+string(m.Data))
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("a follower got %q, want %q", got, want)
			}
		}
		for _, f := range followers {
			take(f, "estimates [adat1t2,bob]")
		}
		if b.lists != 1 || b.encoded != 2 {
			t.Errorf("lists were read %d times, estimates encoded %d times", b.lists, b.encoded)
		}
		for n := range int64(3) {
			b.entries++
			live.Hub.Publish(events.BoardTopic("acme"))
			for _, f := range followers {
				f.Until(t.Context(), func() {})
				take(f, fmt.Sprint("containers ", n+1))
			}
		}
		if b.lists != 4 {
			t.Errorf("lists were read %d times, want 4", b.lists)
		}
		followers[0].Repeat("t2", "ada")
		time.Sleep(2 * LiveInterval)
		take(followers[0], "estimates [adat2]")
	})
}

// largeBoard is a board with one large list.
type largeBoard struct{ countedBoard }

func (b *largeBoard) Read(_ context.Context, fn func(LiveReader) error) error { return fn(b) }

func (b *largeBoard) ListEntries(_ context.Context, _ lastmile.OrganizationID, _ lastmile.AdminID, _, seq int64, _ int) ([]ListEntry, int64, error) {
	return []ListEntry{{Nth: 1, Seq: seq, Name: "containers", Body: make([]byte, listRate)}}, 1, nil
}

// TestFollowersWaitOnlyForReads: after a page was read, the organization waits in proportion
// to its size, but not after a page that was read before for another client.
func TestFollowersWaitOnlyForReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &largeBoard{countedBoard{entries: 1}}
		live := &Live{Store: b, Hub: events.NewHub(events.HubOptions{}), Now: time.Now, EncodeEstimates: b.encode}
		start := time.Now()
		for range 10 {
			f, err := live.Follow(t.Context(), lastmile.Principal{Organization: "acme"}, 5, Wanted{Lists: true})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			f.nth = 0
			if _, err := f.Take(t.Context(), 5); err != nil {
				t.Fatal(err)
			}
		}
		if waited := time.Since(start); b.lists != 1 || waited != time.Second {
			t.Errorf("lists were read %d times, with a wait of %v; want one second after one read", b.lists, waited)
		}
		time.Sleep(2 * LiveInterval) // timers of followers end
	})
}
