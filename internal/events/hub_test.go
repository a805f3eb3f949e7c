package events_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
)

// never is a polling interval that no test waits for.
const never = 365 * 24 * time.Hour

func topic(n int) events.Topic {
	return events.TaskTopic(lastmile.TaskID(fmt.Sprintf("task%020d", n)))
}

func TestHubWakesSubscribersOfTheTopic(t *testing.T) {
	h := events.NewHub(events.HubOptions{})
	one, both, closed := h.Subscribe(topic(1)), h.Subscribe(topic(1), topic(2)), h.Subscribe(topic(1))
	closed.Close()
	h.Publish(topic(2))
	if received(one.Changed()) || !received(both.Changed()) || received(closed.Changed()) {
		t.Error("the wrong subscribers were woken")
	}
	one.Follow(topic(3))
	h.Publish(topic(1))
	if received(one.Changed()) {
		t.Error("woken by a topic that it does not follow any more")
	}
	h.Publish(topic(3), topic(3))
	h.Publish(topic(3))
	if !received(one.Changed()) || received(one.Changed()) {
		t.Error("a slow subscriber must get one value for many changes")
	}
}

// TestHubRemovesClosedSubscriptions follows thousands of topics and then none.
func TestHubRemovesClosedSubscriptions(t *testing.T) {
	h := events.NewHub(events.HubOptions{})
	const count = 20_000
	subscriptions := make([]*events.Subscription, count)
	for i := range subscriptions {
		subscriptions[i] = h.Subscribe(topic(i), topic(i+1))
	}
	if topics, all := events.Sizes(h); topics != count+1 || all != count {
		t.Errorf("%d topics and %d subscribers", topics, all)
	}
	for i, s := range subscriptions {
		h.Publish(topic(i))
		if i%2 == 0 {
			s.Follow(topic(i))
		}
	}
	for _, s := range subscriptions {
		if !received(s.Changed()) {
			t.Fatal("a subscriber was not woken")
		}
		s.Close()
		s.Close()
	}
	if topics, all := events.Sizes(h); topics != 0 || all != 0 {
		t.Errorf("%d topics and %d subscribers are left", topics, all)
	}
}

func TestHubReachesOtherNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{}
		a, b := n.node(t, "a", never), n.node(t, "b", never)
		time.Sleep(time.Second)
		if !a.Live() || !b.Live() {
			t.Fatal("the nodes are not connected")
		}
		here, there, other := a.Subscribe(topic(1)), b.Subscribe(topic(1)), b.Subscribe(topic(2))
		begin := time.Now()
		a.Publish(topic(1))
		if !received(here.Changed()) {
			t.Error("not woken at once in the process of the change")
		}
		<-there.Changed()
		if took := time.Since(begin); took > 10*time.Millisecond {
			t.Errorf("woken on another node after %v", took)
		}
		time.Sleep(time.Second)
		if received(here.Changed()) {
			t.Error("a node must not be woken by its own notification")
		}
		if received(other.Changed()) {
			t.Error("woken by another topic")
		}
	})
}

// TestHubCoalesces publishes far more often than the hub sends.
func TestHubCoalesces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{}
		a, b := n.node(t, "a", never), n.node(t, "b", never)
		time.Sleep(time.Second)
		n.set(func() { n.sent = nil })
		there := b.Subscribe(topic(1))
		for range 1_000 {
			a.Publish(topic(1), topic(2))
			time.Sleep(100 * time.Microsecond)
		}
		time.Sleep(time.Second)
		n.set(func() {
			if len(n.sent) > 25 {
				t.Errorf("a tenth of a second of commits was sent as %d payloads", len(n.sent))
			}
		})
		if !received(there.Changed()) {
			t.Error("not woken")
		}
	})
}

