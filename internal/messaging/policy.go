package messaging

import (
	"context"
	"time"

	"dray/internal/lastmile"
	"dray/internal/textmessage"
	"dray/internal/work"
)

func messageID(item *work.Prepared) lastmile.MessageID { return lastmile.MessageID(item.ID) }

// sendPolicy decides, in one transaction, which messages may be sent.
type sendPolicy struct {
	w    Writer
	caps textmessage.Caps
	now  time.Time
	sent map[lastmile.OrganizationID]*textmessage.Counts // cached counts of organizations
}

func newSendPolicy(w Writer, caps textmessage.Caps, now time.Time) *sendPolicy {
	return &sendPolicy{w: w, caps: caps, now: now, sent: map[lastmile.OrganizationID]*textmessage.Counts{}}
}

// end ends a message that may not be sent, and reports whether it did.
func (p *sendPolicy) end(ctx context.Context, m *textmessage.Message) (bool, error) {
	reason, err := p.suppress(ctx, *m)
	switch {
	case err != nil:
		return false, err
	case m.Uncertain >= textmessage.MaxUncertain: // processes died while sending it
		m.Record(textmessage.Result{Verdict: textmessage.SendRejected, Reason: "it is not known whether it was sent"}, m.Gateway, p.now)
	case p.now.After(m.Expires):
		m.Expire()
	case reason != "":
		m.Suppress(reason)
	default:
		return false, nil
	}
	if m.Attempts == 1 { // no attempt was made
		m.Sent = time.Time{}
	}
	return true, nil
}

// suppress returns why a message must not be sent, or "". The caps do not apply to
// a message that was tried before.
func (p *sendPolicy) suppress(ctx context.Context, m textmessage.Message) (string, error) {
	if m.Kind != textmessage.KindInvitation {
		if _, out, err := p.w.OptOut(ctx, m.Organization, m.To); err != nil || out {
			return "the recipient wants no messages", err
		}
	}
	if m.Attempts > 1 {
		return "", nil
	}
	counts, err := p.counts(ctx, m)
	if err != nil {
		return "", err
	}
	reason := p.caps.Exceeded(counts)
	if reason == "" {
		p.sent[m.Organization].OrganizationHour++
		p.sent[m.Organization].OrganizationDay++
	}
	return reason, nil
}

// counts counts the messages sent before this one. It subtracts one, because this
// message is marked as sent already.
func (p *sendPolicy) counts(ctx context.Context, m textmessage.Message) (c textmessage.Counts, err error) {
	hour, day := p.now.Add(-time.Hour), p.now.Add(-24*time.Hour)
	of := p.sent[m.Organization]
	if of == nil {
		of = &textmessage.Counts{}
		if of.OrganizationHour, err = p.w.SentBy(ctx, m.Organization, hour); err != nil {
			return c, err
		}
		if of.OrganizationDay, err = p.w.SentBy(ctx, m.Organization, day); err != nil {
			return c, err
		}
		of.OrganizationHour, of.OrganizationDay = of.OrganizationHour-1, of.OrganizationDay-1
		p.sent[m.Organization] = of
	}
	c = *of
	if c.NumberHour, err = p.w.SentTo(ctx, m.To, hour); err != nil {
		return c, err
	}
	c.NumberDay, err = p.w.SentTo(ctx, m.To, day)
	c.NumberHour, c.NumberDay = c.NumberHour-1, c.NumberDay-1
	return c, err
}
