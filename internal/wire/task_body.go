package wire

import (
	"bytes"
	"time"

	"dray/internal/assignment"
	"dray/internal/lastmile"
)

// TaskBody is a task in a request, to create one or to change it.
type TaskBody struct {
	Destination                   Optional[DestinationRef] `json:"destination"`
	Recipients                    Optional[[]RecipientRef] `json:"recipients"`
	Merchant                      *lastmile.OrganizationID `json:"merchant"`
	Executor                      *lastmile.OrganizationID `json:"executor"`
	CompleteAfter                 Optional[Millis]         `json:"completeAfter"`
	CompleteBefore                Optional[Millis]         `json:"completeBefore"`
	PickupTask                    *Flag                    `json:"pickupTask"`
	Dependencies                  *[]lastmile.TaskID       `json:"dependencies"`
	Notes                         *string                  `json:"notes"`
	AutoAssign                    *AutoAssignBody          `json:"autoAssign"`
	Container                     *ContainerRefBody        `json:"container"`
	Quantity                      *float64                 `json:"quantity"`
	AdditionalQuantities          *Quantities              `json:"additionalQuantities"`
	ServiceTime                   *Minutes                 `json:"serviceTime"`
	RecipientName                 Optional[string]         `json:"recipientName"`
	RecipientNotes                Optional[string]         `json:"recipientNotes"`
	RecipientSkipSMSNotifications Optional[Flag]           `json:"recipientSkipSMSNotifications"`
	UseMerchantForProxy           Optional[Flag]           `json:"useMerchantForProxy"`
	Requirements                  *RequirementsBody        `json:"requirements"`
	ScanOnlyRequiredBarcodes      *Flag                    `json:"scanOnlyRequiredBarcodes"`
	Barcode                       *BarcodeBodies           `json:"barcode"`  // the name the interface's table uses
	Barcodes                      *BarcodeBodies           `json:"barcodes"` // the name clients use
	Appearance                    *AppearanceBody          `json:"appearance"`
	CustomFields                  *[]CustomFieldBody       `json:"customFields"`
	CustomFieldGroup              lastmile.TemplateID      `json:"customFieldGroup"`
	Priority                      *int                     `json:"priority"`
	Group                         *string                  `json:"group"`
	Metadata                      MetadataUpdate           `json:"metadata"`
}

// AutoAssignBody are the terms of an automatic assignment in a request.
type AutoAssignBody struct {
	Mode                         assignment.Mode     `json:"mode"`
	Team                         lastmile.TeamID     `json:"team"`
	Teams                        []lastmile.TeamID   `json:"teams"`
	MaxAssignedTaskCount         int                 `json:"maxAssignedTaskCount"`
	ConsiderDependencies         Flag                `json:"considerDependencies"`
	ExcludedWorkerIDs            []lastmile.WorkerID `json:"excludedWorkerIds"`
	RestrictAutoAssignmentToTeam Flag                `json:"restrictAutoAssignmentToTeam"`
}

// Domain returns the terms. A single team is always strict: nobody else is
// asked.
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

