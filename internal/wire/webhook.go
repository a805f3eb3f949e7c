package wire

import (
	"encoding/json"

	"dray/internal/lastmile"
)

// Webhook is a webhook as lists show it.
type Webhook struct {
	NewWebhookBody
	Name                       string   `json:"name"`
	IsEnabled                  bool     `json:"isEnabled"`
	Threshold                  *float64 `json:"threshold,omitzero"`
	CanReceiveConnectionEvents bool     `json:"canReceiveConnectionEvents"`
}

// NewWebhookBody is a webhook in the answer that creates it.
type NewWebhookBody struct {
	ID      lastmile.WebhookID `json:"id"`
	Count   int64              `json:"count"`
	URL     string             `json:"url"`
	Trigger lastmile.Trigger   `json:"trigger"`
}

// NewWebhook returns a webhook in the form of lists.
func NewWebhook(h lastmile.Webhook) Webhook {
	return Webhook{
		NewWebhookBody: newNewWebhook(h), Name: h.Name, IsEnabled: h.Enabled, Threshold: h.Threshold,
		CanReceiveConnectionEvents: h.CanReceiveConnectionEvents,
	}
}

func newNewWebhook(h lastmile.Webhook) NewWebhookBody {
	return NewWebhookBody{ID: h.ID, Count: h.Count, URL: h.URL, Trigger: h.Trigger}
}

// WebhookBody is a webhook in a request.
type WebhookBody struct {
	Name                       *string  `json:"name"`
	URL                        *string  `json:"url"`
	Trigger                    *float64 `json:"trigger"`
	Threshold                  *float64 `json:"threshold"`
	IsEnabled                  *bool    `json:"isEnabled"`
	CanReceiveConnectionEvents *bool    `json:"canReceiveConnectionEvents"`
}

// Change returns what the request asks for.
func (b WebhookBody) Change() (lastmile.WebhookChange, error) {
	change := lastmile.WebhookChange{
		Name: b.Name, URL: b.URL, Threshold: b.Threshold, Enabled: b.IsEnabled,
		CanReceiveConnectionEvents: b.CanReceiveConnectionEvents,
	}
	if b.Trigger != nil {
		trigger := lastmile.Trigger(*b.Trigger)
		if float64(trigger) != *b.Trigger {
			return change, lastmile.Invalid("trigger %g does not exist", *b.Trigger)
		}
		change.Trigger = &trigger
	}
	return change, nil
}

// Notification is what a webhook was or is to be sent.
type Notification struct {
	ID        string             `json:"id"`
	Webhook   lastmile.WebhookID `json:"webhook"`
	TriggerID lastmile.Trigger   `json:"triggerId"`
	TaskID    *lastmile.TaskID   `json:"taskId"` // null when of no task
	Time      Millis             `json:"time"`
	State     string             `json:"state"`
	Attempts  int64              `json:"attempts"`
	NextTime  Millis             `json:"nextTime"` // null when there is no next attempt
}

// DetailedNotification is a notification with its attempts and its body.
type DetailedNotification struct {
	Notification
	Log  []Attempt       `json:"log"`
	Body json.RawMessage `json:"body"`
}

// Attempt is one try at a notification.
type Attempt struct {
	Number   int64   `json:"number"`
	Time     Millis  `json:"time"`
	Duration float64 `json:"duration"` // seconds
	Status   *int    `json:"status"`   // null when there was no answer
	Reason   *string `json:"reason"`   // null when there was an answer
}

// Redelivered is the answer to a request that sends notifications again.
type Redelivered struct {
	Count int `json:"count"`
}

// NewNotification returns a notification in the form that is sent.
func NewNotification(n lastmile.Notification) Notification {
	return Notification{
		ID: n.ID, Webhook: n.Webhook, TriggerID: n.Trigger, TaskID: orNull(n.Task), Time: Millis(n.Due),
		State: n.State.String(), Attempts: n.Attempts, NextTime: Millis(n.Next),
	}
}

func newDetailedNotification(d lastmile.DetailedNotification) DetailedNotification {
	return DetailedNotification{
		Notification: NewNotification(d.Notification), Body: d.Notification.Body,
		Log: each(d.Attempts, func(a lastmile.Attempt) Attempt {
			return Attempt{
				Number: a.Number, Time: Millis(a.At), Duration: a.Took.Seconds(), Status: orNull(a.Status), Reason: orNull(a.Reason),
			}
		}),
	}
}

// NoBody is the body of a request that needs none.
type NoBody struct{}

// SinceBody is a request for what happened since a time; null is ever.
type SinceBody struct {
	Since Millis `json:"since"`
}
