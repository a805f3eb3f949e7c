package platform_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
)

func TestArrange(t *testing.T) {
	o := apptest.NewOrg(t)
	ada, bob := o.Worker(t, "Ada", nil), o.Worker(t, "Bob", nil)
	a, b, c := o.Task(t, in(listOf(ada))).ID, o.Task(t, in(listOf(ada))).ID, o.Task(t, in(listOf(bob))).ID
	d := o.Task(t, apptest.Draft(west)).ID
	arrange := func(change lastmile.ContainerChange) {
		t.Helper()
		if _, err := o.Containers.Arrange(t.Context(), o.Principal, listOf(ada), change); err != nil {
			t.Fatal(err)
		}
	}
	o.Triggers(t)
	arrange(lastmile.ContainerChange{Tasks: []lastmile.TaskID{c}, Index: 1})
	expectList(t, o, listOf(ada), a, c, b)
	expectList(t, o, listOf(bob))
	expectTriggers(t, o, "taskUnassigned", "taskAssigned", "taskUpdated")

	arrange(lastmile.ContainerChange{Tasks: []lastmile.TaskID{b}, Index: lastmile.AtStart})
	expectList(t, o, listOf(ada), b, a, c)
	expectTriggers(t, o) // a change of the order causes no event

	arrange(lastmile.ContainerChange{Tasks: []lastmile.TaskID{d, a}, Replace: true})
	expectList(t, o, listOf(ada), d, a)
	expectList(t, o, home(o), b, c)
	for _, id := range []lastmile.TaskID{b, c} {
		if got := o.Stored(t, id); got.State != lastmile.TaskUnassigned || got.Worker != "" {
			t.Errorf("task %s is %v with the worker %q", id, got.State, got.Worker)
		}
	}
}

// TestArrangeListsOfAnyLength checks that changes have the same results for short and for long
// lists, which are changed in different ways.
func TestArrangeListsOfAnyLength(t *testing.T) {
	o := apptest.NewOrg(t)
	for _, length := range []int{0, 1, 99, 100, 101, 130} {
		ada := o.Worker(t, fmt.Sprint("Ada ", length), nil)
		want := many(t, o, length)
		arrange := func(change lastmile.ContainerChange) lastmile.Container {
			t.Helper()
			got, err := o.Containers.Arrange(t.Context(), o.Principal, listOf(ada), change)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(got.Tasks, want) || got.ContainerRef != listOf(ada) || got.Created.IsZero() {
				t.Fatalf("a list of %d tasks: got %v, want %v", length, got, want)
			}
			expectList(t, o, listOf(ada), want...)
			return got
		}
		arrange(lastmile.ContainerChange{Tasks: want, Index: lastmile.AtEnd})
		some := many(t, o, 3)
		want = slices.Concat(some[:1], want)
		arrange(lastmile.ContainerChange{Tasks: some[:1], Index: lastmile.AtStart})
		want = slices.Concat(want, some[1:2])
		arrange(lastmile.ContainerChange{Tasks: some[1:2], Index: lastmile.AtEnd})
		want = slices.Insert(want, 1, some[2])
		before := arrange(lastmile.ContainerChange{Tasks: some[2:], Index: 1})
		if after := arrange(lastmile.ContainerChange{Tasks: some[2:], Index: 1}); !after.Modified.Equal(before.Modified) || after.Version != before.Version {
			t.Errorf("a list of %d tasks that was put as it is was changed: %v, then %v", length, before, after)
		}
		slices.Reverse(want)
		want = want[:len(want)-1]
		arrange(lastmile.ContainerChange{Tasks: want, Replace: true})
	}
}

// TestAContainerIsModifiedLaterAlthoughTheClockIsSetBack also compares the response with what
// is read afterwards.
func TestAContainerIsModifiedLaterAlthoughTheClockIsSetBack(t *testing.T) {
	o := apptest.NewOrg(t)
	ada := o.Worker(t, "Ada", nil)
	ids, last := many(t, o, 3), time.Time{}
	lists, _ := containers(t, o)
	for i, back := range []time.Duration{0, time.Hour, 2 * time.Hour} {
		lists.Now = func() time.Time { return o.Now().Add(-back) }
		saved, err := lists.Arrange(t.Context(), o.Principal, listOf(ada), lastmile.ContainerChange{Tasks: ids[:i+1], Replace: true})
		if err != nil {
			t.Fatal(err)
		}
		got, err := lists.Container(t.Context(), o.Principal, listOf(ada))
		if err != nil || !got.Modified.Equal(saved.Modified) || got.Version != saved.Version {
			t.Errorf("a container is shown as %v and was saved as %v: %v", got, saved, err)
		}
		if !saved.Modified.After(last) {
			t.Errorf("after a change at %v, the next one is at %v", last, saved.Modified)
		}
		last = saved.Modified
	}
}

