package rate

import (
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// perSecond returns a limiter whose buckets hold the tokens of a second.
func perSecond(n float64, now func() time.Time) *Limiter {
	return New(Limit{Burst: math.Floor(math.Max(1, n)), PerSecond: n}, now)
}

// TestLimiterManyCallers sends requests of more callers than there are buckets, and checks that
// no caller gets more than its limit.
func TestLimiterManyCallers(t *testing.T) {
	c := &clock{time.UnixMilli(1_800_000_000_000)}
	l := perSecond(2, c.now)
	if got := taken(l, "greedy"); got != 2 {
		t.Fatalf("a burst of %d, want 2", got)
	}
	admitted := 0
	for i := range 3 * maxKeys {
		if l.Take(strconv.Itoa(i), 1) == nil {
			admitted++
		}
		if got := len(l.recent) + len(l.older); got > maxKeys {
			t.Fatalf("%d buckets after %d callers", got, i)
		}
	}
	if err := l.Take("greedy", 1); err == nil {
		t.Error("a caller over its limit is admitted after many others arrived")
	}
	if want := maxKeys - 1 + 2*sharedBuckets; admitted != want {
		t.Errorf("%d of many callers were admitted, want %d", admitted, want)
	}
	if taken(l, "late") > 2 {
		t.Error("a caller that shares a bucket is not limited")
	}
	c.at = c.at.Add(499 * time.Millisecond)
	if err := l.Take("greedy", 1); err == nil {
		t.Error("the bucket of a caller over its limit refilled early")
	}
	c.at = c.at.Add(2 * time.Second)
	taken(l, "any")
	c.at = c.at.Add(2 * time.Second)
	if got := taken(l, "late"); got != 2 || l.recent["late"] == nil {
		t.Errorf("when the others have gone, a burst of %d, want 2 from a bucket of its own", got)
	}
	if got := len(l.recent) + len(l.older); got > 3 {
		t.Errorf("%d buckets are kept when the callers have gone", got)
	}
}

// TestLimiterAgreesWithBucketsKeptForever compares the limiter with buckets that
// are never dropped.
func TestLimiterAgreesWithBucketsKeptForever(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, rate := range []float64{0.1, 1, 2.5, 20} {
		c := &clock{time.UnixMilli(1_800_000_000_000)}
		l := perSecond(rate, c.now)
		kept := map[string]*bucket{}
		for i := range 20_000 {
			c.at = c.at.Add(time.Duration(random.ExpFloat64() / rate / 10 * float64(time.Second)))
			if random.IntN(500) == 0 {
				c.at = c.at.Add(time.Duration(random.Float64() * 3 / rate * float64(time.Second)))
			}
			caller := strconv.Itoa(random.IntN(4))
			b := kept[caller]
			if b == nil {
				b = &bucket{}
				kept[caller] = b
			}
			b.fill(c.at, l.limit)
			want := b.tokens >= 1
			if want {
				b.tokens--
			}
			if got := l.Take(caller, 1) == nil; got != want {
				t.Fatalf("rate %v, request %d: admitted is %t, want %t", rate, i, got, want)
			}
		}
	}
}

func TestLimiterSurvivesAClockSetBack(t *testing.T) {
	c := &clock{time.UnixMilli(1_800_000_000_000)}
	l := perSecond(10, c.now)
	taken(l, "acme")
	c.at = c.at.Add(-time.Hour)
	if err := l.Take("acme", 1); err == nil {
		t.Error("a clock set back fills buckets")
	}
	c.at = c.at.Add(500 * time.Millisecond)
	if got := taken(l, "acme"); got != 5 {
		t.Errorf("half a second after the clock was set back %d requests are admitted, want 5", got)
	}
	c.at = c.at.Add(time.Second)
	taken(l, "any")
	c.at = c.at.Add(time.Second)
	taken(l, "any")
	if l.recent["acme"] != nil || l.older["acme"] != nil {
		t.Error("buckets are not dropped after the clock was set back")
	}
}

func TestLimiterIsExactUnderConcurrency(t *testing.T) {
	c := &clock{time.UnixMilli(1_800_000_000_000)}
	l := perSecond(50, c.now)
	var admitted atomic.Int64
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for range 100 {
				if l.Take("acme", 1) == nil {
					admitted.Add(1)
				}
			}
		})
	}
	callers.Wait()
	if got := admitted.Load(); got != 50 {
		t.Errorf("%d requests were admitted, want 50", got)
	}
}

func BenchmarkLimiter(b *testing.B) {
	callers := make([]string, 1_000)
	for i := range callers {
		callers[i] = "organization000000000" + strconv.Itoa(i)
	}
	l := perSecond(1e9, time.Now)
	b.ReportAllocs()
	var next atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		i := int(next.Add(337))
		for pb.Next() {
			i++
			if err := l.Take(callers[i%len(callers)], 1); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// TestLacksUsesNoTokens also checks that clients cannot fill the limiter by asking.
func TestLacksUsesNoTokens(t *testing.T) {
	c := &clock{time.UnixMilli(1_800_000_000_000)}
	l := perSecond(2, c.now)
	if l.Lacks("new", 2) || !l.Lacks("new", 3) || len(l.recent) != 0 {
		t.Error("a key without a bucket does not have the tokens of a full one, or got a bucket")
	}
	taken(l, "greedy")
	if !l.Lacks("greedy", 1) {
		t.Error("a key has tokens after it has used all")
	}
	c.at = c.at.Add(500 * time.Millisecond)
	for range 2 {
		if l.Lacks("greedy", 1) || !l.Lacks("greedy", 2) {
			t.Error("a key does not have the one token that was refilled")
		}
	}
	if got := taken(l, "greedy"); got != 1 {
		t.Errorf("%d tokens were left", got)
	}
	for i := range maxKeys {
		_ = l.Take(strconv.Itoa(i), 1)
	}
	late := strconv.Itoa(maxKeys + 1)
	taken(l, late)
	if !l.Lacks(late, 1) {
		t.Error("a key that shares a bucket has tokens after it has used all")
	}
	if (*Limiter)(nil).Lacks("any", 1) {
		t.Error("a nil limiter has a limit")
	}
}
