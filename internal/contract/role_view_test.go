package contract_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
)

// crew is a team with its manager and a worker who has carried out a task.
type crew struct {
	team, worker, task, photo string
	admin                     string
	*apptest.Browser
}

// newCrew creates a crew. Its task has a recipient who gets text messages.
func newCrew(t testing.TB, c *apptest.Client, name, number string) *crew {
	t.Helper()
	b, admin := c.Admin(t, fmt.Sprintf(`{"name":%q,"email":"%s@example.com","type":"standard"}`, name, name))
	w := &crew{Browser: b, admin: string(admin)}
	w.team = id(t, c, "/teams", fmt.Sprintf(`{"name":%q,"workers":[],"managers":[%q]}`, name, admin))
	worker, phone := driver(t, c, w.team, number)
	phone.at(t, 40.9)
	w.worker, w.photo = worker, phone.uploaded(t, numbered(t, int(number[len(number)-1])))
	w.task = driverTask(t, c, map[string]any{
		"container":   map[string]any{"type": "WORKER", "worker": worker},
		"destination": map[string]any{"address": map[string]any{"number": "1", "street": "Shared Street", "city": "New York", "country": "US"}, "location": []float64{-74, 40.7}},
		"recipients":  []any{map[string]any{"name": "Shared Recipient", "phone": "+12125550499"}},
	})
	phone.do(t, "start", w.task, "s", nil)
	phone.do(t, "complete", w.task, "c", map[string]any{"success": true, "photoUploadIds": []string{w.photo}})
	return w
}

// follow follows events as the manager.
func (w *crew) follow(t testing.TB, query string) *stream {
	t.Helper()
	return follow(t, &apptest.Client{Platform: w.Platform}, query, "Cookie", "dray-session="+w.Cookie(t, "dray-session"))
}

// TestRoleViewContract compares what the managers of two teams see of reports, messages,
// attachments and events.
func TestRoleViewContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.RunWebhooks(t)
		c := p.Organization(t, "Acme")
		north, south := newCrew(t, c, "north", "+12125550401"), newCrew(t, c, "south", "+12125550402")
		free := driverTask(t, c, map[string]any{"recipients": []any{map[string]any{"name": "Shared Recipient", "phone": "+12125550499"}}})
		reached(t, p)
		for own, other := range map[*crew]*crew{north: south, south: north} {
			get := func(path string) string { return string(own.Call(t, "GET", "/api/v2"+path, nil).OK(t).Body) }
			compared := []string{"GET /events"} // below
			for path, want := range map[string][]string{
				"/events/log?since=0":                           {own.task, own.worker, free},
				"/workers/location?longitude=-74&latitude=40.9": {own.worker},
				fmt.Sprintf("/board/positions?from=%d", p.Now().Add(-50*time.Minute).UnixMilli()): {own.worker},
				"/search?q=shared+s":           {own.task},
				"/search?q=shared+r":           {own.task, free},
				"/search?q=%2B12125550499":     {own.task, free},
				"/search?q=w+%2B1212":          {own.worker},
				"/search?q=21255504":           {own.worker, own.task, free},
				"/messages":                    {own.task},
				"/messages?task=" + other.task: nil,
				"/analytics?by=worker":         {own.worker},
				"/analytics?by=team":           {own.team},
			} {
				operation, _, _ := strings.Cut("GET "+path, "?")
				compared = append(compared, operation)
				got := get(path)
				for _, record := range want {
					if !strings.Contains(got, `"`+record+`"`) {
						t.Errorf("%s does not have %s: %s", path, record, got)
					}
				}
				for _, record := range []string{other.task, other.worker, other.team} {
					if strings.Contains(got, `"`+record+`"`) {
						t.Errorf("%s has what belongs to the other team: %s", path, got)
					}
				}
			}
			slices.Sort(compared)
			if got := slices.Compact(compared); !slices.Equal(got, viewed) {
				t.Errorf("the lists that are compared are %v, want %v", got, viewed)
			}
			short := fmt.Sprint(c.Must(t, "GET", "/tasks/"+other.task, nil)["shortId"])
			if got := get("/search?q=" + short); strings.Contains(got, other.task) {
				t.Errorf("a task of the other team is found by its short id: %s", got)
			}
			total := own.Call(t, "GET", "/api/v2/analytics?by=day", nil).OK(t).Object(t)["total"].(map[string]any)
			if total["created"] != 2.0 || total["completed"] != 1.0 { // with the unassigned one
				t.Errorf("the total is %v", total)
			}
			if a := own.Call(t, "GET", "/api/v2/uploads/"+own.photo, nil); a.Status != http.StatusOK {
				t.Errorf("the photo of an own task: %d %s", a.Status, a.Body)
			}
			if a := own.Call(t, "PUT", "/api/v2/workers/"+own.worker+"/image", numbered(t, 7)); a.Status != http.StatusOK {
				t.Errorf("the photo of an own worker: %d %s", a.Status, a.Body)
			}
			expect(t, "the photo of another team's worker", own.Call(t, "PUT", "/api/v2/workers/"+other.worker+"/image", numbered(t, 8)), "foreignTeam", "")
			expect(t, "the photo of another team's task", own.Call(t, "GET", "/api/v2/uploads/"+other.photo, nil), "foreignTeam", "")
			events := own.follow(t, "?since=0")
			seen, e := 0, events.next(t)
			for ; !strings.Contains(e.data, free); e = events.next(t) { // the last one
				if seen++; !strings.Contains(e.data, own.worker) || strings.Contains(e.data, other.worker) {
					t.Errorf("an event of %s: %s", e.event, e.data)
				}
			}
			if seen < 4 { // on duty, created, started, completed
				t.Errorf("there are %d events of the own team", seen)
			}
			events.close()
		}
		t.Run("a task is given to another team", func(t *testing.T) { testLeavingTask(t, c, north, south) })
		t.Run("the past", func(t *testing.T) { testPastOfManagers(t, c, north, south) })
		t.Run("why a worker was chosen", func(t *testing.T) { testExplanationOfManagers(t, c, north, south) })
		total := c.Must(t, "GET", "/analytics?by=team", nil)
		if groups := total["groups"].([]any); len(groups) != 2 {
			t.Errorf("with a key, the groups are %v", groups)
		}
		t.Run("a worker of both teams counts for the own one", func(t *testing.T) {
			c.Must(t, "PUT", "/workers/"+south.worker, map[string]any{"teams": []string{north.team, south.team}})
			got := north.Call(t, "GET", "/api/v2/analytics?by=team", nil).OK(t)
			if groups := got.Object(t)["groups"].([]any); len(groups) != 1 || groups[0].(map[string]any)["completed"] != 2.0 {
				t.Errorf("the groups are %s", got.Body)
			}
		})
		t.Run("streams end when teams change", func(t *testing.T) { testStreamsOfManagers(t, c, north, south) })
	})
}