func TestArrangeMovesFamilies(t *testing.T) {
	o := apptest.NewOrg(t)
	ada := o.Worker(t, "Ada", nil)
	parent := o.Task(t, apptest.Draft(west))
	d := apptest.Draft(east)
	d.Change.Dependencies = &[]lastmile.TaskID{parent.ID}
	child := o.Task(t, d)
	stranger := o.Task(t, apptest.Draft(middle))
	_, err := o.Containers.Arrange(t.Context(), o.Principal, listOf(ada),
		lastmile.ContainerChange{Tasks: []lastmile.TaskID{child.ID}, Index: lastmile.AtEnd, ConsiderDependencies: true})
	if err != nil {
		t.Fatal(err)
	}
	expectList(t, o, listOf(ada), parent.ID, child.ID)
	expectList(t, o, home(o), stranger.ID)
}

func TestArrangeRejects(t *testing.T) {
	o, other := apptest.NewOrg(t), apptest.NewOrg(t)
	ada, eve := o.Worker(t, "Ada", &west), other.Worker(t, "Eve", nil)
	active, foreign := o.Task(t, in(listOf(ada))), other.Task(t, apptest.Draft(west))
	if _, err := o.Work.Start(t.Context(), ada, active.ID, action(nil)); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		in     lastmile.ContainerRef
		change lastmile.ContainerChange
		want   lastmile.Code
	}{
		"an active task":                 {home(o), lastmile.ContainerChange{Tasks: []lastmile.TaskID{active.ID}}, lastmile.CodeInvalid},
		"a task twice":                   {home(o), lastmile.ContainerChange{Tasks: []lastmile.TaskID{"a", "a"}}, lastmile.CodeInvalid},
		"another organization's task":    {home(o), lastmile.ContainerChange{Tasks: []lastmile.TaskID{foreign.ID}}, lastmile.CodeOutsideScope},
		"another organization's list":    {listOf(eve), lastmile.ContainerChange{}, lastmile.CodeOutsideScope},
		"replacing the unassigned tasks": {home(o), lastmile.ContainerChange{Replace: true}, lastmile.CodeInvalid},
		"the list of an unknown worker":  {lastmile.WorkerContainer(apptest.NewID[lastmile.WorkerID]()), lastmile.ContainerChange{}, lastmile.CodeNotFound},
		"a position before the start":    {home(o), lastmile.ContainerChange{Index: -2}, lastmile.CodeInvalid},
		"a task that does not exist":     {home(o), lastmile.ContainerChange{Tasks: []lastmile.TaskID{apptest.NewID[lastmile.TaskID]()}}, lastmile.CodeNotFound},
		"the list of an unknown team":    {lastmile.TeamContainer(apptest.NewID[lastmile.TeamID]()), lastmile.ContainerChange{}, lastmile.CodeNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := o.Containers.Arrange(t.Context(), o.Principal, c.in, c.change)
			expectCode(t, err, c.want)
		})
	}
}

func TestResolveFindsTheOwnerOfAContainer(t *testing.T) {
	o := apptest.NewOrg(t)
	ada, team := o.Worker(t, "Ada", nil), o.Team(t, "North")
	for _, want := range []lastmile.ContainerRef{listOf(ada), lastmile.TeamContainer(team), home(o)} {
		got, err := o.Containers.Resolve(t.Context(), o.Principal, want.Owner)
		if err != nil || got != want {
			t.Errorf("%s is %v, want %v: %v", want.Owner, got, want, err)
		}
	}
	_, err := o.Containers.Resolve(t.Context(), o.Principal, apptest.NewID[string]())
	expectCode(t, err, lastmile.CodeNotFound)
}
