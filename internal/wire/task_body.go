package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"time"

	"dray/internal/assignment"
	"dray/internal/codec"
	"dray/internal/lastmile"
)

// NewTaskBody is the body of a request to create a task.
type NewTaskBody struct {
	_ struct{} `required:"destination,recipients"`
	TaskBody
	// Key of 1 to 100 characters with which the organization can create only one task. Another task
	// with the same key is rejected with error 1004, whose cause has the ID of the existing task. When
	// that task is deleted, the key can be used again. An extension.
	ImportKey *string `json:"importKey" example:"S-20771"`
}

// Draft returns the draft of a new task that an organization sent.
func (b NewTaskBody) Draft(org lastmile.OrganizationID) (lastmile.TaskDraft, error) {
	draft, err := b.TaskBody.Draft(org)
	draft.ImportKey = b.ImportKey
	return draft, err
}

// TaskBody is a task in a request. Its fields are all optional in an update.
type TaskBody struct {
	// ID of a destination, or the fields of a new one.
	Destination Optional[DestinationRef] `json:"destination"`
	// ID of a recipient, or the fields of a new one; empty for no recipient.
	Recipients Optional[[]RecipientRef] `json:"recipients"`
	// ID of the organization that is shown to the recipient: the caller's organization or one
	// connected to it. Defaults to the caller's organization or, for another executor with
	// showClientName false, to the executor.
	Merchant *lastmile.OrganizationID `json:"merchant"`
	// ID of the organization that fulfills the task: the caller's organization or one connected to it,
	// which then has the task in its container. Defaults to the caller's organization. It cannot be
	// changed later.
	Executor *lastmile.OrganizationID `json:"executor"`
	// Unix time in milliseconds before which the task should not be completed; null or 0 for no limit.
	CompleteAfter Optional[OptionalMillis] `json:"completeAfter" example:"1894021200000"`
	// Unix time in milliseconds before which the task should be completed; must be after
	// completeAfter. null or 0 for no limit.
	CompleteBefore Optional[OptionalMillis] `json:"completeBefore" example:"1894028400000"`
	// Whether the task is a pickup instead of a drop-off.
	PickupTask *Flag `json:"pickupTask"`
	// IDs of the tasks that must be completed first, at most 100.
	Dependencies *[]lastmile.TaskID `json:"dependencies"`
	// Notes on the task, at most 10,000 characters.
	Notes *string `json:"notes" example:""`
	// Criteria for assigning a worker automatically. Only for new tasks; cannot be combined with
	// container.
	AutoAssign *AutoAssignBody `json:"autoAssign"`
	// Container to which the task is assigned. The task is added at the end.
	Container *ContainerRefBody `json:"container"`
	// Quantity to be carried, in units.
	Quantity *float64 `json:"quantity"`
	// Three additional measures of the quantity to be carried.
	AdditionalQuantities *Quantities `json:"additionalQuantities"`
	// Time spent at the destination, in minutes.
	ServiceTime *Minutes `json:"serviceTime"`
	// Name of the recipient, for this task only.
	RecipientName Optional[string] `json:"recipientName"`
	// Notes on the recipient, for this task only.
	RecipientNotes Optional[string] `json:"recipientNotes"`
	// Whether the recipient gets no text messages about this task. This cannot enable messages for a
	// recipient who has them disabled.
	RecipientSkipSMSNotifications Optional[Flag] `json:"recipientSkipSMSNotifications"`
	// Whether to use the phone number of the merchant organization for this task.
	UseMerchantForProxy Optional[Flag] `json:"useMerchantForProxy"`
	// What the worker must provide to complete the task.
	Requirements *RequirementsBody `json:"requirements"`
	// Whether only the required barcodes can be scanned.
	ScanOnlyRequiredBarcodes *Flag `json:"scanOnlyRequiredBarcodes"`
	// Alias of barcodes.
	Barcode *BarcodeBodies `json:"barcode"`
	// Barcodes that the worker must scan, at most 100.
	Barcodes *BarcodeBodies `json:"barcodes"`
	// Appearance of the task on the map.
	Appearance *AppearanceBody `json:"appearance"`
	// Values of custom fields. In an update, fields that are not sent keep their values.
	CustomFields *[]CustomFieldBody `json:"customFields"`
	// ID of the task template that determines the custom fields.
	CustomFieldGroup lastmile.TemplateID `json:"customFieldGroup"`
	// Priority, from 0 to 499.
	Priority *int `json:"priority"`
	// Name of a group of tasks, at most 100 characters.
	Group *string `json:"group"`
	// Metadata of the task: an array replaces all entries; an object sets entries with $set and
	// removes entries by name with $pop.
	Metadata MetadataUpdate `json:"metadata"`
}

