package taskflow

import (
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/rate"
)

// Limits of the feedback on one task: recipients correct theirs once or twice.
const (
	feedbackBurst = 10
	feedbackPause = 5 * time.Minute // between two changes, in the long run
)

// NewFeedbackLimit returns a limiter for changes of the feedback on a task on this node.
func NewFeedbackLimit(now func() time.Time) *rate.Limiter {
	return rate.New(rate.Limit{Burst: feedbackBurst, PerSecond: 1 / feedbackPause.Seconds()}, now)
}

// Rate stores the recipient's feedback on a completed task. Feedback that changes
// nothing does not count towards the limit.
func (ps *Pages) Rate(ctx context.Context, token string, said lastmile.Feedback) error {
	var task lastmile.Task
	err := ps.Store.Read(ctx, func(r PageReader) (err error) {
		task, err = taskByLink(ctx, r, token)
		return err
	})
	if err != nil {
		return err
	}
	if changes, err := task.Rate(said, ps.Now()); err != nil || len(changes) == 0 {
		return err
	}
	if rejected := ps.Feedback.Take(string(task.ID), 1); rejected != nil {
		return rejected.Because("the feedback was changed %d times: one more change is possible every %.0f minutes", feedbackBurst, feedbackPause.Minutes())
	}
	return ps.recipientUpdate(ctx, token, func(task *lastmile.Task) ([]lastmile.Event, error) { return task.Rate(said, ps.Now()) })
}
