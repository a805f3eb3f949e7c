package webhook

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/store"
)

// slowLog is a log of events whose reads block until proceed is closed.
type slowLog struct {
	Reader
	proceed chan struct{}
	size    int // size of each event in bytes

	mu      sync.Mutex
	reading map[lastmile.OrganizationID]int // current reads
	most    map[lastmile.OrganizationID]int // maximum of concurrent reads
}

// slowHead is the number of the last event of a slowLog.
const slowHead = 32

func (l *slowLog) Read(_ context.Context, fn func(Reader) error) error { return fn(l) }

func (l *slowLog) Write(context.Context, func(Writer) error) error { return nil }

func (l *slowLog) EventsAfter(_ context.Context, org lastmile.OrganizationID, seq int64, most, bytes int) (found []store.LoggedEvent, err error) {
	l.mu.Lock()
	l.reading[org]++
	l.most[org] = max(l.most[org], l.reading[org])
	l.mu.Unlock()
	<-l.proceed
	l.mu.Lock()
	l.reading[org]--
	l.mu.Unlock()
	for size := 0; seq < slowHead && len(found) < most && size < bytes; size += l.size {
		seq++
		found = append(found, store.LoggedEvent{Seq: seq, Body: make([]byte, l.size)})
	}
	return found, nil
}

// TestFollowersTakeTurns: only one follower of an organization reads its log at a time, and
// followers of other organizations do not wait for it.
func TestFollowersTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &slowLog{proceed: make(chan struct{}), reading: map[lastmile.OrganizationID]int{}, most: map[lastmile.OrganizationID]int{}}
		f := &Feed{Store: l, Hub: events.NewHub(events.HubOptions{}), Ended: make(chan struct{})}
		var followers sync.WaitGroup
		follow := func(ctx context.Context, org lastmile.OrganizationID, want int) {
			followers.Go(func() {
				found, _, err := f.Next(ctx, lastmile.Principal{Organization: org}, slowHead-1)
				if err != nil || len(found) != want {
					t.Errorf("a follower of %s got %v: %v", org, found, err)
				}
			})
		}
		for range 5 {
			follow(t.Context(), "evil", 1)
		}
		synctest.Wait()
		impatient, leave := context.WithCancel(t.Context())
		follow(impatient, "evil", 0)
		follow(t.Context(), "good", 1)
		synctest.Wait()
		if l.reading["evil"] != 1 || l.reading["good"] != 1 {
			t.Errorf("%v read at once, want one of each organization", l.reading)
		}
		leave()
		synctest.Wait()
		close(l.proceed)
		followers.Wait()
		if l.most["evil"] != 1 {
			t.Errorf("%d followers read at once", l.most["evil"])
		}
	})
}

// TestFollowersReadAtALimitedRate: followers that read many bytes do not keep the whole
// machine busy, and followers that read few bytes hardly wait.
func TestFollowersReadAtALimitedRate(t *testing.T) {
	for _, test := range []struct {
		size        int
		least, most time.Duration // until 4 followers have all events
	}{{MaxFollowedPage, time.Second * 9 / 10, 2 * time.Second}, {1_000, 0, 8 * time.Millisecond}} {
		synctest.Test(t, func(t *testing.T) {
			l := &slowLog{proceed: make(chan struct{}), size: test.size, reading: map[lastmile.OrganizationID]int{}, most: map[lastmile.OrganizationID]int{}}
			close(l.proceed)
			f := &Feed{Store: l, Hub: events.NewHub(events.HubOptions{}), Ended: make(chan struct{})}
			begun := time.Now()
			var followers sync.WaitGroup
			for range 4 {
				followers.Go(func() {
					for seq := range int64(slowHead) {
						if _, _, err := f.Next(t.Context(), lastmile.Principal{Organization: "acme"}, seq); err != nil {
							t.Error(err)
						}
					}
				})
			}
			followers.Wait()
			if took := time.Since(begun); took < test.least || took > test.most {
				t.Errorf("events of %d bytes took %v, want %v to %v", test.size, took, test.least, test.most)
			}
		})
	}
}

// countedLog is a log that counts how often it is read.
type countedLog struct {
	Reader
	mu    sync.Mutex
	head  int64
	reads int
}

func (l *countedLog) Read(_ context.Context, fn func(Reader) error) error { return fn(l) }

func (l *countedLog) Write(context.Context, func(Writer) error) error { return nil }

func (l *countedLog) EventsAfter(_ context.Context, _ lastmile.OrganizationID, seq int64, _, _ int) (found []store.LoggedEvent, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reads++
	for seq++; seq <= l.head; seq++ {
		found = append(found, store.LoggedEvent{Seq: seq})
	}
	return found, nil
}

// TestFollowersShareEvents: an event is read once, however many followers wait for it, and
// none of them misses it.
func TestFollowersShareEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &countedLog{head: 7}
		f := &Feed{Store: l, Hub: events.NewHub(events.HubOptions{}), Ended: make(chan struct{})}
		const rounds = 10
		var followers sync.WaitGroup
		for range 50 {
			followers.Go(func() {
				for seq := int64(7); seq < 7+rounds; {
					found, last, err := f.Next(t.Context(), lastmile.Principal{Organization: "acme"}, seq)
					if err != nil || int64(len(found)) != last-seq || last <= seq {
						t.Errorf("after %d: %v up to %d, %v", seq, found, last, err)
						return
					}
					seq = last
				}
			})
		}
		for range rounds {
			synctest.Wait()
			l.mu.Lock()
			l.head++
			l.mu.Unlock()
			f.Hub.Publish(events.OrganizationTopic("acme"))
		}
		followers.Wait()
		if most := 3 * rounds; l.reads > most {
			t.Errorf("the log was read %d times, want at most %d", l.reads, most)
		}
		time.Sleep(2 * latestLifetime)
		if len(f.known) != 0 {
			t.Error("the latest events are kept for ever")
		}
	})
}

// TestLatestEventsAreBounded: followers share no more events than one of them reads at once,
// and the shared events have no gap.
func TestLatestEventsAreBounded(t *testing.T) {
	var l *latest
	for seq := range int64(3 * followPage) {
		l = l.extended(seq, []store.LoggedEvent{{Seq: seq + 1, Body: make([]byte, 100)}}, uint64(seq))
	}
	if len(l.found) != followPage || l.after != 2*followPage || l.last() != 3*followPage {
		t.Errorf("%d events after %d up to %d", len(l.found), l.after, l.last())
	}
	l = l.extended(l.last(), []store.LoggedEvent{{Seq: 3*followPage + 1, Body: make([]byte, MaxFollowedPage)}}, 1)
	if len(l.found) != 1 {
		t.Errorf("%d events, the last one as large as all may be", len(l.found))
	}
	if _, known := l.since(3*followPage-1, 1); known {
		t.Error("events that were dropped are known")
	}
	if _, known := l.since(l.last(), 2); known {
		t.Error("it is known that there is no event after a change")
	}
	if l = l.extended(7, nil, 3); l.after != 7 || l.last() != 7 {
		t.Errorf("after a gap: %+v", l)
	}
}
