package ordering_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/lastmile"
	"dray/internal/order"
	"dray/internal/ordering"
	"dray/internal/rate"
	"dray/internal/store"
)

// shopping is a store in which a client of a courier is deleted before the first write. It
// also implements the tasks of the client's orders.
type shopping struct {
	ordering.OrderWriter
	ordering.Tasks

	status store.ClientStatus
	tasks  int
}

func (s *shopping) Read(_ context.Context, fn func(ordering.OrderReader) error) error { return fn(s) }

func (s *shopping) Write(_ context.Context, fn func(ordering.OrderWriter) error) error {
	s.status = store.ClientDeleted
	return fn(s)
}

func (s *shopping) client() store.Client {
	return store.Client{ID: "id", Courier: "courier", Organization: "client", Status: s.status}
}

func (s *shopping) Couriers(context.Context, lastmile.OrganizationID) ([]store.Client, error) {
	return []store.Client{s.client()}, nil
}

func (s *shopping) Client(context.Context, lastmile.OrganizationID, string) (store.Client, error) {
	return s.client(), nil
}

func (s *shopping) DeliveryServices(context.Context, lastmile.OrganizationID) ([]order.Service, error) {
	return nil, nil
}

func (s *shopping) Prepare(context.Context, lastmile.Principal, lastmile.TaskDraft) (ordering.PreparedTask, error) {
	return nil, nil
}

func (s *shopping) Place(context.Context, store.Transaction, lastmile.Principal, ordering.PreparedTask, string, ...lastmile.TaskID) (lastmile.Task, error) {
	s.tasks++
	return lastmile.Task{}, nil
}

func TestOrderOfClientDeletedMeanwhile(t *testing.T) {
	s := &shopping{status: store.ClientActive}
	id := func() string { return "id" }
	os := &ordering.Orders{Store: s, Tasks: s, Now: func() time.Time { return time.Unix(1_800_000_000, 0) }, NewID: id, NewShortID: id}
	task := lastmile.TaskDraft{Destination: &lastmile.DestinationRef{ID: "place"}}
	_, err := os.Create(t.Context(), lastmile.Principal{Organization: "client"}, ordering.Draft{Pickup: &task, Dropoff: &task})
	if !lastmile.IsNotFound(err) || s.tasks > 0 {
		t.Errorf("%d tasks are placed: %v", s.tasks, err)
	}
}

// busy is a store that counts the transactions that happen at the same time.
type busy struct {
	ordering.OrderStore
	mu            sync.Mutex
	running, most int
}

// add changes the number of transactions that are going on.
func (s *busy) add(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running += n
	s.most = max(s.most, s.running)
}

func (s *busy) Write(context.Context, func(ordering.OrderWriter) error) error {
	s.add(1)
	time.Sleep(time.Second)
	s.add(-1)
	return nil
}

func TestCancellationsOfManyOrdersTakeTurns(t *testing.T) {
	for _, c := range []struct {
		ids  []string
		most int
	}{{[]string{"1", "2"}, 1}, {[]string{"1"}, 3}} {
		synctest.Test(t, func(t *testing.T) {
			s := &busy{}
			os := &ordering.Orders{Store: s, Now: time.Now, Many: rate.NewShares(1)}
			var group sync.WaitGroup
			for _, org := range []lastmile.OrganizationID{"a", "b", "c"} {
				group.Go(func() {
					if _, err := os.Cancel(t.Context(), lastmile.Principal{Organization: org}, c.ids, ""); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
			if got := s.most; got != c.most {
				t.Errorf("%d cancellations of %d orders happen at a time, want %d", got, len(c.ids), c.most)
			}
		})
	}
}
