package messaging

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"dray/internal/events"
	"dray/internal/store"
	"dray/internal/textmessage"
	"dray/internal/work"
)

// Limits of sending messages.
const (
	maxSending         = 16 // messages at a time
	maxPerOrganization = 8  // messages of one organization at a time
	outboxBatch        = 100

	// SendTimeout is how long a gateway has for one message.
	SendTimeout = 15 * time.Second

	leaseFor   = SendTimeout + 15*time.Second // includes time to record the result
	retryPause = 5 * time.Second              // after an error of this process
	stopGrace  = 3 * time.Second              // time that running attempts have when the Sender stops
)

// Gateway delivers messages to phones.
type Gateway interface {
	Name() string
	// From is the sender of messages that have no sender.
	From() string
	// Send sends a message. It may be called again with the same message.
	Send(ctx context.Context, m textmessage.Message) textmessage.Result
}

// Finder is a gateway that can look up a message that it may have accepted. The
// verdict is SendAccepted or SendRejected, SendDeferred if the gateway does not
// have the message, or SendUncertain if it does not know. taken has the gateway's ids of
// other messages with the same text to the same number.
type Finder interface {
	Find(ctx context.Context, m textmessage.Message, taken []string) textmessage.Result
}

// Sender sends the messages that are due. Any number of processes may run one.
type Sender struct {
	Store   store.Transactor[Reader, Writer]
	Events  *events.Log
	Gateway Gateway // nil keeps messages in the outbox
	Policy  Policy
	Now     func() time.Time
	NewID   func() string // returns tokens for leases
	Log     *slog.Logger
	Wake    <-chan struct{} // receives a value after messages were saved
	Idle    time.Duration   // between polls while no message is due; 0 for the default
	Alone   bool            // no other process sends from this database

	sent, failed, suppressed atomic.Int64
}

// SenderStats counts what a Sender has done.
type SenderStats struct {
	Sent, Failed int64 // attempts
	Suppressed   int64 // messages not sent because of an opt-out or a cap
}

// Stats returns the counts since the start.
func (s *Sender) Stats() SenderStats {
	return SenderStats{Sent: s.sent.Load(), Failed: s.failed.Load(), Suppressed: s.suppressed.Load()}
}

// outbox is the gateway name of messages sent without a gateway.
const outbox = "outbox"

// Run sends until ctx ends. Then it waits up to stopGrace for running attempts.
func (s *Sender) Run(ctx context.Context) {
	loop := &work.Loop[Reader, Writer]{
		Kind: work.Messages, Store: s.Store, Prepare: s.prepare, Finished: s.count, Do: s.deliver,
		Limits: work.Limits{Total: maxSending, PerOrganization: maxPerOrganization}, LeaseFor: leaseFor, Grace: stopGrace,
		Retry: work.Retry{First: retryPause, Longest: retryPause},
		Poll:  work.Poll{Idle: s.Idle},
		Wake:  s.Wake, Alone: s.Alone, Now: s.Now, NewID: s.NewID, Log: s.Log,
	}
	if s.Gateway == nil {
		loop.Limits = work.Limits{Total: outboxBatch, PerOrganization: outboxBatch}
		loop.Candidates = loop.Limits
	}
	loop.Run(ctx)
}

// prepare marks messages as being sent. It ends messages that must not be sent and,
// without a gateway, all others.
func (s *Sender) prepare(ctx context.Context, w Writer, items []*work.Prepared) error {
	policy := newSendPolicy(w, s.Policy, s.Now())
	for _, item := range items {
		m, err := w.MessageByID(ctx, messageID(item))
		if err != nil {
			return err
		}
		if m.State == textmessage.StateSending { // the last attempt never ended
			m.Uncertain++
		}
		m.State, m.Attempts = textmessage.StateSending, m.Attempts+1
		if m.Sent.IsZero() {
			m.Sent = policy.now
		}
		if err := w.BeginMessage(ctx, m); err != nil {
			return err
		}
		if item.Done, err = policy.end(ctx, &m); err != nil {
			return err
		}
		if !item.Done && s.Gateway == nil {
			item.Done = true
			m.Record(textmessage.Result{Verdict: textmessage.SendAccepted}, outbox, policy.now)
		}
		if item.Done {
			if err := w.SaveMessageResult(ctx, m); err != nil {
				return err
			}
		}
		item.Value = m
	}
	return nil
}

