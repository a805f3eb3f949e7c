package wire

import (
	"cmp"
	"strconv"
	"time"

	"dray/internal/lastmile"
)

// Task is a task: something to bring or to fetch.
type Task struct {
	TaskRecord
	TaskLive
	// Whether a worker was found automatically. Only in the response that creates the task.
	DidAutoAssign *bool `json:"didAutoAssign,omitzero" example:"true"`
	// Who put the task where. Only when asked for.
	AssignmentHistory []Assignment `json:"assignmentHistory,omitzero" example:"[]"`
}

// TaskRecord is the part of a task that only changes with the task itself.
type TaskRecord struct {
	// Id of the record.
	ID lastmile.TaskID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// When the record was created, in Unix milliseconds.
	TimeCreated Millis `json:"timeCreated" example:"1767225600000"`
	// When the record last changed, in Unix milliseconds.
	TimeLastModified Millis `json:"timeLastModified" example:"1767229200000"`
	// Id of the organization that owns the record.
	Organization lastmile.OrganizationID `json:"organization" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// Short id, eight hexadecimal digits, unique in the organization.
	ShortID string `json:"shortId" example:"8f2a61c4"`
	// Short id of the order that the task belongs to; null when none.
	OrderShortID *string `json:"orderShortId" example:"null"`
	// Page on which the recipient can follow the task.
	TrackingURL string `json:"trackingURL" example:"https://dray.example/t/q7Vd2mXw9LkT4pZs"`
	// The recipient has opened that page.
	TrackingViewed bool `json:"trackingViewed"`
	// Id of the worker who has the task; null when unassigned.
	Worker *lastmile.WorkerID `json:"worker" example:"W4nB7xKq9LsT2vDz6MfR3hYc"`
	// Id of the organization that the recipient is shown.
	Merchant lastmile.OrganizationID `json:"merchant" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// Id of the organization that fulfils the task.
	Executor lastmile.OrganizationID `json:"executor" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// Id of the API key that created the task.
	Creator string `json:"creator" example:"k5Rt8yUi2OpA6sDf9GhJ3lZx"`
	// Ids of tasks that must be completed before this one is started.
	Dependencies []lastmile.TaskID `json:"dependencies" example:"[]"`
	// 0 unassigned, 1 assigned, 2 active, 3 completed.
	State lastmile.TaskState `json:"state" example:"1"`
	// Not to be completed before this, in Unix milliseconds; null when any time will do.
	CompleteAfter Millis `json:"completeAfter" nullable:"true" example:"1894021200000"`
	// To be completed before this, in Unix milliseconds; null when any time will do.
	CompleteBefore Millis `json:"completeBefore" nullable:"true" example:"1894028400000"`
	// Something is fetched, not brought.
	PickupTask bool `json:"pickupTask"`
	// 0 for a pickup, 1 for a drop-off.
	Type int `json:"type" enum:"0,1" example:"1"`
	// Free text; empty when none.
	Notes string `json:"notes" example:"Leave with the concierge."`
	// How the task was done.
	CompletionDetails Completion `json:"completionDetails"`
	// What the recipient said; empty when nothing.
	Feedback []Feedback `json:"feedback" example:"[]"`
	// Values that integrations keep on the record.
	Metadata Metadata `json:"metadata"`
	// What holds for this task in place of the recipient's own settings.
	Overrides Overrides `json:"overrides"`
	// Units to carry.
	Quantity float64 `json:"quantity" example:"2"`
	// Three more measures of what is to be carried.
	AdditionalQuantities Quantities `json:"additionalQuantities"`
	// Minutes at the destination.
	ServiceTime Minutes `json:"serviceTime" example:"5"`
	// 0 to 499.
	Priority int `json:"priority"`
	// A name that tasks may share; null when none.
	Group *string `json:"group" example:"null"`
	// The check of the recipient's age.
	Identity IdentityCheck `json:"identity"`
	// How the task looks on the map.
	Appearance Appearance `json:"appearance"`
	// Other barcodes than the required ones cannot be scanned.
	ScanOnlyRequiredBarcodes bool `json:"scanOnlyRequiredBarcodes"`
	// Barcodes to be scanned, and those that were.
	Barcodes Barcodes `json:"barcodes"`
	// The task's custom fields.
	CustomFields []CustomField `json:"customFields" example:"[]"`
	// What the worker must provide to complete the task.
	Requirements Requirements `json:"requirements"`
	// Where the task is. Absent when it is completed.
	Container *Container `json:"container,omitzero" example:"{\"type\": \"WORKER\", \"worker\": \"W4nB7xKq9LsT2vDz6MfR3hYc\"}"`
	// Id of the route plan that the task is in. Absent when it is in none.
	RoutePlan lastmile.RoutePlanID `json:"routePlan,omitzero"`
	// Id of the task that this one was cloned from. Only for clones.
	SourceTaskID lastmile.TaskID `json:"sourceTaskId,omitzero" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`

	// Attempts to complete the task elsewhere; empty when none. Only under a geofence.
	GeofenceAttempts *[]GeofenceAttempt `json:"geofenceAttempts,omitzero" example:"[]"`
	// Whether the worker completed the task elsewhere and was warned.
	CompletedWithGeofenceWarning bool `json:"completedWithGeofenceWarning"`
}

// TaskLive is the part of a task that changes by the minute or with other
// records.
type TaskLive struct {
	// The recipient; empty when there is none.
	Recipients []Recipient `json:"recipients"`
	// Where the task is done.
	Destination Destination `json:"destination"`
	TaskTimes
}

// TaskTimes are when a task will probably be done.
type TaskTimes struct {
	// When the task will probably be completed, in Unix milliseconds; null when unknown.
	EstimatedCompletionTime Millis `json:"estimatedCompletionTime" nullable:"true" example:"1894025100000"`
	// When the worker will probably be there, in Unix milliseconds; null when unknown.
	EstimatedArrivalTime Millis `json:"estimatedArrivalTime" nullable:"true" example:"1894024800000"`
	// Seconds from the worker's place to the destination; null unless the task is active.
	ETA *Seconds `json:"eta" example:"null"`
	// Seconds of delay; null when not delayed.
	DelayTime *Seconds `json:"delayTime" example:"null"`
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
	// What the worker said of a task that ended badly.
	FailureNotes string `json:"failureNotes"`
	// What the worker said of a task that ended well.
	SuccessNotes string `json:"successNotes"`
	// Why the task ended badly; NONE when it did not.
	FailureReason string `json:"failureReason" example:"NONE"`
	// Steps on the way.
	Events []CompletionEvent `json:"events" example:"[]"`
	// Reserved; empty.
	Actions []any `json:"actions" type:"object" example:"[]"`
	// When the task was completed, in Unix milliseconds; null until then.
	Time Millis `json:"time" nullable:"true" example:"null"`
	// [longitude, latitude] where the worker started; empty when unknown.
	FirstLocation Coordinates `json:"firstLocation" example:"[]"`
	// [longitude, latitude] where the worker completed the task; empty when unknown.
	LastLocation Coordinates `json:"lastLocation" example:"[]"`
	// Signatures and photos that were announced and have not arrived.
	UnavailableAttachments []UnavailableAttachment `json:"unavailableAttachments" example:"[]"`
	// Id of the signature; null when none.
	SignatureUploadID *string `json:"signatureUploadId"`
	// Name that was signed with. Only if there is one.
	SignatureText *string `json:"signatureText,omitzero"`
	// Id of the first photo; null when none.
	PhotoUploadID *string `json:"photoUploadId"`
	// Ids of the photos; null when none.
	PhotoUploadIDs []string `json:"photoUploadIds" nullable:"true"`
	// Whether the task ended well. Only when completed.
	Success *bool `json:"success,omitzero"`
	// What the worker said. Only when completed.
	Notes *string `json:"notes,omitzero" example:""`
	// Metres that the worker went. Only when completed.
	Distance *float64 `json:"distance,omitzero"`
}

// GeofenceAttempt is an attempt to complete a task elsewhere.
type GeofenceAttempt struct {
	// 1 with a warning, 2 in vain.
	Type lastmile.GeofenceLevel `json:"type"`
	// Where, as [longitude, latitude].
	Location LonLat `json:"location" example:"[-73.9857, 40.7484]"`
	// When, in Unix milliseconds.
	Timestamp Millis `json:"timestamp"`
}

// Coordinates are a place as an array, empty when there is none.
type Coordinates []float64

// CompletionEvent is a step on the way.
type CompletionEvent struct {
	// start, arrival or departure.
	Name string `json:"name"`
	// When, in Unix milliseconds.
	Time Millis `json:"time"`
	// Where, as [longitude, latitude]. For arrival and departure.
	Location Coordinates `json:"location,omitzero" example:"[-73.9857, 40.7484]"`
}

// UnavailableAttachment is an attachment that has not arrived.
type UnavailableAttachment struct {
	// UNAVAILABLE.
	Status string `json:"status"`
	// Id of the upload.
	AttachmentID string `json:"attachmentId"`
	// SIGNATURE or PHOTO.
	AttachmentType string `json:"attachmentType"`
}

// Feedback is what a recipient said.
type Feedback struct {
	// When, in Unix milliseconds.
	Time Millis `json:"time"`
	// 1 to 5.
	Rating int `json:"rating"`
	// In words.
	Comments string `json:"comments"`
}

// Overrides are overrides of the recipient's settings; null where there is none.
//
// A published client cannot read a boolean in the last one.
type Overrides struct {
	// The recipient gets no text messages about this task. A recipient who gets none at all gets none
	// either way.
	RecipientSkipSMSNotifications *bool `json:"recipientSkipSMSNotifications"`
	// Notes on the recipient.
	RecipientNotes *string `json:"recipientNotes"`
	// Name of the recipient.
	RecipientName *string `json:"recipientName"`
	// "true" when the merchant organization's number is used for this task.
	UseMerchantForProxy *string `json:"useMerchantForProxy"`
}

// Quantities are three measures beside the quantity.
type Quantities struct {
	// First measure.
	A float64 `json:"quantityA"`
	// Second measure.
	B float64 `json:"quantityB"`
	// Third measure.
	C float64 `json:"quantityC"`
}

// IdentityCheck is the check of a recipient's age.
type IdentityCheck struct {
	// Scans that failed.
	FailedScanCount int `json:"failedScanCount"`
	// Proof of the check; null without one.
	Checksum *string `json:"checksum"`
}

// Appearance is how a task looks on the map.
type Appearance struct {
	// 0 teal, 1 orange, 2 magenta; null for the usual color.
	TriangleColor *int `json:"triangleColor" enum:"0,1,2" example:"null"`
}

// Barcodes are the barcodes of a task.
type Barcodes struct {
	// To be scanned.
	Required []Barcode `json:"required" example:"[]"`
	// Scanned.
	Captured []CapturedBarcode `json:"captured" example:"[]"`
}

// Barcode is a barcode to be scanned.
type Barcode struct {
	// What it must say, in base64. Absent when any will do.
	Data string `json:"data,omitzero"`
	// The task cannot be completed without it.
	BlockCompletion bool `json:"blockCompletion"`
	// Id of the record.
	ID string `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
}

