package lastmile_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"dray/internal/lastmile"
)

var noon = time.Date(2026, time.March, 4, 12, 0, 0, 0, time.UTC)

var (
	me     = lastmile.Actor{Type: lastmile.ActorAPI, ID: "key"}
	place  = lastmile.Destination{ID: "d", Location: lastmile.Point{Lon: 1, Lat: 2}}
	person = lastmile.Recipient{ID: "r", Name: "Ann"}
)

// newIDs returns a generator of distinct ids.
func newIDs() func() string {
	n := 0
	return func() string {
		n++
		return fmt.Sprintf("id%d", n)
	}
}

func identity(id lastmile.TaskID) lastmile.Identity {
	return lastmile.Identity{ID: id, ShortID: "short", TrackingToken: "token", TrackingURL: "url", Creator: me, NewID: newIDs()}
}

// draft returns the minimal input for a task, with a change.
func draft(change func(*lastmile.TaskChange)) lastmile.TaskChange {
	c := lastmile.TaskChange{Destination: &place, Recipients: &[]lastmile.Recipient{person}}
	if change != nil {
		change(&c)
	}
	return c
}

func newTask(t *testing.T, change func(*lastmile.TaskChange)) lastmile.Task {
	t.Helper()
	task, err := lastmile.NewTask(identity("t"), "acme", draft(change), noon)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// assigned returns a task assigned to a worker.
func assigned(t *testing.T) lastmile.Task {
	t.Helper()
	task := newTask(t, nil)
	must(t, ok(task.Put(lastmile.WorkerContainer("w"), me, noon)))
	return task
}

func active(t *testing.T) lastmile.Task {
	t.Helper()
	task := assigned(t)
	must(t, ok(task.Start(nil, lastmile.Estimates{}, me, noon)))
	return task
}

func completed(t *testing.T) lastmile.Task {
	t.Helper()
	task := active(t)
	must(t, ok(task.Complete(lastmile.Outcome{Success: true, At: noon}, me)))
	return task
}

// ok drops the events.
func ok(_ []lastmile.Event, err error) error { return err }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// triggersOf returns the names of the events' triggers.
func triggersOf(events []lastmile.Event) []string {
	names := []string{}
	for _, e := range events {
		names = append(names, e.Trigger.String())
	}
	return names
}

// rejected fails the test unless err has the code and its message contains all
// words.
func rejected(t *testing.T, err error, code lastmile.Code, words ...string) {
	t.Helper()
	rejection, is := errors.AsType[*lastmile.Error](err)
	if !is || rejection.Code != code {
		t.Errorf("got %v, want a rejection of code %v", err, code)
		return
	}
	for _, word := range words {
		if !strings.Contains(rejection.Message, word) {
			t.Errorf("the message does not say %q: %s", word, rejection.Message)
		}
	}
}

func TestANewTask(t *testing.T) {
	task := newTask(t, nil)
	want := lastmile.Task{
		ID: "t", ShortID: "short", Organization: "acme", Created: noon, Modified: noon, Creator: "key",
		Merchant: "acme", Executor: "acme", TrackingToken: "token", TrackingURL: "url",
		State: lastmile.TaskUnassigned, Container: lastmile.OrganizationContainer("acme"),
		Destination: place, Recipient: &person, Completion: lastmile.Completion{FailureReason: lastmile.NoFailure},
		History: []lastmile.Assignment{{Actor: me, Container: lastmile.OrganizationContainer("acme"), At: noon}}, Metadata: lastmile.Metadata{},
	}
	if !reflect.DeepEqual(task, want) {
		t.Errorf("\n got %+v\nwant %+v", task, want)
	}
	if got := triggersOf(task.CreationEvents(me)); !slices.Equal(got, []string{"taskCreated"}) {
		t.Errorf("its creation has the events %v", got)
	}
	given := assigned(t)
	if got := triggersOf(given.CreationEvents(me)); !slices.Equal(got, []string{"taskCreated", "taskAssigned"}) {
		t.Errorf("the creation of an assigned task has the events %v", got)
	}
	elsewhere := newTask(t, func(c *lastmile.TaskChange) { c.Executor = new(lastmile.OrganizationID("other")) })
	if elsewhere.Container != lastmile.OrganizationContainer("acme") {
		t.Errorf("a task that another organization fulfils is in %v", elsewhere.Container)
	}
}

func TestATaskIsRejected(t *testing.T) {
	long := func(n int) *string { return new(strings.Repeat("é", n)) }
	code := func(data string) *[]lastmile.Barcode { return &[]lastmile.Barcode{{}, {Data: data}} }
	tests := map[string]struct {
		change func(*lastmile.TaskChange)
		code   lastmile.Code
		words  []string
	}{
		"without a destination":            {func(c *lastmile.TaskChange) { c.Destination = nil }, lastmile.CodeMalformed, []string{"destination"}},
		"without recipients":               {func(c *lastmile.TaskChange) { c.Recipients = nil }, lastmile.CodeMalformed, []string{"recipients"}},
		"with two recipients":              {func(c *lastmile.TaskChange) { c.Recipients = &[]lastmile.Recipient{person, person} }, lastmile.CodeInvalid, []string{"recipients", "2"}},
		"with long notes":                  {func(c *lastmile.TaskChange) { c.Notes = long(10_001) }, lastmile.CodeInvalid, []string{"notes", "10001", "10000"}},
		"with a negative quantity":         {func(c *lastmile.TaskChange) { c.Quantity = new(-1.0) }, lastmile.CodeInvalid, []string{"quantity"}},
		"with NaN as quantity":             {func(c *lastmile.TaskChange) { c.Quantity = new(math.NaN()) }, lastmile.CodeInvalid, []string{"quantity"}},
		"with a negative quantityA":        {func(c *lastmile.TaskChange) { c.AdditionalQuantities = &lastmile.Capacities{A: -1} }, lastmile.CodeInvalid, []string{"additionalQuantities.quantityA"}},
		"with a negative quantityB":        {func(c *lastmile.TaskChange) { c.AdditionalQuantities = &lastmile.Capacities{B: -1} }, lastmile.CodeInvalid, []string{"additionalQuantities.quantityB"}},
		"with a negative quantityC":        {func(c *lastmile.TaskChange) { c.AdditionalQuantities = &lastmile.Capacities{C: -1} }, lastmile.CodeInvalid, []string{"additionalQuantities.quantityC"}},
		"with a negative serviceTime":      {func(c *lastmile.TaskChange) { c.ServiceTime = new(-time.Second) }, lastmile.CodeInvalid, []string{"serviceTime"}},
		"with more than a week of service": {func(c *lastmile.TaskChange) { c.ServiceTime = new(7*24*time.Hour + 1) }, lastmile.CodeInvalid, []string{"serviceTime", "10080"}},
		"with a window that ends before it begins": {func(c *lastmile.TaskChange) {
			c.CompleteAfter, c.CompleteBefore = new(noon.Add(time.Hour)), new(noon)
		}, lastmile.CodeInvalid, []string{"completeAfter", "completeBefore"}},
		"with a window of no length":        {func(c *lastmile.TaskChange) { c.CompleteAfter, c.CompleteBefore = &noon, &noon }, lastmile.CodeInvalid, []string{"completeAfter"}},
		"with a color below 0":              {func(c *lastmile.TaskChange) { c.TriangleColor = new(new(-1)) }, lastmile.CodeInvalid, []string{"appearance.triangleColor"}},
		"with a color above 2":              {func(c *lastmile.TaskChange) { c.TriangleColor = new(new(3)) }, lastmile.CodeInvalid, []string{"appearance.triangleColor", "3"}},
		"with a negative age":               {func(c *lastmile.TaskChange) { c.Requirements = &lastmile.Requirements{MinimumAge: -1} }, lastmile.CodeInvalid, []string{"requirements.minimumAge"}},
		"with an impossible age":            {func(c *lastmile.TaskChange) { c.Requirements = &lastmile.Requirements{MinimumAge: 151} }, lastmile.CodeInvalid, []string{"requirements.minimumAge"}},
		"with a priority below 0":           {func(c *lastmile.TaskChange) { c.Priority = new(-1) }, lastmile.CodeInvalid, []string{"priority"}},
		"with a priority above 499":         {func(c *lastmile.TaskChange) { c.Priority = new(500) }, lastmile.CodeInvalid, []string{"priority", "499"}},
		"with a long group":                 {func(c *lastmile.TaskChange) { c.Group = long(101) }, lastmile.CodeInvalid, []string{"group"}},
		"with a long recipientName":         {func(c *lastmile.TaskChange) { c.Overrides.RecipientName = new(long(1_001)) }, lastmile.CodeInvalid, []string{"recipientName"}},
		"with long recipientNotes":          {func(c *lastmile.TaskChange) { c.Overrides.RecipientNotes = new(long(10_001)) }, lastmile.CodeInvalid, []string{"recipientNotes"}},
		"with too many barcodes":            {func(c *lastmile.TaskChange) { c.Barcodes = new(make([]lastmile.Barcode, 101)) }, lastmile.CodeInvalid, []string{"barcodes", "101"}},
		"with a barcode that is too long":   {func(c *lastmile.TaskChange) { c.Barcodes = code(strings.Repeat("AAAA", 126)) }, lastmile.CodeInvalid, []string{"barcodes[1].data", "500"}},
		"with a barcode that is not base64": {func(c *lastmile.TaskChange) { c.Barcodes = code("4006381333931") }, lastmile.CodeInvalid, []string{"barcodes[1].data", "base64"}},
		"that depends on itself":            {func(c *lastmile.TaskChange) { c.Dependencies = &[]lastmile.TaskID{"p", "t"} }, lastmile.CodeInvalid, []string{"dependencies"}},
		"that depends on too many":          {func(c *lastmile.TaskChange) { c.Dependencies = new(manyTasks(101)) }, lastmile.CodeInvalid, []string{"dependencies", "101"}},
		"with invalid metadata":             {func(c *lastmile.TaskChange) { c.Metadata = replaced(entry("a", "number", "x")) }, lastmile.CodeInvalid, []string{"metadata"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := lastmile.NewTask(identity("t"), "acme", draft(test.change), noon)
			rejected(t, err, test.code, test.words...)
		})
	}
}

func replaced(entries ...lastmile.MetadataEntry) lastmile.MetadataChange {
	return lastmile.MetadataChange{Replaced: true, Replace: entries}
}

func manyTasks(n int) []lastmile.TaskID {
	ids := make([]lastmile.TaskID, n)
	for i := range ids {
		ids[i] = lastmile.TaskID(fmt.Sprintf("task%d", i))
	}
	return ids
}

func TestATaskMayBe(t *testing.T) {
	tests := map[string]func(*lastmile.TaskChange){
		"without a recipient":             func(c *lastmile.TaskChange) { c.Recipients = &[]lastmile.Recipient{} },
		"with notes of 10,000 characters": func(c *lastmile.TaskChange) { c.Notes = new(strings.Repeat("é", 10_000)) },
		"with a week of service":          func(c *lastmile.TaskChange) { c.ServiceTime = new(7 * 24 * time.Hour) },
		"with a window of a millisecond": func(c *lastmile.TaskChange) {
			c.CompleteAfter, c.CompleteBefore = &noon, new(noon.Add(time.Millisecond))
		},
		"with a window in the past":        func(c *lastmile.TaskChange) { c.CompleteBefore = new(noon.Add(-time.Hour)) },
		"with color 2":                     func(c *lastmile.TaskChange) { c.TriangleColor = new(new(2)) },
		"with priority 499":                func(c *lastmile.TaskChange) { c.Priority = new(499) },
		"with a minimum age of 150":        func(c *lastmile.TaskChange) { c.Requirements = &lastmile.Requirements{MinimumAge: 150} },
		"with a group of 100 characters":   func(c *lastmile.TaskChange) { c.Group = new(strings.Repeat("é", 100)) },
		"with 100 dependencies":            func(c *lastmile.TaskChange) { c.Dependencies = new(manyTasks(100)) },
		"with a barcode of 500 characters": func(c *lastmile.TaskChange) { c.Barcodes = &[]lastmile.Barcode{{Data: strings.Repeat("AAAA", 125)}} },
		"with 100 barcodes without data":   func(c *lastmile.TaskChange) { c.Barcodes = new(make([]lastmile.Barcode, 100)) },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) { newTask(t, change) })
	}
}

