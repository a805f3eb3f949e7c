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

// How messages are sent.
const (
	maxSending         = 16 // at a time
	maxPerOrganization = 8  // of them of one organization
	outboxBatch        = 100

	// SendTimeout is how long a gateway has for one message.
	SendTimeout = 15 * time.Second

	leaseFor   = SendTimeout + 15*time.Second // with time to record the result
	retryPause = 5 * time.Second              // after an error of ours
	stopGrace  = 3 * time.Second              // for messages that are being sent
)

// Gateway passes messages on to phones.
type Gateway interface {
	Name() string
	// From is the sender of messages that name none.
	From() string
	// Send hands over a message. It may be called again with the same one.
	Send(ctx context.Context, m textmessage.Message) textmessage.Result
}

// Finder is a gateway that can be asked what became of a message that may have
// been accepted: accepted or rejected, not accepted yet (SendDeferred), or that
// this is not known (SendUncertain).
type Finder interface {
	Find(ctx context.Context, m textmessage.Message) textmessage.Result
}

// Sender sends the messages that are due. Any number of processes may.
type Sender struct {
	Store   store.Transactor[Reader, Writer]
	Events  *events.Log
	Gateway Gateway // nil keeps messages in the outbox
	Caps    textmessage.Caps
	Now     func() time.Time
	NewID   func() string // makes tokens of leases
	Log     *slog.Logger
	Wake    <-chan struct{} // sent to after messages were saved
	Alone   bool            // no other process sends from this database

	sent, failed, suppressed atomic.Int64
}

// SenderStats counts what a Sender has done.
type SenderStats struct {
	Sent, Failed int64 // attempts
	Suppressed   int64 // messages that were not to be sent
}

// Stats counts what was done since the start.
func (s *Sender) Stats() SenderStats {
	return SenderStats{Sent: s.sent.Load(), Failed: s.failed.Load(), Suppressed: s.suppressed.Load()}
}

// outbox is the gateway name of messages that no gateway was given.
const outbox = "outbox"

// Run sends until ctx ends. Then it waits a little for what is being sent.
func (s *Sender) Run(ctx context.Context) {
	loop := &work.Loop[Reader, Writer]{
		Kind: work.Messages, Store: s.Store, Prepare: s.prepare, Finished: s.count, Do: s.deliver,
		Limits: work.Limits{Total: maxSending, PerOrganization: maxPerOrganization}, LeaseFor: leaseFor, Grace: stopGrace,
		Retry: work.Retry{First: retryPause, Longest: retryPause},
		Wake:  s.Wake, Alone: s.Alone, Now: s.Now, NewID: s.NewID, Log: s.Log,
	}
	if s.Gateway == nil {
		loop.Limits = work.Limits{Total: outboxBatch, PerOrganization: outboxBatch}
		loop.Candidates = loop.Limits
	}
	loop.Run(ctx)
}

// prepare marks messages as being sent, and ends those that are not to be sent
// or that stay in the outbox.
func (s *Sender) prepare(ctx context.Context, w Writer, items []*work.Prepared) error {
	policy := newSendPolicy(w, s.Caps, s.Now())
	for _, item := range items {
		m, err := w.MessageByID(ctx, messageID(item))
		if err != nil {
			return err
		}
		if m.State == textmessage.StateSending { // an attempt that never ended
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

// count counts a message that was not given to a gateway.
func (s *Sender) count(item *work.Prepared) {
	if m, ok := item.Value.(textmessage.Message); ok && m.State == textmessage.StateSent {
		s.sent.Add(1)
		return
	}
	s.suppressed.Add(1)
}

// deliver sends one message and returns what records the result.
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

// send gives a message to the gateway, which is asked first when an earlier
// attempt may have gone through.
func (s *Sender) send(ctx context.Context, m textmessage.Message) textmessage.Result {
	ctx, cancel := context.WithTimeout(ctx, SendTimeout)
	defer cancel()
	finder, can := s.Gateway.(Finder)
	if can && m.Uncertain > 0 {
		found := finder.Find(ctx, m)
		switch found.Verdict {
		case textmessage.SendAccepted, textmessage.SendRejected:
			return found
		case textmessage.SendUncertain: // it is not sent now, so this attempt adds no uncertainty
			found.Verdict = textmessage.SendDeferred
			return found
		case textmessage.SendDeferred:
		}
	}
	return s.Gateway.Send(ctx, m)
}
