package optimize

import (
	"errors"
	"fmt"
)

// ErrInvalid is wrapped by the errors for problems that contradict themselves or exceed the
// limits.
var ErrInvalid = errors.New("invalid problem")

// Limits of a problem. They bound the memory of a search.
const (
	MaxStops    = 10_000
	MaxVehicles = 2_000
	MaxThreads  = 64
)

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...))
}

// Validate returns an error that wraps ErrInvalid if a problem exceeds the limits or
// contradicts itself: indexes out of range, windows that end before they begin, a stop on
// two routes, cyclic precedences.
func (p *Problem) Validate() error {
	if len(p.Stops) > MaxStops {
		return invalid("%d stops; at most %d are supported", len(p.Stops), MaxStops)
	}
	if len(p.Vehicles) > MaxVehicles {
		return invalid("%d vehicles; at most %d are supported", len(p.Vehicles), MaxVehicles)
	}
	if w := p.Weights; w.Lateness < 0 || w.Duration < 0 || w.Distance < 0 || w.Vehicle < 0 || max(w.Lateness, w.Duration, w.Distance, w.Vehicle) > MaxTime {
		return invalid("weights must be from 0 to %d", MaxTime)
	}
	for i := range p.Profiles {
		if err := p.Profiles[i].validate(p.Weights); err != nil {
			return fmt.Errorf("profile %d: %w", i, err)
		}
	}
	for i := range p.Stops {
		if err := p.validateStop(&p.Stops[i]); err != nil {
			return fmt.Errorf("stop %d: %w", i, err)
		}
	}
	owner := make([]int, len(p.Stops))
	for i := range p.Vehicles {
		if err := p.validateVehicle(&p.Vehicles[i], i, owner); err != nil {
			return fmt.Errorf("vehicle %d: %w", i, err)
		}
	}
	for i := range p.Stops {
		if p.Stops[i].Pinned && owner[i] == 0 {
			return fmt.Errorf("stop %d: %w", i, invalid("it is pinned and on no route"))
		}
	}
	return p.validatePrecedences()
}

func (m *Profile) validate(w Weights) error {
	n := m.Size
	switch {
	case n < 0 || n > MaxStops+2*MaxVehicles:
		return invalid("the size %d is out of range", n)
	case len(m.Duration) != n*n:
		return invalid("%d durations for %d locations", len(m.Duration), n)
	case m.Distance != nil && len(m.Distance) != n*n:
		return invalid("%d distances for %d locations", len(m.Distance), n)
	case m.Distance == nil && w.Distance > 0:
		return invalid("distances have a weight and are missing")
	}
	for _, d := range m.Duration {
		if d < Unreachable || d > MaxTime {
			return invalid("the duration %d is out of range", d)
		}
	}
	for _, d := range m.Distance {
		if d < Unreachable || d > MaxTime {
			return invalid("the distance %d is out of range", d)
		}
	}
	return nil
}

func (p *Problem) validateStop(s *Stop) error {
	for i := range p.Profiles {
		if s.Location < 0 || s.Location >= p.Profiles[i].Size {
			return invalid("the location %d is not in profile %d", s.Location, i)
		}
	}
	switch {
	case s.Service < 0 || s.Service > MaxTime:
		return invalid("the service time %d is out of range", s.Service)
	case s.Earliest < -MaxTime || s.Latest > MaxTime || s.Latest < -MaxTime || s.Earliest > MaxTime:
		return invalid("the window from %d to %d is out of range", s.Earliest, s.Latest)
	case s.Latest < s.Earliest:
		return invalid("the window ends at %d, before it begins at %d", s.Latest, s.Earliest)
	case s.MaxLateness < 0 || s.MaxLateness > MaxTime:
		return invalid("the largest lateness %d is out of range", s.MaxLateness)
	case s.Prize < 0 || s.Prize > MaxTime:
		return invalid("the prize %d is out of range", s.Prize)
	}
	for d := range Dimensions {
		if s.Carried[d] < 0 || s.Carried[d] > MaxLoad || s.Change[d] < -MaxLoad || s.Change[d] > MaxLoad {
			return invalid("the load in dimension %d is out of range", d)
		}
	}
	for _, v := range s.Vehicles {
		if v < 0 || v >= len(p.Vehicles) {
			return invalid("there is no vehicle %d", v)
		}
	}
	return nil
}

// validateVehicle checks one vehicle and records the stops of its route in owner.
func (p *Problem) validateVehicle(v *Vehicle, index int, owner []int) error {
	if v.Profile < 0 || v.Profile >= len(p.Profiles) {
		return invalid("there is no profile %d", v.Profile)
	}
	size := p.Profiles[v.Profile].Size
	switch {
	case v.Start < None || v.Start >= size:
		return invalid("the start %d is not in its profile", v.Start)
	case v.End < None || v.End >= size:
		return invalid("the end %d is not in its profile", v.End)
	case v.ShiftStart < -MaxTime || v.ShiftEnd > MaxTime || v.ShiftEnd < v.ShiftStart:
		return invalid("the shift from %d to %d is out of range", v.ShiftStart, v.ShiftEnd)
	case v.MaxStops < 0:
		return invalid("the largest number of stops is negative")
	}
	for d := range Dimensions {
		if v.Capacity[d] < 0 || v.Capacity[d] > MaxLoad {
			return invalid("the capacity in dimension %d is out of range", d)
		}
	}
	for _, s := range v.Route {
		if s < 0 || s >= len(p.Stops) {
			return invalid("there is no stop %d", s)
		}
		if owner[s] != 0 {
			return invalid("stop %d is on the route of vehicle %d already", s, owner[s]-1)
		}
		owner[s] = index + 1
	}
	return nil
}

func (p *Problem) validatePrecedences() error {
	open := make([]int, len(p.Stops)) // predecessors that are not sorted yet
	after := make(map[int][]int)
	for i, c := range p.Precedences {
		if c.Before < 0 || c.Before >= len(p.Stops) || c.After < 0 || c.After >= len(p.Stops) {
			return fmt.Errorf("precedence %d: %w", i, invalid("a stop is out of range"))
		}
		open[c.After]++
		after[c.Before] = append(after[c.Before], c.After)
	}
	var ready []int
	for i, n := range open {
		if n == 0 {
			ready = append(ready, i)
		}
	}
	for k := 0; k < len(ready); k++ {
		for _, s := range after[ready[k]] {
			if open[s]--; open[s] == 0 {
				ready = append(ready, s)
			}
		}
	}
	if len(ready) < len(p.Stops) {
		return invalid("precedences form a circle")
	}
	return nil
}
