package adminapi

import (
	"encoding/json"
	"time"

	"dray/internal/access"
	"dray/internal/lastmile"
	"dray/internal/messaging"
	"dray/internal/report"
	"dray/internal/settings"
	"dray/internal/textmessage"
	"dray/internal/wire"
)

// APIKey is an API key of the organization, without the key itself.
type APIKey struct {
	// ID of the key.
	ID lastmile.KeyID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Name that describes what the key is for.
	Name string `json:"name" example:"web shop"`
	// Last four characters of the key.
	Hint string `json:"hint" example:"VqCx"`
	// Unix time in milliseconds at which the key was created.
	TimeCreated wire.Millis `json:"timeCreated" example:"1767225600000"`
	// Unix time in milliseconds at which the key was last used, to the minute; null if it never was.
	TimeLastUsed wire.Millis `json:"timeLastUsed" nullable:"true" example:"1767229200000"`
	// Whether the key is valid. A key that was deleted is listed as inactive.
	IsActive bool `json:"isActive" example:"true"`
}

// NewAPIKey is an API key that was created.
type NewAPIKey struct {
	APIKey
	// The key. It is shown only here.
	Key string `json:"key" example:"dray_4vB9kQm2Xc7RtLw1Zs8Nf3Hj6Pd0Gy5Ta9Ue2Ko4Ib7VqCx"`
}

// APIKeyBody is the body of a request to create or rename an API key.
type APIKeyBody struct {
	// Name that describes what the key is for.
	Name *string `json:"name" required:"true" example:"web shop"`
}

// NewKeyRecord returns an API key in its wire form.
func NewKeyRecord(k lastmile.APIKey) APIKey {
	return APIKey{
		ID: k.ID, Name: k.Name, Hint: k.Hint, TimeCreated: wire.Millis(k.Created), TimeLastUsed: wire.Millis(k.LastUsed), IsActive: k.Active(),
	}
}

// NewCreatedKey returns a key that was created, with the key itself.
func NewCreatedKey(k access.NewKey) NewAPIKey {
	return NewAPIKey{APIKey: NewKeyRecord(k.Record), Key: k.Key}
}

// OrganizationSettings are the settings of the organization.
type OrganizationSettings struct {
	// Name of the organization.
	Name string `json:"name" example:"Example Couriers"`
	// Email address of the organization; empty if there is none.
	Email string `json:"email" example:"dispatch@example.com"`
	// Email address at which workers get support; empty if there is none.
	DriverSupportEmail string `json:"driverSupportEmail" example:"drivers@example.com"`
	// Upload ID of the logo; null if there is none. PUT /organization/logo sets it.
	Image *string `json:"image" example:"null"`
	// IANA time zone, such as America/New_York.
	Timezone string `json:"timezone" example:"America/New_York"`
	// Two-letter country code (ISO 3166-1).
	Country string `json:"country" example:"US"`
	// Two-letter language code (ISO 639-1) of text messages to recipients without a language.
	Language string `json:"language" example:"en"`
	// Least precise location that is accepted for an address: any, city, postalCode, street or house.
	GeocodingPrecision string `json:"geocodingPrecision" enum:"any,city,postalCode,street,house" example:"street"`
	// Where workers may complete tasks.
	Geofence GeofenceSettings `json:"geofence"`
	// Whether apps hide the barcodes that workers must scan.
	HideBarcodes bool `json:"hideBarcodes" example:"false"`
	// Reasons for failures that workers are offered, in the order in which apps list them.
	FailureReasons []string `json:"failureReasons" example:"[\"RECIPIENT_UNAVAILABLE\", \"OTHER\"]"`
	// What recipients see on tracking pages.
	TrackingPage wire.PageSettings `json:"trackingPage"`
	// How routes are planned again during the day.
	Replanning wire.Replanning `json:"replanning"`
	// Text messages to recipients. Their texts are at /messages/templates.
	Messages MessageSettings `json:"messages"`
	// What was learned from the organization's trips.
	Learned LearnedTravel `json:"learned"`
}

