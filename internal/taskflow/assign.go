package taskflow

import (
	"context"
	"slices"
	"time"

	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/store"
)

// MaxAutoAssign is the most tasks one request may assign.
const MaxAutoAssign = 1_000

// AutoAssign finds workers for unassigned tasks, one task after the other. The
// reasons for each choice are stored.
func (cs *Containers) AutoAssign(ctx context.Context, who lastmile.Principal, ids []lastmile.TaskID, o assignment.Options) (assignment.Assigned, error) {
	if err := o.Check("options"); err != nil {
		return nil, err
	}
	if len(ids) > MaxAutoAssign {
		return nil, lastmile.Invalid("tasks has %d entries; at most %d are allowed", len(ids), MaxAutoAssign)
	}
	now := cs.Now()
	return store.Idempotent(ctx, cs.Store, who, func(w ContainerWriter) (assignment.Assigned, error) {
		crew, err := candidates(ctx, w, who.Organization, o)
		if err != nil {
			return nil, err
		}
		assigned := assignment.Assigned{}
		for _, id := range ids {
			if err := cs.autoAssign(ctx, w, who, id, crew, o, now, assigned); err != nil {
				return nil, err
			}
		}
		return assigned, nil
	})
}

// candidates returns the workers on duty with their task lists. It rejects teams
// and workers in the options that are not the organization's.
func candidates(ctx context.Context, r crewReader, org lastmile.OrganizationID, o assignment.Options) ([]assignment.Candidate, error) {
	for _, id := range o.Teams {
		if _, err := r.Team(ctx, org, id); err != nil {
			return nil, err
		}
	}
	for _, id := range o.ExcludedWorkers {
		if _, err := r.Worker(ctx, org, id); err != nil {
			return nil, err
		}
	}
	onDuty, err := r.Workers(ctx, org, store.WorkerFilter{OnDuty: true, NoTasks: true})
	if err != nil {
		return nil, err
	}
	queues, err := r.Queues(ctx, org)
	if err != nil {
		return nil, err
	}
	crew := make([]assignment.Candidate, 0, len(onDuty))
	for _, worker := range onDuty {
		crew = append(crew, assignment.Candidate{Worker: worker, Queue: queues[worker.ID]})
	}
	return crew, nil
}

// autoAssign assigns one task, with related tasks if the options ask for it.
func (cs *Containers) autoAssign(ctx context.Context, w ContainerWriter, who lastmile.Principal, id lastmile.TaskID, crew []assignment.Candidate,
	o assignment.Options, now time.Time, assigned assignment.Assigned,
) error {
	task, err := w.Task(ctx, who.Organization, id)
	if err != nil || task.State != lastmile.TaskUnassigned {
		return err // it is assigned already
	}
	together := []lastmile.Task{task}
	if o.ConsiderDependencies {
		if together, err = relatedTasks(ctx, w, who.Organization, []lastmile.TaskID{id}); err != nil {
			return err
		}
	}
	chosen, err := choose(ctx, w, task, together, crew, o, now)
	if err != nil || chosen == "" {
		return err
	}
	assignment.MoveTasks(crew, chosen, together)
	if err := cs.transfer(ctx, w, who, lastmile.WorkerContainer(chosen), store.Position{}, idsOf(together)); err != nil {
		return err
	}
	for _, t := range together {
		assigned[t.ID] = chosen
	}
	return nil
}

// relatedTasks returns tasks that are not started and the tasks that they are
// linked with by dependencies: parents before children.
func relatedTasks(ctx context.Context, r familyReader, org lastmile.OrganizationID, ids []lastmile.TaskID) ([]lastmile.Task, error) {
	all, err := families(ctx, r, org, ids)
	if err != nil {
		return nil, err
	}
	tasks, err := r.TasksOf(ctx, org, all)
	return slices.DeleteFunc(tasks, func(t lastmile.Task) bool { return !t.Pending() }), err
}

func idsOf(tasks []lastmile.Task) []lastmile.TaskID {
	ids := make([]lastmile.TaskID, len(tasks))
	for i, t := range tasks {
		ids[i] = t.ID
	}
	return ids
}

// choose finds the best worker for a task and its related tasks, and stores the
// reasons. It returns "" if no worker is suitable. Callers lock the worker's
// container before they put the task there.
func choose(ctx context.Context, w explanationWriter, task lastmile.Task, together []lastmile.Task, crew []assignment.Candidate,
	o assignment.Options, now time.Time,
) (lastmile.WorkerID, error) {
	others := slices.DeleteFunc(slices.Clone(together), func(t lastmile.Task) bool { return t.ID == task.ID })
	why := assignment.PickWorker(append([]lastmile.Task{task}, others...), crew, o, now)
	return why.Chosen, w.SaveExplanation(ctx, task.Organization, why)
}
