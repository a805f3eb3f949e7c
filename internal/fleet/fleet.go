package fleet

import (
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/travel"
)

// Fleet is the workers, teams and hubs of all organizations.
type Fleet struct {
	Store      store.Store
	Places     Places
	Passwords  Passwords
	Tasks      Tasks
	Travel     Travel
	ParsePhone func(raw, country string) (lastmile.Phone, error)
	Now        func() time.Time
	NewID      func() string
	AppURL     string // where workers sign in

	// Notify saves the text messages that events owe, in their transaction; nil
	// owes none.
	Notify func(ctx context.Context, w store.Writer, events []lastmile.Event) error
}

// append stores events and the text messages that they owe.
func (f *Fleet) append(ctx context.Context, w store.Writer, events []lastmile.Event) error {
	if err := w.AppendEvents(ctx, events); err != nil || f.Notify == nil {
		return err
	}
	return f.Notify(ctx, w, events)
}

// Places finds the place of an address.
type Places interface {
	Locate(ctx context.Context, who lastmile.Principal, field string, draft lastmile.DestinationDraft) (lastmile.Destination, error)
}

// Passwords makes the temporary passwords of new workers.
type Passwords interface {
	Temporary(ctx context.Context, org lastmile.OrganizationID, worker lastmile.WorkerID, now time.Time) (string, store.Credential, error)
}

// Travel tells how long the legs of a way take.
type Travel interface {
	Legs(ctx context.Context, by lastmile.VehicleType, way []lastmile.Point) ([]travel.Leg, error)
}

// Tasks gives back what a worker or a team had to do.
type Tasks interface {
	// Release moves the tasks of a container to the organization's.
	Release(ctx context.Context, w store.Writer, who lastmile.Principal, from lastmile.ContainerRef) error
}

func (f *Fleet) organization(ctx context.Context, who lastmile.Principal) (org lastmile.Organization, err error) {
	err = f.Store.Read(ctx, func(r store.Reader) (err error) {
		org, err = r.Organization(ctx, who.Organization)
		return err
	})
	return org, err
}
