package wire

import (
	"time"

	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/planning"
)

// PinBody is the body of a request to pin a task.
type PinBody struct {
	// Whether the task also keeps its position in the list of its worker. Defaults to false.
	Position *Flag `json:"position"`
}

// Domain returns the pin.
func (b PinBody) Domain() lastmile.Pin {
	if b.Position != nil && bool(*b.Position) {
		return lastmile.PinPosition
	}
	return lastmile.PinWorker
}

// TaskPin is the pin of a task.
type TaskPin struct {
	// ID of the task.
	Task lastmile.TaskID `json:"task" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// ID of the task's worker; null if it has none.
	Worker *lastmile.WorkerID `json:"worker" example:"h3KzQ8mWv5RtB2nXd7LcF9pJ"`
	// Whether the task stays with its worker, or also keeps its position in the list; null if it is
	// not pinned.
	Pinned *lastmile.Pin `json:"pinned" example:"worker"`
}

// NewTaskPin returns the pin of a task in its wire form.
func NewTaskPin(p planning.PinnedTask) TaskPin {
	return TaskPin{Task: p.Task.ID, Worker: OrNull(p.Task.Worker), Pinned: OrNull(p.Pin)}
}

// Replan is the cause and the result of a dispatch by continuous re-planning.
type Replan struct {
	// Why the routes were planned again: the first cause since the previous run.
	Cause assignment.Cause `json:"cause" example:"workerLate"`
	// ID of the task that was added, changed or unassigned; null for other causes.
	Task *lastmile.TaskID `json:"task" example:"null"`
	// ID of the worker who has fallen behind or gone on duty; null for other causes.
	Worker *lastmile.WorkerID `json:"worker" example:"W4nB7xKq9LsT2vDz6MfR3hYc"`
	// How late the worker was expected to be, in seconds; 0 for other causes.
	Lateness Seconds `json:"lateness" example:"900"`
	// What could change: order for only the order of each worker's tasks, workers if tasks could also
	// move between workers.
	Move assignment.Movement `json:"move" example:"order"`
	// Whether unassigned tasks could be assigned.
	Assign bool `json:"assign"`
	// Whether a better plan was found. If not, the plan of the dispatch has the unchanged routes.
	Changed bool `json:"changed" example:"true"`
	// Cost of the routes before the dispatch.
	CostBefore DispatchCost `json:"costBefore"`
	// Number of tasks that were unassigned before the dispatch.
	UnassignedBefore int `json:"unassignedBefore"`
}

func newReplan(r *lastmile.Replan) *Replan {
	if r == nil {
		return nil
	}
	move := assignment.MoveOrder
	if r.Between {
		move = assignment.MoveWorkers
	}
	return &Replan{
		Cause: assignment.Cause(r.Cause), Task: OrNull(r.Task), Worker: OrNull(r.Worker), Lateness: Seconds(r.Lateness), Move: move, Assign: r.Assign,
		Changed: r.Changed, CostBefore: newDispatchCost(r.Before), UnassignedBefore: r.Unassigned,
	}
}

func (r *Replan) domain() *lastmile.Replan {
	if r == nil {
		return nil
	}
	return &lastmile.Replan{
		Cause: string(r.Cause), Task: orZero(r.Task), Worker: orZero(r.Worker), Lateness: r.Lateness.Duration(), Between: r.Move == assignment.MoveWorkers, Assign: r.Assign,
		Changed: r.Changed, Before: r.CostBefore.domain(), Unassigned: r.UnassignedBefore,
	}
}

// DispatchSummary is a dispatch without its plan.
type DispatchSummary struct {
	// ID of the dispatch.
	ID lastmile.DispatchID `json:"id" example:"R7vK2nXw5LdB9qTz3HcF8mJs"`
	// Unix time in milliseconds at which the dispatch was requested.
	TimeCreated Millis `json:"timeCreated" example:"1767225600000"`
	DispatchActors
	// Whether the plan is only applied on request.
	DryRun bool `json:"dryRun"`
	// Cause and result of continuous re-planning; null if the dispatch was requested.
	Replanning *Replan `json:"replanning" example:"null"`
	// Times and outcome of the dispatch.
	ProcessingDetails ProcessingDetails `json:"processingDetails"`
	// Cost of the routes; all zero until they are planned.
	Cost DispatchCost `json:"cost"`
	// Number of tasks on the routes.
	TasksPlanned int `json:"tasksPlanned" example:"120"`
	// Number of tasks that were left out.
	TasksUnplanned int `json:"tasksUnplanned" example:"2"`
}

// NewDispatchSummary returns a dispatch without its plan.
func NewDispatchSummary(d lastmile.Dispatch) DispatchSummary {
	s := DispatchSummary{
		ID: d.ID, TimeCreated: Millis(d.Created), DispatchActors: newDispatchActors(d), DryRun: d.DryRun, Replanning: newReplan(d.Replan), ProcessingDetails: newProcessingDetails(d),
		Cost: newDispatchCost(d.Plan.Cost), TasksUnplanned: len(d.Plan.Unplanned),
	}
	for _, route := range d.Plan.Routes {
		s.TasksPlanned += len(route.Stops)
	}
	return s
}

// Replanning are the settings of continuous re-planning.
type Replanning struct {
	// Whether routes are planned again during the day.
	Enabled bool `json:"enabled"`
	// What may change: order for only the order of each worker's tasks, workers if tasks may also move
	// between workers.
	Move assignment.Movement `json:"move" example:"order"`
	// Whether unassigned tasks of a team may be assigned.
	Assign bool `json:"assign"`
	// Minimum time between two runs for a team, in minutes.
	Interval Minutes `json:"interval" example:"10"`
	// Expected lateness of a worker that causes a run, in minutes.
	Lateness Minutes `json:"lateness" example:"10"`
	// How far ahead routes are planned, in minutes. Tasks with a later completeAfter are neither
	// assigned nor moved to other workers.
	Ahead Minutes `json:"ahead" example:"240"`
}

// NewReplanning returns the settings of continuous re-planning in their wire form.
func NewReplanning(r assignment.Replanning) Replanning {
	return Replanning{
		Enabled: r.Enabled, Move: r.Move, Assign: r.Assign, Interval: Minutes(r.Interval), Lateness: Minutes(r.Lateness), Ahead: Minutes(r.Ahead),
	}
}

// ReplanningBody is the body of a request to change the settings of continuous re-planning. Absent
// fields stay unchanged.
type ReplanningBody struct {
	// Whether routes are planned again during the day.
	Enabled *bool `json:"enabled"`
	// What may change: order for only the order of each worker's tasks, workers if tasks may also move
	// between workers.
	Move *assignment.Movement `json:"move" example:"order"`
	// Whether unassigned tasks of a team may be assigned.
	Assign *bool `json:"assign"`
	// Minimum time between two runs for a team, in minutes; from 1 to 1440.
	Interval *Minutes `json:"interval" example:"10"`
	// Expected lateness of a worker that causes a run, in minutes; from 1 to 1440. Another run follows
	// each time the lateness has doubled.
	Lateness *Minutes `json:"lateness" example:"10"`
	// How far ahead routes are planned, in minutes; from 15 to 720.
	Ahead *Minutes `json:"ahead" example:"240"`
}

// Change returns the change of the settings.
func (b ReplanningBody) Change() assignment.ReplanningChange {
	return assignment.ReplanningChange{
		Enabled: b.Enabled, Move: b.Move, Assign: b.Assign,
		Interval: (*time.Duration)(b.Interval), Lateness: (*time.Duration)(b.Lateness), Ahead: (*time.Duration)(b.Ahead),
	}
}

// AutoAssignBody is a set of criteria for choosing a worker automatically. A worker must be on duty,
// at a known location and have capacity for the task.
type AutoAssignBody struct {
	// How workers are compared: distance chooses the worker whose last location is nearest; load
	// chooses the worker with the shortest route through all their tasks to this one.
	Mode assignment.Mode `json:"mode" required:"true"`
	// ID of the team that the worker must belong to.
	Team lastmile.TeamID `json:"team"`
	// IDs of the teams whose workers are preferred.
	Teams []lastmile.TeamID `json:"teams" example:"T5mQ8rVx2LkD7wNz4HbC9pJs"`
	// Maximum number of tasks that the worker may have after the assignment; 0 for no limit.
	MaxAssignedTaskCount int `json:"maxAssignedTaskCount"`
	// Whether tasks connected to this one by dependencies are assigned to the same worker.
	ConsiderDependencies Flag `json:"considerDependencies"`
	// IDs of the workers to exclude.
	ExcludedWorkerIDs []lastmile.WorkerID `json:"excludedWorkerIds"`
	// Whether only workers of the given teams are considered.
	RestrictAutoAssignmentToTeam Flag `json:"restrictAutoAssignmentToTeam"`
}

// Domain returns the criteria. If Team is set, workers of other teams are never considered.
func (b AutoAssignBody) Domain() assignment.Options {
	o := assignment.Options{
		Mode: b.Mode, Teams: b.Teams, RestrictToTeams: bool(b.RestrictAutoAssignmentToTeam),
		MaxAssignedTaskCount: b.MaxAssignedTaskCount, ExcludedWorkers: b.ExcludedWorkerIDs,
		ConsiderDependencies: bool(b.ConsiderDependencies),
	}
	if b.Team != "" {
		o.Teams, o.RestrictToTeams = append(o.Teams, b.Team), true
	}
	return o
}

// AutoAssignTasksBody is the body of a request to assign tasks automatically.
type AutoAssignTasksBody struct {
	// IDs of the tasks, at most 1,000.
	Tasks *[]lastmile.TaskID `json:"tasks" required:"true" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// Criteria for choosing workers. Defaults to mode distance.
	Options *AutoAssignBody `json:"options"`
}

// AutoAssigned is the result of assigning tasks automatically.
type AutoAssigned struct {
	// Number of tasks that were assigned.
	AssignedTasksCount int `json:"assignedTasksCount" example:"1"`
	// IDs of the chosen workers, keyed by the ID of the task.
	AssignedTasks map[lastmile.TaskID]lastmile.WorkerID `json:"assignedTasks" example:"{\"K2dF8gHj5LzX9cVb7NmQ4wRt\": \"W4nB7xKq9LsT2vDz6MfR3hYc\"}"`
}

// Assigned is the result of an automatic assignment.
type Assigned = assignment.Assigned

// Terms returns the criteria of the assignment. By default, the nearest worker gets a task.
func (b AutoAssignTasksBody) Terms() assignment.Options {
	if b.Options == nil {
		return assignment.Options{Mode: assignment.ByDistance}
	}
	return b.Options.Domain()
}
