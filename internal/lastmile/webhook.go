package lastmile

import (
	"math"
	"net/url"
	"time"
)

// WebhookID identifies a webhook.
type WebhookID string

// Limits and retries of webhooks, as the API defines them.
const (
	RetryInterval        = 30 * time.Minute // between two attempts
	RetryPeriod          = 24 * time.Hour   // after which a notification is abandoned
	MaxFailureStreak     = 300              // more consecutive failures than this disable a webhook
	MaxWebhooks          = 100              // per organization
	MaxThresholdWebhooks = 10               // per organization, for each trigger with a threshold

	maxHookURL = 2_000
)

// Webhook is a server of an organization that is notified of the events of one trigger.
type Webhook struct {
	ID                         WebhookID
	Organization               OrganizationID
	Created, Modified          time.Time
	Name                       string
	URL                        string
	Trigger                    Trigger
	Threshold                  *float64 // seconds or meters, depending on the trigger; nil means zero
	Count                      int64    // successful attempts
	Enabled                    bool
	FailureStreak              int64
	CanReceiveConnectionEvents bool
}

// WebhookChange is an update of a webhook. Nil fields stay unchanged.
type WebhookChange struct {
	Name                       *string
	URL                        *string
	Trigger                    *Trigger
	Threshold                  *float64
	Enabled                    *bool
	CanReceiveConnectionEvents *bool
}

// NewWebhook returns a new webhook. It does not validate the webhook's server.
func NewWebhook(id WebhookID, org OrganizationID, c WebhookChange, now time.Time) (Webhook, error) {
	switch {
	case c.URL == nil:
		return Webhook{}, Missing("url")
	case c.Trigger == nil:
		return Webhook{}, Missing("trigger")
	}
	h := Webhook{ID: id, Organization: org, Created: now, Enabled: true}
	_, err := h.Update(c, now)
	return h, err
}

// Update applies a change and reports whether the webhook is different now.
// Enabling a disabled webhook resets its failure streak.
func (h *Webhook) Update(c WebhookChange, now time.Time) (changed bool, err error) {
	before := *h
	Set(&h.Name, c.Name)
	Set(&h.URL, c.URL)
	Set(&h.Trigger, c.Trigger)
	Set(&h.CanReceiveConnectionEvents, c.CanReceiveConnectionEvents)
	if c.Threshold != nil {
		h.Threshold = c.Threshold
	}
	if c.Enabled != nil {
		if *c.Enabled && !h.Enabled {
			h.FailureStreak = 0
		}
		h.Enabled = *c.Enabled
	}
	return touch(&h.Modified, before, *h, now), h.check()
}

func (h *Webhook) check() error {
	if err := FirstError(CheckText("name", h.Name, MaxText), checkHookURL(h.URL)); err != nil {
		return err
	}
	if _, known := TriggerNames[h.Trigger]; !known {
		return Invalid("trigger %d does not exist; GET /triggers lists those that do", h.Trigger)
	}
	if h.Threshold != nil && (*h.Threshold < 0 || math.IsNaN(*h.Threshold) || math.IsInf(*h.Threshold, 0)) {
		return Invalid("threshold must not be negative")
	}
	return nil
}

// checkHookURL rejects an invalid webhook URL.
func checkHookURL(raw string) error {
	if raw == "" {
		return Missing("url")
	}
	if len(raw) > maxHookURL {
		return InvalidHook("url is longer than %d characters", maxHookURL)
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Host == "" || u.Opaque != "":
		return InvalidHook("url must be an https address")
	case u.Scheme != "https":
		return InvalidHook("url must begin with https://")
	case u.User != nil:
		return InvalidHook("url must not hold a user name or password")
	case u.Fragment != "":
		return InvalidHook("url must not have a fragment")
	}
	return nil
}

// HasThreshold reports whether webhooks of the trigger have a threshold.
func (t Trigger) HasThreshold() bool {
	return t == TriggerTaskEta || t == TriggerTaskArrival || t == TriggerTaskDelayed
}

// CheckLimit rejects a new webhook that exceeds the limits of an organization. others are the
// existing webhooks of the organization.
func (h *Webhook) CheckLimit(others []Webhook) error {
	if len(others) >= MaxWebhooks {
		return Invalid("there are %d webhooks already, and no more are allowed", len(others))
	}
	return h.CheckTrigger(others)
}

