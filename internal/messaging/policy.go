package messaging

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/textmessage"
	"dray/internal/work"
)

func messageID(item *work.Prepared) lastmile.MessageID { return lastmile.MessageID(item.ID) }

// Policy determines which messages may be sent.
type Policy struct {
	Caps      textmessage.Caps
	Countries []string                       // ISO 3166-1 codes of destinations; empty for all
	CountryOf func(to lastmile.Phone) string // "" if it is unknown
}

// Excluded returns why no messages are sent to the country of a number, or "".
func (p Policy) Excluded(to lastmile.Phone) string {
	if len(p.Countries) == 0 {
		return ""
	}
	country := p.CountryOf(to)
	if slices.Contains(p.Countries, country) {
		return ""
	}
	return fmt.Sprintf("text messages are sent only to numbers of %s, and this one is of %s",
		strings.Join(p.Countries, ", "), cmp.Or(country, "an unknown country"))
}

// inviteAgain is the pause after which an invitation that a limit prevents may be tried
// again. The limits count the last hour and day, so they may allow it at any time.
const inviteAgain = time.Minute

// Invitations checks whether invitations of workers will be sent.
type Invitations struct {
	Store  store.Transactor[Reader, Writer]
	Policy Policy
	Now    func() time.Time
}

// Check rejects an invitation that would not be sent, so that the caller learns it
// at once. A Sender checks again, because other messages may be sent meanwhile.
func (i *Invitations) Check(ctx context.Context, org lastmile.OrganizationID, to lastmile.Phone) error {
	if reason := i.Policy.Excluded(to); reason != "" {
		return lastmile.Invalid("phone %s cannot be invited: %s", to, reason)
	}
	return i.Store.Read(ctx, func(r Reader) error {
		now := i.Now()
		counts, err := countByOrganization(ctx, r, org, now)
		if err == nil {
			err = countToNumber(ctx, r, org, to, now, &counts)
		}
		if err != nil {
			return err
		}
		if reason := i.Policy.Caps.Exceeded(counts); reason != "" {
			rejected := lastmile.TooMany().Because("the invitation cannot be sent now: %s", reason)
			rejected.RetryAfter = inviteAgain
			return rejected
		}
		return nil
	})
}

// sendPolicy applies the policy to messages in one transaction.
type sendPolicy struct {
	Policy
	w    Writer
	now  time.Time
	sent map[lastmile.OrganizationID]*textmessage.Counts // cached counts of organizations
}

func newSendPolicy(w Writer, p Policy, now time.Time) *sendPolicy {
	return &sendPolicy{Policy: p, w: w, now: now, sent: map[lastmile.OrganizationID]*textmessage.Counts{}}
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
	if reason := p.Excluded(m.To); reason != "" || m.Attempts > 1 {
		return reason, nil
	}
	counts, err := p.counts(ctx, m)
	if err != nil {
		return "", err
	}
	reason := p.Caps.Exceeded(counts)
	if reason == "" {
		p.sent[m.Organization].OrganizationHour++
		p.sent[m.Organization].OrganizationDay++
	}
	return reason, nil
}

// counts counts the messages sent before this one. It subtracts one, because this
// message is marked as sent already.
func (p *sendPolicy) counts(ctx context.Context, m textmessage.Message) (c textmessage.Counts, err error) {
	of := p.sent[m.Organization]
	if of == nil {
		c, err := countByOrganization(ctx, p.w, m.Organization, p.now)
		if err != nil {
			return c, err
		}
		c.OrganizationHour, c.OrganizationDay = c.OrganizationHour-1, c.OrganizationDay-1
		of, p.sent[m.Organization] = &c, &c
	}
	c = *of
	err = countToNumber(ctx, p.w, m.Organization, m.To, p.now, &c)
	c.NumberHour, c.NumberDay = c.NumberHour-1, c.NumberDay-1
	c.SharedHour, c.SharedDay = c.SharedHour-1, c.SharedDay-1
	return c, err
}

// countByOrganization counts the messages that an organization sent.
func countByOrganization(ctx context.Context, r Reader, org lastmile.OrganizationID, now time.Time) (c textmessage.Counts, err error) {
	if c.OrganizationHour, err = r.SentBy(ctx, org, now.Add(-time.Hour)); err != nil {
		return c, err
	}
	c.OrganizationDay, err = r.SentBy(ctx, org, now.Add(-24*time.Hour))
	return c, err
}

// countToNumber counts the messages to a number, those of the organization and all.
func countToNumber(ctx context.Context, r Reader, org lastmile.OrganizationID, to lastmile.Phone, now time.Time, c *textmessage.Counts) (err error) {
	if c.NumberHour, c.SharedHour, err = r.SentTo(ctx, org, to, now.Add(-time.Hour)); err != nil {
		return err
	}
	c.NumberDay, c.SharedDay, err = r.SentTo(ctx, org, to, now.Add(-24*time.Hour))
	return err
}
