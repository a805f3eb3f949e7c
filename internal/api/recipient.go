package api

import (
	"context"

	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// recipients serves the endpoints of recipients.
type recipients struct{ *Server }

func (s recipients) routes() []edge.Route {
	return edge.Tagged("Recipients",
		edge.Create("/recipients", "Create a recipient, or update the one with the same phone number", s.createRecipient, wire.NewRecipient).
			Describe("If a recipient with the phone number exists, that recipient is updated.").
			Example(`{
				"name": "Mary Seacole",
				"phone": "+1 212 555 0142",
				"notes": "Ring twice.",
				"metadata": [
					{
						"name": "customerId",
						"type": "string",
						"value": "C-1044"
					}
				]
			}`),
		edge.Get("/recipients/{id}", "Read a recipient", s.showRecipient),
		edge.Get("/recipients/name/{name}", "Find a recipient by name", s.recipientByName),
		edge.Get("/recipients/phone/{phone}", "Find a recipient by phone number", s.recipientByPhone,
			edge.Parameter{Name: "skipPhoneNumberValidation", Description: "true to use the number as sent, including the leading plus", Type: "boolean"}),
		edge.Put("/recipients/{id}", "Update a recipient", s.updateRecipient).
			Describe("Only the fields that are sent change. The phone number cannot change.").
			Example(`{
				"skipSMSNotifications": true,
				"metadata": {
					"$set": [
						{
							"name": "customerId",
							"type": "string",
							"value": "C-1045"
						}
					],
					"$pop": ["oldCustomerId"]
				}
			}`),
		edge.SearchAll[wire.Metadata, wire.Recipient]("/recipients/metadata", "Find recipients by metadata", s.findRecipients, s.foundRecipients).
			Describe("Finds records that have all the entries, by name, type and value.").
			Example(`[{"name": "customerId", "type": "string", "value": "C-1044"}]`),
	)
}

func (s recipients) createRecipient(ctx context.Context, c *edge.Call, body wire.RecipientBody) (lastmile.Recipient, error) {
	return s.Book.CreateRecipient(ctx, c.Who, body.Draft())
}

func (s recipients) showRecipient(ctx context.Context, c *edge.Call) (wire.Raw[wire.Recipient], error) {
	return s.Book.ShowRecipient(ctx, c.Who, lastmile.RecipientID(c.ID()))
}

func (s recipients) recipientByName(ctx context.Context, c *edge.Call) (wire.Recipient, error) {
	recipient, err := s.Book.RecipientByName(ctx, c.Who, c.Path("name"))
	return wire.NewRecipient(recipient), err
}

func (s recipients) recipientByPhone(ctx context.Context, c *edge.Call) (wire.Recipient, error) {
	recipient, err := s.Book.RecipientByPhone(ctx, c.Who, c.Path("phone"), c.Flag("skipPhoneNumberValidation"))
	return wire.NewRecipient(recipient), err
}

func (s recipients) updateRecipient(ctx context.Context, c *edge.Call, body wire.RecipientUpdate) (wire.Recipient, error) {
	recipient, err := s.Book.UpdateRecipient(ctx, c.Who, lastmile.RecipientID(c.ID()), body.Change())
	return wire.NewRecipient(recipient), err
}

func (s recipients) findRecipients(ctx context.Context, c *edge.Call, entries wire.Metadata) ([]string, error) {
	metadata, err := criteria(entries)
	if err != nil {
		return nil, err
	}
	return s.Book.FindRecipients(ctx, c.Who, metadata)
}

func (s recipients) foundRecipients(ctx context.Context, c *edge.Call, ids []string) ([][]byte, error) {
	return s.Book.ShowRecipients(ctx, c.Who, ids)
}
