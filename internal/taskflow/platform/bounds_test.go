package platform_test

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
	"dray/internal/taskflow"
	"dray/internal/travel"
)

// ledger counts what transactions do.
type ledger struct {
	t       *testing.T
	commits atomic.Int64
	saved   int // tasks that the current transaction has saved
	most    int // maximum number of tasks that one transaction has saved
	writing bool
}

// counted is a transaction that reports to a ledger. It must not read a whole list:
// a transaction must not take longer because a list is long.
type counted struct {
	*sqlstore.Tx
	*ledger
}

func (c counted) whole(what string) { c.t.Errorf("a transaction that writes reads %s", what) }

func (c counted) Container(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef) (lastmile.Container, error) {
	c.whole("a whole container")
	return c.Tx.Container(ctx, org, in)
}

func (c counted) WholeTeam(ctx context.Context, org lastmile.OrganizationID, id lastmile.TeamID) (lastmile.Team, error) {
	c.whole("the tasks of a team")
	return c.Tx.WholeTeam(ctx, org, id)
}

func (c counted) WholeWorker(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Worker, error) {
	c.whole("the tasks of a worker")
	return c.Tx.WholeWorker(ctx, org, id)
}

func (c counted) Workers(ctx context.Context, org lastmile.OrganizationID, f store.WorkerFilter) ([]lastmile.Worker, error) {
	c.whole("all workers")
	return c.Tx.Workers(ctx, org, f)
}

func (c counted) Queues(ctx context.Context, org lastmile.OrganizationID) (map[lastmile.WorkerID][]assignment.QueuedTask, error) {
	c.whole("the lists of all workers")
	return c.Tx.Queues(ctx, org)
}

func (c counted) MoveTasks(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, at store.Position, tasks []lastmile.TaskID, moved []lastmile.Task, now time.Time) error {
	c.saved += len(moved)
	return c.Tx.MoveTasks(ctx, org, in, at, tasks, moved, now)
}

func (c counted) SavePlanned(ctx context.Context, tasks []lastmile.Task) error {
	c.saved += len(tasks)
	return c.Tx.SavePlanned(ctx, tasks)
}

// TasksOf must not decode many tasks: other writers would wait.
func (c counted) TasksOf(ctx context.Context, org lastmile.OrganizationID, ids []lastmile.TaskID) ([]lastmile.Task, error) {
	unknown, known := 0, store.Remembered(ctx)
	for _, id := range ids {
		if known == nil {
			unknown++
		} else if _, ok := known.Load(id); !ok {
			unknown++
		}
	}
	if unknown > 100 {
		c.t.Errorf("a transaction that writes decodes %d tasks", unknown)
	}
	return c.Tx.TasksOf(ctx, org, ids)
}

// countedStore runs transactions that report to a ledger.
type countedStore[R, W any] struct {
	sqlstore.View[R, W]
	*ledger
}

func (s countedStore[R, W]) Write(ctx context.Context, fn func(W) error) error {
	s.commits.Add(1)
	return s.View.Write(ctx, func(w W) error {
		s.saved, s.writing = 0, true
		before := maps.Collect(remembered(ctx))
		defer func() { s.writing = false }()
		err := fn(any(counted{any(w).(*sqlstore.Tx), s.ledger}).(W))
		s.most = max(s.most, s.saved)
		for key, value := range remembered(ctx) {
			if before[key] != value {
				s.t.Errorf("a transaction that writes encodes %v", key)
			}
		}
		return err
	})
}

// remembered returns the tasks decoded and encoded in a context of store.Remember.
func remembered(ctx context.Context) iter.Seq2[any, any] {
	if known := store.Remembered(ctx); known != nil {
		return known.Range
	}
	return func(func(any, any) bool) {}
}

// containers returns the containers of an organization, with their ledger.
func containers(t *testing.T, o *apptest.Org) (*taskflow.Containers, *ledger) {
	t.Helper()
	l := &ledger{t: t}
	return &taskflow.Containers{
		Base:  o.Containers.Base,
		Store: countedStore[taskflow.ContainerReader, taskflow.ContainerWriter]{sqlstore.For[taskflow.ContainerReader, taskflow.ContainerWriter](o.Store), l},
	}, l
}

