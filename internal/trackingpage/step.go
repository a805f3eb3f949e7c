package trackingpage

import (
	"slices"

	"dray/internal/lastmile"
)

// Step is a step of a task, in the order in which it takes them.
type Step struct {
	Stage Stage
	State StepState
}

// StepState says whether a task has taken a step.
type StepState string

// The states of a step.
const (
	StepPast  StepState = "past"
	StepNow   StepState = "now"
	StepAhead StepState = "ahead"
)

// steps returns the steps of a task. Those of a failed task are the ones that it
// took; a completed one took them all, whether or not the worker reported each.
func steps(t *lastmile.Task) []Step {
	now := stage(t)
	if now == StageFailed {
		all := []Step{{StageScheduled, StepPast}}
		for _, step := range []struct {
			stage Stage
			taken bool
		}{
			{StageAssigned, t.Worker != ""},
			{StageActive, !t.Started().IsZero()},
			{StageArrived, !t.Completion.Arrived().IsZero()},
		} {
			if step.taken {
				all = append(all, Step{step.stage, StepPast})
			}
		}
		return append(all, Step{StageFailed, StepNow})
	}
	order := []Stage{StageScheduled, StageAssigned, StageActive, StageArrived, StageCompleted}
	at := slices.Index(order, now)
	all := make([]Step, len(order))
	for i, s := range order {
		all[i] = Step{s, StepAhead}
		switch {
		case i < at:
			all[i].State = StepPast
		case i == at:
			all[i].State = StepNow
		}
	}
	return all
}

// otherReason is the failure reason that only the worker's notes explain.
const otherReason = "OTHER"

// shownReason returns a failure reason if recipients are shown it. Notes, and reasons
// from earlier versions, are not written for recipients.
func shownReason(reason string) string {
	if reason != otherReason && slices.Contains(lastmile.FailureReasons, lastmile.FailureReason(reason)) {
		return reason
	}
	return ""
}
