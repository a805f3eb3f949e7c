package wire

import (
	"time"

	"dray/internal/codec"
	"dray/internal/lastmile"
	"dray/internal/planning"
)

// DispatchBody is the body of a request to dispatch the tasks of a team.
type DispatchBody struct {
	// Maximum number of tasks of a route, including those that the worker already has; at most 200.
	// Defaults to 100.
	MaxTasksPerRoute *int `json:"maxTasksPerRoute"`
	// Start and end of the time in which tasks are considered, in Unix seconds. Defaults to four hours
	// before and after now. It must not end in the past or more than 12 hours from now, and must not
	// be longer than 16 hours.
	TaskTimeWindow *SecondsWindow `json:"taskTimeWindow"`
	// Start and end of the time in which workers are scheduled, in Unix seconds. Defaults to the next
	// six hours. It must start at most 3 hours ago, end at most 16 hours from now and not be longer
	// than 16 hours.
	ScheduleTimeWindow *SecondsWindow `json:"scheduleTimeWindow"`
	// Time spent at tasks without a service time, in minutes. Defaults to 2.
	ServiceTime *WholeMinutes `json:"serviceTime"`
	// Where routes end: teams://DEFAULT for the hub of the team, workers://ROUTING_ADDRESS for the
	// address of each worker, hub:// followed by the ID of a hub, or null for anywhere. Defaults to
	// the hub of the team, if it has one.
	RouteEnd Optional[string] `json:"routeEnd" example:"teams://DEFAULT"`
	// How late a task may be, in minutes; above 0. Defaults to 10.
	MaxAllowedDelay *WholeMinutes `json:"maxAllowedDelay"`
	// Filters that exclude workers.
	Filters *DispatchFilters `json:"filters"`
	// Whether to plan without assigning any task. The plan can be applied later.
	DryRun *Flag `json:"dryRun"`
}

// DispatchFilters are the filters of a dispatch.
type DispatchFilters struct {
	// Filters of workers.
	Workers *WorkerFilters `json:"workers"`
}

// WorkerFilters are the conditions that a worker must meet.
type WorkerFilters struct {
	// Excludes workers with more tasks than this; at most maxTasksPerRoute, which is the default.
	MaxContainerSize *int `json:"maxContainerSize"`
	// Excludes workers with other types of vehicle. If the workers on duty have different types, this or
	// anyVehicle is required.
	VehicleType *lastmile.VehicleType `json:"vehicleType"`
	// Whether to plan for workers with different types of vehicles together, with the travel times of
	// each type.
	AnyVehicle *Flag `json:"anyVehicle"`
}

// SecondsWindow is a window of time in a request, as its start and end in Unix seconds.
type SecondsWindow lastmile.Window

// JSONSchema describes the JSON of the window, for documentation.
func (SecondsWindow) JSONSchema() string {
	return `{"type": "array", "items": {"type": "integer", "format": "int64"}, "minItems": 2, "maxItems": 2, "description": "Start and end, in Unix seconds"}`
}

// UnmarshalJSON implements json.Unmarshaler.
func (w *SecondsWindow) UnmarshalJSON(data []byte) error {
	var ends []UnixSeconds
	if err := codec.DecodePart(data, &ends); err != nil {
		return err
	}
	if len(ends) != 2 || ends[0].IsZero() || ends[1].IsZero() {
		return codec.Malformed("must be an array of two times, the start and the end, in Unix seconds")
	}
	*w = SecondsWindow{From: ends[0].Time(), To: ends[1].Time()}
	return nil
}

// Domain returns the request.
func (b DispatchBody) Domain() planning.Request {
	q := planning.Request{
		MaxTasksPerRoute: b.MaxTasksPerRoute, TaskWindow: (*lastmile.Window)(b.TaskTimeWindow), ScheduleWindow: (*lastmile.Window)(b.ScheduleTimeWindow),
		ServiceTime: (*time.Duration)(b.ServiceTime), MaxAllowedDelay: (*time.Duration)(b.MaxAllowedDelay), RouteEnd: b.RouteEnd.orNull(),
	}
	if b.Filters != nil && b.Filters.Workers != nil {
		q.MaxContainerSize, q.VehicleType = b.Filters.Workers.MaxContainerSize, b.Filters.Workers.VehicleType
		q.AnyVehicle = b.Filters.Workers.AnyVehicle != nil && bool(*b.Filters.Workers.AnyVehicle)
	}
	if b.DryRun != nil {
		q.DryRun = bool(*b.DryRun)
	}
	return q
}

// RouteBody is the body of a request to optimize the route of one worker.
type RouteBody struct {
	// Time spent at tasks without a service time, in minutes. Defaults to 2.
	ServiceTime *WholeMinutes `json:"serviceTime"`
	// Where the route ends: workers://ROUTING_ADDRESS for the address of the worker, hub:// followed
	// by the ID of a hub, or null for anywhere, which is the default.
	RouteEnd Optional[string] `json:"routeEnd" example:"workers://ROUTING_ADDRESS"`
	// How late a task may be, in minutes; above 0. Defaults to 10.
	MaxAllowedDelay *WholeMinutes `json:"maxAllowedDelay"`
	// Whether to plan without changing the route. The plan can be applied later.
	DryRun *Flag `json:"dryRun"`
}

// Domain returns the request.
func (b RouteBody) Domain() planning.Request {
	q := DispatchBody{ServiceTime: b.ServiceTime, RouteEnd: b.RouteEnd, MaxAllowedDelay: b.MaxAllowedDelay, DryRun: b.DryRun}.Domain()
	most := planning.MaxTasksPerRoute
	q.MaxTasksPerRoute = &most
	if q.RouteEnd == nil {
		q.RouteEnd = new(*string)
	}
	return q
}