// count counts a message that prepare has ended.
func (s *Sender) count(item *work.Prepared) {
	if m, ok := item.Value.(textmessage.Message); ok && m.State == textmessage.StateSent {
		s.sent.Add(1)
		return
	}
	s.suppressed.Add(1)
}

// deliver sends one message and returns the function that records the result.
func (s *Sender) deliver(ctx context.Context, l *work.Lease) (work.End[Writer], error) {
	m, ok := l.Value.(textmessage.Message)
	if !ok {
		return nil, fmt.Errorf("message %s was not prepared", l.ID)
	}
	if m.From == "" {
		m.From = s.Gateway.From()
	}
	result, found := s.send(ctx, m)
	tried, now := m, s.Now()
	m.Record(result, s.Gateway.Name(), now)
	if m.State == textmessage.StateSent {
		s.sent.Add(1)
		if m.Secret() {
			m.Body = ""
		}
	} else {
		s.failed.Add(1)
		s.Log.Warn("a text message was not sent", "message", m.ID, "organization", m.Organization, "kind", m.Kind,
			"attempt", m.Attempts, "state", m.State, "reason", m.Reason)
	}
	return func(ctx context.Context, w Writer) error {
		ended := m
		if _, can := s.Gateway.(Finder); can && tried.Uncertain > 0 && result.GatewayID != "" {
			same, err := w.EqualMessages(ctx, tried)
			if err != nil {
				return err
			}
			if slices.Contains(gatewayIDs(same), result.GatewayID) || found && beingSent(same) {
				ended = tried
				ended.Record(indistinct, s.Gateway.Name(), now)
			}
		}
		if err := w.SaveMessageResult(ctx, ended); err != nil || !result.OptedOut {
			return err
		}
		return optOut(ctx, w, s.Events, ended, now)
	}, nil
}

// indistinct is the result of an attempt that found a message at the gateway, which may be
// another one with the same text to the same number.
var indistinct = textmessage.Result{Verdict: textmessage.SendDeferred, Reason: "the gateway has a message with the same text to the same number"}

// gatewayIDs returns the gateway's ids of messages.
func gatewayIDs(messages []textmessage.Message) (ids []string) {
	for _, m := range messages {
		if m.GatewayID != "" {
			ids = append(ids, m.GatewayID)
		}
	}
	return ids
}

// beingSent reports whether one of the messages is being sent for the first time. The gateway
// may have it already.
func beingSent(messages []textmessage.Message) bool {
	return slices.ContainsFunc(messages, func(m textmessage.Message) bool {
		return m.State == textmessage.StateSending && m.Uncertain == 0
	})
}

// send sends a message through the gateway. If an earlier attempt may have
// succeeded, it first asks the gateway for the message, and reports whether it was found.
func (s *Sender) send(ctx context.Context, m textmessage.Message) (result textmessage.Result, found bool) {
	ctx, cancel := context.WithTimeout(ctx, SendTimeout)
	defer cancel()
	finder, can := s.Gateway.(Finder)
	if can && m.Uncertain > 0 {
		result = s.find(ctx, finder, m)
		switch result.Verdict {
		case textmessage.SendAccepted, textmessage.SendRejected:
			return result, true
		case textmessage.SendUncertain: // nothing was sent, so this attempt is not uncertain
			result.Verdict = textmessage.SendDeferred
			return result, false
		case textmessage.SendDeferred:
		}
	}
	return s.Gateway.Send(ctx, m), false
}

// find asks the gateway for a message.
func (s *Sender) find(ctx context.Context, finder Finder, m textmessage.Message) textmessage.Result {
	var same []textmessage.Message
	err := s.Store.Read(ctx, func(r Reader) (err error) {
		same, err = r.EqualMessages(ctx, m)
		return err
	})
	if err != nil {
		s.Log.Warn("messages with the same text cannot be read", "message", m.ID, "error", err)
		return textmessage.Result{Verdict: textmessage.SendUncertain, Reason: "the database cannot be read"}
	}
	return finder.Find(ctx, m, gatewayIDs(same))
}
