package contract_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"dray/internal/app/apptest"
)

// TestRevocationContract follows streams while keys are revoked and sessions end. Streams
// learn of both by the refresh of keys from the database.
func TestRevocationContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c, other := p.Organization(t, "Acme"), p.Organization(t, "Zenith")
		key, record, err := p.APIKeys.Create(t.Context(), c.Organization.ID, "to be revoked")
		if err != nil {
			t.Fatal(err)
		}
		team := driverTeam(t, c, "T", false)
		worker, phone := hire(t, c, team, "+12125550101")
		_, left := hire(t, c, team, "+12125550102")
		revoked := follow(t, &apptest.Client{Platform: p, Key: key}, "")
		kept, others := follow(t, c, ""), follow(t, other, "")
		lists := map[string]*listener{"ended": phone.listen(t.Context(), t, ""), "left": left.listen(t.Context(), t, "")}
		open := map[string]chan struct{}{"kept": watch(kept), "of another organization": watch(others), "of another worker": drain(lists["left"])}
		ended := map[string]chan struct{}{"with the revoked key": watch(revoked), "of the deleted worker": drain(lists["ended"])}

		if err := p.APIKeys.Revoke(t.Context(), c.Organization.ID, record.ID); err != nil {
			t.Fatal(err)
		}
		c.Call(t, http.MethodDelete, "/workers/"+worker, nil).OK(t)
		if err := p.Keys.Refresh(t.Context()); err != nil { // as every node does a few times a second
			t.Fatal(err)
		}
		for name, stream := range ended {
			select {
			case <-stream:
			case <-time.After(time.Minute):
				t.Errorf("the stream %s goes on", name)
			}
		}
		for name, stream := range open {
			select {
			case <-stream:
				t.Errorf("the stream %s has ended", name)
			default:
			}
		}
	})
}

// watch returns a channel that is closed when a stream ends.
func watch(s *stream) chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range s.events {
		}
	}()
	return ended
}

// drain returns a channel that is closed when the stream of a worker ends.
func drain(l *listener) chan struct{} {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for l.lines.Scan() {
		}
	}()
	return ended
}

// TestEventPagesContract follows events that together are larger than a page of the log.
func TestEventPagesContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.RunWebhooks(t)
		c := p.Organization(t, "Acme")
		events := follow(t, c, "")
		const count = 60
		notes := fmt.Sprintf("%09990d", 7)
		for range count {
			id(t, c, "/tasks", `{"destination":{"address":{"city":"X","country":"Y"},"location":[1,2]},"recipients":[],"notes":"`+notes+`"}`)
		}
		for i := range count {
			if e := events.next(t); e.id != i+1 || e.event != "taskCreated" {
				t.Fatalf("event %d is %d %s", i+1, e.id, e.event)
			}
		}
		again := follow(t, c, "?since=0")
		for i := range count {
			if e := again.next(t); e.id != i+1 {
				t.Fatalf("event %d is %d", i+1, e.id)
			}
		}
	})
}
