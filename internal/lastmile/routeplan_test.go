package lastmile_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"dray/internal/lastmile"
)

var planNow = time.Date(2026, time.May, 4, 8, 0, 0, 0, time.UTC)

// planWith returns the minimal input for a route plan, with a change.
func planWith(change func(*lastmile.RoutePlanChange)) lastmile.RoutePlanChange {
	name, start := "Morning", planNow
	c := lastmile.RoutePlanChange{Name: &name, Start: &start}
	if change != nil {
		change(&c)
	}
	return c
}

func newPlan(t *testing.T, change func(*lastmile.RoutePlanChange)) lastmile.RoutePlan {
	t.Helper()
	p, err := lastmile.NewRoutePlan("p", "short", "acme", planWith(change), planNow)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// rejectedAs fails the test unless err has the code; zero expects no error.
func rejectedAs(t *testing.T, err error, want lastmile.Code) {
	t.Helper()
	rejection, _ := errors.AsType[*lastmile.Error](err)
	switch {
	case want == 0 && err != nil:
		t.Errorf("rejected: %v", err)
	case want != 0 && (rejection == nil || rejection.Code != want):
		t.Errorf("got %v, want code %v", err, want)
	}
}

func TestRoutePlanRules(t *testing.T) {
	const malformed, invalid = lastmile.CodeMalformed, lastmile.CodeInvalid
	tests := map[string]struct {
		change func(c *lastmile.RoutePlanChange)
		want   lastmile.Code
	}{
		"a name and a start":               {nil, 0},
		"no name":                          {func(c *lastmile.RoutePlanChange) { c.Name = nil }, malformed},
		"a blank name":                     {func(c *lastmile.RoutePlanChange) { c.Name = new(" ") }, malformed},
		"no start":                         {func(c *lastmile.RoutePlanChange) { c.Start = nil }, malformed},
		"an end after the start":           {func(c *lastmile.RoutePlanChange) { c.End = new(planNow.Add(time.Hour)) }, 0},
		"an end at the start":              {func(c *lastmile.RoutePlanChange) { c.End = new(planNow) }, invalid},
		"a color":                          {func(c *lastmile.RoutePlanChange) { c.Color = new("#12aBcD") }, 0},
		"a color by name":                  {func(c *lastmile.RoutePlanChange) { c.Color = new("red") }, invalid},
		"a color with alpha":               {func(c *lastmile.RoutePlanChange) { c.Color = new("#12345678") }, invalid},
		"a vehicle type":                   {func(c *lastmile.RoutePlanChange) { c.VehicleType = new(lastmile.Bicycle) }, 0},
		"an unknown vehicle type":          {func(c *lastmile.RoutePlanChange) { c.VehicleType = new(lastmile.VehicleType("BOAT")) }, invalid},
		"a time zone":                      {func(c *lastmile.RoutePlanChange) { c.Timezone = new("Europe/Paris") }, 0},
		"an unknown time zone":             {func(c *lastmile.RoutePlanChange) { c.Timezone = new("Mars/Base") }, invalid},
		"a start at the worker's location": {func(c *lastmile.RoutePlanChange) { c.StartAt = new(lastmile.AtWorkerLocation) }, 0},
		"an end at the worker's address":   {func(c *lastmile.RoutePlanChange) { c.EndAt = new(lastmile.AtWorkerAddress) }, 0},
		"an unknown start point":           {func(c *lastmile.RoutePlanChange) { c.StartAt = new(lastmile.RoutePoint("HOME")) }, invalid},
		"a start at a hub, no hub named":   {func(c *lastmile.RoutePlanChange) { c.StartAt = new(lastmile.AtHub) }, malformed},
		"an end at a hub, no hub named":    {func(c *lastmile.RoutePlanChange) { c.EndAt = new(lastmile.AtHub) }, malformed},
		"tasks":                            {func(c *lastmile.RoutePlanChange) { c.Tasks = &[]lastmile.TaskID{"a", "b"} }, 0},
		"a task twice":                     {func(c *lastmile.RoutePlanChange) { c.Tasks = &[]lastmile.TaskID{"a", "b", "a"} }, invalid},
		"too many tasks":                   {func(c *lastmile.RoutePlanChange) { c.Tasks = new(make([]lastmile.TaskID, 501)) }, invalid},
		"a start at a hub": {func(c *lastmile.RoutePlanChange) {
			c.StartAt, c.StartingHub = new(lastmile.AtHub), new(lastmile.HubID("h"))
		}, 0},
		"a hub that is not used as the start": {func(c *lastmile.RoutePlanChange) { c.StartingHub = new(lastmile.HubID("h")) }, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := lastmile.NewRoutePlan("p", "short", "acme", planWith(test.change), planNow)
			rejectedAs(t, err, test.want)
		})
	}
}

