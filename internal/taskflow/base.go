package taskflow

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"dray/internal/assignment"
	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/travel"
)

// Base is shared by the use cases of this package: it moves tasks between
// containers and updates the progress of route plans.
type Base struct {
	Events *events.Log
	Now    func() time.Time
	Ways   Ways

	pause time.Duration // delay before estimates are refreshed
}

// Ways returns the legs of a way, on imported roads or by formula. It calls no external
// service, so that it can be used in transactions.
type Ways interface {
	Legs(ctx context.Context, by lastmile.VehicleType, way []lastmile.Point) ([]travel.Leg, error)
}

// ruler returns a Ruler that measures on imported roads.
func (b *Base) ruler(ctx context.Context) assignment.Ruler {
	return func(by lastmile.VehicleType, way []lastmile.Point) (sum lastmile.Meters, known bool) {
		legs, err := b.Ways.Legs(ctx, by, way)
		for _, leg := range legs {
			if leg.Estimated || leg.Duration == travel.Unreachable {
				return 0, false
			}
			sum += leg.Distance
		}
		return sum, err == nil
	}
}

// transfer moves tasks into a container from the containers they are in. It locks
// the containers that it changes, and those in also.
func (b *Base) transfer(ctx context.Context, w moveWriter, who lastmile.Principal, in lastmile.ContainerRef, at store.Position, ids []lastmile.TaskID, also ...lastmile.ContainerRef) error {
	tasks, err := w.TasksOf(ctx, who.Organization, ids)
	if err != nil {
		return err
	}
	return b.transferTasks(ctx, w, who, in, at, tasks, also...)
}

// transferTasks is transfer for tasks that have been read.
func (b *Base) transferTasks(ctx context.Context, w moveWriter, who lastmile.Principal, in lastmile.ContainerRef, at store.Position, tasks []lastmile.Task, also ...lastmile.ContainerRef) error {
	if len(tasks) == 0 {
		return nil
	}
	now := b.Now()
	containers := append([]lastmile.ContainerRef{in}, also...)
	for _, task := range tasks {
		containers = append(containers, task.Container)
	}
	if err := b.lockAll(ctx, w, who.Organization, now, containers...); err != nil {
		return err
	}
	var (
		moved  []lastmile.Task
		events []lastmile.Event
	)
	for _, task := range tasks {
		from := task.Container
		caused, err := task.Put(in, who.Actor(), now)
		if err != nil {
			return err
		}
		if from != in {
			moved, events = append(moved, task), append(events, caused...)
		}
	}
	if err := w.MoveTasks(ctx, who.Organization, in, at, idsOf(tasks), moved, now); err != nil {
		return err
	}
	return b.Events.Append(ctx, w, events...)
}

// at returns a Base whose current time is now.
func (b *Base) at(now time.Time) *Base {
	fixed := *b
	fixed.Now = func() time.Time { return now }
	return &fixed
}

// lockAll locks containers before tasks in them are saved. It always locks in the same
// order, so that transactions do not deadlock. For the same reason, a transaction that
// locks several containers calls it once, before it saves tasks, workers or route plans.
func (b *Base) lockAll(ctx context.Context, w containerLocker, org lastmile.OrganizationID, now time.Time, containers ...lastmile.ContainerRef) error {
	return b.lockLists(ctx, w, org, now, containers, nil)
}

// lockLists is like lockAll, and also schedules the estimates of workers whose containers do
// not change. The schedule of a worker's estimates is locked after the worker's container.
func (b *Base) lockLists(ctx context.Context, w containerLocker, org lastmile.OrganizationID, now time.Time, changed []lastmile.ContainerRef, estimated []lastmile.WorkerID) error {
	all := map[lastmile.ContainerRef]bool{}
	for _, id := range estimated {
		all[lastmile.WorkerContainer(id)] = false
	}
	for _, in := range changed {
		all[in] = true
	}
	for _, in := range slices.SortedFunc(maps.Keys(all), lockOrder) {
		var err error
		if all[in] {
			err = b.lock(ctx, w, org, in, now)
		} else {
			err = w.ScheduleEstimate(ctx, org, lastmile.WorkerID(in.Owner), now)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lockOrder defines the order in which a transaction locks containers.
func lockOrder(a, b lastmile.ContainerRef) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Owner, b.Owner))
}

