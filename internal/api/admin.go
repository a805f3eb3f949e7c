package api

import (
	"context"

	"dray/internal/access"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

func (s *Server) adminRoutes() []route {
	return tagged("Administrators",
		post("/admins", "Create an administrator", wire.Admin{}, s.createAdmin),
		get("/admins", "List administrators", []wire.Admin{}, s.listAdmins),
		put("/admins/{id}", "Update an administrator", wire.Admin{}, s.updateAdmin),
		remove("/admins/{id}", "Delete an administrator", s.deleteAdmin),
		post("/admins/metadata", "Find administrators by metadata", []wire.Admin{}, s.findAdmins),
	)
}

func adminDraft(body wire.AdminBody) access.AdminDraft {
	return access.AdminDraft{Change: body.Change(), Phone: body.Phone}
}

func (s *Server) createAdmin(ctx context.Context, c *call, body wire.AdminBody) (any, error) {
	return s.Admins.Create(ctx, c.who, adminDraft(body))
}

func (s *Server) listAdmins(ctx context.Context, c *call) (any, error) {
	return s.Admins.List(ctx, c.who, nil)
}

func (s *Server) updateAdmin(ctx context.Context, c *call, body wire.AdminBody) (any, error) {
	return s.Admins.Update(ctx, c.who, lastmile.AdminID(c.id()), adminDraft(body))
}

func (s *Server) deleteAdmin(ctx context.Context, c *call) (any, error) {
	return nil, s.Admins.Delete(ctx, c.who, lastmile.AdminID(c.id()))
}

func (s *Server) findAdmins(ctx context.Context, c *call, entries metadataBody) (any, error) {
	metadata, err := searched(entries)
	if err != nil {
		return nil, err
	}
	return s.Admins.List(ctx, c.who, metadata)
}
