package upload

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"dray/internal/lastmile"
)

// codeOf returns the code of a rejection, or 0 if there is none.
func codeOf(err error) lastmile.Code {
	if e, ok := errors.AsType[*lastmile.Error](err); ok {
		return e.Code
	}
	return 0
}

// arrival is an image in a queue.
type arrival struct {
	result chan error
}

// arrive adds an image of an organization to a queue. served, unless nil, is called during its
// turn, which then ends.
func arrive(ctx context.Context, q *queue, org lastmile.OrganizationID, served func()) arrival {
	a := arrival{make(chan error, 1)}
	go func() {
		err := q.enter(ctx, org)
		if err == nil && served != nil {
			served()
			q.leave()
		}
		a.result <- err
	}()
	synctest.Wait()
	return a
}

func TestOrganizationsTakeTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q queue
		arrive(t.Context(), &q, "greedy", nil) // its image is being decoded
		var order []string
		for _, org := range []lastmile.OrganizationID{"greedy", "greedy", "greedy", "other", "third", "other"} {
			arrive(t.Context(), &q, org, func() { order = append(order, string(org)) })
		}
		q.leave()
		synctest.Wait()
		if want := []string{"greedy", "other", "third", "greedy", "other", "greedy"}; !slices.Equal(order, want) {
			t.Errorf("got %v, want %v", order, want)
		}
		if q.busy != "" || q.length != 0 || len(q.lines) != 0 {
			t.Errorf("the queue is not empty: %+v", &q)
		}
	})
}

func TestAnOrganizationCannotFillTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q queue
		for range maxWaitingOf {
			arrive(t.Context(), &q, "greedy", nil)
		}
		select {
		case err := <-arrive(t.Context(), &q, "greedy", nil).result:
			if codeOf(err) != lastmile.CodeTooMany {
				t.Errorf("got %v, want that there are too many", err)
			}
		default:
			t.Error("the organization has more images in the queue than allowed")
		}
	})
}

func TestAFullQueueHasRoomForAnotherOrganization(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		var q queue
		arrive(ctx, &q, "first", nil)
		var greedy []arrival
		for _, org := range []lastmile.OrganizationID{"a", "b", "c", "d"} {
			for range maxWaitingOf {
				greedy = append(greedy, arrive(ctx, &q, org, nil))
			}
		}
		honest := arrive(ctx, &q, "honest", nil)
		evicted := 0
		for _, a := range greedy {
			select {
			case err := <-a.result:
				evicted++
				if codeOf(err) != lastmile.CodeOverloaded {
					t.Errorf("got %v", err)
				}
			default:
			}
		}
		if evicted != 1 || q.length != maxWaiting {
			t.Errorf("%d images were evicted and %d wait", evicted, q.length)
		}
		select {
		case err := <-honest.result:
			t.Errorf("the image of another organization does not wait: %v", err)
		default:
		}
		leave()
	})
}

func TestWaitsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q queue
		if err := q.enter(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		ctx, leave := context.WithCancel(t.Context())
		gone := arrive(ctx, &q, "b", nil)
		late := arrive(t.Context(), &q, "c", nil)
		leave()
		if err := <-gone.result; !errors.Is(err, context.Canceled) {
			t.Errorf("a client that has disconnected: got %v", err)
		}
		if err := <-late.result; codeOf(err) != lastmile.CodeOverloaded { // the clock advances
			t.Errorf("after %v: got %v", maxWait, err)
		}
		q.leave()
		if q.busy != "" || q.length != 0 || len(q.lines) != 0 {
			t.Errorf("the queue is not empty: %+v", &q)
		}
	})
}
