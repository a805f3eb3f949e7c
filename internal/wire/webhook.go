package wire

import (
	"encoding/json"

	"dray/internal/lastmile"
)

// Webhook is a webhook: a URL that is notified of the events of one trigger.
type Webhook struct {
	NewWebhookBody
	// Name of the webhook; empty if there is none.
	Name string `json:"name"`
	// Whether the webhook is enabled. It is disabled after more than 300 consecutive failures.
	IsEnabled bool `json:"isEnabled"`
	// Number of failed attempts since the last successful one. Absent if it is 0.
	Failures int64 `json:"failures,omitzero" example:"3"`
	// Threshold in seconds or meters at which the webhook is notified. Absent if none is set.
	Threshold *float64 `json:"threshold,omitzero"`
	// Whether the webhook receives events of connected organizations.
	CanReceiveConnectionEvents bool `json:"canReceiveConnectionEvents"`
}

// NewWebhookBody is a webhook that was just created.
type NewWebhookBody struct {
	// ID of the webhook.
	ID lastmile.WebhookID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Number of notifications that the webhook has accepted.
	Count int64 `json:"count"`
	// URL to which notifications are sent.
	URL string `json:"url"`
	// Trigger of the events of which the webhook is notified.
	Trigger lastmile.Trigger `json:"trigger"`
}

// NewWebhook returns a webhook in its wire form.
func NewWebhook(h lastmile.Webhook) Webhook {
	return Webhook{
		NewWebhookBody: newWebhookBody(h), Name: h.Name, IsEnabled: h.Enabled, Failures: h.FailureStreak, Threshold: h.Threshold,
		CanReceiveConnectionEvents: h.CanReceiveConnectionEvents,
	}
}

// NewCreatedWebhook returns the response to the creation of a webhook.
func NewCreatedWebhook(made lastmile.CreatedRecord[lastmile.Webhook]) NewWebhookBody {
	return newWebhookBody(made.Record)
}

func newWebhookBody(h lastmile.Webhook) NewWebhookBody {
	return NewWebhookBody{ID: h.ID, Count: h.Count, URL: h.URL, Trigger: h.Trigger}
}

// WebhookBody is the body of a request to create or update a webhook.
type WebhookBody struct {
	// Name of the webhook.
	Name *string `json:"name"`
	// URL to which notifications are sent. Must use https and have a valid certificate.
	URL *string `json:"url"`
	// Trigger of the events of which the webhook is notified; see the list of triggers.
	Trigger *lastmile.Trigger `json:"trigger"`
	// Threshold of the trigger, in seconds for triggers 1 and 12 and in meters for trigger 2. Defaults
	// to 0.
	Threshold *float64 `json:"threshold"`
	// Whether the webhook is enabled. true also enables a webhook that was disabled after too many
	// failures.
	IsEnabled *bool `json:"isEnabled"`
	// Whether the webhook receives events of connected organizations.
	CanReceiveConnectionEvents *bool `json:"canReceiveConnectionEvents"`
}

// Change returns the requested change.
func (b WebhookBody) Change() lastmile.WebhookChange {
	return lastmile.WebhookChange{
		Name: b.Name, URL: b.URL, Trigger: b.Trigger, Threshold: b.Threshold, Enabled: b.IsEnabled,
		CanReceiveConnectionEvents: b.CanReceiveConnectionEvents,
	}
}

// Notification is a notification that was sent or will be sent to a webhook.
type Notification struct {
	// ID of the notification.
	ID string `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// ID of the webhook.
	Webhook lastmile.WebhookID `json:"webhook" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Trigger of the event.
	TriggerID lastmile.Trigger `json:"triggerId"`
	// ID of the task that the event is about; null if there is none.
	TaskID *lastmile.TaskID `json:"taskId"`
	// Unix time in milliseconds at which the notification was first due.
	Time Millis `json:"time" example:"1794700000000"`
	// State of the notification: pending, delivered or givenUp.
	State string `json:"state" example:"delivered"`
	// Number of delivery attempts so far.
	Attempts int64 `json:"attempts" example:"1"`
	// Unix time in milliseconds of the next attempt; null if there will be none.
	NextTime Millis `json:"nextTime" nullable:"true"`
}

