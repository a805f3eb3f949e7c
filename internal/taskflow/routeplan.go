package taskflow

import (
	"context"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/rate"
	"dray/internal/store"
)

// MaxRoutePlans is the maximum number of route plans that one response lists.
const MaxRoutePlans = 500

// RoutePlans manages route plans and their tasks.
type RoutePlans struct {
	Base
	Store      PlanStore
	NewID      func() string
	NewShortID func() string // eight hexadecimal digits

	large rate.Shares // one change of a plan with many tasks at a time, because each keeps the writer busy
}

// turn waits for the organization's turn to change a plan, if many tasks are involved. It
// returns a context for the change in which these tasks have been decoded already; see
// store.Remember.
func (rs *RoutePlans) turn(ctx context.Context, who lastmile.Principal, tasks []lastmile.TaskID) (known context.Context, end func(), err error) {
	if len(tasks) <= maxAtOnce {
		return ctx, func() {}, nil
	}
	if end, err = rs.large.Take(ctx, string(who.Organization)); err != nil {
		return ctx, nil, err
	}
	known = store.Remember(ctx)
	//nolint:errcheck // the transaction returns the error, unless it finds that the change was made before
	rs.Store.Read(known, func(r PlanReader) error {
		_, err := r.TasksOf(known, who.Organization, tasks)
		return err
	})
	return known, end, nil
}

// RoutePlanQuery selects route plans; zero fields select all.
type RoutePlanQuery = store.RoutePlanFilter

// Read reads a route plan.
func (rs *RoutePlans) Read(ctx context.Context, who lastmile.Principal, id lastmile.RoutePlanID) (plan lastmile.RoutePlan, err error) {
	err = rs.Store.Read(ctx, func(r PlanReader) (err error) {
		plan, err = r.RoutePlan(ctx, who.Organization, id)
		return err
	})
	plan.Assess(rs.Now())
	return plan, err
}

// List returns route plans, oldest first, and the id that the next page
// starts after; empty for the last page.
func (rs *RoutePlans) List(ctx context.Context, who lastmile.Principal, q RoutePlanQuery) (plans []lastmile.RoutePlan, last lastmile.RoutePlanID, err error) {
	if q.Limit < 1 || q.Limit > MaxRoutePlans {
		return nil, "", lastmile.Invalid("limit must be between 1 and %d", MaxRoutePlans)
	}
	most := q.Limit
	q.Limit++
	q.Manager = who.Manager()
	err = rs.Store.Read(ctx, func(r PlanReader) (err error) {
		plans, err = r.RoutePlans(ctx, who.Organization, q)
		return err
	})
	if len(plans) > most {
		plans, last = plans[:most], plans[most-1].ID
	}
	for i := range plans {
		plans[i].Assess(rs.Now())
	}
	return plans, last, err
}

// Create creates a route plan and moves its tasks to its worker or team.
func (rs *RoutePlans) Create(ctx context.Context, who lastmile.Principal, change lastmile.RoutePlanChange) (lastmile.RoutePlan, error) {
	now := rs.Now()
	made, err := lastmile.NewRoutePlan(lastmile.RoutePlanID(rs.NewID()), rs.NewShortID(), who.Organization, change, now)
	if err != nil {
		return made, err
	}
	ctx, end, err := rs.turn(ctx, who, made.Tasks)
	if err != nil {
		return made, err
	}
	defer end()
	known := rs.findLegs(ctx, who, made)
	now = rs.Now()
	rs.rehearse(ctx, who, made, now)
	return store.Idempotent(ctx, rs.Store, who, func(w PlanWriter) (lastmile.RoutePlan, error) {
		plan := made
		if err := rs.savePlan(ctx, w, who, lastmile.RoutePlan{}, &plan, plan.Tasks, known, now); err != nil {
			return plan, err
		}
		return plan, rs.Events.Append(ctx, w, plan.CreationEvents(who.Actor())...)
	})
}

// Update changes a route plan. If its worker, team or tasks change, the
// tasks that are not started move to the worker or team, in the plan's order.
func (rs *RoutePlans) Update(ctx context.Context, who lastmile.Principal, id lastmile.RoutePlanID, change lastmile.RoutePlanChange) (lastmile.RoutePlan, error) {
	return rs.changePlan(ctx, who, id, func(plan *lastmile.RoutePlan, now time.Time) (bool, []lastmile.TaskID, error) {
		before, _ := plan.Container()
		changed, err := plan.Update(change, now)
		if after, _ := plan.Container(); after == before && change.Tasks == nil {
			return changed, nil, err
		}
		return changed, plan.Tasks, err
	})
}

