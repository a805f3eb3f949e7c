package assignment_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"dray/internal/assignment"
	"dray/internal/lastmile"
)

var testNow = time.Date(2026, time.March, 4, 12, 0, 0, 0, time.UTC)

// candidate returns a worker on the equator, at step tenths of a degree, with a
// queue.
func candidate(id lastmile.WorkerID, step int, queue ...assignment.QueuedTask) assignment.Candidate {
	return assignment.Candidate{Queue: queue, Worker: lastmile.Worker{
		ID: id, Name: strings.ToUpper(string(id)), Teams: []lastmile.TeamID{"all", lastmile.TeamID("of-" + id)},
		Whereabouts: lastmile.Whereabouts{OnDuty: true, Location: along(step)},
	}}
}

func along(step int) *lastmile.Point { return &lastmile.Point{Lon: float64(step) / 10, Lat: 0} }

// queued returns a queued task at a step.
func queued(id lastmile.TaskID, step int) assignment.QueuedTask {
	return assignment.QueuedTask{ID: id, Location: *along(step), Quantity: 1}
}

// waiting returns an unassigned task at a step.
func waiting(id lastmile.TaskID, step int) lastmile.Task {
	return lastmile.Task{ID: id, Organization: "acme", Quantity: 1, Destination: lastmile.Destination{Location: *along(step)}}
}

func TestMoveTasksTakesThemFromTheFormerWorker(t *testing.T) {
	candidates := []assignment.Candidate{
		candidate("former", 1, queued("a", 1), queued("b", 2)),
		candidate("next", 2, queued("b", 2), queued("c", 3)),
		candidate("other", 3, queued("d", 4)),
	}
	assignment.MoveTasks(candidates, "next", []lastmile.Task{waiting("a", 1), waiting("b", 2)})
	want := [][]assignment.QueuedTask{{}, {queued("c", 3), queued("a", 1), queued("b", 2)}, {queued("d", 4)}}
	for i, c := range candidates {
		if !slices.Equal(c.Queue, want[i]) {
			t.Errorf("%s has %v, want %v", c.Worker.ID, c.Queue, want[i])
		}
	}
}

