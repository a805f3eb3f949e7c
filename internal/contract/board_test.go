package contract_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dray/internal/app/apptest"
	boards "dray/internal/board"
	"dray/internal/lastmile"
	"dray/internal/store/sqlboard"
	"dray/internal/store/sqlstore"
)

func init() {
	register("POST /workers/{id}/preview", [2]string{`{"tasks":[]}`, `{"tasks":["OWN-task"]}`},
		idPlace{field: "{id}", kind: "worker", body: `{"tasks":[]}`, missing: notFound},
		idPlace{field: "tasks[]", kind: "task", body: `{"tasks":["ID"]}`, missing: notFound})
}

// boardFields are the fields of a task that the board shows as the API does, or not at all
// if they are null, false, zero or empty.
var boardFields = []string{
	"id", "shortId", "state", "container", "worker", "timeCreated", "timeLastModified", "completeAfter", "completeBefore", "pickupTask", "quantity", "serviceTime",
	"priority", "estimatedArrivalTime", "estimatedCompletionTime", "eta", "delayTime", "dependencies", "orderShortId",
}

// onBoard returns what the board shows of a task of the API.
func onBoard(task map[string]any) map[string]any {
	shown := map[string]any{}
	for _, name := range boardFields {
		switch value := task[name]; value {
		case nil, false, 0.0, "":
			if name == "state" {
				shown[name] = value
			}
		default:
			if list, ok := value.([]any); !ok || len(list) > 0 {
				shown[name] = value
			}
		}
	}
	if notes := []rune(fmt.Sprint(task["notes"])); len(notes) > 0 {
		shown["notes"] = string(notes[:min(len(notes), 200)])
	}
	if all, _ := task["recipients"].([]any); len(all) > 0 {
		recipient, _ := all[0].(map[string]any)
		shown["recipients"] = []any{map[string]any{"name": recipient["name"], "phone": recipient["phone"]}}
	}
	destination, _ := task["destination"].(map[string]any)
	address, _ := destination["address"].(map[string]any)
	part := func(name string) string {
		text, _ := address[name].(string)
		return text
	}
	line := lastmile.Address{
		Number: part("number"), Street: part("street"), Apartment: part("apartment"), City: part("city"), State: part("state"), PostalCode: part("postalCode"), Country: part("country"),
	}.Line()
	place := map[string]any{"id": destination["id"], "location": destination["location"], "line": line}
	if warnings, _ := destination["warnings"].([]any); len(warnings) > 0 {
		place["warnings"] = warnings
	}
	shown["destination"] = place
	details, _ := task["completionDetails"].(map[string]any)
	if details["time"] != nil {
		outcome := map[string]any{"time": details["time"], "success": details["success"]}
		if details["success"] == false {
			outcome["failureReason"] = details["failureReason"]
		}
		shown["completionDetails"] = outcome
	}
	events, _ := details["events"].([]any)
	for _, each := range events {
		switch e, _ := each.(map[string]any); e["name"] {
		case "start":
			shown["startTime"] = e["time"]
		case "arrival": // the first
			if shown["arrivalTime"] == nil {
				shown["arrivalTime"] = e["time"]
			}
		}
	}
	return shown
}

// board reads a board.
func board(t testing.TB, c *apptest.Client, query string) map[string]any {
	t.Helper()
	return c.Must(t, "GET", "/board"+query, nil)
}

// records returns the records in a list of an object, by id.
func records(object map[string]any, list string) map[string]map[string]any {
	all := map[string]map[string]any{}
	each, _ := object[list].([]any)
	for _, r := range each {
		if r, ok := r.(map[string]any); ok {
			all[fmt.Sprint(r["id"])] = r
		}
	}
	return all
}

func asText(t testing.TB, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestBoardContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c, other := p.Organization(t, "Acme"), p.Organization(t, "Zenith")
		t.Run("an empty board", func(t *testing.T) { testEmptyBoard(t, c) })
		t.Run("every field", func(t *testing.T) { testBoardFields(t, c, other) })
		t.Run("tasks of a day", func(t *testing.T) { testBoardDays(t, c) })
		t.Run("some teams", func(t *testing.T) { testBoardTeams(t, c, other) })
		t.Run("more tasks than a board shows", func(t *testing.T) { testTruncatedBoard(t, p) })
		t.Run("previews of lists", func(t *testing.T) { testPreview(t, c) })
		t.Run("tasks that are placed with others", func(t *testing.T) { testPlacedOnBoard(t, p) })
	})
}

