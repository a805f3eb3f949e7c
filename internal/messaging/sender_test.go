package messaging_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
	"dray/internal/textmessage"
)

// inBubble runs a test in a synctest bubble.
func inBubble(t *testing.T, test func(t *testing.T, w *fixture)) {
	synctest.Test(t, func(t *testing.T) {
		w := newFixture(t)
		defer w.close()
		test(t, w)
	})
}

func TestMessageIsSentOnce(t *testing.T) {
	inBubble(t, func(t *testing.T, w *fixture) {
		var ids []lastmile.MessageID
		for range 40 {
			ids = append(ids, w.enqueue(acme, textmessage.KindFailed, lastmile.Phone("+1212555"+newID()[:4])), w.enqueue(zenith, textmessage.KindFailed, lastmile.Phone("+1212556"+newID()[:4])))
		}
		g := gateway{w, func(ctx context.Context, m textmessage.Message) textmessage.Result {
			time.Sleep(time.Second)
			return acceptSend(ctx, m)
		}}
		w.during(func() { time.Sleep(time.Minute) }, w.sender(g), w.sender(g), w.sender(g))
		seen := map[lastmile.MessageID]int{}
		for _, s := range w.sendings() {
			seen[s.message.ID]++
		}
		for _, id := range ids {
			m := w.wantState(id, textmessage.StateSent, "")
			if seen[id] != 1 || m.Attempts != 1 || m.Gateway != "fake" || m.GatewayID != "g-"+string(id) || m.From != "+12125550001" || m.Body != "hello" {
				t.Errorf("sent %d times: %+v", seen[id], m)
			}
		}
	})
}

func TestInvitationIsErasedOnceSent(t *testing.T) {
	inBubble(t, func(t *testing.T, w *fixture) {
		id := w.enqueue(acme, textmessage.KindInvitation, phone)
		w.during(func() { time.Sleep(time.Minute) }, w.sender(gateway{w, acceptSend}))
		if m := w.wantState(id, textmessage.StateSent, ""); m.Body != "" {
			t.Errorf("its body is %q", m.Body)
		}
	})
}

func TestOutboxKeepsMessages(t *testing.T) {
	inBubble(t, func(t *testing.T, w *fixture) {
		id := w.enqueue(acme, textmessage.KindInvitation, phone)
		w.during(func() { time.Sleep(time.Minute) }, w.sender(nil))
		if m := w.wantState(id, textmessage.StateSent, ""); m.Body != "hello" || m.Gateway != "outbox" {
			t.Errorf("kept as %+v", m)
		}
	})
}

func TestGatewayDownAtFirst(t *testing.T) {
	inBubble(t, func(t *testing.T, w *fixture) {
		start := now()
		id := w.enqueue(acme, textmessage.KindStarted, phone)
		g := gateway{w, func(ctx context.Context, m textmessage.Message) textmessage.Result {
			if now().Before(start.Add(time.Minute)) {
				return textmessage.Result{Verdict: textmessage.SendDeferred, Reason: "down"}
			}
			return acceptSend(ctx, m)
		}}
		w.during(func() { time.Sleep(time.Hour) }, w.sender(g))
		if m := w.wantState(id, textmessage.StateSent, ""); m.Attempts != 4 || len(w.sendings()) != 4 {
			t.Errorf("sent with attempt %d", m.Attempts)
		}
	})
}

func TestGatewayDownForGood(t *testing.T) {
	inBubble(t, func(t *testing.T, w *fixture) {
		late := w.enqueue(acme, textmessage.KindArrived, phone)
		g := gateway{w, func(context.Context, textmessage.Message) textmessage.Result {
			return textmessage.Result{Verdict: textmessage.SendDeferred, Reason: "down"}
		}}
		w.during(func() { time.Sleep(24 * time.Hour) }, w.sender(g))
		w.wantState(late, textmessage.StateFailed, "too late to be of use: down")
	})
}

func TestExpiredMessageIsNotSent(t *testing.T) {
	inBubble(t, func(t *testing.T, w *fixture) {
		id := w.enqueue(acme, textmessage.KindETA, phone)
		time.Sleep(11 * time.Minute)
		w.during(func() { time.Sleep(time.Minute) }, w.sender(gateway{w, acceptSend}))
		if m := w.wantState(id, textmessage.StateFailed, "too late to be of use"); !m.Sent.IsZero() || len(w.sendings()) != 0 {
			t.Error("it was sent")
		}
	})
}

