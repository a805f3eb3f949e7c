package taskflow

import (
	"cmp"
	"context"
	"slices"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/store"
)

// Container returns a container. The order of new tasks at its end is fixed when
// they are first read, so that all later readers see the same order.
func (f *Flow) Container(ctx context.Context, who lastmile.Principal, in lastmile.ContainerRef) (c lastmile.Container, err error) {
	unplaced := false
	err = f.Store.Read(ctx, func(r Reader) (err error) {
		if unplaced, err = r.Unplaced(ctx, who.Organization, in); err != nil || unplaced {
			return err
		}
		c, err = container(ctx, r, who.Organization, in)
		return err
	})
	if err != nil || !unplaced {
		return c, err
	}
	err = f.Store.Write(ctx, func(w Writer) (err error) {
		if err = w.PlaceTasks(ctx, who.Organization, in, f.Now()); err != nil {
			return err
		}
		c, err = container(ctx, w, who.Organization, in)
		return err
	})
	return c, err
}

// container reads a container that must be the organization's.
func container(ctx context.Context, r Reader, org lastmile.OrganizationID, in lastmile.ContainerRef) (lastmile.Container, error) {
	if err := checkContainer(ctx, r, org, in); err != nil {
		if lastmile.IsNotFound(err) {
			return lastmile.Container{}, lastmile.NotFound("container of", in.Owner).Because("Container does not exist.")
		}
		return lastmile.Container{}, err
	}
	c, err := r.Container(ctx, org, in)
	if err != nil {
		return c, err
	}
	switch in.Kind {
	case lastmile.InTeam:
		owner, err := r.Team(ctx, org, lastmile.TeamID(in.Owner))
		c.Created = owner.Created
		return withModified(c), err
	case lastmile.InWorker:
		owner, err := r.Worker(ctx, org, lastmile.WorkerID(in.Owner))
		c.Created = owner.Created
		return withModified(c), err
	case lastmile.InOrganization:
	}
	owner, err := r.Organization(ctx, org)
	c.Created = owner.Created
	return withModified(c), err
}

// withModified sets when a container was modified, if it never was, to when it was
// created.
func withModified(c lastmile.Container) lastmile.Container {
	if c.Modified.IsZero() {
		c.Modified = c.Created
	}
	return c
}

