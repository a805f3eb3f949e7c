package assignment

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"dray/internal/lastmile"
)

// Mode is the measure by which the best worker for a task is chosen.
type Mode string

// The modes of automatic assignment.
const (
	ByDistance Mode = "distance" // by the distance of the last known location
	ByLoad     Mode = "load"     // by the distance through all of the worker's tasks
)

// Values lists every mode.
func (Mode) Values() []Mode { return []Mode{ByDistance, ByLoad} }

// Options are the options of an automatic assignment.
type Options struct {
	Mode                 Mode
	Teams                []lastmile.TeamID // workers of these teams are preferred; empty for all workers
	RestrictToTeams      bool              // consider no other workers
	MaxAssignedTaskCount int               // 0 for no limit
	ExcludedWorkers      []lastmile.WorkerID
	ConsiderDependencies bool
}

// Check rejects invalid options.
func (o Options) Check(field string) error {
	switch {
	case o.Mode == "":
		return lastmile.Missing(field + ".mode")
	case o.Mode != ByDistance && o.Mode != ByLoad:
		return lastmile.Invalid("%s.mode must be distance or load, not %q", field, lastmile.Truncate(string(o.Mode), lastmile.MaxShown))
	case o.MaxAssignedTaskCount < 0:
		return lastmile.Invalid("%s.maxAssignedTaskCount must not be negative", field)
	}
	return nil
}

// QueuedTask is a task on a worker's route, as far as assignment needs it.
type QueuedTask struct {
	ID                   lastmile.TaskID
	Location             lastmile.Point
	Quantity             float64
	AdditionalQuantities lastmile.Capacities
}

// Candidate is a worker considered for a task, with the worker's route: the
// active task first, then the list in order.
type Candidate struct {
	Worker lastmile.Worker
	Queue  []QueuedTask
}

// Reasons why a worker was excluded.
const (
	ReasonExcluded   = "excluded by the request"
	ReasonOtherTeam  = "not in the team"
	ReasonNoLocation = "no known location"
	ReasonTaskCount  = "has as many tasks as allowed"
	ReasonCapacity   = "capacity exceeded"
)

// MaxConsidered is the maximum number of workers in an explanation, the best ones.
const MaxConsidered = 100

// Explanation is why a task was assigned to a worker, or to none.
type Explanation struct {
	Task       lastmile.TaskID
	At         time.Time
	Mode       Mode
	Chosen     lastmile.WorkerID // empty if no worker is eligible
	Considered []Consideration
	Total      int // workers who were considered, listed or not
}

// Consideration is the part of an explanation about one worker.
type Consideration struct {
	Worker   lastmile.WorkerID
	Name     string
	Measure  *lastmile.Meters // nil if excluded
	Excluded string           // reason; empty if not excluded
}

// Ruler returns the length of a route by road, and whether it is known.
type Ruler func(by lastmile.VehicleType, way []lastmile.Point) (lastmile.Meters, bool)

// Limits of measuring by road, which costs more than a straight line: the number of
// nearest workers to compare, and the number of locations on the route of each.
const (
	maxMeasured = 10
	maxStops    = 12
)

// PickWorker chooses the best worker for tasks that must be assigned together, and
// returns the explanation. Workers are compared by straight-line distance to the
// first task, and the nearest ones then by road, unless byRoad is nil.
func PickWorker(tasks []lastmile.Task, candidates []Candidate, o Options, byRoad Ruler, now time.Time) Explanation {
	why := Explanation{Task: tasks[0].ID, At: now, Mode: o.Mode}
	for _, c := range candidates {
		c.Queue = without(c.Queue, tasks)
		verdict := Consideration{Worker: c.Worker.ID, Name: c.Worker.Name, Excluded: c.exclusionReason(tasks, o)}
		if verdict.Excluded == "" {
			measure := c.measure(tasks[0].Destination.Location, o.Mode)
			verdict.Measure = &measure
		}
		why.Considered = append(why.Considered, verdict)
	}
	slices.SortStableFunc(why.Considered, Consideration.compare)
	if byRoad != nil {
		measureByRoad(why.Considered, tasks, candidates, o.Mode, byRoad)
	}
	if len(why.Considered) > 0 && why.Considered[0].Measure != nil {
		why.Chosen = why.Considered[0].Worker
	}
	if why.Chosen == "" && len(o.Teams) > 0 && !o.RestrictToTeams {
		o.Teams = nil
		return PickWorker(tasks, candidates, o, byRoad, now)
	}
	why.Total = len(why.Considered)
	why.Considered = slices.Clone(why.Considered[:min(len(why.Considered), MaxConsidered)])
	return why
}

// compare orders considerations, the nearest worker first.
func (c Consideration) compare(other Consideration) int {
	switch {
	case c.Measure == nil && other.Measure == nil:
		return cmp.Compare(c.Worker, other.Worker)
	case c.Measure == nil:
		return 1
	case other.Measure == nil:
		return -1
	}
	return cmp.Or(cmp.Compare(*c.Measure, *other.Measure), cmp.Compare(c.Worker, other.Worker))
}

