package wire

import (
	"math"
	"time"

	"dray/internal/lastmile"
)

// RoutePlan is a route plan: tasks to be done one after the other.
type RoutePlan struct {
	RoutePlanRecord
	RoutePlanLive
}

// RoutePlanRecord is the part of a route plan that only changes with the plan
// itself.
type RoutePlanRecord struct {
	// Id of the record.
	ID lastmile.RoutePlanID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Short id, eight hexadecimal digits.
	ShortID string `json:"shortId" example:"5f2c81d0"`
	// When the record was created, in Unix milliseconds.
	TimeCreated Millis `json:"timeCreated" example:"1767225600000"`
	// When the record last changed, in Unix milliseconds.
	TimeLastModified Millis `json:"timeLastModified" example:"1767229200000"`
	// Id of the organization that owns the record.
	Organization lastmile.OrganizationID `json:"organization" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// Name.
	Name string `json:"name" example:"Morning round"`
	// How far the plan has come. Its first task that is started starts it, its last that is completed
	// completes it.
	State lastmile.RoutePlanState `json:"state" example:"PENDING"`
	// Color on the map, as #RRGGBB; null when none.
	Color *string `json:"color" example:"#2F80ED"`
	// Vehicle the route is planned for; null leaves it to the worker.
	VehicleType *lastmile.VehicleType `json:"vehicleType" example:"CAR"`
	// IANA time zone of the plan; null when none.
	Timezone *string `json:"timezone" example:"America/New_York"`
	// When the route is to start, in Unix milliseconds.
	StartTime Millis `json:"startTime" example:"1894021200000"`
	// When the route is to end, in Unix milliseconds; null when it was not planned.
	EndTime Millis `json:"endTime" nullable:"true" example:"1894035600000"`
	// When the first task was started, in Unix milliseconds; null until then.
	ActualStartTime Millis `json:"actualStartTime" nullable:"true"`
	// When the last task was completed, in Unix milliseconds; null until then.
	ActualEndTime Millis `json:"actualEndTime" nullable:"true"`
	// Where the route starts; null means anywhere.
	StartAt *lastmile.RoutePoint `json:"startAt" example:"HUB"`
	// Where the route ends; null means anywhere.
	EndAt *lastmile.RoutePoint `json:"endAt" example:"null"`
	// Id of the hub where the route starts; null when none.
	StartingHubID *lastmile.HubID `json:"startingHubId" example:"H7jK3lZx9CvB5nMq2WsD8fRt"`
	// Id of the hub where the route ends; null when none.
	EndingHubID *lastmile.HubID `json:"endingHubId"`
	// Metres of the route by road, as estimated.
	PlannedDistance int64 `json:"plannedDistance" example:"18400"`
	// Seconds on the way, as estimated, and at the tasks.
	PlannedDuration Seconds `json:"plannedDuration" example:"5400"`
}

// RoutePlanLive is the part of a route plan that changes with other records or
// with time.
type RoutePlanLive struct {
	// Id of the team; null when none.
	Team *lastmile.TeamID `json:"team"`
	// Id of the worker; null when none.
	Worker *lastmile.WorkerID `json:"worker" example:"W4nB7xKq9LsT2vDz6MfR3hYc"`
	// Ids of the tasks, in the order of the route.
	Tasks []lastmile.TaskID `json:"tasks" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// States of the tasks, in the order of tasks.
	TaskStates []lastmile.TaskState `json:"taskStates" example:"[1]"`
	// The planned end has passed, and tasks are left.
	IsOverdue bool `json:"isOverdue"`
	// LATE when the plan did not start, or did not end, when it should have.
	Status lastmile.RoutePlanStatus `json:"status" example:"ON_TIME"`
	// Seconds by which the plan is late; 0 when on time.
	StatusTimeDifference Seconds `json:"statusTimeDifference"`
}

// NewRoutePlan returns a route plan in the form that is sent.
func NewRoutePlan(p lastmile.RoutePlan) RoutePlan {
	return RoutePlan{
		RoutePlanRecord: NewRoutePlanRecord(p),
		RoutePlanLive: RoutePlanLive{
			Team: orNull(p.Team), Worker: orNull(p.Worker), Tasks: orEmpty(p.Tasks), TaskStates: orEmpty(p.TaskStates),
			IsOverdue: p.Overdue, Status: p.Status, StatusTimeDifference: Seconds(p.Late),
		},
	}
}

// NewRoutePlanRecord returns the lasting part of a route plan.
func NewRoutePlanRecord(p lastmile.RoutePlan) RoutePlanRecord {
	return RoutePlanRecord{
		ID: p.ID, ShortID: p.ShortID, TimeCreated: Millis(p.Created), TimeLastModified: Millis(p.Modified),
		Organization: p.Organization, Name: p.Name, State: p.State, Color: orNull(p.Color),
		VehicleType: orNull(p.VehicleType), Timezone: orNull(p.Timezone),
		StartTime: Millis(p.Start), EndTime: Millis(p.End),
		ActualStartTime: Millis(p.ActualStart), ActualEndTime: Millis(p.ActualEnd),
		StartAt: orNull(p.StartAt), EndAt: orNull(p.EndAt),
		StartingHubID: orNull(p.StartingHub), EndingHubID: orNull(p.EndingHub),
		PlannedDistance: metres(p.PlannedDistance), PlannedDuration: Seconds(p.PlannedDuration),
	}
}