func TestBarcodesGetIDsOfTheirOwn(t *testing.T) {
	sent := []lastmile.Barcode{{Data: base64.StdEncoding.EncodeToString([]byte("4006381333931")), BlockCompletion: true}, {}}
	task := newTask(t, func(c *lastmile.TaskChange) { c.Barcodes = &sent })
	want := []lastmile.Barcode{{ID: "id1", Data: sent[0].Data, BlockCompletion: true}, {ID: "id2"}}
	if !slices.Equal(task.Barcodes.Required, want) {
		t.Errorf("got %+v", task.Barcodes.Required)
	}
	if sent[0].ID != "" {
		t.Error("what was sent changed")
	}
}

func TestDependenciesAreNamedOnce(t *testing.T) {
	task := newTask(t, func(c *lastmile.TaskChange) { c.Dependencies = &[]lastmile.TaskID{"b", "a", "b"} })
	if !slices.Equal(task.Dependencies, []lastmile.TaskID{"b", "a"}) {
		t.Errorf("got %v", task.Dependencies)
	}
}

func TestPuttingATask(t *testing.T) {
	var (
		org    = lastmile.OrganizationContainer("acme")
		team   = lastmile.ContainerRef{Kind: lastmile.InTeam, Owner: "team"}
		first  = lastmile.WorkerContainer("w")
		second = lastmile.WorkerContainer("v")
	)
	tests := map[string]struct {
		from, to lastmile.ContainerRef
		triggers []string
		state    lastmile.TaskState
		worker   lastmile.WorkerID
	}{
		"to a worker assigns it":                         {org, first, []string{"taskAssigned", "taskUpdated"}, lastmile.TaskAssigned, "w"},
		"from a worker to the organization unassigns it": {first, org, []string{"taskUnassigned", "taskUpdated"}, lastmile.TaskUnassigned, ""},
		"from a worker to a team":                        {first, team, []string{"taskUnassigned", "taskUpdated"}, lastmile.TaskUnassigned, ""},
		"from worker to worker does both":                {first, second, []string{"taskUnassigned", "taskAssigned", "taskUpdated"}, lastmile.TaskAssigned, "v"},
		"from the organization to a team is an update":   {org, team, []string{"taskUpdated"}, lastmile.TaskUnassigned, ""},
		"where it already is changes nothing":            {first, first, []string{}, lastmile.TaskAssigned, "w"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			task := newTask(t, nil)
			must(t, ok(task.Put(test.from, me, noon)))
			history, modified := len(task.History), task.Modified
			events, err := task.Put(test.to, me, noon)
			must(t, err)
			if got := triggersOf(events); !slices.Equal(got, test.triggers) {
				t.Errorf("events %v, want %v", got, test.triggers)
			}
			if task.State != test.state || task.Worker != test.worker || task.Container != test.to {
				t.Errorf("the task is %v, of %q, in %v", task.State, task.Worker, task.Container)
			}
			if moved := test.from != test.to; (len(task.History) > history) != moved || task.Modified.After(modified) != moved {
				t.Errorf("its history has %d entries after %d, and it was modified %v after %v", len(task.History), history, task.Modified, modified)
			}
			for i, e := range events {
				if e.Task == nil || e.Organization != "acme" || e.Actor != me || !e.At.Equal(noon) || i > 0 && e.Sequence <= events[i-1].Sequence {
					t.Errorf("event %d is %+v", i, e)
				}
				if test.to.Kind != lastmile.InWorker && e.Task.Container != test.to {
					t.Errorf("event %d shows the task in %v", i, e.Task.Container)
				}
			}
		})
	}
}

