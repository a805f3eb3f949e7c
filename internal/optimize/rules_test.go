package optimize_test

import (
	"slices"
	"testing"

	"dray/internal/optimize"
)

// line returns a problem on a line: location i is at i, travel between two
// locations takes their difference, and the one vehicle starts at 0 and ends
// anywhere.
func line(stops ...optimize.Stop) *optimize.Problem {
	const size = 101
	m := optimize.Profile{Size: size, Duration: make([]int32, size*size)}
	for a := range size {
		for b := range size {
			m.Duration[a*size+b] = int32(abs(a - b))
		}
	}
	return &optimize.Problem{
		Stops: stops, Profiles: []optimize.Profile{m},
		Vehicles: []optimize.Vehicle{{End: optimize.None, ShiftEnd: 1000, Capacity: optimize.Load{10, 10, 10, 10}}},
	}
}

func at(location int) optimize.Stop { return optimize.Stop{Location: location, Latest: 1000} }

// routes returns the stops of each vehicle.
func routes(s *optimize.Solution) [][]int {
	out := make([][]int, len(s.Routes))
	for v := range s.Routes {
		out[v] = []int{}
		for _, visit := range s.Routes[v].Visits {
			out[v] = append(out[v], visit.Stop)
		}
	}
	return out
}

func TestRules(t *testing.T) {
	second := optimize.Vehicle{Start: 100, End: optimize.None, ShiftEnd: 1000, Capacity: optimize.Load{10, 10, 10, 10}}
	tests := map[string]struct {
		problem func() *optimize.Problem
		want    [][]int
		cost    optimize.Cost
	}{
		"the shortest way": {
			func() *optimize.Problem { return line(at(30), at(10), at(20)) },
			[][]int{{1, 2, 0}},
			optimize.Cost{Weighted: 30, Duration: 30, Vehicles: 1},
		},
		"a window": {
			func() *optimize.Problem {
				p := line(at(30), at(10))
				p.Stops[0].Latest = 35
				p.Stops[1].Earliest = 40
				return p
			},
			[][]int{{0, 1}},
			optimize.Cost{Weighted: 50, Duration: 50, Vehicles: 1},
		},
		"lateness is worse than any travel": {
			func() *optimize.Problem {
				p := line(at(30), at(10))
				p.Stops[0].Latest, p.Stops[0].MaxLateness = 30, 100
				p.Stops[1].Service = 5
				return p
			},
			[][]int{{0, 1}},
			optimize.Cost{Weighted: 50, Duration: 50, Vehicles: 1},
		},
		"with weights, lateness may be better than travel": {
			func() *optimize.Problem {
				p := line(at(30), at(10))
				p.Stops[0].Latest, p.Stops[0].MaxLateness = 30, 100
				p.Stops[1].Service = 5
				p.Weights = optimize.Weights{Lateness: 1, Duration: 1}
				return p
			},
			[][]int{{1, 0}},
			optimize.Cost{Weighted: 35, Lateness: 5, Duration: 30, Vehicles: 1},
		},
		"late is better than not served": {
			func() *optimize.Problem {
				p := line(at(30), at(10))
				p.Stops[0].Latest, p.Stops[0].MaxLateness = 10, 25
				return p
			},
			[][]int{{1, 0}},
			optimize.Cost{Weighted: 30, Lateness: 20, Duration: 30, Vehicles: 1},
		},
		"not served is better than too late": {
			func() *optimize.Problem {
				p := line(at(30), at(10))
				p.Stops[0].Latest, p.Stops[0].MaxLateness = 10, 19
				return p
			},
			[][]int{{1}},
			optimize.Cost{Unserved: 1, Weighted: 10, Duration: 10, Vehicles: 1},
		},
		"the active stop is first": {
			func() *optimize.Problem {
				p := line(at(10), at(50), at(20))
				p.Stops[1].Pinned = true
				p.Vehicles[0].Route = []int{1, 0}
				return p
			},
			[][]int{{1, 2, 0}},
			optimize.Cost{Weighted: 90, Duration: 90, Vehicles: 1},
		},
		"locked stops stay with their vehicle, in any order": {
			func() *optimize.Problem {
				p := line(at(98), at(99), at(1))
				p.Vehicles = append(p.Vehicles, second)
				p.Vehicles[0].Route = []int{1, 0}
				p.Vehicles[1].Route = []int{2}
				return p
			},
			[][]int{{0, 1}, {2}},
			optimize.Cost{Weighted: 198, Duration: 198, Vehicles: 2},
		},
		"a pinned position": {
			func() *optimize.Problem {
				p := line(at(10), at(20), at(25), at(1))
				p.Stops[2].Pinned = true
				p.Vehicles[0].Route = []int{1, 0, 2}
				return p
			},
			[][]int{{0, 1, 2, 3}}, // the first two are swapped, and the new one comes after
			optimize.Cost{Weighted: 49, Duration: 49, Vehicles: 1},
		},
		"a pickup before its delivery": {
			func() *optimize.Problem {
				p := line(at(10), at(20))
				p.Stops[1].Change[0], p.Stops[0].Change[0] = 10, -10
				p.Precedences = []optimize.Precedence{{Before: 1, After: 0, SameVehicle: true}}
				return p
			},
			[][]int{{1, 0}},
			optimize.Cost{Weighted: 30, Duration: 30, Vehicles: 1},
		},
		"a load that has to go first": {
			func() *optimize.Problem {
				p := line(at(10), at(20))
				p.Stops[0].Change[3] = 10 // a pickup that does not fit before the delivery
				p.Stops[1].Carried[3], p.Stops[1].Change[3] = 10, -10
				return p
			},
			[][]int{{1, 0}},
			optimize.Cost{Weighted: 30, Duration: 30, Vehicles: 1},
		},
		"after a stop of another vehicle": {
			func() *optimize.Problem {
				p := line(at(10), at(90))
				p.Vehicles = append(p.Vehicles, second)
				p.Stops[0].Vehicles, p.Stops[1].Vehicles = []int{0}, []int{1}
				p.Stops[0].Earliest, p.Stops[0].Service = 500, 60
				p.Precedences = []optimize.Precedence{{Before: 0, After: 1}}
				return p
			},
			[][]int{{0}, {1}},
			optimize.Cost{Weighted: 20, Duration: 20, Vehicles: 2},
		},
		"the largest number of stops": {
			func() *optimize.Problem {
				p := line(at(10), at(20), at(30))
				p.Vehicles = append(p.Vehicles, second)
				p.Vehicles[0].MaxStops, p.Vehicles[1].MaxStops = 2, 1
				return p
			},
			[][]int{{0, 1}, {2}},
			optimize.Cost{Weighted: 90, Duration: 90, Vehicles: 2},
		},
		"fewer vehicles if nothing else differs": {
			func() *optimize.Problem {
				p := line(at(10), at(20))
				p.Vehicles = append(p.Vehicles, p.Vehicles[0])
				p.Vehicles[0].Start, p.Vehicles[1].Start = 0, optimize.None
				p.Vehicles[0].End, p.Vehicles[1].End = optimize.None, optimize.None
				p.Vehicles[0].Start = optimize.None
				p.Profiles[0].Duration[10*101+20] = 0
				return p
			},
			[][]int{{0, 1}, {}},
			optimize.Cost{Vehicles: 1},
		},
		"an optional stop that is worth it, and one that is not": {
			func() *optimize.Problem {
				p := line(at(10), at(30), at(80))
				p.Stops[1].Optional, p.Stops[1].Prize = true, 25
				p.Stops[2].Optional, p.Stops[2].Prize = true, 25
				return p
			},
			[][]int{{0, 1}},
			optimize.Cost{Weighted: 55, Duration: 30, Vehicles: 1, Prizes: 25},
		},
		"a fixed end": {
			func() *optimize.Problem {
				p := line(at(10), at(30))
				p.Vehicles[0].End = 0
				p.Vehicles[0].ShiftEnd = 40
				return p
			},
			[][]int{{0}},
			optimize.Cost{Unserved: 1, Weighted: 20, Duration: 20, Vehicles: 1},
		},
		"a way there and none back": {
			func() *optimize.Problem {
				p := line(at(10), at(30))
				p.Profiles[0].Duration[30*101+10] = optimize.Unreachable
				p.Stops[1].Latest = 30
				p.Stops[0].Earliest = 35
				return p
			},
			[][]int{{0}},
			optimize.Cost{Unserved: 1, Weighted: 10, Duration: 10, Vehicles: 1},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := tt.problem()
			for seed := range uint64(5) {
				s := solve(t, p, optimize.Options{Seed: seed, Iterations: 200})
				explained(t, p, s)
				if s.Cost != tt.cost {
					t.Errorf("the cost is %+v, want %+v", s.Cost, tt.cost)
				}
				if name == "fewer vehicles if nothing else differs" || name == "a way there and none back" {
					continue // either vehicle or stop will do
				}
				if got := routes(s); !slices.EqualFunc(got, tt.want, slices.Equal[[]int]) {
					t.Errorf("the routes are %v, want %v", got, tt.want)
				}
			}
		})
	}
}

