package wire

import (
	"strconv"
	"time"

	"dray/internal/lastmile"
)

// Task is a task as the interface shows it.
type Task struct {
	TaskRecord
	TaskLive
	DidAutoAssign     *bool        `json:"didAutoAssign,omitzero"`     // in the answer that creates the task
	AssignmentHistory []Assignment `json:"assignmentHistory,omitzero"` // only when asked for
}

// TaskRecord is the part of a task that only changes with the task itself.
type TaskRecord struct {
	ID                       lastmile.TaskID         `json:"id"`
	TimeCreated              Millis                  `json:"timeCreated"`
	TimeLastModified         Millis                  `json:"timeLastModified"`
	Organization             lastmile.OrganizationID `json:"organization"`
	ShortID                  string                  `json:"shortId"`
	OrderShortID             *string                 `json:"orderShortId"` // null when in no order
	TrackingURL              string                  `json:"trackingURL"`
	TrackingViewed           bool                    `json:"trackingViewed"`
	Worker                   *lastmile.WorkerID      `json:"worker"` // null when unassigned
	Merchant                 lastmile.OrganizationID `json:"merchant"`
	Executor                 lastmile.OrganizationID `json:"executor"`
	Creator                  string                  `json:"creator"`
	Dependencies             []lastmile.TaskID       `json:"dependencies"`
	State                    lastmile.TaskState      `json:"state"`
	CompleteAfter            Millis                  `json:"completeAfter"`  // null when none
	CompleteBefore           Millis                  `json:"completeBefore"` // null when none
	PickupTask               bool                    `json:"pickupTask"`
	Type                     int                     `json:"type"` // 0 pickup, 1 drop-off
	Notes                    string                  `json:"notes"`
	CompletionDetails        Completion              `json:"completionDetails"`
	Feedback                 []Feedback              `json:"feedback"`
	Metadata                 Metadata                `json:"metadata"`
	Overrides                Overrides               `json:"overrides"`
	Quantity                 float64                 `json:"quantity"`
	AdditionalQuantities     Quantities              `json:"additionalQuantities"`
	ServiceTime              Minutes                 `json:"serviceTime"`
	Priority                 int                     `json:"priority"`
	Group                    *string                 `json:"group"` // null when none
	Identity                 IdentityCheck           `json:"identity"`
	Appearance               Appearance              `json:"appearance"`
	ScanOnlyRequiredBarcodes bool                    `json:"scanOnlyRequiredBarcodes"`
	Barcodes                 Barcodes                `json:"barcodes"`
	CustomFields             []CustomField           `json:"customFields"`
	Requirements             Requirements            `json:"requirements"`
	Container                *Container              `json:"container,omitzero"` // absent when completed
	RoutePlan                lastmile.RoutePlanID    `json:"routePlan,omitzero"`
	SourceTaskID             lastmile.TaskID         `json:"sourceTaskId,omitzero"` // clones only

	GeofenceAttempts             *[]GeofenceAttempt `json:"geofenceAttempts,omitzero"` // only under a geofence
	CompletedWithGeofenceWarning *bool              `json:"completedWithGeofenceWarning,omitzero"`
}

// TaskLive is the part of a task that changes by the minute or with other
// records.
type TaskLive struct {
	Recipients  []Recipient `json:"recipients"`
	Destination Destination `json:"destination"`
	TaskTimes
}

// TaskTimes are when a task will probably be done.
type TaskTimes struct {
	EstimatedCompletionTime Millis   `json:"estimatedCompletionTime"` // null when unknown
	EstimatedArrivalTime    Millis   `json:"estimatedArrivalTime"`    // null when unknown
	ETA                     *Seconds `json:"eta"`                     // null when unknown
	DelayTime               *Seconds `json:"delayTime"`               // null when not delayed
}

// AppendMembers appends the members of the JSON object, without braces.
func (t TaskTimes) AppendMembers(b []byte) []byte {
	millis := func(m Millis) {
		if m.IsZero() {
			b = append(b, "null"...)
			return
		}
		b = strconv.AppendInt(b, m.Time().UnixMilli(), 10)
	}
	seconds := func(s *Seconds) {
		if s == nil {
			b = append(b, "null"...)
			return
		}
		b = strconv.AppendInt(b, int64(s.Duration().Round(time.Second)/time.Second), 10)
	}
	b = append(b, `"estimatedCompletionTime":`...)
	millis(t.EstimatedCompletionTime)
	b = append(b, `,"estimatedArrivalTime":`...)
	millis(t.EstimatedArrivalTime)
	b = append(b, `,"eta":`...)
	seconds(t.ETA)
	b = append(b, `,"delayTime":`...)
	seconds(t.DelayTime)
	return b
}

