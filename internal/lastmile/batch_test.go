package lastmile_test

import (
	"testing"
	"time"

	"dray/internal/lastmile"
)

func TestBatchStatus(t *testing.T) {
	made, rejected := lastmile.BatchResult{TaskID: "t"}, lastmile.BatchResult{Err: &lastmile.Error{}}
	tests := map[string]struct {
		results   []lastmile.BatchResult
		completed bool
		want      lastmile.BatchStatus
	}{
		"nothing done yet":               {nil, false, lastmile.BatchPending},
		"some items done":                {[]lastmile.BatchResult{made}, false, lastmile.BatchInProgress},
		"all items done, not yet ended":  {[]lastmile.BatchResult{made, made}, false, lastmile.BatchInProgress},
		"ended with all tasks":           {[]lastmile.BatchResult{made, made}, true, lastmile.BatchSucceeded},
		"ended with some tasks":          {[]lastmile.BatchResult{made, rejected}, true, lastmile.BatchCompletedWithErrors},
		"ended with no task":             {[]lastmile.BatchResult{rejected, rejected}, true, lastmile.BatchFailed},
		"in progress, though all failed": {[]lastmile.BatchResult{rejected}, false, lastmile.BatchInProgress},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := lastmile.Batch{Received: 2, Results: tt.results}
			if tt.completed {
				event := b.Complete(lastmile.Actor{}, time.Date(2026, time.May, 6, 7, 8, 9, 0, time.UTC))
				if event.Trigger != lastmile.TriggerTaskBatchCreateJobCompleted || event.Batch.Status() != tt.want {
					t.Errorf("the final event is %v with %v", event.Trigger, event.Batch.Status())
				}
			}
			if got := b.Status(); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestWhatATaskOfABatchCannotHave(t *testing.T) {
	team := lastmile.ContainerRef{Kind: lastmile.InTeam}
	organization, worker := lastmile.OrganizationContainer("o"), lastmile.WorkerContainer("w")
	tests := map[string]struct {
		in       *lastmile.ContainerRef
		assign   bool
		rejected bool
	}{
		"nothing special":              {nil, false, false},
		"the organization's container": {&organization, false, false},
		"a team's container":           {&team, false, false},
		"a worker's container":         {&worker, false, true},
		"automatic assignment":         {nil, true, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if err := lastmile.CheckBatchItem(tt.in, tt.assign); (err != nil) != tt.rejected {
				t.Errorf("got %v", err)
			}
		})
	}
}
