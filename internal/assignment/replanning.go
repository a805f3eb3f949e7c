package assignment

import (
	"math/bits"
	"time"

	"dray/internal/lastmile"
)

// Movement is what continuous re-planning may move.
type Movement string

// The movements.
const (
	MoveOrder   Movement = "order"   // the tasks of a worker stay with the worker; their order may change
	MoveWorkers Movement = "workers" // tasks may also move between workers
)

// Values lists every movement.
func (Movement) Values() []Movement { return []Movement{MoveOrder, MoveWorkers} }

// Cause is why the routes of a team are planned again.
type Cause string

// The causes of re-planning.
const (
	CauseLate       Cause = "workerLate"
	CauseOnDuty     Cause = "workerOnDuty"
	CauseAdded      Cause = "taskAdded"
	CauseChanged    Cause = "taskChanged"
	CauseUnassigned Cause = "taskUnassigned"
)

// Values lists every cause.
func (Cause) Values() []Cause {
	return []Cause{CauseLate, CauseOnDuty, CauseAdded, CauseChanged, CauseUnassigned}
}

// Replanning holds the settings of continuous re-planning: during the day, the routes of an
// organization's teams are planned again.
type Replanning struct {
	Enabled  bool
	Move     Movement
	Assign   bool          // unassigned tasks of the team may be assigned
	Interval time.Duration // minimum time between two runs for a team
	Lateness time.Duration // expected lateness at which a worker causes a run
	Ahead    time.Duration // horizon: tasks whose completeAfter is further ahead stay where they are
}

// DefaultReplanning is the setting of an organization that has set nothing.
var DefaultReplanning = Replanning{Move: MoveOrder, Interval: 10 * time.Minute, Lateness: 10 * time.Minute, Ahead: 4 * time.Hour}

// The bounds of the settings.
const (
	MinReplanInterval = time.Minute
	MaxReplanInterval = 24 * time.Hour
	MinReplanLateness = time.Minute
	MaxReplanLateness = 24 * time.Hour
	MinReplanAhead    = 15 * time.Minute
	MaxReplanAhead    = 12 * time.Hour
)

// ReplanningChange is an update of the settings. Nil fields stay unchanged.
type ReplanningChange struct {
	Enabled                   *bool
	Move                      *Movement
	Assign                    *bool
	Interval, Lateness, Ahead *time.Duration
}

// Update changes the settings, or rejects the change.
func (r *Replanning) Update(c ReplanningChange) error {
	changed := *r
	lastmile.Set(&changed.Enabled, c.Enabled)
	lastmile.Set(&changed.Move, c.Move)
	lastmile.Set(&changed.Assign, c.Assign)
	lastmile.Set(&changed.Interval, c.Interval)
	lastmile.Set(&changed.Lateness, c.Lateness)
	lastmile.Set(&changed.Ahead, c.Ahead)
	if changed.Move != MoveOrder && changed.Move != MoveWorkers {
		return lastmile.Invalid("move must be %s or %s, not %q", MoveOrder, MoveWorkers, lastmile.Truncate(string(changed.Move), 32))
	}
	err := lastmile.FirstError(
		checkBetween("interval", changed.Interval, MinReplanInterval, MaxReplanInterval),
		checkBetween("lateness", changed.Lateness, MinReplanLateness, MaxReplanLateness),
		checkBetween("ahead", changed.Ahead, MinReplanAhead, MaxReplanAhead),
	)
	if err == nil {
		*r = changed
	}
	return err
}

func checkBetween(field string, d, least, most time.Duration) error {
	if d < least || d > most {
		return lastmile.Invalid("%s must be between %.0f and %.0f minutes", field, least.Minutes(), most.Minutes())
	}
	return nil
}

// FallsBehind reports whether the lateness of a worker has passed a level at which
// routes are re-planned: r.Lateness, and then twice, four times, … as much. Constant
// lateness triggers nothing further.
func (r Replanning) FallsBehind(before, after *time.Duration) bool {
	return r.Enabled && r.level(after) > r.level(before)
}

func (r Replanning) level(late *time.Duration) int {
	if late == nil {
		return 0
	}
	return bits.Len64(uint64(*late / r.Lateness))
}

// ReplanCause returns the cause for which an event triggers re-planning, or empty.
// Events of tasks that are completed, or whose completeAfter is more than MaxReplanAhead
// away, trigger none.
func ReplanCause(e lastmile.Event) Cause {
	if e.Trigger == lastmile.TriggerWorkerDuty && e.Worker.Whereabouts.OnDuty {
		return CauseOnDuty
	}
	if e.Task == nil || e.Task.State == lastmile.TaskCompleted || e.Task.CompleteAfter.After(e.At.Add(MaxReplanAhead)) {
		return ""
	}
	switch e.Trigger { //nolint:exhaustive // the other triggers change no route
	case lastmile.TriggerTaskCreated, lastmile.TriggerTaskCloned, lastmile.TriggerTaskAssigned:
		return CauseAdded
	case lastmile.TriggerTaskUpdated:
		return CauseChanged
	case lastmile.TriggerTaskUnassigned:
		return CauseUnassigned
	}
	return ""
}
