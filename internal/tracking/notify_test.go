package tracking_test

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/events"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
	"dray/internal/textmessage"
	"dray/internal/wire"
)

// TestRecipientsAreNotifiedOnce has a worker come near and be late in an
// organization without webhooks.
func TestRecipientsAreNotifiedOnce(t *testing.T) {
	p, c, moves := approach(t, func(task *lastmile.Task, now time.Time) { task.CompleteBefore = now.Add(25 * time.Minute) })
	if got := moves(40.5); len(got) != 0 {
		t.Errorf("far away: %v", got)
	}
	if got := moves(40.69); len(got) != 1 || got[0].Trigger != lastmile.TriggerTaskEta || got[0].ETA == nil || *got[0].ETA > textmessage.DefaultThresholds.ETA || got[0].Task == nil {
		t.Errorf("near: %v", got)
	}
	if got := moves(40.69); len(got) != 0 {
		t.Errorf("still near: %v", got)
	}
	if got := moves(40.69); len(got) != 0 {
		t.Errorf("a little late: %v", got)
	}
	if got := moves(40.69); len(got) != 1 || got[0].Trigger != lastmile.TriggerTaskDelayed || got[0].Delay == nil || *got[0].Delay < textmessage.DefaultThresholds.Delay {
		t.Errorf("late: %v", got)
	}
	if got := moves(40.69); len(got) != 0 {
		t.Errorf("still late: %v", got)
	}
	for _, body := range p.Events(t, c.Organization.ID) {
		if bytes.Contains(body, []byte(`"taskEta"`)) || bytes.Contains(body, []byte(`"taskDelayed"`)) {
			t.Errorf("in the event log, though no webhook has this trigger: %s", body)
		}
	}
}

// TestRecipientsAreNotifiedOfTheTimeThatMatters has a worker come near long before
// the time window opens.
func TestRecipientsAreNotifiedOfTheTimeThatMatters(t *testing.T) {
	_, _, moves := approach(t, func(task *lastmile.Task, now time.Time) { task.CompleteAfter = now.Add(25 * time.Minute) })
	for _, when := range []string{"25 minutes before it opens", "15 minutes before"} {
		if got := moves(40.69); len(got) != 0 {
			t.Errorf("%s: %v", when, got)
		}
	}
	if got := moves(40.69); len(got) != 1 || got[0].Trigger != lastmile.TriggerTaskEta || got[0].ETA.Round(time.Second) != 5*time.Minute {
		t.Errorf("5 minutes before: %v", got)
	}
}

// TestAWorkerWhoIsThereIsNotAnnounced has a worker arrive before anything was
// checked.
func TestAWorkerWhoIsThereIsNotAnnounced(t *testing.T) {
	_, _, moves := approach(t, func(task *lastmile.Task, now time.Time) {
		task.Completion.Events = []lastmile.CompletionEvent{{Name: "start", At: now.Add(-time.Minute)}, {Name: "arrival", At: now}}
	})
	if got := moves(40.7); len(got) != 0 {
		t.Errorf("notified of %v", got)
	}
}

