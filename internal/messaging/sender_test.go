package messaging_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/textmessage"
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
			ids = append(ids, w.owe(acme, textmessage.KindFailed, lastmile.Phone("+1212555"+newID()[:4])), w.owe(zenith, textmessage.KindFailed, lastmile.Phone("+1212556"+newID()[:4])))
		}
		g := gateway{w, func(ctx context.Context, m textmessage.Message) textmessage.Result {
			time.Sleep(time.Second)
			return taken(ctx, m)
		}}
		w.during(func() { time.Sleep(time.Minute) }, w.sender(g), w.sender(g), w.sender(g))
		seen := map[lastmile.MessageID]int{}
		for _, s := range w.sendings() {
			seen[s.message.ID]++
		}
		for _, id := range ids {
			m := w.is(id, textmessage.StateSent, "")
			if seen[id] != 1 || m.Attempts != 1 || m.Gateway != "fake" || m.GatewayID != "g-"+string(id) || m.From != "+12125550001" || m.Body != "hello" {
				t.Errorf("sent %d times: %+v", seen[id], m)
			}
		}
	})
}

func TestAnInvitationIsUnreadableOnceItIsSent(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		id := w.owe(acme, textmessage.KindInvitation, phone)
		w.during(func() { time.Sleep(time.Minute) }, w.sender(gateway{w, taken}))
		if m := w.is(id, textmessage.StateSent, ""); m.Body != "" {
			t.Errorf("its body is %q", m.Body)
		}
	})
}

func TestTheOutboxKeepsWhatItIsGiven(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		id := w.owe(acme, textmessage.KindInvitation, phone)
		w.during(func() { time.Sleep(time.Minute) }, w.sender(nil))
		if m := w.is(id, textmessage.StateSent, ""); m.Body != "hello" || m.Gateway != "outbox" {
			t.Errorf("kept as %+v", m)
		}
	})
}

func TestAGatewayThatIsDownAtFirst(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		start := now()
		id := w.owe(acme, textmessage.KindStarted, phone)
		g := gateway{w, func(ctx context.Context, m textmessage.Message) textmessage.Result {
			if now().Before(start.Add(time.Minute)) {
				return textmessage.Result{Verdict: textmessage.SendDeferred, Reason: "down"}
			}
			return taken(ctx, m)
		}}
		w.during(func() { time.Sleep(time.Hour) }, w.sender(g))
		if m := w.is(id, textmessage.StateSent, ""); m.Attempts != 4 || len(w.sendings()) != 4 {
			t.Errorf("sent with attempt %d", m.Attempts)
		}
	})
}

func TestAGatewayThatIsDownForGood(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		late := w.owe(acme, textmessage.KindArrived, phone)
		g := gateway{w, func(context.Context, textmessage.Message) textmessage.Result {
			return textmessage.Result{Verdict: textmessage.SendDeferred, Reason: "down"}
		}}
		w.during(func() { time.Sleep(24 * time.Hour) }, w.sender(g))
		w.is(late, textmessage.StateFailed, "too late to be of use: down")
	})
}

func TestAMessageThatIsTooOldIsNotSent(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		id := w.owe(acme, textmessage.KindETA, phone)
		time.Sleep(11 * time.Minute)
		w.during(func() { time.Sleep(time.Minute) }, w.sender(gateway{w, taken}))
		if m := w.is(id, textmessage.StateFailed, "too late to be of use"); !m.Sent.IsZero() || len(w.sendings()) != 0 {
			t.Error("it was sent")
		}
	})
}

func TestAMessageThatMayHaveGoneThrough(t *testing.T) {
	lost := func(context.Context, textmessage.Message) textmessage.Result {
		return textmessage.Result{Verdict: textmessage.SendUncertain, Reason: "lost"}
	}
	answer := func(v textmessage.Verdict) func(context.Context, textmessage.Message) textmessage.Result {
		return func(context.Context, textmessage.Message) textmessage.Result {
			return textmessage.Result{Verdict: v, GatewayID: "found", Reason: "asked"}
		}
	}
	for name, tt := range map[string]struct {
		find   func(context.Context, textmessage.Message) textmessage.Result // nil: it cannot be asked
		state  textmessage.State
		reason string
		sent   int
	}{
		"it cannot be asked":              {nil, textmessage.StateFailed, "it is not known whether the gateway took it: lost", textmessage.MaxUncertain},
		"it has it":                       {answer(textmessage.SendAccepted), textmessage.StateSent, "", 1},
		"it has it not":                   {answer(textmessage.SendDeferred), textmessage.StateFailed, "it is not known whether the gateway took it: lost", textmessage.MaxUncertain},
		"it does not say for a long time": {answer(textmessage.SendUncertain), textmessage.StateFailed, "tried too often: asked", 1},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				id := w.owe(acme, textmessage.KindFailed, phone)
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
				id := w.owe(acme, textmessage.KindFailed, phone)
				w.write(func(ctx context.Context, tx store.Writer) error {
					_, _, err := tx.ClaimMessage(ctx, w.message(id), "the dead", now(), now().Add(30*time.Second))
					return err
				})
				g := asked{gateway{w, taken}, func(context.Context, textmessage.Message) textmessage.Result {
					if tt.found {
						return textmessage.Result{Verdict: textmessage.SendAccepted, GatewayID: "found"}
					}
					return textmessage.Result{Verdict: textmessage.SendDeferred}
				}}
				start := now()
				w.during(func() { time.Sleep(time.Hour) }, w.sender(g))
				m := w.is(id, textmessage.StateSent, "")
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
		id := w.owe(acme, textmessage.KindFailed, phone)
		for range textmessage.MaxUncertain {
			w.write(func(ctx context.Context, tx store.Writer) error {
				m := w.message(id)
				if m.State == textmessage.StateSending {
					m.Unsure++
				}
				_, _, err := tx.ClaimMessage(ctx, m, newID(), now(), now().Add(time.Second))
				return err
			})
			time.Sleep(time.Minute)
		}
		w.during(func() { time.Sleep(time.Hour) }, w.sender(gateway{w, taken}))
		w.is(id, textmessage.StateFailed, "it is not known whether it was sent")
	})
}

