package fleet

import (
	"context"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/store"
)

// Fleet manages the workers, teams and hubs of all organizations.
type Fleet struct {
	Store      store.Transactor[Reader, Writer]
	Documents  store.Documents
	Places     Places
	Passwords  Passwords
	Tasks      Tasks
	ParsePhone func(raw, country string) (lastmile.Phone, error)
	Now        func() time.Time
	NewID      func() string
	AppURL     string // where workers sign in
	PublicURL  string // URL of the server
	Events     *events.Log
	Messages   *events.Wake // wakes the loop that sends text messages

	Invitations Invitations
}

// Invitations checks whether invitations will be sent.
type Invitations interface {
	// Check rejects an invitation that would not be sent, because of a limit or
	// the country of the number.
	Check(ctx context.Context, org lastmile.OrganizationID, to lastmile.Phone) error
}

// Places geocodes addresses.
type Places interface {
	Locate(ctx context.Context, who lastmile.Principal, field string, draft lastmile.DestinationDraft) (lastmile.Destination, error)
}

// Passwords creates the temporary passwords of invitations.
type Passwords interface {
	Temporary(org lastmile.OrganizationID, worker lastmile.WorkerID, now time.Time) (string, store.Credential)
}

// Tasks unassigns the tasks of a worker or a team.
type Tasks interface {
	// Drain moves the tasks of a container to the organization's container, except
	// for a few, in separate transactions.
	Drain(ctx context.Context, who lastmile.Principal, from lastmile.ContainerRef) error
	// Release moves the remaining tasks of a container to the organization's
	// container.
	Release(ctx context.Context, tx store.Transaction, who lastmile.Principal, from lastmile.ContainerRef) error
}

func (f *Fleet) organization(ctx context.Context, who lastmile.Principal) (org lastmile.Organization, err error) {
	err = f.Store.Read(ctx, func(r Reader) (err error) {
		org, err = r.Organization(ctx, who.Organization)
		return err
	})
	return org, err
}
