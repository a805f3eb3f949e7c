package boardapi

import (
	"dray/internal/board"
	"dray/internal/lastmile"
	"dray/internal/tracking"
	"dray/internal/wire"
)

// Board is what dispatchers see of a day.
type Board struct {
	// Number of the last event that the board includes. GET /events continues after it.
	Cursor int64 `json:"cursor" example:"1042"`
	// Version of the teams, hubs and schedules, which grows with each change. Events named fleet report
	// it.
	Fleet int64 `json:"fleet" example:"7"`
	// Day as YYYY-MM-DD, in the time zone.
	Date string `json:"date" example:"2030-01-07"`
	// Unix time in milliseconds at which the day begins.
	From wire.Millis `json:"from" example:"1893992400000"`
	// Unix time in milliseconds at which the day ends.
	To wire.Millis `json:"to" example:"1894078800000"`
	// IANA time zone of the organization.
	Timezone string `json:"timezone" example:"America/New_York"`
	// The organization.
	Organization BoardOrganization `json:"organization"`
	// Teams, oldest first.
	Teams []BoardTeam `json:"teams"`
	// Hubs of the organization.
	Hubs []BoardHub `json:"hubs"`
	// Workers, oldest first.
	Workers []BoardWorker `json:"workers"`
	// Tasks of the day, those of a worker together.
	Tasks []BoardTask `json:"tasks"`
	// Whether there are more tasks than the board shows.
	Truncated bool `json:"truncated" example:"false"`
}

// BoardOrganization is the organization of a board.
type BoardOrganization struct {
	// ID of the organization.
	ID lastmile.OrganizationID `json:"id" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// Name of the organization.
	Name string `json:"name" example:"Example Couriers"`
}

// BoardTeam is a team on the board.
type BoardTeam struct {
	// ID of the team.
	ID lastmile.TeamID `json:"id" example:"T5mQ8rVx2LkD7wNz4HbC9pJs"`
	// Name of the team.
	Name string `json:"name" example:"Downtown"`
	// IDs of the workers in the team.
	Workers []lastmile.WorkerID `json:"workers" example:"W4nB7xKq9LsT2vDz6MfR3hYc"`
	// IDs of the administrators who manage the team.
	Managers []lastmile.AdminID `json:"managers" example:"M9cV3bNx7ZsL5kJh2GfD8qWr"`
	// ID of the team's hub. Absent if there is none.
	Hub lastmile.HubID `json:"hub,omitzero" example:"H7jK3lZx9CvB5nMq2WsD8fRt"`
	// IDs of the tasks in the team's list, in order. They include tasks of other days.
	Tasks []lastmile.TaskID `json:"tasks" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// Version of the list, which grows with each change.
	Version int64 `json:"version" example:"17"`
}

// BoardHub is a hub on the board.
type BoardHub struct {
	// ID of the hub.
	ID lastmile.HubID `json:"id" example:"H7jK3lZx9CvB5nMq2WsD8fRt"`
	// Name of the hub.
	Name string `json:"name" example:"Hudson Yards"`
	// Location of the hub, as [longitude, latitude].
	Location wire.LonLat `json:"location" example:"[-73.9857, 40.7484]"`
	// Address of the hub, on one line.
	Address string `json:"address" example:"350 5th Avenue, New York, New York 10118, United States"`
}

