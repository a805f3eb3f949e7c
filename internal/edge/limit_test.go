package edge

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// testClock is a clock that only the test moves.
type testClock struct{ at time.Time }

func newTestClock() *testClock {
	return &testClock{at: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
}

func (c *testClock) now() time.Time          { return c.at }
func (c *testClock) advance(d time.Duration) { c.at = c.at.Add(d) }

// exhaust uses up a caller's bucket and returns how many requests it admitted.
func exhaust(l *limiter, caller string) (admitted int) {
	for range 10 * int(l.burst) {
		if l.take(http.Header{}, caller) != nil {
			return admitted
		}
		admitted++
	}
	return admitted
}

func TestLimiterHeaders(t *testing.T) {
	clock := newTestClock()
	tests := map[string]struct {
		rate  float64
		limit string
		want  []string // X-RateLimit-Remaining of one request after the other
	}{
		"no limit":         {0, "200", []string{"200", "200", "200"}},
		"less than one":    {0.1, "1", []string{"1", "0", "0"}},
		"an odd number":    {5, "5", []string{"4", "3", "3", "3", "3", "0"}},
		"an even number":   {4.9, "4", []string{"3", "2", "2", "2", "0"}},
		"more than enough": {100, "100", []string{"99", "98", "97"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLimiter(test.rate, clock.now)
			for i, want := range test.want {
				header := http.Header{}
				l.setHeaders(header)
				err := l.take(header, "acme")
				if got := header.Get("X-RateLimit-Remaining"); got != want {
					t.Errorf("request %d: X-RateLimit-Remaining is %q, want %q", i, got, want)
				}
				if got := header.Get("X-RateLimit-Limit"); got != test.limit {
					t.Errorf("request %d: X-RateLimit-Limit is %q, want %q", i, got, test.limit)
				}
				if (err != nil) != (want == "0") {
					t.Errorf("request %d: got %v with %s remaining", i, err, want)
				}
			}
		})
	}
	t.Run("requests without a known caller are never limited", func(t *testing.T) {
		l := newLimiter(1, clock.now)
		for range 100 {
			if err := l.take(http.Header{}, ""); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestLimiterRefills(t *testing.T) {
	clock := newTestClock()
	l := newLimiter(20, clock.now)
	if got := exhaust(l, "acme"); got != 20 {
		t.Fatalf("a burst of %d, want 20", got)
	}
	for passed, want := range map[time.Duration]int{50 * time.Millisecond: 1, 500 * time.Millisecond: 10, time.Hour: 20} {
		clock.advance(passed)
		if got := exhaust(l, "acme"); got != want {
			t.Errorf("%s later %d requests are admitted, want %d", passed, got, want)
		}
	}
}

// TestLimiterManyCallers sends requests of more callers than have a bucket, and
// expects that no caller profits from it.
func TestLimiterManyCallers(t *testing.T) {
	clock := newTestClock()
	l := newLimiter(2, clock.now)
	if got := exhaust(l, "greedy"); got != 2 {
		t.Fatalf("a burst of %d, want 2", got)
	}
	admitted := 0
	for i := range 3 * maxCallers {
		if l.take(http.Header{}, strconv.Itoa(i)) == nil {
			admitted++
		}
		if got := len(l.recent) + len(l.older); got > maxCallers {
			t.Fatalf("%d buckets after %d callers", got, i)
		}
	}
	if err := l.take(http.Header{}, "greedy"); err == nil {
		t.Error("a caller over its limit is admitted after many others arrived")
	}
	if want := maxCallers - 1 + 2*sharedBuckets; admitted != want {
		t.Errorf("%d of many callers were admitted, want %d", admitted, want)
	}
	if exhaust(l, "late") > 2 {
		t.Error("a caller that shares a bucket is not limited")
	}
	clock.advance(499 * time.Millisecond)
	if err := l.take(http.Header{}, "greedy"); err == nil {
		t.Error("the bucket of a caller over its limit refilled early")
	}
	clock.advance(2 * time.Second)
	exhaust(l, "any")
	clock.advance(2 * time.Second)
	if got := exhaust(l, "late"); got != 2 || l.recent["late"] == nil {
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
		clock := newTestClock()
		l := newLimiter(rate, clock.now)
		kept := map[string]*bucket{}
		for i := range 20_000 {
			clock.advance(time.Duration(random.ExpFloat64() / rate / 10 * float64(time.Second)))
			if random.IntN(500) == 0 {
				clock.advance(time.Duration(random.Float64() * 3 / rate * float64(time.Second)))
			}
			caller := strconv.Itoa(random.IntN(4))
			b := kept[caller]
			if b == nil {
				b = &bucket{}
				kept[caller] = b
			}
			b.fill(clock.now(), rate, l.burst)
			want := b.tokens >= 1
			if want {
				b.tokens--
			}
			if got := l.take(http.Header{}, caller) == nil; got != want {
				t.Fatalf("rate %v, request %d: admitted is %t, want %t", rate, i, got, want)
			}
		}
	}
}

func TestLimiterSurvivesAClockSetBack(t *testing.T) {
	clock := newTestClock()
	l := newLimiter(10, clock.now)
	exhaust(l, "acme")
	clock.advance(-time.Hour)
	if err := l.take(http.Header{}, "acme"); err == nil {
		t.Error("a clock set back fills buckets")
	}
	clock.advance(500 * time.Millisecond)
	if got := exhaust(l, "acme"); got != 5 {
		t.Errorf("half a second after the clock was set back %d requests are admitted, want 5", got)
	}
	clock.advance(time.Second)
	exhaust(l, "any")
	clock.advance(time.Second)
	exhaust(l, "any")
	if l.recent["acme"] != nil || l.older["acme"] != nil {
		t.Error("buckets are not dropped after the clock was set back")
	}
}

func TestLimiterIsExactUnderConcurrency(t *testing.T) {
	clock := newTestClock()
	l := newLimiter(50, clock.now)
	var admitted atomic.Int64
	var callers sync.WaitGroup
	for range 8 {
		callers.Go(func() {
			for range 100 {
				if l.take(http.Header{}, "acme") == nil {
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
	l := newLimiter(1e9, time.Now)
	b.ReportAllocs()
	var next atomic.Int64
	b.RunParallel(func(pb *testing.PB) {
		header := http.Header{}
		i := int(next.Add(337))
		for pb.Next() {
			i++
			if err := l.take(header, callers[i%len(callers)]); err != nil {
				b.Fatal(err)
			}
		}
	})
}
