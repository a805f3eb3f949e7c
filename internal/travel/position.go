package travel

import (
	"cmp"
	"slices"
	"time"

	"dray/internal/lastmile"
)

// The rules by which positions are accepted.
const (
	MaxPositions    = 500                   // per report
	MaxClockAhead   = time.Minute           // positions further in the future are invalid
	MaxPositionAge  = 24 * time.Hour        // older positions are of no use
	MaxSpeed        = lastmile.Meters(150)  // per second; faster is a measurement error
	MaxInaccuracy   = lastmile.Meters(1000) // less accurate positions are useless
	jumpForgivenFor = 5 * time.Minute       // after which any distance is plausible
)

// FilterPositions sorts positions by time and drops implausible ones: in the
// future, too old, duplicate, too inaccurate, or too far from the previous
// position or the last known location. last is the last known location of the
// worker, if any.
func FilterPositions(positions []lastmile.Position, last lastmile.Whereabouts, now time.Time) []lastmile.Position {
	sorted := slices.SortedStableFunc(slices.Values(positions), func(a, b lastmile.Position) int { return a.At.Compare(b.At) })
	kept := sorted[:0]
	for _, p := range sorted {
		switch {
		case p.At.After(now.Add(MaxClockAhead)), p.At.Before(now.Add(-MaxPositionAge)):
			continue
		case len(kept) > 0 && p.At.Equal(kept[len(kept)-1].At), last.Location != nil && p.At.Equal(last.LocatedAt):
			continue
		case inaccurate(p), unreachableFrom(p, last):
			continue
		}
		from, at, known := previous(p, kept, last)
		if known && isJump(from, p.Location, p.At.Sub(at)) {
			continue
		}
		kept = append(kept, p)
	}
	return slices.Clip(kept)
}

// WithoutFuture returns whereabouts without times in the future. They come from a clock that
// was ahead, and no position would be newer until then. It is unknown when the worker
// really was there, so the times are replaced by one after which any distance is plausible.
func WithoutFuture(last lastmile.Whereabouts, now time.Time) lastmile.Whereabouts {
	for _, at := range []*time.Time{&last.LocatedAt, &last.LastSeen} {
		if at.After(now.Add(MaxClockAhead)) {
			*at = now.Add(-jumpForgivenFor)
		}
	}
	return last
}

// inaccurate reports whether a position is too inaccurate to be useful. Phones report a
// negative accuracy if they have no location.
func inaccurate(p lastmile.Position) bool {
	return p.Accuracy != nil && (*p.Accuracy < 0 || lastmile.Meters(*p.Accuracy) > MaxInaccuracy)
}

// unreachableFrom reports whether a position that arrives late is too far from the last known
// location, which is newer.
func unreachableFrom(p lastmile.Position, last lastmile.Whereabouts) bool {
	return last.Location != nil && p.At.Before(last.LocatedAt) && isJump(p.Location, *last.Location, last.LocatedAt.Sub(p.At))
}

// previous returns the latest known location before a position, from the same
// report or from earlier ones.
func previous(p lastmile.Position, kept []lastmile.Position, last lastmile.Whereabouts) (place lastmile.Point, at time.Time, known bool) {
	if last.Location != nil && p.At.After(last.LocatedAt) {
		place, at, known = *last.Location, last.LocatedAt, true
	}
	if n := len(kept); n > 0 && (!known || kept[n-1].At.After(at)) {
		return kept[n-1].Location, kept[n-1].At, true
	}
	return place, at, known
}

// isJump reports whether the distance is too far for the time.
func isJump(from, to lastmile.Point, took time.Duration) bool {
	if took >= jumpForgivenFor {
		return false
	}
	most := lastmile.Meters(max(took.Seconds(), 1)) * MaxSpeed
	return cmp.Compare(from.Distance(to), most) > 0
}