func TestRoutePlanTasksThatStay(t *testing.T) {
	const (
		waiting, active, done = lastmile.TaskAssigned, lastmile.TaskActive, lastmile.TaskCompleted
		started, completed    = lastmile.RoutePlanStarted, lastmile.RoutePlanCompleted
	)
	tests := map[string]struct {
		state  lastmile.RoutePlanState
		states []lastmile.TaskState // states of the tasks a and b
		tasks  []lastmile.TaskID
		want   lastmile.Code
	}{
		"a task that is not started can leave":  {started, []lastmile.TaskState{done, waiting}, []lastmile.TaskID{"a"}, 0},
		"an active task cannot leave":           {started, []lastmile.TaskState{active, waiting}, []lastmile.TaskID{"b"}, lastmile.CodeInvalid},
		"a completed task cannot leave":         {started, []lastmile.TaskState{done, waiting}, []lastmile.TaskID{"b"}, lastmile.CodeInvalid},
		"the order can change at any time":      {completed, []lastmile.TaskState{done, done}, []lastmile.TaskID{"b", "a"}, 0},
		"a started plan accepts new tasks":      {started, []lastmile.TaskState{done, active}, []lastmile.TaskID{"a", "b", "c"}, 0},
		"a completed plan accepts no new tasks": {completed, []lastmile.TaskState{done, done}, []lastmile.TaskID{"a", "b", "c"}, lastmile.CodeInvalid},
		"a pending plan can lose all tasks":     {lastmile.RoutePlanPending, []lastmile.TaskState{waiting, waiting}, nil, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPlan(t, nil)
			p.State, p.Tasks, p.TaskStates = test.state, []lastmile.TaskID{"a", "b"}, test.states
			_, err := p.Update(lastmile.RoutePlanChange{Tasks: &test.tasks}, planNow)
			rejectedAs(t, err, test.want)
		})
	}
	t.Run("the worker stays while a task is active", func(t *testing.T) {
		p := newPlan(t, func(c *lastmile.RoutePlanChange) { c.Worker = new(lastmile.WorkerID("w")) })
		p.Tasks, p.TaskStates = []lastmile.TaskID{"a"}, []lastmile.TaskState{active}
		_, err := p.Update(lastmile.RoutePlanChange{Worker: new(lastmile.WorkerID("x"))}, planNow)
		rejectedAs(t, err, lastmile.CodeInvalid)
		changed, err := p.Update(lastmile.RoutePlanChange{Worker: new(lastmile.WorkerID("w"))}, planNow)
		rejectedAs(t, err, 0)
		if changed {
			t.Error("the same worker is a change")
		}
	})
}

