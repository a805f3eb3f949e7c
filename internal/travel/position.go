package travel

import (
	"cmp"
	"slices"
	"time"

	"dray/internal/lastmile"
)

// The rules by which positions are believed.
const (
	MaxPositions    = 500                   // in one report
	MaxClockAhead   = time.Minute           // a position further in the future is nonsense
	MaxPositionAge  = 24 * time.Hour        // an older one is of no use
	MaxSpeed        = lastmile.Meters(150)  // a second; faster is a jump, not a drive
	MaxInaccuracy   = lastmile.Meters(1000) // a vaguer one tells the district, not the place
	jumpForgivenFor = 5 * time.Minute       // after which a jump is believed
)

// FilterPositions sorts positions by time and drops what cannot be true: in the
// future, too old, doubled, too vague, or further from the one before, or the
// latest that is known, than anybody drives. last is where the worker was known
// to be before, if anywhere.
func FilterPositions(positions []lastmile.Position, last lastmile.Whereabouts, now time.Time) []lastmile.Position {
	sorted := slices.SortedStableFunc(slices.Values(positions), func(a, b lastmile.Position) int { return a.At.Compare(b.At) })
	kept := sorted[:0]
	for _, p := range sorted {
		switch {
		case p.At.After(now.Add(MaxClockAhead)), p.At.Before(now.Add(-MaxPositionAge)):
			continue
		case len(kept) > 0 && p.At.Equal(kept[len(kept)-1].At), last.Location != nil && p.At.Equal(last.Located):
			continue
		case vague(p), strays(p, last):
			continue
		}
		from, at, known := before(p, kept, last)
		if known && jump(from, p.Location, p.At.Sub(at)) {
			continue
		}
		kept = append(kept, p)
	}
	return slices.Clip(kept)
}

// vague tells whether a position says nothing of where the worker was: phones
// give a negative accuracy where they know no place.
func vague(p lastmile.Position) bool {
	return p.Accuracy != nil && (*p.Accuracy < 0 || lastmile.Meters(*p.Accuracy) > MaxInaccuracy)
}

// strays tells whether nobody gets from a position that comes late to where the
// worker was after it.
func strays(p lastmile.Position, last lastmile.Whereabouts) bool {
	return last.Location != nil && p.At.Before(last.Located) && jump(p.Location, *last.Location, last.Located.Sub(p.At))
}

// before is the latest place known from before a position: of the same report,
// or from reports before it.
func before(p lastmile.Position, kept []lastmile.Position, last lastmile.Whereabouts) (place lastmile.Point, at time.Time, known bool) {
	if last.Location != nil && p.At.After(last.Located) {
		place, at, known = *last.Location, last.Located, true
	}
	if n := len(kept); n > 0 && (!known || kept[n-1].At.After(at)) {
		return kept[n-1].Location, kept[n-1].At, true
	}
	return place, at, known
}

// jump tells whether nobody gets from one place to the other in the time.
func jump(from, to lastmile.Point, took time.Duration) bool {
	if took >= jumpForgivenFor {
		return false
	}
	most := lastmile.Meters(max(took.Seconds(), 1)) * MaxSpeed
	return cmp.Compare(from.Distance(to), most) > 0
}
