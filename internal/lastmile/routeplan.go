package lastmile

import (
	"regexp"
	"slices"
	"time"
)

// RoutePlanID identifies a route plan.
type RoutePlanID string

// MaxRoutePlanTasks is the maximum number of tasks of a route plan.
const MaxRoutePlanTasks = 500

// RoutePlanState is the progress of a route plan, which follows its tasks.
type RoutePlanState string

// The states of a route plan.
const (
	RoutePlanPending   RoutePlanState = "PENDING"   // no task is started
	RoutePlanStarted   RoutePlanState = "STARTED"   // at least one task is started
	RoutePlanCompleted RoutePlanState = "COMPLETED" // all tasks are completed
)

// RoutePlanStatus says whether a route plan is on time.
type RoutePlanStatus string

// The statuses of a route plan.
const (
	RoutePlanOnTime RoutePlanStatus = "ON_TIME"
	RoutePlanLate   RoutePlanStatus = "LATE"
)

// RoutePoint is where a route starts or ends; empty for anywhere.
type RoutePoint string

// The points where a route can start and end.
const (
	AtHub            RoutePoint = "HUB"
	AtWorkerLocation RoutePoint = "WORKER_LOCATION"
	AtWorkerAddress  RoutePoint = "WORKER_ADDRESS"
)

// RoutePoints lists every point.
var RoutePoints = []RoutePoint{AtHub, AtWorkerLocation, AtWorkerAddress}

// RoutePlan is a sequence of tasks for one worker, who may be chosen later.
type RoutePlan struct {
	ID                     RoutePlanID
	ShortID                string
	Organization           OrganizationID
	Created, Modified      time.Time
	Name                   string
	State                  RoutePlanState
	Color                  string // #RRGGBB; may be empty
	VehicleType            VehicleType
	Timezone               string
	Start                  time.Time // as planned
	End                    time.Time // as planned; may be zero
	ActualStart, ActualEnd time.Time
	StartAt, EndAt         RoutePoint
	StartingHub, EndingHub HubID
	PlannedDistance        Meters
	PlannedDuration        time.Duration

	Worker     WorkerID // may be empty
	Team       TeamID   // may be empty
	Tasks      []TaskID
	TaskStates []TaskState // states of Tasks, in the same order

	Status           RoutePlanStatus // as of the last call of Assess
	Late             time.Duration   // zero if on time
	Overdue, OnRoads bool            // past the planned end; planned distance and duration are from a road network
}

// RoutePlanChange is an update of a route plan. Nil fields stay unchanged; pointers to zero
// values clear.
type RoutePlanChange struct {
	Name                   *string
	Start, End             *time.Time
	Color                  *string
	VehicleType            *VehicleType
	Timezone               *string
	StartAt, EndAt         *RoutePoint
	StartingHub, EndingHub *HubID
	Worker                 *WorkerID
	Team                   *TeamID
	Tasks                  *[]TaskID // replaces the whole list
}

// NewRoutePlan returns a new, pending route plan.
func NewRoutePlan(id RoutePlanID, shortID string, org OrganizationID, c RoutePlanChange, now time.Time) (RoutePlan, error) {
	switch {
	case c.Name == nil:
		return RoutePlan{}, Missing("name")
	case c.Start == nil || c.Start.IsZero():
		return RoutePlan{}, Missing("startTime")
	}
	p := RoutePlan{ID: id, ShortID: shortID, Organization: org, Created: now, State: RoutePlanPending}
	_, err := p.Update(c, now)
	return p, err
}

// Update applies a change and reports whether the plan is different now. It changes only the
// plan; moving its tasks is up to the caller.
func (p *RoutePlan) Update(c RoutePlanChange, now time.Time) (changed bool, err error) {
	before := *p
	if c.Worker != nil && *c.Worker != p.Worker && slices.Contains(p.TaskStates, TaskActive) {
		return false, Invalid("the worker of route plan %s cannot change while one of its tasks is active", p.ID)
	}
	if c.Tasks != nil {
		if err := p.setTasks(*c.Tasks); err != nil {
			return false, err
		}
	}
	Set(&p.Name, c.Name)
	Set(&p.Start, c.Start)
	Set(&p.End, c.End)
	Set(&p.Color, c.Color)
	Set(&p.VehicleType, c.VehicleType)
	Set(&p.Timezone, c.Timezone)
	Set(&p.StartAt, c.StartAt)
	Set(&p.EndAt, c.EndAt)
	Set(&p.StartingHub, c.StartingHub)
	Set(&p.EndingHub, c.EndingHub)
	Set(&p.Worker, c.Worker)
	Set(&p.Team, c.Team)
	return touch(&p.Modified, before, *p, now), p.check()
}

