package adminapi

import (
	"dray/internal/lastmile"
	"dray/internal/report"
	"dray/internal/wire"
)

// SearchResult is what a search has found, at most ten records of each kind.
type SearchResult struct {
	// Tasks whose short ID, recipient or street matches: first those with the short ID, then the newest.
	Tasks []FoundTask `json:"tasks"`
	// Workers whose name or phone number matches.
	Workers []FoundWorker `json:"workers"`
	// Recipients whose name or phone number matches.
	Recipients []FoundRecipient `json:"recipients"`
}

// FoundTask is a task that a search has found.
type FoundTask struct {
	// ID of the task.
	ID lastmile.TaskID `json:"id" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// Short ID of the task.
	ShortID string `json:"shortId" example:"8f2a61c4"`
	// State of the task: 0 unassigned, 1 assigned, 2 active, 3 completed.
	State lastmile.TaskState `json:"state" example:"1"`
	// Unix time in milliseconds at which the task was created.
	TimeCreated wire.Millis `json:"timeCreated" example:"1767225600000"`
	// ID of the worker; null if there is none.
	Worker *lastmile.WorkerID `json:"worker" example:"W4nB7xKq9LsT2vDz6MfR3hYc"`
	// The recipient; null if there is none.
	Recipient *FoundRecipient `json:"recipient"`
	// Number of the house; empty if there is none.
	Number string `json:"number" example:"350"`
	// Street of the destination; empty if there is none.
	Street string `json:"street" example:"5th Avenue"`
	// City of the destination.
	City string `json:"city" example:"New York"`
}

// FoundWorker is a worker that a search has found.
type FoundWorker struct {
	// ID of the worker.
	ID lastmile.WorkerID `json:"id" example:"W4nB7xKq9LsT2vDz6MfR3hYc"`
	// Name of the worker.
	Name string `json:"name" example:"Ada Lovelace"`
	// Phone number of the worker.
	Phone lastmile.Phone `json:"phone" example:"+12125550187"`
	// Whether the worker is on duty.
	OnDuty bool `json:"onDuty" example:"true"`
}

// FoundRecipient is a recipient that a search has found.
type FoundRecipient struct {
	// ID of the recipient.
	ID lastmile.RecipientID `json:"id" example:"R6tY3uJm8NbV1cXz5LkQ9wEs"`
	// Name of the recipient.
	Name string `json:"name" example:"Mary Seacole"`
	// Phone number of the recipient.
	Phone lastmile.Phone `json:"phone" example:"+12125550142"`
}

// NewSearchResult returns the result of a search in its wire form.
func NewSearchResult(f report.Found) SearchResult {
	return SearchResult{
		Tasks: wire.Each(f.Tasks, func(t lastmile.Task) FoundTask {
			at := t.Destination.Address
			found := FoundTask{
				ID: t.ID, ShortID: t.ShortID, State: t.State, TimeCreated: wire.Millis(t.Created), Worker: wire.OrNull(t.Worker),
				Number: at.Number, Street: at.Street, City: at.City,
			}
			if t.Recipient != nil {
				found.Recipient = new(newFoundRecipient(*t.Recipient))
			}
			return found
		}),
		Workers: wire.Each(f.Workers, func(w lastmile.Worker) FoundWorker {
			return FoundWorker{ID: w.ID, Name: w.Name, Phone: w.Phone, OnDuty: w.Whereabouts.OnDuty}
		}),
		Recipients: wire.Each(f.Recipients, newFoundRecipient),
	}
}

func newFoundRecipient(r lastmile.Recipient) FoundRecipient {
	return FoundRecipient{ID: r.ID, Name: r.Name, Phone: r.Phone}
}

// WorkerPositions are the positions of a worker in a period, oldest first.
type WorkerPositions struct {
	// The positions.
	Positions []WorkerPosition `json:"positions"`
	// Value of from for the next page; null if this is the last one.
	Next wire.Millis `json:"next" nullable:"true" example:"1767229200000"`
}

// WorkerPosition is the position of a worker at a time.
type WorkerPosition struct {
	// Unix time in milliseconds.
	Time wire.Millis `json:"time" example:"1767225600000"`
	// Location, as [longitude, latitude] in degrees.
	Location wire.LonLat `json:"location" example:"[-73.9857, 40.7484]"`
	// Accuracy in meters; null if it is not known.
	Accuracy *float64 `json:"accuracy" example:"8"`
	// Speed in meters per second; null if it is not known.
	Speed *float64 `json:"speed" example:"7.5"`
	// Direction in degrees from north, clockwise; null if it is not known.
	Heading *float64 `json:"heading" example:"90"`
}

// NewWorkerPositions returns positions in their wire form.
func NewWorkerPositions(t report.Track) WorkerPositions {
	return WorkerPositions{
		Positions: wire.Each(t.Positions, func(p lastmile.Position) WorkerPosition {
			return WorkerPosition{Time: wire.Millis(p.At), Location: wire.LonLat(p.Location), Accuracy: p.Accuracy, Speed: p.Speed, Heading: p.Heading}
		}),
		Next: wire.Millis(t.Next),
	}
}

// WorkerStops are the stops of a worker in a period.
type WorkerStops struct {
	// The stops, in order.
	Stops []WorkerStop `json:"stops"`
	// Value of from for the next page; null if this is the last one.
	Next wire.Millis `json:"next" nullable:"true" example:"null"`
	// Value of lastId for the next page of tasks that the worker has. Absent if there are no more.
	LastID lastmile.TaskID `json:"lastId,omitzero"`
}

// WorkerStop is a task of a worker, with the estimated and the real times.
type WorkerStop struct {
	// ID of the task.
	Task lastmile.TaskID `json:"task" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// Short ID of the task.
	ShortID string `json:"shortId" example:"44a56188"`
	// State of the task: 1 for assigned, 2 for active, 3 for completed.
	State lastmile.TaskState `json:"state" example:"3"`
	// Whether the task is a pickup instead of a drop-off.
	PickupTask bool `json:"pickupTask" example:"false"`
	// Name of the recipient; null if there is none.
	Recipient *string `json:"recipient" example:"Mary Seacole"`
	// Address on one line.
	Address string `json:"address" example:"350 5th Avenue, New York, New York 10118, United States"`
	// Location of the destination, as [longitude, latitude].
	Location wire.LonLat `json:"location" example:"[-73.9857, 40.7484]"`
	// Quantity to be carried, in units.
	Quantity float64 `json:"quantity" example:"2"`
	// Unix time in milliseconds before which the task should not be completed; null if there is none.
	CompleteAfter wire.Millis `json:"completeAfter" nullable:"true" example:"1894021200000"`
	// Unix time in milliseconds before which the task should be completed; null if there is none.
	CompleteBefore wire.Millis `json:"completeBefore" nullable:"true" example:"1894028400000"`
	// Unix time in milliseconds of the estimated arrival: the estimate when the worker started the task, or the
	// current one if it is not started; null if it is unknown.
	EstimatedArrivalTime wire.Millis `json:"estimatedArrivalTime" nullable:"true" example:"1894024800000"`
	// Unix time in milliseconds at which the worker started the task; null if not yet.
	StartTime wire.Millis `json:"startTime" nullable:"true" example:"1894024200000"`
	// Unix time in milliseconds at which the worker arrived; null if not yet or unknown.
	ArrivalTime wire.Millis `json:"arrivalTime" nullable:"true" example:"1894024860000"`
	// Unix time in milliseconds at which the task was completed; null if not yet.
	CompletionTime wire.Millis `json:"completionTime" nullable:"true" example:"1894025000000"`
	// Whether the task succeeded; null if it is not completed.
	Success *bool `json:"success" example:"true"`
	// Reason why the task failed; null if it did not.
	FailureReason *string `json:"failureReason" example:"null"`
	// Distance on the way to the task, in meters, as measured by the phone.
	Distance float64 `json:"distance" example:"1840.5"`
}

