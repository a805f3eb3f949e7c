package lastmile

import (
	"encoding/base64"
	"fmt"
	"slices"
	"time"
)

// Limits of tasks.
const (
	MaxDependencies = 100
	MaxBarcodes     = 100
	MaxBarcodeData  = 500 // characters of base64
	MaxServiceTime  = 7 * 24 * time.Hour
	MaxMinimumAge   = 150
	MaxPriority     = 499
	MaxGroup        = 100 // characters
)

// Task is a pickup or a drop-off.
type Task struct {
	ID                TaskID
	ShortID           string
	Organization      OrganizationID
	Created, Modified time.Time
	Creator           string
	Merchant          OrganizationID // shown to the recipient
	Executor          OrganizationID // responsible for fulfilling
	TrackingToken     string
	TrackingURL       string
	TrackingViewed    bool
	SourceTask        TaskID // clones only
	OrderShortID      string

	State         TaskState
	Container     ContainerRef // none when completed
	Worker        WorkerID
	RoutePlan     RoutePlanID
	CompleteAfter time.Time
	CompleteBy    time.Time
	Pickup        bool
	Dependencies  []TaskID

	Destination Destination
	Recipient   *Recipient

	Notes                    string
	Quantity                 float64
	AdditionalQuantities     Capacities
	ServiceTime              time.Duration
	Priority                 int
	Group                    string
	Overrides                Overrides
	Requirements             Requirements
	Barcodes                 Barcodes
	ScanOnlyRequiredBarcodes bool
	TriangleColor            *int
	CustomFields             []CustomFieldValue
	Metadata                 Metadata
	Feedback                 []Feedback
	Completion               Completion

	Geofenced                    bool // a worker came to complete it under a geofence
	GeofenceAttempts             []GeofenceAttempt
	CompletedWithGeofenceWarning bool

	Estimates Estimates
	History   []Assignment
	Events    int64 // how many events the task has had
}

// Overrides are what a task shows its recipient instead of the recipient's own
// settings; nil is unset.
type Overrides struct {
	RecipientName                 *string
	RecipientNotes                *string
	RecipientSkipSMSNotifications *bool
	UseMerchantForProxy           *bool
}

// OverridesChange is overrides as sent: nil leaves as it is, a pointer to nil
// takes away.
type OverridesChange struct {
	RecipientName                 **string
	RecipientNotes                **string
	RecipientSkipSMSNotifications **bool
	UseMerchantForProxy           **bool
}

// Requirements are what a worker must give to complete a task.
type Requirements struct {
	Signature, Photo, Notes bool
	MinimumAge              int
}

// Barcodes are the barcodes of a task.
type Barcodes struct {
	Required []Barcode
	Captured []CapturedBarcode
}

// Barcode is one that must be scanned; without data, any.
type Barcode struct {
	ID              string
	Data            string
	BlockCompletion bool
}

// CapturedBarcode is one that was scanned.
type CapturedBarcode struct {
	ID, Symbology, Data string
	Location            *Point
	At                  time.Time
	WasRequested        bool
}

// Feedback is what a recipient said afterwards.
type Feedback struct {
	At       time.Time
	Rating   int
	Comments string
}

// Estimates are when a task will probably be done; zero and nil are unknown.
type Estimates struct {
	Arrival, Completion time.Time
	ETA                 *time.Duration
	Delay               *time.Duration
}

// Assignment is an entry of a task's history: who put it where.
type Assignment struct {
	Actor     Actor
	Container ContainerRef
	At        time.Time
}

// TaskChange is a task as sent: nil leaves as it is.
type TaskChange struct {
	Merchant, Executor       *OrganizationID
	CompleteAfter            *time.Time // zero: none
	CompleteBy               *time.Time // zero: none
	Pickup                   *bool
	Dependencies             *[]TaskID
	Notes                    *string
	Quantity                 *float64
	AdditionalQuantities     *Capacities
	ServiceTime              *time.Duration
	Priority                 *int
	Group                    *string
	Overrides                OverridesChange
	Requirements             *Requirements
	Barcodes                 *[]Barcode
	ScanOnlyRequiredBarcodes *bool
	TriangleColor            **int
	CustomFields             *[]CustomFieldValue
	Metadata                 MetadataChange

	Destination *Destination // already found
	Recipients  *[]Recipient // already found; zero or one
}

// Identity is what a new task is given besides what was sent.
type Identity struct {
	ID            TaskID
	ShortID       string
	TrackingToken string
	TrackingURL   string
	Creator       Actor
	NewID         func() string // for what is inside the task
}

// NewTask makes an unassigned task in the organization's container. The events
// of its creation are told by Created, once it is where it belongs.
func NewTask(who Identity, org OrganizationID, c TaskChange, now time.Time) (Task, error) {
	t := Task{
		ID: who.ID, ShortID: who.ShortID, Organization: org, Created: now, Creator: who.Creator.ID,
		Merchant: org, Executor: org, TrackingToken: who.TrackingToken, TrackingURL: who.TrackingURL,
		Completion: Completion{FailureReason: NoFailure},
	}
	if c.Destination == nil {
		return t, Missing("destination")
	}
	if c.Recipients == nil {
		return t, Missing("recipients").Because("an array of zero or one recipients is required")
	}
	if err := t.apply(c, who.NewID, now); err != nil {
		return t, err
	}
	t.place(OrganizationContainer(t.Executor), who.Creator, now)
	return t, nil
}

