package store

import (
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/textmessage"
)

// MessageReader reads text messages, what organizations have set for them, and
// who wants none.
type MessageReader interface {
	// Messages lists text messages, oldest first.
	Messages(ctx context.Context, f MessageFilter) ([]textmessage.Message, error)
	// MessageByID finds a text message of any organization: gateways know none.
	MessageByID(ctx context.Context, id lastmile.MessageID) (textmessage.Message, error)
	// Texters lists the organizations that have sent a number text messages,
	// the one that did so last first.
	Texters(ctx context.Context, to lastmile.Phone) ([]Texter, error)

	// MessageSettings are what an organization has set for its text messages.
	MessageSettings(ctx context.Context, org lastmile.OrganizationID) (textmessage.Settings, error)
	// NotificationThresholds are when recipients of an organization are told
	// that the worker is near or late.
	NotificationThresholds(ctx context.Context, org lastmile.OrganizationID) (textmessage.Thresholds, error)
	// OptOut tells whether a number wants no text messages of an organization.
	OptOut(ctx context.Context, org lastmile.OrganizationID, phone lastmile.Phone) (o textmessage.OptOut, found bool, err error)

	// DueMessages lists text messages of all organizations that are to be sent,
	// each organization's first first: at most so many of each, and in all.
	// It begins with the organization after the given one and goes around.
	DueMessages(ctx context.Context, now time.Time, after lastmile.OrganizationID, each, limit int) ([]textmessage.Message, error)
	// SentTo counts the text messages that a number was sent since a time.
	SentTo(ctx context.Context, to lastmile.Phone, since time.Time) (int, error)
	// SentBy counts the text messages that an organization sent since a time.
	SentBy(ctx context.Context, org lastmile.OrganizationID, since time.Time) (int, error)
}

// MessageFilter chooses text messages; zero fields choose all.
type MessageFilter struct {
	Organization lastmile.OrganizationID
	To           lastmile.Phone
	State        textmessage.State
	Limit        int // the newest so many
}

// Texter is an organization that sends text messages to a number, and the
// sender it did so as.
type Texter struct {
	Organization lastmile.OrganizationID
	From         string
}

// MessageWriter saves text messages and what came of them.
type MessageWriter interface {
	// SaveMessage saves a new text message, unless it is about a task and its
	// receiver has had one of the kind.
	SaveMessage(ctx context.Context, m textmessage.Message) error
	// ClaimMessage lets nobody else send a due message until a time, counts an
	// attempt and returns the message as it is then. It tells whether it did:
	// not if somebody else was faster. Nobody may have used the claim before.
	ClaimMessage(ctx context.Context, m textmessage.Message, claim string, now, until time.Time) (textmessage.Message, bool, error)
	// SaveSent records what came of a message that was claimed. It tells
	// whether it did: not if the claim is another's by now.
	SaveSent(ctx context.Context, m textmessage.Message, claim string) (bool, error)
	// SaveReported records what a gateway says of a message.
	SaveReported(ctx context.Context, m textmessage.Message) error
	// ReleaseMessages ends all claims.
	ReleaseMessages(ctx context.Context, now time.Time) error
	// DeleteMessages forgets text messages that were made before a time and are
	// not to be sent, and replies that came before it, about so many of each at
	// most, and returns how many.
	DeleteMessages(ctx context.Context, before time.Time, most int) (int64, error)

	SaveMessageSettings(ctx context.Context, s textmessage.Settings) error
	SaveOptOut(ctx context.Context, o textmessage.OptOut) error
	DeleteOptOut(ctx context.Context, org lastmile.OrganizationID, phone lastmile.Phone) error
	// SaveReply notes that a reply came. It tells whether it did: not if the
	// same came before.
	SaveReply(ctx context.Context, r lastmile.Reply, now time.Time) (bool, error)
}
