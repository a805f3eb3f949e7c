package taskflow

import (
	"context"
	"slices"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// Creator makes tasks from drafts, for Tasks and Batches.
type Creator struct {
	Base
	Book       AddressBook
	NewID      func() string
	NewShortID func() string // eight hexadecimal digits
	NewToken   func() string // for tracking links; must not be guessable
	PublicURL  string
	Placed     Placed
	MaxPlaced  int // maximum number of open tasks that an organization has placed with others
}

// Placed counts the tasks that organizations placed with others.
type Placed interface {
	// CountPlaced returns how many open tasks an organization placed with others, up to
	// limit.
	CountPlaced(ctx context.Context, origin lastmile.OrganizationID, limit int) (int, error)
}

// AddressBook checks the destinations and recipients of drafts. It saves
// nothing. field is a prefix for error messages.
type AddressBook interface {
	// Locate makes a destination from a draft and geocodes it if needed.
	Locate(ctx context.Context, who lastmile.Principal, field string, draft lastmile.DestinationDraft) (lastmile.Destination, error)
	// PrepareRecipient makes a recipient from a draft.
	PrepareRecipient(ctx context.Context, who lastmile.Principal, field string, draft lastmile.RecipientDraft) (lastmile.PreparedRecipient, error)
}

// prepared is a draft whose addresses are geocoded and whose phone numbers are
// parsed, ready for a transaction.
type prepared struct {
	draft       lastmile.TaskDraft
	destination *lastmile.Destination // nil when the draft has an id instead
	recipients  []lastmile.PreparedRecipient
	of          *lastmile.Task // the task to change or to clone; nil for a new one
	clones      bool           // the task of is cloned, not changed
	order       string         // short id of the order of a new task; empty for none
}

// prepare does the part of a change that must not happen in a transaction.
func (c *Creator) prepare(ctx context.Context, who lastmile.Principal, d lastmile.TaskDraft) (prepared, error) {
	p := prepared{draft: d}
	if d.Recipients != nil {
		if len(*d.Recipients) > 1 {
			return p, lastmile.Invalid("recipients has %d entries; at most one is allowed", len(*d.Recipients))
		}
		for _, ref := range *d.Recipients {
			if ref.Draft == nil {
				continue
			}
			ready, err := c.Book.PrepareRecipient(ctx, who, "recipients[0].", *ref.Draft)
			if err != nil {
				return p, err
			}
			p.recipients = append(p.recipients, ready)
		}
	}
	if d.Destination != nil && d.Destination.Draft != nil {
		made, err := c.Book.Locate(ctx, who, "destination.", *d.Destination.Draft)
		if err != nil {
			return p, err
		}
		p.destination = &made
	}
	return p, nil
}

// change saves the destination and recipient of a draft, or reads them if the draft has
// only their ids. It returns the change that includes them.
func (p prepared) change(ctx context.Context, w creationWriter, who lastmile.Principal) (lastmile.TaskChange, error) {
	org := who.Organization
	if p.of != nil && !p.clones && p.of.Origin != "" && p.of.Origin != org {
		var err error
		if p, err = p.keepPlacement(); err != nil {
			return p.draft.Change, err
		}
	}
	change := p.draft.Change
	switch {
	case p.sameDestination():
		// The copy in the task stays: one that is read from an address book differs in
		// fields that are not shown.
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
	if err := checkConnections(ctx, w, org, p.newParties()); err != nil {
		return change, err
	}
	if p.of != nil && change.Executor != nil && *change.Executor != p.of.Executor {
		return change, lastmile.Invalid("executor cannot be changed; create a task with the other executor, and delete this one")
	}
	return change, p.customFields(ctx, w, who, &change)
}

// sameDestination reports whether the destination that was sent is that of the task to
// change.
func (p prepared) sameDestination() bool {
	switch {
	case p.of == nil || p.clones || p.draft.Destination == nil:
		return false
	case p.destination != nil:
		return p.of.Destination.SamePlace(*p.destination)
	}
	return p.draft.Destination.ID == p.of.Destination.ID
}

func (p prepared) saveRecipients(ctx context.Context, w creationWriter, org lastmile.OrganizationID) ([]lastmile.Recipient, error) {
	recipients := []lastmile.Recipient{}
	for _, ready := range p.recipients {
		saved, err := store.SavePreparedRecipient(ctx, w, ready)
		if err != nil {
			return nil, lastmile.Within("recipients[0].", err)
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

// newParties returns the merchant and the executor of a draft, without those that the task
// to change has already: the connection with them may have ended.
func (p prepared) newParties() lastmile.TaskChange {
	named := lastmile.TaskChange{Merchant: p.draft.Change.Merchant, Executor: p.draft.Change.Executor}
	if p.of == nil || p.clones {
		return named
	}
	if named.Merchant != nil && *named.Merchant == p.of.Merchant {
		named.Merchant = nil
	}
	if named.Executor != nil && *named.Executor == p.of.Executor {
		named.Executor = nil
	}
	return named
}

// checkConnections rejects a merchant or executor that the organization is not
// connected with.
func checkConnections(ctx context.Context, r connectionReader, org lastmile.OrganizationID, c lastmile.TaskChange) error {
	for _, other := range []*lastmile.OrganizationID{c.Merchant, c.Executor} {
		if other == nil || *other == org {
			continue
		}
		if _, err := r.Organization(ctx, *other); err != nil {
			return err
		}
		connection, err := r.Connection(ctx, org, *other)
		if err != nil {
			return err
		}
		if !connection.Connected {
			return lastmile.OutsideScope(string(*other))
		}
	}
	return nil
}

// checkDependencies rejects dependencies that are not tasks of the task's organization.
// If the caller placed the task there, it must have placed the dependencies as well. A
// new task needs no check for cycles: no task can depend on it yet.
func checkDependencies(ctx context.Context, r tasksReader, caller lastmile.OrganizationID, t lastmile.Task) error {
	if slices.Contains(t.Dependencies, "") {
		return lastmile.Malformed("dependencies must be ids of tasks, not empty strings")
	}
	found, err := r.TasksOf(ctx, t.Organization, t.Dependencies)
	for _, parent := range found {
		if caller == t.Origin && caller != parent.Origin {
			return lastmile.OutsideScope(string(parent.ID))
		}
	}
	return err
}

// MaxAncestors is the maximum number of tasks checked for a cycle when the dependencies
// of a task change: the tasks that it depends on, directly or not.
const MaxAncestors = 1_000

// checkNewDependencies is checkDependencies for a task whose dependencies have
// changed.
func checkNewDependencies(ctx context.Context, r familyReader, caller lastmile.OrganizationID, t lastmile.Task) error {
	if err := checkDependencies(ctx, r, caller, t); err != nil {
		return err
	}
	checked := 0
	return t.CheckCycle(func(id lastmile.TaskID) ([]lastmile.TaskID, error) {
		if checked++; checked > MaxAncestors {
			return nil, lastmile.Invalid("dependencies must not have more than %d tasks before them", MaxAncestors)
		}
		return r.Parents(ctx, t.Organization, id)
	})
}

// checkContainer rejects a container that is not the organization's.
func checkContainer(ctx context.Context, r ownerChecker, org lastmile.OrganizationID, in lastmile.ContainerRef) error {
	if in.Kind != lastmile.InOrganization {
		_, err := r.Owner(ctx, org, in)
		return err
	}
	if in.Owner == string(org) {
		return nil
	}
	if _, err := r.Organization(ctx, lastmile.OrganizationID(in.Owner)); err != nil {
		return err
	}
	return lastmile.OutsideScope(in.Owner)
}

// identity returns the ids and links of a new task.
func (c *Creator) identity(who lastmile.Principal) lastmile.Identity {
	token := c.NewToken()
	return lastmile.Identity{
		ID: lastmile.TaskID(c.NewID()), ShortID: c.NewShortID(), TrackingToken: token, TrackingURL: c.PublicURL + "/t/" + token,
		Creator: who.Actor(), NewID: c.NewID,
	}
}
