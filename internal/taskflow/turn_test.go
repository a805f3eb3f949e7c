package taskflow

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all turns
		end, err := all.take(t.Context(), "acme")
		if err != nil {
			t.Fatal(err)
		}
		if other, err := all.take(t.Context(), "zenith"); err != nil {
			t.Error(err)
		} else {
			other()
		}
		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := all.take(cancelled, "acme"); !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
		running, done := 0, 0
		for range 3 {
			go func() {
				end, err := all.take(t.Context(), "acme")
				if err != nil {
					t.Error(err)
					return
				}
				if running++; running != 1 {
					t.Errorf("%d run at once", running)
				}
				running--
				done++
				end()
			}()
		}
		synctest.Wait()
		if done != 0 {
			t.Error("a turn begins before the one before it ends")
		}
		end()
		synctest.Wait()
		if done != 3 {
			t.Errorf("%d of 3 had their turn", done)
		}
	})
}
