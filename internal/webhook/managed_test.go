package webhook

import (
	"testing"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// TestManagersSeeTasksOfTheirTeams: by the worker, the team or the container of the task,
// also of one that is on its way from one of their workers to another.
func TestManagersSeeTasksOfTheirTeams(t *testing.T) {
	m := managed{teams: []lastmile.TeamID{"t"}, workers: []lastmile.WorkerID{"w"}}
	for task, want := range map[string]bool{
		`{"worker":null,"container":{"type":"ORGANIZATION","organization":"o"}}`: true,
		`{"worker":null,"container":{"type":"TEAM","team":"t"}}`:                 true,
		`{"worker":null,"container":{"type":"TEAM","team":"other"}}`:             false,
		`{"worker":"w","container":{"type":"WORKER","worker":"w"}}`:              true,
		`{"worker":"other","container":{"type":"WORKER","worker":"other"}}`:      false,
		`{"worker":null,"container":{"type":"WORKER","worker":"w"}}`:             true,
		`{"worker":null,"container":{"type":"WORKER","worker":"other"}}`:         false,
		`{"worker":"w","container":null}`:                                        true, // completed
		`{"worker":"other","container":null}`:                                    false,
	} {
		if got := m.has(store.LoggedEvent{Body: []byte(`{"data":{"task":` + task + `}}`)}); got != want {
			t.Errorf("the manager sees the task %s: %v", task, got)
		}
	}
}
