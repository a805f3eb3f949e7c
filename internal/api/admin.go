package api

import (
	"context"

	"dray/internal/access"
	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// admins serves the endpoints of administrators.
type admins struct{ *Server }

func (s admins) routes() []edge.Route {
	return edge.Tagged("Administrators",
		edge.Create("/admins", "Create an administrator", s.createAdmin, wire.NewAdmin).
			Describe("The administrator is inactive until the invitation is accepted.").
			Example(`{"name": "Grace Hopper", "email": "grace@example.com", "type": "standard"}`),
		edge.Get("/admins", "List administrators", s.listAdmins),
		edge.Put("/admins/{id}", "Update an administrator", s.updateAdmin).
			Describe("Only the fields that are sent change.").
			Example(`{"isReadOnly": true}`),
		edge.Delete("/admins/{id}", "Delete an administrator", s.deleteAdmin).
			Describe("The owner of the account cannot be deleted."),
		edge.Search("/admins/metadata", "Find administrators by metadata", s.findAdmins).
			Describe("Finds records that have all the entries, by name, type and value.").
			Example(`[{"name": "employeeId", "type": "number", "value": 1044}]`),
	)
}

func adminDraft(body wire.AdminBody) access.AdminDraft {
	return access.AdminDraft{Change: body.Change(), Phone: body.Phone}
}

func (s admins) createAdmin(ctx context.Context, c *edge.Call, body wire.NewAdminBody) (lastmile.Admin, error) {
	return s.Admins.Create(ctx, c.Who, adminDraft(body.AdminBody))
}

func (s admins) listAdmins(ctx context.Context, c *edge.Call) ([]wire.Admin, error) {
	admins, err := s.Admins.List(ctx, c.Who, nil)
	return wire.Each(admins, wire.NewAdmin), err
}

func (s admins) updateAdmin(ctx context.Context, c *edge.Call, body wire.AdminBody) (wire.Admin, error) {
	admin, err := s.Admins.Update(ctx, c.Who, lastmile.AdminID(c.ID()), adminDraft(body))
	return wire.NewAdmin(admin), err
}

func (s admins) deleteAdmin(ctx context.Context, c *edge.Call) error {
	return s.Admins.Delete(ctx, c.Who, lastmile.AdminID(c.ID()))
}

func (s admins) findAdmins(ctx context.Context, c *edge.Call, entries wire.Metadata) ([]wire.Admin, error) {
	metadata, err := criteria(entries)
	if err != nil {
		return nil, err
	}
	admins, err := s.Admins.List(ctx, c.Who, metadata)
	return wire.Each(admins, wire.NewAdmin), err
}