// NewWorkerStops returns stops in their wire form.
func NewWorkerStops(r report.Round) WorkerStops {
	return WorkerStops{Stops: wire.Each(r.Stops, newWorkerStop), Next: wire.Millis(r.Next), LastID: r.Last}
}

func newWorkerStop(s report.Stop) WorkerStop {
	shown := WorkerStop{
		Task: s.ID, ShortID: s.ShortID, State: s.State, PickupTask: s.Pickup, Address: s.Destination.Address.Line(), Location: wire.LonLat(s.Destination.Location),
		Quantity: s.Quantity, CompleteAfter: wire.Millis(s.CompleteAfter), CompleteBefore: wire.Millis(s.CompleteBefore), EstimatedArrivalTime: wire.Millis(s.Promised),
		StartTime: wire.Millis(s.Started()), ArrivalTime: wire.Millis(s.Completion.Arrived()), CompletionTime: wire.Millis(s.Completion.At),
		Distance: float64(s.Completion.Distance),
	}
	if s.Recipient != nil {
		shown.Recipient = &s.Recipient.Name
	}
	switch {
	case s.State == lastmile.TaskCompleted:
		shown.Success = &s.Completion.Success
		if !s.Completion.Success {
			shown.FailureReason = wire.OrNull(s.Completion.FailureReason)
		}
	case s.Promised.IsZero():
		shown.EstimatedArrivalTime = wire.Millis(s.Estimates.Arrival)
	}
	return shown
}

