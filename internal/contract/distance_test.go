package contract_test

import (
	"math"
	"net/http"
	"testing"
	"time"

	"dray/internal/app/apptest"
)

// TestDistanceContract checks what completionDetails show of a worker's positions.
func TestDistanceContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.StopClock()
		c := p.Organization(t, "Acme")
		team := driverTeam(t, c, "Far", true)
		t.Run("the distance from start to completion", func(t *testing.T) { testDistance(t, c, team) })
		t.Run("a task that the organization completes", func(t *testing.T) { testForcedDistance(t, c, team) })
		t.Run("a start without positions", func(t *testing.T) { testStartWithoutPositions(t, c, team) })
		t.Run("a phone without signal", func(t *testing.T) { testLateDistance(t, c, team) })
	})
}

const meter = 1.0 / 111_043 // of latitude, at 40.7 degrees

// drive reports positions on the way north, 70 m every 5 s, while the clock runs. It
// returns where the worker is in the end.
func drive(t *testing.T, p *phone, lat float64, steps int) float64 {
	t.Helper()
	for range steps {
		p.platform.Advance(5 * time.Second)
		lat += 70 * meter
		p.at(t, lat)
	}
	return lat
}

// completion returns the completion details of a task.
func completion(t *testing.T, c *apptest.Client, task string) map[string]any {
	t.Helper()
	details, _ := c.Must(t, http.MethodGet, "/tasks/"+task, nil)["completionDetails"].(map[string]any)
	return details
}

func wantDistance(t *testing.T, details map[string]any, want, tolerance float64) {
	t.Helper()
	if got, ok := details["distance"].(float64); !ok || math.Abs(got-want) > tolerance {
		t.Errorf("the distance is %v, want %.0f ± %.0f", details["distance"], want, tolerance)
	}
}

func testDistance(t *testing.T, c *apptest.Client, team string) {
	worker, p := driver(t, c, team, "+12125550381")
	task := taskOf(t, c, worker, 40.75, nil)
	lat := drive(t, p, 40.6, 30) // before the start: does not count
	p.do(t, "start", task, "s", nil)
	lat = drive(t, p, lat, 57) // 4 km
	arrived := []any{-74.0, lat}
	p.do(t, "arrive", task, "a", nil)
	p.platform.Advance(time.Minute)
	p.do(t, "depart", task, "d", map[string]any{"location": []float64{-74.1, 40.7}})
	p.do(t, "complete", task, "c", map[string]any{"success": true})
	drive(t, p, lat, 30) // after the completion
	details := completion(t, c, task)
	wantDistance(t, details, 3990, 30)
	for i, want := range []any{nil, arrived, []any{-74.1, 40.7}} {
		event, _ := details["events"].([]any)[i].(map[string]any)
		if i == 0 {
			continue // a start has no location
		}
		matches(t, event["location"], string(encode(t, want)))
	}
	matches(t, details["lastLocation"], string(encode(t, arrived)))
	if first, _ := details["firstLocation"].([]any); len(first) != 2 {
		t.Errorf("firstLocation is %v", details["firstLocation"])
	}
	p.platform.Advance(time.Hour)
	stale := taskOf(t, c, worker, 40.75, nil)
	p.do(t, "start", stale, "s2", nil)
	p.do(t, "arrive", stale, "a2", nil)
	p.do(t, "complete", stale, "c2", map[string]any{"success": true})
	details = completion(t, c, stale)
	wantDistance(t, details, 0, 0)
	if last, _ := details["lastLocation"].([]any); len(last) != 0 {
		t.Errorf("lastLocation is %v, from a position of an hour ago", last)
	}
}

func testForcedDistance(t *testing.T, c *apptest.Client, team string) {
	worker, p := driver(t, c, team, "+12125550382")
	task := taskOf(t, c, worker, 40.75, nil)
	p.at(t, 40.6)
	p.do(t, "start", task, "s", nil)
	lat := drive(t, p, 40.6, 10)
	c.Call(t, http.MethodPost, "/tasks/"+task+"/complete", `{"completionDetails":{"success":true}}`).OK(t)
	details := completion(t, c, task)
	wantDistance(t, details, 700, 30)
	matches(t, details["lastLocation"], string(encode(t, []any{-74.0, lat})))
}

// testStartWithoutPositions starts a task with the only location that is known.
func testStartWithoutPositions(t *testing.T, c *apptest.Client, team string) {
	worker, p := driver(t, c, team, "+12125550384")
	task := taskOf(t, c, worker, 40.75, nil)
	p.do(t, "start", task, "s", map[string]any{"location": []float64{-74, 40.7}})
	shown := c.Must(t, http.MethodGet, "/tasks/"+task, nil)
	if shown["eta"] == nil || shown["estimatedCompletionTime"] == nil {
		t.Errorf("eta is %v and estimatedCompletionTime %v", shown["eta"], shown["estimatedCompletionTime"])
	}
}

// testLateDistance sends the actions of a phone without signal first, and its positions
// later.
func testLateDistance(t *testing.T, c *apptest.Client, team string) {
	worker, p := driver(t, c, team, "+12125550383")
	first, second := taskOf(t, c, worker, 40.75, nil), taskOf(t, c, worker, 40.75, nil)
	p.at(t, 40.6)
	begun := p.platform.Now()
	minute := func(n int) int64 { return begun.Add(time.Duration(n) * time.Minute).UnixMilli() }
	p.platform.Advance(time.Hour)
	p.do(t, "start", first, "s1", map[string]any{"time": minute(1)})
	p.do(t, "complete", first, "c1", map[string]any{"time": minute(11), "success": true})
	p.do(t, "start", second, "s2", map[string]any{"time": minute(12)})
	p.do(t, "complete", second, "c2", map[string]any{"time": minute(17), "success": true})
	wantDistance(t, completion(t, c, first), 0, 0)
	before := len(triggers(t, c, "taskId", first))
	var positions []any
	for i := 1; i <= 40; i++ { // half a minute and 300 m each
		at := begun.Add(time.Duration(i) * 30 * time.Second)
		positions = append(positions, map[string]any{"location": []float64{-74, 40.6 + 300*meter*float64(i)}, "time": at.UnixMilli()})
	}
	p.report(t, positions[:25])
	p.report(t, positions[25:])
	wantDistance(t, completion(t, c, first), 6000, 60)
	wantDistance(t, completion(t, c, second), 3000, 60)
	if got := triggers(t, c, "taskId", first)[before:]; len(got) != 1 || got[0] != "taskUpdated" {
		t.Errorf("webhooks get %v, want one taskUpdated", got)
	}
	p.report(t, positions) // again: changes nothing
	p.at(t, 40.9)
	wantDistance(t, completion(t, c, first), 6000, 60)
	if got := triggers(t, c, "taskId", first)[before:]; len(got) != 1 {
		t.Errorf("webhooks get %v", got)
	}
}