// BoardWorker is a worker on the board.
type BoardWorker struct {
	// ID of the worker.
	ID lastmile.WorkerID `json:"id" example:"W4nB7xKq9LsT2vDz6MfR3hYc"`
	// Unix time in milliseconds at which the worker was last modified.
	TimeLastModified wire.Millis `json:"timeLastModified" example:"1767229200000"`
	// Name of the worker.
	Name string `json:"name" example:"Ada Lovelace"`
	// Name that recipients see. Absent if there is none.
	DisplayName string `json:"displayName,omitzero" example:"Ada"`
	// Phone number of the worker.
	Phone lastmile.Phone `json:"phone" example:"+12125550142"`
	// IDs of the worker's teams.
	Teams []lastmile.TeamID `json:"teams" example:"T5mQ8rVx2LkD7wNz4HbC9pJs"`
	// Whether the worker is on duty.
	OnDuty bool `json:"onDuty" example:"true"`
	// ID of the task that the worker is carrying out; null if there is none.
	ActiveTask *lastmile.TaskID `json:"activeTask" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// IDs of the tasks in the worker's list, in order, without the active task. They include tasks of
	// other days.
	Tasks []lastmile.TaskID `json:"tasks" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// Version of the list, which grows with each change.
	Version int64 `json:"version" example:"17"`
	// Location of the worker, as [longitude, latitude]; null if unknown.
	Location *wire.LonLat `json:"location" example:"[-73.9857, 40.7484]"`
	// Unix time in milliseconds at which the worker was there; null if unknown.
	TimeLocated wire.Millis `json:"timeLocated" nullable:"true" example:"1767229140000"`
	// Unix time in milliseconds at which the worker's app was last in contact; null if it never was.
	TimeLastSeen wire.Millis `json:"timeLastSeen" nullable:"true" example:"1767229140000"`
	// Delay in seconds, the longest of all tasks of the worker; null if no task is delayed.
	DelayTime *wire.Seconds `json:"delayTime" example:"null"`
	// Vehicle of the worker; null if the worker is on foot.
	Vehicle *BoardVehicle `json:"vehicle"`
	// Capacity of the worker, in units.
	Capacity float64 `json:"capacity" example:"20"`
	// Battery level of the phone, from 0 to 1; null if unknown.
	Battery *float64 `json:"battery" example:"0.82"`
	// Direction of movement in degrees, clockwise from north; null if unknown.
	Heading *float64 `json:"heading" example:"90"`
	// Speed in meters per second; null if unknown.
	Speed *float64 `json:"speed" example:"8.5"`
	// Version of the app; null if unknown.
	AppVersion *string `json:"appVersion" example:"1.0.0"`
	// Shifts of the worker that touch the day, each as [start, end] in Unix milliseconds.
	Schedule [][2]wire.Millis `json:"schedule" example:"[[1894021200000, 1894050000000]]"`
}

// BoardVehicle is the vehicle of a worker on the board.
type BoardVehicle struct {
	// Type of the vehicle.
	Type lastmile.VehicleType `json:"type"`
}

// BoardTask is a task on the board: part of what GET /tasks/{id} returns, without what is null,
// false or empty.
type BoardTask struct {
	// ID of the task.
	ID lastmile.TaskID `json:"id" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// Short ID of the task.
	ShortID string `json:"shortId" example:"8f2a61c4"`
	// State of the task: 0 for unassigned, 1 for assigned, 2 for active, 3 for completed.
	State lastmile.TaskState `json:"state" example:"1"`
	// Container that the task is in. Absent once the task is completed.
	Container *wire.Container `json:"container,omitzero" example:"{\"type\": \"WORKER\", \"worker\": \"W4nB7xKq9LsT2vDz6MfR3hYc\"}"`
	// ID of the worker that the task is assigned to.
	Worker lastmile.WorkerID `json:"worker,omitzero" example:"W4nB7xKq9LsT2vDz6MfR3hYc"`
	// Unix time in milliseconds at which the task was created.
	TimeCreated wire.Millis `json:"timeCreated" example:"1767225600000"`
	// Unix time in milliseconds at which the task was last modified. It grows with each change.
	TimeLastModified wire.Millis `json:"timeLastModified" example:"1767229200000"`
	// Unix time in milliseconds before which the task should not be completed.
	CompleteAfter wire.Millis `json:"completeAfter,omitzero" example:"1894021200000"`
	// Unix time in milliseconds before which the task should be completed.
	CompleteBefore wire.Millis `json:"completeBefore,omitzero" example:"1894028400000"`
	// Whether the task is a pickup instead of a drop-off.
	PickupTask bool `json:"pickupTask,omitzero"`
	// Quantity to be carried, in units.
	Quantity float64 `json:"quantity,omitzero" example:"2"`
	// Time spent at the destination, in minutes.
	ServiceTime wire.Minutes `json:"serviceTime,omitzero" example:"5"`
	// Priority of the task.
	Priority int `json:"priority,omitzero"`
	// Unix time in milliseconds at which the worker is estimated to arrive.
	EstimatedArrivalTime wire.Millis `json:"estimatedArrivalTime,omitzero" example:"1894024800000"`
	// Unix time in milliseconds at which the task is estimated to be completed.
	EstimatedCompletionTime wire.Millis `json:"estimatedCompletionTime,omitzero" example:"1894025100000"`
	// Estimated travel time to the destination of an active task, in seconds.
	ETA *wire.Seconds `json:"eta,omitzero" example:"420"`
	// Delay in seconds.
	DelayTime *wire.Seconds `json:"delayTime,omitzero" example:"90"`
	// Unix time in milliseconds at which the worker started the task.
	StartTime wire.Millis `json:"startTime,omitzero" example:"1894024200000"`
	// Unix time in milliseconds at which the worker arrived. The delay of the task does not change afterwards.
	ArrivalTime wire.Millis `json:"arrivalTime,omitzero" example:"1894024750000"`
	// IDs of the tasks that must be completed before this one.
	Dependencies []lastmile.TaskID `json:"dependencies,omitzero" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// Short ID of the order that the task belongs to.
	OrderShortID string `json:"orderShortId,omitzero" example:"5c0a7d21"`
	// What keeps the task where it is when routes are planned.
	Pinned lastmile.Pin `json:"pinned,omitzero" example:"worker"`
	// Outcome of the task. Present only once the task is completed.
	CompletionDetails *BoardCompletion `json:"completionDetails,omitzero"`
	// First 200 characters of the notes on the task.
	Notes string `json:"notes,omitzero" example:"Leave with the concierge."`
	// Recipient of the task.
	Recipients []BoardRecipient `json:"recipients,omitzero"`
	// Destination of the task.
	Destination BoardDestination `json:"destination"`
}

