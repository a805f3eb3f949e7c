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
	Organization      OrganizationID // the organization whose workers carry out the task
	Origin            OrganizationID // the organization that placed the task with Organization; empty if Organization created it
	Created, Modified time.Time
	Creator           string
	Merchant          OrganizationID // shown to the recipient
	Executor          OrganizationID // responsible for fulfillment
	TrackingToken     string
	TrackingURL       string
	TrackingViewed    bool
	SourceTask        TaskID // the task of which this is a clone; empty for none
	ImportKey         string // set only when the task is created; not loaded from the store
	OrderShortID      string

	State          TaskState
	Container      ContainerRef // empty if completed
	Worker         WorkerID
	RoutePlan      RoutePlanID
	PlanPosition   int64 // position in the route plan; the first is 0
	CompleteAfter  time.Time
	CompleteBefore time.Time
	Pickup         bool
	Dependencies   []TaskID

	Destination Destination
	Recipient   *Recipient

	Notes                    string
	Quantity                 float64
	AdditionalQuantities     Capacities
	ServiceTime              *time.Duration // nil if none was sent; the API shows nil as 0
	PlannedService           *time.Duration // of the latest dispatch that planned the task
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

	Geofenced                    bool // a geofence applies to the task, or did before
	GeofenceAttempts             []GeofenceAttempt
	CompletedWithGeofenceWarning bool

	Estimates Estimates
	History   []Assignment
	Events    int64 // number of events so far
}

// Overrides replace the settings of the recipient for one task; nil is unset.
type Overrides struct {
	RecipientName                 *string
	RecipientNotes                *string
	RecipientSkipSMSNotifications *bool
	UseMerchantForProxy           *bool
}

// OverridesChange is an update of overrides. Nil fields stay unchanged; pointers to nil clear.
type OverridesChange struct {
	RecipientName                 **string
	RecipientNotes                **string
	RecipientSkipSMSNotifications **bool
	UseMerchantForProxy           **bool
}

// Requirements define what a worker must submit to complete a task.
type Requirements struct {
	Signature, Photo, Notes bool
	MinimumAge              int
}

// Barcodes are the barcodes of a task.
type Barcodes struct {
	Required []Barcode
	Captured []CapturedBarcode
}

// Barcode is a barcode to be scanned. Without Data, any barcode is accepted. The task cannot
// be completed without it if BlockCompletion is set.
type Barcode struct {
	ID              string
	Data            string
	BlockCompletion bool
}

// CapturedBarcode is a barcode that was scanned.
type CapturedBarcode struct {
	ID, Symbology, Data string
	Location            *Point
	At                  time.Time
	WasRequested        bool
}

// Feedback is a recipient's rating of a completed task.
type Feedback struct {
	At       time.Time
	Rating   int
	Comments string
}

// Estimates are the expected times of arrival and completion of a task. Zero times and nil
// are unknown.
type Estimates struct {
	Arrival, Completion time.Time
	ETA                 *time.Duration
	Delay               *time.Duration
}

// ServiceStart returns the time at which service is expected to begin in a time window, which
// recipients see; zero if unknown.
func (e Estimates) ServiceStart(w TimeWindow) time.Time { return w.ServiceStart(e.Arrival) }

// arrived returns the estimates, without the delay, of an active task whose worker has arrived
// at a time.
func (e Estimates) arrived(at time.Time, w TimeWindow) Estimates {
	known := Estimates{Arrival: at, ETA: new(time.Duration(0))}
	if !e.Completion.IsZero() {
		known.Completion = w.ServiceStart(at).Add(e.Completion.Sub(e.ServiceStart(w)))
	}
	return known
}

// Equal reports whether two estimates are the same.
func (e Estimates) Equal(other Estimates) bool {
	same := func(a, b *time.Duration) bool { return a == b || a != nil && b != nil && *a == *b }
	return e.Arrival.Equal(other.Arrival) && e.Completion.Equal(other.Completion) && same(e.ETA, other.ETA) && same(e.Delay, other.Delay)
}

// Assignment is an entry of a task's history: an actor moved the task to a container.
type Assignment struct {
	Actor     Actor
	Container ContainerRef
	At        time.Time
}

// TaskChange is an update of a task. Nil fields stay unchanged.
type TaskChange struct {
	Merchant, Executor       *OrganizationID
	CompleteAfter            *time.Time // zero clears
	CompleteBefore           *time.Time // zero clears
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

	Destination *Destination // already geocoded
	Recipients  *[]Recipient // already stored; at most one
}

// Identity holds the fields of a new task that clients do not send.
type Identity struct {
	ID            TaskID
	ShortID       string
	TrackingToken string
	TrackingURL   string
	Creator       Actor
	NewID         func() string // returns an id for a part of the task, such as a barcode
}

// NewTask returns an unassigned task in the organization's container. Callers call
// CreationEvents once the task is in its final container.
func NewTask(id Identity, org OrganizationID, c TaskChange, now time.Time) (Task, error) {
	t := Task{
		ID: id.ID, ShortID: id.ShortID, Organization: org, Created: now, Creator: id.Creator.ID,
		Merchant: org, Executor: org, TrackingToken: id.TrackingToken, TrackingURL: id.TrackingURL,
		Completion: Completion{FailureReason: NoFailure},
	}
	if c.Destination == nil {
		return t, Missing("destination")
	}
	if c.Recipients == nil {
		return t, Missing("recipients").Because("an array of zero or one recipients is required")
	}
	if _, err := t.apply(c, id.NewID, now); err != nil {
		return t, err
	}
	t.place(OrganizationContainer(org), id.Creator, now)
	return t, nil
}