// Completion is how a task was done, as far as it is.
type Completion struct {
	FailureNotes           string                  `json:"failureNotes"`
	SuccessNotes           string                  `json:"successNotes"`
	FailureReason          string                  `json:"failureReason"`
	Events                 []CompletionEvent       `json:"events"`
	Actions                []any                   `json:"actions"`
	Time                   Millis                  `json:"time"` // null until completed
	FirstLocation          Coordinates             `json:"firstLocation"`
	LastLocation           Coordinates             `json:"lastLocation"`
	UnavailableAttachments []UnavailableAttachment `json:"unavailableAttachments"`
	SignatureUploadID      *string                 `json:"signatureUploadId"`
	SignatureText          *string                 `json:"signatureText,omitzero"`
	PhotoUploadID          *string                 `json:"photoUploadId"`
	PhotoUploadIDs         []string                `json:"photoUploadIds"` // null when none
	Success                *bool                   `json:"success,omitzero"`
	Notes                  *string                 `json:"notes,omitzero"`
	Distance               *float64                `json:"distance,omitzero"`
}

// GeofenceAttempt is an attempt to complete a task elsewhere.
type GeofenceAttempt struct {
	Type      lastmile.GeofenceLevel `json:"type"` // 1 warning, 2 block
	Location  LonLat                 `json:"location"`
	Timestamp Millis                 `json:"timestamp"`
}

// Coordinates are a place as an array, empty when there is none.
type Coordinates []float64

// CompletionEvent is a step on the way.
type CompletionEvent struct {
	Name     string      `json:"name"`
	Time     Millis      `json:"time"`
	Location Coordinates `json:"location,omitzero"`
}

// UnavailableAttachment is an attachment that has not arrived.
type UnavailableAttachment struct {
	Status         string `json:"status"`
	AttachmentID   string `json:"attachmentId"`
	AttachmentType string `json:"attachmentType"`
}

// Feedback is what a recipient said.
type Feedback struct {
	Time     Millis `json:"time"`
	Rating   int    `json:"rating"`
	Comments string `json:"comments"`
}

// Overrides are a task's overrides, null when unset. A published client cannot
// read a boolean in the last one.
type Overrides struct {
	RecipientSkipSMSNotifications *bool   `json:"recipientSkipSMSNotifications"`
	RecipientNotes                *string `json:"recipientNotes"`
	RecipientName                 *string `json:"recipientName"`
	UseMerchantForProxy           *string `json:"useMerchantForProxy"`
}

// Quantities are a task's additional quantities.
type Quantities struct {
	A float64 `json:"quantityA"`
	B float64 `json:"quantityB"`
	C float64 `json:"quantityC"`
}

// IdentityCheck is what is known of the recipient's age check.
type IdentityCheck struct {
	FailedScanCount int     `json:"failedScanCount"`
	Checksum        *string `json:"checksum"`
}

// Appearance is how a task looks on the map.
type Appearance struct {
	TriangleColor *int `json:"triangleColor"`
}

// Barcodes are a task's barcodes.
type Barcodes struct {
	Required []Barcode         `json:"required"`
	Captured []CapturedBarcode `json:"captured"`
}

// Barcode is one that must be scanned.
type Barcode struct {
	Data            string `json:"data,omitzero"`
	BlockCompletion bool   `json:"blockCompletion"`
	ID              string `json:"id"`
}

// CapturedBarcode is one that was scanned.
type CapturedBarcode struct {
	ID           string      `json:"id"`
	Symbology    string      `json:"symbology"`
	Data         string      `json:"data"`
	Location     Coordinates `json:"location"`
	Time         Millis      `json:"time"`
	WasRequested bool        `json:"wasRequested"`
}

// Requirements are what a worker must give to complete a task.
type Requirements struct {
	Signature  bool `json:"signature"`
	Photo      bool `json:"photo"`
	Notes      bool `json:"notes"`
	MinimumAge int  `json:"minimumAge"`
}

