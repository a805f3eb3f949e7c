package events_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"dray/internal/events"
	"dray/internal/lastmile"
)

func hook(org lastmile.OrganizationID, id lastmile.WebhookID, trigger lastmile.Trigger) lastmile.Webhook {
	return lastmile.Webhook{ID: id, Organization: org, Trigger: trigger, Enabled: true}
}

// TestAppend appends events for different audiences and checks the stored events, the
// notifications and the messages.
func TestAppend(t *testing.T) {
	disabled := hook(acme, "disabled", lastmile.TriggerTaskEta)
	disabled.Enabled = false
	tx := &transaction{
		workers: map[lastmile.WorkerID]lastmile.Worker{"ann": {ID: "ann", Name: "Ann"}},
		hooks: []lastmile.Webhook{
			hook(acme, "eta", lastmile.TriggerTaskEta), hook(acme, "updated", lastmile.TriggerTaskUpdated), disabled,
			hook(acme, "eta2", lastmile.TriggerTaskEta), hook(zenith, "other", lastmile.TriggerTaskUpdated),
		},
	}
	var texted []string
	log := newLog(events.NewHub(events.HubOptions{}), func(all []lastmile.Event) {
		for _, e := range all {
			texted = append(texted, e.Trigger.String())
		}
	})
	task := &lastmile.Task{ID: "task", Worker: "ann"}
	caused := []lastmile.Event{
		{Organization: acme, Trigger: lastmile.TriggerTaskUpdated, Task: task, Sequence: 7},
		{Organization: acme, Trigger: lastmile.TriggerTaskEta, Task: task, Webhooks: []lastmile.WebhookID{"eta2", "disabled"}},
		{Organization: acme, Trigger: lastmile.TriggerTaskDelayed, Task: task, RecipientsOnly: true},
		{Organization: zenith, Trigger: lastmile.TriggerTaskUpdated, Task: &lastmile.Task{ID: "theirs", Worker: "gone"}},
	}
	if err := log.Append(t.Context(), tx, caused...); err != nil {
		t.Fatal(err)
	}
	var stored []string
	for _, e := range tx.events {
		name := "-"
		if e.Worker != nil {
			name = e.Worker.Name
		}
		stored = append(stored, fmt.Sprint(e.Order, " ", e.Trigger, " ", name, " ", string(e.Body) == "body of "+e.ID, " ", e.Stored.Equal(noon)))
	}
	want := []string{"1 taskUpdated Ann true true", "2 taskEta - true true", "3 taskUpdated - true true"}
	if !slices.Equal(stored, want) {
		t.Errorf("stored %q, want %q", stored, want)
	}
	var notified []string
	ids := map[string]bool{}
	for _, n := range tx.notifications {
		notified = append(notified, fmt.Sprint(n.Webhook, " ", n.Task, " ", n.Sequence, " ", n.Due.Equal(noon) && n.Next.Equal(noon), " ", string(n.Body) == "body of "+n.Event))
		ids[n.ID] = true
	}
	want = []string{"updated task 7 true true", "disabled task 0 true true", "eta2 task 0 true true", "other theirs 0 true true"}
	if !slices.Equal(notified, want) || len(ids) != len(want) {
		t.Errorf("notified %q, want %q", notified, want)
	}
	if want := []string{"taskUpdated", "taskDelayed", "taskUpdated"}; !slices.Equal(texted, want) {
		t.Errorf("events for text messages are %q, want %q", texted, want)
	}
	if tx.reads != 2 {
		t.Errorf("webhooks were read %d times for two organizations", tx.reads)
	}
	if caused[0].ID != "" || caused[0].Worker != nil {
		t.Errorf("the caller's event was changed: %+v", caused[0])
	}
}

