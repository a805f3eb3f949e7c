package wire

import "dray/internal/lastmile"

// Recipient is a recipient: a person for whom tasks are carried out.
type Recipient struct {
	// ID of the recipient.
	ID lastmile.RecipientID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// ID of the organization that owns the recipient.
	Organization lastmile.OrganizationID `json:"organization" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// Unix time in milliseconds at which the recipient was created.
	TimeCreated Millis `json:"timeCreated" example:"1767225600000"`
	// Unix time in milliseconds at which the recipient was last modified.
	TimeLastModified Millis `json:"timeLastModified" example:"1767229200000"`
	// Name of the recipient.
	Name string `json:"name" example:"Mary Seacole"`
	// Phone number of the recipient, in international format with a leading +.
	Phone lastmile.Phone `json:"phone" example:"+12125550142"`
	// Notes on the recipient; empty if there are none.
	Notes string `json:"notes" example:"Ring twice."`
	// Whether the recipient gets no text messages.
	SkipSMSNotifications bool `json:"skipSMSNotifications"`
	// Whether text messages are sent from a full phone number instead of a short code.
	UseLongCodeForText bool `json:"useLongCodeForText"`
	// Metadata of the recipient: named values stored by integrations.
	Metadata Metadata `json:"metadata"`
}

// NewRecipient returns a recipient in its wire form.
func NewRecipient(r lastmile.Recipient) Recipient {
	return Recipient{
		ID: r.ID, Organization: r.Organization, TimeCreated: Millis(r.Created), TimeLastModified: Millis(r.Modified),
		Name: r.Name, Phone: r.Phone, Notes: r.Notes, SkipSMSNotifications: r.SkipSMSNotifications,
		UseLongCodeForText: r.UseLongCodeForText, Metadata: NewMetadata(r.Metadata),
	}
}

// Domain returns the recipient that the wire form represents.
func (r Recipient) Domain() lastmile.Recipient {
	return lastmile.Recipient{
		ID: r.ID, Organization: r.Organization, Created: r.TimeCreated.Time(), Modified: r.TimeLastModified.Time(),
		Name: r.Name, Phone: r.Phone, Notes: r.Notes, SkipSMSNotifications: r.SkipSMSNotifications,
		UseLongCodeForText: r.UseLongCodeForText, Metadata: r.Metadata.Domain(),
	}
}

// RecipientBody is a recipient in a request.
type RecipientBody struct {
	// Name of the recipient.
	Name string `json:"name" required:"true"`
	// Phone number, in any common format. Without a leading +, it is interpreted as a number of the
	// organization's country.
	Phone string `json:"phone" required:"true" example:"+12125550142"`
	// Whether to accept the phone number without checking that it can exist. The number must then have
	// a leading +.
	SkipPhoneNumberValidation Flag `json:"skipPhoneNumberValidation"`
	RecipientChangeBody
}

// RecipientChangeBody is the part of a recipient that requests can change.
type RecipientChangeBody struct {
	// Notes on the recipient, at most 10,000 characters.
	Notes *string `json:"notes" example:""`
	// Whether the recipient gets no text messages.
	SkipSMSNotifications *Flag `json:"skipSMSNotifications"`
	// Whether text messages are sent from a full phone number instead of a short code.
	UseLongCodeForText *Flag `json:"useLongCodeForText"`
	// Metadata of the recipient: an array replaces all entries; an object sets entries with $set and
	// removes entries by name with $pop.
	Metadata MetadataUpdate `json:"metadata"`
}

// Draft returns the recipient to create.
func (b RecipientBody) Draft() lastmile.RecipientDraft {
	return lastmile.RecipientDraft{
		Name: b.Name, Phone: b.Phone, SkipPhoneNumberValidation: bool(b.SkipPhoneNumberValidation),
		Change: b.change(nil),
	}
}

// RecipientUpdate is the body of a request to update a recipient.
//
// The phone number cannot change and is ignored.
type RecipientUpdate struct {
	// Name of the recipient.
	Name *string `json:"name"`
	RecipientChangeBody
}

// Change returns the requested change.
func (b RecipientUpdate) Change() lastmile.RecipientChange { return b.change(b.Name) }

func (b RecipientChangeBody) change(name *string) lastmile.RecipientChange {
	return lastmile.RecipientChange{
		Name: name, Notes: b.Notes, SkipSMSNotifications: (*bool)(b.SkipSMSNotifications),
		UseLongCodeForText: (*bool)(b.UseLongCodeForText), Metadata: b.Metadata.Domain(),
	}
}
