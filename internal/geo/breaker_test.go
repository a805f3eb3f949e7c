package geo

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestBreakerSurvivesAClockSetBack(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	b := &breaker{now: func() time.Time { return now }}
	for range failuresToOpen {
		if _, err := b.allow(); err != nil {
			t.Fatal(err)
		}
		b.done(false, errors.New("down"))
	}
	if _, err := b.allow(); !errors.Is(err, ErrCircuitOpen) {
		t.Fatalf("got %v from an open breaker", err)
	}
	now = now.Add(-time.Hour)
	if _, err := b.allow(); err != nil {
		t.Errorf("got %v an hour before: the service would be left alone for an hour", err)
	}
	if _, err := b.allow(); !errors.Is(err, ErrCircuitOpen) {
		t.Errorf("got %v while one request finds out", err)
	}
}

// TestBreakerClosesOnARejectedQuery: a service that rejects the query of the one request
// that is let through works again.
func TestBreakerClosesOnARejectedQuery(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, status := range []int{400, 404} {
		b := &breaker{now: func() time.Time { return now }}
		for range failuresToOpen {
			b.done(false, errors.New("down"))
		}
		now = now.Add(openFor)
		probe, err := b.allow()
		if err != nil {
			t.Fatal(err)
		}
		b.done(probe, &statusError{status: status})
		for range 2 {
			if _, err := b.allow(); err != nil {
				t.Errorf("got %v after the service responded with %d", err, status)
			}
		}
	}
}

// TestBreakerProbesOnce: a request that began before the breaker opened does not let a second
// one through while another probes the service.
func TestBreakerProbesOnce(t *testing.T) {
	for name, end := range map[string]func(*breaker, bool){
		"fails":      func(b *breaker, probe bool) { b.done(probe, errors.New("down")) },
		"is skipped": func(b *breaker, probe bool) { b.skip(probe) },
	} {
		t.Run("a late one "+name, func(t *testing.T) {
			now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
			b := &breaker{now: func() time.Time { return now }}
			late, err := b.allow()
			if err != nil {
				t.Fatal(err)
			}
			for range failuresToOpen {
				b.done(false, errors.New("down"))
			}
			now = now.Add(openFor)
			probe, err := b.allow()
			if err != nil {
				t.Fatal(err)
			}
			end(b, late)
			now = now.Add(openFor)
			if _, err := b.allow(); !errors.Is(err, ErrCircuitOpen) {
				t.Errorf("got %v while one request finds out", err)
			}
			end(b, probe)
			now = now.Add(openFor)
			if _, err := b.allow(); err != nil {
				t.Errorf("got %v after it has ended", err)
			}
		})
	}
}

func TestPacer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(time.Second, 500*time.Millisecond)
		start := time.Now()
		for range 3 {
			if err := p.wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("three requests in %s, want 2 s", took)
		}
		soon, cancel := context.WithTimeout(t.Context(), 1400*time.Millisecond)
		defer cancel()
		start = time.Now()
		if err := p.wait(soon); !errors.Is(err, errBusy) || time.Since(start) > 0 {
			t.Errorf("got %v after %s for a turn that leaves too little time", err, time.Since(start))
		}
		later, cancel := context.WithTimeout(t.Context(), 1600*time.Millisecond)
		defer cancel()
		if err := p.wait(later); err != nil || time.Since(start) != time.Second {
			t.Errorf("got %v after %s; one that failed must not use up a turn", err, time.Since(start))
		}
		gone, leave := context.WithCancel(t.Context())
		go func() {
			time.Sleep(100 * time.Millisecond)
			leave()
		}()
		if err := p.wait(gone); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v for a caller that has gone", err)
		}
	})
}
