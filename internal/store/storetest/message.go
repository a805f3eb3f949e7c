package storetest

import (
	"errors"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/sqlstore"
	"dray/internal/textmessage"
	"dray/internal/work"
)

// text returns a message about a task that is to be sent.
func text(org lastmile.OrganizationID, id string, task lastmile.TaskID, at time.Time) textmessage.Message {
	m := textmessage.New(lastmile.MessageID(id), org, textmessage.KindStarted, "+12125550100", "hello", at, at)
	m.Task, m.From = task, "+12125550001"
	return m
}

func testMessages(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	first, again := text(acme, "m1", "t", now), text(acme, "m2", "t", now.Add(time.Second))
	other, invitation := text(zenith, "m3", "t", now), text(acme, "m4", "", now.Add(2*time.Second))
	invitation.Kind = textmessage.KindInvitation
	for _, m := range []textmessage.Message{first, again, other, invitation} {
		write(t, s, func(tx *sqlstore.Tx) error { return tx.SaveMessage(ctx, m) })
	}
	list := func(f textmessage.Filter) []textmessage.Message {
		return read(t, s, func(r *sqlstore.Tx) ([]textmessage.Message, error) { return r.Messages(ctx, f) })
	}
	same(t, "a message is not queued twice", list(textmessage.Filter{Organization: acme}), []textmessage.Message{first, invitation})
	same(t, "the newest", list(textmessage.Filter{Organization: acme, Limit: 1}), []textmessage.Message{invitation})
	same(t, "in another state", len(list(textmessage.Filter{State: textmessage.StateFailed})), 0)
	same(t, "by id", read(t, s, func(r *sqlstore.Tx) (textmessage.Message, error) { return r.MessageByID(ctx, other.ID) }), other)
	about := func(org lastmile.OrganizationID, task lastmile.TaskID, kind textmessage.Kind, to lastmile.Phone) (m textmessage.Message) {
		t.Helper()
		err := s.Read(ctx, func(r *sqlstore.Tx) error {
			one, found, err := r.MessageAbout(ctx, org, task, kind, to)
			m = one
			if found != (m.ID != "") {
				t.Errorf("found is %v for %+v", found, m)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		return m
	}
	same(t, "about a task", about(acme, "t", textmessage.KindStarted, first.To), first)
	same(t, "about another organization's", about(zenith, "t", textmessage.KindStarted, first.To), other)
	same(t, "of another kind", about(acme, "t", textmessage.KindETA, first.To), textmessage.Message{})
	same(t, "about another task", about(acme, "u", textmessage.KindStarted, first.To), textmessage.Message{})
	same(t, "to another number", about(acme, "t", textmessage.KindStarted, "+12125550199"), textmessage.Message{})
	err := s.Read(ctx, func(r *sqlstore.Tx) error { _, err := r.MessageByID(ctx, "m9"); return err })
	if !lastmile.IsNotFound(err) {
		t.Errorf("a message that is not there: %v", err)
	}
}

func testMessageResults(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	a1, a2, z1 := text(acme, "a1", "t1", now), text(acme, "a2", "t2", now.Add(time.Second)), text(zenith, "z1", "t1", now.Add(2*time.Second))
	write(t, s, func(tx *sqlstore.Tx) error {
		return errors.Join(tx.SaveMessage(ctx, a1), tx.SaveMessage(ctx, a2), tx.SaveMessage(ctx, z1))
	})
	stored := func() textmessage.Message {
		t.Helper()
		return read(t, s, func(r *sqlstore.Tx) (textmessage.Message, error) { return r.MessageByID(ctx, "a1") })
	}
	later := now.Add(time.Minute)
	sending, item := a1, work.Item{Kind: work.Messages, Organization: acme, ID: "a1", Lease: "token"}
	sending.State, sending.Attempts, sending.Uncertain, sending.Sent = textmessage.StateSending, 1, 1, later
	write(t, s, func(tx *sqlstore.Tx) error {
		_, err := tx.ClaimWork(ctx, item, later, later.Add(time.Minute))
		return errors.Join(err, tx.BeginMessage(ctx, sending))
	})
	leased := sending
	leased.Claim, leased.Next = "token", later.Add(time.Minute)
	same(t, "a message that is being sent", stored(), leased)
	sent := sending
	sent.Record(textmessage.Result{Verdict: textmessage.SendAccepted, GatewayID: "g"}, "gateway", later)
	write(t, s, func(tx *sqlstore.Tx) error {
		return errors.Join(tx.FinishWork(ctx, item), tx.SaveMessageResult(ctx, sent))
	})
	same(t, "a sent message", stored(), sent)
	sent.Report(textmessage.DeliveryReport{State: textmessage.StateDelivered, GatewayID: "g2"})
	write(t, s, func(tx *sqlstore.Tx) error { return tx.SaveReported(ctx, sent) })
	same(t, "a delivered message", stored(), sent)

	equal := func(to lastmile.Phone, body string, first time.Time, id lastmile.MessageID) (ids []string) {
		like := textmessage.Message{ID: id, To: to, Body: body, Sent: first}
		for _, m := range read(t, s, func(r *sqlstore.Tx) ([]textmessage.Message, error) { return r.EqualMessages(ctx, like) }) {
			ids = append(ids, m.GatewayID)
		}
		return ids
	}
	same(t, "sent with the same text", equal(a1.To, a1.Body, later.Add(24*time.Hour), z1.ID), []string{"g2"})
	same(t, "other than itself", equal(a1.To, a1.Body, later, a1.ID), []string(nil))
	same(t, "with another text", equal(a1.To, "hi", later, z1.ID), []string(nil))
	same(t, "with the same text to another number", equal("+12125550199", a1.Body, later, z1.ID), []string(nil))
	same(t, "with the same text long ago", equal(a1.To, a1.Body, later.Add(25*time.Hour), z1.ID), []string(nil))

	other := work.Item{Kind: work.Messages, Organization: acme, ID: "a2", Lease: "other"}
	failed := a2
	failed.Report(textmessage.DeliveryReport{State: textmessage.StateFailed})
	write(t, s, func(tx *sqlstore.Tx) error {
		_, err := tx.ClaimWork(ctx, other, later, later.Add(time.Minute))
		return errors.Join(err, tx.SaveReported(ctx, failed))
	})
	err := s.Write(ctx, func(tx *sqlstore.Tx) error { return tx.FinishWork(ctx, other) })
	if !errors.Is(err, work.ErrLost) {
		t.Errorf("the lease of a message that was reported on: %v, want that it is lost", err)
	}

	count := func(ask func(*sqlstore.Tx) (int, error)) int { return read(t, s, ask) }
	for org, want := range map[lastmile.OrganizationID]int{acme: 1, zenith: 0} {
		var own, all int
		count(func(r *sqlstore.Tx) (_ int, err error) {
			own, all, err = r.SentTo(ctx, org, a1.To, later.Add(-time.Second))
			return all, err
		})
		if own != want || all != 1 {
			t.Errorf("%d of %d messages sent to the number are of %s, want %d of 1", own, all, org, want)
		}
	}
	if n := count(func(r *sqlstore.Tx) (int, error) { return r.SentBy(ctx, acme, later) }); n != 0 {
		t.Errorf("%d messages sent since, want 0", n)
	}
	if n := count(func(r *sqlstore.Tx) (int, error) { return r.SentBy(ctx, zenith, now) }); n != 0 {
		t.Errorf("%d messages sent by another organization, want 0", n)
	}
	listed := func(org lastmile.OrganizationID, q textmessage.Query) (ids []lastmile.MessageID) {
		found := read(t, s, func(r *sqlstore.Tx) ([]textmessage.Message, error) { return r.MessagesOf(ctx, org, q) })
		for _, m := range found {
			ids = append(ids, m.ID)
		}
		return ids
	}
	for what, tt := range map[string]struct {
		org  lastmile.OrganizationID
		q    textmessage.Query
		want []lastmile.MessageID
	}{
		"all, newest first":           {acme, textmessage.Query{}, []lastmile.MessageID{"a2", "a1"}},
		"a page":                      {acme, textmessage.Query{Limit: 1}, []lastmile.MessageID{"a2"}},
		"the next page":               {acme, textmessage.Query{Before: "a2"}, []lastmile.MessageID{"a1"}},
		"not sent":                    {acme, textmessage.Query{Unsent: true}, []lastmile.MessageID{"a2"}},
		"of another organization":     {zenith, textmessage.Query{}, []lastmile.MessageID{"z1"}},
		"about a task":                {acme, textmessage.Query{Task: a1.Task}, []lastmile.MessageID{"a1"}},
		"about no task of it":         {zenith, textmessage.Query{Task: "other"}, nil},
		"to a number":                 {acme, textmessage.Query{To: a1.To}, []lastmile.MessageID{"a2", "a1"}},
		"to no number of it":          {acme, textmessage.Query{To: "+1"}, nil},
		"in a state":                  {acme, textmessage.Query{State: textmessage.StateQueued, To: "+1"}, nil},
		"since a time":                {acme, textmessage.Query{From: a1.Created}, []lastmile.MessageID{"a2", "a1"}},
		"since later":                 {acme, textmessage.Query{From: later.Add(time.Hour)}, nil},
		"until a time":                {acme, textmessage.Query{Until: a1.Created}, nil},
		"until later, the next page":  {acme, textmessage.Query{Until: later.Add(time.Hour), Before: "a2"}, []lastmile.MessageID{"a1"}},
		"before one of another":       {acme, textmessage.Query{Until: later.Add(time.Hour), Before: "z1"}, nil},
		"until later, after the last": {acme, textmessage.Query{Until: later.Add(time.Hour), Before: "a1"}, nil},
	} {
		same(t, "messages "+what, listed(tt.org, tt.q), tt.want)
	}
	texters := read(t, s, func(r *sqlstore.Tx) ([]store.Texter, error) { return r.Texters(ctx, a1.To) })
	same(t, "who wrote", texters, []store.Texter{{Organization: acme, From: a1.From}})

	var gone int64
	write(t, s, func(tx *sqlstore.Tx) (err error) {
		gone, err = tx.DeleteMessages(ctx, later.Add(time.Hour), 10)
		return err
	})
	left := read(t, s, func(r *sqlstore.Tx) ([]textmessage.Message, error) { return r.Messages(ctx, textmessage.Filter{}) })
	if gone != 2 || len(left) != 1 || left[0].ID != z1.ID {
		t.Errorf("%d messages deleted, %v left: those to be sent are kept", gone, left)
	}
}

func testMessageSettings(t *testing.T, s *sqlstore.Store) {
	ctx := t.Context()
	settings := func(org lastmile.OrganizationID) textmessage.Settings {
		return read(t, s, func(r *sqlstore.Tx) (textmessage.Settings, error) { return r.MessageSettings(ctx, org) })
	}
	thresholds := func(org lastmile.OrganizationID) textmessage.Thresholds {
		return read(t, s, func(r *sqlstore.Tx) (textmessage.Thresholds, error) {
			return r.NotificationThresholds(ctx, org)
		})
	}
	same(t, "thresholds of an organization that has set none", thresholds(acme), textmessage.DefaultThresholds)
	same(t, "settings of one that has set none", settings(acme), textmessage.DefaultSettings(acme))
	set := textmessage.Settings{
		Organization: acme, Language: "it", From: "Acme", Thresholds: textmessage.Thresholds{ETA: 90 * time.Second, Delay: time.Hour},
		Disabled: []textmessage.Occasion{{Kind: textmessage.KindDelayed}, {Kind: textmessage.KindDelayed, Pickup: true}},
		Texts:    []textmessage.Template{{Occasion: textmessage.Occasion{Kind: textmessage.KindStarted, Pickup: true}, Language: "it", Text: "ciao {worker}"}},
	}
	write(t, s, func(tx *sqlstore.Tx) error { return tx.SaveMessageSettings(ctx, set) })
	same(t, "settings", settings(acme), set)
	same(t, "thresholds at which messages are sent", thresholds(acme), textmessage.Thresholds{ETA: 90 * time.Second})
	same(t, "settings of another organization", settings(zenith), textmessage.DefaultSettings(zenith))

	out := textmessage.OptOut{Organization: acme, Phone: "+12125550100", At: now, Muted: true}
	opted := func(org lastmile.OrganizationID) (o textmessage.OptOut, found bool) {
		read(t, s, func(r *sqlstore.Tx) (bool, error) {
			var err error
			o, found, err = r.OptOut(ctx, org, out.Phone)
			return found, err
		})
		return o, found
	}
	write(t, s, func(tx *sqlstore.Tx) error { return tx.SaveOptOut(ctx, out) })
	if got, found := opted(acme); !found || got != out {
		t.Errorf("who wants no messages: %v %+v", found, got)
	}
	if _, found := opted(zenith); found {
		t.Error("who wants no messages of one organization may want those of another")
	}
	write(t, s, func(tx *sqlstore.Tx) error { return tx.DeleteOptOut(ctx, acme, out.Phone) })
	if _, found := opted(acme); found {
		t.Error("who wanted no messages wants them again")
	}
	write(t, s, func(tx *sqlstore.Tx) error {
		for _, phone := range []lastmile.Phone{"+3", "+1", "+2"} {
			if err := tx.SaveOptOut(ctx, textmessage.OptOut{Organization: acme, Phone: phone, At: now, Muted: phone == "+2"}); err != nil {
				return err
			}
		}
		return nil
	})
	same(t, "a page of opt-outs", read(t, s, func(r *sqlstore.Tx) ([]textmessage.OptOut, error) { return r.OptOuts(ctx, acme, "+1", 1) }),
		[]textmessage.OptOut{{Organization: acme, Phone: "+2", At: now, Muted: true}})
	same(t, "opt-outs of another organization", read(t, s, func(r *sqlstore.Tx) ([]textmessage.OptOut, error) { return r.OptOuts(ctx, zenith, "", 9) }), []textmessage.OptOut(nil))

	first := textmessage.Received{Organization: acme, ID: "r1", At: now, From: "+1", To: "+9", Body: "hello"}
	second := textmessage.Received{Organization: acme, ID: "r2", At: now, From: "+2"}
	write(t, s, func(tx *sqlstore.Tx) error {
		return errors.Join(tx.SaveReceived(ctx, first), tx.SaveReceived(ctx, second), tx.SaveReceived(ctx, textmessage.Received{Organization: zenith, ID: "r3", At: now}))
	})
	received := func(before lastmile.MessageID, from lastmile.Phone, most int) []textmessage.Received {
		return read(t, s, func(r *sqlstore.Tx) ([]textmessage.Received, error) {
			return r.ReceivedBy(ctx, acme, before, from, most)
		})
	}
	same(t, "replies, newest first", received("", "", 9), []textmessage.Received{second, first})
	same(t, "a page of replies", received("", "", 1), []textmessage.Received{second})
	same(t, "the next page of replies", received("r2", "", 9), []textmessage.Received{first})
	same(t, "replies from a phone", received("", "+1", 9), []textmessage.Received{first})
	reply := func(gateway, id string) (isNew bool) {
		write(t, s, func(tx *sqlstore.Tx) (err error) {
			isNew, err = tx.SaveReply(ctx, lastmile.Reply{Gateway: gateway, ID: id}, now)
			return err
		})
		return isNew
	}
	if !reply("g", "1") || reply("g", "1") || !reply("h", "1") || !reply("g", "2") {
		t.Error("a reply is new once for each gateway and id")
	}
}
