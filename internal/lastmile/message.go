package lastmile

import "time"

// MessageKind is what a text message is about.
type MessageKind string

// The kinds of text messages: the invitation of a worker, and what recipients
// are told of their tasks.
const (
	MessageInvitation MessageKind = "invitation"
	MessageStarted    MessageKind = "taskStarted"
	MessageETA        MessageKind = "taskEta"
	MessageArrived    MessageKind = "taskArrived"
	MessageCompleted  MessageKind = "taskCompleted"
	MessageFailed     MessageKind = "taskFailed"
	MessageDelayed    MessageKind = "taskDelayed"
)

// RecipientMessages are the kinds that recipients get, in the order of a task's
// life.
var RecipientMessages = []MessageKind{MessageStarted, MessageETA, MessageDelayed, MessageArrived, MessageCompleted, MessageFailed}

// lifetimes are how long after the fact a message is still worth sending.
var lifetimes = map[MessageKind]time.Duration{
	MessageInvitation: 72 * time.Hour, // as long as the password is good
	MessageStarted:    time.Hour,
	MessageETA:        10 * time.Minute,
	MessageDelayed:    30 * time.Minute,
	MessageArrived:    10 * time.Minute,
	MessageCompleted:  12 * time.Hour,
	MessageFailed:     12 * time.Hour,
}

// MessageState is how far a text message got.
type MessageState string

// The states of text messages. The last three are final.
const (
	TextQueued     MessageState = "queued"     // to be sent, or to be tried again
	TextSending    MessageState = "sending"    // a process is at it
	TextSent       MessageState = "sent"       // the gateway has it
	TextDelivered  MessageState = "delivered"  // the phone has it, says the gateway
	TextFailed     MessageState = "failed"     // it will not arrive
	TextSuppressed MessageState = "suppressed" // it was held back
)

// MessageStates are all of them.
var MessageStates = []MessageState{TextQueued, TextSending, TextSent, TextDelivered, TextFailed, TextSuppressed}

// TextMessage is an SMS the organization sends. It is stored in the
// transaction of the change that owes it.
type TextMessage struct {
	ID           MessageID
	Organization OrganizationID
	Kind         MessageKind
	Task         TaskID // whose recipient it is for; empty for invitations
	From         string // number or name of the sender; empty: the gateway's own
	To           Phone
	Body         string // empty when it held a secret and was sent
	Created      time.Time
	Expires      time.Time // not sent after this

	State     MessageState
	Reason    string // why it failed or was held back
	Gateway   string // that took it
	GatewayID string // by which the gateway knows it
	Attempts  int64
	Unsure    int64     // attempts of which nobody knows whether the gateway took them
	Claim     string    // of who sends it
	Next      time.Time // when it is to be sent; while claimed, when the claim ends; zero: never
	Sent      time.Time // when it was tried first
}

// NewTextMessage makes a message about something that happened at a time.
func NewTextMessage(id MessageID, org OrganizationID, kind MessageKind, to Phone, body string, at, now time.Time) TextMessage {
	return TextMessage{
		ID: id, Organization: org, Kind: kind, To: to, Body: body, Created: now, Expires: at.Add(lifetimes[kind]),
		State: TextQueued, Next: now,
	}
}

// Invitation is the message that gives a new worker the temporary password.
func Invitation(id MessageID, org Organization, w Worker, password, appURL string, now time.Time) TextMessage {
	return NewTextMessage(id, org.ID, MessageInvitation, w.Phone,
		plain(org.Name)+" invites you to drive. Open "+appURL+" and sign in with this phone number and the temporary password "+
			password+" within 72 hours.", now, now)
}

// Secret tells whether the body is for nobody's eyes but the receiver's.
func (m *TextMessage) Secret() bool { return m.Kind == MessageInvitation }

// KindFor returns the kind of message that an event sends to the recipient of
// its task; empty for none. Events for chosen webhooks only, because of their
// threshold or as a test, send none.
func KindFor(e Event) MessageKind {
	if e.Task == nil || e.Task.Recipient == nil || e.Test || e.Webhooks != nil {
		return ""
	}
	switch e.Trigger { //nolint:exhaustive // the others are nothing to a recipient
	case TriggerTaskStarted:
		return MessageStarted
	case TriggerTaskEta:
		return MessageETA
	case TriggerTaskDelayed:
		return MessageDelayed
	case TriggerTaskCompleted:
		return MessageCompleted
	case TriggerTaskFailed:
		return MessageFailed
	case TriggerTaskUpdated:
		if steps := e.Task.Completion.Events; len(steps) > 0 {
			if last := steps[len(steps)-1]; last.Name == "arrival" && last.At.Equal(e.At) {
				return MessageArrived
			}
		}
	}
	return ""
}

// WantsMessages reports whether the recipient of a task may be sent messages. A task
// can turn them off, and never on for a recipient who has none.
func WantsMessages(t *Task) bool {
	off := t.Overrides.RecipientSkipSMSNotifications
	return t.Recipient != nil && !t.Recipient.SkipSMSNotifications && (off == nil || !*off)
}
