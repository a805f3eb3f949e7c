package lastmile

import "slices"

// TaskDraft is a task as sent, to create one or to change it.
type TaskDraft struct {
	Change      TaskChange
	Destination *DestinationRef // nil when none was sent
	Recipients  *[]RecipientRef // nil when none were sent
	Container   *ContainerRef   // nil for the organization's container
	Fields      *[]FieldValue
	Template    TemplateID // empty when none was sent
	ImportKey   *string    // creates at most one task; nil when none was sent
}

// DestinationRef is a destination that was sent: the id of one, or a draft.
type DestinationRef struct {
	ID    DestinationID
	Draft *DestinationDraft
}

// RecipientRef is a recipient that was sent: the id of one, or a draft.
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

// knowing returns the draft without a validation of the phone number that the
// task's recipient has: it may have been accepted without one, and be sent back.
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

// FieldValue is the value of a custom field as sent; nil for none.
type FieldValue struct {
	Key   string
	Value any
}
