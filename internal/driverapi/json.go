package driverapi

import (
	"fmt"
	"slices"
	"strconv"

	"dray/internal/wire"

	"dray/internal/lastmile"
)

// SignInBody is the body of a request to sign in.
type SignInBody struct {
	// Phone number, with a leading + and the country code, or as it is dialed in the country of the
	// worker's organization.
	Phone string `json:"phone" required:"true" example:"+12125550142"`
	// Password, or the temporary password; at most 200 characters.
	Password string `json:"password" required:"true"`
	// Device token returned by the last sign-in on this device. With it, failed attempts on other
	// devices do not count against this one.
	Device string `json:"device"`
}

// SignedIn is a new session.
type SignedIn struct {
	// Session token, to be sent as Authorization: Bearer TOKEN.
	Token string `json:"token" example:"0f3Kq9LsT2vDz6MfR3hYcW4nB7xKq9LsT2vDz6MfR3h"`
	// Device token, to be stored on the device, even after signing out, and sent with the next
	// sign-in. It grants no access.
	Device string `json:"device" example:"pX0b1kq9LsT2vDz6MfR3hYcW4nB7xKq9LsT2vDz6MfR3hAbCdE"`
	// Whether a password must be set before any other request.
	MustSetPassword bool `json:"mustSetPassword"`
	// Worker who signed in.
	Worker wire.Worker `json:"worker"`
}

// PasswordBody is the body of a request to set a password.
type PasswordBody struct {
	// New password, 8 to 200 characters.
	Password string `json:"password" required:"true"`
	// Current password. Required unless it is the temporary password.
	OldPassword string `json:"oldPassword"`
}

// AppSettings is what the worker's app shows about the organization and the program.
type AppSettings struct {
	// Name of the organization.
	Organization string `json:"organization" example:"Acme Couriers"`
	// E-mail address where workers get help; empty if there is none.
	SupportEmail string `json:"supportEmail" example:"drivers@example.com"`
	// Two-letter country code of the organization (ISO 3166-1).
	Country string `json:"country" example:"US"`
	// Whether the app must not show which barcodes it expects.
	HideBarcodes bool `json:"hideBarcodes"`
	// Reasons that a worker can give for a failed task, in the order in which apps list them.
	FailureReasons []string `json:"failureReasons" example:"[\"RECIPIENT_UNAVAILABLE\"]"`
	// Location of the hub of the worker's team, or else of any hub, as longitude and latitude, where maps
	// without stops open; null if there is none.
	Home *wire.LonLat `json:"home" example:"[-73.9857, 40.7484]"`
	// Version of the program.
	Version string `json:"version" example:"v1.2.3"`
}

// NewAppSettings returns the settings of the app.
func NewAppSettings(o lastmile.Organization, s lastmile.Settings, home *lastmile.Point, version string) AppSettings {
	return AppSettings{
		Organization: o.Name, SupportEmail: o.DriverSupportEmail, Country: o.Country, HideBarcodes: s.HideBarcodes, Home: (*wire.LonLat)(home),
		FailureReasons: wire.FailureReasons(s), Version: version,
	}
}

// DutyBody is the body of a request to go on or off duty.
type DutyBody struct {
	// Whether the worker is on duty.
	OnDuty *bool `json:"onDuty" required:"true"`
	// Information about the worker's phone. If absent, the stored information does not change.
	UserData *wire.Device `json:"userData"`
}

