package messaging

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/textmessage"
)

// Desk writes the text messages of all organizations and reads the answers.
type Desk struct {
	Store      store.Store
	ParsePhone func(raw, country string) (lastmile.Phone, error)
	Now        func() time.Time
	NewID      func() string
	Log        *slog.Logger
}

// Notify saves the messages that events owe to recipients. It runs in the
// transaction of the events.
func (d *Desk) Notify(ctx context.Context, w store.Writer, events []lastmile.Event) error {
	for _, e := range events {
		kind := textmessage.KindFor(e)
		if kind == "" || !textmessage.WantsMessages(e.Task) {
			continue
		}
		m, owed, err := d.write(ctx, w, kind, e)
		if err != nil {
			return err
		}
		if !owed {
			continue
		}
		if err := w.SaveMessage(ctx, m); err != nil {
			return err
		}
	}
	return nil
}

// write writes the message that an event owes, unless the organization or the
// recipient wants none, or it is too late for it.
func (d *Desk) write(ctx context.Context, r store.Reader, kind textmessage.Kind, e lastmile.Event) (m textmessage.Message, owed bool, err error) {
	task, now := *e.Task, d.Now()
	settings, err := r.MessageSettings(ctx, e.Organization)
	if err != nil || !settings.On(textmessage.Occasion{Kind: kind, Pickup: task.Pickup}) {
		return m, false, err
	}
	if _, out, err := r.OptOut(ctx, e.Organization, task.Recipient.Phone); err != nil || out {
		return m, false, err
	}
	task.Estimates.ETA = cmp.Or(e.ETA, task.Estimates.ETA)
	task.Estimates.Delay = cmp.Or(e.Delay, task.Estimates.Delay)
	told := textmessage.Notice{Kind: kind, Task: task}
	if told.Merchant, err = r.Organization(ctx, task.Merchant); err != nil {
		return m, false, err
	}
	told.Country = told.Merchant.Country
	if task.Merchant != e.Organization {
		own, err := r.Organization(ctx, e.Organization)
		if err != nil {
			return m, false, err
		}
		told.Country = own.Country
	}
	if told.Worker, err = workerName(ctx, r, e); err != nil {
		return m, false, err
	}
	m = textmessage.New(lastmile.MessageID(d.NewID()), e.Organization, kind, task.Recipient.Phone, settings.Compose(told), e.At, now)
	m.Task, m.From = task.ID, settings.From
	return m, m.Body != "" && now.Before(m.Expires), nil
}

// workerName is how recipients know the worker of a task; empty when there is
// none any more.
func workerName(ctx context.Context, r store.Reader, e lastmile.Event) (string, error) {
	worker := e.Worker
	if worker == nil {
		if e.Task.Worker == "" {
			return "", nil
		}
		found, err := r.Worker(ctx, e.Organization, e.Task.Worker)
		if lastmile.IsNotFound(err) {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		worker = &found
	}
	return cmp.Or(worker.DisplayName, worker.Name), nil
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