// DetailedNotification is a notification with the latest 200 delivery attempts and its body.
type DetailedNotification struct {
	Notification
	// Delivery attempts, oldest first.
	Log []Attempt `json:"log"`
	// Body of the request, which is the same in every attempt.
	Body json.RawMessage `json:"body"`
}

// Attempt is an attempt to deliver a notification.
type Attempt struct {
	// Number of the attempt, starting at 1.
	Number int64 `json:"number" example:"1"`
	// Unix time in milliseconds at which the attempt began.
	Time Millis `json:"time" example:"1794700000000"`
	// Time in seconds until the response arrived or the attempt was abandoned.
	Duration float64 `json:"duration" example:"0.042"`
	// HTTP status of the response; null if there was none. Only 200 counts as success.
	Status *int `json:"status" example:"200"`
	// Reason why no complete response was received; null if one was.
	Reason *string `json:"reason"`
	// Beginning of the response's body, up to 1 KiB, if its status is not 200; null if it is
	// empty or there was no response. Kept for the first five attempts and the last.
	Response *string `json:"response"`
}

// TaskNotification is a notification of an event of a task.
type TaskNotification struct {
	Notification
	// Name of the webhook; empty if there is none.
	WebhookName string `json:"webhookName" example:"new tasks"`
	// Latest delivery attempt; null if there was none.
	LastAttempt *Attempt `json:"lastAttempt"`
}

// Redelivered is the number of notifications that are sent again.
type Redelivered struct {
	// Number of notifications.
	Count int `json:"count" example:"1"`
}

// NewRedelivered returns the number of notifications that are sent again, in its wire form.
func NewRedelivered(n lastmile.Redelivered) Redelivered { return Redelivered{Count: int(n)} }

// NewNotification returns a notification in its wire form.
func NewNotification(n lastmile.Notification) Notification {
	return Notification{
		ID: n.ID, Webhook: n.Webhook, TriggerID: n.Trigger, TaskID: OrNull(n.Task), Time: Millis(n.Due),
		State: n.State.String(), Attempts: n.Attempts, NextTime: Millis(n.Next),
	}
}

// NewDetailedNotification returns a notification with its attempts.
func NewDetailedNotification(d lastmile.DetailedNotification) DetailedNotification {
	return DetailedNotification{
		Notification: NewNotification(d.Notification), Body: d.Notification.Body,
		Log: Each(d.Attempts, newAttempt),
	}
}

func newAttempt(a lastmile.Attempt) Attempt {
	return Attempt{Number: a.Number, Time: Millis(a.At), Duration: a.Took.Seconds(), Status: OrNull(a.Status), Reason: OrNull(a.Reason), Response: OrNull(a.Response)}
}

// NewTaskNotification returns a notification of an event of a task, with the name of its
// webhook and the last attempt. The Number of last is 0 if there was no attempt.
func NewTaskNotification(n lastmile.Notification, webhook string, last lastmile.Attempt) TaskNotification {
	shown := TaskNotification{Notification: NewNotification(n), WebhookName: webhook}
	if last.Number > 0 {
		attempt := newAttempt(last)
		shown.LastAttempt = &attempt
	}
	return shown
}

// NoBody is the body of a request that has no fields.
type NoBody struct{}

// RedeliverBody is the body of a request to send notifications again.
type RedeliverBody struct {
	// Unix time in milliseconds at which the period starts. If absent, the period has no start.
	From Millis `json:"from" example:"1794700000000"`
	// Unix time in milliseconds before which the period ends. If absent, the period has no end.
	To Millis `json:"to" example:"1794786400000"`
	// Whether to include notifications that were delivered. By default, only those that were given up
	// are sent again.
	Delivered bool `json:"delivered" example:"false"`
	// IDs of notifications, instead of a period.
	IDs []string `json:"ids"`
	// Alias of from.
	Since Millis `json:"since"`
}
