package dispatch

import (
	"cmp"
	"context"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/optimize"
	"dray/internal/planning"
	"dray/internal/store"
	"dray/internal/travel"
)

const (
	// MaxEstimates is the maximum number of workers of a team for whom an estimate is made:
	// those who could get there first if they had nothing else to do.
	MaxEstimates = 20

	// maxAhead is the maximum time that the optimizer plans ahead.
	maxAhead = 365 * 24 * time.Hour
)

// Estimate returns which worker on duty of a team could carry out a pickup, a drop-off or
// both first: in the best position on the route of the worker, whose tasks keep their order.
func (ds *Dispatches) Estimate(ctx context.Context, who lastmile.Principal, id lastmile.TeamID, q travel.EstimateRequest) (best travel.Estimate, err error) {
	if err := q.Check(); err != nil {
		return best, err
	}
	end, err := ds.Estimates.Request(ctx, who.Organization)
	if err != nil {
		return best, err
	}
	defer end()
	members, err := ds.members(ctx, who, id, &q)
	if err != nil {
		return best, err
	}
	best, found, err := ds.estimate(ctx, members, q)
	if err == nil && !found {
		err = lastmile.NotFound("worker on duty of team", string(id)).Because("no worker of the team could do it")
	}
	return best, err
}

// estimate returns the estimate of the member who would finish first, and reports whether
// there is one.
func (ds *Dispatches) estimate(ctx context.Context, members []travel.Itinerary, q travel.EstimateRequest) (best travel.Estimate, found bool, err error) {
	for _, m := range members {
		legs, err := ds.insertionLegs(ctx, m, q)
		if err != nil {
			return best, false, err
		}
		if e, ok := insertion(m, q, legs, ds.Now()); ok && (!found || cmp.Or(e.End().Compare(best.End()), cmp.Compare(e.Worker, best.Worker)) < 0) {
			best, found = e, true
		}
	}
	return best, found, nil
}

// members returns the nearest workers of a team who are on duty, with their tasks. It adds the
// organization's experience to the request.
func (ds *Dispatches) members(ctx context.Context, who lastmile.Principal, id lastmile.TeamID, q *travel.EstimateRequest) (members []travel.Itinerary, err error) {
	err = ds.Store.Read(ctx, func(r Reader) error {
		team, err := r.Team(ctx, who.Organization, id)
		if err != nil {
			return err
		}
		if team.Hub == "" {
			return lastmile.NotFound("hub of team", string(id)).Because("an estimate needs a team with a hub")
		}
		workers, err := r.Workers(ctx, who.Organization, store.WorkerFilter{Teams: []lastmile.TeamID{id}, OnDuty: true, Located: true})
		if err != nil {
			return err
		}
		members = members[:0]
		for _, worker := range workers {
			members = append(members, travel.Itinerary{Worker: worker})
		}
		members = nearest(members, *q)
		for i, m := range members {
			route := m.Worker.Route()
			if members[i].Tasks, err = r.TasksOf(ctx, who.Organization, route[:min(len(route), planning.MaxTasksPerRoute)]); err != nil {
				return err
			}
		}
		trips, err := r.Trips(ctx, who.Organization, travel.LearnedTrips)
		q.Experience = travel.Learn(trips, ds.Speed)
		return err
	})
	return members, err
}

// nearest returns the members who could get to the first stop of a request first, by
// formula, of those whose vehicles are not excluded.
func nearest(members []travel.Itinerary, q travel.EstimateRequest) []travel.Itinerary {
	members = slices.DeleteFunc(members, func(m travel.Itinerary) bool {
		return m.Worker.Whereabouts.Location == nil || slices.Contains(q.ExcludedVehicles, m.Worker.TravelsBy())
	})
	direct := func(m travel.Itinerary) time.Duration {
		takes, _ := travel.Approximate(m.Worker.TravelsBy(), *m.Worker.Whereabouts.Location, q.Stops()[0].Location)
		return takes
	}
	slices.SortStableFunc(members, func(a, b travel.Itinerary) int { return cmp.Compare(direct(a), direct(b)) })
	return members[:min(len(members), MaxEstimates)]
}

