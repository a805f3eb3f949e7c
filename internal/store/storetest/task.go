package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
)

// runTasks tests tasks and containers.
func runTasks(t *testing.T, open func(t *testing.T) *sqlstore.Store) {
	t.Run("a task is read as it was saved", func(t *testing.T) { testTask(t, open(t)) })
	t.Run("a task that is read again is the same one", func(t *testing.T) { testReadAgain(t, open(t)) })
	t.Run("a task that was shown before is shown with its changes", func(t *testing.T) { testShownAgain(t, open(t)) })
	t.Run("a task is found by its short id in its organization only", func(t *testing.T) { testShortID(t, open(t)) })
	t.Run("a short id that is taken is generated again", func(t *testing.T) { testTakenShortID(t, open(t)) })
	t.Run("tasks know their parents and children", func(t *testing.T) { testDependencies(t, open(t)) })
	t.Run("pickups know their carriers", func(t *testing.T) { testCarriers(t, open(t)) })
	t.Run("deleting a task leaves nothing behind", func(t *testing.T) { testDeleteTask(t, open(t)) })
	t.Run("an import key belongs to one task", func(t *testing.T) { testImportKeys(t, open(t)) })
	t.Run("an explanation is read as it was saved", func(t *testing.T) { testExplanation(t, open(t)) })
	t.Run("a container keeps its order", func(t *testing.T) { testOrder(t, open(t)) })
	t.Run("there is always room between two tasks", func(t *testing.T) { testRoom(t, open(t)) })
	t.Run("a new task of the organization comes last", func(t *testing.T) { testComesLast(t, open(t)) })
	t.Run("an active task is not in the list of its worker", func(t *testing.T) { testActiveTask(t, open(t)) })
	t.Run("containers are listed once they are changed", func(t *testing.T) { testContainers(t, open(t)) })
	t.Run("queues have the tasks of workers on duty, the active task first", func(t *testing.T) { testQueues(t, open(t)) })
	t.Run("queues are in the order of lists", func(t *testing.T) { testQueueOrder(t, open(t)) })
	t.Run("concurrent writers of one container lose nothing", func(t *testing.T) { testContainerWriters(t, open(t)) })
	t.Run("a list has the tasks of its filter in the order of creation", func(t *testing.T) { testLists(t, open(t)) })
	t.Run("paging tolerates concurrent creations and deletions", func(t *testing.T) { testPaging(t, open(t)) })
}

var (
	key      = lastmile.Actor{Type: lastmile.ActorAPI, ID: "key"}
	home     = lastmile.OrganizationContainer(acme)
	redTeam  = lastmile.ContainerRef{Kind: lastmile.InTeam, Owner: id[string]("red")}
	annsWork = lastmile.WorkerContainer(id[lastmile.WorkerID]("ann"))
	bobsWork = lastmile.WorkerContainer(id[lastmile.WorkerID]("bob"))
)

// task returns a minimal task in a container. All tasks of an organization have the same
// destination.
func task(org lastmile.OrganizationID, name string, in lastmile.ContainerRef, created time.Time) lastmile.Task {
	made := lastmile.Task{
		ID: id[lastmile.TaskID](name), ShortID: name, Organization: org, Created: created, Modified: created,
		Merchant: org, Executor: org, TrackingToken: string(org) + name, Container: in, Destination: destination(org, "place"+string(org[:1])),
		Completion: lastmile.Completion{FailureReason: lastmile.NoFailure},
	}
	if in.Kind == lastmile.InWorker {
		made.State, made.Worker = lastmile.TaskAssigned, lastmile.WorkerID(in.Owner)
	}
	return made
}

// saveTasks saves tasks, after their destinations.
func saveTasks(t *testing.T, s *sqlstore.Store, tasks ...lastmile.Task) {
	t.Helper()
	ctx := t.Context()
	write(t, s, func(w *sqlstore.Tx) error {
		for _, made := range tasks {
			if err := errors.Join(w.SaveDestination(ctx, made.Destination), w.SaveTask(ctx, made)); err != nil {
				return err
			}
		}
		return nil
	})
}