func TestEventsHoldTheTaskAsItWas(t *testing.T) {
	task := assigned(t)
	events, err := task.Put(lastmile.WorkerContainer("v"), me, noon)
	must(t, err)
	if was := events[0].Task; was.State != lastmile.TaskUnassigned || was.Worker != "" {
		t.Errorf("taskUnassigned shows a task that is %v, of %q", was.State, was.Worker)
	}
	if is := events[1].Task; is.State != lastmile.TaskAssigned || is.Worker != "v" {
		t.Errorf("taskAssigned shows a task that is %v, of %q", is.State, is.Worker)
	}
}

func TestPuttingATaskClearsItsEstimates(t *testing.T) {
	of := lastmile.Estimates{Arrival: noon, Completion: noon.Add(time.Minute)}
	for name, test := range map[string]struct {
		to   lastmile.ContainerRef
		want lastmile.Estimates
	}{
		"to another worker":               {lastmile.WorkerContainer("v"), lastmile.Estimates{}},
		"to the organization":             {lastmile.OrganizationContainer("acme"), lastmile.Estimates{}},
		"unless it stays with its worker": {lastmile.WorkerContainer("w"), of},
	} {
		t.Run(name, func(t *testing.T) {
			task := assigned(t)
			task.Estimates = of
			events, err := task.Put(test.to, me, noon)
			must(t, err)
			if !task.Estimates.Equal(test.want) {
				t.Errorf("the estimates are %+v, want %+v", task.Estimates, test.want)
			}
			for _, e := range events {
				if !e.Task.Estimates.Equal(lastmile.Estimates{}) {
					t.Errorf("%v shows the estimates %+v", e.Trigger, e.Task.Estimates)
				}
			}
		})
	}
}

