package platform_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
	"dray/internal/taskflow"
	"dray/internal/work"
)

// reads counts what transactions read.
type reads struct {
	*sqlstore.Tx
	tasks, links, owners *int
}

func (r reads) TasksOf(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID) ([]lastmile.Task, error) {
	*r.tasks += len(ids)
	return r.Tx.TasksOf(ctx, org, ids)
}

func (r reads) Parents(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID) ([]lastmile.TaskID, error) {
	*r.links++
	return r.Tx.Parents(ctx, org, id)
}

func (r reads) Children(ctx context.Context, org lastmile.OrganizationID, id lastmile.TaskID, n int) ([]lastmile.TaskID, error) {
	found, err := r.Tx.Children(ctx, org, id, n)
	*r.links += len(found)
	return found, err
}

func (r reads) Owner(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef) (time.Time, error) {
	*r.owners++
	return r.Tx.Owner(ctx, org, in)
}

func (r reads) Worker(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Worker, error) {
	*r.owners++
	return r.Tx.Worker(ctx, org, id)
}

func (r reads) Team(ctx context.Context, org lastmile.OrganizationID, id lastmile.TeamID) (lastmile.Team, error) {
	*r.owners++
	return r.Tx.Team(ctx, org, id)
}

// readStore runs transactions whose reads are counted, and calls before before each that
// writes.
type readStore[R, W any] struct {
	sqlstore.View[R, W]
	before               func()
	tasks, links, owners int
}

func (s *readStore[R, W]) Read(ctx context.Context, fn func(R) error) error {
	return s.View.Read(ctx, func(r R) error { return fn(any(reads{any(r).(*sqlstore.Tx), &s.tasks, &s.links, &s.owners}).(R)) })
}

func (s *readStore[R, W]) Write(ctx context.Context, fn func(W) error) error {
	if s.before != nil {
		s.before()
	}
	return s.View.Write(ctx, func(w W) error { return fn(any(reads{any(w).(*sqlstore.Tx), &s.tasks, &s.links, &s.owners}).(W)) })
}

// countedTasks returns the tasks of an organization, with a store that counts reads.
func countedTasks(o *apptest.Org) (*taskflow.Tasks, *readStore[taskflow.TaskReader, taskflow.TaskWriter]) {
	s := &readStore[taskflow.TaskReader, taskflow.TaskWriter]{View: sqlstore.For[taskflow.TaskReader, taskflow.TaskWriter](o.Store)}
	return &taskflow.Tasks{Creator: o.Tasks.Creator, Documents: o.Tasks.Documents, Store: s}, s
}

// withChildren creates tasks that depend on one.
func withChildren(t *testing.T, o *apptest.Org, parent lastmile.TaskID, n int) []lastmile.TaskID {
	t.Helper()
	ids := many(t, o, n)
	o.Write(t, func(w *sqlstore.Tx) error {
		for _, id := range ids {
			task, err := w.Task(t.Context(), o.Principal.Organization, id)
			if err != nil {
				return err
			}
			task.Dependencies = []lastmile.TaskID{parent}
			if err := w.SaveTask(t.Context(), task); err != nil {
				return err
			}
		}
		return nil
	})
	return ids
}

// TestRelatedTasksAreNotAllRead assigns a task that is related to too many others: no more of
// them are read than are needed to reject it.
func TestRelatedTasksAreNotAllRead(t *testing.T) {
	o := apptest.NewOrg(t)
	tasks, s := countedTasks(o)
	parent := o.Task(t, in(home(o))).ID
	children := withChildren(t, o, parent, 2*taskflow.MaxRelated+300)
	draft := apptest.Draft(west)
	draft.Change.Dependencies = &[]lastmile.TaskID{parent}
	_, err := tasks.Create(t.Context(), o.Principal, draft, &assignment.Options{Mode: assignment.ByLoad, ConsiderDependencies: true})
	expectCode(t, err, lastmile.CodeInvalid)
	if most := 4*taskflow.MaxRelated + 10; s.links > most || s.tasks > 10 {
		t.Errorf("%d links and %d tasks were read, want at most %d and 10", s.links, s.tasks, most)
	}
	ada := o.Worker(t, "Ada", nil)
	change := lastmile.ContainerChange{Tasks: children[:1], ConsiderDependencies: true, Index: lastmile.AtEnd}
	if _, err := o.Containers.Arrange(t.Context(), o.Principal, listOf(ada), change); err != nil {
		t.Fatal(err)
	}
	if n := len(list(t, o, listOf(ada))); n != 1+len(children) {
		t.Errorf("%d tasks have moved", n)
	}
}

