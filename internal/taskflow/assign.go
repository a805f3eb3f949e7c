package taskflow

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/store"
)

const (
	// MaxAutoAssign is the maximum number of tasks that one request may assign.
	MaxAutoAssign = 1_000

	// MaxRelated is the maximum number of related tasks that are assigned together.
	MaxRelated = 500

	// maxWalked is the maximum number of related tasks, started and completed ones included,
	// that are read to find those to assign.
	maxWalked = 2 * MaxRelated

	// assignChunk is the maximum number of tasks that one transaction assigns. A
	// request that assigns more is done in several transactions.
	assignChunk = 25
)

// crew is a snapshot of the workers whom tasks can be assigned to, with their lists.
type crew struct {
	candidates []assignment.Candidate
	versions   map[lastmile.WorkerID]int64 // versions of the lists
}

// choice is the choice of a worker for a task and its related tasks.
type choice struct {
	why      assignment.Explanation
	together []lastmile.Task
}

// AutoAssign finds workers for unassigned tasks, one task after the other, and stores
// the reasons for each choice. Workers are compared before the transaction, so that it
// does not take longer if there are many. The transaction checks that the lists of the
// chosen workers have not changed.
func (cs *Containers) AutoAssign(ctx context.Context, who lastmile.Principal, ids []lastmile.TaskID, o assignment.Options) (assignment.Assigned, error) {
	if err := o.Check("options"); err != nil {
		return nil, err
	}
	if len(ids) > MaxAutoAssign {
		return nil, lastmile.Invalid("tasks has %d entries; at most %d are allowed", len(ids), MaxAutoAssign)
	}
	var (
		all  = assignment.Assigned{}
		crew *crew
		err  error
	)
	chunk := assignChunk
	if o.ConsiderDependencies { // one task may bring hundreds of others
		chunk = 1
	}
	if len(ids) > chunk {
		end, err := cs.large.Take(ctx, string(who.Organization))
		if err != nil {
			return nil, err
		}
		defer end()
	}
	if err := cs.checkAssignable(ctx, who, ids, o.ConsiderDependencies && len(ids) > chunk); err != nil {
		return nil, err
	}
	for ; len(ids) > chunk; ids = ids[chunk:] {
		var some assignment.Assigned
		crew, err = cs.assignSome(ctx, who, ids[:chunk], o, crew, func(step func(ContainerWriter) (assignment.Assigned, error)) error {
			return cs.Store.Write(ctx, func(w ContainerWriter) (err error) {
				some, err = step(w)
				return err
			})
		})
		if err != nil {
			return nil, err
		}
		maps.Copy(all, some)
	}
	_, err = cs.assignSome(ctx, who, ids, o, crew, func(step func(ContainerWriter) (assignment.Assigned, error)) error {
		whole, err := store.Idempotent(ctx, cs.Store, who, func(w ContainerWriter) (assignment.Assigned, error) {
			some, err := step(w)
			whole := maps.Clone(all)
			maps.Copy(whole, some)
			return whole, err
		})
		if err == nil {
			all = whole
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return all, nil
}

// checkAssignable rejects tasks that do not exist and, if asked for, tasks whose related tasks
// cannot be assigned with them, so that a request that is rejected has assigned none.
func (cs *Containers) checkAssignable(ctx context.Context, who lastmile.Principal, ids []lastmile.TaskID, related bool) error {
	var tasks []lastmile.Task
	err := cs.Store.Read(ctx, func(r ContainerReader) (err error) {
		tasks, err = r.TasksOf(ctx, who.Organization, ids)
		return err
	})
	if err != nil || !related {
		return err
	}
	checked := map[lastmile.TaskID]bool{}
	for _, task := range tasks {
		if task.State != lastmile.TaskUnassigned || checked[task.ID] {
			continue
		}
		err := cs.Store.Read(ctx, func(r ContainerReader) error {
			family, err := relatedTasks(ctx, r, who, []lastmile.TaskID{task.ID})
			for _, member := range family {
				checked[member.ID] = true
			}
			return err
		})
		if err != nil && !lastmile.IsNotFound(err) { // it was deleted meanwhile
			return err
		}
	}
	return nil
}

// assignSome assigns some tasks in one transaction, which run runs. It returns the
// crew after the transaction, or nil if the crew must be read again.
func (cs *Containers) assignSome(ctx context.Context, who lastmile.Principal, ids []lastmile.TaskID, o assignment.Options, known *crew,
	run func(step func(ContainerWriter) (assignment.Assigned, error)) error,
) (*crew, error) {
	now := cs.Now()
	for range planTries {
		var choices []choice
		err := cs.Store.Read(ctx, func(r ContainerReader) (err error) {
			if known == nil {
				if known, err = readCrew(ctx, r, who, o); err != nil {
					return err
				}
			}
			choices, err = cs.chooseAll(ctx, r, who, ids, known, o, now)
			return err
		})
		if err != nil {
			return nil, err
		}
		var versions map[lastmile.WorkerID]int64
		err = run(func(w ContainerWriter) (assigned assignment.Assigned, err error) {
			assigned, versions, err = cs.assign(ctx, w, who, choices, known)
			return assigned, err
		})
		if err == nil {
			maps.Copy(known.versions, versions)
			return known, nil
		}
		if known = nil; !errors.Is(err, errListChanged) {
			return nil, err
		}
	}
	err := run(func(w ContainerWriter) (assignment.Assigned, error) {
		current, err := readCrew(ctx, w, who, o)
		if err != nil {
			return nil, err
		}
		choices, err := cs.chooseAll(ctx, w, who, ids, current, o, now)
		if err != nil {
			return nil, err
		}
		assigned, _, err := cs.assign(ctx, w, who, choices, current)
		return assigned, err
	})
	return nil, err
}

// readCrew returns the workers on duty whom the caller may assign tasks to, with their
// task lists. It rejects teams and workers in the options that are not the
// organization's.
func readCrew(ctx context.Context, r crewReader, who lastmile.Principal, o assignment.Options) (*crew, error) {
	org := who.Organization
	if _, err := r.CheckMembers(ctx, org, store.Members{Teams: o.Teams, Workers: o.ExcludedWorkers}); err != nil {
		return nil, err
	}
	onDuty, err := r.Workers(ctx, org, store.WorkerFilter{OnDuty: true, NoTasks: true, Manager: who.Manager()})
	if err != nil {
		return nil, err
	}
	queues, err := r.Queues(ctx, org)
	if err != nil {
		return nil, err
	}
	c := &crew{candidates: make([]assignment.Candidate, 0, len(onDuty))}
	ids := make([]lastmile.WorkerID, 0, len(onDuty))
	for _, worker := range onDuty {
		c.candidates = append(c.candidates, assignment.Candidate{Worker: worker, Queue: queues[worker.ID]})
		ids = append(ids, worker.ID)
	}
	c.versions, err = r.ListVersions(ctx, org, ids)
	return c, err
}

// chooseAll finds workers for the tasks that are unassigned and were not deleted meanwhile, and
// adds the tasks to the lists of these workers in the crew.
func (b *Base) chooseAll(ctx context.Context, r ContainerReader, who lastmile.Principal, ids []lastmile.TaskID, c *crew, o assignment.Options, now time.Time) ([]choice, error) {
	tasks, err := tasksLeft(ctx, r, who.Organization, ids)
	if err != nil {
		return nil, err
	}
	var choices []choice
	taken := map[lastmile.TaskID]bool{}
	for _, task := range tasks {
		if task.State != lastmile.TaskUnassigned || taken[task.ID] {
			continue
		}
		together := []lastmile.Task{task}
		if o.ConsiderDependencies {
			if together, err = relatedTasks(ctx, r, who, []lastmile.TaskID{task.ID}); err != nil {
				return nil, err
			}
		}
		one := choice{why: b.pick(ctx, task, together, c, o, now), together: together}
		if one.why.Chosen != "" {
			assignment.MoveTasks(c.candidates, one.why.Chosen, together)
			for _, t := range together {
				taken[t.ID] = true
			}
		}
		choices = append(choices, one)
	}
	return choices, nil
}

// tasksLeft returns those of the tasks that exist.
func tasksLeft(ctx context.Context, r tasksReader, org lastmile.OrganizationID, ids []lastmile.TaskID) ([]lastmile.Task, error) {
	tasks, err := r.TasksOf(ctx, org, ids)
	if !lastmile.IsNotFound(err) {
		return tasks, err
	}
	tasks = nil
	for _, id := range ids {
		one, err := r.TasksOf(ctx, org, []lastmile.TaskID{id})
		if err != nil && !lastmile.IsNotFound(err) {
			return nil, err
		}
		tasks = append(tasks, one...)
	}
	return tasks, nil
}

// pick finds the best worker for a task and its related tasks.
func (b *Base) pick(ctx context.Context, task lastmile.Task, together []lastmile.Task, c *crew, o assignment.Options, now time.Time) assignment.Explanation {
	others := slices.DeleteFunc(slices.Clone(together), func(t lastmile.Task) bool { return t.ID == task.ID })
	return assignment.PickWorker(append([]lastmile.Task{task}, others...), c.candidates, o, b.ruler(ctx), now)
}

// assign assigns tasks to the workers chosen for them, stores the reasons, and returns
// the assigned tasks and the new versions of the workers' lists. The error is
// errListChanged if a task is no longer unassigned or was deleted, or checkCrew returns it.
func (cs *Containers) assign(ctx context.Context, w ContainerWriter, who lastmile.Principal, choices []choice, c *crew) (assignment.Assigned, map[lastmile.WorkerID]int64, error) {
	workers, err := checkCrew(ctx, w, who.Organization, choices, c)
	if err != nil {
		return nil, nil, err
	}
	var (
		lists []lastmile.ContainerRef
		ids   []lastmile.TaskID
	)
	for _, one := range choices {
		if one.why.Chosen == "" {
			ids = append(ids, one.why.Task)
			continue
		}
		ids = append(ids, idsOf(one.together)...)
		lists = append(lists, lastmile.WorkerContainer(one.why.Chosen))
		for _, task := range one.together {
			lists = append(lists, task.Container)
		}
	}
	if err := cs.lockAll(ctx, w, who.Organization, cs.Now(), lists...); err != nil {
		return nil, nil, err
	}
	tasks, err := w.TasksOf(ctx, who.Organization, ids)
	if lastmile.IsNotFound(err) {
		return nil, nil, errListChanged
	}
	if err != nil {
		return nil, nil, err
	}
	current := make(map[lastmile.TaskID]lastmile.Task, len(tasks))
	for _, task := range tasks {
		current[task.ID] = task
	}
	assigned, moved := assignment.Assigned{}, map[lastmile.WorkerID][]lastmile.Task{}
	for _, one := range choices {
		if current[one.why.Task].State != lastmile.TaskUnassigned {
			return nil, nil, errListChanged
		}
		if err := w.SaveExplanation(ctx, who.Organization, one.why); err != nil {
			return nil, nil, err
		}
		if chosen := one.why.Chosen; chosen != "" {
			for _, t := range one.together {
				assigned[t.ID] = chosen
				moved[chosen] = append(moved[chosen], current[t.ID])
			}
		}
	}
	for _, id := range workers {
		if err := cs.transferTasks(ctx, w, who, lastmile.WorkerContainer(id), store.Position{}, moved[id]); err != nil {
			return nil, nil, err
		}
	}
	versions, err := w.ListVersions(ctx, who.Organization, workers)
	return assigned, versions, err
}

// checkCrew returns the workers who were chosen. It returns errListChanged if one of
// them was deleted or is off duty, or if a worker's list has changed since the crew
// was read.
func checkCrew(ctx context.Context, r crewReader, org lastmile.OrganizationID, choices []choice, c *crew) ([]lastmile.WorkerID, error) {
	var workers []lastmile.WorkerID
	for _, one := range choices {
		if one.why.Chosen != "" && !slices.Contains(workers, one.why.Chosen) {
			workers = append(workers, one.why.Chosen)
		}
	}
	versions, err := r.ListVersions(ctx, org, workers)
	if err != nil {
		return nil, err
	}
	for _, id := range workers {
		at, err := r.Whereabouts(ctx, org, id)
		if lastmile.IsNotFound(err) || err == nil && (!at.OnDuty || versions[id] != c.versions[id]) {
			return nil, errListChanged
		}
		if err != nil {
			return nil, err
		}
	}
	return workers, nil
}

// relatedTasks returns the given tasks and those linked with them by dependencies,
// parents before children, without tasks that have been started.
func relatedTasks(ctx context.Context, r familyReader, who lastmile.Principal, ids []lastmile.TaskID) ([]lastmile.Task, error) {
	all, err := families(ctx, r, who, ids, maxWalked)
	if err != nil {
		return nil, err
	}
	if len(all) > MaxRelated {
		return nil, lastmile.Invalid("task %s is related to %d tasks; at most %d can be assigned together", ids[0], len(all), MaxRelated)
	}
	tasks, err := r.TasksOf(ctx, who.Organization, all)
	return slices.DeleteFunc(tasks, func(t lastmile.Task) bool { return !t.Pending() }), err
}

func idsOf(tasks []lastmile.Task) []lastmile.TaskID {
	ids := make([]lastmile.TaskID, len(tasks))
	for i, t := range tasks {
		ids[i] = t.ID
	}
	return ids
}