func testEmptyBoard(t *testing.T, c *apptest.Client) {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	now := c.Platform.Now().In(zone)
	from := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, zone)
	matches(t, board(t, c, ""), fmt.Sprintf(`{"cursor":0,"fleet":0,"date":%q,"from":%d,"to":%d,"timezone":"America/New_York","organization":{"id":%q,"name":"Acme"},
		"teams":[],"hubs":[],"workers":[],"tasks":[],"truncated":false}`, now.Format(time.DateOnly), from.UnixMilli(), from.AddDate(0, 0, 1).UnixMilli(), c.Organization.ID))
	if got := board(t, c, "?date=2026-03-08"); got["to"].(float64)-got["from"].(float64) != 23*3_600_000 {
		t.Error("the day on which clocks go forward does not have 23 hours")
	}
	for query, want := range map[string]rejection{
		"date=today": malformed, "date=2026-02-30": malformed, "date=1999-12-31": malformed, "date=2100-01-01": malformed, "date=2026-1-1": malformed,
		"teams=" + unknownID: notFound, "teams=short": notFound, "teams=" + strings.Repeat(unknownID+",", 201): invalid,
	} {
		field, _, _ := strings.Cut(query, "=")
		words := []string{field}
		if want == notFound {
			words = []string{"team"}
		}
		want.check(t, c.Call(t, "GET", "/board?"+query, nil), words...)
	}
	unauthenticated.check(t, (&apptest.Client{Platform: c.Platform}).Call(t, "GET", "/board", nil))
}

