package lastmile

import (
	"slices"
	"strings"
	"time"
)

// GeofenceLevel is what happens to a worker who completes a task elsewhere. The
// numbers of attempts are the interface's.
type GeofenceLevel int

// The levels of a geofence.
const (
	GeofenceOff   GeofenceLevel = iota
	GeofenceWarn                // the task is completed, and the attempt noted
	GeofenceBlock               // the task is not completed, and the attempt noted
)

var geofenceLevels = []string{"off", "warn", "block"}

// String names the level.
func (l GeofenceLevel) String() string { return geofenceLevels[l] }

// ParseGeofenceLevel reads the name of a level.
func ParseGeofenceLevel(name string) (GeofenceLevel, error) {
	i := slices.Index(geofenceLevels, name)
	if i < 0 {
		return 0, Invalid("a geofence must be one of %s, not %q", strings.Join(geofenceLevels, ", "), name)
	}
	return GeofenceLevel(i), nil
}

// The limits of a geofence.
const (
	DefaultGeofenceRadius Meters = 200
	MaxGeofenceRadius     Meters = 10_000

	MaxGeofenceAttempts = 100 // that a task remembers
)

// Geofence is an organization's rule of where workers complete tasks.
type Geofence struct {
	Level  GeofenceLevel
	Radius Meters // around the destination; zero is the default
}

// Check refuses a radius that makes no sense.
func (g Geofence) Check() error {
	if !(g.Radius >= 0 && g.Radius <= MaxGeofenceRadius) {
		return Invalid("the radius of a geofence must be between 1 and %.0f metres", float64(MaxGeofenceRadius))
	}
	return nil
}

// Within is the radius of the geofence.
func (g Geofence) Within() Meters {
	if g.Radius == 0 {
		return DefaultGeofenceRadius
	}
	return g.Radius
}

// GeofenceAttempt is a worker's attempt to complete a task elsewhere.
type GeofenceAttempt struct {
	Level    GeofenceLevel // GeofenceWarn or GeofenceBlock
	Location Point
	At       time.Time
}

// placeFresh is for how long a worker is taken to be where she was last seen.
const maxLocationAge = 2 * time.Minute

// From returns the action with the worker's last place, if it has none and that
// is not long ago.
func (a Action) WithLocation(w Whereabouts) Action {
	if a.Location == nil && w.Location != nil && a.At.Sub(w.LocatedAt).Abs() <= maxLocationAge {
		a.Location = w.Location
	}
	return a
}

// Fence holds the place where a worker wants to complete the task against a
// geofence. An attempt from elsewhere is noted on the task, once for each
// action; at GeofenceBlock it is refused too. Where nobody knows the place,
// there is nothing to warn of, and GeofenceBlock asks for it.
func (t *Task) CheckGeofence(g Geofence, a Action) error {
	if g.Level == GeofenceOff || t.State != TaskActive {
		return nil
	}
	t.Geofenced = true
	if a.Location == nil {
		if g.Level == GeofenceBlock {
			return Missing("location").Because("the task can only be completed near its destination")
		}
		return nil
	}
	away := a.Location.Distance(t.Destination.Location)
	if away <= g.Within() {
		return nil
	}
	attempt := GeofenceAttempt{Level: g.Level, Location: *a.Location, At: a.At}
	if !slices.Contains(t.GeofenceAttempts, attempt) && len(t.GeofenceAttempts) < MaxGeofenceAttempts {
		t.GeofenceAttempts = append(slices.Clone(t.GeofenceAttempts), attempt)
	}
	if g.Level == GeofenceWarn {
		t.CompletedWithGeofenceWarning = true
		return nil
	}
	return Invalid("task %s can only be completed within %.0f metres of its destination, and this is %.0f metres away",
		t.ID, float64(g.Within()), float64(away)).Because("the geofence of the organization")
}

// Fenced tells of an attempt that was refused.
func (t *Task) GeofenceEvent(by Actor, at time.Time) Event {
	t.Modified = nextModified(t.Modified, at)
	return t.event(TriggerTaskUpdated, by, at)
}
