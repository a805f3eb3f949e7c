package audit

import (
	"encoding/json"
	"slices"
	"testing"

	"dray/internal/lastmile"
)

func TestChanges(t *testing.T) {
	t.Parallel()
	const before = `{"notes":"A","state":0,"timeLastModified":1,"eta":1,"recipients":[{"id":"r","name":"Ann"}],"destination":{"id":"d","notes":"x"},"container":{"type":"ORGANIZATION"}}`
	for _, test := range []struct {
		name, now string
		trigger   lastmile.Trigger
		want      []string
	}{
		{"nothing", before, lastmile.TriggerTaskUpdated, []string{}},
		{"estimates", `{"notes":"A","state":0,"timeLastModified":2,"eta":5,"recipients":[{"id":"r"}],"destination":{"id":"d"},"container":{"type":"ORGANIZATION"}}`, lastmile.TriggerTaskUpdated, []string{}},
		{"other records", `{"notes":"A","state":0,"recipients":[{"id":"s"}],"destination":{"id":"e"},"container":{"type":"ORGANIZATION"}}`, lastmile.TriggerTaskUpdated, []string{"destination", "recipients"}},
		{"a recipient changed with the task", `{"notes":"A","state":0,"timeLastModified":2,"eta":1,"recipients":[{"id":"r","timeLastModified":2}],"destination":{"id":"d"},"container":{"type":"ORGANIZATION"}}`, lastmile.TriggerTaskUpdated, []string{"recipients"}},
		{"a recipient changed before", `{"notes":"B","state":0,"timeLastModified":3,"eta":1,"recipients":[{"id":"r","timeLastModified":2}],"destination":{"id":"d"},"container":{"type":"ORGANIZATION"}}`, lastmile.TriggerTaskUpdated, []string{"notes"}},
		{"an assignment", `{"notes":"B","state":1,"recipients":[{"id":"r"}],"destination":{"id":"d"},"container":{"type":"WORKER"}}`, lastmile.TriggerTaskAssigned, []string{"notes"}},
		{"a field that is gone", `{"state":0,"recipients":[{"id":"r"}],"destination":{"id":"d"}}`, lastmile.TriggerTaskUpdated, []string{"container", "notes"}},
		{"a completion", `{"state":3}`, lastmile.TriggerTaskCompleted, []string{}},
	} {
		var a, b map[string]json.RawMessage
		if json.Unmarshal([]byte(before), &a) != nil || json.Unmarshal([]byte(test.now), &b) != nil {
			t.Fatal(test.name)
		}
		if got := changes(a, b, test.trigger); !slices.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", test.name, got, test.want)
		}
	}
}