func testBoardFields(t *testing.T, c, other *apptest.Client) {
	p := c.Platform
	hub := id(t, c, "/hubs", `{"name":"Depot","address":{"number":"1","street":"Main Street","city":"New York","state":"New York","postalCode":"10001","country":"US"},"location":[-74,40.7]}`)
	team := driverTeam(t, c, "Board", false)
	c.Must(t, "PUT", "/teams/"+team, `{"hub":"`+hub+`"}`)
	ada, phone := driver(t, c, team, "+12125550381")
	c.Must(t, "PUT", "/workers/"+ada, `{"displayName":"Ada","capacity":20}`)
	empty := board(t, c, "")
	date, begin := fmt.Sprint(empty["date"]), int64(empty["from"].(float64)) // an hour from now may be tomorrow
	c.Must(t, "POST", "/workers/"+ada+"/schedule", fmt.Sprintf(`{"entries":[{"date":%q,"timezone":"America/New_York","shifts":[[%d,%d]]}]}`, date, begin, begin+1))
	seen := p.Now().UnixMilli()
	phone.report(t, []any{map[string]any{"location": []float64{-74, 40.75}, "time": seen, "heading": 90, "speed": 2.5, "accuracy": 8, "battery": 0.5}})

	soon := p.Now().Add(-time.Minute).UnixMilli()
	body := func(more string) string {
		return `{"destination":{"address":{"number":"350","street":"5th Avenue","apartment":"7","city":"New York","state":"New York","postalCode":"10118","country":"US"},"location":[-73.98,40.74]}` + more + `}`
	}
	first := id(t, c, "/tasks", body(fmt.Sprintf(`,"recipients":[{"name":"Mary Seacole","phone":"+12125550382"}],"completeAfter":%d,"completeBefore":%d,"quantity":2,"serviceTime":5,
		"notes":%q,"priority":3,"container":{"type":"WORKER","worker":%q}`, soon, p.Now().Add(2*time.Hour).UnixMilli(), strings.Repeat("ä", 300), ada)))
	second := id(t, c, "/tasks", body(fmt.Sprintf(`,"recipients":[],"pickupTask":true,"dependencies":[%q],"container":{"type":"WORKER","worker":%q}`, first, ada)))
	failed := id(t, c, "/tasks", body(fmt.Sprintf(`,"recipients":[],"container":{"type":"WORKER","worker":%q}`, ada)))
	phone.do(t, "start", failed, "start failed", nil)
	c.Call(t, "POST", "/tasks/"+failed+"/complete", `{"completionDetails":{"success":false,"notes":"closed"}}`).OK(t)
	active := id(t, c, "/tasks", body(fmt.Sprintf(`,"recipients":[],"container":{"type":"WORKER","worker":%q}`, ada)))
	phone.do(t, "start", active, "start active", nil)
	pooled := id(t, c, "/tasks", body(fmt.Sprintf(`,"recipients":[],"container":{"type":"TEAM","team":%q}`, team)))
	approximate := id(t, c, "/tasks", `{"destination":{"address":{"unparsed":"Nowhere Lane 9999, New York, US"}},"recipients":[]}`)
	c.Must(t, "PUT", "/tasks/"+second+"/pin", `{"position":true}`)
	p.RefreshDue(t)
	events := len(p.Events(t, c.Organization.ID)) // numbers them

	shown := board(t, c, "")
	if shown["cursor"] != float64(events) {
		t.Errorf("the cursor is %v after %d events", shown["cursor"], events)
	}
	matches(t, shown["hubs"], `[{"id":"`+hub+`","name":"Depot","location":[-74,40.7],"address":"1 Main Street, New York, New York 10001, US"}]`)
	teams := records(shown, "teams")
	delete(teams[team], "version")
	matches(t, teams[team], `{"id":"`+team+`","name":"Board","workers":["`+ada+`"],"managers":[],"hub":"`+hub+`","tasks":["`+pooled+`"]}`)
	worker := records(shown, "workers")[ada]
	api := c.Must(t, "GET", "/workers/"+ada, nil)
	for _, name := range []string{"id", "timeLastModified", "name", "displayName", "phone", "teams", "onDuty", "activeTask", "tasks", "location", "timeLastSeen", "delayTime", "capacity"} {
		if asText(t, worker[name]) != asText(t, api[name]) {
			t.Errorf("%s of the worker is %s, want %s", name, asText(t, worker[name]), asText(t, api[name]))
		}
		delete(worker, name)
	}
	if version, _ := worker["version"].(float64); version < 4 {
		t.Errorf("the version of the list is %v", worker["version"])
	}
	delete(worker, "version")
	matches(t, worker, fmt.Sprintf(`{"timeLocated":%d,"vehicle":{"type":"CAR"},"battery":0.5,"heading":90,"speed":2.5,"appVersion":null,"schedule":[[%d,%d]]}`, seen, begin, begin+1))

	tasks := records(shown, "tasks")
	for _, task := range []string{first, second, active, failed, pooled, approximate} {
		want := onBoard(c.Must(t, "GET", "/tasks/"+task, nil))
		if task == second {
			want["pinned"] = "position"
		}
		matches(t, tasks[task], asText(t, want))
	}
	if notes, _ := tasks[first]["notes"].(string); notes != strings.Repeat("ä", 200) {
		t.Errorf("the notes are %q", notes)
	}
	if len(tasks) != 6 || shown["truncated"] != false {
		t.Errorf("the board has %d tasks", len(tasks))
	}
	if theirs := board(t, other, ""); len(records(theirs, "tasks")) != 0 || len(records(theirs, "workers")) != 0 || len(records(theirs, "teams")) != 0 || theirs["cursor"] != 0.0 {
		t.Errorf("another organization sees %s", asText(t, theirs))
	}
	outsideScope.check(t, other.Call(t, "GET", "/board?teams="+team, nil))
}

