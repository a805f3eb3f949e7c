package dispatch

import (
	"context"
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"

	"dray/internal/lastmile"
	"dray/internal/planning"
	"dray/internal/store"
	"dray/internal/travel"
)

// lists is a Reader of a team and its workers that records which tasks are read. The methods
// that tests do not need are missing.
type lists struct {
	Reader
	workers []lastmile.Worker
	team    []lastmile.TaskID
	needs   map[lastmile.TaskID]lastmile.TaskID
	done    map[lastmile.TaskID]lastmile.WorkerID // completed pickups
	read    []lastmile.TaskID
	most    int // maximum number of tasks that were read at a time
}

func (l *lists) Team(_ context.Context, _ lastmile.OrganizationID, id lastmile.TeamID) (lastmile.Team, error) {
	return lastmile.Team{ID: id}, nil
}

func (l *lists) Container(_ context.Context, _ lastmile.OrganizationID, in lastmile.ContainerRef) (lastmile.Container, error) {
	return lastmile.Container{ContainerRef: in, Tasks: l.team}, nil
}

func (l *lists) Workers(context.Context, lastmile.OrganizationID, store.WorkerFilter) ([]lastmile.Worker, error) {
	return l.workers, nil
}

func (l *lists) WholeWorker(context.Context, lastmile.OrganizationID, lastmile.WorkerID) (lastmile.Worker, error) {
	return l.workers[0], nil
}

func (l *lists) Schedule(context.Context, lastmile.OrganizationID, lastmile.WorkerID) (lastmile.Schedule, error) {
	return nil, nil
}

func (l *lists) Pins(context.Context, lastmile.OrganizationID, lastmile.WorkerID) (map[lastmile.TaskID]lastmile.Pin, error) {
	return nil, nil
}

func (l *lists) Unfinished(_ context.Context, _ lastmile.OrganizationID, ids []lastmile.TaskID) ([]lastmile.TaskID, error) {
	return slices.DeleteFunc(slices.Clone(ids), func(id lastmile.TaskID) bool { return l.done[id] != "" }), nil
}

func (l *lists) Carriers(_ context.Context, _ lastmile.OrganizationID, ids []lastmile.TaskID) (map[lastmile.TaskID]lastmile.WorkerID, error) {
	found := map[lastmile.TaskID]lastmile.WorkerID{}
	for _, id := range ids {
		found[id] = l.done[id]
	}
	return found, nil
}

func (l *lists) TasksOf(_ context.Context, _ lastmile.OrganizationID, ids []lastmile.TaskID) ([]lastmile.Task, error) {
	l.read, l.most = append(l.read, ids...), max(l.most, len(ids))
	return l.tasks(ids), nil
}

func (l *lists) tasks(ids []lastmile.TaskID) (all []lastmile.Task) {
	for _, id := range ids {
		t := lastmile.Task{ID: id, Notes: "a note", State: lastmile.TaskAssigned}
		if n, err := strconv.Atoi(string(id)); err == nil {
			t.Destination.Location = lastmile.Point{Lat: float64(n+1) / 1000}
		}
		if on := l.needs[id]; on != "" {
			t.Dependencies = []lastmile.TaskID{on}
		}
		all = append(all, t)
	}
	return all
}

// add adds a worker with tasks, the first of which is active. A lost worker is off duty, and
// has no known location.
func (l *lists) add(name string, tasks int, lost bool) {
	w := lastmile.Worker{ID: lastmile.WorkerID(name)}
	if !lost {
		w.Whereabouts = lastmile.Whereabouts{OnDuty: true, Location: &lastmile.Point{}, LocatedAt: estimateNow}
	}
	for i := range tasks {
		w.Tasks = append(w.Tasks, lastmile.TaskID(fmt.Sprint(name, "-", i)))
	}
	if tasks > 0 {
		w.ActiveTask, w.Tasks = w.Tasks[0], w.Tasks[1:]
	}
	l.workers = append(l.workers, w)
}

