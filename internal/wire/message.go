package wire

import (
	"dray/internal/lastmile"
	"dray/internal/textmessage"
)

// Message is a text message. Its text is not included because it may contain a password.
type Message struct {
	// ID of the message.
	ID lastmile.MessageID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Unix time in milliseconds at which the message was created.
	TimeCreated Millis `json:"timeCreated" example:"1794700000000"`
	// Kind of message: invitation for the invitation of a worker; taskStarted, taskEta, taskDelayed,
	// taskArrived, taskCompleted or taskFailed for a message to the recipient of a task.
	Kind string `json:"kind" example:"invitation"`
	// ID of the task that the message is about; null for an invitation.
	Task *lastmile.TaskID `json:"task"`
	// Phone number that the message is sent to.
	To lastmile.Phone `json:"to" example:"+12125550142"`
	// State of the message: queued, sending, sent, delivered, failed or suppressed.
	State string `json:"state" example:"suppressed"`
	// Reason why the message failed or was suppressed; null otherwise.
	Reason *string `json:"reason" example:"too many messages to this number in an hour"`
}

// NewMessage returns a text message in its wire form.
func NewMessage(m textmessage.Message) Message {
	return Message{
		ID: m.ID, TimeCreated: Millis(m.Created), Kind: string(m.Kind), Task: OrNull(m.Task), To: m.To,
		State: string(m.State), Reason: OrNull(m.Reason),
	}
}
