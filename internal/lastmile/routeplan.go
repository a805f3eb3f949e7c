package lastmile

import (
	"regexp"
	"slices"
	"time"
)

// RoutePlanID names a route plan.
type RoutePlanID string

// MaxRoutePlanTasks is the most tasks a route plan may hold.
const MaxRoutePlanTasks = 500

// RoutePlanState is how far a route plan has come. Its tasks move it.
type RoutePlanState string

// The states of a route plan.
const (
	RoutePlanPending   RoutePlanState = "PENDING"   // none of its tasks is started
	RoutePlanStarted   RoutePlanState = "STARTED"   // at least one is
	RoutePlanCompleted RoutePlanState = "COMPLETED" // all are completed
)

// RoutePlanStatus tells whether a route plan keeps to its times.
type RoutePlanStatus string

// The statuses of a route plan.
const (
	RoutePlanOnTime RoutePlanStatus = "ON_TIME"
	RoutePlanLate   RoutePlanStatus = "LATE"
)

// RoutePoint is where a route starts or ends; empty is anywhere.
type RoutePoint string

// The points where a route can start and end.
const (
	AtHub            RoutePoint = "HUB"
	AtWorkerLocation RoutePoint = "WORKER_LOCATION"
	AtWorkerAddress  RoutePoint = "WORKER_ADDRESS"
)

// RoutePoints lists every point.
var RoutePoints = []RoutePoint{AtHub, AtWorkerLocation, AtWorkerAddress}

// RoutePlan is a list of tasks to be done one after the other, by a worker who
// may be chosen later.
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
	TaskStates []TaskState // of the tasks, in their order

	Status  RoutePlanStatus // as Assess found it
	Late    time.Duration   // zero when on time
	Overdue bool
}

// RoutePlanChange is a route plan as sent: nil leaves as it is, a zero value
// takes away.
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
	Tasks                  *[]TaskID // the whole list
}

// NewRoutePlan makes a route plan none of whose tasks is started.
func NewRoutePlan(id RoutePlanID, shortID string, org OrganizationID, c RoutePlanChange, now time.Time) (RoutePlan, error) {
	switch {
	case c.Name == nil:
		return RoutePlan{}, Missing("name")
	case c.Start == nil || c.Start.IsZero():
		return RoutePlan{}, Missing("startTime")
	}
	p := RoutePlan{ID: id, ShortID: shortID, Organization: org, Created: now, State: RoutePlanPending}
	err := p.Update(c, now)
	return p, err
}

// Update changes a route plan. Its tasks and its worker are changed in the
// record only: whoever calls it moves the tasks.
func (p *RoutePlan) Update(c RoutePlanChange, now time.Time) error {
	if c.Worker != nil && *c.Worker != p.Worker && slices.Contains(p.TaskStates, TaskActive) {
		return Invalid("the worker of route plan %s cannot change while one of its tasks is active", p.ID)
	}
	if c.Tasks != nil {
		if err := p.setTasks(*c.Tasks); err != nil {
			return err
		}
	}
	set(&p.Name, c.Name)
	set(&p.Start, c.Start)
	set(&p.End, c.End)
	set(&p.Color, c.Color)
	set(&p.VehicleType, c.VehicleType)
	set(&p.Timezone, c.Timezone)
	set(&p.StartAt, c.StartAt)
	set(&p.EndAt, c.EndAt)
	set(&p.StartingHub, c.StartingHub)
	set(&p.EndingHub, c.EndingHub)
	set(&p.Worker, c.Worker)
	set(&p.Team, c.Team)
	p.Modified = later(p.Modified, now)
	return p.check()
}

// setTasks makes a list the plan's. Tasks that are started or done stay in the
// plan, and none comes to a plan that is done.
func (p *RoutePlan) setTasks(tasks []TaskID) error {
	if len(tasks) > MaxRoutePlanTasks {
		return Invalid("tasks has %d entries; at most %d are allowed", len(tasks), MaxRoutePlanTasks)
	}
	if len(unique(tasks)) != len(tasks) {
		return Invalid("tasks must not name a task twice")
	}
	for i, id := range p.Tasks {
		if p.TaskStates[i] >= TaskActive && !slices.Contains(tasks, id) {
			return Invalid("task %s is %v and cannot leave the route plan", id, p.TaskStates[i])
		}
	}
	joins := func(id TaskID) bool { return !slices.Contains(p.Tasks, id) }
	if p.State == RoutePlanCompleted && slices.ContainsFunc(tasks, joins) {
		return Invalid("route plan %s is completed and takes no more tasks", p.ID)
	}
	p.Tasks, p.TaskStates = slices.Clone(tasks), nil
	return nil
}

var colorForm = regexp.MustCompile(`^#[0-9A-Fa-f]{6}$`)