// TestSituationsReadWhatIsPlanned checks that a dispatch reads no more tasks than it may
// consider, however many the workers have, and has the same model as if it had read all of
// them.
func TestSituationsReadWhatIsPlanned(t *testing.T) {
	const longest = planning.MaxTasksPerRoute
	crew := func(workers, tasks int) *lists {
		l := &lists{team: []lastmile.TaskID{"new"}}
		for i := range workers {
			l.add(fmt.Sprint("w", i), tasks, false)
		}
		return l
	}
	busy := crew(1, 3)
	busy.add("busy", 50*longest, false)
	busy.add("lost", longest, true)
	most := crew(planning.MaxTasks/longest, longest)
	most.team = nil
	beyond := crew(planning.MaxTasks/longest, longest)
	beyond.add("one", 1, false)
	beyond.add("more", 70, false)
	beyond.needs = map[lastmile.TaskID]lastmile.TaskID{"new": "more-69"}
	team, again := lastmile.Dispatch{Team: "t"}, lastmile.Dispatch{Team: "t", Replan: &lastmile.Replan{}}
	for name, test := range map[string]struct {
		lists    *lists
		d        lastmile.Dispatch
		read     int
		rejected bool
	}{
		"few":                      {crew(2, 5), team, 11, false},
		"workers who are left out": {busy, team, 4, false},
		"too many of one worker":   {crew(1, 50*longest), lastmile.Dispatch{Worker: "w0"}, 0, false},
		"as many as allowed":       {most, team, planning.MaxTasks, false},
		"more than allowed":        {beyond, team, planning.MaxTasks + 1, true},
		"many more than allowed":   {crew(60, longest), team, planning.MaxTasks + 1, true},
		"few, again":               {crew(2, 5), again, 10, false},
		"many more, again":         {crew(60, longest), again, planning.MaxTasks, true},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			if test.d.Options, err = (planning.Request{MaxTasksPerRoute: new(longest), RouteEnd: new(*string)}).Options(estimateNow); err != nil {
				t.Fatal(err)
			}
			got, err := readSituation(t.Context(), test.lists, test.d, estimateNow)
			if err != nil {
				t.Fatal(err)
			}
			if n := len(test.lists.read); n != test.read || test.lists.most > longest {
				t.Errorf("%d tasks were read, up to %d at a time; want %d", n, test.lists.most, test.read)
			}
			whole := got
			whole.Candidates = slices.Clone(got.Candidates)
			for i, c := range whole.Candidates {
				if slices.ContainsFunc(c.Tasks, func(t lastmile.Task) bool { return t.Notes != "" }) {
					t.Errorf("the tasks of %s have notes", c.Worker.ID)
				}
				whole.Candidates[i].Tasks, whole.Candidates[i].Unread = slim(test.lists.tasks(c.Worker.Route())), nil
			}
			model, err := planning.NewModel(got)
			want, problem := planning.NewModel(whole)
			if fmt.Sprint(err) != fmt.Sprint(problem) || !reflect.DeepEqual(model, want) {
				t.Errorf("the model is not that of all tasks: %v, want %v", err, problem)
			}
			if (err != nil) != test.rejected {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestSituationsKnowCarriers: a drop-off is planned for the worker who has carried out its
// pickup.
func TestSituationsKnowCarriers(t *testing.T) {
	l := &lists{
		team: []lastmile.TaskID{"drop", "other"}, needs: map[lastmile.TaskID]lastmile.TaskID{"drop": "picked", "other": "waits"},
		done: map[lastmile.TaskID]lastmile.WorkerID{"picked": "w1"},
	}
	l.add("w0", 0, false)
	l.add("w1", 0, false)
	var d lastmile.Dispatch
	var err error
	d.Team = "t"
	if d.Options, err = (planning.Request{RouteEnd: new(*string)}).Options(estimateNow); err != nil {
		t.Fatal(err)
	}
	s, err := readSituation(t.Context(), l, d, estimateNow)
	if err != nil {
		t.Fatal(err)
	}
	m, err := planning.NewModel(s)
	if err != nil {
		t.Fatal(err)
	}
	if stops := m.Problem.Stops; len(stops) != 1 || !slices.Equal(stops[0].Vehicles, []int{1}) {
		t.Errorf("the stops are %+v", stops)
	}
}

// trips is a store of lists without trips.
type trips struct{ *lists }

func (s trips) Trips(context.Context, lastmile.OrganizationID, int) ([]lastmile.Trip, error) {
	return nil, nil
}

func (s trips) Read(_ context.Context, fn func(Reader) error) error { return fn(s) }

func (s trips) Write(context.Context, func(Writer) error) error { return nil }

// heaps is a source of travel times that records the size of the heap.
type heaps struct {
	Travel
	sizes []uint64
}

func (h *heaps) Matrix(_ context.Context, _ lastmile.VehicleType, from, to []lastmile.Point) (travel.Times, error) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	h.sizes = append(h.sizes, m.HeapAlloc)
	return travel.NewTimes(len(from), len(to), ""), nil
}

// TestMatricesAreFreed checks that the travel times of one type of vehicle are not in memory
// any more when those of the next one are read, except for what the model keeps.
func TestMatricesAreFreed(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	runtime.GC()
	const workers = 150
	l := &lists{}
	for i := range workers {
		l.add(fmt.Sprint("w", i), 0, false)
		l.workers[i].Whereabouts.Location = &lastmile.Point{Lon: float64(i) / 1000}
		if n := i % (len(lastmile.VehicleTypes) + 1); n > 0 {
			l.workers[i].Vehicle = &lastmile.Vehicle{Type: lastmile.VehicleTypes[n-1]}
		}
	}
	for i := range 850 {
		l.team = append(l.team, lastmile.TaskID(fmt.Sprint(i)))
	}
	h := &heaps{}
	d := lastmile.Dispatch{Team: "t"}
	var err error
	if d.Options, err = (planning.Request{RouteEnd: new(*string), AnyVehicle: true}).Options(estimateNow); err != nil {
		t.Fatal(err)
	}
	ds := &Dispatches{Store: trips{l}, Travel: h, Speed: 1}
	m, err := ds.model(t.Context(), d, estimateNow)
	if err != nil {
		t.Fatal(err)
	}
	n := len(m.Places)
	const kept = 8 // bytes for each pair
	if most := h.sizes[0] + uint64(len(h.sizes)*kept*n*n); len(h.sizes) != 5 || n < 500 || h.sizes[4] > most {
		t.Errorf("%d locations, the sizes of the heap are %d, at most %d are allowed", n, h.sizes, most)
	}
}
