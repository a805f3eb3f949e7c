package adminapi

import (
	"dray/internal/lastmile"
	"dray/internal/messaging"
	"dray/internal/textmessage"
	"dray/internal/wire"
)

// Message is a text message.
type Message struct {
	// ID of the message.
	ID lastmile.MessageID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Unix time in milliseconds at which the message was created.
	TimeCreated wire.Millis `json:"timeCreated" example:"1794700000000"`
	// Unix time in milliseconds at which the message was first sent; null if it was not.
	TimeSent wire.Millis `json:"timeSent" nullable:"true" example:"1794700001000"`
	// Kind of message: invitation for the invitation of a worker; taskStarted, taskEta, taskDelayed,
	// taskArrived, taskCompleted or taskFailed for a message to the recipient of a task.
	Kind string `json:"kind" example:"taskStarted"`
	// ID of the task that the message is about; null for an invitation.
	Task *lastmile.TaskID `json:"task"`
	// Phone number that the message is sent to.
	To lastmile.Phone `json:"to" example:"+12125550142"`
	// Text of the message; null for an invitation, which contains a password.
	Text *string `json:"text" example:"Example Couriers: Ada is on the way with your delivery."`
	// State of the message: queued, sending, sent, delivered, failed or suppressed.
	State string `json:"state" example:"delivered"`
	// Reason why the message failed or was suppressed; null otherwise.
	Reason *string `json:"reason" example:"too many messages to this number in an hour"`
}

// NewMessage returns a text message in its wire form.
func NewMessage(m textmessage.Message) Message {
	shown := Message{
		ID: m.ID, TimeCreated: wire.Millis(m.Created), TimeSent: wire.Millis(m.Sent), Kind: string(m.Kind), Task: wire.OrNull(m.Task), To: m.To,
		State: string(m.State), Reason: wire.OrNull(m.Reason),
	}
	if !m.Secret() {
		shown.Text = wire.OrNull(m.Body)
	}
	return shown
}

// MessageReply is a text message that a phone sent to the organization.
type MessageReply struct {
	// ID of the reply.
	ID lastmile.MessageID `json:"id" example:"Xz3FgN7wQpK2vRbT9mYc4HdL"`
	// Unix time in milliseconds at which the reply was received.
	Time wire.Millis `json:"time" example:"1794700000000"`
	// Phone number that the reply came from.
	From lastmile.Phone `json:"from" example:"+12125550142"`
	// Phone number that it was sent to.
	To string `json:"to" example:"+12125550100"`
	// Text of the reply.
	Text string `json:"text" example:"Please ring twice."`
}

// NewMessageReply returns a reply in its wire form.
func NewMessageReply(r textmessage.Received) MessageReply {
	return MessageReply{ID: r.ID, Time: wire.Millis(r.At), From: r.From, To: r.To, Text: r.Body}
}

// MessageOptOut is a phone number that wants no text messages of the organization.
type MessageOptOut struct {
	// Phone number.
	Phone lastmile.Phone `json:"phone" example:"+12125550142"`
	// Unix time in milliseconds of the opt-out.
	Time wire.Millis `json:"time" example:"1794700000000"`
}

// NewMessageOptOut returns an opt-out in its wire form.
func NewMessageOptOut(o textmessage.OptOut) MessageOptOut {
	return MessageOptOut{Phone: o.Phone, Time: wire.Millis(o.At)}
}

// MessageTemplates are the texts of messages to recipients.
type MessageTemplates struct {
	// Two-letter code of the language of recipients without one.
	Language string `json:"language" example:"en"`
	// Languages that have built-in texts.
	Languages []string `json:"languages" example:"en"`
	// The texts, by kind and language.
	Templates []MessageTemplate `json:"templates"`
}

