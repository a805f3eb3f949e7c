package store

import (
	"time"

	"dray/internal/lastmile"
)

// Result is the data of a completed task that analytics count.
type Result struct {
	Success          bool
	Failure          string // reason; empty for none
	Distance         lastmile.Meters
	Started, Arrived time.Time
	Rating           int // of the recipient; 0 for none
}

// ResultOf returns the result of a task, and nil if it is not completed.
func ResultOf(t lastmile.Task) *Result {
	if !t.Completion.Done() {
		return nil
	}
	r := &Result{Success: t.Completion.Success, Distance: t.Completion.Distance, Started: t.Started(), Arrived: t.Completion.Arrived()}
	if !r.Success {
		r.Failure = t.Completion.FailureReason
	}
	for _, f := range t.Feedback {
		r.Rating = f.Rating
	}
	return r
}

// Totals are the sums of a group of tasks in analytics.
type Totals struct {
	Worker               lastmile.WorkerID // if the tasks are grouped by worker
	Succeeded, Failed    int
	Failures             map[string]int // by reason
	OnTime, Early, Late  int            // of tasks with a time window: see lastmile.TimeWindow
	Distance             lastmile.Meters
	DriveTime            time.Duration // from the start to the arrival
	ServiceTime          time.Duration // from the arrival to the completion
	Ratings, RatingTotal int
	Estimated, Close     int           // arrivals that were estimated at the start, and how many of these were within CloseArrival
	ArrivalError         time.Duration // sum of the absolute differences from the estimates
	ArrivalDelay         time.Duration // sum of the delays; early arrivals count as negative
}

// CloseArrival is the maximum difference between an arrival and its estimate that counts as
// close.
const CloseArrival = 5 * time.Minute

// Add adds other totals.
func (t *Totals) Add(o Totals) {
	t.Succeeded, t.Failed = t.Succeeded+o.Succeeded, t.Failed+o.Failed
	for reason, n := range o.Failures {
		if t.Failures == nil {
			t.Failures = map[string]int{}
		}
		t.Failures[reason] += n
	}
	t.OnTime, t.Early, t.Late = t.OnTime+o.OnTime, t.Early+o.Early, t.Late+o.Late
	t.Distance, t.DriveTime, t.ServiceTime = t.Distance+o.Distance, t.DriveTime+o.DriveTime, t.ServiceTime+o.ServiceTime
	t.Ratings, t.RatingTotal = t.Ratings+o.Ratings, t.RatingTotal+o.RatingTotal
	t.Estimated, t.Close = t.Estimated+o.Estimated, t.Close+o.Close
	t.ArrivalError, t.ArrivalDelay = t.ArrivalError+o.ArrivalError, t.ArrivalDelay+o.ArrivalDelay
}

// Promised is a task, and the arrival that was estimated when the worker started it.
type Promised struct {
	Task    lastmile.TaskID
	Arrival time.Time // zero if unknown
}

// Created is a record and when it was created.
type Created struct {
	ID string
	At time.Time
}

// Unfilled is a record that was saved by an older version, without the columns for
// search and analytics.
type Unfilled struct {
	Organization lastmile.OrganizationID
	ID           string
}
