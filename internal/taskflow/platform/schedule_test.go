package platform_test

import (
	"testing"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
)

// changes returns how often the estimates of a worker were scheduled.
func changes(t *testing.T, o *apptest.Org, worker lastmile.Principal) (n int64) {
	t.Helper()
	o.Write(t, func(w *sqlstore.Tx) error {
		s, err := w.EstimateSchedule(t.Context(), worker.Organization, worker.Worker)
		if lastmile.IsNotFound(err) {
			return nil
		}
		n = s.Changes
		return err
	})
	return n
}

func TestChangesOfAListScheduleEstimates(t *testing.T) {
	o := apptest.NewOrg(t)
	ada, bob := o.Worker(t, "Ada", &west), o.Worker(t, "Bob", &west)
	var first, second lastmile.TaskID
	steps := []struct {
		name string
		of   []lastmile.Principal
		do   func() error
	}{
		{"create", []lastmile.Principal{ada}, func() error { first = o.Task(t, in(listOf(ada))).ID; return nil }},
		{"create in a batch", []lastmile.Principal{bob}, func() error {
			made, err := o.Batches.CreateAll(t.Context(), o.Principal, []lastmile.BatchItem{{Draft: in(listOf(bob))}})
			second = made.Tasks[0].ID
			return err
		}},
		{"update", []lastmile.Principal{ada}, func() error {
			_, err := o.Tasks.Update(t.Context(), o.Principal, first, lastmile.TaskDraft{Change: lastmile.TaskChange{Notes: new("Ring twice")}})
			return err
		}},
		{"move", []lastmile.Principal{ada, bob}, func() error {
			_, err := o.Containers.Arrange(t.Context(), o.Principal, listOf(ada), lastmile.ContainerChange{Tasks: []lastmile.TaskID{second}})
			return err
		}},
		{"plan", []lastmile.Principal{ada}, func() error { plan(t, o, ada.Worker, first); return nil }},
		{"start", []lastmile.Principal{ada}, func() error {
			_, err := o.Work.Start(t.Context(), ada, first, action(nil))
			return err
		}},
		{"complete", []lastmile.Principal{ada}, func() error {
			return o.Tasks.Complete(t.Context(), o.Principal, first, lastmile.Outcome{Success: true})
		}},
		{"delete", []lastmile.Principal{ada}, func() error { return o.Tasks.Delete(t.Context(), o.Principal, second) }},
		{"go off duty", []lastmile.Principal{bob}, func() error {
			_, err := o.Fleet.SetDuty(t.Context(), bob, false, nil)
			return err
		}},
	}
	for _, step := range steps {
		var before []int64
		for _, worker := range step.of {
			before = append(before, changes(t, o, worker))
		}
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		for i, worker := range step.of {
			if changes(t, o, worker) <= before[i] {
				t.Errorf("%s: the estimates of worker %s are not refreshed", step.name, worker.Worker)
			}
		}
	}
}

func TestCompletionDeletesReachedThresholds(t *testing.T) {
	o := apptest.NewOrg(t)
	ada := o.Worker(t, "Ada", &west)
	first, second := o.Task(t, in(listOf(ada))).ID, o.Task(t, in(listOf(ada))).ID
	planned := plan(t, o, ada.Worker, first, second)
	fired := func() (names int) {
		o.Write(t, func(w *sqlstore.Tx) error {
			names = 0
			for _, id := range []string{string(first), string(second), string(planned.ID)} {
				found, err := w.Fired(t.Context(), o.Principal.Organization, id)
				if err != nil {
					return err
				}
				names += len(found)
			}
			return nil
		})
		return names
	}
	o.Write(t, func(w *sqlstore.Tx) error {
		for _, id := range []string{string(first), string(second), string(planned.ID)} {
			if _, err := w.Fire(t.Context(), o.Principal.Organization, "webhook", id, o.Now()); err != nil {
				return err
			}
		}
		return nil
	})
	if _, err := o.Work.Start(t.Context(), ada, first, action(nil)); err != nil {
		t.Fatal(err)
	}
	if got := fired(); got != 3 {
		t.Errorf("%d thresholds are known after the start, want 3", got)
	}
	if _, err := o.Work.Finish(t.Context(), ada, first, action(&middle), lastmile.Outcome{Success: true}, lastmile.Evidence{}); err != nil {
		t.Fatal(err)
	}
	if got := fired(); got != 2 {
		t.Errorf("%d thresholds are known after the first task was completed, want 2", got)
	}
	if _, err := o.Work.Start(t.Context(), ada, second, action(nil)); err != nil {
		t.Fatal(err)
	}
	if err := o.Tasks.Complete(t.Context(), o.Principal, second, lastmile.Outcome{Success: true}); err != nil {
		t.Fatal(err)
	}
	if got := fired(); got != 0 {
		t.Errorf("%d thresholds are known after all was completed, want none", got)
	}
}
