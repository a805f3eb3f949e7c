package contract_test

import (
	"bytes"
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
	"dray/internal/store/sqlstore"
)

// TestBoardFollowContract tests what streams send.
func TestBoardFollowContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.RunWebhooks(t)
		c := p.Organization(t, "Acme")
		team := driverTeam(t, c, "Followed", false)
		ada, phone := driver(t, c, team, "+12125550411")
		log := func() {
			t.Helper()
			if err := p.Lists.Log(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		shown := newScreen(board(t, c, ""))
		plain, lists := follow(t, c, fmt.Sprint("?since=", shown.cursor)), follow(t, c, fmt.Sprintf("?since=%d&lists=true", shown.cursor))
		one, two := taskOf(t, c, ada, 40.71, nil), taskOf(t, c, ada, 40.72, nil)
		log()
		matches(t, lists.await(t, "containers").body(t), `{"container":{"type":"WORKER","worker":"`+ada+`"},"activeTask":null,"tasks":["`+one+`","`+two+`"],"pinned":{},"version":`+version(t, c, ada)+`}`)
		t.Run("a reordering", func(t *testing.T) {
			c.Must(t, "PUT", "/containers/workers/"+ada, asText(t, map[string]any{"tasks": []string{two, one}}))
			c.Must(t, "PUT", "/tasks/"+one+"/pin", `{}`)
			log()
			e := lists.await(t, "containers")
			matches(t, e.body(t), `{"container":{"type":"WORKER","worker":"`+ada+`"},"activeTask":null,"tasks":["`+two+`","`+one+`"],"pinned":{"`+one+`":"worker"},"version":`+version(t, c, ada)+`}`)
			if e.id != 0 {
				t.Errorf("it has the number %d", e.id)
			}
		})
		t.Run("a start", func(t *testing.T) {
			phone.do(t, "start", two, "start followed", nil)
			log()
			matches(t, lists.await(t, "containers").body(t), `{"container":{"type":"WORKER","worker":"`+ada+`"},"activeTask":"`+two+`","tasks":["`+one+`"],"pinned":{"`+one+`":"worker"},"version":`+version(t, c, ada)+`}`)
		})
		t.Run("streams without lists have events only, numbered without gaps", func(t *testing.T) {
			last := id(t, c, "/tasks", plainTask)
			for n := shown.cursor + 1; ; n++ {
				e := plain.next(t)
				if e.id != n || e.event == "containers" || e.event == "tasks" || e.event == "estimates" || e.event == "positions" {
					t.Fatalf("event %d is %+v", n, e)
				}
				if e.body(t)["taskId"] == last {
					break
				}
			}
		})
		t.Run("resuming sends the latest lists since the event", func(t *testing.T) {
			again := follow(t, c, "?lists=1", "Last-Event-ID", fmt.Sprint(shown.cursor))
			if e := again.await(t, "containers"); asText(t, e.body(t)["version"]) != version(t, c, ada) {
				t.Errorf("the first list is %s", e.data)
			}
			head := int(board(t, c, "")["cursor"].(float64))
			taskOf(t, c, ada, 40.73, nil)
			log()
			if e := follow(t, c, fmt.Sprintf("?lists=1&since=%d", head)).await(t, "containers"); asText(t, e.body(t)["version"]) != version(t, c, ada) {
				t.Errorf("the first list is %s", e.data)
			}
		})
		t.Run("tasks without an event", func(t *testing.T) {
			head := int(board(t, c, "")["cursor"].(float64))
			response := c.Must(t, "POST", "/tasks/batch", `{"tasks":[`+plainTask+`,`+plainTask+`]}`)
			made := records(response, "tasks")
			log()
			for _, s := range []*stream{lists, follow(t, c, fmt.Sprintf("?lists=1&since=%d", head))} { // as it happens, and after resuming
				e := s.await(t, "tasks")
				var all map[string]any
				if err := json.Unmarshal([]byte(`{"tasks":`+e.data+`}`), &all); err != nil {
					t.Fatal(err)
				}
				sent := records(all, "tasks")
				if len(sent) != 2 || len(made) != 2 || e.id != 0 {
					t.Fatalf("it is %+v", e)
				}
				for id, task := range records(board(t, c, ""), "tasks") {
					if made[id] != nil && asText(t, sent[id]) != asText(t, task) {
						t.Errorf("task %s is sent as %s, and on the board it is %s", id, asText(t, sent[id]), asText(t, task))
					}
				}
			}
			jobs := c.Must(t, "POST", "/tasks/batch-async", `{"tasks":[`+plainTask+`]}`)
			p.Settle(t)
			log()
			if e := lists.await(t, "tasks"); strings.Count(e.data, `"shortId"`) != 1 {
				t.Errorf("of job %v it is %+v", jobs["jobId"], e)
			}
			gone := records(c.Must(t, "POST", "/tasks/batch", `{"tasks":[`+plainTask+`]}`), "tasks")
			for id := range gone {
				send(t, c, "DELETE", "/tasks/"+id, "").OK(t)
			}
			log()
			last := id(t, c, "/tasks", plainTask)
			for e := lists.next(t); e.event != "taskCreated" || e.body(t)["taskId"] != last; e = lists.next(t) {
				if e.event == "tasks" {
					t.Errorf("a deleted task is sent: %s", e.data)
				}
			}
		})
		t.Run("positions", func(t *testing.T) {
			phone.at(t, 40.7)
			moves := follow(t, c, "?positions=1")
			moves.await(t, "positions")
			at := p.Now().Add(20 * time.Second).UnixMilli()
			p.Advance(21 * time.Second)
			phone.report(t, []any{map[string]any{"location": []float64{-74, 40.7005}, "time": at, "heading": 45, "speed": 3, "accuracy": 5, "battery": 0.25}})
			e := moves.await(t, "positions")
			if !strings.Contains(e.data, fmt.Sprintf(`"worker":%q,"location":[-74,40.7005],"time":%d`, ada, at)) || !strings.Contains(e.data, `"heading":45,"speed":3,"battery":0.25,"accuracy":5`) || e.id != 0 {
				t.Errorf("it is %+v", e)
			}
		})
		t.Run("a cursor that is too old", func(t *testing.T) {
			p.Events(t, c.Organization.ID)
			err := p.Store.Write(t.Context(), func(tx *sqlstore.Tx) error {
				_, err := tx.DeleteEvents(t.Context(), p.Now().Add(time.Hour), 3)
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, query := range []string{"?since=1&lists=1", "?since=1&positions=true"} {
				if cause := invalid.check(t, c.Call(t, "GET", "/events"+query, nil), "since", "board"); cause != "cursorTooOld" {
					t.Errorf("the cause is %v", cause)
				}
			}
			follow(t, c, "?since=1")
			follow(t, c, "?since=3&lists=1")
		})
	})
}

// TestBoardFollowFarBehind resumes after more changed lists than are read at once: all of
// them are sent, even if nothing changes any more or the client may see only the last one.
func TestBoardFollowFarBehind(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.RunWebhooks(t)
		s := newStaff(t, p)
		c := s.north.Client
		cursor := board(t, c, "")["cursor"]
		const changes = 1_100
		var lists []string
		for i := range changes {
			lists = append(lists, fmt.Sprint("of another team ", i))
		}
		relist(t, p, c.Organization.ID, append(lists, s.north.own["team"])...)
		all := follow(t, c, fmt.Sprintf("?lists=1&since=%v", cursor))
		for range changes + 1 {
			all.await(t, "containers")
		}
		for _, who := range s.people[1:] {
			if who.in == s.north && who.role.Type != "super" {
				if e := followAs(t, who, fmt.Sprintf("?lists=1&since=%v", cursor)).await(t, "containers"); !strings.Contains(e.data, s.north.own["team"]) {
					t.Errorf("%s gets the list %s", who.name, e.data)
				}
			}
		}
	})
}