func testBoardDays(t *testing.T, c *apptest.Client) {
	const day = 24 * time.Hour
	now := c.Platform.Now()
	date := func(days int) string { return "?date=" + daysAfter(t, fmt.Sprint(board(t, c, "")["date"]), days) }
	made := map[string]string{}
	for name, window := range map[string][2]time.Duration{
		"today": {-time.Minute, time.Minute}, "tomorrow": {day, day + time.Minute}, "yesterday": {-day - time.Minute, -day}, "long": {-day, day}, "from yesterday on": {-day, 0}, "until tomorrow": {0, day}, "always": {0, 0},
	} {
		body := map[string]any{"destination": map[string]any{"address": map[string]any{"city": "New York", "country": "US"}, "location": []float64{-74, 40.7}}, "recipients": []any{}}
		if window[0] != 0 {
			body["completeAfter"] = now.Add(window[0]).UnixMilli()
		}
		if window[1] != 0 {
			body["completeBefore"] = now.Add(window[1]).UnixMilli()
		}
		made[name] = id(t, c, "/tasks", asText(t, body))
	}
	for query, want := range map[string][]string{
		"":       {"today", "yesterday", "long", "from yesterday on", "until tomorrow", "always"},
		date(0):  {"today", "yesterday", "long", "from yesterday on", "until tomorrow", "always"},
		date(1):  {"tomorrow", "long", "from yesterday on", "until tomorrow", "always"},
		date(-1): {"yesterday", "long", "from yesterday on", "until tomorrow", "always"},
		date(9):  {"from yesterday on", "always"},
	} {
		shown := records(board(t, c, query), "tasks")
		for name, task := range made {
			if _, found := shown[task]; found != slices.Contains(want, name) {
				t.Errorf("%q: it is %t that %s is shown", query, found, name)
			}
		}
	}
	worker, phone := driver(t, c, driverTeam(t, c, "Days", false), "+12125550396")
	c.Must(t, "PUT", "/tasks/"+made["tomorrow"], `{"container":{"type":"WORKER","worker":"`+worker+`"}}`)
	phone.do(t, "start", made["tomorrow"], "start tomorrow", nil)
	c.Call(t, "POST", "/tasks/"+made["tomorrow"]+"/complete", `{"completionDetails":{"success":true}}`).OK(t)
	if records(board(t, c, ""), "tasks")[made["tomorrow"]] == nil || records(board(t, c, date(1)), "tasks")[made["tomorrow"]] != nil {
		t.Error("a completed task must be on the board of the day on which it was completed")
	}
	c.Call(t, "DELETE", "/tasks/"+made["always"], nil).OK(t)
	if records(board(t, c, ""), "tasks")[made["always"]] != nil {
		t.Error("a task that was deleted is shown")
	}
}

// daysAfter returns the date a number of days after another.
func daysAfter(t testing.TB, date string, days int) string {
	t.Helper()
	at, err := time.Parse(time.DateOnly, date)
	if err != nil {
		t.Fatal(err)
	}
	return at.AddDate(0, 0, days).Format(time.DateOnly)
}

func testBoardTeams(t *testing.T, c, other *apptest.Client) {
	north, south := driverTeam(t, c, "North board", false), driverTeam(t, c, "South board", false)
	worker := func(phone string, teams ...string) string {
		return id(t, c, "/workers", asText(t, map[string]any{"name": "W", "phone": phone, "teams": teams}))
	}
	task := func(more string) string {
		return id(t, c, "/tasks", `{"destination":{"address":{"city":"New York","country":"US"},"location":[-74,40.7]},"recipients":[]`+more+`}`)
	}
	ann, both, sue := worker("+12125550391", north), worker("+12125550392", north, south), worker("+12125550393", south)
	free := task("")
	of := map[string]string{}
	for _, each := range []string{ann, both, sue} {
		of[each] = task(`,"container":{"type":"WORKER","worker":"` + each + `"}`)
	}
	for _, each := range []string{north, south} {
		of[each] = task(`,"container":{"type":"TEAM","team":"` + each + `"}`)
	}
	for query, want := range map[string][]string{
		"?teams=" + north: {north, ann, both}, "?teams=" + south: {south, sue, both}, "?teams=" + north + "," + south: {north, south, ann, both, sue},
	} {
		shown := board(t, c, query)
		teams, workers, tasks := records(shown, "teams"), records(shown, "workers"), records(shown, "tasks")
		if tasks[free] == nil {
			t.Errorf("%s: an unassigned task is not shown", query)
		}
		for each, task := range of {
			wanted := slices.Contains(want, each)
			if (teams[each] != nil || workers[each] != nil) != wanted || (tasks[task] != nil) != wanted {
				t.Errorf("%s: it is not %t that %s and its task are shown", query, wanted, each)
			}
		}
	}
	outsideScope.check(t, other.Call(t, "GET", "/board?teams="+north, nil))
}