// many creates tasks in the organization's container.
func many(t *testing.T, o *apptest.Org, n int) []lastmile.TaskID {
	t.Helper()
	var ids []lastmile.TaskID
	for len(ids) < n {
		items := make([]lastmile.BatchItem, min(lastmile.MaxSyncBatch, n-len(ids)))
		for i := range items {
			items[i].Draft = in(home(o))
		}
		made, err := o.Batches.CreateAll(t.Context(), o.Principal, items)
		if err != nil {
			t.Fatal(err)
		}
		for _, task := range made.Tasks {
			ids = append(ids, task.ID)
		}
	}
	return ids
}

func TestLargeMovesAreDoneInSteps(t *testing.T) {
	o := apptest.NewOrg(t)
	cs, l := containers(t, o)
	ada, bob := o.Worker(t, "Ada", nil), o.Worker(t, "Bob", nil)
	ids := many(t, o, 530)
	var order []lastmile.TaskID
	move := func(name string, to lastmile.ContainerRef, change lastmile.ContainerChange, want []lastmile.TaskID) {
		t.Helper()
		*l = ledger{t: t}
		got, err := cs.Arrange(t.Context(), o.Principal, to, change)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !slices.Equal(got.Tasks, want) {
			t.Errorf("%s: the list is %v, want %v", name, got.Tasks, want)
		}
		expectList(t, o, to, want...)
		if l.most > 25 || int(l.commits.Load()) < len(change.Tasks)/25 {
			t.Errorf("%s: %d transactions, one of which saved %d tasks", name, l.commits.Load(), l.most)
		}
	}
	order = append(order, ids[:200]...)
	move("append", listOf(ada), lastmile.ContainerChange{Tasks: ids[:200], Index: lastmile.AtEnd}, order)
	order = slices.Insert(order, 0, ids[200:320]...)
	move("prepend", listOf(ada), lastmile.ContainerChange{Tasks: ids[200:320], Index: lastmile.AtStart}, order)
	order = slices.Insert(order, 20, ids[320:430]...)
	move("insert near the start", listOf(ada), lastmile.ContainerChange{Tasks: ids[320:430], Index: 20}, order)
	// Some are in the list already, on both sides of the position.
	again := slices.Concat(order[5:25], ids[430:530], order[350:370])
	rest := slices.DeleteFunc(slices.Clone(order), func(id lastmile.TaskID) bool { return slices.Contains(again, id) })
	order = slices.Insert(rest, 300, again...)
	move("insert near the end", listOf(ada), lastmile.ContainerChange{Tasks: again, Index: 300}, order)
	move("take from another worker", listOf(bob), lastmile.ContainerChange{Tasks: ids[:120], Index: lastmile.AtEnd}, ids[:120])
	move("replace", listOf(ada), lastmile.ContainerChange{Tasks: ids[120:240], Replace: true}, ids[120:240])
	if n := len(list(t, o, home(o))); n != 530-240 {
		t.Errorf("%d tasks are unassigned, want %d", n, 530-240)
	}
	move("replace by nothing", listOf(ada), lastmile.ContainerChange{Replace: true}, nil)
}