// apply applies all fields of a change that are set, and reports whether the task is
// different now.
func (t *Task) apply(c TaskChange, newID func() string, now time.Time) (changed bool, err error) {
	before := *t
	if c.Recipients != nil {
		if len(*c.Recipients) > 1 {
			return false, Invalid("recipients has %d entries; at most one is allowed", len(*c.Recipients))
		}
		t.Recipient = nil
		for _, r := range *c.Recipients {
			t.Recipient = &r
		}
	}
	Set(&t.Destination, c.Destination)
	Set(&t.Merchant, c.Merchant)
	Set(&t.Executor, c.Executor)
	Set(&t.CompleteAfter, c.CompleteAfter)
	Set(&t.CompleteBefore, c.CompleteBefore)
	Set(&t.Pickup, c.Pickup)
	Set(&t.Notes, c.Notes)
	Set(&t.Quantity, c.Quantity)
	Set(&t.AdditionalQuantities, c.AdditionalQuantities)
	// The API shows a missing service time as 0. An update that sends it back does not set it.
	if sent := c.ServiceTime; sent != nil && (*sent != 0 || t.ServiceTime != nil || t.Modified.IsZero()) {
		t.ServiceTime = sent
	}
	Set(&t.Priority, c.Priority)
	Set(&t.Group, c.Group)
	Set(&t.Requirements, c.Requirements)
	Set(&t.ScanOnlyRequiredBarcodes, c.ScanOnlyRequiredBarcodes)
	Set(&t.TriangleColor, c.TriangleColor)
	Set(&t.CustomFields, c.CustomFields)
	t.Overrides.apply(c.Overrides)
	if c.Dependencies != nil {
		t.Dependencies = Unique(*c.Dependencies)
	}
	if c.Barcodes != nil {
		t.Barcodes.Required = t.Barcodes.replaceRequired(*c.Barcodes, newID)
	}
	if t.Metadata, err = t.Metadata.Apply(c.Metadata); err != nil {
		return false, err
	}
	if changed = touch(&t.Modified, before, *t, now); changed {
		t.updateDelay(now)
	}
	return changed, t.check()
}

// replaceRequired returns the barcodes of sent with ids. A barcode that the task already
// requires keeps its id.
func (b Barcodes) replaceRequired(sent []Barcode, newID func() string) []Barcode {
	known, required := slices.Clone(b.Required), slices.Clone(sent)
	for i, r := range required {
		at := slices.IndexFunc(known, func(k Barcode) bool { return k.Data == r.Data && k.BlockCompletion == r.BlockCompletion })
		if at < 0 {
			required[i].ID = newID()
			continue
		}
		required[i].ID = known[at].ID
		known = slices.Delete(known, at, at+1)
	}
	return required
}

func (o *Overrides) apply(c OverridesChange) {
	Set(&o.RecipientName, c.RecipientName)
	Set(&o.RecipientNotes, c.RecipientNotes)
	Set(&o.RecipientSkipSMSNotifications, c.RecipientSkipSMSNotifications)
	Set(&o.UseMerchantForProxy, c.UseMerchantForProxy)
}

// change returns a change that sets these overrides on another task.
func (o *Overrides) change() OverridesChange {
	return OverridesChange{
		RecipientName: &o.RecipientName, RecipientNotes: &o.RecipientNotes,
		RecipientSkipSMSNotifications: &o.RecipientSkipSMSNotifications, UseMerchantForProxy: &o.UseMerchantForProxy,
	}
}

// check rejects an invalid task.
func (t *Task) check() error {
	err := FirstError(
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
	case t.ServiceTime != nil && (*t.ServiceTime < 0 || *t.ServiceTime > MaxServiceTime):
		return Invalid("serviceTime must be between 0 and %.0f minutes", MaxServiceTime.Minutes())
	case !t.CompleteAfter.IsZero() && !t.CompleteBefore.IsZero() && !t.CompleteAfter.Before(t.CompleteBefore):
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
	Set(&name, o.RecipientName)
	Set(&notes, o.RecipientNotes)
	return FirstError(CheckText("recipientName", name, MaxText), CheckText("recipientNotes", notes, MaxNotes))
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

// CreatedTask is a task in the response to the request that created it.
type CreatedTask struct {
	Task          Task
	DidAutoAssign bool
}

// Window returns when the service of the task may begin.
func (t *Task) Window() TimeWindow { return TimeWindow{t.CompleteAfter, t.CompleteBefore} }

// Late returns how late the task is at now, ignoring estimates: the lateness of the arrival
// or, before the arrival, the time since the window closed. It is zero for completed tasks.
func (t *Task) Late(now time.Time) time.Duration {
	if t.State == TaskCompleted {
		return 0
	}
	if arrived := t.Completion.Arrived(); !arrived.IsZero() {
		return t.Window().Lateness(t.Window().ServiceStart(arrived))
	}
	return t.Window().Lateness(now)
}

// updateDelay sets the delay after the time window or the estimates have changed: the
// lateness of the estimated arrival, and at least how late the task already is.
func (t *Task) updateDelay(now time.Time) {
	t.Estimates.Delay = nil
	if late := max(t.Window().Lateness(t.Estimates.ServiceStart(t.Window())), t.Late(now)); late > 0 {
		t.Estimates.Delay = &late
	}
}
