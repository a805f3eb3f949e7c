package messaging_test

import (
	"context"
	"testing"
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
