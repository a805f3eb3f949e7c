package contract_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dray/internal/app/apptest"
	boards "dray/internal/board"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
)

// pastDay is a simulated day, with changes before and after midnight, and the board at
// midnight.
type pastDay struct {
	*apptest.Client
	workers, teams []string
	phones         map[string]*phone
	date           string
	midnight       map[string]any // the board
	cursor         int
	from           time.Time
}

func newPastDay(t *testing.T, p *apptest.Platform) *pastDay {
	p.StopClock()
	p.RunWebhooks(t)
	d := &pastDay{Client: p.Organization(t, "Acme"), phones: map[string]*phone{}}
	d.teams = []string{driverTeam(t, d.Client, "One", false), driverTeam(t, d.Client, "Two", false)}
	for i := range 3 {
		worker, phone := driver(t, d.Client, d.teams[i%2], fmt.Sprintf("+1212555080%d", i))
		phone.at(t, 40.7)
		d.phones[worker], d.workers = phone, append(d.workers, worker)
	}
	d.play(t, p, 1, 60)
	p.Events(t, d.Organization.ID) // all of them have numbers
	zone, err := time.LoadLocation(d.Organization.Timezone)
	if err != nil {
		t.Fatal(err)
	}
	local := p.Now().In(zone)
	d.from = time.Date(local.Year(), local.Month(), local.Day()+1, 0, 0, 0, 0, zone)
	p.Advance(d.from.Sub(p.Now()) + time.Second)
	d.date = d.from.Format(time.DateOnly)
	d.midnight = board(t, d.Client, "")
	d.cursor = int(d.midnight["cursor"].(float64))
	d.play(t, p, 2, 60)
	p.Events(t, d.Organization.ID)
	return d
}

// play makes changes, some seconds apart.
func (d *pastDay) play(t *testing.T, p *apptest.Platform, seed uint64, changes int) {
	by := &dispatcher{Client: d.Client, random: rand.New(rand.NewPCG(seed, 3)), workers: d.workers, teams: d.teams, phones: d.phones, n: int(seed) * 1_000}
	for range changes {
		p.Advance(7 * time.Second)
		by.change(t)
		p.Settle(t)
	}
}

// readLog reads the event log.
func readLog(t *testing.T, c *apptest.Client, since, until int) (all []map[string]any) {
	t.Helper()
	for next := any(float64(since)); next != nil; {
		page := c.Must(t, "GET", fmt.Sprintf("/events/log?since=%.0f&until=%d", next, until), nil)
		for _, e := range page["events"].([]any) {
			all = append(all, e.(map[string]any))
		}
		next = page["next"]
	}
	return all
}

// sameTasks compares the tasks of two boards, without the fields that no event shows.
func sameTasks(t *testing.T, what string, got, want map[string]map[string]any, skip func(id string) bool) {
	t.Helper()
	unlogged := []string{"estimatedArrivalTime", "estimatedCompletionTime", "eta", "delayTime", "pinned"}
	for _, id := range slices.Sorted(maps.Keys(want)) {
		if got[id] == nil {
			t.Errorf("%s: task %s is missing: %v", what, id, want[id])
			continue
		}
		if skip(id) {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(want[id])) {
			if !slices.Contains(unlogged, name) && asPlain(got[id][name]) != asPlain(want[id][name]) {
				t.Errorf("%s: %s of task %s is %s, want %s", what, name, id, asPlain(got[id][name]), asPlain(want[id][name]))
			}
		}
	}
	for id := range got {
		if want[id] == nil {
			t.Errorf("%s: task %s was not there: %v", what, id, got[id])
		}
	}
}

// TestHistoryEqualsTheEventStream rebuilds a simulated day: it begins with what the board
// showed at midnight, has the events of the stream, one by one, and ends with what the
// board shows now.
func TestHistoryEqualsTheEventStream(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		d := newPastDay(t, p)
		past := d.Must(t, "GET", "/board/history?date="+d.date, nil)
		start := past["board"].(map[string]any)
		if start["cursor"] != float64(d.cursor) || start["date"] != d.date || start["from"] != float64(d.from.UnixMilli()) {
			t.Errorf("the day begins with event %v at %v, want %d", start["cursor"], start["from"], d.cursor)
		}
		last := int(past["lastEvent"].(float64))
		events := readLog(t, d.Client, d.cursor, last)
		streamed := follow(t, d.Client, fmt.Sprintf("?since=%d", d.cursor))
		early, late := map[string]bool{}, map[string]bool{} // tasks with an event before the day, and on it
		for _, e := range readLog(t, d.Client, 0, last) {
			id := fmt.Sprint(e["event"].(map[string]any)["taskId"])
			early[id], late[id] = early[id] || e["number"].(float64) <= float64(d.cursor), late[id] || e["number"].(float64) > float64(d.cursor)
		}
		if len(events) != last-d.cursor || len(events) < 30 {
			t.Fatalf("the day has %d events, want those from %d to %d", len(events), d.cursor+1, last)
		}
		replay := newScreen(start)
		for _, of := range past["created"].([]any) {
			task := of.(map[string]any)
			replay.tasks[fmt.Sprint(task["id"])] = task
		}
		for i, e := range events {
			sent := <-streamed.events
			body := asText(t, e["event"])
			if int(e["number"].(float64)) != sent.id || body != byName(t, sent.data) {
				t.Fatalf("event %d is %v %s, and the stream sends %d %s", i, e["number"], body, sent.id, sent.data)
			}
			if at := int64(e["timeStored"].(float64)); at < d.from.UnixMilli() {
				t.Errorf("event %d was stored before the day", sent.id)
			}
			sent.event = fmt.Sprint(e["event"].(map[string]any)["triggerName"])
			replay.apply(sent)
		}
		// What a task of a batch was like before its first event is not known.
		sameTasks(t, "at midnight", records(start, "tasks"), records(d.midnight, "tasks"), func(id string) bool { return !early[id] && late[id] })
		sameTasks(t, "at the end", replay.tasks, records(board(t, d.Client, ""), "tasks"), func(string) bool { return false })
		for id, w := range records(start, "workers") {
			if was := records(d.midnight, "workers")[id]; asPlain(w["location"]) != asPlain(was["location"]) || w["onDuty"] != was["onDuty"] || w["activeTask"] != was["activeTask"] {
				t.Errorf("worker %s was %v, want %v", id, w, was)
			}
		}
		t.Run("other days and callers", func(t *testing.T) { testOtherHistory(t, p, d, last) })
	})
}

