package messaging

import (
	"context"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/textmessage"
)

// Receive takes in a text message that somebody sent to a number of ours, once
// however often the gateway brings it. Whoever wants no more messages gets none;
// any other reply is told to the organization that wrote last.
func (d *Desk) Receive(ctx context.Context, reply lastmile.Reply) error {
	if err := reply.Check(); err != nil {
		return err
	}
	if phone, err := d.ParsePhone(string(reply.From), ""); err == nil {
		reply.From = phone // else a short code, which is no number but answers
	}
	now := d.Now()
	return d.Store.Write(ctx, func(w store.Writer) error {
		isNew, err := w.SaveReply(ctx, reply, now)
		if err != nil || !isNew {
			return err
		}
		concerned, err := d.concerned(ctx, w, reply)
		if err != nil {
			return err
		}
		switch {
		case len(concerned) == 0:
			d.Log.InfoContext(ctx, "a reply by text message that no organization waits for", "gateway", reply.Gateway)
			return nil
		case textmessage.IsStop(reply):
			return each(concerned, func(org lastmile.OrganizationID) error { return stop(ctx, w, d.NewID, org, reply, now) })
		case textmessage.IsStart(reply):
			return each(concerned, func(org lastmile.OrganizationID) error { return d.resume(ctx, w, org, reply, now) })
		}
		return tell(ctx, w, d.NewID, lastmile.Event{Organization: concerned[0], Trigger: lastmile.TriggerSMSRecipientResponseMissed, Reply: &reply}, now)
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

// concerned are the organizations that a reply is for, the likeliest first:
// those that wrote to the number from the one that was answered; if that is
// not known, those that wrote at all; else those that have such a recipient.
func (d *Desk) concerned(ctx context.Context, r store.Reader, reply lastmile.Reply) ([]lastmile.OrganizationID, error) {
	texters, err := r.Texters(ctx, reply.From)
	if err != nil {
		return nil, err
	}
	var wrote, fromThere []lastmile.OrganizationID
	for _, t := range texters {
		wrote = append(wrote, t.Organization)
		if t.From == reply.To {
			fromThere = append(fromThere, t.Organization)
		}
	}
	if len(fromThere) > 0 {
		wrote = fromThere
	}
	if len(wrote) > 0 {
		return distinct(wrote), nil
	}
	all, err := r.Organizations(ctx)
	if err != nil {
		return nil, err
	}
	for _, org := range all {
		found, err := r.Recipients(ctx, org.ID, store.RecipientFilter{Phone: reply.From, Limit: 1})
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			wrote = append(wrote, org.ID)
		}
	}
	return wrote, nil
}

// distinct keeps the first of each, in order.
func distinct(orgs []lastmile.OrganizationID) (some []lastmile.OrganizationID) {
	for _, org := range orgs {
		if !slices.Contains(some, org) {
			some = append(some, org)
		}
	}
	return some
}

// stop notes that a number wants no messages of an organization, and tells the
// organization which recipient that is.
func stop(ctx context.Context, w store.Writer, newID func() string, org lastmile.OrganizationID, reply lastmile.Reply, now time.Time) error {
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
		err := tell(ctx, w, newID, lastmile.Event{
			Organization: org, Trigger: lastmile.TriggerSMSRecipientOptOut, Reply: &reply, Recipient: &r,
		}, now)
		if err != nil {
			return err
		}
	}
	return w.SaveOptOut(ctx, out)
}

// refuseAll notes what a gateway says of the number of a message: that it wants
// none. There is no text to show for it.
func refuseAll(ctx context.Context, w store.Writer, newID func() string, m textmessage.Message, now time.Time) error {
	return stop(ctx, w, newID, m.Organization, lastmile.Reply{Gateway: m.Gateway, From: m.To, To: m.From}, now)
}

// resume notes that a number wants messages again.
func (d *Desk) resume(ctx context.Context, w store.Writer, org lastmile.OrganizationID, reply lastmile.Reply, now time.Time) error {
	out, found, err := w.OptOut(ctx, org, reply.From)
	if err != nil || !found {
		return err
	}
	if out.Muted { // what the organization set itself stays
		recipients, err := w.Recipients(ctx, org, store.RecipientFilter{Phone: reply.From})
		if err != nil {
			return err
		}
		for _, r := range recipients {
			if err := mute(ctx, w, &r, false, now); err != nil {
				return err
			}
		}
	}
	return w.DeleteOptOut(ctx, org, reply.From)
}

// mute sets whether a recipient gets messages.
func mute(ctx context.Context, w store.Writer, r *lastmile.Recipient, off bool, now time.Time) error {
	if err := r.Update(lastmile.RecipientChange{SkipSMSNotifications: &off}, now); err != nil {
		return err
	}
	return w.SaveRecipient(ctx, *r)
}

func tell(ctx context.Context, w store.Writer, newID func() string, e lastmile.Event, now time.Time) error {
	e.ID, e.At, e.Stored = newID(), now, now
	return w.AppendEvents(ctx, []lastmile.Event{e})
}

// Report takes in what a gateway says of a message.
func (d *Desk) Report(ctx context.Context, r textmessage.DeliveryReport) error {
	now := d.Now()
	return d.Store.Write(ctx, func(w store.Writer) error {
		m, err := w.MessageByID(ctx, r.Message)
		if err != nil || !m.Report(r) {
			return err
		}
		if r.OptedOut {
			if err := refuseAll(ctx, w, d.NewID, m, now); err != nil {
				return err
			}
		}
		return w.SaveReported(ctx, m)
	})
}