// Resolve finds the owner of a container by the id alone.
func (f *Flow) Resolve(ctx context.Context, who lastmile.Principal, id string) (in lastmile.ContainerRef, err error) {
	err = f.Store.Read(ctx, func(r Reader) error {
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

// Arrange changes a container: it puts tasks at a position of the list, or replaces
// the whole list.
func (f *Flow) Arrange(ctx context.Context, who lastmile.Principal, in lastmile.ContainerRef, change lastmile.ContainerChange) (c lastmile.Container, err error) {
	if err := change.Check(in.Kind); err != nil {
		return c, err
	}
	now := f.Now()
	err = f.Store.Write(ctx, func(w Writer) error {
		before, err := container(ctx, w, who.Organization, in)
		if err != nil {
			return err
		}
		ids, home := change.Tasks, lastmile.OrganizationContainer(who.Organization)
		if change.ConsiderDependencies {
			if ids, err = families(ctx, w, who.Organization, ids); err != nil {
				return err
			}
		}
		also := []lastmile.ContainerRef{}
		if change.Replace { // replaced tasks go to the organization's container
			also = append(also, home)
		}
		if err := f.transfer(ctx, w, who, in, change.Index, ids, also...); err != nil {
			return err
		}
		if change.Replace {
			left := slices.DeleteFunc(slices.Clone(before.Tasks), func(id lastmile.TaskID) bool { return slices.Contains(ids, id) })
			if err := f.transfer(ctx, w, who, home, lastmile.AtEnd, left); err != nil {
				return err
			}
		}
		if err := f.lock(ctx, w, who.Organization, in, now); err != nil {
			return err
		}
		if err := w.PlaceTasks(ctx, who.Organization, in, now); err != nil {
			return err
		}
		c, err = container(ctx, w, who.Organization, in)
		return err
	})
	return c, err
}

// transfer moves tasks into a container from the containers they are in. It locks
// the containers that it changes, and those in also. For a replacement, whose
// index is AtStart, the tasks come first and in order.
func (f *Flow) transfer(ctx context.Context, w Writer, who lastmile.Principal, in lastmile.ContainerRef, index int, ids []lastmile.TaskID, also ...lastmile.ContainerRef) error {
	if len(ids) == 0 {
		return nil
	}
	now := f.Now()
	tasks, err := w.TasksOf(ctx, who.Organization, ids)
	if err != nil {
		return err
	}
	containers := append([]lastmile.ContainerRef{in}, also...)
	for _, task := range tasks {
		containers = append(containers, task.Container)
	}
	if err := f.lockAll(ctx, w, who.Organization, now, containers...); err != nil {
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
	return f.Events.Append(ctx, w, events...)
}

// Release moves the tasks of a container to the organization's, because the
// container's owner is about to be deleted.
func (f *Flow) Release(ctx context.Context, tx store.Transaction, who lastmile.Principal, from lastmile.ContainerRef) error {
	w, err := f.Store.Join(tx)
	if err != nil {
		return err
	}
	c, err := w.Container(ctx, who.Organization, from)
	if err != nil {
		return err
	}
	return f.transfer(ctx, w, who, lastmile.OrganizationContainer(who.Organization), lastmile.AtEnd, c.Tasks)
}

// lockAll locks containers, before tasks in them are saved. It always locks in the
// same order, so that transactions do not deadlock.
func (f *Flow) lockAll(ctx context.Context, w Writer, org lastmile.OrganizationID, now time.Time, containers ...lastmile.ContainerRef) error {
	slices.SortFunc(containers, func(a, b lastmile.ContainerRef) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Owner, b.Owner))
	})
	for _, c := range slices.Compact(containers) {
		if err := f.lock(ctx, w, org, c, now); err != nil {
			return err
		}
	}
	return nil
}

// containerLocker locks containers.
type containerLocker interface {
	LockContainer(ctx context.Context, org lastmile.OrganizationID, in lastmile.ContainerRef, now time.Time) error
	OnCommit(fn func())
}

// lock locks one container. A worker's phone is notified after the commit.
func (f *Flow) lock(ctx context.Context, w containerLocker, org lastmile.OrganizationID, in lastmile.ContainerRef, now time.Time) error {
	if in.Kind == lastmile.InWorker {
		f.Events.Publish(w, events.ListTopic(lastmile.WorkerID(in.Owner)))
	}
	return w.LockContainer(ctx, org, in, now)
}

// families adds the unfinished tasks that the given ones are linked with by
// dependencies: parents before children, each family together.
func families(ctx context.Context, r Reader, org lastmile.OrganizationID, ids []lastmile.TaskID) ([]lastmile.TaskID, error) {
	var all []lastmile.TaskID
	parents := map[lastmile.TaskID][]lastmile.TaskID{}
	seen := map[lastmile.TaskID]bool{}
	for _, id := range ids {
		related, err := family(ctx, r, org, id, parents)
		if err != nil {
			return nil, err
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
	for _, task := range tasks {
		if task.State < lastmile.TaskActive || slices.Contains(ids, task.ID) {
			movable = append(movable, task.ID)
		}
	}
	return movable, nil
}

// family returns a task and the tasks linked with it, and adds the parents of each
// to parents. It returns none for a task that is in parents already: its family has
// been found before.
func family(ctx context.Context, r Reader, org lastmile.OrganizationID, id lastmile.TaskID, parents map[lastmile.TaskID][]lastmile.TaskID) ([]lastmile.TaskID, error) {
	var found []lastmile.TaskID
	for next := []lastmile.TaskID{id}; len(next) > 0; next = next[1:] {
		if _, known := parents[next[0]]; known {
			continue
		}
		above, err := r.Parents(ctx, org, next[0])
		if err != nil {
			return nil, err
		}
		below, err := r.Children(ctx, org, next[0])
		if err != nil {
			return nil, err
		}
		parents[next[0]] = above
		found = append(found, next[0])
		next = append(append(next, above...), below...)
	}
	return found, nil
}

// parentsFirst appends a task to all, after those it depends on.
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
