package wire

import (
	"math"
	"time"

	"dray/internal/lastmile"
)

// RoutePlan is a route plan: tasks to be carried out one after the other.
type RoutePlan struct {
	RoutePlanRecord
	RoutePlanLive
}

// RoutePlanRecord is the part of a route plan that changes only with the plan itself.
type RoutePlanRecord struct {
	// ID of the route plan.
	ID lastmile.RoutePlanID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Short ID: eight hexadecimal digits.
	ShortID string `json:"shortId" example:"5f2c81d0"`
	// Unix time in milliseconds at which the route plan was created.
	TimeCreated Millis `json:"timeCreated" example:"1767225600000"`
	// Unix time in milliseconds at which the route plan was last modified.
	TimeLastModified Millis `json:"timeLastModified" example:"1767229200000"`
	// ID of the organization that owns the route plan.
	Organization lastmile.OrganizationID `json:"organization" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// Name of the route plan.
	Name string `json:"name" example:"Morning round"`
	// State of the plan. It starts when its first task is started, and is completed when its last task
	// is completed.
	State lastmile.RoutePlanState `json:"state" example:"PENDING"`
	// Color on the map, as #RRGGBB; null if there is none.
	Color *string `json:"color" example:"#2F80ED"`
	// Type of vehicle for which the route is planned; null for that of the worker.
	VehicleType *lastmile.VehicleType `json:"vehicleType" example:"CAR"`
	// IANA time zone of the plan; null if there is none.
	Timezone *string `json:"timezone" example:"America/New_York"`
	// Unix time in milliseconds at which the route is planned to start.
	StartTime Millis `json:"startTime" example:"1894021200000"`
	// Unix time in milliseconds at which the route is planned to end; null if there is none.
	EndTime Millis `json:"endTime" nullable:"true" example:"1894035600000"`
	// Unix time in milliseconds at which the first task was started; null until then.
	ActualStartTime Millis `json:"actualStartTime" nullable:"true"`
	// Unix time in milliseconds at which the last task was completed; null until then.
	ActualEndTime Millis `json:"actualEndTime" nullable:"true"`
	// Where the route starts; null for anywhere.
	StartAt *lastmile.RoutePoint `json:"startAt" example:"HUB"`
	// Where the route ends; null for anywhere.
	EndAt *lastmile.RoutePoint `json:"endAt" example:"null"`
	// ID of the hub where the route starts; null if there is none.
	StartingHubID *lastmile.HubID `json:"startingHubId" example:"H7jK3lZx9CvB5nMq2WsD8fRt"`
	// ID of the hub where the route ends; null if there is none.
	EndingHubID *lastmile.HubID `json:"endingHubId"`
	// Estimated length of the route by road, in meters.
	PlannedDistance int64 `json:"plannedDistance" example:"18400"`
	// Estimated duration of the route in seconds, including the time spent at the tasks.
	PlannedDuration Seconds `json:"plannedDuration" example:"5400"`
	// Source of plannedDistance and plannedDuration: roads, or formula if a part of the route is outside
	// all maps. It is formula for a plan with fewer than two stops.
	TravelSource string `json:"travelSource" example:"roads"`
}

// RoutePlanLive is the part of a route plan that changes with other records or with time.
type RoutePlanLive struct {
	// ID of the team; null if there is none.
	Team *lastmile.TeamID `json:"team"`
	// ID of the worker; null if there is none.
	Worker *lastmile.WorkerID `json:"worker" example:"W4nB7xKq9LsT2vDz6MfR3hYc"`
	// IDs of the tasks, in the order of the route.
	Tasks []lastmile.TaskID `json:"tasks" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// States of the tasks, in the same order as tasks.
	TaskStates []lastmile.TaskState `json:"taskStates" example:"[1]"`
	// Whether the planned end has passed while tasks are not completed.
	IsOverdue bool `json:"isOverdue"`
	// LATE if the plan has not started or not ended on time.
	Status lastmile.RoutePlanStatus `json:"status" example:"ON_TIME"`
	// Delay of the plan in seconds; 0 if it is on time.
	StatusTimeDifference Seconds `json:"statusTimeDifference"`
}

