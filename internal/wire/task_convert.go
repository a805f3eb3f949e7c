package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"dray/internal/codec"
	"dray/internal/lastmile"
)

// NewTask returns a task in its wire form.
func NewTask(t lastmile.Task) Task {
	return Task{TaskRecord: NewTaskRecord(t), TaskLive: NewTaskLive(t)}
}

// NewTaskLive returns the part of a task that changes with time or with other records.
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

// NewTaskTimes returns estimates in their wire form.
func NewTaskTimes(e lastmile.Estimates) TaskTimes {
	return TaskTimes{
		EstimatedCompletionTime: Millis(e.Completion), EstimatedArrivalTime: Millis(e.Arrival),
		ETA: (*Seconds)(e.ETA), DelayTime: (*Seconds)(e.Delay),
	}
}

// NewTaskRecord returns the stored part of a task.
func NewTaskRecord(t lastmile.Task) TaskRecord {
	record := TaskRecord{
		ID: t.ID, TimeCreated: Millis(t.Created), TimeLastModified: Millis(t.Modified), Organization: cmp.Or(t.Origin, t.Organization),
		ShortID: t.ShortID, OrderShortID: OrNull(t.OrderShortID), TrackingURL: t.TrackingURL, TrackingViewed: t.TrackingViewed,
		Worker: OrNull(t.Worker), Merchant: t.Merchant, Executor: t.Executor, Creator: t.Creator,
		Dependencies: OrEmpty(t.Dependencies), State: t.State,
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
		Priority: t.Priority, Group: OrNull(t.Group), Appearance: Appearance{TriangleColor: t.TriangleColor},
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
		container := NewContainerRef(t.Container)
		record.Container = &container
	}
	return record
}

