package edge

import (
	"net/http"
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

func TestLimiterHeaders(t *testing.T) {
	clock := newTestClock()
	tests := map[string]struct {
		rate  float64
		limit string
		want  []string // X-RateLimit-Remaining of consecutive requests
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