// BoardCompletion is the outcome of a task on the board.
type BoardCompletion struct {
	// Unix time in milliseconds at which the task was completed.
	Time wire.Millis `json:"time" example:"1894025000000"`
	// Whether the task succeeded.
	Success bool `json:"success" example:"true"`
	// Reason why the task failed. Present only if it did.
	FailureReason string `json:"failureReason,omitzero" example:"CUSTOMER_UNAVAILABLE"`
}

// BoardRecipient is the recipient of a task on the board.
type BoardRecipient struct {
	// Name of the recipient.
	Name string `json:"name" example:"Mary Seacole"`
	// Phone number of the recipient.
	Phone lastmile.Phone `json:"phone" example:"+12125550142"`
}

// BoardDestination is the destination of a task on the board.
type BoardDestination struct {
	// ID of the destination.
	ID lastmile.DestinationID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Location of the destination, as [longitude, latitude].
	Location wire.LonLat `json:"location" example:"[-73.9857, 40.7484]"`
	// Address on one line.
	Line string `json:"line" example:"350 5th Avenue, New York, New York 10118, United States"`
	// Differences between the requested address and the location that was found.
	Warnings []string `json:"warnings,omitzero" example:"[]"`
}

// PreviewBody is a list of a worker to preview.
type PreviewBody struct {
	// IDs of the tasks that the worker would have, in order, fewer than 500. The active task is always
	// the first, whether it is among them or not.
	Tasks *[]lastmile.TaskID `json:"tasks" required:"true" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
}

// RoutePreview is what the list of a worker would be like.
type RoutePreview struct {
	// ID of the worker.
	Worker lastmile.WorkerID `json:"worker" example:"W4nB7xKq9LsT2vDz6MfR3hYc"`
	// Tasks of the list, in order, the active one first.
	Tasks []PreviewedTask `json:"tasks"`
	// Totals of the list as it is.
	Before RouteTotals `json:"before"`
	// Totals of the list as it would be.
	After RouteTotals `json:"after"`
}

// PreviewedTask is a task of a list that is previewed.
type PreviewedTask struct {
	// ID of the task.
	ID lastmile.TaskID `json:"id" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// Unix time in milliseconds at which the worker would arrive; null if unknown.
	Arrival wire.Millis `json:"arrival" nullable:"true" example:"1894024800000"`
	// Unix time in milliseconds at which the task would be completed; null if unknown.
	Completion wire.Millis `json:"completion" nullable:"true" example:"1894025100000"`
	// Delay in seconds; null if there is none.
	Delay *wire.Seconds `json:"delay" example:"null"`
}

// RouteTotals are the sums of a worker's list.
type RouteTotals struct {
	// Travel time in seconds; null if the location of the worker or a way is unknown.
	TravelTime *wire.Seconds `json:"travelTime" example:"1800"`
	// Distance in meters; null if it is unknown.
	Distance *float64 `json:"distance" example:"12400"`
	// Number of tasks that are late.
	LateTasks int `json:"lateTasks" example:"1"`
	// Delay of all tasks in seconds.
	Delay wire.Seconds `json:"delay" example:"90"`
}

// NewRoutePreview returns a preview in its wire form.
func NewRoutePreview(p tracking.Preview) RoutePreview {
	totals := func(t tracking.RouteTotals) RouteTotals {
		shown := RouteTotals{LateTasks: t.Late, Delay: wire.Seconds(t.Delay)}
		if t.Known {
			shown.TravelTime, shown.Distance = (*wire.Seconds)(&t.Travel), (*float64)(&t.Distance)
		}
		return shown
	}
	return RoutePreview{
		Worker: p.Worker, Before: totals(p.Before), After: totals(p.After),
		Tasks: wire.Each(p.Tasks, func(t tracking.PreviewedTask) PreviewedTask {
			return PreviewedTask{
				ID: t.ID, Arrival: wire.Millis(t.Estimates.Arrival), Completion: wire.Millis(t.Estimates.Completion), Delay: (*wire.Seconds)(t.Estimates.Delay),
			}
		}),
	}
}

