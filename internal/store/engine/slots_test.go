package engine

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// slotTest takes slots for callers.
type slotTest struct {
	*testing.T
	*Slots
}

// take begins to take slots for callers, one after another, and returns a channel that
// receives the callers that have got one.
func (s slotTest) take(callers ...string) <-chan string {
	got := make(chan string, len(callers))
	for _, caller := range callers {
		go func() {
			if err := s.Take(s.Context(), caller); err != nil {
				s.Error(err)
			}
			got <- caller
		}()
		synctest.Wait()
	}
	return got
}

func testSlots(t *testing.T, o SlotOptions, test func(slotTest)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.MaxWaiting, o.Patience, o.Now, o.Count = 100, time.Hour, time.Now, &Counters{}
		test(slotTest{t, NewSlots(o)})
	})
}

func TestTheCallerWithTheFewestSlotsIsNext(t *testing.T) {
	testSlots(t, SlotOptions{Most: 2, Each: 2}, func(s slotTest) {
		<-s.take("greedy")
		<-s.take("greedy")
		got := s.take("greedy", "greedy", "other")
		for _, want := range []string{"other", "greedy"} {
			s.Give("greedy")
			if next := <-got; next != want {
				t.Errorf("%s was next, not %s", next, want)
			}
		}
		s.Give("other")
		<-got
	})
}

// TestTheCallerThatHasUsedTheLeastIsNext has two callers with one slot each. One of them had
// more slots before.
func TestTheCallerThatHasUsedTheLeastIsNext(t *testing.T) {
	testSlots(t, SlotOptions{Most: 8, Each: 1, Shared: 3}, func(s slotTest) {
		for range 3 {
			<-s.take("greedy")
		}
		time.Sleep(2 * lately)
		<-s.take("modest")
		got := s.take("greedy", "modest")
		if len(got) > 0 {
			t.Errorf("%s has more than its slot while as many as are shared are taken", <-got)
		}
		s.Give("greedy")
		s.Give("greedy")
		if next := <-got; next != "modest" {
			t.Errorf("%s was next", next)
		}
		s.Give("modest")
		s.Give("modest")
		<-got
	})
}

// TestACallerThatHasUsedLittleHasMoreSlots lasts a day, in which a caller has some slots at
// times, next to others.
func TestACallerThatHasUsedLittleHasMoreSlots(t *testing.T) {
	testSlots(t, SlotOptions{Most: 16, Each: 1, Shared: 4, Burst: 3}, func(s slotTest) {
		if others := s.take("a", "a", "a", "a", "b", "c"); len(others) != 6 {
			t.Errorf("others have %d slots, want all that are shared and one each", len(others))
		}
		for range 24 * 60 {
			time.Sleep(time.Minute)
			if got := s.take("modest", "modest", "modest"); len(got) != 3 {
				t.Fatalf("it got %d slots", len(got))
			}
			waiting := s.take("modest")
			if len(waiting) > 0 {
				t.Fatal("it got more than a burst")
			}
			for range 4 {
				s.Give("modest")
				synctest.Wait()
			}
		}
		for range 3 {
			<-s.take("modest")
		}
		time.Sleep(10 * lately)
		s.Give("modest")
		got := s.take("modest")
		if len(got) > 0 {
			t.Error("it has more slots for long")
		}
		s.Give("modest")
		s.Give("modest")
		<-got
	})
}

// callers do operations until done is set.
type callers struct {
	slotTest
	sync.WaitGroup
	done atomic.Bool
}

// repeat runs operations of a length for a caller, with pauses. It returns how long the longest
// wait for a slot was.
func (s *callers) repeat(caller string, takes, pause time.Duration) (longest func() time.Duration) {
	var most atomic.Int64
	s.Go(func() {
		for !s.done.Load() {
			begin := time.Now()
			if err := s.Take(s.Context(), caller); err != nil {
				s.Error(err)
				return
			}
			most.Store(max(most.Load(), int64(time.Since(begin))))
			time.Sleep(takes)
			s.Give(caller)
			time.Sleep(pause)
		}
	})
	return func() time.Duration { return time.Duration(most.Load()) }
}

