package optimize

import (
	"slices"
	"testing"
)

// TestExplainingIsBounded verifies that the work of explaining does not grow with the
// size of the groups that are left out.
func TestExplainingIsBounded(t *testing.T) {
	const stops, vehicles = 120, 50
	for _, size := range []int{1, 2, 3, 5, 12, 60} {
		p := &Problem{Profiles: []Profile{{Size: 1, Duration: make([]int32, 1)}}}
		for i := range stops { // every last stop of a group is impossible
			p.Stops = append(p.Stops, Stop{Latest: 10})
			if i%size == size-1 {
				p.Stops[i].Latest, p.Stops[i].Earliest = -1, -1
			} else {
				p.Precedences = append(p.Precedences, Precedence{Before: i, After: i - i%size + size - 1, SameVehicle: true})
			}
		}
		s := &Solution{Routes: make([]Route, vehicles)}
		for v := range vehicles {
			p.Vehicles = append(p.Vehicles, Vehicle{ShiftEnd: 10})
			for range 20 {
				s.Routes[v].Visits = append(s.Routes[v].Visits, Visit{Stop: len(p.Stops)})
				p.Stops = append(p.Stops, Stop{Latest: 10})
			}
		}
		for i := range stops {
			s.Unserved = append(s.Unserved, i)
		}
		e := NewExplainer(p, s)
		e.share /= 100
		for _, stop := range s.Unserved {
			for _, x := range e.Explain(stop) {
				want := Reason{Rule: RuleWindow, Stop: stop - stop%size + size - 1, Got: 0, Limit: -1}
				if len(x.Reasons) != 1 || x.Reasons[0] != want {
					t.Fatalf("groups of %d, stop %d, vehicle %d: %+v, want %+v", size, stop, x.Vehicle, x.Reasons, want)
				}
			}
		}
		// The position that exhausts a share is finished, and the first one in any case.
		position := (20 + size) * (size + 5)
		if most := len(e.groups) * vehicles * (e.share + 2*position); e.work > most {
			t.Errorf("groups of %d: the work is %d, at most %d is allowed", size, e.work, most)
		}
		if done := e.work; len(e.Explain(0)) != vehicles || e.work != done {
			t.Errorf("groups of %d: a stop that was explained takes work again", size)
		}
	}
}

func TestExplainNamesTheStopItself(t *testing.T) {
	p := &Problem{
		Profiles: []Profile{{Size: 1, Duration: make([]int32, 1)}},
		Stops:    []Stop{{Latest: 10}, {Latest: 10}, {Latest: 10, Vehicles: []int{}}, {Latest: 10, Vehicles: []int{}}},
		Vehicles: []Vehicle{{ShiftEnd: 10}},
		Precedences: []Precedence{
			{Before: 0, After: 1, SameVehicle: true}, {Before: 2, After: 0}, {Before: 3, After: 1},
		},
	}
	e := NewExplainer(p, &Solution{Routes: make([]Route, 1), Unserved: []int{0, 1, 2, 3}})
	for stop, want := range []Reason{{Rule: RuleOrder, Stop: 2}, {Rule: RuleOrder, Stop: 3}, {Rule: RuleFilter, Stop: 2}, {Rule: RuleFilter, Stop: 3}} {
		if got := e.Explain(stop)[0].Reasons; !slices.Equal(got, []Reason{want}) {
			t.Errorf("stop %d: %+v, want %+v", stop, got, want)
		}
	}
}

// TestExplainTriesEveryPosition has a stop that fits only between two others that are served
// together with it, and whose order is not fixed.
func TestExplainTriesEveryPosition(t *testing.T) {
	p := &Problem{
		Profiles: []Profile{{Size: 1, Duration: make([]int32, 1)}},
		Stops: []Stop{
			{Latest: 0, Service: 1}, {Earliest: 2, Latest: 2, Service: 1}, {Earliest: 1, Latest: 1, Service: 1}, {Earliest: 3, Latest: 3},
		},
		Vehicles: []Vehicle{{ShiftEnd: 10}},
		Precedences: []Precedence{
			{Before: 0, After: 2, SameVehicle: true}, {Before: 0, After: 3, SameVehicle: true}, {Before: 1, After: 3, SameVehicle: true},
		},
	}
	e := NewExplainer(p, &Solution{Routes: make([]Route, 1), Unserved: []int{0, 1, 2, 3}})
	if got := e.Explain(0)[0].Reasons; len(got) > 0 {
		t.Errorf("%+v, but the vehicle could serve all of them", got)
	}
}
