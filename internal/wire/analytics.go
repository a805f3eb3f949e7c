package wire

import (
	"time"

	"dray/internal/analytics"

	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/travel"
)

// WorkerDetails is one worker, with what lists of workers leave out.
type WorkerDetails struct {
	Worker
	// Seconds to the active task; null when there is none.
	ETA *Seconds `json:"eta" example:"null"`
	// What the worker did. Only when asked for.
	Analytics *WorkerAnalytics `json:"analytics,omitzero"`
}

// WorkerAnalytics is what a worker did in a window of time.
type WorkerAnalytics struct {
	// When the worker went on and off duty, in order.
	Events []DutyEvent `json:"events" example:"[{\"action\": \"onduty\", \"time\": 1767225600000}, {\"action\": \"offduty\", \"time\": 1767254400000}]"`
	// Metres on tasks, and without one. The way without a task is not recorded: idle is 0.
	Distances EnrouteIdle `json:"distances" example:"{\"enroute\": 48210.5, \"idle\": 0}"`
	// Seconds on tasks, and on duty without one.
	Times EnrouteIdle `json:"times" example:"{\"enroute\": 16320, \"idle\": 3480}"`
	// Tasks completed in the window.
	TaskCounts WorkerTaskCounts `json:"taskCounts" example:"{\"succeeded\": 21, \"failed\": 1}"`
}

// DutyEvent is a worker going on or off duty.
type DutyEvent struct {
	// What happened.
	Action string `json:"action" enum:"onduty,offduty"`
	// When, in Unix milliseconds.
	Time Millis `json:"time"`
}

// The actions of a DutyEvent.
const (
	OnDutyAction  = "onduty"
	OffDutyAction = "offduty"
)

// EnrouteIdle is a measure on tasks, and without one.
type EnrouteIdle struct {
	// On a task.
	Enroute float64 `json:"enroute"`
	// On duty without a task.
	Idle float64 `json:"idle"`
}

// WorkerTaskCounts are how many tasks ended well and badly.
type WorkerTaskCounts struct {
	// Tasks that ended well.
	Succeeded int `json:"succeeded"`
	// Tasks that ended badly.
	Failed int `json:"failed"`
}

// AnalyticsWindow returns the window of analytics that a request asks for.
func AnalyticsWindow(from, to, now time.Time) (lastmile.Window, error) {
	return analytics.NewWindow(from, to, now)
}

// NewWorkerDetails returns one worker in the form that is sent.
func NewWorkerDetails(d analytics.WorkerDetails) WorkerDetails {
	shown := WorkerDetails{Worker: NewWorker(d.Worker), ETA: (*Seconds)(d.ETA)}
	if a := d.Analytics; a != nil {
		shown.Analytics = &WorkerAnalytics{
			Events: Each(a.Events, func(c lastmile.DutyChange) DutyEvent {
				if c.OnDuty {
					return DutyEvent{Action: OnDutyAction, Time: Millis(c.At)}
				}
				return DutyEvent{Action: OffDutyAction, Time: Millis(c.At)}
			}),
			Distances:  EnrouteIdle{Enroute: float64(a.EnrouteDistance), Idle: float64(a.IdleDistance)},
			Times:      EnrouteIdle{Enroute: a.EnrouteTime.Seconds(), Idle: a.IdleTime.Seconds()},
			TaskCounts: WorkerTaskCounts{Succeeded: a.Succeeded, Failed: a.Failed},
		}
	}
	return shown
}

// TeamEstimate is who of a team would be done first, and when.
type TeamEstimate struct {
	// Id of the worker.
	WorkerID lastmile.WorkerID `json:"workerId" example:"W4nB7xKq9LsT2vDz6MfR3hYc"`
	// Type of the worker's vehicle; null means on foot.
	Vehicle *lastmile.VehicleType `json:"vehicle" example:"CAR"`
	// The pickup, then the drop-off, as far as asked for.
	Steps []EstimateStep `json:"steps"`
}

