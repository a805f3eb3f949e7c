package lastmile

import (
	"math"
	"net/url"
	"slices"
	"time"
)

// WebhookID names a webhook.
type WebhookID string

// The terms on which webhooks are told, from the interface, "Retry" and
// "Limits".
const (
	RetryCycle           = 30 * time.Minute // between two attempts
	RetryFor             = 24 * time.Hour   // after which a notification is given up
	MaxFailureStreak     = 300              // more consecutive failures disable a webhook
	MaxWebhooks          = 100              // of an organization
	MaxThresholdWebhooks = 10               // of an organization, for each trigger with a threshold

	maxHookURL = 2_000
)

// Webhook is a server of an organization's that is told of one trigger.
type Webhook struct {
	ID                         WebhookID
	Organization               OrganizationID
	Created, Modified          time.Time
	Name                       string
	URL                        string
	Trigger                    Trigger
	Threshold                  *float64 // seconds or metres, by trigger; nil is as good as zero
	Count                      int64    // successful attempts
	Enabled                    bool
	FailureStreak              int64
	CanReceiveConnectionEvents bool
}

// WebhookChange is a webhook as sent: nil leaves as it is.
type WebhookChange struct {
	Name                       *string
	URL                        *string
	Trigger                    *Trigger
	Threshold                  *float64
	Enabled                    *bool
	CanReceiveConnectionEvents *bool
}

// NewWebhook makes a webhook. That its server answers is checked elsewhere.
func NewWebhook(id WebhookID, org OrganizationID, c WebhookChange, now time.Time) (Webhook, error) {
	switch {
	case c.URL == nil:
		return Webhook{}, Missing("url")
	case c.Trigger == nil:
		return Webhook{}, Missing("trigger")
	}
	h := Webhook{ID: id, Organization: org, Created: now, Enabled: true}
	err := h.Update(c, now)
	return h, err
}

// Update changes a webhook. Enabling it again forgets its failures.
func (h *Webhook) Update(c WebhookChange, now time.Time) error {
	set(&h.Name, c.Name)
	set(&h.URL, c.URL)
	set(&h.Trigger, c.Trigger)
	set(&h.CanReceiveConnectionEvents, c.CanReceiveConnectionEvents)
	if c.Threshold != nil {
		h.Threshold = c.Threshold
	}
	if c.Enabled != nil {
		if *c.Enabled && !h.Enabled {
			h.FailureStreak = 0
		}
		h.Enabled = *c.Enabled
	}
	h.Modified = later(h.Modified, now)
	return h.check()
}

func (h *Webhook) check() error {
	if err := firstError(CheckText("name", h.Name, MaxText), checkHookURL(h.URL)); err != nil {
		return err
	}
	if _, known := TriggerNames[h.Trigger]; !known {
		return Invalid("trigger %d does not exist", h.Trigger)
	}
	if h.Threshold != nil && (*h.Threshold < 0 || math.IsNaN(*h.Threshold) || math.IsInf(*h.Threshold, 0)) {
		return Invalid("threshold must not be negative")
	}
	return nil
}

// checkHookURL refuses what can never be a webhook's address.
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

// HasThreshold tells whether webhooks of the trigger have a threshold.
func (t Trigger) HasThreshold() bool {
	return t == TriggerTaskEta || t == TriggerTaskArrival || t == TriggerTaskDelayed
}

// CheckLimit refuses a webhook more than an organization may have. others are
// those it has.
func (h *Webhook) CheckLimit(others []Webhook) error {
	if len(others) >= MaxWebhooks {
		return Invalid("there are %d webhooks already, and no more are allowed", len(others))
	}
	return h.CheckTrigger(others)
}

// CheckTrigger refuses a webhook more than a trigger with a threshold may
// have.
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

// Succeeded records an attempt that was answered well.
func (h *Webhook) Succeeded() {
	h.Count++
	h.FailureStreak = 0
}

// Failed records an attempt at a notification that was due first at due. It
// returns when to try again, or the zero time to give the notification up. The
// last attempt is a day after the first, and a little more: each is some
// moments late, and the next counts from it.
func (h *Webhook) Failed(due, now time.Time) (again time.Time) {
	h.FailureStreak++
	if h.FailureStreak > MaxFailureStreak {
		h.Enabled = false
	}
	next := now.Add(RetryCycle)
	if !h.Enabled || next.After(due.Add(RetryFor+RetryCycle/2)) {
		return time.Time{}
	}
	return next
}