// check refuses what no route plan can be.
func (p *RoutePlan) check() error {
	err := firstError(
		requireText("name", p.Name),
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
		return Invalid("color must be of the form #RRGGBB, not %q", p.Color)
	case p.VehicleType != "" && !slices.Contains(VehicleTypes, p.VehicleType):
		return Invalid("vehicleType must be one of %s, not %q", VehicleTypeNames(), p.VehicleType)
	}
	return nil
}

func (at RoutePoint) check(field, hubField string, hub HubID) error {
	switch {
	case at == "":
		return nil
	case !slices.Contains(RoutePoints, at):
		return Invalid("%s must be HUB, WORKER_LOCATION, WORKER_ADDRESS or null, not %q", field, at)
	case at == AtHub && hub == "":
		return Missing(hubField).Because("%s is HUB", field)
	}
	return nil
}

// Container is where the tasks of the plan belong: with its worker, else with
// its team. Without either, tasks stay where they are.
func (p RoutePlan) Container() (ContainerRef, bool) {
	switch {
	case p.Worker != "":
		return WorkerContainer(p.Worker), true
	case p.Team != "":
		return TeamContainer(p.Team), true
	}
	return ContainerRef{}, false
}

// TravelsBy is what the route is planned for: the plan's type of vehicle, else
// its worker's, else a car.
func (p RoutePlan) TravelsBy(worker *Worker) VehicleType {
	switch {
	case p.VehicleType != "":
		return p.VehicleType
	case worker != nil:
		return worker.TravelsBy()
	}
	return Car
}

// Progress follows what became of the tasks: the first that is started starts
// the plan, the last that is completed completes it.
func (p *RoutePlan) Progress(now time.Time) []Event {
	started := func(s TaskState) bool { return s >= TaskActive }
	unfinished := func(s TaskState) bool { return s != TaskCompleted }
	var events []Event
	if p.State == RoutePlanPending && slices.ContainsFunc(p.TaskStates, started) {
		p.State, p.ActualStart, p.Modified = RoutePlanStarted, now, later(p.Modified, now)
		events = append(events, p.event(TriggerRoutePlanStarted, Actor{}, now))
	}
	if p.State == RoutePlanStarted && !slices.ContainsFunc(p.TaskStates, unfinished) {
		p.State, p.ActualEnd, p.Modified = RoutePlanCompleted, now, later(p.Modified, now)
		events = append(events, p.event(TriggerRoutePlanCompleted, Actor{}, now))
	}
	return events
}

// Assess tells how the plan keeps to its times. A plan is late when it has not
// started in time, was started late, or did not end in time.
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

// Create tells of a plan just made.
func (p *RoutePlan) Create(by Actor) []Event {
	events := []Event{p.event(TriggerRoutePlanCreated, by, p.Created)}
	if p.Worker != "" {
		events = append(events, p.event(TriggerRoutePlanAssigned, by, p.Created))
	}
	return events
}

// Change tells of a plan just changed, which was the plan of another worker
// before, or of none.
func (p *RoutePlan) Change(before WorkerID, by Actor, at time.Time) []Event {
	events := []Event{p.event(TriggerRoutePlanUpdated, by, at)}
	if before != "" && before != p.Worker {
		events = append(events, p.event(TriggerRoutePlanUnassigned, by, at))
	}
	if p.Worker != "" && before != p.Worker {
		events = append(events, p.event(TriggerRoutePlanAssigned, by, at))
	}
	return events
}

// event makes an event of the plan as it is now.
func (p *RoutePlan) event(trigger Trigger, by Actor, at time.Time) Event {
	p.Assess(at)
	as := *p
	return Event{Organization: p.Organization, Trigger: trigger, Actor: by, At: at, RoutePlan: &as}
}

// Join makes a task one of a route plan. A task is in one plan at most.
func (t *Task) Join(plan RoutePlanID, at time.Time) error {
	switch {
	case t.RoutePlan == plan:
		return nil
	case t.State >= TaskActive:
		return Invalid("task %s is %v and cannot be added to a route plan", t.ID, t.State)
	case t.RoutePlan != "":
		return Invalid("task %s is in the route plan %s already", t.ID, t.RoutePlan)
	}
	t.RoutePlan, t.Modified = plan, later(t.Modified, at)
	return nil
}

// Leave takes a task out of its route plan.
func (t *Task) Leave(by Actor, at time.Time) Event {
	t.RoutePlan, t.Modified = "", later(t.Modified, at)
	return t.event(TriggerTaskUpdated, by, at)
}

// Joined tells of a task that joined a route plan and did not move for it: one
// that moved tells of both in one.
func (t *Task) Joined(by Actor, at time.Time) Event {
	return t.event(TriggerTaskUpdated, by, at)
}