// EstimateStep is one stop of an estimate.
//
// Its times are in seconds.
type EstimateStep struct {
	// [longitude, latitude] in degrees.
	Location LonLat `json:"location" example:"[-73.9857, 40.7484]"`
	// Seconds from the stop before, as estimated.
	TravelTime Seconds `json:"travelTime" example:"540"`
	// Metres by road from the stop before, as estimated.
	Distance int64 `json:"distance" example:"3900"`
	// Seconds at the stop.
	ServiceTime Seconds `json:"serviceTime" example:"120"`
	// When the worker would be there, in Unix seconds.
	ArrivalTime UnixSeconds `json:"arrivalTime" example:"1894021740"`
	// When it would be done, in Unix seconds.
	CompletionTime UnixSeconds `json:"completionTime" example:"1894021860"`
}

// NewEstimateRequest returns a request for an estimate with the default service
// time.
func NewEstimateRequest() travel.EstimateRequest {
	return travel.EstimateRequest{Service: travel.DefaultStopTime}
}

// NewTeamEstimate returns an estimate in the form that is sent.
func NewTeamEstimate(e travel.Estimate) TeamEstimate {
	return TeamEstimate{
		WorkerID: e.Worker, Vehicle: orNull(e.Vehicle),
		Steps: Each(e.Steps, func(s travel.EstimateStep) EstimateStep {
			return EstimateStep{
				Location: LonLat(s.Location), TravelTime: Seconds(s.Travel), Distance: metres(s.Distance),
				ServiceTime: Seconds(s.Service), ArrivalTime: UnixSeconds(s.Arrival), CompletionTime: UnixSeconds(s.Completion),
			}
		}),
	}
}

// Explanation is why a task was assigned to a worker, or was not assigned.
type Explanation struct {
	// Id of the task.
	Task lastmile.TaskID `json:"task" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// When it was decided, in Unix milliseconds.
	Time Millis `json:"time" example:"1767229200000"`
	// How workers were compared.
	Mode assignment.Mode `json:"mode" example:"distance"`
	// Id of the worker who was chosen; null when there was none.
	Worker *lastmile.WorkerID `json:"worker" example:"W4nB7xKq9LsT2vDz6MfR3hYc"`
	// The workers who were on duty, the best first.
	Candidates []Consideration `json:"candidates" example:"[\n    {\"worker\": \"W4nB7xKq9LsT2vDz6MfR3hYc\", \"name\": \"Ada Lovelace\", \"distance\": 1240.5, \"excluded\": null},\n    {\"worker\": \"Q8xC5vBn2MlK7jHg4FdS9aPo\", \"name\": \"Charles Babbage\", \"distance\": null, \"excluded\": \"capacity exceeded: capacity 12 of 10\"}\n  ]"`
}

// Consideration is one worker's part of an explanation.
type Consideration struct {
	// Id of the worker.
	Worker lastmile.WorkerID `json:"worker"`
	// Name of the worker.
	Name string `json:"name"`
	// Metres, by the mode; null when excluded.
	Distance *float64 `json:"distance"`
	// Why the worker could not be chosen; null when the worker could.
	Excluded *string `json:"excluded"`
}

// NewExplanation returns an explanation in the form that is sent.
func NewExplanation(e assignment.Explanation) Explanation {
	return Explanation{
		Task: e.Task, Time: Millis(e.At), Mode: e.Mode, Worker: orNull(e.Chosen),
		Candidates: Each(e.Considered, func(c assignment.Consideration) Consideration {
			return Consideration{Worker: c.Worker, Name: c.Name, Distance: (*float64)(c.Measure), Excluded: orNull(c.Excluded)}
		}),
	}
}

// Domain returns the explanation that the form shows.
func (e Explanation) Domain() assignment.Explanation {
	return assignment.Explanation{
		Task: e.Task, At: e.Time.Time(), Mode: e.Mode, Chosen: orZero(e.Worker),
		Considered: Each(e.Candidates, func(c Consideration) assignment.Consideration {
			return assignment.Consideration{Worker: c.Worker, Name: c.Name, Measure: (*lastmile.Meters)(c.Distance), Excluded: orZero(c.Excluded)}
		}),
	}
}