// NewRoutePlan returns a route plan in its wire form.
func NewRoutePlan(p lastmile.RoutePlan) RoutePlan {
	return RoutePlan{
		RoutePlanRecord: NewRoutePlanRecord(p),
		RoutePlanLive: RoutePlanLive{
			Team: OrNull(p.Team), Worker: OrNull(p.Worker), Tasks: OrEmpty(p.Tasks), TaskStates: OrEmpty(p.TaskStates),
			IsOverdue: p.Overdue, Status: p.Status, StatusTimeDifference: Seconds(p.Late),
		},
	}
}

// NewRoutePlanRecord returns the stored part of a route plan.
func NewRoutePlanRecord(p lastmile.RoutePlan) RoutePlanRecord {
	return RoutePlanRecord{
		ID: p.ID, ShortID: p.ShortID, TimeCreated: Millis(p.Created), TimeLastModified: Millis(p.Modified),
		Organization: p.Organization, Name: p.Name, State: p.State, Color: OrNull(p.Color),
		VehicleType: OrNull(p.VehicleType), Timezone: OrNull(p.Timezone),
		StartTime: Millis(p.Start), EndTime: Millis(p.End),
		ActualStartTime: Millis(p.ActualStart), ActualEndTime: Millis(p.ActualEnd),
		StartAt: OrNull(p.StartAt), EndAt: OrNull(p.EndAt),
		StartingHubID: OrNull(p.StartingHub), EndingHubID: OrNull(p.EndingHub),
		PlannedDistance: meters(p.PlannedDistance), PlannedDuration: Seconds(p.PlannedDuration), TravelSource: travelSource(!p.OnRoads),
	}
}

// Domain returns the stored part of the route plan that the wire form represents.
func (r RoutePlanRecord) Domain() lastmile.RoutePlan {
	return lastmile.RoutePlan{
		ID: r.ID, ShortID: r.ShortID, Organization: r.Organization, Created: r.TimeCreated.Time(), Modified: r.TimeLastModified.Time(),
		Name: r.Name, State: r.State, Color: orZero(r.Color), VehicleType: orZero(r.VehicleType), Timezone: orZero(r.Timezone),
		Start: r.StartTime.Time(), End: r.EndTime.Time(), ActualStart: r.ActualStartTime.Time(), ActualEnd: r.ActualEndTime.Time(),
		StartAt: orZero(r.StartAt), EndAt: orZero(r.EndAt), StartingHub: orZero(r.StartingHubID), EndingHub: orZero(r.EndingHubID),
		PlannedDistance: lastmile.Meters(r.PlannedDistance), PlannedDuration: r.PlannedDuration.Duration(), OnRoads: r.TravelSource == travelSource(false),
	}
}

// meters rounds a distance to whole meters.
func meters(d lastmile.Meters) int64 { return int64(math.Round(float64(d))) }

// RoutePlanPage is a page of a list of route plans.
type RoutePlanPage struct {
	// Route plans, oldest first.
	RoutePlans []RoutePlan `json:"routePlans"`
	// ID for the request of the next page. Absent on the last page.
	LastID lastmile.RoutePlanID `json:"lastId,omitzero"`
}

// NewRoutePlanPage returns a page in its wire form.
func NewRoutePlanPage(plans []lastmile.RoutePlan, last lastmile.RoutePlanID) RoutePlanPage {
	return RoutePlanPage{RoutePlans: Each(plans, NewRoutePlan), LastID: last}
}

// NewRoutePlanBody is the body of a request to create a route plan.
type NewRoutePlanBody struct {
	_ struct{} `required:"name,startTime"`
	RoutePlanBody
}

