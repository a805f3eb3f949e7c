package wire

import (
	"strings"
	"time"

	"dray/internal/analytics"

	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/travel"
)

// WorkerDetails is a worker with details that lists of workers omit.
type WorkerDetails struct {
	Worker
	// Estimated travel time to the active task, in seconds; null if there is none.
	ETA *Seconds `json:"eta" example:"null"`
	// Activity of the worker. Present only if requested.
	Analytics *WorkerAnalytics `json:"analytics,omitzero"`
}

// WorkerAnalytics is the activity of a worker in a period.
type WorkerAnalytics struct {
	// Times at which the worker went on and off duty, in order.
	Events []DutyEvent `json:"events" example:"[{\"action\": \"onduty\", \"time\": 1767225600000}, {\"action\": \"offduty\", \"time\": 1767254400000}]"`
	// Distance traveled in meters, with and without a task. The distance without a task is not
	// recorded: idle is always 0.
	Distances EnrouteIdle `json:"distances" example:"{\"enroute\": 48210.5, \"idle\": 0}"`
	// Time in seconds on tasks, and on duty without a task.
	Times EnrouteIdle `json:"times" example:"{\"enroute\": 16320, \"idle\": 3480}"`
	// Number of tasks completed in the period.
	TaskCounts WorkerTaskCounts `json:"taskCounts" example:"{\"succeeded\": 21, \"failed\": 1}"`
}

// DutyEvent is a change of a worker's duty status.
type DutyEvent struct {
	// Change that happened.
	Action string `json:"action" enum:"onduty,offduty"`
	// Unix time in milliseconds of the change.
	Time Millis `json:"time"`
}

// The actions of a DutyEvent.
const (
	OnDutyAction  = "onduty"
	OffDutyAction = "offduty"
)

// EnrouteIdle is a measurement, split into the part with a task and the part without.
type EnrouteIdle struct {
	// Value while carrying out tasks.
	Enroute float64 `json:"enroute"`
	// Value while on duty without a task.
	Idle float64 `json:"idle"`
}

// WorkerTaskCounts is the number of tasks by outcome.
type WorkerTaskCounts struct {
	// Number of tasks that succeeded.
	Succeeded int `json:"succeeded"`
	// Number of tasks that failed.
	Failed int `json:"failed"`
}

// AnalyticsWindow returns the requested period of analytics.
func AnalyticsWindow(from, to, now time.Time) (lastmile.Window, error) {
	return analytics.NewWindow(from, to, now)
}

// NewWorkerDetails returns one worker in its wire form.
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

// TeamEstimate is the worker of a team who would complete the stops first, with the estimated
// times.
type TeamEstimate struct {
	// ID of the worker.
	WorkerID lastmile.WorkerID `json:"workerId" example:"W4nB7xKq9LsT2vDz6MfR3hYc"`
	// Type of the worker's vehicle; null if the worker is on foot.
	Vehicle *lastmile.VehicleType `json:"vehicle" example:"CAR"`
	// Stops of the estimate: the pickup, then the drop-off, each only if requested.
	Steps []EstimateStep `json:"steps"`
}

// EstimateStep is a stop of an estimate.
//
// Its times are in seconds.
type EstimateStep struct {
	// Location of the stop, as [longitude, latitude] in degrees.
	Location LonLat `json:"location" example:"[-73.9857, 40.7484]"`
	// Estimated travel time from the previous stop, in seconds.
	TravelTime Seconds `json:"travelTime" example:"540"`
	// Estimated distance from the previous stop by road, in meters.
	Distance int64 `json:"distance" example:"3900"`
	// Source of travel time and distance: "roads" for a road network, or "formula" for an estimate
	// where no map is imported and no router is configured.
	TravelSource string `json:"travelSource" example:"roads"`
	// Time spent at the stop, in seconds.
	ServiceTime Seconds `json:"serviceTime" example:"120"`
	// Unix time in seconds at which the worker would arrive.
	ArrivalTime UnixSeconds `json:"arrivalTime" example:"1894021740"`
	// Unix time in seconds at which the stop would be completed.
	CompletionTime UnixSeconds `json:"completionTime" example:"1894021860"`
}

// NewEstimateRequest returns a request for an estimate with the default service
// time.
func NewEstimateRequest() travel.EstimateRequest {
	return travel.EstimateRequest{Service: travel.DefaultStopTime}
}

// NewTeamEstimate returns an estimate in its wire form.
func NewTeamEstimate(e travel.Estimate) TeamEstimate {
	return TeamEstimate{
		WorkerID: e.Worker, Vehicle: OrNull(e.Vehicle),
		Steps: Each(e.Steps, func(s travel.EstimateStep) EstimateStep {
			return EstimateStep{
				Location: LonLat(s.Location), TravelTime: Seconds(s.Travel), Distance: meters(s.Distance), TravelSource: travelSource(s.ByFormula),
				ServiceTime: Seconds(s.Service), ArrivalTime: UnixSeconds(s.Arrival), CompletionTime: UnixSeconds(s.Completion),
			}
		}),
	}
}

