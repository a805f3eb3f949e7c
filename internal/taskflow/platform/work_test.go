package platform_test

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
	"dray/internal/taskflow"
)

// join makes a worker a member of teams.
func join(t *testing.T, o *apptest.Org, worker lastmile.Principal, teams ...lastmile.TeamID) {
	t.Helper()
	for _, id := range teams {
		o.Write(t, func(w *sqlstore.Tx) error {
			team, err := w.Team(t.Context(), o.Principal.Organization, id)
			if err != nil {
				return err
			}
			team.Workers = append(team.Workers, worker.Worker)
			return w.SaveTeam(t.Context(), team)
		})
	}
}

func TestClaim(t *testing.T) {
	o := apptest.NewOrg(t)
	team := o.Team(t, "North")
	ada, bob, stranger := o.Worker(t, "Ada", &west), o.Worker(t, "Bob", &west), o.Worker(t, "Eve", &west)
	join(t, o, ada, team)
	join(t, o, bob, team)
	task := o.Task(t, in(lastmile.TeamContainer(team)))
	o.Triggers(t)
	available, err := o.Work.Available(t.Context(), ada)
	if err != nil || len(available) != 1 || available[0].ID != task.ID {
		t.Fatalf("available are %v: %v", available, err)
	}
	_, err = o.Work.Claim(t.Context(), stranger, task.ID, action(nil))
	expectCode(t, err, lastmile.CodeOutsideScope)

	claim := action(nil)
	for range 2 { // sent twice, done once
		got, err := o.Work.Claim(t.Context(), ada, task.ID, claim)
		if err != nil || got.Worker != ada.Worker || got.State != lastmile.TaskAssigned {
			t.Fatalf("the task is %v of %q: %v", got.State, got.Worker, err)
		}
	}
	expectTriggers(t, o, "taskAssigned", "taskUpdated")
	expectList(t, o, listOf(ada), task.ID)
	expectList(t, o, lastmile.TeamContainer(team))

	if _, err := o.Work.Claim(t.Context(), ada, task.ID, action(nil)); err != nil {
		t.Errorf("claiming a task one already has: %v", err)
	}
	_, err = o.Work.Claim(t.Context(), bob, task.ID, action(nil))
	expectCode(t, err, lastmile.CodeInvalid)
	_, err = o.Work.Claim(t.Context(), stranger, task.ID, action(nil))
	expectCode(t, err, lastmile.CodeOutsideScope)
	unassigned := o.Task(t, apptest.Draft(west))
	_, err = o.Work.Claim(t.Context(), ada, unassigned.ID, action(nil))
	expectCode(t, err, lastmile.CodeOutsideScope)
}

func TestStartRejects(t *testing.T) {
	o := apptest.NewOrg(t)
	ada, off := o.Worker(t, "Ada", &west), o.Worker(t, "Off duty", nil)
	first, second, offDuty := o.Task(t, in(listOf(ada))), o.Task(t, in(listOf(ada))), o.Task(t, in(listOf(off)))
	d := in(listOf(ada))
	d.Change.Dependencies = &[]lastmile.TaskID{second.ID}
	waiting := o.Task(t, d)
	start := func(who lastmile.Principal, id lastmile.TaskID) error {
		_, err := o.Work.Start(t.Context(), who, id, action(nil))
		return err
	}
	expectCode(t, start(off, offDuty.ID), lastmile.CodeInvalid)
	expectCode(t, start(off, first.ID), lastmile.CodeOutsideScope)
	expectCode(t, start(ada, waiting.ID), lastmile.CodeInvalid)
	if err := start(ada, first.ID); err != nil {
		t.Fatal(err)
	}
	expectCode(t, start(ada, second.ID), lastmile.CodeInvalid)
}

