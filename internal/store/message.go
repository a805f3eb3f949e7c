package store

import (
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/textmessage"
)

// MessageReader reads text messages, the settings of organizations for them, and
// opt-outs.
type MessageReader interface {
	// Messages lists text messages, oldest first.
	Messages(ctx context.Context, f MessageFilter) ([]textmessage.Message, error)
	// MessageByID finds a text message of any organization: gateways do not know
	// the organization.
	MessageByID(ctx context.Context, id lastmile.MessageID) (textmessage.Message, error)
	// Texters lists the organizations that have sent text messages to a number,
	// the latest first.
	Texters(ctx context.Context, to lastmile.Phone) ([]Texter, error)

	// MessageSettings returns the settings of an organization for its text
	// messages.
	MessageSettings(ctx context.Context, org lastmile.OrganizationID) (textmessage.Settings, error)
	// NotificationThresholds returns how near or late a worker is when the
	// recipients of an organization are notified.
	NotificationThresholds(ctx context.Context, org lastmile.OrganizationID) (textmessage.Thresholds, error)
	// OptOut returns the opt-out of a number from an organization's messages, and
	// reports whether there is one.
	OptOut(ctx context.Context, org lastmile.OrganizationID, phone lastmile.Phone) (o textmessage.OptOut, found bool, err error)

	// SentTo counts the text messages sent to a number since a time.
	SentTo(ctx context.Context, to lastmile.Phone, since time.Time) (int, error)
	// SentBy counts the text messages that an organization sent since a time.
	SentBy(ctx context.Context, org lastmile.OrganizationID, since time.Time) (int, error)
}

// MessageFilter selects text messages; zero fields select all.
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

// MessageWriter saves text messages and the results of sending them.
type MessageWriter interface {
	// SaveMessage saves a new text message, unless it is about a task and its
	// recipient has had one of the same kind about that task.
	SaveMessage(ctx context.Context, m textmessage.Message) error
	// BeginMessage saves that a message is being sent: its state, its attempts
	// and when it was first sent. The caller has its lease.
	BeginMessage(ctx context.Context, m textmessage.Message) error
	// SaveMessageResult saves the result of an attempt, and when to try again.
	// It runs in the transaction that ends the lease.
	SaveMessageResult(ctx context.Context, m textmessage.Message) error
	// SaveReported saves what a gateway reported about a message. It ends the
	// lease if there is one: a result is not recorded any more.
	SaveReported(ctx context.Context, m textmessage.Message) error
	// DeleteMessages deletes text messages older than a time that are not to be
	// sent, and replies older than it, up to about limit of each. It returns how
	// many it deleted.
	DeleteMessages(ctx context.Context, before time.Time, limit int) (int64, error)

	SaveMessageSettings(ctx context.Context, s textmessage.Settings) error
	SaveOptOut(ctx context.Context, o textmessage.OptOut) error
	DeleteOptOut(ctx context.Context, org lastmile.OrganizationID, phone lastmile.Phone) error
	// SaveReply records a reply, and reports whether it is new.
	SaveReply(ctx context.Context, r lastmile.Reply, now time.Time) (bool, error)
}
