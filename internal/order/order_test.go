package order

import (
	"strings"
	"testing"
	"time"

	"dray/internal/lastmile"
)

func newOrder() Order {
	o := Order{ID: "o", ShortID: "8f2a61c4"}
	o.Begin(lastmile.Task{ID: "p", Pickup: true}, lastmile.Task{ID: "d"}, testNow)
	return o
}

// happens applies an event of a task to an order, and reports whether that changed it.
func happens(o *Order, task lastmile.TaskID, trigger lastmile.Trigger, state lastmile.TaskState, success bool) bool {
	return o.Follow(lastmile.Event{Trigger: trigger, At: testNow.Add(time.Minute), Task: &lastmile.Task{ID: task, State: state, Completion: lastmile.Completion{Success: success}}})
}

func TestStatusFollowsTheTasks(t *testing.T) {
	const (
		unassigned, assigned = lastmile.TaskUnassigned, lastmile.TaskAssigned
		active, done, failed = lastmile.TaskActive, lastmile.TaskCompleted, lastmile.TaskState(-1)
	)
	states := []lastmile.TaskState{unassigned, assigned, active, done, failed}
	// By the state of the pickup, then of the drop-off.
	want := [][]Status{
		{Unassigned, Unassigned, Active, Active, Failed},
		{Unassigned, Assigned, Active, Active, Failed},
		{Active, Active, Active, Active, Failed},
		{Active, Active, Active, Completed, Failed},
		{Failed, Failed, Failed, Failed, Failed},
	}
	for i, pickup := range states {
		for j, dropoff := range states {
			o := newOrder()
			for task, state := range map[lastmile.TaskID]lastmile.TaskState{"p": pickup, "d": dropoff} {
				if state == failed {
					happens(&o, task, lastmile.TriggerTaskUpdated, done, false)
				} else {
					happens(&o, task, lastmile.TriggerTaskUpdated, state, true)
				}
			}
			if o.Status != want[i][j] {
				t.Errorf("of a pickup in state %d and a drop-off in state %d the order is %s, want %s", pickup, dropoff, o.Status, want[i][j])
			}
		}
	}
}

func TestEventsOfAnOrder(t *testing.T) {
	o := newOrder()
	for _, step := range []struct {
		task    lastmile.TaskID
		trigger lastmile.Trigger
		state   lastmile.TaskState
		changed bool
	}{
		{"p", lastmile.TriggerTaskCreated, lastmile.TaskUnassigned, false},
		{"p", lastmile.TriggerTaskAssigned, lastmile.TaskAssigned, true},
		{"d", lastmile.TriggerTaskAssigned, lastmile.TaskAssigned, true},
		{"d", lastmile.TriggerTaskUpdated, lastmile.TaskAssigned, false},
		{"p", lastmile.TriggerTaskUnassigned, lastmile.TaskUnassigned, true},
		{"p", lastmile.TriggerTaskAssigned, lastmile.TaskAssigned, true},
		{"p", lastmile.TriggerTaskStarted, lastmile.TaskActive, true},
		{"p", lastmile.TriggerTaskEta, lastmile.TaskActive, false},
		{"p", lastmile.TriggerTaskCompleted, lastmile.TaskCompleted, true},
		{"p", lastmile.TriggerTaskUpdated, lastmile.TaskCompleted, false},
		{"d", lastmile.TriggerTaskStarted, lastmile.TaskActive, true},
		{"d", lastmile.TriggerTaskCompleted, lastmile.TaskCompleted, true},
		{"x", lastmile.TriggerTaskStarted, lastmile.TaskActive, false},
	} {
		if got := happens(&o, step.task, step.trigger, step.state, true); got != step.changed {
			t.Errorf("%s of %s changed it: %v", step.trigger, step.task, got)
		}
	}
	if o.Follow(lastmile.Event{Trigger: lastmile.TriggerWorkerDuty}) {
		t.Error("an event of no task changed it")
	}
	var got []string
	for _, e := range o.Events {
		got = append(got, string(e.Task)+" "+e.Name+" "+string(e.Status))
	}
	want := " created unassigned|p assigned unassigned|d assigned assigned|p unassigned unassigned|p assigned assigned|p started active|p completed active|d started active|d completed completed"
	if strings.Join(got, "|") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, "|"), want)
	}
	if !o.Modified.After(o.Created) {
		t.Errorf("it was modified at %v", o.Modified)
	}
}

func TestEventsAreBounded(t *testing.T) {
	o := newOrder()
	for range MaxEvents {
		happens(&o, "p", lastmile.TriggerTaskAssigned, lastmile.TaskAssigned, true)
		happens(&o, "p", lastmile.TriggerTaskUnassigned, lastmile.TaskUnassigned, true)
	}
	if len(o.Events) != MaxEvents || o.Events[0].Name != "created" || o.Events[MaxEvents-1].Name != "unassigned" || o.Events[MaxEvents-2].Name != "assigned" {
		t.Errorf("%d events, from %+v", len(o.Events), o.Events[0])
	}
}

func TestOrdersAreChangedUntilStarted(t *testing.T) {
	changes := map[string]func(*Order) error{
		"changed":   func(o *Order) error { return o.CheckChange("changed") },
		"cancelled": func(o *Order) error { return o.Cancel(testNow) },
		"rejected":  func(o *Order) error { return o.Reject("why", testNow) },
	}
	for what, change := range changes {
		for _, status := range Status("").Values() {
			o := newOrder()
			o.Status = status
			err := change(&o)
			if may := status == Unassigned || status == Assigned; (err == nil) != may {
				t.Errorf("an order that is %s is %s: %v", status, what, err)
			} else if !may && (!strings.Contains(err.Error(), o.ShortID) || !strings.Contains(err.Error(), string(status)) || o.Status != status) {
				t.Errorf("an order that is %s: %v, and is %s", status, err, o.Status)
			}
		}
	}
	o := newOrder()
	if err := o.Reject(" ", testNow); err == nil || o.Status != Unassigned {
		t.Errorf("without a reason: %v", err)
	}
	if err := o.Reject("No room", testNow); err != nil || o.Status != Rejected || o.Reason != "No room" || !o.Ended() {
		t.Errorf("%+v: %v", o, err)
	}
	if happens(&o, "p", lastmile.TriggerTaskStarted, lastmile.TaskActive, true) {
		t.Error("an order that has ended follows its tasks")
	}
}