// AddTasks appends tasks to a route plan. Tasks that are in it already keep
// their positions.
func (rs *RoutePlans) AddTasks(ctx context.Context, who lastmile.Principal, id lastmile.RoutePlanID, tasks []lastmile.TaskID) (lastmile.RoutePlan, error) {
	return rs.changePlan(ctx, who, id, func(plan *lastmile.RoutePlan, now time.Time) (bool, []lastmile.TaskID, error) {
		added := slices.DeleteFunc(slices.Clone(tasks), func(id lastmile.TaskID) bool { return slices.Contains(plan.Tasks, id) })
		all := slices.Concat(plan.Tasks, added)
		changed, err := plan.Update(lastmile.RoutePlanChange{Tasks: &all}, now)
		return changed, added, err
	})
}

// changePlan applies change to a plan. change reports whether the plan is different, and
// returns the tasks that must move to the plan's container. It is called before the turn as
// well, so that a change that is rejected makes others wait for nothing.
func (rs *RoutePlans) changePlan(ctx context.Context, who lastmile.Principal, id lastmile.RoutePlanID, change func(*lastmile.RoutePlan, time.Time) (bool, []lastmile.TaskID, error)) (plan lastmile.RoutePlan, err error) {
	plan, err = rs.Read(ctx, who, id)
	if err != nil {
		return plan, err
	}
	tasks := plan.Tasks
	if _, _, err := change(&plan, rs.Now()); err != nil {
		return plan, err
	}
	ctx, end, err := rs.turn(ctx, who, lastmile.Unique(slices.Concat(tasks, plan.Tasks)))
	if err != nil {
		return plan, err
	}
	defer end()
	known := rs.findLegs(ctx, who, plan)
	now := rs.Now()
	rs.rehearse(ctx, who, plan, now)
	err = rs.Store.Write(ctx, func(w PlanWriter) error {
		before, err := w.RoutePlan(ctx, who.Organization, id)
		if err != nil {
			return err
		}
		plan = before
		changed, moved, err := change(&plan, now)
		if err != nil || !changed {
			plan.Assess(now)
			return err
		}
		if err := rs.savePlan(ctx, w, who, before, &plan, moved, known, now); err != nil {
			return err
		}
		events := plan.ChangeEvents(before.Worker, who.Actor(), now)
		ended, err := savePlanProgress(ctx, w, &plan, now)
		if err != nil {
			return err
		}
		return rs.Events.Append(ctx, w, append(events, ended...)...)
	})
	return plan, err
}

// Delete deletes a route plan. Its tasks stay where they are.
func (rs *RoutePlans) Delete(ctx context.Context, who lastmile.Principal, id lastmile.RoutePlanID) error {
	plan, err := rs.Read(ctx, who, id)
	if err != nil {
		return err
	}
	ctx, end, err := rs.turn(ctx, who, plan.Tasks)
	if err != nil {
		return err
	}
	defer end()
	now := rs.Now()
	rs.rehearseEach(ctx, who, plan.Tasks, func(_ int, task *lastmile.Task) ([]lastmile.Event, error) {
		return []lastmile.Event{task.LeaveRoutePlan(who.Actor(), now)}, nil
	})
	return rs.Store.Write(ctx, func(w PlanWriter) error {
		plan, err := w.RoutePlan(ctx, who.Organization, id)
		if err != nil {
			return err
		}
		tasks, err := w.TasksOf(ctx, who.Organization, plan.Tasks)
		if err != nil {
			return err
		}
		if err := rs.lockLists(ctx, w, who.Organization, now, nil, workersOf(tasks)); err != nil {
			return err
		}
		if err := rs.leavePlan(ctx, w, who, tasks, now); err != nil {
			return err
		}
		return w.DeleteRoutePlan(ctx, who.Organization, id)
	})
}

