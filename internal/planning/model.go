package planning

import (
	"fmt"
	"math"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/optimize"
)

// MaxTasks and MaxWorkers are the maximum numbers of tasks and workers that a dispatch
// considers. The memory for travel times grows with the square of their sum.
const (
	MaxTasks   = 2_000
	MaxWorkers = 200
)

// MaxDistance is the maximum distance between any two locations of a dispatch.
const MaxDistance lastmile.Meters = 200 * 1609.344

// FreshLocation is the maximum age of a worker's last location at which the route starts
// there.
const FreshLocation = 30 * time.Minute

// Candidate is a worker on duty who may take part in a dispatch.
type Candidate struct {
	Worker   lastmile.Worker
	Tasks    []lastmile.Task // on the route: the active one first, then the list in order
	Schedule lastmile.Schedule

	// Unread are tasks on the route that were not read, because the worker does not
	// take part or there are more than a dispatch considers.
	Unread []lastmile.TaskID
}

// Situation is the input of a dispatch.
type Situation struct {
	Options    lastmile.DispatchOptions
	Now        time.Time
	Hub        *lastmile.Hub // hub of the team, if it has one
	EndHub     *lastmile.Hub // the hub named by Options.RouteEnd, if any
	Candidates []Candidate
	Tasks      []lastmile.Task                       // not assigned to a worker
	Completed  map[lastmile.TaskID]bool              // completed tasks that others depend on
	Carriers   map[lastmile.TaskID]lastmile.WorkerID // who has carried out a pickup of these
	Pins       map[lastmile.TaskID]lastmile.Pin

	// Between lets the tasks of workers move to other workers, and AnyVehicle accepts
	// different types of vehicles.
	Between, AnyVehicle bool
}

// Model is a situation as a problem for the optimizer.
type Model struct {
	Problem optimize.Problem
	Origin  time.Time // time 0 of the problem

	// Places are the locations of the problem, and Types the vehicle types of its
	// profiles. Fill adds the travel times between all Places for each of the Types.
	Places []lastmile.Point
	Types  []lastmile.VehicleType

	options    lastmile.DispatchOptions
	tasks      []lastmile.Task // by stop
	holder     []int           // by stop: index of the crew member who has the task, or -1
	crew       []Candidate
	held       [][]lastmile.Task         // by crew member: the tasks on the route that are planned
	parts      [][][]int                 // by crew member and shift: the stops of these tasks
	pins       []lastmile.Pin            // by stop
	free       []bool                    // by stop: whether it may leave the worker who has it
	vehicle    []int                     // by stop: the vehicle whose worker has it, or -1
	owner      []int                     // by vehicle: index in crew
	now        [][]int                   // by vehicle: its stops in their current order
	excluded   []lastmile.DispatchReason // workers who do not take part
	left       []lastmile.UnplannedTask  // tasks that cannot take part
	index      map[lastmile.TaskID]int   // stop of a task
	places     map[lastmile.Point]int
	scale      [optimize.Dimensions]float64 // factor of loads by dimension; 0 if no worker has a limit
	relaxed    bool                         // set by relax
	pickups    [][]int                      // by stop: the pickups of a drop-off that the same worker has or may get
	extra      []extraLoad                  // by stop; empty for all but such drop-offs
	quantities []optimize.Load              // by stop
	strict     []optimize.Vehicle           // the vehicles before KeepExisting
	open       [][]int                      // by stop: the vehicles that may serve it, even if they are closed
	ends       []int                        // by vehicle: when its stops in their current order end
	pinned     []bool                       // by vehicle: whether its stops have been kept in their current order
	closed     []bool                       // by vehicle: whether it serves only the stops of its worker

	whole *Model // before split, if this model is from it

	byFormula []func(from, to int) bool // by type: whether a travel time is by formula
}

// NewModel returns the model of a situation. It rejects situations that exceed the limits of
// a dispatch.
func NewModel(s Situation) (*Model, error) {
	m := &Model{
		options: s.Options, Origin: s.Now.Truncate(time.Second), index: map[lastmile.TaskID]int{}, places: map[lastmile.Point]int{},
	}
	if err := m.choose(s); err != nil {
		return nil, err
	}
	behind, unread := 0, 0
	for i, c := range m.crew {
		m.held = append(m.held, s.planned(c))
		behind += len(c.Tasks) - len(m.held[i])
		for _, t := range m.held[i] {
			m.addStop(t, i)
		}
		for _, id := range c.Unread {
			m.index[id] = optimize.None // others may depend on it
		}
		unread += len(c.Unread)
	}
	for _, t := range m.participants(s) {
		m.addStop(t, -1)
	}
	n := len(m.tasks) + unread
	if unread > 0 { // then there are too many even if some of them would stay behind
		n += behind
	}
	if n > MaxTasks || unread > 0 {
		return nil, lastmile.Invalid("the dispatch would consider %d tasks; at most %d are allowed: shorten taskTimeWindow or use smaller teams", n, MaxTasks)
	}
	if len(m.crew) > MaxWorkers {
		return nil, lastmile.Invalid("the dispatch would consider %d workers; at most %d are allowed", len(m.crew), MaxWorkers)
	}
	m.lock(s)
	for i, c := range m.crew {
		m.addVehicles(i, c, s)
	}
	if shifts := len(m.Problem.Vehicles); shifts > optimize.MaxVehicles {
		return nil, lastmile.Invalid("the dispatch would consider %d shifts; at most %d are allowed: shorten scheduleTimeWindow or use smaller teams", shifts, optimize.MaxVehicles)
	}
	m.addPrecedences()
	m.tieToCarriers(s)
	m.addLoads()
	return m, m.checkDistances()
}

