package wire

import (
	"time"

	"dray/internal/lastmile"
	"dray/internal/planning"
)

// DispatchStarted is the response to a request to dispatch.
type DispatchStarted struct {
	// ID of the dispatch, used to read its progress and result.
	DispatchID lastmile.DispatchID `json:"dispatchId" example:"R7vK2nXw5LdB9qTz3HcF8mJs"`
}

// NewDispatchStarted returns the response to a request to dispatch.
func NewDispatchStarted(made lastmile.CreatedRecord[lastmile.Dispatch]) DispatchStarted {
	return DispatchStarted{DispatchID: made.Record.ID}
}

// Dispatch is the progress and result of a dispatch.
type Dispatch struct {
	// ID of the dispatch.
	ID lastmile.DispatchID `json:"id" example:"R7vK2nXw5LdB9qTz3HcF8mJs"`
	// ID of the organization.
	Organization lastmile.OrganizationID `json:"organization" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// ID of the team; null if the route of one worker was optimized.
	Team *lastmile.TeamID `json:"team" example:"T5mQ8rVx2LkD7wNz4HbC9pJs"`
	// ID of the worker whose route was optimized; null for a whole team.
	Worker *lastmile.WorkerID `json:"worker" example:"null"`
	// Unix time in milliseconds at which the dispatch was requested.
	TimeCreated Millis `json:"timeCreated" example:"1767225600000"`
	DispatchActors
	// Whether the plan is only applied on request.
	DryRun bool `json:"dryRun"`
	// Cause and result of continuous re-planning; null if the dispatch was requested.
	Replanning *Replan `json:"replanning" example:"null"`
	// Number of times the routes were planned. They are planned a second time if tasks could not be
	// assigned because workers or their lists had changed in the meantime.
	Rounds int `json:"rounds" example:"1"`
	// Rules that the plan follows.
	Options DispatchOptions `json:"options"`
	// Progress of the optimizer; null while it is not running.
	Progress *DispatchProgress `json:"progress" example:"null"`
	// The routes; empty until they are planned.
	Plan DispatchPlan `json:"plan"`
	// The routes at the time when the plan of a dry run was made, with the same travel times; empty for
	// other dispatches and in notifications.
	Before []DispatchRoute `json:"before" example:"[]"`
	// Times and outcome of the dispatch.
	ProcessingDetails ProcessingDetails `json:"processingDetails"`
	// Tasks that were considered; empty until the routes are planned.
	Tasks []DispatchTask `json:"tasks"`
}

// DispatchActors are the API keys or administrators that requested and applied a dispatch.
type DispatchActors struct {
	// API key or administrator that requested the dispatch; null for continuous re-planning and if
	// unknown.
	RequestedBy *ActionContext `json:"requestedBy" example:"null"`
	// API key or administrator that applied the plan of a dry run; null if it was not applied.
	AppliedBy *ActionContext `json:"appliedBy" example:"null"`
}

func newDispatchActors(d lastmile.Dispatch) (a DispatchActors) {
	shown := func(author lastmile.KeyID) *ActionContext {
		actor := lastmile.AuthoredBy(d.Organization, author).Actor()
		if actor == (lastmile.Actor{}) {
			return nil
		}
		return &ActionContext{Type: actor.Type, ID: actor.ID}
	}
	a.RequestedBy = shown(d.Requester)
	if d.DryRun && (d.Status == lastmile.DispatchApplying || d.Status == lastmile.DispatchSucceeded) {
		a.AppliedBy = shown(d.Key)
	}
	return a
}

// requester returns the author of the request.
func (a DispatchActors) requester() lastmile.KeyID {
	switch {
	case a.RequestedBy == nil:
		return ""
	case a.RequestedBy.Type == lastmile.ActorAdmin:
		return lastmile.Principal{Admin: lastmile.AdminID(a.RequestedBy.ID)}.Author()
	}
	return lastmile.KeyID(a.RequestedBy.ID)
}

// ShownDispatch is a dispatch, with what has changed since its plan was made.
type ShownDispatch struct {
	Dispatch
	// What has changed since the plan of a dry run was made; empty if it can be applied.
	Changes []string `json:"changes" example:"[]"`
	// The same changes in a form for programs.
	Differences []DispatchDifference `json:"differences" example:"[]"`
}

// DispatchDifference is a change since a plan was made.
type DispatchDifference struct {
	// What has changed.
	What planning.Difference `json:"what" example:"workerSchedule"`
	// ID of the task; null if the change is about a worker.
	Task *lastmile.TaskID `json:"task" example:"null"`
	// ID of the worker; null if the change is not about a worker.
	Worker *lastmile.WorkerID `json:"worker" example:"W4nB7xKq9LsT2vDz6MfR3hYc"`
}

// NewShownDispatch returns a dispatch with what has changed since its plan was made.
func NewShownDispatch(d lastmile.Dispatch, changes []planning.Change) ShownDispatch {
	return ShownDispatch{
		Dispatch: NewDispatch(d), Changes: Each(changes, planning.Change.String),
		Differences: Each(changes, func(c planning.Change) DispatchDifference {
			return DispatchDifference{What: c.What, Task: OrNull(c.Task), Worker: OrNull(c.Worker)}
		}),
	}
}

// DispatchOptions are the rules of a dispatch, with the defaults filled in.
type DispatchOptions struct {
	// How late a task may be, in minutes.
	MaxAllowedDelay Minutes `json:"maxAllowedDelay" example:"10"`
	// Maximum number of tasks of a route.
	MaxTasksPerRoute int `json:"maxTasksPerRoute" example:"100"`
	// Where routes end; null for anywhere.
	RouteEnd *string `json:"routeEnd" example:"teams://DEFAULT"`
	// Start and end of the time in which workers are scheduled, in Unix milliseconds.
	ScheduleTimeWindow []Millis `json:"scheduleTimeWindow" example:"[1767225600000, 1767247200000]"`
	// Time spent at tasks without a service time, in minutes.
	ServiceTime Minutes `json:"serviceTime" example:"2"`
	// Start and end of the time in which tasks are considered, in Unix milliseconds.
	TaskTimeWindow []Millis `json:"taskTimeWindow" example:"[1767211200000, 1767240000000]"`
	// Workers with more tasks than this are excluded.
	MaxContainerSize int `json:"maxContainerSize" example:"100"`
	// Type of vehicle of the workers; null for any.
	VehicleType *lastmile.VehicleType `json:"vehicleType" example:"null"`
	// Whether workers with different types of vehicles are planned together.
	AnyVehicle bool `json:"anyVehicle"`
}

// DispatchProgress is the progress of the optimizer.
type DispatchProgress struct {
	// What the optimizer is doing.
	Phase string `json:"phase" example:"improving"`
	// Unix time in milliseconds by which the optimizer will end.
	Until Millis `json:"until" nullable:"true" example:"1767225610000"`
	// Number of tasks in the best plan so far.
	TasksPlanned int `json:"tasksPlanned" example:"118"`
	// Cost of the best plan so far.
	Cost DispatchCost `json:"cost"`
}

// DispatchPlan is a set of routes, with the tasks that are on none of them.
type DispatchPlan struct {
	// Routes of the workers.
	Routes []DispatchRoute `json:"routes" example:"[{\"routeId\": \"W4nB7xKq9LsT2vDz6MfR3hYc\", \"type\": \"WORKER\", \"stops\": [{\"id\": \"K2dF8gHj5LzX9cVb7NmQ4wRt\", \"type\": \"TASK\", \"arrivalTime\": 1767226200000, \"departTime\": 1767226320000, \"lateness\": 0, \"active\": false, \"pinned\": null}], \"cost\": {\"travel\": 1420, \"service\": 240, \"waiting\": 0, \"lateness\": 0, \"distance\": 9200, \"workers\": 1}, \"tasksBefore\": [], \"vehicleType\": \"CAR\", \"capacities\": [20, 0, 0, 0], \"shifts\": [[1767225600000, 1767247200000]], \"travelSource\": \"roads\"}]"`
	// Tasks that no worker can do under the rules of the dispatch.
	Unplanned []UnplannedTask `json:"unplanned" example:"[{\"id\": \"Z9xW4vTq7RnB2kLd6MfH3sYc\", \"type\": \"TASK\", \"reasons\": [{\"worker\": \"W4nB7xKq9LsT2vDz6MfR3hYc\", \"rule\": \"window\", \"detail\": \"earliest start 14:32 UTC, latest 14:00 UTC + 10 min\"}]}]"`
	// Cost of all routes.
	Cost DispatchCost `json:"cost"`
}

// DispatchCost is the cost of routes. Times are in seconds.
type DispatchCost struct {
	// Time on the road.
	Travel Seconds `json:"travel" example:"14200"`
	// Time spent at tasks.
	Service Seconds `json:"service" example:"7200"`
	// Time spent waiting for windows to open.
	Waiting Seconds `json:"waiting" example:"600"`
	// Sum of the delays of all tasks that are late.
	Lateness Seconds `json:"lateness" example:"0"`
	// Length of the routes by road, in meters.
	Distance int64 `json:"distance" example:"92000"`
	// Number of workers with at least one task.
	Workers int `json:"workers" example:"8"`
}

// DispatchRoute is the route of one worker.
type DispatchRoute struct {
	// ID of the worker.
	RouteID lastmile.WorkerID `json:"routeId" example:"W4nB7xKq9LsT2vDz6MfR3hYc"`
	// Always WORKER.
	Type string `json:"type" example:"WORKER"`
	// Tasks in the order of the route.
	Stops []DispatchStop `json:"stops"`
	// Cost of the route.
	Cost DispatchCost `json:"cost"`
	// IDs of the worker's tasks when the plan was made, without the active one.
	TasksBefore []lastmile.TaskID `json:"tasksBefore" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// Type of the worker's vehicle when the plan was made; null if the worker had none.
	VehicleType *lastmile.VehicleType `json:"vehicleType" example:"CAR"`
	// Capacities of the worker when the plan was made: capacity, capacityA, capacityB and capacityC.
	Capacities [4]float64 `json:"capacities" example:"[20, 0, 0, 0]"`
	// Shifts of the worker within scheduleTimeWindow when the plan was made, each as start and end in
	// Unix milliseconds; empty for plans of older versions.
	Shifts [][2]Millis `json:"shifts" example:"[[1767225600000, 1767247200000]]"`
	// Source of the travel times: roads, or formula if a part of the route is outside all maps and
	// unknown to the router.
	TravelSource string `json:"travelSource" example:"roads"`
}

