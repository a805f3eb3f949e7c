package order

import (
	"slices"
	"time"

	"dray/internal/lastmile"
)

// ID identifies an order.
type ID string

// Limits of orders.
const (
	MaxCancelled = 100 // orders in one request
	MaxEvents    = 100 // events of an order; the first and the last ones are kept
	MaxReason    = lastmile.MaxText
)

// Status is the progress of an order. It follows from the states of its two tasks, unless
// the order was cancelled or rejected.
type Status string

// The statuses of orders.
const (
	Unassigned Status = "unassigned"
	Assigned   Status = "assigned"  // both tasks are assigned
	Active     Status = "active"    // a task was started
	Completed  Status = "completed" // both tasks were completed with success
	Failed     Status = "failed"    // a task was completed without success
	Cancelled  Status = "cancelled" // cancelled by the client, or by the courier for the client
	Rejected   Status = "rejected"  // rejected by the courier
)

// Values lists every status.
func (Status) Values() []Status {
	return []Status{Unassigned, Assigned, Active, Completed, Failed, Cancelled, Rejected}
}

// Check rejects an unknown status.
func (s Status) Check(field string) error {
	if slices.Contains(s.Values(), s) {
		return nil
	}
	return lastmile.Malformed("%s must be one of %s, not %q", field, listed(s.Values()), lastmile.Truncate(string(s), 32))
}

// Order is a delivery that a client orders from a courier: a pickup, and a drop-off
// that depends on it. The tasks are the courier's.
type Order struct {
	ID                ID
	ShortID           string
	Courier           lastmile.OrganizationID
	Client            lastmile.OrganizationID
	ClientID          lastmile.ClientID
	ClientName        string
	Created, Modified time.Time
	Service           ServiceID // empty if the client has no services
	ServiceName       string    // when the order was created
	Quote             QuoteID   // empty if the price is not that of a quote
	Price             *Price    // frozen when the order was created; nil for none
	Job               *Job      // the delivery that was priced; nil if the price was agreed
	Pickup, Dropoff   Leg
	Status            Status
	Reason            string // why it was rejected
	Events            []Event
}

// Leg is one of the tasks of an order, and its progress.
type Leg struct {
	Task   lastmile.TaskID
	State  lastmile.TaskState
	Failed bool // completed without success
}

// Event is something that happened to an order.
type Event struct {
	Name   string // created, updated, assigned, unassigned, started, completed, failed, cancelled or rejected
	At     time.Time
	Task   lastmile.TaskID // empty if it happened to the order as a whole
	Status Status          // status of the order after the event
}

// eventNames are the events of orders that follow from events of their tasks.
var eventNames = map[lastmile.Trigger]string{
	lastmile.TriggerTaskAssigned:   "assigned",
	lastmile.TriggerTaskUnassigned: "unassigned",
	lastmile.TriggerTaskStarted:    "started",
	lastmile.TriggerTaskCompleted:  "completed",
	lastmile.TriggerTaskFailed:     "failed",
}

// Begin sets the two new tasks of a new order.
func (o *Order) Begin(pickup, dropoff lastmile.Task, now time.Time) {
	o.Pickup, o.Dropoff = legOf(pickup), legOf(dropoff)
	o.Created, o.Status = now, o.progress()
	o.record("created", "", now)
}

func legOf(t lastmile.Task) Leg {
	return Leg{Task: t.ID, State: t.State, Failed: t.State == lastmile.TaskCompleted && !t.Completion.Success}
}

// Ended reports whether nothing can happen to the order any more.
func (o *Order) Ended() bool { return o.Status == Cancelled || o.Status == Rejected }

// Follow brings an order up to date after an event of one of its tasks, and reports
// whether it has changed.
func (o *Order) Follow(e lastmile.Event) bool {
	if e.Task == nil || o.Ended() {
		return false
	}
	leg := &o.Pickup
	switch e.Task.ID {
	case o.Pickup.Task:
	case o.Dropoff.Task:
		leg = &o.Dropoff
	default:
		return false
	}
	before, status := *leg, o.Status
	*leg = legOf(*e.Task)
	o.Status = o.progress()
	name := eventNames[e.Trigger]
	switch {
	case name != "":
		o.record(name, e.Task.ID, e.At)
	case before == *leg && status == o.Status:
		return false
	default:
		o.Modified = later(o.Modified, e.At)
	}
	return true
}

// progress returns the status that follows from the states of the tasks.
func (o *Order) progress() Status {
	first, last := o.Pickup.State, o.Dropoff.State
	switch {
	case o.Pickup.Failed || o.Dropoff.Failed:
		return Failed
	case first == lastmile.TaskCompleted && last == lastmile.TaskCompleted:
		return Completed
	case max(first, last) >= lastmile.TaskActive:
		return Active
	case min(first, last) >= lastmile.TaskAssigned:
		return Assigned
	}
	return Unassigned
}

// record adds an event.
func (o *Order) record(name string, task lastmile.TaskID, at time.Time) {
	o.Modified = later(o.Modified, at)
	if len(o.Events) >= MaxEvents {
		o.Events = append(o.Events[:1:1], o.Events[2:]...)
	}
	o.Events = append(o.Events, Event{Name: name, At: at, Task: task, Status: o.Status})
}

// CheckChange rejects a change of an order that was started or has ended. what is the
// participle in the message of the error, such as "cancelled".
func (o *Order) CheckChange(what string) error {
	if o.Status != Unassigned && o.Status != Assigned {
		return lastmile.Conflict("order %s is %s and cannot be %s; only orders that are not started can", o.ShortID, o.Status, what)
	}
	return nil
}

// CheckPriced rejects a change of its tasks that makes an order another delivery than the
// one that was priced. Values that stay the same are not checked: the courier may have
// changed them before.
func (o *Order) CheckPriced(pickup, newPickup, dropoff, newDropoff lastmile.Task) error {
	if o.Job == nil {
		return nil
	}
	from, ready := o.Job.Pickup, time.Time{}
	if at := newPickup.Destination.Location; at != pickup.Destination.Location {
		from = at
	}
	if at := newPickup.CompleteAfter; !at.Equal(pickup.CompleteAfter) {
		ready = at
	}
	to, due := o.Job.Dropoff, time.Time{}
	if at := newDropoff.Destination.Location; at != dropoff.Destination.Location {
		to = at
	}
	if at := newDropoff.CompleteBefore; !at.Equal(dropoff.CompleteBefore) {
		due = at
	}
	return lastmile.FirstError(
		lastmile.Within("pickupTask.", o.Job.CheckPickup(from, ready)),
		lastmile.Within("dropoffTask.", o.Job.CheckDropoff(to, due)))
}

// Update records that the tasks of an order were changed.
func (o *Order) Update(now time.Time) { o.record("updated", "", now) }

// Cancel ends an order that is not started.
func (o *Order) Cancel(now time.Time) error {
	if err := o.CheckChange("cancelled"); err != nil {
		return err
	}
	o.Status = Cancelled
	o.record("cancelled", "", now)
	return nil
}

// Reject ends an order that is not started, for a reason.
func (o *Order) Reject(reason string, now time.Time) error {
	if err := lastmile.RequireText("reason", reason); err != nil {
		return err
	}
	if err := o.CheckChange("rejected"); err != nil {
		return err
	}
	o.Status, o.Reason = Rejected, reason
	o.record("rejected", "", now)
	return nil
}