// TestAssignmentReadsTeamsAndWorkersTogether names many teams and workers in a request: they
// are not read one by one.
func TestAssignmentReadsTeamsAndWorkersTogether(t *testing.T) {
	o := apptest.NewOrg(t)
	tasks, s := countedTasks(o)
	ada, bob, north := o.Worker(t, "Ada", &west), o.Worker(t, "Bob", &west), o.Team(t, "North")
	options := assignment.Options{
		Mode:            assignment.ByLoad,
		Teams:           slices.Repeat([]lastmile.TeamID{north}, 300),
		ExcludedWorkers: slices.Repeat([]lastmile.WorkerID{ada.Worker, bob.Worker}, 300),
	}
	create := func() error {
		_, err := tasks.Create(t.Context(), o.Principal, apptest.Draft(west), &options)
		return err
	}
	if err := create(); err != nil || s.owners > 0 {
		t.Errorf("%d teams and workers were read: %v", s.owners, err)
	}
	other := apptest.NewOrg(t)
	options.ExcludedWorkers = append(options.ExcludedWorkers, other.Worker(t, "Eve", nil).Worker)
	expectCode(t, create(), lastmile.CodeOutsideScope)
	options.Teams = append(options.Teams, apptest.NewID[lastmile.TeamID]())
	expectCode(t, create(), lastmile.CodeNotFound)
}

// TestPlansWithTooManyTasksAreRejectedFirst adds too many tasks to a plan: none of them is
// read.
func TestPlansWithTooManyTasksAreRejectedFirst(t *testing.T) {
	o := apptest.NewOrg(t)
	s := &readStore[taskflow.PlanReader, taskflow.PlanWriter]{View: sqlstore.For[taskflow.PlanReader, taskflow.PlanWriter](o.Store)}
	plans := &taskflow.RoutePlans{Base: o.RoutePlans.Base, Store: s, NewID: o.RoutePlans.NewID, NewShortID: o.RoutePlans.NewShortID}
	made := plan(t, o, o.Worker(t, "Ada", nil).Worker, o.Task(t, in(home(o))).ID)
	excess := make([]lastmile.TaskID, lastmile.MaxRoutePlanTasks+1)
	for i := range excess {
		excess[i] = apptest.NewID[lastmile.TaskID]()
	}
	_, err := plans.AddTasks(t.Context(), o.Principal, made.ID, excess)
	expectCode(t, err, lastmile.CodeInvalid)
	_, err = plans.Update(t.Context(), o.Principal, made.ID, lastmile.RoutePlanChange{Tasks: &excess})
	expectCode(t, err, lastmile.CodeInvalid)
	if s.tasks > 0 {
		t.Errorf("%d tasks were read", s.tasks)
	}
}

// TestPlansForgetDeletedWorkers deletes a plan after the worker who has completed its task:
// there is nothing to estimate any more.
func TestPlansForgetDeletedWorkers(t *testing.T) {
	o := apptest.NewOrg(t)
	ada := o.Worker(t, "Ada", &west)
	task := o.Task(t, in(home(o))).ID
	made := plan(t, o, ada.Worker, task)
	if _, err := o.Work.Start(t.Context(), ada, task, action(nil)); err != nil {
		t.Fatal(err)
	}
	if err := o.Tasks.Complete(t.Context(), o.Principal, task, lastmile.Outcome{Success: true}); err != nil {
		t.Fatal(err)
	}
	if err := o.Fleet.DeleteWorker(t.Context(), o.Principal, ada.Worker); err != nil {
		t.Fatal(err)
	}
	if err := o.RoutePlans.Delete(t.Context(), o.Principal, made.ID); err != nil {
		t.Fatal(err)
	}
	var left int64
	o.Read(t, func(r *sqlstore.Tx) error {
		return r.Conn().Row(t.Context(), `SELECT COUNT(*) FROM worker_watch WHERE worker = $1`, ada.Worker).Scan(&left)
	})
	if left > 0 {
		t.Error("estimates of a deleted worker are due")
	}
}

// TestAStartedTaskKeepsItsChildren starts a task while it is deleted in several transactions:
// the rest of its children still depend on it.
func TestAStartedTaskKeepsItsChildren(t *testing.T) {
	o := apptest.NewOrg(t)
	tasks, s := countedTasks(o)
	ada := o.Worker(t, "Ada", &west)
	parent := o.Task(t, in(listOf(ada))).ID
	withChildren(t, o, parent, 130)
	writes := 0
	s.before = func() {
		if writes++; writes != 3 { // the first transaction counts the children
			return
		}
		if _, err := o.Work.Start(t.Context(), ada, parent, action(nil)); err != nil {
			t.Error(err)
		}
	}
	expectCode(t, tasks.Delete(t.Context(), o.Principal, parent), lastmile.CodeInvalid)
	var left []lastmile.TaskID
	o.Read(t, func(r *sqlstore.Tx) (err error) {
		left, err = r.Children(t.Context(), o.Principal.Organization, parent, 0)
		return err
	})
	if len(left) != 130-25 {
		t.Errorf("%d tasks depend on the started one, want %d", len(left), 130-25)
	}
}

