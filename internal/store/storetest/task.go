package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// runTasks checks what a store does with tasks and containers.
func runTasks(t *testing.T, open func(t *testing.T) store.Store) {
	t.Run("a task is read as it was saved", func(t *testing.T) { testTask(t, open(t)) })
	t.Run("a task is found by its short id in its organization only", func(t *testing.T) { testShortID(t, open(t)) })
	t.Run("a short id that is taken is made up again", func(t *testing.T) { testTakenShortID(t, open(t)) })
	t.Run("tasks know their parents and children", func(t *testing.T) { testDependencies(t, open(t)) })
	t.Run("deleting a task leaves nothing behind", func(t *testing.T) { testDeleteTask(t, open(t)) })
	t.Run("an explanation is read as it was saved", func(t *testing.T) { testExplanation(t, open(t)) })
	t.Run("a container keeps its order", func(t *testing.T) { testOrder(t, open(t)) })
	t.Run("there is always room between two tasks", func(t *testing.T) { testRoom(t, open(t)) })
	t.Run("a new task of the organization comes last", func(t *testing.T) { testComesLast(t, open(t)) })
	t.Run("an active task is beside the list of its worker", func(t *testing.T) { testActiveTask(t, open(t)) })
	t.Run("queues are of workers on duty, the active task first", func(t *testing.T) { testQueues(t, open(t)) })
	t.Run("concurrent writers of one container lose nothing", func(t *testing.T) { testContainerWriters(t, open(t)) })
	t.Run("a list has the tasks of its filter in the order of creation", func(t *testing.T) { testLists(t, open(t)) })
	t.Run("a list goes on whatever is created and deleted meanwhile", func(t *testing.T) { testPaging(t, open(t)) })
}

var (
	key      = lastmile.Actor{Type: lastmile.ActorAPI, ID: "key"}
	home     = lastmile.OrganizationContainer(acme)
	redTeam  = lastmile.ContainerRef{Kind: lastmile.InTeam, Owner: id[string]("red")}
	annsWork = lastmile.WorkerContainer(id[lastmile.WorkerID]("ann"))
	bobsWork = lastmile.WorkerContainer(id[lastmile.WorkerID]("bob"))
)

// task is a task in a container, as small as it can be; an organization's are
// all done at the one destination it has.
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

// saveTasks saves tasks and, first, where they are done.
func saveTasks(t *testing.T, s store.Store, tasks ...lastmile.Task) {
	t.Helper()
	ctx := t.Context()
	write(t, s, func(w store.Writer) error {
		for _, made := range tasks {
			if err := errors.Join(w.SaveDestination(ctx, made.Destination), w.SaveTask(ctx, made)); err != nil {
				return err
			}
		}
		return nil
	})
}

// crew saves two workers and a team.
func crew(t *testing.T, s store.Store) {
	t.Helper()
	ctx := t.Context()
	write(t, s, func(w store.Writer) error {
		return errors.Join(w.SaveWorker(ctx, worker("ann", "+12125550101")), w.SaveWorker(ctx, worker("bob", "+12125550102")), w.SaveTeam(ctx, team("red")))
	})
}

func readTask(t *testing.T, s store.Store, name string) lastmile.Task {
	t.Helper()
	return read(t, s, func(r store.Reader) (lastmile.Task, error) {
		return r.Task(t.Context(), acme, id[lastmile.TaskID](name))
	})
}

// listOf is the names of the tasks in a container.
func listOf(t *testing.T, s store.Store, in lastmile.ContainerRef) []lastmile.TaskID {
	t.Helper()
	return read(t, s, func(r store.Reader) (lastmile.Container, error) { return r.Container(t.Context(), acme, in) }).Tasks
}

// notLate is a time that no clock comes to: a task that is past its time is late
// when it is read, by as much as it is then.
var notLate = time.Date(2099, time.January, 1, 0, 0, 0, 0, time.UTC)

// fullTask is a task with a value in every field.
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
		State: lastmile.TaskActive, Container: annsWork, Worker: id[lastmile.WorkerID]("ann"), RoutePlan: "plan",
		CompleteAfter: now.Add(time.Hour), CompleteBy: notLate, Pickup: true,
		Geofenced: true, CompletedWithGeofenceWarning: true,
		GeofenceAttempts: []lastmile.GeofenceAttempt{{Level: lastmile.GeofenceWarn, Location: lastmile.Point{Lon: 12.5, Lat: 55.7}, At: now}},
		Dependencies:     []lastmile.TaskID{id[lastmile.TaskID]("z"), id[lastmile.TaskID]("a")}, Destination: d, Recipient: &r,
		Notes: "notes <&> \u2028 é", Quantity: 1.25, AdditionalQuantities: lastmile.Capacities{A: 1, B: 2.5, C: 3},
		ServiceTime: 90 * time.Second, Priority: 499, Group: "group",
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

