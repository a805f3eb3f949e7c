package messaging_test

import (
	"context"
	"encoding/json"
	"testing"

	"dray/internal/lastmile"
	"dray/internal/messaging"
	"dray/internal/store/sqlstore"
	"dray/internal/textmessage"
)

// events returns the events of an organization, in order.
func (w *fixture) events(org lastmile.OrganizationID) (bodies []map[string]any) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx *sqlstore.Tx) error {
		bodies = nil
		if _, err := tx.NumberEvents(ctx, 100); err != nil {
			return err
		}
		events, err := tx.EventsAfter(ctx, org, 0, 100, 0)
		for _, e := range events {
			var body map[string]any
			if err := json.Unmarshal(e.Body, &body); err != nil {
				return err
			}
			bodies = append(bodies, body)
		}
		return err
	})
	return bodies
}

func (w *fixture) recipient(org lastmile.OrganizationID, skip bool) lastmile.RecipientID {
	w.t.Helper()
	id := lastmile.RecipientID(newID())
	w.write(func(ctx context.Context, tx *sqlstore.Tx) error {
		return tx.SaveRecipient(ctx, lastmile.Recipient{
			ID: id, Organization: org, Name: "Grace", Phone: phone, SkipSMSNotifications: skip, Created: now(), Modified: now(),
		})
	})
	return id
}

