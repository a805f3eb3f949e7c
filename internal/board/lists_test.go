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
	left    map[lastmile.OrganizationID]int
	endless bool                    // there are always more new tasks and changed lists
	full    lastmile.OrganizationID // whose transactions fail
	taken   []string                // callers of the transactions
}

func (s *newTasks) Read(_ context.Context, fn func(ListReader) error) error { return fn(s) }

func (s *newTasks) Write(ctx context.Context, fn func(ListWriter) error) error {
	s.taken = append(s.taken, lastmile.CallerOf(ctx))
	return fn(s)
}

func (s *newTasks) ChangedLists(context.Context, int, int) ([]ChangedList, bool, error) {
	if s.endless {
		return []ChangedList{{Organization: "a"}}, true, nil
	}
	return nil, false, nil
}

func (s *newTasks) LogList(context.Context, ChangedList, []byte, time.Time) error { return nil }

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
	switch {
	case org == s.full:
		return nil, lastmile.Overloaded("full")
	case !s.endless:
		s.left[org] -= n
	}
	return make([]NewTask, n), nil
}

func (s *newTasks) LogTasks(context.Context, lastmile.OrganizationID, string, []byte, time.Time) error {
	return nil
}

// testLists returns the log of lists of a store.
func testLists(s *newTasks) *Lists {
	return &Lists{
		Store: s, Hub: events.NewHub(events.HubOptions{}), Now: time.Now,
		EncodeTasks: func([]Task) ([]byte, error) { return nil, nil },
	}
}

// TestNewTasksOfOrganizationsTakeTurns also checks that the writer is shared fairly with the
// organizations of the tasks.
func TestNewTasksOfOrganizationsTakeTurns(t *testing.T) {
	s := &newTasks{left: map[lastmile.OrganizationID]int{"a": 3*maxNew + 1, "b": 1, "c": maxNew + 1}}
	if err := testLists(s).Log(t.Context()); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, org := range []lastmile.OrganizationID{"a", "b", "c", "a", "c", "a", "a"} {
		want = append(want, logOf(org))
	}
	if !slices.Equal(s.taken, want) {
		t.Errorf("tasks were taken for %v, want %v", s.taken, want)
	}
}

func TestNewTasksOfAnOverloadedOrganizationDelayNoOthers(t *testing.T) {
	s := &newTasks{left: map[lastmile.OrganizationID]int{"a": 1, "b": 1, "c": 1}, full: "b"}
	lists, failed := testLists(s), 0
	for range 4 {
		if lists.Log(t.Context()) != nil {
			failed++
		}
	}
	if left := s.left["a"] + s.left["c"]; left > 0 || failed != 4 {
		t.Errorf("%d tasks of others are left after %d failures", left, failed)
	}
	s.full = ""
	if err := lists.Log(t.Context()); err != nil || s.left["b"] > 0 {
		t.Errorf("%d tasks of the organization are left: %v", s.left["b"], err)
	}
}

func TestListsAndNewTasksAreLoggedWhileThereAreAlwaysMore(t *testing.T) {
	s := &newTasks{left: map[lastmile.OrganizationID]int{"a": 1}, endless: true}
	if err := testLists(s).Log(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := append(slices.Repeat([]string{""}, maxTurns), slices.Repeat([]string{logOf("a")}, maxTurns)...)
	if !slices.Equal(s.taken, want) {
		t.Errorf("transactions of %q, want %q", s.taken, want)
	}
}
