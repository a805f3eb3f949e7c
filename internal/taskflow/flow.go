package taskflow

import (
	"context"
	"time"

	"dray/internal/addressbook"
	"dray/internal/assignment"
	"dray/internal/lastmile"
	"dray/internal/store"
)

// Flow is the tasks of all organizations.
type Flow struct {
	Store      store.Store
	Book       *addressbook.Book
	Now        func() time.Time
	NewID      func() string
	NewShortID func() string // eight hexadecimal digits
	NewToken   func() string // for tracking; cannot be guessed
	PublicURL  string

	// Notify saves the text messages that events owe, in their transaction; nil
	// owes none.
	Notify func(ctx context.Context, w store.Writer, events []lastmile.Event) error

	// Reached hears of a worker who says to be at the active task, or done, in
	// the transaction of the action and before it counts; nil for nobody.
	Reached func(ctx context.Context, w store.Writer, task *lastmile.Task, now time.Time) error

	// For batches, whose items are read when their turn comes.
	ReadDraft func(org lastmile.OrganizationID, sent []byte) (Draft, error) // of a task as sent
	Explain   func(error) lastmile.BatchFault                               // as a client is told
	JobAdded  func()                                                        // called after the commit
}

// Draft is a task as sent, to create one or to change it.
type Draft struct {
	Change      lastmile.TaskChange
	Destination *DestinationRef        // nil when none was sent
	Recipients  *[]RecipientRef        // nil when none were sent
	Container   *lastmile.ContainerRef // nil: the organization's own
	AutoAssign  *assignment.Options
	Fields      *[]lastmile.FieldValue
	Template    lastmile.TemplateID // empty when none was sent
}

// DestinationRef is a destination that was sent: the id of one, or a draft.
type DestinationRef struct {
	ID    lastmile.DestinationID
	Draft *lastmile.DestinationDraft
}

// RecipientRef is a recipient that was sent: the id of one, or a draft.
type RecipientRef struct {
	ID    lastmile.RecipientID
	Draft *lastmile.RecipientDraft
}

// prepared is a draft whose places and phone numbers have been found, ready
// for a transaction.
type prepared struct {
	draft       Draft
	destination *lastmile.Destination // nil when it is named by its id
	recipients  []addressbook.PreparedRecipient
	of          *lastmile.Task // the one to change or to clone; nil for a new one
	clones      bool
}

// prepare does what must not happen inside a transaction.
func (f *Flow) prepare(ctx context.Context, who lastmile.Principal, d Draft) (prepared, error) {
	p := prepared{draft: d}
	if d.AutoAssign != nil && d.Container != nil {
		return p, lastmile.Invalid("autoAssign cannot be combined with container")
	}
	if d.AutoAssign != nil {
		if err := d.AutoAssign.Check("autoAssign"); err != nil {
			return p, err
		}
	}
	if d.Recipients != nil {
		if len(*d.Recipients) > 1 {
			return p, lastmile.Invalid("recipients has %d entries; at most one is allowed", len(*d.Recipients))
		}
		for _, ref := range *d.Recipients {
			if ref.Draft == nil {
				continue
			}
			ready, err := f.Book.PrepareRecipient(ctx, who, "recipients[0].", *ref.Draft)
			if err != nil {
				return p, err
			}
			p.recipients = append(p.recipients, ready)
		}
	}
	if d.Destination != nil && d.Destination.Draft != nil {
		made, err := f.Book.Locate(ctx, who, "destination.", *d.Destination.Draft)
		if err != nil {
			return p, err
		}
		p.destination = &made
	}
	return p, nil
}

// effective is the draft without what an update of the task leaves as it is,
// so that nothing is looked for, made or refused for nothing.
func (d Draft) effective(of lastmile.Task) Draft {
	if of.Pending() {
		return d
	}
	d.Destination, d.Recipients, d.Container = nil, nil, nil
	d.Change.Merchant, d.Change.Executor = nil, nil
	return d
}

// change saves the destination and recipient of a draft, or finds those it
// names, and returns the change with them in it.
func (p prepared) change(ctx context.Context, w store.Writer, org lastmile.OrganizationID) (lastmile.TaskChange, error) {
	change := p.draft.Change
	switch {
	case p.destination != nil:
		change.Destination = p.destination
		if err := w.SaveDestination(ctx, *p.destination); err != nil {
			return change, err
		}
	case p.draft.Destination != nil:
		found, err := w.Destination(ctx, org, p.draft.Destination.ID)
		if err != nil {
			return change, err
		}
		change.Destination = &found
	}
	if p.draft.Recipients != nil {
		recipients, err := p.saveRecipients(ctx, w, org)
		if err != nil {
			return change, err
		}
		change.Recipients = &recipients
	}
	if err := checkConnections(ctx, w, org, change); err != nil {
		return change, err
	}
	return change, p.customFields(ctx, w, org, &change)
}

