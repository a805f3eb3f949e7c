package wire_test

import (
	"reflect"
	"strings"
	"testing"

	"dray/internal/lastmile"
	"dray/internal/wire"
)

func TestAssignmentsOfTheProgramHaveNoActor(t *testing.T) {
	task := lastmile.Task{Organization: "acme", History: []lastmile.Assignment{
		{Actor: lastmile.Actor{Type: lastmile.ActorAPI, ID: "key"}, Container: lastmile.TeamContainer("north")},
		{Container: lastmile.WorkerContainer("ada")},
	}}
	doc, err := wire.Marshal(wire.NewAssignments(task))
	if err != nil || !strings.Contains(string(doc), `"actionContext":{"type":"API","id":"key"}`) || !strings.Contains(string(doc), `"actionContext":null`) {
		t.Errorf("the history is %s: %v", doc, err)
	}
	stored := strings.Replace(string(doc), `"actionContext":null`, `"actionContext":{"type":"","id":""}`, 1) // as earlier versions did
	for _, text := range []string{string(doc), stored} {
		var history []wire.Assignment
		if err := wire.Unmarshal([]byte(text), &history); err != nil {
			t.Fatal(err)
		}
		if got := wire.Assignments(history); !reflect.DeepEqual(got, task.History) {
			t.Errorf("%s is read as %v", text, got)
		}
	}
}