// crew saves two workers and a team.
func crew(t *testing.T, s *sqlstore.Store) {
	t.Helper()
	ctx := t.Context()
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(w.SaveWorker(ctx, worker("ann", "+12125550101")), w.SaveWorker(ctx, worker("bob", "+12125550102")), w.SaveTeam(ctx, team("red")))
	})
}

func readTask(t *testing.T, s *sqlstore.Store, name string) lastmile.Task {
	t.Helper()
	return read(t, s, func(r *sqlstore.Tx) (lastmile.Task, error) {
		return r.Task(t.Context(), acme, id[lastmile.TaskID](name))
	})
}

// listOf returns the tasks in the list of a container.
func listOf(t *testing.T, s *sqlstore.Store, in lastmile.ContainerRef) []lastmile.TaskID {
	t.Helper()
	return read(t, s, func(r *sqlstore.Tx) (lastmile.Container, error) { return r.Container(t.Context(), acme, in) }).Tasks
}

// notLate is a time in the far future. A task that is past its time would be shown with a
// delay that depends on when it is read.
var notLate = time.Date(2099, time.January, 1, 0, 0, 0, 0, time.UTC)

// fullTask returns a task with a value in every field.
func fullTask() lastmile.Task {
	later := now.Add(1234 * time.Millisecond)
	at := &lastmile.Point{Lon: 12.5, Lat: 55.7}
	entry := lastmile.MetadataEntry{Name: "floor", Type: "number", Visibility: []string{"api"}, Value: 3.5}
	d, r := destination(acme, "d"), recipient(acme, "r", "+12125550100")
	d.Notes = "door \"7\" <&> \u2028 é"
	return lastmile.Task{
		ID: id[lastmile.TaskID]("full"), ShortID: "0123abcd", Organization: acme, Created: now, Modified: later, Creator: "creator",
		Merchant: zenith, Executor: "another", TrackingToken: "token", TrackingURL: "https://dray.example/t/token", TrackingViewed: true,
		SourceTask: id[lastmile.TaskID]("source"), OrderShortID: "89efcdab",
		State: lastmile.TaskActive, Container: annsWork, Worker: id[lastmile.WorkerID]("ann"), RoutePlan: "plan", PlanPosition: 3,
		CompleteAfter: now.Add(time.Hour), CompleteBefore: notLate, Pickup: true,
		Geofenced: true, CompletedWithGeofenceWarning: true,
		GeofenceAttempts: []lastmile.GeofenceAttempt{{Level: lastmile.GeofenceWarn, Location: lastmile.Point{Lon: 12.5, Lat: 55.7}, At: now}},
		Dependencies:     []lastmile.TaskID{id[lastmile.TaskID]("z"), id[lastmile.TaskID]("a")}, Destination: d, Recipient: &r,
		Notes: "notes <&> \u2028 é", Quantity: 1.25, AdditionalQuantities: lastmile.Capacities{A: 1, B: 2.5, C: 3},
		ServiceTime: new(90 * time.Second), Priority: 499, Group: "group",
		Overrides: lastmile.Overrides{
			RecipientName: new("name"), RecipientNotes: new(""), RecipientSkipSMSNotifications: new(false), UseMerchantForProxy: new(true),
		},
		Requirements: lastmile.Requirements{Signature: true, Photo: true, Notes: true, MinimumAge: 21},
		Barcodes: lastmile.Barcodes{
			Required: []lastmile.Barcode{{ID: "b1", Data: "AAAA", BlockCompletion: true}, {ID: "b2"}},
			Captured: []lastmile.CapturedBarcode{{ID: "c", Symbology: "CODE39", Data: "AAAA", Location: at, At: later, WasRequested: true}},
		},
		ScanOnlyRequiredBarcodes: true, TriangleColor: new(0),
		CustomFields: []lastmile.CustomFieldValue{{
			Field: lastmile.CustomField{
				Key: "key", Name: "name", Description: "about", Type: "integer", AsArray: true, Visibility: []string{"admin"}, Editability: []string{"api"},
				Contexts: []lastmile.CustomFieldContext{{Name: "save", Required: true, Conditions: []lastmile.Condition{{FieldName: "pickupTask", Comparison: "equal_to", TargetValue: true}}}},
			},
			Value: []any{1.0, 2.0},
		}},
		Metadata: lastmile.Metadata{entry}, Feedback: []lastmile.Feedback{{At: later, Rating: 5, Comments: "good"}},
		Completion: lastmile.Completion{
			Events: []lastmile.CompletionEvent{{Name: "start", At: now}, {Name: "arrival", At: later, Location: at}}, At: later, Success: true,
			Notes: "n", SuccessNotes: "s", FailureNotes: "f", FailureReason: "REASON", SignatureUploadID: "sig", SignatureText: "text",
			PhotoUploadIDs: []string{"p", "q"}, FirstLocation: at, LastLocation: at, Distance: 1234.5,
			UnavailableAttachments: []lastmile.UnavailableAttachment{{ID: "u", Type: "PHOTO"}},
		},
		Estimates: lastmile.Estimates{Arrival: later, Completion: later.Add(time.Minute), ETA: new(90 * time.Second), Delay: new(time.Minute)},
		History:   []lastmile.Assignment{{Actor: key, Container: home, At: now}, {Actor: key, Container: annsWork, At: later}},
		Events:    7,
	}
}