func (p prepared) saveRecipients(ctx context.Context, w store.Writer, org lastmile.OrganizationID) ([]lastmile.Recipient, error) {
	recipients := []lastmile.Recipient{}
	for _, ready := range p.recipients {
		saved, err := ready.Save(ctx, w)
		if err != nil {
			return nil, err
		}
		recipients = append(recipients, saved)
	}
	for _, ref := range *p.draft.Recipients {
		if ref.Draft != nil {
			continue
		}
		found, err := w.Recipient(ctx, org, ref.ID)
		if err != nil {
			return nil, err
		}
		recipients = append(recipients, found)
	}
	return recipients, nil
}

// checkConnections refuses a merchant or executor that the organization is not
// connected with.
func checkConnections(ctx context.Context, r store.Reader, org lastmile.OrganizationID, c lastmile.TaskChange) error {
	for _, other := range []*lastmile.OrganizationID{c.Merchant, c.Executor} {
		if other == nil || *other == org {
			continue
		}
		own, err := r.Organization(ctx, org)
		if err != nil {
			return err
		}
		if _, err := r.Organization(ctx, *other); err != nil {
			return err
		}
		if !own.MaySee(*other) {
			return lastmile.OutsideScope(string(*other))
		}
	}
	return nil
}

// checkDependencies refuses dependencies that are not the organization's tasks.
// Those of a new task lead nowhere back: nothing can depend on it yet.
func checkDependencies(ctx context.Context, r store.Reader, t lastmile.Task) error {
	_, err := r.TasksOf(ctx, t.Organization, t.Dependencies)
	return err
}

// checkNewDependencies is checkDependencies for a task whose dependencies have
// changed.
func checkNewDependencies(ctx context.Context, r store.Reader, t lastmile.Task) error {
	if err := checkDependencies(ctx, r, t); err != nil {
		return err
	}
	return t.CheckCycle(func(id lastmile.TaskID) ([]lastmile.TaskID, error) { return r.Parents(ctx, t.Organization, id) })
}

// checkContainer refuses a container that is not the organization's.
func checkContainer(ctx context.Context, r store.Reader, org lastmile.OrganizationID, in lastmile.ContainerRef) error {
	switch in.Kind {
	case lastmile.InTeam:
		_, err := r.Team(ctx, org, lastmile.TeamID(in.Owner))
		return err
	case lastmile.InWorker:
		_, err := r.Worker(ctx, org, lastmile.WorkerID(in.Owner))
		return err
	case lastmile.InOrganization:
	}
	if in.Owner == string(org) {
		return nil
	}
	if _, err := r.Organization(ctx, lastmile.OrganizationID(in.Owner)); err != nil {
		return err
	}
	return lastmile.OutsideScope(in.Owner)
}

// tell stores events with ids of their own. Those of a task that a worker has
// show the worker too.
func (f *Flow) tell(ctx context.Context, w store.Writer, events []lastmile.Event) error {
	workers := map[lastmile.WorkerID]*lastmile.Worker{}
	for i := range events {
		e := &events[i]
		e.ID, e.Stored = f.NewID(), f.Now()
		if e.Task == nil || e.Task.Worker == "" || !e.Trigger.ShowsWorker() {
			continue
		}
		id := e.Task.Worker
		if workers[id] == nil {
			worker, err := w.Worker(ctx, e.Organization, id)
			if lastmile.IsNotFound(err) {
				continue // deleted since; the task remembers who did it
			}
			if err != nil {
				return err
			}
			workers[id] = &worker
		}
		e.Worker = workers[id]
	}
	if err := w.AppendEvents(ctx, events); err != nil || f.Notify == nil {
		return err
	}
	return f.Notify(ctx, w, events)
}

// identity is what a new task is given.
func (f *Flow) identity(who lastmile.Principal) lastmile.Identity {
	token := f.NewToken()
	return lastmile.Identity{
		ID: lastmile.TaskID(f.NewID()), ShortID: f.NewShortID(), TrackingToken: token, TrackingURL: f.PublicURL + "/t/" + token,
		Creator: who.Actor(), NewID: f.NewID,
	}
}