// GeofenceSettings are the rule about where workers may complete tasks.
type GeofenceSettings struct {
	// What happens when a worker completes a task elsewhere: off for nothing, warn to record it, block to prevent it.
	Level string `json:"level" enum:"off,warn,block" example:"warn"`
	// Distance from the destination, in meters.
	Radius float64 `json:"radius" example:"200"`
}

// MessageSettings are the settings of text messages to recipients.
type MessageSettings struct {
	// Phone number or name that messages come from; null for that of the installation.
	From *string `json:"from" example:"null"`
	// Time in seconds before the arrival at which recipients are notified; 0 for never.
	ETA int64 `json:"eta" example:"600"`
	// Delay in seconds from which on recipients are notified; 0 for never.
	Delay int64 `json:"delay" example:"900"`
}

// LearnedTravel is what was learned from the organization's trips.
type LearnedTravel struct {
	// Actual travel times, compared with the formula.
	Factor float64 `json:"factor" example:"1.12"`
	// Number of trips that this was learned from.
	Trips int `json:"trips" example:"431"`
	// Usual time at a stop, in seconds.
	ServiceTime float64 `json:"serviceTime" example:"140"`
}

// OrganizationSettingsBody changes settings of the organization. Absent fields stay unchanged.
type OrganizationSettingsBody struct {
	// Name of the organization.
	Name *string `json:"name" example:"Example Couriers"`
	// Email address of the organization; null removes it.
	Email wire.Optional[string] `json:"email" example:"dispatch@example.com"`
	// Email address at which workers get support; null removes it.
	DriverSupportEmail wire.Optional[string] `json:"driverSupportEmail" example:"drivers@example.com"`
	// IANA time zone, such as America/New_York.
	Timezone *string `json:"timezone" example:"America/New_York"`
	// Two-letter country code (ISO 3166-1).
	Country *string `json:"country" example:"US"`
	// Two-letter language code (ISO 639-1) of text messages to recipients without a language; null for that of the country.
	Language wire.Optional[string] `json:"language" example:"en"`
	// Least precise location that is accepted for an address: any, city, postalCode, street or house.
	GeocodingPrecision *string `json:"geocodingPrecision" enum:"any,city,postalCode,street,house" example:"street"`
	// Where workers may complete tasks.
	Geofence GeofenceBody `json:"geofence"`
	// Whether apps hide the barcodes that workers must scan.
	HideBarcodes *bool `json:"hideBarcodes" example:"false"`
	// Reasons for failures that workers are offered, in the order in which apps list them: at least one of RECIPIENT_UNAVAILABLE,
	// UNABLE_TO_LOCATE, WRONG_ADDRESS, NO_ACCESS, REFUSED_BY_RECIPIENT, AGE_NOT_VERIFIED, DAMAGED and OTHER.
	FailureReasons *[]string `json:"failureReasons" example:"[\"RECIPIENT_UNAVAILABLE\", \"OTHER\"]"`
	// What recipients see on tracking pages.
	TrackingPage wire.PageSettingsBody `json:"trackingPage"`
	// How routes are planned again during the day.
	Replanning wire.ReplanningBody `json:"replanning"`
	// Text messages to recipients.
	Messages MessageSettingsBody `json:"messages"`
}

// GeofenceBody changes the rule about where workers may complete tasks. Absent fields stay unchanged.
type GeofenceBody struct {
	// What happens when a worker completes a task elsewhere: off, warn or block.
	Level *string `json:"level" enum:"off,warn,block" example:"warn"`
	// Distance from the destination, in meters, up to 10,000; null for 200.
	Radius wire.Optional[float64] `json:"radius" example:"150"`
}

// MessageSettingsBody changes the settings of text messages to recipients. Absent fields stay unchanged.
type MessageSettingsBody struct {
	// Phone number or name that messages come from; null for that of the installation.
	From wire.Optional[string] `json:"from" example:"null"`
	// Time in seconds before the arrival at which recipients are notified; 0 for never.
	ETA *float64 `json:"eta" example:"600"`
	// Delay in seconds from which on recipients are notified; 0 for never.
	Delay *float64 `json:"delay" example:"900"`
}

