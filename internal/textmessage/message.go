package textmessage

import (
	"time"

	"dray/internal/lastmile"
)

// Kind is what a text message is about.
type Kind string

// The kinds of text messages: the invitation of a worker, and what recipients
// are told of their tasks.
const (
	KindInvitation Kind = "invitation"
	KindStarted    Kind = "taskStarted"
	KindETA        Kind = "taskEta"
	KindArrived    Kind = "taskArrived"
	KindCompleted  Kind = "taskCompleted"
	KindFailed     Kind = "taskFailed"
	KindDelayed    Kind = "taskDelayed"
)

// RecipientKinds are the kinds that recipients get, in the order of a task's
// life.
var RecipientKinds = []Kind{KindStarted, KindETA, KindDelayed, KindArrived, KindCompleted, KindFailed}

// lifetimes are how long after the fact a message is still worth sending.
var lifetimes = map[Kind]time.Duration{
	KindInvitation: 72 * time.Hour, // as long as the password is good
	KindStarted:    time.Hour,
	KindETA:        10 * time.Minute,
	KindDelayed:    30 * time.Minute,
	KindArrived:    10 * time.Minute,
	KindCompleted:  12 * time.Hour,
	KindFailed:     12 * time.Hour,
}

// State is how far a text message got.
type State string

// The states of text messages. The last three are final.
const (
	StateQueued     State = "queued"     // to be sent, or to be tried again
	StateSending    State = "sending"    // a process is at it
	StateSent       State = "sent"       // the gateway has it
	StateDelivered  State = "delivered"  // the phone has it, says the gateway
	StateFailed     State = "failed"     // it will not arrive
	StateSuppressed State = "suppressed" // it was held back
)

// States are all of them.
var States = []State{StateQueued, StateSending, StateSent, StateDelivered, StateFailed, StateSuppressed}

// Message is an SMS the organization sends. It is stored in the
// transaction of the change that owes it.
type Message struct {
	ID           lastmile.MessageID
	Organization lastmile.OrganizationID
	Kind         Kind
	Task         lastmile.TaskID // whose recipient it is for; empty for invitations
	From         string          // number or name of the sender; empty: the gateway's own
	To           lastmile.Phone
	Body         string // empty when it held a secret and was sent
	Created      time.Time
	Expires      time.Time // not sent after this

	State     State
	Reason    string // why it failed or was held back
	Gateway   string // that took it
	GatewayID string // by which the gateway knows it
	Attempts  int64
	Unsure    int64     // attempts of which nobody knows whether the gateway took them
	Claim     string    // of who sends it
	Next      time.Time // when it is to be sent; while claimed, when the claim ends; zero: never
	Sent      time.Time // when it was tried first
}

// New makes a message about something that happened at a time.
func New(id lastmile.MessageID, org lastmile.OrganizationID, kind Kind, to lastmile.Phone, body string, at, now time.Time) Message {
	return Message{
		ID: id, Organization: org, Kind: kind, To: to, Body: body, Created: now, Expires: at.Add(lifetimes[kind]),
		State: StateQueued, Next: now,
	}
}

// NewInvitation returns the message that gives a new worker the temporary password.
func NewInvitation(id lastmile.MessageID, org lastmile.Organization, w lastmile.Worker, password, appURL string, now time.Time) Message {
	return New(id, org.ID, KindInvitation, w.Phone,
		lastmile.PlainName(org.Name)+" invites you to drive. Open "+appURL+" and sign in with this phone number and the temporary password "+
			password+" within 72 hours.", now, now)
}

// Secret tells whether the body is for nobody's eyes but the receiver's.
func (m *Message) Secret() bool { return m.Kind == KindInvitation }

// KindFor returns the kind of message that an event sends to the recipient of
// its task; empty for none. Events for chosen webhooks only, because of their
// threshold or as a test, send none.
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

// WantsMessages reports whether the recipient of a task may be sent messages. A task
// can turn them off, and never on for a recipient who has none.
func WantsMessages(t *lastmile.Task) bool {
	off := t.Overrides.RecipientSkipSMSNotifications
	return t.Recipient != nil && !t.Recipient.SkipSMSNotifications && (off == nil || !*off)
}
