package events

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"dray/internal/lastmile"
)

// Committer is a transaction that runs functions after its commit.
type Committer interface {
	// OnCommit registers a function that runs once, after the transaction was
	// committed.
	OnCommit(fn func())
}

// Transaction has the methods of a transaction that a Log needs.
type Transaction interface {
	Committer
	Worker(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Worker, error)
	WebhookTriggers(ctx context.Context, org lastmile.OrganizationID) ([]lastmile.Webhook, error)
	InsertEvents(ctx context.Context, events []lastmile.EventRecord) (numbered bool, err error)
	InsertNotifications(ctx context.Context, notifications []lastmile.Notification) error
}

// Options are the dependencies of a Log.
type Options struct {
	Now    func() time.Time
	NewID  func() string
	Encode func(context.Context, []lastmile.Event) ([][]byte, error) // returns the bodies to send
	Hub    *Hub

	// Orders updates the orders of tasks after events, in their transaction; nil if
	// there are no orders.
	Orders func(ctx context.Context, tx Transaction, events []lastmile.Event) error

	// Messages saves the text messages that follow from events, in their
	// transaction; nil if none are sent.
	Messages func(ctx context.Context, tx Transaction, events []lastmile.Event) error

	// Replan requests that routes are planned again after events, in their transaction;
	// nil if routes are never planned again.
	Replan func(ctx context.Context, tx Transaction, events []lastmile.Event) error
}

// Log appends the events of all organizations.
type Log struct {
	options   Options
	order     atomic.Int64 // Order of the last event appended
	committed Wake
	handover  handover
}

// NewLog returns a Log.
func NewLog(o Options) *Log { return &Log{options: o} }

// Append stores events, with their notifications and text messages, in the
// transaction that causes them. An event that names webhooks is sent to those
// only, a RecipientsOnly event only causes text messages, and any other event is
// for all webhooks of its trigger and for recipients. An event of a task that another
// organization placed is stored for both. Append fills in ids, times and the workers of
// tasks, in copies of the caller's events.
func (l *Log) Append(ctx context.Context, tx Transaction, events ...lastmile.Event) error {
	if len(events) == 0 {
		return nil
	}
	if l.options.Orders != nil {
		if err := l.options.Orders(ctx, tx, events); err != nil {
			return err
		}
	}
	events = slices.Clone(events)
	if err := l.complete(ctx, tx, events); err != nil {
		return err
	}
	stored := slices.DeleteFunc(slices.Clone(events), func(e lastmile.Event) bool { return e.RecipientsOnly })
	notifications, logged, err := l.insert(ctx, tx, l.withOrigins(stored))
	if err != nil {
		return err
	}
	if len(stored) > 0 {
		topics := append(topicsOf(stored), logged...)
		tx.OnCommit(func() {
			l.handover.add(notifications)
			l.committed.Signal()
			l.options.Hub.Publish(topics...)
		})
	}
	named := func(e lastmile.Event) bool { return e.Webhooks != nil }
	if l.options.Replan != nil {
		if err := l.options.Replan(ctx, tx, slices.DeleteFunc(stored, named)); err != nil {
			return err
		}
	}
	if l.options.Messages == nil {
		return nil
	}
	public := slices.DeleteFunc(events, named)
	if len(public) == 0 {
		return nil
	}
	return l.options.Messages(ctx, tx, public)
}

// Rehearse encodes events that a transaction is expected to append, so that it finds them
// encoded if ctx is one of store.Remember. It returns their size.
func (l *Log) Rehearse(ctx context.Context, events ...lastmile.Event) (bytes int) {
	bodies, err := l.options.Encode(ctx, events)
	if err != nil {
		return 0 // the transaction returns the error
	}
	for _, body := range bodies {
		bytes += len(body)
	}
	return bytes
}

// Limits of the tasks that are shown for workers in the events of one change: all events
// together show at most maxWorkerTasks, but each may show minWorkerTasks. Without these
// limits, the worker's tasks would make the events of a route plan four times as long.
const (
	maxWorkerTasks = 10_000
	minWorkerTasks = 20
)

