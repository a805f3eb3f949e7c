package contract_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/planning"
	"dray/internal/role"
	"dray/internal/store/sqlstore"
)

// teamKinds maps the kinds of records that belong to teams to those of the table of roles.
var teamKinds = map[string]role.Kind{
	"worker": role.Worker, "team": role.Team, "task": role.Task, "shortId": role.ShortID, "routePlan": role.Plan, "dispatch": role.Dispatch,
}

// person is a caller of the matrix.
type person struct {
	name string
	role lastmile.Role // zero for the key
	in   *world        // whose records are the person's own
	*apptest.Browser
}

// send sends a request with a key, or with a session.
func (p person) send(t testing.TB, method, path, body string) apptest.Response {
	t.Helper()
	if p.Browser == nil {
		return send(t, p.in.Client, method, path, body)
	}
	a := p.Call(t, method, "/api/v2"+path, body)
	p.in.Platform.Spec.Check(t, method, path, a.Status, nil, a.Body)
	return a
}

// staff is an organization with two teams, and a person of each role.
type staff struct {
	p            *apptest.Platform
	north, south *world // the same organization, with the records of each team
	people       []person
	managers     map[*world][]string
}

func newStaff(t testing.TB, p *apptest.Platform) *staff {
	t.Helper()
	s := &staff{p: p, north: newWorld(t, p, "acme-canary", "212"), managers: map[*world][]string{}}
	s.south = &world{Client: s.north.Client, canary: "acme-canary", areaCode: "917", own: maps.Clone(s.north.own), made: 5000}
	join := func(name string, in *world, kind lastmile.AdminType, readOnly bool) {
		b, id := in.Admin(t, fmt.Sprintf(`{"name":%q,"email":"%s@example.com","type":%q,"isReadOnly":%t}`, name, strings.ReplaceAll(name, " ", "-"), kind, readOnly))
		s.people = append(s.people, person{name: name, role: lastmile.Role{Type: kind, ReadOnly: readOnly}, in: in, Browser: b})
		if kind == lastmile.AdminStandard {
			s.managers[in] = append(s.managers[in], string(id))
		}
	}
	s.people = []person{{name: "key", in: s.north}}
	join("super", s.north, lastmile.AdminSuper, false)
	join("standard", s.north, lastmile.AdminStandard, false)
	join("standard of another team", s.south, lastmile.AdminStandard, false)
	join("read-only super", s.north, lastmile.AdminSuper, true)
	join("read-only standard", s.north, lastmile.AdminStandard, true)
	s.rebuild(t, s.north, s.south)
	return s
}

// other returns the other team.
func (s *staff) other(w *world) *world {
	if w == s.north {
		return s.south
	}
	return s.north
}

// rebuild gives teams new records. The old teams lose their managers, because every request
// of a manager reads which teams they manage.
func (s *staff) rebuild(t testing.TB, teams ...*world) {
	t.Helper()
	for _, w := range teams {
		w.made++
		before := w.own["team"]
		w.own["team"] = id(t, w.Client, "/teams", w.fill(`{"name":"`+w.areaCode+` NEW-name","workers":[],"managers":`+asJSON(t, s.managers[w])+`,"hub":"OWN-hub"}`))
		if a := send(t, w.Client, "PUT", "/teams/"+before, `{"managers":[]}`); a.Status != http.StatusNotFound { // it may have been deleted
			a.OK(t)
		}
		w.own["worker"] = w.make(t, "worker")
		for _, kind := range []string{"task", "spare task"} {
			made := w.Must(t, "POST", "/tasks", w.fill(`{"destination":"OWN-destination","recipients":[],"container":{"type":"TEAM","team":"OWN-team"}}`))
			w.own[kind] = fmt.Sprint(made["id"])
			if kind == "task" {
				w.own["shortId"] = fmt.Sprint(made["shortId"])
			}
		}
		w.own["routePlan"] = id(t, w.Client, "/routePlans", w.fill(`{"name":"P","startTime":4000000000000,"team":"OWN-team"}`))
		w.own["dispatch"] = s.dispatch(t, w)
	}
}

