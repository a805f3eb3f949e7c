package wire

import (
	"dray/internal/lastmile"
	"dray/internal/textmessage"
)

// Message is a text message, without its text, which may contain a password.
type Message struct {
	// Id of the record.
	ID lastmile.MessageID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// When it was written.
	TimeCreated Millis `json:"timeCreated" example:"1794700000000"`
	// invitation of a worker, or what its recipient is told about the task: taskStarted, taskEta,
	// taskDelayed, taskArrived, taskCompleted or taskFailed.
	Kind string `json:"kind" example:"invitation"`
	// The task that it is about; null for an invitation.
	Task *lastmile.TaskID `json:"task"`
	// The phone number that it goes to.
	To lastmile.Phone `json:"to" example:"+12125550142"`
	// queued, sending, sent, delivered, failed or suppressed.
	State string `json:"state" example:"suppressed"`
	// Why it failed or was suppressed; null when it was not.
	Reason *string `json:"reason" example:"too many messages to this number in an hour"`
}

// NewMessage returns a text message in the form that is sent.
func NewMessage(m textmessage.Message) Message {
	return Message{
		ID: m.ID, TimeCreated: Millis(m.Created), Kind: string(m.Kind), Task: orNull(m.Task), To: m.To,
		State: string(m.State), Reason: orNull(m.Reason),
	}
}
