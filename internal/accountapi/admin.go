package accountapi

import (
	"context"

	"dray/internal/account"
	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// AdminRoutes returns the routes of the public API that invite administrators, reset
// their passwords and end their sessions.
func (s *Server) AdminRoutes() []edge.Route {
	return edge.Tagged("Administrators",
		edge.Create("/admins/{id}/invitation", "Invite an administrator", s.invite, newAdminLink).Sealed(s.Vault).
			Describe("Makes a link with which the administrator chooses a password and becomes active. It works once, for seven days. If the server can send mails, the link is mailed to the administrator; otherwise it is returned, and shown only once. Administrators who are active get a link for another password instead (`POST /admins/{id}/reset`).").
			Example(`{}`),
		edge.Create("/admins/{id}/reset", "Reset the password of an administrator", s.reset, newAdminLink).Sealed(s.Vault).
			Describe("Makes a link with which the administrator chooses another password. It works once, for an hour; the password and the sessions remain until it is used. If the server can send mails, the link is mailed to the administrator; otherwise it is returned, and shown only once.").
			Example(`{"removeSecondFactor": false}`),
		edge.Delete("/admins/{id}/sessions", "Sign an administrator out", s.endSessionsOf).
			Describe("Ends all sessions of the administrator in the dashboard."),
	)
}

func newAdminLink(d account.Delivery) wire.AdminLink {
	return wire.AdminLink{Link: orNull(d.Link), Expires: wire.Millis(d.Expires), Sent: d.Mailed}
}

func (s *Server) invite(ctx context.Context, c *edge.Call, _ wire.NoBody) (account.Delivery, error) {
	return s.Links.Invite(ctx, c.Who, lastmile.AdminID(c.ID()))
}

func (s *Server) reset(ctx context.Context, c *edge.Call, body wire.ResetAdminBody) (account.Delivery, error) {
	return s.Links.Reset(ctx, c.Who, lastmile.AdminID(c.ID()), body.RemoveSecondFactor)
}

func (s *Server) endSessionsOf(ctx context.Context, c *edge.Call) error {
	return s.Accounts.EndSessionsOf(ctx, c.Who, lastmile.AdminID(c.ID()))
}
