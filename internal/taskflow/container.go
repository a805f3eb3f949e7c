package taskflow

import (
	"context"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/rate"
	"dray/internal/store"
)

// Containers manages the task lists of workers, teams and organizations, and finds
// workers for tasks.
type Containers struct {
	Base
	Store ContainerStore

	changes rate.Turns // one change of each container at a time
	large   rate.Turns // one change in several transactions for each organization at a time
	steps   rate.Turns // one of the transactions of moveInSteps at a time
}

// Container returns a container. The order of new tasks at its end is fixed when
// they are first read, so that all later readers see the same order.
func (cs *Containers) Container(ctx context.Context, who lastmile.Principal, in lastmile.ContainerRef) (c lastmile.Container, err error) {
	unplaced := false
	err = cs.Store.Read(ctx, func(r ContainerReader) (err error) {
		r.ExpectContainer(who.Organization, in, 0)
		if unplaced, err = r.Unplaced(ctx, who.Organization, in); err != nil || unplaced {
			return err
		}
		c, err = container(ctx, r, who.Organization, in, 0)
		return err
	})
	if err != nil || !unplaced {
		return c, err
	}
	err = cs.Store.Write(ctx, func(w ContainerWriter) (err error) {
		if err = w.PlaceTasks(ctx, who.Organization, in, cs.Now()); err != nil {
			return err
		}
		c, err = container(ctx, w, who.Organization, in, 0)
		return err
	})
	return c, err
}

// container reads a container that must be the organization's, with the first tasks of its
// list, up to most, or with all of them if most is 0.
func container(ctx context.Context, r listReader, org lastmile.OrganizationID, in lastmile.ContainerRef, most int) (c lastmile.Container, err error) {
	var created time.Time
	if in.Kind != lastmile.InOrganization {
		created, err = r.Owner(ctx, org, in)
	} else if err = checkContainer(ctx, r, org, in); err == nil {
		var owner lastmile.Organization
		owner, err = r.Organization(ctx, org)
		created = owner.Created
	}
	switch {
	case lastmile.IsNotFound(err):
		return c, lastmile.NotFound("container of", in.Owner).Because("Container does not exist.")
	case err != nil:
		return c, err
	case most > 0:
		c, err = r.ContainerHead(ctx, org, in, most)
	default:
		c, err = r.Container(ctx, org, in)
	}
	c.Created = created
	return withModified(c), err
}

// withModified sets the modification time of a container that was never modified to its
// creation time.
func withModified(c lastmile.Container) lastmile.Container {
	if c.Modified.IsZero() {
		c.Modified = c.Created
	}
	return c
}

// Resolve finds the owner of a container by the id alone.
func (cs *Containers) Resolve(ctx context.Context, who lastmile.Principal, id string) (in lastmile.ContainerRef, err error) {
	err = cs.Store.Read(ctx, func(r ContainerReader) error {
		for _, kind := range []lastmile.ContainerKind{lastmile.InWorker, lastmile.InTeam, lastmile.InOrganization} {
			in = lastmile.ContainerRef{Kind: kind, Owner: id}
			err := checkContainer(ctx, r, who.Organization, in)
			if err == nil || !lastmile.IsNotFound(err) {
				return err
			}
		}
		return lastmile.NotFound("container of", id).Because("Container does not exist.")
	})
	return in, err
}