func TestAReportSettlesWhatIsNotKnown(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		id := w.owe(acme, textmessage.KindFailed, phone)
		g := gateway{w, func(ctx context.Context, m textmessage.Message) textmessage.Result {
			if err := w.desk.Report(ctx, textmessage.DeliveryReport{Message: m.ID, GatewayID: "g", State: textmessage.StateDelivered}); err != nil {
				t.Error(err)
			}
			return textmessage.Result{Verdict: textmessage.SendUncertain, Reason: "lost"}
		}}
		w.during(func() { time.Sleep(24 * time.Hour) }, w.sender(g))
		if m := w.is(id, textmessage.StateDelivered, ""); m.GatewayID != "g" || len(w.sendings()) != 1 {
			t.Errorf("sent %d times: %+v", len(w.sendings()), m)
		}
	})
}

func TestCapsAreKept(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		s := w.sender(gateway{w, taken})
		s.Caps = textmessage.Caps{NumberHour: 2, NumberDay: 3, OrganizationHour: 4, OrganizationDay: 6}
		count := func(state textmessage.State) (n int) {
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
			if gotSent, gotHeld := count(textmessage.StateSent), count(textmessage.StateSuppressed); gotSent != sent || gotHeld != held {
				t.Errorf("%s: %d sent and %d held back, want %d and %d", what, gotSent, gotHeld, sent, held)
			}
		}
		w.during(func() {
			for range 3 {
				w.owe(acme, textmessage.KindFailed, phone)
			}
			expect("three to a number", 2, 1)
			for _, other := range []lastmile.Phone{"+12125550101", "+12125550102", "+12125550103"} {
				w.owe(acme, textmessage.KindFailed, other)
			}
			expect("five of an organization", 4, 2)
			w.owe(zenith, textmessage.KindFailed, "+12125550104")
			expect("another organization has room", 5, 2)
			w.owe(zenith, textmessage.KindFailed, phone)
			expect("the number has none, whoever writes", 5, 3)
			time.Sleep(2 * time.Hour)
			last := w.owe(acme, textmessage.KindFailed, phone)
			expect("an hour later it has", 6, 3)
			w.is(last, textmessage.StateSent, "")
			held := w.owe(acme, textmessage.KindFailed, phone)
			expect("not for a fourth that day", 6, 4)
			if m := w.is(held, textmessage.StateSuppressed, "too many messages to this number in a day"); m.Body == "" || !m.Sent.IsZero() {
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
		waiting, invitation := w.owe(acme, textmessage.KindFailed, phone), w.owe(acme, textmessage.KindInvitation, phone)
		w.write(func(ctx context.Context, tx store.Writer) error {
			return tx.SaveOptOut(ctx, textmessage.OptOut{Organization: acme, Phone: phone, At: now()})
		})
		w.during(func() { time.Sleep(time.Minute) }, w.sender(gateway{w, taken}))
		w.is(waiting, textmessage.StateSuppressed, "the recipient wants no messages")
		w.is(invitation, textmessage.StateSent, "")
	})
}

// A gateway that hangs keeps a node no longer than its patience.
func TestAGatewayKnowsOfOneWhoWantsNoMessages(t *testing.T) {
	for name, answer := range map[string]textmessage.Result{
		"when it is sent": {Verdict: textmessage.SendRejected, Reason: "opted out", OptedOut: true},
		"later":           {Verdict: textmessage.SendAccepted},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				defer w.close()
				grace := w.recipient(acme, false)
				sender := w.sender(gateway{w, func(context.Context, textmessage.Message) textmessage.Result { return answer }})
				first := w.owe(acme, textmessage.KindStarted, phone)
				var second, theirs lastmile.MessageID
				w.during(func() {
					time.Sleep(time.Minute)
					if answer.Verdict == textmessage.SendAccepted {
						for range 2 {
							err := w.desk.Report(t.Context(), textmessage.DeliveryReport{Message: first, State: textmessage.StateFailed, Reason: "opted out", OptedOut: true})
							if err != nil {
								t.Error(err)
							}
						}
					}
					second, theirs = w.owe(acme, textmessage.KindCompleted, phone), w.owe(zenith, textmessage.KindCompleted, phone)
					time.Sleep(time.Minute)
				}, sender)
				w.is(first, textmessage.StateFailed, "opted out")
				w.is(second, textmessage.StateSuppressed, "the recipient wants no messages")
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
		id := w.owe(acme, textmessage.KindFailed, phone)
		g := gateway{w, func(ctx context.Context, _ textmessage.Message) textmessage.Result {
			<-ctx.Done()
			return textmessage.Result{Verdict: textmessage.SendUncertain, Reason: "the node is stopping"}
		}}
		w.during(func() { time.Sleep(time.Second) }, w.sender(g))
		if m := w.message(id); m.State != textmessage.StateQueued || m.Unsure != 1 || m.Claim != "" {
			t.Errorf("left as %+v", m)
		}
	})
}

// One organization with much to say does not keep another waiting.
func TestOrganizationsTakeTurns(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		for i := range 100 {
			w.owe(acme, textmessage.KindFailed, lastmile.Phone("+121255501"+string(rune('0'+i/10))+string(rune('0'+i%10))))
		}
		w.owe(zenith, textmessage.KindFailed, phone)
		g := gateway{w, func(ctx context.Context, m textmessage.Message) textmessage.Result {
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
