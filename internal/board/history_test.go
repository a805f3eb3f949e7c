package board

import (
	"context"
	"slices"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

func pastTask(id lastmile.TaskID, state lastmile.TaskState, in lastmile.ContainerRef, at int64, list ...lastmile.TaskID) PastTask {
	t := PastTask{Task: Task{ID: id, State: state, Container: in}, At: time.UnixMilli(at), List: list}
	if in.Kind == lastmile.InWorker {
		t.Worker = lastmile.WorkerID(in.Owner)
	}
	return t
}

func TestPastListsAreInTheOrderOfTheLatestEvent(t *testing.T) {
	ada := lastmile.WorkerContainer("ada")
	past := History{Board: Board{Workers: []Worker{{Worker: lastmile.Worker{ID: "ada"}}}, Teams: []lastmile.Team{{ID: "north"}}}}
	past.place([]PastTask{
		pastTask("a", lastmile.TaskAssigned, ada, 1, "a", "b"),
		pastTask("b", lastmile.TaskAssigned, ada, 3, "c", "b", "a"),
		pastTask("c", lastmile.TaskAssigned, ada, 2, "a", "c"),
		pastTask("d", lastmile.TaskActive, ada, 2),
		pastTask("e", lastmile.TaskAssigned, ada, 0), // no event shows where it is in the list
		pastTask("f", lastmile.TaskUnassigned, lastmile.TeamContainer("north"), 0),
		pastTask("g", lastmile.TaskUnassigned, lastmile.OrganizationContainer("acme"), 0),
	})
	w := past.Workers[0]
	if !slices.Equal(w.Tasks, []lastmile.TaskID{"c", "b", "a", "e"}) || w.ActiveTask != "d" || !slices.Equal(past.Teams[0].Tasks, []lastmile.TaskID{"f"}) || len(past.Tasks) != 7 {
		t.Errorf("the worker has %v and %q, the team %v", w.Tasks, w.ActiveTask, past.Teams[0].Tasks)
	}
}

func TestManagersSeeThePastOfTheirTeams(t *testing.T) {
	past := History{Board: Board{Workers: []Worker{{Worker: lastmile.Worker{ID: "ada"}}}, Teams: []lastmile.Team{{ID: "north"}}}}
	for in, want := range map[lastmile.ContainerRef]bool{
		lastmile.WorkerContainer("ada"): true, lastmile.WorkerContainer("bob"): false, lastmile.TeamContainer("north"): true,
		lastmile.TeamContainer("south"): false, lastmile.OrganizationContainer("acme"): true,
	} {
		task := pastTask("a", lastmile.TaskAssigned, in, 0).Task
		if got := past.seenBy(Filter{Manager: "ines"})(task); got != want {
			t.Errorf("a task of %v: it is %t that the manager sees it", in, got)
		}
		if !past.seenBy(Filter{})(task) {
			t.Errorf("a task of %v is hidden from those who see everything", in)
		}
	}
}

func TestManyWorkersHaveFewerPositions(t *testing.T) {
	for workers, want := range map[int]time.Duration{0: HistoryStep, 277: HistoryStep, 1_000: 72 * time.Second, 50_000: HistoryPage} {
		if got := stepFor(workers); got != want {
			t.Errorf("positions of %d workers are %v apart, want %v", workers, got, want)
		}
	}
}

func TestDayBeginsWhenClocksAreSetForward(t *testing.T) {
	org := lastmile.Organization{Timezone: "America/Santiago"}
	_, window, _, err := day(org, "2026-09-06", time.Date(2026, 9, 6, 12, 0, 0, 0, time.UTC))
	if want := time.Date(2026, 9, 6, 4, 0, 0, 0, time.UTC); err != nil || window.From != want || window.To != want.Add(23*time.Hour) {
		t.Errorf("the day is %v, %v; want 23 hours from %v", window, err, want)
	}
	for _, date := range []string{"1999-12-31", "2100-01-01", "2026-13-01"} {
		if _, _, _, err := day(org, date, time.Time{}); err == nil {
			t.Errorf("there is a board of %s", date)
		}
	}
}

// unloggedDay is a day with many tasks that have no events.
type unloggedDay struct {
	HistoryReader
	tasks int
}

func (unloggedDay) FirstEvent(context.Context, lastmile.OrganizationID) (at time.Time, err error) {
	return at, nil
}

func (unloggedDay) EventBefore(context.Context, lastmile.OrganizationID, time.Time) (int64, error) {
	return 0, nil
}

func (unloggedDay) Teams(context.Context, lastmile.OrganizationID, store.TeamFilter) ([]lastmile.Team, error) {
	return nil, nil
}

func (unloggedDay) Hubs(context.Context, lastmile.OrganizationID) ([]lastmile.Hub, error) {
	return nil, nil
}

func (unloggedDay) Workers(context.Context, lastmile.OrganizationID, store.WorkerFilter) ([]lastmile.Worker, error) {
	return nil, nil
}

func (unloggedDay) LastMoves(context.Context, lastmile.OrganizationID) (moves map[lastmile.WorkerID]lastmile.Position, err error) {
	return moves, nil
}

func (unloggedDay) Schedules(context.Context, lastmile.OrganizationID) (all map[lastmile.WorkerID]lastmile.Schedule, err error) {
	return all, nil
}

func (unloggedDay) DutyAt(context.Context, lastmile.OrganizationID, time.Time) (duty map[lastmile.WorkerID]bool, err error) {
	return duty, nil
}

func (unloggedDay) MovesAt(context.Context, lastmile.OrganizationID, time.Time) (moves map[lastmile.WorkerID]lastmile.Position, err error) {
	return moves, nil
}

func (unloggedDay) PastTasks(context.Context, lastmile.OrganizationID, int64, time.Time, int) ([]PastTask, error) {
	return nil, nil
}

func (d unloggedDay) UnloggedTasks(_ context.Context, _ lastmile.OrganizationID, _ lastmile.Window, limit int) ([]Task, error) {
	return make([]Task, min(d.tasks, limit)), nil
}

func TestTasksWithoutEventsAreTruncated(t *testing.T) {
	for tasks, truncated := range map[int]bool{MaxTasks: false, MaxTasks + 1: true} {
		var past History
		if err := past.read(t.Context(), unloggedDay{tasks: tasks}, Filter{}); err != nil {
			t.Fatal(err)
		}
		if len(past.Unlogged) != MaxTasks || past.Truncated != truncated {
			t.Errorf("of %d tasks, the board has %d; truncated is %v", tasks, len(past.Unlogged), past.Truncated)
		}
	}
}