// NewOrganizationSettings returns settings in their wire form.
func NewOrganizationSettings(all settings.All) OrganizationSettings {
	o := all.Organization
	return OrganizationSettings{
		Name: o.Name, Email: o.Email, DriverSupportEmail: o.DriverSupportEmail, Image: wire.OrNull(o.Image), Timezone: o.Timezone, Country: o.Country,
		Language: all.Messages.DefaultLanguage(o.Country), GeocodingPrecision: all.Rules.GeocodingPrecision.String(),
		Geofence:     GeofenceSettings{Level: all.Rules.Geofence.Level.String(), Radius: float64(all.Rules.Geofence.Within())},
		HideBarcodes: all.Rules.HideBarcodes, FailureReasons: wire.FailureReasons(all.Rules),
		TrackingPage: wire.NewPageSettings(all.Page), Replanning: wire.NewReplanning(all.Replanning),
		Messages: MessageSettings{
			From: wire.OrNull(all.Messages.From), ETA: int64(all.Messages.Thresholds.ETA.Seconds()), Delay: int64(all.Messages.Thresholds.Delay.Seconds()),
		},
		Learned: LearnedTravel{Factor: all.Learned.Travel.Factor, Trips: all.Learned.Travel.Trips, ServiceTime: all.Learned.Service.Seconds()},
	}
}

// Change returns the change that the body represents.
func (b OrganizationSettingsBody) Change() settings.Change {
	c := settings.Change{
		Name: b.Name, Email: textOrEmpty(b.Email), DriverSupportEmail: textOrEmpty(b.DriverSupportEmail), Timezone: b.Timezone, Country: b.Country,
		Precision: b.GeocodingPrecision, GeofenceLevel: b.Geofence.Level, HideBarcodes: b.HideBarcodes, Reasons: b.FailureReasons,
		Page: b.TrackingPage.Change(), Replanning: b.Replanning.Change(),
		Messages: settings.MessageChange{Language: textOrEmpty(b.Language), From: textOrEmpty(b.Messages.From), ETA: seconds(b.Messages.ETA), Delay: seconds(b.Messages.Delay)},
	}
	if b.Geofence.Radius.Present {
		c.Radius = new(lastmile.Meters(b.Geofence.Radius.Value)) // zero for null
	}
	return c
}

// textOrEmpty returns nil for an absent text and an empty one for null.
func textOrEmpty(o wire.Optional[string]) *string {
	if !o.Present {
		return nil
	}
	return &o.Value
}

// seconds returns a number of seconds as a duration. One that is far too large stays
// too large.
func seconds(s *float64) *time.Duration {
	if s == nil {
		return nil
	}
	const most = 1e9
	return new(time.Duration(max(-most, min(most, *s)) * float64(time.Second)))
}

// Message is a text message.
type Message struct {
	// ID of the message.
	ID lastmile.MessageID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Unix time in milliseconds at which the message was created.
	TimeCreated wire.Millis `json:"timeCreated" example:"1794700000000"`
	// Unix time in milliseconds at which the message was first sent; null if it was not.
	TimeSent wire.Millis `json:"timeSent" nullable:"true" example:"1794700001000"`
	// Kind of message: invitation for the invitation of a worker; taskStarted, taskEta, taskDelayed,
	// taskArrived, taskCompleted or taskFailed for a message to the recipient of a task.
	Kind string `json:"kind" example:"taskStarted"`
	// ID of the task that the message is about; null for an invitation.
	Task *lastmile.TaskID `json:"task"`
	// Phone number that the message is sent to.
	To lastmile.Phone `json:"to" example:"+12125550142"`
	// Text of the message; null for an invitation, which contains a password.
	Text *string `json:"text" example:"Example Couriers: Ada is on the way with your delivery."`
	// State of the message: queued, sending, sent, delivered, failed or suppressed.
	State string `json:"state" example:"delivered"`
	// Reason why the message failed or was suppressed; null otherwise.
	Reason *string `json:"reason" example:"too many messages to this number in an hour"`
}

