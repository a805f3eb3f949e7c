package messaging

import (
	"context"
	"log/slog"
	"slices"
	"strings"
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
	NewID      func() string
	PublicURL  string // URL of the server, for previews
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

// Query selects messages of a list, as sent.
type Query struct {
	textmessage.Query
	Phone string // as dialed in the country of the organization
}

// List returns a page of the messages of the caller's organization, newest first.
func (m *Messages) List(ctx context.Context, who lastmile.Principal, q Query) (found []textmessage.Message, err error) {
	if q.State != "" && !slices.Contains(textmessage.States, q.State) {
		return nil, lastmile.Malformed("status must be one of %s, not %q", statesList(), lastmile.Truncate(string(q.State), 32))
	}
	if !q.From.IsZero() && !q.Until.IsZero() && !q.From.Before(q.Until) {
		return nil, lastmile.Invalid("from must be before to")
	}
	if err := checkBefore(q.Before); err != nil {
		return nil, err
	}
	q.Limit, q.Manager = pageSize, who.Manager()
	err = m.Store.Read(ctx, func(r Reader) (err error) {
		if q.To, err = m.phone(ctx, r, who, q.Phone); err != nil {
			return err
		}
		found, err = r.MessagesOf(ctx, who.Organization, q.Query)
		return err
	})
	return found, err
}

// checkBefore rejects an id that cannot be that of a message.
func checkBefore(id lastmile.MessageID) error {
	if id != "" && !lastmile.ValidID(string(id)) {
		return lastmile.Invalid("before must be the ID of the last message of the previous page, not %q", lastmile.Truncate(string(id), 32))
	}
	return nil
}

func statesList() string {
	names := make([]string, len(textmessage.States))
	for i, state := range textmessage.States {
		names[i] = string(state)
	}
	return strings.Join(names, ", ")
}

// phone parses a number as dialed in the country of the caller's organization; an
// empty one and a short code stay as they are.
func (m *Messages) phone(ctx context.Context, r Reader, who lastmile.Principal, raw string) (lastmile.Phone, error) {
	if raw == "" {
		return "", nil
	}
	org, err := r.Organization(ctx, who.Organization)
	if err != nil {
		return "", err
	}
	number, err := m.ParsePhone(raw, org.Country)
	if err != nil && isShortCode(raw) {
		return lastmile.Phone(raw), nil
	}
	return number, err
}

// isShortCode reports whether a number that is no phone number may be a short code, which has
// three to eight digits.
func isShortCode(raw string) bool {
	return len(raw) >= 3 && len(raw) <= 8 && strings.Trim(raw, "0123456789") == ""
}

// Replies returns a page of the text messages from phones to the caller's organization,
// newest first. If before is set, only older ones are returned; if phone is set, only those
// from that phone.
func (m *Messages) Replies(ctx context.Context, who lastmile.Principal, before lastmile.MessageID, phone string) (found []textmessage.Received, err error) {
	if err := checkBefore(before); err != nil {
		return nil, err
	}
	err = m.Store.Read(ctx, func(r Reader) error {
		from, err := m.phone(ctx, r, who, phone)
		if err != nil {
			return err
		}
		found, err = r.ReceivedBy(ctx, who.Organization, before, from, pageSize)
		return err
	})
	return found, err
}

// OptOuts returns a page of the phone numbers that want no messages of the caller's
// organization: those after a number, in order.
func (m *Messages) OptOuts(ctx context.Context, who lastmile.Principal, after string) (found []textmessage.OptOut, err error) {
	err = m.Store.Read(ctx, func(r Reader) (err error) {
		found, err = r.OptOuts(ctx, who.Organization, lastmile.Phone(after), pageSize)
		return err
	})
	return found, err
}

// EndOptOut ends the opt-out of a phone number from the messages of the caller's
// organization, as the reply START does.
func (m *Messages) EndOptOut(ctx context.Context, who lastmile.Principal, phone string) error {
	now := m.Now()
	return m.Store.Write(ctx, func(w Writer) error {
		number := lastmile.Phone(phone) // as listed; short codes do not parse
		_, found, err := w.OptOut(ctx, who.Organization, number)
		if err == nil && !found {
			if number, err = m.phone(ctx, w, who, phone); err != nil {
				return err
			}
			_, found, err = w.OptOut(ctx, who.Organization, number)
		}
		if err == nil && !found {
			err = lastmile.NotFound("opt-out of", string(number))
		}
		if err != nil {
			return err
		}
		return resume(ctx, w, who.Organization, number, now)
	})
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
