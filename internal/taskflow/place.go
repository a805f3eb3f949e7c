package taskflow

import (
	"context"
	"maps"
	"slices"
	"sync"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// A task that one organization, the origin, places with another, the executor, belongs
// to the executor: it is in the executor's containers, and the executor's workers carry
// it out. The origin keeps the recipient in its own address book. It can read, change
// and delete the task, but not see or change how the executor organizes its work.

// inside returns the caller as the organization that has a task sees it: the origin of
// the task acts as an organization, not as one of its API keys or people.
func inside(who lastmile.Principal, home lastmile.OrganizationID) lastmile.Principal {
	if home != who.Organization {
		who = lastmile.Principal{Organization: home, Key: lastmile.KeyID(who.Organization), Receipt: who.Receipt}
	}
	return who
}

// home returns the organization that will have a new task: the executor.
func (p prepared) home(org lastmile.OrganizationID) lastmile.OrganizationID {
	if executor := p.draft.Change.Executor; executor != nil {
		return *executor
	}
	return org
}

// placeWith completes the change of a new task that one organization places with
// another: it sets the organization that the recipient sees, and saves the destination
// in the other's address book.
func placeWith(ctx context.Context, w creationWriter, org, home lastmile.OrganizationID, change *lastmile.TaskChange) error {
	if home == org {
		return nil
	}
	connection, err := w.Connection(ctx, org, home)
	if err != nil {
		return err
	}
	if change.Merchant == nil {
		if change.Merchant = &home; connection.ShowName {
			change.Merchant = &org
		}
	}
	return shareDestination(ctx, w, home, change.Destination)
}

// checkRoom rejects a new task for another organization if the caller has too many open
// tasks with others, including more that the current transaction has placed. Tasks are not
// counted in the transactions that create them, because on PostgreSQL these would conflict.
func (c *Creator) checkRoom(ctx context.Context, org, home lastmile.OrganizationID, more int) error {
	if home == org {
		return nil
	}
	open, err := c.Placed.CountPlaced(ctx, org, c.MaxPlaced)
	if err == nil && open+more >= c.MaxPlaced {
		err = lastmile.Invalid("executor: %d tasks that the organization placed with others are open, which is the limit; wait until some are completed, or delete or cancel some", c.MaxPlaced)
	}
	return err
}

// countOnce returns Batches for the items of one batch: the tasks that the organization
// placed with others are counted once, and not for each item.
func (bs *Batches) countOnce() *Batches {
	once := *bs
	once.counted = &countedOnce{Placed: bs.Placed}
	once.Placed = once.counted
	return &once
}

// countedOnce is a Placed for one batch. It adds the tasks that the batch has placed.
type countedOnce struct {
	Placed
	mu    sync.Mutex
	known bool
	open  int
}

// CountPlaced implements Placed.
func (p *countedOnce) CountPlaced(ctx context.Context, origin lastmile.OrganizationID, limit int) (open int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.known {
		if p.open, err = p.Placed.CountPlaced(ctx, origin, limit); err != nil {
			return 0, err
		}
		p.known = true
	}
	return p.open, nil
}

// add adds tasks that were placed.
func (p *countedOnce) add(placed int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open += placed
}

// prepareNew is prepare for a new task.
func (c *Creator) prepareNew(ctx context.Context, who lastmile.Principal, d lastmile.TaskDraft) (prepared, error) {
	p := prepared{draft: d}
	if err := checkImportKey(d); err != nil {
		return p, err
	}
	if err := c.checkRoom(ctx, who.Organization, p.home(who.Organization), 0); err != nil {
		return p, err
	}
	return c.prepare(ctx, who, d)
}

// shareDestination saves a destination, if there is one, in the address book of the
// organization that has the task.
func shareDestination(ctx context.Context, w creationWriter, home lastmile.OrganizationID, d *lastmile.Destination) error {
	if d == nil || d.Organization == home {
		return nil
	}
	shared := *d
	shared.Organization = home
	return w.SaveDestination(ctx, shared)
}

// keepPlacement removes the fields that only the origin of a task decides from a draft
// of the executor, and rejects the draft if it changes one of them.
func (p prepared) keepPlacement() (prepared, error) {
	change, of := &p.draft.Change, p.of
	switch {
	case p.draft.Destination != nil && !p.sameDestination():
		return p, onlyOrigin("destination")
	case p.draft.Recipients != nil && !p.sameRecipient():
		return p, onlyOrigin("recipients")
	case change.Merchant != nil && *change.Merchant != of.Merchant:
		return p, onlyOrigin("merchant")
	}
	p.destination, p.draft.Destination, p.draft.Recipients, change.Merchant = nil, nil, nil, nil
	return p, nil
}

func onlyOrigin(field string) error {
	return lastmile.Invalid("%s can be changed only by the organization that placed the task", field)
}

// sameRecipient reports whether the recipients that were sent are those of the task,
// unchanged.
func (p prepared) sameRecipient() bool {
	known, sent := p.of.Recipient, *p.draft.Recipients
	switch {
	case known == nil || len(sent) == 0:
		return known == nil && len(sent) == 0
	case sent[0].Draft == nil:
		return sent[0].ID == known.ID
	}
	if len(p.recipients) != 1 || p.recipients[0].New.Phone != known.Phone {
		return false
	}
	_, changed, err := p.recipients[0].Merge(known)
	return err == nil && !changed
}

// checkPlaced rejects a container for a task that the caller places, or placed, with
// another organization.
func checkPlaced(ctx context.Context, r ownerChecker, who lastmile.Principal, task lastmile.Task, in lastmile.ContainerRef) error {
	if in == task.Container || in == task.SeenBy(who.Organization).Container {
		return nil
	}
	if err := checkContainer(ctx, r, who.Organization, in); err != nil {
		return err
	}
	return lastmile.Invalid("container cannot be chosen for a task of another executor, which decides where the task goes")
}

// adopt turns the copy of a task that another organization placed into a task of the
// executor itself, with a recipient in the executor's address book.
func (ts *Tasks) adopt(ctx context.Context, w TaskWriter, task *lastmile.Task) error {
	task.Origin = ""
	if task.Recipient == nil {
		return nil
	}
	known, err := w.Recipients(ctx, task.Organization, store.RecipientFilter{Phone: task.Recipient.Phone, Limit: 1})
	if err != nil {
		return err
	}
	if len(known) > 0 {
		task.Recipient = &known[0]
		return nil
	}
	copied, now := *task.Recipient, ts.Now()
	copied.ID, copied.Organization, copied.Created, copied.Modified = lastmile.RecipientID(ts.NewID()), task.Organization, now, now
	task.Recipient = &copied
	return w.AddRecipient(ctx, copied)
}

// checkOrder rejects a change that would break the order of a task: its pickup must stay
// a pickup, and its drop-off must depend on the pickup.
func checkOrder(ctx context.Context, r tasksReader, before, after lastmile.Task) error {
	switch {
	case before.OrderShortID == "":
		return nil
	case before.Pickup != after.Pickup:
		return lastmile.Invalid("pickupTask cannot be changed for a task of order %s", before.OrderShortID)
	case before.Pickup || slices.Equal(before.Dependencies, after.Dependencies):
		return nil
	}
	known, err := r.TasksOf(ctx, before.Organization, before.Dependencies)
	for _, task := range known {
		if task.OrderShortID == before.OrderShortID && !slices.Contains(after.Dependencies, task.ID) {
			return lastmile.Invalid("dependencies must contain %s, the pickup of order %s", task.ID, before.OrderShortID)
		}
	}
	return err
}

// checkOrdered rejects a change, by the client, of a field that the price of an order
// depends on. Such a field is changed by an update of the order, which checks the price.
func checkOrdered(before, after lastmile.Task) error {
	field := ""
	switch {
	case before.OrderShortID == "":
		return nil
	case before.Destination.ID != after.Destination.ID:
		field = "destination"
	case !before.CompleteAfter.Equal(after.CompleteAfter):
		field = "completeAfter"
	case !before.CompleteBefore.Equal(after.CompleteBefore):
		field = "completeBefore"
	case before.Quantity != after.Quantity:
		return lastmile.Invalid("quantity cannot be changed for a task of order %s", before.OrderShortID)
	default:
		return nil
	}
	return lastmile.Invalid("%s cannot be changed for a task of an order alone; change order %s", field, before.OrderShortID)
}

// Prepared is a draft that is ready to be placed.
type Prepared struct{ ready prepared }

// Prepare does the part of placing a task that must not happen in a transaction. The
// caller is the organization that places it.
func (ts *Tasks) Prepare(ctx context.Context, who lastmile.Principal, d lastmile.TaskDraft) (Prepared, error) {
	ready, err := ts.prepareNew(ctx, who, d)
	return Prepared{ready}, err
}

// Place creates a task of an order in a transaction that another use case began. The
// caller is the organization that places it; the draft names the executor. The task
// depends on the tasks in after and on those that the draft names.
func (ts *Tasks) Place(ctx context.Context, tx store.Transaction, who lastmile.Principal, p Prepared, order string, after ...lastmile.TaskID) (lastmile.Task, error) {
	w, err := ts.Store.Join(tx)
	if err != nil {
		return lastmile.Task{}, err
	}
	if len(after) > 0 {
		var named []lastmile.TaskID
		lastmile.Set(&named, p.ready.draft.Change.Dependencies)
		all := lastmile.Unique(slices.Concat(after, named))
		p.ready.draft.Change.Dependencies = &all
	}
	p.ready.order = order
	made, err := ts.create(ctx, w, who, p.ready, nil, ts.Now())
	return made.Task, err
}

// Amend changes a task in a transaction that another use case began. The draft must be
// prepared by the same caller.
func (ts *Tasks) Amend(ctx context.Context, tx store.Transaction, who lastmile.Principal, id lastmile.TaskID, p Prepared) (task lastmile.Task, err error) {
	w, err := ts.Store.Join(tx)
	if err != nil {
		return task, err
	}
	if task, err = w.VisibleTask(ctx, who.Organization, id); err != nil {
		return task, err
	}
	return ts.amend(ctx, w, who, task, p.ready, ts.Now())
}

// Remove deletes tasks, in order, in a transaction that another use case began.
func (ts *Tasks) Remove(ctx context.Context, tx store.Transaction, who lastmile.Principal, ids ...lastmile.TaskID) error {
	w, err := ts.Store.Join(tx)
	if err != nil {
		return err
	}
	tasks, err := ts.lockTasks(ctx, w, who, ids)
	if err != nil {
		return err
	}
	for _, task := range tasks {
		children, err := w.Children(ctx, task.Organization, task.ID, 0)
		if err == nil {
			err = ts.remove(ctx, w, who, task, children, ts.Now())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Lock locks the containers of tasks, before several calls of Remove in one transaction.
func (ts *Tasks) Lock(ctx context.Context, tx store.Transaction, who lastmile.Principal, ids ...lastmile.TaskID) error {
	w, err := ts.Store.Join(tx)
	if err == nil {
		_, err = ts.lockTasks(ctx, w, who, ids)
	}
	return err
}

// lockTasks locks the containers of tasks, and returns the tasks.
func (ts *Tasks) lockTasks(ctx context.Context, w TaskWriter, who lastmile.Principal, ids []lastmile.TaskID) (tasks []lastmile.Task, err error) {
	lists := map[lastmile.OrganizationID][]lastmile.ContainerRef{}
	for _, id := range ids {
		task, err := w.VisibleTask(ctx, who.Organization, id)
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, task)
		lists[task.Organization] = append(lists[task.Organization], task.Container)
	}
	for _, org := range slices.Sorted(maps.Keys(lists)) {
		if err := ts.lockAll(ctx, w, org, ts.Now(), lists[org]...); err != nil {
			return nil, err
		}
	}
	return tasks, nil
}