func TestPickingAWorker(t *testing.T) {
	const distance, load = assignment.ByDistance, assignment.ByLoad
	near, far := candidate("near", 1), candidate("far", 5)
	busy := candidate("near", 1, queued("a", 9), queued("b", 1))
	capable := func(c assignment.Candidate, capacity, a, b, d float64) assignment.Candidate {
		c.Worker.Capacity, c.Worker.AdditionalCapacities = capacity, lastmile.Capacities{A: a, B: b, C: d}
		return c
	}
	lost := near
	lost.Worker.Whereabouts.Location = nil
	of := func(task lastmile.Task, quantity, a, b, c float64) []lastmile.Task {
		task.Quantity, task.AdditionalQuantities = quantity, lastmile.Capacities{A: a, B: b, C: c}
		return []lastmile.Task{task}
	}
	task := []lastmile.Task{waiting("t", 0)}
	tests := map[string]struct {
		tasks      []lastmile.Task
		candidates []assignment.Candidate
		options    assignment.Options
		want       lastmile.WorkerID
		excluded   map[lastmile.WorkerID]string
	}{
		"no candidates":                        {task, nil, assignment.Options{Mode: distance}, "", nil},
		"the nearest":                          {task, []assignment.Candidate{far, near}, assignment.Options{Mode: distance}, "near", nil},
		"the nearest, however busy":            {task, []assignment.Candidate{far, busy}, assignment.Options{Mode: distance}, "near", nil},
		"by load, who gets there first":        {task, []assignment.Candidate{far, busy}, assignment.Options{Mode: load}, "far", nil},
		"by load, the nearest of the idle":     {task, []assignment.Candidate{far, near}, assignment.Options{Mode: load}, "near", nil},
		"of two alike, the first by id":        {task, []assignment.Candidate{candidate("b", 1), candidate("a", -1)}, assignment.Options{Mode: distance}, "a", nil},
		"not the excluded":                     {task, []assignment.Candidate{far, near}, assignment.Options{Mode: distance, ExcludedWorkers: []lastmile.WorkerID{"near", "?"}}, "far", map[lastmile.WorkerID]string{"near": "excluded by the request"}},
		"none if all are excluded":             {task, []assignment.Candidate{far, near}, assignment.Options{Mode: distance, ExcludedWorkers: []lastmile.WorkerID{"near", "far"}}, "", map[lastmile.WorkerID]string{"near": "excluded", "far": "excluded"}},
		"of the team":                          {task, []assignment.Candidate{far, near}, assignment.Options{Mode: distance, Teams: []lastmile.TeamID{"of-far"}, RestrictToTeams: true}, "far", map[lastmile.WorkerID]string{"near": "not in the team"}},
		"of any of the teams":                  {task, []assignment.Candidate{far, near}, assignment.Options{Mode: distance, Teams: []lastmile.TeamID{"of-far", "all"}, RestrictToTeams: true}, "near", nil},
		"none if the team is empty":            {task, []assignment.Candidate{far, near}, assignment.Options{Mode: distance, Teams: []lastmile.TeamID{"empty"}, RestrictToTeams: true}, "", map[lastmile.WorkerID]string{"near": "not in the team", "far": "not in the team"}},
		"of the preferred team first":          {task, []assignment.Candidate{far, near}, assignment.Options{Mode: distance, Teams: []lastmile.TeamID{"of-far"}}, "far", map[lastmile.WorkerID]string{"near": "not in the team"}},
		"of another team if it is empty":       {task, []assignment.Candidate{far, near}, assignment.Options{Mode: distance, Teams: []lastmile.TeamID{"empty"}}, "near", nil},
		"of another when the team is full":     {task, []assignment.Candidate{far, capable(busy, 2, 0, 0, 0)}, assignment.Options{Mode: distance, Teams: []lastmile.TeamID{"of-near"}}, "far", map[lastmile.WorkerID]string{"near": "capacity exceeded: capacity 3 of 2"}},
		"whose place is known":                 {task, []assignment.Candidate{far, lost}, assignment.Options{Mode: distance}, "far", map[lastmile.WorkerID]string{"near": "no known location"}},
		"who has fewer tasks than allowed":     {task, []assignment.Candidate{far, busy}, assignment.Options{Mode: distance, MaxAssignedTaskCount: 2}, "far", map[lastmile.WorkerID]string{"near": "has as many tasks as allowed: 2 of 2"}},
		"who may have one more":                {task, []assignment.Candidate{far, busy}, assignment.Options{Mode: distance, MaxAssignedTaskCount: 3}, "near", nil},
		"no count means no limit":              {task, []assignment.Candidate{busy}, assignment.Options{Mode: distance}, "near", nil},
		"a capacity that is filled exactly":    {of(waiting("t", 0), 3, 0, 0, 0), []assignment.Candidate{capable(busy, 5, 0, 0, 0)}, assignment.Options{Mode: distance}, "near", nil},
		"a capacity that is exceeded":          {of(waiting("t", 0), 3.5, 0, 0, 0), []assignment.Candidate{capable(busy, 5, 0, 0, 0)}, assignment.Options{Mode: distance}, "", map[lastmile.WorkerID]string{"near": "capacity exceeded: capacity 5.5 of 5"}},
		"a capacity of zero means no limit":    {of(waiting("t", 0), 1e6, 1e6, 1e6, 1e6), []assignment.Candidate{near}, assignment.Options{Mode: distance}, "near", nil},
		"capacityA":                            {of(waiting("t", 0), 0, 3, 0, 0), []assignment.Candidate{far, capable(near, 0, 2, 9, 9)}, assignment.Options{Mode: distance}, "far", map[lastmile.WorkerID]string{"near": "capacity exceeded: capacityA 3 of 2"}},
		"capacityB":                            {of(waiting("t", 0), 0, 0, 3, 0), []assignment.Candidate{far, capable(near, 0, 9, 2, 9)}, assignment.Options{Mode: distance}, "far", map[lastmile.WorkerID]string{"near": "capacity exceeded: capacityB 3 of 2"}},
		"capacityC":                            {of(waiting("t", 0), 0, 0, 0, 3), []assignment.Candidate{far, capable(near, 0, 9, 9, 2)}, assignment.Options{Mode: distance}, "far", map[lastmile.WorkerID]string{"near": "capacity exceeded: capacityC 3 of 2"}},
		"a task of nothing, when full":         {of(waiting("t", 0), 0, 0, 0, 0), []assignment.Candidate{capable(busy, 2, 0, 0, 0)}, assignment.Options{Mode: distance}, "near", nil},
		"a family needs room for all":          {[]lastmile.Task{waiting("t", 0), waiting("u", 0)}, []assignment.Candidate{far, capable(busy, 3, 0, 0, 0)}, assignment.Options{Mode: distance}, "far", map[lastmile.WorkerID]string{"near": "capacity exceeded: capacity 4 of 3"}},
		"a family counts as many":              {[]lastmile.Task{waiting("t", 0), waiting("u", 0)}, []assignment.Candidate{far, busy}, assignment.Options{Mode: distance, MaxAssignedTaskCount: 3}, "far", map[lastmile.WorkerID]string{"near": "2 of 3"}},
		"what of a family is there is no more": {[]lastmile.Task{waiting("t", 0), waiting("b", 1)}, []assignment.Candidate{capable(busy, 3, 0, 0, 0)}, assignment.Options{Mode: distance, MaxAssignedTaskCount: 3}, "near", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			why := assignment.PickWorker(test.tasks, test.candidates, test.options, nil, testNow)
			if why.Chosen != test.want || why.Task != test.tasks[0].ID || why.Mode != test.options.Mode || !why.At.Equal(testNow) {
				t.Errorf("chose %q, want %q: %+v", why.Chosen, test.want, why)
			}
			if len(why.Considered) != len(test.candidates) || why.Total != len(test.candidates) {
				t.Errorf("%d of %d are in the explanation, which says %d", len(why.Considered), len(test.candidates), why.Total)
			}
			for _, c := range why.Considered {
				want := test.excluded[c.Worker]
				if (c.Excluded == "") != (want == "") || !strings.Contains(c.Excluded, want) {
					t.Errorf("%s is excluded because %q, want %q", c.Worker, c.Excluded, want)
				}
				if (c.Measure == nil) != (c.Excluded != "") || c.Name != strings.ToUpper(string(c.Worker)) {
					t.Errorf("got %+v", c)
				}
			}
		})
	}
}

