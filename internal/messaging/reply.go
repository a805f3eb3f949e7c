package messaging

import (
	"context"
	"slices"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/textmessage"
)

// Receive handles a reply from a phone. It ignores duplicate deliveries of a reply.
// STOP and START turn messages off and on; any other reply is reported to the
// organization that wrote last. Each organization can list the replies to it.
func (m *Messages) Receive(ctx context.Context, reply lastmile.Reply) error {
	if err := reply.Check(); err != nil {
		return err
	}
	if phone, err := m.ParsePhone(string(reply.From), ""); err == nil {
		reply.From = phone // short codes do not parse and stay as they are
	}
	now := m.Now()
	return m.Store.Write(ctx, func(w Writer) error {
		isNew, err := w.SaveReply(ctx, reply, now)
		if err != nil || !isNew {
			return err
		}
		addressees, err := m.addressees(ctx, w, reply)
		if err != nil {
			return err
		}
		if len(addressees) == 0 {
			m.Log.InfoContext(ctx, "a reply by text message that belongs to no organization", "gateway", reply.Gateway)
			return nil
		}
		if !textmessage.IsStop(reply) && !textmessage.IsStart(reply) {
			addressees = addressees[:1]
		}
		err = each(addressees, func(org lastmile.OrganizationID) error {
			return w.SaveReceived(ctx, textmessage.Received{
				ID: lastmile.MessageID(m.NewID()), Organization: org, At: now, From: reply.From, To: reply.To, Body: reply.Body,
			})
		})
		if err != nil {
			return err
		}
		switch {
		case textmessage.IsStop(reply):
			return each(addressees, func(org lastmile.OrganizationID) error { return stop(ctx, w, m.Events, org, reply, now) })
		case textmessage.IsStart(reply):
			return each(addressees, func(org lastmile.OrganizationID) error { return resume(ctx, w, org, reply.From, now) })
		}
		return appendEvent(ctx, w, m.Events, lastmile.Event{Organization: addressees[0], Trigger: lastmile.TriggerSMSRecipientResponseMissed, Reply: &reply}, now)
	})
}

func each(orgs []lastmile.OrganizationID, do func(lastmile.OrganizationID) error) error {
	for _, org := range orgs {
		if err := do(org); err != nil {
			return err
		}
	}
	return nil
}

// addressees returns the organizations that a reply is for, the likeliest first:
// those that sent messages to the phone from the number replied to; if there is
// none, those that sent it messages from any number; else those that have a
// recipient with this phone.
func (m *Messages) addressees(ctx context.Context, r Reader, reply lastmile.Reply) ([]lastmile.OrganizationID, error) {
	texters, err := r.Texters(ctx, reply.From)
	if err != nil {
		return nil, err
	}
	var wrote, fromNumber []lastmile.OrganizationID
	for _, t := range texters {
		wrote = append(wrote, t.Organization)
		if t.From == reply.To {
			fromNumber = append(fromNumber, t.Organization)
		}
	}
	if len(fromNumber) > 0 {
		wrote = fromNumber
	}
	if len(wrote) > 0 {
		return distinct(wrote), nil
	}
	return r.RecipientOf(ctx, reply.From)
}

// distinct removes duplicates and keeps the order.
func distinct(orgs []lastmile.OrganizationID) (some []lastmile.OrganizationID) {
	for _, org := range orgs {
		if !slices.Contains(some, org) {
			some = append(some, org)
		}
	}
	return some
}

// stop records that a phone opted out of the messages of an organization, and
// appends an event for each of its recipients with that phone.
func stop(ctx context.Context, w Writer, log *events.Log, org lastmile.OrganizationID, reply lastmile.Reply, now time.Time) error {
	if _, already, err := w.OptOut(ctx, org, reply.From); err != nil || already {
		return err
	}
	recipients, err := w.Recipients(ctx, org, store.RecipientFilter{Phone: reply.From})
	if err != nil {
		return err
	}
	out := textmessage.OptOut{Organization: org, Phone: reply.From, At: now}
	for _, r := range recipients {
		if !r.SkipSMSNotifications {
			out.Muted = true
			if err := mute(ctx, w, &r, true, now); err != nil {
				return err
			}
		}
		err := appendEvent(ctx, w, log, lastmile.Event{
			Organization: org, Trigger: lastmile.TriggerSMSRecipientOptOut, Reply: &reply, Recipient: &r,
		}, now)
		if err != nil {
			return err
		}
	}
	return w.SaveOptOut(ctx, out)
}

// optOut records an opt-out that the gateway reports for the number of a message.
// The reply in its events has no text.
func optOut(ctx context.Context, w Writer, log *events.Log, m textmessage.Message, now time.Time) error {
	return stop(ctx, w, log, m.Organization, lastmile.Reply{Gateway: m.Gateway, From: m.To, To: m.From}, now)
}

// resume ends the opt-out of a phone.
func resume(ctx context.Context, w Writer, org lastmile.OrganizationID, phone lastmile.Phone, now time.Time) error {
	out, found, err := w.OptOut(ctx, org, phone)
	if err != nil || !found {
		return err
	}
	if out.Muted { // otherwise the organization turned messages off itself
		recipients, err := w.Recipients(ctx, org, store.RecipientFilter{Phone: phone})
		if err != nil {
			return err
		}
		for _, r := range recipients {
			if err := mute(ctx, w, &r, false, now); err != nil {
				return err
			}
		}
	}
	return w.DeleteOptOut(ctx, org, phone)
}

// mute turns messages to a recipient off or on.
func mute(ctx context.Context, w Writer, r *lastmile.Recipient, off bool, now time.Time) error {
	changed, err := r.Update(lastmile.RecipientChange{SkipSMSNotifications: &off}, now)
	if err != nil || !changed {
		return err
	}
	return w.SaveRecipient(ctx, *r)
}

func appendEvent(ctx context.Context, w Writer, log *events.Log, e lastmile.Event, now time.Time) error {
	e.At = now
	return log.Append(ctx, w, e)
}

// Report records the delivery report of a gateway.
func (m *Messages) Report(ctx context.Context, r textmessage.DeliveryReport) error {
	now := m.Now()
	return m.Store.Write(ctx, func(w Writer) error {
		message, err := w.MessageByID(ctx, r.Message)
		if err != nil || !message.Report(r) {
			return err
		}
		if r.OptedOut {
			if err := optOut(ctx, w, m.Events, message, now); err != nil {
				return err
			}
		}
		return w.SaveReported(ctx, message)
	})
}