// NewBoard returns a board in its wire form.
func NewBoard(b board.Board) Board {
	made := Board{
		Cursor: b.Cursor, Fleet: b.Fleet, Date: b.Date, From: wire.Millis(b.Day.From), To: wire.Millis(b.Day.To), Timezone: b.Organization.Timezone,
		Organization: BoardOrganization{ID: b.Organization.ID, Name: b.Organization.Name},
		Hubs: wire.Each(b.Hubs, func(h lastmile.Hub) BoardHub {
			return BoardHub{ID: h.ID, Name: h.Name, Location: wire.LonLat(h.Location), Address: h.Address.Line()}
		}),
		Teams: wire.Each(b.Teams, func(t lastmile.Team) BoardTeam {
			return BoardTeam{
				ID: t.ID, Name: t.Name, Workers: wire.OrEmpty(t.Workers), Managers: wire.OrEmpty(t.Managers), Hub: t.Hub,
				Tasks: wire.OrEmpty(t.Tasks), Version: b.Versions[lastmile.TeamContainer(t.ID)],
			}
		}),
		Workers: wire.Each(b.Workers, func(w board.Worker) BoardWorker { return newWorker(w, b.Versions[lastmile.WorkerContainer(w.ID)]) }),
		Tasks:   wire.Each(b.Tasks, newTask), Truncated: b.Truncated,
	}
	return made
}

func newWorker(w board.Worker, version int64) BoardWorker {
	shown := BoardWorker{
		ID: w.ID, TimeLastModified: wire.Millis(w.Modified), Name: w.Name, DisplayName: w.DisplayName, Phone: w.Phone, Teams: wire.OrEmpty(w.Teams),
		OnDuty: w.Whereabouts.OnDuty, ActiveTask: wire.OrNull(w.ActiveTask), Tasks: wire.OrEmpty(w.Tasks), Version: version,
		Location: (*wire.LonLat)(w.Whereabouts.Location), TimeLocated: wire.Millis(w.Whereabouts.LocatedAt), TimeLastSeen: wire.Millis(w.Whereabouts.LastSeen),
		DelayTime: (*wire.Seconds)(w.Delay), Capacity: w.Capacity, Battery: w.Whereabouts.Battery, Heading: w.Last.Heading, Speed: w.Last.Speed,
		AppVersion: wire.OrNull(w.Device.AppVersion),
		Schedule:   wire.Each(w.Shifts, func(s lastmile.Shift) [2]wire.Millis { return [2]wire.Millis{wire.Millis(s.Start), wire.Millis(s.End)} }),
	}
	if w.Vehicle != nil {
		shown.Vehicle = &BoardVehicle{Type: w.Vehicle.Type}
	}
	return shown
}

func newTask(t board.Task) BoardTask {
	shown := BoardTask{
		ID: t.ID, ShortID: t.ShortID, State: t.State, Worker: t.Worker, TimeCreated: wire.Millis(t.Created), TimeLastModified: wire.Millis(t.Modified),
		CompleteAfter: wire.Millis(t.CompleteAfter), CompleteBefore: wire.Millis(t.CompleteBefore), PickupTask: t.Pickup, Quantity: t.Quantity,
		ServiceTime: wire.Minutes(t.ServiceTime), Priority: t.Priority,
		EstimatedArrivalTime: wire.Millis(t.Estimates.Arrival), EstimatedCompletionTime: wire.Millis(t.Estimates.Completion),
		ETA: (*wire.Seconds)(t.Estimates.ETA), DelayTime: (*wire.Seconds)(t.Estimates.Delay), StartTime: wire.Millis(t.Started), ArrivalTime: wire.Millis(t.Arrived),
		OrderShortID: t.OrderShortID, Pinned: t.Pin, Notes: t.Notes,
		Destination: BoardDestination{ID: t.Destination, Location: wire.LonLat(t.Location), Line: t.Address},
	}
	if len(t.Dependencies) > 0 {
		shown.Dependencies = t.Dependencies
	}
	if len(t.Warnings) > 0 {
		shown.Destination.Warnings = t.Warnings
	}
	if t.Container.Kind != "" {
		shown.Container = new(wire.NewContainerRef(t.Container))
	}
	if t.Phone != "" {
		shown.Recipients = []BoardRecipient{{Name: t.Recipient, Phone: t.Phone}}
	}
	if !t.Completed.IsZero() {
		shown.CompletionDetails = &BoardCompletion{Time: wire.Millis(t.Completed), Success: t.Success}
		if !t.Success {
			shown.CompletionDetails.FailureReason = t.FailureReason
		}
	}
	return shown
}
