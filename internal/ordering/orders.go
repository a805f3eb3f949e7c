package ordering

import (
	"cmp"
	"context"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/order"
	"dray/internal/rate"
	"dray/internal/store"
)

// Orders places orders of clients with couriers.
type Orders struct {
	Store      OrderStore
	Tasks      Tasks
	Quotes     *Quotes
	Now        func() time.Time
	NewID      func() string
	NewShortID func() string // eight hexadecimal digits
	Many       *rate.Shares  // limits cancellations of several orders, which keep the writer busy; nil for no limit
}

// PreparedTask is a draft of a task that is ready for a transaction.
type PreparedTask any

// Tasks creates, changes and deletes the tasks of orders, in transactions of Orders. The
// caller is always the client's organization.
type Tasks interface {
	// Prepare does the part of a change that must not happen in a transaction.
	Prepare(ctx context.Context, who lastmile.Principal, d lastmile.TaskDraft) (PreparedTask, error)
	// Place creates a task, which depends on others.
	Place(ctx context.Context, tx store.Transaction, who lastmile.Principal, p PreparedTask, orderShortID string, after ...lastmile.TaskID) (lastmile.Task, error)
	// Amend changes a task.
	Amend(ctx context.Context, tx store.Transaction, who lastmile.Principal, id lastmile.TaskID, p PreparedTask) (lastmile.Task, error)
	// Lock locks the lists of tasks, before several calls of Remove in one transaction.
	Lock(ctx context.Context, tx store.Transaction, who lastmile.Principal, ids ...lastmile.TaskID) error
	// Remove deletes tasks, in order.
	Remove(ctx context.Context, tx store.Transaction, who lastmile.Principal, ids ...lastmile.TaskID) error
}

// Placed is an order with its tasks, as one side sees them.
type Placed struct {
	order.Order
	PickupTask, DropoffTask lastmile.Task
}

// Draft is an order as sent.
type Draft struct {
	Client          string // id of the client or its organization, if a courier calls
	Courier         string // id of the courier, or of the caller as its client
	Service         string // id of a service or of a quote
	Price           *float64
	Currency        string
	Quantity        *int
	Weight          *order.Weight
	Pickup, Dropoff *lastmile.TaskDraft
}

// check rejects a draft without tasks.
func (d Draft) check() error {
	switch {
	case d.Pickup == nil:
		return lastmile.Missing("pickupTask")
	case d.Dropoff == nil:
		return lastmile.Missing("dropoffTask")
	}
	return nil
}

// Create places an order.
func (os *Orders) Create(ctx context.Context, who lastmile.Principal, d Draft) (Placed, error) {
	if err := d.check(); err != nil {
		return Placed{}, err
	}
	terms, err := os.terms(ctx, who, d)
	if err != nil {
		return Placed{}, err
	}
	caller := asClient(who, terms.client)
	pickup, dropoff, err := os.named(ctx, who, terms.client, d, nil)
	if err != nil {
		return Placed{}, err
	}
	if err := os.price(ctx, caller, d, &pickup, &dropoff, &terms); err != nil {
		return Placed{}, err
	}
	first, err := os.prepare(ctx, caller, "pickupTask.", pickup, terms.client.Courier, true)
	if err != nil {
		return Placed{}, err
	}
	last, err := os.prepare(ctx, caller, "dropoffTask.", dropoff, terms.client.Courier, false)
	if err != nil {
		return Placed{}, err
	}
	return store.Idempotent(ctx, os.Store, who, func(w OrderWriter) (Placed, error) {
		return os.place(ctx, w, who, caller, terms, first, last)
	})
}

// asClient returns a caller that acts as the client of an order: a courier may act for
// its clients.
func asClient(who lastmile.Principal, client store.Client) lastmile.Principal {
	return lastmile.Principal{Organization: client.Organization, Key: who.Key, Admin: who.Admin}
}

// prepare prepares a task of an order for its courier.
func (os *Orders) prepare(ctx context.Context, caller lastmile.Principal, field string, d lastmile.TaskDraft, courier lastmile.OrganizationID, isPickup bool) (PreparedTask, error) {
	d.Change.Executor, d.Change.Pickup = &courier, &isPickup
	if d.Recipients == nil {
		d.Recipients = &[]lastmile.RecipientRef{}
	}
	if d.Destination == nil {
		return nil, lastmile.Missing(field + "destination")
	}
	ready, err := os.Tasks.Prepare(ctx, caller, d)
	return ready, lastmile.Within(field, err)
}

