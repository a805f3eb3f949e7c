package orderapi

import (
	"context"

	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/ordering"
	"dray/internal/store"
	"dray/internal/wire"
)

// clients serves the endpoints of clients and invitations.
type clients struct{ *Server }

func (s clients) routes() []edge.Route {
	const eitherID = "The ID of the client or of its organization."
	return edge.Tagged("Clients",
		edge.Create("/clients", "Create a client", s.create, newCreatedClient).Sealed(s.Vault).
			Describe("Opens an organization for the client, connects it to the caller's, and returns its first API key, which is shown only once. With `organization`, invites an existing organization instead: the client is pending until that organization accepts. An organization that is already connected need not accept.").
			Example(`{"name": "Example Kitchens", "email": "orders@example.com"}`),
		edge.Get("/clients", "List clients", s.list),
		edge.Get("/clients/{id}", "Read a client", s.read).Describe(eitherID),
		edge.Put("/clients/{id}", "Update a client", s.update).
			Describe("Only the fields that are sent change. "+eitherID).
			Example(`{"name": "Example Kitchens", "showClientName": false}`),
		edge.Delete("/clients/{id}", "Delete a client", s.remove).
			Describe("Ends the connection between the two organizations: the client can place no more tasks and orders. Those that exist stay visible to both. The client's organization and its API keys remain. "+eitherID),
		edge.Get("/clients/invitations", "List couriers", s.invitations).
			Describe("Returns the couriers that invited the caller's organization and those that it is a client of."),
		edge.Create("/clients/invitations/{id}/accept", "Accept an invitation", s.accept, newInvitation).
			Describe("Makes the caller's organization a client of the courier. The ID of the invitation or of the courier's organization.").
			Example(`{}`),
		edge.Put("/clients/invitations/{id}", "Change the settings of a client", s.configure).
			Describe("Changes what the caller's organization decides as a client. The ID of the invitation or of the courier's organization.").
			Example(`{"showClientName": true}`),
		edge.Delete("/clients/invitations/{id}", "Decline an invitation", s.leave).
			Describe("Declines an invitation, or ends the connection to a courier. The ID of the invitation or of the courier's organization."),
	)
}

func newClient(c store.Client) wire.Client {
	return wire.Client{
		ID: c.ID, TimeCreated: wire.Millis(c.Created), TimeLastModified: wire.Millis(c.Modified),
		Name: text(c.Name), Organization: c.Organization, Status: string(c.Status), ShowClientName: c.ShowName,
	}
}

func newCreatedClient(c ordering.NewClient) wire.NewClient {
	return wire.NewClient{Client: newClient(c.Client), APIKey: text(c.APIKey)}
}

func newInvitation(c ordering.Courier) wire.Invitation {
	return wire.Invitation{
		ID: c.ID, TimeCreated: wire.Millis(c.Created), TimeLastModified: wire.Millis(c.Modified),
		Courier: c.Courier, CourierName: c.CourierName, Status: string(c.Status), ShowClientName: c.ShowName,
	}
}

// text returns nil for an empty text.
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func (s clients) create(ctx context.Context, c *edge.Call, body wire.NewClientBody) (ordering.NewClient, error) {
	draft := ordering.ClientDraft{New: body.Draft(), ShowName: body.ShowClientName}
	if body.Organization != nil {
		if draft.Organization = *body.Organization; draft.Organization == "" {
			return ordering.NewClient{}, lastmile.Invalid("organization must be the id of an organization")
		}
	}
	return s.Clients.Create(ctx, c.Who, draft)
}

func (s clients) list(ctx context.Context, c *edge.Call) ([]wire.Client, error) {
	all, err := s.Clients.List(ctx, c.Who)
	return wire.Each(all, newClient), err
}

func (s clients) read(ctx context.Context, c *edge.Call) (wire.Client, error) {
	client, err := s.Clients.Read(ctx, c.Who, c.ID())
	return newClient(client), err
}

func (s clients) update(ctx context.Context, c *edge.Call, body wire.ClientBody) (wire.Client, error) {
	client, err := s.Clients.Update(ctx, c.Who, c.ID(), ordering.ClientChange{Name: body.Name, ShowName: body.ShowClientName})
	return newClient(client), err
}

func (s clients) remove(ctx context.Context, c *edge.Call) error {
	return s.Clients.Delete(ctx, c.Who, c.ID())
}

func (s clients) invitations(ctx context.Context, c *edge.Call) ([]wire.Invitation, error) {
	all, err := s.Clients.Couriers(ctx, c.Who)
	return wire.Each(all, newInvitation), err
}

func (s clients) accept(ctx context.Context, c *edge.Call, _ wire.NoBody) (ordering.Courier, error) {
	return s.Clients.Accept(ctx, c.Who, c.ID())
}

func (s clients) configure(ctx context.Context, c *edge.Call, body wire.InvitationBody) (wire.Invitation, error) {
	courier, err := s.Clients.Configure(ctx, c.Who, c.ID(), body.ShowClientName)
	return newInvitation(courier), err
}

func (s clients) leave(ctx context.Context, c *edge.Call) error {
	return s.Clients.Leave(ctx, c.Who, c.ID())
}
