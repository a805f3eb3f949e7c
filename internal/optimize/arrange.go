package optimize

import (
	"math"
	"slices"
)

// arrange returns an order of the stops in which stops that are close to each other mostly
// have close numbers. The search visits such stops together, so that the parts of the
// matrices that it reads share cache lines: steps on a thousand stops take a third less
// time.
func arrange(p *Problem) []int {
	order := make([]int, 0, len(p.Stops))
	if len(p.Stops) == 0 || len(p.Profiles) == 0 {
		return order
	}
	m := &p.Profiles[0]
	left := make([]int, len(p.Stops))
	for i := range left {
		left[i] = i
	}
	for at := 0; ; {
		x := left[at]
		order = append(order, x)
		left[at] = left[len(left)-1]
		left = left[:len(left)-1]
		if len(left) == 0 {
			return order
		}
		row := m.Duration[p.Stops[x].Location*m.Size:][:m.Size]
		closest := uint32(math.MaxUint32)
		at = 0
		for k, y := range left {
			if d := uint32(row[p.Stops[y].Location]); d < closest { // Unreachable is the largest as uint32
				closest, at = d, k
			}
		}
	}
}

// renumber returns a problem with its stops in another order.
func (p *Problem) renumber(order []int) *Problem {
	number := make([]int, len(order))
	for i, x := range order {
		number[x] = i
	}
	q := &Problem{
		Stops: make([]Stop, len(order)), Vehicles: slices.Clone(p.Vehicles), Profiles: p.Profiles,
		Precedences: slices.Clone(p.Precedences), Weights: p.Weights,
	}
	for i, x := range order {
		q.Stops[i] = p.Stops[x]
	}
	for v := range q.Vehicles {
		q.Vehicles[v].Route = renumbered(q.Vehicles[v].Route, number)
	}
	for i := range q.Precedences {
		o := &q.Precedences[i]
		o.Before, o.After = number[o.Before], number[o.After]
	}
	return q
}

func renumbered(stops, number []int) []int {
	out := make([]int, len(stops))
	for i, x := range stops {
		out[i] = number[x]
	}
	return out
}

// restore replaces the new numbers of stops in a plan with the original ones.
func (s *Solution) restore(order []int) {
	for v := range s.Routes {
		for i := range s.Routes[v].Visits {
			visit := &s.Routes[v].Visits[i]
			visit.Stop = order[visit.Stop]
		}
	}
	s.Unserved = renumbered(s.Unserved, order)
	slices.Sort(s.Unserved)
}
