package trackingpage_test

import (
	"slices"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/trackingpage"
)

var noon = time.Date(2026, time.March, 4, 12, 0, 0, 0, time.UTC)

// failed returns a task that failed after the given steps.
func failed(reason string, events ...string) lastmile.Task {
	task := lastmile.Task{ID: "t", Worker: "w", State: lastmile.TaskCompleted, Completion: lastmile.Completion{At: noon, FailureReason: reason}}
	for _, name := range events {
		task.Completion.Events = append(task.Completion.Events, lastmile.CompletionEvent{Name: name, At: noon})
	}
	return task
}

func TestStepsOfATask(t *testing.T) {
	const past, now, ahead = trackingpage.StepPast, trackingpage.StepNow, trackingpage.StepAhead
	arrived := lastmile.Task{State: lastmile.TaskActive, Completion: lastmile.Completion{Events: []lastmile.CompletionEvent{{Name: "arrival", At: noon}}}}
	for name, tt := range map[string]struct {
		task   lastmile.Task
		stages []trackingpage.Stage
		states []trackingpage.StepState
	}{
		"unassigned":                       {task: lastmile.Task{}, states: []trackingpage.StepState{now, ahead, ahead, ahead, ahead}},
		"assigned":                         {task: lastmile.Task{State: lastmile.TaskAssigned}, states: []trackingpage.StepState{past, now, ahead, ahead, ahead}},
		"on the way":                       {task: lastmile.Task{State: lastmile.TaskActive}, states: []trackingpage.StepState{past, past, now, ahead, ahead}},
		"arrived":                          {task: arrived, states: []trackingpage.StepState{past, past, past, now, ahead}},
		"completed, without an arrival":    {task: lastmile.Task{State: lastmile.TaskCompleted, Completion: lastmile.Completion{At: noon, Success: true}}, states: []trackingpage.StepState{past, past, past, past, now}},
		"failed on the way":                {task: failed("", "start"), stages: []trackingpage.Stage{"scheduled", "assigned", "active", "failed"}, states: []trackingpage.StepState{past, past, past, now}},
		"failed at the door":               {task: failed("", "start", "arrival"), stages: []trackingpage.Stage{"scheduled", "assigned", "active", "arrived", "failed"}, states: []trackingpage.StepState{past, past, past, past, now}},
		"failed before it had a worker":    {task: lastmile.Task{State: lastmile.TaskCompleted, Completion: lastmile.Completion{At: noon}}, stages: []trackingpage.Stage{"scheduled", "failed"}, states: []trackingpage.StepState{past, now}},
		"failed before its worker started": {task: failed(""), stages: []trackingpage.Stage{"scheduled", "assigned", "failed"}, states: []trackingpage.StepState{past, past, now}},
	} {
		t.Run(name, func(t *testing.T) {
			page, err := trackingpage.New(&tt.task, lastmile.Organization{}, nil, noon)
			if err != nil {
				t.Fatal(err)
			}
			stages := tt.stages
			if stages == nil {
				stages = []trackingpage.Stage{"scheduled", "assigned", "active", "arrived", "completed"}
			}
			var gotStages []trackingpage.Stage
			var gotStates []trackingpage.StepState
			for _, s := range page.Steps {
				gotStages, gotStates = append(gotStages, s.Stage), append(gotStates, s.State)
			}
			if !slices.Equal(gotStages, stages) || !slices.Equal(gotStates, tt.states) {
				t.Errorf("got %v %v, want %v %v", gotStages, gotStates, stages, tt.states)
			}
		})
	}
}

func TestAReasonThatIsNotForRecipientsIsNotShown(t *testing.T) {
	for reason, want := range map[string]string{"NO_ACCESS": "NO_ACCESS", "OTHER": "", "NONE": "", "CUSTOMER_IS_RUDE": ""} {
		task := failed(reason)
		page, err := trackingpage.New(&task, lastmile.Organization{}, nil, noon)
		if err != nil || page.FailureReason != want {
			t.Errorf("%s is shown as %q (%v), want %q", reason, page.FailureReason, err, want)
		}
	}
}

func TestTheWorkerIsNotFollowedAfterArrival(t *testing.T) {
	task := lastmile.Task{ID: "t", Worker: "w", State: lastmile.TaskActive}
	worker := lastmile.Worker{ID: "w", Name: "Ada Lovelace", ActiveTask: "t", Whereabouts: lastmile.Whereabouts{OnDuty: true, Location: &lastmile.Point{Lon: -74, Lat: 40.7}, LocatedAt: noon}}
	for _, arrived := range []bool{false, true} {
		if arrived {
			task.Completion.Events = []lastmile.CompletionEvent{{Name: "arrival", At: noon}}
		}
		page, err := trackingpage.New(&task, lastmile.Organization{}, &worker, noon)
		if err != nil || (page.Location == nil) != arrived || page.WorkerName != "Ada" {
			t.Errorf("arrived %v: %s at %v (%v)", arrived, page.WorkerName, page.Location, err)
		}
	}
}
