package lastmile

import (
	"slices"
	"strings"
	"time"
)

// GeofenceLevel defines what happens when a worker completes a task outside its geofence. The
// API defines the numbers.
type GeofenceLevel int

// The levels of a geofence.
const (
	GeofenceOff   GeofenceLevel = iota
	GeofenceWarn                // the task is completed and the attempt recorded
	GeofenceBlock               // the completion is rejected and the attempt recorded
)

var geofenceLevels = []string{"off", "warn", "block"}

// String returns the name of the level.
func (l GeofenceLevel) String() string { return geofenceLevels[l] }

// ParseGeofenceLevel parses the name of a level.
func ParseGeofenceLevel(name string) (GeofenceLevel, error) {
	i := slices.Index(geofenceLevels, name)
	if i < 0 {
		return 0, Invalid("a geofence must be one of %s, not %q", strings.Join(geofenceLevels, ", "), name)
	}
	return GeofenceLevel(i), nil
}

// Limits of geofences.
const (
	DefaultGeofenceRadius Meters = 200
	MaxGeofenceRadius     Meters = 10_000

	MaxGeofenceAttempts = 100 // kept per task
)

// Geofence is an organization's rule about where workers may complete tasks.
type Geofence struct {
	Level  GeofenceLevel
	Radius Meters // around the destination; zero for the default
}

// Check rejects an invalid radius.
func (g Geofence) Check() error {
	if !(g.Radius >= 0 && g.Radius <= MaxGeofenceRadius) {
		return Invalid("the radius of a geofence must be between 1 and %.0f metres", float64(MaxGeofenceRadius))
	}
	return nil
}

// Within returns the radius of the geofence, or the default.
func (g Geofence) Within() Meters {
	if g.Radius == 0 {
		return DefaultGeofenceRadius
	}
	return g.Radius
}

// GeofenceAttempt is an attempt to complete a task outside its geofence.
type GeofenceAttempt struct {
	Level    GeofenceLevel // GeofenceWarn or GeofenceBlock
	Location Point
	At       time.Time
}

// maxLocationAge is the maximum time between an action and the worker's last known location
// at which the worker is assumed to be there.
const maxLocationAge = 2 * time.Minute

// WithLocation returns the action with the worker's last known location, if the
// action has none and the location is recent.
func (a Action) WithLocation(w Whereabouts) Action {
	if a.Location == nil && w.Location != nil && a.At.Sub(w.LocatedAt).Abs() <= maxLocationAge {
		a.Location = w.Location
	}
	return a
}

// ApplyGeofence marks the task as geofenced, unless the geofence is off. From then on, the
// API shows the attempts to complete the task outside the geofence.
func (t *Task) ApplyGeofence(g Geofence) { t.Geofenced = t.Geofenced || g.Level != GeofenceOff }

// CheckGeofence checks the location at which a worker completes the task. An
// attempt outside the geofence is recorded on the task, once per action, and
// rejected at GeofenceBlock. An unknown location is accepted at GeofenceWarn;
// GeofenceBlock requires a location.
func (t *Task) CheckGeofence(g Geofence, a Action) error {
	if g.Level == GeofenceOff || t.State != TaskActive {
		return nil
	}
	t.ApplyGeofence(g)
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

// GeofenceEvent returns the event of an attempt that was rejected.
func (t *Task) GeofenceEvent(by Actor, at time.Time) Event {
	t.Modified = nextModified(t.Modified, at)
	return t.event(TriggerTaskUpdated, by, at)
}