func testTask(t *testing.T, s store.Store) {
	ctx := t.Context()
	whole := fullTask()
	for v, i := reflect.ValueOf(whole), 0; i < v.NumField(); i++ {
		if v.Field(i).IsZero() {
			t.Errorf("the sample has no %s", v.Type().Field(i).Name)
		}
	}
	write(t, s, func(w store.Writer) error { return w.SaveRecipient(ctx, *whole.Recipient) })
	saveTasks(t, s, whole, task(acme, "bare", home, now))
	same(t, "task", readTask(t, s, "full"), whole)
	same(t, "the least of a task", readTask(t, s, "bare"), task(acme, "bare", home, now))
	several := read(t, s, func(r store.Reader) ([]lastmile.Task, error) {
		return r.TasksOf(ctx, acme, []lastmile.TaskID{id[lastmile.TaskID]("bare"), whole.ID})
	})
	same(t, "several tasks", several, []lastmile.Task{task(acme, "bare", home, now), whole})

	shown, err := s.Show(ctx, store.Tasks, acme, string(whole.ID))
	if err != nil || !json.Valid(shown) {
		t.Fatalf("shown %s: %v", shown, err)
	}
	listed, err := s.ShowTasks(ctx, acme, store.TaskFilter{States: []lastmile.TaskState{lastmile.TaskActive}})
	if err != nil || len(listed) != 1 || listed[0].ID != whole.ID || string(listed[0].Doc) != string(shown) {
		t.Errorf("the task is shown as %s, and listed as %s: %v", shown, listed, err)
	}

	// What changes replaces what was, and the recipient is shown as it is now.
	changed := task(acme, "full", home, now)
	changed.ShortID, changed.TrackingToken, changed.Modified = whole.ShortID, whole.TrackingToken, whole.Modified.Add(time.Second)
	changed.Recipient = new(*whole.Recipient)
	changed.Recipient.Name = "renamed"
	write(t, s, func(w store.Writer) error { return w.SaveRecipient(ctx, *changed.Recipient) })
	saveTasks(t, s, changed)
	same(t, "the task after a change", readTask(t, s, "full"), changed)
	parents := read(t, s, func(r store.Reader) ([]lastmile.TaskID, error) { return r.Parents(ctx, acme, whole.ID) })
	found, err := s.ShowTasks(ctx, acme, store.TaskFilter{Metadata: whole.Metadata})
	if err != nil || len(parents) != 0 || len(found) != 0 {
		t.Errorf("after a change it depends on %v, and is found by %v: %v", parents, found, err)
	}
}

func testShortID(t *testing.T, s store.Store) {
	ctx := t.Context()
	theirs := task(zenith, "theirs", lastmile.OrganizationContainer(zenith), now)
	saveTasks(t, s, task(acme, "ours", home, now), theirs)
	find := func(shortID string) error {
		return s.Read(ctx, func(r store.Reader) error {
			found, err := r.TaskByShortID(ctx, acme, shortID)
			if err == nil && found.ShortID != shortID {
				t.Errorf("%s is found by %s", found.ShortID, shortID)
			}
			return err
		})
	}
	if err := find("ours"); err != nil {
		t.Error(err)
	}
	for _, shortID := range []string{"theirs", "nobodys", "", "'"} {
		if err := find(shortID); code(err) != lastmile.CodeNotFound {
			t.Errorf("%q: %v, want not found", shortID, err)
		}
	}
	// The same one may be in two organizations.
	same := task(zenith, "same", lastmile.OrganizationContainer(zenith), now)
	same.ShortID = "ours"
	saveTasks(t, s, same)
}

func testTakenShortID(t *testing.T, s store.Store) {
	ctx := t.Context()
	saveTasks(t, s, task(acme, "first", home, now))
	runs := 0
	write(t, s, func(w store.Writer) error {
		runs++
		second := task(acme, "second", home, now)
		if runs == 1 {
			second.ShortID = "first"
		}
		return w.SaveTask(ctx, second)
	})
	if got := readTask(t, s, "second"); runs != 2 || got.ShortID != "second" {
		t.Errorf("after %d runs it has the short id %q", runs, got.ShortID)
	}
}