// ContainerRefBody names a container in a request.
type ContainerRefBody struct {
	Type         lastmile.ContainerKind `json:"type"`
	Organization string                 `json:"organization"`
	Team         string                 `json:"team"`
	Worker       string                 `json:"worker"`
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

// RequirementsBody are completion requirements in a request; null is not
// required.
type RequirementsBody struct {
	Signature  Flag `json:"signature"`
	Photo      Flag `json:"photo"`
	Notes      Flag `json:"notes"`
	MinimumAge int  `json:"minimumAge"`
}

// BarcodeBody is a barcode in a request.
type BarcodeBody struct {
	Data            string `json:"data"`
	BlockCompletion Flag   `json:"blockCompletion"`
}

// BarcodeBodies are the barcodes that a request requires: a list of them, or an
// object that has it as required. Tasks are shown so, and some clients send back
// all that they read.
type BarcodeBodies []BarcodeBody

// UnmarshalJSON implements json.Unmarshaler.
func (b *BarcodeBodies) UnmarshalJSON(data []byte) error {
	switch data = bytes.TrimSpace(data); data[0] {
	case '[':
		return DecodePart(data, (*[]BarcodeBody)(b))
	case '{':
		var shown struct {
			Required *[]BarcodeBody `json:"required"`
		}
		if err := DecodePart(data, &shown); err != nil {
			return err
		}
		if shown.Required == nil {
			return malformed("must be an array, or an object with the array required")
		}
		*b = *shown.Required
		return nil
	}
	return malformed("must be an array, not %s", kindName(data[0]))
}

// AppearanceBody is how a task shall look.
type AppearanceBody struct {
	TriangleColor Optional[int] `json:"triangleColor"`
}

// CustomFieldBody is a custom field's value in a request.
type CustomFieldBody struct {
	Key   string `json:"key"`
	Value any    `json:"value"`
}

// RecipientRef is a recipient in a request: the id of one, or the fields of a
// new one. Neither is nobody: a published client sends null for that.
type RecipientRef struct {
	ID   lastmile.RecipientID
	Body *RecipientBody
}

// UnmarshalJSON implements json.Unmarshaler.
func (r *RecipientRef) UnmarshalJSON(data []byte) error {
	switch data = bytes.TrimSpace(data); data[0] {
	case '"':
		return decodeID(data, &r.ID, "the id of a recipient or an object")
	case '{':
		r.Body = new(RecipientBody)
		return DecodePart(data, r.Body)
	case 'n':
		return nil
	}
	return malformed("must be the id of a recipient or an object, not %s", kindName(data[0]))
}

// Change returns what the request asks for, but for what must be found first:
// destination, recipients, container, custom fields.
func (b TaskBody) Change() lastmile.TaskChange {
	change := lastmile.TaskChange{
		Merchant: b.Merchant, Executor: b.Executor,
		CompleteAfter: timePointer(b.CompleteAfter), CompleteBy: timePointer(b.CompleteBefore),
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
		required := each(*codes, func(c BarcodeBody) lastmile.Barcode {
			return lastmile.Barcode{Data: c.Data, BlockCompletion: bool(c.BlockCompletion)}
		})
		change.Barcodes = &required
	}
	return change
}

func flagOrNull(o Optional[Flag]) **bool {
	return Optional[bool]{Present: o.Present, Null: o.Null, Value: bool(o.Value)}.orNull()
}

func timePointer(o Optional[Millis]) *time.Time {
	if !o.Present {
		return nil
	}
	at := o.Value.Time()
	return &at
}

// CompleteBody is a request to complete a task.
type CompleteBody struct {
	CompletionDetails *struct {
		Success *Flag  `json:"success"`
		Notes   string `json:"notes"`
	} `json:"completionDetails"`
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

// CloneBody is a request to clone a task. Some clients put the options at the
// top.
type CloneBody struct {
	Options *CloneOptions `json:"options"`
	CloneOptions
}

// CloneOptions say what of a task its clone takes over.
type CloneOptions struct {
	IncludeMetadata     Flag      `json:"includeMetadata"`
	IncludeBarcodes     Flag      `json:"includeBarcodes"`
	IncludeBarCodes     Flag      `json:"includeBarCodes"` // as a published type definition spells it
	IncludeDependencies Flag      `json:"includeDependencies"`
	Overrides           *TaskBody `json:"overrides"`
}

// Chosen returns the options, wherever they were.
func (b CloneBody) Chosen() CloneOptions {
	if b.Options != nil {
		return *b.Options
	}
	return b.CloneOptions
}

// TaskPage is one page of a list of tasks.
type TaskPage struct {
	Tasks  []Task          `json:"tasks"`
	LastID lastmile.TaskID `json:"lastId,omitzero"` // absent on the last page
}

// AutoAssignTasksBody is a request to assign tasks automatically.
type AutoAssignTasksBody struct {
	Tasks   *[]lastmile.TaskID `json:"tasks"`
	Options *AutoAssignBody    `json:"options"`
}

// AutoAssigned is the answer to it.
type AutoAssigned struct {
	AssignedTasksCount int                                   `json:"assignedTasksCount"`
	AssignedTasks      map[lastmile.TaskID]lastmile.WorkerID `json:"assignedTasks"`
}

func newCreatedTask(c lastmile.CreatedTask) Task {
	shown := NewTask(c.Task)
	shown.DidAutoAssign = &c.DidAutoAssign
	return shown
}
