package rate

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
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
