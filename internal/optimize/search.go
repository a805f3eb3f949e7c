package optimize

import (
	"context"
	"math"
)

// The parameters of the acceptance of steps.
const (
	firstHeat   = 2.5  // first temperature, in average costs of a leg
	lastHeat    = 0.02 // last temperature
	richFirst   = 2.0  // factor of the first temperature for problems with more rules
	richLast    = 2.5  // factor of the last temperature for them
	pairsHeat   = 8    // factor of both if all stops are in pairs
	longRoute   = 15   // stops per route above which the first temperature is higher
	longHeat    = 2.0  // maximum factor for long routes
	enoughSteps = 200  // steps for each stop; with fewer, the first temperature is lower
	hope        = 4    // average gains of the local search by which a step may exceed the accepted cost before it
)

// search is a plan and the state needed to improve it on one thread.
type search struct {
	*state
	inserter
	mover
	best    plan
	current int64   // sum of misses of the absent requests of the accepted plan
	pool    []int32 // requests to insert
	keys    []int64 // sort keys of requests
	strings []int32 // routes that were ruined in this step
	hit     []int64 // by route: the step that ruined it
	charge  int     // number of stops for each thread
	pivot   int32   // the stop around which the current steps are
	region  int64   // number of steps around a pivot
	turn    float64 // position of the pivot among the seeds, from 0 to 1
	iters   int64
	heat    float64
	hottest float64 // the highest temperature
	leg     float64 // the average cost of a leg
	size    int     // vehicles of the plan at the beginning of the lap; at first, all
	target  int     // maximum number of vehicles while a route is dissolved; otherwise 0
	gain    float64 // average gain of the local search
	lap     lap
	began   float64    // share of the search that was done before the first step of the lap
	taken   int64      // number of steps before the lap
	lead    bool       // reports progress
	rank    int        // number of the thread, from 0; those that may not be used now are the last
	found   *routePool // routes to combine, or nil
	shared  follower   // the plan of all threads, if there are several
}

// plan is a saved plan.
type plan struct {
	order    [][]int32
	versions []int64
	absent   []int32
	windows  [][2]int32 // of stops, if precedences between vehicles narrow them
	weight   int64
	late     int64
	cost     int64 // travel, vehicles and prizes
	used     int
}

func newSearch(m *model, seed uint64) *search {
	st := newState(m)
	s := &search{
		state: st, inserter: newInserter(st, seed), mover: mover{state: st, queued: make([]bool, m.stops)},
		charge: m.stops, region: regionSteps, keys: make([]int64, len(m.requests)), hit: make([]int64, len(m.vehicles)),
	}
	s.best = plan{order: make([][]int32, len(m.vehicles)), versions: make([]int64, len(m.vehicles)), weight: math.MaxInt64}
	s.turn, s.hottest, s.size = s.rng.float(), math.Inf(1), len(m.vehicles)
	return s
}

// keep saves the plan as the best if it is better than the best so far, and reports whether
// it is.
func (s *search) keep() bool {
	b := &s.best
	cost := s.cost + s.prizes
	switch {
	case s.weight != b.weight:
		if s.weight > b.weight {
			return false
		}
	case s.m.p.Weights.Lateness == 0 && s.late != b.late:
		if s.late > b.late {
			return false
		}
	default:
		w := int64(s.m.p.Weights.Lateness)
		if mine, theirs := cost+w*s.late, b.cost+w*b.late; mine > theirs || mine == theirs && s.used >= b.used {
			return false
		}
	}
	b.weight, b.late, b.cost, b.used = s.weight, s.late, cost, s.used
	b.absent = append(b.absent[:0], s.absent...)
	if s.m.wide {
		b.windows = b.windows[:0]
		for i := range s.m.stops {
			b.windows = append(b.windows, [2]int32{s.nodes[i].early, s.nodes[i].late})
		}
	}
	for r := range s.routes {
		if b.versions[r] == s.routes[r].version {
			continue
		}
		b.versions[r] = s.routes[r].version
		b.order[r] = s.sequence(int32(r), b.order[r][:0])
	}
	return true
}

// sequence appends the stops of a route.
func (s *state) sequence(r int32, out []int32) []int32 {
	for i := s.nodes[s.m.start(r)].next; s.nodes[i].next >= 0; i = s.nodes[i].next {
		out = append(out, i)
	}
	return out
}