// Considers reports whether the window of a task overlaps the window of a request.
func Considers(o lastmile.DispatchOptions, t lastmile.Task) bool {
	w := o.TaskWindow
	return (t.CompleteBefore.IsZero() || !t.CompleteBefore.Before(w.From)) && (t.CompleteAfter.IsZero() || t.CompleteAfter.Before(w.To))
}

// choose decides which workers take part.
func (m *Model) choose(s Situation) error {
	types := map[lastmile.VehicleType]bool{}
	for _, c := range s.Candidates {
		types[c.Worker.TravelsBy()] = true
	}
	if m.options.VehicleType == "" && len(types) > 1 && !s.AnyVehicle {
		return lastmile.Invalid("filters.workers.vehicleType is required, or filters.workers.anyVehicle: the workers on duty in the team have %d different types of vehicles", len(types))
	}
	for _, c := range s.Candidates {
		rule, why := s.exclusion(c)
		if rule == "" {
			m.crew = append(m.crew, c)
			continue
		}
		m.excluded = append(m.excluded, lastmile.DispatchReason{Worker: c.Worker.ID, Rule: rule, Detail: why})
	}
	return nil
}

// TakesPart reports whether a candidate takes part. This does not depend on which of the
// tasks were read.
func (s Situation) TakesPart(c Candidate) bool {
	rule, _ := s.exclusion(c)
	return rule == ""
}

// CheckTakePart rejects a situation in which a candidate does not take part.
func (s Situation) CheckTakePart() error {
	for _, c := range s.Candidates {
		if _, why := s.exclusion(c); why != "" {
			return lastmile.Invalid("the route of worker %s cannot be planned: %s", c.Worker.ID, why)
		}
	}
	return nil
}

// exclusion returns the rule by which a candidate does not take part, and why; both are
// empty for a candidate who does.
func (s Situation) exclusion(c Candidate) (rule lastmile.DispatchRule, why string) {
	o, by := s.Options, c.Worker.TravelsBy()
	switch n := len(c.Tasks) + len(c.Unread); {
	case o.VehicleType != "" && o.VehicleType != AnyVehicle && by != o.VehicleType:
		return lastmile.RuleFilter, fmt.Sprintf("vehicle type %s, required %s", typeName(by), o.VehicleType)
	case n > o.MaxContainerSize:
		return lastmile.RuleFilter, fmt.Sprintf("has %d tasks, at most %d", n, o.MaxContainerSize)
	case o.MaxTasksPerRoute == 0: // the optimizer would treat 0 as no limit
		return lastmile.RuleRouteLength, "1 task, at most 0"
	case len(shifts(c.Schedule, s.working())) == 0:
		return lastmile.RuleSchedule, fmt.Sprintf("no shift between %s and %s", clock(o.ScheduleWindow.From, s.Now), clock(o.ScheduleWindow.To, s.Now))
	case startOf(c, s) == nil:
		return lastmile.RuleDistance, "no known location"
	}
	return "", ""
}

func typeName(v lastmile.VehicleType) string {
	if v == lastmile.OnFoot {
		return "none"
	}
	return string(v)
}

