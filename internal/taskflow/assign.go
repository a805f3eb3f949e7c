package taskflow

import (
	"context"
	"time"

	"dray/internal/access"
	"dray/internal/lastmile"
	"dray/internal/store"
)

// MaxAutoAssign is the most tasks one request may assign.
const MaxAutoAssign = 1_000

// AutoAssign finds workers for tasks that nobody has yet. Each task is decided
// for itself, and why is stored.
func (f *Flow) AutoAssign(ctx context.Context, who access.Principal, ids []lastmile.TaskID, o lastmile.AssignOptions) (lastmile.AutoAssigned, error) {
	if err := o.Check("options"); err != nil {
		return nil, err
	}
	if len(ids) > MaxAutoAssign {
		return nil, lastmile.Invalid("tasks has %d entries; at most %d are allowed", len(ids), MaxAutoAssign)
	}
	now := f.Now()
	return access.Once(ctx, f.Store, who, func(w store.Writer) (lastmile.AutoAssigned, error) {
		if err := checkTeams(ctx, w, who.Organization, o.Teams); err != nil {
			return nil, err
		}
		assigned := lastmile.AutoAssigned{}
		for _, id := range ids {
			if err := f.autoAssign(ctx, w, who, id, o, now, assigned); err != nil {
				return nil, err
			}
		}
		return assigned, nil
	})
}

func checkTeams(ctx context.Context, r store.Reader, org lastmile.OrganizationID, ids []lastmile.TeamID) error {
	for _, id := range ids {
		if _, err := r.Team(ctx, org, id); err != nil {
			return err
		}
	}
	return nil
}

// autoAssign decides one task, with its family if that is asked for.
func (f *Flow) autoAssign(ctx context.Context, w store.Writer, who access.Principal, id lastmile.TaskID, o lastmile.AssignOptions, now time.Time, assigned lastmile.AutoAssigned) error {
	if _, done := assigned[id]; done {
		return nil
	}
	together := []lastmile.TaskID{id}
	if o.ConsiderDependencies {
		var err error
		if together, err = families(ctx, w, who.Organization, together); err != nil {
			return err
		}
	}
	tasks, err := w.TasksOf(ctx, who.Organization, together)
	if err != nil {
		return err
	}
	for i, task := range tasks {
		if task.State != lastmile.TaskUnassigned {
			if task.ID == id {
				return nil // somebody has it already
			}
			continue
		}
		if task.ID == id {
			tasks[0], tasks[i] = tasks[i], tasks[0]
		}
	}
	chosen, err := f.choose(ctx, w, tasks, o, now)
	if err != nil || chosen == "" {
		return err
	}
	if err := f.transfer(ctx, w, who, lastmile.WorkerContainer(chosen), lastmile.AtEnd, together); err != nil {
		return err
	}
	for _, t := range together {
		assigned[t] = chosen
	}
	return nil
}

// choose finds the best worker for tasks that go together and stores why. It
// returns "" when nobody fits.
func (f *Flow) choose(ctx context.Context, w store.Writer, tasks []lastmile.Task, o lastmile.AssignOptions, now time.Time) (lastmile.WorkerID, error) {
	org := tasks[0].Organization
	if err := checkTeams(ctx, w, org, o.Teams); err != nil {
		return "", err
	}
	onDuty, err := w.Workers(ctx, org, store.WorkerFilter{OnDuty: true})
	if err != nil {
		return "", err
	}
	queues, err := w.Queues(ctx, org)
	if err != nil {
		return "", err
	}
	candidates := make([]lastmile.Candidate, 0, len(onDuty))
	for _, worker := range onDuty {
		candidates = append(candidates, lastmile.Candidate{Worker: worker, Queue: queues[worker.ID]})
	}
	why := lastmile.PickWorker(tasks, candidates, o, now)
	if why.Chosen != "" {
		if err := w.LockContainer(ctx, org, lastmile.WorkerContainer(why.Chosen), now); err != nil {
			return "", err
		}
	}
	return why.Chosen, w.SaveExplanation(ctx, org, why)
}