// Container is where a task is.
type Container struct {
	Type         lastmile.ContainerKind  `json:"type"`
	Organization lastmile.OrganizationID `json:"organization,omitzero"`
	Team         lastmile.TeamID         `json:"team,omitzero"`
	Worker       lastmile.WorkerID       `json:"worker,omitzero"`
}

// Assignment is an entry of a task's history.
type Assignment struct {
	ActionContext        ActionContext `json:"actionContext"`
	ContainerDescription Container     `json:"containerDescription"`
	Time                 Millis        `json:"time"`
}

// ActionContext is who did something.
type ActionContext struct {
	Type lastmile.ActorType `json:"type"`
	ID   string             `json:"id"`
}

// NewTask returns a task in the form that is sent.
func NewTask(t lastmile.Task) Task {
	return Task{TaskRecord: NewTaskRecord(t), TaskLive: NewTaskLive(t)}
}

// NewTaskLive returns the part of a task that changes by the minute.
func NewTaskLive(t lastmile.Task) TaskLive {
	live := TaskLive{
		Recipients: []Recipient{}, Destination: NewDestination(t.Destination),
		TaskTimes: NewTaskTimes(t.Estimates),
	}
	if t.Recipient != nil {
		live.Recipients = append(live.Recipients, NewRecipient(*t.Recipient))
	}
	return live
}

// NewTaskTimes returns estimates in the form that is sent.
func NewTaskTimes(e lastmile.Estimates) TaskTimes {
	return TaskTimes{
		EstimatedCompletionTime: Millis(e.Completion), EstimatedArrivalTime: Millis(e.Arrival),
		ETA: (*Seconds)(e.ETA), DelayTime: (*Seconds)(e.Delay),
	}
}

// NewTaskRecord returns the lasting part of a task.
func NewTaskRecord(t lastmile.Task) TaskRecord {
	record := TaskRecord{
		ID: t.ID, TimeCreated: Millis(t.Created), TimeLastModified: Millis(t.Modified), Organization: t.Organization,
		ShortID: t.ShortID, OrderShortID: orNull(t.OrderShortID), TrackingURL: t.TrackingURL, TrackingViewed: t.TrackingViewed,
		Worker: orNull(t.Worker), Merchant: t.Merchant, Executor: t.Executor, Creator: t.Creator,
		Dependencies: orEmpty(t.Dependencies), State: t.State,
		CompleteAfter: Millis(t.CompleteAfter), CompleteBefore: Millis(t.CompleteBy),
		PickupTask: t.Pickup, Type: 1, Notes: t.Notes, CompletionDetails: newCompletion(t.Completion),
		Feedback: each(t.Feedback, func(f lastmile.Feedback) Feedback {
			return Feedback{Time: Millis(f.At), Rating: f.Rating, Comments: f.Comments}
		}),
		Metadata: NewMetadata(t.Metadata),
		Overrides: Overrides{
			RecipientSkipSMSNotifications: t.Overrides.RecipientSkipSMSNotifications, RecipientNotes: t.Overrides.RecipientNotes,
			RecipientName: t.Overrides.RecipientName, UseMerchantForProxy: flagText(t.Overrides.UseMerchantForProxy),
		},
		Quantity: t.Quantity, AdditionalQuantities: Quantities(t.AdditionalQuantities), ServiceTime: Minutes(t.ServiceTime),
		Priority: t.Priority, Group: orNull(t.Group), Appearance: Appearance{TriangleColor: t.TriangleColor},
		ScanOnlyRequiredBarcodes: t.ScanOnlyRequiredBarcodes, Barcodes: newBarcodes(t.Barcodes),
		CustomFields: each(t.CustomFields, NewCustomField), Requirements: Requirements(t.Requirements),
		RoutePlan: t.RoutePlan, SourceTaskID: t.SourceTask,
	}
	if t.Pickup {
		record.Type = 0
	}
	if t.Geofenced {
		attempts := each(t.GeofenceAttempts, func(a lastmile.GeofenceAttempt) GeofenceAttempt {
			return GeofenceAttempt{Type: a.Level, Location: LonLat(a.Location), Timestamp: Millis(a.At)}
		})
		record.GeofenceAttempts, record.CompletedWithGeofenceWarning = &attempts, &t.CompletedWithGeofenceWarning
	}
	if t.Container.Kind != "" {
		container := newContainer(t.Container)
		record.Container = &container
	}
	return record
}