// DispatchStop is a task of a route.
type DispatchStop struct {
	// ID of the task.
	ID lastmile.TaskID `json:"id" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// Always TASK.
	Type string `json:"type" example:"TASK"`
	// Unix time in milliseconds at which the worker arrives.
	ArrivalTime Millis `json:"arrivalTime" example:"1767226200000"`
	// Unix time in milliseconds at which the worker departs.
	DepartTime Millis `json:"departTime" example:"1767226320000"`
	// How late the service starts, in seconds; 0 if it is on time.
	Lateness Seconds `json:"lateness"`
	// Whether the worker has started the task.
	Active bool `json:"active"`
	// How the task was pinned when the plan was made; null if it was not.
	Pinned *lastmile.Pin `json:"pinned" example:"null"`
}

// UnplannedTask is a task that no worker can do, with the reasons.
type UnplannedTask struct {
	// ID of the task.
	ID lastmile.TaskID `json:"id" example:"Z9xW4vTq7RnB2kLd6MfH3sYc"`
	// Always TASK.
	Type string `json:"type" example:"TASK"`
	// For each worker, the rule that the route would break at the best position for the task.
	Reasons []DispatchReason `json:"reasons"`
}

// DispatchReason is the reason why a worker cannot do a task.
type DispatchReason struct {
	// ID of the worker; null if the reason applies to all workers.
	Worker *lastmile.WorkerID `json:"worker" example:"W4nB7xKq9LsT2vDz6MfR3hYc"`
	// The rule that would be broken.
	Rule lastmile.DispatchRule `json:"rule" example:"window"`
	// Human-readable details, with the numbers of the rule.
	Detail string `json:"detail" example:"earliest start 14:32, latest 14:00 + 10 min"`
}

// ProcessingDetails are the times and the outcome of a dispatch.
type ProcessingDetails struct {
	// Unix time in milliseconds at which planning began; null before.
	StartTime Millis `json:"startTime" nullable:"true" example:"1767225600100"`
	// Unix time in milliseconds at which the dispatch ended; null before.
	EndTime Millis `json:"endTime" nullable:"true" example:"1767225610900"`
	// Unix time in milliseconds at which the applied plan was marked as undone; null if it was not.
	UndoTime Millis `json:"undoTime" nullable:"true" example:"null"`
	// Status of the dispatch.
	Status lastmile.DispatchStatus `json:"status" example:"success"`
	// Why the dispatch failed; null if it did not.
	Failure *string `json:"failure" example:"null"`
}

// DispatchTask is a task as a dispatch considered it.
type DispatchTask struct {
	// ID of the task.
	ID lastmile.TaskID `json:"id" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// Short ID of the task.
	ShortID string `json:"shortId" example:"5f2c81d0"`
	// Address of the destination in one line; empty for plans of older versions.
	Address string `json:"address" example:"543 Howard Street, San Francisco, California 94105, USA"`
	// Whether the task is a pickup.
	PickupTask bool `json:"pickupTask"`
	// Quantity to be carried.
	Quantity float64 `json:"quantity" example:"1"`
	// Three additional measures of the quantity.
	AdditionalQuantities Quantities `json:"additionalQuantities"`
	// Unix time in milliseconds before which the task should not be completed; null for no limit.
	CompleteAfter Millis `json:"completeAfter" nullable:"true"`
	// Unix time in milliseconds before which the task should be completed; null for no limit.
	CompleteBefore Millis `json:"completeBefore" nullable:"true"`
	// ID of the destination.
	Destination lastmile.DestinationID `json:"destination" example:"d5Kx8nQw2LtB7vRz4HcM9sJf"`
	// ID of the recipient; null if there is none.
	Recipient *lastmile.RecipientID `json:"recipient" example:"null"`
	// Time spent at the task, in minutes; null if none was sent with the task.
	ServiceTime *Minutes `json:"serviceTime" example:"null"`
	// IDs of the tasks that the task depends on.
	Dependencies []lastmile.TaskID `json:"dependencies" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
}

// NewDispatch returns a dispatch in its wire form.
func NewDispatch(d lastmile.Dispatch) Dispatch {
	shown := Dispatch{
		ID: d.ID, Organization: d.Organization, Team: OrNull(d.Team), Worker: OrNull(d.Worker), TimeCreated: Millis(d.Created), DryRun: d.DryRun, DispatchActors: newDispatchActors(d),
		Replanning: newReplan(d.Replan), Rounds: d.Rounds,
		Options: DispatchOptions{
			MaxAllowedDelay: Minutes(d.Options.MaxAllowedDelay), MaxTasksPerRoute: d.Options.MaxTasksPerRoute, RouteEnd: OrNull(d.Options.RouteEnd),
			ScheduleTimeWindow: []Millis{Millis(d.Options.ScheduleWindow.From), Millis(d.Options.ScheduleWindow.To)},
			TaskTimeWindow:     []Millis{Millis(d.Options.TaskWindow.From), Millis(d.Options.TaskWindow.To)},
			ServiceTime:        Minutes(d.Options.ServiceTime), MaxContainerSize: d.Options.MaxContainerSize, VehicleType: OrNull(d.Options.VehicleType),
		},
		Plan:              DispatchPlan{Routes: Each(d.Plan.Routes, newDispatchRoute), Unplanned: Each(d.Plan.Unplanned, newUnplannedTask), Cost: newDispatchCost(d.Plan.Cost)},
		Before:            Each(d.Before, newDispatchRoute),
		ProcessingDetails: newProcessingDetails(d),
		Tasks: Each(d.Tasks, func(t lastmile.DispatchTask) DispatchTask {
			return DispatchTask{
				ID: t.ID, ShortID: t.ShortID, Address: t.Address, PickupTask: t.Pickup, Quantity: t.Quantity, AdditionalQuantities: Quantities(t.AdditionalQuantities),
				CompleteAfter: Millis(t.CompleteAfter), CompleteBefore: Millis(t.CompleteBefore),
				Destination: t.Destination, Recipient: OrNull(t.Recipient), ServiceTime: (*Minutes)(t.ServiceTime), Dependencies: OrEmpty(t.Dependencies),
			}
		}),
	}
	if d.Options.VehicleType == planning.AnyVehicle {
		shown.Options.VehicleType, shown.Options.AnyVehicle = nil, true
	}
	if p := d.Progress; p != (lastmile.DispatchProgress{}) {
		shown.Progress = &DispatchProgress{Phase: p.Phase, Until: Millis(p.Until), TasksPlanned: p.Planned, Cost: newDispatchCost(p.Cost)}
	}
	return shown
}

func newProcessingDetails(d lastmile.Dispatch) ProcessingDetails {
	return ProcessingDetails{StartTime: Millis(d.Started), EndTime: Millis(d.Ended), UndoTime: Millis(d.Undone), Status: d.Status, Failure: OrNull(d.Failure)}
}

func newDispatchCost(c lastmile.DispatchCost) DispatchCost {
	return DispatchCost{
		Travel: Seconds(c.Travel), Service: Seconds(c.Service), Waiting: Seconds(c.Waiting), Lateness: Seconds(c.Lateness), Distance: meters(c.Distance), Workers: c.Workers,
	}
}

func newDispatchRoute(r lastmile.DispatchRoute) DispatchRoute {
	return DispatchRoute{
		RouteID: r.Worker, Type: "WORKER", Cost: newDispatchCost(r.Cost), TasksBefore: OrEmpty(r.Before), VehicleType: OrNull(r.Vehicle), Capacities: r.Capacity, TravelSource: travelSource(r.ByFormula),
		Shifts: Each(r.Shifts, func(w lastmile.Window) [2]Millis { return [2]Millis{Millis(w.From), Millis(w.To)} }),
		Stops: Each(r.Stops, func(s lastmile.DispatchStop) DispatchStop {
			return DispatchStop{ID: s.Task, Type: "TASK", ArrivalTime: Millis(s.Arrival), DepartTime: Millis(s.Depart), Lateness: Seconds(s.Late), Active: s.Active, Pinned: OrNull(s.Pin)}
		}),
	}
}

func newUnplannedTask(u lastmile.UnplannedTask) UnplannedTask {
	return UnplannedTask{ID: u.Task, Type: "TASK", Reasons: Each(u.Reasons, func(r lastmile.DispatchReason) DispatchReason {
		return DispatchReason{Worker: OrNull(r.Worker), Rule: r.Rule, Detail: r.Detail}
	})}
}

// Domain returns the dispatch that the wire form represents, without its key.
func (d Dispatch) Domain() lastmile.Dispatch {
	o := d.Options
	made := lastmile.Dispatch{
		ID: d.ID, Organization: d.Organization, Team: orZero(d.Team), Worker: orZero(d.Worker), Created: d.TimeCreated.Time(), DryRun: d.DryRun, Requester: d.requester(),
		Replan: d.Replanning.domain(), Rounds: d.Rounds,
		Started: d.ProcessingDetails.StartTime.Time(), Ended: d.ProcessingDetails.EndTime.Time(), Undone: d.ProcessingDetails.UndoTime.Time(), Status: d.ProcessingDetails.Status,
		Failure: orZero(d.ProcessingDetails.Failure),
		Options: lastmile.DispatchOptions{
			MaxTasksPerRoute: o.MaxTasksPerRoute, ServiceTime: time.Duration(o.ServiceTime), MaxAllowedDelay: time.Duration(o.MaxAllowedDelay),
			TaskWindow:     lastmile.Window{From: o.TaskTimeWindow[0].Time(), To: o.TaskTimeWindow[1].Time()},
			ScheduleWindow: lastmile.Window{From: o.ScheduleTimeWindow[0].Time(), To: o.ScheduleTimeWindow[1].Time()},
			RouteEnd:       orZero(o.RouteEnd), MaxContainerSize: o.MaxContainerSize, VehicleType: orZero(o.VehicleType),
		},
		Plan:   lastmile.DispatchPlan{Routes: Each(d.Plan.Routes, DispatchRoute.domain), Unplanned: Each(d.Plan.Unplanned, UnplannedTask.domain), Cost: d.Plan.Cost.domain()},
		Before: Each(d.Before, DispatchRoute.domain),
		Tasks: Each(d.Tasks, func(t DispatchTask) lastmile.DispatchTask {
			return lastmile.DispatchTask{
				ID: t.ID, ShortID: t.ShortID, Address: t.Address, Pickup: t.PickupTask, Quantity: t.Quantity, AdditionalQuantities: lastmile.Capacities(t.AdditionalQuantities),
				CompleteAfter: t.CompleteAfter.Time(), CompleteBefore: t.CompleteBefore.Time(),
				Destination: t.Destination, Recipient: orZero(t.Recipient), ServiceTime: (*time.Duration)(t.ServiceTime), Dependencies: t.Dependencies,
			}
		}),
	}
	if o.AnyVehicle {
		made.Options.VehicleType = planning.AnyVehicle
	}
	if p := d.Progress; p != nil {
		made.Progress = lastmile.DispatchProgress{Phase: p.Phase, Until: p.Until.Time(), Planned: p.TasksPlanned, Cost: p.Cost.domain()}
	}
	return made
}

func (c DispatchCost) domain() lastmile.DispatchCost {
	return lastmile.DispatchCost{
		Travel: c.Travel.Duration(), Service: c.Service.Duration(), Waiting: c.Waiting.Duration(), Lateness: c.Lateness.Duration(),
		Distance: lastmile.Meters(c.Distance), Workers: c.Workers,
	}
}

func (r DispatchRoute) domain() lastmile.DispatchRoute {
	return lastmile.DispatchRoute{
		Worker: r.RouteID, Cost: r.Cost.domain(), Before: r.TasksBefore, Vehicle: orZero(r.VehicleType), Capacity: r.Capacities, ByFormula: r.TravelSource != travelSource(false),
		Shifts: Each(r.Shifts, func(s [2]Millis) lastmile.Window { return lastmile.Window{From: s[0].Time(), To: s[1].Time()} }),
		Stops: Each(r.Stops, func(s DispatchStop) lastmile.DispatchStop {
			return lastmile.DispatchStop{Task: s.ID, Arrival: s.ArrivalTime.Time(), Depart: s.DepartTime.Time(), Late: s.Lateness.Duration(), Active: s.Active, Pin: orZero(s.Pinned)}
		}),
	}
}

func (u UnplannedTask) domain() lastmile.UnplannedTask {
	return lastmile.UnplannedTask{Task: u.ID, Reasons: Each(u.Reasons, func(r DispatchReason) lastmile.DispatchReason {
		return lastmile.DispatchReason{Worker: orZero(r.Worker), Rule: r.Rule, Detail: r.Detail}
	})}
}
