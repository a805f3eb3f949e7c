package contract_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"dray/internal/app"
	"dray/internal/app/apptest"
	"dray/internal/store/storetest"
)

// listener reads a worker's stream.
type listener struct {
	lines *bufio.Scanner
	last  string // id of the last event
}

// listen follows the worker's list, after the last event that the phone has seen.
func (p *phone) listen(ctx context.Context, t *testing.T, after string) *listener {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.platform.URL+"/driver/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+p.token)
	if after != "" {
		request.Header.Set("Last-Event-ID", after)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("responded with %d %s", response.StatusCode, response.Header.Get("Content-Type"))
	}
	return &listener{lines: bufio.NewScanner(response.Body)}
}

// next returns the ids of the tasks in the next list that is sent.
func (l *listener) next(t *testing.T) []string {
	t.Helper()
	for l.lines.Scan() {
		if id, ok := strings.CutPrefix(l.lines.Text(), "id: "); ok {
			l.last = id
		}
		data, ok := strings.CutPrefix(l.lines.Text(), "data: ")
		if !ok {
			continue
		}
		var list struct {
			Version int64
			Tasks   []struct{ ID string }
		}
		if err := json.Unmarshal([]byte(data), &list); err != nil {
			t.Fatal(err)
		}
		ids := []string{}
		for _, task := range list.Tasks {
			ids = append(ids, task.ID)
		}
		return ids
	}
	t.Fatalf("the stream ended: %v", l.lines.Err())
	return nil
}

// until reads lists until one has these tasks.
func (l *listener) until(t *testing.T, tasks ...string) {
	t.Helper()
	for got := l.next(t); fmt.Sprint(got) != fmt.Sprint(tasks); got = l.next(t) {
		t.Logf("on the way: %v", got)
	}
}

func TestDriverEventsContract(t *testing.T) {
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		acme := p.Organization(t, "Acme")
		testListStream(t, acme, p)
	})
	t.Run("on another node", func(t *testing.T) {
		url := storetest.Postgres(t)
		shared := func(c *app.Config) { c.Database = url }
		here, there := apptest.New(t, shared), apptest.New(t, shared)
		testListStream(t, here.Organization(t, "Acme"), there)
	})
}

// testListStream makes changes at one node and follows them at another.
func testListStream(t *testing.T, c *apptest.Client, there *apptest.Platform) {
	team := driverTeam(t, c, "Driving", true)
	worker, p := hire(t, c, team, "+12125550331")
	other, _ := hire(t, c, driverTeam(t, c, "Others", true), "+12125550332")
	p.call(t, http.MethodPut, "/duty", map[string]any{"onDuty": true}).OK(t)
	mine := map[string]any{"container": map[string]any{"type": "WORKER", "worker": worker}}
	follower := &phone{platform: there, token: p.token}
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	list := follower.listen(ctx, t, "")
	list.until(t) // nothing to do
	first := driverTask(t, c, mine)
	list.until(t, first)
	second := driverTask(t, c, mine)
	list.until(t, first, second)
	driverTask(t, c, map[string]any{"container": map[string]any{"type": "WORKER", "worker": other}}) // of another worker
	c.Call(t, http.MethodPut, "/containers/workers/"+worker, map[string]any{"tasks": []string{second, first}}).OK(t)
	list.until(t, second, first)
	known := list.last
	c.Call(t, http.MethodPut, "/tasks/"+first, map[string]any{"notes": "changed"}).OK(t)
	if got := list.next(t); fmt.Sprint(got) != fmt.Sprint([]string{second, first}) || list.last == known {
		t.Errorf("a changed task: %v", got)
	}
	leave()

	c.Call(t, http.MethodDelete, "/tasks/"+second, nil).OK(t) // while the phone has no signal
	again, stop := context.WithCancel(t.Context())
	defer stop()
	resumed := follower.listen(again, t, list.last)
	resumed.until(t, first)
	nothingNew := follower.listen(again, t, resumed.last)
	p.do(t, "start", first, "s", nil)
	if got := nothingNew.next(t); fmt.Sprint(got) != fmt.Sprint([]string{first}) {
		t.Errorf("a phone that knew everything received %v", got)
	}
	p.do(t, "complete", first, "c", map[string]any{"success": true})
	resumed.until(t)

	// A task that the worker can claim appears, changes and is deleted.
	known = resumed.last
	offered := driverTask(t, c, map[string]any{"container": map[string]any{"type": "TEAM", "team": team}})
	for _, change := range []func(){
		func() {},
		func() { c.Call(t, http.MethodPut, "/tasks/"+offered, map[string]any{"notes": "heavy"}).OK(t) },
		func() { c.Call(t, http.MethodDelete, "/tasks/"+offered, nil).OK(t) },
	} {
		change()
		if got := resumed.next(t); len(got) != 0 || resumed.last == known {
			t.Errorf("a task to claim: %v", got)
		}
		known = resumed.last
	}
}
