package store

import (
	"time"

	"dray/internal/lastmile"
)

// EstimateSchedule is when the estimates of a worker are refreshed next. There is
// one for each worker who ever had a task; a change of the worker's list, or of a
// task in it, makes it due.
type EstimateSchedule struct {
	Organization lastmile.OrganizationID
	Worker       lastmile.WorkerID
	Refresh      time.Time       // when to refresh the estimates of all tasks; zero: when something changes
	Check        time.Time       // when to check the active task against thresholds; zero: when the worker moves
	Checked      time.Time       // when this was last done
	CheckedTask  lastmile.TaskID // for which task
	Changes      int64           // grows with each change of the worker's list
	Rest         time.Time       // until when changes do not cause another refresh; zero if they do at once
}

// AfterRest returns when a change may cause a refresh: now, or when the rest ends. One that is
// too long to be a rest is of a clock that was ahead.
func (s EstimateSchedule) AfterRest(now time.Time) time.Time {
	if s.Rest.After(now) && !s.Rest.After(LatestRest(now)) {
		return s.Rest
	}
	return now
}

// LatestRest returns the latest time at which a rest may end. It is later than MaxEstimateRest
// from now: a request may be older than the refresh.
func LatestRest(now time.Time) time.Time { return now.Add(2 * MaxEstimateRest) }

// MaxEstimateRest is the longest that the estimates of a worker are not refreshed although
// something has changed.
const MaxEstimateRest = 5 * time.Second

// Next is when the worker is due next; zero when something changes.
func (s EstimateSchedule) Next() time.Time {
	if s.Check.IsZero() || !s.Refresh.IsZero() && s.Refresh.Before(s.Check) {
		return s.Refresh
	}
	return s.Check
}

// TaskEstimate is the estimates of a task.
type TaskEstimate struct {
	Task      lastmile.TaskID
	State     lastmile.TaskState // the state they were made for
	Estimates lastmile.Estimates
}

// EstimatesAt returns stored estimates of a task as they are shown. A task that is late is
// at least as late as it is now, whatever was estimated, until its worker arrives.
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