// TestBoardKeepsOneEntryOfAList changes a list many times: the log keeps its latest version,
// whichever was logged last.
func TestBoardKeepsOneEntryOfAList(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		r := newRoads(t, p, "Acme")
		in := lastmile.WorkerContainer(lastmile.WorkerID(r.ada))
		change := func() boards.ChangedList {
			var changed []boards.ChangedList
			err := p.Store.Write(t.Context(), func(tx *sqlstore.Tx) error { return tx.LockContainer(t.Context(), r.Organization.ID, in, p.Now()) })
			if err == nil {
				err = p.Lists.Store.Read(t.Context(), func(l boards.ListReader) (err error) {
					changed, _, err = l.ChangedLists(t.Context(), 1, 10)
					return err
				})
			}
			if err != nil || len(changed) != 1 {
				t.Fatalf("%d lists have changed: %v", len(changed), err)
			}
			return changed[0]
		}
		log := func(list boards.ChangedList) {
			body, err := p.Lists.Encode(list.List)
			if err == nil {
				err = p.Lists.Store.Write(t.Context(), func(w boards.ListWriter) error { return w.LogList(t.Context(), list, body, p.Now()) })
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Lists.Log(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			log(change())
		}
		older := change()
		newer := change()
		newer.Notes = newer.Notes[1:] // another node has read only the second note
		log(newer)
		log(older)
		var entries, version int64
		err := p.Store.Read(t.Context(), func(tx *sqlstore.Tx) error {
			return tx.Conn().Row(t.Context(), `SELECT COUNT(*), MAX(version) FROM list_entry WHERE org = $1 AND owner = $2`, r.Organization.ID, r.ada).Scan(&entries, &version)
		})
		if err != nil || entries != 1 || version != newer.Version {
			t.Errorf("there are %d entries, up to version %d, want %d: %v", entries, version, newer.Version, err)
		}
	})
}