// Analytics are what an organization did in a period.
type Analytics struct {
	// Unix time in milliseconds at which the period begins.
	From wire.Millis `json:"from" example:"1767225600000"`
	// Unix time in milliseconds before which it ends.
	To wire.Millis `json:"to" example:"1767830400000"`
	// All tasks of the period.
	Total AnalyticsGroup `json:"total"`
	// The tasks by day, team or worker.
	Groups []AnalyticsGroup `json:"groups"`
}

// AnalyticsGroup is what was done on a day, by a team or by a worker.
type AnalyticsGroup struct {
	// Date in the organization's time zone. Only in analytics by day.
	Day *string `json:"day,omitzero" example:"2026-01-31"`
	// ID of the team. Only in analytics by team, and not for workers without one.
	Team *lastmile.TeamID `json:"team,omitzero"`
	// ID of the worker. Only in analytics by worker, and not for tasks without one.
	Worker *lastmile.WorkerID `json:"worker,omitzero"`
	// Number of tasks that were created, without those deleted since. Only for days and the total.
	Created *int `json:"created,omitzero" example:"128"`
	// Number of tasks that were completed, successfully or not.
	Completed int `json:"completed" example:"120"`
	// Number of tasks that succeeded.
	Succeeded int `json:"succeeded" example:"117"`
	// Number of tasks that failed.
	Failed int `json:"failed" example:"3"`
	// Number of failed tasks by reason; NONE if no reason is known.
	FailureReasons map[string]int `json:"failureReasons" example:"{\"RECIPIENT_UNAVAILABLE\": 3}"`
	// Number of tasks with a time window that were neither early nor late.
	OnTime int `json:"onTime" example:"110"`
	// Number of tasks that were completed before their window.
	Early int `json:"early" example:"1"`
	// Number of tasks whose worker arrived after their window, or which were completed after it if no arrival is known.
	Late int `json:"late" example:"6"`
	// Distance on the way to the tasks, in meters, as measured by phones.
	Distance float64 `json:"distance" example:"402118.4"`
	// Time on the way to the tasks, in seconds: from the start to the arrival.
	DriveTime float64 `json:"driveTime" example:"71420"`
	// Time at the destinations, in seconds: from the arrival to the completion.
	ServiceTime float64 `json:"serviceTime" example:"15810"`
	// Arrivals, compared with the estimates when the workers started.
	Arrivals AnalyticsArrivals `json:"arrivals"`
	// Feedback of recipients.
	Feedback AnalyticsFeedback `json:"feedback"`
}

// AnalyticsArrivals compares arrivals with the estimates when the workers started.
type AnalyticsArrivals struct {
	// Number of tasks whose arrival was estimated when the worker started, and is known.
	Count int `json:"count" example:"112"`
	// Number of these arrivals that were at most 5 minutes earlier or later than estimated.
	Close int `json:"close" example:"97"`
	// Average difference from the estimate in seconds, whether early or late; null if there is none.
	Error *float64 `json:"error" example:"141.5"`
	// Average delay behind the estimate in seconds, less than 0 if early; null if there is none.
	Delay *float64 `json:"delay" example:"38.2"`
}

// AnalyticsFeedback is the feedback of recipients.
type AnalyticsFeedback struct {
	// Number of recipients who rated a task.
	Count int `json:"count" example:"18"`
	// Average rating, from 1 to 5; null if there is none.
	Rating *float64 `json:"rating" example:"4.6"`
}

// NewAnalytics returns analytics in their wire form.
func NewAnalytics(a report.Analytics) Analytics {
	return Analytics{
		From: wire.Millis(a.Window.From), To: wire.Millis(a.Window.To), Total: newAnalyticsGroup(a.Total), Groups: wire.Each(a.Groups, newAnalyticsGroup),
	}
}

func newAnalyticsGroup(g report.Group) AnalyticsGroup {
	shown := AnalyticsGroup{
		Day: wire.OrNull(g.Day), Team: wire.OrNull(g.Team), Worker: wire.OrNull(g.Worker), Created: g.Created,
		Completed: g.Succeeded + g.Failed, Succeeded: g.Succeeded, Failed: g.Failed, FailureReasons: g.Failures,
		OnTime: g.OnTime, Early: g.Early, Late: g.Late, Distance: float64(g.Distance), DriveTime: g.DriveTime.Seconds(), ServiceTime: g.ServiceTime.Seconds(),
		Feedback: AnalyticsFeedback{Count: g.Ratings},
	}
	if shown.FailureReasons == nil {
		shown.FailureReasons = map[string]int{}
	}
	shown.Arrivals = AnalyticsArrivals{Count: g.Estimated, Close: g.Close}
	if n := float64(g.Estimated); n > 0 {
		shown.Arrivals.Error, shown.Arrivals.Delay = new(g.ArrivalError.Seconds()/n), new(g.ArrivalDelay.Seconds()/n)
	}
	if g.Ratings > 0 {
		shown.Feedback.Rating = new(float64(g.RatingTotal) / float64(g.Ratings))
	}
	return shown
}