// NewMessage returns a text message in its wire form.
func NewMessage(m textmessage.Message) Message {
	shown := Message{
		ID: m.ID, TimeCreated: wire.Millis(m.Created), TimeSent: wire.Millis(m.Sent), Kind: string(m.Kind), Task: wire.OrNull(m.Task), To: m.To,
		State: string(m.State), Reason: wire.OrNull(m.Reason),
	}
	if !m.Secret() {
		shown.Text = wire.OrNull(m.Body)
	}
	return shown
}

// MessageReply is a text message that a phone sent to the organization.
type MessageReply struct {
	// ID of the reply.
	ID lastmile.MessageID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Unix time in milliseconds at which the reply was received.
	Time wire.Millis `json:"time" example:"1794700000000"`
	// Phone number that the reply came from.
	From lastmile.Phone `json:"from" example:"+12125550142"`
	// Phone number that it was sent to.
	To string `json:"to" example:"+12125550100"`
	// Text of the reply.
	Text string `json:"text" example:"Please ring twice."`
}

// NewMessageReply returns a reply in its wire form.
func NewMessageReply(r textmessage.Received) MessageReply {
	return MessageReply{ID: r.ID, Time: wire.Millis(r.At), From: r.From, To: r.To, Text: r.Body}
}

// MessageOptOut is a phone number that wants no text messages of the organization.
type MessageOptOut struct {
	// Phone number.
	Phone lastmile.Phone `json:"phone" example:"+12125550142"`
	// Unix time in milliseconds of the opt-out.
	Time wire.Millis `json:"time" example:"1794700000000"`
}

// NewMessageOptOut returns an opt-out in its wire form.
func NewMessageOptOut(o textmessage.OptOut) MessageOptOut {
	return MessageOptOut{Phone: o.Phone, Time: wire.Millis(o.At)}
}

// MessageTemplates are the texts of messages to recipients.
type MessageTemplates struct {
	// Two-letter code of the language of recipients without one.
	Language string `json:"language" example:"en"`
	// Languages that have built-in texts.
	Languages []string `json:"languages" example:"en"`
	// The texts, by kind and language.
	Templates []MessageTemplate `json:"templates"`
}

// MessageTemplate is the text of a kind of message in one language.
type MessageTemplate struct {
	// Kind of message: taskStarted, taskEta, taskDelayed, taskArrived, taskCompleted or taskFailed.
	Kind string `json:"kind" example:"taskStarted"`
	// Whether the text is for pickups, and not for drop-offs.
	Pickup bool `json:"pickup" example:"false"`
	// Two-letter language code (ISO 639-1).
	Language string `json:"language" example:"en"`
	// Whether messages of this kind are sent, in any language.
	IsEnabled bool `json:"isEnabled" example:"true"`
	// Whether the text is the organization's own, and not the built-in one.
	IsOwn bool `json:"isOwn" example:"false"`
	// The text, with placeholders in braces.
	Text string `json:"text" example:"{organization}: {worker} is on the way with your delivery. {tracking}"`
	// Placeholders that the text may have.
	Placeholders []string `json:"placeholders" example:"organization"`
	// The text as a recipient might get it.
	Preview MessagePreview `json:"preview"`
}

// MessagePreview is the text of a message for a fictitious task.
type MessagePreview struct {
	// The text.
	Text string `json:"text" example:"Example Couriers: Alex is on the way with your delivery."`
	// Encoding: GSM-7, or UCS-2 if a character is not in the GSM alphabet.
	Encoding string `json:"encoding" enum:"GSM-7,UCS-2" example:"GSM-7"`
	// Length of the text in units of the encoding.
	Length int `json:"length" example:"57"`
	// Number of segments that networks charge for.
	Segments int `json:"segments" example:"1"`
}

// MessageTemplatesBody changes texts of messages to recipients.
type MessageTemplatesBody struct {
	// Texts that change; others stay as they are.
	Templates []MessageTemplateBody `json:"templates" required:"true"`
}

