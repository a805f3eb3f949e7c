package storetest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/textmessage"
)

// text is a message about a task that is to be sent.
func text(org lastmile.OrganizationID, id string, task lastmile.TaskID, at time.Time) textmessage.Message {
	m := textmessage.New(lastmile.MessageID(id), org, textmessage.KindStarted, "+12125550100", "hello", at, at)
	m.Task, m.From = task, "+12125550001"
	return m
}

func testMessages(t *testing.T, s store.Store) {
	ctx := t.Context()
	first, again := text(acme, "m1", "t", now), text(acme, "m2", "t", now.Add(time.Second))
	other, invitation := text(zenith, "m3", "t", now), text(acme, "m4", "", now.Add(2*time.Second))
	invitation.Kind = textmessage.KindInvitation
	for _, m := range []textmessage.Message{first, again, other, invitation} {
		write(t, s, func(tx store.Writer) error { return tx.SaveMessage(ctx, m) })
	}
	list := func(f store.MessageFilter) []textmessage.Message {
		return read(t, s, func(r store.Reader) ([]textmessage.Message, error) { return r.Messages(ctx, f) })
	}
	same(t, "what was told once is not told again", list(store.MessageFilter{Organization: acme}), []textmessage.Message{first, invitation})
	same(t, "the newest", list(store.MessageFilter{Organization: acme, Limit: 1}), []textmessage.Message{invitation})
	same(t, "in another state", len(list(store.MessageFilter{State: textmessage.StateFailed})), 0)
	same(t, "by id", read(t, s, func(r store.Reader) (textmessage.Message, error) { return r.MessageByID(ctx, other.ID) }), other)
	err := s.Read(ctx, func(r store.Reader) error { _, err := r.MessageByID(ctx, "m9"); return err })
	if !lastmile.IsNotFound(err) {
		t.Errorf("a message that is not there: %v", err)
	}
}

func testMessageClaims(t *testing.T, s store.Store) {
	ctx := t.Context()
	a1, a2, z1 := text(acme, "a1", "t1", now), text(acme, "a2", "t2", now.Add(time.Second)), text(zenith, "z1", "t1", now.Add(2*time.Second))
	write(t, s, func(tx store.Writer) error {
		return errors.Join(tx.SaveMessage(ctx, a1), tx.SaveMessage(ctx, a2), tx.SaveMessage(ctx, z1))
	})
	due := func(at time.Time, after lastmile.OrganizationID, each, limit int) (ids []string) {
		for _, m := range read(t, s, func(r store.Reader) ([]textmessage.Message, error) {
			return r.DueMessages(ctx, at, after, each, limit)
		}) {
			ids = append(ids, string(m.ID))
		}
		return ids
	}
	later := now.Add(time.Minute)
	for name, tt := range map[string]struct {
		got, want []string
	}{
		"not before their time":                {due(now.Add(-time.Second), "", 10, 10), nil},
		"all":                                  {due(later, "", 10, 10), []string{"a1", "a2", "z1"}},
		"one of each organization":             {due(later, "", 1, 10), []string{"a1", "z1"}},
		"no more than asked":                   {due(later, "", 10, 2), []string{"a1", "a2"}},
		"those after an organization go first": {due(later, acme, 10, 10), []string{"z1", "a1", "a2"}},
	} {
		if !slices.Equal(tt.got, tt.want) {
			t.Errorf("due %s: %q, want %q", name, tt.got, tt.want)
		}
	}
	claim := func(m textmessage.Message, token string, at time.Time) (claimed textmessage.Message, mine bool) {
		write(t, s, func(tx store.Writer) (err error) {
			claimed, mine, err = tx.ClaimMessage(ctx, m, token, at, at.Add(time.Minute))
			return err
		})
		return claimed, mine
	}
	one, mine := claim(a1, "one", later)
	if _, twice := claim(a1, "two", later); !mine || twice {
		t.Fatalf("a message is claimed by one: %v, %v", mine, twice)
	}
	same(t, "a claimed message", read(t, s, func(r store.Reader) (textmessage.Message, error) { return r.MessageByID(ctx, "a1") }), one)
	if got := due(later, "", 10, 10); slices.Contains(got, "a1") {
		t.Error("a claimed message is due")
	}
	two, mine := claim(one, "two", later.Add(time.Hour))
	if !mine || two.Attempts != 2 || !two.Sent.Equal(later) {
		t.Errorf("a claim that ended: %v, %+v", mine, two)
	}
	record := func(m textmessage.Message, token string) (recorded bool) {
		write(t, s, func(tx store.Writer) (err error) {
			recorded, err = tx.SaveSent(ctx, m, token)
			return err
		})
		return recorded
	}
	one.Record(textmessage.Result{Verdict: textmessage.SendRejected}, "gateway", later)
	two.Record(textmessage.Result{Verdict: textmessage.SendAccepted, GatewayID: "g"}, "gateway", later)
	if record(one, "one") || !record(two, "two") || record(two, "two") {
		t.Error("only the last claim may record, once")
	}
	same(t, "a sent message", read(t, s, func(r store.Reader) (textmessage.Message, error) { return r.MessageByID(ctx, "a1") }), two)
	two.Report(textmessage.DeliveryReport{State: textmessage.StateDelivered, GatewayID: "g2"})
	write(t, s, func(tx store.Writer) error { return tx.SaveReported(ctx, two) })
	same(t, "a delivered message", read(t, s, func(r store.Reader) (textmessage.Message, error) { return r.MessageByID(ctx, "a1") }), two)

	count := func(ask func(store.Reader) (int, error)) int { return read(t, s, ask) }
	if n := count(func(r store.Reader) (int, error) { return r.SentTo(ctx, a1.To, later.Add(-time.Second)) }); n != 1 {
		t.Errorf("%d messages sent to the number, want 1", n)
	}
	if n := count(func(r store.Reader) (int, error) { return r.SentBy(ctx, acme, later) }); n != 0 {
		t.Errorf("%d messages sent since, want 0", n)
	}
	if n := count(func(r store.Reader) (int, error) { return r.SentBy(ctx, zenith, now) }); n != 0 {
		t.Errorf("%d messages sent by another organization, want 0", n)
	}
	texters := read(t, s, func(r store.Reader) ([]store.Texter, error) { return r.Texters(ctx, a1.To) })
	same(t, "who wrote", texters, []store.Texter{{Organization: acme, From: a1.From}})

	claim(z1, "three", later)
	write(t, s, func(tx store.Writer) error { return tx.ReleaseMessages(ctx, later) })
	if got := due(later, "", 10, 10); !slices.Contains(got, "z1") {
		t.Errorf("a claim that was ended: due are %q", got)
	}
	var gone int64
	write(t, s, func(tx store.Writer) (err error) {
		gone, err = tx.DeleteMessages(ctx, later.Add(time.Hour), 10)
		return err
	})
	if got := due(later, "", 10, 10); gone != 1 || len(got) != 2 {
		t.Errorf("%d messages forgotten, %q left: those to be sent are kept", gone, got)
	}
}

