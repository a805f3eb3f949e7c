package messaging

import (
	"context"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/textmessage"
	"dray/internal/work"
)

// Reader is what the package reads in a transaction.
type Reader interface {
	work.Reader
	// EqualMessages lists other messages of any organization with the same text to the
	// same number that were first sent at most a day before m.
	EqualMessages(ctx context.Context, m textmessage.Message) ([]textmessage.Message, error)
	// MessageAbout returns the message of a kind about a task to a number, and
	// reports whether there is one.
	MessageAbout(ctx context.Context, org lastmile.OrganizationID, task lastmile.TaskID, kind textmessage.Kind, to lastmile.Phone) (m textmessage.Message, found bool, err error)
	// MessageByID finds a text message of any organization: gateways do not know
	// the organization.
	MessageByID(ctx context.Context, id lastmile.MessageID) (textmessage.Message, error)
	// MessageSettings returns the settings of an organization for its text
	// messages.
	MessageSettings(ctx context.Context, org lastmile.OrganizationID) (textmessage.Settings, error)
	// MessagesOf lists messages of an organization, newest first.
	MessagesOf(ctx context.Context, org lastmile.OrganizationID, q textmessage.Query) ([]textmessage.Message, error)
	// OptOut returns the opt-out of a number from an organization's messages,
	// and reports whether there is one.
	OptOut(ctx context.Context, org lastmile.OrganizationID, phone lastmile.Phone) (o textmessage.OptOut, found bool, err error)
	// OptOuts lists opt-outs from an organization's messages, ordered by phone
	// number, up to limit: those after a number.
	OptOuts(ctx context.Context, org lastmile.OrganizationID, after lastmile.Phone, limit int) ([]textmessage.OptOut, error)
	// Organization returns any organization, not only the caller's.
	Organization(ctx context.Context, id lastmile.OrganizationID) (lastmile.Organization, error)
	// Promised returns the arrival that was estimated when the worker started a task;
	// zero if there is none.
	Promised(ctx context.Context, org lastmile.OrganizationID, task lastmile.TaskID) (time.Time, error)
	// ReceivedBy lists text messages from phones to an organization, newest first,
	// up to limit. If before is set, it lists only older ones; if from is set, only
	// those from that phone.
	ReceivedBy(ctx context.Context, org lastmile.OrganizationID, before lastmile.MessageID, from lastmile.Phone, limit int) ([]textmessage.Received, error)
	// RecipientOf lists the organizations that have a recipient with a number, oldest first.
	RecipientOf(ctx context.Context, phone lastmile.Phone) ([]lastmile.OrganizationID, error)
	// Recipients lists recipients, newest first.
	Recipients(ctx context.Context, org lastmile.OrganizationID, f store.RecipientFilter) ([]lastmile.Recipient, error)
	// SentBy counts the text messages that an organization sent since a time.
	SentBy(ctx context.Context, org lastmile.OrganizationID, since time.Time) (int, error)
	// SentTo counts the text messages sent to a number since a time: those of an
	// organization and those of all organizations.
	SentTo(ctx context.Context, org lastmile.OrganizationID, to lastmile.Phone, since time.Time) (own, all int, err error)
	// Texters lists the organizations that have sent text messages to a number,
	// the latest first.
	Texters(ctx context.Context, to lastmile.Phone) ([]store.Texter, error)
	// Worker returns a worker with the first lastmile.MaxEventTasks tasks.
	Worker(ctx context.Context, org lastmile.OrganizationID, id lastmile.WorkerID) (lastmile.Worker, error)
}

// Writer is what the package reads and saves in a transaction.
type Writer interface {
	Reader
	work.Writer
	events.Transaction
	// BeginMessage saves that a message is being sent: its state, its attempts
	// and when it was first sent. The caller has its lease.
	BeginMessage(ctx context.Context, m textmessage.Message) error
	// DeleteOptOut deletes a number's opt-out.
	DeleteOptOut(ctx context.Context, org lastmile.OrganizationID, phone lastmile.Phone) error
	// SaveMessage saves a new text message, unless it is about a task and its
	// recipient has had one of the same kind about that task.
	SaveMessage(ctx context.Context, m textmessage.Message) error
	// SaveMessageResult saves the result of an attempt, and when to try again.
	// It runs in the transaction that ends the lease.
	SaveMessageResult(ctx context.Context, m textmessage.Message) error
	// SaveMessageSettings saves the settings of an organization for its text
	// messages.
	SaveMessageSettings(ctx context.Context, s textmessage.Settings) error
	// SaveOptOut saves a number's opt-out from an organization's messages.
	SaveOptOut(ctx context.Context, o textmessage.OptOut) error
	// SaveReceived saves a text message from a phone for an organization.
	SaveReceived(ctx context.Context, r textmessage.Received) error
	// SaveRecipient saves a recipient.
	SaveRecipient(ctx context.Context, r lastmile.Recipient) error
	// SaveReply records a reply, and reports whether it is new.
	SaveReply(ctx context.Context, r lastmile.Reply, now time.Time) (bool, error)
	// SaveReported saves what a gateway reported about a message. It ends the
	// lease if there is one, so that a result is not recorded any more.
	SaveReported(ctx context.Context, m textmessage.Message) error
}