// WorkList is the task list of a worker.
type WorkList struct {
	// Version of the list, which increases with every change.
	Version int64 `json:"version"`
	// ID of the task that the worker is carrying out; null if there is none.
	ActiveTask *lastmile.TaskID `json:"activeTask" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// Tasks, in order.
	Tasks []WorkTask `json:"tasks" example:"[]"`
}

// WorkTask is a task as its worker sees it.
type WorkTask struct {
	wire.TaskRecord
	wire.TaskLive
	// Unix time in milliseconds at which service is estimated to begin: the arrival, or completeAfter
	// if that is later; null if unknown.
	EstimatedServiceTime wire.Millis `json:"estimatedServiceTime" nullable:"true" example:"1894024800000"`
	// Seconds by which the worker is estimated to arrive before completeAfter; null if the worker will
	// not be early.
	EarlyTime *wire.Seconds `json:"earlyTime" example:"null"`
}

// NewWorkTask returns a task in the form its worker is shown: with the metadata and the
// custom fields that are visible to workers.
func NewWorkTask(t lastmile.Task) WorkTask {
	t.Metadata, t.Destination.Metadata = forWorker(t.Metadata), forWorker(t.Destination.Metadata)
	if t.Recipient != nil {
		recipient := *t.Recipient
		recipient.Metadata = forWorker(recipient.Metadata)
		t.Recipient = &recipient
	}
	t.CustomFields = slices.DeleteFunc(slices.Clone(t.CustomFields), func(f lastmile.CustomFieldValue) bool {
		return !slices.Contains(f.Field.Visibility, lastmile.VisibleToWorker)
	})
	begins := t.Estimates.ServiceStart(t.Window())
	shown := WorkTask{TaskRecord: wire.NewTaskRecord(t), TaskLive: wire.NewTaskLive(t), EstimatedServiceTime: wire.Millis(begins)}
	if early := begins.Sub(t.Estimates.Arrival); early > 0 {
		shown.EarlyTime = (*wire.Seconds)(&early)
	}
	return shown
}

// forWorker returns the entries that are visible to workers.
func forWorker(m lastmile.Metadata) lastmile.Metadata {
	return slices.DeleteFunc(slices.Clone(m), func(e lastmile.MetadataEntry) bool { return !slices.Contains(e.Visibility, lastmile.VisibleToWorker) })
}

// NewWorkList returns a list in its wire form.
func NewWorkList(version int64, active lastmile.TaskID, tasks []lastmile.Task) WorkList {
	return WorkList{Version: version, ActiveTask: wire.OrNull(active), Tasks: wire.Each(tasks, NewWorkTask)}
}

// ListOutline is the summary of a list that is sent to a phone when the list has changed. It is
// enough to determine whether the phone's copy is complete.
type ListOutline struct {
	Version    int64            `json:"version"`
	ActiveTask *lastmile.TaskID `json:"activeTask"` // null if there is none
	Tasks      []TaskOutline    `json:"tasks"`
	Available  string           `json:"available"` // changes with the tasks that the worker can claim
}

// TaskOutline is a task in the summary of a list.
type TaskOutline struct {
	ID               lastmile.TaskID `json:"id"`
	TimeLastModified wire.Millis     `json:"timeLastModified"`
	Delayed          bool            `json:"delayed"` // whether the task has a delayTime
}

// NewListOutline returns the outline of a list.
func NewListOutline(version int64, active lastmile.TaskID, tasks []lastmile.Task) ListOutline {
	return ListOutline{Version: version, ActiveTask: wire.OrNull(active), Tasks: wire.Each(tasks, func(t lastmile.Task) TaskOutline {
		return TaskOutline{ID: t.ID, TimeLastModified: wire.Millis(t.Modified), Delayed: t.Estimates.Delay != nil}
	})}
}

// ActionBody is the body of a request that reports an action of a worker.
type ActionBody struct {
	// ID of the action, generated by the phone; 1 to 100 characters. Repeating an action changes
	// nothing and returns the task as it is.
	ActionID string `json:"actionId" required:"true"`
	// Unix time in milliseconds at which the action happened, by the phone's clock; at most a week
	// ago. Defaults to the current time.
	Time wire.Millis `json:"time"`
	// Location of the worker at the time, as [longitude, latitude].
	Location *wire.LonLat `json:"location" example:"[-73.9857, 40.7484]"`
}

// Domain returns the action.
func (b ActionBody) Domain() lastmile.Action {
	return lastmile.Action{ID: b.ActionID, At: b.Time.Time(), Location: (*lastmile.Point)(b.Location)}
}

// FinishBody is the body of a request to complete a task.
type FinishBody struct {
	ActionBody
	// Whether the task succeeded.
	Success *bool `json:"success" required:"true"`
	// Reason for the failure, if the task failed: one of failureReasons of GET /settings.
	FailureReason string `json:"failureReason"`
	// Notes of the worker.
	Notes string `json:"notes" example:""`
	// Upload ID of the signature.
	SignatureUploadID string `json:"signatureUploadId"`
	// Name of the person who signed, instead of an image of the signature.
	SignatureText string `json:"signatureText"`
	// Upload IDs of the photos, at most 20.
	PhotoUploadIDs []string `json:"photoUploadIds"`
	// Barcodes that were scanned.
	Barcodes []ScannedBarcode `json:"barcodes"`
	// Whether the worker verified that the recipient has the required minimum age.
	MinimumAgeVerified bool `json:"minimumAgeVerified"`
}

// ScannedBarcode is a barcode that was scanned, in a request.
type ScannedBarcode struct {
	// Content of the barcode, encoded in base64.
	Data string `json:"data" required:"true"`
	// Symbology of the barcode.
	Symbology string `json:"symbology"`
}

// Outcome returns how the task ends and the evidence for it.
func (b FinishBody) Outcome(newID func() string) (lastmile.Outcome, lastmile.Evidence, error) {
	if b.Success == nil {
		return lastmile.Outcome{}, lastmile.Evidence{}, lastmile.Missing("success")
	}
	evidence := lastmile.Evidence{
		FailureReason: b.FailureReason, SignatureUploadID: b.SignatureUploadID, SignatureText: b.SignatureText,
		PhotoUploadIDs: b.PhotoUploadIDs, MinimumAgeVerified: b.MinimumAgeVerified,
	}
	for _, c := range b.Barcodes {
		evidence.Barcodes = append(evidence.Barcodes, lastmile.CapturedBarcode{ID: newID(), Data: c.Data, Symbology: c.Symbology})
	}
	return lastmile.Outcome{Success: *b.Success, Notes: b.Notes}, evidence, nil
}

// PositionsBody is the body of a request that reports positions of the worker.
type PositionsBody struct {
	// Positions, at most 500, in any order.
	Positions []PositionBody `json:"positions" required:"true"`
}

// PositionBody is a position of the worker at a time.
type PositionBody struct {
	// Location of the worker, as [longitude, latitude].
	Location *wire.LonLat `json:"location" required:"true" example:"[-73.9857, 40.7484]"`
	// Unix time in milliseconds at which the worker was there, by the phone's clock.
	Time wire.Millis `json:"time" required:"true"`
	// Accuracy of the location, in meters.
	Accuracy *float64 `json:"accuracy"`
	// Speed in meters per second.
	Speed *float64 `json:"speed"`
	// Direction of travel, in degrees from north.
	Heading *float64 `json:"heading"`
	// Battery level of the phone, from 0 to 1.
	Battery *float64 `json:"battery"`
}

// Domain returns the positions. It rejects a position without a location or a time.
func (b PositionsBody) Domain() ([]lastmile.Position, error) {
	if b.Positions == nil {
		return nil, lastmile.Missing("positions")
	}
	positions := make([]lastmile.Position, len(b.Positions))
	for i, p := range b.Positions {
		switch {
		case p.Location == nil:
			return nil, lastmile.Missing(fmt.Sprintf("positions[%d].location", i))
		case p.Time.IsZero():
			return nil, lastmile.Missing(fmt.Sprintf("positions[%d].time", i))
		}
		positions[i] = lastmile.Position{
			Location: p.Location.Point(), At: p.Time.Time(), Accuracy: p.Accuracy, Speed: p.Speed, Heading: p.Heading, Battery: p.Battery,
		}
	}
	return positions, nil
}

// AcceptedPositions is the result of reporting positions.
type AcceptedPositions struct {
	// Number of positions that were accepted.
	Accepted int `json:"accepted"`
}

// TrackerToken is a token for a tracker app.
type TrackerToken struct {
	// Token, to be sent as id. It is not shown again.
	Token string `json:"token" example:"0f3Kq9LsT2vDz6MfR3hYcW4nB7xKq9LsT2vDz6MfR3h"`
}

// TrackerBody is a position in the form sent by newer tracker apps.
type TrackerBody struct {
	DeviceID string `json:"device_id"`
	Location struct {
		Timestamp string `json:"timestamp"`
		Coords    struct {
			Latitude  *float64 `json:"latitude"`
			Longitude *float64 `json:"longitude"`
			Accuracy  *float64 `json:"accuracy"`
			Speed     *float64 `json:"speed"` // meters per second; negative if unknown
			Heading   *float64 `json:"heading"`
		} `json:"coords"`
		Battery struct {
			Level *float64 `json:"level"` // 0 to 1; negative if unknown
		} `json:"battery"`
	} `json:"location"`
}

// Values returns the position as the form values that older apps send. Those
// apps send the speed in knots, so the value in meters per second has its own
// name.
func (b TrackerBody) Values() map[string]string {
	values := map[string]string{}
	text := func(name, value string) {
		if value != "" {
			values[name] = value
		}
	}
	number := func(name string, n *float64) {
		if n != nil {
			values[name] = strconv.FormatFloat(*n, 'f', -1, 64)
		}
	}
	c := b.Location.Coords
	text("id", b.DeviceID)
	text("timestamp", b.Location.Timestamp)
	number("lat", c.Latitude)
	number("lon", c.Longitude)
	number("accuracy", c.Accuracy)
	number("metersPerSecond", c.Speed)
	number("heading", c.Heading)
	if level := b.Location.Battery.Level; level != nil {
		number("batt", new(*level*100))
	}
	return values
}