// MessageTemplateBody changes the text of a kind of message in one language.
type MessageTemplateBody struct {
	// Kind of message: taskStarted, taskEta, taskDelayed, taskArrived, taskCompleted or taskFailed.
	Kind string `json:"kind" required:"true" example:"taskStarted"`
	// Whether the text is for pickups, and not for drop-offs; false by default.
	Pickup bool `json:"pickup" example:"false"`
	// Two-letter language code (ISO 639-1); by default, the organization's.
	Language *string `json:"language" example:"en"`
	// The text, with placeholders in braces; null restores the built-in text.
	Text wire.Optional[string] `json:"text" example:"{organization}: {worker} is coming. {tracking}"`
	// Whether messages of this kind are sent, in any language.
	IsEnabled *bool `json:"isEnabled" example:"true"`
}

// MessagePreviewBody is a text to preview.
type MessagePreviewBody struct {
	// Kind of message: taskStarted, taskEta, taskDelayed, taskArrived, taskCompleted or taskFailed.
	Kind string `json:"kind" required:"true" example:"taskStarted"`
	// Whether the text is for pickups, and not for drop-offs; false by default.
	Pickup bool `json:"pickup" example:"false"`
	// Two-letter language code (ISO 639-1); by default, the organization's.
	Language *string `json:"language" example:"en"`
	// The text; by default, the current one.
	Text *string `json:"text" example:"{organization}: {worker} is coming. {tracking}"`
}

// NewMessageTemplates returns texts in their wire form.
func NewMessageTemplates(t messaging.Templates) MessageTemplates {
	return MessageTemplates{
		Language: t.Language, Languages: textmessage.Languages,
		Templates: wire.Each(t.All, func(t messaging.Template) MessageTemplate {
			return MessageTemplate{
				Kind: string(t.Occasion.Kind), Pickup: t.Occasion.Pickup, Language: t.Language, IsEnabled: t.Enabled, IsOwn: t.Own, Text: t.Text,
				Placeholders: textmessage.Placeholders(t.Occasion.Kind), Preview: NewMessagePreview(t.Preview),
			}
		}),
	}
}

// NewMessagePreview returns a preview in its wire form.
func NewMessagePreview(text string) MessagePreview {
	encoding, length := textmessage.Encoding(text)
	return MessagePreview{Text: text, Encoding: encoding, Length: length, Segments: textmessage.Segments(text)}
}

// SearchResult is what a search has found, at most ten records of each kind.
type SearchResult struct {
	// Tasks whose short ID, recipient or street matches: first those with the short ID, then the newest.
	Tasks []FoundTask `json:"tasks"`
	// Workers whose name or phone number matches.
	Workers []FoundWorker `json:"workers"`
	// Recipients whose name or phone number matches.
	Recipients []FoundRecipient `json:"recipients"`
}

// FoundTask is a task that a search has found.
type FoundTask struct {
	// ID of the task.
	ID lastmile.TaskID `json:"id" example:"K2dF8gHj5LzX9cVb7NmQ4wRt"`
	// Short ID of the task.
	ShortID string `json:"shortId" example:"8f2a61c4"`
	// State of the task: 0 unassigned, 1 assigned, 2 active, 3 completed.
	State lastmile.TaskState `json:"state" example:"1"`
	// Unix time in milliseconds at which the task was created.
	TimeCreated wire.Millis `json:"timeCreated" example:"1767225600000"`
	// ID of the worker; null if there is none.
	Worker *lastmile.WorkerID `json:"worker" example:"W4nB7xKq9LsT2vDz6MfR3hYc"`
	// The recipient; null if there is none.
	Recipient *FoundRecipient `json:"recipient"`
	// Number of the house; empty if there is none.
	Number string `json:"number" example:"350"`
	// Street of the destination; empty if there is none.
	Street string `json:"street" example:"5th Avenue"`
	// City of the destination.
	City string `json:"city" example:"New York"`
}