func TestCapacityIsNotLostToRounding(t *testing.T) {
	c := candidate("w", 0)
	c.Worker.Capacity = 0.3
	tenth := waiting("t", 0)
	tenth.Quantity = 0.1
	for i := range 2 {
		q := queued(lastmile.TaskID(fmt.Sprint(i)), 0)
		q.Quantity = 0.1
		c.Queue = append(c.Queue, q)
	}
	if why := assignment.PickWorker([]lastmile.Task{tenth}, []assignment.Candidate{c}, assignment.Options{Mode: assignment.ByDistance}, nil, testNow); why.Chosen != "w" {
		t.Errorf("0.1 three times is rejected by a capacity of 0.3: %+v", why)
	}
}

func TestMeasures(t *testing.T) {
	c := candidate("w", 0, queued("a", 3), queued("b", 1))
	step := along(0).Distance(*along(1))
	for mode, want := range map[assignment.Mode]lastmile.Meters{
		assignment.ByDistance: 2 * step,
		assignment.ByLoad:     (3 + 2 + 1) * step, // there, back, and on
	} {
		got := *assignment.PickWorker([]lastmile.Task{waiting("t", 2)}, []assignment.Candidate{c}, assignment.Options{Mode: mode}, nil, testNow).Considered[0].Measure
		if diff := got - want; diff > 1 || diff < -1 {
			t.Errorf("by %s: %.1f m, want %.1f m", mode, got, want)
		}
	}
}