// MessageTemplate is the text of a kind of message in one language.
type MessageTemplate struct {
	// Kind of message: taskStarted, taskEta, taskDelayed, taskArrived, taskCompleted or taskFailed.
	Kind string `json:"kind" example:"taskStarted"`
	// Whether the text is for pickups, and not for drop-offs.
	Pickup bool `json:"pickup" example:"false"`
	// Two-letter language code (ISO 639-1).
	Language string `json:"language" example:"en"`
	// Whether messages of this kind are sent, in any language.
	IsEnabled bool `json:"isEnabled" example:"true"`
	// Whether the text is the organization's own, and not the built-in one.
	IsOwn bool `json:"isOwn" example:"false"`
	// The text, with placeholders in braces.
	Text string `json:"text" example:"{organization}: {worker} is on the way with your delivery. {tracking}"`
	// Placeholders that the text may have.
	Placeholders []string `json:"placeholders" example:"organization"`
	// The text as a recipient might get it.
	Preview MessagePreview `json:"preview"`
}

// MessagePreview is the text of a message for a fictitious task.
type MessagePreview struct {
	// The text.
	Text string `json:"text" example:"Example Couriers: Alex is on the way with your delivery."`
	// Encoding: GSM-7, or UCS-2 if a character is not in the GSM alphabet.
	Encoding string `json:"encoding" enum:"GSM-7,UCS-2" example:"GSM-7"`
	// Length of the text in units of the encoding.
	Length int `json:"length" example:"57"`
	// Number of segments that networks charge for.
	Segments int `json:"segments" example:"1"`
}

// MessageTemplatesBody changes texts of messages to recipients.
type MessageTemplatesBody struct {
	// Texts that change; others stay as they are.
	Templates []MessageTemplateBody `json:"templates" required:"true"`
}

// MessageTemplateBody changes the text of a kind of message in one language.
type MessageTemplateBody struct {
	// Kind of message: taskStarted, taskEta, taskDelayed, taskArrived, taskCompleted or taskFailed.
	Kind string `json:"kind" required:"true" example:"taskStarted"`
	// Whether the text is for pickups, and not for drop-offs; false by default.
	Pickup bool `json:"pickup" example:"false"`
	// Two-letter language code (ISO 639-1); by default, the organization's.
	Language *string `json:"language" example:"en"`
	// The text, with placeholders in braces; null restores the built-in text.
	Text wire.Optional[string] `json:"text" example:"{organization}: {worker} is coming. {tracking}"`
	// Whether messages of this kind are sent, in any language.
	IsEnabled *bool `json:"isEnabled" example:"true"`
}

// MessagePreviewBody is a text to preview.
type MessagePreviewBody struct {
	// Kind of message: taskStarted, taskEta, taskDelayed, taskArrived, taskCompleted or taskFailed.
	Kind string `json:"kind" required:"true" example:"taskStarted"`
	// Whether the text is for pickups, and not for drop-offs; false by default.
	Pickup bool `json:"pickup" example:"false"`
	// Two-letter language code (ISO 639-1); by default, the organization's.
	Language *string `json:"language" example:"en"`
	// The text; by default, the current one.
	Text *string `json:"text" example:"{organization}: {worker} is coming. {tracking}"`
}

// NewMessageTemplates returns texts in their wire form.
func NewMessageTemplates(t messaging.Templates) MessageTemplates {
	return MessageTemplates{
		Language: t.Language, Languages: textmessage.Languages,
		Templates: wire.Each(t.All, func(t messaging.Template) MessageTemplate {
			return MessageTemplate{
				Kind: string(t.Occasion.Kind), Pickup: t.Occasion.Pickup, Language: t.Language, IsEnabled: t.Enabled, IsOwn: t.Own, Text: t.Text,
				Placeholders: textmessage.Placeholders(t.Occasion.Kind), Preview: NewMessagePreview(t.Preview),
			}
		}),
	}
}

// NewMessagePreview returns a preview in its wire form.
func NewMessagePreview(text string) MessagePreview {
	encoding, length := textmessage.Encoding(text)
	return MessagePreview{Text: text, Encoding: encoding, Length: length, Segments: textmessage.Segments(text)}
}
