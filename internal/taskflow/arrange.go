package taskflow

import (
	"context"
	"errors"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

const (
	// MaxMoved is the maximum number of tasks that one request moves.
	MaxMoved = 10_000

	// maxAtOnce is the maximum number of tasks that one transaction moves, so
	// that other writers do not wait long. A request that moves more is done in
	// several transactions of moveChunk tasks. If it fails in between, repeating
	// it moves the rest.
	maxAtOnce, moveChunk = 100, 25

	// maxShort is the maximum length of a list that is read in the transaction that
	// changes it.
	maxShort = 100

	// stepPause is how long the refresh of estimates waits after a step. The next step
	// begins sooner and delays the refresh again.
	stepPause = 2 * time.Second

	// planTries is the number of attempts to plan a change from a snapshot. If the
	// snapshot is outdated each time, the change is planned in the transaction.
	planTries = 4
)

// errListChanged aborts a transaction whose change was planned from an outdated list.
var errListChanged = errors.New("the list has changed")

// arrangement is a change of a container, planned for one state of its list.
type arrangement struct {
	before lastmile.Container
	ids    []lastmile.TaskID // tasks to insert
	left   []lastmile.TaskID // tasks to move to the organization's container
	rest   []lastmile.TaskID // the other tasks of the list, in order
	index  int               // position in rest at which ids are inserted
}

// Arrange changes a container: it puts tasks at a position of the list, or replaces
// the whole list.
func (cs *Containers) Arrange(ctx context.Context, who lastmile.Principal, in lastmile.ContainerRef, change lastmile.ContainerChange) (c lastmile.Container, err error) {
	if err := change.Check(in.Kind); err != nil {
		return c, err
	}
	c, large, err := cs.arrangeAtOnce(ctx, who, in, change)
	if err == nil && large != nil {
		return cs.moveInSteps(ctx, who, *large)
	}
	return c, err
}

// arrangeAtOnce changes a container in one transaction, or returns the change if it
// is too large for that. Changes of the same container take turns, because only one of
// several changes planned for the same list could be saved.
func (cs *Containers) arrangeAtOnce(ctx context.Context, who lastmile.Principal, in lastmile.ContainerRef, change lastmile.ContainerChange) (c lastmile.Container, large *arrangement, err error) {
	end, err := cs.changes.Take(ctx, string(who.Organization)+in.Owner)
	if err != nil {
		return c, nil, err
	}
	defer end()
	now := cs.Now()
	if in.Kind != lastmile.InOrganization && !change.ConsiderDependencies && len(change.Tasks) <= maxAtOnce {
		c, large, short, err := cs.arrangeShort(ctx, who, in, change, now)
		if short || err != nil {
			return c, large, err
		}
	}
	return cs.arrangeLong(ctx, who, in, change, now)
}

// arrangeShort changes a container with a short list. It reports whether the list is short:
// otherwise, it changes nothing. It is not used for organizations, whose lists are long: a
// transaction that reads the end of such a list would conflict with every new task.
func (cs *Containers) arrangeShort(ctx context.Context, who lastmile.Principal, in lastmile.ContainerRef, change lastmile.ContainerChange, now time.Time) (c lastmile.Container, large *arrangement, short bool, err error) {
	err = cs.Store.Write(ctx, func(w ContainerWriter) error {
		c, large, short = lastmile.Container{}, nil, false
		w.ExpectContainer(who.Organization, in, maxShort+1)
		unplaced, err := w.Unplaced(ctx, who.Organization, in)
		if err != nil {
			return err
		}
		before, err := container(ctx, w, who.Organization, in, maxShort+1)
		if err != nil {
			return err
		}
		if short = !unplaced && len(before.Tasks) <= maxShort; !short {
			return nil
		}
		a, err := arrange(before, change, change.Tasks)
		switch {
		case err != nil:
			return err
		case a.changesNothing():
			c = before
			return nil
		case a.isLarge():
			large = &a
			return nil
		}
		c, err = cs.save(ctx, w, who, a, now)
		return err
	})
	return c, large, short, err
}

// arrangeLong reads the list of a container before the transaction that changes it, which
// only checks that the list is the same, so that long lists do not make it take longer.
func (cs *Containers) arrangeLong(ctx context.Context, who lastmile.Principal, in lastmile.ContainerRef, change lastmile.ContainerChange, now time.Time) (c lastmile.Container, large *arrangement, err error) {
	for range planTries {
		before, err := cs.Container(ctx, who, in)
		if err != nil {
			return c, nil, err
		}
		ids, err := cs.inserted(ctx, who, change)
		if err != nil {
			return c, nil, err
		}
		a, err := arrange(before, change, ids)
		if err != nil {
			return c, nil, err
		}
		if a.changesNothing() {
			return before, nil, nil
		}
		if a.isLarge() {
			return c, &a, nil
		}
		err = cs.Store.Write(ctx, func(w ContainerWriter) (err error) {
			if err := checkUnchanged(ctx, w, before); err != nil {
				return err
			}
			c, err = cs.save(ctx, w, who, a, now)
			return err
		})
		if !errors.Is(err, errListChanged) {
			return c, nil, err
		}
	}
	ids, err := cs.inserted(ctx, who, change)
	if err != nil {
		return c, nil, err
	}
	err = cs.Store.Write(ctx, func(w ContainerWriter) error {
		large = nil
		if err := cs.lockInvolved(ctx, w, who, in, change, ids, now); err != nil {
			return err
		}
		if err := w.PlaceTasks(ctx, who.Organization, in, now); err != nil {
			return err
		}
		before, err := container(ctx, w, who.Organization, in, 0)
		if err != nil {
			return err
		}
		a, err := arrange(before, change, ids)
		if err != nil {
			return err
		}
		if a.isLarge() {
			large = &a
			return nil
		}
		c, err = cs.save(ctx, w, who, a, now)
		return err
	})
	return c, large, err
}

// inserted returns the tasks that a change puts into a container. It reads related tasks
// before the transaction of the change, because there may be many.
func (cs *Containers) inserted(ctx context.Context, who lastmile.Principal, change lastmile.ContainerChange) (ids []lastmile.TaskID, err error) {
	if !change.ConsiderDependencies {
		return change.Tasks, nil
	}
	err = cs.Store.Read(ctx, func(r ContainerReader) (err error) {
		ids, err = families(ctx, r, who, change.Tasks, MaxMoved)
		return err
	})
	return ids, err
}

// lockInvolved locks a container that is about to change, and the containers that tasks
// leave or join. If there are too many tasks for this transaction, it does not lock the
// containers that they leave.
func (cs *Containers) lockInvolved(ctx context.Context, w ContainerWriter, who lastmile.Principal, in lastmile.ContainerRef, change lastmile.ContainerChange, ids []lastmile.TaskID, now time.Time) error {
	lists := []lastmile.ContainerRef{in}
	if change.Replace {
		lists = append(lists, lastmile.OrganizationContainer(who.Organization))
	}
	if len(ids) <= maxAtOnce {
		tasks, err := w.TasksOf(ctx, who.Organization, ids)
		if err != nil {
			return err
		}
		for _, task := range tasks {
			lists = append(lists, task.Container)
		}
	}
	return cs.lockAll(ctx, w, who.Organization, now, lists...)
}

// arrange plans a change of a container that inserts the tasks ids.
func arrange(before lastmile.Container, change lastmile.ContainerChange, ids []lastmile.TaskID) (arrangement, error) {
	a := arrangement{before: before, ids: ids, index: change.Index}
	if len(a.ids) > MaxMoved {
		return a, lastmile.Invalid("tasks has %d entries; at most %d are allowed", len(a.ids), MaxMoved)
	}
	moved := make(map[lastmile.TaskID]bool, len(a.ids))
	for _, id := range a.ids {
		moved[id] = true
	}
	for _, id := range before.Tasks {
		if !moved[id] {
			a.rest = append(a.rest, id)
		}
	}
	if change.Replace {
		a.left, a.rest, a.index = a.rest, nil, lastmile.AtStart
	}
	if a.index == lastmile.AtEnd || a.index > len(a.rest) {
		a.index = len(a.rest)
	}
	return a, nil
}

// isLarge reports whether a change is too large for one transaction.
func (a *arrangement) isLarge() bool { return len(a.ids)+len(a.left) > maxAtOnce }

// changesNothing reports whether the list is the same afterwards.
func (a *arrangement) changesNothing() bool { return slices.Equal(a.after(), a.before.Tasks) }

// after returns the list after the change.
func (a *arrangement) after() []lastmile.TaskID {
	return slices.Insert(slices.Clone(a.rest), a.index, a.ids...)
}

// checkUnchanged returns errListChanged if a container has changed since it was
// read. It does not read the list.
func checkUnchanged(ctx context.Context, r ContainerWriter, c lastmile.Container) error {
	if err := checkContainer(ctx, r, c.Organization, c.ContainerRef); err != nil {
		return err
	}
	read := store.ListState{Version: c.Version}
	if len(c.Tasks) > 0 {
		read.Last = c.Tasks[len(c.Tasks)-1]
	}
	state, err := r.ListState(ctx, c.Organization, c.ContainerRef)
	if err == nil && state != read {
		err = errListChanged
	}
	return err
}

// save makes a small change of a container whose list has not changed since it was
// read, and returns the container after the change.
func (cs *Containers) save(ctx context.Context, w ContainerWriter, who lastmile.Principal, a arrangement, now time.Time) (lastmile.Container, error) {
	c, home := a.before, lastmile.OrganizationContainer(who.Organization)
	also := []lastmile.ContainerRef{}
	if len(a.left) > 0 {
		also = append(also, home)
	}
	if err := cs.transfer(ctx, w, who, c.ContainerRef, store.PositionAt(a.index, a.rest), a.ids, also...); err != nil {
		return c, err
	}
	if err := cs.transfer(ctx, w, who, home, store.Position{}, a.left); err != nil {
		return c, err
	}
	if err := cs.lock(ctx, w, who.Organization, c.ContainerRef, now); err != nil {
		return c, err
	}
	saved, err := w.ContainerHead(ctx, who.Organization, c.ContainerRef, 1)
	c.Tasks, c.Modified, c.Version = a.after(), saved.Modified, saved.Version
	return c, err
}

// moveInSteps makes a large change of a container, in several transactions, and
// returns the container after them.
//
// Tasks are moved to one end of the list, where there is room for any number of them.
// If they belong between two others, the tasks between that position and the end are
// then moved to the same end. The end with fewer of these tasks is chosen.
func (cs *Containers) moveInSteps(ctx context.Context, who lastmile.Principal, a arrangement) (lastmile.Container, error) {
	if n := len(a.ids) + len(a.left); n > MaxMoved {
		return a.before, lastmile.Invalid("this would move %d tasks; at most %d are allowed in one request", n, MaxMoved)
	}
	if err := cs.checkMove(ctx, who, a); err != nil {
		return a.before, err
	}
	end, err := cs.large.Take(ctx, string(who.Organization))
	if err != nil {
		return a.before, err
	}
	defer end()
	in, home := a.before.ContainerRef, lastmile.OrganizationContainer(who.Organization)
	ahead, behind := a.rest[:a.index], a.rest[a.index:]
	move := func(ids []lastmile.TaskID, at store.Position, to lastmile.ContainerRef, listed bool) error {
		for _, chunk := range chunks(ids, at.Start) {
			if err := cs.moveSome(ctx, who, in, to, at, chunk, listed); err != nil {
				return err
			}
		}
		return nil
	}
	at, shifted := store.Position{}, behind
	if len(ahead) < len(behind) {
		at, shifted = store.Position{Start: true}, ahead
	}
	if err := move(a.ids, at, in, false); err != nil {
		return a.before, err
	}
	if err := move(shifted, at, in, true); err != nil {
		return a.before, err
	}
	if err := move(a.left, store.Position{}, home, true); err != nil {
		return a.before, err
	}
	return cs.Container(ctx, who, in)
}

// chunks divides tasks for several transactions. If fromBehind, because the tasks are
// inserted at the start of a list, the last chunk is the first.
func chunks(ids []lastmile.TaskID, fromBehind bool) [][]lastmile.TaskID {
	all := slices.Collect(slices.Chunk(ids, moveChunk))
	if fromBehind {
		slices.Reverse(all)
	}
	return all
}

// moveSome moves some tasks in one transaction. If listed, tasks that are no longer in
// the list of the container in stay where they are.
func (cs *Containers) moveSome(ctx context.Context, who lastmile.Principal, in, to lastmile.ContainerRef, at store.Position, ids []lastmile.TaskID, listed bool) error {
	end, err := cs.steps.Take(ctx, "") // so that other writers wait for at most one step
	if err != nil {
		return err
	}
	defer end()
	return cs.Store.Write(ctx, func(w ContainerWriter) error {
		if err := checkContainer(ctx, w, who.Organization, to); err != nil {
			return err
		}
		if !listed {
			return cs.step().transfer(ctx, w, who, to, at, ids)
		}
		still, err := w.StillListed(ctx, who.Organization, in, ids)
		if err != nil {
			return err
		}
		return cs.step().transfer(ctx, w, who, to, at, still)
	})
}

// step returns the Base of a step: the estimates of workers are refreshed when all
// steps are done, not after each of them.
func (b *Base) step() *Base { return &Base{Events: b.Events, Now: b.Now, pause: stepPause} }

// checkMove checks all tasks of a large change before the first of them is moved.
func (cs *Containers) checkMove(ctx context.Context, who lastmile.Principal, a arrangement) error {
	return cs.Store.Read(ctx, func(r ContainerReader) error {
		for chunk := range slices.Chunk(a.ids, moveChunk) {
			tasks, err := r.TasksOf(ctx, who.Organization, chunk)
			if err != nil {
				return err
			}
			for _, task := range tasks {
				if _, err := task.Put(a.before.ContainerRef, who.Actor(), cs.Now()); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Drain moves the tasks of a container to the organization's container, except for a
// few, which Release moves in the transaction that deletes the container's owner.
func (cs *Containers) Drain(ctx context.Context, who lastmile.Principal, from lastmile.ContainerRef) error {
	end, err := cs.large.Take(ctx, string(who.Organization))
	if err != nil {
		return err
	}
	defer end()
	for more := true; more; {
		err := cs.Store.Write(ctx, func(w ContainerWriter) error {
			ids, err := w.ListHead(ctx, who.Organization, from, moveChunk)
			if more = len(ids) == moveChunk; err != nil || !more {
				return err
			}
			return cs.step().transfer(ctx, w, who, lastmile.OrganizationContainer(who.Organization), store.Position{}, ids)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Release moves the tasks of a container to the organization's container, because the
// owner is about to be deleted. Callers call Drain first.
func (cs *Containers) Release(ctx context.Context, tx store.Transaction, who lastmile.Principal, from lastmile.ContainerRef) error {
	w, err := cs.Store.Join(tx)
	if err != nil {
		return err
	}
	c, err := w.Container(ctx, who.Organization, from)
	if err != nil {
		return err
	}
	return cs.transfer(ctx, w, who, lastmile.OrganizationContainer(who.Organization), store.Position{}, c.Tasks)
}

// Lock locks containers in the transaction of the caller, before several calls of PutRoute.
func (cs *Containers) Lock(ctx context.Context, tx store.Transaction, org lastmile.OrganizationID, lists []lastmile.ContainerRef) error {
	w, err := cs.Store.Join(tx)
	if err != nil {
		return err
	}
	return cs.step().lockAll(ctx, w, org, cs.Now(), lists...)
}

// PutRoute puts tasks at the start of a worker's list, in order, in the transaction of
// the caller. Tasks that are neither in that list nor in one of the containers from stay
// where they are.
func (cs *Containers) PutRoute(ctx context.Context, tx store.Transaction, who lastmile.Principal, worker lastmile.WorkerID, from []lastmile.ContainerRef, ids []lastmile.TaskID) error {
	w, err := cs.Store.Join(tx)
	if err != nil {
		return err
	}
	to := lastmile.WorkerContainer(worker)
	lists := append([]lastmile.ContainerRef{to}, from...)
	if err := cs.lockAll(ctx, w, who.Organization, cs.Now(), slices.Clone(lists)...); err != nil {
		return err
	}
	listed := map[lastmile.TaskID]bool{}
	for _, list := range lists {
		still, err := w.StillListed(ctx, who.Organization, list, ids)
		if err != nil {
			return err
		}
		for _, id := range still {
			listed[id] = true
		}
	}
	still := slices.DeleteFunc(slices.Clone(ids), func(id lastmile.TaskID) bool { return !listed[id] })
	return cs.step().transfer(ctx, w, who, to, store.Position{Start: true}, still)
}
