package lastmile_test

import (
	"reflect"
	"testing"
	"time"

	"dray/internal/lastmile"
)

func TestSame(t *testing.T) {
	type record struct {
		At    time.Time
		List  []string
		Point *lastmile.Point
		Any   any
		Map   map[string]any
	}
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	full := func(change func(*record)) record {
		r := record{at, []string{"a"}, &lastmile.Point{Lon: 1}, []any{1.0, "x"}, map[string]any{"a": true}}
		if change != nil {
			change(&r)
		}
		return r
	}
	for name, test := range map[string]struct {
		a, b record
		want bool
	}{
		"equal":                      {full(nil), full(nil), true},
		"another zone":               {full(nil), full(func(r *record) { r.At = at.In(time.FixedZone("x", 3600)) }), true},
		"another time":               {full(nil), full(func(r *record) { r.At = at.Add(1) }), false},
		"nil and empty":              {record{}, record{List: []string{}, Map: map[string]any{}}, true},
		"a longer list":              {full(nil), full(func(r *record) { r.List = []string{"a", "b"} }), false},
		"another item":               {full(nil), full(func(r *record) { r.List[0] = "b" }), false},
		"a nil pointer":              {full(nil), full(func(r *record) { r.Point = nil }), false},
		"a pointer to another value": {full(nil), full(func(r *record) { r.Point.Lat = 1 }), false},
		"another type":               {full(nil), full(func(r *record) { r.Any = "x" }), false},
		"a nil interface":            {full(nil), full(func(r *record) { r.Any = nil }), false},
		"another nested value":       {full(nil), full(func(r *record) { r.Any.([]any)[0] = 2.0 }), false},
		"another key":                {full(nil), full(func(r *record) { r.Map = map[string]any{"b": true} }), false},
		"one key too many":           {full(nil), full(func(r *record) { r.Map["b"] = true }), false},
		"another map value":          {full(nil), full(func(r *record) { r.Map["a"] = false }), false},
	} {
		t.Run(name, func(t *testing.T) {
			if lastmile.Same(test.a, test.b) != test.want || lastmile.Same(test.b, test.a) != test.want {
				t.Errorf("%+v and %+v", test.a, test.b)
			}
		})
	}
}