// testLeavingTask moves an unassigned task to another team, to its worker, and back.
func testLeavingTask(t *testing.T, c *apptest.Client, north, south *crew) {
	board, plain := north.follow(t, "?lists=1"), north.follow(t, "")
	task := driverTask(t, c, nil)
	for _, container := range []string{
		fmt.Sprintf(`{"type":"TEAM","team":%q}`, south.team),
		fmt.Sprintf(`{"type":"WORKER","worker":%q}`, south.worker),
		fmt.Sprintf(`{"type":"ORGANIZATION","organization":%q}`, c.Organization.ID),
	} {
		send(t, c, "PUT", "/tasks/"+task, `{"container":`+container+`}`).OK(t)
	}
	names := func(s *stream) (all []string) {
		for {
			e := s.next(t)
			if strings.Contains(e.data, south.team) || strings.Contains(e.data, south.worker) {
				t.Errorf("the manager of another team gets %s %s", e.event, e.data)
			}
			if !strings.Contains(e.data, task) {
				continue
			}
			if e.event == "hidden" && (e.id != 0 || e.data != fmt.Sprintf(`{"task":%q}`, task)) {
				t.Errorf("that the task has left is reported as %+v", e)
			}
			if all = append(all, e.event); e.event == "taskUpdated" {
				return all
			}
		}
	}
	if got := fmt.Sprint(names(board)); got != "[taskCreated hidden hidden taskUnassigned taskUpdated]" {
		t.Errorf("a board gets %s", got)
	}
	if got := fmt.Sprint(names(plain)); got != "[taskCreated taskUnassigned taskUpdated]" {
		t.Errorf("a client that does not follow lists gets %s", got)
	}
}

// testExplanationOfManagers assigns a task that a worker of either team could have got.
func testExplanationOfManagers(t *testing.T, c *apptest.Client, north, south *crew) {
	task := driverTask(t, c, map[string]any{"autoAssign": map[string]any{"mode": "load"}})
	path := "/tasks/" + task + "/explanation"
	whole, read := string(encode(t, c.Must(t, "GET", path, nil))), 0
	for own, other := range map[*crew]*crew{north: south, south: north} {
		if !strings.Contains(whole, own.worker) {
			t.Errorf("a worker was not considered: %s", whole)
		}
		a := own.Call(t, "GET", "/api/v2"+path, nil)
		if a.Status == http.StatusForbidden { // the other team has the task
			continue
		}
		read++
		if text := string(a.OK(t).Body); !strings.Contains(text, own.worker) || strings.Contains(text, other.worker) || !strings.Contains(text, `"considered":1,`) {
			t.Errorf("a manager reads %s", text)
		}
	}
	if read != 1 {
		t.Errorf("%d managers read the explanation", read)
	}
	for own, other := range map[*crew]*crew{north: south, south: north} { // one of them was not chosen
		c.Must(t, "PUT", "/containers/workers/"+own.worker, `{"tasks":[-1,"`+task+`"]}`)
		if text := string(own.Call(t, "GET", "/api/v2"+path, nil).OK(t).Body); strings.Contains(text, other.worker) {
			t.Errorf("the manager of the next worker reads %s", text)
		}
	}
	c.Call(t, "DELETE", "/tasks/"+task, nil).OK(t)
}

