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

// NewTaskBody is a task, as sent.
type NewTaskBody struct {
	_ struct{} `required:"destination,recipients"`
	TaskBody
}

// TaskBody is a task, as sent.
type TaskBody struct {
	// Id of a destination, or the fields of a new one.
	Destination Optional[DestinationRef] `json:"destination"`
	// Id of a recipient, or the fields of one; empty for none.
	Recipients Optional[[]RecipientRef] `json:"recipients"`
	// Id of the organization that the recipient sees: the caller's, or one connected to it; default
	// the caller's.
	Merchant *lastmile.OrganizationID `json:"merchant"`
	// Id of the organization that fulfils the task: the caller's, or one connected to it; default
	// the caller's.
	Executor *lastmile.OrganizationID `json:"executor"`
	// Not to be completed before this, in Unix milliseconds; null or 0 for any time.
	CompleteAfter Optional[OptionalMillis] `json:"completeAfter" example:"1894021200000"`
	// To be completed before this, in Unix milliseconds; after completeAfter. null or 0 for any time.
	CompleteBefore Optional[OptionalMillis] `json:"completeBefore" example:"1894028400000"`
	// Something is fetched, not brought.
	PickupTask *Flag `json:"pickupTask"`
	// Ids of tasks that must be completed first, at most 100.
	Dependencies *[]lastmile.TaskID `json:"dependencies"`
	// Free text of at most 10,000 characters.
	Notes *string `json:"notes" example:""`
	// Finds a worker automatically. Not together with container; for new tasks only.
	AutoAssign *AutoAssignBody `json:"autoAssign"`
	// Where the task goes, last.
	Container *ContainerRefBody `json:"container"`
	// Units to carry.
	Quantity *float64 `json:"quantity"`
	// Three more measures of what is to be carried.
	AdditionalQuantities *Quantities `json:"additionalQuantities"`
	// Minutes at the destination.
	ServiceTime *Minutes `json:"serviceTime"`
	// Name of the recipient, for this task only.
	RecipientName Optional[string] `json:"recipientName"`
	// Notes on the recipient, for this task only.
	RecipientNotes Optional[string] `json:"recipientNotes"`
	// No text messages to the recipient about this task. A recipient who gets none at all gets none
	// either way.
	RecipientSkipSMSNotifications Optional[Flag] `json:"recipientSkipSMSNotifications"`
	// Use the merchant organization's number for this task.
	UseMerchantForProxy Optional[Flag] `json:"useMerchantForProxy"`
	// What the worker must provide to complete the task.
	Requirements *RequirementsBody `json:"requirements"`
	// Other barcodes than the required ones cannot be scanned.
	ScanOnlyRequiredBarcodes *Flag `json:"scanOnlyRequiredBarcodes"`
	// Another name for barcodes.
	Barcode *BarcodeBodies `json:"barcode"`
	// Barcodes to be scanned, at most 100.
	Barcodes *BarcodeBodies `json:"barcodes"`
	// How the task looks on the map.
	Appearance *AppearanceBody `json:"appearance"`
	// Values of custom fields. In an update, those that are not sent stay.
	CustomFields *[]CustomFieldBody `json:"customFields"`
	// Id of the template that chooses the custom fields.
	CustomFieldGroup lastmile.TemplateID `json:"customFieldGroup"`
	// 0 to 499.
	Priority *int `json:"priority"`
	// A name that tasks may share, of at most 100 characters.
	Group *string `json:"group"`
	// An array takes the place of all entries; an object sets entries with $set and removes them by
	// name with $pop.
	Metadata MetadataUpdate `json:"metadata"`
}

// AutoAssignBody are how a worker is found: on duty, at a known place, and with room for the task.
type AutoAssignBody struct {
	// distance: whose last place is nearest. load: whose way through all tasks to this one is
	// shortest.
	Mode assignment.Mode `json:"mode" required:"true"`
	// Id of the team that the worker must be in.
	Team lastmile.TeamID `json:"team"`
	// Ids of teams whose workers come first.
	Teams []lastmile.TeamID `json:"teams" example:"T5mQ8rVx2LkD7wNz4HbC9pJs"`
	// The most tasks that the worker may have then; 0 is no limit.
	MaxAssignedTaskCount int `json:"maxAssignedTaskCount"`
	// The tasks that this one is linked with by dependencies go to the same worker.
	ConsiderDependencies Flag `json:"considerDependencies"`
	// Ids of workers who are not asked.
	ExcludedWorkerIDs []lastmile.WorkerID `json:"excludedWorkerIds"`
	// Workers of other teams are not asked at all.
	RestrictAutoAssignmentToTeam Flag `json:"restrictAutoAssignmentToTeam"`
}