// savePlan saves a plan with its tasks, moves the tasks in moved to the plan's
// container, and reads the plan again.
func (rs *RoutePlans) savePlan(ctx context.Context, w PlanWriter, who lastmile.Principal, before lastmile.RoutePlan, plan *lastmile.RoutePlan, moved []lastmile.TaskID, known legs, now time.Time) error {
	tasks, err := w.TasksOf(ctx, who.Organization, plan.Tasks)
	if err != nil {
		return err
	}
	if err := rs.measureRoute(ctx, w, plan, tasks, known); err != nil {
		return err
	}
	gone := slices.DeleteFunc(slices.Clone(before.Tasks), func(id lastmile.TaskID) bool { return slices.Contains(plan.Tasks, id) })
	left, err := w.TasksOf(ctx, who.Organization, gone)
	if err != nil {
		return err
	}
	in, belongs := plan.Container()
	if _, belonged := before.Container(); !belongs && belonged {
		in, belongs = lastmile.OrganizationContainer(who.Organization), true
	}
	among := map[lastmile.TaskID]bool{}
	for _, id := range moved {
		among[id] = belongs
	}
	transferred := func(t lastmile.Task) bool { return t.State < lastmile.TaskActive && among[t.ID] }
	var changed []lastmile.ContainerRef
	for _, task := range tasks {
		if transferred(task) {
			changed = append(changed, in, task.Container)
		}
	}
	joined := slices.DeleteFunc(slices.Clone(tasks), func(t lastmile.Task) bool { return t.RoutePlan == plan.ID })
	if err := rs.lockLists(ctx, w, who.Organization, now, changed, workersOf(append(joined, left...))); err != nil {
		return err
	}
	if err := w.SaveRoutePlan(ctx, *plan); err != nil {
		return err
	}
	if err := rs.joinPlan(ctx, w, who, plan.ID, tasks, func(t lastmile.Task) bool { return t.Container != in && transferred(t) }, now); err != nil {
		return err
	}
	if err := rs.leavePlan(ctx, w, who, left, now); err != nil {
		return err
	}
	tasks = slices.DeleteFunc(tasks, func(t lastmile.Task) bool { return !transferred(t) })
	if err := rs.at(now).transferTasks(ctx, w, who, in, store.Position{}, tasks); err != nil {
		return err
	}
	*plan, err = w.RoutePlan(ctx, who.Organization, plan.ID)
	return err
}

// joinPlan adds tasks to a plan, in order. A task that moves as well is saved and gets
// its events when it moves.
func (rs *RoutePlans) joinPlan(ctx context.Context, w PlanWriter, who lastmile.Principal, plan lastmile.RoutePlanID, tasks []lastmile.Task, moves func(lastmile.Task) bool, now time.Time) error {
	var (
		events          []lastmile.Event
		joined, shifted []lastmile.Task
	)
	for i := range tasks {
		task := &tasks[i]
		switch {
		case task.RoutePlan != plan:
			if err := task.JoinRoutePlan(plan, i, now); err != nil {
				return err
			}
			if !moves(*task) {
				events = append(events, task.JoinedEvent(who.Actor(), now))
				joined = append(joined, *task)
			}
		case task.PlanPosition != int64(i):
			if task.PlanPosition = int64(i); !moves(*task) {
				shifted = append(shifted, *task)
			}
		}
	}
	if err := w.SavePlanned(ctx, shifted); err != nil {
		return err
	}
	if err := w.SavePlanned(ctx, joined); err != nil {
		return err
	}
	return rs.Events.Append(ctx, w, events...)
}

// leavePlan removes tasks from the plan they are in.
func (rs *RoutePlans) leavePlan(ctx context.Context, w PlanWriter, who lastmile.Principal, tasks []lastmile.Task, now time.Time) error {
	var events []lastmile.Event
	for i := range tasks {
		events = append(events, tasks[i].LeaveRoutePlan(who.Actor(), now))
	}
	if err := w.SavePlanned(ctx, tasks); err != nil {
		return err
	}
	return rs.Events.Append(ctx, w, events...)
}

// workersOf returns the workers of unfinished tasks that join or leave a plan. Their
// estimates are refreshed, because the plan may be late. The worker of a completed task may
// have been deleted.
func workersOf(tasks []lastmile.Task) (ids []lastmile.WorkerID) {
	for _, task := range tasks {
		if task.Worker != "" && task.State != lastmile.TaskCompleted {
			ids = append(ids, task.Worker)
		}
	}
	return ids
}
