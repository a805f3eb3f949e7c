package platform_test

import (
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/planning"
)

// pair adds a pickup and a drop-off that depends on it, some meters east of the workers.
func (f *fleet) pair(t *testing.T, in lastmile.ContainerRef, east float64) (pickup, dropOff lastmile.TaskID) {
	t.Helper()
	made := func(east float64, change lastmile.TaskChange) lastmile.TaskID {
		draft := apptest.Draft(lastmile.Point{Lon: -73.99 + east/84_000, Lat: 40.73})
		draft.Container, draft.Change = &in, change
		return f.Task(t, draft).ID
	}
	pickup = made(east, lastmile.TaskChange{Pickup: new(true)})
	return pickup, made(east+100, lastmile.TaskChange{Dependencies: &[]lastmile.TaskID{pickup}})
}

// TestPairsStayTogetherWhenTheyAreApplied moves the pickup of a pair to another worker while
// the drop-off is planned for the only one on duty.
func TestPairsStayTogetherWhenTheyAreApplied(t *testing.T) {
	f := newFleet(t, 1, 1)
	other := f.Worker(t, "other", nil, f.team).Worker
	pickup, dropOff := f.pair(t, lastmile.TeamContainer(f.team), 100)
	f.dispatches.Travel = &changing{Travel: f.dispatches.Travel, change: func(call int) {
		if call > 1 {
			return
		}
		if _, err := f.Containers.Arrange(t.Context(), f.Principal, lastmile.WorkerContainer(other), lastmile.ContainerChange{Tasks: []lastmile.TaskID{pickup}}); err != nil {
			t.Error(err)
		}
	}}
	d := f.end(t, f.start(t, planning.Request{}))
	if got := f.Stored(t, dropOff); got.Worker == f.workers[0] {
		t.Errorf("the drop-off is with %s, its pickup with %s; the dispatch is %+v", got.Worker, other, d.Plan)
	}
	if got := f.Stored(t, f.tasks[0]); got.Worker != f.workers[0] {
		t.Errorf("a task that is in no pair is with %q", got.Worker)
	}
}

// TestDropOffsStayWithWhoPickedUp completes the pickup of a pair whose drop-off has no worker
// and is closer to another one.
func TestDropOffsStayWithWhoPickedUp(t *testing.T) {
	for success, want := range map[bool]int{true: 0, false: 1} {
		f := newFleet(t, 1, 0)
		f.workers = append(f.workers, f.Worker(t, "near", &lastmile.Point{Lon: -73.99 + 20_000.0/84_000, Lat: 40.73}, f.team).Worker)
		pickup, dropOff := f.pair(t, lastmile.TeamContainer(f.team), 20_000)
		if _, err := f.Containers.Arrange(t.Context(), f.Principal, lastmile.WorkerContainer(f.workers[0]), lastmile.ContainerChange{Tasks: []lastmile.TaskID{pickup}}); err != nil {
			t.Fatal(err)
		}
		worker := lastmile.Principal{Organization: f.Principal.Organization, Worker: f.workers[0]}
		if _, err := f.Work.Start(t.Context(), worker, pickup, lastmile.Action{ID: "start", At: f.Now()}); err != nil {
			t.Fatal(err)
		}
		if err := f.Tasks.Complete(t.Context(), f.Principal, pickup, lastmile.Outcome{Success: success}); err != nil {
			t.Fatal(err)
		}
		d := f.end(t, f.start(t, planning.Request{}))
		if got := f.Stored(t, dropOff); got.Worker != f.workers[want] {
			t.Errorf("success of the pickup is %v, the drop-off is with %q, want %q; the plan is %+v", success, got.Worker, f.workers[want], d.Plan)
		}
	}
}

// TestPairsThatAreBegunStay starts the pickup of a pair while both are planned for a worker
// who is closer.
func TestPairsThatAreBegunStay(t *testing.T) {
	f := newFleet(t, 1, 0)
	far := f.Worker(t, "far", &lastmile.Point{Lon: -73.99 + 20_000.0/84_000, Lat: 40.73}, f.team).Worker
	pickup, dropOff := f.pair(t, lastmile.WorkerContainer(f.workers[0]), 20_000)
	worker := lastmile.Principal{Organization: f.Principal.Organization, Worker: f.workers[0]}
	planned := false
	f.dispatches.Travel = &changing{Travel: f.dispatches.Travel, change: func(call int) {
		if call > 1 {
			return
		}
		planned = true
		if _, err := f.Work.Start(t.Context(), worker, pickup, lastmile.Action{ID: "start", At: f.Now()}); err != nil {
			t.Error(err)
		}
	}}
	f.enable(t, assignment.ReplanningChange{Move: new(assignment.MoveWorkers)})
	f.add(t, lastmile.WorkerContainer(f.workers[0]), 20_200, time.Time{})
	f.pass(t, time.Minute, time.Second)
	if got := f.list(t, far); !planned || len(got) != 1 {
		t.Errorf("planned is %v, the closer worker has %v, want the task that is in no pair", planned, got)
	}
	if got := f.Stored(t, dropOff); got.Worker != f.workers[0] {
		t.Errorf("the pickup is begun, and the drop-off is with %s", got.Worker)
	}
}
