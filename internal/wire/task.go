package wire

import (
	"strconv"
	"time"

	"dray/internal/lastmile"
)

// Task is a task: a pickup or a drop-off.
type Task struct {
	TaskRecord
	TaskLive
	// Whether a worker was assigned automatically. Present only in the response that creates the task.
	DidAutoAssign *bool `json:"didAutoAssign,omitzero" example:"true"`
	// Assignments of the task to containers. Present only if requested.
	AssignmentHistory []Assignment `json:"assignmentHistory,omitzero" example:"[]"`
}

// TaskRecord is the part of a task that changes only with the task itself.
type TaskRecord struct {
	// ID of the task.
	ID lastmile.TaskID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Unix time in milliseconds at which the task was created.
	TimeCreated Millis `json:"timeCreated" example:"1767225600000"`
	// Unix time in milliseconds at which the task was last modified.
	TimeLastModified Millis `json:"timeLastModified" example:"1767229200000"`
	// ID of the organization that owns the task.
	Organization lastmile.OrganizationID `json:"organization" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// Short ID: eight hexadecimal digits, unique in the organization.
	ShortID string `json:"shortId" example:"8f2a61c4"`
	// Short ID of the order that the task belongs to; null if there is none.
	OrderShortID *string `json:"orderShortId" example:"null"`
	// URL of the tracking page for the recipient.
	TrackingURL string `json:"trackingURL" example:"https://dray.example/t/q7Vd2mXw9LkT4pZs"`
	// Whether the recipient has opened the tracking page.
	TrackingViewed bool `json:"trackingViewed"`
	// ID of the worker to whom the task is assigned; null if it is unassigned.
	Worker *lastmile.WorkerID `json:"worker" example:"W4nB7xKq9LsT2vDz6MfR3hYc"`
	// ID of the organization that is shown to the recipient.
	Merchant lastmile.OrganizationID `json:"merchant" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// ID of the organization that fulfills the task.
	Executor lastmile.OrganizationID `json:"executor" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// ID of the API key or administrator that created the task.
	Creator string `json:"creator" example:"k5Rt8yUi2OpA6sDf9GhJ3lZx"`
	// IDs of the tasks that must be completed before this one can be started.
	Dependencies []lastmile.TaskID `json:"dependencies" example:"[]"`
	// State of the task: 0 for unassigned, 1 for assigned, 2 for active, 3 for completed.
	State lastmile.TaskState `json:"state" example:"1"`
	// Unix time in milliseconds before which the task should not be completed; null if there is no
	// limit.
	CompleteAfter Millis `json:"completeAfter" nullable:"true" example:"1894021200000"`
	// Unix time in milliseconds before which the task should be completed; null if there is no limit.
	CompleteBefore Millis `json:"completeBefore" nullable:"true" example:"1894028400000"`
	// Whether the task is a pickup instead of a drop-off.
	PickupTask bool `json:"pickupTask"`
	// Type of the task: 0 for a pickup, 1 for a drop-off.
	Type int `json:"type" enum:"0,1" example:"1"`
	// Notes on the task; empty if there are none.
	Notes string `json:"notes" example:"Leave with the concierge."`
	// Progress and outcome of the task.
	CompletionDetails Completion `json:"completionDetails"`
	// Feedback of the recipient; empty if there is none.
	Feedback []Feedback `json:"feedback" example:"[]"`
	// Metadata of the task: named values stored by integrations.
	Metadata Metadata `json:"metadata"`
	// Settings of the recipient that are overridden for this task.
	Overrides Overrides `json:"overrides"`
	// Quantity to be carried, in units.
	Quantity float64 `json:"quantity" example:"2"`
	// Three additional measures of the quantity to be carried.
	AdditionalQuantities Quantities `json:"additionalQuantities"`
	// Time spent at the destination, in minutes.
	ServiceTime Minutes `json:"serviceTime" example:"5"`
	// Priority, from 0 to 499.
	Priority int `json:"priority"`
	// Name of a group of tasks; null if there is none.
	Group *string `json:"group" example:"null"`
	// Verification of the recipient's age.
	Identity IdentityCheck `json:"identity"`
	// Appearance of the task on the map.
	Appearance Appearance `json:"appearance"`
	// Whether only the required barcodes can be scanned.
	ScanOnlyRequiredBarcodes bool `json:"scanOnlyRequiredBarcodes"`
	// Barcodes that the worker must scan, and barcodes that were scanned.
	Barcodes Barcodes `json:"barcodes"`
	// Custom fields of the task.
	CustomFields []CustomField `json:"customFields" example:"[]"`
	// What the worker must provide to complete the task.
	Requirements Requirements `json:"requirements"`
	// Container that the task is in. Absent once the task is completed.
	Container *Container `json:"container,omitzero" example:"{\"type\": \"WORKER\", \"worker\": \"W4nB7xKq9LsT2vDz6MfR3hYc\"}"`
	// ID of the route plan that the task belongs to. Absent if there is none.
	RoutePlan lastmile.RoutePlanID `json:"routePlan,omitzero"`
	// ID of the task that this task was cloned from. Present only for clones.
	SourceTaskID lastmile.TaskID `json:"sourceTaskId,omitzero" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`

	// Attempts to complete the task outside its geofence; empty if there were none. Present only if
	// the task has a geofence.
	GeofenceAttempts *[]GeofenceAttempt `json:"geofenceAttempts,omitzero" example:"[]"`
	// Whether the worker completed the task outside its geofence and got a warning.
	CompletedWithGeofenceWarning bool `json:"completedWithGeofenceWarning"`
}

// TaskLive is the part of a task that changes with time or with other records.
type TaskLive struct {
	// Recipient of the task; empty if there is none.
	Recipients []Recipient `json:"recipients"`
	// Destination of the task.
	Destination Destination `json:"destination"`
	TaskTimes
}

// TaskTimes are the estimated times of a task.
type TaskTimes struct {
	// Unix time in milliseconds at which the task is estimated to be completed; null if unknown.
	EstimatedCompletionTime Millis `json:"estimatedCompletionTime" nullable:"true" example:"1894025100000"`
	// Unix time in milliseconds at which the worker is estimated to arrive; null if unknown.
	EstimatedArrivalTime Millis `json:"estimatedArrivalTime" nullable:"true" example:"1894024800000"`
	// Estimated travel time from the worker's location to the destination, in seconds; null unless the
	// task is active.
	ETA *Seconds `json:"eta" example:"null"`
	// Delay in seconds; null if the task is not delayed.
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

// Completion is the progress and outcome of a task.
type Completion struct {
	// Worker's notes on a task that failed.
	FailureNotes string `json:"failureNotes"`
	// Worker's notes on a task that succeeded.
	SuccessNotes string `json:"successNotes"`
	// Reason why the task failed; NONE if it did not.
	FailureReason string `json:"failureReason" example:"NONE"`
	// Events while the task was carried out.
	Events []CompletionEvent `json:"events" example:"[]"`
	// Reserved; always empty.
	Actions []any `json:"actions" type:"object" example:"[]"`
	// Unix time in milliseconds at which the task was completed; null until then.
	Time Millis `json:"time" nullable:"true" example:"null"`
	// Location where the worker started the task, as [longitude, latitude]; empty if unknown.
	FirstLocation Coordinates `json:"firstLocation" example:"[]"`
	// Location where the worker completed the task, as [longitude, latitude]; empty if unknown.
	LastLocation Coordinates `json:"lastLocation" example:"[]"`
	// Signatures and photos that were announced but have not been uploaded.
	UnavailableAttachments []UnavailableAttachment `json:"unavailableAttachments" example:"[]"`
	// Upload ID of the signature; null if there is none.
	SignatureUploadID *string `json:"signatureUploadId"`
	// Name that was entered as the signature. Absent if there is none.
	SignatureText *string `json:"signatureText,omitzero"`
	// Upload ID of the first photo; null if there is none.
	PhotoUploadID *string `json:"photoUploadId"`
	// Upload IDs of the photos; null if there are none.
	PhotoUploadIDs []string `json:"photoUploadIds" nullable:"true"`
	// Whether the task succeeded. Present only once the task is completed.
	Success *bool `json:"success,omitzero"`
	// Worker's notes. Present only once the task is completed.
	Notes *string `json:"notes,omitzero" example:""`
	// Distance in meters that the worker traveled. Present only once the task is completed.
	Distance *float64 `json:"distance,omitzero"`
}

// GeofenceAttempt is an attempt to complete a task outside its geofence.
type GeofenceAttempt struct {
	// Result of the attempt: 1 if the task was completed with a warning, 2 if completion was blocked.
	Type lastmile.GeofenceLevel `json:"type"`
	// Location of the attempt, as [longitude, latitude].
	Location LonLat `json:"location" example:"[-73.9857, 40.7484]"`
	// Unix time in milliseconds of the attempt.
	Timestamp Millis `json:"timestamp"`
}

// Coordinates is [longitude, latitude], or empty if there is no location.
type Coordinates []float64

// CompletionEvent is an event while a task was carried out.
type CompletionEvent struct {
	// Name of the event: start, arrival or departure.
	Name string `json:"name"`
	// Unix time in milliseconds of the event.
	Time Millis `json:"time"`
	// Location of the event, as [longitude, latitude]. Present only for arrival and departure.
	Location Coordinates `json:"location,omitzero" example:"[-73.9857, 40.7484]"`
}

// UnavailableAttachment is an attachment that has not been uploaded.
type UnavailableAttachment struct {
	// Status of the attachment: UNAVAILABLE.
	Status string `json:"status"`
	// ID of the upload.
	AttachmentID string `json:"attachmentId"`
	// Type of the attachment: SIGNATURE or PHOTO.
	AttachmentType string `json:"attachmentType"`
}

// Feedback is feedback of a recipient.
type Feedback struct {
	// Unix time in milliseconds at which the feedback was given.
	Time Millis `json:"time"`
	// Rating from 1 to 5.
	Rating int `json:"rating"`
	// Comments of the recipient.
	Comments string `json:"comments"`
}

// Overrides are overrides of the recipient's settings for one task. Each is null if there is none.
//
// UseMerchantForProxy is a string because a published client cannot decode a boolean there.
type Overrides struct {
	// Whether the recipient gets no text messages about this task. This cannot enable messages for a
	// recipient who has them disabled.
	RecipientSkipSMSNotifications *bool `json:"recipientSkipSMSNotifications"`
	// Notes on the recipient.
	RecipientNotes *string `json:"recipientNotes"`
	// Name of the recipient.
	RecipientName *string `json:"recipientName"`
	// "true" if the phone number of the merchant organization is used for this task, otherwise "false".
	UseMerchantForProxy *string `json:"useMerchantForProxy"`
}

// Quantities are three additional measures of a task's quantity.
type Quantities struct {
	// First additional quantity.
	A float64 `json:"quantityA"`
	// Second additional quantity.
	B float64 `json:"quantityB"`
	// Third additional quantity.
	C float64 `json:"quantityC"`
}

// IdentityCheck is the verification of a recipient's age.
type IdentityCheck struct {
	// Number of failed scans.
	FailedScanCount int `json:"failedScanCount"`
	// Checksum that proves the verification; null if there is none.
	Checksum *string `json:"checksum"`
}

// Appearance is the appearance of a task on the map.
type Appearance struct {
	// Color of the task's marker: 0 for teal, 1 for orange, 2 for magenta; null for the default color.
	TriangleColor *int `json:"triangleColor" enum:"0,1,2" example:"null"`
}

// Barcodes are the barcodes of a task.
type Barcodes struct {
	// Barcodes that the worker must scan.
	Required []Barcode `json:"required" example:"[]"`
	// Barcodes that were scanned.
	Captured []CapturedBarcode `json:"captured" example:"[]"`
}

// Barcode is a barcode that the worker must scan.
type Barcode struct {
	// Required content of the barcode, encoded in base64. Absent if any barcode is accepted.
	Data string `json:"data,omitzero"`
	// Whether the task can be completed only after the barcode was scanned.
	BlockCompletion bool `json:"blockCompletion"`
	// ID of the barcode.
	ID string `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
}