// TestALongOperationDoesNotDelayShortOnes lasts an hour, in which a caller has a long
// operation and short ones next to others that are always active.
func TestALongOperationDoesNotDelayShortOnes(t *testing.T) {
	testSlots(t, SlotOptions{Most: 16, Each: 1, Shared: 4, Burst: 4, Alone: 16}, func(test slotTest) {
		s := &callers{slotTest: test}
		for _, other := range []string{"a", "b", "c", "d", "e"} {
			s.repeat(other, 50*time.Millisecond, 0)
		}
		<-s.take("long")
		longest := s.repeat("long", 10*time.Millisecond, 20*time.Millisecond)
		time.Sleep(time.Hour)
		if longest() > time.Second {
			t.Errorf("a short operation waited %v", longest())
		}
		s.Give("long")
		s.done.Store(true)
		s.Wait()
	})
}

// TestACallerThatWasAloneIsNotForgotten has many callers arrive after one has used all slots.
func TestACallerThatWasAloneIsNotForgotten(t *testing.T) {
	testSlots(t, SlotOptions{Most: 16, Each: 1, Shared: 4, Burst: 4, Alone: 16}, func(test slotTest) {
		s := &callers{slotTest: test}
		var longest []func() time.Duration
		for range 16 {
			longest = append(longest, s.repeat("first", 100*time.Millisecond, 0))
		}
		time.Sleep(10 * time.Second)
		for i := range 60 {
			s.repeat(strconv.Itoa(i), 100*time.Millisecond, 0)
		}
		time.Sleep(3 * time.Second)
		begun := 0
		for _, of := range longest {
			if of() > 0 {
				begun++
			}
		}
		if begun == 0 {
			t.Error("it got no slot in three seconds")
		}
		s.done.Store(true)
		s.Wait()
	})
}

func TestAnOperationThatIsAbandonedKeepsNoSlot(t *testing.T) {
	testSlots(t, SlotOptions{Most: 1, Each: 1}, func(s slotTest) {
		<-s.take("a")
		gone, cancel := context.WithCancel(s.Context())
		cancel()
		if s.Take(gone, "b") == nil {
			t.Error("it has a slot")
		}
		w := s.join("b")
		s.Give("a")  // b gets the slot
		s.abandon(w) // b gives up at the same time
		<-s.take("c")
	})
}

// TestACallerHasFewSlotsWhileOthersAreActive has one caller want all slots.
func TestACallerHasFewSlotsWhileOthersAreActive(t *testing.T) {
	testSlots(t, SlotOptions{Most: 6, Each: 2, Alone: 5}, func(s slotTest) {
		wanted := slices.Repeat([]string{"greedy"}, 8)
		greedy := s.take(wanted...)
		if len(greedy) != 5 {
			t.Errorf("a caller has %d slots while no other is active", len(greedy))
		}
		<-s.take("other")
		s.Give("other")
		for range 4 {
			s.Give("greedy")
		}
		synctest.Wait()
		if len(greedy) != 6 || s.of["greedy"] != 2 {
			t.Errorf("next to another, %d operations of a caller have begun and %d run; want 6 and 2", len(greedy), s.of["greedy"])
		}
		time.Sleep(2 * activeFor)
		s.Give("greedy")
		synctest.Wait()
		if len(greedy) != 8 || s.of["greedy"] != 3 {
			t.Errorf("when the other has gone, %d operations have begun and %d run; want 8 and 3", len(greedy), s.of["greedy"])
		}
		if server := s.take("", "", ""); len(server) != 3 {
			t.Error("the server itself does not use all slots")
		}
	})
}

// TestFormerCallersAreForgotten: callers may be addresses, of which there are many.
func TestFormerCallersAreForgotten(t *testing.T) {
	testSlots(t, SlotOptions{Most: 6, Each: 1, Shared: 2}, func(s slotTest) {
		<-s.take("long")
		for i := range 100 {
			caller := strconv.Itoa(i)
			<-s.take(caller)
			s.Give(caller)
		}
		time.Sleep(expiry)
		<-s.take("late")
		if len(s.use) != 2 {
			t.Errorf("%d callers are kept, want the two that have a slot", len(s.use))
		}
		s.Give("late")
		s.Give("long")
	})
}