func testDependencies(t *testing.T, s store.Store) {
	ctx := t.Context()
	child := task(acme, "child", home, now)
	child.Dependencies = []lastmile.TaskID{id[lastmile.TaskID]("b"), id[lastmile.TaskID]("a")}
	done := task(acme, "a", home, now)
	done.State, done.Container, done.Completion.At = lastmile.TaskCompleted, lastmile.ContainerRef{}, now
	saveTasks(t, s, done, task(acme, "b", home, now), child)
	for what, look := range map[string]func(r store.Reader) ([]lastmile.TaskID, error){
		"[a b]":   func(r store.Reader) ([]lastmile.TaskID, error) { return r.Parents(ctx, acme, child.ID) },
		"[child]": func(r store.Reader) ([]lastmile.TaskID, error) { return r.Children(ctx, acme, done.ID) },
		"[b]":     func(r store.Reader) ([]lastmile.TaskID, error) { return r.Unfinished(ctx, acme, child.Dependencies) },
		"[]":      func(r store.Reader) ([]lastmile.TaskID, error) { return r.Unfinished(ctx, acme, nil) },
	} {
		if got := fmt.Sprint(names(read(t, s, look))); got != what {
			t.Errorf("got %v, want %v", got, what)
		}
	}
	if got := read(t, s, func(r store.Reader) ([]lastmile.TaskID, error) { return r.Parents(ctx, zenith, child.ID) }); len(got) > 0 {
		t.Errorf("another organization sees %v", got)
	}
	err := s.Read(ctx, func(r store.Reader) error {
		_, err := r.TasksOf(ctx, zenith, []lastmile.TaskID{child.ID})
		return err
	})
	if code(err) != lastmile.CodeOutsideScope {
		t.Errorf("another organization reads %v", err)
	}
}

// names are ids without what fills them up.
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

// difference says where two lists begin to differ.
func difference(got, want []lastmile.TaskID) string {
	at := 0
	for at < min(len(got), len(want)) && got[at] == want[at] {
		at++
	}
	end := at + 5
	return fmt.Sprintf("%d tasks, want %d; from %d on they are %v …, want %v …",
		len(got), len(want), at, names(got[at:min(end, len(got))]), names(want[at:min(end, len(want))]))
}

