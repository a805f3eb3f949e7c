package planning

import (
	"math/rand/v2"
	"slices"
	"testing"

	"dray/internal/lastmile"
)

func TestOnlyTasksOfWorkersCanBePinned(t *testing.T) {
	for state, ok := range map[lastmile.TaskState]bool{
		lastmile.TaskUnassigned: false, lastmile.TaskAssigned: true, lastmile.TaskActive: true, lastmile.TaskCompleted: false,
	} {
		p := PinnedTask{Task: lastmile.Task{ID: "a", State: state}}
		if err := p.Set(lastmile.PinPosition); (err == nil) != ok || (p.Pin == lastmile.PinPosition) != ok {
			t.Errorf("a task in state %d is pinned %q: %v", state, p.Pin, err)
		}
		if err := p.Set(""); err != nil || p.Pin != "" {
			t.Errorf("the pin of a task in state %d is not removed: %v", state, err)
		}
	}
}

func order(plan lastmile.DispatchPlan, worker lastmile.WorkerID) (ids []lastmile.TaskID) {
	for _, r := range plan.Routes {
		if r.Worker == worker {
			for _, s := range r.Stops {
				ids = append(ids, s.Task)
			}
		}
	}
	return ids
}

func TestPinnedPositionsAreKept(t *testing.T) {
	// In the best order all would be sorted by distance, with the new one in between.
	s := situation([]lastmile.Task{task("new", 150)}, worker("ada", task("c", 300), task("far", 900), task("b", 200), task("a", 100)))
	s.Pins = map[lastmile.TaskID]lastmile.Pin{"far": lastmile.PinPosition}
	plan := planned(t, s)
	if got := order(plan, "ada"); got[0] != "c" || got[1] != "far" || len(got) != 5 {
		t.Errorf("the order is %v", got)
	}
	if stop := plan.Routes[0].Stops[1]; stop.Pin != lastmile.PinPosition {
		t.Errorf("the pin of the stop is %q", stop.Pin)
	}
	// A pin that contradicts a dependency wins.
	s = situation(nil, worker("ada", task("drop", 100, dependsOn("pick")), task("pick", 200, pickup)))
	s.Pins = map[lastmile.TaskID]lastmile.Pin{"drop": lastmile.PinPosition}
	if got := order(planned(t, s), "ada"); !slices.Equal(got, []lastmile.TaskID{"drop", "pick"}) {
		t.Errorf("the order is %v", got)
	}
}

// TestPinnedTasksNeverMove plans random situations in which tasks may move between workers.
func TestPinnedTasksNeverMove(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		var crew []Candidate
		pins := map[lastmile.TaskID]lastmile.Pin{}
		name := func() string {
			return string([]byte{byte('a' + rng.IntN(26)), byte('a' + rng.IntN(26)), byte('a' + rng.IntN(26)), byte('a' + rng.IntN(26))})
		}
		for w := range 3 {
			var tasks []lastmile.Task
			for n := range rng.IntN(6) {
				made := task(name(), rng.Float64()*5000)
				if n == 0 && rng.IntN(2) == 0 {
					made.State = lastmile.TaskActive
				}
				if k := rng.IntN(5); k < 2 {
					pins[made.ID] = lastmile.Pin("").Values()[k]
				}
				if n > 0 && rng.IntN(3) == 0 {
					tasks[n-1].Pickup, made.Dependencies = true, []lastmile.TaskID{tasks[n-1].ID}
				}
				tasks = append(tasks, made)
			}
			crew = append(crew, worker(string(rune('A'+w)), tasks...))
		}
		s := situation([]lastmile.Task{task(name(), 400), task(name(), 800)}, crew...)
		s.Pins, s.Between = pins, true
		plan := planned(t, s)
		for _, c := range crew {
			got := order(plan, c.Worker.ID)
			for i, had := range c.Tasks {
				at := slices.Index(got, had.ID)
				if (had.State == lastmile.TaskActive || pins[had.ID] == lastmile.PinPosition) && at != i || pins[had.ID] == lastmile.PinWorker && at < 0 {
					t.Errorf("task %s with the pin %q was at %d of %s and is at %d of %v", had.ID, pins[had.ID], i, c.Worker.ID, at, got)
				}
			}
		}
		served := 0
		for _, r := range plan.Routes {
			served += len(r.Stops)
		}
		held := len(crew[0].Tasks) + len(crew[1].Tasks) + len(crew[2].Tasks)
		if served < held {
			t.Errorf("%d of %d tasks are planned", served, held)
		}
	}
}

func TestWhatMayMoveBetweenWorkers(t *testing.T) {
	tomorrow := func(t *lastmile.Task) { t.CompleteAfter = noon.AddDate(0, 0, 1) }
	s := situation([]lastmile.Task{task("new", 100, dependsOn("source"))}, worker("ada",
		task("before", 100), task("fixed", 100), task("plain", 100), task("pinned", 100), task("drop", 100, dependsOn("done")), task("later", 100, tomorrow),
		task("source", 100, pickup), task("pick", 100, pickup), task("dropped", 100, dependsOn("pick")),
		task("from", 100, pickup), task("kept", 100, dependsOn("from")),
	), worker("bob"))
	s.Completed = map[lastmile.TaskID]bool{"done": true}
	s.Pins = map[lastmile.TaskID]lastmile.Pin{"fixed": lastmile.PinPosition, "pinned": lastmile.PinWorker, "kept": lastmile.PinWorker}
	for _, between := range []bool{true, false} {
		s.Between = between
		m := filled(t, s)
		var free []lastmile.TaskID
		for i, may := range m.free {
			if may {
				free = append(free, m.tasks[i].ID)
			}
		}
		if want := []lastmile.TaskID{"plain", "pick", "dropped"}; between && !slices.Equal(free, want) || !between && len(free) > 0 {
			t.Errorf("%v: %v may move", between, free)
		}
	}
	far := worker("bob") // where the task is
	far.Worker.Whereabouts.Location = &lastmile.Point{Lon: 20_000.0 / 111_195}
	s = situation(nil, worker("ada", task("far", 20_000)), far)
	s.Between = true
	if got := order(planned(t, s), "bob"); !slices.Equal(got, []lastmile.TaskID{"far"}) {
		t.Errorf("bob has %v", got)
	}
}
