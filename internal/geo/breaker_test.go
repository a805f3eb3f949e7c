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
		if err := b.allow(); err != nil {
			t.Fatal(err)
		}
		b.done(errors.New("down"))
	}
	if err := b.allow(); !errors.Is(err, ErrCircuitOpen) {
		t.Fatalf("got %v from an open breaker", err)
	}
	now = now.Add(-time.Hour)
	if err := b.allow(); err != nil {
		t.Errorf("got %v an hour before: the service would be left alone for an hour", err)
	}
	if err := b.allow(); !errors.Is(err, ErrCircuitOpen) {
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
			b.done(errors.New("down"))
		}
		now = now.Add(openFor)
		if err := b.allow(); err != nil {
			t.Fatal(err)
		}
		b.done(&statusError{status: status})
		for range 2 {
			if err := b.allow(); err != nil {
				t.Errorf("got %v after the service responded with %d", err, status)
			}
		}
	}
}

func TestPacer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPacer(time.Second)
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
