package contract_test

import (
	"fmt"
	"testing"

	"dray/internal/app/apptest"
)

// TestBoardFleetContract tests how streams report changes of teams, hubs and schedules.
func TestBoardFleetContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.RunWebhooks(t)
		c, other := p.Organization(t, "Fleet"), p.Organization(t, "Other")
		first := driverTeam(t, c, "First", false)
		worker := id(t, c, "/workers", `{"name":"Ada","phone":"+12125550641","teams":["`+first+`"]}`)
		id(t, c, "/tasks", plainTask)
		read := func() map[string]any {
			t.Helper()
			shown := c.Must(t, "GET", "/board?tasks=false&date=2090-01-01", nil)
			if again := c.Must(t, "GET", "/board?tasks=False&date=2090-01-01", nil); len(again["tasks"].([]any)) != 0 {
				t.Errorf("in another letter case, the board is %v", again)
			}
			if len(shown["tasks"].([]any)) != 0 || len(shown["workers"].([]any)) != 1 {
				t.Errorf("the board is %v", shown)
			}
			return shown
		}
		stream, foreign := follow(t, c, "?lists=1"), follow(t, other, "?lists=1")
		if got := stream.await(t, "fleet").body(t)["version"]; got != read()["fleet"] {
			t.Errorf("at the beginning, the version is %v", got)
		}
		await := func() map[string]any {
			t.Helper()
			e := stream.await(t, "fleet")
			shown := read()
			if e.id != 0 || e.body(t)["version"] != shown["fleet"] {
				t.Errorf("it is %+v, and the board has %v", e, shown["fleet"])
			}
			return shown
		}
		team := id(t, c, "/teams", `{"name":"Second","workers":["`+worker+`"],"managers":[]}`)
		if teams := await()["teams"].([]any); len(teams) != 2 {
			t.Errorf("the teams are %v", teams)
		}
		c.Must(t, "PUT", "/teams/"+team, `{"name":"Renamed"}`)
		if name := part(await()["teams"].([]any)[1].(map[string]any), "name"); name != "Renamed" {
			t.Errorf("the team is %v", name)
		}
		hub := id(t, c, "/hubs", `{"name":"Hub","address":{"number":"1","street":"Main","city":"New York","country":"US"},"location":[-73.98,40.75],"teams":["`+team+`"]}`)
		await()
		c.Must(t, "PUT", "/hubs/"+hub, `{"name":"Moved"}`)
		if name := part(await()["hubs"].([]any)[0].(map[string]any), "name"); name != "Moved" {
			t.Errorf("the hub is %v", name)
		}
		const schedule = `{"entries":[{"date":"2090-01-01","timezone":"America/New_York","shifts":[[3786962400000,3786980400000]]}]}`
		c.Must(t, "POST", "/workers/"+worker+"/schedule", schedule)
		scheduled := await()
		if shifts := part(scheduled["workers"].([]any)[0].(map[string]any), "schedule"); len(shifts.([]any)) != 1 {
			t.Errorf("the shifts are %v", shifts)
		}
		c.Must(t, "POST", "/workers/"+worker+"/schedule", schedule)
		if got := read()["fleet"]; got != scheduled["fleet"] {
			t.Errorf("the same schedule raises the version from %v to %v", scheduled["fleet"], got)
		}
		c.Must(t, "PUT", "/workers/"+worker, `{"teams":["`+first+`"]}`)
		if teams := part(await()["workers"].([]any)[0].(map[string]any), "teams"); len(teams.([]any)) != 1 {
			t.Errorf("after the worker has left a team, its teams are %v", teams)
		}
		c.Call(t, "DELETE", "/teams/"+team, nil).OK(t)
		last := await()
		if len(last["teams"].([]any)) != 1 {
			t.Errorf("the teams are %v", last["teams"])
		}
		// A client that reconnects gets the current version, whatever it has missed.
		again := follow(t, c, fmt.Sprintf("?since=%.0f&lists=1", last["cursor"]))
		if got := again.await(t, "fleet").body(t)["version"]; got != last["fleet"] {
			t.Errorf("after a resume, the version is %v", got)
		}
		// The other organization is sent only its own changes.
		driverTeam(t, other, "Theirs", false)
		if got := foreign.await(t, "fleet").body(t)["version"]; got != 1.0 {
			t.Errorf("the other organization has version %v", got)
		}
	})
}
