package rate_test

import (
	"context"
	"testing"
	"testing/synctest"

	"dray/internal/rate"
)

func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g rate.Gate
		enter := func(how func(context.Context, string) (func(), error), key string) <-chan func() {
			in := make(chan func(), 1)
			go func() {
				leave, err := how(t.Context(), key)
				if err != nil {
					t.Error(err)
				}
				in <- leave
			}()
			synctest.Wait()
			return in
		}
		first, second := enter(g.Enter, "a"), enter(g.Enter, "a")
		alone := enter(g.EnterAlone, "a")
		third, another := enter(g.Enter, "a"), enter(g.EnterAlone, "b")
		if len(first) != 1 || len(second) != 1 || len(another) != 1 {
			t.Fatal("things of a key do not happen at the same time, or keys wait for each other")
		}
		if len(alone)+len(third) > 0 {
			t.Fatal("one is not alone, or others begin before it")
		}
		(<-first)()
		synctest.Wait()
		if len(alone) > 0 {
			t.Fatal("one is alone with another")
		}
		(<-second)()
		synctest.Wait()
		if len(alone) != 1 || len(third) > 0 {
			t.Fatal("one that waited to be alone is not")
		}
		(<-alone)()
		synctest.Wait()
		if len(third) != 1 {
			t.Fatal("the gate is not open again")
		}

		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := g.EnterAlone(ctx, "a"); err == nil {
			t.Error("waited for longer than its context")
		}
		fourth := enter(g.Enter, "a")
		if len(fourth) != 1 {
			t.Fatal("one that has given up keeps the gate closed")
		}
		(<-third)()
		(<-fourth)()
		(<-another)()
		if last := enter(g.EnterAlone, "a"); len(last) != 1 {
			t.Error("nothing happens, but one waits to be alone")
		}
	})
}