// sameStops compares stops with the tasks.
func sameStops(t *testing.T, s *sqlstore.Store, ids ...lastmile.TaskID) {
	t.Helper()
	var want []lastmile.Task
	for _, whole := range read(t, s, func(r *sqlstore.Tx) ([]lastmile.Task, error) { return r.TasksOf(t.Context(), acme, ids) }) {
		want = append(want, lastmile.Task{
			ID: whole.ID, Organization: whole.Organization, State: whole.State, Worker: whole.Worker, RoutePlan: whole.RoutePlan, Estimates: whole.Estimates,
			Destination: lastmile.Destination{Location: whole.Destination.Location}, CompleteAfter: whole.CompleteAfter, CompleteBefore: whole.CompleteBefore,
			ServiceTime: whole.ServiceTime, PlannedService: whole.PlannedService,
		})
	}
	same(t, "stops", read(t, s, func(r *sqlstore.Tx) ([]lastmile.Task, error) { return r.StopsOf(t.Context(), acme, ids) }), want)
}

func testTask(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	whole := fullTask()
	for v, i := reflect.ValueOf(whole), 0; i < v.NumField(); i++ {
		// The others are saved separately; see testPlaced, testImportKeys and testPins.
		if name := v.Type().Field(i).Name; v.Field(i).IsZero() && !slices.Contains([]string{"Origin", "ImportKey", "PlannedService"}, name) {
			t.Errorf("the sample has no %s", name)
		}
	}
	write(t, s, func(w *sqlstore.Tx) error { return w.SaveRecipient(ctx, *whole.Recipient) })
	saveTasks(t, s, whole, task(acme, "bare", home, now))
	same(t, "task", readTask(t, s, "full"), whole)
	same(t, "the least of a task", readTask(t, s, "bare"), task(acme, "bare", home, now))
	quick := task(acme, "quick", home, now)
	quick.ServiceTime = new(time.Duration(0))
	saveTasks(t, s, quick)
	same(t, "a task without service", readTask(t, s, "quick"), quick)
	moved := readTask(t, s, "quick")
	if _, err := moved.Put(annsWork, key, now); err != nil {
		t.Fatal(err)
	}
	if err := moved.JoinRoutePlan("plan", 4, now); err != nil {
		t.Fatal(err)
	}
	moved.Estimates = whole.Estimates
	write(t, s, func(w *sqlstore.Tx) error {
		return w.MoveTasks(ctx, acme, annsWork, store.Position{}, []lastmile.TaskID{moved.ID}, []lastmile.Task{moved}, now)
	})
	same(t, "a task that was moved", readTask(t, s, "quick"), moved)
	sameStops(t, s, moved.ID)
	moved.LeaveRoutePlan(key, now)
	moved.PlanPosition = 0
	write(t, s, func(w *sqlstore.Tx) error { return w.SavePlanned(ctx, []lastmile.Task{moved}) })
	same(t, "a task that left its plan", readTask(t, s, "quick"), moved)
	several := read(t, s, func(r *sqlstore.Tx) ([]lastmile.Task, error) {
		return r.TasksOf(ctx, acme, []lastmile.TaskID{id[lastmile.TaskID]("bare"), whole.ID})
	})
	same(t, "several tasks", several, []lastmile.Task{task(acme, "bare", home, now), whole})
	sameStops(t, s, moved.ID, id[lastmile.TaskID]("bare"), whole.ID)
	gone := id[lastmile.TaskID]("gone")
	for _, stops := range []struct {
		org  lastmile.OrganizationID
		of   []lastmile.TaskID
		want error
	}{
		{acme, []lastmile.TaskID{whole.ID, gone}, lastmile.NotFound("task", string(gone))},
		{zenith, []lastmile.TaskID{whole.ID}, lastmile.OutsideScope(string(whole.ID))},
	} {
		err := s.Read(ctx, func(r *sqlstore.Tx) error {
			_, err := r.StopsOf(ctx, stops.org, stops.of)
			return err
		})
		if err == nil || err.Error() != stops.want.Error() {
			t.Errorf("stops of %v for %s: %v, not %v", stops.of, stops.org, err, stops.want)
		}
	}

	known := store.Remember(ctx)
	for range 3 {
		whole.Notes, whole.Destination.Notes, whole.Recipient.Notes = whole.Notes+"!", whole.Destination.Notes+"!", whole.Recipient.Notes+"!"
		whole.Destination.ID = whole.Destination.ID[1:] + "x" // destinations do not change
		whole.Events, whole.PlanPosition = whole.Events+1, whole.PlanPosition+1
		write(t, s, func(w *sqlstore.Tx) error { return w.SaveRecipient(ctx, *whole.Recipient) })
		saveTasks(t, s, whole)
		again := func() lastmile.Task {
			return read(t, s, func(r *sqlstore.Tx) (lastmile.Task, error) { return r.Task(known, acme, whole.ID) })
		}
		first, second := again(), again()
		same(t, "a task that has changed", first, whole)
		same(t, "a task that is known", second, whole)
		if first.Recipient != second.Recipient {
			t.Error("a task that is known was decoded again")
		}
	}

	shown, err := s.Show(ctx, store.Tasks, acme, string(whole.ID))
	if err != nil || !json.Valid(shown) {
		t.Fatalf("shown %s: %v", shown, err)
	}
	listed, err := s.ShowTasks(ctx, acme, store.TaskFilter{States: []lastmile.TaskState{lastmile.TaskActive}})
	if err != nil || len(listed) != 1 || listed[0].ID != whole.ID || string(listed[0].Doc) != string(shown) {
		t.Errorf("the task is shown as %s, and listed as %s: %v", shown, listed, err)
	}

	outlines := read(t, s, func(r *sqlstore.Tx) ([]lastmile.Task, error) {
		return r.TaskOutlines(ctx, acme, []lastmile.TaskID{id[lastmile.TaskID]("bare"), id[lastmile.TaskID]("gone"), whole.ID})
	})
	same(t, "outlines of tasks", outlines, []lastmile.Task{{ID: id[lastmile.TaskID]("bare"), Modified: now}, {ID: whole.ID, Modified: whole.Modified, Estimates: whole.Estimates}})

	// Records found by metadata are shown in the same way as by id.
	for kind, sample := range map[store.Kind]struct {
		id       string
		metadata lastmile.Metadata
	}{
		store.Tasks:        {string(whole.ID), whole.Metadata},
		store.Destinations: {string(whole.Destination.ID), whole.Destination.Metadata},
		store.Recipients:   {string(whole.Recipient.ID), whole.Recipient.Metadata},
	} {
		found, err := s.Find(ctx, kind, acme, "", sample.metadata, 0)
		if err != nil || !slices.Contains(found, sample.id) {
			t.Errorf("%s is found as %v: %v", kind, found, err)
		}
		if found, err := s.Find(ctx, kind, zenith, "", sample.metadata, 0); err != nil || len(found) > 0 {
			t.Errorf("another organization finds %s %v: %v", kind, found, err)
		}
		one, err := s.Show(ctx, kind, acme, sample.id)
		if err != nil {
			t.Error(err)
		}
		all, err := s.ShowAll(ctx, kind, acme, []string{"gone", sample.id})
		if err != nil || len(all) != 1 || string(all[0]) != string(one) {
			t.Errorf("%s is shown as %s and as %s: %v", kind, one, all, err)
		}
		if all, err := s.ShowAll(ctx, kind, zenith, []string{sample.id}); err != nil || len(all) > 0 {
			t.Errorf("another organization is shown %s: %v", all, err)
		}
		ended, end := context.WithCancel(ctx)
		end()
		if all, err := s.ShowAll(ended, kind, acme, nil); err != nil || len(all) > 0 {
			t.Errorf("no ids show %s, want nothing, without a query: %v", all, err)
		}
	}

	// A changed task replaces the previous one, and has the recipient's current data.
	changed := task(acme, "full", home, now)
	changed.ShortID, changed.TrackingToken, changed.Modified = whole.ShortID, whole.TrackingToken, whole.Modified.Add(time.Second)
	changed.Recipient = new(*whole.Recipient)
	changed.Recipient.Name = "renamed"
	write(t, s, func(w *sqlstore.Tx) error { return w.SaveRecipient(ctx, *changed.Recipient) })
	saveTasks(t, s, changed)
	same(t, "the task after a change", readTask(t, s, "full"), changed)
	parents := read(t, s, func(r *sqlstore.Tx) ([]lastmile.TaskID, error) { return r.Parents(ctx, acme, whole.ID) })
	found, err := s.ShowTasks(ctx, acme, store.TaskFilter{Metadata: whole.Metadata})
	if err != nil || len(parents) != 0 || len(found) != 0 {
		t.Errorf("after a change it depends on %v, and is found by %v: %v", parents, found, err)
	}
}