// FoundWorker is a worker that a search has found.
type FoundWorker struct {
	// ID of the worker.
	ID lastmile.WorkerID `json:"id" example:"W4nB7xKq9LsT2vDz6MfR3hYc"`
	// Name of the worker.
	Name string `json:"name" example:"Ada Lovelace"`
	// Phone number of the worker.
	Phone lastmile.Phone `json:"phone" example:"+12125550187"`
	// Whether the worker is on duty.
	OnDuty bool `json:"onDuty" example:"true"`
}

// FoundRecipient is a recipient that a search has found.
type FoundRecipient struct {
	// ID of the recipient.
	ID lastmile.RecipientID `json:"id" example:"R6tY3uJm8NbV1cXz5LkQ9wEs"`
	// Name of the recipient.
	Name string `json:"name" example:"Mary Seacole"`
	// Phone number of the recipient.
	Phone lastmile.Phone `json:"phone" example:"+12125550142"`
}

// NewSearchResult returns the result of a search in its wire form.
func NewSearchResult(f report.Found) SearchResult {
	return SearchResult{
		Tasks: wire.Each(f.Tasks, func(t lastmile.Task) FoundTask {
			at := t.Destination.Address
			found := FoundTask{
				ID: t.ID, ShortID: t.ShortID, State: t.State, TimeCreated: wire.Millis(t.Created), Worker: wire.OrNull(t.Worker),
				Number: at.Number, Street: at.Street, City: at.City,
			}
			if t.Recipient != nil {
				found.Recipient = new(newFoundRecipient(*t.Recipient))
			}
			return found
		}),
		Workers: wire.Each(f.Workers, func(w lastmile.Worker) FoundWorker {
			return FoundWorker{ID: w.ID, Name: w.Name, Phone: w.Phone, OnDuty: w.Whereabouts.OnDuty}
		}),
		Recipients: wire.Each(f.Recipients, newFoundRecipient),
	}
}

func newFoundRecipient(r lastmile.Recipient) FoundRecipient {
	return FoundRecipient{ID: r.ID, Name: r.Name, Phone: r.Phone}
}

// WorkerPositions are the positions of a worker in a period, oldest first.
type WorkerPositions struct {
	// The positions.
	Positions []WorkerPosition `json:"positions"`
	// Value of from for the next page; null if this is the last one.
	Next wire.Millis `json:"next" nullable:"true" example:"1767229200000"`
}

// WorkerPosition is the position of a worker at a time.
type WorkerPosition struct {
	// Unix time in milliseconds.
	Time wire.Millis `json:"time" example:"1767225600000"`
	// Location, as [longitude, latitude] in degrees.
	Location wire.LonLat `json:"location" example:"[-73.9857, 40.7484]"`
	// Accuracy in meters; null if it is not known.
	Accuracy *float64 `json:"accuracy" example:"8"`
	// Speed in meters per second; null if it is not known.
	Speed *float64 `json:"speed" example:"7.5"`
	// Direction in degrees from north, clockwise; null if it is not known.
	Heading *float64 `json:"heading" example:"90"`
}

// NewWorkerPositions returns positions in their wire form.
func NewWorkerPositions(t report.Track) WorkerPositions {
	return WorkerPositions{
		Positions: wire.Each(t.Positions, func(p lastmile.Position) WorkerPosition {
			return WorkerPosition{Time: wire.Millis(p.At), Location: wire.LonLat(p.Location), Accuracy: p.Accuracy, Speed: p.Speed, Heading: p.Heading}
		}),
		Next: wire.Millis(t.Next),
	}
}

// Analytics are what an organization did in a period.
type Analytics struct {
	// Unix time in milliseconds at which the period begins.
	From wire.Millis `json:"from" example:"1767225600000"`
	// Unix time in milliseconds before which it ends.
	To wire.Millis `json:"to" example:"1767830400000"`
	// All tasks of the period.
	Total AnalyticsGroup `json:"total"`
	// The tasks by day, team or worker.
	Groups []AnalyticsGroup `json:"groups"`
}

