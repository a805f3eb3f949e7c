package contract_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dray/internal/app"
	"dray/internal/app/apptest"
	"dray/internal/travel"
)

// TestFloodContract checks limits that callers reach only on purpose: within them
// everything works, beyond them a request is rejected and can be sent again later.
func TestFloodContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.StopClock()
		c := p.Organization(t, "Acme")
		team := driverTeam(t, c, "Floods", true)
		t.Run("feedback is changed a few times", func(t *testing.T) { testFeedbackFlood(t, c, team) })
		t.Run("a phone reports as many positions as a day has", func(t *testing.T) { testPositionFlood(t, c, team) })
		t.Run("webhooks are checked at a moderate rate", func(t *testing.T) { testHandshakeFlood(t, c) })
	})
}

func testFeedbackFlood(t *testing.T, c *apptest.Client, team string) {
	worker, p := driver(t, c, team, "+12125550391")
	task := driverTask(t, c, map[string]any{"container": map[string]any{"type": "WORKER", "worker": worker}})
	p.do(t, "start", task, "s", nil)
	p.do(t, "complete", task, "c", map[string]any{"success": true})
	at := link(t, c, task)
	change := func(i int) apptest.Response { return say(t, at, fmt.Sprintf(`{"rating":5,"comments":"take %d"}`, i)) }
	for i := range 10 {
		change(i).OK(t)
	}
	events := len(triggers(t, c, "taskId", task))
	tooMany.check(t, change(10))
	change(9).OK(t) // changes nothing
	if got := len(triggers(t, c, "taskId", task)); got != events {
		t.Errorf("%d events after feedback that was rejected", got-events)
	}
	other := driverTask(t, c, map[string]any{"container": map[string]any{"type": "WORKER", "worker": worker}})
	p.do(t, "start", other, "s2", nil)
	p.do(t, "complete", other, "c2", map[string]any{"success": true})
	say(t, link(t, c, other), `{"rating":1}`).OK(t)
	c.Platform.Advance(5 * time.Minute)
	change(11).OK(t)
	tooMany.check(t, change(12))
}

func testPositionFlood(t *testing.T, c *apptest.Client, team string) {
	_, p := driver(t, c, team, "+12125550392")
	now := c.Platform.Now()
	batch := func(first int) map[string]any {
		positions := []any{}
		for i := range travel.MaxPositions {
			at := now.Add(-time.Duration(first+i) * 4 * time.Second)
			positions = append(positions, map[string]any{"location": []float64{-74, 40.7}, "time": at.UnixMilli()})
		}
		return map[string]any{"positions": positions}
	}
	for i := range 40 {
		p.call(t, http.MethodPost, "/positions", batch(i*travel.MaxPositions)).OK(t)
	}
	rejected := p.call(t, http.MethodPost, "/positions", batch(0))
	if cause := tooMany.check(t, rejected); !strings.Contains(fmt.Sprint(cause), "send them again") {
		t.Errorf("the cause is %v", cause)
	}
	if rejected.Header.Get("Retry-After") == "" {
		t.Error("there is no Retry-After")
	}
	_, other := driver(t, c, team, "+12125550393")
	other.call(t, http.MethodPost, "/positions", batch(0)).OK(t)
	c.Platform.Advance(5 * time.Second)
	p.call(t, http.MethodPost, "/positions", batch(0)).OK(t)
}

func testHandshakeFlood(t *testing.T, c *apptest.Client) {
	hook := map[string]any{"url": "https://127.0.0.1:1/hook", "trigger": 6}
	other := c.Platform.Organization(t, "Other")
	for range 200 {
		invalidHook.check(t, c.Call(t, http.MethodPost, "/webhooks", hook))
	}
	tooMany.check(t, c.Call(t, http.MethodPost, "/webhooks", hook))
	invalidHook.check(t, other.Call(t, http.MethodPost, "/webhooks", hook))
	c.Platform.Advance(time.Second)
	invalidHook.check(t, c.Call(t, http.MethodPost, "/webhooks", hook))
}

// TestLongSearchesContract: a search returns all records that it finds,
// also when they are larger than the memory that requests have together.
func TestLongSearchesContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c := p.Organization(t, "Acme")
		tag := map[string]any{"name": "large", "type": "boolean", "value": true}
		padding := map[string]any{"name": "padding", "type": "string", "value": strings.Repeat("x", 15<<10)}
		var want []string
		for range 10 {
			tasks := make([]any, 20)
			for i := range tasks {
				tasks[i] = map[string]any{
					"destination": map[string]any{"address": map[string]any{"number": "1", "street": "Main Street", "city": "New York", "country": "US"}, "location": []float64{-74, 40.7}},
					"recipients":  []any{}, "metadata": []any{tag, padding},
				}
			}
			made, _ := c.Call(t, "POST", "/tasks/batch", map[string]any{"tasks": tasks}).OK(t).Object(t)["tasks"].([]any)
			for _, task := range made {
				want = append(want, fmt.Sprint(task.(map[string]any)["id"]))
			}
		}
		var found sync.WaitGroup
		for range 4 { // they take turns
			found.Go(func() {
				got := ids(c.Call(t, "POST", "/tasks/metadata", []any{tag}).OK(t).List(t))
				slices.Sort(got)
				if !slices.Equal(got, slices.Sorted(slices.Values(want))) {
					t.Errorf("found %d of %d tasks", len(got), len(want))
				}
			})
		}
		found.Wait()
		if got := c.Call(t, "POST", "/destinations/metadata", []any{tag}).OK(t).List(t); len(got) != 0 {
			t.Errorf("found %d destinations", len(got))
		}
	}, func(c *app.Config) { c.RequestMemory = 4 << 20 })
}