func testDependencies(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	child := task(acme, "child", home, now)
	child.Dependencies = []lastmile.TaskID{id[lastmile.TaskID]("b"), id[lastmile.TaskID]("a")}
	done := task(acme, "a", home, now)
	done.State, done.Container, done.Completion.At = lastmile.TaskCompleted, lastmile.ContainerRef{}, now
	saveTasks(t, s, done, task(acme, "b", home, now), child)
	for what, look := range map[string]func(r *sqlstore.Tx) ([]lastmile.TaskID, error){
		"[a b]":   func(r *sqlstore.Tx) ([]lastmile.TaskID, error) { return r.Parents(ctx, acme, child.ID) },
		"[child]": func(r *sqlstore.Tx) ([]lastmile.TaskID, error) { return r.Children(ctx, acme, done.ID, 0) },
		"[b]":     func(r *sqlstore.Tx) ([]lastmile.TaskID, error) { return r.Unfinished(ctx, acme, child.Dependencies) },
		"[]":      func(r *sqlstore.Tx) ([]lastmile.TaskID, error) { return r.Unfinished(ctx, acme, nil) },
	} {
		if got := fmt.Sprint(names(read(t, s, look))); got != what {
			t.Errorf("got %v, want %v", got, what)
		}
	}
	many := make([]lastmile.TaskID, 0, 70_000) // more than a statement can have parameters
	for i := range cap(many) - 1 {
		many = append(many, id[lastmile.TaskID](fmt.Sprintf("n%dx", i)))
	}
	many = append(many, child.ID)
	if got := read(t, s, func(r *sqlstore.Tx) ([]lastmile.TaskID, error) { return r.Unfinished(ctx, acme, many) }); fmt.Sprint(names(got)) != "[child]" {
		t.Errorf("of many tasks, %v are unfinished", got)
	}
	if got := read(t, s, func(r *sqlstore.Tx) ([]lastmile.TaskID, error) { return r.Parents(ctx, zenith, child.ID) }); len(got) > 0 {
		t.Errorf("another organization sees %v", got)
	}
	err := s.Read(ctx, func(r *sqlstore.Tx) error {
		_, err := r.TasksOf(ctx, zenith, []lastmile.TaskID{child.ID})
		return err
	})
	if code(err) != lastmile.CodeOutsideScope {
		t.Errorf("another organization reads %v", err)
	}
}