// TestHubBoundsPayloads publishes more topics than fit into the payloads.
func TestHubBoundsPayloads(t *testing.T) {
	for _, count := range []int{1, 400, 2_000, 5_000, 50_000} {
		synctest.Test(t, func(t *testing.T) {
			n := &network{}
			a, b := n.node(t, "a", never), n.node(t, "b", never)
			time.Sleep(time.Second)
			n.set(func() { n.sent = nil })
			first, last := b.Subscribe(topic(0)), b.Subscribe(topic(count-1))
			for i := range count {
				a.Publish(topic(i))
			}
			time.Sleep(time.Second)
			if !received(first.Changed()) || !received(last.Changed()) {
				t.Errorf("%d topics: not all subscribers were woken", count)
			}
			n.set(func() {
				if len(n.sent) > 8 {
					t.Errorf("%d topics were sent as %d payloads", count, len(n.sent))
				}
				for _, p := range n.sent {
					if len(p) >= 8_000 {
						t.Errorf("%d topics: a payload has %d bytes", count, len(p))
					}
				}
				if all := strings.Contains(strings.Join(n.sent, "\n"), "*"); all != (count > 2_500) {
					t.Errorf("%d topics: all subscribers were woken: %v", count, all)
				}
			})
		})
	}
}

// TestHubPollsWithoutRelay has other processes change a database that sends no
// notifications.
func TestHubPollsWithoutRelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n, polls := &network{}, new(atomic.Int64)
		h := events.NewHub(events.HubOptions{Poll: 250 * time.Millisecond, Version: func(ctx context.Context) (string, error) {
			polls.Add(1)
			return n.Version(ctx)
		}})
		run(t, h)
		subscribers := make([]*events.Subscription, 1_000)
		for i := range subscribers {
			subscribers[i] = h.Subscribe(topic(i))
		}
		time.Sleep(time.Second + time.Millisecond)
		for _, s := range subscribers {
			received(s.Changed())
		}
		time.Sleep(time.Minute)
		for _, s := range subscribers {
			if received(s.Changed()) {
				t.Fatal("woken though nothing has changed")
			}
		}
		if count := polls.Load(); count > 4*61 {
			t.Errorf("%d queries of %d subscribers in a minute", count, len(subscribers))
		}
		n.commit()
		time.Sleep(251 * time.Millisecond)
		for _, s := range subscribers {
			if !received(s.Changed()) {
				t.Fatal("not woken by a change of another process")
			}
		}
	})
}

// TestHubFallsBack breaks the listening connection: the hub polls until it has
// reconnected, and then wakes all subscribers.
func TestHubFallsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{}
		h := n.node(t, "a", time.Second)
		time.Sleep(2 * time.Second)
		s := h.Subscribe(topic(1))
		received(s.Changed())
		n.cut(true)
		time.Sleep(2*time.Second + time.Millisecond)
		synctest.Wait()
		if h.Live() {
			t.Fatal("the connection is lost, but counts as live")
		}
		if !received(s.Changed()) {
			t.Error("not woken when the connection was lost, though a change may have been missed")
		}
		time.Sleep(time.Minute)
		if received(s.Changed()) {
			t.Error("woken though nothing has changed")
		}
		n.commit()
		time.Sleep(time.Second + time.Millisecond)
		if !received(s.Changed()) {
			t.Error("a change while the connection is down was not found")
		}
		n.cut(false)
		time.Sleep(20 * time.Second)
		if !h.Live() || !received(s.Changed()) {
			t.Error("not woken after the reconnect")
		}
		time.Sleep(time.Hour)
		if received(s.Changed()) {
			t.Error("woken though nothing has changed")
		}
	})
}

