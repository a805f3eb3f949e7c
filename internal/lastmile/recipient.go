package lastmile

import "time"

// Recipient is a person tasks are done for. Within an organization the phone
// number is the person: a second recipient with the same number is the first
// one, updated.
type Recipient struct {
	ID                   RecipientID
	Organization         OrganizationID
	Created, Modified    time.Time
	Name                 string
	Phone                Phone
	Notes                string
	SkipSMSNotifications bool
	UseLongCodeForText   bool
	Metadata             Metadata
}

// RecipientDraft is what a recipient is made from.
type RecipientDraft struct {
	Name                      string
	Phone                     string // as sent; the organization's country decides what it means
	SkipPhoneNumberValidation bool
	Change                    RecipientChange // the rest, applied to new and known recipients alike
}

// RecipientChange is an update: nil leaves as it is.
type RecipientChange struct {
	Name                 *string
	Notes                *string
	SkipSMSNotifications *bool
	UseLongCodeForText   *bool
	Metadata             MetadataChange
}

// Check refuses a draft that lacks what a recipient needs. field is a prefix
// for messages, such as "recipients[0].".
func (d RecipientDraft) Check(field string) error {
	if err := requireText(field+"name", d.Name); err != nil {
		return err
	}
	if d.Phone == "" {
		return Missing(field + "phone")
	}
	return nil
}

// NewRecipient makes a recipient.
func NewRecipient(id RecipientID, org OrganizationID, d RecipientDraft, phone Phone, now time.Time) (Recipient, error) {
	r := Recipient{ID: id, Organization: org, Created: now, Phone: phone}
	err := r.Update(d.change(), now)
	return r, err
}

// Rewrite applies a draft to the recipient who already has its phone number.
func (r *Recipient) Rewrite(d RecipientDraft, now time.Time) error {
	return r.Update(d.change(), now)
}

func (d RecipientDraft) change() RecipientChange {
	c := d.Change
	c.Name = &d.Name
	return c
}

// Update changes what may change; the phone number never does.
func (r *Recipient) Update(c RecipientChange, now time.Time) error {
	metadata, err := r.Metadata.Apply(c.Metadata)
	if err != nil {
		return err
	}
	r.Metadata = metadata
	set(&r.Name, c.Name)
	set(&r.Notes, c.Notes)
	set(&r.SkipSMSNotifications, c.SkipSMSNotifications)
	set(&r.UseLongCodeForText, c.UseLongCodeForText)
	r.Modified = later(r.Modified, now)
	return firstError(
		requireText("name", r.Name),
		checkText("notes", r.Notes, MaxNotes),
	)
}

// PreparedRecipient is a recipient draft that has been checked, ready to be
// saved in a transaction.
type PreparedRecipient struct {
	Draft RecipientDraft
	New   Recipient // to be saved if no recipient has the phone number yet
}

// Merge returns the recipient to save, where known is the one who has the phone
// number already, or nil.
func (p PreparedRecipient) Merge(known *Recipient) (Recipient, error) {
	if known == nil {
		return p.New, nil
	}
	merged := *known
	err := merged.Rewrite(p.Draft, p.New.Modified)
	return merged, err
}

// set stores a new value where one was sent.
func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}