func TestAppendNumbersEvents(t *testing.T) {
	log, tx := newLog(events.NewHub(events.HubOptions{}), noMessages), &transaction{}
	for range 3 {
		err := log.Append(t.Context(), tx, lastmile.Event{Organization: acme}, lastmile.Event{Organization: acme})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, e := range tx.events {
		if e.Order != int64(i+1) {
			t.Errorf("event %d has order %d", i, e.Order)
		}
	}
}

// TestAppendShowsFewerTasksInMoreEvents has a worker with many tasks: all events of a
// large change with all of them would be much longer than the change.
func TestAppendShowsFewerTasksInMoreEvents(t *testing.T) {
	task := &lastmile.Task{ID: "task", Worker: "ada"}
	for count, want := range map[int]int{1: 200, 50: 200, 100: 100, 2_000: 20} {
		log, tx := newLog(events.NewHub(events.HubOptions{}), noMessages), &transaction{
			workers: map[lastmile.WorkerID]lastmile.Worker{"ada": {ID: "ada", Tasks: make([]lastmile.TaskID, 200)}},
		}
		assigned := lastmile.Event{Organization: acme, Trigger: lastmile.TriggerTaskAssigned, Task: task}
		if err := log.Append(t.Context(), tx, slices.Repeat([]lastmile.Event{assigned}, count)...); err != nil {
			t.Fatal(err)
		}
		for _, e := range tx.events {
			if len(e.Worker.Tasks) != want {
				t.Fatalf("each of %d events shows %d tasks, want %d", count, len(e.Worker.Tasks), want)
			}
		}
	}
}

func TestAppendNothing(t *testing.T) {
	log, tx := newLog(events.NewHub(events.HubOptions{}), noMessages), &transaction{}
	if err := log.Append(t.Context(), tx); err != nil || len(tx.committed) > 0 || tx.reads > 0 {
		t.Errorf("appending no events had an effect: %v, %+v", err, tx)
	}
}

// TestAppendPublishesAfterCommit appends to a transaction that is committed
// later.
func TestAppendPublishesAfterCommit(t *testing.T) {
	hub := events.NewHub(events.HubOptions{})
	log, tx := newLog(hub, noMessages), &transaction{hooks: []lastmile.Webhook{hook(acme, "h", lastmile.TriggerTaskUpdated)}}
	committed := log.Committed()
	task, list, other := hub.Subscribe(events.TaskTopic("t")), hub.Subscribe(events.ListTopic("w")), hub.Subscribe(events.TaskTopic("u"))
	err := log.Append(t.Context(), tx, lastmile.Event{
		Organization: acme, Trigger: lastmile.TriggerTaskUpdated, Task: &lastmile.Task{ID: "t", Worker: "w"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if received(committed) || received(task.Changed()) || len(log.Drain()) > 0 {
		t.Error("something happened before the commit")
	}
	tx.commit()
	if !received(committed) || !received(task.Changed()) || !received(list.Changed()) || received(other.Changed()) {
		t.Error("after the commit the wrong subscribers were woken")
	}
	if drained := log.Drain(); len(drained) != 1 || drained[0].Webhook != "h" || drained[0].Body == nil {
		t.Errorf("handed over %+v", drained)
	}
	if len(log.Drain()) > 0 {
		t.Error("handed over twice")
	}
}

func TestAppendPublishesNumberedEvents(t *testing.T) {
	for _, numbers := range []bool{true, false} {
		hub := events.NewHub(events.HubOptions{})
		log, tx := newLog(hub, noMessages), &transaction{numbers: numbers}
		executor, origin := hub.Subscribe(events.OrganizationTopic(acme)), hub.Subscribe(events.OrganizationTopic(zenith))
		err := log.Append(t.Context(), tx, lastmile.Event{
			Organization: acme, Trigger: lastmile.TriggerTaskUpdated, Task: &lastmile.Task{ID: "t", Organization: acme, Origin: zenith},
		})
		if err != nil {
			t.Fatal(err)
		}
		tx.commit()
		if received(executor.Changed()) != numbers || received(origin.Changed()) != numbers {
			t.Errorf("followers of both organizations must be woken only if their events have numbers, which is %v", numbers)
		}
	}
}

func TestAppendReturnsErrors(t *testing.T) {
	broken := errors.New("broken")
	log := events.NewLog(events.Options{
		Now: func() time.Time { return noon }, NewID: func() string { return "idididididididididididid" },
		Encode: func(context.Context, []lastmile.Event) ([][]byte, error) { return nil, broken }, Hub: events.NewHub(events.HubOptions{}),
	})
	tx := &transaction{}
	if err := log.Append(t.Context(), tx, lastmile.Event{}); !errors.Is(err, broken) || len(tx.events)+len(tx.committed) > 0 {
		t.Errorf("an event that cannot be encoded: %v, %+v", err, tx)
	}
	log = events.NewLog(events.Options{
		Now: func() time.Time { return noon }, NewID: func() string { return "idididididididididididid" },
		Encode: func(_ context.Context, all []lastmile.Event) ([][]byte, error) { return make([][]byte, len(all)), nil }, Hub: events.NewHub(events.HubOptions{}),
		Messages: func(context.Context, events.Transaction, []lastmile.Event) error { return broken },
	})
	if err := log.Append(t.Context(), tx, lastmile.Event{}); !errors.Is(err, broken) {
		t.Errorf("messages that cannot be saved: %v", err)
	}
}

// TestHandOverIsBounded commits more notifications than fit in memory.
func TestHandOverIsBounded(t *testing.T) {
	const most, rounds = 16_384, 40
	log := newLog(events.NewHub(events.HubOptions{}), noMessages)
	hooks := []lastmile.WebhookID{"a", "b", "c"}
	for range rounds {
		tx := &transaction{}
		many := make([]lastmile.Notification, 1_000)
		for i := range many {
			many[i] = lastmile.Notification{Webhook: hooks[i%len(hooks)], Body: []byte("x")}
		}
		log.HandOver(tx, many...)
		tx.commit()
	}
	drained := log.Drain()
	if len(drained) != most+len(hooks) {
		t.Fatalf("%d notifications were kept", len(drained))
	}
	var rest []string
	for _, n := range drained[most:] {
		rest = append(rest, fmt.Sprint(n.Webhook, " ", n.Body == nil))
	}
	if want := []string{"a true", "b true", "c true"}; !slices.Equal(sorted(rest), want) {
		t.Errorf("the rest is %q, want %q", sorted(rest), want)
	}
}

// TestHandOverIsBoundedByBytes commits notifications with large bodies. Small ones do not
// overtake them.
func TestHandOverIsBoundedByBytes(t *testing.T) {
	body := make([]byte, 3<<20)
	log := events.NewLog(events.Options{
		Now: func() time.Time { return noon }, NewID: func() string { return "idididididididididididid" }, Hub: events.NewHub(events.HubOptions{}),
		Encode: func(_ context.Context, all []lastmile.Event) ([][]byte, error) {
			return slices.Repeat([][]byte{body}, len(all)), nil
		},
	})
	for range 2 { // the limit applies again after a drain
		for range 10 {
			tx := &transaction{hooks: []lastmile.Webhook{hook(acme, "a", lastmile.TriggerTaskUpdated), hook(acme, "b", lastmile.TriggerTaskUpdated)}}
			if err := log.Append(t.Context(), tx, lastmile.Event{Organization: acme, Trigger: lastmile.TriggerTaskUpdated}); err != nil {
				t.Fatal(err)
			}
			log.HandOver(tx, lastmile.Notification{Webhook: "a"})
			tx.commit()
		}
		var kept []string
		for _, n := range log.Drain() {
			kept = append(kept, fmt.Sprint(n.Webhook, " ", len(n.Body)>>20))
		}
		want := []string{"a 3", "b 3", "a 0", "a 3", "b 3", "a 0", "a 3", "b 3", "a 0", "b 0"}
		if len(kept) != len(want) || !slices.Equal(kept[:8], want[:8]) || !slices.Equal(sorted(kept[8:]), want[8:]) {
			t.Errorf("handed over are %q, want %q", kept, want)
		}
	}
}

func TestWakeMergesSignals(t *testing.T) {
	var w events.Wake
	a, b := w.Channel(), w.Channel()
	w.Signal()
	w.Signal()
	if !received(a) || received(a) || !received(b) {
		t.Error("two signals must be merged into one value on each channel")
	}
}

// TestAppendForTheOrigin appends events of a task that zenith placed with acme.
func TestAppendForTheOrigin(t *testing.T) {
	open := hook(acme, "open", lastmile.TriggerTaskAssigned)
	open.CanReceiveConnectionEvents = true
	key := lastmile.Actor{Type: lastmile.ActorAPI, ID: "key"}
	task := &lastmile.Task{ID: "task", Organization: acme, Origin: zenith, Worker: "ann", RoutePlan: "plan"}
	ordered := &lastmile.Task{ID: "ordered", Organization: acme, Origin: zenith, OrderShortID: "order"}
	for name, tt := range map[string]struct {
		event    lastmile.Event
		stored   []string // organization, actor, whether there is a worker and a plan
		notified []string
	}{
		"for all": {
			lastmile.Event{Trigger: lastmile.TriggerTaskAssigned, Task: task, Actor: key},
			[]string{acmeText + " key true true", zenithText + " " + acmeText + " false false"},
			[]string{"open", "theirs"},
		},
		"by the origin": {
			lastmile.Event{Trigger: lastmile.TriggerTaskAssigned, Task: task, Actor: lastmile.Actor{Type: lastmile.ActorAPI, ID: zenithText}},
			[]string{acmeText + " " + zenithText + " true true", zenithText + " " + zenithText + " false false"},
			[]string{"open", "theirs"},
		},
		"by a worker": {
			lastmile.Event{Trigger: lastmile.TriggerTaskAssigned, Task: task, Actor: lastmile.Actor{Type: lastmile.ActorWorker, ID: "ann"}},
			[]string{acmeText + " ann true true", zenithText + " ann false false"},
			[]string{"open", "theirs"},
		},
		"of an order": {
			lastmile.Event{Trigger: lastmile.TriggerTaskAssigned, Task: ordered, Actor: key},
			[]string{acmeText + " key false false", zenithText + " " + acmeText + " false false"},
			[]string{"closed", "open", "theirs"},
		},
		"for a webhook of the origin": {
			lastmile.Event{Trigger: lastmile.TriggerTaskAssigned, Task: task, Webhooks: []lastmile.WebhookID{"theirs"}},
			[]string{zenithText + "  false false"},
			[]string{"theirs"},
		},
		"for a webhook of the executor": {
			lastmile.Event{Trigger: lastmile.TriggerTaskAssigned, Task: task, Webhooks: []lastmile.WebhookID{"open"}},
			[]string{acmeText + "  true true"},
			[]string{"open"},
		},
		"for recipients": {lastmile.Event{Trigger: lastmile.TriggerTaskAssigned, Task: task, RecipientsOnly: true}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			tx := &transaction{
				workers: map[lastmile.WorkerID]lastmile.Worker{"ann": {ID: "ann", Name: "Ann"}},
				hooks:   []lastmile.Webhook{hook(acme, "closed", lastmile.TriggerTaskAssigned), open, hook(zenith, "theirs", lastmile.TriggerTaskAssigned)},
			}
			texted := 0
			log := newLog(events.NewHub(events.HubOptions{}), func(all []lastmile.Event) { texted += len(all) })
			tt.event.Organization = acme
			if err := log.Append(t.Context(), tx, tt.event); err != nil {
				t.Fatal(err)
			}
			var stored, notified []string
			ids := map[string]bool{}
			for _, e := range tx.events {
				stored = append(stored, fmt.Sprint(e.Organization, " ", e.Actor.ID, " ", e.Worker != nil, " ", e.Task.RoutePlan != ""))
				ids[e.ID] = true
			}
			for _, n := range tx.notifications {
				notified = append(notified, string(n.Webhook))
			}
			if !slices.Equal(stored, tt.stored) || !slices.Equal(notified, tt.notified) || len(ids) != len(tt.stored) {
				t.Errorf("stored %q and notified %q, want %q and %q", stored, notified, tt.stored, tt.notified)
			}
			if want := 1 - min(len(tt.event.Webhooks), 1); texted != want {
				t.Errorf("caused %d messages, want %d", texted, want)
			}
		})
	}
	if task.RoutePlan == "" {
		t.Error("the caller's task was changed")
	}
}

const acmeText, zenithText = string(acme), string(zenith)
