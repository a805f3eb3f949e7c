package wire

import (
	"math"
	"time"

	"dray/internal/lastmile"
)

// RoutePlan is a route plan as the interface shows it.
type RoutePlan struct {
	RoutePlanRecord
	RoutePlanLive
}

// RoutePlanRecord is the part of a route plan that only changes with the plan
// itself.
type RoutePlanRecord struct {
	ID               lastmile.RoutePlanID    `json:"id"`
	ShortID          string                  `json:"shortId"`
	TimeCreated      Millis                  `json:"timeCreated"`
	TimeLastModified Millis                  `json:"timeLastModified"`
	Organization     lastmile.OrganizationID `json:"organization"`
	Name             string                  `json:"name"`
	State            lastmile.RoutePlanState `json:"state"`
	Color            *string                 `json:"color"`       // null when none
	VehicleType      *lastmile.VehicleType   `json:"vehicleType"` // null when any
	Timezone         *string                 `json:"timezone"`    // null when none
	StartTime        Millis                  `json:"startTime"`
	EndTime          Millis                  `json:"endTime"`         // null when none
	ActualStartTime  Millis                  `json:"actualStartTime"` // null until started
	ActualEndTime    Millis                  `json:"actualEndTime"`   // null until completed
	StartAt          *lastmile.RoutePoint    `json:"startAt"`         // null: anywhere
	EndAt            *lastmile.RoutePoint    `json:"endAt"`           // null: anywhere
	StartingHubID    *lastmile.HubID         `json:"startingHubId"`   // null when none
	EndingHubID      *lastmile.HubID         `json:"endingHubId"`     // null when none
	PlannedDistance  int64                   `json:"plannedDistance"` // metres
	PlannedDuration  Seconds                 `json:"plannedDuration"`
}

// RoutePlanLive is the part of a route plan that changes with other records or
// with time.
type RoutePlanLive struct {
	Team                 *lastmile.TeamID         `json:"team"`   // null when none
	Worker               *lastmile.WorkerID       `json:"worker"` // null when none
	Tasks                []lastmile.TaskID        `json:"tasks"`
	TaskStates           []lastmile.TaskState     `json:"taskStates"`
	IsOverdue            bool                     `json:"isOverdue"`
	Status               lastmile.RoutePlanStatus `json:"status"`
	StatusTimeDifference Seconds                  `json:"statusTimeDifference"`
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
	RoutePlans []RoutePlan          `json:"routePlans"`
	LastID     lastmile.RoutePlanID `json:"lastId,omitzero"` // absent on the last page
}

// NewRoutePlanPage returns a page in the form that is sent.
func NewRoutePlanPage(plans []lastmile.RoutePlan, last lastmile.RoutePlanID) RoutePlanPage {
	return RoutePlanPage{RoutePlans: each(plans, NewRoutePlan), LastID: last}
}

// RoutePlanBody is a route plan in a request, to create one or to change it.
type RoutePlanBody struct {
	Name          *string                        `json:"name"`
	StartTime     *OptionalMillis                `json:"startTime"`
	EndTime       Optional[OptionalMillis]       `json:"endTime"`
	Tasks         *[]lastmile.TaskID             `json:"tasks"`
	TaskIDs       *[]lastmile.TaskID             `json:"taskIds"` // another name of tasks
	Color         Optional[string]               `json:"color"`
	VehicleType   Optional[lastmile.VehicleType] `json:"vehicleType"`
	Worker        Optional[lastmile.WorkerID]    `json:"worker"`
	Team          Optional[lastmile.TeamID]      `json:"team"`
	StartAt       Optional[lastmile.RoutePoint]  `json:"startAt"`
	EndAt         Optional[lastmile.RoutePoint]  `json:"endAt"`
	Start         Optional[lastmile.RoutePoint]  `json:"start"` // a published client's name of startAt
	End           Optional[lastmile.RoutePoint]  `json:"end"`   // and of endAt
	StartingHubID Optional[lastmile.HubID]       `json:"startingHubId"`
	EndingHubID   Optional[lastmile.HubID]       `json:"endingHubId"`
	Timezone      Optional[string]               `json:"timezone"`
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

// RoutePlanTasksBody is a request to add tasks to a route plan.
type RoutePlanTasksBody struct {
	Tasks   *[]lastmile.TaskID `json:"tasks"`
	TaskIDs *[]lastmile.TaskID `json:"taskIds"` // another name of tasks
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

// OptionalMillis is a time in a request, in Unix milliseconds, of which zero
// means none.
type OptionalMillis time.Time

// UnmarshalJSON implements json.Unmarshaler.
func (m *OptionalMillis) UnmarshalJSON(data []byte) error {
	if string(data) == "0" {
		*m = OptionalMillis{}
		return nil
	}
	return (*Millis)(m).UnmarshalJSON(data)
}