// place creates an order and its tasks.
func (os *Orders) place(ctx context.Context, w OrderWriter, who, caller lastmile.Principal, t terms, first, last PreparedTask) (Placed, error) {
	// The client may have been deleted meanwhile; if the two are connected the other way
	// around, creating the tasks does not notice.
	client, err := FindClient(ctx, w, t.client.Courier, string(t.client.ID))
	if err = cmp.Or(err, inactive(client)); err != nil {
		return Placed{}, err
	}
	made := order.Order{
		ID: order.ID(os.NewID()), ShortID: os.NewShortID(), Courier: t.client.Courier, Client: t.client.Organization,
		ClientID: t.client.ID, ClientName: t.client.Name, Price: t.price, Job: t.job,
	}
	switch {
	case t.quote != nil:
		made.Service, made.ServiceName, made.Quote = t.quote.Service, t.quote.DisplayName, t.quote.ID
	case t.service != nil:
		made.Service, made.ServiceName = t.service.ID, t.service.DisplayName
	}
	pickup, err := os.Tasks.Place(ctx, w, caller, first, made.ShortID)
	if err != nil {
		return Placed{}, lastmile.Within("pickupTask.", err)
	}
	dropoff, err := os.Tasks.Place(ctx, w, caller, last, made.ShortID, pickup.ID)
	if err != nil {
		return Placed{}, lastmile.Within("dropoffTask.", err)
	}
	made.Begin(pickup, dropoff, os.Now())
	return seen(made, pickup, dropoff, who), w.SaveOrder(ctx, made)
}

// seen returns an order as a side sees it.
func seen(o order.Order, pickup, dropoff lastmile.Task, who lastmile.Principal) Placed {
	return Placed{Order: o, PickupTask: pickup.SeenBy(who.Organization), DropoffTask: dropoff.SeenBy(who.Organization)}
}

// Read returns an order by its short id or its id.
func (os *Orders) Read(ctx context.Context, who lastmile.Principal, id string) (placed Placed, err error) {
	err = os.Store.Read(ctx, func(r OrderReader) error {
		found, err := r.Order(ctx, who.Organization, id)
		if err != nil {
			return err
		}
		placed, err = whole(ctx, r, who, found)
		return err
	})
	return placed, err
}

// whole reads the tasks of an order.
func whole(ctx context.Context, r OrderReader, who lastmile.Principal, o order.Order) (Placed, error) {
	if o.Ended() {
		pickup, dropoff, err := r.OrderTasks(ctx, o)
		return seen(o, pickup, dropoff, who), err
	}
	tasks, err := r.TasksOf(ctx, o.Courier, []lastmile.TaskID{o.Pickup.Task, o.Dropoff.Task})
	if err != nil {
		return Placed{}, err
	}
	return seen(o, tasks[0], tasks[1], who), nil
}

// Update changes the tasks of an order that is not started.
func (os *Orders) Update(ctx context.Context, who lastmile.Principal, id string, d Draft) (placed Placed, err error) {
	if err := d.check(); err != nil {
		return placed, err
	}
	before, err := os.Read(ctx, who, id)
	if err == nil {
		err = before.CheckChange("changed")
	}
	if err != nil {
		return placed, err
	}
	client := store.Client{Organization: before.Client, Courier: before.Courier}
	caller := asClient(who, client)
	newPickup, newDropoff, err := os.named(ctx, who, client, d, &before)
	if err != nil {
		return placed, err
	}
	first, err := os.Tasks.Prepare(ctx, caller, changeable(newPickup))
	if err != nil {
		return placed, lastmile.Within("pickupTask.", err)
	}
	last, err := os.Tasks.Prepare(ctx, caller, changeable(newDropoff))
	if err != nil {
		return placed, lastmile.Within("dropoffTask.", err)
	}
	err = os.Store.Write(ctx, func(w OrderWriter) error {
		found, err := w.Order(ctx, who.Organization, id)
		if err == nil {
			err = found.CheckChange("changed")
		}
		if err != nil {
			return err
		}
		tasks, err := w.TasksOf(ctx, found.Courier, []lastmile.TaskID{found.Pickup.Task, found.Dropoff.Task})
		if err != nil {
			return err
		}
		pickup, err := os.Tasks.Amend(ctx, w, caller, found.Pickup.Task, first)
		if err != nil {
			return lastmile.Within("pickupTask.", err)
		}
		dropoff, err := os.Tasks.Amend(ctx, w, caller, found.Dropoff.Task, last)
		if err != nil {
			return lastmile.Within("dropoffTask.", err)
		}
		if who.Organization == found.Client {
			if err := found.CheckPriced(tasks[0], pickup, tasks[1], dropoff); err != nil {
				return err
			}
		}
		if pickup.Modified.Equal(tasks[0].Modified) && dropoff.Modified.Equal(tasks[1].Modified) { // nothing has changed
			placed = seen(found, pickup, dropoff, who)
			return nil
		}
		// The events of the tasks may have changed the order.
		if found, err = w.Order(ctx, who.Organization, id); err != nil {
			return err
		}
		found.Update(os.Now())
		placed = seen(found, pickup, dropoff, who)
		return w.SaveOrder(ctx, found)
	})
	return placed, err
}

