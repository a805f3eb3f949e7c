package messaging_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
)

// bubble runs a test in a world whose time passes as fast as it can.
func bubble(t *testing.T, test func(t *testing.T, w *world)) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		defer w.close()
		test(t, w)
	})
}

func TestAMessageIsSentOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		var ids []lastmile.MessageID
		for range 40 {
			ids = append(ids, w.owe(acme, lastmile.MessageFailed, lastmile.Phone("+1212555"+newID()[:4])), w.owe(zenith, lastmile.MessageFailed, lastmile.Phone("+1212556"+newID()[:4])))
		}
		g := gateway{w, func(ctx context.Context, m lastmile.TextMessage) lastmile.SendResult {
			time.Sleep(time.Second)
			return taken(ctx, m)
		}}
		w.during(func() { time.Sleep(time.Minute) }, w.sender(g), w.sender(g), w.sender(g))
		seen := map[lastmile.MessageID]int{}
		for _, s := range w.sendings() {
			seen[s.message.ID]++
		}
		for _, id := range ids {
			m := w.is(id, lastmile.TextSent, "")
			if seen[id] != 1 || m.Attempts != 1 || m.Gateway != "fake" || m.GatewayID != "g-"+string(id) || m.From != "+12125550001" || m.Body != "hello" {
				t.Errorf("sent %d times: %+v", seen[id], m)
			}
		}
	})
}

func TestAnInvitationIsUnreadableOnceItIsSent(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		id := w.owe(acme, lastmile.MessageInvitation, phone)
		w.during(func() { time.Sleep(time.Minute) }, w.sender(gateway{w, taken}))
		if m := w.is(id, lastmile.TextSent, ""); m.Body != "" {
			t.Errorf("its body is %q", m.Body)
		}
	})
}

func TestTheOutboxKeepsWhatItIsGiven(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		id := w.owe(acme, lastmile.MessageInvitation, phone)
		w.during(func() { time.Sleep(time.Minute) }, w.sender(nil))
		if m := w.is(id, lastmile.TextSent, ""); m.Body != "hello" || m.Gateway != "outbox" {
			t.Errorf("kept as %+v", m)
		}
	})
}

func TestAGatewayThatIsDownAtFirst(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		start := now()
		id := w.owe(acme, lastmile.MessageStarted, phone)
		g := gateway{w, func(ctx context.Context, m lastmile.TextMessage) lastmile.SendResult {
			if now().Before(start.Add(time.Minute)) {
				return lastmile.SendResult{Verdict: lastmile.SendBusy, Reason: "down"}
			}
			return taken(ctx, m)
		}}
		w.during(func() { time.Sleep(time.Hour) }, w.sender(g))
		if m := w.is(id, lastmile.TextSent, ""); m.Attempts != 4 || len(w.sendings()) != 4 {
			t.Errorf("sent with attempt %d", m.Attempts)
		}
	})
}

func TestAGatewayThatIsDownForGood(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		late := w.owe(acme, lastmile.MessageArrived, phone)
		g := gateway{w, func(context.Context, lastmile.TextMessage) lastmile.SendResult {
			return lastmile.SendResult{Verdict: lastmile.SendBusy, Reason: "down"}
		}}
		w.during(func() { time.Sleep(24 * time.Hour) }, w.sender(g))
		w.is(late, lastmile.TextFailed, "too late to be of use: down")
	})
}

func TestAMessageThatIsTooOldIsNotSent(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		id := w.owe(acme, lastmile.MessageETA, phone)
		time.Sleep(11 * time.Minute)
		w.during(func() { time.Sleep(time.Minute) }, w.sender(gateway{w, taken}))
		if m := w.is(id, lastmile.TextFailed, "too late to be of use"); !m.Sent.IsZero() || len(w.sendings()) != 0 {
			t.Error("it was sent")
		}
	})
}

func TestAMessageThatMayHaveGoneThrough(t *testing.T) {
	lost := func(context.Context, lastmile.TextMessage) lastmile.SendResult {
		return lastmile.SendResult{Verdict: lastmile.SendUnsure, Reason: "lost"}
	}
	answer := func(v lastmile.Verdict) func(context.Context, lastmile.TextMessage) lastmile.SendResult {
		return func(context.Context, lastmile.TextMessage) lastmile.SendResult {
			return lastmile.SendResult{Verdict: v, GatewayID: "found", Reason: "asked"}
		}
	}
	for name, tt := range map[string]struct {
		find   func(context.Context, lastmile.TextMessage) lastmile.SendResult // nil: it cannot be asked
		state  lastmile.MessageState
		reason string
		sent   int
	}{
		"it cannot be asked":              {nil, lastmile.TextFailed, "it is not known whether the gateway took it: lost", lastmile.MaxUnsure},
		"it has it":                       {answer(lastmile.SendTaken), lastmile.TextSent, "", 1},
		"it has it not":                   {answer(lastmile.SendBusy), lastmile.TextFailed, "it is not known whether the gateway took it: lost", lastmile.MaxUnsure},
		"it does not say for a long time": {answer(lastmile.SendUnsure), lastmile.TextFailed, "tried too often: asked", 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				id := w.owe(acme, lastmile.MessageFailed, phone)
				s := w.sender(gateway{w, lost})
				if tt.find != nil {
					s = w.sender(asked{gateway{w, lost}, tt.find})
				}
				w.during(func() { time.Sleep(24 * time.Hour) }, s)
				w.is(id, tt.state, tt.reason)
				if n := len(w.sendings()); n != tt.sent {
					t.Errorf("sent %d times, want %d", n, tt.sent)
				}
			})
		})
	}
}

