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

// Desk writes the text messages of all organizations and reads the answers.
type Desk struct {
	Store      store.Store
	ParsePhone func(raw, country string) (lastmile.Phone, error)
	Now        func() time.Time
	Events     *events.Log
	Log        *slog.Logger
}

// Settings reads what an organization has set for its messages.
func (d *Desk) Settings(ctx context.Context, org lastmile.OrganizationID) (of lastmile.Organization, s textmessage.Settings, err error) {
	err = d.Store.Read(ctx, func(r store.Reader) (err error) {
		if of, err = r.Organization(ctx, org); err != nil {
			return err
		}
		s, err = r.MessageSettings(ctx, org)
		return err
	})
	return of, s, err
}

// Configure changes what an organization has set for its messages.
func (d *Desk) Configure(ctx context.Context, org lastmile.OrganizationID, change func(*textmessage.Settings) error) (s textmessage.Settings, err error) {
	err = d.Store.Write(ctx, func(w store.Writer) (err error) {
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
