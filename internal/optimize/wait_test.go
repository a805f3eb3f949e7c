package optimize

import "testing"

// TestNoWaitForAStopThatMovedForward plans a stop that must follow a stop of another vehicle,
// and then removes what delayed the latter.
func TestNoWaitForAStopThatMovedForward(t *testing.T) {
	p := &Problem{
		Stops:       []Stop{{Location: 1, Latest: 5000, Service: 60}, {Location: 2, Latest: 5000, Service: 1200}, {Location: 3, Latest: 5000}},
		Vehicles:    []Vehicle{{ShiftEnd: 9000}, {ShiftEnd: 9000}},
		Profiles:    []Profile{{Size: 4, Duration: make([]int32, 16)}},
		Precedences: []Precedence{{Before: 0, After: 2}},
	}
	m, err := compile(p)
	if err != nil {
		t.Fatal(err)
	}
	s := newSearch(m, 1)
	s.begin()
	s.link(1, m.start(0)) // takes 1200
	s.link(0, 1)
	s.refresh(0)
	s.fill(m.request[2], 1)
	s.hold(m.requests[m.request[2]])
	if got := s.nodes[2].start; got != 1260 {
		t.Fatalf("the later stop starts at %d", got)
	}
	s.remove(m.request[1], nil)
	s.refresh(0)
	s.renew()
	if got := s.nodes[2].start; got != 60 {
		t.Errorf("the later stop starts at %d, and the earlier one ends at %d", got, s.nodes[0].start+60)
	}
	if got := s.nodes[0].late; got != 0 {
		t.Errorf("the earlier stop may start at %d", got)
	}
}
