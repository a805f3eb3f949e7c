package lastmile

import (
	"regexp"
	"strings"
	"time"
)

// Recipient is a person for whom tasks are carried out. Within an organization, recipients
// are identified by their phone number: creating another one with the same number updates the
// first.
type Recipient struct {
	ID                   RecipientID
	Organization         OrganizationID
	Keeper               OrganizationID // see RecipientDraft; saved, but not loaded from the store
	Created, Modified    time.Time
	Name                 string
	Phone                Phone
	Notes                string
	SkipSMSNotifications bool
	UseLongCodeForText   bool
	Metadata             Metadata
}

// RecipientDraft holds the input for a new recipient.
type RecipientDraft struct {
	Name                      string
	Phone                     string // as sent; parsed by the rules of the organization's country
	SkipPhoneNumberValidation bool
	Keeper                    OrganizationID  // connected organization that sends the recipient for this one; each has its own recipients
	Change                    RecipientChange // the other fields, applied to new and existing recipients
}

// RecipientChange is an update of a recipient. Nil fields stay unchanged.
type RecipientChange struct {
	Name                 *string
	Notes                *string
	SkipSMSNotifications *bool
	UseLongCodeForText   *bool
	Metadata             MetadataChange
}

// Check rejects an incomplete draft. field is the prefix of its fields in error
// messages, for example "recipients[0].".
func (d RecipientDraft) Check(field string) error {
	if err := RequireText(field+"name", d.Name); err != nil {
		return err
	}
	if d.Phone == "" {
		return Missing(field + "phone")
	}
	return nil
}

// NewRecipient returns a new recipient.
func NewRecipient(id RecipientID, org OrganizationID, d RecipientDraft, phone Phone, now time.Time) (Recipient, error) {
	r := Recipient{ID: id, Organization: org, Keeper: d.Keeper, Created: now, Phone: phone}
	_, err := r.Update(d.change(), now)
	return r, err
}

func (d RecipientDraft) change() RecipientChange {
	c := d.Change
	c.Name = &d.Name
	return c
}

// Update applies a change and reports whether the recipient is different now. The
// phone number never changes.
func (r *Recipient) Update(c RecipientChange, now time.Time) (changed bool, err error) {
	before := *r
	metadata, err := r.Metadata.Apply(c.Metadata)
	if err != nil {
		return false, err
	}
	r.Metadata = metadata
	Set(&r.Name, c.Name)
	Set(&r.Notes, c.Notes)
	Set(&r.SkipSMSNotifications, c.SkipSMSNotifications)
	Set(&r.UseLongCodeForText, c.UseLongCodeForText)
	return touch(&r.Modified, before, *r, now), FirstError(
		RequireText("name", r.Name),
		CheckText("notes", r.Notes, MaxNotes),
	)
}

// PreparedRecipient is a recipient draft that has been checked, ready to be
// saved in a transaction.
type PreparedRecipient struct {
	Draft RecipientDraft
	New   Recipient // to be saved if no recipient has the phone number yet
}

// Merge returns the recipient to use and whether it must be saved. known is the existing
// recipient with the phone number, or nil.
func (p PreparedRecipient) Merge(known *Recipient) (merged Recipient, changed bool, err error) {
	if known == nil {
		return p.New, true, nil
	}
	merged = *known
	changed, err = merged.Update(p.Draft.change(), p.New.Modified)
	return merged, changed, err
}

// Set stores value in field unless value is nil.
func Set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// Phone is a phone number in international form with a leading plus (E.164).
type Phone string

var internationalForm = regexp.MustCompile(`^\+[1-9][0-9]{4,14}$`)

// separators removes the characters that people write between the digits of a phone number.
var separators = strings.NewReplacer(" ", "", "-", "", ".", "", "(", "", ")", "", "/", "")

// UncheckedPhone accepts a number without applying the rules of its country.
// The leading plus is still required.
func UncheckedPhone(raw string) (Phone, error) {
	digits := separators.Replace(raw)
	if !internationalForm.MatchString(digits) {
		return "", InvalidPhone(raw).Because("without the rules of countries it must still be a + and 5 to 15 digits")
	}
	return Phone(digits), nil
}

// InvalidPhone is the error for an invalid phone number. Its message begins with
// the name of the field.
func InvalidPhone(raw string) *Error {
	return Invalid("phone %q is not a valid phone number", Truncate(raw, MaxShown)).
		Because("give it in international form with a leading +, or as dialled in the organization's country")
}

// Limits of the feedback of recipients.
const (
	MinRating   = 1
	MaxRating   = 5
	MaxComments = MaxText // characters
)

// View records that the tracking page of the task was viewed.
func (t *Task) View(now time.Time) []Event {
	if t.TrackingViewed {
		return nil
	}
	t.TrackingViewed, t.Modified = true, nextModified(t.Modified, now)
	return []Event{t.event(TriggerTaskUpdated, Actor{}, now)}
}

// Rate stores the recipient's feedback on a completed task, replacing any
// earlier feedback.
func (t *Task) Rate(f Feedback, now time.Time) ([]Event, error) {
	switch {
	case t.State != TaskCompleted:
		return nil, Invalid("feedback can be given when the task is completed")
	case f.Rating < MinRating || f.Rating > MaxRating:
		return nil, Invalid("rating must be between %d and %d", MinRating, MaxRating)
	}
	if err := CheckText("comments", f.Comments, MaxComments); err != nil {
		return nil, err
	}
	f.Comments = strings.TrimSpace(f.Comments)
	if len(t.Feedback) == 1 && t.Feedback[0].Rating == f.Rating && t.Feedback[0].Comments == f.Comments {
		return nil, nil
	}
	f.At = now
	t.Feedback, t.Modified = []Feedback{f}, nextModified(t.Modified, now)
	return []Event{t.event(TriggerTaskUpdated, Actor{}, now)}, nil
}
