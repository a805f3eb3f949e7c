package platform_test

import (
	"context"
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
	"dray/internal/taskflow"
)

// overtaken is a store in which others change something just before the next transaction.
type overtaken struct {
	sqlstore.View[taskflow.PlanReader, taskflow.PlanWriter]
	before *func()
}

func (s overtaken) Write(ctx context.Context, fn func(taskflow.PlanWriter) error) error {
	before := *s.before
	*s.before = func() {}
	before()
	return s.View.Write(ctx, fn)
}

// TestChangesSinceTheRehearsalAreSaved changes tasks after a change of their plan has encoded
// them and before its transaction.
func TestChangesSinceTheRehearsalAreSaved(t *testing.T) {
	o := apptest.NewOrg(t)
	before := func() {}
	plans := &taskflow.RoutePlans{
		Base:  o.RoutePlans.Base,
		Store: overtaken{sqlstore.For[taskflow.PlanReader, taskflow.PlanWriter](o.Store), &before},
		NewID: o.RoutePlans.NewID, NewShortID: o.RoutePlans.NewShortID,
	}
	ada, bob, eve := o.Worker(t, "Ada", nil), o.Worker(t, "Bob", nil), o.Worker(t, "Eve", nil)
	known, err := o.Book.CreateRecipient(t.Context(), o.Principal, lastmile.RecipientDraft{Name: "Before", Phone: "+12125550123"})
	if err != nil {
		t.Fatal(err)
	}
	ids := many(t, o, 120)
	update := func(id lastmile.TaskID, d lastmile.TaskDraft) {
		t.Helper()
		if _, err := o.Tasks.Update(t.Context(), o.Principal, id, d); err != nil {
			t.Fatal(err)
		}
	}
	update(ids[0], lastmile.TaskDraft{Recipients: &[]lastmile.RecipientRef{{ID: known.ID}}})
	change := func(step string) func() {
		return func() {
			if _, err := o.Book.UpdateRecipient(t.Context(), o.Principal, known.ID, lastmile.RecipientChange{Name: &step}); err != nil {
				t.Fatal(err)
			}
			update(ids[1], lastmile.TaskDraft{Change: lastmile.TaskChange{Notes: &step}})
			update(ids[2], lastmile.TaskDraft{Destination: &lastmile.DestinationRef{Draft: &lastmile.DestinationDraft{
				Address: &lastmile.Address{City: step, Country: "US"}, Location: &middle,
			}}})
			update(ids[3], lastmile.TaskDraft{Change: lastmile.TaskChange{Metadata: lastmile.MetadataChange{
				Replace: lastmile.Metadata{{Name: "step", Type: "string", Value: step}}, Replaced: true,
			}}})
			update(ids[4], lastmile.TaskDraft{Change: lastmile.TaskChange{CompleteBefore: new(o.RoutePlans.Now().Add(-time.Hour))}})
			for _, id := range ids[5:7] {
				update(id, lastmile.TaskDraft{Container: new(lastmile.WorkerContainer(eve.Worker))})
			}
			update(ids[6], lastmile.TaskDraft{Change: lastmile.TaskChange{Notes: &step}})
		}
	}
	check := func(step string) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		expectShown(t, o)
		read := func(i int) lastmile.Task { return o.Stored(t, ids[i]) }
		for i, got := range []string{read(0).Recipient.Name, read(1).Notes, read(2).Destination.Address.City, read(3).Metadata[0].Value.(string), step, step, read(6).Notes} {
			if got != step {
				t.Errorf("task %d was %s before the plan was saved, and is %s now", i, step, got)
			}
		}
	}
	name, start := "Round", o.RoutePlans.Now()
	before = change("created")
	plan, err := plans.Create(t.Context(), o.Principal, lastmile.RoutePlanChange{Name: &name, Start: &start, Tasks: &ids, Worker: &ada.Worker})
	check("created")
	before = change("moved")
	_, err = plans.Update(t.Context(), o.Principal, plan.ID, lastmile.RoutePlanChange{Worker: &bob.Worker})
	check("moved")
	if moves := len(o.Stored(t, ids[5]).History) - len(o.Stored(t, ids[1]).History); moves != 2 {
		t.Errorf("a task that was moved twice more has %d more assignments", moves)
	}
	before = change("deleted")
	err = plans.Delete(t.Context(), o.Principal, plan.ID)
	check("deleted")
}