// clock formats a time, with the date if it is 12 hours or more from now.
func clock(t, now time.Time) string {
	if t.Sub(now).Abs() < 12*time.Hour {
		return t.UTC().Format("15:04 UTC")
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}

// startOf returns where the route of a worker starts: at the last location if it is recent,
// otherwise at the first that is known of the hub of the team, the worker's address, and the
// last location, however old.
func startOf(c Candidate, s Situation) *lastmile.Point {
	w := c.Worker.Whereabouts
	if w.Location != nil && s.Now.Sub(w.LocatedAt) <= FreshLocation {
		return w.Location
	}
	if base := baseOf(c, s); base != nil {
		return base
	}
	return w.Location
}

// baseOf returns where a worker begins a shift: at the hub of the team, otherwise at the
// worker's address; nil if neither is known.
func baseOf(c Candidate, s Situation) *lastmile.Point {
	switch {
	case s.Hub != nil:
		return &s.Hub.Location
	case c.Worker.Routing != nil:
		return &c.Worker.Routing.Location
	}
	return nil
}

// endOf returns where the route of a worker ends; nil for anywhere.
func endOf(c Candidate, s Situation) *lastmile.Point {
	switch {
	case s.EndHub != nil:
		return &s.EndHub.Location
	case s.Options.RouteEnd == EndAtTeamHub && s.Hub != nil:
		return &s.Hub.Location
	case s.Options.RouteEnd == EndAtWorkerAddress && c.Worker.Routing != nil:
		return &c.Worker.Routing.Location
	}
	return nil
}

// planned returns the tasks on a worker's route that are planned. One that must not begin
// before the last shift ends stays behind them, or else the worker would have to wait for it
// and could be given other tasks until then. Positions that are pinned, and tasks that others
// depend on, are kept.
func (s Situation) planned(c Candidate) []lastmile.Task {
	all := shifts(c.Schedule, s.working())
	end := all[len(all)-1].To
	needed := map[lastmile.TaskID]bool{}
	var kept []lastmile.Task
	before := false // a position that is pinned follows
	for _, t := range slices.Backward(c.Tasks) {
		before = before || s.Pins[t.ID] == lastmile.PinPosition
		if t.State == lastmile.TaskAssigned && !t.CompleteAfter.Before(end) && !before && !needed[t.ID] {
			continue
		}
		kept = append(kept, t)
		for _, id := range t.Dependencies {
			needed[id] = true
		}
	}
	slices.Reverse(kept)
	return kept
}

// seconds converts a time to the seconds of the optimizer, rounded down.
func (m *Model) seconds(t time.Time) int {
	return min(max(int(t.Truncate(time.Second).Sub(m.Origin)/time.Second), -optimize.MaxTime), optimize.MaxTime)
}

// at converts the seconds of the optimizer to a time.
func (m *Model) at(n int) time.Time { return m.Origin.Add(time.Duration(n) * time.Second) }

func (m *Model) place(p lastmile.Point) int {
	at, known := m.places[p]
	if !known {
		at = len(m.Places)
		m.places[p] = at
		m.Places = append(m.Places, p)
	}
	return at
}

// addStop adds a task. holder is the crew member on whose route it is, or -1.
func (m *Model) addStop(t lastmile.Task, holder int) {
	service := m.options.ServiceTime
	if t.ServiceTime != nil {
		service = *t.ServiceTime
	}
	stop := optimize.Stop{
		Location: m.place(t.Destination.Location), Service: int(service / time.Second),
		Earliest: -optimize.MaxTime, Latest: optimize.MaxTime, MaxLateness: int(m.options.MaxAllowedDelay / time.Second),
	}
	if !t.CompleteAfter.IsZero() && t.State != lastmile.TaskActive {
		stop.Earliest = m.seconds(t.CompleteAfter.Add(time.Second - 1)) // rounded up
	}
	if !t.CompleteBefore.IsZero() {
		stop.Latest = max(m.seconds(t.CompleteBefore), stop.Earliest) // the window may have no full second
	}
	if !t.Completion.Arrived().IsZero() { // its lateness does not change any more
		stop.Latest = optimize.MaxTime
		if late := t.Late(m.Origin); late > 0 {
			stop.Latest = m.seconds(m.Origin.Add(-late))
		}
	}
	m.index[t.ID] = len(m.tasks)
	m.tasks, m.holder, m.vehicle = append(m.tasks, t), append(m.holder, holder), append(m.vehicle, -1)
	m.Problem.Stops = append(m.Problem.Stops, stop)
}

// checkDistances rejects locations that are too far apart. It compares every pair only if
// the locations are not all in a small area.
func (m *Model) checkDistances() error {
	if len(m.Places) == 0 {
		return nil
	}
	low, high := m.Places[0], m.Places[0]
	for _, p := range m.Places {
		low.Lon, low.Lat = min(low.Lon, p.Lon), min(low.Lat, p.Lat)
		high.Lon, high.Lat = max(high.Lon, p.Lon), max(high.Lat, p.Lat)
	}
	if high.Lon-low.Lon < 180 && low.Distance(high) <= MaxDistance/2 {
		return nil
	}
	directions := make([][3]float64, len(m.Places)) // from the center of the earth
	for i, p := range m.Places {
		sinLon, cosLon := math.Sincos(p.Lon * math.Pi / 180)
		sinLat, cosLat := math.Sincos(p.Lat * math.Pi / 180)
		directions[i] = [3]float64{cosLat * cosLon, cosLat * sinLon, sinLat}
	}
	const radius, within = 6_371_009, 0.99 // the earth is a sphere within a hundredth
	near := math.Cos(within * float64(MaxDistance) / radius)
	for i, a := range m.Places {
		x := directions[i]
		for k, b := range m.Places[:i] {
			if y := directions[k]; x[0]*y[0]+x[1]*y[1]+x[2]*y[2] > near {
				continue
			}
			if d := a.Distance(b); d > MaxDistance {
				return lastmile.Invalid("workers, hubs and tasks must be within 200 miles of one another: [%.4f, %.4f] and [%.4f, %.4f] are %.0f miles apart",
					a.Lon, a.Lat, b.Lon, b.Lat, d/1609.344)
			}
		}
	}
	return nil
}
