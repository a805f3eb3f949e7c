package sqlstore

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/engine"
	"dray/internal/store/engine/enginetest"
)

// TestListsAreReadInTheOrderOfAnIndex checks the query plans of lists of tasks in SQLite:
// which index they use, and whether they sort the rows found there.
func TestListsAreReadInTheOrderOfAnIndex(t *testing.T) {
	s, err := Open(t.Context(), Options{Data: t.TempDir(), Serve: true, Now: time.Now})
	enginetest.Must(t, err)
	defer func() { enginetest.Must(t, s.Close()) }()
	const pageSize = 65
	from := time.UnixMilli(1_700_000_000_000)
	completed := []lastmile.TaskState{lastmile.TaskCompleted}
	tagged := lastmile.Metadata{{Name: "a", Type: lastmile.MetadataString, Value: "x"}}
	tests := map[string]struct {
		filter  store.TaskFilter
		indexes string // indexes that the ranges use
		sorts   bool   // the rows are sorted; there are few
	}{
		"of a time":        {store.TaskFilter{From: from}, "task_state|task_open", false},
		"of all times":     {store.TaskFilter{From: time.UnixMilli(0)}, "task_state|task_open", false},
		"of a window":      {store.TaskFilter{From: from, To: from.Add(time.Hour)}, "task_state|task_open", false},
		"of a state":       {store.TaskFilter{From: from, States: []lastmile.TaskState{lastmile.TaskUnassigned}}, "task_state", false},
		"of the completed": {store.TaskFilter{From: from, States: completed}, "task_state|task_open", false},
		"further on":       {store.TaskFilter{From: from, After: "x"}, "task_state|task_open", false},
		"of a worker":      {store.TaskFilter{From: from, Worker: "w", After: "x"}, "task_worker|task_open", false},
		"of a worker's open tasks": {
			store.TaskFilter{From: from, Worker: "w", Unfinished: true}, "task_queue", true,
		},
		"of the organization's container": {store.TaskFilter{From: from, Containers: []string{"o"}}, "task_state", false},
		"of a team's container":           {store.TaskFilter{From: from, Containers: []string{"t"}}, "task_queue", true},
		"with metadata": {
			store.TaskFilter{Metadata: tagged, States: completed, Worker: "w"}, "task_id", true,
		},
		"with nothing but metadata": {store.TaskFilter{Metadata: tagged}, "task_id", true},
		"with dependencies":         {store.TaskFilter{From: from, Dependencies: []lastmile.TaskID{"a", "b"}}, "task_id", true},
		"to be completed by a time": {store.TaskFilter{From: from, CompleteBefore: from, CompleteAfter: from}, "task_state|task_open", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			test.filter.Limit = pageSize
			query, args := listQuery("o", test.filter, 1_700_000_000_001)
			plan := explain(t, s, query, args)
			allowed := regexp.MustCompile(`^SEARCH t USING (COVERING )?INDEX (` + test.indexes + `) `)
			whole := regexp.MustCompile(`^SEARCH t USING INDEX sqlite_autoindex_task_1 \(org=\? AND id=\?\)$`)
			ranges := map[int64]bool{} // the steps that find the tasks of a range
			for _, step := range plan {
				switch {
				case step.parent == 0 && whole.MatchString(step.detail): // the tasks of the page
				case strings.HasPrefix(step.detail, "SCAN t"), strings.HasPrefix(step.detail, "SEARCH t ") && !allowed.MatchString(step.detail):
					t.Errorf("%s", step.detail)
				case strings.HasPrefix(step.detail, "SEARCH t "):
					ranges[step.parent] = true
					if strings.Contains(step.detail, "task_open") && test.filter.Worker == "" && test.filter.CompleteBefore.IsZero() && !strings.Contains(step.detail, "COVERING") {
						t.Errorf("rows are read that are not of the page: %s", step.detail)
					}
					if strings.Contains(test.indexes, "task_state") && !strings.Contains(step.detail, "created>?") {
						t.Errorf("the index is read from its beginning: %s", step.detail)
					}
				}
			}
			sorts := false
			for _, step := range plan {
				sorts = sorts || ranges[step.parent] && strings.Contains(step.detail, "TEMP B-TREE")
			}
			if len(ranges) == 0 || sorts != test.sorts {
				t.Errorf("sorts what it finds: %v, want %v: %v", sorts, test.sorts, plan)
			}
		})
	}
}