// changeable returns the part of a draft that an update of an order can change.
func changeable(d lastmile.TaskDraft) lastmile.TaskDraft {
	c := d.Change
	return lastmile.TaskDraft{
		Change: lastmile.TaskChange{
			CompleteAfter: c.CompleteAfter, CompleteBefore: c.CompleteBefore, Notes: c.Notes, Requirements: c.Requirements,
		},
		Destination: d.Destination, Recipients: d.Recipients,
	}
}

// Cancelled is the result of cancelling orders.
type Cancelled struct{ Orders int }

// Cancel cancels orders that are not started, all or none. If a courier calls, client may
// name the client whose orders they must be.
func (os *Orders) Cancel(ctx context.Context, who lastmile.Principal, ids []string, client string) (Cancelled, error) {
	if len(ids) == 0 {
		return Cancelled{}, lastmile.Missing("orderIds")
	}
	if ids = lastmile.Unique(ids); len(ids) > order.MaxCancelled {
		return Cancelled{}, lastmile.Invalid("orderIds has %d entries; at most %d are allowed", len(ids), order.MaxCancelled)
	}
	if len(ids) > 1 {
		end, err := os.Many.Request(ctx, who.Organization)
		if err != nil {
			return Cancelled{}, err
		}
		defer end()
	}
	return store.Idempotent(ctx, os.Store, who, func(w OrderWriter) (Cancelled, error) {
		var (
			orders    []order.Order
			tasks     []lastmile.TaskID
			cancelled = map[order.ID]bool{} // an order may be named by its ID and its short ID
		)
		for _, id := range ids {
			found, err := w.Order(ctx, who.Organization, id)
			if err != nil {
				return Cancelled{}, err
			}
			if cancelled[found.ID] {
				continue
			}
			cancelled[found.ID] = true
			if client != "" && client != string(found.ClientID) && client != string(found.Client) {
				return Cancelled{}, lastmile.Invalid("order %s is not of client %s", id, lastmile.Truncate(client, 32))
			}
			if err := found.CheckChange("cancelled"); err != nil { // its tasks may be gone
				return Cancelled{}, err
			}
			orders, tasks = append(orders, found), append(tasks, found.Pickup.Task, found.Dropoff.Task)
		}
		if len(orders) > 1 {
			if err := os.Tasks.Lock(ctx, w, who, tasks...); err != nil {
				return Cancelled{}, err
			}
		}
		for _, found := range orders {
			if _, err := os.end(ctx, w, who, found, func(o *order.Order) error { return o.Cancel(os.Now()) }); err != nil {
				return Cancelled{}, err
			}
		}
		return Cancelled{Orders: len(cancelled)}, nil
	})
}

// Reject ends an order of a client, for a reason.
func (os *Orders) Reject(ctx context.Context, who lastmile.Principal, id, reason string) (Placed, error) {
	return store.Idempotent(ctx, os.Store, who, func(w OrderWriter) (Placed, error) {
		found, err := w.Order(ctx, who.Organization, id)
		if err != nil {
			return Placed{}, err
		}
		if found.Courier != who.Organization {
			return Placed{}, lastmile.Forbidden("only the courier of an order can reject it; cancel it instead")
		}
		return os.end(ctx, w, who, found, func(o *order.Order) error { return o.Reject(reason, os.Now()) })
	})
}

