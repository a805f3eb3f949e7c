package wire

import "dray/internal/lastmile"

// Recipient is a person tasks are done for.
type Recipient struct {
	// Id of the record.
	ID lastmile.RecipientID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Id of the organization that owns the record.
	Organization lastmile.OrganizationID `json:"organization" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// When the record was created, in Unix milliseconds.
	TimeCreated Millis `json:"timeCreated" example:"1767225600000"`
	// When the record last changed, in Unix milliseconds.
	TimeLastModified Millis `json:"timeLastModified" example:"1767229200000"`
	// Name.
	Name string `json:"name" example:"Mary Seacole"`
	// Phone number in international form, with a leading +.
	Phone lastmile.Phone `json:"phone" example:"+12125550142"`
	// Free text; empty when none.
	Notes string `json:"notes" example:"Ring twice."`
	// The recipient gets no text messages.
	SkipSMSNotifications bool `json:"skipSMSNotifications"`
	// Text messages come from a full phone number instead of a short code.
	UseLongCodeForText bool `json:"useLongCodeForText"`
	// Values that integrations keep on the record.
	Metadata Metadata `json:"metadata"`
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

// RecipientBody is a recipient, as sent.
type RecipientBody struct {
	// Name.
	Name string `json:"name" required:"true"`
	// Phone number in any usual form. Without a leading + it is read as a number of the organization's
	// country.
	Phone string `json:"phone" required:"true" example:"+12125550142"`
	// Take the number as it stands, without checking that it can exist. It needs its leading +.
	SkipPhoneNumberValidation Flag `json:"skipPhoneNumberValidation"`
	RecipientChangeBody
}

// RecipientChangeBody is what may change of a recipient.
type RecipientChangeBody struct {
	// Free text of at most 10,000 characters.
	Notes *string `json:"notes" example:""`
	// The recipient gets no text messages.
	SkipSMSNotifications *Flag `json:"skipSMSNotifications"`
	// Text messages come from a full phone number instead of a short code.
	UseLongCodeForText *Flag `json:"useLongCodeForText"`
	// An array takes the place of all entries; an object sets entries with $set and removes them by
	// name with $pop.
	Metadata MetadataUpdate `json:"metadata"`
}

// Draft returns what a request to create a recipient asks for.
func (b RecipientBody) Draft() lastmile.RecipientDraft {
	return lastmile.RecipientDraft{
		Name: b.Name, Phone: b.Phone, SkipPhoneNumberValidation: bool(b.SkipPhoneNumberValidation),
		Change: b.change(nil),
	}
}

// RecipientUpdate is what to change of a recipient.
//
// The phone number cannot change and is ignored.
type RecipientUpdate struct {
	// Name.
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