func testDeleteTask(t *testing.T, s store.Store) {
	ctx := t.Context()
	entry := lastmile.MetadataEntry{Name: "a", Type: "boolean", Visibility: []string{"api"}, Value: true}
	gone, child, parent := task(acme, "gone", home, now), task(acme, "child", home, now), task(acme, "parent", home, now)
	gone.Metadata, gone.Dependencies, child.Dependencies = lastmile.Metadata{entry}, []lastmile.TaskID{parent.ID}, []lastmile.TaskID{gone.ID}
	saveTasks(t, s, parent, gone, child)
	write(t, s, func(w store.Writer) error {
		return errors.Join(
			w.SaveExplanation(ctx, acme, lastmile.Explanation{Task: gone.ID, At: now, Mode: lastmile.AssignByLoad}),
			w.DeleteTask(ctx, zenith, gone.ID), // of another: nothing happens
		)
	})
	readTask(t, s, "gone")
	write(t, s, func(w store.Writer) error { return w.DeleteTask(ctx, acme, gone.ID) })
	for what, look := range map[string]func(r store.Reader) error{
		"the task": func(r store.Reader) error {
			_, err := r.Task(ctx, acme, gone.ID)
			return err
		},
		"its explanation": func(r store.Reader) error {
			_, err := r.Explanation(ctx, acme, gone.ID)
			return err
		},
		"its short id": func(r store.Reader) error {
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
	parents := read(t, s, func(r store.Reader) ([]lastmile.TaskID, error) { return r.Parents(ctx, acme, child.ID) })
	children := read(t, s, func(r store.Reader) ([]lastmile.TaskID, error) { return r.Children(ctx, acme, parent.ID) })
	if len(parents)+len(children) > 0 {
		t.Errorf("parents %v, children %v", parents, children)
	}
	if got := names(listOf(t, s, home)); !slices.Equal(got, []string{"parent", "child"}) {
		t.Errorf("the container has %v", got)
	}
}

func testExplanation(t *testing.T, s store.Store) {
	ctx := t.Context()
	saveTasks(t, s, task(acme, "t", home, now))
	far := lastmile.Meters(1234.5)
	for _, why := range []lastmile.Explanation{
		{Task: id[lastmile.TaskID]("t"), At: now, Mode: lastmile.AssignByDistance},
		{Task: id[lastmile.TaskID]("t"), At: now.Add(time.Hour), Mode: lastmile.AssignByLoad, Chosen: id[lastmile.WorkerID]("ann"), Considered: []lastmile.Consideration{
			{Worker: id[lastmile.WorkerID]("ann"), Name: "Ann", Measure: &far}, {Worker: id[lastmile.WorkerID]("bob"), Name: "Bob", Excluded: "why"},
		}},
	} {
		write(t, s, func(w store.Writer) error { return w.SaveExplanation(ctx, acme, why) })
		got := read(t, s, func(r store.Reader) (lastmile.Explanation, error) { return r.Explanation(ctx, acme, why.Task) })
		same(t, "explanation", got, why)
	}
	err := s.Read(ctx, func(r store.Reader) error {
		_, err := r.Explanation(ctx, zenith, id[lastmile.TaskID]("t"))
		return err
	})
	if code(err) != lastmile.CodeNotFound {
		t.Errorf("another organization reads %v", err)
	}
}

// put moves tasks to a place of a container, as the rest of Dray does it.
func put(ctx context.Context, w store.Writer, in lastmile.ContainerRef, index int, ids ...lastmile.TaskID) error {
	if err := w.LockContainer(ctx, acme, in, now); err != nil {
		return err
	}
	tasks, err := w.TasksOf(ctx, acme, ids)
	if err != nil {
		return err
	}
	for _, moved := range tasks {
		if moved.Container == in {
			continue
		}
		if _, err := moved.Put(in, key, now); err != nil {
			return err
		}
		if err := w.SaveTask(ctx, moved); err != nil {
			return err
		}
	}
	return w.Enqueue(ctx, acme, in, index, ids, now)
}

// testOrder moves tasks about and compares with lists that do the same.
func testOrder(t *testing.T, s store.Store) {
	const tasks, moves = 12, 250
	ctx := t.Context()
	crew(t, s)
	random := rand.New(rand.NewPCG(5, 6))
	containers := []lastmile.ContainerRef{home, redTeam, annsWork, bobsWork}
	model := map[lastmile.ContainerRef][]lastmile.TaskID{}
	var all []lastmile.TaskID
	for i := range tasks {
		made := task(acme, fmt.Sprintf("t%dx", i), home, now)
		saveTasks(t, s, made)
		all, model[home] = append(all, made.ID), append(model[home], made.ID)
	}
	for move := range moves {
		in := containers[random.IntN(len(containers))]
		random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		moved := slices.Clone(all[:1+random.IntN(4)])
		for ref, list := range model {
			model[ref] = slices.DeleteFunc(list, func(id lastmile.TaskID) bool { return slices.Contains(moved, id) })
		}
		index := random.IntN(len(model[in])+3) - 1 // -1 appends, and so does what is behind the end
		at := min(index, len(model[in]))
		if index == lastmile.AtEnd {
			at = len(model[in])
		}
		model[in] = slices.Insert(model[in], at, moved...)
		write(t, s, func(w store.Writer) error { return put(ctx, w, in, index, moved...) })
		for _, ref := range containers {
			if got := listOf(t, s, ref); !slices.Equal(got, model[ref]) {
				t.Fatalf("move %d of %v to %d of %v: %v has\n     %v\nwant %v", move, names(moved), index, in, ref, names(got), names(model[ref]))
			}
		}
	}
	for ref, list := range model {
		for _, id := range list {
			got := read(t, s, func(r store.Reader) (lastmile.Task, error) { return r.Task(ctx, acme, id) })
			if got.Container != ref {
				t.Errorf("%s says that it is in %v, and is in %v", id, got.Container, ref)
			}
		}
	}
}

// testRoom puts tasks at the same place again and again.
func testRoom(t *testing.T, s store.Store) {
	const many = 200
	ctx := t.Context()
	crew(t, s)
	var ids []lastmile.TaskID
	write(t, s, func(w store.Writer) error {
		ids = ids[:0]
		for i := range many {
			made := task(acme, fmt.Sprintf("t%dx", i), home, now)
			ids = append(ids, made.ID)
			if err := errors.Join(w.SaveDestination(ctx, made.Destination), w.SaveTask(ctx, made)); err != nil {
				return err
			}
		}
		return nil
	})
	for name, place := range map[string]func(i int) int{
		"behind the first": func(int) int { return 1 }, "before the last": func(i int) int { return i - 1 }, "in the middle": func(i int) int { return i / 2 },
	} {
		var model []lastmile.TaskID
		write(t, s, func(w store.Writer) error {
			model = slices.Clone(ids[:2])
			if err := errors.Join(put(ctx, w, home, lastmile.AtEnd, ids...), put(ctx, w, annsWork, lastmile.AtEnd, ids[:2]...)); err != nil {
				return err
			}
			for i, id := range ids[2:] {
				model = slices.Insert(model, place(i+2), id)
				if err := put(ctx, w, annsWork, place(i+2), id); err != nil {
					return err
				}
			}
			return nil
		})
		if got := listOf(t, s, annsWork); !slices.Equal(got, model) {
			t.Errorf("%s: %s", name, difference(got, model))
		}
	}
	// All of them at once between two neighbours that are as close as can be.
	write(t, s, func(w store.Writer) error {
		return errors.Join(put(ctx, w, home, lastmile.AtEnd, ids...), put(ctx, w, bobsWork, lastmile.AtEnd, ids[:2]...), put(ctx, w, bobsWork, 1, ids[2:]...))
	})
	if got, want := listOf(t, s, bobsWork), slices.Concat(ids[:1], ids[2:], ids[1:2]); !slices.Equal(got, want) {
		t.Errorf("all at once: %s", difference(got, want))
	}
}

// testComesLast makes tasks in the organization's container, which nobody
// enqueues, after others were put to its end.
func testComesLast(t *testing.T, s store.Store) {
	const many = 100
	ctx := t.Context()
	crew(t, s)
	var ids []lastmile.TaskID
	for i := range many {
		made := task(acme, fmt.Sprintf("t%dx", i), annsWork, now)
		saveTasks(t, s, made)
		ids = append(ids, made.ID)
	}
	write(t, s, func(w store.Writer) error { return put(ctx, w, home, lastmile.AtEnd, ids...) })
	for i := range 3 {
		saveTasks(t, s, task(acme, fmt.Sprintf("new%dx", i), home, now))
		ids = append(ids, id[lastmile.TaskID](fmt.Sprintf("new%dx", i)))
		// Make room where there is none, which moves tasks.
		for range 12 {
			moved := ids[2]
			write(t, s, func(w store.Writer) error { return put(ctx, w, home, 1, moved) })
			ids = slices.Insert(slices.Delete(ids, 2, 3), 1, moved)
		}
	}
	if got := listOf(t, s, home); !slices.Equal(got, ids) {
		t.Error(difference(got, ids))
	}
}

func testActiveTask(t *testing.T, s store.Store) {
	ctx := t.Context()
	crew(t, s)
	saveTasks(t, s, task(acme, "a", annsWork, now), task(acme, "b", annsWork, now), task(acme, "c", annsWork, now))
	check := func(active string, list ...string) {
		t.Helper()
		c := read(t, s, func(r store.Reader) (lastmile.Container, error) { return r.Container(ctx, acme, annsWork) })
		w := read(t, s, func(r store.Reader) (lastmile.Worker, error) {
			return r.Worker(ctx, acme, id[lastmile.WorkerID]("ann"))
		})
		if got := names(c.Tasks); fmt.Sprint(names([]lastmile.TaskID{c.ActiveTask})) != "["+active+"]" || !slices.Equal(got, list) {
			t.Errorf("the container's active task is %v, its tasks are %v; want %s and %v", c.ActiveTask, got, active, list)
		}
		if w.ActiveTask != c.ActiveTask || !slices.Equal(w.Tasks, c.Tasks) {
			t.Errorf("the worker's active task is %v, the tasks are %v; the container's %v and %v", w.ActiveTask, w.Tasks, c.ActiveTask, c.Tasks)
		}
	}
	check("", "a", "b", "c")
	started := readTask(t, s, "b")
	if _, err := started.Start(nil, key, now); err != nil {
		t.Fatal(err)
	}
	saveTasks(t, s, started)
	check("b", "a", "c")
	write(t, s, func(w store.Writer) error { return put(ctx, w, annsWork, 1, id[lastmile.TaskID]("a")) })
	check("b", "c", "a")
	if _, err := started.Complete(lastmile.Outcome{Success: true, At: now}, key); err != nil {
		t.Fatal(err)
	}
	saveTasks(t, s, started)
	check("", "c", "a")
}

func testQueues(t *testing.T, s store.Store) {
	ctx := t.Context()
	crew(t, s)
	ann, bob := lastmile.WorkerID(annsWork.Owner), lastmile.WorkerID(bobsWork.Owner)
	started := task(acme, "c", annsWork, now)
	started.State, started.Quantity, started.AdditionalQuantities = lastmile.TaskActive, 2.5, lastmile.Capacities{A: 1, B: 2, C: 3}
	saveTasks(t, s, task(acme, "a", annsWork, now), task(acme, "b", annsWork, now), started, task(acme, "d", bobsWork, now), task(acme, "e", home, now))
	place := started.Destination.Location
	on := func(ids ...lastmile.WorkerID) {
		write(t, s, func(w store.Writer) error {
			for _, id := range []lastmile.WorkerID{ann, bob} {
				if err := w.SaveWhereabouts(ctx, acme, id, lastmile.Whereabouts{OnDuty: slices.Contains(ids, id), Location: &place}); err != nil {
					return err
				}
			}
			return nil
		})
	}
	queues := func(org lastmile.OrganizationID) map[lastmile.WorkerID][]lastmile.QueuedTask {
		return read(t, s, func(r store.Reader) (map[lastmile.WorkerID][]lastmile.QueuedTask, error) { return r.Queues(ctx, org) })
	}
	on(ann)
	want := []lastmile.QueuedTask{
		{ID: started.ID, Location: place, Quantity: 2.5, AdditionalQuantities: started.AdditionalQuantities},
		{ID: id[lastmile.TaskID]("a"), Location: place},
		{ID: id[lastmile.TaskID]("b"), Location: place},
	}
	if got := queues(acme); len(got) != 1 || !slices.Equal(got[ann], want) {
		t.Errorf("got %+v", got)
	}
	on(ann, bob)
	if got := queues(acme); len(got) != 2 || len(got[bob]) != 1 {
		t.Errorf("got %+v", got)
	}
	on()
	if got := queues(acme); len(got)+len(queues(zenith)) != 0 {
		t.Errorf("got %+v", got)
	}
}

// testContainerWriters lets writers append to one container, each task read
// from where it is before.
func testContainerWriters(t *testing.T, s store.Store) {
	const writers, each = 6, 12
	ctx := t.Context()
	crew(t, s)
	for i := range writers * each {
		saveTasks(t, s, task(acme, fmt.Sprintf("t%dx%dx", i%writers, i/writers), home, now))
	}
	var wg sync.WaitGroup
	failures := make(chan error, writers*each)
	for n := range writers {
		wg.Go(func() {
			for i := range each {
				failures <- s.Write(ctx, func(w store.Writer) error {
					return put(ctx, w, annsWork, lastmile.AtEnd, id[lastmile.TaskID](fmt.Sprintf("t%dx%dx", n, i)))
				})
			}
		})
	}
	wg.Wait()
	close(failures)
	for err := range failures {
		if err != nil {
			t.Fatal(err)
		}
	}
	got := listOf(t, s, annsWork)
	if unique := slices.Compact(slices.Sorted(slices.Values(got))); len(got) != writers*each || len(unique) != len(got) {
		t.Errorf("%d tasks, %d of them different; want %d", len(got), len(unique), writers*each)
	}
	for n := range writers {
		last := -1
		for i := range each {
			at := slices.Index(got, id[lastmile.TaskID](fmt.Sprintf("t%dx%dx", n, i)))
			if at < last {
				t.Errorf("what writer %d appended is in another order", n)
			}
			last = at
		}
	}
	if left := listOf(t, s, home); len(left) > 0 {
		t.Errorf("%v are in two containers", left)
	}
}

// testLists makes tasks of all kinds and compares many lists with what they
// should be, page by page.
func testLists(t *testing.T, s store.Store) {
	const lists = 400
	crew(t, s)
	random := rand.New(rand.NewPCG(7, 8))
	all := manyTasks(random, 120)
	for org, tasks := range map[lastmile.OrganizationID][]lastmile.Task{acme: all, zenith: {task(zenith, "theirs", lastmile.OrganizationContainer(zenith), now)}} {
		write(t, s, func(w store.Writer) error {
			return w.SaveDestination(t.Context(), destination(org, "place"+string(org[:1])))
		})
		write(t, s, func(w store.Writer) error {
			for _, made := range tasks {
				if err := w.SaveTask(t.Context(), made); err != nil {
					return err
				}
			}
			return nil
		})
	}
	slices.SortFunc(all, func(a, b lastmile.Task) int { return cmpTasks(a, b) })
	found := 0
	for range lists {
		f := anyFilter(random, all)
		var want []lastmile.TaskID
		for _, made := range all {
			if chosen(made, f) {
				want = append(want, made.ID)
			}
		}
		found += len(want)
		var got []lastmile.TaskID
		for f.Limit = 1 + random.IntN(40); ; f.After = got[len(got)-1] {
			page, err := s.ShowTasks(t.Context(), acme, f)
			if err != nil {
				t.Fatalf("%+v: %v", f, err)
			}
			for _, shown := range page {
				got = append(got, shown.ID)
			}
			if len(page) < f.Limit || len(got) > len(all) {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%+v:\n got %v\nwant %v", f, names(got), names(want))
		}
	}
	if found < lists {
		t.Errorf("%d tasks in %d lists: they are nearly all empty", found, lists)
	}
}

func cmpTasks(a, b lastmile.Task) int {
	if order := a.Created.Compare(b.Created); order != 0 {
		return order
	}
	return slices.Compare([]byte(a.ID), []byte(b.ID))
}

// manyTasks makes tasks in all states and containers, at a few times so that
// many fall together; completed ones were open for anything from nothing to
// five years.
func manyTasks(random *rand.Rand, n int) []lastmile.Task {
	entry := lastmile.MetadataEntry{Name: "a", Type: "boolean", Visibility: []string{"api"}, Value: true}
	var all []lastmile.Task
	for i := range n {
		in := []lastmile.ContainerRef{home, home, redTeam, annsWork, annsWork, bobsWork}[random.IntN(6)]
		made := task(acme, fmt.Sprintf("t%dx", i), in, now.Add(time.Duration(random.IntN(12))*time.Hour))
		made.Pickup = random.IntN(2) == 0
		if made.State == lastmile.TaskAssigned {
			switch random.IntN(4) {
			case 0:
				made.State = lastmile.TaskActive
			case 1, 2:
				open := []time.Duration{0, time.Second, 59_999 * time.Millisecond, time.Minute, 5 * time.Minute, time.Hour, 3 * time.Hour, 26 * time.Hour, 5 * 365 * 24 * time.Hour}
				made.State, made.Container = lastmile.TaskCompleted, lastmile.ContainerRef{}
				made.Completion.At = made.Created.Add(open[random.IntN(len(open))])
				if random.IntN(4) == 0 {
					made.Created = made.Completion.At.Add(-open[random.IntN(len(open))])
				}
			}
		}
		if random.IntN(2) == 0 {
			made.CompleteAfter = now.Add(time.Duration(random.IntN(6)) * time.Hour)
			made.CompleteBy = made.CompleteAfter.Add(time.Hour)
		}
		if i > 2 && random.IntN(3) == 0 {
			made.Dependencies = []lastmile.TaskID{all[0].ID}
			if random.IntN(2) == 0 {
				made.Dependencies = append(made.Dependencies, all[1].ID)
			}
		}
		if random.IntN(3) == 0 {
			made.Metadata = lastmile.Metadata{entry}
		}
		made.Modified = made.Created
		all = append(all, made)
	}
	return all
}

// anyFilter makes a filter up. Half of its times are exactly those of tasks.
func anyFilter(random *rand.Rand, all []lastmile.Task) (f store.TaskFilter) {
	at := func() time.Time {
		if made := all[random.IntN(len(all))]; random.IntN(2) == 0 {
			if !made.Completion.At.IsZero() {
				return made.Completion.At
			}
			return made.Created
		}
		return now.Add(time.Duration(random.IntN(14*60)) * time.Minute)
	}
	some := func() bool { return random.IntN(4) == 0 }
	if random.IntN(5) > 0 {
		f.From = at()
	}
	if random.IntN(3) == 0 {
		f.To = at()
	}
	if some() {
		f.From = time.UnixMilli(0)
	}
	if some() {
		for range 1 + random.IntN(3) {
			f.States = append(f.States, lastmile.TaskState(random.IntN(4)))
		}
	}
	if some() {
		f.Worker = []lastmile.WorkerID{lastmile.WorkerID(annsWork.Owner), lastmile.WorkerID(bobsWork.Owner), "nobody"}[random.IntN(3)]
	}
	if some() {
		for range 1 + random.IntN(3) {
			f.Containers = append(f.Containers, []string{string(acme), redTeam.Owner, annsWork.Owner, string(zenith)}[random.IntN(4)])
		}
	}
	if some() {
		f.Dependencies = []lastmile.TaskID{all[0].ID, all[1].ID}[:1+random.IntN(2)]
	}
	if some() {
		f.CompleteBy = now.Add(time.Duration(1+random.IntN(6)) * time.Hour)
	}
	if some() {
		f.CompleteFrom = now.Add(time.Duration(random.IntN(6)) * time.Hour)
	}
	if some() {
		f.Pickup = new(random.IntN(2) == 0)
	}
	if some() {
		f.Metadata = lastmile.Metadata{{Name: "a", Type: "boolean", Value: true}}
	}
	f.Unfinished = some()
	return f
}

// chosen tells whether a task is of a filter, the long way.
func chosen(made lastmile.Task, f store.TaskFilter) bool {
	at := made.Created
	if made.State == lastmile.TaskCompleted {
		at = made.Completion.At
	}
	switch {
	case !f.From.IsZero() && at.Before(f.From), !f.To.IsZero() && !at.Before(f.To):
	case len(f.States) > 0 && !slices.Contains(f.States, made.State):
	case f.Worker != "" && made.Worker != f.Worker:
	case len(f.Containers) > 0 && (made.Container.Owner == "" || !slices.Contains(f.Containers, made.Container.Owner)):
	case slices.ContainsFunc(f.Dependencies, func(id lastmile.TaskID) bool { return !slices.Contains(made.Dependencies, id) }):
	case !f.CompleteBy.IsZero() && (made.CompleteBy.IsZero() || made.CompleteBy.After(f.CompleteBy)):
	case !f.CompleteFrom.IsZero() && (made.CompleteAfter.IsZero() || made.CompleteAfter.Before(f.CompleteFrom)):
	case f.Pickup != nil && *f.Pickup != made.Pickup:
	case f.Unfinished && made.State == lastmile.TaskCompleted:
	case len(f.Metadata) > 0 && len(made.Metadata) == 0:
	default:
		return true
	}
	return false
}

// testPaging reads a list page by page while others write. What was there at
// the beginning and stayed is in it exactly once.
func testPaging(t *testing.T, s store.Store) {
	const there, size = 100, 7
	ctx := t.Context()
	var ids []lastmile.TaskID
	for i := range there {
		made := task(acme, fmt.Sprintf("t%dx", i), home, now.Add(time.Duration(i/3)*time.Millisecond))
		saveTasks(t, s, made)
		ids = append(ids, made.ID)
	}
	listing, stop := context.WithCancel(ctx)
	var wg sync.WaitGroup
	var failed error
	wg.Go(func() {
		for i := 0; listing.Err() == nil; i++ {
			made := task(acme, fmt.Sprintf("new%dx", i), home, now.Add(time.Duration(i%40)*time.Millisecond))
			if err := s.Write(ctx, func(w store.Writer) error { return w.SaveTask(ctx, made) }); err != nil {
				failed = err
				return
			}
		}
	})
	seen := map[lastmile.TaskID]int{}
	gone := map[lastmile.TaskID]bool{}
	f := store.TaskFilter{From: now, Limit: size}
	for pages := 0; ; pages++ {
		page, err := s.ShowTasks(ctx, acme, f)
		if err != nil {
			t.Fatal(err)
		}
		for _, shown := range page {
			seen[shown.ID]++
		}
		if len(page) < size || pages > 10_000 {
			break
		}
		f.After = page[size-1].ID
		if pages%2 == 0 { // the very task that the next page begins after
			gone[f.After] = true
			write(t, s, func(w store.Writer) error { return w.DeleteTask(ctx, acme, f.After) })
		}
		if pages == 30 {
			stop() // or it would never end
		}
	}
	stop()
	wg.Wait()
	if failed != nil {
		t.Fatal(failed)
	}
	for _, id := range ids {
		if seen[id] != 1 && !gone[id] {
			t.Errorf("%s was listed %d times", id, seen[id])
		}
	}
	for _, id := range slices.Sorted(maps.Keys(seen)) {
		if seen[id] > 1 {
			t.Errorf("%s was listed %d times", id, seen[id])
		}
	}
	for name, test := range map[string]struct {
		org   lastmile.OrganizationID
		after string
		want  lastmile.Code
	}{
		"a task that never was":       {acme, id[string]("never"), lastmile.CodeNotFound},
		"what is no id":               {acme, "short", lastmile.CodeNotFound},
		"another organization's task": {zenith, string(ids[there-1]), lastmile.CodeOutsideScope},
	} {
		_, err := s.ShowTasks(ctx, test.org, store.TaskFilter{From: now, After: lastmile.TaskID(test.after)})
		if code(err) != test.want && !gone[lastmile.TaskID(test.after)] {
			t.Errorf("after %s: %v, want code %v", name, err, test.want)
		}
	}
}