// Domain returns the lasting part of the route plan that the form shows.
func (r RoutePlanRecord) Domain() lastmile.RoutePlan {
	return lastmile.RoutePlan{
		ID: r.ID, ShortID: r.ShortID, Organization: r.Organization, Created: r.TimeCreated.Time(), Modified: r.TimeLastModified.Time(),
		Name: r.Name, State: r.State, Color: orZero(r.Color), VehicleType: orZero(r.VehicleType), Timezone: orZero(r.Timezone),
		Start: r.StartTime.Time(), End: r.EndTime.Time(), ActualStart: r.ActualStartTime.Time(), ActualEnd: r.ActualEndTime.Time(),
		StartAt: orZero(r.StartAt), EndAt: orZero(r.EndAt), StartingHub: orZero(r.StartingHubID), EndingHub: orZero(r.EndingHubID),
		PlannedDistance: lastmile.Meters(r.PlannedDistance), PlannedDuration: r.PlannedDuration.Duration(),
	}
}

// metres is a distance in whole metres.
func metres(d lastmile.Meters) int64 { return int64(math.Round(float64(d))) }

// RoutePlanPage is one page of a list of route plans.
type RoutePlanPage struct {
	// Oldest first.
	RoutePlans []RoutePlan `json:"routePlans"`
	// Ask for the next page with it. Absent on the last.
	LastID lastmile.RoutePlanID `json:"lastId,omitzero"`
}

// NewRoutePlanPage returns a page in the form that is sent.
func NewRoutePlanPage(plans []lastmile.RoutePlan, last lastmile.RoutePlanID) RoutePlanPage {
	return RoutePlanPage{RoutePlans: Each(plans, NewRoutePlan), LastID: last}
}

// NewRoutePlanBody is a route plan, as sent.
type NewRoutePlanBody struct {
	_ struct{} `required:"name,startTime"`
	RoutePlanBody
}

// RoutePlanBody is a route plan, as sent.
type RoutePlanBody struct {
	// Name.
	Name *string `json:"name"`
	// When the route is to start, in Unix milliseconds.
	StartTime *OptionalMillis `json:"startTime" example:"1894021200000"`
	// When the route is to end, in Unix milliseconds; after startTime.
	EndTime Optional[OptionalMillis] `json:"endTime" example:"1894035600000"`
	// Ids of tasks that are not started and in no other plan, in the order of the route; at most 500.
	Tasks *[]lastmile.TaskID `json:"tasks" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// Another name for tasks.
	TaskIDs *[]lastmile.TaskID `json:"taskIds"`
	// Color on the map, as #RRGGBB; null removes it.
	Color Optional[string] `json:"color" example:"white"`
	// Vehicle to plan for; null leaves it to the worker.
	VehicleType Optional[lastmile.VehicleType] `json:"vehicleType"`
	// Id of the worker who gets the tasks; null unassigns them.
	Worker Optional[lastmile.WorkerID] `json:"worker"`
	// Id of the team that gets the tasks when there is no worker; null unassigns them.
	Team Optional[lastmile.TeamID] `json:"team"`
	// Where the route starts; null means anywhere.
	StartAt Optional[lastmile.RoutePoint] `json:"startAt" example:"HUB"`
	// Where the route ends; null means anywhere.
	EndAt Optional[lastmile.RoutePoint] `json:"endAt" example:"null"`
	// Another name for startAt.
	Start Optional[lastmile.RoutePoint] `json:"start"`
	// Another name for endAt.
	End Optional[lastmile.RoutePoint] `json:"end"`
	// Id of the hub. Required when startAt is HUB.
	StartingHubID Optional[lastmile.HubID] `json:"startingHubId" example:"H7jK3lZx9CvB5nMq2WsD8fRt"`
	// Id of the hub. Required when endAt is HUB.
	EndingHubID Optional[lastmile.HubID] `json:"endingHubId"`
	// IANA time zone; null removes it.
	Timezone Optional[string] `json:"timezone" example:"America/New_York"`
}

// Change returns what the request asks for. A published client always sends a
// name and a start, empty when it means neither.
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

// Added returns the tasks of a request that holds nothing else, which is how a
// published client adds tasks to a plan.
func (b RoutePlanBody) Added() (tasks []lastmile.TaskID, only bool) {
	change := b.Change()
	if change.Tasks == nil {
		return nil, false
	}
	tasks, change.Tasks = *change.Tasks, nil
	return tasks, change == lastmile.RoutePlanChange{}
}

// RoutePlanTasksBody is tasks to add to a route plan.
type RoutePlanTasksBody struct {
	// Ids of tasks that are not started and in no other plan.
	Tasks *[]lastmile.TaskID `json:"tasks" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// Another name for tasks.
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
