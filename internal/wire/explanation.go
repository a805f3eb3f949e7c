package wire

import (
	"dray/internal/assignment"
	"dray/internal/lastmile"
)

// Explanation is why a task went to a worker, or to nobody.
type Explanation struct {
	Task       lastmile.TaskID    `json:"task"`
	Time       Millis             `json:"time"`
	Mode       assignment.Mode    `json:"mode"`
	Worker     *lastmile.WorkerID `json:"worker"` // null when nobody fits
	Candidates []Consideration    `json:"candidates"`
}

// Consideration is one worker's part of an explanation.
type Consideration struct {
	Worker   lastmile.WorkerID `json:"worker"`
	Name     string            `json:"name"`
	Distance *float64          `json:"distance"` // metres; null when excluded
	Excluded *string           `json:"excluded"` // why; null when measured
}

// NewExplanation returns an explanation in the form that is sent.
func NewExplanation(e assignment.Explanation) Explanation {
	return Explanation{
		Task: e.Task, Time: Millis(e.At), Mode: e.Mode, Worker: orNull(e.Chosen),
		Candidates: each(e.Considered, func(c assignment.Consideration) Consideration {
			return Consideration{Worker: c.Worker, Name: c.Name, Distance: (*float64)(c.Measure), Excluded: orNull(c.Excluded)}
		}),
	}
}

// Domain returns the explanation that the form shows.
func (e Explanation) Domain() assignment.Explanation {
	return assignment.Explanation{
		Task: e.Task, At: e.Time.Time(), Mode: e.Mode, Chosen: orZero(e.Worker),
		Considered: each(e.Candidates, func(c Consideration) assignment.Consideration {
			return assignment.Consideration{Worker: c.Worker, Name: c.Name, Measure: (*lastmile.Meters)(c.Distance), Excluded: orZero(c.Excluded)}
		}),
	}
}