// TestHubDetectsSilentConnection keeps a connection open on which nothing arrives
// any more.
func TestHubDetectsSilentConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{}
		h := n.node(t, "a", time.Second)
		time.Sleep(2 * time.Second)
		n.deafen()
		time.Sleep(21 * time.Second)
		if h.Live() {
			t.Fatal("nothing arrives, but the connection counts as live")
		}
		s := h.Subscribe(topic(1))
		time.Sleep(2 * time.Second)
		received(s.Changed())
		n.commit()
		time.Sleep(time.Second + time.Millisecond)
		if !received(s.Changed()) {
			t.Error("a change was not found by polling")
		}
		n.set(func() { n.deaf = false })
		time.Sleep(time.Minute)
		if !h.Live() {
			t.Error("the connection works again, but does not count as live")
		}
	})
}

// TestHubFlushesWhenStopped stops a hub right after a change, and flushes a hub
// that never ran, as a command does.
func TestHubFlushesWhenStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{}
		b := n.node(t, "b", never)
		time.Sleep(time.Second)
		a := events.NewHub(events.HubOptions{Node: "a", Relay: n})
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() { a.Run(ctx) })
		time.Sleep(time.Second)
		s := b.Subscribe(topic(1))
		received(s.Changed())
		a.Publish(topic(1))
		cancel()
		group.Wait()
		synctest.Wait()
		if !received(s.Changed()) {
			t.Error("the last change of a node that stopped was lost")
		}
		command := events.NewHub(events.HubOptions{Node: "c", Relay: n})
		command.Publish(topic(1))
		if err := command.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !received(s.Changed()) {
			t.Error("the change of a command was lost")
		}
	})
}

// TestHubAnnouncesItself starts a node that may have been killed before it could
// send its last changes.
func TestHubAnnouncesItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{}
		b := n.node(t, "b", never)
		time.Sleep(time.Second)
		s := b.Subscribe(topic(1))
		received(s.Changed())
		n.node(t, "a", never)
		time.Sleep(time.Second)
		if !received(s.Changed()) {
			t.Error("not woken by a node that started again")
		}
	})
}

// TestHubMissesNothingInAWeek has two nodes change and follow records for a week
// in which the network fails in all ways. Followers read only when they are woken.
// They must see every change within the time that it takes to detect a broken
// connection and to poll.
func TestHubMissesNothingInAWeek(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const records, poll = 10, 5 * time.Second
		var (
			n       = &network{}
			mu      sync.Mutex
			current [records]int
			shown   [2][records]int
			reads   int
			hubs    = [2]*events.Hub{n.node(t, "a", poll), n.node(t, "b", poll)}
			random  = rand.New(rand.NewPCG(1, 2))
			ctx     = t.Context()
		)
		for i, h := range hubs {
			for r := range records {
				s := h.Subscribe(topic(r))
				go func() {
					defer s.Close()
					for {
						select {
						case <-ctx.Done():
							return
						case <-s.Changed():
						}
						mu.Lock()
						shown[i][r] = current[r]
						reads++
						mu.Unlock()
					}
				}()
			}
		}
		changes := 0
		for begin := time.Now(); time.Since(begin) < 7*24*time.Hour; {
			time.Sleep(time.Duration(random.Int64N(int64(40 * time.Second))))
			switch random.IntN(200) {
			case 0:
				n.cut(false) // the server restarts
			case 1:
				n.cut(true)
			case 2:
				n.deafen()
			case 3, 4, 5, 6, 7, 8, 9, 10, 11, 12:
				n.set(func() { n.down, n.deaf = false, false })
			default:
				r := random.IntN(records)
				mu.Lock()
				current[r]++
				changes++
				mu.Unlock()
				n.commit()
				hubs[random.IntN(2)].Publish(topic(r))
			}
			if random.IntN(50) == 0 { // all followers have caught up after a while
				time.Sleep(30 * time.Second)
				mu.Lock()
				a, b, want := shown[0], shown[1], current
				mu.Unlock()
				if a != want || b != want {
					t.Fatalf("after %v: %v and %v are shown, want %v", time.Since(begin), a, b, want)
				}
			}
		}
		mu.Lock()
		defer mu.Unlock()
		t.Logf("%d changes, %d reads of %d followers", changes, reads, 2*records)
	})
}
