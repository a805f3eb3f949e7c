package messaging

import (
	"context"
	"fmt"
	"log/slog"
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
// have the message, or SendUncertain if it does not know.
type Finder interface {
	Find(ctx context.Context, m textmessage.Message) textmessage.Result
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
	result, now := s.send(ctx, m), s.Now()
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
		if err := w.SaveMessageResult(ctx, m); err != nil || !result.OptedOut {
			return err
		}
		return optOut(ctx, w, s.Events, m, now)
	}, nil
}

// send sends a message through the gateway. If an earlier attempt may have
// succeeded, it first asks the gateway for the message.
func (s *Sender) send(ctx context.Context, m textmessage.Message) textmessage.Result {
	ctx, cancel := context.WithTimeout(ctx, SendTimeout)
	defer cancel()
	finder, can := s.Gateway.(Finder)
	if can && m.Uncertain > 0 {
		found := finder.Find(ctx, m)
		switch found.Verdict {
		case textmessage.SendAccepted, textmessage.SendRejected:
			return found
		case textmessage.SendUncertain: // nothing was sent, so this attempt is not uncertain
			found.Verdict = textmessage.SendDeferred
			return found
		case textmessage.SendDeferred:
		}
	}
	return s.Gateway.Send(ctx, m)
}
