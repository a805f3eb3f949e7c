package textmessage

import (
	"time"

	"dray/internal/lastmile"
)

// Kind is what a text message is about.
type Kind string

// The kinds of text messages: invitations of workers, and notifications of
// recipients about their tasks.
const (
	KindInvitation Kind = "invitation"
	KindStarted    Kind = "taskStarted"
	KindETA        Kind = "taskEta"
	KindArrived    Kind = "taskArrived"
	KindCompleted  Kind = "taskCompleted"
	KindFailed     Kind = "taskFailed"
	KindDelayed    Kind = "taskDelayed"
)

// RecipientKinds are the kinds that recipients receive, in the order of a
// task's life.
var RecipientKinds = []Kind{KindStarted, KindETA, KindDelayed, KindArrived, KindCompleted, KindFailed}

// lifetimes are the times after the event within which a message is still sent.
var lifetimes = map[Kind]time.Duration{
	KindInvitation: 72 * time.Hour, // as long as the password is valid
	KindStarted:    time.Hour,
	KindETA:        10 * time.Minute,
	KindDelayed:    30 * time.Minute,
	KindArrived:    10 * time.Minute,
	KindCompleted:  12 * time.Hour,
	KindFailed:     12 * time.Hour,
}

// State is the state of a text message.
type State string

// The states of text messages. The last three are final.
const (
	StateQueued     State = "queued"     // to be sent or retried
	StateSending    State = "sending"    // being sent
	StateSent       State = "sent"       // accepted by the gateway
	StateDelivered  State = "delivered"  // delivered to the phone, according to the gateway
	StateFailed     State = "failed"     // will not be delivered
	StateSuppressed State = "suppressed" // deliberately not sent
)

// States lists every state.
var States = []State{StateQueued, StateSending, StateSent, StateDelivered, StateFailed, StateSuppressed}

// Message is a text message (SMS). It is stored in the transaction of the
// change that causes it.
type Message struct {
	ID           lastmile.MessageID
	Organization lastmile.OrganizationID
	Kind         Kind
	Task         lastmile.TaskID // the recipient's task; empty for invitations
	From         string          // number or name of the sender; empty for the gateway's default
	To           lastmile.Phone
	Body         string // empty if it contained a secret and was sent
	Created      time.Time
	Expires      time.Time // not sent after this time

	State     State
	Reason    string // why it failed or was suppressed
	Gateway   string // name of the gateway of the last attempt
	GatewayID string // id of the message at the gateway
	Attempts  int64
	Uncertain int64     // attempts that may have succeeded
	Claim     string    // token of the process that sends it
	Next      time.Time // when to send it or, if claimed, when the claim expires; zero for never
	Sent      time.Time // time of the first attempt
}

// New returns a message about something that happened at a given time.
func New(id lastmile.MessageID, org lastmile.OrganizationID, kind Kind, to lastmile.Phone, body string, at, now time.Time) Message {
	return Message{
		ID: id, Organization: org, Kind: kind, To: to, Body: body, Created: now, Expires: at.Add(lifetimes[kind]),
		State: StateQueued, Next: now,
	}
}

// NewInvitation returns the message that contains a worker's temporary password.
func NewInvitation(id lastmile.MessageID, org lastmile.Organization, w lastmile.Worker, password, appURL string, now time.Time) Message {
	return New(id, org.ID, KindInvitation, w.Phone,
		lastmile.PlainName(org.Name)+" invites you to drive. Open "+appURL+" and sign in with this phone number and the temporary password "+
			password+" within 72 hours.", now, now)
}

// Secret reports whether the body must not be shown to anyone but the receiver.
func (m *Message) Secret() bool { return m.Kind == KindInvitation }

// KindFor returns the kind of message that the recipient of a task gets for an
// event; empty for none. Events for particular webhooks, because of their
// threshold or as a test, cause no message.
func KindFor(e lastmile.Event) Kind {
	if e.Task == nil || e.Task.Recipient == nil || e.Test || e.Webhooks != nil {
		return ""
	}
	switch e.Trigger { //nolint:exhaustive // the others are nothing to a recipient
	case lastmile.TriggerTaskStarted:
		return KindStarted
	case lastmile.TriggerTaskEta:
		return KindETA
	case lastmile.TriggerTaskDelayed:
		return KindDelayed
	case lastmile.TriggerTaskCompleted:
		return KindCompleted
	case lastmile.TriggerTaskFailed:
		return KindFailed
	case lastmile.TriggerTaskUpdated:
		if steps := e.Task.Completion.Events; len(steps) > 0 {
			if last := steps[len(steps)-1]; last.Name == "arrival" && last.At.Equal(e.At) {
				return KindArrived
			}
		}
	}
	return ""
}

// WantsMessages reports whether the recipient of a task may be sent messages. A
// task can disable messages, but not enable them for a recipient who disabled
// them.
func WantsMessages(t *lastmile.Task) bool {
	off := t.Overrides.RecipientSkipSMSNotifications
	return t.Recipient != nil && !t.Recipient.SkipSMSNotifications && (off == nil || !*off)
}

// Filter selects text messages; zero fields select all.
type Filter struct {
	Organization lastmile.OrganizationID
	To           lastmile.Phone
	State        State
	Limit        int // maximum number of messages, the newest ones
}

// Query selects a page of an organization's messages, the newest first; zero fields
// select all.
type Query struct {
	Before      lastmile.MessageID // only older ones
	Task        lastmile.TaskID
	To          lastmile.Phone
	State       State
	Unsent      bool             // those that failed or were suppressed
	From, Until time.Time        // created since From and before Until
	Manager     lastmile.AdminID // only what belongs to the teams that this administrator manages
	Limit       int
}

// Received is a text message from a phone, as one of the organizations that it is for
// sees it.
type Received struct {
	ID           lastmile.MessageID
	Organization lastmile.OrganizationID
	At           time.Time
	From         lastmile.Phone
	To           string
	Body         string
}