func TestStartingATaskReplacesItsEstimates(t *testing.T) {
	task := assigned(t)
	task.Estimates = lastmile.Estimates{Arrival: noon, Completion: noon.Add(time.Minute)}
	want := lastmile.Estimates{Arrival: noon.Add(time.Hour), Completion: noon.Add(2 * time.Hour), ETA: new(time.Hour)}
	events, err := task.Start(nil, want, me, noon)
	must(t, err)
	if !task.Estimates.Equal(want) || !events[0].Task.Estimates.Equal(want) {
		t.Errorf("the estimates are %+v, and in the event %+v, want %+v", task.Estimates, events[0].Task.Estimates, want)
	}
}

func TestEventsOfACompletionShareTheTask(t *testing.T) { // it is encoded once
	task := active(t)
	events, err := task.Finish(lastmile.Outcome{Success: true, At: noon}, lastmile.Evidence{SignatureText: "Ada"}, lastmile.Action{At: noon}, me)
	must(t, err)
	for _, e := range events {
		if e.Task != events[0].Task || e.Task.Completion.SignatureText != "Ada" {
			t.Errorf("%v has a task of its own, or one without the signature", e.Trigger)
		}
	}
}

func TestStartedAndCompletedTasksStayWhereTheyAre(t *testing.T) {
	for name, task := range map[string]lastmile.Task{"active": active(t), "completed": completed(t)} {
		before := task
		_, err := task.Put(lastmile.OrganizationContainer("acme"), me, noon)
		rejected(t, err, lastmile.CodeInvalid, "t", name)
		rejected(t, task.CheckDelete(), lastmile.CodeInvalid, "t", name)
		if !reflect.DeepEqual(task, before) {
			t.Errorf("a rejected move changed the %s task", name)
		}
	}
	for _, task := range []lastmile.Task{newTask(t, nil), assigned(t)} {
		must(t, task.CheckDelete())
		if got := task.DeletionEvent(me, noon); got.Trigger != lastmile.TriggerTaskDeleted || got.Task.ID != "t" {
			t.Errorf("deleting has the event %+v", got)
		}
	}
}