// withOrigins returns events, each followed by a copy for the origin if another
// organization placed the task. The copy contains only what the origin may see.
func (l *Log) withOrigins(events []lastmile.Event) []lastmile.Event {
	all := make([]lastmile.Event, 0, len(events))
	for _, e := range events {
		all = append(all, e)
		if e.Task == nil || e.Task.Origin == "" {
			continue
		}
		executor, task := e.Organization, e.Task.SeenBy(e.Task.Origin)
		e.ID, e.Organization, e.Task, e.Worker = l.options.NewID(), task.Origin, &task, nil
		if (e.Actor.Type == lastmile.ActorAPI || e.Actor.Type == lastmile.ActorAdmin) && e.Actor.ID != string(task.Origin) {
			e.Actor = lastmile.Actor{Type: lastmile.ActorAPI, ID: string(executor)} // without the key or administrator
		}
		all = append(all, e)
	}
	return all
}

// complete fills in the ids and times of events and the workers of their tasks.
func (l *Log) complete(ctx context.Context, tx Transaction, events []lastmile.Event) error {
	now, workers := l.options.Now(), map[lastmile.WorkerID]*lastmile.Worker{}
	most := max(maxWorkerTasks/len(events), minWorkerTasks)
	for i := range events {
		e := &events[i]
		e.ID, e.Stored = l.options.NewID(), now
		if e.Task == nil || e.Task.Worker == "" || !e.Trigger.ShowsWorker() {
			continue
		}
		id := e.Task.Worker
		if workers[id] == nil {
			worker, err := tx.Worker(ctx, e.Organization, id)
			if lastmile.IsNotFound(err) {
				continue // deleted; the task still has the worker's id
			}
			if err != nil {
				return err
			}
			worker.Tasks = worker.Tasks[:min(len(worker.Tasks), most)]
			workers[id] = &worker
		}
		e.Worker = workers[id]
	}
	return nil
}

// insert stores events and their notifications. It returns the notifications, and the topics
// of the logs in which the events have numbers already.
func (l *Log) insert(ctx context.Context, tx Transaction, events []lastmile.Event) (notifications []lastmile.Notification, logged []Topic, err error) {
	bodies, err := l.options.Encode(ctx, events)
	if err != nil {
		return nil, nil, err
	}
	hooks := map[lastmile.OrganizationID][]lastmile.Webhook{}
	records := make([]lastmile.EventRecord, 0, len(events))
	for i, e := range events {
		if _, read := hooks[e.Organization]; !read {
			if hooks[e.Organization], err = tx.WebhookTriggers(ctx, e.Organization); err != nil {
				return nil, nil, err
			}
			logged = append(logged, OrganizationTopic(e.Organization))
		}
		if e.Task != nil && e.Task.Origin != "" && e.Webhooks != nil && !slices.ContainsFunc(hooks[e.Organization], e.Concerns) {
			continue // it is for webhooks of the other organization
		}
		records = append(records, lastmile.EventRecord{Event: e, Order: l.order.Add(1), Body: bodies[i]})
		notifications = append(notifications, e.Notifications(hooks[e.Organization], bodies[i])...)
	}
	numbered, err := tx.InsertEvents(ctx, records)
	if err != nil {
		return nil, nil, err
	}
	if !numbered { // the Feed numbers them and publishes these topics
		logged = nil
	}
	return notifications, logged, tx.InsertNotifications(ctx, notifications)
}

// HandOver passes notifications that a transaction has made due again to the
// webhook sender, after the commit and without their bodies. The sender reads the
// bodies from the database.
func (l *Log) HandOver(tx Committer, notifications ...lastmile.Notification) {
	notifications = slices.Clone(notifications)
	for i := range notifications {
		notifications[i].Body = nil
	}
	tx.OnCommit(func() {
		l.handover.add(notifications)
		l.committed.Signal()
	})
}

// Publish wakes the subscribers of topics after the commit of a transaction that
// changed them without an event.
func (l *Log) Publish(tx Committer, topics ...Topic) {
	tx.OnCommit(func() { l.options.Hub.Publish(topics...) })
}

// Committed returns a channel that receives a value after events were committed
// by this process, or notifications became due again.
func (l *Log) Committed() <-chan struct{} { return l.committed.Channel() }

// Drain returns the notifications that this process has committed since the last
// call. Beyond a limit it returns only one notification of each webhook, without
// its body; the others must be read from the database.
func (l *Log) Drain() []lastmile.Notification { return l.handover.drain() }
