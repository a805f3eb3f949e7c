package wire

import (
	"fmt"
	"strconv"

	"dray/internal/lastmile"
)

// SignInBody is who signs in.
type SignInBody struct {
	// Phone number, with its + and country.
	Phone string `json:"phone" required:"true" example:"+12125550142"`
	// The password, or the temporary one. At most 200 characters.
	Password string `json:"password" required:"true"`
	// What the last sign-in on this device returned as device. Failed attempts of others then do not
	// count against it.
	Device string `json:"device"`
}

// SignedIn is a session just begun.
type SignedIn struct {
	// To be sent as Authorization: Bearer TOKEN.
	Token string `json:"token" example:"0f3Kq9LsT2vDz6MfR3hYcW4nB7xKq9LsT2vDz6MfR3h"`
	// To be kept on the device, also after signing out, and sent with the next sign-in. It gives no
	// access.
	Device string `json:"device" example:"pX0b1kq9LsT2vDz6MfR3hYcW4nB7xKq9LsT2vDz6MfR3hAbCdE"`
	// A password must be set before anything else.
	MustSetPassword bool `json:"mustSetPassword"`
	// Who signed in.
	Worker Worker `json:"worker"`
}

// PasswordBody is a new password.
type PasswordBody struct {
	// 8 to 200 characters.
	Password string `json:"password" required:"true"`
	// The current password. Required unless that is the temporary one.
	OldPassword string `json:"oldPassword"`
}

// DutyBody is duty.
type DutyBody struct {
	// Whether the worker works now.
	OnDuty *bool `json:"onDuty" required:"true"`
	// The phone that the worker uses; by default it does not change.
	UserData *Device `json:"userData"`
}

// WorkList is what a worker has to do.
type WorkList struct {
	// Grows with each change of the list.
	Version int64 `json:"version"`
	// Id of the task that the worker is doing; null when none.
	ActiveTask *lastmile.TaskID `json:"activeTask" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// The tasks, in order.
	Tasks []Task `json:"tasks" example:"[]"`
}

// NewWorkList returns a list in the form that is sent.
func NewWorkList(version int64, active lastmile.TaskID, tasks []lastmile.Task) WorkList {
	return WorkList{Version: version, ActiveTask: orNull(active), Tasks: Each(tasks, NewTask)}
}

// ListOutline is the part of a list that is sent to a phone when the list has changed: enough to see
// whether the phone has all of it.
type ListOutline struct {
	Version    int64            `json:"version"`
	ActiveTask *lastmile.TaskID `json:"activeTask"` // null when none
	Tasks      []TaskOutline    `json:"tasks"`
}

// TaskOutline is a task of a list.
type TaskOutline struct {
	ID               lastmile.TaskID `json:"id"`
	TimeLastModified Millis          `json:"timeLastModified"`
}

// NewListOutline returns the outline of a list.
func NewListOutline(version int64, active lastmile.TaskID, tasks []lastmile.Task) ListOutline {
	return ListOutline{Version: version, ActiveTask: orNull(active), Tasks: Each(tasks, func(t lastmile.Task) TaskOutline {
		return TaskOutline{ID: t.ID, TimeLastModified: Millis(t.Modified)}
	})}
}

// ActionBody is something the worker did.
type ActionBody struct {
	// Made by the phone, 1 to 100 characters. A repeated action changes nothing and returns the task
	// as it is.
	ActionID string `json:"actionId" required:"true"`
	// When it happened, by the phone's clock; default now. At most a week ago.
	Time Millis `json:"time"`
	// Where the worker was.
	Location *LonLat `json:"location" example:"[-73.9857, 40.7484]"`
}

// Domain returns the action.
func (b ActionBody) Domain() lastmile.Action {
	return lastmile.Action{ID: b.ActionID, At: b.Time.Time(), Location: (*lastmile.Point)(b.Location)}
}

// FinishBody is how a task ended.
type FinishBody struct {
	ActionBody
	// Whether the worker considers the task done well.
	Success *bool `json:"success" required:"true"`
	// Why not, if not.
	FailureReason string `json:"failureReason"`
	// What the worker has to say.
	Notes string `json:"notes" example:""`
	// Id of the upload of the signature.
	SignatureUploadID string `json:"signatureUploadId"`
	// Name of who signed, instead of an image.
	SignatureText string `json:"signatureText"`
	// Ids of the uploads of photos, at most 20.
	PhotoUploadIDs []string `json:"photoUploadIds"`
	// The barcodes that were scanned.
	Barcodes []ScannedBarcode `json:"barcodes"`
	// The recipient is as old as the task requires.
	MinimumAgeVerified bool `json:"minimumAgeVerified"`
}

// ScannedBarcode is a barcode that was scanned.
type ScannedBarcode struct {
	// What it says, in base64.
	Data string `json:"data" required:"true"`
	// Its kind.
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

// PositionsBody is where the worker was.
type PositionsBody struct {
	// At most 500, in any order.
	Positions []PositionBody `json:"positions" required:"true"`
}

// PositionBody is a place and a time.
type PositionBody struct {
	// The place.
	Location *LonLat `json:"location" required:"true" example:"[-73.9857, 40.7484]"`
	// When the worker was there, by the phone's clock.
	Time Millis `json:"time" required:"true"`
	// Metres.
	Accuracy *float64 `json:"accuracy"`
	// Metres a second.
	Speed *float64 `json:"speed"`
	// Degrees from north.
	Heading *float64 `json:"heading"`
	// Charge of the phone, from 0 to 1.
	Battery *float64 `json:"battery"`
}

// Domain returns the positions. One without a place or a time is none.
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

// Uploaded is an image that was taken.
type Uploaded struct {
	// For signatureUploadId and photoUploadIds.
	UploadID lastmile.UploadID `json:"uploadId" example:"U7jK3lZx9CvB5nMq2WsD8fRt"`
}

// Believed is what became of positions.
type Believed struct {
	// How many were believed.
	Accepted int `json:"accepted"`
}

// TrackerToken is a token for a tracker app.
type TrackerToken struct {
	// To be sent as id. It is not shown again.
	Token string `json:"token" example:"0f3Kq9LsT2vDz6MfR3hYcW4nB7xKq9LsT2vDz6MfR3h"`
}

// TrackerBody is a position as newer tracker apps send it.
type TrackerBody struct {
	DeviceID string `json:"device_id"`
	Location struct {
		Timestamp string `json:"timestamp"`
		Coords    struct {
			Latitude  *float64 `json:"latitude"`
			Longitude *float64 `json:"longitude"`
			Accuracy  *float64 `json:"accuracy"`
			Speed     *float64 `json:"speed"` // metres a second; negative when unknown
			Heading   *float64 `json:"heading"`
		} `json:"coords"`
		Battery struct {
			Level *float64 `json:"level"` // 0 to 1; negative when unknown
		} `json:"battery"`
	} `json:"location"`
}

// Values returns the position as older apps send it. They send the speed in
// knots, so that it has another name here.
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
