package taskflow_test

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