// Explanation is the reason why a task was or was not assigned to a worker automatically.
type Explanation struct {
	// ID of the task.
	Task lastmile.TaskID `json:"task" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// Unix time in milliseconds at which the decision was made.
	Time Millis `json:"time" example:"1767229200000"`
	// How workers were compared.
	Mode assignment.Mode `json:"mode" example:"distance"`
	// ID of the chosen worker; null if no worker was chosen.
	Worker *lastmile.WorkerID `json:"worker" example:"W4nB7xKq9LsT2vDz6MfR3hYc"`
	// Number of workers who were on duty. For administrators who manage only some teams, the number of
	// workers in candidates.
	Considered int `json:"considered" example:"2"`
	// Workers who were on duty, best first; at most 100.
	Candidates []Consideration `json:"candidates" example:"[\n    {\"worker\": \"W4nB7xKq9LsT2vDz6MfR3hYc\", \"name\": \"Ada Lovelace\", \"distance\": 1240.5, \"excluded\": null},\n    {\"worker\": \"Q8xC5vBn2MlK7jHg4FdS9aPo\", \"name\": \"Charles Babbage\", \"distance\": null, \"excluded\": \"capacity exceeded: capacity 12 of 10\"}\n  ]"`
}

// Consideration is a worker who was considered for an automatic assignment.
type Consideration struct {
	// ID of the worker.
	Worker lastmile.WorkerID `json:"worker"`
	// Name of the worker.
	Name string `json:"name"`
	// Distance in meters, measured as the mode prescribes; null if the worker was excluded.
	Distance *float64 `json:"distance"`
	// Reason why the worker could not be chosen; null if the worker was eligible.
	Excluded *string `json:"excluded"`
}

// NewExplanation returns an explanation in its wire form; nil if there is none.
func NewExplanation(e *assignment.Explanation) *Explanation {
	if e == nil {
		return nil
	}
	return &Explanation{
		Task: e.Task, Time: Millis(e.At), Mode: e.Mode, Worker: OrNull(e.Chosen), Considered: e.Total,
		Candidates: Each(e.Considered, func(c assignment.Consideration) Consideration {
			return Consideration{Worker: c.Worker, Name: c.Name, Distance: (*float64)(c.Measure), Excluded: OrNull(c.Excluded)}
		}),
	}
}

// Domain returns the explanation that the wire form represents.
func (e Explanation) Domain() assignment.Explanation {
	return assignment.Explanation{
		Task: e.Task, At: e.Time.Time(), Mode: e.Mode, Chosen: orZero(e.Worker),
		Total: max(e.Considered, len(e.Candidates)), // older explanations have no number
		Considered: Each(e.Candidates, func(c Consideration) assignment.Consideration {
			return assignment.Consideration{Worker: c.Worker, Name: c.Name, Measure: (*lastmile.Meters)(c.Distance), Excluded: orZero(c.Excluded)}
		}),
	}
}

// Route is a route along stops.
type Route struct {
	// Length of the route, in meters.
	Distance int64 `json:"distance" example:"3900"`
	// Travel time in seconds, without the time spent at stops.
	Duration Seconds `json:"duration" example:"540"`
	// Source of the route: "roads" if all of it is on the roads of imported maps, "formula" if a part
	// of it is a straight line with estimated travel time and distance.
	Source string `json:"source" example:"roads"`
	// Line of the route, as an encoded polyline with five decimals.
	Geometry string `json:"geometry" example:"_p~iF~ps|U_ulLnnqC"`
}

// NewRoute returns a route in its wire form.
func NewRoute(r travel.Route) Route {
	return Route{Distance: meters(r.Distance), Duration: Seconds(r.Duration), Source: travelSource(r.ByFormula), Geometry: r.Polyline()}
}

// travelSource returns the name of the source of travel times.
func travelSource(byFormula bool) string {
	if byFormula {
		return "formula"
	}
	return "roads"
}

// ParseTravelMode parses the type of a vehicle, or FOOT, ignoring case. The default is a car.
func ParseTravelMode(name string) (lastmile.VehicleType, error) {
	switch name = strings.ToUpper(name); name {
	case "":
		return lastmile.Car, nil
	case "FOOT":
		return lastmile.OnFoot, nil
	}
	for _, t := range lastmile.VehicleTypes {
		if name == string(t) {
			return t, nil
		}
	}
	return "", lastmile.Invalid("vehicle must be one of %s and FOOT, not %q", lastmile.VehicleTypeNames(), lastmile.Truncate(string(name), lastmile.MaxShown))
}