// families returns the given tasks, and those not started among the tasks that are linked
// with them by dependencies: parents before children, each family together. It returns an
// error if the caller may not move one of them, or if there are more than most tasks, started
// ones included.
func families(ctx context.Context, r familyReader, who lastmile.Principal, ids []lastmile.TaskID, most int) ([]lastmile.TaskID, error) {
	org := who.Organization
	var all []lastmile.TaskID
	parents := map[lastmile.TaskID][]lastmile.TaskID{}
	seen := map[lastmile.TaskID]bool{}
	for _, id := range ids {
		related, err := family(ctx, r, org, id, parents, most)
		if err != nil {
			return nil, err
		}
		if len(parents) > most {
			return nil, lastmile.Invalid("more than %d tasks are related; at most %d can be moved or assigned together", most, most)
		}
		for _, one := range related {
			parentsFirst(one, parents, seen, &all)
		}
	}
	movable := make([]lastmile.TaskID, 0, len(all))
	tasks, err := r.TasksOf(ctx, org, all)
	if err != nil {
		return nil, err
	}
	tasks = slices.DeleteFunc(tasks, func(task lastmile.Task) bool {
		return task.State >= lastmile.TaskActive && !slices.Contains(ids, task.ID)
	})
	for _, task := range tasks {
		movable = append(movable, task.ID)
	}
	return movable, checkManaged(ctx, r, who, tasks)
}

// checkManaged denies tasks of other teams to an administrator who manages only some teams.
func checkManaged(ctx context.Context, r familyReader, who lastmile.Principal, tasks []lastmile.Task) error {
	if who.Manager() == "" {
		return nil
	}
	workers, err := r.Workers(ctx, who.Organization, store.WorkerFilter{Manager: who.Manager(), NoTasks: true})
	if err != nil {
		return err
	}
	for _, task := range tasks {
		in := task.Container
		own := in.Kind == lastmile.InOrganization || slices.Contains(who.Role.Teams, lastmile.TeamID(in.Owner)) ||
			slices.ContainsFunc(workers, func(w lastmile.Worker) bool { return w.ID == task.Worker })
		if !own {
			return lastmile.Forbidden("the related task %s belongs to a team that you do not manage", task.ID).Because("foreignTeam")
		}
	}
	return nil
}

// family returns a task and the tasks linked with it, and adds the parents of each
// to parents. It returns none for a task that is in parents already: its family has
// been found before. It stops as soon as parents has more than most tasks.
func family(ctx context.Context, r familyReader, org lastmile.OrganizationID, id lastmile.TaskID, parents map[lastmile.TaskID][]lastmile.TaskID, most int) ([]lastmile.TaskID, error) {
	var found []lastmile.TaskID
	for next := []lastmile.TaskID{id}; len(next) > 0 && len(parents) <= most; next = next[1:] {
		if _, known := parents[next[0]]; known {
			continue
		}
		above, err := r.Parents(ctx, org, next[0])
		if err != nil {
			return nil, err
		}
		below, err := r.Children(ctx, org, next[0], most+1)
		if err != nil {
			return nil, err
		}
		parents[next[0]] = above
		found = append(found, next[0])
		next = append(append(next, above...), below...)
	}
	return found, nil
}

// parentsFirst appends a task to all, after the tasks it depends on.
func parentsFirst(id lastmile.TaskID, parents map[lastmile.TaskID][]lastmile.TaskID, seen map[lastmile.TaskID]bool, all *[]lastmile.TaskID) {
	if seen[id] {
		return
	}
	seen[id] = true
	for _, parent := range parents[id] {
		parentsFirst(parent, parents, seen, all)
	}
	*all = append(*all, id)
}

// Owners replaces ids of containers by the ids of their owners. The store lists the
// containers that have ever changed. Every container with tasks is among them, except
// perhaps the organization's.
func (cs *Containers) Owners(ctx context.Context, who lastmile.Principal, ids []string) ([]string, error) {
	if len(ids) == 0 {
		return ids, nil
	}
	var known []lastmile.ContainerRef
	err := cs.Store.Read(ctx, func(r ContainerReader) (err error) {
		known, err = r.Containers(ctx, who.Organization)
		return err
	})
	if err != nil {
		return nil, err
	}
	owners := slices.Clone(ids)
	for _, c := range append(known, lastmile.OrganizationContainer(who.Organization)) {
		if slices.Contains(owners, c.Owner) {
			continue
		}
		if at := slices.Index(owners, c.ID()); at >= 0 {
			owners[at] = c.Owner
		}
	}
	return owners, nil
}
