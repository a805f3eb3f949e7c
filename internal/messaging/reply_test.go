package messaging_test

import (
	"context"
	"encoding/json"
	"testing"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/textmessage"
)

// told are the events of an organization, in order.
func (w *world) told(org lastmile.OrganizationID) (bodies []map[string]any) {
	w.t.Helper()
	w.write(func(ctx context.Context, tx store.Writer) error {
		bodies = nil
		if _, err := tx.NumberEvents(ctx, 100); err != nil {
			return err
		}
		events, err := tx.EventsAfter(ctx, org, 0, 100)
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

func (w *world) recipient(org lastmile.OrganizationID, skip bool) lastmile.RecipientID {
	w.t.Helper()
	id := lastmile.RecipientID(newID())
	w.write(func(ctx context.Context, tx store.Writer) error {
		return tx.SaveRecipient(ctx, lastmile.Recipient{
			ID: id, Organization: org, Name: "Grace", Phone: phone, SkipSMSNotifications: skip, Created: now(), Modified: now(),
		})
	})
	return id
}

func (w *world) skips(org lastmile.OrganizationID, id lastmile.RecipientID) (skips bool) {
	w.t.Helper()
	err := w.store.Read(w.t.Context(), func(r store.Reader) error {
		found, err := r.Recipient(w.t.Context(), org, id)
		skips = found.SkipSMSNotifications
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return skips
}

// wrote notes that an organization has written to the number from one of ours.
func (w *world) wrote(org lastmile.OrganizationID, from string) {
	w.t.Helper()
	m := textmessage.New(lastmile.MessageID(newID()), org, textmessage.KindFailed, phone, "hello", now(), now())
	m.Task = lastmile.TaskID(newID())
	w.write(func(ctx context.Context, tx store.Writer) error {
		if err := tx.SaveMessage(ctx, m); err != nil {
			return err
		}
		claimed, _, err := tx.ClaimMessage(ctx, m, m.Claim+"x", now(), now())
		if err != nil {
			return err
		}
		claimed.Record(textmessage.Result{Verdict: textmessage.SendAccepted}, "fake", now())
		claimed.From = from
		_, err = tx.SaveSent(ctx, claimed, "x")
		return err
	})
}

func (w *world) receive(id, to, body string) {
	w.t.Helper()
	err := w.desk.Receive(w.t.Context(), lastmile.Reply{Gateway: "fake", ID: id, From: phone, To: to, Body: body})
	if err != nil {
		w.t.Fatal(err)
	}
}

func TestARecipientStopsAndStartsMessages(t *testing.T) {
	w := newWorld(t)
	defer w.close()
	willing, unwilling := w.recipient(acme, false), w.recipient(zenith, true)
	w.wrote(acme, "+12125550001")
	w.wrote(zenith, "+12125550001")
	w.receive("1", "+12125550001", "Stop")
	if !w.skips(acme, willing) || !w.skips(zenith, unwilling) {
		t.Error("the recipient still gets messages")
	}
	for _, org := range []lastmile.OrganizationID{acme, zenith} {
		events := w.told(org)
		if len(events) != 1 {
			t.Fatalf("%s was told %v", org, events)
		}
		e, who := events[0], events[0]["recipient"].(map[string]any)
		if e["triggerId"] != 17.0 || e["triggerName"] != "SMSRecipientOptOut" || e["SMS"] != "Stop" || e["timestamp"] != e["time"] || e["time"] == nil ||
			who["name"] != "Grace" || who["phone"] != string(phone) || len(e["data"].(map[string]any)) != 0 {
			t.Errorf("told %v", e)
		}
	}
	w.receive("2", "+12125550001", "STOP")
	if n := len(w.told(acme)); n != 1 {
		t.Errorf("told %d times that nothing changed", n)
	}
	w.receive("3", "+12125550001", "start")
	if w.skips(acme, willing) || !w.skips(zenith, unwilling) {
		t.Error("what the organization set itself stays, what the recipient set goes")
	}
	w.receive("1", "+12125550001", "Stop") // brought once more
	if w.skips(acme, willing) {
		t.Error("an old reply counted again")
	}
}

func TestAReplyIsToldToWhoeverWroteLast(t *testing.T) {
	w := newWorld(t)
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
		events := w.told(org)
		if len(events) != len(want) {
			t.Fatalf("%s was told %v", org, events)
		}
		for i, e := range events {
			if e["triggerId"] != 14.0 || e["triggerName"] != "smsRecipientResponseMissed" || e["from"] != string(phone) || e["body"] != want[i] || e["to"] == nil {
				t.Errorf("told %v", e)
			}
		}
	}
}

func TestAReplyOfOneToWhomNobodyWrote(t *testing.T) {
	w := newWorld(t)
	defer w.close()
	w.receive("1", "+12125550001", "STOP")
	w.recipient(acme, false)
	w.receive("2", "+12125550001", "hello")
	if events := w.told(acme); len(events) != 1 || events[0]["body"] != "hello" {
		t.Errorf("told %v", events)
	}
	if events := w.told(zenith); len(events) != 0 {
		t.Errorf("another organization was told %v", events)
	}
}

func TestRepliesThatCannotBe(t *testing.T) {
	w := newWorld(t)
	defer w.close()
	for name, reply := range map[string]lastmile.Reply{
		"no id":                {From: phone, Body: "x"},
		"no number":            {ID: "1", Body: "x"},
		"an id with a control": {ID: "1\x00", From: phone, Body: "x"},
		"a long number":        {ID: "1", From: lastmile.Phone(make([]byte, 100)), Body: "x"},
	} {
		if err := w.desk.Receive(t.Context(), reply); err == nil {
			t.Errorf("%s: taken in", name)
		}
	}
	if err := w.desk.Report(t.Context(), textmessage.DeliveryReport{Message: "unknown", State: textmessage.StateSent}); !lastmile.IsNotFound(err) {
		t.Errorf("a report of nothing: %v", err)
	}
}
