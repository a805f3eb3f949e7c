package lastmile

import "time"

// DispatchStatus is the progress and outcome of a dispatch.
type DispatchStatus string

// The statuses of a dispatch.
const (
	DispatchPending   DispatchStatus = "pending"
	DispatchRunning   DispatchStatus = "running"  // routes are being planned
	DispatchPlanned   DispatchStatus = "planned"  // a dry run has ended; the plan can be applied
	DispatchApplying  DispatchStatus = "applying" // tasks are being assigned
	DispatchSucceeded DispatchStatus = "success"
	DispatchFailed    DispatchStatus = "failed"
	DispatchDiscarded DispatchStatus = "discarded" // the plan of a dry run, which cannot be applied any more
)

// Values lists every status.
func (DispatchStatus) Values() []DispatchStatus {
	return []DispatchStatus{DispatchPending, DispatchRunning, DispatchPlanned, DispatchApplying, DispatchSucceeded, DispatchFailed, DispatchDiscarded}
}

// Active reports whether the dispatch keeps others of the same team from starting.
func (s DispatchStatus) Active() bool {
	return s == DispatchPending || s == DispatchRunning || s == DispatchApplying
}

// Dispatch is the assignment of a team's tasks to its workers on duty, along
// optimized routes; or, if it has a worker, the optimization of one route.
type Dispatch struct {
	ID           DispatchID
	Organization OrganizationID
	Team         TeamID
	Worker       WorkerID
	Key          KeyID // Author that requested it, or has applied the plan of a dry run
	Requester    KeyID // Author that requested it
	Created      time.Time
	Started      time.Time // zero until the routes are being planned
	Ended        time.Time // zero until the outcome is known
	Undone       time.Time // zero unless the plan was applied and taken back
	Status       DispatchStatus
	Rounds       int  // how often the routes were planned
	DryRun       bool // plan without assigning
	Options      DispatchOptions
	Progress     DispatchProgress
	Plan         DispatchPlan
	Before       []DispatchRoute // as they were when a dry run was planned
	Tasks        []DispatchTask  // all that were considered
	Failure      string          // why it failed
	Replan       *Replan         // set if no caller has requested it
}

// Replan is the cause of a dispatch by continuous re-planning, and what came of it.
type Replan struct {
	Cause                    string
	Task                     TaskID        // that was added or changed
	Worker                   WorkerID      // who has fallen behind or gone on duty
	Lateness                 time.Duration // of the worker
	Between, Assign, Changed bool          // tasks may move between workers; others may be assigned; a better plan was found
	Before                   DispatchCost  // of the routes as they were
	Unassigned               int           // tasks that no worker had
}

// DispatchOptions are the rules of a dispatch.
type DispatchOptions struct {
	MaxTasksPerRoute int
	TaskWindow       Window
	ScheduleWindow   Window
	ServiceTime      time.Duration // of tasks without their own
	MaxAllowedDelay  time.Duration
	RouteEnd         string // empty for anywhere
	MaxContainerSize int
	VehicleType      VehicleType // empty for all
}

// DispatchProgress is how far a dispatch is.
type DispatchProgress struct {
	Phase   string    // what the optimizer is doing; empty before and after
	Until   time.Time // when it will end at the latest
	Planned int       // tasks in the best plan so far
	Cost    DispatchCost
}

// DispatchPlan is the result of a dispatch.
type DispatchPlan struct {
	Routes    []DispatchRoute
	Unplanned []UnplannedTask
	Cost      DispatchCost
}

// DispatchCost is what the routes of a plan cost together, or one of them.
type DispatchCost struct {
	Travel, Service, Waiting, Lateness time.Duration
	Distance                           Meters
	Workers                            int // with at least one task
}

// DispatchRoute is the plan for one worker.
type DispatchRoute struct {
	Worker    WorkerID
	Stops     []DispatchStop
	Cost      DispatchCost
	Before    []TaskID    // the worker's list when the plan was made
	Vehicle   VehicleType // as planned with
	Capacity  [4]float64  // likewise; the additional ones last
	Shifts    []Window    // likewise, within the window of the request
	ByFormula bool        // a travel time is not by a road network
}

// DispatchStop is a task of a route.
type DispatchStop struct {
	Task            TaskID
	Arrival, Depart time.Time     // Depart minus the service time is the start of service
	Late            time.Duration // start of service after completeBefore
	Active          bool          // the worker has started it
	Pin             Pin           // empty for none
}

// Pin keeps a task where it is when routes are planned.
type Pin string

// The pins. Both end when the task changes its worker.
const (
	PinWorker   Pin = "worker"   // it stays with its worker
	PinPosition Pin = "position" // it also keeps its position in the worker's list
)

// Values lists every pin.
func (Pin) Values() []Pin { return []Pin{PinWorker, PinPosition} }

// UnplannedTask is a task that no worker can do, with the reasons.
type UnplannedTask struct {
	Task    TaskID
	Reasons []DispatchReason
}

// DispatchRule is a rule of dispatch that a worker's route would break.
type DispatchRule string

// The rules of dispatch.
const (
	RuleWindow      DispatchRule = "window"
	RuleCapacity    DispatchRule = "capacity"
	RuleDistance    DispatchRule = "distance"
	RuleSchedule    DispatchRule = "schedule"
	RuleFilter      DispatchRule = "filter"
	RuleRouteLength DispatchRule = "routeLength"
	RuleDependency  DispatchRule = "dependency"
	RuleChanged     DispatchRule = "changed" // while the routes were planned
)

// Values lists every rule.
func (DispatchRule) Values() []DispatchRule {
	return []DispatchRule{RuleWindow, RuleCapacity, RuleDistance, RuleSchedule, RuleFilter, RuleRouteLength, RuleDependency, RuleChanged}
}

// DispatchReason is why a worker cannot do a task.
type DispatchReason struct {
	Worker WorkerID // empty for all workers
	Rule   DispatchRule
	Detail string
}

// DispatchTask is a task as a dispatch considered it.
type DispatchTask struct {
	ID                            TaskID
	ShortID, Address              string // the address in one line
	Pickup                        bool
	Quantity                      float64
	AdditionalQuantities          Capacities
	CompleteAfter, CompleteBefore time.Time
	Destination                   DestinationID
	Recipient                     RecipientID    // empty for none
	ServiceTime                   *time.Duration // nil if none was sent
	Dependencies                  []TaskID
}

// Complete ends a dispatch whose plan was applied.
func (d *Dispatch) Complete(now time.Time) Event {
	d.Status, d.Ended, d.Progress = DispatchSucceeded, now, DispatchProgress{}
	copied := *d
	by := AuthoredBy(d.Organization, d.Key).Actor()
	return Event{Organization: d.Organization, Trigger: TriggerAutoDispatchJobCompleted, Actor: by, At: now, Dispatch: &copied}
}

// Fail ends a dispatch that could not be carried out.
func (d *Dispatch) Fail(why string, now time.Time) Event {
	event := d.Complete(now)
	d.Status, d.Failure = DispatchFailed, why
	event.Dispatch.Status, event.Dispatch.Failure = d.Status, d.Failure
	return event
}
