package lastmile

import (
	"cmp"
	"slices"
	"time"
)

// The rules by which positions are believed.
const (
	MaxPositions    = 500            // in one report
	MaxClockAhead   = time.Minute    // a position further in the future is nonsense
	MaxPositionAge  = 24 * time.Hour // an older one is of no use
	MaxSpeed        = Meters(150)    // a second; faster is a jump, not a drive
	PositionsKept   = 30 * 24 * time.Hour
	jumpForgivenFor = 5 * time.Minute // after which a jump is believed
)

// Position is where a worker was.
type Position struct {
	Location                 Point
	At                       time.Time
	Accuracy, Speed, Heading *float64
	Battery                  *float64
}

// Believe sorts positions by time and drops what cannot be true: in the
// future, too old, doubled, or further from the one before than anybody
// drives. last is the newest position known before, if any.
func Believe(positions []Position, last Whereabouts, now time.Time) []Position {
	sorted := slices.SortedStableFunc(slices.Values(positions), func(a, b Position) int { return a.At.Compare(b.At) })
	kept := sorted[:0]
	at, place := last.LastSeen, last.Location
	if place == nil {
		at = time.Time{} // seen, but nobody knows where
	}
	for _, p := range sorted {
		switch {
		case p.At.After(now.Add(MaxClockAhead)), p.At.Before(now.Add(-MaxPositionAge)):
			continue
		case len(kept) > 0 && p.At.Equal(kept[len(kept)-1].At):
			continue
		case place != nil && p.At.After(at) && jump(*place, p.Location, p.At.Sub(at)):
			continue
		}
		kept = append(kept, p)
		if p.At.After(at) {
			location := p.Location
			at, place = p.At, &location
		}
	}
	return slices.Clip(kept)
}

// jump tells whether nobody gets from one place to the other in the time.
func jump(from, to Point, took time.Duration) bool {
	if took >= jumpForgivenFor {
		return false
	}
	most := Meters(max(took.Seconds(), 1)) * MaxSpeed
	return cmp.Compare(from.Distance(to), most) > 0
}

// See moves a worker to the newest of some positions, which are in order, if it
// is news.
func (w Whereabouts) See(positions []Position) Whereabouts {
	known := w.Location != nil
	for _, p := range positions {
		if known && !p.At.After(w.LastSeen) {
			continue
		}
		location := p.Location
		w.Location = &location
		if p.At.After(w.LastSeen) {
			w.LastSeen = p.At
		}
	}
	return w
}