// dispatch saves a dispatch of the team.
func (s *staff) dispatch(t testing.TB, w *world) string {
	t.Helper()
	now := s.p.Now()
	options, err := planning.Request{}.Options(now)
	if err != nil {
		t.Fatal(err)
	}
	made := lastmile.Dispatch{
		ID: apptest.NewID[lastmile.DispatchID](), Organization: w.Organization.ID, Team: lastmile.TeamID(w.own["team"]), Created: now,
		Status: lastmile.DispatchSucceeded, Options: options,
	}
	if err := s.p.Store.Write(t.Context(), func(tx *sqlstore.Tx) error { return tx.AddDispatch(t.Context(), made) }); err != nil {
		t.Fatal(err)
	}
	return string(made.ID)
}

// denied returns why a person must not call a route at all, or "" if they may.
func denied(p person, rule role.Rule) string {
	switch level := rule.Level; {
	case p.Browser == nil:
	case p.role.ReadOnly && (level == role.Change || level == role.Manage):
		return "readOnly"
	case p.role.Type == lastmile.AdminStandard && (level == role.Manage || level == role.Inspect):
		return "superRequired"
	}
	return ""
}

// outcome returns the kind of a response: success, or its error.
func outcome(t testing.TB, a apptest.Response) string {
	t.Helper()
	if a.Status < 300 {
		return "success"
	}
	var batch struct{ StatusCode, Error int } // its errors have a different shape
	if json.Unmarshal(a.Body, &batch) == nil && batch.StatusCode != 0 {
		return fmt.Sprint(a.Status, batch.Error)
	}
	var shape struct {
		Code    string
		Message struct{ Error int }
	}
	if err := json.Unmarshal(a.Body, &shape); err != nil {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	return fmt.Sprint(a.Status, shape.Code, shape.Message.Error)
}

// expect fails the test unless a request was denied for a reason, or else had the
// outcome that it has with a key.
func expect(t testing.TB, what string, a apptest.Response, reason, withKey string) {
	t.Helper()
	if reason == "" {
		if got := outcome(t, a); got != withKey {
			t.Errorf("%s: %s, with a key %s: %s", what, got, withKey, a.Body)
		}
		return
	}
	if strings.HasPrefix(string(a.Body), `{"statusCode":403,"error":1300,`) && strings.Contains(string(a.Body), `"cause":"`+reason+`"`) {
		return // of a batch
	}
	if cause := forbidden.check(t, a); cause != reason {
		t.Errorf("%s: denied because of %v, want %s: %s", what, cause, reason, a.Body)
	}
}

func TestRoleContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		s, zenith := newStaff(t, p), newWorld(t, p, "zenith-canary", "646")
		t.Run("rules fit the routes of the API", func(t *testing.T) { testRulesFit(t, p) })
		t.Run("the rules have every field that names records of teams", testPlacesOfRules)
		t.Run("lists", func(t *testing.T) { testListsByRole(t, s) })
		t.Run("fields outside of the matrix", func(t *testing.T) { testOtherPlacesByRole(t, s) })
		s.rebuild(t, s.north, s.south)
		t.Run("members of teams", func(t *testing.T) { testMembersByRole(t, s) })
		s.rebuild(t, s.north, s.south)
		t.Run("every route", func(t *testing.T) { testRoutesByRole(t, s) })
		t.Run("every field with an id", func(t *testing.T) { testPlacesByRole(t, s, zenith) })
	}, quick)
}

// operationsOf returns the operations of the OpenAPI document.
func operationsOf(t testing.TB, p *apptest.Platform) []string {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(p.Get(t, "/api/v2/openapi.json"), &doc); err != nil {
		t.Fatal(err)
	}
	var all []string
	for path, methods := range doc.Paths {
		for method := range methods {
			all = append(all, strings.ToUpper(method)+" "+path)
		}
	}
	slices.Sort(all)
	return all
}

