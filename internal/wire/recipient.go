package wire

import "dray/internal/lastmile"

// Recipient is a recipient as the interface shows it.
type Recipient struct {
	ID                   lastmile.RecipientID    `json:"id"`
	Organization         lastmile.OrganizationID `json:"organization"`
	TimeCreated          Millis                  `json:"timeCreated"`
	TimeLastModified     Millis                  `json:"timeLastModified"`
	Name                 string                  `json:"name"`
	Phone                lastmile.Phone          `json:"phone"`
	Notes                string                  `json:"notes"` // "" when none
	SkipSMSNotifications bool                    `json:"skipSMSNotifications"`
	UseLongCodeForText   bool                    `json:"useLongCodeForText"`
	Metadata             Metadata                `json:"metadata"`
}

// NewRecipient returns a recipient in the form that is sent.
func NewRecipient(r lastmile.Recipient) Recipient {
	return Recipient{
		ID: r.ID, Organization: r.Organization, TimeCreated: Millis(r.Created), TimeLastModified: Millis(r.Modified),
		Name: r.Name, Phone: r.Phone, Notes: r.Notes, SkipSMSNotifications: r.SkipSMSNotifications,
		UseLongCodeForText: r.UseLongCodeForText, Metadata: NewMetadata(r.Metadata),
	}
}

// Domain returns the recipient that the form shows.
func (r Recipient) Domain() lastmile.Recipient {
	return lastmile.Recipient{
		ID: r.ID, Organization: r.Organization, Created: r.TimeCreated.Time(), Modified: r.TimeLastModified.Time(),
		Name: r.Name, Phone: r.Phone, Notes: r.Notes, SkipSMSNotifications: r.SkipSMSNotifications,
		UseLongCodeForText: r.UseLongCodeForText, Metadata: r.Metadata.Domain(),
	}
}

// RecipientBody is a recipient in a request.
type RecipientBody struct {
	Name                      string `json:"name"`
	Phone                     string `json:"phone"`
	SkipPhoneNumberValidation Flag   `json:"skipPhoneNumberValidation"`
	RecipientChangeBody
}

// RecipientChangeBody is what may change of a recipient.
type RecipientChangeBody struct {
	Notes                *string        `json:"notes"`
	SkipSMSNotifications *Flag          `json:"skipSMSNotifications"`
	UseLongCodeForText   *Flag          `json:"useLongCodeForText"`
	Metadata             MetadataUpdate `json:"metadata"`
}

// Draft returns what a request to create a recipient asks for.
func (b RecipientBody) Draft() lastmile.RecipientDraft {
	return lastmile.RecipientDraft{
		Name: b.Name, Phone: b.Phone, SkipPhoneNumberValidation: bool(b.SkipPhoneNumberValidation),
		Change: b.change(nil),
	}
}

// RecipientUpdate is a recipient in a request to change it. The phone number
// cannot change and is ignored.
type RecipientUpdate struct {
	Name *string `json:"name"`
	RecipientChangeBody
}

// Change returns what the request asks for.
func (b RecipientUpdate) Change() lastmile.RecipientChange { return b.change(b.Name) }

func (b RecipientChangeBody) change(name *string) lastmile.RecipientChange {
	return lastmile.RecipientChange{
		Name: name, Notes: b.Notes, SkipSMSNotifications: (*bool)(b.SkipSMSNotifications),
		UseLongCodeForText: (*bool)(b.UseLongCodeForText), Metadata: b.Metadata.Domain(),
	}
}