// CheckTrigger rejects a webhook that exceeds the limit of its trigger, which triggers with a
// threshold have.
func (h *Webhook) CheckTrigger(others []Webhook) error {
	same := 0
	for _, o := range others {
		if o.ID != h.ID && o.Trigger == h.Trigger {
			same++
		}
	}
	if h.Trigger.HasThreshold() && same >= MaxThresholdWebhooks {
		return Invalid("there are %d webhooks for trigger %d already, and no more are allowed", same, h.Trigger)
	}
	return nil
}

// Succeeded records a successful attempt.
func (h *Webhook) Succeeded() {
	h.Count++
	h.FailureStreak = 0
}

// Failed records a failed attempt to send a notification that first became due at due. It
// returns the time of the next attempt, or zero to give up: after a day and the attempts of a
// day, which take longer if each is a little late or no node was running.
func (h *Webhook) Failed(due time.Time, attempts int64, now time.Time) (again time.Time) {
	h.FailureStreak++
	if h.FailureStreak > MaxFailureStreak {
		h.Enabled = false
	}
	next := now.Add(RetryInterval)
	if !h.Enabled || attempts > int64(RetryPeriod/RetryInterval) && next.After(due.Add(RetryPeriod+RetryInterval/2)) {
		return time.Time{}
	}
	return next
}

// NotificationState is the state of a notification.
type NotificationState int

// The states of a notification.
const (
	NotificationPending   NotificationState = iota // to be sent or retried
	NotificationDelivered                          // the response was 200
	NotificationGivenUp                            // retried for a day, or the webhook is disabled
)

// String returns the name of the state.
func (s NotificationState) String() string {
	return [...]string{"pending", "delivered", "givenUp"}[s]
}

// Notification is an event to be sent to a webhook.
type Notification struct {
	ID           string
	Organization OrganizationID
	Webhook      WebhookID
	Event        string
	Trigger      Trigger
	Task         TaskID
	Sequence     int64 // sequence number of the event within its task
	Due          time.Time
	Next         time.Time // time of the next attempt; zero for none
	Attempts     int64
	State        NotificationState
	Body         []byte // the request body
}

// Attempt is one attempt to send a notification.
type Attempt struct {
	Organization     OrganizationID
	Notification     string
	Number           int64
	At               time.Time
	Took             time.Duration
	Status           int    // HTTP status; 0 without a response
	Reason, Response string // why it failed, and the beginning of the response; empty if delivered
}

// Delivered reports whether the attempt got a 200 response.
func (a Attempt) Delivered() bool { return a.Status == 200 && a.Reason == "" }

// Record applies the result of an attempt to the notification and its webhook.
func (n *Notification) Record(h *Webhook, a Attempt) {
	n.Attempts++
	if a.Delivered() {
		h.Succeeded()
		n.State, n.Next = NotificationDelivered, time.Time{}
		return
	}
	if n.Next = h.Failed(n.Due, n.Attempts, a.At); n.Next.IsZero() {
		n.State = NotificationGivenUp
	}
}

// DetailedNotification is a notification with its latest attempts.
type DetailedNotification struct {
	Notification Notification
	Attempts     []Attempt
}

// Redelivered is the number of notifications scheduled for redelivery.
type Redelivered int

// ThresholdInterval is the interval at which active tasks are compared with the thresholds of
// webhooks.
const ThresholdInterval = 30 * time.Second

// Started returns when the worker started the task; zero if not yet.
func (t *Task) Started() time.Time { return t.Completion.TimeOf("start") }

// Covers reports whether the webhook is notified of the events of a task. For tasks that a
// connection placed with the webhook's organization and that belong to no order, it must have
// CanReceiveConnectionEvents set.
func (h Webhook) Covers(t *Task) bool {
	return t.Origin == "" || h.Organization != t.Organization || h.CanReceiveConnectionEvents || t.OrderShortID != ""
}

// Notice returns an event that no caller caused.
func (t *Task) Notice(trigger Trigger, at time.Time) Event { return t.event(trigger, Actor{}, at) }

// DelayedEvent returns the event of a late route plan, and whether the plan is late and not
// completed.
func (p *RoutePlan) DelayedEvent(at time.Time) (Event, bool) {
	p.Assess(at)
	if p.Status != RoutePlanLate || p.State == RoutePlanCompleted {
		return Event{}, false
	}
	return p.event(TriggerRoutePlanDelayed, Actor{}, at), true
}
