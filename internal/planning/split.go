package planning

import (
	"maps"
	"slices"

	"dray/internal/optimize"
)

// maxSplits is the maximum number of times that routes are planned again because pickups may be
// possible without some of their drop-offs.
const maxSplits = 3

// Solve returns the best solution that a search finds for this model or for one of which some rules
// are relaxed, and the model that it is of. It rarely searches more than once.
func (m *Model) Solve(search func(*Model) (*optimize.Solution, error)) (*Model, *optimize.Solution, error) {
	best, err := search(m)
	for err == nil && m.relax(best) { // at most six times
		best, err = search(m)
	}
	for range maxSplits {
		if err != nil {
			break
		}
		model, found := split(m, best)
		if !found {
			break
		}
		var other *optimize.Solution
		if other, err = search(model); err == nil && !improves(m, other, best) && keepOrder(model, other.Unserved) {
			other, err = search(model)
		}
		if err != nil || !improves(m, other, best) {
			break
		}
		m, best = model, other
	}
	return m, best, err
}

// split returns a model in which pickups that a solution leaves out can be served without some of
// their drop-offs, because there is room for the others on a route, and in which drop-offs are in a
// later shift than their pickups. It reports whether there are any.
func split(m *Model, s *optimize.Solution) (*Model, bool) {
	whole := restored(m, s)
	u, found := newUnits(whole, &whole.Problem, s), false
	if u.whole == nil {
		u.whole = m
	}
	for _, group := range u.why.Groups() {
		if dropOffs := several(u.Model, group); dropOffs != nil {
			found = u.split(group, dropOffs) || found
		} else if stop := group[0]; len(group) == 1 && m.holder[stop] < 0 && len(m.pickups[stop]) > 0 {
			v := u.last(m.pickups[stop])
			found = u.postpone(stop, v, func() bool { return u.why.Fits(v, nil) }) || found
		}
	}
	return u.Model, found
}

// restored returns a model in which groups that a solution leaves out as a whole are not split.
func restored(m *Model, s *optimize.Solution) *Model {
	if m.whole == nil {
		return m
	}
	u := newUnits(m, &m.Problem, s)
	restore := func(stop int) {
		u.Problem.Stops[stop], u.extra[stop], u.open[stop] = m.whole.Problem.Stops[stop], m.whole.extra[stop], m.whole.open[stop]
	}
	for i, p := range m.whole.Problem.Precedences {
		if served := func(stop int) bool { return !u.leftOut[stop] }; p.SameVehicle && !served(p.After) && !slices.ContainsFunc(m.pickups[p.After], served) {
			u.Problem.Precedences[i] = p
			restore(p.Before)
			restore(p.After)
		}
	}
	return u.Model
}

// newUnits returns a copy of the model with a problem whose groups can be changed.
func newUnits(m *Model, p *optimize.Problem, s *optimize.Solution) *units {
	model := *m
	model.Problem = *p
	model.Problem.Stops, model.Problem.Precedences = slices.Clone(p.Stops), slices.Clone(p.Precedences)
	model.extra, model.open = slices.Clone(m.extra), slices.Clone(m.open)
	u := &units{Model: &model, why: optimize.NewExplainer(&model.Problem, s), befores: map[int][]*optimize.Precedence{}, on: map[int]int{}, leftOut: map[int]bool{}}
	for i := range model.Problem.Precedences {
		before := &model.Problem.Precedences[i]
		u.befores[before.After] = append(u.befores[before.After], before)
	}
	for v, route := range s.Routes {
		for _, visit := range route.Visits {
			u.on[visit.Stop] = v
		}
	}
	for _, stop := range s.Unserved {
		u.leftOut[stop] = true
	}
	return u
}

// several returns the drop-offs of a group of tasks that no worker has; nil if there are less than
// two.
func several(m *Model, group []int) (dropOffs []int) {
	for _, stop := range group {
		if m.holder[stop] >= 0 {
			return nil
		}
		if len(m.pickups[stop]) > 0 {
			dropOffs = append(dropOffs, stop)
		}
	}
	if len(dropOffs) < 2 {
		return nil
	}
	return dropOffs
}

// improves reports whether a solution serves more stops than another one, and no fewer of those
// that workers have.
func improves(m *Model, a, b *optimize.Solution) bool {
	held := func(s *optimize.Solution) (n int) {
		for _, stop := range s.Unserved {
			if m.holder[stop] >= 0 {
				n++
			}
		}
		return n
	}
	return len(a.Unserved) < len(b.Unserved) && held(a) <= held(b)
}

// units splits groups of stops that must be on one route.
type units struct {
	*Model
	why     *optimize.Explainer
	befores map[int][]*optimize.Precedence // by stop
	on      map[int]int                    // by stop: the vehicle that serves it
	leftOut map[int]bool
	work    int // number of stops of the groups that were tried
}

// maxSplit bounds the work of splitting groups, besides that of the explainer.
const maxSplit = 10_000_000