// A process that was killed leaves a claim, and nobody knows whether its message
// went out.
func TestAProcessDiesWhileItSends(t *testing.T) {
	for name, tt := range map[string]struct {
		found bool
		sent  int
	}{
		"after the gateway took it":  {true, 0},
		"before the gateway took it": {false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				id := w.owe(acme, lastmile.MessageFailed, phone)
				w.write(func(ctx context.Context, tx store.Writer) error {
					_, _, err := tx.ClaimMessage(ctx, w.message(id), "the dead", now(), now().Add(30*time.Second))
					return err
				})
				g := asked{gateway{w, taken}, func(context.Context, lastmile.TextMessage) lastmile.SendResult {
					if tt.found {
						return lastmile.SendResult{Verdict: lastmile.SendTaken, GatewayID: "found"}
					}
					return lastmile.SendResult{Verdict: lastmile.SendBusy}
				}}
				start := now()
				w.during(func() { time.Sleep(time.Hour) }, w.sender(g))
				m := w.is(id, lastmile.TextSent, "")
				if n := len(w.sendings()); n != tt.sent || m.Unsure != 1 {
					t.Errorf("sent %d times with %d doubts, want %d with 1", n, m.Unsure, tt.sent)
				}
				for _, s := range w.sendings() {
					if s.at.Before(start.Add(30 * time.Second)) {
						t.Error("sent while the claim lasted")
					}
				}
			})
		})
	}
}

func TestMessagesThatTakeProcessesDown(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		id := w.owe(acme, lastmile.MessageFailed, phone)
		for range lastmile.MaxUnsure {
			w.write(func(ctx context.Context, tx store.Writer) error {
				m := w.message(id)
				if m.State == lastmile.TextSending {
					m.Unsure++
				}
				_, _, err := tx.ClaimMessage(ctx, m, newID(), now(), now().Add(time.Second))
				return err
			})
			time.Sleep(time.Minute)
		}
		w.during(func() { time.Sleep(time.Hour) }, w.sender(gateway{w, taken}))
		w.is(id, lastmile.TextFailed, "it is not known whether it was sent")
	})
}

func TestAReportSettlesWhatIsNotKnown(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		id := w.owe(acme, lastmile.MessageFailed, phone)
		g := gateway{w, func(ctx context.Context, m lastmile.TextMessage) lastmile.SendResult {
			if err := w.desk.Report(ctx, lastmile.DeliveryReport{Message: m.ID, GatewayID: "g", State: lastmile.TextDelivered}); err != nil {
				t.Error(err)
			}
			return lastmile.SendResult{Verdict: lastmile.SendUnsure, Reason: "lost"}
		}}
		w.during(func() { time.Sleep(24 * time.Hour) }, w.sender(g))
		if m := w.is(id, lastmile.TextDelivered, ""); m.GatewayID != "g" || len(w.sendings()) != 1 {
			t.Errorf("sent %d times: %+v", len(w.sendings()), m)
		}
	})
}