func TestStartingATask(t *testing.T) {
	task := assigned(t)
	_, err := task.Start([]lastmile.TaskID{"p", "q"}, lastmile.Estimates{}, me, noon)
	rejected(t, err, lastmile.CodeInvalid, "t", "p, q")
	events, err := task.Start(nil, lastmile.Estimates{}, me, noon.Add(time.Minute))
	must(t, err)
	if got := triggersOf(events); !slices.Equal(got, []string{"taskStarted"}) || task.State != lastmile.TaskActive || task.Worker != "w" {
		t.Errorf("events %v; the task is %v, of %q", got, task.State, task.Worker)
	}
	if want := []lastmile.CompletionEvent{{Name: "start", At: noon.Add(time.Minute)}}; !slices.Equal(task.Completion.Events, want) {
		t.Errorf("its events are %+v", task.Completion.Events)
	}
	for name, other := range map[string]lastmile.Task{"unassigned": newTask(t, nil), "active": task, "completed": completed(t)} {
		_, err := other.Start(nil, lastmile.Estimates{}, me, noon)
		rejected(t, err, lastmile.CodeInvalid, name)
	}
}

func TestCompletingATask(t *testing.T) {
	for name, test := range map[string]struct {
		outcome  lastmile.Outcome
		triggers []string
		success  string
		failure  string
	}{
		"successfully": {lastmile.Outcome{Success: true, Notes: "left it", At: noon}, []string{"taskCompleted", "taskUpdated"}, "left it", ""},
		"as failed":    {lastmile.Outcome{Notes: "nobody there", At: noon}, []string{"taskFailed", "taskUpdated"}, "", "nobody there"},
	} {
		t.Run(name, func(t *testing.T) {
			task := active(t)
			task.Estimates = lastmile.Estimates{Arrival: noon}
			events, err := task.Complete(test.outcome, me)
			must(t, err)
			c := task.Completion
			switch {
			case !slices.Equal(triggersOf(events), test.triggers):
				t.Errorf("events %v", triggersOf(events))
			case task.State != lastmile.TaskCompleted || task.Container != lastmile.ContainerRef{} || task.Worker != "w":
				t.Errorf("the task is %v in %v of %q", task.State, task.Container, task.Worker)
			case !c.Done() || c.Success != test.outcome.Success || c.Notes != test.outcome.Notes || c.SuccessNotes != test.success || c.FailureNotes != test.failure:
				t.Errorf("its completion is %+v", c)
			case task.Estimates != lastmile.Estimates{}:
				t.Errorf("its estimates are %+v", task.Estimates)
			}
		})
	}
	for name, task := range map[string]lastmile.Task{"unassigned": newTask(t, nil), "assigned": assigned(t), "completed": completed(t)} {
		_, err := task.Complete(lastmile.Outcome{Success: true, At: noon}, me)
		rejected(t, err, lastmile.CodeInvalid, name, "completed")
	}
	long := active(t)
	_, err := long.Complete(lastmile.Outcome{Notes: strings.Repeat("é", 10_001), At: noon}, me)
	rejected(t, err, lastmile.CodeInvalid, "completionDetails.notes")
	if long.State != lastmile.TaskActive {
		t.Error("a rejected completion completed the task")
	}
}

// TestUpdatingATask complements docs/states.md, which lists the fields that can change in
// each state.
func TestUpdatingATask(t *testing.T) {
	task := newTask(t, func(c *lastmile.TaskChange) {
		c.CompleteAfter, c.CompleteBefore = &noon, new(noon.Add(time.Hour))
		c.Metadata = replaced(entry("a", "number", 1.0), entry("b", "number", 2.0))
		c.Overrides.RecipientName, c.TriangleColor = new(new("Bea")), new(new(1))
	})
	t.Run("keeps fields that are not sent", func(t *testing.T) {
		changed := task
		events, err := changed.Update(lastmile.TaskChange{Notes: new("new")}, newIDs(), me, noon)
		must(t, err)
		if got := triggersOf(events); !slices.Equal(got, []string{"taskUpdated"}) {
			t.Errorf("events %v", got)
		}
		want := task
		want.Notes, want.Modified, want.Events = "new", noon.Add(time.Millisecond), 1
		if !reflect.DeepEqual(changed, want) {
			t.Errorf("\n got %+v\nwant %+v", changed, want)
		}
	})
	t.Run("clears times, recipient and color", func(t *testing.T) {
		changed := task
		none := (*int)(nil)
		must(t, ok(changed.Update(lastmile.TaskChange{
			CompleteAfter: &time.Time{}, CompleteBefore: &time.Time{}, Recipients: &[]lastmile.Recipient{}, TriangleColor: &none,
			Dependencies: &[]lastmile.TaskID{}, Barcodes: &[]lastmile.Barcode{},
		}, newIDs(), me, noon)))
		if !changed.CompleteAfter.IsZero() || !changed.CompleteBefore.IsZero() || changed.Recipient != nil || changed.TriangleColor != nil {
			t.Errorf("got %+v", changed)
		}
	})
	t.Run("sets and removes metadata by name", func(t *testing.T) {
		changed := task
		must(t, ok(changed.Update(lastmile.TaskChange{Metadata: lastmile.MetadataChange{
			Set: lastmile.Metadata{entry("b", "number", 3.0), entry("c", "number", 4.0)}, Pop: []string{"a", "none"},
		}}, newIDs(), me, noon)))
		var names []string
		for _, e := range changed.Metadata {
			names = append(names, fmt.Sprint(e.Name, e.Value))
		}
		if !slices.Equal(names, []string{"b3", "c4"}) {
			t.Errorf("got %v", names)
		}
	})
	t.Run("validates new values together with old ones", func(t *testing.T) {
		changed := task
		_, err := changed.Update(lastmile.TaskChange{CompleteAfter: new(noon.Add(2 * time.Hour))}, newIDs(), me, noon)
		rejected(t, err, lastmile.CodeInvalid, "completeAfter", "completeBefore")
	})
}

