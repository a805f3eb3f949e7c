package recipientapi

import (
	"time"

	"dray/internal/wire"

	"dray/internal/lastmile"
	"dray/internal/textmessage"
	"dray/internal/trackingpage"
)

// TrackingPage is a task as its recipient sees it.
type TrackingPage struct {
	Stage            trackingpage.Stage   `json:"stage"`
	Organization     string               `json:"organization"`
	Pickup           bool                 `json:"pickup"`
	CompleteAfter    wire.Millis          `json:"completeAfter"`        // null if there is none
	CompleteBefore   wire.Millis          `json:"completeBefore"`       // null if there is none
	EstimatedArrival wire.Millis          `json:"estimatedArrivalTime"` // null if unknown
	DelayTime        *wire.Seconds        `json:"delayTime"`            // null if not delayed
	Worker           *TrackedWorker       `json:"worker"`               // null unless active
	Route            *wire.Route          `json:"route"`                // from the worker to the destination; null if there is no location
	Requirements     TrackingRequirements `json:"requirements"`
	CompletionTime   wire.Millis          `json:"completionTime"` // null until completed
	Feedback         TrackingFeedback     `json:"feedback"`
	Timezone         string               `json:"timezone"`
	Language         string               `json:"language"`
	Expires          wire.Millis          `json:"expires"`       // null until completed
	FailureReason    *string              `json:"failureReason"` // null unless failed for a known reason
	Phone            *string              `json:"phone"`         // of the organization; null if there is none
	Logo             bool                 `json:"logo"`          // whether the organization has a logo
	NewTimes         []TrackingSlot       `json:"newTimes"`      // times that may be requested
	RequestedTime    *TrackingSlot        `json:"requestedTime"` // null if none was requested
}

// TrackedWorker is the worker who is on the way to the recipient.
type TrackedWorker struct {
	Name         string               `json:"name"`
	VehicleType  lastmile.VehicleType `json:"vehicleType"` // empty if on foot
	Location     *wire.LonLat         `json:"location"`    // null if unknown or outdated
	LocationTime wire.Millis          `json:"locationTime"`
	Destination  *wire.LonLat         `json:"destination"` // null if there is no location
}

// TrackingSlot is a time that the recipient of a failed task may request.
type TrackingSlot struct {
	CompleteAfter  wire.Millis `json:"completeAfter"`
	CompleteBefore wire.Millis `json:"completeBefore"`
}

func newTrackingSlot(s trackingpage.Slot) TrackingSlot {
	return TrackingSlot{CompleteAfter: wire.Millis(s.After), CompleteBefore: wire.Millis(s.Before)}
}

// TrackingRequirements is what the recipient will be asked to provide.
type TrackingRequirements struct {
	Signature  bool `json:"signature"`
	Photo      bool `json:"photo"`
	MinimumAge int  `json:"minimumAge"`
}

// TrackingFeedback is the state of the recipient's feedback: whether it is allowed, and whether
// it was given.
type TrackingFeedback struct {
	Allowed bool `json:"allowed"`
	Given   bool `json:"given"`
}

// NewTrackingPage returns a task in the form its recipient is shown, in a
// language.
func NewTrackingPage(f trackingpage.Page, language string) TrackingPage {
	shown := TrackingPage{
		Stage: f.Stage, Organization: f.Organization, Pickup: f.Pickup,
		CompleteAfter: wire.Millis(f.CompleteAfter), CompleteBefore: wire.Millis(f.CompleteBefore), EstimatedArrival: wire.Millis(f.Arrival),
		Requirements:   TrackingRequirements{Signature: f.Requirements.Signature, Photo: f.Requirements.Photo, MinimumAge: f.Requirements.MinimumAge},
		CompletionTime: wire.Millis(f.CompletedAt), Feedback: TrackingFeedback{Allowed: f.CanRate, Given: f.Rated},
		Timezone: f.Timezone, Language: language, Expires: wire.Millis(f.Expires),
		FailureReason: wire.OrNull(f.FailureReason), Phone: wire.OrNull(string(f.Phone)), Logo: f.Logo, NewTimes: []TrackingSlot{},
	}
	for _, s := range f.NewTimes {
		shown.NewTimes = append(shown.NewTimes, newTrackingSlot(s))
	}
	if f.Requested != nil {
		shown.RequestedTime = new(newTrackingSlot(*f.Requested))
	}
	if f.Delay > 0 {
		shown.DelayTime = (*wire.Seconds)(&f.Delay)
	}
	if f.WorkerName != "" {
		shown.Worker = &TrackedWorker{Name: f.WorkerName, VehicleType: f.Vehicle, Location: (*wire.LonLat)(f.Location), LocationTime: wire.Millis(f.LocatedAt), Destination: (*wire.LonLat)(f.Destination)}
	}
	return shown
}

// FeedbackBody is the body of a request in which a recipient rates a task.
type FeedbackBody struct {
	Rating   *int   `json:"rating"`
	Comments string `json:"comments"`
}

// Domain returns the feedback.
func (b FeedbackBody) Domain() (lastmile.Feedback, error) {
	if b.Rating == nil {
		return lastmile.Feedback{}, lastmile.Missing("rating")
	}
	return lastmile.Feedback{Rating: *b.Rating, Comments: b.Comments}, nil
}

// NewTimeBody is the body of a request in which the recipient of a failed task
// requests another time.
type NewTimeBody struct {
	CompleteAfter *wire.Millis `json:"completeAfter"`
}

// Domain returns when the requested time begins.
func (b NewTimeBody) Domain() (time.Time, error) {
	if b.CompleteAfter == nil {
		return time.Time{}, lastmile.Missing("completeAfter")
	}
	return b.CompleteAfter.Time(), nil
}

// ReplyBody is an incoming text message, as posted by a gateway.
type ReplyBody struct {
	ID   string `json:"id"`
	From string `json:"from"`
	To   string `json:"to"`
	Body string `json:"body"`
}

// Domain returns the reply.
func (b ReplyBody) Domain(gateway string) lastmile.Reply {
	return lastmile.Reply{Gateway: gateway, ID: b.ID, From: lastmile.Phone(b.From), To: b.To, Body: b.Body}
}

// ReportBody is a delivery report for a text message, as posted by a gateway.
type ReportBody struct {
	ID     lastmile.MessageID `json:"id"`
	Status string             `json:"status"`
	Reason string             `json:"reason"`
}

// Domain returns the report.
func (b ReportBody) Domain() (textmessage.DeliveryReport, error) {
	report := textmessage.DeliveryReport{Message: b.ID, State: textmessage.State(b.Status), Reason: b.Reason}
	switch {
	case b.ID == "":
		return report, lastmile.Missing("id")
	case b.Status == "":
		return report, lastmile.Missing("status")
	case report.State != textmessage.StateSent && report.State != textmessage.StateDelivered && report.State != textmessage.StateFailed:
		return report, lastmile.Invalid("status must be sent, delivered or failed, not %q", b.Status)
	}
	return report, nil
}