// TestBoardListsInTurn has organizations change lists one after the other: the list that
// changed first is logged first, so that no organization waits for another that never stops
// changing lists.
func TestBoardListsInTurn(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		for _, names := range [][]string{{"b", "a"}, {"a", "b"}} {
			err := p.Lists.Store.Write(t.Context(), func(w boards.ListWriter) error {
				changed, _, err := w.ChangedLists(t.Context(), 1_000, 10)
				for _, list := range changed {
					err = errors.Join(err, w.LogList(t.Context(), list, nil, p.Now()))
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			err = p.Store.Write(t.Context(), func(tx *sqlstore.Tx) error {
				for _, name := range names {
					if err := tx.LockContainer(t.Context(), lastmile.OrganizationID(name), lastmile.TeamContainer("t"), p.Now()); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			err = p.Lists.Store.Read(t.Context(), func(r boards.ListReader) error {
				changed, _, err := r.ChangedLists(t.Context(), 1, 10)
				if err == nil && (len(changed) != 1 || string(changed[0].Organization) != names[0]) {
					t.Errorf("of %q, the first is %+v", names, changed)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestBoardListsTogether logs lists of several organizations at once: each is in the log of
// its own organization.
func TestBoardListsTogether(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		var all []roads
		for _, name := range []string{"Acme", "Zenith", "Globex", "Initech"} {
			all = append(all, newRoads(t, p, name))
		}
		if err := p.Lists.Log(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, workers := range [][]string{{all[2].ada, all[0].ada, all[3].ada, all[1].ada}, {all[1].ada, all[3].ada, all[0].ada, all[2].ada}} {
			for _, worker := range workers {
				org := all[slices.IndexFunc(all, func(r roads) bool { return r.ada == worker })].Organization.ID
				err := p.Store.Write(t.Context(), func(tx *sqlstore.Tx) error {
					return tx.LockContainer(t.Context(), org, lastmile.WorkerContainer(lastmile.WorkerID(worker)), p.Now())
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if err := p.Lists.Log(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, r := range all {
				var body []byte
				err := p.Store.Read(t.Context(), func(tx *sqlstore.Tx) error {
					return tx.Conn().Row(t.Context(), `SELECT body FROM list_entry WHERE org = $1 AND owner = $2`, r.Organization.ID, r.ada).Scan(&body)
				})
				if err != nil || !bytes.Contains(body, []byte(r.ada)) {
					t.Errorf("the log of %s has %s for %s: %v", r.Organization.Name, body, r.ada, err)
				}
			}
		}
	})
}

// TestBoardListsAfterCompletion changes a completed task, which is in no list: there is
// nothing to log. Notes of such changes by earlier releases are removed.
func TestBoardListsAfterCompletion(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c := p.Organization(t, "Acme")
		ada, phone := driver(t, c, driverTeam(t, c, "Followed", false), "+12125550412")
		done := taskOf(t, c, ada, 40.71, nil)
		phone.do(t, "start", done, "start", nil)
		phone.do(t, "complete", done, "complete", map[string]any{"success": true})
		log := func() {
			t.Helper()
			if err := p.Lists.Log(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		count := func(what string) (n int64) {
			t.Helper()
			err := p.Store.Read(t.Context(), func(tx *sqlstore.Tx) error { return tx.Conn().Row(t.Context(), `SELECT COUNT(*) FROM `+what).Scan(&n) })
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		log()
		c.Must(t, "PUT", "/tasks/"+done, `{"metadata":[{"name":"billed","type":"boolean","value":true}]}`)
		phone.do(t, "claim", done, "claim", nil)
		if n := count(`changed_list`) + count(`container WHERE kind = ''`); n != 0 {
			t.Errorf("changes of a completed task left %d notes and containers", n)
		}
		err := p.Store.Write(t.Context(), func(tx *sqlstore.Tx) error {
			return tx.LockContainer(t.Context(), c.Organization.ID, lastmile.ContainerRef{}, p.Now())
		})
		if err != nil {
			t.Fatal(err)
		}
		log()
		if n := count(`changed_list`); n != 0 {
			t.Errorf("%d notes are left", n)
		}
	})
}

// relist logs lists of teams, which need not exist.
func relist(t *testing.T, p *apptest.Platform, org lastmile.OrganizationID, teams ...string) {
	t.Helper()
	if err := p.Lists.Log(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, team := range teams {
		in := lastmile.TeamContainer(lastmile.TeamID(team))
		err := p.Store.Write(t.Context(), func(tx *sqlstore.Tx) error { return tx.LockContainer(t.Context(), org, in, p.Now()) })
		if err != nil {
			t.Fatal(err)
		}
		err = p.Lists.Store.Write(t.Context(), func(w boards.ListWriter) error {
			changed, _, err := w.ChangedLists(t.Context(), 2, 10)
			if err != nil || len(changed) != 1 {
				return fmt.Errorf("%d lists have changed: %w", len(changed), err)
			}
			body, err := p.Lists.Encode(changed[0].List)
			if err != nil {
				return err
			}
			return w.LogList(t.Context(), changed[0], body, p.Now())
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// await returns the next event with a name.
func (s *stream) await(t testing.TB, event string) streamed {
	t.Helper()
	for {
		if e := s.next(t); e.event == event {
			return e
		}
	}
}

// version returns the version of a worker's list, as JSON.
func version(t testing.TB, c *apptest.Client, worker string) string {
	t.Helper()
	return asText(t, records(board(t, c, ""), "workers")[worker]["version"])
}

// TestBoardFollowByRole follows a board as the administrators of two teams.
func TestBoardFollowByRole(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.RunWebhooks(t)
		s := newStaff(t, p)
		phones := map[*world]string{s.north: "+12125550421", s.south: "+12125550422"}
		workers := map[*world]string{}
		for w, number := range phones {
			worker, phone := driver(t, w.Client, w.own["team"], number)
			phone.at(t, 40.7)
			workers[w] = worker
		}
		for _, who := range s.people[1:] {
			if who.role.Type == "super" {
				continue
			}
			events := followAs(t, who, "?lists=1&positions=1")
			moved := events.await(t, "positions").data
			mine, theirs := workers[who.in], workers[s.other(who.in)]
			if !strings.Contains(moved, mine) || strings.Contains(moved, theirs) {
				t.Errorf("%s gets the positions %s", who.name, moved)
			}
			for _, worker := range []string{theirs, mine} { // what they may see comes last
				taskOf(t, s.north.Client, worker, 40.71, nil)
			}
			id(t, s.north.Client, "/tasks", s.other(who.in).fill(`{"destination":"OWN-destination","recipients":[],"container":{"type":"TEAM","team":"OWN-team"}}`))
			inTeam := `{"destination":"OWN-destination","recipients":[],"container":{"type":"TEAM","team":"OWN-team"}}`
			inBatch := records(s.north.Must(t, "POST", "/tasks/batch", `{"tasks":[`+s.other(who.in).fill(inTeam)+`,`+who.in.fill(inTeam)+`,`+plainTask+`]}`), "tasks")
			if err := p.Lists.Log(t.Context()); err != nil {
				t.Fatal(err)
			}
			for seen, tasks := false, 0; !seen || tasks < 2; {
				e := events.next(t)
				if e.event == "tasks" {
					for id, task := range inBatch {
						if in, _ := task["container"].(map[string]any); strings.Contains(e.data, id) {
							if tasks++; in["team"] == s.other(who.in).own["team"] {
								t.Errorf("%s gets the task %s", who.name, e.data)
							}
						}
					}
				}
				if e.event == "containers" && (strings.Contains(e.data, theirs) || strings.Contains(e.data, s.other(who.in).own["team"])) {
					t.Errorf("%s gets the list %s", who.name, e.data)
				}
				seen = seen || e.event == "containers" && strings.Contains(e.data, mine)
			}
		}
	})
}