func TestUncertainMessage(t *testing.T) {
	lost := func(context.Context, textmessage.Message) textmessage.Result {
		return textmessage.Result{Verdict: textmessage.SendUncertain, Reason: "lost"}
	}
	response := func(v textmessage.Verdict) func(context.Context, textmessage.Message, []string) textmessage.Result {
		return func(context.Context, textmessage.Message, []string) textmessage.Result {
			return textmessage.Result{Verdict: v, GatewayID: "found", Reason: "asked"}
		}
	}
	for name, tt := range map[string]struct {
		find   func(context.Context, textmessage.Message, []string) textmessage.Result // nil: it cannot be asked
		state  textmessage.State
		reason string
		sent   int
	}{
		"it cannot find messages":          {nil, textmessage.StateFailed, "it is not known whether the gateway took it: lost", textmessage.MaxUncertain},
		"it has the message":               {response(textmessage.SendAccepted), textmessage.StateSent, "", 1},
		"it does not have the message":     {response(textmessage.SendDeferred), textmessage.StateFailed, "it is not known whether the gateway took it: lost", textmessage.MaxUncertain},
		"it does not know for a long time": {response(textmessage.SendUncertain), textmessage.StateFailed, "tried too often: asked", 1},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *fixture) {
				id := w.enqueue(acme, textmessage.KindFailed, phone)
				s := w.sender(gateway{w, lost})
				if tt.find != nil {
					s = w.sender(findingGateway{gateway{w, lost}, tt.find})
				}
				w.during(func() { time.Sleep(24 * time.Hour) }, s)
				w.wantState(id, tt.state, tt.reason)
				if n := len(w.sendings()); n != tt.sent {
					t.Errorf("sent %d times, want %d", n, tt.sent)
				}
			})
		})
	}
}

// twin is a gateway that loses responses, as Twilio does: it has some of the messages that it
// was sent, all with the same text to the same number, and knows them by its own ids only.
type twin struct {
	mu   sync.Mutex
	has  []string
	lose func(attempt int) (kept bool) // for each attempt that is answered with a lost response
	sent int
}

func (g *twin) send(context.Context, textmessage.Message) textmessage.Result {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sent++
	id := fmt.Sprint("SM", g.sent)
	if g.sent <= 2 {
		if g.lose(g.sent) {
			g.has = append(g.has, id)
		}
		return textmessage.Result{Verdict: textmessage.SendUncertain, Reason: "lost"}
	}
	g.has = append(g.has, id)
	return textmessage.Result{Verdict: textmessage.SendAccepted, GatewayID: id}
}

func (g *twin) find(_ context.Context, _ textmessage.Message, taken []string) textmessage.Result {
	g.mu.Lock()
	found := textmessage.Result{Verdict: textmessage.SendDeferred}
	for _, id := range g.has {
		if !slices.Contains(taken, id) {
			found = textmessage.Result{Verdict: textmessage.SendAccepted, GatewayID: id}
			break
		}
	}
	g.mu.Unlock()
	time.Sleep(time.Second) // both messages are looked for at the same time
	return found
}

// TestEqualMessagesAreNotConfused sends two messages with the same text to the same number.
// Both responses are lost. What the gateway has of them counts for one message each.
func TestEqualMessagesAreNotConfused(t *testing.T) {
	for name, tt := range map[string]struct {
		lose func(attempt int) bool
		sent int
	}{
		"the gateway has neither": {func(int) bool { return false }, 4},
		"it has one":              {func(attempt int) bool { return attempt == 1 }, 3},
		"it has both":             {func(int) bool { return true }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *fixture) {
				g := &twin{lose: tt.lose}
				first, second := w.enqueue(acme, textmessage.KindFailed, phone), w.enqueue(zenith, textmessage.KindFailed, phone)
				w.during(func() { time.Sleep(time.Hour) }, w.sender(findingGateway{gateway{w, g.send}, g.find}))
				a, b := w.wantState(first, textmessage.StateSent, ""), w.wantState(second, textmessage.StateSent, "")
				if a.GatewayID == b.GatewayID || len(g.has) != 2 || g.sent != tt.sent {
					t.Errorf("they are %s and %s, of %v; sent %d times, want %d", a.GatewayID, b.GatewayID, g.has, g.sent, tt.sent)
				}
			})
		})
	}
}

// TestUncertainWhileAnEqualOneIsSent looks for a message while another with the same text is
// sent to the same number: what the gateway has is the other one.
func TestUncertainWhileAnEqualOneIsSent(t *testing.T) {
	inBubble(t, func(t *testing.T, w *fixture) {
		uncertain := w.enqueue(acme, textmessage.KindFailed, phone)
		w.write(func(ctx context.Context, tx *sqlstore.Tx) error { return begin(ctx, tx, uncertain, now()) })
		var has []string
		g := findingGateway{gateway{w, func(_ context.Context, m textmessage.Message) textmessage.Result {
			has = append(has, string(m.ID))
			time.Sleep(10 * time.Second)
			return textmessage.Result{Verdict: textmessage.SendAccepted, GatewayID: string(m.ID)}
		}}, func(_ context.Context, _ textmessage.Message, taken []string) textmessage.Result {
			time.Sleep(time.Second)
			for _, id := range has {
				if !slices.Contains(taken, id) {
					return textmessage.Result{Verdict: textmessage.SendAccepted, GatewayID: id}
				}
			}
			return textmessage.Result{Verdict: textmessage.SendDeferred}
		}}
		other := w.enqueue(zenith, textmessage.KindFailed, phone)
		w.during(func() { time.Sleep(time.Hour) }, w.sender(g))
		for _, id := range []lastmile.MessageID{uncertain, other} {
			if m := w.wantState(id, textmessage.StateSent, ""); m.GatewayID != string(id) {
				t.Errorf("message %s is %s at the gateway", id, m.GatewayID)
			}
		}
	})
}