// end ends an order and deletes its tasks, which are kept with the order as they were.
func (os *Orders) end(ctx context.Context, w OrderWriter, who lastmile.Principal, o order.Order, by func(*order.Order) error) (Placed, error) {
	if err := by(&o); err != nil {
		return Placed{}, err
	}
	ids := []lastmile.TaskID{o.Pickup.Task, o.Dropoff.Task}
	tasks, err := w.TasksOf(ctx, o.Courier, ids)
	if err != nil {
		return Placed{}, err
	}
	slices.Reverse(ids) // the drop-off depends on the pickup
	if err := os.Tasks.Remove(ctx, w, who, ids...); err != nil {
		return Placed{}, err
	}
	// The order comes last, as with every change of a task that its order follows. In
	// another sequence, this and the start of a task would lock each other out.
	if err := w.SaveOrder(ctx, o); err != nil {
		return Placed{}, err
	}
	if err := w.SaveOrderTasks(ctx, o, tasks[0], tasks[1]); err != nil {
		return Placed{}, err
	}
	return seen(o, tasks[0], tasks[1], who), nil
}

// Clone places an order with the same tasks again, without their times. Only the client
// of an order without a service can.
func (os *Orders) Clone(ctx context.Context, who lastmile.Principal, id string) (Placed, error) {
	source, err := os.Read(ctx, who, id)
	if err != nil {
		return Placed{}, err
	}
	switch {
	case source.Client != who.Organization:
		return Placed{}, lastmile.Forbidden("only the client of an order can clone it")
	case source.Service != "":
		return Placed{}, lastmile.Conflict("order %s has a delivery service and cannot be cloned; request a quote and place an order", source.ShortID)
	}
	pickup, dropoff := copied(source.PickupTask), copied(source.DropoffTask)
	return os.Create(ctx, who, Draft{Courier: string(source.Courier), Pickup: &pickup, Dropoff: &dropoff})
}

// copied returns a draft of a task like another, without its times.
func copied(t lastmile.Task) lastmile.TaskDraft {
	d := t.Destination
	draft := lastmile.TaskDraft{
		Change: lastmile.TaskChange{
			Merchant: &t.Merchant, Notes: &t.Notes, Quantity: &t.Quantity, AdditionalQuantities: &t.AdditionalQuantities, ServiceTime: t.ServiceTime,
			Requirements: &t.Requirements, Barcodes: &t.Barcodes.Required, ScanOnlyRequiredBarcodes: &t.ScanOnlyRequiredBarcodes,
			Metadata: lastmile.MetadataChange{Replace: t.Metadata, Replaced: true},
		},
		Destination: &lastmile.DestinationRef{Draft: &lastmile.DestinationDraft{Address: &d.Address, Location: &d.Location, Notes: d.Notes, Metadata: d.Metadata}},
		Recipients:  &[]lastmile.RecipientRef{},
	}
	if t.Recipient != nil {
		draft.Recipients = &[]lastmile.RecipientRef{{ID: t.Recipient.ID}}
	}
	return draft
}

// Follower brings orders up to date with their tasks.
type Follower struct{ Store store.Joiner[FollowWriter] }

// Follow brings the orders of the tasks of events up to date, in their transaction.
func (f Follower) Follow(ctx context.Context, tx store.Transaction, events []lastmile.Event) error {
	var (
		orders  []order.Order
		changed []bool
	)
	for _, e := range events {
		if e.Task == nil || e.Task.OrderShortID == "" || e.Organization != e.Task.Organization || e.RecipientsOnly || e.Webhooks != nil {
			continue
		}
		at := slices.IndexFunc(orders, func(o order.Order) bool { return o.ShortID == e.Task.OrderShortID })
		if at < 0 {
			w, err := f.Store.Join(tx)
			if err != nil {
				return err
			}
			found, err := w.Order(ctx, e.Organization, e.Task.OrderShortID)
			if lastmile.IsNotFound(err) {
				continue // it is being created
			}
			if err != nil {
				return err
			}
			at, orders, changed = len(orders), append(orders, found), append(changed, false)
		}
		changed[at] = orders[at].Follow(e) || changed[at]
	}
	for i, o := range orders {
		if !changed[i] {
			continue
		}
		w, err := f.Store.Join(tx)
		if err == nil {
			err = w.SaveOrder(ctx, o)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
