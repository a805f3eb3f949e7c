package rate

import (
	"fmt"
	"testing"
	"time"
)

// clock is a clock that tests move.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func newTestLimiter(limit Limit) (*Limiter, *clock) {
	c := &clock{time.UnixMilli(1_800_000_000_000)}
	return New(limit, c.now), c
}

// taken returns the number of tokens of a key that can be taken, at most a thousand.
func taken(l *Limiter, key string) (n int) {
	for n < 1000 && l.Take(key, 1) == nil {
		n++
	}
	return n
}

func TestTokensRefill(t *testing.T) {
	l, c := newTestLimiter(Limit{Burst: 10, PerSecond: 2})
	for _, step := range []struct {
		pass time.Duration
		want int
	}{{0, 10}, {0, 0}, {time.Second, 2}, {400 * time.Millisecond, 0}, {100 * time.Millisecond, 1}, {time.Hour, 10}} {
		c.at = c.at.Add(step.pass)
		if got := taken(l, "a"); got != step.want {
			t.Errorf("after another %v: %d tokens, want %d", step.pass, got, step.want)
		}
	}
	if got := taken(l, "b"); got != 10 {
		t.Errorf("another key has %d tokens, want 10", got)
	}
}

func TestARejectedCallerLosesNoTokens(t *testing.T) {
	l, _ := newTestLimiter(Limit{Burst: 10, PerSecond: 1})
	if l.Take("a", 11) == nil {
		t.Error("more than the burst was taken")
	}
	if err := l.Take("a", 10); err != nil {
		t.Errorf("after a rejection: %v", err)
	}
	l.Return("a", 4)
	if got := taken(l, "a"); got != 4 {
		t.Errorf("%d tokens after 4 were returned", got)
	}
}

func TestARejectionSaysHowLongToWait(t *testing.T) {
	l, c := newTestLimiter(Limit{Burst: 10, PerSecond: 0.5})
	if err := l.Take("a", 9); err != nil {
		t.Fatal(err)
	}
	rejected := l.Take("a", 3)
	if rejected == nil || rejected.RetryAfter != 4*time.Second {
		t.Fatalf("3 tokens where 1 is left and one more comes every 2 s: %+v, want 4 s", rejected)
	}
	c.at = c.at.Add(rejected.RetryAfter)
	if err := l.Take("a", 3); err != nil {
		t.Errorf("after that time: %v", err)
	}
}

func TestAClockSetBackStarvesNoCaller(t *testing.T) {
	l, c := newTestLimiter(Limit{Burst: 10, PerSecond: 1})
	taken(l, "a")
	c.at = c.at.Add(-24 * time.Hour)
	l.Take("a", 1) //nolint:errcheck // the bucket is empty
	c.at = c.at.Add(5 * time.Second)
	if got := taken(l, "a"); got != 5 {
		t.Errorf("%d tokens 5 seconds after the clock was set back, want 5", got)
	}
}

func TestMemoryIsBounded(t *testing.T) {
	l, c := newTestLimiter(Limit{Burst: 2, PerSecond: 1})
	taken(l, "first")
	for i := range 2 * maxKeys {
		l.Take(fmt.Sprint(i), 1) //nolint:errcheck // shared buckets soon are empty
	}
	if n := len(l.recent) + len(l.older); n > maxKeys {
		t.Errorf("%d buckets, want at most %d", n, maxKeys)
	}
	if got := taken(l, "first"); got != 0 {
		t.Errorf("a flood of keys gave another key %d tokens", got)
	}
	c.at = c.at.Add(time.Minute)
	taken(l, "a")
	c.at = c.at.Add(time.Minute)
	taken(l, "a")
	if n := len(l.recent) + len(l.older); n > 2 {
		t.Errorf("%d buckets remain after they were full", n)
	}
}

func TestNoLimiterIsNoLimit(t *testing.T) {
	var none *Limiter
	none.Return("a", 1)
	if got := taken(none, "a"); got != 1000 {
		t.Errorf("got %d", got)
	}
}

func TestSlots(t *testing.T) {
	s := Slots{Most: 2}
	s.Release("") // a key that was never taken
	for i, want := range []bool{true, true, false, false} {
		if got := s.Acquire("a") == nil; got != want {
			t.Errorf("slot %d: got %v", i+1, got)
		}
	}
	if s.Acquire("b") != nil {
		t.Error("another key has no slot")
	}
	s.Release("a")
	if s.Acquire("a") != nil {
		t.Error("a slot that was released is not free")
	}
	s.Release("a")
	s.Release("a")
	s.Release("b")
	if len(s.taken) != 0 {
		t.Errorf("keys without slots remain: %v", s.taken)
	}
	for range 10 {
		if s.Acquire("") != nil {
			t.Error("the empty key has a limit")
		}
	}
}
