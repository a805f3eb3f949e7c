package board

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
)

// newTasks is a store with new tasks of organizations.
type newTasks struct {
	ListWriter
	left  map[lastmile.OrganizationID]int
	taken []string // callers of the transactions that took tasks
}

func (s *newTasks) Read(_ context.Context, fn func(ListReader) error) error { return fn(s) }

func (s *newTasks) Write(ctx context.Context, fn func(ListWriter) error) error {
	s.taken = append(s.taken, lastmile.CallerOf(ctx))
	return fn(s)
}

func (s *newTasks) ChangedLists(context.Context, int, int) ([]ChangedList, bool, error) {
	return nil, false, nil
}

func (s *newTasks) WithNewTasks(_ context.Context, after lastmile.OrganizationID) (first lastmile.OrganizationID, _ error) {
	for org, left := range s.left {
		if left > 0 && cmp.Compare(org, after) > 0 && (first == "" || org < first) {
			first = org
		}
	}
	return first, nil
}

func (s *newTasks) TakeNewTasks(_ context.Context, org lastmile.OrganizationID, limit int) ([]NewTask, error) {
	n := min(limit, s.left[org])
	s.left[org] -= n
	return make([]NewTask, n), nil
}

func (s *newTasks) LogTasks(context.Context, lastmile.OrganizationID, string, []byte, time.Time) error {
	return nil
}

// TestNewTasksOfOrganizationsTakeTurns also checks that the writer is used on behalf of the
// organization of the tasks.
func TestNewTasksOfOrganizationsTakeTurns(t *testing.T) {
	s := &newTasks{left: map[lastmile.OrganizationID]int{"a": 3*maxNew + 1, "b": 1, "c": maxNew + 1}}
	lists := Lists{
		Store: s, Hub: events.NewHub(events.HubOptions{}), Now: time.Now,
		EncodeTasks: func([]Task) ([]byte, error) { return nil, nil },
	}
	if err := lists.Log(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "b", "c", "a", "c", "a", "a"}; !slices.Equal(s.taken, want) {
		t.Errorf("tasks were taken for %v, want %v", s.taken, want)
	}
}
