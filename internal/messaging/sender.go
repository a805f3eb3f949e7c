package messaging

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/textmessage"
)

// How the Sender works.
const (
	atOnce          = 16 // messages being sent
	perOrganization = 8  // of them of one organization
	outboxAtOnce    = 100

	// SendFor is how long a gateway has for one message.
	SendFor      = 15 * time.Second
	claimFor     = SendFor + 15*time.Second // with time to record it
	pollSoon     = time.Second / 4          // for what other processes have stored
	pollIdle     = 2 * time.Second          // while they store nothing
	stopPatience = 3 * time.Second          // with what is being sent
)

// Gateway hands a message to whoever brings it to the phone.
type Gateway interface {
	Name() string
	// From is the sender of messages that name none.
	From() string
	// Send hands over a message. It may be called again with the same one.
	Send(ctx context.Context, m textmessage.Message) textmessage.Result
}

// Finder is a gateway that can be asked what became of a message that may have
// been taken: taken, not taken yet (SendBusy), or that it cannot be told now
// (SendUnsure).
type Finder interface {
	Find(ctx context.Context, m textmessage.Message) textmessage.Result
}

// Sender sends the messages that are to be sent. Any number of processes may.
type Sender struct {
	Store   store.Store
	Gateway Gateway // nil: messages stay where they are, in the outbox
	Caps    textmessage.Caps
	Now     func() time.Time
	NewID   func() string // for claims
	Log     *slog.Logger
	Woken   <-chan struct{} // sent to after messages were saved
	Alone   bool            // no other process sends from this database

	sent, failed, suppressed atomic.Int64
}

// SenderStats counts what a Sender has done.
type SenderStats struct {
	Sent, Failed, Suppressed int64 // attempts that were recorded; messages held back
}

// Stats counts what was done since the start.
func (s *Sender) Stats() SenderStats {
	return SenderStats{Sent: s.sent.Load(), Failed: s.failed.Load(), Suppressed: s.suppressed.Load()}
}

// outbox is the name of the gateway that is none.
const outbox = "outbox"

// round is one call of Run.
type round struct {
	*Sender
	sending map[lastmile.OrganizationID]int
	busy    int
	ended   chan lastmile.OrganizationID
	after   lastmile.OrganizationID // whose turn it was last
}

// Run sends until ctx ends. Then it waits a little for what is being sent.
func (s *Sender) Run(ctx context.Context) {
	r := &round{Sender: s, sending: map[lastmile.OrganizationID]int{}, ended: make(chan lastmile.OrganizationID)}
	if s.Alone {
		err := s.Store.Write(ctx, func(w store.Writer) error { return w.ReleaseMessages(ctx, s.Now()) })
		if err != nil && ctx.Err() == nil {
			s.Log.Warn("text messages cannot be released at once: they will be when their claims end", "error", err)
		}
	}
	sending, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	r.loop(ctx, sending)
	patience := time.AfterFunc(stopPatience, cancel)
	defer patience.Stop()
	for r.busy > 0 {
		r.end(<-r.ended)
	}
}

func (r *round) loop(ctx, sending context.Context) {
	pause := pollSoon
	poll := time.NewTimer(0)
	defer poll.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case org := <-r.ended:
			r.end(org)
			pause = pollSoon
		case <-r.Woken:
			pause = pollSoon
		case <-poll.C:
			pause = min(2*pause, pollIdle)
		}
		if err := r.fill(ctx, sending); err != nil && ctx.Err() == nil {
			r.Log.Warn("text messages cannot be sent", "error", err)
		}
		poll.Reset(pause)
	}
}

func (r *round) end(org lastmile.OrganizationID) {
	r.busy--
	if r.sending[org]--; r.sending[org] == 0 {
		delete(r.sending, org)
	}
}

// fill sends messages until there is no room or nothing is due.
func (r *round) fill(ctx, sending context.Context) error {
	for {
		claimed, seen, err := r.claim(ctx)
		if err != nil || seen == 0 {
			return err
		}
		for _, m := range claimed {
			r.busy++
			r.sending[m.Organization]++
			go func() {
				r.deliver(sending, m)
				r.ended <- m.Organization
			}()
		}
	}
}