// AnalyticsGroup is what was done on a day, by a team or by a worker.
type AnalyticsGroup struct {
	// Date in the organization's time zone. Only in analytics by day.
	Day *string `json:"day,omitzero" example:"2026-01-31"`
	// ID of the team. Only in analytics by team, and not for workers without one.
	Team *lastmile.TeamID `json:"team,omitzero"`
	// ID of the worker. Only in analytics by worker, and not for tasks without one.
	Worker *lastmile.WorkerID `json:"worker,omitzero"`
	// Number of tasks that were created, without those deleted since. Only for days and the total.
	Created *int `json:"created,omitzero" example:"128"`
	// Number of tasks that were completed, successfully or not.
	Completed int `json:"completed" example:"120"`
	// Number of tasks that succeeded.
	Succeeded int `json:"succeeded" example:"117"`
	// Number of tasks that failed.
	Failed int `json:"failed" example:"3"`
	// Number of failed tasks by reason; NONE if no reason is known.
	FailureReasons map[string]int `json:"failureReasons" example:"{\"RECIPIENT_UNAVAILABLE\": 3}"`
	// Number of tasks with a time window that were completed in it.
	OnTime int `json:"onTime" example:"110"`
	// Number of tasks that were completed before their window.
	Early int `json:"early" example:"1"`
	// Number of tasks that were completed after their window.
	Late int `json:"late" example:"6"`
	// Distance on the way to the tasks, in meters, as measured by phones.
	Distance float64 `json:"distance" example:"402118.4"`
	// Time on the way to the tasks, in seconds: from the start to the arrival.
	DriveTime float64 `json:"driveTime" example:"71420"`
	// Time at the destinations, in seconds: from the arrival to the completion.
	ServiceTime float64 `json:"serviceTime" example:"15810"`
	// Feedback of recipients.
	Feedback AnalyticsFeedback `json:"feedback"`
}

// AnalyticsFeedback is the feedback of recipients.
type AnalyticsFeedback struct {
	// Number of recipients who rated a task.
	Count int `json:"count" example:"18"`
	// Average rating, from 1 to 5; null if there is none.
	Rating *float64 `json:"rating" example:"4.6"`
}

// NewAnalytics returns analytics in their wire form.
func NewAnalytics(a report.Analytics) Analytics {
	return Analytics{
		From: wire.Millis(a.Window.From), To: wire.Millis(a.Window.To), Total: newAnalyticsGroup(a.Total), Groups: wire.Each(a.Groups, newAnalyticsGroup),
	}
}

func newAnalyticsGroup(g report.Group) AnalyticsGroup {
	shown := AnalyticsGroup{
		Day: wire.OrNull(g.Day), Team: wire.OrNull(g.Team), Worker: wire.OrNull(g.Worker), Created: g.Created,
		Completed: g.Succeeded + g.Failed, Succeeded: g.Succeeded, Failed: g.Failed, FailureReasons: g.Failures,
		OnTime: g.OnTime, Early: g.Early, Late: g.Late, Distance: float64(g.Distance), DriveTime: g.DriveTime.Seconds(), ServiceTime: g.ServiceTime.Seconds(),
		Feedback: AnalyticsFeedback{Count: g.Ratings},
	}
	if shown.FailureReasons == nil {
		shown.FailureReasons = map[string]int{}
	}
	if g.Ratings > 0 {
		shown.Feedback.Rating = new(float64(g.RatingTotal) / float64(g.Ratings))
	}
	return shown
}

// TriggerDescription is a trigger that webhooks can have.
type TriggerDescription struct {
	// Number of the trigger.
	ID lastmile.Trigger `json:"id" example:"6"`
	// Name of the trigger.
	Name string `json:"name" example:"taskCreated"`
	// What causes the trigger.
	Description string `json:"description" example:"A task is created."`
	// Whether webhooks of the trigger have a threshold.
	HasThreshold bool `json:"hasThreshold" example:"false"`
	// Body of a request as webhooks get it.
	Sample json.RawMessage `json:"sample"`
}