func TestTaskJoinsOnePlan(t *testing.T) {
	tests := map[string]struct {
		task lastmile.Task
		want lastmile.Code
	}{
		"an unassigned task":     {lastmile.Task{State: lastmile.TaskUnassigned}, 0},
		"an assigned task":       {lastmile.Task{State: lastmile.TaskAssigned}, 0},
		"an active task":         {lastmile.Task{State: lastmile.TaskActive}, lastmile.CodeInvalid},
		"a completed task":       {lastmile.Task{State: lastmile.TaskCompleted}, lastmile.CodeInvalid},
		"a task of another plan": {lastmile.Task{RoutePlan: "q"}, lastmile.CodeInvalid},
		"a task of the plan":     {lastmile.Task{RoutePlan: "p", State: lastmile.TaskCompleted}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := test.task.RoutePlan
			err := test.task.JoinRoutePlan("p", 0, planNow)
			rejectedAs(t, err, test.want)
			if want := lastmile.RoutePlanID("p"); err == nil && test.task.RoutePlan != want || err != nil && test.task.RoutePlan != before {
				t.Errorf("the task is in %q", test.task.RoutePlan)
			}
		})
	}
}

func TestRoutePlanProgress(t *testing.T) {
	const waiting, active, done = lastmile.TaskAssigned, lastmile.TaskActive, lastmile.TaskCompleted
	tests := map[string]struct {
		from   lastmile.RoutePlanState
		states []lastmile.TaskState
		want   lastmile.RoutePlanState
		events []lastmile.Trigger
	}{
		"nothing is started":               {lastmile.RoutePlanPending, []lastmile.TaskState{waiting, waiting}, lastmile.RoutePlanPending, nil},
		"there are no tasks":               {lastmile.RoutePlanPending, nil, lastmile.RoutePlanPending, nil},
		"the first task is started":        {lastmile.RoutePlanPending, []lastmile.TaskState{active, waiting}, lastmile.RoutePlanStarted, []lastmile.Trigger{lastmile.TriggerRoutePlanStarted}},
		"the second task is started first": {lastmile.RoutePlanPending, []lastmile.TaskState{waiting, active}, lastmile.RoutePlanStarted, []lastmile.Trigger{lastmile.TriggerRoutePlanStarted}},
		"one task is completed":            {lastmile.RoutePlanStarted, []lastmile.TaskState{done, waiting}, lastmile.RoutePlanStarted, nil},
		"the last task is completed":       {lastmile.RoutePlanStarted, []lastmile.TaskState{done, done}, lastmile.RoutePlanCompleted, []lastmile.Trigger{lastmile.TriggerRoutePlanCompleted}},
		"the only task is completed at once": {
			lastmile.RoutePlanPending,
			[]lastmile.TaskState{done},
			lastmile.RoutePlanCompleted,
			[]lastmile.Trigger{lastmile.TriggerRoutePlanStarted, lastmile.TriggerRoutePlanCompleted},
		},
		"the plan was completed before": {lastmile.RoutePlanCompleted, []lastmile.TaskState{done}, lastmile.RoutePlanCompleted, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPlan(t, nil)
			p.State, p.TaskStates = test.from, test.states
			at := planNow.Add(time.Hour)
			events := p.Progress(at)
			if p.State != test.want {
				t.Errorf("the plan is %s, want %s", p.State, test.want)
			}
			var got []lastmile.Trigger
			for _, e := range events {
				got = append(got, e.Trigger)
				if e.RoutePlan == nil || e.RoutePlan.ID != p.ID || e.Organization != "acme" || e.Actor.Type != "" {
					t.Errorf("event %+v", e)
				}
			}
			if !slices.Equal(got, test.events) {
				t.Errorf("events %v, want %v", got, test.events)
			}
			if started := slices.Contains(got, lastmile.TriggerRoutePlanStarted); started && !p.ActualStart.Equal(at) {
				t.Errorf("it started at %v", p.ActualStart)
			}
			if ended := slices.Contains(got, lastmile.TriggerRoutePlanCompleted); ended && !p.ActualEnd.Equal(at) {
				t.Errorf("it ended at %v", p.ActualEnd)
			}
		})
	}
}

