package webhook

import (
	"testing"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// TestManagersSeeTasksOfTheirTeams: managers see a task by its worker or its container, even
// while it moves from one of their workers to another and has no worker.
func TestManagersSeeTasksOfTheirTeams(t *testing.T) {
	m := managed{of: "o", teams: []lastmile.TeamID{"t"}, workers: []lastmile.WorkerID{"w"}}
	for task, want := range map[string]bool{
		`{"executor":"o","worker":null,"container":{"type":"ORGANIZATION","organization":"o"}}`: true,
		`{"executor":"o","worker":null,"container":{"type":"TEAM","team":"t"}}`:                 true,
		`{"executor":"o","worker":null,"container":{"type":"TEAM","team":"other"}}`:             false,
		`{"executor":"o","worker":"w","container":{"type":"WORKER","worker":"w"}}`:              true,
		`{"executor":"o","worker":"other","container":{"type":"WORKER","worker":"other"}}`:      false,
		`{"executor":"o","worker":null,"container":{"type":"WORKER","worker":"w"}}`:             true,
		`{"executor":"o","worker":null,"container":{"type":"WORKER","worker":"other"}}`:         false,
		`{"executor":"o","worker":"w","container":null}`:                                        true, // completed
		`{"executor":"p","worker":"other","container":{"type":"WORKER","worker":"other"}}`:      true, // placed with another organization
		`{"executor":"o","worker":"other","container":null}`:                                    false,
	} {
		if got := m.has(store.LoggedEvent{Body: []byte(`{"data":{"task":` + task + `}}`)}); got != want {
			t.Errorf("the manager sees the task %s: %v", task, got)
		}
	}
}