// CapturedBarcode is a barcode that was scanned.
type CapturedBarcode struct {
	// Id of the record.
	ID string `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Kind of barcode, such as CODE39.
	Symbology string `json:"symbology"`
	// What it said, in base64.
	Data string `json:"data"`
	// [longitude, latitude]; empty when unknown.
	Location Coordinates `json:"location" example:"[-73.9857, 40.7484]"`
	// When, in Unix milliseconds.
	Time Millis `json:"time"`
	// It was one of the required.
	WasRequested bool `json:"wasRequested"`
}

// Requirements are what a worker must provide to complete a task.
type Requirements struct {
	// A signature is required.
	Signature bool `json:"signature"`
	// A photo is required.
	Photo bool `json:"photo"`
	// Notes are required.
	Notes bool `json:"notes" example:"false"`
	// The least age of the recipient in years; 0 for any.
	MinimumAge int `json:"minimumAge"`
}

// Container is where a task is.
type Container struct {
	// Whose container it is.
	Type lastmile.ContainerKind `json:"type"`
	// Id of the organization, if it is an organization's or in the history of a task.
	Organization lastmile.OrganizationID `json:"organization,omitzero" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// Id of the team, if it is a team's.
	Team lastmile.TeamID `json:"team,omitzero"`
	// Id of the worker, if it is a worker's.
	Worker lastmile.WorkerID `json:"worker,omitzero"`
}

