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
	DispatchDiscarded DispatchStatus = "discarded" // the plan of a dry run can no longer be applied
)

// Values lists every status.
func (DispatchStatus) Values() []DispatchStatus {
	return []DispatchStatus{DispatchPending, DispatchRunning, DispatchPlanned, DispatchApplying, DispatchSucceeded, DispatchFailed, DispatchDiscarded}
}

// Active reports whether the dispatch prevents others of the same team from starting.
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
	Key          KeyID // the Author of the principal that applied the plan, or else requested it
	Requester    KeyID // the Author of the principal that requested it
	Created      time.Time
	Started      time.Time // zero until the routes are being planned
	Ended        time.Time // zero until the outcome is known
	Undone       time.Time // zero unless the plan was applied and then undone
	Status       DispatchStatus
	Rounds       int  // number of times the routes were planned
	DryRun       bool // plan without assigning
	Options      DispatchOptions
	Progress     DispatchProgress
	Plan         DispatchPlan
	Before       []DispatchRoute // the routes before a dry run
	Tasks        []DispatchTask  // all tasks that were considered
	Failure      string          // why the dispatch failed
	Replan       *Replan         // set for continuous re-planning; nil if a caller requested it
}

// Replan is the cause and the result of a dispatch by continuous re-planning.
type Replan struct {
	Cause      string
	Task       TaskID        // the task that was added or changed
	Worker     WorkerID      // the worker who has fallen behind or gone on duty
	Lateness   time.Duration // lateness of the worker
	Between    bool          // tasks may move between workers
	Assign     bool          // unassigned tasks may be assigned
	Changed    bool          // a better plan was found
	Before     DispatchCost  // cost of the routes before the dispatch
	Unassigned int           // number of unassigned tasks before the dispatch
}

// DispatchOptions are the rules of a dispatch.
type DispatchOptions struct {
	MaxTasksPerRoute int
	TaskWindow       Window
	ScheduleWindow   Window
	ServiceTime      time.Duration // default for tasks without a service time
	MaxAllowedDelay  time.Duration
	RouteEnd         string // empty for anywhere
	MaxContainerSize int
	VehicleType      VehicleType // empty for all
}

// DispatchProgress is the progress of a dispatch.
type DispatchProgress struct {
	Phase   string    // what the optimizer is doing; empty if it is not running
	Until   time.Time // latest time at which the optimizer ends
	Planned int       // tasks in the best plan so far
	Cost    DispatchCost
}

// DispatchPlan is the result of a dispatch.
type DispatchPlan struct {
	Routes    []DispatchRoute
	Unplanned []UnplannedTask
	Cost      DispatchCost
}

// DispatchCost is the cost of a route, or the total cost of all routes of a plan.
type DispatchCost struct {
	Travel, Service, Waiting, Lateness time.Duration
	Distance                           Meters
	Workers                            int // number of workers with at least one task
}

// DispatchRoute is the plan for one worker.
type DispatchRoute struct {
	Worker    WorkerID
	Stops     []DispatchStop
	Cost      DispatchCost
	Before    []TaskID    // the worker's list when the plan was made
	Vehicle   VehicleType // vehicle type used for planning
	Capacity  [4]float64  // capacities used for planning: capacity, then A, B and C
	Shifts    []Window    // shifts used for planning, cut to the window of the request
	ByFormula bool        // at least one travel time is estimated, not from a road network
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
	PinWorker   Pin = "worker"   // the task stays with its worker
	PinPosition Pin = "position" // the task also keeps its position in the worker's list
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
	RuleChanged     DispatchRule = "changed" // the task changed while the routes were planned
)

// Values lists every rule.
func (DispatchRule) Values() []DispatchRule {
	return []DispatchRule{RuleWindow, RuleCapacity, RuleDistance, RuleSchedule, RuleFilter, RuleRouteLength, RuleDependency, RuleChanged}
}

// DispatchReason is a reason why a worker cannot do a task.
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
