package driverapi

import (
	"encoding/json"
	"strings"
	"testing"

	"dray/internal/lastmile"
)

func TestWorkTaskShowsWhatWorkersMaySee(t *testing.T) {
	entries := func(at string) lastmile.Metadata {
		return lastmile.Metadata{
			{Name: at + " shown", Type: lastmile.MetadataString, Visibility: []string{"api", "worker"}, Value: "v"},
			{Name: at + " hidden", Type: lastmile.MetadataString, Visibility: []string{"api", "dashboard"}, Value: "v"},
		}
	}
	field := func(name string, visibility ...string) lastmile.CustomFieldValue {
		return lastmile.CustomFieldValue{Field: lastmile.CustomField{Key: name, Name: name, Visibility: visibility}, Value: "v"}
	}
	task := lastmile.Task{
		Metadata: entries("task"), Destination: lastmile.Destination{Metadata: entries("destination")}, Recipient: &lastmile.Recipient{Metadata: entries("recipient")},
		CustomFields: []lastmile.CustomFieldValue{field("field hidden", "admin", "api"), field("field shown", "worker")},
	}
	shown, err := json.Marshal(NewWorkTask(task))
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []string{"task", "destination", "recipient", "field"} {
		if !strings.Contains(string(shown), at+" shown") || strings.Contains(string(shown), at+" hidden") {
			t.Errorf("of the %s: %s", at, shown)
		}
	}
	if len(task.Metadata) != 2 || len(task.Recipient.Metadata) != 2 || task.CustomFields[0].Field.Key != "field hidden" || task.Metadata[1].Name != "task hidden" {
		t.Error("the task itself has changed")
	}
}
