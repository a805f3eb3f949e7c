package assignment_test

import (
	"strings"
	"testing"
	"time"

	"dray/internal/assignment"
	"dray/internal/lastmile"
)

func TestReplanningSettings(t *testing.T) {
	for want, change := range map[string]assignment.ReplanningChange{
		"":                                   {Enabled: new(true), Move: new(assignment.MoveWorkers), Assign: new(true), Interval: new(time.Minute), Lateness: new(time.Hour), Ahead: new(12 * time.Hour)},
		"move must be order or workers":      {Move: new(assignment.Movement("all"))},
		"interval must be between 1 and":     {Interval: new(time.Second)},
		"lateness must be between 1 and":     {Lateness: new(25 * time.Hour)},
		"ahead must be between 15 and 720 m": {Ahead: new(13 * time.Hour)},
	} {
		settings := assignment.DefaultReplanning
		err := settings.Update(change)
		if want == "" && (err != nil || !settings.Enabled || !settings.Assign || settings.Ahead != 12*time.Hour) {
			t.Errorf("the settings are %+v: %v", settings, err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want) || settings != assignment.DefaultReplanning) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	same := assignment.DefaultReplanning
	if err := same.Update(assignment.ReplanningChange{}); err != nil || same != assignment.DefaultReplanning {
		t.Errorf("without a change the settings are %+v: %v", same, err)
	}
}

func TestFallingBehind(t *testing.T) {
	late := func(minutes int) *time.Duration {
		if minutes < 0 {
			return nil
		}
		return new(time.Duration(minutes) * time.Minute)
	}
	on := assignment.DefaultReplanning
	on.Enabled = true
	for _, tt := range []struct {
		before, after int
		want          bool
	}{
		{-1, -1, false},
		{-1, 9, false},
		{-1, 10, true},
		{9, 10, true},
		{10, 19, false},
		{19, 20, true},
		{20, 39, false},
		{39, 40, true},
		{40, 10, false},
		{10, -1, false},
		{30, 30, false},
		{-1, 600, true},
	} {
		if got := on.FallsBehind(late(tt.before), late(tt.after)); got != tt.want {
			t.Errorf("from %d to %d minutes: %v", tt.before, tt.after, got)
		}
		if assignment.DefaultReplanning.FallsBehind(late(tt.before), late(tt.after)) {
			t.Error("it is off by default")
		}
	}
}

func TestReplanCauses(t *testing.T) {
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	task := &lastmile.Task{State: lastmile.TaskAssigned, CompleteAfter: now.Add(time.Hour)}
	for trigger, want := range map[lastmile.Trigger]assignment.Cause{
		lastmile.TriggerTaskCreated: assignment.CauseAdded, lastmile.TriggerTaskCloned: assignment.CauseAdded, lastmile.TriggerTaskAssigned: assignment.CauseAdded,
		lastmile.TriggerTaskUpdated: assignment.CauseChanged, lastmile.TriggerTaskUnassigned: assignment.CauseUnassigned,
		lastmile.TriggerTaskStarted: "", lastmile.TriggerTaskDeleted: "", lastmile.TriggerTaskCompleted: "",
	} {
		e := lastmile.Event{Trigger: trigger, At: now, Task: task}
		if got := assignment.ReplanCause(e); got != want {
			t.Errorf("%s: %q, want %q", trigger, got, want)
		}
		e.Task = &lastmile.Task{CompleteAfter: now.AddDate(0, 0, 1)}
		if got := assignment.ReplanCause(e); got != "" {
			t.Errorf("%s of a task of tomorrow: %q", trigger, got)
		}
		e.Task = &lastmile.Task{State: lastmile.TaskCompleted}
		if got := assignment.ReplanCause(e); got != "" {
			t.Errorf("%s of a completed task: %q", trigger, got)
		}
	}
	for on, want := range map[bool]assignment.Cause{true: assignment.CauseOnDuty, false: ""} {
		worker := &lastmile.Worker{Whereabouts: lastmile.Whereabouts{OnDuty: on}}
		if got := assignment.ReplanCause(lastmile.Event{Trigger: lastmile.TriggerWorkerDuty, At: now, Worker: worker}); got != want {
			t.Errorf("duty %v: %q", on, got)
		}
	}
}