func TestModifiedNeverGoesBack(t *testing.T) {
	task := newTask(t, nil)
	at := task.Modified
	for i := range 5 {
		must(t, ok(task.Update(lastmile.TaskChange{Notes: new(fmt.Sprint(i))}, newIDs(), me, noon.Add(-time.Duration(i)*time.Hour))))
		if !task.Modified.After(at) {
			t.Fatalf("modified %v after %v", task.Modified, at)
		}
		at = task.Modified
	}
}

func TestCloning(t *testing.T) {
	source := newTask(t, func(c *lastmile.TaskChange) {
		c.Merchant, c.Executor = new(lastmile.OrganizationID("shop")), new(lastmile.OrganizationID("acme"))
		c.CompleteAfter, c.CompleteBefore = new(noon.Add(time.Hour)), new(noon.Add(3*time.Hour))
		c.Pickup, c.Notes, c.Quantity, c.ServiceTime = new(true), new("notes"), new(2.5), new(time.Minute)
		c.AdditionalQuantities, c.Priority, c.Group = &lastmile.Capacities{A: 1, B: 2, C: 3}, new(7), new("group")
		c.Overrides = lastmile.OverridesChange{RecipientName: new(new("Bea")), RecipientSkipSMSNotifications: new(new(true))}
		c.Requirements, c.ScanOnlyRequiredBarcodes = &lastmile.Requirements{Photo: true, MinimumAge: 18}, new(true)
		c.Barcodes, c.TriangleColor = &[]lastmile.Barcode{{Data: "AAAA"}}, new(new(1))
		c.Dependencies, c.Metadata = &[]lastmile.TaskID{"p"}, replaced(entry("a", "number", 1.0))
		c.CustomFields = &[]lastmile.CustomFieldValue{{Value: "x"}}
	})
	must(t, ok(source.Put(lastmile.WorkerContainer("w"), me, noon)))
	must(t, ok(source.Start(nil, lastmile.Estimates{}, me, noon)))
	must(t, ok(source.Complete(lastmile.Outcome{Success: true, Notes: "done", At: noon}, me)))
	other := lastmile.Destination{ID: "copy", Location: place.Location}
	clone := func(t *testing.T, o lastmile.CloneOptions, now time.Time) lastmile.Task {
		t.Helper()
		who := identity("clone")
		made, events, err := source.Clone(who, other, o, now)
		must(t, err)
		if got := triggersOf(events); !slices.Equal(got, []string{"taskCloned"}) || events[0].Task.SourceTask != "t" {
			t.Errorf("events %v", got)
		}
		return made
	}
	t.Run("copies all but metadata, barcodes, dependencies and what happened to the task", func(t *testing.T) {
		got := clone(t, lastmile.CloneOptions{}, noon)
		want := source
		want.ID, want.SourceTask, want.Destination, want.Modified = "clone", "t", other, noon
		want.State, want.Worker, want.Container = lastmile.TaskUnassigned, "", lastmile.OrganizationContainer("acme")
		want.History = []lastmile.Assignment{{Actor: me, Container: want.Container, At: noon}}
		want.Metadata, want.Barcodes, want.Dependencies = lastmile.Metadata{}, lastmile.Barcodes{}, nil
		want.Completion, want.Events = lastmile.Completion{FailureReason: lastmile.NoFailure}, 1
		if !reflect.DeepEqual(got, want) {
			t.Errorf("\n got %+v\nwant %+v", got, want)
		}
	})
	t.Run("copies metadata, barcodes and dependencies on request", func(t *testing.T) {
		got := clone(t, lastmile.CloneOptions{Metadata: true, Barcodes: true, Dependencies: true}, noon)
		if !reflect.DeepEqual(got.Metadata, source.Metadata) || !slices.Equal(got.Dependencies, source.Dependencies) {
			t.Errorf("got %+v %v", got.Metadata, got.Dependencies)
		}
		if codes := got.Barcodes.Required; len(codes) != 1 || codes[0].Data != "AAAA" || codes[0].ID == "" {
			t.Errorf("barcodes %+v", codes)
		}
	})
	t.Run("drops times that have passed", func(t *testing.T) {
		for hours, want := range map[int][2]bool{0: {true, true}, 1: {false, true}, 2: {false, true}, 3: {false, false}, 9: {false, false}} {
			got := clone(t, lastmile.CloneOptions{}, noon.Add(time.Duration(hours)*time.Hour))
			if has := [2]bool{!got.CompleteAfter.IsZero(), !got.CompleteBefore.IsZero()}; has != want {
				t.Errorf("after %d hours it has completeAfter and completeBefore: %v, want %v", hours, has, want)
			}
		}
	})
	t.Run("applies overrides last", func(t *testing.T) {
		got := clone(t, lastmile.CloneOptions{Metadata: true, Overrides: lastmile.TaskChange{
			Notes: new("other"), Pickup: new(false), ServiceTime: new(time.Hour), Metadata: replaced(entry("b", "number", 1.0)),
			CompleteBefore: new(noon.Add(2 * time.Hour)), Recipients: &[]lastmile.Recipient{}, Destination: &place,
		}}, noon)
		switch {
		case got.Notes != "other" || got.Pickup || *got.ServiceTime != time.Hour || got.Recipient != nil || got.Destination.ID != "d":
			t.Errorf("got %+v", got)
		case len(got.Metadata) != 1 || got.Metadata[0].Name != "b":
			t.Errorf("metadata %+v", got.Metadata)
		case !got.CompleteAfter.Equal(noon.Add(time.Hour)) || !got.CompleteBefore.Equal(noon.Add(2*time.Hour)):
			t.Errorf("from %v to %v", got.CompleteAfter, got.CompleteBefore)
		}
	})
	t.Run("rejects a window that ends before it begins", func(t *testing.T) {
		_, _, err := source.Clone(identity("clone"), other, lastmile.CloneOptions{Overrides: lastmile.TaskChange{CompleteBefore: new(noon.Add(time.Minute))}}, noon)
		rejected(t, err, lastmile.CodeInvalid, "completeAfter", "completeBefore")
	})
	t.Run("rejects overrides in the past", func(t *testing.T) {
		for name, change := range map[string]lastmile.TaskChange{
			"completeAfter": {CompleteAfter: &noon}, "completeBefore": {CompleteBefore: &noon},
		} {
			rejected(t, lastmile.CloneOptions{Overrides: change}.Check(noon), lastmile.CodeInvalid, name, "future")
			must(t, lastmile.CloneOptions{Overrides: change}.Check(noon.Add(-time.Millisecond)))
		}
		must(t, lastmile.CloneOptions{Overrides: lastmile.TaskChange{CompleteAfter: &time.Time{}}}.Check(noon))
	})
	t.Run("does not change the source", func(t *testing.T) {
		before := fmt.Sprintf("%+v", source)
		clone(t, lastmile.CloneOptions{Metadata: true, Barcodes: true, Dependencies: true, Overrides: lastmile.TaskChange{Notes: new("other")}}, noon)
		if fmt.Sprintf("%+v", source) != before {
			t.Error("it changed")
		}
	})
}