// Domain returns the terms. A single team is always strict: no other worker is considered.
func (b AutoAssignBody) Domain() assignment.Options {
	o := assignment.Options{
		Mode: b.Mode, Teams: b.Teams, RestrictToTeams: bool(b.RestrictAutoAssignmentToTeam),
		MaxAssignedTaskCount: b.MaxAssignedTaskCount, ExcludedWorkers: b.ExcludedWorkerIDs,
		ConsiderDependencies: bool(b.ConsiderDependencies),
	}
	if b.Team != "" {
		o.Teams, o.RestrictToTeams = append(o.Teams, b.Team), true
	}
	return o
}

// ContainerRefBody is a container, as sent.
type ContainerRefBody struct {
	// Whose container it is.
	Type lastmile.ContainerKind `json:"type" required:"true"`
	// Id of the organization; default the caller's.
	Organization string `json:"organization" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// Id of the team. Required for a team's.
	Team string `json:"team"`
	// Id of the worker. Required for a worker's.
	Worker string `json:"worker"`
}

// Domain returns the container, whose id must go with its type.
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
		return ref, lastmile.Invalid("container.type must be ORGANIZATION, TEAM or WORKER, not %q", b.Type)
	}
	if ref.Owner == "" {
		return ref, lastmile.Missing("container." + field)
	}
	return ref, nil
}

// RequirementsBody is what a worker must provide, as sent.
type RequirementsBody struct {
	// A signature is required.
	Signature Flag `json:"signature"`
	// A photo is required.
	Photo Flag `json:"photo"`
	// Notes are required.
	Notes Flag `json:"notes" example:"true"`
	// The least age of the recipient in years; 0 for any.
	MinimumAge int `json:"minimumAge"`
}

// BarcodeBody is a barcode to be scanned, as sent.
type BarcodeBody struct {
	// What it must say: base64 of at most 500 characters. Without it, any barcode will do.
	Data string `json:"data"`
	// The task cannot be completed without it.
	BlockCompletion Flag `json:"blockCompletion"`
}

// BarcodeBodies are the barcodes that a request requires: a list of them, or an
// object that has it as required. Tasks are shown so, and some clients send back
// all that they read.
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

// AppearanceBody is how a task shall look on the map.
type AppearanceBody struct {
	// 0 teal, 1 orange, 2 magenta; null for the usual color.
	TriangleColor Optional[int] `json:"triangleColor" example:"null"`
}

// CustomFieldBody is the value of a custom field, as sent.
type CustomFieldBody struct {
	// Key of the field.
	Key string `json:"key" required:"true"`
	// A value of the field's type. In an update, null removes it.
	Value any `json:"value" type:"boolean,number,string,array,null"`
}

// AssignOptions returns how a worker is to be found for a new task; nil when
// none is.
func (b TaskBody) AssignOptions() *assignment.Options {
	if b.AutoAssign == nil {
		return nil
	}
	options := b.AutoAssign.Domain()
	return &options
}

// Draft translates a task as an organization sent it.
func (b TaskBody) Draft(org lastmile.OrganizationID) (lastmile.TaskDraft, error) {
	draft := lastmile.TaskDraft{Change: b.Change(), Template: b.CustomFieldGroup}
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

// RecipientRef is a recipient in a request: the id of one, or the fields of a
// new one. Neither means no recipient: a published client sends null for that.
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

// Change returns what the request asks for, but for what must be found first:
// destination, recipients, container, custom fields.
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

// CompleteBody is how a task ends.
type CompleteBody struct {
	// How the task ends.
	CompletionDetails *struct {
		// Whether it went well.
		Success *Flag `json:"success"`
		// Free text of at most 10,000 characters.
		Notes string `json:"notes" example:""`
	} `json:"completionDetails" required:"true"`
}

// Outcome returns how the task ends.
func (b CompleteBody) Outcome() (lastmile.Outcome, error) {
	switch {
	case b.CompletionDetails == nil:
		return lastmile.Outcome{}, lastmile.Missing("completionDetails")
	case b.CompletionDetails.Success == nil:
		return lastmile.Outcome{}, lastmile.Missing("completionDetails.success")
	}
	return lastmile.Outcome{Success: bool(*b.CompletionDetails.Success), Notes: b.CompletionDetails.Notes}, nil
}

// CloneBody is what a clone takes over.
//
// Some clients put the options at the top.
type CloneBody struct {
	// What the clone takes over.
	Options *CloneOptions `json:"options"`
	CloneOptions
}

// CloneOptions is what a clone takes over.
type CloneOptions struct {
	// Copy the metadata.
	IncludeMetadata Flag `json:"includeMetadata"`
	// Copy the barcodes.
	IncludeBarcodes Flag `json:"includeBarcodes"`
	// Another name for includeBarcodes.
	IncludeBarCodes Flag `json:"includeBarCodes"`
	// Copy the dependencies.
	IncludeDependencies Flag `json:"includeDependencies"`
	// What differs from the task. Times must be in the future.
	Overrides *TaskBody `json:"overrides"`
}

// Chosen returns the options, wherever they were.
func (b CloneBody) Chosen() CloneOptions {
	if b.Options != nil {
		return *b.Options
	}
	return b.CloneOptions
}

// LocateError names the field of a rejected override as it was sent, like the
// errors about its JSON. The rules of tasks do not know that they apply to overrides.
func (b CloneBody) LocateError(err error) error {
	rejected, ok := errors.AsType[*lastmile.Error](err)
	if !ok || !taskFields[strings.FieldsFunc(rejected.Message+" ", endsField)[0]] {
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

// endsField reports whether a character follows the name of a field in a message.
func endsField(c rune) bool { return c == ' ' || c == '.' || c == '[' || c == ':' }

// TaskPage is one page of a list of tasks.
type TaskPage struct {
	// In the order of creation.
	Tasks []Task `json:"tasks" example:"[]"`
	// Ask for the next page with it. Absent on the last.
	LastID lastmile.TaskID `json:"lastId,omitzero"`
}

// AutoAssignTasksBody is tasks to assign automatically.
type AutoAssignTasksBody struct {
	// Ids of tasks, at most 1,000.
	Tasks *[]lastmile.TaskID `json:"tasks" required:"true" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// How workers are found; by default by distance.
	Options *AutoAssignBody `json:"options"`
}