// insertionLegs returns the legs that the route of a worker can have with the stops of a
// request at any position, by their ends in the list of waypoints: those of the itinerary
// and then the stops.
func (ds *Dispatches) insertionLegs(ctx context.Context, m travel.Itinerary, q travel.EstimateRequest) (map[[2]int]travel.Leg, error) {
	points, stops := m.Waypoints(), q.Stops()
	n := len(points)
	for _, s := range stops {
		points = append(points, s.Location)
	}
	var way []int // passes every leg
	for i := range points {
		way = append(way, i)
	}
	for x := n; x < len(points); x++ {
		for i := range n {
			way = append(way, i, x)
		}
	}
	path := make([]lastmile.Point, len(way))
	for i, p := range way {
		path[i] = points[p]
	}
	found, err := ds.Travel.Legs(ctx, m.Worker.TravelsBy(), path)
	if err != nil {
		return nil, err
	}
	legs := map[[2]int]travel.Leg{}
	for i, leg := range found {
		legs[[2]int{way[i], way[i+1]}] = leg.Adjusted(q.Experience.Travel)
	}
	return legs, nil
}

// insertion returns when a worker could carry out a request, in the position on the route
// that the optimizer chooses, and reports whether the worker can.
func insertion(m travel.Itinerary, q travel.EstimateRequest, legs map[[2]int]travel.Leg, now time.Time) (e travel.Estimate, ok bool) {
	problem := insertionProblem(m, q, legs, now)
	own, stops := len(m.Tasks), q.Stops()
	var added []int
	for i := range stops {
		added = append(added, own+i)
	}
	order, ok := optimize.Insert(problem, added)
	if !ok {
		return e, false
	}
	e = travel.Estimate{Worker: m.Worker.ID, Vehicle: m.Worker.TravelsBy()}
	at, clock := 0, now
	for _, visit := range order {
		leg := legs[[2]int{at, visit + 1}]
		at, clock = visit+1, clock.Add(leg.Duration)
		if visit < own {
			task := m.Tasks[visit]
			clock = task.Window().ServiceStart(clock).Add(q.Experience.ServiceTime(task))
			continue
		}
		stop := stops[visit-own]
		if clock.Before(stop.NotBefore) {
			clock = stop.NotBefore
		}
		e.Steps = append(e.Steps, travel.EstimateStep{
			Location: stop.Location, Travel: leg.Duration, Distance: leg.Distance, ByFormula: leg.Estimated, Service: q.Service, Arrival: clock, Completion: clock.Add(q.Service),
		})
		clock = clock.Add(q.Service)
	}
	return e, true
}

// insertionProblem returns the route of one worker and the stops of a request as a problem
// for the optimizer. Stop i is at location i+1; the worker is at location 0.
func insertionProblem(m travel.Itinerary, q travel.EstimateRequest, legs map[[2]int]travel.Leg, now time.Time) *optimize.Problem {
	seconds := func(d time.Duration) int { return int(min(max(d, -maxAhead), maxAhead) / time.Second) }
	p := &optimize.Problem{Vehicles: []optimize.Vehicle{{
		Start: 0, End: optimize.None, ShiftEnd: optimize.MaxTime,
	}}}
	stop := func(service time.Duration, after, before time.Time) {
		s := optimize.Stop{
			Location: len(p.Stops) + 1, Service: seconds(service), Earliest: -optimize.MaxTime, Latest: optimize.MaxTime, MaxLateness: optimize.MaxTime,
		}
		if !after.IsZero() {
			s.Earliest = seconds(after.Sub(now))
		}
		if !before.IsZero() {
			s.Latest = max(seconds(before.Sub(now)), s.Earliest)
		}
		p.Stops = append(p.Stops, s)
	}
	for i, t := range m.Tasks {
		after := t.CompleteAfter
		if t.State == lastmile.TaskActive {
			after = time.Time{}
		}
		stop(q.Experience.ServiceTime(t), after, t.CompleteBefore)
		p.Stops[i].Pinned = t.State == lastmile.TaskActive
		p.Vehicles[0].Route = append(p.Vehicles[0].Route, i)
	}
	for _, s := range q.Stops() {
		stop(q.Service, s.NotBefore, time.Time{})
	}
	size := len(p.Stops) + 1
	profile := optimize.Profile{Size: size, Duration: slices.Repeat([]int32{optimize.Unreachable}, size*size)}
	for ends, leg := range legs {
		if leg.Duration != travel.Unreachable {
			profile.Duration[ends[0]*size+ends[1]] = int32(seconds(leg.Duration + time.Second - 1))
		}
	}
	p.Profiles = []optimize.Profile{profile}
	return p
}