// split divides a group into stops that a vehicle can serve in addition to its route, and others,
// which that worker may serve if there is room after all. It reports whether there are any of the
// former.
func (u *units) split(group, dropOffs []int) bool {
	vehicle, most := -1, map[int]bool{}
	for v := range u.owner {
		if served := u.servable(v, group, dropOffs); len(served) > len(most) {
			vehicle, most = v, served
		}
	}
	u.loadOnly(dropOffs, most)
	if vehicle < 0 {
		loadFor(u.Model, dropOffs)
		return false
	}
	for _, stop := range group {
		u.tieTo(stop, []int{vehicle})
		if most[stop] {
			continue
		}
		for _, p := range u.befores[stop] {
			p.SameVehicle = p.SameVehicle && !most[p.Before]
		}
		if len(u.pickups[stop]) == 0 {
			continue
		}
		loose, hasRoom := most[u.extra[stop].pickup], func() bool { return u.fitsOn(vehicle, group, most) }
		if loose && u.postpone(stop, vehicle, hasRoom) {
			continue
		}
		loadAtStart(u.Model, &u.Problem, stop, false) // unless there is no room for it
		loadAtStart(u.Model, &u.Problem, stop, loose && !hasRoom())
	}
	return true
}

// postpone lets a drop-off whose pickups a vehicle serves be in the next shift of the worker in
// which there is room. The pickup must load what it delivers; hasRoom reports whether it can. It
// reports whether there is such a shift.
func (u *units) postpone(stop, vehicle int, hasRoom func() bool) bool {
	if !slices.Contains(u.open[stop], vehicle) { // it is in a later one already
		return false
	}
	atStart := u.extra[stop].atStart
	loadAtStart(u.Model, &u.Problem, stop, false)
	before, extra, open := u.Problem.Stops[stop], u.extra[stop], u.open[stop]
	u.extra[stop].earlier, u.Problem.Stops[stop].Carried = true, u.quantities[stop]
	for v := vehicle + 1; v < len(u.owner) && u.owner[v] == u.owner[vehicle] && hasRoom(); v++ {
		u.tieTo(stop, []int{v})
		if !u.closed[v] && u.why.Fits(v, []int{stop}) {
			return true
		}
	}
	u.Problem.Stops[stop], u.extra[stop], u.open[stop] = before, extra, open
	loadAtStart(u.Model, &u.Problem, stop, atStart)
	return false
}

// last returns the last vehicle that serves one of these stops; -1 if some are left out.
func (u *units) last(stops []int) int {
	v := -1
	for _, stop := range stops {
		if u.leftOut[stop] {
			return -1
		}
		v = max(v, u.on[stop])
	}
	return v
}

func (u *units) tieTo(stop int, vehicles []int) {
	u.Problem.Stops[stop].Vehicles, u.open[stop] = vehicles, vehicles
}

// explain explains why no vehicle serves a stop of a group: with one of the drop-offs only, so that it
// does not depend on the others.
func (u *units) explain(s *optimize.Solution, stop int, dropOffs []int) (best []optimize.Explanation) {
	for _, d := range dropOffs {
		if d != stop && !slices.Contains(u.pickups[d], stop) {
			continue
		}
		with := map[int]bool{d: true}
		for _, other := range dropOffs {
			for _, p := range u.befores[other] {
				p.SameVehicle = other == d && slices.Contains(u.pickups[d], p.Before)
			}
		}
		u.loadOnly(dropOffs, with)
		all := optimize.NewExplainer(&u.Problem, s).Explain(stop)
		if best == nil {
			best = all
		}
		for v := range all {
			if len(all[v].Reasons) < len(best[v].Reasons) {
				best[v] = all[v]
			}
		}
	}
	return best
}

// servable returns drop-offs of a group, and their pickups, that a vehicle can serve in addition to
// its route.
func (u *units) servable(v int, group, dropOffs []int) map[int]bool {
	served := map[int]bool{}
	for _, stop := range dropOffs {
		with := maps.Clone(served)
		with[stop] = true
		for _, p := range u.pickups[stop] {
			with[p] = true
		}
		needsOther := func(x int) bool {
			return slices.ContainsFunc(u.befores[x], func(p *optimize.Precedence) bool { return u.leftOut[p.Before] && !with[p.Before] })
		}
		if u.work += len(group); u.work > maxSplit || needsOther(stop) || slices.ContainsFunc(u.pickups[stop], needsOther) {
			continue
		}
		if u.loadOnly(dropOffs, with); u.fitsOn(v, group, with) {
			served = with
		}
	}
	return served
}

// loadOnly makes pickups load only what some of the drop-offs unload.
func (u *units) loadOnly(dropOffs []int, served map[int]bool) {
	var first, rest []int
	for _, stop := range dropOffs {
		if served[stop] {
			first = append(first, stop)
		} else {
			rest = append(rest, stop)
		}
	}
	loadFor(u.Model, append(first, rest...))
	for _, stop := range rest {
		loadAtStart(u.Model, &u.Problem, stop, true)
	}
}

// fitsOn reports whether a vehicle can serve some stops of a group in addition to its route.
func (u *units) fitsOn(v int, group []int, stops map[int]bool) bool {
	return u.why.Fits(v, slices.DeleteFunc(slices.Clone(group), func(stop int) bool { return !stops[stop] }))
}
