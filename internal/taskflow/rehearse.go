package taskflow

import (
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// maxRehearsed is the maximum size of the tasks and events that a rehearsal encodes, because
// wire.EncodeTask remembers no more.
const maxRehearsed = 8 << 20

// rehearse encodes the tasks of a plan and their events as the transaction of a change is
// expected to save them, so that other writers do not wait for that. turn has returned ctx.
func (rs *RoutePlans) rehearse(ctx context.Context, who lastmile.Principal, plan lastmile.RoutePlan, now time.Time) {
	in, belongs := plan.Container()
	rs.rehearseEach(ctx, who, plan.Tasks, func(i int, task *lastmile.Task) (events []lastmile.Event, err error) {
		joins := task.RoutePlan != plan.ID
		if err := task.JoinRoutePlan(plan.ID, i, now); err != nil {
			return nil, err
		}
		task.PlanPosition = int64(i)
		if belongs && task.State < lastmile.TaskActive {
			events, err = task.Put(in, who.Actor(), now)
		}
		if joins && len(events) == 0 && err == nil {
			events = append(events, task.JoinedEvent(who.Actor(), now))
		}
		return events, err
	})
}

// rehearseEach is rehearse for any change of tasks, which returns the events of one of them. It
// ends at a task that the transaction will reject.
func (rs *RoutePlans) rehearseEach(ctx context.Context, who lastmile.Principal, ids []lastmile.TaskID, change func(int, *lastmile.Task) ([]lastmile.Event, error)) {
	if store.Remembered(ctx) == nil {
		return
	}
	//nolint:errcheck // the transaction returns the error
	rs.Store.Read(ctx, func(r PlanReader) error {
		tasks, err := r.TasksOf(ctx, who.Organization, ids)
		if err != nil {
			return err
		}
		bytes := 0
		for i, task := range tasks {
			events, err := change(i, &task)
			if err != nil || bytes > maxRehearsed {
				return err
			}
			if len(events) > 0 {
				bytes += rs.Events.Rehearse(ctx, events...) + r.RehearseMove(ctx, task)
			}
		}
		return nil
	})
}
