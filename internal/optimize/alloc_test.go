package optimize

import "testing"

// TestSearchDoesNotAllocate verifies that the memory of a search does not grow
// with its steps.
func TestSearchDoesNotAllocate(t *testing.T) {
	s := pairsSearch(t, mixed)
	for range 5000 {
		s.improve()
	}
	if n := testing.AllocsPerRun(2000, s.improve); n > 0 {
		t.Errorf("a step allocates %v times", n)
	}
}

// mixed returns travel times that violate the triangle inequality, and straight returns ones
// that satisfy it.
func mixed(a, b int) int    { return (a*60 + b) * 7919 % 100 }
func straight(a, b int) int { return max(a*37%60-b*37%60, b*37%60-a*37%60) + max(a-b, b-a) }

// pairsSearch returns a search on a problem with windows, loads and pairs.
func pairsSearch(t *testing.T, travel func(a, b int) int) *search {
	t.Helper()
	const stops = 60
	p := &Problem{Profiles: []Profile{{Size: stops, Duration: make([]int32, stops*stops)}}}
	for i := range p.Profiles[0].Duration {
		p.Profiles[0].Duration[i] = int32(travel(i/stops, i%stops))
	}
	for i := range stops {
		p.Stops = append(p.Stops, Stop{Location: i, Latest: 300, MaxLateness: i % 3 * 50, Change: Load{i % 5}})
		if i%6 == 1 {
			p.Precedences = append(p.Precedences, Precedence{Before: i - 1, After: i, SameVehicle: true})
		}
	}
	for range 8 {
		p.Vehicles = append(p.Vehicles, Vehicle{ShiftEnd: 400, Capacity: Load{40}})
	}
	m, err := compile(p)
	if err != nil {
		t.Fatal(err)
	}
	s := newSearch(m, 1)
	s.construct(t.Context(), newMeter(Options{Iterations: 1}), nil)
	s.heat = 10
	return s
}