// A process that was killed leaves a lease, and it is not known whether its
// message was sent.
func TestCrashWhileSending(t *testing.T) {
	for name, tt := range map[string]struct {
		found bool
		sent  int
	}{
		"after the gateway took it":  {true, 0},
		"before the gateway took it": {false, 1},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, w *fixture) {
				id := w.enqueue(acme, textmessage.KindFailed, phone)
				w.write(func(ctx context.Context, tx *sqlstore.Tx) error {
					return begin(ctx, tx, id, now().Add(30*time.Second))
				})
				g := findingGateway{gateway{w, acceptSend}, func(context.Context, textmessage.Message, []string) textmessage.Result {
					if tt.found {
						return textmessage.Result{Verdict: textmessage.SendAccepted, GatewayID: "found"}
					}
					return textmessage.Result{Verdict: textmessage.SendDeferred}
				}}
				start := now()
				w.during(func() { time.Sleep(time.Hour) }, w.sender(g))
				m := w.wantState(id, textmessage.StateSent, "")
				if n := len(w.sendings()); n != tt.sent || m.Uncertain != 1 {
					t.Errorf("sent %d times with %d uncertain attempts, want %d with 1", n, m.Uncertain, tt.sent)
				}
				for _, s := range w.sendings() {
					if s.at.Before(start.Add(30 * time.Second)) {
						t.Error("sent before the lease expired")
					}
				}
			})
		})
	}
}

func TestMessageThatCrashesProcesses(t *testing.T) {
	inBubble(t, func(t *testing.T, w *fixture) {
		id := w.enqueue(acme, textmessage.KindFailed, phone)
		for range textmessage.MaxUncertain {
			w.write(func(ctx context.Context, tx *sqlstore.Tx) error {
				return begin(ctx, tx, id, now().Add(time.Second))
			})
			time.Sleep(time.Minute)
		}
		w.during(func() { time.Sleep(time.Hour) }, w.sender(gateway{w, acceptSend}))
		w.wantState(id, textmessage.StateFailed, "it is not known whether it was sent")
	})
}

func TestReportResolvesUncertainty(t *testing.T) {
	inBubble(t, func(t *testing.T, w *fixture) {
		id := w.enqueue(acme, textmessage.KindFailed, phone)
		g := gateway{w, func(ctx context.Context, m textmessage.Message) textmessage.Result {
			if err := w.messages.Report(ctx, textmessage.DeliveryReport{Message: m.ID, GatewayID: "g", State: textmessage.StateDelivered}); err != nil {
				t.Error(err)
			}
			return textmessage.Result{Verdict: textmessage.SendUncertain, Reason: "lost"}
		}}
		w.during(func() { time.Sleep(24 * time.Hour) }, w.sender(g))
		if m := w.wantState(id, textmessage.StateDelivered, ""); m.GatewayID != "g" || len(w.sendings()) != 1 {
			t.Errorf("sent %d times: %+v", len(w.sendings()), m)
		}
	})
}