func TestTheEventOfAStartHasTheFirstLocation(t *testing.T) {
	o := apptest.NewOrg(t)
	ada := o.Worker(t, "Ada", &west)
	task := o.Task(t, in(listOf(ada)))
	if _, err := o.Work.Start(t.Context(), ada, task.ID, action(&west)); err != nil {
		t.Fatal(err)
	}
	events := o.Events(t, o.Principal.Organization)
	if last := events[len(events)-1]; !bytes.Contains(last, []byte(`"firstLocation":[-74,40.7]`)) {
		t.Errorf("the event is %s", last)
	}
}

func TestAnActionIDIsUsedOnce(t *testing.T) {
	o := apptest.NewOrg(t)
	ada := o.Worker(t, "Ada", &west)
	task := o.Task(t, in(listOf(ada)))
	start := action(nil)
	if _, err := o.Work.Start(t.Context(), ada, task.ID, start); err != nil {
		t.Fatal(err)
	}
	_, err := o.Work.Arrive(t.Context(), ada, task.ID, start)
	expectCode(t, err, lastmile.CodeInvalid)
}

// Estimates learn from how long the way and the service of a task took.
func TestFinishStoresATrip(t *testing.T) {
	o := apptest.NewOrg(t)
	ada := o.Worker(t, "Ada", &west)
	task := o.Task(t, in(listOf(ada)))
	step := func(do func() error) {
		t.Helper()
		if err := do(); err != nil {
			t.Fatal(err)
		}
		o.Advance(10 * time.Minute)
	}
	o.Triggers(t)
	step(func() error { _, err := o.Work.Start(t.Context(), ada, task.ID, action(&west)); return err })
	step(func() error { _, err := o.Work.Arrive(t.Context(), ada, task.ID, action(&middle)); return err })
	step(func() error { _, err := o.Work.Depart(t.Context(), ada, task.ID, action(&middle)); return err })
	step(func() error {
		_, err := o.Work.Finish(t.Context(), ada, task.ID, action(&middle), lastmile.Outcome{Success: true}, lastmile.Evidence{})
		return err
	})
	expectTriggers(t, o, "taskStarted", "taskUpdated", "taskUpdated", "taskCompleted", "taskUpdated")
	var trips []lastmile.Trip
	o.Read(t, func(r *sqlstore.Tx) (err error) {
		trips, err = r.Trips(t.Context(), o.Principal.Organization, 10)
		return err
	})
	if len(trips) != 1 || trips[0].Actual != 10*time.Minute || trips[0].Service != 10*time.Minute || trips[0].Estimated <= 0 {
		t.Errorf("the trips are %+v, want one of 10 minutes and 10 minutes of service", trips)
	}
	if done := o.Stored(t, task.ID); done.State != lastmile.TaskCompleted || done.Worker != ada.Worker {
		t.Errorf("the task is %v of %q", done.State, done.Worker)
	}
}

// A phone sends actions with the times of its own clock, which may be set back between them.
func TestActionsHappenInTheirOrder(t *testing.T) {
	o := apptest.NewOrg(t)
	ada := o.Worker(t, "Ada", &west)
	task := o.Task(t, in(listOf(ada)))
	if _, err := o.Work.Start(t.Context(), ada, task.ID, action(&west)); err != nil {
		t.Fatal(err)
	}
	started := o.Stored(t, task.ID).Completion.TimeOf("start")
	o.Advance(10 * time.Minute)
	early := action(&middle)
	early.At = started.Add(-time.Hour)
	if _, err := o.Work.Arrive(t.Context(), ada, task.ID, early); err != nil {
		t.Fatal(err)
	}
	early.ID += "b"
	if _, err := o.Work.Finish(t.Context(), ada, task.ID, early, lastmile.Outcome{Success: true}, lastmile.Evidence{}); err != nil {
		t.Fatal(err)
	}
	done := o.Stored(t, task.ID).Completion
	if !done.Arrived().Equal(started) || !done.At.Equal(started) {
		t.Errorf("started at %v, arrived at %v and completed at %v, want the same time", started, done.Arrived(), done.At)
	}
}