func TestCapsAreKept(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		s := w.sender(gateway{w, taken})
		s.Caps = lastmile.MessageCaps{NumberHour: 2, NumberDay: 3, OrganizationHour: 4, OrganizationDay: 6}
		count := func(state lastmile.MessageState) (n int) {
			err := w.store.Read(t.Context(), func(r store.Reader) error {
				found, err := r.Messages(t.Context(), store.MessageFilter{State: state})
				n = len(found)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		expect := func(what string, sent, held int) {
			t.Helper()
			time.Sleep(time.Minute)
			if gotSent, gotHeld := count(lastmile.TextSent), count(lastmile.TextSuppressed); gotSent != sent || gotHeld != held {
				t.Errorf("%s: %d sent and %d held back, want %d and %d", what, gotSent, gotHeld, sent, held)
			}
		}
		w.during(func() {
			for range 3 {
				w.owe(acme, lastmile.MessageFailed, phone)
			}
			expect("three to a number", 2, 1)
			for _, other := range []lastmile.Phone{"+12125550101", "+12125550102", "+12125550103"} {
				w.owe(acme, lastmile.MessageFailed, other)
			}
			expect("five of an organization", 4, 2)
			w.owe(zenith, lastmile.MessageFailed, "+12125550104")
			expect("another organization has room", 5, 2)
			w.owe(zenith, lastmile.MessageFailed, phone)
			expect("the number has none, whoever writes", 5, 3)
			time.Sleep(2 * time.Hour)
			last := w.owe(acme, lastmile.MessageFailed, phone)
			expect("an hour later it has", 6, 3)
			w.is(last, lastmile.TextSent, "")
			held := w.owe(acme, lastmile.MessageFailed, phone)
			expect("not for a fourth that day", 6, 4)
			if m := w.is(held, lastmile.TextSuppressed, "too many messages to this number in a day"); m.Body == "" || !m.Sent.IsZero() {
				t.Errorf("held back as %+v", m)
			}
		}, s)
		if got := s.Stats(); got.Sent != 6 || got.Suppressed != 4 {
			t.Errorf("counted %+v", got)
		}
	})
}

func TestWhoWantsNoMessagesGetsNoneThatWait(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		waiting, invitation := w.owe(acme, lastmile.MessageFailed, phone), w.owe(acme, lastmile.MessageInvitation, phone)
		w.write(func(ctx context.Context, tx store.Writer) error {
			return tx.SaveOptOut(ctx, lastmile.OptOut{Organization: acme, Phone: phone, At: now()})
		})
		w.during(func() { time.Sleep(time.Minute) }, w.sender(gateway{w, taken}))
		w.is(waiting, lastmile.TextSuppressed, "the recipient wants no messages")
		w.is(invitation, lastmile.TextSent, "")
	})
}

// A gateway that hangs keeps a node no longer than its patience.
func TestAGatewayKnowsOfOneWhoWantsNoMessages(t *testing.T) {
	for name, answer := range map[string]lastmile.SendResult{
		"when it is sent": {Verdict: lastmile.SendRefused, Reason: "opted out", OptedOut: true},
		"later":           {Verdict: lastmile.SendTaken},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				defer w.close()
				grace := w.recipient(acme, false)
				sender := w.sender(gateway{w, func(context.Context, lastmile.TextMessage) lastmile.SendResult { return answer }})
				first := w.owe(acme, lastmile.MessageStarted, phone)
				var second, theirs lastmile.MessageID
				w.during(func() {
					time.Sleep(time.Minute)
					if answer.Verdict == lastmile.SendTaken {
						for range 2 {
							err := w.desk.Report(t.Context(), lastmile.DeliveryReport{Message: first, State: lastmile.TextFailed, Reason: "opted out", OptedOut: true})
							if err != nil {
								t.Error(err)
							}
						}
					}
					second, theirs = w.owe(acme, lastmile.MessageCompleted, phone), w.owe(zenith, lastmile.MessageCompleted, phone)
					time.Sleep(time.Minute)
				}, sender)
				w.is(first, lastmile.TextFailed, "opted out")
				w.is(second, lastmile.TextSuppressed, "the recipient wants no messages")
				if got := w.message(theirs).Attempts; got != 1 {
					t.Errorf("the other organization's message was tried %d times", got)
				}
				if !w.skips(acme, grace) {
					t.Error("the recipient is shown as one who wants messages")
				}
				told := w.told(acme)
				if len(told) != 1 || told[0]["triggerName"] != "SMSRecipientOptOut" || told[0]["SMS"] != "" {
					t.Errorf("the organization was told %v", told)
				}
				w.receive("r1", "+12125550001", "START")
				if w.skips(acme, grace) {
					t.Error("START does not end it")
				}
			})
		})
	}
}

func TestANodeStopsWhileItSends(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		id := w.owe(acme, lastmile.MessageFailed, phone)
		g := gateway{w, func(ctx context.Context, _ lastmile.TextMessage) lastmile.SendResult {
			<-ctx.Done()
			return lastmile.SendResult{Verdict: lastmile.SendUnsure, Reason: "the node is stopping"}
		}}
		w.during(func() { time.Sleep(time.Second) }, w.sender(g))
		if m := w.message(id); m.State != lastmile.TextQueued || m.Unsure != 1 || m.Claim != "" {
			t.Errorf("left as %+v", m)
		}
	})
}

// One organization with much to say does not keep another waiting.
func TestOrganizationsTakeTurns(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		for i := range 100 {
			w.owe(acme, lastmile.MessageFailed, lastmile.Phone("+121255501"+string(rune('0'+i/10))+string(rune('0'+i%10))))
		}
		w.owe(zenith, lastmile.MessageFailed, phone)
		g := gateway{w, func(ctx context.Context, m lastmile.TextMessage) lastmile.SendResult {
			time.Sleep(time.Second)
			return taken(ctx, m)
		}}
		start := now()
		w.during(func() { time.Sleep(time.Minute) }, w.sender(g))
		for _, s := range w.sendings() {
			if s.message.Organization == zenith && s.at.After(start.Add(time.Second)) {
				t.Errorf("it waited %v", s.at.Sub(start))
			}
		}
		if n := len(w.sendings()); n != 101 {
			t.Errorf("%d sent, want 101", n)
		}
	})
}