// measureByRoad measures the nearest workers by road and sorts them again. If the
// route of one of them is unknown or has more than maxStops locations, all keep their
// straight-line distances, so that like is compared with like.
func measureByRoad(sorted []Consideration, tasks []lastmile.Task, candidates []Candidate, mode Mode, byRoad Ruler) {
	nearest := sorted[:min(len(sorted), maxMeasured)]
	if end := slices.IndexFunc(nearest, func(c Consideration) bool { return c.Measure == nil }); end >= 0 {
		nearest = nearest[:end]
	}
	measures := make([]lastmile.Meters, len(nearest))
	for i, one := range nearest {
		at := slices.IndexFunc(candidates, func(c Candidate) bool { return c.Worker.ID == one.Worker })
		c := candidates[at]
		c.Queue = without(c.Queue, tasks)
		way := c.way(tasks[0].Destination.Location, mode)
		if len(way) > maxStops {
			return
		}
		var known bool
		if measures[i], known = byRoad(c.Worker.TravelsBy(), way); !known {
			return
		}
	}
	for i := range nearest {
		nearest[i].Measure = &measures[i]
	}
	slices.SortStableFunc(nearest, Consideration.compare)
}

// without returns the queue without the given tasks, which would move to its
// end.
func without(queue []QueuedTask, tasks []lastmile.Task) []QueuedTask {
	left := make([]QueuedTask, 0, len(queue))
	for _, q := range queue {
		if !slices.ContainsFunc(tasks, func(t lastmile.Task) bool { return t.ID == q.ID }) {
			left = append(left, q)
		}
	}
	return left
}

// MoveTasks moves tasks from any other candidate to the end of a worker's
// queue.
func MoveTasks(candidates []Candidate, to lastmile.WorkerID, tasks []lastmile.Task) {
	for i := range candidates {
		c := &candidates[i]
		c.Queue = without(c.Queue, tasks)
		if c.Worker.ID != to {
			continue
		}
		for _, t := range tasks {
			c.Queue = append(c.Queue, QueuedTask{
				ID: t.ID, Location: t.Destination.Location, Quantity: t.Quantity, AdditionalQuantities: t.AdditionalQuantities,
			})
		}
	}
}

// exclusionReason returns why the worker is not eligible for the tasks; empty if
// eligible.
func (c Candidate) exclusionReason(tasks []lastmile.Task, o Options) string {
	switch {
	case slices.Contains(o.ExcludedWorkers, c.Worker.ID):
		return ReasonExcluded
	case len(o.Teams) > 0 && !slices.ContainsFunc(c.Worker.Teams, func(id lastmile.TeamID) bool { return slices.Contains(o.Teams, id) }):
		return ReasonOtherTeam
	case c.Worker.Whereabouts.Location == nil:
		return ReasonNoLocation
	case o.MaxAssignedTaskCount > 0 && len(c.Queue)+len(tasks) > o.MaxAssignedTaskCount:
		return fmt.Sprintf("%s: %d of %d", ReasonTaskCount, len(c.Queue), o.MaxAssignedTaskCount)
	}
	return c.overloadReason(tasks)
}

// rounding is the tolerance for sums that fill a capacity exactly: in floating
// point, three times 0.1 exceeds 0.3.
const rounding = 1 + 1e-9

// overloadReason returns which capacity the tasks would exceed; empty if none. A
// capacity of zero means no limit.
func (c Candidate) overloadReason(tasks []lastmile.Task) string {
	var load lastmile.Capacities
	units := 0.0
	for _, q := range c.Queue {
		units += q.Quantity
		load = plus(load, q.AdditionalQuantities)
	}
	for _, t := range tasks {
		units += t.Quantity
		load = plus(load, t.AdditionalQuantities)
	}
	most := c.Worker.AdditionalCapacities
	for _, m := range []struct {
		name       string
		load, most float64
	}{
		{"capacity", units, c.Worker.Capacity},
		{"capacityA", load.A, most.A},
		{"capacityB", load.B, most.B},
		{"capacityC", load.C, most.C},
	} {
		if m.most > 0 && m.load > m.most*rounding {
			return fmt.Sprintf("%s: %s %g of %g", ReasonCapacity, m.name, m.load, m.most)
		}
	}
	return ""
}

func plus(a, b lastmile.Capacities) lastmile.Capacities {
	return lastmile.Capacities{A: a.A + b.A, B: a.B + b.B, C: a.C + b.C}
}

// measure returns the distance of the worker from a location: direct, or
// through all of the worker's tasks.
func (c Candidate) measure(place lastmile.Point, mode Mode) (sum lastmile.Meters) {
	at := *c.Worker.Whereabouts.Location
	if mode == ByLoad {
		for _, q := range c.Queue {
			sum += at.Distance(q.Location)
			at = q.Location
		}
	}
	return sum + at.Distance(place)
}

// way returns the locations along the route whose length measure returns.
func (c Candidate) way(place lastmile.Point, mode Mode) []lastmile.Point {
	way := []lastmile.Point{*c.Worker.Whereabouts.Location}
	if mode == ByLoad {
		for _, q := range c.Queue {
			way = append(way, q.Location)
		}
	}
	return append(way, place)
}

// Assigned maps each assigned task to its worker.
type Assigned map[lastmile.TaskID]lastmile.WorkerID
