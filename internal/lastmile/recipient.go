package lastmile

import (
	"regexp"
	"strings"
	"time"
)

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
		CheckText("notes", r.Notes, MaxNotes),
	)
}

// set stores a new value where one was sent.
func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// Phone is a telephone number in international form with a leading plus
// (E.164).
type Phone string

var internationalForm = regexp.MustCompile(`^\+[1-9][0-9]{4,14}$`)

// UncheckedPhone takes a number as it stands, for callers who asked to skip
// the rules of countries. The leading plus is still required.
func UncheckedPhone(raw string) (Phone, error) {
	if !internationalForm.MatchString(raw) {
		return "", InvalidPhone(raw).Because("without the rules of countries it must still be a + and 5 to 15 digits")
	}
	return Phone(raw), nil
}

// InvalidPhone reports a telephone number that cannot be one.
func InvalidPhone(raw string) *Error {
	return Invalid("phone %q is not a valid phone number", raw).
		Because("give it in international form with a leading +, or as dialled in the organization's country")
}

// Limits of the feedback of recipients.
const (
	MinRating   = 1
	MaxRating   = 5
	MaxComments = MaxText // characters
)

// View notes that somebody looked at the task's page.
func (t *Task) View(now time.Time) []Event {
	if t.TrackingViewed {
		return nil
	}
	t.TrackingViewed, t.Modified = true, later(t.Modified, now)
	return []Event{t.event(TriggerTaskUpdated, Actor{}, now)}
}

// Rate takes in what the recipient says of a completed task. What is said again
// takes the place of what was said before.
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
	t.Feedback, t.Modified = []Feedback{f}, later(t.Modified, now)
	return []Event{t.event(TriggerTaskUpdated, Actor{}, now)}, nil
}