// absence returns the weighted sum of how often the absent requests were left out.
func (s *search) absence() int64 {
	var sum int64
	for _, q := range s.absent {
		sum += s.misses[q] * s.m.weight[q]
	}
	return sum
}

// improve takes one step: ruin, recreate, local search, and undo if the result is
// not accepted at the current temperature.
func (s *search) improve() {
	s.iters++
	s.fleet = s.limit()
	s.begin()
	weight := s.weight
	most := s.energy() + int64(-s.heat*math.Log(s.rng.float()))
	s.ceiling = noWay
	if len(s.absent) == 0 && !s.m.plain { // otherwise a plan that serves more is accepted at any cost
		s.ceiling = most + int64(hope*s.gain)
	}
	s.ruin()
	if !s.recreate() || s.enqueueChanges() == 0 {
		s.undo()
		return
	}
	travel := s.cost
	s.local()
	s.gain += (float64(max(0, travel-s.cost)) - s.gain) / 256
	s.found.record(s)
	accepted := s.energy() <= most
	missing := s.absence()
	if s.weight != weight {
		accepted = s.weight < weight || s.weight < weight+int64(s.m.stops) && missing < s.current
	} else if len(s.absent) > 0 && missing < s.current {
		accepted = true
	}
	for _, q := range s.absent {
		s.misses[q]++
	}
	for _, r := range s.touched {
		accepted = accepted && s.sound(r)
	}
	if !accepted || !s.shared.publish(s) {
		s.undo()
		if len(s.absent) > 0 {
			s.current = s.absence()
		}
		return
	}
	s.current = missing
	s.keep()
}

// enqueueChanges enqueues the stops whose predecessor, successor or route changed in this
// step, and returns their number.
func (s *search) enqueueChanges() int {
	s.drop()
	for i := range s.savedNodes {
		before := &s.savedNodes[i]
		if now := &s.nodes[before.index]; now.next != before.node.next || now.prev != before.node.prev || now.route != before.node.route {
			s.enqueue(before.index)
		}
	}
	for _, q := range s.savedAbsent {
		for _, x := range s.m.requests[q] {
			if s.nodes[x].route >= 0 {
				s.enqueue(x)
			}
		}
	}
	return len(s.queue)
}

// averageLeg returns the average cost of a leg of the plan.
func (s *search) averageLeg() float64 {
	legs := 0
	for r := range s.routes {
		if s.routes[r].stops > 0 {
			legs += int(s.routes[r].stops) + 1
		}
	}
	if legs == 0 {
		return 1
	}
	return max(1, float64(s.cost)/float64(legs))
}

// temperature returns how much worse an accepted plan may be, after a share of the search.
// If there are few steps for each stop, they have no time to cool down from a high
// temperature, so it is lower; long routes of equal vehicles need a high one to change.
func (s *search) temperature(done float64) float64 {
	first, last := firstHeat, lastHeat
	if !s.m.plain {
		first, last = first*richFirst, last*richLast
	}
	if s.m.uniform() {
		first *= min(longHeat, max(1, float64(s.m.stops)/float64(longRoute*max(1, s.best.used))))
	}
	share, length := s.lap.share(done)
	if done > s.began && s.iters > s.taken {
		steps := float64(s.iters-s.taken) / (done - s.began) * length / float64(max(1, s.charge))
		first = max(last, first*min(1, math.Sqrt(steps/enoughSteps)))
	}
	return (1 + (pairsHeat-1)*s.m.paired) * first * s.leg * math.Pow(last/first, share)
}

// run improves the plan until a share of the search is done. The temperature falls from the
// beginning to the end of the lap.
func (s *search) run(ctx context.Context, meter *meter, until float64) {
	until = min(until, 1) // a sum of shares may exceed 1 a little, but what is done does not
	s.leg = s.averageLeg()
	if s.iters == s.taken {
		s.began, s.gain = meter.done(s.iters), s.leg
	}
	for n := 0; meter.iterations <= 0 || s.iters < meter.iterations; n++ {
		if n%16 == 0 {
			done := meter.done(s.iters)
			if done >= until || ctx.Err() != nil || s.rank > 0 && s.rank >= meter.threads() {
				return
			}
			s.heat = min(s.temperature(done), s.hottest)
			share, _ := s.lap.share(done)
			s.setScale(share)
			if s.lead && done > meter.reported+0.01 {
				meter.report(s, PhaseImprove)
			}
		}
		s.shared.follow(s)
		s.improve()
	}
}
