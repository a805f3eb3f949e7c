package messaging

import (
	"context"
	"log/slog"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/textmessage"
)

// Messages reads replies and delivery reports, and keeps the message settings of
// organizations.
type Messages struct {
	Store      store.Transactor[Reader, Writer]
	ParsePhone func(raw, country string) (lastmile.Phone, error)
	Now        func() time.Time
	Events     *events.Log
	Log        *slog.Logger
}

// Settings returns an organization and its message settings.
func (m *Messages) Settings(ctx context.Context, org lastmile.OrganizationID) (of lastmile.Organization, s textmessage.Settings, err error) {
	err = m.Store.Read(ctx, func(r Reader) (err error) {
		if of, err = r.Organization(ctx, org); err != nil {
			return err
		}
		s, err = r.MessageSettings(ctx, org)
		return err
	})
	return of, s, err
}

// pageSize is the number of messages in a page of a list.
const pageSize = 64

// List returns a page of an organization's messages, newest first: those older than
// the one before, or the newest. unsent selects those that failed or were
// suppressed.
func (m *Messages) List(ctx context.Context, who lastmile.Principal, before lastmile.MessageID, unsent bool) (found []textmessage.Message, err error) {
	err = m.Store.Read(ctx, func(r Reader) (err error) {
		found, err = r.MessagesOf(ctx, who.Organization, who.Manager(), before, unsent, pageSize)
		return err
	})
	return found, err
}

// Configure changes the message settings of an organization.
func (m *Messages) Configure(ctx context.Context, org lastmile.OrganizationID, change func(*textmessage.Settings) error) (s textmessage.Settings, err error) {
	err = m.Store.Write(ctx, func(w Writer) (err error) {
		if _, err = w.Organization(ctx, org); err != nil {
			return err
		}
		if s, err = w.MessageSettings(ctx, org); err != nil {
			return err
		}
		if err := change(&s); err != nil {
			return err
		}
		if err := s.Check(); err != nil {
			return err
		}
		return w.SaveMessageSettings(ctx, s)
	})
	return s, err
}