func TestExplain(t *testing.T) {
	stop := at(50)
	tests := map[string]struct {
		change func(p *optimize.Problem)
		want   []optimize.Reason
	}{
		"window": {
			func(p *optimize.Problem) { p.Stops[0].Latest, p.Stops[0].MaxLateness = 30, 10 },
			[]optimize.Reason{{Rule: optimize.RuleWindow, Stop: 0, Got: 50, Limit: 40}},
		},
		"capacity": {
			func(p *optimize.Problem) { p.Stops[0].Change[2] = 11 },
			[]optimize.Reason{{Rule: optimize.RuleCapacity, Stop: 0, Got: 11, Limit: 10, Dimension: 2}},
		},
		"distance": {
			func(p *optimize.Problem) {
				for i := range 101 {
					p.Profiles[0].Duration[i*101+50] = optimize.Unreachable
				}
			},
			[]optimize.Reason{{Rule: optimize.RuleDistance, Stop: 0}},
		},
		"schedule": {
			func(p *optimize.Problem) { p.Vehicles[0].ShiftEnd = 45 },
			[]optimize.Reason{{Rule: optimize.RuleSchedule, Stop: optimize.None, Got: 50, Limit: 45}},
		},
		"filter": {
			func(p *optimize.Problem) { p.Stops[0].Vehicles = []int{} },
			[]optimize.Reason{{Rule: optimize.RuleFilter, Stop: 0}},
		},
		"route length": {
			func(p *optimize.Problem) {
				p.Stops = append(p.Stops, at(10))
				p.Vehicles[0].Route, p.Vehicles[0].MaxStops = []int{1}, 1
			},
			[]optimize.Reason{{Rule: optimize.RuleLength, Stop: optimize.None, Got: 2, Limit: 1}},
		},
		"order": {
			func(p *optimize.Problem) {
				p.Stops = append(p.Stops, at(10))
				p.Stops[1].Vehicles = []int{}
				p.Precedences = []optimize.Precedence{{Before: 1, After: 0}}
			},
			[]optimize.Reason{{Rule: optimize.RuleOrder, Stop: 1}},
		},
		"window after an active stop": {
			func(p *optimize.Problem) {
				p.Stops = append(p.Stops, at(10))
				p.Stops[1].Pinned, p.Stops[1].Service = true, 100
				p.Vehicles[0].Route = []int{1}
				p.Stops[0].Latest = 70
			},
			[]optimize.Reason{{Rule: optimize.RuleWindow, Stop: 0, Got: 150, Limit: 70}},
		},
		"several rules after an active stop": {
			func(p *optimize.Problem) {
				p.Stops = append(p.Stops, at(10))
				p.Stops[1].Pinned, p.Stops[1].Service = true, 100
				p.Vehicles[0].Route, p.Vehicles[0].ShiftEnd = []int{1}, 120
				p.Stops[0].Latest = 70
			},
			[]optimize.Reason{
				{Rule: optimize.RuleSchedule, Stop: optimize.None, Got: 150, Limit: 120},
				{Rule: optimize.RuleWindow, Stop: 0, Got: 150, Limit: 70},
			},
		},
		"window where another position cannot be reached": {
			func(p *optimize.Problem) {
				p.Stops = append(p.Stops, at(10))
				p.Vehicles[0].Route = []int{1}
				p.Profiles[0].Duration[50] = optimize.Unreachable
				p.Stops[0].Latest = 30
			},
			[]optimize.Reason{{Rule: optimize.RuleWindow, Stop: 0, Got: 50, Limit: 30}},
		},
		"order where every position breaks it": {
			func(p *optimize.Problem) {
				p.Stops = append(p.Stops, at(10), at(20))
				p.Stops[0].Pinned = true
				p.Stops[2].Vehicles = []int{0}
				p.Vehicles[0].Route = []int{0, 1}
				p.Precedences = []optimize.Precedence{{Before: 2, After: 0}}
			},
			[]optimize.Reason{{Rule: optimize.RuleOrder, Stop: 0}},
		},
		"prize": {
			func(p *optimize.Problem) { p.Stops[0].Optional, p.Stops[0].Prize = true, 49 },
			[]optimize.Reason{{Rule: optimize.RulePrize, Stop: 0, Got: 50, Limit: 49}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := line(stop)
			tt.change(p)
			s := solve(t, p, optimize.Options{Iterations: 20})
			if !slices.Contains(s.Unserved, 0) {
				t.Fatal("the stop is served")
			}
			got := optimize.NewExplainer(p, s).Explain(0)
			if len(got) != 1 || got[0].Vehicle != 0 || !slices.Equal(got[0].Reasons, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}