func TestWorkListsTheActiveTaskFirst(t *testing.T) {
	o := apptest.NewOrg(t)
	ada := o.Worker(t, "Ada", &west)
	first, second := o.Task(t, in(listOf(ada))), o.Task(t, in(listOf(ada)))
	before, err := o.Work.List(t.Context(), ada)
	if err != nil || len(before.Tasks) != 2 || before.Tasks[0].ID != first.ID || before.ActiveTask != "" {
		t.Fatalf("the list is %+v: %v", before, err)
	}
	if _, err := o.Work.Start(t.Context(), ada, second.ID, action(nil)); err != nil {
		t.Fatal(err)
	}
	after, err := o.Work.List(t.Context(), ada)
	if err != nil || len(after.Tasks) != 2 || after.Tasks[0].ID != second.ID || after.ActiveTask != second.ID || after.Version <= before.Version {
		t.Errorf("the list is %+v after version %d: %v", after, before.Version, err)
	}
	outline, err := o.Work.Outline(t.Context(), ada)
	if err != nil || len(outline.Tasks) != 2 || outline.ActiveTask != second.ID || outline.Version != after.Version {
		t.Fatalf("the outline is %+v: %v", outline, err)
	}
	for i, task := range after.Tasks {
		if got := outline.Tasks[i]; got.ID != task.ID || !got.Modified.Equal(task.Modified) {
			t.Errorf("task %d of the outline is %s of %v, want %s of %v", i, got.ID, got.Modified, task.ID, task.Modified)
		}
	}
}

// TestTheTasksToClaimAreBounded: a worker of several teams is shown the tasks of the first
// team, and then those of the next teams until the limit is reached.
func TestTheTasksToClaimAreBounded(t *testing.T) {
	o := apptest.NewOrg(t)
	first, second, third := o.Team(t, "First"), o.Team(t, "Second"), o.Team(t, "Third")
	ada := o.Worker(t, "Ada", nil, first, second, third)
	var want []lastmile.TaskID
	for team, n := range map[lastmile.TeamID]int{first: taskflow.MaxAvailable - 10, second: 20, third: 1} {
		for _, id := range many(t, o, n) {
			change := lastmile.TaskDraft{Container: new(lastmile.TeamContainer(team))}
			if _, err := o.Tasks.Update(t.Context(), o.Principal, id, change); err != nil {
				t.Fatal(err)
			}
		}
	}
	want = append(list(t, o, lastmile.TeamContainer(first)), list(t, o, lastmile.TeamContainer(second))[:10]...)
	found, err := o.Work.Available(t.Context(), ada)
	if err != nil {
		t.Fatal(err)
	}
	var got []lastmile.TaskID
	for _, task := range found {
		got = append(got, task.ID)
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d tasks are shown, want the first %d", len(got), len(want))
	}
}

func TestAGeofenceRejectsACompletionFarAway(t *testing.T) {
	o := apptest.NewOrg(t)
	o.Write(t, func(w *sqlstore.Tx) error {
		settings, err := w.Settings(t.Context(), o.Principal.Organization)
		if err != nil {
			return err
		}
		settings.Geofence = lastmile.Geofence{Level: lastmile.GeofenceBlock, Radius: 100}
		return w.SaveSettings(t.Context(), o.Principal.Organization, settings)
	})
	ada := o.Worker(t, "Ada", &west)
	task := o.Task(t, in(listOf(ada)))
	if _, err := o.Work.Start(t.Context(), ada, task.ID, action(nil)); err != nil {
		t.Fatal(err)
	}
	_, err := o.Work.Finish(t.Context(), ada, task.ID, action(&east), lastmile.Outcome{Success: true}, lastmile.Evidence{})
	if apptest.Code(err) == 0 {
		t.Errorf("completed a kilometre away: %v", err)
	}
	if got := o.Stored(t, task.ID); got.State != lastmile.TaskActive || len(got.GeofenceAttempts) != 1 {
		t.Errorf("the task is %v with %d attempts, want it to remember one", got.State, len(got.GeofenceAttempts))
	}
	if _, err := o.Work.Finish(t.Context(), ada, task.ID, action(&middle), lastmile.Outcome{Success: true}, lastmile.Evidence{}); err != nil {
		t.Errorf("completed at the destination: %v", err)
	}
}

