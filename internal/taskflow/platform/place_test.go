package platform_test

import (
	"testing"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
)

// TestTasksOfOrders places, changes and removes tasks in the transaction of another use
// case.
func TestTasksOfOrders(t *testing.T) {
	o, client := apptest.NewOrg(t), apptest.NewOrg(t)
	courier := o.Principal.Organization
	if err := o.Clients.Connect(t.Context(), courier, client.Principal.Organization); err != nil {
		t.Fatal(err)
	}
	draft := apptest.Draft(west)
	draft.Change.Executor = &courier
	ready, err := o.Tasks.Prepare(t.Context(), client.Principal, draft)
	if err != nil {
		t.Fatal(err)
	}
	var pickup, dropoff lastmile.Task
	write := func(fn func(*sqlstore.Tx) error) error { return o.Store.Write(t.Context(), fn) }
	err = write(func(tx *sqlstore.Tx) (err error) {
		if pickup, err = o.Tasks.Place(t.Context(), tx, client.Principal, ready, "89abcdef"); err != nil {
			return err
		}
		dropoff, err = o.Tasks.Place(t.Context(), tx, client.Principal, ready, "89abcdef", pickup.ID)
		return err
	})
	if err != nil || dropoff.Organization != courier || dropoff.Origin != client.Principal.Organization || dropoff.OrderShortID != "89abcdef" ||
		len(dropoff.Dependencies) != 1 || dropoff.Dependencies[0] != pickup.ID {
		t.Fatalf("placed %+v: %v", dropoff, err)
	}
	expectCode(t, o.Tasks.Delete(t.Context(), client.Principal, pickup.ID), lastmile.CodeInvalid)
	expectCode(t, o.Tasks.Delete(t.Context(), o.Principal, pickup.ID), lastmile.CodeInvalid)
	change, err := o.Tasks.Prepare(t.Context(), client.Principal, lastmile.TaskDraft{Change: lastmile.TaskChange{Notes: new("changed")}})
	if err != nil {
		t.Fatal(err)
	}
	err = write(func(tx *sqlstore.Tx) (err error) {
		pickup, err = o.Tasks.Amend(t.Context(), tx, client.Principal, pickup.ID, change)
		return err
	})
	if err != nil || pickup.Notes != "changed" {
		t.Errorf("changed %+v: %v", pickup, err)
	}
	err = write(func(tx *sqlstore.Tx) error { return o.Tasks.Remove(t.Context(), tx, o.Principal, pickup.ID) })
	if err != nil {
		t.Error(err)
	}
	_, err = o.Tasks.Task(t.Context(), client.Principal, pickup.ID)
	expectCode(t, err, lastmile.CodeNotFound)
	left, err := o.Tasks.Task(t.Context(), client.Principal, dropoff.ID)
	if err != nil || len(left.Dependencies) != 0 {
		t.Errorf("the other depends on %v: %v", left.Dependencies, err)
	}
}

// TestRoomForPlacedTasks checks the limit of the open tasks that an organization has placed
// with others, however they are created.
func TestRoomForPlacedTasks(t *testing.T) {
	o, client := apptest.NewOrg(t), apptest.NewOrg(t)
	courier, who := o.Principal.Organization, client.Principal
	if err := o.Clients.Connect(t.Context(), courier, who.Organization); err != nil {
		t.Fatal(err)
	}
	o.Tasks.MaxPlaced, o.Batches.MaxPlaced = 2, 2
	draft := apptest.Draft(west)
	draft.Change.Executor = &courier
	create := func() (lastmile.CreatedTask, error) { return o.Tasks.Create(t.Context(), who, draft, nil) }
	batch := func() error {
		made, err := o.Batches.CreateAll(t.Context(), who, []lastmile.BatchItem{{Draft: draft}})
		if err == nil && len(made.Rejected) > 0 {
			err = made.Rejected[0].Err
		}
		return err
	}
	first, err := create()
	if err == nil {
		err = batch()
	}
	if err != nil {
		t.Fatal(err)
	}
	_, err = create()
	expectCode(t, err, lastmile.CodeInvalid)
	expectCode(t, batch(), lastmile.CodeInvalid)
	_, err = o.Tasks.Prepare(t.Context(), who, draft)
	expectCode(t, err, lastmile.CodeInvalid)
	clone := func() error {
		_, err := o.Tasks.Clone(t.Context(), who, first.Task.ID, lastmile.CloneOptions{}, lastmile.TaskDraft{})
		return err
	}
	expectCode(t, clone(), lastmile.CodeInvalid)
	if _, err := o.Tasks.Create(t.Context(), who, apptest.Draft(west), nil); err != nil {
		t.Errorf("a task of its own: %v", err)
	}
	if _, err := o.Tasks.Update(t.Context(), who, first.Task.ID, draft); err != nil {
		t.Errorf("a change of a placed task: %v", err)
	}
	if err := o.Tasks.Delete(t.Context(), who, first.Task.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := create(); err != nil {
		t.Errorf("a task after another was deleted: %v", err)
	}
}
