package lastmile_test

import (
	"testing"
	"time"

	"dray/internal/lastmile"
)

func TestBatchStatus(t *testing.T) {
	made, refused := lastmile.BatchResult{TaskID: "t"}, lastmile.BatchResult{Fault: &lastmile.BatchFault{}}
	tests := map[string]struct {
		results   []lastmile.BatchResult
		completed bool
		want      lastmile.BatchStatus
	}{
		"nothing done yet":               {nil, false, lastmile.BatchPending},
		"some items done":                {[]lastmile.BatchResult{made}, false, lastmile.BatchInProgress},
		"all items done, not yet ended":  {[]lastmile.BatchResult{made, made}, false, lastmile.BatchInProgress},
		"ended with all tasks":           {[]lastmile.BatchResult{made, made}, true, lastmile.BatchSucceeded},
		"ended with some tasks":          {[]lastmile.BatchResult{made, refused}, true, lastmile.BatchCompletedWithErrors},
		"ended with no task":             {[]lastmile.BatchResult{refused, refused}, true, lastmile.BatchFailed},
		"in progress, though all failed": {[]lastmile.BatchResult{refused}, false, lastmile.BatchInProgress},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			b := lastmile.Batch{Received: 2, Results: tt.results}
			if tt.completed {
				event := b.Complete(lastmile.Actor{}, time.Date(2026, time.May, 6, 7, 8, 9, 0, time.UTC))
				if event.Trigger != lastmile.TriggerTaskBatchCreateJobCompleted || event.Batch.Status() != tt.want {
					t.Errorf("the end is told as %v with %v", event.Trigger, event.Batch.Status())
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
		in      *lastmile.ContainerRef
		assign  bool
		refused bool
	}{
		"nothing special":              {nil, false, false},
		"the organization's container": {&organization, false, false},
		"a team's container":           {&team, false, false},
		"a worker's container":         {&worker, false, true},
		"automatic assignment":         {nil, true, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if err := lastmile.CheckBatchItem(tt.in, tt.assign); (err != nil) != tt.refused {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAgo(t *testing.T) {
	for passed, want := range map[time.Duration]string{
		-time.Hour:        "Less than a minute ago.", // another node's clock
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
		if got := lastmile.Ago(now.Add(-passed), now); got != want {
			t.Errorf("%v: got %q, want %q", passed, got, want)
		}
	}
}
