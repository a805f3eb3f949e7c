package lastmile

import "slices"

// TaskDraft is the input for creating or updating a task.
type TaskDraft struct {
	Change      TaskChange
	Destination *DestinationRef // nil if none was sent
	Recipients  *[]RecipientRef // nil if none were sent
	Container   *ContainerRef   // nil for the organization's container
	Fields      *[]FieldValue
	Template    TemplateID // empty if none was sent
	ImportKey   *string    // at most one task is created with the same key; nil if none was sent
}

// DestinationRef is a destination as sent: the id of an existing one, or a draft.
type DestinationRef struct {
	ID    DestinationID
	Draft *DestinationDraft
}

// RecipientRef is a recipient as sent: the id of an existing one, or a draft.
type RecipientRef struct {
	ID    RecipientID
	Draft *RecipientDraft
}

// Effective returns the draft without the fields that an update of the task
// ignores, so that they are neither checked nor geocoded.
func (d TaskDraft) Effective(of Task) TaskDraft {
	if of.Pending() {
		return d.knowing(of.Recipient)
	}
	d.Destination, d.Recipients, d.Container = nil, nil, nil
	d.Change.Merchant, d.Change.Executor = nil, nil
	return d
}

// knowing returns a draft that accepts the phone number of the task's recipient without
// validation, because clients may send back a number that was accepted without it.
func (d TaskDraft) knowing(r *Recipient) TaskDraft {
	if r == nil || d.Recipients == nil {
		return d
	}
	refs := slices.Clone(*d.Recipients)
	for i, ref := range refs {
		if ref.Draft != nil && ref.Draft.Phone == string(r.Phone) {
			known := *ref.Draft
			known.SkipPhoneNumberValidation = true
			refs[i].Draft = &known
		}
	}
	d.Recipients = &refs
	return d
}

// FieldValue is the value of a custom field as sent. A nil value means none.
type FieldValue struct {
	Key   string
	Value any
}