// TestChangesOfOneContainerTakeTurns: changes that are sent at the same time do not
// all have to be planned in the transaction, where each would read the whole list.
func TestChangesOfOneContainerTakeTurns(t *testing.T) {
	o := apptest.NewOrg(t)
	cs, _ := containers(t, o)
	ada := o.Worker(t, "Ada", nil)
	ids := many(t, o, 180)
	first := ids[60:] // more than are read in the transaction
	if _, err := cs.Arrange(t.Context(), o.Principal, listOf(ada), lastmile.ContainerChange{Tasks: first, Index: lastmile.AtEnd}); err != nil {
		t.Fatal(err)
	}
	ids = ids[:60]
	var callers sync.WaitGroup
	for _, id := range ids {
		callers.Go(func() {
			if _, err := cs.Arrange(t.Context(), o.Principal, listOf(ada), lastmile.ContainerChange{Tasks: []lastmile.TaskID{id}, Index: lastmile.AtStart}); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
	if n := len(list(t, o, listOf(ada))); n != len(first)+len(ids) {
		t.Errorf("the list has %d tasks, want %d", n, len(first)+len(ids))
	}
}

func TestALargeMoveIsRejectedAsAWhole(t *testing.T) {
	o := apptest.NewOrg(t)
	ada := o.Worker(t, "Ada", nil)
	ids := many(t, o, 120)
	change := lastmile.ContainerChange{Tasks: append(slices.Clone(ids), apptest.NewID[lastmile.TaskID]()), Index: lastmile.AtEnd}
	_, err := o.Containers.Arrange(t.Context(), o.Principal, listOf(ada), change)
	expectCode(t, err, lastmile.CodeNotFound)
	expectList(t, o, listOf(ada))
	change.Tasks = make([]lastmile.TaskID, taskflow.MaxMoved+1)
	for i := range change.Tasks {
		change.Tasks[i] = apptest.NewID[lastmile.TaskID]()
	}
	_, err = o.Containers.Arrange(t.Context(), o.Principal, listOf(ada), change)
	expectCode(t, err, lastmile.CodeInvalid)
}

func TestEventsDoNotGrowWithTheListOfTheirWorker(t *testing.T) {
	o := apptest.NewOrg(t)
	ada := o.Worker(t, "Ada", nil)
	ids := many(t, o, 700)
	perTask := func(from, to int) int {
		before := len(o.Events(t, o.Principal.Organization))
		_, err := o.Containers.Arrange(t.Context(), o.Principal, listOf(ada), lastmile.ContainerChange{Tasks: ids[from:to], Index: lastmile.AtEnd})
		if err != nil {
			t.Fatal(err)
		}
		bytes := 0
		for _, body := range o.Events(t, o.Principal.Organization)[before:] {
			bytes += len(body)
		}
		return bytes / (to - from)
	}
	perTask(0, 300)
	short, long := perTask(300, 325), perTask(350, 700) // 25 in each transaction
	if long > short*11/10 {
		t.Errorf("a task writes %d bytes of events in a list of 300 and %d in one of 700", short, long)
	}
}

func TestDeletingAWorkerReleasesTasksInSteps(t *testing.T) {
	o := apptest.NewOrg(t)
	cs, l := containers(t, o)
	ada := o.Worker(t, "Ada", nil)
	ids := many(t, o, 170)
	if _, err := o.Containers.Arrange(t.Context(), o.Principal, listOf(ada), lastmile.ContainerChange{Tasks: ids, Index: lastmile.AtEnd}); err != nil {
		t.Fatal(err)
	}
	if err := cs.Drain(t.Context(), o.Principal, listOf(ada)); err != nil {
		t.Fatal(err)
	}
	if left := len(list(t, o, listOf(ada))); left >= 25 || l.most > 25 {
		t.Errorf("%d tasks are left; one transaction moved %d", left, l.most)
	}
	if err := o.Fleet.DeleteWorker(t.Context(), o.Principal, ada.Worker); err != nil {
		t.Fatal(err)
	}
	expectList(t, o, home(o), ids...)
}

func TestLargeAssignmentsAreDoneInSteps(t *testing.T) {
	o := apptest.NewOrg(t)
	cs, l := containers(t, o)
	for range 12 {
		o.Worker(t, "W", &west)
	}
	ids := many(t, o, 110)
	got, err := cs.AutoAssign(t.Context(), o.Principal, ids, assignment.Options{Mode: assignment.ByLoad, MaxAssignedTaskCount: 9})
	if err != nil || len(got) != 108 {
		t.Fatalf("%d tasks were assigned, want 108: %v", len(got), err)
	}
	if l.most > 25 || l.commits.Load() != 5 {
		t.Errorf("%d transactions, one of which assigned %d tasks", l.commits.Load(), l.most)
	}
	counts := map[lastmile.WorkerID]int{}
	for _, worker := range got {
		if counts[worker]++; counts[worker] > 9 {
			t.Errorf("worker %s has more than 9 tasks", worker)
		}
	}
}

func TestANewTaskDoesNotReadTheListItJoins(t *testing.T) {
	o := apptest.NewOrg(t)
	l := &ledger{t: t}
	tasks := &taskflow.Tasks{
		Creator: o.Tasks.Creator, Documents: o.Tasks.Documents,
		Store: countedStore[taskflow.TaskReader, taskflow.TaskWriter]{sqlstore.For[taskflow.TaskReader, taskflow.TaskWriter](o.Store), l},
	}
	ada, team := o.Worker(t, "Ada", &west), o.Team(t, "North")
	for _, draft := range []lastmile.TaskDraft{in(listOf(ada)), in(lastmile.TeamContainer(team)), in(home(o))} {
		if _, err := tasks.Create(t.Context(), o.Principal, draft, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tasks.Create(t.Context(), o.Principal, apptest.Draft(west), &assignment.Options{Mode: assignment.ByLoad}); err != nil {
		t.Fatal(err)
	}
}

// busyStore changes the database before each of its first transactions.
type busyStore struct {
	taskflow.ContainerStore
	changes int
	change  func()
}

func (s *busyStore) Write(ctx context.Context, fn func(taskflow.ContainerWriter) error) error {
	if s.changes > 0 {
		s.changes--
		s.change()
	}
	return s.ContainerStore.Write(ctx, fn)
}

func TestChangesSinceTheListWasRead(t *testing.T) {
	for _, n := range []int{1, 100} { // with 100, the change is finally planned in the transaction
		o := apptest.NewOrg(t)
		ada := o.Worker(t, "Ada", &west)
		ids := many(t, o, 4)
		first := o.Task(t, in(listOf(ada))).ID
		long := many(t, o, 100) // a shorter list is not read before the transaction
		if _, err := o.Containers.Arrange(t.Context(), o.Principal, listOf(ada), lastmile.ContainerChange{Tasks: long, Index: lastmile.AtEnd}); err != nil {
			t.Fatal(err)
		}
		added := 0
		busy := &busyStore{ContainerStore: o.Containers.Store, changes: n, change: func() {
			added++
			o.Task(t, in(listOf(ada)))
		}}
		cs := &taskflow.Containers{Base: o.Containers.Base, Store: busy}
		got, err := cs.Arrange(t.Context(), o.Principal, listOf(ada), lastmile.ContainerChange{Tasks: ids[:2], Index: 1})
		if err != nil || len(got.Tasks) != 3+len(long)+added || !slices.Equal(got.Tasks[:2], []lastmile.TaskID{first, ids[0]}) || got.Tasks[2] != ids[1] {
			t.Fatalf("after %d changes the list is %v: %v", added, got.Tasks, err)
		}
		expectList(t, o, listOf(ada), got.Tasks...)

		// The worker gets other tasks meanwhile, and has room for one more in the end.
		busy.changes = n
		assigned, err := cs.AutoAssign(t.Context(), o.Principal, ids[2:], assignment.Options{
			Mode: assignment.ByLoad, MaxAssignedTaskCount: len(got.Tasks) + min(n, 5) + 1,
		})
		if err != nil || len(assigned) != 1 {
			t.Errorf("after %d changes %d tasks were assigned: %v", added, len(assigned), err)
		}
	}
}

// dependOn creates 160 tasks that depend on another, and returns one of them.
func dependOn(t *testing.T, o *apptest.Org, parent lastmile.TaskID) (child lastmile.TaskID) {
	t.Helper()
	items := make([]lastmile.BatchItem, 80)
	for i := range items {
		items[i].Draft = in(home(o))
		items[i].Draft.Change.Dependencies = &[]lastmile.TaskID{parent}
	}
	for range 2 {
		made, err := o.Batches.CreateAll(t.Context(), o.Principal, items)
		if err != nil || len(made.Tasks) != len(items) {
			t.Fatalf("%d tasks were created: %v", len(made.Tasks), err)
		}
		child = made.Tasks[0].ID
	}
	return child
}

func TestDeletingATaskWithManyDependentsIsDoneInSteps(t *testing.T) {
	o := apptest.NewOrg(t)
	parent := o.Task(t, in(home(o))).ID
	child := dependOn(t, o, parent)
	l := &ledger{t: t}
	tasks := &taskflow.Tasks{
		Creator: o.Tasks.Creator,
		Store:   countedStore[taskflow.TaskReader, taskflow.TaskWriter]{sqlstore.For[taskflow.TaskReader, taskflow.TaskWriter](o.Store), l},
	}
	o.Triggers(t)
	if err := tasks.Delete(t.Context(), o.Principal, parent); err != nil {
		t.Fatal(err)
	}
	// One transaction finds that there are too many, four make 100 of them independent, and one
	// deletes the task.
	if got := o.Triggers(t); l.commits.Load() != 6 || len(got) != 161 {
		t.Errorf("%d transactions with %d events, want 6 with 161", l.commits.Load(), len(got))
	}
	if got := o.Stored(t, child).Dependencies; len(got) != 0 {
		t.Errorf("a task depends on %v", got)
	}

	// A task that cannot be deleted keeps its dependents.
	ada := o.Worker(t, "Ada", &west)
	parent = o.Task(t, in(listOf(ada))).ID
	child = dependOn(t, o, parent)
	if _, err := o.Work.Start(t.Context(), ada, parent, action(nil)); err != nil {
		t.Fatal(err)
	}
	expectCode(t, o.Tasks.Delete(t.Context(), o.Principal, parent), lastmile.CodeInvalid)
	if got := o.Stored(t, child).Dependencies; len(got) != 1 {
		t.Errorf("a task depends on %v, want one", got)
	}
}

// TestDeletingATaskSeveralTimesAtOnce expects each dependent task to change once.
func TestDeletingATaskSeveralTimesAtOnce(t *testing.T) {
	o := apptest.NewOrg(t)
	parent := o.Task(t, in(home(o))).ID
	dependOn(t, o, parent)
	o.Triggers(t)
	var all sync.WaitGroup
	var deleted atomic.Int64
	for range 4 {
		all.Go(func() {
			err := o.Tasks.Delete(t.Context(), o.Principal, parent)
			if err == nil {
				deleted.Add(1)
			} else if !lastmile.IsNotFound(err) {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := o.Triggers(t); deleted.Load() != 1 || len(got) != 161 {
		t.Errorf("%d requests deleted the task, with %d events; want 1 with 161", deleted.Load(), len(got))
	}
}

func TestLongChainsOfDependencies(t *testing.T) {
	o := apptest.NewOrg(t)
	o.Worker(t, "Ada", &west)
	ids := make([]lastmile.TaskID, 0, taskflow.MaxAncestors+2)
	task := o.Task(t, in(home(o)))
	o.Write(t, func(w *sqlstore.Tx) error {
		ids = ids[:0]
		for range cap(ids) {
			next := task
			next.ID, next.ShortID, next.TrackingToken = apptest.NewID[lastmile.TaskID](), apptest.NewID[string](), apptest.NewID[string]()
			next.Dependencies = nil
			if len(ids) > 0 {
				next.Dependencies = ids[len(ids)-1:]
			}
			if err := w.AddTask(t.Context(), next); err != nil {
				return err
			}
			ids = append(ids, next.ID)
		}
		return nil
	})
	depend := func(on lastmile.TaskID) error {
		_, err := o.Tasks.Update(t.Context(), o.Principal, o.Task(t, in(home(o))).ID,
			lastmile.TaskDraft{Change: lastmile.TaskChange{Dependencies: &[]lastmile.TaskID{on}}})
		return err
	}
	if err := depend(ids[100]); err != nil {
		t.Error(err)
	}
	expectCode(t, depend(ids[len(ids)-1]), lastmile.CodeInvalid)
	_, err := o.Containers.AutoAssign(t.Context(), o.Principal, ids[:1], assignment.Options{Mode: assignment.ByLoad, ConsiderDependencies: true})
	expectCode(t, err, lastmile.CodeInvalid)
}

// unhurried finds no legs during a transaction: other writers would wait.
type unhurried struct {
	taskflow.Ways
	*ledger
}

func (u unhurried) Legs(ctx context.Context, by lastmile.VehicleType, way []lastmile.Point) ([]travel.Leg, error) {
	if u.writing {
		u.t.Errorf("a transaction that writes finds the ways along %d locations", len(way))
	}
	return u.Ways.Legs(ctx, by, way)
}

// routePlans returns the route plans of an organization, with their ledger.
func routePlans(t *testing.T, o *apptest.Org) (*taskflow.RoutePlans, *ledger) {
	t.Helper()
	l := &ledger{t: t}
	base := o.RoutePlans.Base
	base.Ways = unhurried{base.Ways, l}
	return &taskflow.RoutePlans{
		Base:  base,
		Store: countedStore[taskflow.PlanReader, taskflow.PlanWriter]{sqlstore.For[taskflow.PlanReader, taskflow.PlanWriter](o.Store), l},
		NewID: o.RoutePlans.NewID, NewShortID: o.RoutePlans.NewShortID,
	}, l
}

func TestLargePlansAreDecodedAndEncodedBeforeTheTransaction(t *testing.T) {
	o := apptest.NewOrg(t)
	plans, l := routePlans(t, o)
	ada, bob := o.Worker(t, "Ada", nil), o.Worker(t, "Bob", nil)
	ids := many(t, o, 110)
	name, start := "Round", o.RoutePlans.Now()
	plan, err := plans.Create(t.Context(), o.Principal, lastmile.RoutePlanChange{Name: &name, Start: &start, Tasks: &ids, Worker: &ada.Worker})
	if err == nil {
		_, err = plans.Update(t.Context(), o.Principal, plan.ID, lastmile.RoutePlanChange{Worker: &bob.Worker})
	}
	if err == nil {
		expectShown(t, o)
	}
	if err == nil {
		err = plans.Delete(t.Context(), o.Principal, plan.ID)
	}
	if err != nil || l.commits.Load() != 3 {
		t.Errorf("%d transactions: %v", l.commits.Load(), err)
	}
	expectList(t, o, listOf(bob), ids...)

	missing := append(slices.Clone(ids), apptest.NewID[lastmile.TaskID]())
	_, err = plans.Create(t.Context(), o.Principal, lastmile.RoutePlanChange{Name: &name, Start: &start, Tasks: &missing})
	expectCode(t, err, lastmile.CodeNotFound)
}

// expectShown fails unless the latest event of each task shows the task as it is stored.
func expectShown(t *testing.T, o *apptest.Org) {
	t.Helper()
	latest := map[lastmile.TaskID]json.RawMessage{}
	for _, body := range o.Events(t, o.Principal.Organization) {
		var event struct {
			TaskID lastmile.TaskID `json:"taskId"`
			Data   struct {
				Task json.RawMessage `json:"task"`
			} `json:"data"`
		}
		if err := json.Unmarshal(body, &event); err != nil {
			t.Fatal(err)
		}
		if event.TaskID != "" {
			latest[event.TaskID] = event.Data.Task
		}
	}
	if len(latest) == 0 {
		t.Error("no event shows a task")
	}
	for id, shown := range latest {
		stored, err := o.Store.Show(t.Context(), store.Tasks, o.Principal.Organization, string(id))
		if err != nil || string(stored) != string(shown) {
			t.Fatalf("the event shows %s, and stored is %s: %v", shown, stored, err)
		}
	}
}

// TestPlansSaveTasksOnce counts the rows of tasks that a change of a plan writes, because
// writing one row takes as long as all other statements of the change.
func TestPlansSaveTasksOnce(t *testing.T) {
	o := apptest.NewOrg(t)
	plans, l := routePlans(t, o)
	ada, bob := o.Worker(t, "Ada", nil), o.Worker(t, "Bob", nil)
	ids := many(t, o, 12)
	name, start := "Round", o.RoutePlans.Now()
	var plan lastmile.RoutePlan
	update := func(change lastmile.RoutePlanChange) func() error {
		return func() (err error) {
			plan, err = plans.Update(t.Context(), o.Principal, plan.ID, change)
			return err
		}
	}
	turned := slices.Clone(ids)
	slices.Reverse(turned)
	later := append(slices.Clone(turned[2:]), turned[:2]...)
	o.Triggers(t)
	for _, step := range []struct {
		what          string
		do            func() error
		saved, events int
		tasks         []lastmile.TaskID
		worker        lastmile.Principal
	}{
		{"created", func() (err error) {
			plan, err = plans.Create(t.Context(), o.Principal, lastmile.RoutePlanChange{Name: &name, Start: &start, Tasks: &ids, Worker: &ada.Worker})
			return err
		}, 12, 12*2 + 2, ids, ada},
		{"renamed", update(lastmile.RoutePlanChange{Name: new("Tour")}), 0, 1, ids, ada},
		{"turned round", update(lastmile.RoutePlanChange{Tasks: &turned}), 12, 1, turned, ada},
		{"turned round for another worker", update(lastmile.RoutePlanChange{Tasks: &ids, Worker: &bob.Worker}), 12, 12*3 + 3, ids, bob},
		{"cut", update(lastmile.RoutePlanChange{Tasks: new(ids[1:])}), 12, 2, ids[1:], lastmile.Principal{}},
		{"taken from its worker", update(lastmile.RoutePlanChange{Tasks: &later, Worker: new(lastmile.WorkerID(""))}), 12, 12*2 + 2, later, lastmile.Principal{}},
		{"deleted", func() error { return plans.Delete(t.Context(), o.Principal, plan.ID) }, 12, 12, later, lastmile.Principal{}},
	} {
		*l = ledger{t: t}
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		if l.most != step.saved || l.commits.Load() != 1 {
			t.Errorf("%s: %d rows of tasks were saved in %d transactions, want %d in one", step.what, l.most, l.commits.Load(), step.saved)
		}
		if got := o.Triggers(t); len(got) != step.events {
			t.Errorf("%s: %d events, want %d: %v", step.what, len(got), step.events, got)
		}
		if step.what != "deleted" && !slices.Equal(plan.Tasks, step.tasks) {
			t.Errorf("%s: the plan has %v, want %v", step.what, plan.Tasks, step.tasks)
		}
		if step.worker.Worker != "" {
			expectList(t, o, listOf(step.worker), step.tasks...)
		}
	}
}