func testRulesFit(t *testing.T, p *apptest.Platform) {
	operations := operationsOf(t, p)
	for _, operation := range operations {
		rule := role.Table[operation]
		reads := strings.HasPrefix(operation, "GET ") && operation != "GET /deliveryServices/quote" || searches(operation)
		if (rule.Level == role.View || rule.Level == role.Inspect) != reads {
			t.Errorf("%s has a wrong level", operation)
		}
	}
	for operation, rule := range role.Table {
		if !slices.Contains(operations, operation) {
			t.Errorf("the table of roles has %s, which the API has not", operation)
		}
		if rule.Level == role.Manage {
			t.Errorf("%s needs no rule", operation)
		}
	}
}

func testPlacesOfRules(t *testing.T) {
	for _, at := range idPlaces() {
		operation, _, _ := strings.Cut(at.operation, "?")
		rule := role.Table[operation]
		kind := teamKinds[at.kind]
		if kind == "" || at.ignored || rule.Level == role.Manage || rule.Level == role.Inspect {
			continue
		}
		in := "body"
		if strings.HasPrefix(at.field, "{") {
			in = "path"
		}
		field := strings.Trim(at.field, "{}")
		if !slices.ContainsFunc(rule.Places, func(place role.Place) bool { return place.In == in && place.Field == field }) {
			t.Errorf("%s: the rule does not have %s, which names a %s", operation, at.field, at.kind)
		}
	}
}

// testRoutesByRole calls each route once as each person. Where the path names a record,
// it is one that does not exist.
func testRoutesByRole(t *testing.T, s *staff) {
	for _, operation := range operationsOf(t, s.p) {
		if operation == "GET /events" {
			continue // it does not end
		}
		rule := role.Table[operation]
		withKey := ""
		for _, p := range s.people {
			method, path, _ := strings.Cut(operation, " ")
			for _, parameter := range []string{"id", "jobId", "shortId", "notification", "phone", "name"} {
				path = strings.ReplaceAll(path, "{"+parameter+"}", unknownID)
			}
			path = strings.NewReplacer("{kind}", "workers", "{model}", "Task").Replace(path)
			p.in.made++
			body := p.in.fill(postBodies[operation][0])
			switch {
			case method != "GET" && method != "DELETE" && body == "":
				body = `{}`
			case operation == "DELETE /customFields":
				body = `{"model":"Task","field":["none"]}`
			}
			a := p.send(t, method, path, body)
			if p.Browser == nil {
				withKey = outcome(t, a)
			}
			expect(t, operation+" as "+p.name, a, denied(p, rule), withKey)
		}
	}
}

// testPlacesByRole names own and foreign records in every field that takes an id, as each
// person.
func testPlacesByRole(t *testing.T, s *staff, zenith *world) {
	for _, at := range idPlaces() {
		operation, _, _ := strings.Cut(at.operation, "?")
		if strings.Contains(operation, "/webhooks") {
			continue // it takes a server; see testRoutesByRole
		}
		rule := role.Table[operation]
		ofTeam := teamKinds[at.kind] != "" && !at.ignored
		for _, whose := range []string{"own", "another team's", "another organization's"} {
			if whose == "another team's" && !ofTeam {
				continue
			}
			withKey := ""
			for _, p := range s.people {
				record := p.in.pick(at)
				switch whose {
				case "another team's":
					record = s.other(p.in).pick(at)
				case "another organization's":
					record = zenith.pick(at)
				}
				reason := denied(p, rule)
				if reason == "" && p.role.Type == lastmile.AdminStandard {
					switch {
					case at.field == "managers[]":
						reason = "superRequired"
					case whose == "another team's":
						reason = "foreignTeam"
					}
				}
				method, path, body := p.in.request(at, record)
				a := p.send(t, method, path, body)
				if p.Browser == nil {
					withKey = outcome(t, a)
				}
				expect(t, fmt.Sprintf("%s with %s %s as %s", at.operation, whose, at.field, p.name), a, reason, withKey)
				if a.Status < 300 && (rule.Level == role.Change || rule.Level == role.Manage) {
					s.p.Settle(t)
					if method == http.MethodDelete && !ofTeam {
						fresh := p.in.make(t, at.kind)
						s.north.own[at.kind], s.south.own[at.kind] = fresh, fresh
					}
					changed := []*world{p.in}
					if whose == "another team's" {
						changed = append(changed, s.other(p.in))
					}
					s.rebuild(t, changed...)
				}
			}
		}
	}
}

