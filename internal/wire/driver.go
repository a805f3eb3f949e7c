package wire

import (
	"fmt"
	"strconv"

	"dray/internal/lastmile"
)

// SignInBody is a worker's request to sign in.
type SignInBody struct {
	Phone    string `json:"phone"`
	Password string `json:"password"`
}

// SignedIn is the answer to it.
type SignedIn struct {
	Token           string `json:"token"`
	MustSetPassword bool   `json:"mustSetPassword"`
	Worker          Worker `json:"worker"`
}

// PasswordBody is a new password.
type PasswordBody struct {
	Password string `json:"password"`
}

// DutyBody puts a worker on or off duty.
type DutyBody struct {
	OnDuty   *bool   `json:"onDuty"`
	UserData *Device `json:"userData"`
}

// WorkList is what a worker has to do, in order.
type WorkList struct {
	Version    int64            `json:"version"`
	ActiveTask *lastmile.TaskID `json:"activeTask"` // null when none
	Tasks      []Task           `json:"tasks"`
}

// NewWorkList returns a list in the form that is sent.
func NewWorkList(version int64, active lastmile.TaskID, tasks []lastmile.Task) WorkList {
	return WorkList{Version: version, ActiveTask: orNull(active), Tasks: each(tasks, NewTask)}
}

// ListOutline is what a phone is told of a list that has changed: enough to
// see whether it knows all of it.
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
	return ListOutline{Version: version, ActiveTask: orNull(active), Tasks: each(tasks, func(t lastmile.Task) TaskOutline {
		return TaskOutline{ID: t.ID, TimeLastModified: Millis(t.Modified)}
	})}
}

// ActionBody is something a worker did.
type ActionBody struct {
	ActionID string  `json:"actionId"`
	Time     Millis  `json:"time"`
	Location *LonLat `json:"location"`
}

// Domain returns the action.
func (b ActionBody) Domain() lastmile.Action {
	return lastmile.Action{ID: b.ActionID, At: b.Time.Time(), Location: (*lastmile.Point)(b.Location)}
}

// FinishBody is how a worker ends a task.
type FinishBody struct {
	ActionBody
	Success            *bool            `json:"success"`
	FailureReason      string           `json:"failureReason"`
	Notes              string           `json:"notes"`
	SignatureUploadID  string           `json:"signatureUploadId"`
	SignatureText      string           `json:"signatureText"`
	PhotoUploadIDs     []string         `json:"photoUploadIds"`
	Barcodes           []ScannedBarcode `json:"barcodes"`
	MinimumAgeVerified bool             `json:"minimumAgeVerified"`
}

// ScannedBarcode is a barcode that a worker scanned.
type ScannedBarcode struct {
	Data      string `json:"data"`
	Symbology string `json:"symbology"`
}

// Outcome returns how the task ends and what was handed in.
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

// PositionsBody is where a worker was.
type PositionsBody struct {
	Positions []PositionBody `json:"positions"`
}

// PositionBody is one place and time.
type PositionBody struct {
	Location *LonLat  `json:"location"`
	Time     Millis   `json:"time"`
	Accuracy *float64 `json:"accuracy"`
	Speed    *float64 `json:"speed"`
	Heading  *float64 `json:"heading"`
	Battery  *float64 `json:"battery"`
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

// Uploaded is the answer to an image.
type Uploaded struct {
	UploadID lastmile.UploadID `json:"uploadId"`
}

// Believed is how many positions were taken in.
type Believed struct {
	Accepted int `json:"accepted"`
}

// TrackerToken lets a tracker app report positions.
type TrackerToken struct {
	Token string `json:"token"`
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