// ContainerRefBody is a reference to a container, in a request.
type ContainerRefBody struct {
	// Type of the container's owner.
	Type lastmile.ContainerKind `json:"type" required:"true"`
	// ID of the organization. Defaults to the caller's organization.
	Organization string `json:"organization" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// ID of the team. Required for the container of a team.
	Team string `json:"team"`
	// ID of the worker. Required for the container of a worker.
	Worker string `json:"worker"`
}

// Domain returns the container. It rejects a reference without an id of the owner's type.
func (b ContainerRefBody) Domain(own lastmile.OrganizationID) (lastmile.ContainerRef, error) {
	ref := lastmile.ContainerRef{Kind: b.Type}
	field := ""
	switch b.Type {
	case lastmile.InOrganization:
		if b.Organization == "" {
			b.Organization = string(own)
		}
		ref.Owner, field = b.Organization, "organization"
	case lastmile.InTeam:
		ref.Owner, field = b.Team, "team"
	case lastmile.InWorker:
		ref.Owner, field = b.Worker, "worker"
	case "":
		return ref, lastmile.Missing("container.type")
	default:
		return ref, lastmile.Invalid("container.type must be ORGANIZATION, TEAM or WORKER, not %q", lastmile.Truncate(string(b.Type), lastmile.MaxShown))
	}
	if ref.Owner == "" {
		return ref, lastmile.Missing("container." + field)
	}
	return ref, nil
}

// RequirementsBody is the set of things that the worker must provide to complete a task, in a
// request.
type RequirementsBody struct {
	// Whether a signature is required.
	Signature Flag `json:"signature"`
	// Whether a photo is required.
	Photo Flag `json:"photo"`
	// Whether notes are required.
	Notes Flag `json:"notes" example:"true"`
	// Minimum age of the recipient, in years; 0 for any age.
	MinimumAge int `json:"minimumAge"`
}

// BarcodeBody is a barcode that the worker must scan, in a request.
type BarcodeBody struct {
	// Required content of the barcode, encoded in base64; at most 500 characters. If absent, any
	// barcode is accepted.
	Data string `json:"data"`
	// Whether the task can be completed only after the barcode was scanned.
	BlockCompletion Flag `json:"blockCompletion"`
}

// BarcodeBodies are the required barcodes of a request: an array, or an object whose member
// required is that array. Responses have the latter form, which some clients send back.
type BarcodeBodies []BarcodeBody

// OneOf returns a value of each form, for documentation.
func (BarcodeBodies) OneOf() []any {
	return []any{[]BarcodeBody{}, struct {
		Required []BarcodeBody `json:"required" required:"true"`
	}{}}
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *BarcodeBodies) UnmarshalJSON(data []byte) error {
	switch data = bytes.TrimSpace(data); data[0] {
	case '[':
		return codec.DecodePart(data, (*[]BarcodeBody)(b))
	case '{':
		var shown struct {
			Required *[]BarcodeBody `json:"required"`
		}
		if err := codec.DecodePart(data, &shown); err != nil {
			return err
		}
		if shown.Required == nil {
			return codec.Malformed("must be an array, or an object with the array required")
		}
		*b = *shown.Required
		return nil
	}
	return codec.Malformed("must be an array, not %s", codec.KindName(data[0]))
}

// AppearanceBody is the appearance of a task on the map, in a request.
type AppearanceBody struct {
	// Color of the task's marker: 0 for teal, 1 for orange, 2 for magenta; null for the default color.
	TriangleColor Optional[int] `json:"triangleColor" example:"null"`
}

// CustomFieldBody is the value of a custom field, in a request.
type CustomFieldBody struct {
	// Key of the field.
	Key string `json:"key" required:"true"`
	// Value of the field's type. In an update, null removes the value.
	Value any `json:"value" type:"boolean,number,string,array,null"`
}

// AssignOptions returns the criteria for assigning a worker to a new task automatically, or
// nil if that was not requested.
func (b TaskBody) AssignOptions() *assignment.Options {
	if b.AutoAssign == nil {
		return nil
	}
	options := b.AutoAssign.Domain()
	return &options
}

// Draft returns the draft of a task that an organization sent.
func (b TaskBody) Draft(org lastmile.OrganizationID) (lastmile.TaskDraft, error) {
	draft := lastmile.TaskDraft{Change: b.Change(), Template: b.CustomFieldGroup}
	for i, id := range []*lastmile.OrganizationID{b.Merchant, b.Executor} {
		if id != nil && *id == "" {
			return draft, lastmile.Malformed("%s must be the id of an organization, not an empty string", [...]string{"merchant", "executor"}[i])
		}
	}
	if b.Destination.Set() {
		draft.Destination = &lastmile.DestinationRef{ID: b.Destination.Value.ID}
		if sent := b.Destination.Value.Body; sent != nil {
			made := sent.Draft()
			draft.Destination.Draft = &made
		}
	}
	if b.Recipients.Set() {
		refs := make([]lastmile.RecipientRef, 0, len(b.Recipients.Value))
		for _, sent := range b.Recipients.Value {
			if sent == (RecipientRef{}) {
				continue
			}
			ref := lastmile.RecipientRef{ID: sent.ID}
			if sent.Body != nil {
				made := sent.Body.Draft()
				ref.Draft = &made
			}
			refs = append(refs, ref)
		}
		draft.Recipients = &refs
	}
	if b.Container != nil {
		in, err := b.Container.Domain(org)
		if err != nil {
			return draft, err
		}
		draft.Container = &in
	}
	if b.CustomFields != nil {
		values := make([]lastmile.FieldValue, 0, len(*b.CustomFields))
		for _, f := range *b.CustomFields {
			values = append(values, lastmile.FieldValue(f))
		}
		draft.Fields = &values
	}
	return draft, nil
}

// RecipientRef is a recipient in a request: the ID of an existing recipient, or the fields of a
// new one. The zero value means no recipient, for which a published client sends null.
type RecipientRef struct {
	ID   lastmile.RecipientID
	Body *RecipientBody
}

// OneOf returns a value of each form, for documentation.
func (RecipientRef) OneOf() []any { return []any{lastmile.RecipientID(""), RecipientBody{}} }

// UnmarshalJSON implements json.Unmarshaler.
func (r *RecipientRef) UnmarshalJSON(data []byte) error {
	switch data = bytes.TrimSpace(data); data[0] {
	case '"':
		return codec.DecodeID(data, &r.ID, "the id of a recipient or an object")
	case '{':
		r.Body = new(RecipientBody)
		return codec.DecodePart(data, r.Body)
	case 'n':
		return nil
	}
	return codec.Malformed("must be the id of a recipient or an object, not %s", codec.KindName(data[0]))
}

// Change returns the requested change without the fields that refer to other records:
// destination, recipients, container and custom fields.
func (b TaskBody) Change() lastmile.TaskChange {
	change := lastmile.TaskChange{
		Merchant: b.Merchant, Executor: b.Executor,
		CompleteAfter: timePointer(b.CompleteAfter), CompleteBefore: timePointer(b.CompleteBefore),
		Pickup: (*bool)(b.PickupTask), Dependencies: b.Dependencies, Notes: b.Notes, Quantity: b.Quantity,
		AdditionalQuantities: (*lastmile.Capacities)(b.AdditionalQuantities), ServiceTime: (*time.Duration)(b.ServiceTime),
		Priority: b.Priority, Group: b.Group,
		Overrides: lastmile.OverridesChange{
			RecipientName: b.RecipientName.orNull(), RecipientNotes: b.RecipientNotes.orNull(),
			RecipientSkipSMSNotifications: flagOrNull(b.RecipientSkipSMSNotifications), UseMerchantForProxy: flagOrNull(b.UseMerchantForProxy),
		},
		ScanOnlyRequiredBarcodes: (*bool)(b.ScanOnlyRequiredBarcodes), Metadata: b.Metadata.Domain(),
	}
	if r := b.Requirements; r != nil {
		change.Requirements = &lastmile.Requirements{
			Signature: bool(r.Signature), Photo: bool(r.Photo), Notes: bool(r.Notes), MinimumAge: r.MinimumAge,
		}
	}
	if b.Appearance != nil {
		change.TriangleColor = b.Appearance.TriangleColor.orNull()
	}
	codes := b.Barcodes
	if codes == nil {
		codes = b.Barcode
	}
	if codes != nil {
		required := Each(*codes, func(c BarcodeBody) lastmile.Barcode {
			return lastmile.Barcode{Data: c.Data, BlockCompletion: bool(c.BlockCompletion)}
		})
		change.Barcodes = &required
	}
	return change
}

func flagOrNull(o Optional[Flag]) **bool {
	return Optional[bool]{Present: o.Present, Null: o.Null, Value: bool(o.Value)}.orNull()
}

func timePointer(o Optional[OptionalMillis]) *time.Time {
	if !o.Present {
		return nil
	}
	at := time.Time(o.Value)
	return &at
}

// CompleteBody is the body of a request to complete a task.
type CompleteBody struct {
	// Outcome of the task.
	CompletionDetails *struct {
		// Whether the task succeeded.
		Success *Flag `json:"success"`
		// Notes on the completion, at most 10,000 characters.
		Notes string `json:"notes" example:""`
	} `json:"completionDetails" required:"true"`
}

// Outcome returns the requested outcome of the task.
func (b CompleteBody) Outcome() (lastmile.Outcome, error) {
	switch {
	case b.CompletionDetails == nil:
		return lastmile.Outcome{}, lastmile.Missing("completionDetails")
	case b.CompletionDetails.Success == nil:
		return lastmile.Outcome{}, lastmile.Missing("completionDetails.success")
	}
	return lastmile.Outcome{Success: bool(*b.CompletionDetails.Success), Notes: b.CompletionDetails.Notes}, nil
}

// CloneBody is the body of a request to clone a task.
//
// Some clients send the options at the top level.
type CloneBody struct {
	// Options of the clone.
	Options *CloneOptions `json:"options"`
	CloneOptions
}

// CloneOptions is the set of options of a clone.
type CloneOptions struct {
	// Whether to copy the metadata.
	IncludeMetadata Flag `json:"includeMetadata"`
	// Whether to copy the barcodes.
	IncludeBarcodes Flag `json:"includeBarcodes"`
	// Alias of includeBarcodes.
	IncludeBarCodes Flag `json:"includeBarCodes"`
	// Whether to copy the dependencies.
	IncludeDependencies Flag `json:"includeDependencies"`
	// Fields of the clone that differ from the original task. Times must be in the future.
	Overrides *TaskBody `json:"overrides"`
}

// Chosen returns the options, in whichever form they were sent.
func (b CloneBody) Chosen() CloneOptions {
	if b.Options != nil {
		return *b.Options
	}
	return b.CloneOptions
}

// LocateError adds the path of the overrides to an error that names a field of a task, because
// the rules of tasks do not know that they are applied to overrides.
func (b CloneBody) LocateError(err error) error {
	rejected, ok := errors.AsType[*lastmile.Error](err)
	if !ok || b.Chosen().Overrides == nil || !taskFields[strings.FieldsFunc(rejected.Message+" ", endsField)[0]] {
		return err
	}
	located := *rejected
	located.Message = "overrides." + located.Message
	if b.Options != nil {
		located.Message = "options." + located.Message
	}
	return &located
}

// taskFields are the names of the fields of a TaskBody.
var taskFields = func() map[string]bool {
	names := map[string]bool{}
	for field := range reflect.TypeFor[TaskBody]().Fields() {
		names[field.Tag.Get("json")] = true
	}
	return names
}()

// endsField reports whether a character ends the name of a field in an error message.
func endsField(c rune) bool { return c == ' ' || c == '.' || c == '[' || c == ':' }

// TaskPage is a page of a list of tasks.
type TaskPage struct {
	// Tasks, in the order in which they were created.
	Tasks []Task `json:"tasks" example:"[]"`
	// ID for the request of the next page. Absent on the last page.
	LastID lastmile.TaskID `json:"lastId,omitzero"`
}

// NewAutoAssigned returns the result of assigning tasks automatically, in its wire form.
func NewAutoAssigned(a assignment.Assigned) AutoAssigned {
	return AutoAssigned{AssignedTasksCount: len(a), AssignedTasks: a}
}

// NewCreatedTask returns the response to the creation of a task.
func NewCreatedTask(c lastmile.CreatedTask) Task {
	shown := NewTask(c.Task)
	shown.DidAutoAssign = &c.DidAutoAssign
	return shown
}

// NewTaskPage returns a page of encoded tasks. last is empty for the last page.
func NewTaskPage(docs [][]byte, last lastmile.TaskID) (Raw[TaskPage], error) {
	page := append([]byte(`{"tasks":`), RawList[Task](docs)...)
	if last != "" {
		page = append(page, `,"lastId":`...)
		id, err := json.Marshal(last)
		if err != nil {
			return nil, err
		}
		page = append(page, id...)
	}
	return append(page, '}'), nil
}
