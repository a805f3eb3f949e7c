package messaging_test

import (
	"context"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/textmessage"
)

// What tracking finds out is told with the minutes it found, once.
func TestARecipientIsToldHowNearOrLateTheWorkerIs(t *testing.T) {
	w := newWorld(t)
	defer w.close()
	eta, delay := 6*time.Minute+time.Second, 20*time.Minute
	task := lastmile.Task{
		ID: lastmile.TaskID(newID()), Organization: acme, Merchant: zenith, TrackingURL: "https://dray.example/t/x",
		Recipient: &lastmile.Recipient{Name: "Grace", Phone: phone},
	}
	events := []lastmile.Event{
		{Organization: acme, Trigger: lastmile.TriggerTaskEta, Task: &task, At: now(), ETA: &eta},
		{Organization: acme, Trigger: lastmile.TriggerTaskDelayed, Task: &task, At: now(), Delay: &delay},
		{Organization: acme, Trigger: lastmile.TriggerTaskStarted, Task: &task, At: now().Add(-2 * time.Hour)}, // a phone that was out of reach
	}
	for range 2 {
		w.write(func(ctx context.Context, tx store.Writer) error { return w.desk.Notify(ctx, tx, events) })
	}
	told := map[textmessage.Kind]string{}
	err := w.store.Read(t.Context(), func(r store.Reader) error {
		messages, err := r.Messages(t.Context(), store.MessageFilter{Organization: acme})
		for _, m := range messages {
			if told[m.Kind] != "" {
				t.Errorf("%s is told twice", m.Kind)
			}
			told[m.Kind] = m.Body
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(told) != 2 || told[textmessage.KindETA] != "Zenith: your delivery will be there in about 7 min. https://dray.example/t/x" ||
		told[textmessage.KindDelayed] != "Zenith: sorry, your delivery is running about 20 min late. https://dray.example/t/x" {
		t.Errorf("told %q", told)
	}
}