// apply changes everything that was sent.
func (t *Task) apply(c TaskChange, newID func() string, now time.Time) error {
	if c.Recipients != nil {
		if len(*c.Recipients) > 1 {
			return Invalid("recipients has %d entries; at most one is allowed", len(*c.Recipients))
		}
		t.Recipient = nil
		for _, r := range *c.Recipients {
			t.Recipient = &r
		}
	}
	set(&t.Destination, c.Destination)
	set(&t.Merchant, c.Merchant)
	set(&t.Executor, c.Executor)
	set(&t.CompleteAfter, c.CompleteAfter)
	set(&t.CompleteBy, c.CompleteBy)
	set(&t.Pickup, c.Pickup)
	set(&t.Notes, c.Notes)
	set(&t.Quantity, c.Quantity)
	set(&t.AdditionalQuantities, c.AdditionalQuantities)
	set(&t.ServiceTime, c.ServiceTime)
	set(&t.Priority, c.Priority)
	set(&t.Group, c.Group)
	set(&t.Requirements, c.Requirements)
	set(&t.ScanOnlyRequiredBarcodes, c.ScanOnlyRequiredBarcodes)
	set(&t.TriangleColor, c.TriangleColor)
	set(&t.CustomFields, c.CustomFields)
	t.Overrides.apply(c.Overrides)
	if c.Dependencies != nil {
		t.Dependencies = unique(*c.Dependencies)
	}
	if c.Barcodes != nil {
		t.Barcodes.Required = slices.Clone(*c.Barcodes)
		for i := range t.Barcodes.Required {
			t.Barcodes.Required[i].ID = newID()
		}
	}
	metadata, err := t.Metadata.Apply(c.Metadata)
	if err != nil {
		return err
	}
	t.Metadata = metadata
	t.Modified = later(t.Modified, now)
	return t.check()
}

func (o *Overrides) apply(c OverridesChange) {
	set(&o.RecipientName, c.RecipientName)
	set(&o.RecipientNotes, c.RecipientNotes)
	set(&o.RecipientSkipSMSNotifications, c.RecipientSkipSMSNotifications)
	set(&o.UseMerchantForProxy, c.UseMerchantForProxy)
}

// change returns what gives another task the same overrides.
func (o *Overrides) change() OverridesChange {
	return OverridesChange{
		RecipientName: &o.RecipientName, RecipientNotes: &o.RecipientNotes,
		RecipientSkipSMSNotifications: &o.RecipientSkipSMSNotifications, UseMerchantForProxy: &o.UseMerchantForProxy,
	}
}

// check refuses what no task can be.
func (t *Task) check() error {
	err := firstError(
		CheckText("notes", t.Notes, MaxNotes),
		checkAmount("quantity", t.Quantity),
		checkAmount("additionalQuantities.quantityA", t.AdditionalQuantities.A),
		checkAmount("additionalQuantities.quantityB", t.AdditionalQuantities.B),
		checkAmount("additionalQuantities.quantityC", t.AdditionalQuantities.C),
		CheckText("group", t.Group, MaxGroup),
		t.Overrides.check(),
		t.checkBarcodes(),
	)
	switch {
	case err != nil:
		return err
	case t.ServiceTime < 0 || t.ServiceTime > MaxServiceTime:
		return Invalid("serviceTime must be between 0 and %.0f minutes", MaxServiceTime.Minutes())
	case !t.CompleteAfter.IsZero() && !t.CompleteBy.IsZero() && !t.CompleteAfter.Before(t.CompleteBy):
		return Invalid("completeAfter must be before completeBefore")
	case t.TriangleColor != nil && (*t.TriangleColor < 0 || *t.TriangleColor > 2):
		return Invalid("appearance.triangleColor must be 0 (teal), 1 (orange), 2 (magenta) or null, not %d", *t.TriangleColor)
	case t.Requirements.MinimumAge < 0 || t.Requirements.MinimumAge > MaxMinimumAge:
		return Invalid("requirements.minimumAge must be between 0 and %d", MaxMinimumAge)
	case t.Priority < 0 || t.Priority > MaxPriority:
		return Invalid("priority must be between 0 and %d", MaxPriority)
	case len(t.Dependencies) > MaxDependencies:
		return Invalid("dependencies has %d entries; at most %d are allowed", len(t.Dependencies), MaxDependencies)
	case slices.Contains(t.Dependencies, t.ID):
		return Invalid("dependencies must not name the task itself")
	}
	return nil
}

func (o Overrides) check() error {
	var name, notes string
	set(&name, o.RecipientName)
	set(&notes, o.RecipientNotes)
	return firstError(CheckText("recipientName", name, MaxText), CheckText("recipientNotes", notes, MaxNotes))
}

func (t *Task) checkBarcodes() error {
	if len(t.Barcodes.Required) > MaxBarcodes {
		return Invalid("barcodes has %d entries; at most %d are allowed", len(t.Barcodes.Required), MaxBarcodes)
	}
	for i, b := range t.Barcodes.Required {
		field := fmt.Sprintf("barcodes[%d].data", i)
		if err := CheckText(field, b.Data, MaxBarcodeData); err != nil {
			return err
		}
		if _, err := base64.StdEncoding.DecodeString(b.Data); err != nil {
			return Invalid("%s must be base64", field)
		}
	}
	return nil
}

// CreatedTask is a task in the answer to the request that made it.
type CreatedTask struct {
	Task          Task
	DidAutoAssign bool
}

// Late tells by how much the task is over its time at now; zero when not.
func (t Task) Late(now time.Time) time.Duration {
	if t.State == TaskCompleted || t.CompleteBy.IsZero() || !now.After(t.CompleteBy) {
		return 0
	}
	return now.Sub(t.CompleteBy)
}
