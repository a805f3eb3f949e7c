package textmessage

import (
	"time"

	"dray/internal/lastmile"
)

// The terms on which text messages are sent.
const (
	MaxAttempts   = 8
	MaxUncertain  = 3 // attempts that may have gone through
	firstResend   = 5 * time.Second
	longestResend = 15 * time.Minute
	maxReason     = 200 // characters
)

// Verdict is what a gateway made of a message.
type Verdict int

// The verdicts.
const (
	SendAccepted  Verdict = iota + 1 // the gateway has it
	SendRejected                     // it never will be
	SendDeferred                     // not taken: it can be tried again
	SendUncertain                    // perhaps taken: the answer got lost
)

// Result is what came of one attempt.
type Result struct {
	Verdict   Verdict
	GatewayID string
	Reason    string // why it was not taken
	OptedOut  bool   // whoever has the number told the gateway to send no more
}

// Record notes what came of an attempt. A message that was not taken is tried
// again, later each time, as long as it is worth it. One that may have been
// taken is tried again less often: a text too many is a nuisance too.
func (m *Message) Record(r Result, gateway string, now time.Time) {
	m.Claim, m.Gateway, m.Reason = "", gateway, lastmile.Truncate(r.Reason, maxReason)
	switch r.Verdict {
	case SendAccepted:
		m.end(StateSent, "")
		m.GatewayID = r.GatewayID
		return
	case SendRejected:
		m.end(StateFailed, m.Reason)
		return
	case SendUncertain:
		m.Unsure++
	case SendDeferred:
	}
	again := now.Add(min(firstResend*pow3(m.Attempts-1), longestResend))
	switch {
	case m.Unsure >= MaxUncertain:
		m.end(StateFailed, "it is not known whether the gateway took it: "+m.Reason)
	case m.Attempts >= MaxAttempts:
		m.end(StateFailed, "tried too often: "+m.Reason)
	case again.After(m.Expires):
		m.end(StateFailed, "too late to be of use: "+m.Reason)
	default:
		m.State, m.Next = StateQueued, again
	}
}

// pow3 is three to the power of n, for small n.
func pow3(n int64) time.Duration {
	p := time.Duration(1)
	for range min(max(n, 0), 12) {
		p *= 3
	}
	return p
}

// HoldBack ends a message that is not to be sent.
func (m *Message) HoldBack(reason string) { m.end(StateSuppressed, reason) }

// Expire ends a message that comes too late.
func (m *Message) Expire() { m.end(StateFailed, "too late to be of use") }

func (m *Message) end(s State, reason string) {
	m.State, m.Reason, m.Next, m.Claim = s, lastmile.Truncate(reason, maxReason), time.Time{}, ""
}

// DeliveryReport is what a gateway says of a message it took.
type DeliveryReport struct {
	Message   lastmile.MessageID
	GatewayID string
	State     State // StateSent, StateDelivered or StateFailed
	Reason    string
	OptedOut  bool // as of a Result
}

// Report notes what the gateway says. It tells whether that is news: reports
// come late, twice and in any order, and the first final one stands.
func (m *Message) Report(r DeliveryReport) bool {
	if m.progress() >= progress(r.State) {
		return false
	}
	m.end(r.State, r.Reason)
	if r.GatewayID != "" {
		m.GatewayID = r.GatewayID
	}
	return true
}

func (m *Message) progress() int { return progress(m.State) }

func progress(s State) int {
	switch s {
	case StateQueued, StateSending:
		return 0
	case StateSent:
		return 1
	case StateDelivered, StateFailed, StateSuppressed:
	}
	return 2
}

// Caps are how many messages may be sent; zero is no limit.
type Caps struct {
	NumberHour, NumberDay             int // to one number
	OrganizationHour, OrganizationDay int // by one organization
}

// DefaultCaps keep a mistake or a thief from costing a fortune, and are
// far above what deliveries need.
var DefaultCaps = Caps{NumberHour: 20, NumberDay: 100, OrganizationHour: 1_000, OrganizationDay: 10_000}

// Counts are how many messages were sent already.
type Counts Caps

// Exceeded says which cap leaves no room for another message; empty: none.
func (c Caps) Exceeded(n Counts) string {
	for _, one := range []struct {
		most, sent int
		of         string
	}{
		{c.NumberHour, n.NumberHour, "to this number in an hour"},
		{c.NumberDay, n.NumberDay, "to this number in a day"},
		{c.OrganizationHour, n.OrganizationHour, "of the organization in an hour"},
		{c.OrganizationDay, n.OrganizationDay, "of the organization in a day"},
	} {
		if one.most > 0 && one.sent >= one.most {
			return "too many messages " + one.of
		}
	}
	return ""
}
