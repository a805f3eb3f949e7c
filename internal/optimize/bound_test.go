package optimize

import (
	"slices"
	"testing"
)

// TestUnusedVehiclesAreFound verifies that a search always finds the first unused vehicle
// of a class, whatever it has inserted, removed and undone.
func TestUnusedVehiclesAreFound(t *testing.T) {
	s := pairsSearch(t, mixed)
	for step := range 2000 {
		s.improve()
		for class, list := range s.m.classes {
			want := int32(-1)
			if k := slices.IndexFunc(list, func(r int32) bool { return s.routes[r].stops == 0 }); k >= 0 {
				want = list[k]
			}
			if got := s.empty(int32(class)); got != want {
				t.Fatalf("step %d: the first unused vehicle is %d; want %d", step, got, want)
			}
		}
	}
}

// TestBoundOfPairs verifies that no position of a pair costs less than the bound that is used
// to skip routes.
func TestBoundOfPairs(t *testing.T) {
	s := pairsSearch(t, mixed)
	places := 0
	s.eachPair(func(step int, q, r int32) {
		s.strict = true
		defer func() { s.strict = false }()
		at := s.searchPair(q, r, noWay)
		if at.first < 0 || s.routes[r].late > 0 {
			return
		}
		places++
		if bound := s.boundPair(r, s.m.requests[q][0], s.m.requests[q][1]); bound > at.cost {
			t.Fatalf("step %d: pair %d costs %d in route %d; the bound is %d", step, q, at.cost, r, bound)
		}
	})
	if places == 0 {
		t.Error("no pair had a place")
	}
}

// eachPair calls try with pairs that are removed from their routes and every route, while the
// search goes on.
func (s *search) eachPair(try func(step int, q, r int32)) {
	for step := range 500 {
		s.improve()
		q := int32(step % len(s.m.requests))
		if s.m.kinds[q] != pair {
			continue
		}
		s.begin()
		s.remove(q, nil)
		s.refreshTouched()
		for r := range int32(len(s.routes)) {
			try(step, q, r)
		}
		s.undo()
	}
}

// TestPlacesOfPairs verifies that a search which skips positions that are too late for one stop
// of a pair alone misses no better position if the triangle inequality holds.
func TestPlacesOfPairs(t *testing.T) {
	s := pairsSearch(t, straight)
	places := 0
	s.eachPair(func(step int, q, r int32) {
		got := s.searchPair(q, r, noWay)
		s.strict = true
		want := s.searchPair(q, r, noWay)
		s.strict = false
		if got.cost != want.cost {
			t.Fatalf("step %d: pair %d costs %d in route %d; want %d", step, q, got.cost, r, want.cost)
		}
		if got.first >= 0 {
			places++
		}
	})
	if places == 0 {
		t.Error("no pair had a place")
	}
}
