package store

import (
	"time"

	"dray/internal/lastmile"
)

// EstimateSchedule describes when the estimates of a worker are refreshed next. Each worker
// who has ever had a task has one. A change of the worker's list, or of a task in it, makes
// it due.
type EstimateSchedule struct {
	Organization lastmile.OrganizationID
	Worker       lastmile.WorkerID
	Refresh      time.Time       // when to refresh the estimates of all tasks; if zero, when something changes
	Check        time.Time       // when to check the active task against thresholds; if zero, when the worker moves
	Checked      time.Time       // when the thresholds were last checked
	CheckedTask  lastmile.TaskID // the task of the last check
	Changes      int64           // grows with each change of the worker's list
	Rest         time.Time       // until then, changes do not cause another refresh; zero for no rest
}

// AfterRest returns when a change may cause a refresh: now, or when the rest ends. A rest that
// ends after LatestRest is ignored: it was set by a clock that was ahead.
func (s EstimateSchedule) AfterRest(now time.Time) time.Time {
	if s.Rest.After(now) && !s.Rest.After(LatestRest(now)) {
		return s.Rest
	}
	return now
}

// LatestRest returns the latest time at which a rest may end. It is later than MaxEstimateRest
// from now, because the time of a request may be before that of the refresh.
func LatestRest(now time.Time) time.Time { return now.Add(2 * MaxEstimateRest) }

// MaxEstimateRest is the maximum time for which the estimates of a worker are not refreshed
// although something has changed.
const MaxEstimateRest = 5 * time.Second

// Next returns when the worker is due next; zero if only a change makes the worker due.
func (s EstimateSchedule) Next() time.Time {
	if s.Check.IsZero() || !s.Refresh.IsZero() && s.Refresh.Before(s.Check) {
		return s.Refresh
	}
	return s.Check
}

// TaskEstimate has the estimates of a task.
type TaskEstimate struct {
	Task      lastmile.TaskID
	State     lastmile.TaskState // the state of the task for which they were made
	Estimates lastmile.Estimates
}

// EstimatesAt returns the stored estimates of a task as they are shown now. Until the worker
// arrives, the delay is at least the current lateness, whatever was estimated.
func EstimatesAt(e lastmile.Estimates, state lastmile.TaskState, completeBefore, now time.Time) lastmile.Estimates {
	if e.ETA != nil && *e.ETA == 0 && !e.Arrival.After(now) { // arrived: the delay is final
		return e
	}
	task := lastmile.Task{State: state, CompleteBefore: completeBefore}
	if late := task.Late(now); late > 0 && (e.Delay == nil || *e.Delay < late) {
		e.Delay = &late
	}
	return e
}