// claim claims messages that are due, as many as there is room for, and ends
// those that are not to be sent. It tells how many it came to see.
func (r *round) claim(ctx context.Context) (claimed []textmessage.Message, seen int, err error) {
	each, most := perOrganization, atOnce-r.busy
	if r.Gateway == nil {
		each, most = outboxAtOnce, outboxAtOnce
	}
	if most == 0 {
		return nil, 0, nil
	}
	now := r.Now()
	var due []textmessage.Message
	err = r.Store.Read(ctx, func(reader store.Reader) (err error) {
		due, err = reader.DueMessages(ctx, now, r.after, each, most)
		return err
	})
	due = r.room(due)
	if err != nil || len(due) == 0 {
		return nil, 0, err
	}
	var held, kept int64
	err = r.Store.Write(ctx, func(w store.Writer) error {
		claimed, held, kept = nil, 0, 0
		gate := &gate{Sender: r.Sender, w: w, now: now, sent: map[lastmile.OrganizationID]*textmessage.Counts{}}
		for _, m := range due {
			m, mine, err := w.ClaimMessage(ctx, unsure(m), r.NewID(), now, now.Add(claimFor))
			if err != nil {
				return err
			}
			if !mine {
				continue // another node was faster
			}
			passed, err := gate.pass(ctx, &m)
			switch {
			case err != nil:
				return err
			case !passed:
				held++
			case r.Gateway != nil:
				claimed = append(claimed, m)
			default:
				kept++
				if err := r.keep(ctx, w, m, now); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	r.suppressed.Add(held)
	r.sent.Add(kept)
	r.after = due[len(due)-1].Organization
	return claimed, len(due), nil
}

// room leaves out messages of organizations that have enough being sent.
func (r *round) room(due []textmessage.Message) (fitting []textmessage.Message) {
	if r.Gateway == nil {
		return due
	}
	taken := map[lastmile.OrganizationID]int{}
	for _, m := range due {
		if r.sending[m.Organization]+taken[m.Organization] < perOrganization {
			taken[m.Organization]++
			fitting = append(fitting, m)
		}
	}
	return fitting
}

// unsure counts an attempt that somebody claimed and never ended: it may have
// gone through.
func unsure(m textmessage.Message) textmessage.Message {
	if m.State == textmessage.StateSending {
		m.Unsure++
	}
	return m
}

// keep ends a message in the outbox.
func (r *round) keep(ctx context.Context, w store.Writer, m textmessage.Message, now time.Time) error {
	claim := m.Claim
	m.Record(textmessage.Result{Verdict: textmessage.SendAccepted}, outbox, now)
	_, err := w.SaveSent(ctx, m, claim)
	return err
}

// deliver sends one message and records what came of it.
func (s *Sender) deliver(ctx context.Context, m textmessage.Message) {
	claim := m.Claim
	if m.From == "" {
		m.From = s.Gateway.From()
	}
	result, now := s.hand(ctx, m), s.Now()
	m.Record(result, s.Gateway.Name(), now)
	switch m.State {
	case textmessage.StateSent:
		s.sent.Add(1)
		if m.Secret() {
			m.Body = ""
		}
	case textmessage.StateQueued, textmessage.StateSending, textmessage.StateDelivered, textmessage.StateFailed, textmessage.StateSuppressed:
		s.failed.Add(1)
		s.Log.Warn("a text message was not sent", "message", m.ID, "organization", m.Organization, "kind", m.Kind,
			"attempt", m.Attempts, "state", m.State, "reason", m.Reason)
	}
	// What was sent must be written even if the node is stopping.
	writing, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer cancel()
	recorded := false
	err := s.Store.Write(writing, func(w store.Writer) (err error) {
		recorded, err = w.SaveSent(writing, m, claim)
		if err != nil || !recorded || !result.OptedOut {
			return err
		}
		return refuseAll(writing, w, s.NewID, m, now)
	})
	if err != nil {
		s.Log.Warn("what came of a text message cannot be recorded; it will be tried again when its claim ends", "message", m.ID, "error", err)
	} else if !recorded {
		s.Log.Info("what came of a text message is known already", "message", m.ID)
	}
}

// hand gives a message to the gateway, which is asked first when an earlier
// attempt may have gone through.
func (s *Sender) hand(ctx context.Context, m textmessage.Message) textmessage.Result {
	ctx, cancel := context.WithTimeout(ctx, SendFor)
	defer cancel()
	finder, can := s.Gateway.(Finder)
	if can && m.Unsure > 0 {
		found := finder.Find(ctx, m)
		switch found.Verdict {
		case textmessage.SendAccepted, textmessage.SendRejected:
			return found
		case textmessage.SendUncertain: // not sent now, so no doubt is added
			found.Verdict = textmessage.SendDeferred
			return found
		case textmessage.SendDeferred:
		}
	}
	return s.Gateway.Send(ctx, m)
}

// gate holds back what is not to be sent.
type gate struct {
	*Sender
	w    store.Writer
	now  time.Time
	sent map[lastmile.OrganizationID]*textmessage.Counts // of organizations, counted once
}

// pass tells whether a message that was claimed may be sent. One that may not is
// ended.
func (g *gate) pass(ctx context.Context, m *textmessage.Message) (bool, error) {
	claim := m.Claim
	reason, err := g.refuse(ctx, *m)
	switch {
	case err != nil:
		return false, err
	case m.Unsure >= textmessage.MaxUncertain: // processes died over it
		m.Record(textmessage.Result{Verdict: textmessage.SendRejected, Reason: "it is not known whether it was sent"}, m.Gateway, g.now)
	case g.now.After(m.Expires):
		m.Expire()
	case reason != "":
		m.HoldBack(reason)
	default:
		return true, nil
	}
	if m.Attempts == 1 { // it was never sent
		m.Sent = time.Time{}
	}
	_, err = g.w.SaveSent(ctx, *m, claim)
	return false, err
}

// refuse says why a message is held back; empty: it is not. A message that was
// tried before has been let through.
func (g *gate) refuse(ctx context.Context, m textmessage.Message) (string, error) {
	if m.Kind != textmessage.KindInvitation {
		if _, out, err := g.w.OptOut(ctx, m.Organization, m.To); err != nil || out {
			return "the recipient wants no messages", err
		}
	}
	if m.Attempts > 1 {
		return "", nil
	}
	counts, err := g.counts(ctx, m)
	if err != nil {
		return "", err
	}
	reason := g.Caps.Exceeded(counts)
	if reason == "" {
		g.sent[m.Organization].OrganizationHour++
		g.sent[m.Organization].OrganizationDay++
	}
	return reason, nil
}

// counts are how many messages were sent before this one.
func (g *gate) counts(ctx context.Context, m textmessage.Message) (c textmessage.Counts, err error) {
	hour, day := g.now.Add(-time.Hour), g.now.Add(-24*time.Hour)
	of := g.sent[m.Organization]
	if of == nil {
		of = &textmessage.Counts{}
		if of.OrganizationHour, err = g.w.SentBy(ctx, m.Organization, hour); err != nil {
			return c, err
		}
		if of.OrganizationDay, err = g.w.SentBy(ctx, m.Organization, day); err != nil {
			return c, err
		}
		of.OrganizationHour, of.OrganizationDay = of.OrganizationHour-1, of.OrganizationDay-1 // itself
		g.sent[m.Organization] = of
	}
	c = *of
	if c.NumberHour, err = g.w.SentTo(ctx, m.To, hour); err != nil {
		return c, err
	}
	c.NumberDay, err = g.w.SentTo(ctx, m.To, day)
	c.NumberHour, c.NumberDay = c.NumberHour-1, c.NumberDay-1 // itself
	return c, err
}
