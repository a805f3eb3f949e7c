package rate_test

import (
	"context"
	"testing"
	"testing/synctest"

	"dray/internal/rate"
)

func TestShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := rate.NewShares(2)
		take := func(ctx context.Context, key string) <-chan func() {
			in := make(chan func(), 1)
			go func() {
				if end, err := s.Take(ctx, key); err == nil {
					in <- end
				}
			}()
			synctest.Wait()
			return in
		}
		ctx, cancel := context.WithCancel(t.Context())
		greedy := take(t.Context(), "greedy")
		again, given := take(t.Context(), "greedy"), take(ctx, "greedy")
		if len(greedy) != 1 || len(again)+len(given) > 0 {
			t.Fatal("a key has not one turn")
		}
		modest := take(t.Context(), "modest")
		if len(modest) != 1 {
			t.Fatal("a key waits for another while there is room")
		}
		third, late := take(t.Context(), "third"), take(ctx, "late")
		if len(third)+len(late) > 0 {
			t.Fatal("more happens at the same time than allowed")
		}
		cancel() // both give up, one while it waits for its key and one for the others
		(<-greedy)()
		synctest.Wait()
		if len(third) != 1 || len(again) > 0 {
			t.Fatal("a key that wants much goes before one that waited")
		}
		(<-modest)()
		synctest.Wait()
		if len(again) != 1 || len(given)+len(late) > 0 {
			t.Fatal("a turn that ended is not used, or one that was given up is")
		}
		(<-third)()
		(<-again)()
		if last := take(t.Context(), "late"); len(last) != 1 {
			t.Error("a turn was not given back")
		}
	})
	var none *rate.Shares
	if _, err := none.Take(t.Context(), "any"); err != nil {
		t.Error(err)
	}
}
