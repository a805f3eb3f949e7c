package wire_test

import (
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"dray/internal/codec"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

func TestEncodeEventsWithTheirRecords(t *testing.T) {
	object := func(v any) map[string]any {
		data, err := codec.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return decoded(t, data)
	}
	task := lastmile.Task{ID: "t", Notes: `"data":{"task":1}`}
	moved, worker, plan := task, lastmile.Worker{ID: "w", Name: "Ada"}, lastmile.RoutePlan{ID: "p"}
	moved.Worker, moved.State = "w", lastmile.TaskAssigned
	tricky := lastmile.Actor{Type: lastmile.ActorAdmin, ID: `,"data":{`}
	for name, test := range map[string]struct {
		event lastmile.Event
		want  map[string]any
	}{
		"a task":            {lastmile.Event{Trigger: lastmile.TriggerTaskCreated, Task: &task, Actor: tricky}, map[string]any{"task": object(wire.NewTask(task))}},
		"a task and worker": {lastmile.Event{Trigger: lastmile.TriggerTaskAssigned, Task: &moved, Worker: &worker}, map[string]any{"task": object(wire.NewTask(moved)), "worker": object(wire.NewWorker(worker))}},
		"a worker":          {lastmile.Event{Trigger: lastmile.TriggerWorkerDuty, Worker: &worker, Actor: tricky}, map[string]any{"worker": object(wire.NewWorker(worker))}},
		"a plan":            {lastmile.Event{Trigger: lastmile.TriggerRoutePlanCreated, RoutePlan: &plan}, map[string]any{"routePlan": object(wire.NewRoutePlan(plan))}},
		"nothing":           {lastmile.Event{Trigger: lastmile.TriggerTaskCreated, Actor: tricky}, map[string]any{}},
		"a delay": {
			lastmile.Event{Trigger: lastmile.TriggerPredictedTaskDelay, Task: &task, Delay: new(time.Minute)},
			map[string]any{"task": object(wire.NewTask(task)), "delayTime": 60.0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			bodies, err := wire.EncodeEvents(nil, []lastmile.Event{test.event, test.event})
			if err != nil || len(bodies) != 2 {
				t.Fatal(bodies, err)
			}
			for _, body := range bodies { // the second one reuses the records of the first
				if got := decoded(t, body)["data"]; !reflect.DeepEqual(got, test.want) {
					t.Errorf("the data is %v, want %v", got, test.want)
				}
			}
		})
	}
	changed := task
	changed.Notes = "others"
	bodies, err := wire.EncodeEvents(nil, []lastmile.Event{{Task: &task}, {Task: &changed}, {Task: &task}})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []lastmile.Task{task, changed, task} {
		if got := decoded(t, bodies[i])["data"]; !reflect.DeepEqual(got, map[string]any{"task": object(wire.NewTask(want))}) {
			t.Errorf("event %d has %v", i, got)
		}
	}
	want := slices.Sorted(maps.Keys(object(wire.Event{})))
	if got := slices.Sorted(maps.Keys(decoded(t, bodies[0]))); !slices.Equal(got, want) {
		t.Errorf("an event has %v, want %v", got, want)
	}
}