// AutoAssigned is which tasks went to whom.
type AutoAssigned struct {
	// How many were assigned.
	AssignedTasksCount int `json:"assignedTasksCount" example:"1"`
	// Ids of workers by the ids of tasks.
	AssignedTasks map[lastmile.TaskID]lastmile.WorkerID `json:"assignedTasks" example:"{\"K2dF8gHj5LzX9cVb7NmQ4wRt\": \"W4nB7xKq9LsT2vDz6MfR3hYc\"}"`
}

// Assigned is the result of an automatic assignment.
type Assigned = assignment.Assigned

// Terms returns the terms of the assignment; by default, the nearest worker gets
// a task.
func (b AutoAssignTasksBody) Terms() assignment.Options {
	if b.Options == nil {
		return assignment.Options{Mode: assignment.ByDistance}
	}
	return b.Options.Domain()
}

// NewAutoAssigned returns what became of tasks in the form that is sent.
func NewAutoAssigned(a assignment.Assigned) AutoAssigned {
	return AutoAssigned{AssignedTasksCount: len(a), AssignedTasks: a}
}

// NewCreatedTask returns a task in the form that responds to its creation.
func NewCreatedTask(c lastmile.CreatedTask) Task {
	shown := NewTask(c.Task)
	shown.DidAutoAssign = &c.DidAutoAssign
	return shown
}

// NewTaskPage returns a page of tasks that are encoded already. Without last, it
// is the last page.
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