// TestAGrowingDelayIsReported starts a task and notifies the recipient of the expected time. A
// message about a delay follows only if that time was not late already, or once the delay has
// grown.
func TestAGrowingDelayIsReported(t *testing.T) {
	for name, tt := range map[string]struct {
		closes time.Duration // after the start
		lat    float64       // where the worker turns out to be
		want   map[time.Duration]int
	}{
		"late already":              {-20 * time.Minute, 40.69, map[time.Duration]int{10 * time.Second: 0, 2 * time.Minute: 0, 5 * time.Minute: 0, 15 * time.Minute: 1, 40 * time.Minute: 1}},
		"late soon after the start": {5 * time.Minute, 40.5, map[time.Duration]int{10 * time.Second: 0, 50 * time.Second: 0, 2 * time.Minute: 1, 40 * time.Minute: 1}},
		"late after a time":         {20 * time.Minute, 40.69, map[time.Duration]int{10 * time.Second: 0, 10 * time.Minute: 0, 40 * time.Minute: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			const number = "+12125550188"
			var started lastmile.Task
			p, _, who := underWay(t, func(task *lastmile.Task, now time.Time) {
				task.CompleteBefore, task.Merchant = now.Add(tt.closes), task.Organization
				started = *task
				started.Recipient = &lastmile.Recipient{ID: "recipientrecipientrecipi", Organization: task.Organization, Created: now, Modified: now, Name: "Grace", Phone: number}
				task.State = lastmile.TaskAssigned
			})
			ctx, begin, eta := t.Context(), p.Now(), 3*time.Minute
			started.Estimates = lastmile.Estimates{Arrival: begin.Add(eta), ETA: &eta}
			err := p.Store.Write(ctx, func(w *sqlstore.Tx) error {
				return errors.Join(w.SaveRecipient(ctx, *started.Recipient), w.SaveTask(ctx, started), p.App.Events.Append(ctx, w, started.Notice(lastmile.TriggerTaskStarted, begin)))
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, after := range slices.Sorted(maps.Keys(tt.want)) {
				p.Advance(begin.Add(after).Sub(p.Now()))
				report(t, p, who, tt.lat)
				late := 0
				for _, m := range p.Outbox(t, number) {
					if m.Kind == textmessage.KindDelayed {
						late++
					}
				}
				if late != tt.want[after] {
					t.Errorf("after %v: %d messages about a delay, want %d", after, late, tt.want[after])
				}
			}
		})
	}
}

// approach returns a platform with an organization that has one active task, and a
// function that moves its worker along the meridian of the task, advances the clock
// by ten minutes and returns the events that recipients are notified of.
func approach(t *testing.T, change func(task *lastmile.Task, now time.Time)) (p *apptest.Platform, c *apptest.Client, moves func(lat float64) []lastmile.Event) {
	t.Helper()
	var heard []lastmile.Event
	p, c, who := underWay(t, change)
	p.Tracking.Events = events.NewLog(events.Options{
		Now: p.Now, NewID: p.Tracking.NewID, Hub: p.Hub,
		Encode: func(_ context.Context, all []lastmile.Event) ([][]byte, error) { return wire.EncodeEvents(nil, all) },
		Messages: func(_ context.Context, _ events.Transaction, all []lastmile.Event) error {
			heard = append(heard, all...)
			return nil
		},
	})
	moves = func(lat float64) []lastmile.Event {
		t.Helper()
		heard = nil
		report(t, p, who, lat)
		p.Advance(10 * time.Minute)
		return heard
	}
	return p, c, moves
}

// underWay returns a platform with an organization that has one active task, and the
// worker who has it.
func underWay(t *testing.T, change func(task *lastmile.Task, now time.Time)) (p *apptest.Platform, c *apptest.Client, who lastmile.Principal) {
	t.Helper()
	p = apptest.New(t)
	c = p.Organization(t, "Acme")
	now := p.Now()
	worker := lastmile.Worker{
		ID: "workerworkerworkerworker", Organization: c.Organization.ID, Created: now, Modified: now, Name: "W", Phone: "+12125550101",
		Vehicle: &lastmile.Vehicle{Type: lastmile.Car},
	}
	place := lastmile.Destination{
		ID: "destinationdestinationde", Organization: c.Organization.ID, Created: now, Modified: now, Location: lastmile.Point{Lon: -74, Lat: 40.7},
	}
	task := lastmile.Task{
		ID: "tasktasktasktasktasktask", ShortID: "t", Organization: c.Organization.ID, Created: now, Modified: now, Destination: place, TrackingToken: "t",
		State: lastmile.TaskActive, Worker: worker.ID, Container: lastmile.WorkerContainer(worker.ID),
	}
	change(&task, now)
	ctx := t.Context()
	err := p.Store.Write(ctx, func(w *sqlstore.Tx) error {
		return errors.Join(
			w.SaveWorker(ctx, worker), w.SaveWhereabouts(ctx, worker.Organization, worker.ID, lastmile.Whereabouts{OnDuty: true, LastSeen: now}),
			w.SaveDestination(ctx, place), w.AddTask(ctx, task), w.ScheduleEstimate(ctx, worker.Organization, worker.ID, now),
		)
	})
	if err != nil {
		t.Fatal(err)
	}
	return p, c, lastmile.Principal{Organization: worker.Organization, Worker: worker.ID}
}

// report has a worker report a position on the meridian of the task, and estimates the
// arrival from there.
func report(t *testing.T, p *apptest.Platform, who lastmile.Principal, lat float64) {
	t.Helper()
	_, err := p.Tracking.Report(t.Context(), who, []lastmile.Position{{Location: lastmile.Point{Lon: -74, Lat: lat}, At: p.Now()}})
	if err != nil {
		t.Fatal(err)
	}
	p.RefreshDue(t)
}
