package geo_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/geo"
)

func TestAServiceThatFailsIsLeftAloneForAWhile(t *testing.T) {
	embedded(t)
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		var works atomic.Bool
		c := chain(open(t, "photon+http://maps.example.com", roundTrip(func(*http.Request) (*http.Response, error) {
			asked.Add(1)
			if works.Load() {
				return reply(http.StatusOK, photonHouse)
			}
			return reply(http.StatusBadGateway, "")
		})))
		source := func() string {
			p, err := c.Geocode(t.Context(), howard)
			if err != nil {
				t.Fatal(err)
			}
			return p.Source
		}
		for range 20 {
			if got := source(); got != "gazetteer" {
				t.Fatalf("%s responded", got)
			}
		}
		if got := asked.Load(); got != 4 {
			t.Errorf("asked %d times before it was left alone, want 4", got)
		}
		works.Store(true)
		if got := source(); got != "gazetteer" {
			t.Errorf("%s responded at once", got)
		}
		time.Sleep(31 * time.Second)
		if got := source(); got != "photon" {
			t.Errorf("%s responded once the service works again", got)
		}
		works.Store(false)
		asked.Store(0)
		for range 20 {
			source()
		}
		if got := asked.Load(); got != 4 {
			t.Errorf("asked %d times after it had recovered, want 4", got)
		}
		time.Sleep(31 * time.Second)
		for range 20 {
			source()
		}
		if got := asked.Load(); got != 5 {
			t.Errorf("asked %d times more to see whether it works again, want 1", got-4)
		}
	})
}

func TestAServiceIsLeftAloneAsLongAsItAsks(t *testing.T) {
	embedded(t)
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		c := chain(open(t, "photon+http://maps.example.com", roundTrip(func(*http.Request) (*http.Response, error) {
			asked++
			response, err := reply(http.StatusTooManyRequests, "")
			response.Header.Set("Retry-After", "120")
			return response, err
		})))
		for range 3 {
			_, _ = c.Geocode(t.Context(), howard)
		}
		time.Sleep(119 * time.Second)
		_, _ = c.Geocode(t.Context(), howard)
		if asked != 1 {
			t.Errorf("asked %d times, want once", asked)
		}
		time.Sleep(2 * time.Second)
		_, _ = c.Geocode(t.Context(), howard)
		if asked != 2 {
			t.Errorf("asked %d times, want twice", asked)
		}
	})
}

// TestAShortWaitIsNoFailure: a service is not left alone because callers had too little time
// for its response.
func TestAShortWaitIsNoFailure(t *testing.T) {
	embedded(t)
	for _, tt := range []struct {
		wait time.Duration // of the callers
		want int           // number of requests
	}{{time.Second, 10}, {3 * time.Second, 4}, {time.Minute, 4}} {
		t.Run(tt.wait.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				g := open(t, "photon+http://maps.example.com", roundTrip(func(r *http.Request) (*http.Response, error) {
					asked++
					return hanging(r)
				}))
				for range 10 {
					ctx, cancel := context.WithTimeout(t.Context(), tt.wait)
					if _, err := g.Geocode(ctx, howard); err == nil {
						t.Error("it was found")
					}
					cancel()
				}
				if asked != tt.want {
					t.Errorf("asked %d times, want %d", asked, tt.want)
				}
			})
		})
	}
	t.Run("an error counts", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			g := open(t, "photon+http://maps.example.com", roundTrip(func(*http.Request) (*http.Response, error) {
				asked++
				return reply(http.StatusBadGateway, "")
			}))
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			for range 10 {
				_, _ = g.Geocode(ctx, howard)
			}
			if asked != 4 {
				t.Errorf("asked %d times, want 4", asked)
			}
		})
	})
}

// TestTheRateLimitLeavesTimeToRespond: where there are always more requests than the rate
// limit allows, those that are sent have enough time for the response.
func TestTheRateLimitLeavesTimeToRespond(t *testing.T) {
	embedded(t)
	synctest.Test(t, func(t *testing.T) {
		var sent, found atomic.Int32
		g := open(t, "https://nominatim.openstreetmap.org", roundTrip(func(r *http.Request) (*http.Response, error) {
			sent.Add(1)
			select {
			case <-time.After(1500 * time.Millisecond):
				return reply(http.StatusOK, nominatimHouse)
			case <-r.Context().Done():
				return nil, r.Context().Err()
			}
		}))
		var all sync.WaitGroup
		for range 60 {
			all.Go(func() {
				if _, err := g.Geocode(t.Context(), howard); err == nil {
					found.Add(1)
				} else if errors.Is(err, geo.ErrCircuitOpen) {
					t.Error(err)
				}
			})
			time.Sleep(500 * time.Millisecond)
		}
		all.Wait()
		if sent.Load() < 25 || found.Load() != sent.Load() {
			t.Errorf("%d requests were sent in 30 s, %d had time for the response", sent.Load(), found.Load())
		}
	})
}

func TestAQuestionThatIsNotLikedDoesNotStopOthers(t *testing.T) {
	url, asked := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) })
	c := chain(open(t, "photon+"+url, nil))
	for range 10 {
		_, _ = c.Geocode(t.Context(), howard)
	}
	if asked.count() != 10 {
		t.Errorf("asked %d times, want 10", asked.count())
	}
}

func TestThePublicNominatimIsAskedOnceASecond(t *testing.T) {
	embedded(t)
	for host, want := range map[string]time.Duration{
		"https://nominatim.openstreetmap.org": time.Second,
		"https://nominatim.example.com":       0,
	} {
		t.Run(host, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				var times []time.Time
				g := open(t, host, roundTrip(func(*http.Request) (*http.Response, error) {
					mu.Lock()
					defer mu.Unlock()
					times = append(times, time.Now())
					return reply(http.StatusOK, nominatimHouse)
				}))
				var sources sync.Map
				var all sync.WaitGroup
				for i := range 20 {
					all.Go(func() {
						q := howard
						q.Address.Number = fmt.Sprint(i)
						p, err := chain(g).Geocode(t.Context(), q)
						if err != nil {
							t.Error(err)
						}
						sources.Store(i, p.Source)
					})
				}
				start := time.Now()
				all.Wait()
				if took := time.Since(start); took > 5*time.Second {
					t.Errorf("20 addresses took %v", took)
				}
				for i := 1; i < len(times); i++ {
					if apart := times[i].Sub(times[i-1]); apart < want {
						t.Errorf("two requests are %v apart", apart)
					}
				}
				offline := 0
				for _, source := range sources.Range {
					if source == "gazetteer" {
						offline++
					}
				}
				if offline != 20-len(times) {
					t.Errorf("%d requests, %d of 20 served by the gazetteer", len(times), offline)
				}
			})
		})
	}
}