// countedPlaced counts how often placed tasks are counted.
type countedPlaced struct {
	taskflow.Placed
	calls int
}

func (p *countedPlaced) CountPlaced(ctx context.Context, origin lastmile.OrganizationID, limit int) (int, error) {
	p.calls++
	return p.Placed.CountPlaced(ctx, origin, limit)
}

// TestBatchesCountPlacedTasksOnce creates batches for another organization: the first items
// use up the room.
func TestBatchesCountPlacedTasksOnce(t *testing.T) {
	o, client := apptest.NewOrg(t), apptest.NewOrg(t)
	courier, who := o.Principal.Organization, client.Principal
	if err := o.Clients.Connect(t.Context(), courier, who.Organization); err != nil {
		t.Fatal(err)
	}
	batches, counter := *o.Batches, &countedPlaced{Placed: o.Batches.Placed}
	batches.MaxPlaced, batches.Placed = 3, counter
	draft := apptest.Draft(west)
	draft.Change.Executor = &courier
	items := slices.Repeat([]lastmile.BatchItem{{Draft: draft}}, 2)
	made, err := batches.CreateAll(t.Context(), who, items)
	if err != nil || len(made.Tasks) != 2 || counter.calls != 1 {
		t.Fatalf("%d tasks were created after %d counts: %v", len(made.Tasks), counter.calls, err)
	}
	made, err = batches.CreateAll(t.Context(), who, items)
	if err != nil || len(made.Tasks) != 1 || len(made.Rejected) != 1 || counter.calls != 2 {
		t.Errorf("%d tasks were created and %d rejected after %d counts: %v", len(made.Tasks), len(made.Rejected), counter.calls, err)
	}
}

// TestRejectedItemsUseNoRoom creates batches for another organization in which most items are
// rejected: the others use up the room, in their order.
func TestRejectedItemsUseNoRoom(t *testing.T) {
	o, client := apptest.NewOrg(t), apptest.NewOrg(t)
	courier, who := o.Principal.Organization, client.Principal
	if err := o.Clients.Connect(t.Context(), courier, who.Organization); err != nil {
		t.Fatal(err)
	}
	batches := *o.Batches
	placed := func(recipient string) string {
		return strings.TrimSuffix(body(recipient, ""), "}") + fmt.Sprintf(`,"executor":%q}`, courier)
	}
	sent := func(count int) []lastmile.BatchItem {
		// The first is rejected before the transaction, the second in it.
		return items(t, client, slices.Repeat([]string{
			placed(recipient("Ann", "12")), placed(fmt.Sprintf("%q", apptest.NewID[lastmile.RecipientID]())), placed(""),
		}, count)...)
	}

	batches.MaxPlaced = 3
	made, err := batches.CreateAll(t.Context(), who, sent(4))
	if err != nil || len(made.Tasks) != 3 || len(made.Rejected) != 9 {
		t.Fatalf("%d tasks were created and %d rejected: %v", len(made.Tasks), len(made.Rejected), err)
	}

	batches.MaxPlaced = 58
	later, err := batches.Submit(t.Context(), who, sent(60)) // two chunks
	if err != nil {
		t.Fatal(err)
	}
	loop := work.Loop[taskflow.BatchReader, taskflow.BatchWriter]{
		Kind: work.CreateBatch, Store: batches.Store, Do: batches.Run, Limits: work.Limits{Total: 1, PerOrganization: 1},
		Now: o.Now, NewID: apptest.NewID[string], Log: o.Log,
	}
	if _, err := loop.RunDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	batch, err := batches.Batch(t.Context(), who, later.Record.ID)
	if err != nil || len(batch.Results) != 180 {
		t.Fatalf("%d results: %v", len(batch.Results), err)
	}
	for i, result := range batch.Results {
		if rejected := i%3 < 2 || i/3 >= 58-3; rejected != (result.Err != nil) {
			t.Errorf("item %d is task %q; error: %v", i, result.TaskID, result.Err)
		}
	}
}

// busyBook is an address book whose geocoder is overloaded.
type busyBook struct{ taskflow.AddressBook }

func (busyBook) Locate(context.Context, lastmile.Principal, string, lastmile.DestinationDraft) (lastmile.Destination, error) {
	return lastmile.Destination{}, lastmile.Overloaded("try again later")
}

func TestCreateAllFailsIfOverloaded(t *testing.T) {
	o := apptest.NewOrg(t)
	batches := *o.Batches
	batches.Book = busyBook{o.Batches.Book}
	made, err := batches.CreateAll(t.Context(), o.Principal, []lastmile.BatchItem{{Draft: apptest.Draft(west)}})
	expectCode(t, err, lastmile.CodeOverloaded)
	if len(made.Rejected) > 0 {
		t.Errorf("rejected were %+v", made.Rejected)
	}
}