// testTruncatedBoard reads boards that are limited to fewer tasks than there are: open
// tasks come before others, and those that are due first. A task that is read twice counts
// once.
func testTruncatedBoard(t *testing.T, p *apptest.Platform) {
	c := p.Organization(t, "Busy")
	now := p.Now()
	due := func(in time.Duration, container string) lastmile.TaskID {
		return lastmile.TaskID(id(t, c, "/tasks", fmt.Sprintf(`{"destination":{"address":{"city":"New York","country":"US"},"location":[-74,40.7]},"recipients":[],"completeBefore":%d,"container":%s}`, now.Add(in).UnixMilli(), container)))
	}
	team := driverTeam(t, c, "North", false)
	ann, phone := driver(t, c, team, "+12125550396")
	const unassigned = `{"type":"ORGANIZATION"}`
	completed, third := due(30*time.Minute, `{"type":"WORKER","worker":"`+ann+`"}`), due(3*time.Hour, unassigned)
	first, second := due(time.Hour, unassigned), due(2*time.Hour, unassigned)
	phone.at(t, 40.7)
	phone.do(t, "start", string(completed), "start", nil)
	c.Call(t, "POST", "/tasks/"+string(completed)+"/complete", `{"completionDetails":{"success":true}}`).OK(t)
	day := lastmile.Window{From: now.Add(-time.Hour), To: now.Add(23 * time.Hour)}
	open := []lastmile.TaskID{first, second, third}
	err := p.Store.Read(t.Context(), func(r *sqlstore.Tx) error {
		for name, test := range map[string]struct {
			boards.Filter
			tasks []lastmile.TaskID
		}{
			"all":       {boards.Filter{Day: day}, append(open, completed)},
			"teams":     {boards.Filter{Day: day, Teams: []lastmile.TeamID{lastmile.TeamID(team)}}, append(open, completed)},
			"a manager": {boards.Filter{Day: day, Manager: "without teams"}, open},
		} {
			for limit := 1; limit <= len(test.tasks); limit++ {
				want := test.tasks[:limit]
				left := countdown(limit + 1)
				tasks, more, err := sqlboard.New(r.Conn()).BoardTasks(lastmile.WithMeter(t.Context(), &left), c.Organization.ID, test.Filter, limit)
				if err != nil {
					return fmt.Errorf("%s, up to %d: %w", name, limit, err)
				}
				var found []lastmile.TaskID
				for _, task := range tasks {
					found = append(found, task.ID)
				}
				if slices.Sort(found); !slices.Equal(found, slices.Sorted(slices.Values(want))) || more != (limit < len(test.tasks)) {
					t.Errorf("%s: the first %d tasks of the board are %v, and it is %t that there are more; want %v", name, limit, found, more, want)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// countdown is a meter that allows a number of records.
type countdown int

// Count implements lastmile.Meter.
func (m *countdown) Count(int) error {
	if *m--; *m < 0 {
		return errors.New("too many records were counted")
	}
	return nil
}

// testPreview compares the preview of a list with the estimates of the list that follows.
func testPreview(t *testing.T, c *apptest.Client) {
	p := c.Platform
	team := driverTeam(t, c, "Preview", false)
	ada, phone := driver(t, c, team, "+12125550397")
	bob, _ := driver(t, c, team, "+12125550398")
	phone.at(t, 40.7)
	late := map[string]any{"completeBefore": p.Now().Add(-time.Hour).UnixMilli()}
	active, one, two := taskOf(t, c, ada, 40.701, nil), taskOf(t, c, ada, 40.71, nil), taskOf(t, c, bob, 40.72, late)
	phone.do(t, "start", active, "start preview", nil)
	preview := func(tasks ...string) map[string]any {
		t.Helper()
		return c.Must(t, "POST", "/workers/"+ada+"/preview", asText(t, map[string]any{"tasks": tasks}))
	}
	worker := func() string {
		return asText(t, c.Must(t, "GET", "/workers/"+ada+"?filter=tasks,timeLastModified", nil))
	}
	unchanged := worker()
	near, far := preview(one, two), preview(two, one)
	if worker() != unchanged {
		t.Error("a preview has changed the worker")
	}
	ids := func(made map[string]any) (all []string) {
		for _, task := range made["tasks"].([]any) {
			all = append(all, fmt.Sprint(task.(map[string]any)["id"]))
		}
		return all
	}
	if !slices.Equal(ids(near), []string{active, one, two}) || !slices.Equal(ids(far), []string{active, two, one}) {
		t.Errorf("the lists are %v and %v", ids(near), ids(far))
	}
	total := func(made map[string]any, when, name string) float64 {
		n, _ := made[when].(map[string]any)[name].(float64)
		return n
	}
	if total(near, "after", "travelTime") >= total(far, "after", "travelTime") || total(near, "before", "travelTime") >= total(near, "after", "travelTime") || total(near, "before", "distance") <= 0 {
		t.Errorf("the totals are %v and %v", near, far)
	}
	if total(near, "before", "lateTasks") != 0 || total(near, "after", "lateTasks") != 1 || total(near, "after", "delay") < 3_600 {
		t.Errorf("the totals are %v", near)
	}
	c.Must(t, "PUT", "/containers/workers/"+ada, asText(t, map[string]any{"tasks": []string{two, one}}))
	p.RefreshDue(t)
	for _, each := range far["tasks"].([]any) {
		made := each.(map[string]any)
		task := c.Must(t, "GET", "/tasks/"+fmt.Sprint(made["id"]), nil)
		if apart := task["estimatedArrivalTime"].(float64) - made["arrival"].(float64); apart < -60_000 || apart > 60_000 {
			t.Errorf("the arrival at %v is %v, and was previewed as %v", made["id"], task["estimatedArrivalTime"], made["arrival"])
		}
	}
	matches(t, c.Must(t, "POST", "/workers/"+bob+"/preview", `{"tasks":[]}`), `{"worker":"`+bob+`","tasks":[],"before":{"travelTime":null,"distance":null,"lateTasks":0,"delay":0},"after":{"travelTime":null,"distance":null,"lateTasks":0,"delay":0}}`)
	for body, want := range map[string]rejection{
		`{}`: malformed, `{"tasks":null}`: malformed, `{"tasks":["` + one + `","` + one + `"]}`: invalid, `{"tasks":"` + one + `"}`: malformed, `{"tasks":[` + strings.Repeat(`"`+one+`",`, 500) + `"x"]}`: invalid,
	} {
		want.check(t, send(t, c, "POST", "/workers/"+ada+"/preview", body), "tasks")
	}
	invalid.check(t, c.Call(t, "POST", "/workers/"+bob+"/preview", `{"tasks":["`+active+`"]}`), "active")
}

// testPlacedOnBoard compares what the two organizations of a task see of it.
func testPlacedOnBoard(t *testing.T, p *apptest.Platform) {
	courier := p.Organization(t, "Courier")
	shop := keyed(p, courier.Must(t, "POST", "/clients", `{"name":"Shop"}`))
	team := driverTeam(t, courier, "Placed", false)
	ada, phone := driver(t, courier, team, "+12125550394")
	task := func() string {
		return id(t, shop, "/tasks", `{"destination":{"address":{"city":"New York","country":"US"},"location":[-74,40.7]},"recipients":[{"name":"R","phone":"+12125550395"}],"executor":"`+string(courier.Organization.ID)+`"}`)
	}
	assigned, pooled, completed := task(), task(), task()
	courier.Must(t, "PUT", "/tasks/"+assigned, `{"container":{"type":"WORKER","worker":"`+ada+`"}}`)
	courier.Must(t, "PUT", "/tasks/"+pooled, `{"container":{"type":"TEAM","team":"`+team+`"}}`)
	courier.Must(t, "PUT", "/tasks/"+completed, `{"container":{"type":"WORKER","worker":"`+ada+`"}}`)
	phone.do(t, "start", completed, "start placed", nil)
	courier.Call(t, "POST", "/tasks/"+completed+"/complete", `{"completionDetails":{"success":true}}`).OK(t)
	for _, c := range []*apptest.Client{shop, courier} {
		tasks := records(board(t, c, ""), "tasks")
		for _, each := range []string{assigned, pooled, completed} {
			matches(t, tasks[each], asText(t, onBoard(c.Must(t, "GET", "/tasks/"+each, nil))))
		}
	}
}