// NotificationState is how far a notification has come.
type NotificationState int

// The states of a notification.
const (
	NotificationPending   NotificationState = iota // still to be sent, or to be tried again
	NotificationDelivered                          // answered with 200
	NotificationGivenUp                            // tried for a day, or its webhook is disabled
)

// String names the state.
func (s NotificationState) String() string {
	return [...]string{"pending", "delivered", "givenUp"}[s]
}

// Notification is one event that one webhook is owed.
type Notification struct {
	ID           string
	Organization OrganizationID
	Webhook      WebhookID
	Event        string
	Trigger      Trigger
	Task         TaskID
	Sequence     int64 // of the event among its task's
	Due          time.Time
	Next         time.Time // when it is tried next; zero when no more
	Attempts     int64
	State        NotificationState
	Body         []byte // as it is sent
}

// Attempt is one try at a notification.
type Attempt struct {
	Organization OrganizationID
	Notification string
	Number       int64
	At           time.Time
	Took         time.Duration
	Status       int    // 0 when there was no answer
	Reason       string // why it failed; empty when delivered
}

// Delivered tells whether the attempt was answered well: with 200 and nothing
// else.
func (a Attempt) Delivered() bool { return a.Status == 200 && a.Reason == "" }

// Record notes the result of an attempt on the notification and its webhook.
func (n *Notification) Record(h *Webhook, a Attempt) {
	n.Attempts++
	if a.Delivered() {
		h.Succeeded()
		n.State, n.Next = NotificationDelivered, time.Time{}
		return
	}
	if n.Next = h.Failed(n.Due, a.At); n.Next.IsZero() {
		n.State = NotificationGivenUp
	}
}

// DetailedNotification is a notification with all attempts at it.
type DetailedNotification struct {
	Notification Notification
	Attempts     []Attempt
}

// Redelivered is how many notifications were made due again.
type Redelivered int

// ThresholdInterval is how often an active task is checked against the
// thresholds of webhooks.
const ThresholdInterval = 30 * time.Second

// Started is when the worker began the task; zero when not yet.
func (t *Task) Started() time.Time { return t.Completion.TimeOf("start") }

// Sighting is what an active task is held against thresholds by.
type Sighting struct {
	ETA      *time.Duration
	Distance *Meters // of the nearest that the worker came
	Delay    *time.Duration
}

// See makes a sighting of an active task: its estimates, and where the worker
// was since it was started.
func (t *Task) See(positions []Point) Sighting {
	s := Sighting{ETA: t.Estimates.ETA, Delay: t.Estimates.Delay}
	for _, p := range positions {
		if d := p.Distance(t.Destination.Location); s.Distance == nil || d < *s.Distance {
			s.Distance = &d
		}
	}
	return s
}

// Met tells whether the webhook's threshold is met (interface, "Triggers").
// Without one it is zero.
func (h Webhook) Met(s Sighting) bool {
	var threshold float64
	set(&threshold, h.Threshold)
	switch h.Trigger {
	case TriggerTaskEta:
		return s.ETA != nil && s.ETA.Seconds() <= threshold
	case TriggerTaskArrival:
		return s.Distance != nil && float64(*s.Distance) <= threshold
	case TriggerTaskDelayed:
		return s.Delay != nil && s.Delay.Seconds() >= threshold
	default:
		return false
	}
}

// Cross tells of a threshold that the task met, to some webhooks.
func (t *Task) Cross(trigger Trigger, s Sighting, hooks []WebhookID, at time.Time) Event {
	e := t.event(trigger, Actor{}, at)
	e.Webhooks = slices.Clone(hooks)
	switch trigger {
	case TriggerTaskEta:
		e.ETA = s.ETA
	case TriggerTaskArrival:
		e.Distance = s.Distance
	default:
		e.Delay = s.Delay
	}
	return e
}

// PredictDelay tells of a task that is not started and will be late.
func (t *Task) PredictDelay(at time.Time) Event {
	e := t.event(TriggerPredictedTaskDelay, Actor{}, at)
	e.Delay = t.Estimates.Delay
	return e
}

// Delayed tells of a route plan that does not keep to its times.
func (p *RoutePlan) Delayed(at time.Time) (Event, bool) {
	p.Assess(at)
	if p.Status != RoutePlanLate || p.State == RoutePlanCompleted {
		return Event{}, false
	}
	return p.event(TriggerRoutePlanDelayed, Actor{}, at), true
}
