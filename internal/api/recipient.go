package api

import (
	"context"

	"dray/internal/lastmile"
	"dray/internal/wire"
)

func (s *Server) recipientRoutes() []route {
	return tagged("Recipients",
		post("/recipients", "Create a recipient, or update the one with the same phone number", wire.Recipient{}, s.createRecipient),
		get("/recipients/{id}", "Read a recipient", wire.Recipient{}, s.showRecipient),
		get("/recipients/name/{name}", "Find a recipient by name", wire.Recipient{}, s.recipientByName),
		get("/recipients/phone/{phone}", "Find a recipient by phone number", wire.Recipient{}, s.recipientByPhone,
			parameter{name: "skipPhoneNumberValidation", about: "take the number as it stands, with its leading plus", kind: "boolean"}),
		put("/recipients/{id}", "Update a recipient", wire.Recipient{}, s.updateRecipient),
		post("/recipients/metadata", "Find recipients by metadata", []wire.Recipient{}, s.findRecipients),
	)
}

func (s *Server) createRecipient(ctx context.Context, c *call, body wire.RecipientBody) (any, error) {
	return s.Book.CreateRecipient(ctx, c.who, body.Draft())
}

func (s *Server) showRecipient(ctx context.Context, c *call) (any, error) {
	return s.Book.ShowRecipient(ctx, c.who, lastmile.RecipientID(c.id()))
}

func (s *Server) recipientByName(ctx context.Context, c *call) (any, error) {
	return s.Book.RecipientByName(ctx, c.who, c.http.PathValue("name"))
}

func (s *Server) recipientByPhone(ctx context.Context, c *call) (any, error) {
	return s.Book.RecipientByPhone(ctx, c.who, c.http.PathValue("phone"), c.flag("skipPhoneNumberValidation"))
}

func (s *Server) updateRecipient(ctx context.Context, c *call, body wire.RecipientUpdate) (any, error) {
	return s.Book.UpdateRecipient(ctx, c.who, lastmile.RecipientID(c.id()), body.Change())
}

func (s *Server) findRecipients(ctx context.Context, c *call, entries metadataBody) (any, error) {
	metadata, err := searched(entries)
	if err != nil {
		return nil, err
	}
	return s.Book.FindRecipients(ctx, c.who, metadata)
}
