package wire_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"dray/internal/codec"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// Batch.Encode does not use encoding/json for the tasks. The test compares its output with
// that of encoding/json.
func TestBatchIsWrittenAsItsFormSays(t *testing.T) {
	now := time.Date(2026, time.May, 6, 7, 8, 9, 0, time.UTC)
	whole := lastmile.Batch{
		ID: "b", Created: now.Add(-time.Hour), Completed: now, Received: 4,
		Results: []lastmile.BatchResult{
			{TaskID: "one", Shown: []byte(`{"id":"one"}`)},
			{Err: &lastmile.Error{Code: lastmile.CodeInvalid, Message: "<no>", Cause: "why"}, Sent: []byte(`{"notes":"é"}`)},
			{TaskID: "two", Warned: true, Shown: []byte(`{"id":"two"}`)},
			{TaskID: "gone", Warned: true},
		},
	}
	for name, b := range map[string]lastmile.Batch{"whole": whole, "empty": {Created: now}} {
		t.Run(name, func(t *testing.T) {
			form := wire.NewBatch(b, wire.Millis(now))
			written, err := codec.Marshal(form)
			if err != nil {
				t.Fatal(err)
			}
			form.NewTasks, form.NewTasksWithWarnings = append([]wire.Raw[wire.Task]{}, form.NewTasks...), append([]wire.Raw[wire.Task]{}, form.NewTasksWithWarnings...)
			expected, err := json.Marshal(form)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := decoded(t, written), decoded(t, expected); !reflect.DeepEqual(got, want) {
				t.Errorf("written %s, want %s", written, expected)
			}
		})
	}

	t.Run("in an event", func(t *testing.T) {
		event := whole.Complete(lastmile.Actor{Type: lastmile.ActorAPI, ID: "key"}, now)
		bodies, err := wire.EncodeEvents(nil, []lastmile.Event{event})
		if err != nil {
			t.Fatal(err)
		}
		written := bodies[0]
		want := []string{
			"actionContext", "adminId", "data", "errors", "failedTasks", "jobId", "newTasks", "newTasksWithWarnings", "status", "submitted",
			"taskId", "tasksCreated", "tasksErrored", "tasksReceived", "time", "triggerId", "triggerName", "workerId",
		}
		if got := slices.Sorted(maps.Keys(decoded(t, written))); !slices.Equal(got, want) {
			t.Errorf("its keys are %v, want %v", got, want)
		}
	})
}

func decoded(t *testing.T, data []byte) (object map[string]any) {
	t.Helper()
	if err := json.Unmarshal(data, &object); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return object
}

func TestBatchSaysWhenItWasSubmitted(t *testing.T) {
	for passed, want := range map[time.Duration]string{
		-time.Hour:        "Less than a minute ago.", // clocks of nodes differ
		0:                 "Less than a minute ago.",
		59 * time.Second:  "Less than a minute ago.",
		time.Minute:       "1 minute ago.",
		119 * time.Second: "1 minute ago.",
		59 * time.Minute:  "59 minutes ago.",
		time.Hour:         "1 hour ago.",
		47 * time.Hour:    "1 day ago.",
		100 * time.Hour:   "4 days ago.",
	} {
		now := time.Date(2026, time.May, 6, 7, 8, 9, 0, time.UTC)
		if got := wire.NewBatch(lastmile.Batch{Created: now.Add(-passed)}, wire.Millis(now)).Submitted; got != want {
			t.Errorf("%v: got %q, want %q", passed, got, want)
		}
	}
}
