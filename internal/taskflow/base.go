package taskflow

import (
	"cmp"
	"context"
	"slices"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
)

// Base has what the use cases of this package share: moving tasks between
// containers, and the progress of route plans.
type Base struct {
	Events *events.Log
	Now    func() time.Time
}

// transfer moves tasks into a container from the containers they are in. It locks
// the containers that it changes, and those in also. For a replacement, whose
// index is AtStart, the tasks come first and in order.
func (b *Base) transfer(ctx context.Context, w moveWriter, who lastmile.Principal, in lastmile.ContainerRef, index int, ids []lastmile.TaskID, also ...lastmile.ContainerRef) error {
	if len(ids) == 0 {
		return nil
	}
	now := b.Now()
	tasks, err := w.TasksOf(ctx, who.Organization, ids)
	if err != nil {
		return err
	}
	containers := append([]lastmile.ContainerRef{in}, also...)
	for _, task := range tasks {
		containers = append(containers, task.Container)
	}
	if err := b.lockAll(ctx, w, who.Organization, now, containers...); err != nil {
		return err
	}
	var events []lastmile.Event
	for _, task := range tasks {
		from := task.Container
		moved, err := task.Put(in, who.Actor(), now)
		if err != nil {
			return err
		}
		if from == in {
			continue
		}
		if err := w.SaveTask(ctx, task); err != nil {
			return err
		}
		events = append(events, moved...)
	}
	if err := w.Enqueue(ctx, who.Organization, in, index, ids, now); err != nil {
		return err
	}
	return b.Events.Append(ctx, w, events...)
}

// lockAll locks containers, before tasks in them are saved. It always locks in the
// same order, so that transactions do not deadlock.
func (b *Base) lockAll(ctx context.Context, w containerLocker, org lastmile.OrganizationID, now time.Time, containers ...lastmile.ContainerRef) error {
	slices.SortFunc(containers, func(a, b lastmile.ContainerRef) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Owner, b.Owner))
	})
	for _, c := range slices.Compact(containers) {
		if err := b.lock(ctx, w, org, c, now); err != nil {
			return err
		}
	}
	return nil
}

// lock locks one container. A worker's phone is notified after the commit.
func (b *Base) lock(ctx context.Context, w containerLocker, org lastmile.OrganizationID, in lastmile.ContainerRef, now time.Time) error {
	if in.Kind == lastmile.InWorker {
		b.Events.Publish(w, events.ListTopic(lastmile.WorkerID(in.Owner)))
	}
	return w.LockContainer(ctx, org, in, now)
}

// saveMoved saves a task that may have moved from another container, to the end of
// its new one.
func (b *Base) saveMoved(ctx context.Context, w listWriter, task lastmile.Task, before lastmile.ContainerRef, now time.Time) error {
	if task.Container == before {
		if before.Kind == lastmile.InWorker { // so that the worker's phone sees the change
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
	return w.Enqueue(ctx, task.Organization, task.Container, lastmile.AtEnd, []lastmile.TaskID{task.ID}, now)
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
	events := plan.Progress(now)
	if len(events) == 0 {
		return nil
	}
	if err := w.SaveRoutePlan(ctx, plan); err != nil {
		return err
	}
	return b.Events.Append(ctx, w, events...)
}