// standard returns the standard administrator of the first team.
func (s *staff) standard() person { return s.people[2] }

// testOtherPlacesByRole names records in fields that the table of the scope test does not
// have.
func testOtherPlacesByRole(t *testing.T, s *staff) {
	const place = `"destination":"OWN-destination","recipients":[]`
	std, key := s.standard(), s.people[0]
	requests := []string{
		"GET /tasks/all?from=1&worker=ITS-worker", "GET /tasks?from=1&worker=ITS-worker", "GET /tasks/all?from=1&containers=OWN-team,ITS-worker",
		"GET /tasks/all?from=1&containers[0]=ITS-team", "GET /tasks?from=1&containers=ITS-team", "GET /workers?teams=ITS-team",
		"GET /board?teams=OWN-team,ITS-team", "GET /board/history?teams=ITS-team", "GET /routePlans?workerId=ITS-worker", "GET /routePlans/all?workerId=ITS-worker",
		"GET /integrations/manifest/generate?hubId=OWN-hub&workerId=ITS-worker",
		`POST /integrations/marketplace {"path":"providers/manifest/generate?hubId=OWN-hub&workerId=ITS-worker"}`,
		`POST /integrations/marketplace {"path":"/providers/manifest/generate?hubId=OWN-hub&worker%49d=ITS-worker","method":"GET"}`,
		`POST /tasks/batch {"tasks":[{` + place + `},{` + place + `,"container":{"type":"WORKER","worker":"ITS-worker"}}]}`,
		`POST /tasks/batch-async {"tasks":[{` + place + `,"container":{"type":"TEAM","team":"ITS-team"}}]}`,
		`POST /tasks/batch {"tasks":[{` + place + `,"dependencies":["ITS-task"]}]}`,
		`POST /tasks {` + place + `,"\u0063ontainer":{"type":"TEAM","team":"ITS-team"}}`,
	}
	for operation, rule := range role.Table {
		for _, at := range rule.Places {
			named := func(request string) bool {
				return strings.HasPrefix(request, operation+"?") && strings.Contains(request, strings.TrimSuffix(at.Field, "[]"))
			}
			if at.In == "query" && !slices.ContainsFunc(requests, named) {
				t.Errorf("%s: no request names %s", operation, at.Field)
			}
		}
	}
	for _, request := range requests {
		for w, reason := range map[*world]string{s.north: "", s.south: "foreignTeam"} {
			method, rest, _ := strings.Cut(request, " ")
			path, body, _ := strings.Cut(rest, " ")
			fill := func(text string) string {
				for kind, its := range w.own {
					text = strings.ReplaceAll(text, "ITS-"+kind, its)
				}
				return s.north.fill(text)
			}
			path, body = fill(path), fill(body)
			expect(t, request, std.send(t, method, path, body), reason, "success")
			expect(t, request, key.send(t, method, path, body), "", "success")
		}
	}
	s.p.Settle(t)
	own := std.send(t, "POST", "/tasks/batch-async", s.north.fill(`{"tasks":[{`+place+`}]}`)).OK(t).Object(t)["jobId"]
	others := fmt.Sprint(key.send(t, "POST", "/tasks/batch-async", s.north.fill(`{"tasks":[{`+place+`}]}`)).OK(t).Object(t)["jobId"])
	s.p.Settle(t)
	std.send(t, "GET", fmt.Sprint("/tasks/batch/", own), "").OK(t)
	forbidden.check(t, std.send(t, "GET", "/tasks/batch/"+others, ""), others)
}

