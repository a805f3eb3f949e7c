package wire

import (
	"dray/internal/analytics"
	"dray/internal/lastmile"
	"dray/internal/travel"
)

// WorkerDetails is one worker, with what lists of workers do not show.
type WorkerDetails struct {
	Worker
	ETA       *Seconds         `json:"eta"`                // null without an active task
	Analytics *WorkerAnalytics `json:"analytics,omitzero"` // only when asked for
}

// WorkerAnalytics is what a worker did in a window.
type WorkerAnalytics struct {
	Events     []DutyEvent      `json:"events"`
	Distances  EnrouteIdle      `json:"distances"`
	Times      EnrouteIdle      `json:"times"`
	TaskCounts WorkerTaskCounts `json:"taskCounts"`
}

// DutyEvent is a worker going on or off duty.
type DutyEvent struct {
	Action string `json:"action"`
	Time   Millis `json:"time"`
}

// The actions of a DutyEvent.
const (
	OnDutyAction  = "onduty"
	OffDutyAction = "offduty"
)

// EnrouteIdle is a measure on a task and without one: metres or seconds.
type EnrouteIdle struct {
	Enroute float64 `json:"enroute"`
	Idle    float64 `json:"idle"`
}

// WorkerTaskCounts are how many tasks ended well and badly.
type WorkerTaskCounts struct {
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`
}

// NewWorkerDetails returns one worker in the form that is sent.
func NewWorkerDetails(d analytics.WorkerDetails) WorkerDetails {
	shown := WorkerDetails{Worker: NewWorker(d.Worker), ETA: (*Seconds)(d.ETA)}
	if a := d.Analytics; a != nil {
		shown.Analytics = &WorkerAnalytics{
			Events: each(a.Events, func(c lastmile.DutyChange) DutyEvent {
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

// TeamEstimate is who of a team could do something, and when.
type TeamEstimate struct {
	WorkerID lastmile.WorkerID     `json:"workerId"`
	Vehicle  *lastmile.VehicleType `json:"vehicle"` // null: on foot
	Steps    []EstimateStep        `json:"steps"`
}

// EstimateStep is one stop of an estimate. Its times are in seconds.
type EstimateStep struct {
	Location       LonLat      `json:"location"`
	TravelTime     Seconds     `json:"travelTime"`
	Distance       int64       `json:"distance"` // metres
	ServiceTime    Seconds     `json:"serviceTime"`
	ArrivalTime    UnixSeconds `json:"arrivalTime"`
	CompletionTime UnixSeconds `json:"completionTime"`
}

// NewTeamEstimate returns an estimate in the form that is sent.
func NewTeamEstimate(e travel.Estimate) TeamEstimate {
	return TeamEstimate{
		WorkerID: e.Worker, Vehicle: orNull(e.Vehicle),
		Steps: each(e.Steps, func(s travel.EstimateStep) EstimateStep {
			return EstimateStep{
				Location: LonLat(s.Location), TravelTime: Seconds(s.Travel), Distance: metres(s.Distance),
				ServiceTime: Seconds(s.Service), ArrivalTime: UnixSeconds(s.Arrival), CompletionTime: UnixSeconds(s.Completion),
			}
		}),
	}
}