// TestActionsWithoutPositionsReachThresholds performs tasks as a phone without signal reports
// them: the actions come first, with their locations, and the positions later.
func TestActionsWithoutPositionsReachThresholds(t *testing.T) {
	for name, tt := range map[string]struct {
		arrive, complete *lastmile.Point
		want             []string
	}{
		"arrives there":             {&middle, nil, []string{"taskStarted", "taskArrival", "taskUpdated", "taskCompleted", "taskUpdated"}},
		"completes there":           {nil, &middle, []string{"taskStarted", "taskUpdated", "taskArrival", "taskCompleted", "taskUpdated"}},
		"does both elsewhere":       {&east, &west, []string{"taskStarted", "taskUpdated", "taskCompleted", "taskUpdated"}},
		"does both there, once":     {&middle, &middle, []string{"taskStarted", "taskArrival", "taskUpdated", "taskCompleted", "taskUpdated"}},
		"does not report locations": {nil, nil, []string{"taskStarted", "taskUpdated", "taskCompleted", "taskUpdated"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := apptest.NewOrg(t)
			ada := o.Worker(t, "Ada", &west)
			listen(t, o, lastmile.TriggerTaskArrival, 100)
			task := o.Task(t, in(listOf(ada)))
			o.Triggers(t)
			if _, err := o.Work.Start(t.Context(), ada, task.ID, action(&west)); err != nil {
				t.Fatal(err)
			}
			if _, err := o.Work.Arrive(t.Context(), ada, task.ID, action(tt.arrive)); err != nil {
				t.Fatal(err)
			}
			if _, err := o.Work.Finish(t.Context(), ada, task.ID, action(tt.complete), lastmile.Outcome{Success: true}, lastmile.Evidence{}); err != nil {
				t.Fatal(err)
			}
			expectTriggers(t, o, tt.want...)
		})
	}
}

// TestOldLocationsReachNoThresholds starts tasks whose workers were located some time ago.
func TestOldLocationsReachNoThresholds(t *testing.T) {
	const day = 24 * time.Hour
	for name, tt := range map[string]struct {
		seen    lastmile.Point
		ago     time.Duration
		started *lastmile.Point
		want    []string
	}{
		"was there yesterday":                   {middle, day, nil, []string{"taskStarted"}},
		"was there yesterday, starts elsewhere": {middle, day, &west, []string{"taskStarted"}},
		"was elsewhere yesterday, starts there": {west, day, &middle, []string{"taskStarted", "taskEta", "taskArrival"}},
		"was there a minute ago":                {middle, time.Minute, nil, []string{"taskStarted", "taskEta", "taskArrival"}},
		"was there five minutes ago":            {middle, 5 * time.Minute, nil, []string{"taskStarted", "taskEta"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := apptest.NewOrg(t)
			ada := o.Worker(t, "Ada", &tt.seen)
			listen(t, o, lastmile.TriggerTaskEta, 30)
			listen(t, o, lastmile.TriggerTaskArrival, 100)
			o.Advance(tt.ago)
			task := o.Task(t, in(listOf(ada)))
			o.RefreshDue(t)
			o.Triggers(t)
			o.Advance(time.Second)
			started, err := o.Work.Start(t.Context(), ada, task.ID, action(tt.started))
			if err != nil {
				t.Fatal(err)
			}
			if eta := started.Estimates.ETA; tt.started != nil && (eta == nil || (*eta == 0) != (*tt.started == middle)) {
				t.Errorf("the ETA is %v from %v to %v", eta, *tt.started, middle)
			}
			o.RefreshDue(t)
			expectTriggers(t, o, tt.want...)
			if eta := o.Stored(t, task.ID).Estimates.ETA; tt.started != nil && (eta == nil || (*eta == 0) != (*tt.started == middle)) {
				t.Errorf("the ETA is %v after a refresh, from %v to %v", eta, *tt.started, middle)
			}
		})
	}
}