func TestDependenciesMakeNoCycle(t *testing.T) {
	parents := map[lastmile.TaskID][]lastmile.TaskID{"a": {"b"}, "b": {"c", "d"}, "c": {"d"}, "d": nil, "x": {"y"}, "y": {"x"}}
	parentsOf := func(id lastmile.TaskID) ([]lastmile.TaskID, error) { return parents[id], nil }
	for name, test := range map[string]struct {
		id     lastmile.TaskID
		on     []lastmile.TaskID
		cyclic bool
	}{
		"on nothing":                {"t", nil, false},
		"on a chain":                {"t", []lastmile.TaskID{"a"}, false},
		"on a task in several ways": {"t", []lastmile.TaskID{"a", "b", "c", "d"}, false},
		"on a child":                {"d", []lastmile.TaskID{"c"}, true},
		"on a child's child":        {"d", []lastmile.TaskID{"a"}, true},
		"on tasks in another cycle": {"t", []lastmile.TaskID{"x"}, false},
	} {
		task := lastmile.Task{ID: test.id, Dependencies: test.on}
		err := task.CheckCycle(parentsOf)
		if test.cyclic {
			rejected(t, err, lastmile.CodeInvalid, "cycle")
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	broken := errors.New("broken")
	task := lastmile.Task{ID: "t", Dependencies: []lastmile.TaskID{"a"}}
	if err := task.CheckCycle(func(lastmile.TaskID) ([]lastmile.TaskID, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// TestCyclesAreFoundInAnyGraph adds random edges where CheckCycle permits them,
// and checks that the tasks can always be carried out in some order.
func TestCyclesAreFoundInAnyGraph(t *testing.T) {
	random, rejections := rand.New(rand.NewPCG(1, 2)), 0
	for range 200 {
		n := 2 + random.IntN(8)
		parents := map[lastmile.TaskID][]lastmile.TaskID{}
		for range 4 * n {
			child, parent := lastmile.TaskID(fmt.Sprint(random.IntN(n))), lastmile.TaskID(fmt.Sprint(random.IntN(n)))
			if child == parent {
				continue
			}
			task := lastmile.Task{ID: child, Dependencies: append(slices.Clone(parents[child]), parent)}
			if task.CheckCycle(func(id lastmile.TaskID) ([]lastmile.TaskID, error) { return parents[id], nil }) != nil {
				rejections++
				continue
			}
			parents[child] = task.Dependencies
		}
		done := map[lastmile.TaskID]bool{}
		for progress := true; progress; {
			progress = false
			for i := range n {
				id := lastmile.TaskID(fmt.Sprint(i))
				if !done[id] && !slices.ContainsFunc(parents[id], func(p lastmile.TaskID) bool { return !done[p] }) {
					done[id], progress = true, true
				}
			}
		}
		if len(done) != n {
			t.Fatalf("there is a cycle in %v", parents)
		}
	}
	if rejections == 0 {
		t.Error("no edge was rejected")
	}
}

func TestLateTasks(t *testing.T) {
	task := newTask(t, func(c *lastmile.TaskChange) { c.CompleteBefore = &noon })
	for after, want := range map[time.Duration]time.Duration{-time.Hour: 0, 0: 0, time.Minute: time.Minute} {
		if got := task.Late(noon.Add(after)); got != want {
			t.Errorf("%v after its time it is late by %v, want %v", after, got, want)
		}
	}
	if done := completed(t); done.Late(noon.Add(time.Hour)) != 0 {
		t.Error("a completed task is late")
	}
}

func TestContainerChanges(t *testing.T) {
	ids := []lastmile.TaskID{"a", "b"}
	for name, test := range map[string]struct {
		kind     lastmile.ContainerKind
		change   lastmile.ContainerChange
		rejected bool
	}{
		"append to an organization's":  {lastmile.InOrganization, lastmile.ContainerChange{Tasks: ids, Index: lastmile.AtEnd}, false},
		"prepend to a team's":          {lastmile.InTeam, lastmile.ContainerChange{Tasks: ids, Index: lastmile.AtStart}, false},
		"insert far beyond the end":    {lastmile.InWorker, lastmile.ContainerChange{Tasks: ids, Index: 1 << 30}, false},
		"insert nothing":               {lastmile.InTeam, lastmile.ContainerChange{Index: 1}, false},
		"replace a worker's":           {lastmile.InWorker, lastmile.ContainerChange{Tasks: ids, Replace: true}, false},
		"empty a worker's":             {lastmile.InWorker, lastmile.ContainerChange{Replace: true}, false},
		"replace an organization's":    {lastmile.InOrganization, lastmile.ContainerChange{Tasks: ids, Replace: true}, true},
		"replace a team's":             {lastmile.InTeam, lastmile.ContainerChange{Tasks: ids, Replace: true}, true},
		"insert before the beginning":  {lastmile.InWorker, lastmile.ContainerChange{Tasks: ids, Index: -2}, true},
		"name a task twice":            {lastmile.InWorker, lastmile.ContainerChange{Tasks: []lastmile.TaskID{"a", "b", "a"}, Index: lastmile.AtEnd}, true},
		"name a task twice to replace": {lastmile.InWorker, lastmile.ContainerChange{Tasks: []lastmile.TaskID{"a", "a"}, Replace: true}, true},
	} {
		err := test.change.Check(test.kind)
		if test.rejected {
			rejected(t, err, lastmile.CodeInvalid, "tasks")
		} else if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestContainersHaveIDsOfTheirOwn(t *testing.T) {
	seen := map[string]lastmile.ContainerRef{}
	for _, kind := range []lastmile.ContainerKind{lastmile.InOrganization, lastmile.InTeam, lastmile.InWorker} {
		for i := range 1_000 {
			ref := lastmile.ContainerRef{Kind: kind, Owner: fmt.Sprintf("owner%d", i)}
			id := ref.ID()
			if !lastmile.ValidID(id) || strings.ContainsAny(id, "*~") || id != ref.ID() {
				t.Fatalf("%v has the id %q", ref, id)
			}
			if other, taken := seen[id]; taken {
				t.Fatalf("%v and %v have the same id", ref, other)
			}
			seen[id] = ref
		}
	}
}

func TestHistoryIsBounded(t *testing.T) {
	task := lastmile.Task{ID: "t", Organization: "acme", Container: lastmile.OrganizationContainer("acme")}
	const moves = 2*lastmile.MaxHistory + 1
	for i := range moves {
		if _, err := task.Put(lastmile.WorkerContainer(lastmile.WorkerID(fmt.Sprint(i))), me, noon); err != nil {
			t.Fatal(err)
		}
	}
	if len(task.History) != lastmile.MaxHistory {
		t.Fatalf("%d assignments are kept, want %d", len(task.History), lastmile.MaxHistory)
	}
	for i, a := range task.History {
		want := moves - lastmile.MaxHistory + i
		if i == 0 {
			want = 0
		}
		if a.Container.Owner != fmt.Sprint(want) {
			t.Errorf("assignment %d is that to %s, want that to %d", i, a.Container.Owner, want)
		}
	}
}
