package travel

import (
	"time"

	"dray/internal/lastmile"
)

// currentFor is the time for which a location counts as the worker's current one and is shown
// on tracking pages.
const currentFor = 10 * time.Minute

// IsCurrent reports whether the location of a worker is known and recent enough to be where the
// worker is now.
func IsCurrent(w lastmile.Whereabouts, now time.Time) bool {
	return w.Location != nil && now.Sub(w.LocatedAt) < currentFor
}

// LocatedSince returns the last known location of a worker who is assumed to have been there at
// a time or later; otherwise nil.
func LocatedSince(w lastmile.Whereabouts, at time.Time) *lastmile.Point {
	if w.LocatedAt.Before(at.Add(-maxLocationAge)) {
		return nil
	}
	return w.Location
}

// WithReport returns whereabouts updated with the location of an action, if the action has
// one that is newer than the known location.
func WithReport(w lastmile.Whereabouts, location *lastmile.Point, at time.Time) lastmile.Whereabouts {
	if location == nil {
		return w
	}
	return w.WithPositions([]lastmile.Position{{Location: *location, At: at}})
}
