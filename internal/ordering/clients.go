package ordering

import (
	"cmp"
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// MaxClients is the maximum number of clients of a courier, counting those that
// were deleted.
const MaxClients = 10_000

// Clients manages the clients of couriers.
type Clients struct {
	Store         ClientStore
	Organizations Opener
	Now           func() time.Time
	NewID         func() string
	KnownCountry  func(code string) bool
}

// Opener opens organizations.
type Opener interface {
	// Open creates an organization in a transaction and returns its first API key.
	Open(ctx context.Context, tx store.Transaction, draft lastmile.OrganizationDraft) (lastmile.Organization, string, error)
}

// ClientDraft is a request for a client: an existing organization, or a new one that is
// opened for it.
type ClientDraft struct {
	Organization lastmile.OrganizationID // the existing one; empty to open one
	New          lastmile.OrganizationDraft
	ShowName     *bool // default true
}

// NewClient is a new client with the key that is shown only once; it is empty for an
// organization that existed before.
type NewClient struct {
	store.Client
	APIKey string
}

// Courier is an organization in its role as a client of a courier.
type Courier struct {
	store.Client
	CourierName string
}

// ClientChange is an update of a client. Nil fields stay unchanged.
type ClientChange struct {
	Name     *string
	ShowName *bool
}

// Create creates a client of the caller's organization.
func (cs *Clients) Create(ctx context.Context, who lastmile.Principal, d ClientDraft) (NewClient, error) {
	return store.Idempotent(ctx, cs.Store, who, func(w ClientWriter) (NewClient, error) {
		if d.Organization != "" {
			client, err := cs.link(ctx, w, who.Organization, d, store.ClientPending)
			return NewClient{Client: client}, err
		}
		return cs.open(ctx, w, who.Organization, d)
	})
}

// Link makes an organization a client of a courier without the consent of either. It is
// for the operator.
func (cs *Clients) Link(ctx context.Context, courier lastmile.OrganizationID, d ClientDraft) (made NewClient, err error) {
	err = cs.Store.Write(ctx, func(w ClientWriter) (err error) {
		if d.Organization == "" {
			made, err = cs.open(ctx, w, courier, d)
			return err
		}
		made.Client, err = cs.link(ctx, w, courier, d, store.ClientActive)
		return err
	})
	return made, err
}

func (cs *Clients) open(ctx context.Context, w ClientWriter, courier lastmile.OrganizationID, d ClientDraft) (NewClient, error) {
	own, err := w.Organization(ctx, courier)
	if err != nil {
		return NewClient{}, err
	}
	d.New.Country, d.New.Timezone = cmp.Or(d.New.Country, own.Country), cmp.Or(d.New.Timezone, own.Timezone)
	if !cs.KnownCountry(d.New.Country) {
		return NewClient{}, lastmile.Invalid("country must be a two-letter country code (ISO 3166-1) such as US, not %q", lastmile.Truncate(d.New.Country, 32))
	}
	if opened, err := w.IsOpened(ctx, courier); err != nil {
		return NewClient{}, err
	} else if opened {
		return NewClient{}, lastmile.Forbidden("an organization that was opened by a courier cannot open others; send the id of an existing organization")
	}
	if err := checkRoom(ctx, w, courier); err != nil {
		return NewClient{}, err
	}
	org, key, err := cs.Organizations.Open(ctx, w, d.New)
	if err != nil {
		return NewClient{}, err
	}
	client := cs.newClient(courier, org.ID, d)
	client.Name, client.Status, client.Opened = org.Name, store.ClientActive, true
	return NewClient{Client: client, APIKey: key}, connect(ctx, w, client)
}

func (cs *Clients) link(ctx context.Context, w ClientWriter, courier lastmile.OrganizationID, d ClientDraft, status store.ClientStatus) (store.Client, error) {
	if d.Organization == courier {
		return store.Client{}, lastmile.Invalid("organization must be another organization")
	}
	if d.New.Name != "" {
		if err := lastmile.RequireText("name", d.New.Name); err != nil {
			return store.Client{}, err
		}
	}
	org, err := w.Organization(ctx, d.Organization)
	if err != nil {
		return store.Client{}, err
	}
	client := cs.newClient(courier, org.ID, d)
	before, err := w.Client(ctx, courier, string(org.ID))
	switch {
	case err == nil && before.Status == store.ClientDeleted:
		client.ID, client.Created, client.Opened = before.ID, before.Created, before.Opened
	case err == nil && (before.Status == store.ClientActive || status == store.ClientPending):
		return before, lastmile.Duplicate("organization", string(org.ID))
	case err == nil: // it was invited, and the operator connects it
		client.ID, client.Created, client.Name = before.ID, before.Created, cmp.Or(client.Name, before.Name)
	case !lastmile.IsNotFound(err):
		return before, err
	default:
		if err := checkRoom(ctx, w, courier); err != nil {
			return before, err
		}
	}
	connected, err := w.Connected(ctx, courier, org.ID)
	if err != nil {
		return before, err
	}
	if client.Status = status; connected {
		client.Status = store.ClientActive
	}
	if client.Status == store.ClientPending {
		return client, w.SaveClient(ctx, client)
	}
	client.Name = cmp.Or(client.Name, org.Name)
	return client, connect(ctx, w, client)
}

func (cs *Clients) newClient(courier, organization lastmile.OrganizationID, d ClientDraft) store.Client {
	now := cs.Now()
	return store.Client{
		ID: lastmile.ClientID(cs.NewID()), Courier: courier, Organization: organization, Name: d.New.Name,
		ShowName: d.ShowName == nil || *d.ShowName, Created: now, Modified: now,
	}
}

// checkRoom rejects a client when the courier has too many.
func checkRoom(ctx context.Context, w ClientWriter, courier lastmile.OrganizationID) error {
	n, err := w.CountClients(ctx, courier)
	if err == nil && n >= MaxClients {
		err = lastmile.Invalid("an organization can have %d clients, counting those that were deleted", MaxClients)
	}
	return err
}

// connect saves a client that is active and connects the two organizations.
func connect(ctx context.Context, w ClientWriter, c store.Client) error {
	if err := w.SaveClient(ctx, c); err != nil {
		return err
	}
	if err := w.Connect(ctx, c.Courier, c.Organization); err != nil {
		return err
	}
	return w.Connect(ctx, c.Organization, c.Courier)
}

// Connect connects two organizations, which may then work for each other, without
// making either a client. It is for the operator.
func (cs *Clients) Connect(ctx context.Context, one, other lastmile.OrganizationID) error {
	if one == other {
		return lastmile.Invalid("an organization cannot be connected with itself")
	}
	return cs.Store.Write(ctx, func(w ClientWriter) error {
		for _, pair := range [][2]lastmile.OrganizationID{{one, other}, {other, one}} {
			if _, err := w.Organization(ctx, pair[0]); err != nil {
				return err
			}
			if err := w.Connect(ctx, pair[0], pair[1]); err != nil {
				return err
			}
		}
		return nil
	})
}

// List returns the clients of the caller's organization, oldest first.
func (cs *Clients) List(ctx context.Context, who lastmile.Principal) (all []store.Client, err error) {
	err = cs.Store.Read(ctx, func(r ClientReader) (err error) {
		all, err = r.Clients(ctx, who.Organization)
		return err
	})
	return all, err
}

// Read returns a client of the caller's organization, by its id or by that of its
// organization.
func (cs *Clients) Read(ctx context.Context, who lastmile.Principal, id string) (client store.Client, err error) {
	err = cs.Store.Read(ctx, func(r ClientReader) (err error) {
		client, err = FindClient(ctx, r, who.Organization, id)
		return err
	})
	return client, err
}

// FindClient returns a client of a courier, by its id or by that of its
// organization.
func FindClient(ctx context.Context, r ClientReader, courier lastmile.OrganizationID, id string) (store.Client, error) {
	client, err := r.Client(ctx, courier, id)
	return client, cmp.Or(err, deleted(client, id))
}

// deleted returns an error for a client that was deleted.
func deleted(c store.Client, id string) error {
	if c.Status == store.ClientDeleted {
		return lastmile.NotFound("client", id)
	}
	return nil
}

// Update changes a client of the caller's organization.
func (cs *Clients) Update(ctx context.Context, who lastmile.Principal, id string, c ClientChange) (client store.Client, err error) {
	err = cs.Store.Write(ctx, func(w ClientWriter) (err error) {
		if client, err = FindClient(ctx, w, who.Organization, id); err != nil {
			return err
		}
		return cs.change(ctx, w, &client, c)
	})
	return client, err
}

func (cs *Clients) change(ctx context.Context, w ClientWriter, client *store.Client, c ClientChange) error {
	before := *client
	if c.Name != nil {
		if err := lastmile.RequireText("name", *c.Name); err != nil {
			return err
		}
		client.Name = *c.Name
	}
	lastmile.Set(&client.ShowName, c.ShowName)
	if *client == before {
		return nil
	}
	client.Modified = cs.Now()
	return w.SaveClient(ctx, *client)
}

// Delete ends the connection of the caller's organization with a client. What the
// two did together stays visible to both.
func (cs *Clients) Delete(ctx context.Context, who lastmile.Principal, id string) error {
	return cs.Store.Write(ctx, func(w ClientWriter) error {
		client, err := FindClient(ctx, w, who.Organization, id)
		if err != nil {
			return err
		}
		return cs.end(ctx, w, client)
	})
}

func (cs *Clients) end(ctx context.Context, w ClientWriter, client store.Client) error {
	active := client.Status == store.ClientActive
	client.Status, client.Modified = store.ClientDeleted, cs.Now()
	if err := w.SaveClient(ctx, client); err != nil || !active {
		return err
	}
	reverse, err := w.Client(ctx, client.Organization, string(client.Courier))
	if err != nil && !lastmile.IsNotFound(err) {
		return err
	}
	if reverse.Status == store.ClientActive { // they deliver for each other
		return nil
	}
	if err := w.Disconnect(ctx, client.Courier, client.Organization); err != nil {
		return err
	}
	return w.Disconnect(ctx, client.Organization, client.Courier)
}

// Couriers returns the caller's organization as a client of each courier that has invited
// it, whether it has accepted or not, oldest first.
func (cs *Clients) Couriers(ctx context.Context, who lastmile.Principal) (all []Courier, err error) {
	err = cs.Store.Read(ctx, func(r ClientReader) error {
		found, err := r.Couriers(ctx, who.Organization)
		if err != nil {
			return err
		}
		all = nil
		for _, client := range found {
			courier, err := asCourier(ctx, r, client)
			if err != nil {
				return err
			}
			all = append(all, courier)
		}
		return nil
	})
	return all, err
}

func asCourier(ctx context.Context, r ClientReader, client store.Client) (Courier, error) {
	courier, err := r.Organization(ctx, client.Courier)
	return Courier{Client: client, CourierName: courier.Name}, err
}

// findCourier returns an organization as a client of a courier, by the id of the client or
// of the courier.
func findCourier(ctx context.Context, r ClientReader, organization lastmile.OrganizationID, id string) (store.Client, error) {
	client, err := r.Courier(ctx, organization, id)
	return client, cmp.Or(err, deleted(client, id))
}

// Accept makes the caller's organization a client of the courier that invited it.
// Accepting again changes nothing.
func (cs *Clients) Accept(ctx context.Context, who lastmile.Principal, id string) (Courier, error) {
	return store.Idempotent(ctx, cs.Store, who, func(w ClientWriter) (Courier, error) {
		client, err := findCourier(ctx, w, who.Organization, id)
		if err != nil {
			return Courier{}, err
		}
		if client.Status == store.ClientPending {
			org, err := w.Organization(ctx, who.Organization)
			if err != nil {
				return Courier{}, err
			}
			client.Name, client.Status, client.Modified = cmp.Or(client.Name, org.Name), store.ClientActive, cs.Now()
			if err := connect(ctx, w, client); err != nil {
				return Courier{}, err
			}
		}
		return asCourier(ctx, w, client)
	})
}

// Configure changes what the caller's organization decides as a client.
func (cs *Clients) Configure(ctx context.Context, who lastmile.Principal, id string, showName *bool) (courier Courier, err error) {
	err = cs.Store.Write(ctx, func(w ClientWriter) error {
		client, err := findCourier(ctx, w, who.Organization, id)
		if err != nil {
			return err
		}
		if err := cs.change(ctx, w, &client, ClientChange{ShowName: showName}); err != nil {
			return err
		}
		courier, err = asCourier(ctx, w, client)
		return err
	})
	return courier, err
}

// Leave declines an invitation, or ends the connection with a courier.
func (cs *Clients) Leave(ctx context.Context, who lastmile.Principal, id string) error {
	return cs.Store.Write(ctx, func(w ClientWriter) error {
		client, err := findCourier(ctx, w, who.Organization, id)
		if err != nil {
			return err
		}
		return cs.end(ctx, w, client)
	})
}
