package travel

import (
	"time"

	"dray/internal/lastmile"
)

// The minimum distance from the last measured location at which a worker has moved. It is
// larger than the apparent movement of a phone that lies still.
const (
	minMove            = lastmile.Meters(20)
	maxMove            = lastmile.Meters(200) // maximum of the distance, whatever the accuracy
	inaccuraciesToMove = 2
)

// Measure sets the odometers of positions that are ordered by time and newer than
// the last known location, and returns the odometer after them.
func Measure(positions []lastmile.Position, o lastmile.Odometer) lastmile.Odometer {
	for i := range positions {
		p := &positions[i]
		switch {
		case o.From == nil:
			o.From = &p.Location
		case hasMoved(*o.From, *p):
			o.Way += o.From.Distance(p.Location)
			o.From = &p.Location
		}
		p.Odometer = o.Way
	}
	return o
}

func hasMoved(from lastmile.Point, to lastmile.Position) bool {
	least := minMove
	if to.Accuracy != nil {
		least = min(max(least, inaccuraciesToMove*lastmile.Meters(*to.Accuracy)), maxMove)
	}
	return from.Distance(to.Location) >= least
}

// maxStand is the maximum time for which a worker is assumed to stand at the last known
// location.
const maxStand = 10 * time.Minute

// WayBetween returns the length of a worker's way between two times, from the positions
// around each. If the positions around the start are more than maxStand apart, the way between
// them does not count: it may be the way home before the first task in the morning.
func WayBetween(start, end Surroundings) lastmile.Meters {
	first, last := start.Before, end.Before
	if first == nil || start.After != nil && start.After.At.Sub(first.At) > maxStand {
		first = start.After
	}
	if first == nil || last == nil {
		return 0
	}
	return max(last.Odometer-first.Odometer, 0)
}

// Surroundings are the last position of a worker at or before a time, and the first one after
// it; nil if there is none.
type Surroundings struct {
	At            time.Time
	Before, After *lastmile.Position
}

// maxLocationAge is the maximum difference between a time and that of the position which is
// used as the location at the time.
const maxLocationAge = 2 * time.Minute

// Location returns where the worker was at the time; nil if it is unknown.
func (s Surroundings) Location() *lastmile.Point {
	nearest, found := maxLocationAge+1, (*lastmile.Point)(nil)
	for _, p := range []*lastmile.Position{s.Before, s.After} {
		if p == nil {
			continue
		}
		if away := s.At.Sub(p.At).Abs(); away < nearest {
			nearest, found = away, &p.Location
		}
	}
	return found
}
