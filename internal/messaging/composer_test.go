package messaging_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
	"dray/internal/textmessage"
)

// Recipients are notified once of an ETA or a delay, with the minutes of the event.
func TestRecipientsAreNotifiedOfETAsAndDelays(t *testing.T) {
	w := newFixture(t)
	defer w.close()
	eta, delay := 6*time.Minute+time.Second, 20*time.Minute
	task := lastmile.Task{
		ID: lastmile.TaskID(newID()), Organization: acme, Merchant: zenith, TrackingURL: "https://dray.example/t/x",
		Recipient: &lastmile.Recipient{Name: "Grace", Phone: phone},
	}
	events := []lastmile.Event{
		{Organization: acme, Trigger: lastmile.TriggerTaskEta, Task: &task, At: now(), ETA: &eta},
		{Organization: acme, Trigger: lastmile.TriggerTaskDelayed, Task: &task, At: now(), Delay: &delay},
		{Organization: acme, Trigger: lastmile.TriggerTaskStarted, Task: &task, At: now().Add(-2 * time.Hour)}, // reported late by a phone that was offline
	}
	for range 2 {
		w.write(func(ctx context.Context, tx *sqlstore.Tx) error { return w.log.Append(ctx, tx, events...) })
	}
	sent := map[textmessage.Kind]string{}
	err := w.store.Read(t.Context(), func(r *sqlstore.Tx) error {
		messages, err := r.Messages(t.Context(), textmessage.Filter{Organization: acme})
		for _, m := range messages {
			if sent[m.Kind] != "" {
				t.Errorf("%s was sent twice", m.Kind)
			}
			sent[m.Kind] = m.Body
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(sent) != 2 || sent[textmessage.KindETA] != "Zenith: your delivery will be there in about 7 min. https://dray.example/t/x" ||
		sent[textmessage.KindDelayed] != "Zenith: sorry, your delivery is running about 20 min late. https://dray.example/t/x" {
		t.Errorf("sent %q", sent)
	}
}

// The message that the worker is near is not sent if the recipient read a few
// minutes ago when to expect the worker, nor is that of a delay within a minute.
func TestTheSecondMessageIsSkippedSoonAfterTheFirst(t *testing.T) {
	for name, tt := range map[string]struct {
		after   time.Duration // time from the start to the threshold
		unknown bool          // the ETA is not known at the start
		off     bool          // the first message is disabled
		text    string        // text of the first message
		late    bool          // the second message is about a delay
		want    int
	}{
		"at once":                               {after: 5 * time.Second, want: 1},
		"a few minutes later":                   {after: 4 * time.Minute, want: 1},
		"later":                                 {after: 6 * time.Minute, want: 2},
		"the first did not know the time":       {after: 5 * time.Second, unknown: true, want: 2},
		"the first does not say the time":       {after: 5 * time.Second, text: "{worker} is coming", want: 2},
		"the first is not sent":                 {after: 5 * time.Second, off: true, want: 1},
		"the first has the organization's text": {after: 5 * time.Second, text: "{worker} comes in {eta} min", want: 1},
		"late at once":                          {late: true, want: 1},
		"late at once, the time was unknown":    {late: true, unknown: true, want: 2},
		"late, which the first does not say":    {late: true, text: "{worker} is coming", want: 2},
		"late, and the first is not sent":       {late: true, off: true, want: 1},
		"late since then":                       {late: true, after: 2 * time.Minute, want: 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFixture(t)
				defer w.close()
				_, err := w.messages.Configure(t.Context(), acme, func(s *textmessage.Settings) error {
					o := textmessage.Occasion{Kind: textmessage.KindStarted}
					s.SetEnabled(o, !tt.off)
					return s.SetText(textmessage.Template{Occasion: o, Language: "en", Text: tt.text})
				})
				if err != nil {
					t.Fatal(err)
				}
				task := lastmile.Task{ID: lastmile.TaskID(newID()), Organization: acme, Merchant: acme, Recipient: &lastmile.Recipient{Name: "Grace", Phone: phone}}
				happens := func(trigger lastmile.Trigger, arrival time.Duration) {
					t.Helper()
					at := task
					if arrival != 0 {
						at.Estimates = lastmile.Estimates{Arrival: now().Add(arrival), ETA: &arrival}
					}
					event := lastmile.Event{Organization: acme, Trigger: trigger, Task: &at, At: now(), ETA: at.Estimates.ETA}
					w.write(func(ctx context.Context, tx *sqlstore.Tx) error { return w.log.Append(ctx, tx, event) })
				}
				first := 12 * time.Minute
				if tt.unknown {
					first = 0
				}
				happens(lastmile.TriggerTaskStarted, first)
				time.Sleep(tt.after)
				second := lastmile.TriggerTaskEta
				if tt.late {
					second = lastmile.TriggerTaskDelayed
				}
				happens(second, 8*time.Minute)
				var sent []textmessage.Message
				err = w.store.Read(t.Context(), func(r *sqlstore.Tx) (err error) {
					sent, err = r.Messages(t.Context(), textmessage.Filter{Organization: acme})
					return err
				})
				if err != nil || len(sent) != tt.want {
					t.Errorf("%v; %d messages, want %d: %+v", err, len(sent), tt.want, sent)
				}
			})
		})
	}
}