func testCarriers(t *testing.T, s *sqlstore.Store) {
	ended := func(name string, pickup, success bool) lastmile.Task {
		made := task(acme, name, home, now)
		made.State, made.Worker, made.Container = lastmile.TaskCompleted, id[lastmile.WorkerID]("ann"), lastmile.ContainerRef{}
		made.Pickup, made.Completion.At, made.Completion.Success = pickup, now, success
		return made
	}
	open := task(acme, "open", home, now)
	open.Pickup = true
	picked := ended("picked", true, true)
	crew(t, s)
	gone := ended("gone", true, true)
	gone.Worker = id[lastmile.WorkerID]("gone") // was deleted
	all := []lastmile.Task{picked, ended("failed", true, false), ended("delivered", false, true), gone, open}
	saveTasks(t, s, all...)
	var ids []lastmile.TaskID
	for _, made := range all {
		ids = append(ids, made.ID)
	}
	for org, want := range map[lastmile.OrganizationID]map[lastmile.TaskID]lastmile.WorkerID{acme: {picked.ID: picked.Worker}, zenith: {}} {
		got := read(t, s, func(r *sqlstore.Tx) (map[lastmile.TaskID]lastmile.WorkerID, error) {
			return r.Carriers(t.Context(), org, ids)
		})
		if !maps.Equal(got, want) {
			t.Errorf("the carriers of %s are %v, want %v", org, got, want)
		}
	}
}