func newContainer(c lastmile.ContainerRef) Container {
	shown := Container{Type: c.Kind}
	switch c.Kind {
	case lastmile.InOrganization:
		shown.Organization = lastmile.OrganizationID(c.Owner)
	case lastmile.InTeam:
		shown.Team = lastmile.TeamID(c.Owner)
	case lastmile.InWorker:
		shown.Worker = lastmile.WorkerID(c.Owner)
	}
	return shown
}

func (c Container) domain() lastmile.ContainerRef {
	return lastmile.ContainerRef{Kind: c.Type, Owner: string(c.Organization) + string(c.Team) + string(c.Worker)}
}

func newCompletion(c lastmile.Completion) Completion {
	shown := Completion{
		FailureNotes: c.FailureNotes, SuccessNotes: c.SuccessNotes, FailureReason: c.FailureReason,
		Events: each(c.Events, func(e lastmile.CompletionEvent) CompletionEvent {
			event := CompletionEvent{Name: e.Name, Time: Millis(e.At)}
			if e.Location != nil {
				event.Location = coordinates(e.Location)
			}
			return event
		}),
		Actions: []any{}, Time: Millis(c.At), FirstLocation: coordinates(c.FirstLocation), LastLocation: coordinates(c.LastLocation),
		UnavailableAttachments: each(c.UnavailableAttachments, func(a lastmile.UnavailableAttachment) UnavailableAttachment {
			return UnavailableAttachment{Status: "UNAVAILABLE", AttachmentID: a.ID, AttachmentType: a.Type}
		}),
		SignatureUploadID: orNull(c.SignatureUploadID), SignatureText: orNull(c.SignatureText), PhotoUploadIDs: c.PhotoUploadIDs,
	}
	if len(c.PhotoUploadIDs) > 0 {
		shown.PhotoUploadID = &c.PhotoUploadIDs[0]
	}
	if c.Done() {
		distance := float64(c.Distance)
		shown.Success, shown.Notes, shown.Distance = &c.Success, &c.Notes, &distance
	}
	return shown
}

func newBarcodes(b lastmile.Barcodes) Barcodes {
	return Barcodes{
		Required: each(b.Required, func(b lastmile.Barcode) Barcode {
			return Barcode{Data: b.Data, BlockCompletion: b.BlockCompletion, ID: b.ID}
		}),
		Captured: each(b.Captured, func(b lastmile.CapturedBarcode) CapturedBarcode {
			return CapturedBarcode{
				ID: b.ID, Symbology: b.Symbology, Data: b.Data, Location: coordinates(b.Location),
				Time: Millis(b.At), WasRequested: b.WasRequested,
			}
		}),
	}
}

// NewAssignments returns a task's history in the form that is sent.
func NewAssignments(history []lastmile.Assignment) []Assignment {
	return each(history, func(a lastmile.Assignment) Assignment {
		return Assignment{
			ActionContext:        ActionContext{Type: a.Actor.Type, ID: a.Actor.ID},
			ContainerDescription: newContainer(a.Container), Time: Millis(a.At),
		}
	})
}

// Assignments returns the history that the form shows.
func Assignments(history []Assignment) []lastmile.Assignment {
	return each(history, func(a Assignment) lastmile.Assignment {
		return lastmile.Assignment{
			Actor:     lastmile.Actor{Type: a.ActionContext.Type, ID: a.ActionContext.ID},
			Container: a.ContainerDescription.domain(), At: a.Time.Time(),
		}
	})
}

func coordinates(p *lastmile.Point) Coordinates {
	if p == nil {
		return Coordinates{}
	}
	return Coordinates{p.Lon, p.Lat}
}

func (c Coordinates) point() *lastmile.Point {
	if len(c) != 2 {
		return nil
	}
	return &lastmile.Point{Lon: c[0], Lat: c[1]}
}

func flagText(b *bool) *string {
	switch {
	case b == nil:
		return nil
	case *b:
		return orNull("true")
	}
	return orNull("false")
}

func textFlag(s *string) *bool {
	if s == nil {
		return nil
	}
	on := *s == "true"
	return &on
}