// testPastOfManagers reads the event log and past positions of workers.
func testPastOfManagers(t *testing.T, c *apptest.Client, north, south *crew) {
	p := c.Platform
	from := p.Now().Add(-time.Minute)
	for _, w := range []*crew{north, south} {
		err := p.Store.Write(t.Context(), func(tx *sqlstore.Tx) error {
			return tx.SavePositions(t.Context(), c.Organization.ID, lastmile.WorkerID(w.worker), []lastmile.Position{{At: from, Location: lastmile.Point{Lon: -74, Lat: 40.7}}})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	whole := c.Must(t, "GET", "/events/log", nil)
	for own, other := range map[*crew]*crew{north: south, south: north} {
		get := func(path string) map[string]any { return own.Call(t, "GET", "/api/v2"+path, nil).OK(t).Object(t) }
		log := get("/events/log")
		text := string(encode(t, log))
		if !strings.Contains(text, own.task) || strings.Contains(text, other.worker) || strings.Contains(text, other.task) || strings.Contains(text, other.team) {
			t.Errorf("the log of a manager is %s", text)
		}
		if n := len(log["events"].([]any)); n >= len(whole["events"].([]any)) || log["next"] != nil || log["last"] != whole["last"] {
			t.Errorf("it has %d events, next %v and last %v, not %v", n, log["next"], log["last"], whole["last"])
		}
		for _, since := range []any{log["last"], log["last"].(float64) + 7} { // an event that does not exist yet
			matches(t, get(fmt.Sprintf("/events/log?since=%.0f", since)), fmt.Sprintf(`{"events":[],"next":null,"last":%.0f}`, log["last"]))
		}
		positions := string(encode(t, get(fmt.Sprintf("/board/positions?from=%d", from.UnixMilli()))))
		if !strings.Contains(positions, own.worker) || strings.Contains(positions, other.worker) {
			t.Errorf("the positions that a manager sees are %s", positions)
		}
	}
	stranger, _ := c.Admin(t, `{"name":"Stranger","email":"stranger@example.com","type":"standard"}`) // without a team
	for _, path := range []string{"/events/log", fmt.Sprintf("/board/positions?from=%d", from.UnixMilli())} {
		text := string(stranger.Call(t, "GET", "/api/v2"+path, nil).OK(t).Body)
		if strings.Contains(text, north.worker) || strings.Contains(text, south.worker) {
			t.Errorf("an administrator without a team reads %s: %s", path, text)
		}
	}
	reader, _ := c.Admin(t, `{"name":"Reader","email":"reader@example.com","type":"super","isReadOnly":true}`)
	if got := reader.Call(t, "GET", "/api/v2/events/log", nil).OK(t).Object(t); len(got["events"].([]any)) != len(whole["events"].([]any)) {
		t.Errorf("a read-only administrator of everything sees %v", got)
	}
}

// testStreamsOfManagers changes who manages a team.
func testStreamsOfManagers(t *testing.T, c *apptest.Client, north, south *crew) {
	ends := func(change string, s *stream) {
		t.Helper()
		if err := c.Platform.Keys.Refresh(t.Context()); err != nil { // as every node does a few times a second
			t.Fatal(err)
		}
		select {
		case <-watch(s):
		case <-time.After(time.Minute):
			t.Errorf("%s: the stream goes on", change)
		}
	}
	kept := watch(south.follow(t, ""))
	for _, change := range []struct{ method, path, body string }{
		{"PUT", "/teams/" + north.team, `{"managers":[]}`},
		{"PUT", "/teams/" + north.team, fmt.Sprintf(`{"managers":[%q]}`, north.admin)},
		{"POST", "/teams", fmt.Sprintf(`{"name":"West","workers":[],"managers":[%q]}`, north.admin)},
		{"DELETE", "/teams/" + north.team, ""},
		{"PUT", "/admins/" + north.admin, `{"isReadOnly":true}`},
	} {
		s := north.follow(t, "")
		send(t, c, change.method, change.path, change.body).OK(t)
		ends(change.method+" "+change.path+" "+change.body, s)
	}
	select {
	case <-kept:
		t.Error("the stream of another manager has ended")
	default:
	}
}