func TestAssignOptions(t *testing.T) {
	for name, test := range map[string]struct {
		options assignment.Options
		code    lastmile.Code
		word    string
	}{
		"no mode":          {assignment.Options{}, lastmile.CodeMalformed, "options.mode"},
		"an unknown mode":  {assignment.Options{Mode: "fastest"}, lastmile.CodeInvalid, "options.mode"},
		"a negative count": {assignment.Options{Mode: "load", MaxAssignedTaskCount: -1}, lastmile.CodeInvalid, "options.maxAssignedTaskCount"},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.options.Check("options")
			rejection, _ := errors.AsType[*lastmile.Error](err)
			if rejection == nil || rejection.Code != test.code || !strings.Contains(rejection.Message, test.word) {
				t.Errorf("got %v, want code %v and %q", err, test.code, test.word)
			}
		})
	}
	for _, mode := range []assignment.Mode{"distance", "load"} {
		if err := (assignment.Options{Mode: mode}).Check("options"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPickingAnyWorkerFromAny generates random situations and compares the
// choice with a straightforward implementation of the rules.
func TestPickingAnyWorkerFromAny(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	chosen := 0
	for range 3_000 {
		tasks, candidates, o := situation(random)
		why := assignment.PickWorker(tasks, candidates, o, nil, testNow)

		// The order of the candidates makes no difference.
		shuffled := slices.Clone(candidates)
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if again := assignment.PickWorker(tasks, shuffled, o, nil, testNow); !reflect.DeepEqual(why, again) {
			t.Fatalf("two orders of the same workers:\n%+v\n%+v", why, again)
		}
		best, found := lastmile.WorkerID(""), false
		var least lastmile.Meters
		for _, c := range candidates {
			if m := measureOf(c, tasks, o.Mode); fits(c, tasks, o) && (!found || m < least || m == least && c.Worker.ID < best) {
				best, least, found = c.Worker.ID, m, true
			}
		}
		if why.Chosen != best {
			t.Fatalf("chose %q, want %q of %+v with %+v", why.Chosen, best, candidates, o)
		}
		if found {
			chosen++
		}
	}
	if chosen < 500 || chosen > 2_900 {
		t.Errorf("a worker was chosen in %d of 3,000 situations: they are all alike", chosen)
	}
}

// situation generates tasks, candidates and options.
func situation(random *rand.Rand) ([]lastmile.Task, []assignment.Candidate, assignment.Options) {
	amount := func() float64 { return float64(random.IntN(5)) }
	tasks := make([]lastmile.Task, 1+random.IntN(3))
	for i := range tasks {
		tasks[i] = waiting(lastmile.TaskID(fmt.Sprintf("t%d", i)), random.IntN(20))
		tasks[i].Quantity, tasks[i].AdditionalQuantities = amount(), lastmile.Capacities{A: amount(), B: amount(), C: amount()}
	}
	candidates := make([]assignment.Candidate, random.IntN(6))
	for i := range candidates {
		c := candidate(lastmile.WorkerID(fmt.Sprintf("w%d", i)), random.IntN(20))
		c.Worker.Teams = []lastmile.TeamID{lastmile.TeamID(fmt.Sprint(random.IntN(3)))}
		c.Worker.Capacity = 5 * amount()
		c.Worker.AdditionalCapacities = lastmile.Capacities{A: 5 * amount(), B: 5 * amount(), C: 5 * amount()}
		for j := range random.IntN(4) {
			q := queued(lastmile.TaskID(fmt.Sprintf("q%d-%d", i, j)), random.IntN(20))
			q.Quantity, q.AdditionalQuantities = amount(), lastmile.Capacities{A: amount(), B: amount(), C: amount()}
			c.Queue = append(c.Queue, q)
		}
		candidates[i] = c
	}
	o := assignment.Options{Mode: assignment.ByDistance, MaxAssignedTaskCount: random.IntN(6), RestrictToTeams: true}
	if random.IntN(2) == 0 {
		o.Mode = assignment.ByLoad
	}
	if random.IntN(3) == 0 {
		o.Teams = []lastmile.TeamID{"0", "1"}
	}
	if random.IntN(3) == 0 {
		o.ExcludedWorkers = []lastmile.WorkerID{"w0", "w3"}
	}
	return tasks, candidates, o
}

// fits reports whether a worker is eligible for the tasks.
func fits(c assignment.Candidate, tasks []lastmile.Task, o assignment.Options) bool {
	if slices.Contains(o.ExcludedWorkers, c.Worker.ID) || len(o.Teams) > 0 && !slices.Contains(o.Teams, c.Worker.Teams[0]) {
		return false
	}
	if o.MaxAssignedTaskCount > 0 && len(c.Queue)+len(tasks) > o.MaxAssignedTaskCount {
		return false
	}
	var sum [4]float64
	for _, q := range c.Queue {
		sum = [4]float64{sum[0] + q.Quantity, sum[1] + q.AdditionalQuantities.A, sum[2] + q.AdditionalQuantities.B, sum[3] + q.AdditionalQuantities.C}
	}
	for _, q := range tasks {
		sum = [4]float64{sum[0] + q.Quantity, sum[1] + q.AdditionalQuantities.A, sum[2] + q.AdditionalQuantities.B, sum[3] + q.AdditionalQuantities.C}
	}
	more := c.Worker.AdditionalCapacities
	for i, most := range [4]float64{c.Worker.Capacity, more.A, more.B, more.C} {
		if most > 0 && sum[i] > most {
			return false
		}
	}
	return true
}

// measureOf returns the distance of a worker from the first task.
func measureOf(c assignment.Candidate, tasks []lastmile.Task, mode assignment.Mode) lastmile.Meters {
	stops := []lastmile.Point{*c.Worker.Whereabouts.Location}
	if mode == assignment.ByLoad {
		for _, q := range c.Queue {
			stops = append(stops, q.Location)
		}
	}
	way := lastmile.Meters(0)
	for i, stop := range append(stops, tasks[0].Destination.Location)[1:] {
		way += stops[i].Distance(stop)
	}
	return way
}

// TestPickByRoad compares workers by road where all ways are known.
func TestPickByRoad(t *testing.T) {
	at := func(lon float64) *lastmile.Point { return &lastmile.Point{Lon: lon, Lat: 50} }
	candidate := func(id lastmile.WorkerID, lon float64, queue ...float64) assignment.Candidate {
		c := assignment.Candidate{Worker: lastmile.Worker{ID: id, Whereabouts: lastmile.Whereabouts{OnDuty: true, Location: at(lon)}}}
		for _, q := range queue {
			c.Queue = append(c.Queue, assignment.QueuedTask{ID: "q", Location: *at(q)})
		}
		return c
	}
	task := lastmile.Task{ID: "t", Destination: lastmile.Destination{Location: *at(0)}}
	// The river is at 0.015: what is east of it is ten kilometers away.
	river := func(_ lastmile.VehicleType, way []lastmile.Point) (sum lastmile.Meters, known bool) {
		for i := 1; i < len(way); i++ {
			sum += way[i-1].Distance(way[i])
			if (way[i-1].Lon > 0.015) != (way[i].Lon > 0.015) {
				sum += 10_000
			}
		}
		return sum, true
	}
	unknown := func(lastmile.VehicleType, []lastmile.Point) (lastmile.Meters, bool) { return 0, false }
	across, here, busy := candidate("across", 0.016), candidate("here", -0.04), candidate("busy", -0.01, 0.02, 0)
	long := candidate("long", 0.001, make([]float64, 20)...)
	for name, test := range map[string]struct {
		candidates []assignment.Candidate
		mode       assignment.Mode
		ruler      assignment.Ruler
		want       lastmile.WorkerID
	}{
		"straight":                           {[]assignment.Candidate{across, here}, assignment.ByDistance, nil, "across"},
		"by road":                            {[]assignment.Candidate{across, here}, assignment.ByDistance, river, "here"},
		"a way that is not known":            {[]assignment.Candidate{across, here}, assignment.ByDistance, unknown, "across"},
		"through the tasks by road":          {[]assignment.Candidate{busy, candidate("w", -0.12)}, assignment.ByLoad, river, "w"},
		"too many tasks to measure":          {[]assignment.Candidate{long, across, here}, assignment.ByLoad, river, "long"},
		"through no tasks, by distance":      {[]assignment.Candidate{busy, here}, assignment.ByDistance, river, "busy"},
		"a worker without a location is not": {[]assignment.Candidate{{Worker: lastmile.Worker{ID: "lost"}}, here}, assignment.ByDistance, river, "here"},
	} {
		t.Run(name, func(t *testing.T) {
			why := assignment.PickWorker([]lastmile.Task{task}, test.candidates, assignment.Options{Mode: test.mode}, test.ruler, testNow)
			if why.Chosen != test.want {
				t.Errorf("chose %s, want %s", why.Chosen, test.want)
			}
		})
	}
}