// testMembersByRole changes who is in teams.
func testMembersByRole(t *testing.T, s *staff) {
	std, n, o := s.standard(), s.north, s.south
	shared := id(t, n.Client, "/workers", fmt.Sprintf(`{"name":"Shared","phone":"+12125559001","teams":[%q,%q]}`, n.own["team"], o.own["team"]))
	for body, want := range map[string]string{
		fmt.Sprintf(`{"teams":[%q]}`, n.own["team"]): "foreignTeam", // leaves the other team
		fmt.Sprintf(`{"teams":[%q]}`, o.own["team"]): "",            // leaves the own one, last
		`{"teams":[]}`:   "foreignTeam",
		`{"teams":null}`: "foreignTeam",
		fmt.Sprintf(`{"teams":[%q,%q]}`, o.own["team"], n.own["team"]): "",
		`{"name":"Renamed"}`: "",
	} {
		expect(t, body, std.send(t, "PUT", "/workers/"+shared, body), want, "success")
		n.Must(t, "PUT", "/workers/"+shared, fmt.Sprintf(`{"teams":[%q,%q]}`, n.own["team"], o.own["team"]))
	}
	expect(t, "delete a shared worker", std.send(t, "DELETE", "/workers/"+shared, ""), "foreignTeam", "")
	team := "/teams/" + n.own["team"]
	for body, want := range map[string]string{
		fmt.Sprintf(`{"workers":[%q,%q]}`, n.own["worker"], shared): "",
		fmt.Sprintf(`{"workers":[%q]}`, o.own["worker"]):            "foreignTeam",
		fmt.Sprintf(`{"managers":%s}`, asJSON(t, s.managers[n])):    "",
		fmt.Sprintf(`{"managers":[%q]}`, s.managers[n][0]):          "superRequired",
		`{"managers":[]}`: "superRequired",
	} {
		expect(t, body, std.send(t, "PUT", team, body), want, "success")
	}
	// All managers see unassigned tasks. Assigning one hides it from the other managers.
	free := id(t, n.Client, "/tasks", n.fill(`{"destination":"OWN-destination","recipients":[]}`))
	other := s.people[3]
	for _, p := range []person{std, other} {
		p.send(t, "GET", "/tasks/"+free, "").OK(t)
	}
	std.send(t, "PUT", "/containers/workers/"+n.own["worker"], `{"tasks":[-1,"`+free+`"]}`).OK(t)
	expect(t, "a task that was assigned", other.send(t, "GET", "/tasks/"+free, ""), "foreignTeam", "")
	std.send(t, "PUT", "/containers/organizations/"+n.own["organization"], `{"tasks":[-1,"`+free+`"]}`).OK(t)
	other.send(t, "GET", "/tasks/"+free, "").OK(t)
	// Related tasks of other teams do not move along.
	n.Must(t, "PUT", "/tasks/"+free, `{"dependencies":["`+o.own["task"]+`"]}`)
	a := std.send(t, "PUT", "/containers/workers/"+n.own["worker"], `{"tasks":[-1,"`+free+`"],"considerDependencies":true}`)
	expect(t, "related tasks", a, "foreignTeam", "")
	a = std.send(t, "POST", "/tasks/autoAssign", `{"tasks":["`+free+`"],"options":{"mode":"load","considerDependencies":true}}`)
	expect(t, "related tasks", a, "foreignTeam", "")
	// Completed ones would not move.
	done := id(t, o.Client, "/tasks", o.fill(`{"destination":"OWN-destination","recipients":[],"container":{"type":"WORKER","worker":"OWN-worker"}}`))
	start(t, s.p.Store.Write, o, done)
	o.Call(t, "POST", "/tasks/"+done+"/complete", `{"completionDetails":{"success":true}}`).OK(t)
	n.Must(t, "PUT", "/tasks/"+free, `{"dependencies":["`+done+`"]}`)
	std.send(t, "PUT", "/containers/workers/"+n.own["worker"], `{"tasks":[-1,"`+free+`"],"considerDependencies":true}`).OK(t)
}