// CapturedBarcode is a barcode that was scanned.
type CapturedBarcode struct {
	// ID of the barcode.
	ID string `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Symbology of the barcode, such as CODE39.
	Symbology string `json:"symbology"`
	// Content of the barcode, encoded in base64.
	Data string `json:"data"`
	// Location of the scan, as [longitude, latitude]; empty if unknown.
	Location Coordinates `json:"location" example:"[-73.9857, 40.7484]"`
	// Unix time in milliseconds at which the barcode was scanned.
	Time Millis `json:"time"`
	// Whether the barcode was one of the required barcodes.
	WasRequested bool `json:"wasRequested"`
}

// Requirements is what the worker must provide to complete a task.
type Requirements struct {
	// Whether a signature is required.
	Signature bool `json:"signature"`
	// Whether a photo is required.
	Photo bool `json:"photo"`
	// Whether notes are required.
	Notes bool `json:"notes" example:"false"`
	// Minimum age of the recipient, in years; 0 for any age.
	MinimumAge int `json:"minimumAge"`
}

// Container is a reference to the container that a task is in.
type Container struct {
	// Type of the container's owner.
	Type lastmile.ContainerKind `json:"type"`
	// ID of the organization. Present only for the container of an organization and in the history of
	// a task.
	Organization lastmile.OrganizationID `json:"organization,omitzero" example:"a8Jd0sKqLw3Zx7Vn5Bm1Tc9P"`
	// ID of the team. Present only for the container of a team.
	Team lastmile.TeamID `json:"team,omitzero"`
	// ID of the worker. Present only for the container of a worker.
	Worker lastmile.WorkerID `json:"worker,omitzero"`
}

// Assignment is the assignment of a task to a container.
type Assignment struct {
	// Actor that made the assignment; null if continuous re-planning made it.
	ActionContext *ActionContext `json:"actionContext"`
	// Container that the task was assigned to. Always includes the organization.
	ContainerDescription Container `json:"containerDescription"`
	// Unix time in milliseconds of the assignment.
	Time Millis `json:"time"`
}

// ActionContext is the actor that performed an action.
type ActionContext struct {
	// Type of the actor.
	Type lastmile.ActorType `json:"type" example:"API"`
	// ID of the API key, administrator or worker.
	ID string `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
}