// TestListsOfPlacedTasksAreReadInTheOrderOfAnIndex does the same for the tasks that an
// organization placed with others.
func TestListsOfPlacedTasksAreReadInTheOrderOfAnIndex(t *testing.T) {
	s, err := Open(t.Context(), Options{Data: t.TempDir(), Serve: true, Now: time.Now})
	enginetest.Must(t, err)
	defer func() { enginetest.Must(t, s.Close()) }()
	from := time.UnixMilli(1_700_000_000_000)
	tagged := lastmile.Metadata{{Name: "a", Type: lastmile.MetadataString, Value: "x"}}
	for name, test := range map[string]struct {
		filter  store.TaskFilter
		indexes string
	}{
		"of a time":     {store.TaskFilter{From: from}, "task_origin|task_origin_open"},
		"further on":    {store.TaskFilter{From: from, After: "x"}, "task_origin|task_origin_open"},
		"of a state":    {store.TaskFilter{From: from, States: []lastmile.TaskState{lastmile.TaskUnassigned}}, "task_origin"},
		"with metadata": {store.TaskFilter{Metadata: tagged}, "task_id"},
	} {
		test.filter.Limit = 65
		query, args := listPage(byOrigin, "o", test.filter, 1_700_000_000_001)
		allowed, ranges := regexp.MustCompile(`^SEARCH t USING (COVERING )?INDEX (`+test.indexes+`) `), 0
		for _, step := range explain(t, s, query, args) {
			if strings.HasPrefix(step.detail, "SCAN t") || strings.HasPrefix(step.detail, "SEARCH t ") && !allowed.MatchString(step.detail) {
				t.Errorf("%s: %s", name, step.detail)
			}
			if strings.HasPrefix(step.detail, "SEARCH t ") {
				ranges++
			}
		}
		if ranges == 0 {
			t.Errorf("%s: no range", name)
		}
	}
}

// planStep is a step of a query plan of SQLite.
type planStep struct {
	id, parent int64
	detail     string
}

func explain(t *testing.T, s *Store, query string, args []any) (plan []planStep) {
	t.Helper()
	enginetest.Must(t, s.engine.Read(t.Context(), func(c engine.Conn) (err error) {
		plan, err = collect(t.Context(), newConn(c), func(r rows) (p planStep, err error) {
			var unused int64
			err = r.Scan(&p.id, &p.parent, &unused, &p.detail)
			return p, err
		}, "EXPLAIN QUERY PLAN "+query, args...)
		return err
	}))
	return plan
}

// TestOpenClassesAreThoseOfTheIndex checks that the migration and the query define the same
// classes.
func TestOpenClassesAreThoseOfTheIndex(t *testing.T) {
	script, err := os.ReadFile("migrations/0002_tasks.sql")
	enginetest.Must(t, err)
	for class, most := range openTimes {
		if line := fmt.Sprintf("WHEN completed - created < %d THEN %d\n", most, class); !strings.Contains(string(script), line) {
			t.Errorf("the index task_open has no class %q", line)
		}
	}
	if !strings.Contains(string(script), fmt.Sprintf("ELSE %d END", len(openTimes))) {
		t.Error("the index task_open has another last class")
	}
}

// TestRanksNeverRunAhead puts many tasks at the end of a container at once and
// then one more, which is put there without reading the list, like a new task of the
// organization.
func TestRanksNeverRunAhead(t *testing.T) {
	now := time.UnixMilli(2_000_000_000_000)
	ranks, fits := between(nil, nil, 5_000, now)
	next := nextRanks(now, 1, 0)
	if !fits || ranks[0] < now.UnixMicro()<<8 || next <= ranks[len(ranks)-1] {
		t.Errorf("a new task has rank %d, after %d", next, ranks[len(ranks)-1])
	}
	if ahead := time.Duration(ranks[len(ranks)-1]-ranks[0]) / rankStep * time.Microsecond; ahead > 5*time.Millisecond {
		t.Errorf("5,000 ranks are %v ahead of the clock", ahead)
	}
	ahead := next + 1<<40
	if ranks, _ := between(&ahead, nil, 2, now); ranks[0] <= ahead || ranks[1] <= ranks[0] {
		t.Errorf("after %d come %v", ahead, ranks)
	}
}