// TestActionsReachThresholdsAtOnce performs tasks without a refresh of their estimates in
// between. Their windows close now.
func TestActionsReachThresholdsAtOnce(t *testing.T) {
	for name, tt := range map[string]struct {
		arrive, complete time.Duration // after the window closes; 0 for no arrival
		want             []string
	}{
		"completes late":                   {0, time.Hour, []string{"taskStarted", "taskDelayed", "taskCompleted", "taskUpdated"}},
		"completes in time":                {0, -time.Minute, []string{"taskStarted", "taskCompleted", "taskUpdated"}},
		"arrives late":                     {time.Hour, time.Hour, []string{"taskStarted", "taskEta", "taskDelayed", "taskUpdated", "taskCompleted", "taskUpdated"}},
		"arrives in time":                  {-time.Minute, time.Hour, []string{"taskStarted", "taskEta", "taskUpdated", "taskCompleted", "taskUpdated"}},
		"arrives a little late, and stays": {20 * time.Second, time.Hour, []string{"taskStarted", "taskEta", "taskUpdated", "taskCompleted", "taskUpdated"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := apptest.NewOrg(t)
			ada, closes := o.Worker(t, "Ada", &west), o.Now()
			listen(t, o, lastmile.TriggerTaskEta, 30)
			listen(t, o, lastmile.TriggerTaskDelayed, 60)
			d := in(listOf(ada))
			d.Change.CompleteBefore = &closes
			task := o.Task(t, d)
			o.Advance(2 * time.Hour) // until the phone has signal
			o.Triggers(t)
			at := func(after time.Duration) lastmile.Action {
				a := action(nil)
				a.At = closes.Add(after)
				return a
			}
			if _, err := o.Work.Start(t.Context(), ada, task.ID, at(-5*time.Minute)); err != nil {
				t.Fatal(err)
			}
			if tt.arrive != 0 {
				if _, err := o.Work.Arrive(t.Context(), ada, task.ID, at(tt.arrive)); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := o.Work.Finish(t.Context(), ada, task.ID, at(tt.complete), lastmile.Outcome{Success: true}, lastmile.Evidence{}); err != nil {
				t.Fatal(err)
			}
			expectTriggers(t, o, tt.want...)
		})
	}
}

func TestRecipientsFollowAndRate(t *testing.T) {
	o := apptest.NewOrg(t)
	ada := o.Worker(t, "Ada", &west)
	task := o.Task(t, in(listOf(ada)))
	if err := o.Pages.View(t.Context(), task.TrackingToken); err != nil {
		t.Fatal(err)
	}
	if !o.Stored(t, task.ID).TrackingViewed {
		t.Error("the task does not show that its page was viewed")
	}
	if err := o.Pages.Rate(t.Context(), task.TrackingToken, lastmile.Feedback{Rating: 5}); apptest.Code(err) == 0 {
		t.Errorf("rated before it was completed: %v", err)
	}
	if _, err := o.Work.Start(t.Context(), ada, task.ID, action(nil)); err != nil {
		t.Fatal(err)
	}
	if err := o.Tasks.Complete(t.Context(), o.Principal, task.ID, lastmile.Outcome{Success: true}); err != nil {
		t.Fatal(err)
	}
	if err := o.Pages.Rate(t.Context(), task.TrackingToken, lastmile.Feedback{Rating: 5}); err != nil {
		t.Fatal(err)
	}
	if got := o.Stored(t, task.ID).Feedback; len(got) != 1 || got[0].Rating != 5 {
		t.Errorf("the feedback is %+v", got)
	}
	_, err := o.Pages.Follow(t.Context(), apptest.NewID[string]())
	expectCode(t, err, lastmile.CodeNotFound)
}
