package textmessage

import (
	"time"

	"dray/internal/lastmile"
)

// Limits of attempts to send a message.
const (
	MaxAttempts   = 8
	MaxUncertain  = 3 // attempts that may have succeeded
	firstResend   = 5 * time.Second
	LongestResend = 15 * time.Minute
	maxReason     = 200 // characters
)

// Verdict classifies the response of a gateway to a message.
type Verdict int

// The verdicts.
const (
	SendAccepted  Verdict = iota + 1 // the gateway accepted it
	SendRejected                     // the gateway will never accept it
	SendDeferred                     // not accepted now; retry later
	SendUncertain                    // possibly accepted: the response was lost
)

// Result is the result of an attempt to send a message.
type Result struct {
	Verdict   Verdict
	GatewayID string
	Reason    string // why it was not accepted
	OptedOut  bool   // the phone number has opted out at the gateway
}

// Record applies the result of an attempt. A message that was not accepted is
// retried with increasing delays until it expires. One that may have been
// accepted is retried fewer times, to avoid sending it twice.
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
		m.Uncertain++
	case SendDeferred:
	}
	again := now.Add(min(firstResend*pow3(m.Attempts-1), LongestResend))
	switch {
	case m.Uncertain >= MaxUncertain:
		m.end(StateFailed, "it is not known whether the gateway took it: "+m.Reason)
	case m.Attempts >= MaxAttempts:
		m.end(StateFailed, "tried too often: "+m.Reason)
	case again.After(m.Expires):
		m.end(StateFailed, "too late to be of use: "+m.Reason)
	default:
		m.State, m.Next = StateQueued, again
	}
}

// pow3 returns three to the power of n, for small n.
func pow3(n int64) time.Duration {
	p := time.Duration(1)
	for range min(max(n, 0), 12) {
		p *= 3
	}
	return p
}

// Suppress ends a message that is not to be sent.
func (m *Message) Suppress(reason string) { m.end(StateSuppressed, reason) }

// Expire ends a message that is too late to be sent.
func (m *Message) Expire() { m.end(StateFailed, "too late to be of use") }

func (m *Message) end(s State, reason string) {
	m.State, m.Reason, m.Next, m.Claim = s, lastmile.Truncate(reason, maxReason), time.Time{}, ""
}

// DeliveryReport is a gateway's report on a message it accepted.
type DeliveryReport struct {
	Message   lastmile.MessageID
	GatewayID string
	State     State // StateSent, StateDelivered or StateFailed
	Reason    string
	OptedOut  bool // see Result
}

// Report applies a delivery report and reports whether it changed the message.
// Reports may be late, repeated or out of order; the first final one wins.
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

// Caps limit how many messages are sent; zero means no limit.
type Caps struct {
	NumberHour, NumberDay             int // messages of one organization to one number
	OrganizationHour, OrganizationDay int // messages of one organization
	SharedHour, SharedDay             int // messages of all organizations to one number; see FairShare
}

// FairShare is the number of messages a day that an organization can send to a number
// that has reached its shared cap because of others.
const FairShare = 3

// DefaultCaps limit the cost of mistakes and abuse, and are far above what
// deliveries need.
var DefaultCaps = Caps{NumberHour: 20, NumberDay: 100, OrganizationHour: 1_000, OrganizationDay: 10_000, SharedHour: 100, SharedDay: 500}

// Counts are the numbers of messages that have been sent.
type Counts Caps

// Exceeded describes the first cap that is reached; empty for none.
func (c Caps) Exceeded(n Counts) string {
	type limit struct {
		most, sent int
		of         string
	}
	limits := []limit{
		{c.NumberHour, n.NumberHour, "to this number in an hour"},
		{c.NumberDay, n.NumberDay, "to this number in a day"},
		{c.OrganizationHour, n.OrganizationHour, "of the organization in an hour"},
		{c.OrganizationDay, n.OrganizationDay, "of the organization in a day"},
	}
	if n.NumberDay >= FairShare {
		limits = append(limits, limit{c.SharedHour, n.SharedHour, "of all organizations to this number in an hour"},
			limit{c.SharedDay, n.SharedDay, "of all organizations to this number in a day"})
	}
	for _, one := range limits {
		if one.most > 0 && one.sent >= one.most {
			return "too many messages " + one.of
		}
	}
	return ""
}