// lock locks one container, because it or a task in it is about to change. The
// phones that show it are notified after the commit. If it is a worker's, the
// estimates are refreshed. A completed task is in no container, so nothing is locked.
func (b *Base) lock(ctx context.Context, w containerLocker, org lastmile.OrganizationID, in lastmile.ContainerRef, now time.Time) error {
	if in == (lastmile.ContainerRef{}) {
		return nil
	}
	if err := w.LockContainer(ctx, org, in, now); err != nil {
		return err
	}
	switch in.Kind {
	case lastmile.InTeam:
		b.Events.Publish(w, events.TeamTopic(lastmile.TeamID(in.Owner)))
	case lastmile.InWorker:
		worker := lastmile.WorkerID(in.Owner)
		b.Events.Publish(w, events.ListTopic(worker))
		return w.ScheduleEstimate(ctx, org, worker, now.Add(b.pause))
	case lastmile.InOrganization:
	}
	return nil
}

// saveProgress saves a task that was started, visited or completed. before is the
// container that it was in.
func (b *Base) saveProgress(ctx context.Context, w progressWriter, task lastmile.Task, before lastmile.ContainerRef, now time.Time) error {
	if err := b.lock(ctx, w, task.Organization, before, now); err != nil {
		return err
	}
	if err := w.SaveTask(ctx, task); err != nil || task.State != lastmile.TaskCompleted {
		return err
	}
	return w.DeleteFired(ctx, task.Organization, string(task.ID)) // it reaches no more thresholds
}

// saveMoved saves a task. If its container differs from before, the task goes to the
// end of the new one.
func (b *Base) saveMoved(ctx context.Context, w moveWriter, task lastmile.Task, before lastmile.ContainerRef, now time.Time) error {
	if task.Container == before {
		if before.Kind != lastmile.InOrganization { // so that phones see the change
			if err := b.lock(ctx, w, task.Organization, before, now); err != nil {
				return err
			}
		}
		return w.SaveTask(ctx, task)
	}
	if err := b.lockAll(ctx, w, task.Organization, now, before, task.Container); err != nil {
		return err
	}
	if err := w.SaveTask(ctx, task); err != nil {
		return err
	}
	return w.MoveTasks(ctx, task.Organization, task.Container, store.Position{}, []lastmile.TaskID{task.ID}, nil, now)
}

// planProgress starts or completes the plan of a task that was started, completed
// or deleted. Callers save the task first.
func (b *Base) planProgress(ctx context.Context, w planWriter, task lastmile.Task, now time.Time) error {
	if task.RoutePlan == "" {
		return nil
	}
	plan, err := w.RoutePlan(ctx, task.Organization, task.RoutePlan)
	if err != nil {
		return err
	}
	events, err := savePlanProgress(ctx, w, &plan, now)
	if err != nil {
		return err
	}
	return b.Events.Append(ctx, w, events...)
}

// savePlanProgress starts or completes a plan whose tasks have been started or
// completed, and returns the events.
func savePlanProgress(ctx context.Context, w planWriter, plan *lastmile.RoutePlan, now time.Time) ([]lastmile.Event, error) {
	events := plan.Progress(now)
	if len(events) == 0 {
		return nil, nil
	}
	if err := w.SaveRoutePlan(ctx, *plan); err != nil || plan.State != lastmile.RoutePlanCompleted {
		return events, err
	}
	return events, w.DeleteFired(ctx, plan.Organization, string(plan.ID)) // it reaches no more thresholds
}