// setTasks replaces the tasks of the plan. Started and completed tasks cannot be removed, and
// a completed plan accepts no new tasks. If the list changes, TaskStates becomes nil.
func (p *RoutePlan) setTasks(tasks []TaskID) error {
	if len(tasks) > MaxRoutePlanTasks {
		return Invalid("tasks has %d entries; at most %d are allowed", len(tasks), MaxRoutePlanTasks)
	}
	if len(Unique(tasks)) != len(tasks) {
		return Invalid("tasks must not name a task twice")
	}
	for i, id := range p.Tasks {
		if p.TaskStates[i] >= TaskActive && !slices.Contains(tasks, id) {
			return Invalid("task %s is %v and cannot leave the route plan", id, p.TaskStates[i])
		}
	}
	joins := func(id TaskID) bool { return !slices.Contains(p.Tasks, id) }
	if p.State == RoutePlanCompleted && slices.ContainsFunc(tasks, joins) {
		return Invalid("route plan %s is completed and accepts no more tasks", p.ID)
	}
	if !slices.Equal(p.Tasks, tasks) {
		p.Tasks, p.TaskStates = slices.Clone(tasks), nil
	}
	return nil
}

var colorForm = regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`)

// check rejects an invalid route plan.
func (p *RoutePlan) check() error {
	err := FirstError(
		RequireText("name", p.Name),
		p.StartAt.check("startAt", "startingHubId", p.StartingHub),
		p.EndAt.check("endAt", "endingHubId", p.EndingHub),
	)
	if err == nil && p.Timezone != "" {
		err = checkTimezone("timezone", p.Timezone)
	}
	switch {
	case err != nil:
		return err
	case !p.End.IsZero() && !p.Start.Before(p.End):
		return Invalid("startTime must be before endTime")
	case p.Color != "" && !colorForm.MatchString(p.Color):
		return Invalid("color must be of the form #RRGGBB, not %q", Truncate(p.Color, MaxShown))
	case p.VehicleType != "" && !slices.Contains(VehicleTypes, p.VehicleType):
		return Invalid("vehicleType must be one of %s, not %q", VehicleTypeNames(), Truncate(string(p.VehicleType), MaxShown))
	}
	return nil
}

func (at RoutePoint) check(field, hubField string, hub HubID) error {
	switch {
	case at == "":
		return nil
	case !slices.Contains(RoutePoints, at):
		return Invalid("%s must be HUB, WORKER_LOCATION, WORKER_ADDRESS or null, not %q", field, Truncate(string(at), MaxShown))
	case at == AtHub && hub == "":
		return Missing(hubField).Because("%s is HUB", field)
	}
	return nil
}

// Container returns the container for the tasks of the plan: that of its worker, or else of
// its team. Without either, it returns false, and the tasks stay where they are.
func (p RoutePlan) Container() (ContainerRef, bool) {
	switch {
	case p.Worker != "":
		return WorkerContainer(p.Worker), true
	case p.Team != "":
		return TeamContainer(p.Team), true
	}
	return ContainerRef{}, false
}

// TravelsBy returns the type of vehicle for which the route is planned: that of the plan, or
// else of its worker, or else a car.
func (p RoutePlan) TravelsBy(worker *Worker) VehicleType {
	switch {
	case p.VehicleType != "":
		return p.VehicleType
	case worker != nil:
		return worker.TravelsBy()
	}
	return Car
}

// Progress updates the state of the plan from the states of its tasks, and returns the
// events. The first started task starts the plan, the last completed task completes it.
func (p *RoutePlan) Progress(now time.Time) []Event {
	started := func(s TaskState) bool { return s >= TaskActive }
	unfinished := func(s TaskState) bool { return s != TaskCompleted }
	var events []Event
	if p.State == RoutePlanPending && slices.ContainsFunc(p.TaskStates, started) {
		p.State, p.ActualStart, p.Modified = RoutePlanStarted, now, nextModified(p.Modified, now)
		events = append(events, p.event(TriggerRoutePlanStarted, Actor{}, now))
	}
	if p.State == RoutePlanStarted && !slices.ContainsFunc(p.TaskStates, unfinished) {
		p.State, p.ActualEnd, p.Modified = RoutePlanCompleted, now, nextModified(p.Modified, now)
		events = append(events, p.event(TriggerRoutePlanCompleted, Actor{}, now))
	}
	return events
}

// Assess updates Status, Late and Overdue. A pending plan is late after its planned start, a
// started one if it started late or is past its end, a completed one if it ended late.
func (p *RoutePlan) Assess(now time.Time) {
	due := p.End
	if due.IsZero() {
		due = p.Start.Add(p.PlannedDuration)
	}
	switch p.State {
	case RoutePlanPending:
		p.Late = now.Sub(p.Start)
	case RoutePlanStarted:
		p.Late = max(p.ActualStart.Sub(p.Start), now.Sub(due))
	case RoutePlanCompleted:
		p.Late = p.ActualEnd.Sub(due)
	}
	p.Late, p.Status = max(p.Late, 0), RoutePlanOnTime
	if p.Late > 0 {
		p.Status = RoutePlanLate
	}
	p.Overdue = p.State != RoutePlanCompleted && now.After(due)
}

// CreationEvents returns the events of a new plan.
func (p *RoutePlan) CreationEvents(by Actor) []Event {
	events := []Event{p.event(TriggerRoutePlanCreated, by, p.Created)}
	if p.Worker != "" {
		events = append(events, p.event(TriggerRoutePlanAssigned, by, p.Created))
	}
	return events
}

// ChangeEvents returns the events of an updated plan. before is the worker before the update;
// it may be empty.
func (p *RoutePlan) ChangeEvents(before WorkerID, by Actor, at time.Time) []Event {
	events := []Event{p.event(TriggerRoutePlanUpdated, by, at)}
	if before != "" && before != p.Worker {
		events = append(events, p.event(TriggerRoutePlanUnassigned, by, at))
	}
	if p.Worker != "" && before != p.Worker {
		events = append(events, p.event(TriggerRoutePlanAssigned, by, at))
	}
	return events
}

// event returns an event with a copy of the plan.
func (p *RoutePlan) event(trigger Trigger, by Actor, at time.Time) Event {
	p.Assess(at)
	copied := *p
	return Event{Organization: p.Organization, Trigger: trigger, Actor: by, At: at, RoutePlan: &copied}
}

// JoinRoutePlan adds the task to a route plan at a position, the first of which is 0. A task
// is in at most one plan.
func (t *Task) JoinRoutePlan(plan RoutePlanID, position int, at time.Time) error {
	switch {
	case t.RoutePlan == plan:
		return nil
	case t.State >= TaskActive:
		return Invalid("task %s is %v and cannot be added to a route plan", t.ID, t.State)
	case t.RoutePlan != "":
		return Invalid("task %s is in the route plan %s already", t.ID, t.RoutePlan)
	}
	t.RoutePlan, t.PlanPosition, t.Modified = plan, int64(position), nextModified(t.Modified, at)
	return nil
}

// LeaveRoutePlan removes the task from its route plan.
func (t *Task) LeaveRoutePlan(by Actor, at time.Time) Event {
	t.RoutePlan, t.Modified = "", nextModified(t.Modified, at)
	return t.event(TriggerTaskUpdated, by, at)
}

// JoinedEvent returns the event of a task that joined a route plan without moving to another
// container. If the task moves, the event of the move covers both.
func (t *Task) JoinedEvent(by Actor, at time.Time) Event {
	return t.event(TriggerTaskUpdated, by, at)
}