// TestUpdatesThatChangeNothing repeats the request that created each record.
func TestUpdatesThatChangeNothing(t *testing.T) {
	later := noon.Add(time.Hour)
	metadata := replaced(entry("a", "object", map[string]any{"b": []any{1.0}}))
	t.Run("worker", func(t *testing.T) {
		place := lastmile.Destination{ID: "d", Created: noon, Metadata: lastmile.Metadata{entry("n", "number", 1.0)}}
		change := lastmile.WorkerChange{
			Name: new("Ada"), DisplayName: new("A"), Teams: &[]lastmile.TeamID{"t", "u", "t"}, Capacity: new(2.5),
			AdditionalCapacities: &lastmile.Capacities{A: 1}, Vehicle: &lastmile.VehicleChange{Type: new("CAR"), Color: new("red")},
			Routing: &place, Timezone: new("Europe/Berlin"), Metadata: metadata,
		}
		w, err := lastmile.NewWorker("w", "acme", lastmile.WorkerDraft{Change: change}, "+1", "v", noon)
		must(t, err)
		before := w
		again := place
		change.Routing = &again
		changed, err := w.Update(change, "other", later)
		unchanged(t, before, w, changed, err)
		changed, err = w.Update(lastmile.WorkerChange{Vehicle: &lastmile.VehicleChange{Color: new("blue")}}, "other", later)
		if err != nil || !changed || !w.Modified.Equal(later) || !w.Vehicle.Modified.Equal(later) {
			t.Errorf("another color: %v, %v, %+v", changed, err, w)
		}
	})
	t.Run("team", func(t *testing.T) {
		change := lastmile.TeamChange{
			Name: new("North"), Workers: &[]lastmile.WorkerID{"b", "a"}, Managers: &[]lastmile.AdminID{}, Hub: new(lastmile.HubID("h")),
			EnableSelfAssignment: new(true), Metadata: metadata,
		}
		team, err := lastmile.NewTeam("t", "acme", change, noon)
		must(t, err)
		before := team
		changed, err := team.Update(change, later)
		unchanged(t, before, team, changed, err)
		if changed, err = team.Update(lastmile.TeamChange{Workers: &[]lastmile.WorkerID{"a", "b"}}, later); err != nil || !changed {
			t.Errorf("another order: %v, %v", changed, err)
		}
	})
	t.Run("hub", func(t *testing.T) {
		place := lastmile.Destination{Location: lastmile.Point{Lon: 1, Lat: 2}, Address: lastmile.Address{City: "X", Country: "Y", County: "Z"}}
		change := lastmile.HubChange{Name: new("Depot"), Phone: new(lastmile.Phone("+1")), Destination: &place, Teams: &[]lastmile.TeamID{"b", "a"}}
		hub, err := lastmile.NewHub("h", "acme", change, noon)
		must(t, err)
		before := hub
		sent := place
		sent.Address.County = "" // clients cannot send it
		changed, err := hub.Update(lastmile.HubChange{Name: new("Depot"), Destination: &sent, Teams: &[]lastmile.TeamID{"a", "b"}}, later)
		unchanged(t, before, hub, changed, err)
	})
	t.Run("recipient", func(t *testing.T) {
		draft := lastmile.RecipientDraft{Name: "Bea", Change: lastmile.RecipientChange{
			Notes: new("Bell"), SkipSMSNotifications: new(true), UseLongCodeForText: new(true), Metadata: metadata,
		}}
		r, err := lastmile.NewRecipient("r", "acme", draft, "+1", noon)
		must(t, err)
		again, err := lastmile.NewRecipient("other", "acme", draft, "+1", later)
		must(t, err)
		merged, changed, err := lastmile.PreparedRecipient{Draft: draft, New: again}.Merge(&r)
		unchanged(t, r, merged, changed, err)
	})
	t.Run("administrator", func(t *testing.T) {
		change := lastmile.AdminChange{Name: new("Ada"), Email: new(" ADA@example.com"), Type: new("super"), ReadOnly: new(true), Metadata: metadata}
		a, err := lastmile.NewAdmin("a", "acme", change, noon)
		must(t, err)
		before := a
		changed, err := a.Update(change, later)
		unchanged(t, before, a, changed, err)
	})
	t.Run("webhook", func(t *testing.T) {
		change := lastmile.WebhookChange{
			Name: new("w"), URL: new("https://example.com/"), Trigger: new(lastmile.TriggerTaskEta), Threshold: new(3.0), Enabled: new(true),
			CanReceiveConnectionEvents: new(true),
		}
		h, err := lastmile.NewWebhook("w", "acme", change, noon)
		must(t, err)
		before := h
		change.Threshold = new(3.0)
		changed, err := h.Update(change, later)
		unchanged(t, before, h, changed, err)
	})
	t.Run("route plan", func(t *testing.T) {
		p := newPlan(t, nil)
		p.Tasks, p.TaskStates = []lastmile.TaskID{"a", "b"}, []lastmile.TaskState{lastmile.TaskAssigned, lastmile.TaskAssigned}
		before := p
		changed, err := p.Update(lastmile.RoutePlanChange{Name: &before.Name, Start: new(before.Start.UTC()), Tasks: &[]lastmile.TaskID{"a", "b"}}, later)
		unchanged(t, before, p, changed, err)
	})
	t.Run("task", func(t *testing.T) {
		change := func(c *lastmile.TaskChange) {
			c.CompleteAfter, c.CompleteBefore = &noon, new(noon.Add(time.Hour))
			c.Overrides.RecipientName, c.TriangleColor = new(new("Bea")), new(new(1))
			c.Metadata, c.Dependencies, c.Notes = metadata, &[]lastmile.TaskID{"a", "b"}, new("notes")
			c.Barcodes = &[]lastmile.Barcode{{Data: "AAAA"}, {}, {BlockCompletion: true}, {}}
		}
		task := newTask(t, change)
		before := task
		var again lastmile.TaskChange
		change(&again)
		again.Destination, again.Recipients = &task.Destination, &[]lastmile.Recipient{*task.Recipient}
		again.ServiceTime = new(time.Duration(0)) // as the API shows it
		events, err := task.Update(again, newIDs(), me, later)
		unchanged(t, before, task, len(events) > 0, err)
	})
}

func unchanged(t *testing.T, before, after any, changed bool, err error) {
	t.Helper()
	must(t, err)
	if changed || !reflect.DeepEqual(before, after) {
		t.Errorf("changed is %v\nbefore %+v\nafter  %+v", changed, before, after)
	}
}

