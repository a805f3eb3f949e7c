package wire

import (
	"dray/internal/lastmile"
	"dray/internal/trackingpage"
)

// Following is a task as its recipient sees it.
type Following struct {
	Stage            trackingpage.Stage `json:"stage"`
	Organization     string             `json:"organization"`
	Pickup           bool               `json:"pickup"`
	CompleteAfter    Millis             `json:"completeAfter"`        // null when none
	CompleteBefore   Millis             `json:"completeBefore"`       // null when none
	EstimatedArrival Millis             `json:"estimatedArrivalTime"` // null when unknown
	DelayTime        *Seconds           `json:"delayTime"`            // null when not delayed
	Worker           *FollowedWorker    `json:"worker"`               // null unless active
	Requirements     AskedFor           `json:"requirements"`
	CompletionTime   Millis             `json:"completionTime"` // null until completed
	Feedback         FollowingFeedback  `json:"feedback"`
	Timezone         string             `json:"timezone"`
	Language         string             `json:"language"`
	Expires          Millis             `json:"expires"` // null until completed
}

// FollowedWorker is the worker who is on the way.
type FollowedWorker struct {
	Name         string               `json:"name"`
	VehicleType  lastmile.VehicleType `json:"vehicleType"` // empty on foot
	Location     *LonLat              `json:"location"`    // null when not known, or not for long enough
	LocationTime Millis               `json:"locationTime"`
	Destination  *LonLat              `json:"destination"` // null without location
}

// AskedFor is what the recipient will be asked for.
type AskedFor struct {
	Signature  bool `json:"signature"`
	Photo      bool `json:"photo"`
	MinimumAge int  `json:"minimumAge"`
}

// FollowingFeedback tells whether the recipient may say something, and did.
type FollowingFeedback struct {
	Allowed bool `json:"allowed"`
	Given   bool `json:"given"`
}

// NewFollowing returns a task in the form its recipient is shown, in a
// language.
func NewFollowing(f trackingpage.Page, language string) Following {
	shown := Following{
		Stage: f.Stage, Organization: f.Organization, Pickup: f.Pickup,
		CompleteAfter: Millis(f.CompleteAfter), CompleteBefore: Millis(f.CompleteBy), EstimatedArrival: Millis(f.Arrival),
		Requirements:   AskedFor{Signature: f.Requirements.Signature, Photo: f.Requirements.Photo, MinimumAge: f.Requirements.MinimumAge},
		CompletionTime: Millis(f.CompletedAt), Feedback: FollowingFeedback{Allowed: f.MayRate, Given: f.Rated},
		Timezone: f.Timezone, Language: language, Expires: Millis(f.Ends),
	}
	if f.Delay > 0 {
		shown.DelayTime = (*Seconds)(&f.Delay)
	}
	if f.WorkerName != "" {
		shown.Worker = &FollowedWorker{Name: f.WorkerName, VehicleType: f.Vehicle, Location: (*LonLat)(f.Location), LocationTime: Millis(f.LocatedAt), Destination: (*LonLat)(f.Goal)}
	}
	return shown
}

// FeedbackBody is what a recipient says of a task.
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