// RoutePlanBody is the body of a request to update a route plan.
type RoutePlanBody struct {
	// Name of the route plan.
	Name *string `json:"name"`
	// Unix time in milliseconds at which the route is planned to start.
	StartTime *OptionalMillis `json:"startTime" example:"1894021200000"`
	// Unix time in milliseconds at which the route is planned to end. Must be after startTime.
	EndTime Optional[OptionalMillis] `json:"endTime" example:"1894035600000"`
	// IDs of the tasks in the order of the route, at most 500. The tasks must not be started or belong
	// to another plan.
	Tasks *[]lastmile.TaskID `json:"tasks" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// Alias of tasks.
	TaskIDs *[]lastmile.TaskID `json:"taskIds"`
	// Color on the map, as #RRGGBB; null removes it.
	Color Optional[string] `json:"color" example:"white"`
	// Type of vehicle for which the route is planned; null for that of the worker.
	VehicleType Optional[lastmile.VehicleType] `json:"vehicleType"`
	// ID of the worker to whom the tasks are assigned; null unassigns them.
	Worker Optional[lastmile.WorkerID] `json:"worker"`
	// ID of the team to which the tasks are assigned if there is no worker; null unassigns them.
	Team Optional[lastmile.TeamID] `json:"team"`
	// Where the route starts; null for anywhere.
	StartAt Optional[lastmile.RoutePoint] `json:"startAt" example:"HUB"`
	// Where the route ends; null for anywhere.
	EndAt Optional[lastmile.RoutePoint] `json:"endAt" example:"null"`
	// Alias of startAt.
	Start Optional[lastmile.RoutePoint] `json:"start"`
	// Alias of endAt.
	End Optional[lastmile.RoutePoint] `json:"end"`
	// ID of the hub where the route starts. Required if startAt is HUB.
	StartingHubID Optional[lastmile.HubID] `json:"startingHubId" example:"H7jK3lZx9CvB5nMq2WsD8fRt"`
	// ID of the hub where the route ends. Required if endAt is HUB.
	EndingHubID Optional[lastmile.HubID] `json:"endingHubId"`
	// IANA time zone of the plan; null removes it.
	Timezone Optional[string] `json:"timezone" example:"America/New_York"`
}

// Change returns the requested change. An empty name or start changes nothing: a published
// client always sends both.
func (b RoutePlanBody) Change() lastmile.RoutePlanChange {
	change := lastmile.RoutePlanChange{
		Color: b.Color.pointer(), VehicleType: b.VehicleType.pointer(), Timezone: b.Timezone.pointer(),
		StartAt: b.StartAt.pointer(), EndAt: b.EndAt.pointer(),
		StartingHub: b.StartingHubID.pointer(), EndingHub: b.EndingHubID.pointer(),
		Worker: b.Worker.pointer(), Team: b.Team.pointer(), Tasks: b.Tasks,
	}
	if b.Name != nil && *b.Name != "" {
		change.Name = b.Name
	}
	if b.StartTime != nil && !time.Time(*b.StartTime).IsZero() {
		change.Start = (*time.Time)(b.StartTime)
	}
	if b.EndTime.Present {
		change.End = (*time.Time)(&b.EndTime.Value)
	}
	if !b.StartAt.Present {
		change.StartAt = b.Start.pointer()
	}
	if !b.EndAt.Present {
		change.EndAt = b.End.pointer()
	}
	if b.Tasks == nil {
		change.Tasks = b.TaskIDs
	}
	return change
}

// Added returns the tasks of the request, and whether it contains nothing else. A published
// client adds tasks to a plan with such a request.
func (b RoutePlanBody) Added() (tasks []lastmile.TaskID, only bool) {
	change := b.Change()
	if change.Tasks == nil {
		return nil, false
	}
	tasks, change.Tasks = *change.Tasks, nil
	return tasks, change == lastmile.RoutePlanChange{}
}

// RoutePlanTasksBody is the body of a request to add tasks to a route plan.
type RoutePlanTasksBody struct {
	// IDs of the tasks, which must not be started or belong to another plan.
	Tasks *[]lastmile.TaskID `json:"tasks" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// Alias of tasks.
	TaskIDs *[]lastmile.TaskID `json:"taskIds"`
}

// Added returns the tasks to add.
func (b RoutePlanTasksBody) Added() ([]lastmile.TaskID, error) {
	switch {
	case b.Tasks != nil:
		return *b.Tasks, nil
	case b.TaskIDs != nil:
		return *b.TaskIDs, nil
	}
	return nil, lastmile.Missing("tasks")
}
