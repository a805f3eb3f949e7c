package planning

import (
	"slices"
	"strings"
	"time"

	"dray/internal/lastmile"
)

// Difference is a kind of change that makes a plan outdated.
type Difference string

// The differences. Those that begin with "worker" are about a worker.
const (
	WorkerGone       Difference = "workerGone"
	WorkerOffDuty    Difference = "workerOffDuty"
	WorkerTeam       Difference = "workerTeam"
	WorkerVehicle    Difference = "workerVehicle"
	WorkerCapacity   Difference = "workerCapacity"
	WorkerSchedule   Difference = "workerSchedule"
	WorkerOrder      Difference = "workerOrder"
	TaskRemoved      Difference = "taskRemoved"
	TaskAdded        Difference = "taskAdded"
	TaskPinned       Difference = "taskPinned"
	TaskNotActive    Difference = "taskNotActive"
	TaskTeam         Difference = "taskTeam"
	TaskLate         Difference = "taskLate"
	TaskEnded        Difference = "taskEnded"
	TaskWindow       Difference = "taskWindow"
	TaskDestination  Difference = "taskDestination"
	TaskRecipient    Difference = "taskRecipient"
	TaskServiceTime  Difference = "taskServiceTime"
	TaskQuantity     Difference = "taskQuantity"
	TaskKind         Difference = "taskKind"
	TaskDependencies Difference = "taskDependencies"
)

// Values lists every difference.
func (Difference) Values() []Difference {
	return []Difference{
		WorkerGone, WorkerOffDuty, WorkerTeam, WorkerVehicle, WorkerCapacity, WorkerSchedule, WorkerOrder, TaskRemoved, TaskAdded, TaskPinned,
		TaskNotActive, TaskTeam, TaskLate, TaskEnded, TaskWindow, TaskDestination, TaskRecipient, TaskServiceTime, TaskQuantity, TaskKind, TaskDependencies,
	}
}

// differences describes each difference in words.
var differences = map[Difference]string{
	WorkerGone:       "worker {worker} does not exist any more",
	WorkerOffDuty:    "worker {worker} is off duty",
	WorkerTeam:       "worker {worker} is no longer in the team",
	WorkerVehicle:    "worker {worker} has another vehicle",
	WorkerCapacity:   "worker {worker} has another capacity",
	WorkerSchedule:   "worker {worker} has another schedule",
	WorkerOrder:      "the list of worker {worker} has another order",
	TaskRemoved:      "task {task} is no longer on the list of worker {worker}",
	TaskAdded:        "task {task} is now on the list of worker {worker}",
	TaskPinned:       "task {task} is now pinned",
	TaskNotActive:    "task {task} is no longer the active task of worker {worker}",
	TaskTeam:         "task {task} is no longer in the team",
	TaskLate:         "task {task} would be later than allowed, because the plan is {age} old",
	TaskEnded:        "task {task} was completed or deleted",
	TaskWindow:       "task {task} has another time window",
	TaskDestination:  "task {task} has another destination",
	TaskRecipient:    "task {task} has another recipient",
	TaskServiceTime:  "task {task} has another service time",
	TaskQuantity:     "task {task} has another quantity",
	TaskKind:         "task {task} is no longer a pickup, or has become one",
	TaskDependencies: "task {task} has other dependencies",
}

// Change is something that has changed since a plan was made.
type Change struct {
	What   Difference
	Task   lastmile.TaskID   // empty if the change is about a worker only
	Worker lastmile.WorkerID // empty if the change is about a task only
	Age    time.Duration     // age of the plan
}

func (c Change) String() string {
	fill := strings.NewReplacer("{task}", string(c.Task), "{worker}", string(c.Worker), "{age}", c.Age.Round(time.Second).String())
	return fill.Replace(differences[c.What])
}

// WithoutImplied removes the changes that the completion or deletion of a task implies, such
// as that the task is no longer on a list.
func WithoutImplied(all []Change) []Change {
	ended := map[lastmile.TaskID]bool{}
	for _, c := range all {
		if c.What == TaskEnded {
			ended[c.Task] = true
		}
	}
	return slices.DeleteFunc(all, func(c Change) bool { return c.What != TaskEnded && ended[c.Task] })
}

// Shifts returns when a worker works within the window of a request.
func Shifts(s lastmile.Schedule, o lastmile.DispatchOptions) []lastmile.Window {
	return shifts(s, o.ScheduleWindow)
}

// SameShifts reports whether the shifts of a plan and other shifts are equal after a time.
// Past parts make no difference.
func SameShifts(planned, others []lastmile.Window, now time.Time) bool {
	left := func(all []lastmile.Window) (left []lastmile.Window) {
		for _, w := range all {
			if w.To.After(now) {
				left = append(left, lastmile.Window{From: later(w.From, now), To: w.To})
			}
		}
		return left
	}
	return slices.EqualFunc(left(planned), left(others), func(a, b lastmile.Window) bool { return a.From.Equal(b.From) && a.To.Equal(b.To) })
}