func TestBarcodesKeepTheirIDs(t *testing.T) {
	task := newTask(t, func(c *lastmile.TaskChange) {
		c.Barcodes = &[]lastmile.Barcode{{Data: "AAAA"}, {}, {Data: "BBBB", BlockCompletion: true}}
	})
	was := task.Barcodes.Required
	must(t, ok(task.Update(lastmile.TaskChange{Barcodes: &[]lastmile.Barcode{
		{Data: "BBBB", BlockCompletion: true}, {Data: "AAAA", BlockCompletion: true}, {}, {}, {ID: was[0].ID, Data: "CCCC"},
	}}, func() string { return "new" }, me, noon)))
	var got []string
	for _, b := range task.Barcodes.Required {
		got = append(got, b.ID)
	}
	if want := []string{was[2].ID, "new", was[1].ID, "new", "new"}; !reflect.DeepEqual(got, want) {
		t.Errorf("the ids are %v, want %v", got, want)
	}
}

func TestServiceTimeOfZero(t *testing.T) {
	none, zero := newTask(t, nil), newTask(t, func(c *lastmile.TaskChange) { c.ServiceTime = new(time.Duration(0)) })
	if none.ServiceTime != nil || zero.ServiceTime == nil || *zero.ServiceTime != 0 {
		t.Errorf("without a service time it is %v, and %v if zero was sent", none.ServiceTime, zero.ServiceTime)
	}
	for name, task := range map[string]lastmile.Task{"none": none, "zero": zero} {
		clone, _, err := task.Clone(identity("clone"), lastmile.Destination{ID: "copy"}, lastmile.CloneOptions{}, noon)
		if err != nil || !reflect.DeepEqual(clone.ServiceTime, task.ServiceTime) {
			t.Errorf("the clone of one with %s has %v: %v", name, clone.ServiceTime, err)
		}
	}
	clone, _, err := none.Clone(identity("clone"), lastmile.Destination{ID: "copy"}, lastmile.CloneOptions{Overrides: lastmile.TaskChange{ServiceTime: new(time.Duration(0))}}, noon)
	if err != nil || clone.ServiceTime == nil {
		t.Errorf("a clone with zero has %v: %v", clone.ServiceTime, err)
	}
	must(t, ok(none.Update(lastmile.TaskChange{ServiceTime: new(time.Minute)}, newIDs(), me, noon)))
	must(t, ok(none.Update(lastmile.TaskChange{ServiceTime: new(time.Duration(0))}, newIDs(), me, noon)))
	if none.ServiceTime == nil || *none.ServiceTime != 0 {
		t.Errorf("a minute became %v", none.ServiceTime)
	}
}

func TestTheDelayFollowsTheTimeWindow(t *testing.T) {
	window := func(before time.Time) lastmile.TaskChange { return lastmile.TaskChange{CompleteBefore: &before} }
	due := func(c *lastmile.TaskChange) { c.CompleteBefore = new(noon.Add(-time.Hour)) }
	check := func(what string, task lastmile.Task, events []lastmile.Event, err error, want time.Duration) {
		t.Helper()
		must(t, err)
		shown := []lastmile.Task{task}
		for _, e := range events {
			shown = append(shown, *e.Task)
		}
		for i, s := range shown {
			var got time.Duration
			lastmile.Set(&got, s.Estimates.Delay)
			if got != want || want == 0 && s.Estimates.Delay != nil {
				t.Errorf("%s: the delay is %v (%d of %d), want %v", what, got, i, len(shown), want)
			}
		}
	}
	task := newTask(t, due)
	check("a new task past its window", task, task.CreationEvents(me), nil, time.Hour)
	events, err := task.Update(window(noon.Add(time.Hour)), nil, me, noon)
	check("more time", task, events, err, 0)
	events, err = task.Update(window(noon.Add(-time.Minute)), nil, me, noon)
	check("less time", task, events, err, time.Minute)
	events, err = task.Put(lastmile.WorkerContainer("w"), me, noon)
	check("assigned", task, events, err, time.Minute)
	task.Estimates = lastmile.Estimates{Arrival: noon.Add(10 * time.Minute), Delay: new(11 * time.Minute)}
	events, err = task.Update(window(noon.Add(8*time.Minute)), nil, me, noon)
	check("less late than estimated", task, events, err, 2*time.Minute)
	events, err = task.Update(window(noon.Add(10*time.Minute)), nil, me, noon)
	check("no longer late", task, events, err, 0)
	events, err = task.Update(window(noon.Add(-time.Minute)), nil, me, noon)
	check("late again", task, events, err, 11*time.Minute)
	events, err = task.Put(lastmile.WorkerContainer("v"), me, noon)
	check("moved to a worker without an estimate", task, events, err, time.Minute)
	events, err = task.Put(lastmile.OrganizationContainer("acme"), me, noon.Add(time.Minute))
	check("unassigned", task, events, err, 2*time.Minute)
}