// NewContainerRef returns a reference to a container in its wire form.
func NewContainerRef(c lastmile.ContainerRef) Container {
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

// Domain returns the container that the wire form represents.
func (c Container) Domain() lastmile.ContainerRef {
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
		SignatureUploadID: OrNull(c.SignatureUploadID), SignatureText: OrNull(c.SignatureText), PhotoUploadIDs: c.PhotoUploadIDs,
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

// NewAssignments returns the history of a task in its wire form. Every container includes the
// organization.
func NewAssignments(t lastmile.Task) []Assignment {
	return Each(t.History, func(a lastmile.Assignment) Assignment {
		in := NewContainerRef(a.Container)
		in.Organization = cmp.Or(in.Organization, t.Organization)
		return Assignment{ActionContext: newActionContext(a.Actor), ContainerDescription: in, Time: Millis(a.At)}
	})
}

// Assignments returns the history that the wire form represents.
func Assignments(history []Assignment) []lastmile.Assignment {
	return Each(history, func(a Assignment) lastmile.Assignment {
		made := lastmile.Assignment{Container: a.ContainerDescription.Domain(), At: a.Time.Time()}
		if by := a.ActionContext; by != nil {
			made.Actor = lastmile.Actor{Type: by.Type, ID: by.ID}
		}
		return made
	})
}

// newActionContext returns an actor in its wire form; nil for the program itself.
func newActionContext(by lastmile.Actor) *ActionContext {
	if by.Type == "" {
		return nil
	}
	return &ActionContext{Type: by.Type, ID: by.ID}
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
		return OrNull("true")
	}
	return OrNull("false")
}

func textFlag(s *string) *bool {
	if s == nil {
		return nil
	}
	on := *s == "true"
	return &on
}

// Domain returns the stored part of the task that the wire form represents.
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
		Quantity: r.Quantity, AdditionalQuantities: lastmile.Capacities(r.AdditionalQuantities), ServiceTime: OrNull(r.ServiceTime.Duration()),
		Priority: r.Priority, Group: orZero(r.Group), TriangleColor: r.Appearance.TriangleColor,
		ScanOnlyRequiredBarcodes: r.ScanOnlyRequiredBarcodes, Barcodes: r.Barcodes.domain(),
		CustomFields: Each(r.CustomFields, CustomField.Domain), Requirements: lastmile.Requirements(r.Requirements),
		RoutePlan: r.RoutePlan, SourceTask: r.SourceTaskID, CompletedWithGeofenceWarning: r.CompletedWithGeofenceWarning,
	}
	if r.Container != nil {
		t.Container = r.Container.Domain()
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

// Modified returns the modification time of an encoded task. It decodes only the beginning of
// the task, which contains it.
func Modified(task []byte) (time.Time, error) {
	in := json.NewDecoder(bytes.NewReader(task))
	if _, err := in.Token(); err != nil {
		return time.Time{}, err
	}
	for {
		name, err := in.Token()
		if err != nil {
			return time.Time{}, err
		}
		var value json.RawMessage
		if name == "timeLastModified" {
			var at Millis
			err := in.Decode(&at)
			return at.Time(), err
		}
		if err := in.Decode(&value); err != nil {
			return time.Time{}, err
		}
	}
}

// ServiceTime returns the service time of an encoded task; nil for none.
func ServiceTime(task []byte) (*time.Duration, error) {
	var form struct {
		ServiceTime Minutes `json:"serviceTime"`
	}
	err := Unmarshal(task, &form)
	return OrNull(form.ServiceTime.Duration()), err
}

// encodedKey identifies a task in the form F, after a number of events.
type encodedKey[F any] struct {
	id     lastmile.TaskID
	events int64
}

// encodedTask is a task that has been encoded in some form.
type encodedTask struct {
	task lastmile.Task
	json []byte
}

// rememberedSize is the key of the size of all JSON that is remembered, an *atomic.Int64.
type rememberedSize struct{}

// maxRemembered is the maximum size of the JSON that is remembered.
const maxRemembered = 8 << 20

// EncodeTask encodes a task in one of its forms. If remembered has the same task in that form
// already, EncodeTask returns the same JSON, which must not be changed; otherwise it adds the
// task, up to a maximum size of all. remembered may be nil.
func EncodeTask[F Task | TaskRecord](remembered *sync.Map, t lastmile.Task, convert func(lastmile.Task) F) ([]byte, error) {
	t.History = nil // not shown, and long
	same := func(known *lastmile.Task) bool { return identical(known, &t) || reflect.DeepEqual(known, &t) }
	return encodeTask(remembered, t, convert, same)
}

// identical reports whether two tasks have equal fields and share what these point to. Most
// tasks that were read again do, because they were decoded only once. Comparing all of a task
// takes a hundred times as long.
func identical(a, b *lastmile.Task) bool {
	type whole [unsafe.Sizeof(*a)]byte
	return *(*whole)(unsafe.Pointer(a)) == *(*whole)(unsafe.Pointer(b))
}

// EncodeAssignments is EncodeTask for the assignments of a task.
func EncodeAssignments(remembered *sync.Map, t lastmile.Task) ([]byte, error) {
	same := func(known *lastmile.Task) bool {
		return known.Organization == t.Organization && slices.Equal(known.History, t.History)
	}
	return encodeTask(remembered, t, NewAssignments, same)
}

func encodeTask[F any](remembered *sync.Map, t lastmile.Task, convert func(lastmile.Task) F, same func(*lastmile.Task) bool) ([]byte, error) {
	if remembered == nil {
		return codec.Marshal(convert(t))
	}
	key := encodedKey[F]{t.ID, t.Events}
	if found, ok := remembered.Load(key); ok && same(&found.(*encodedTask).task) {
		return found.(*encodedTask).json, nil
	}
	encoded, err := codec.Marshal(convert(t))
	size, _ := remembered.LoadOrStore(rememberedSize{}, &atomic.Int64{})
	if err == nil && size.(*atomic.Int64).Add(int64(len(encoded))) <= maxRemembered {
		remembered.Store(key, &encodedTask{t, encoded})
	}
	return encoded, err
}