// byName returns JSON with its members sorted by name.
func byName(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return asText(t, v)
}

func testOtherHistory(t *testing.T, p *apptest.Platform, d *pastDay, last int) {
	yesterday := d.Must(t, "GET", "/board/history?date="+d.from.Add(-time.Hour).Format(time.DateOnly), nil)
	if got := yesterday["board"].(map[string]any); got["cursor"] != 0.0 || len(got["tasks"].([]any)) != 0 || yesterday["lastEvent"] != float64(d.cursor) {
		t.Errorf("the day before begins with %v and ends with event %v, want %d", got["tasks"], yesterday["lastEvent"], d.cursor)
	}
	other := p.Organization(t, "Zenith")
	none := other.Must(t, "GET", "/board/history?date="+d.date, nil)
	if got := none["board"].(map[string]any); len(got["tasks"].([]any)) != 0 || len(got["workers"].([]any)) != 0 || none["lastEvent"] != 0.0 || none["storedSince"] != nil || len(none["created"].([]any)) != 0 {
		t.Errorf("another organization sees %v", none)
	}
	if got := readLog(t, other, 0, last); len(got) != 0 {
		t.Errorf("another organization has %d events", len(got))
	}
	if got := other.Must(t, "GET", fmt.Sprintf("/board/positions?from=%d", d.from.UnixMilli()), nil)["positions"].([]any); len(got) != 0 {
		t.Errorf("another organization sees %d positions", len(got))
	}
	// The log ends for now, and goes on from there.
	end := d.Must(t, "GET", fmt.Sprintf("/events/log?since=%d", last-1), nil)
	if got := end["events"].([]any); len(got) != 1 || end["next"] != nil || end["last"] != float64(last) {
		t.Errorf("the last page has %d events, next %v and last %v, want %d", len(got), end["next"], end["last"], last)
	}
	if first := d.Must(t, "GET", "/events/log?until=2", nil); len(first["events"].([]any)) != 2 || first["next"] != nil || first["last"] != 2.0 {
		t.Errorf("until event 2, next is %v and last %v", first["next"], first["last"])
	}
	for query, want := range map[string]rejection{
		"/board/history?date=2026-13-01": malformed, "/board/history?date=2099-01-01": invalid, "/board/positions": malformed, "/board/positions?from=x": malformed,
		"/events/log?since=x": malformed, "/events/log?until=1.5": malformed, "/events/log?since=-1": malformed,
	} {
		want.check(t, d.Call(t, "GET", query, nil))
	}
}

// TestPastPositionsAreThinnedOut checks that the positions of a worker are some seconds
// apart, and that a page is an hour.
func TestPastPositionsAreThinnedOut(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.StopClock()
		c := p.Organization(t, "Acme")
		team := driverTeam(t, c, "One", false)
		worker, _ := driver(t, c, team, "+12125550861")
		from := p.Now().Add(-2 * time.Hour).Truncate(time.Second)
		var way []lastmile.Position
		for i := range 4_000 {
			way = append(way, lastmile.Position{At: from.Add(time.Duration(i) * time.Second), Location: lastmile.Point{Lon: 1 + float64(i)/1e4, Lat: 2}})
		}
		err := p.Store.Write(t.Context(), func(tx *sqlstore.Tx) error {
			return tx.SavePositions(t.Context(), c.Organization.ID, lastmile.WorkerID(worker), way)
		})
		if err != nil {
			t.Fatal(err)
		}
		page := c.Must(t, "GET", fmt.Sprintf("/board/positions?from=%d", from.UnixMilli()), nil)
		all := page["positions"].([]any)
		if want := int(boards.HistoryPage / boards.HistoryStep); len(all) != want || page["next"] != float64(from.Add(time.Hour).UnixMilli()) {
			t.Fatalf("the hour has %d positions and ends at %v, want %d", len(all), page["next"], want)
		}
		matches(t, all[1], fmt.Sprintf(`{"worker":%q,"time":%d,"location":[1.002,2]}`, worker, from.Add(boards.HistoryStep).UnixMilli()))
	})
}
