package rate

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/lastmile"
)

func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := Turns{Most: 2}
		var ends []func()
		for range 2 {
			end, err := turns.Take(t.Context(), "a")
			if err != nil {
				t.Fatal(err)
			}
			ends = append(ends, end)
		}
		if end, err := turns.Take(t.Context(), "b"); err != nil {
			t.Error(err)
		} else {
			end()
		}
		waited := make(chan error, 2)
		for range 2 {
			go func() {
				end, err := turns.Take(t.Context(), "a")
				waited <- err
				if err == nil {
					end()
				}
			}()
		}
		impatient, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := turns.Take(impatient, "a"); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		synctest.Wait()
		if len(waited) > 0 {
			t.Fatal("a third turn was given")
		}
		for _, end := range ends {
			end()
		}
		for range 2 {
			if err := <-waited; err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		if len(turns.keys) != 0 {
			t.Errorf("keys without turns remain: %v", turns.keys)
		}
	})
}

// TestRequestsDoNotWaitForever checks that a request that waits too long for its turn is
// rejected, and that other requests are not affected.
func TestRequestsDoNotWaitForever(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turns Turns
		end, err := turns.Request(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		_, err = turns.Request(t.Context(), "a")
		if rejected, ok := errors.AsType[*lastmile.Error](err); !ok || rejected.Code != lastmile.CodeTooMany {
			t.Errorf("a request that waits too long got %v", err)
		}
		if waited := time.Since(begun); waited != Patience {
			t.Errorf("it waited %v, want %v", waited, Patience)
		}
		if other, err := turns.Request(t.Context(), "b"); err != nil {
			t.Error(err)
		} else {
			other()
		}
		end()
		if again, err := turns.Request(t.Context(), "a"); err != nil {
			t.Error(err)
		} else {
			again()
		}
		if len(turns.keys) != 0 {
			t.Errorf("keys without turns remain: %v", turns.keys)
		}
	})
}