// Assignment is the assignment of a task to a container.
type Assignment struct {
	// Who did.
	ActionContext ActionContext `json:"actionContext"`
	// Where the task went; always with the organization.
	ContainerDescription Container `json:"containerDescription"`
	// When, in Unix milliseconds.
	Time Millis `json:"time"`
}

// ActionContext is who did something.
type ActionContext struct {
	// Sort of actor.
	Type lastmile.ActorType `json:"type" example:"API"`
	// Id of the API key, administrator or worker.
	ID string `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
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
		CompleteAfter: Millis(t.CompleteAfter), CompleteBefore: Millis(t.CompleteBefore),
		PickupTask: t.Pickup, Type: 1, Notes: t.Notes, CompletionDetails: newCompletion(t.Completion),
		Feedback: Each(t.Feedback, func(f lastmile.Feedback) Feedback {
			return Feedback{Time: Millis(f.At), Rating: f.Rating, Comments: f.Comments}
		}),
		Metadata: NewMetadata(t.Metadata),
		Overrides: Overrides{
			RecipientSkipSMSNotifications: t.Overrides.RecipientSkipSMSNotifications, RecipientNotes: t.Overrides.RecipientNotes,
			RecipientName: t.Overrides.RecipientName, UseMerchantForProxy: flagText(t.Overrides.UseMerchantForProxy),
		},
		Quantity: t.Quantity, AdditionalQuantities: Quantities(t.AdditionalQuantities), ServiceTime: Minutes(orZero(t.ServiceTime)),
		Priority: t.Priority, Group: orNull(t.Group), Appearance: Appearance{TriangleColor: t.TriangleColor},
		ScanOnlyRequiredBarcodes: t.ScanOnlyRequiredBarcodes, Barcodes: newBarcodes(t.Barcodes),
		CustomFields: Each(t.CustomFields, NewCustomField), Requirements: Requirements(t.Requirements),
		RoutePlan: t.RoutePlan, SourceTaskID: t.SourceTask, CompletedWithGeofenceWarning: t.CompletedWithGeofenceWarning,
	}
	if t.Pickup {
		record.Type = 0
	}
	if t.Geofenced {
		attempts := Each(t.GeofenceAttempts, func(a lastmile.GeofenceAttempt) GeofenceAttempt {
			return GeofenceAttempt{Type: a.Level, Location: LonLat(a.Location), Timestamp: Millis(a.At)}
		})
		record.GeofenceAttempts = &attempts
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
	switch c.Type {
	case lastmile.InTeam:
		return lastmile.TeamContainer(c.Team)
	case lastmile.InWorker:
		return lastmile.WorkerContainer(c.Worker)
	default:
		return lastmile.OrganizationContainer(c.Organization)
	}
}

func newCompletion(c lastmile.Completion) Completion {
	shown := Completion{
		FailureNotes: c.FailureNotes, SuccessNotes: c.SuccessNotes, FailureReason: c.FailureReason,
		Events: Each(c.Events, func(e lastmile.CompletionEvent) CompletionEvent {
			event := CompletionEvent{Name: e.Name, Time: Millis(e.At)}
			if e.Location != nil {
				event.Location = coordinates(e.Location)
			}
			return event
		}),
		Actions: []any{}, Time: Millis(c.At), FirstLocation: coordinates(c.FirstLocation), LastLocation: coordinates(c.LastLocation),
		UnavailableAttachments: Each(c.UnavailableAttachments, func(a lastmile.UnavailableAttachment) UnavailableAttachment {
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
		Required: Each(b.Required, func(b lastmile.Barcode) Barcode {
			return Barcode{Data: b.Data, BlockCompletion: b.BlockCompletion, ID: b.ID}
		}),
		Captured: Each(b.Captured, func(b lastmile.CapturedBarcode) CapturedBarcode {
			return CapturedBarcode{
				ID: b.ID, Symbology: b.Symbology, Data: b.Data, Location: coordinates(b.Location),
				Time: Millis(b.At), WasRequested: b.WasRequested,
			}
		}),
	}
}

// NewAssignments returns a task's history in the form that is sent. Each container
// is described with its organization.
func NewAssignments(t lastmile.Task) []Assignment {
	return Each(t.History, func(a lastmile.Assignment) Assignment {
		in := newContainer(a.Container)
		in.Organization = cmp.Or(in.Organization, t.Organization)
		return Assignment{
			ActionContext:        ActionContext{Type: a.Actor.Type, ID: a.Actor.ID},
			ContainerDescription: in, Time: Millis(a.At),
		}
	})
}

// Assignments returns the history that the form shows.
func Assignments(history []Assignment) []lastmile.Assignment {
	return Each(history, func(a Assignment) lastmile.Assignment {
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
		CompleteAfter: r.CompleteAfter.Time(), CompleteBefore: r.CompleteBefore.Time(),
		Pickup: r.PickupTask, Notes: r.Notes, Completion: r.CompletionDetails.domain(),
		Feedback: Each(r.Feedback, func(f Feedback) lastmile.Feedback {
			return lastmile.Feedback{At: f.Time.Time(), Rating: f.Rating, Comments: f.Comments}
		}),
		Metadata: r.Metadata.Domain(),
		Overrides: lastmile.Overrides{
			RecipientSkipSMSNotifications: r.Overrides.RecipientSkipSMSNotifications, RecipientNotes: r.Overrides.RecipientNotes,
			RecipientName: r.Overrides.RecipientName, UseMerchantForProxy: textFlag(r.Overrides.UseMerchantForProxy),
		},
		Quantity: r.Quantity, AdditionalQuantities: lastmile.Capacities(r.AdditionalQuantities), ServiceTime: orNull(r.ServiceTime.Duration()),
		Priority: r.Priority, Group: orZero(r.Group), TriangleColor: r.Appearance.TriangleColor,
		ScanOnlyRequiredBarcodes: r.ScanOnlyRequiredBarcodes, Barcodes: r.Barcodes.domain(),
		CustomFields: Each(r.CustomFields, CustomField.Domain), Requirements: lastmile.Requirements(r.Requirements),
		RoutePlan: r.RoutePlan, SourceTask: r.SourceTaskID, CompletedWithGeofenceWarning: r.CompletedWithGeofenceWarning,
	}
	if r.Container != nil {
		t.Container = r.Container.domain()
	}
	if r.GeofenceAttempts != nil {
		t.Geofenced = true
		t.GeofenceAttempts = Each(*r.GeofenceAttempts, func(a GeofenceAttempt) lastmile.GeofenceAttempt {
			return lastmile.GeofenceAttempt{Level: a.Type, Location: a.Location.Point(), At: a.Timestamp.Time()}
		})
	}
	return t
}

func (c Completion) domain() lastmile.Completion {
	return lastmile.Completion{
		FailureNotes: c.FailureNotes, SuccessNotes: c.SuccessNotes, FailureReason: c.FailureReason,
		Events: Each(c.Events, func(e CompletionEvent) lastmile.CompletionEvent {
			return lastmile.CompletionEvent{Name: e.Name, At: e.Time.Time(), Location: e.Location.point()}
		}),
		At: c.Time.Time(), FirstLocation: c.FirstLocation.point(), LastLocation: c.LastLocation.point(),
		UnavailableAttachments: Each(c.UnavailableAttachments, func(a UnavailableAttachment) lastmile.UnavailableAttachment {
			return lastmile.UnavailableAttachment{ID: a.AttachmentID, Type: a.AttachmentType}
		}),
		SignatureUploadID: orZero(c.SignatureUploadID), SignatureText: orZero(c.SignatureText), PhotoUploadIDs: c.PhotoUploadIDs,
		Success: orZero(c.Success), Notes: orZero(c.Notes), Distance: lastmile.Meters(orZero(c.Distance)),
	}
}

func (b Barcodes) domain() lastmile.Barcodes {
	return lastmile.Barcodes{
		Required: Each(b.Required, func(b Barcode) lastmile.Barcode {
			return lastmile.Barcode{Data: b.Data, BlockCompletion: b.BlockCompletion, ID: b.ID}
		}),
		Captured: Each(b.Captured, func(b CapturedBarcode) lastmile.CapturedBarcode {
			return lastmile.CapturedBarcode{
				ID: b.ID, Symbology: b.Symbology, Data: b.Data, Location: b.Location.point(),
				At: b.Time.Time(), WasRequested: b.WasRequested,
			}
		}),
	}
}
