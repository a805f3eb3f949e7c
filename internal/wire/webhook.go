package wire

import (
	"encoding/json"

	"dray/internal/lastmile"
)

// Webhook is a server that is notified of one trigger.
type Webhook struct {
	NewWebhookBody
	// A name for people; empty when none.
	Name string `json:"name"`
	// false after more than 300 failures in a row.
	IsEnabled bool `json:"isEnabled"`
	// Seconds or metres at which it is notified; only if set.
	Threshold *float64 `json:"threshold,omitzero"`
	// Whether events of connected organizations are wanted.
	CanReceiveConnectionEvents bool `json:"canReceiveConnectionEvents"`
}

// NewWebhookBody is a webhook just registered.
type NewWebhookBody struct {
	// Id of the record.
	ID lastmile.WebhookID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// How many notifications it has accepted.
	Count int64 `json:"count"`
	// Where notifications are sent.
	URL string `json:"url"`
	// The trigger that it is notified of.
	Trigger lastmile.Trigger `json:"trigger"`
}

// NewWebhook returns a webhook in the form of lists.
func NewWebhook(h lastmile.Webhook) Webhook {
	return Webhook{
		NewWebhookBody: newWebhookBody(h), Name: h.Name, IsEnabled: h.Enabled, Threshold: h.Threshold,
		CanReceiveConnectionEvents: h.CanReceiveConnectionEvents,
	}
}

// NewCreatedWebhook returns a webhook in the form that responds to its creation.
func NewCreatedWebhook(made lastmile.CreatedRecord[lastmile.Webhook]) NewWebhookBody {
	return newWebhookBody(made.Record)
}

func newWebhookBody(h lastmile.Webhook) NewWebhookBody {
	return NewWebhookBody{ID: h.ID, Count: h.Count, URL: h.URL, Trigger: h.Trigger}
}

// WebhookBody is a webhook, as sent.
type WebhookBody struct {
	// A name for people.
	Name *string `json:"name"`
	// An https address with a valid certificate.
	URL *string `json:"url"`
	// The trigger that it is notified of; see the list of triggers.
	Trigger *lastmile.Trigger `json:"trigger"`
	// For triggers 1 and 12 in seconds, for 2 in metres; default 0.
	Threshold *float64 `json:"threshold"`
	// true enables a webhook that was disabled after too many failures.
	IsEnabled *bool `json:"isEnabled"`
	// Whether events of connected organizations are wanted.
	CanReceiveConnectionEvents *bool `json:"canReceiveConnectionEvents"`
}

// Change returns what the request asks for.
func (b WebhookBody) Change() lastmile.WebhookChange {
	return lastmile.WebhookChange{
		Name: b.Name, URL: b.URL, Trigger: b.Trigger, Threshold: b.Threshold, Enabled: b.IsEnabled,
		CanReceiveConnectionEvents: b.CanReceiveConnectionEvents,
	}
}

// Notification is what a webhook was or is to be sent.
type Notification struct {
	// Id of the record.
	ID string `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Id of the webhook.
	Webhook lastmile.WebhookID `json:"webhook" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// The trigger of the event.
	TriggerID lastmile.Trigger `json:"triggerId"`
	// Id of the task of the event; null when there is none.
	TaskID *lastmile.TaskID `json:"taskId"`
	// When it was first due.
	Time Millis `json:"time" example:"1794700000000"`
	// pending, delivered or givenUp.
	State string `json:"state" example:"delivered"`
	// How often it was tried.
	Attempts int64 `json:"attempts" example:"1"`
	// When it is tried next; null when it is not.
	NextTime Millis `json:"nextTime" nullable:"true"`
}

// DetailedNotification is a notification, every attempt at it, and what is sent.
type DetailedNotification struct {
	Notification
	// The attempts, oldest first.
	Log []Attempt `json:"log"`
	// What is sent, the same in every attempt.
	Body json.RawMessage `json:"body"`
}

// Attempt is one try at a notification.
type Attempt struct {
	// Counted from 1.
	Number int64 `json:"number" example:"1"`
	// When it began.
	Time Millis `json:"time" example:"1794700000000"`
	// Seconds until the response, or until the attempt was given up.
	Duration float64 `json:"duration" example:"0.042"`
	// HTTP status of the response; null when there was none. Only 200 is a success.
	Status *int `json:"status" example:"200"`
	// Why there was no complete response; null when there was one.
	Reason *string `json:"reason"`
}

// Redelivered is how many notifications are on their way again.
type Redelivered struct {
	// How many.
	Count int `json:"count" example:"1"`
}

// NewRedelivered returns how many notifications are sent again.
func NewRedelivered(n lastmile.Redelivered) Redelivered { return Redelivered{Count: int(n)} }

// NewNotification returns a notification in the form that is sent.
func NewNotification(n lastmile.Notification) Notification {
	return Notification{
		ID: n.ID, Webhook: n.Webhook, TriggerID: n.Trigger, TaskID: orNull(n.Task), Time: Millis(n.Due),
		State: n.State.String(), Attempts: n.Attempts, NextTime: Millis(n.Next),
	}
}

// NewDetailedNotification returns a notification with its attempts.
func NewDetailedNotification(d lastmile.DetailedNotification) DetailedNotification {
	return DetailedNotification{
		Notification: NewNotification(d.Notification), Body: d.Notification.Body,
		Log: Each(d.Attempts, func(a lastmile.Attempt) Attempt {
			return Attempt{
				Number: a.Number, Time: Millis(a.At), Duration: a.Took.Seconds(), Status: orNull(a.Status), Reason: orNull(a.Reason),
			}
		}),
	}
}

// NoBody is nothing needs to be sent.
type NoBody struct{}

// SinceBody is how far back to go.
type SinceBody struct {
	// From this time on; ever, when it is not sent.
	Since Millis `json:"since"`
}
