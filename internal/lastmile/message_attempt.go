package lastmile

import "time"

// The terms on which text messages are sent.
const (
	MaxSendAttempts = 8
	MaxUnsure       = 3 // attempts that may have gone through
	firstResend     = 5 * time.Second
	longestResend   = 15 * time.Minute
	maxReason       = 200 // characters
)

// Verdict is what a gateway made of a message.
type Verdict int

// The verdicts.
const (
	SendTaken   Verdict = iota + 1 // the gateway has it
	SendRefused                    // it never will be
	SendBusy                       // not taken: it can be tried again
	SendUnsure                     // perhaps taken: the answer got lost
)

// SendResult is what came of one attempt.
type SendResult struct {
	Verdict   Verdict
	GatewayID string
	Reason    string // why it was not taken
	OptedOut  bool   // whoever has the number told the gateway to send no more
}

// Record notes what came of an attempt. A message that was not taken is tried
// again, later each time, as long as it is worth it. One that may have been
// taken is tried again less often: a text too many is a nuisance too.
func (m *TextMessage) Record(r SendResult, gateway string, now time.Time) {
	m.Claim, m.Gateway, m.Reason = "", gateway, cut(r.Reason, maxReason)
	switch r.Verdict {
	case SendTaken:
		m.end(TextSent, "")
		m.GatewayID = r.GatewayID
		return
	case SendRefused:
		m.end(TextFailed, m.Reason)
		return
	case SendUnsure:
		m.Unsure++
	case SendBusy:
	}
	again := now.Add(min(firstResend*pow3(m.Attempts-1), longestResend))
	switch {
	case m.Unsure >= MaxUnsure:
		m.end(TextFailed, "it is not known whether the gateway took it: "+m.Reason)
	case m.Attempts >= MaxSendAttempts:
		m.end(TextFailed, "tried too often: "+m.Reason)
	case again.After(m.Expires):
		m.end(TextFailed, "too late to be of use: "+m.Reason)
	default:
		m.State, m.Next = TextQueued, again
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
func (m *TextMessage) HoldBack(reason string) { m.end(TextSuppressed, reason) }

// Expire ends a message that comes too late.
func (m *TextMessage) Expire() { m.end(TextFailed, "too late to be of use") }

func (m *TextMessage) end(s MessageState, reason string) {
	m.State, m.Reason, m.Next, m.Claim = s, cut(reason, maxReason), time.Time{}, ""
}

// DeliveryReport is what a gateway says of a message it took.
type DeliveryReport struct {
	Message   MessageID
	GatewayID string
	State     MessageState // TextSent, TextDelivered or TextFailed
	Reason    string
	OptedOut  bool // as of a SendResult
}

// Report notes what the gateway says. It tells whether that is news: reports
// come late, twice and in any order, and the first final one stands.
func (m *TextMessage) Report(r DeliveryReport) bool {
	if m.progress() >= progress(r.State) {
		return false
	}
	m.end(r.State, r.Reason)
	if r.GatewayID != "" {
		m.GatewayID = r.GatewayID
	}
	return true
}

func (m *TextMessage) progress() int { return progress(m.State) }

func progress(s MessageState) int {
	switch s {
	case TextQueued, TextSending:
		return 0
	case TextSent:
		return 1
	case TextDelivered, TextFailed, TextSuppressed:
	}
	return 2
}

// MessageCaps are how many messages may be sent; zero is no limit.
type MessageCaps struct {
	NumberHour, NumberDay             int // to one number
	OrganizationHour, OrganizationDay int // by one organization
}

// DefaultMessageCaps keep a mistake or a thief from costing a fortune, and are
// far above what deliveries need.
var DefaultMessageCaps = MessageCaps{NumberHour: 20, NumberDay: 100, OrganizationHour: 1_000, OrganizationDay: 10_000}

// MessageCounts are how many messages were sent already.
type MessageCounts MessageCaps

// Exceeded says which cap leaves no room for another message; empty: none.
func (c MessageCaps) Exceeded(n MessageCounts) string {
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