// Domain returns the lasting part of the task that the form shows.
func (r TaskRecord) Domain() lastmile.Task {
	t := lastmile.Task{
		ID: r.ID, Created: r.TimeCreated.Time(), Modified: r.TimeLastModified.Time(), Organization: r.Organization,
		ShortID: r.ShortID, OrderShortID: orZero(r.OrderShortID), TrackingURL: r.TrackingURL, TrackingViewed: r.TrackingViewed,
		Worker: orZero(r.Worker), Merchant: r.Merchant, Executor: r.Executor, Creator: r.Creator,
		Dependencies: r.Dependencies, State: r.State,
		CompleteAfter: r.CompleteAfter.Time(), CompleteBy: r.CompleteBefore.Time(),
		Pickup: r.PickupTask, Notes: r.Notes, Completion: r.CompletionDetails.domain(),
		Feedback: each(r.Feedback, func(f Feedback) lastmile.Feedback {
			return lastmile.Feedback{At: f.Time.Time(), Rating: f.Rating, Comments: f.Comments}
		}),
		Metadata: r.Metadata.Domain(),
		Overrides: lastmile.Overrides{
			RecipientSkipSMSNotifications: r.Overrides.RecipientSkipSMSNotifications, RecipientNotes: r.Overrides.RecipientNotes,
			RecipientName: r.Overrides.RecipientName, UseMerchantForProxy: textFlag(r.Overrides.UseMerchantForProxy),
		},
		Quantity: r.Quantity, AdditionalQuantities: lastmile.Capacities(r.AdditionalQuantities), ServiceTime: r.ServiceTime.Duration(),
		Priority: r.Priority, Group: orZero(r.Group), TriangleColor: r.Appearance.TriangleColor,
		ScanOnlyRequiredBarcodes: r.ScanOnlyRequiredBarcodes, Barcodes: r.Barcodes.domain(),
		CustomFields: each(r.CustomFields, CustomField.Domain), Requirements: lastmile.Requirements(r.Requirements),
		RoutePlan: r.RoutePlan, SourceTask: r.SourceTaskID,
	}
	if r.Container != nil {
		t.Container = r.Container.domain()
	}
	if r.GeofenceAttempts != nil {
		t.Geofenced, t.CompletedWithGeofenceWarning = true, orZero(r.CompletedWithGeofenceWarning)
		t.GeofenceAttempts = each(*r.GeofenceAttempts, func(a GeofenceAttempt) lastmile.GeofenceAttempt {
			return lastmile.GeofenceAttempt{Level: a.Type, Location: a.Location.Point(), At: a.Timestamp.Time()}
		})
	}
	return t
}

func (c Completion) domain() lastmile.Completion {
	return lastmile.Completion{
		FailureNotes: c.FailureNotes, SuccessNotes: c.SuccessNotes, FailureReason: c.FailureReason,
		Events: each(c.Events, func(e CompletionEvent) lastmile.CompletionEvent {
			return lastmile.CompletionEvent{Name: e.Name, At: e.Time.Time(), Location: e.Location.point()}
		}),
		At: c.Time.Time(), FirstLocation: c.FirstLocation.point(), LastLocation: c.LastLocation.point(),
		UnavailableAttachments: each(c.UnavailableAttachments, func(a UnavailableAttachment) lastmile.UnavailableAttachment {
			return lastmile.UnavailableAttachment{ID: a.AttachmentID, Type: a.AttachmentType}
		}),
		SignatureUploadID: orZero(c.SignatureUploadID), SignatureText: orZero(c.SignatureText), PhotoUploadIDs: c.PhotoUploadIDs,
		Success: orZero(c.Success), Notes: orZero(c.Notes), Distance: lastmile.Meters(orZero(c.Distance)),
	}
}

func (b Barcodes) domain() lastmile.Barcodes {
	return lastmile.Barcodes{
		Required: each(b.Required, func(b Barcode) lastmile.Barcode {
			return lastmile.Barcode{Data: b.Data, BlockCompletion: b.BlockCompletion, ID: b.ID}
		}),
		Captured: each(b.Captured, func(b CapturedBarcode) lastmile.CapturedBarcode {
			return lastmile.CapturedBarcode{
				ID: b.ID, Symbology: b.Symbology, Data: b.Data, Location: b.Location.point(),
				At: b.Time.Time(), WasRequested: b.WasRequested,
			}
		}),
	}
}