func (w *fixture) skips(org lastmile.OrganizationID, id lastmile.RecipientID) (skips bool) {
	w.t.Helper()
	err := w.store.Read(w.t.Context(), func(r *sqlstore.Tx) error {
		found, err := r.Recipient(w.t.Context(), org, id)
		skips = found.SkipSMSNotifications
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return skips
}

// wrote records that an organization has sent a message to the phone from a number.
func (w *fixture) wrote(org lastmile.OrganizationID, from string) {
	w.t.Helper()
	m := textmessage.New(lastmile.MessageID(newID()), org, textmessage.KindFailed, phone, "hello", now(), now())
	m.Task = lastmile.TaskID(newID())
	w.write(func(ctx context.Context, tx *sqlstore.Tx) error {
		if err := tx.SaveMessage(ctx, m); err != nil {
			return err
		}
		m.Sent = now()
		m.Record(textmessage.Result{Verdict: textmessage.SendAccepted}, "fake", now())
		m.From = from
		return tx.SaveMessageResult(ctx, m)
	})
}

func (w *fixture) receive(id, to, body string) {
	w.t.Helper()
	err := w.messages.Receive(w.t.Context(), lastmile.Reply{Gateway: "fake", ID: id, From: phone, To: to, Body: body})
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestStopAndStart(t *testing.T) {
	w := newFixture(t)
	defer w.close()
	willing, unwilling := w.recipient(acme, false), w.recipient(zenith, true)
	w.wrote(acme, "+12125550001")
	w.wrote(zenith, "+12125550001")
	w.receive("1", "+12125550001", "Stop")
	if !w.skips(acme, willing) || !w.skips(zenith, unwilling) {
		t.Error("the recipient still gets messages")
	}
	for _, org := range []lastmile.OrganizationID{acme, zenith} {
		events := w.events(org)
		if len(events) != 1 {
			t.Fatalf("%s got the events %v", org, events)
		}
		e, who := events[0], events[0]["recipient"].(map[string]any)
		if e["triggerId"] != 17.0 || e["triggerName"] != "SMSRecipientOptOut" || e["SMS"] != "Stop" || e["timestamp"] != e["time"] || e["time"] == nil ||
			who["name"] != "Grace" || who["phone"] != string(phone) || len(e["data"].(map[string]any)) != 0 {
			t.Errorf("the event is %v", e)
		}
	}
	w.receive("2", "+12125550001", "STOP")
	if n := len(w.events(acme)); n != 1 {
		t.Errorf("%d events although nothing changed", n)
	}
	w.receive("3", "+12125550001", "start")
	if w.skips(acme, willing) || !w.skips(zenith, unwilling) {
		t.Error("what the organization set itself stays, what the recipient set goes")
	}
	w.receive("1", "+12125550001", "Stop") // a duplicate delivery
	if w.skips(acme, willing) {
		t.Error("a duplicate reply had an effect")
	}
}

func TestReplyGoesToLastSender(t *testing.T) {
	w := newFixture(t)
	defer w.close()
	w.recipient(acme, false)
	w.recipient(zenith, false)
	w.wrote(zenith, "+12125550002")
	w.wrote(acme, "+12125550001")
	w.receive("1", "+12125550001", "where are you?")
	w.receive("1", "+12125550001", "where are you?")
	w.receive("2", "+12125550002", "and you?")
	w.receive("3", "+12125550009", "hello?")
	for org, want := range map[lastmile.OrganizationID][]string{acme: {"where are you?", "hello?"}, zenith: {"and you?"}} {
		events := w.events(org)
		if len(events) != len(want) {
			t.Fatalf("%s got the events %v", org, events)
		}
		for i, e := range events {
			if e["triggerId"] != 14.0 || e["triggerName"] != "smsRecipientResponseMissed" || e["from"] != string(phone) || e["body"] != want[i] || e["to"] == nil {
				t.Errorf("the event is %v", e)
			}
		}
	}
}

func TestReplyFromUnknownNumber(t *testing.T) {
	w := newFixture(t)
	defer w.close()
	w.receive("1", "+12125550001", "STOP")
	w.recipient(acme, false)
	w.receive("2", "+12125550001", "hello")
	if events := w.events(acme); len(events) != 1 || events[0]["body"] != "hello" {
		t.Errorf("the event is %v", events)
	}
	if events := w.events(zenith); len(events) != 0 {
		t.Errorf("another organization got the events %v", events)
	}
	w.recipient(zenith, false)
	w.receive("3", "+12125550001", "STOP")
	for _, org := range []lastmile.OrganizationID{acme, zenith} {
		out, err := w.messages.OptOuts(t.Context(), lastmile.Principal{Organization: org}, "")
		if err != nil || len(out) != 1 || out[0].Phone != phone {
			t.Errorf("the opt-outs from %s are %v: %v", org, out, err)
		}
	}
}

func TestOptOutOfAShortCodeEnds(t *testing.T) {
	w := newFixture(t)
	defer w.close()
	const code = "72345"
	w.messages.ParsePhone = func(string, string) (lastmile.Phone, error) { return "", lastmile.Invalid("not a phone number") }
	w.write(func(ctx context.Context, tx *sqlstore.Tx) error {
		return tx.SaveOptOut(ctx, textmessage.OptOut{Organization: acme, Phone: code, At: now()})
	})
	who := lastmile.Principal{Organization: acme}
	if err := w.messages.EndOptOut(t.Context(), who, code); err != nil {
		t.Error(err)
	}
	if out, err := w.messages.OptOuts(t.Context(), who, ""); err != nil || len(out) != 0 {
		t.Errorf("the opt-outs are %v: %v", out, err)
	}
}

func TestMessagesOfAShortCodeAreListed(t *testing.T) {
	w := newFixture(t)
	defer w.close()
	const code = "72345"
	w.messages.ParsePhone = func(string, string) (lastmile.Phone, error) { return "", lastmile.Invalid("not a phone number") }
	w.write(func(ctx context.Context, tx *sqlstore.Tx) error {
		for _, from := range []lastmile.Phone{code, phone} {
			received := textmessage.Received{ID: lastmile.MessageID(newID()), Organization: acme, At: now(), From: from, Body: "hello"}
			if err := tx.SaveReceived(ctx, received); err != nil {
				return err
			}
		}
		return nil
	})
	who := lastmile.Principal{Organization: acme}
	if got, err := w.messages.Replies(t.Context(), who, "", code); err != nil || len(got) != 1 || got[0].From != code {
		t.Errorf("the replies are %v: %v", got, err)
	}
	if got, err := w.messages.List(t.Context(), who, messaging.Query{Phone: code}); err != nil || len(got) != 0 {
		t.Errorf("the messages are %v: %v", got, err)
	}
	for _, wrong := range []string{"72", "723456789", "7234x", "+72345"} {
		if got, err := w.messages.Replies(t.Context(), who, "", wrong); err == nil {
			t.Errorf("the replies from %s are %v", wrong, got)
		}
	}
}

func TestInvalidReplies(t *testing.T) {
	w := newFixture(t)
	defer w.close()
	for name, reply := range map[string]lastmile.Reply{
		"no id":                {From: phone, Body: "x"},
		"no number":            {ID: "1", Body: "x"},
		"an id with a control": {ID: "1\x00", From: phone, Body: "x"},
		"a long number":        {ID: "1", From: lastmile.Phone(make([]byte, 100)), Body: "x"},
	} {
		if err := w.messages.Receive(t.Context(), reply); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if err := w.messages.Report(t.Context(), textmessage.DeliveryReport{Message: "unknown", State: textmessage.StateSent}); !lastmile.IsNotFound(err) {
		t.Errorf("a report about an unknown message: %v", err)
	}
}