// names returns ids without their padding.
func names(ids []lastmile.TaskID) []string {
	short := []string{}
	for _, id := range ids {
		name := string(id)
		for len(name) > 0 && name[len(name)-1] == '0' {
			name = name[:len(name)-1]
		}
		short = append(short, name)
	}
	return short
}

// difference describes where two lists begin to differ.
func difference(got, want []lastmile.TaskID) string {
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	end := at + 5
	return fmt.Sprintf("%d tasks, want %d; from %d on they are %v …, want %v …",
		len(got), len(want), at, names(got[at:min(end, len(got))]), names(want[at:min(end, len(want))]))
}

func testDeleteTask(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	entry := lastmile.MetadataEntry{Name: "a", Type: "boolean", Visibility: []string{"api"}, Value: true}
	gone, child, parent := task(acme, "gone", home, now), task(acme, "child", home, now), task(acme, "parent", home, now)
	gone.Metadata, gone.Dependencies, child.Dependencies = lastmile.Metadata{entry}, []lastmile.TaskID{parent.ID}, []lastmile.TaskID{gone.ID}
	saveTasks(t, s, parent, gone, child)
	write(t, s, func(w *sqlstore.Tx) error {
		return errors.Join(
			w.SaveExplanation(ctx, acme, assignment.Explanation{Task: gone.ID, At: now, Mode: assignment.ByLoad}),
			w.DeleteTask(ctx, zenith, gone.ID), // a task of another organization: nothing happens
		)
	})
	readTask(t, s, "gone")
	write(t, s, func(w *sqlstore.Tx) error { return w.DeleteTask(ctx, acme, gone.ID) })
	for what, look := range map[string]func(r *sqlstore.Tx) error{
		"the task": func(r *sqlstore.Tx) error {
			_, err := r.Task(ctx, acme, gone.ID)
			return err
		},
		"its explanation": func(r *sqlstore.Tx) error {
			_, err := r.Explanation(ctx, acme, gone.ID)
			return err
		},
		"its short id": func(r *sqlstore.Tx) error {
			_, err := r.TaskByShortID(ctx, acme, gone.ShortID)
			return err
		},
	} {
		if err := s.Read(ctx, look); code(err) != lastmile.CodeNotFound {
			t.Errorf("%s: %v, want not found", what, err)
		}
	}
	found, err := s.ShowTasks(ctx, acme, store.TaskFilter{Metadata: gone.Metadata})
	if err != nil || len(found) > 0 {
		t.Errorf("found by metadata: %v %v", found, err)
	}
	parents := read(t, s, func(r *sqlstore.Tx) ([]lastmile.TaskID, error) { return r.Parents(ctx, acme, child.ID) })
	children := read(t, s, func(r *sqlstore.Tx) ([]lastmile.TaskID, error) { return r.Children(ctx, acme, parent.ID, 0) })
	if len(parents)+len(children) > 0 {
		t.Errorf("parents %v, children %v", parents, children)
	}
	if got := names(listOf(t, s, home)); !slices.Equal(got, []string{"parent", "child"}) {
		t.Errorf("the container has %v", got)
	}
}