func TestCaps(t *testing.T) {
	inBubble(t, func(t *testing.T, w *fixture) {
		s := w.sender(gateway{w, acceptSend})
		s.Policy.Caps = textmessage.Caps{NumberHour: 2, NumberDay: 3, OrganizationHour: 4, OrganizationDay: 6}
		count := func(state textmessage.State) (n int) {
			err := w.store.Read(t.Context(), func(r *sqlstore.Tx) error {
				found, err := r.Messages(t.Context(), textmessage.Filter{State: state})
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
				t.Errorf("%s: %d sent and %d suppressed, want %d and %d", what, gotSent, gotHeld, sent, held)
			}
		}
		w.during(func() {
			for range 3 {
				w.enqueue(acme, textmessage.KindFailed, phone)
			}
			expect("three to a number", 2, 1)
			for _, other := range []lastmile.Phone{"+12125550101", "+12125550102", "+12125550103"} {
				w.enqueue(acme, textmessage.KindFailed, other)
			}
			expect("five of an organization", 4, 2)
			w.enqueue(zenith, textmessage.KindFailed, "+12125550104")
			expect("another organization has room", 5, 2)
			w.enqueue(zenith, textmessage.KindFailed, phone)
			expect("the number has room for another organization", 6, 2)
			time.Sleep(2 * time.Hour)
			last := w.enqueue(acme, textmessage.KindFailed, phone)
			expect("an hour later it has for the first", 7, 2)
			w.wantState(last, textmessage.StateSent, "")
			held := w.enqueue(acme, textmessage.KindFailed, phone)
			expect("not for a fourth that day", 7, 3)
			if m := w.wantState(held, textmessage.StateSuppressed, "too many messages to this number in a day"); m.Body == "" || !m.Sent.IsZero() {
				t.Errorf("suppressed as %+v", m)
			}
		}, s)
		if got := s.Stats(); got.Sent != 7 || got.Suppressed != 3 {
			t.Errorf("counted %+v", got)
		}
	})
}

func TestOptedOutNumbersAreSuppressed(t *testing.T) {
	inBubble(t, func(t *testing.T, w *fixture) {
		waiting, invitation := w.enqueue(acme, textmessage.KindFailed, phone), w.enqueue(acme, textmessage.KindInvitation, phone)
		w.write(func(ctx context.Context, tx *sqlstore.Tx) error {
			return tx.SaveOptOut(ctx, textmessage.OptOut{Organization: acme, Phone: phone, At: now()})
		})
		w.during(func() { time.Sleep(time.Minute) }, w.sender(gateway{w, acceptSend}))
		w.wantState(waiting, textmessage.StateSuppressed, "the recipient wants no messages")
		w.wantState(invitation, textmessage.StateSent, "")
	})
}

func TestGatewayReportsOptOut(t *testing.T) {
	for name, response := range map[string]textmessage.Result{
		"when it is sent": {Verdict: textmessage.SendRejected, Reason: "opted out", OptedOut: true},
		"later":           {Verdict: textmessage.SendAccepted},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFixture(t)
				defer w.close()
				grace := w.recipient(acme, false)
				sender := w.sender(gateway{w, func(context.Context, textmessage.Message) textmessage.Result { return response }})
				first := w.enqueue(acme, textmessage.KindStarted, phone)
				var second, theirs lastmile.MessageID
				w.during(func() {
					time.Sleep(time.Minute)
					if response.Verdict == textmessage.SendAccepted {
						for range 2 {
							err := w.messages.Report(t.Context(), textmessage.DeliveryReport{Message: first, State: textmessage.StateFailed, Reason: "opted out", OptedOut: true})
							if err != nil {
								t.Error(err)
							}
						}
					}
					second, theirs = w.enqueue(acme, textmessage.KindCompleted, phone), w.enqueue(zenith, textmessage.KindCompleted, phone)
					time.Sleep(time.Minute)
				}, sender)
				w.wantState(first, textmessage.StateFailed, "opted out")
				w.wantState(second, textmessage.StateSuppressed, "the recipient wants no messages")
				if got := w.message(theirs).Attempts; got != 1 {
					t.Errorf("the other organization's message was tried %d times", got)
				}
				if !w.skips(acme, grace) {
					t.Error("the recipient still wants messages")
				}
				events := w.events(acme)
				if len(events) != 1 || events[0]["triggerName"] != "SMSRecipientOptOut" || events[0]["SMS"] != "" {
					t.Errorf("the organization got the events %v", events)
				}
				w.receive("r1", "+12125550001", "START")
				if w.skips(acme, grace) {
					t.Error("START does not end it")
				}
			})
		})
	}
}

// A gateway that hangs does not keep a node from stopping.
func TestStopWhileSending(t *testing.T) {
	inBubble(t, func(t *testing.T, w *fixture) {
		id := w.enqueue(acme, textmessage.KindFailed, phone)
		g := gateway{w, func(ctx context.Context, _ textmessage.Message) textmessage.Result {
			<-ctx.Done()
			return textmessage.Result{Verdict: textmessage.SendUncertain, Reason: "the node is stopping"}
		}}
		w.during(func() { time.Sleep(time.Second) }, w.sender(g))
		if m := w.message(id); m.State != textmessage.StateQueued || m.Uncertain != 1 || m.Claim != "" {
			t.Errorf("left as %+v", m)
		}
	})
}

// An organization with many messages does not keep another waiting.
func TestOrganizationsTakeTurns(t *testing.T) {
	inBubble(t, func(t *testing.T, w *fixture) {
		for i := range 100 {
			w.enqueue(acme, textmessage.KindFailed, lastmile.Phone("+121255501"+string(rune('0'+i/10))+string(rune('0'+i%10))))
		}
		w.enqueue(zenith, textmessage.KindFailed, phone)
		g := gateway{w, func(ctx context.Context, m textmessage.Message) textmessage.Result {
			time.Sleep(time.Second)
			return acceptSend(ctx, m)
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
