package lastmile

import "time"

// Position is where a worker was.
type Position struct {
	Location                 Point
	At                       time.Time
	Accuracy, Speed, Heading *float64
	Battery                  *float64
}

// See moves a worker to the newest of some positions, which are in order, if it
// is news.
func (w Whereabouts) See(positions []Position) Whereabouts {
	if len(positions) == 0 {
		return w
	}
	newest := positions[len(positions)-1]
	if w.Location != nil && !newest.At.After(w.Located) {
		return w
	}
	w.Location, w.Located = &newest.Location, newest.At
	if charge := Charge(newest.Battery); charge != nil {
		w.Battery = charge
	}
	if newest.At.After(w.LastSeen) {
		w.LastSeen = newest.At
	}
	return w
}