func testExplanation(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	saveTasks(t, s, task(acme, "t", home, now))
	far := lastmile.Meters(1234.5)
	for _, why := range []assignment.Explanation{
		{Task: id[lastmile.TaskID]("t"), At: now, Mode: assignment.ByDistance},
		{Task: id[lastmile.TaskID]("t"), At: now.Add(time.Hour), Mode: assignment.ByLoad, Chosen: id[lastmile.WorkerID]("ann"), Considered: []assignment.Consideration{
			{Worker: id[lastmile.WorkerID]("ann"), Name: "Ann", Measure: &far}, {Worker: id[lastmile.WorkerID]("bob"), Name: "Bob", Excluded: "why"},
		}, Total: 240},
	} {
		write(t, s, func(w *sqlstore.Tx) error { return w.SaveExplanation(ctx, acme, why) })
		got := read(t, s, func(r *sqlstore.Tx) (assignment.Explanation, error) { return r.Explanation(ctx, acme, why.Task) })
		same(t, "explanation", got, why)
	}
	err := s.Read(ctx, func(r *sqlstore.Tx) error {
		_, err := r.Explanation(ctx, zenith, id[lastmile.TaskID]("t"))
		return err
	})
	if code(err) != lastmile.CodeNotFound {
		t.Errorf("another organization reads %v", err)
	}
	for before, want := range map[time.Duration]int64{time.Hour: 0, time.Hour + time.Millisecond: 1} {
		var deleted int64
		write(t, s, func(w *sqlstore.Tx) (err error) {
			deleted, err = w.DeleteExplanations(ctx, now.Add(before), 10)
			return errors.Join(err, w.SaveExplanation(ctx, acme, assignment.Explanation{Task: id[lastmile.TaskID]("t"), At: now.Add(time.Hour)}))
		})
		if deleted != want {
			t.Errorf("%d explanations from before %v deleted, want %d", deleted, before, want)
		}
	}
}