// viewed are the lists that TestRoleViewContract compares.
var viewed = []string{
	"GET /analytics", "GET /board/positions", "GET /events", "GET /events/log", "GET /messages", "GET /search", "GET /workers/location",
}

// testListsByRole compares what each person finds in lists.
func testListsByRole(t *testing.T, s *staff) {
	compared := map[string]bool{}
	defer func() {
		for operation, rule := range role.Table {
			if rule.Filtered && !compared[operation] && !slices.Contains(viewed, operation) {
				t.Errorf("%s is a list that is not compared", operation)
			}
		}
	}()
	metadata := `[{"name":"of","type":"string","value":"role list"}]`
	type made struct{ worker, task, plan string }
	records := map[*world]made{}
	for i, w := range []*world{s.north, s.south} {
		m := made{plan: w.own["routePlan"]}
		m.worker = id(t, w.Client, "/workers", w.fill(fmt.Sprintf(`{"name":"L","phone":"+1212555800%d","teams":["OWN-team"],"metadata":%s}`, i, metadata)))
		m.task = id(t, w.Client, "/tasks", w.fill(`{"destination":"OWN-destination","recipients":[],"container":{"type":"WORKER","worker":"`+m.worker+`"},"metadata":`+metadata+`}`))
		w.Must(t, "PUT", "/teams/"+w.own["team"], `{"metadata":`+metadata+`}`)
		records[w] = m
	}
	free := id(t, s.north.Client, "/tasks", s.north.fill(`{"destination":"OWN-destination","recipients":[],"metadata":`+metadata+`}`))
	for _, p := range s.people {
		for _, w := range []*world{s.north, s.south} {
			sees := p.role.Type != lastmile.AdminStandard || w == p.in
			m := records[w]
			for request, record := range map[string]string{
				"GET /workers": m.worker, "POST /workers/metadata": m.worker, "GET /tasks/all?from=1": m.task, "GET /tasks?from=1&state=0,1": m.task,
				"POST /tasks/metadata": m.task, "GET /routePlans": m.plan, "GET /routePlans/all": m.plan, "GET /teams": w.own["team"], "POST /teams/metadata": w.own["team"],
				"GET /board": m.task, "GET /board?date=": m.worker, "GET /board?teams=": w.own["team"],
				"GET /board/history": m.worker, "GET /board/history?date=": w.own["team"],
			} {
				operation, _, _ := strings.Cut(request, "?")
				compared[operation] = true
				if found := strings.Contains(s.all(t, p, request, metadata), `"`+record+`"`); found != sees {
					t.Errorf("%s as %s: it is %t that a record is listed, want %t", request, p.name, found, sees)
				}
			}
		}
		for _, request := range []string{"GET /tasks/all?from=1", "POST /tasks/metadata", "GET /board"} {
			if !strings.Contains(s.all(t, p, request, metadata), `"`+free+`"`) {
				t.Errorf("%s as %s: an unassigned task is not listed", request, p.name)
			}
		}
	}
}

// all returns a whole list, with all of its pages.
func (s *staff) all(t testing.TB, p person, request, body string) string {
	t.Helper()
	method, path, _ := strings.Cut(request, " ")
	if method == "GET" {
		body = ""
	}
	var text strings.Builder
	for after := ""; ; {
		a := p.send(t, method, path+after, body).OK(t)
		text.Write(a.Body)
		var page struct{ LastID string }
		if json.Unmarshal(a.Body, &page) != nil || page.LastID == "" { // an array has no pages
			return text.String()
		}
		after = "&lastId=" + page.LastID
		if !strings.Contains(path, "?") {
			after = "?lastId=" + page.LastID
		}
	}
}
