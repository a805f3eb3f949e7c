package lastmile

import (
	"strings"
	"time"
)

// Limits of the feedback of recipients.
const (
	MinRating   = 1
	MaxRating   = 5
	MaxComments = MaxText // characters
)

// View notes that somebody looked at the task's page.
func (t *Task) View(now time.Time) []Event {
	if t.TrackingViewed {
		return nil
	}
	t.TrackingViewed, t.Modified = true, later(t.Modified, now)
	return []Event{t.event(TriggerTaskUpdated, Actor{}, now)}
}

// Rate takes in what the recipient says of a completed task. What is said again
// takes the place of what was said before.
func (t *Task) Rate(f Feedback, now time.Time) ([]Event, error) {
	switch {
	case t.State != TaskCompleted:
		return nil, Invalid("feedback can be given when the task is completed")
	case f.Rating < MinRating || f.Rating > MaxRating:
		return nil, Invalid("rating must be between %d and %d", MinRating, MaxRating)
	}
	if err := CheckText("comments", f.Comments, MaxComments); err != nil {
		return nil, err
	}
	f.Comments = strings.TrimSpace(f.Comments)
	if len(t.Feedback) == 1 && t.Feedback[0].Rating == f.Rating && t.Feedback[0].Comments == f.Comments {
		return nil, nil
	}
	f.At = now
	t.Feedback, t.Modified = []Feedback{f}, later(t.Modified, now)
	return []Event{t.event(TriggerTaskUpdated, Actor{}, now)}, nil
}