func testMessageSettings(t *testing.T, s store.Store) {
	ctx := t.Context()
	settings := func(org lastmile.OrganizationID) textmessage.Settings {
		return read(t, s, func(r store.Reader) (textmessage.Settings, error) { return r.MessageSettings(ctx, org) })
	}
	thresholds := func(org lastmile.OrganizationID) textmessage.Thresholds {
		return read(t, s, func(r store.Reader) (textmessage.Thresholds, error) {
			return r.NotificationThresholds(ctx, org)
		})
	}
	same(t, "thresholds of an organization that has set none", thresholds(acme), textmessage.DefaultThresholds)
	same(t, "settings of one that has set none", settings(acme), textmessage.DefaultSettings(acme))
	set := textmessage.Settings{
		Organization: acme, Language: "it", From: "Acme", Thresholds: textmessage.Thresholds{ETA: 90 * time.Second, Delay: time.Hour},
		Off:   []textmessage.Occasion{{Kind: textmessage.KindDelayed}, {Kind: textmessage.KindDelayed, Pickup: true}},
		Texts: []textmessage.Template{{Occasion: textmessage.Occasion{Kind: textmessage.KindStarted, Pickup: true}, Language: "it", Text: "ciao {worker}"}},
	}
	write(t, s, func(tx store.Writer) error { return tx.SaveMessageSettings(ctx, set) })
	same(t, "settings", settings(acme), set)
	same(t, "thresholds at which anybody is told", thresholds(acme), textmessage.Thresholds{ETA: 90 * time.Second})
	same(t, "settings of another organization", settings(zenith), textmessage.DefaultSettings(zenith))

	out := textmessage.OptOut{Organization: acme, Phone: "+12125550100", At: now, Muted: true}
	opted := func(org lastmile.OrganizationID) (o textmessage.OptOut, found bool) {
		read(t, s, func(r store.Reader) (bool, error) {
			var err error
			o, found, err = r.OptOut(ctx, org, out.Phone)
			return found, err
		})
		return o, found
	}
	write(t, s, func(tx store.Writer) error { return tx.SaveOptOut(ctx, out) })
	if got, found := opted(acme); !found || got != out {
		t.Errorf("who wants no messages: %v %+v", found, got)
	}
	if _, found := opted(zenith); found {
		t.Error("who wants no messages of one organization may want those of another")
	}
	write(t, s, func(tx store.Writer) error { return tx.DeleteOptOut(ctx, acme, out.Phone) })
	if _, found := opted(acme); found {
		t.Error("who wanted no messages wants them again")
	}
	reply := func(gateway, id string) (isNew bool) {
		write(t, s, func(tx store.Writer) (err error) {
			isNew, err = tx.SaveReply(ctx, lastmile.Reply{Gateway: gateway, ID: id}, now)
			return err
		})
		return isNew
	}
	if !reply("g", "1") || reply("g", "1") || !reply("h", "1") || !reply("g", "2") {
		t.Error("a reply is new once for each gateway and id")
	}
}