func TestRoutePlanEvents(t *testing.T) {
	const updated, unassigned, assigned = lastmile.TriggerRoutePlanUpdated, lastmile.TriggerRoutePlanUnassigned, lastmile.TriggerRoutePlanAssigned
	tests := map[string]struct {
		before, after lastmile.WorkerID
		want          []lastmile.Trigger
	}{
		"a change without a worker": {"", "", []lastmile.Trigger{updated}},
		"the same worker":           {"w", "w", []lastmile.Trigger{updated}},
		"a first worker":            {"", "w", []lastmile.Trigger{updated, assigned}},
		"no worker any more":        {"w", "", []lastmile.Trigger{updated, unassigned}},
		"another worker":            {"w", "x", []lastmile.Trigger{updated, unassigned, assigned}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := newPlan(t, func(c *lastmile.RoutePlanChange) { c.Worker = &test.after })
			var got []lastmile.Trigger
			for _, e := range p.ChangeEvents(test.before, lastmile.Actor{}, planNow) {
				got = append(got, e.Trigger)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("events %v, want %v", got, test.want)
			}
		})
	}
}

func TestRoutePlanAssess(t *testing.T) {
	at := func(minutes int) time.Time { return planNow.Add(time.Duration(minutes) * time.Minute) }
	// Planned from 0 to 60 minutes.
	tests := map[string]struct {
		state       lastmile.RoutePlanState
		start, end  time.Time // actual times
		now         time.Time
		late        time.Duration
		wantOverdue bool
	}{
		"before its start":         {lastmile.RoutePlanPending, time.Time{}, time.Time{}, at(-5), 0, false},
		"not started in time":      {lastmile.RoutePlanPending, time.Time{}, time.Time{}, at(5), 5 * time.Minute, false},
		"never started":            {lastmile.RoutePlanPending, time.Time{}, time.Time{}, at(90), 90 * time.Minute, true},
		"started early":            {lastmile.RoutePlanStarted, at(-10), time.Time{}, at(10), 0, false},
		"started late":             {lastmile.RoutePlanStarted, at(10), time.Time{}, at(20), 10 * time.Minute, false},
		"started and past its end": {lastmile.RoutePlanStarted, at(0), time.Time{}, at(75), 15 * time.Minute, true},
		"completed in time":        {lastmile.RoutePlanCompleted, at(10), at(55), at(500), 0, false},
		"completed late":           {lastmile.RoutePlanCompleted, at(0), at(80), at(500), 20 * time.Minute, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for what, p := range map[string]lastmile.RoutePlan{
				"by its end":      {Start: at(0), End: at(60)},
				"by its duration": {Start: at(0), PlannedDuration: time.Hour},
			} {
				p.State, p.ActualStart, p.ActualEnd = test.state, test.start, test.end
				p.Assess(test.now)
				status := lastmile.RoutePlanOnTime
				if test.late > 0 {
					status = lastmile.RoutePlanLate
				}
				if p.Late != test.late || p.Status != status || p.Overdue != test.wantOverdue {
					t.Errorf("%s: %s by %v, overdue %v", what, p.Status, p.Late, p.Overdue)
				}
			}
		})
	}
}

func TestRoutePlanTravelsBy(t *testing.T) {
	driver := lastmile.Worker{Vehicle: &lastmile.Vehicle{Type: lastmile.Truck}}
	for name, test := range map[string]struct {
		plan   lastmile.VehicleType
		worker *lastmile.Worker
		want   lastmile.VehicleType
	}{
		"the plan's own type":         {lastmile.Bicycle, &driver, lastmile.Bicycle},
		"the worker's vehicle":        {"", &driver, lastmile.Truck},
		"a worker on foot":            {"", &lastmile.Worker{}, lastmile.OnFoot},
		"no worker yet, so by car":    {"", nil, lastmile.Car},
		"no worker yet, but by truck": {lastmile.Truck, nil, lastmile.Truck},
	} {
		if got := (lastmile.RoutePlan{VehicleType: test.plan}).TravelsBy(test.worker); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
