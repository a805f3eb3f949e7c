package contract_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"dray/internal/app/apptest"
	"dray/internal/lastmile"
)

// shift is an organization with workers on duty along a street, at steps of a tenth of a
// degree of longitude.
type shift struct {
	roads
	platform *apptest.Platform
	made     int
}

func newShift(t testing.TB, p *apptest.Platform, name string) *shift {
	t.Helper()
	return &shift{roads: newRoads(t, p, name), platform: p}
}

// onDuty creates a worker on duty at a step of the street.
func (s *shift) onDuty(t testing.TB, step int, more ...string) string {
	t.Helper()
	s.made++
	worker := s.driver(t, fmt.Sprintf("+1212555%04d", 4000+s.made), more...)
	s.at(t, worker, step)
	return worker
}

// at puts a worker on duty at a step of the street.
func (s *shift) at(t testing.TB, worker string, step int) {
	t.Helper()
	place(t, s.platform.Store.Write, s.Client, worker, lastmile.Whereabouts{OnDuty: true, Location: &lastmile.Point{Lon: float64(step) / 10, Lat: 0}})
}

func (s *shift) offDuty(t testing.TB, worker string) {
	t.Helper()
	place(t, s.platform.Store.Write, s.Client, worker, lastmile.Whereabouts{Location: &lastmile.Point{}})
}

// body returns the body of a task at a step of the street.
func (s *shift) body(step int, more ...string) string {
	return fmt.Sprintf(`{"destination":{"address":{"city":"X","country":"Y"},"location":[%g,0]},"recipients":[]%s}`, float64(step)/10, strings.Join(more, ""))
}

func (s *shift) taskAt(t testing.TB, step int, more ...string) string {
	t.Helper()
	return id(t, s.Client, "/tasks", s.body(step, more...))
}

// given creates a task with these terms of automatic assignment, and fails the test unless
// it is assigned to the worker, or to none if worker is empty.
func (s *shift) given(t testing.TB, worker, terms string, more ...string) map[string]any {
	t.Helper()
	made := s.Must(t, "POST", "/tasks", s.body(0, append(more, `,"autoAssign":{`+terms+`}`)...))
	want := `[0,null,false,{"type":"ORGANIZATION","organization":"` + string(s.Organization.ID) + `"}]`
	if worker != "" {
		want = `[1,"` + worker + `",true,{"type":"WORKER","worker":"` + worker + `"}]`
	}
	matches(t, fields(made, "state", "worker", "didAutoAssign", "container"), want)
	return made
}

// why returns the explanation of a task, and for each worker in it the distance or the
// reason for the exclusion.
func (s *shift) why(t testing.TB, task any) (map[string]any, map[string]any) {
	t.Helper()
	said := s.Must(t, "GET", "/tasks/"+fmt.Sprint(task)+"/explanation", nil)
	of := map[string]any{}
	for _, candidate := range said["candidates"].([]any) {
		c := candidate.(map[string]any)
		of[fmt.Sprint(c["worker"])] = c["distance"]
		if c["excluded"] != nil {
			of[fmt.Sprint(c["worker"])] = c["excluded"]
		}
	}
	return said, of
}

func TestAssignContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		t.Run("a new task goes to the nearest worker on duty, or to none", func(t *testing.T) { testAssignNearest(t, newShift(t, p, "Nearest")) })
		t.Run("by load it goes to the worker with the shortest route", func(t *testing.T) { testAssignLoad(t, newShift(t, p, "Load")) })
		t.Run("terms exclude workers", func(t *testing.T) { testAssignTerms(t, newShift(t, p, "Terms")) })
		t.Run("no worker gets more than the capacity", func(t *testing.T) { testAssignCapacity(t, newShift(t, p, "Capacity")) })
		t.Run("every automatic decision has an explanation", func(t *testing.T) { testAssignReasons(t, p, newShift(t, p, "Reasons")) })
		t.Run("many tasks are assigned at once", func(t *testing.T) { testAssignMany(t, newShift(t, p, "Many")) })
		t.Run("related tasks are assigned together on request", func(t *testing.T) { testAssignFamilies(t, newShift(t, p, "Families")) })
		t.Run("invalid requests are rejected and assign nothing", func(t *testing.T) { testAssignFaults(t, p, newShift(t, p, "Faults")) })
	})
}

func testAssignNearest(t *testing.T, s *shift) {
	s.given(t, "", `"mode":"distance"`) // no worker is on duty
	near, far := s.onDuty(t, 1), s.onDuty(t, 5)
	first := s.given(t, near, `"mode":"distance"`)
	second := s.given(t, near, `"mode":"distance"`)
	matches(t, s.queue(t, "workers/"+near), jsonList(fmt.Sprint(first["id"]), fmt.Sprint(second["id"]))) // at the end
	s.begin(t, fmt.Sprint(first["id"]))
	s.given(t, near, `"mode":"distance"`) // a worker with an active task is considered too
	s.offDuty(t, near)
	s.given(t, far, `"mode":"distance"`)
	s.at(t, near, 9)
	s.given(t, far, `"mode":"distance"`)
	made := s.given(t, far, `"mode":"distance"`)
	matches(t, readTask(t, s.Client, made["id"].(string)+"?assignmentHistory=true")["assignmentHistory"],
		`[{"actionContext":{"type":"API","id":"<id>"},"containerDescription":{"type":"WORKER","organization":"`+string(s.Organization.ID)+`","worker":"`+far+`"},"time":"<now>"}]`)
}

func testAssignLoad(t *testing.T, s *shift) {
	near, far := s.onDuty(t, 1), s.onDuty(t, -4)
	s.given(t, near, `"mode":"load"`)
	s.taskAt(t, 9, workers(near)) // there and back is a long way
	s.given(t, far, `"mode":"load"`)
	s.given(t, near, `"mode":"distance"`)
	active := s.taskAt(t, -20, workers(far))
	s.begin(t, active)
	s.given(t, near, `"mode":"load"`) // the active task counts
}

func testAssignTerms(t *testing.T, s *shift) {
	near, far := s.onDuty(t, 1), s.onDuty(t, 5)
	s.Must(t, "PUT", "/workers/"+far, `{"teams":`+jsonList(s.north, s.south)+`}`)
	s.given(t, far, `"mode":"distance","excludedWorkerIds":["`+near+`"]`)
	s.given(t, "", `"mode":"distance","excludedWorkerIds":`+jsonList(near, far))
	s.given(t, far, `"mode":"distance","team":"`+s.south+`"`)
	s.given(t, far, `"mode":"distance","teams":["`+s.south+`"]`)
	s.given(t, near, `"mode":"distance","teams":`+jsonList(s.south, s.north))
	empty := id(t, s.Client, "/teams", `{"name":"Empty","workers":[],"managers":[]}`)
	s.given(t, "", `"mode":"distance","team":"`+empty+`"`)
	s.given(t, near, `"mode":"distance","teams":["`+empty+`"]`) // only a preference
	s.given(t, "", `"mode":"distance","teams":["`+empty+`"],"restrictAutoAssignmentToTeam":true`)

	for range 3 {
		s.taskAt(t, 0, workers(near))
	}
	count := len(s.queue(t, "workers/"+near))
	s.given(t, near, fmt.Sprintf(`"mode":"distance","maxAssignedTaskCount":%d`, count+1))
	s.given(t, far, fmt.Sprintf(`"mode":"distance","maxAssignedTaskCount":%d`, count+1))
	s.given(t, near, `"mode":"distance","maxAssignedTaskCount":0`) // no limit
	s.given(t, "", `"mode":"distance","maxAssignedTaskCount":1`)
}

func testAssignCapacity(t *testing.T, s *shift) {
	near := s.onDuty(t, 1, `,"capacity":5,"additionalCapacities":{"capacityA":2,"capacityB":2,"capacityC":2}`)
	far := s.onDuty(t, 5, `,"capacity":100`) // no other limits
	s.given(t, near, `"mode":"distance"`, `,"quantity":4,"additionalQuantities":{"quantityA":1,"quantityB":1,"quantityC":1}`)
	s.given(t, far, `"mode":"distance"`, `,"quantity":1.5`)
	for _, letter := range []string{"A", "B", "C"} {
		s.given(t, far, `"mode":"distance"`, `,"additionalQuantities":{"quantity`+letter+`":1.5}`)
	}
	full := s.given(t, near, `"mode":"distance"`, `,"quantity":1,"additionalQuantities":{"quantityA":1,"quantityB":1,"quantityC":1}`)
	s.given(t, far, `"mode":"distance"`, `,"quantity":0.5`)
	s.given(t, near, `"mode":"distance"`) // without quantities
	s.begin(t, fmt.Sprint(full["id"]))
	s.given(t, far, `"mode":"distance"`, `,"quantity":0.5`) // the active task still counts
	s.Call(t, "POST", "/tasks/"+fmt.Sprint(full["id"])+"/complete", `{"completionDetails":{"success":true}}`).OK(t)
	s.given(t, near, `"mode":"distance"`, `,"quantity":1`)
	s.given(t, "", `"mode":"distance"`, `,"quantity":1000`)

	// Capacities limit only automatic assignment.
	s.taskAt(t, 0, workers(near), `,"quantity":1000`)
}

func testAssignReasons(t *testing.T, p *apptest.Platform, s *shift) {
	near, far, full := s.onDuty(t, 1), s.onDuty(t, 5), s.onDuty(t, 2, `,"capacity":1`)
	out := s.onDuty(t, 3)
	busy := s.onDuty(t, 4)
	s.taskAt(t, 0, workers(busy))
	s.taskAt(t, 0, workers(busy))
	gone := s.onDuty(t, 0)
	s.offDuty(t, gone)
	lost := s.onDuty(t, 0)
	place(t, p.Store.Write, s.Client, lost, lastmile.Whereabouts{OnDuty: true})
	s.Must(t, "PUT", "/workers/"+far, `{"teams":["`+s.south+`"]}`)
	made := s.given(t, near, `"mode":"distance","team":"`+s.north+`","excludedWorkerIds":["`+out+`"],"maxAssignedTaskCount":2`, `,"quantity":2`)
	said, of := s.why(t, made["id"])
	delete(said, "candidates")
	matches(t, said, `{"task":"`+fmt.Sprint(made["id"])+`","time":"<now>","mode":"distance","worker":"`+near+`","considered":6}`)
	if metres, ok := of[near].(float64); !ok || metres < 11_131 || metres > 11_133 { // a tenth of a degree of the equator
		t.Errorf("the nearest is %v away", of[near])
	}
	for worker, word := range map[string]string{full: "capacity exceeded: capacity 2 of 1", out: "excluded by the request", busy: "2 of 2", far: "not in the team", lost: "no known location"} {
		if !strings.Contains(fmt.Sprint(of[worker]), word) {
			t.Errorf("a worker was not chosen because %v, want %s", of[worker], word)
		}
	}
	if _, there := of[gone]; there || len(of) != 6 {
		t.Errorf("asked were %v", of)
	}
	order := s.Must(t, "GET", "/tasks/"+fmt.Sprint(made["id"])+"/explanation", nil)["candidates"].([]any)
	if order[0].(map[string]any)["worker"] != near || order[0].(map[string]any)["excluded"] != nil || order[1].(map[string]any)["distance"] != nil {
		t.Errorf("the best is not the first: %v", order)
	}
	unassigned := s.given(t, "", `"mode":"load","excludedWorkerIds":`+jsonList(near, far, full, out, busy))
	said, _ = s.why(t, unassigned["id"])
	matches(t, fields(said, "mode", "worker"), `["load",null]`)

	t.Run("the last decision counts, and outlives a move", func(t *testing.T) {
		matches(t, s.Must(t, "POST", "/tasks/autoAssign", `{"tasks":["`+fmt.Sprint(unassigned["id"])+`"]}`)["assignedTasksCount"], `1`)
		said, _ := s.why(t, unassigned["id"])
		matches(t, fields(said, "mode", "worker"), `["distance","`+near+`"]`)
		s.Must(t, "PUT", "/tasks/"+fmt.Sprint(unassigned["id"]), `{"container":{"type":"WORKER","worker":"`+far+`"}}`)
		said, _ = s.why(t, unassigned["id"])
		matches(t, said["worker"], `"`+near+`"`)
	})
	notFound.check(t, s.Call(t, "GET", "/tasks/"+s.taskAt(t, 0)+"/explanation", nil))
	notFound.check(t, s.Call(t, "GET", "/tasks/"+unknownID+"/explanation", nil))
	theirs := newShift(t, p, "Zenith")
	outsideScope.check(t, s.Call(t, "GET", "/tasks/"+theirs.taskAt(t, 0)+"/explanation", nil))

	t.Run("a client can do without one", func(t *testing.T) {
		const optional = "/explanation?optional=true"
		if body := s.Call(t, "GET", "/tasks/"+s.taskAt(t, 0)+optional, nil).OK(t).Body; string(body) != "null" {
			t.Errorf("no explanation is %s", body)
		}
		matches(t, s.Must(t, "GET", "/tasks/"+fmt.Sprint(unassigned["id"])+optional, nil)["worker"], `"`+near+`"`)
		notFound.check(t, s.Call(t, "GET", "/tasks/"+unknownID+optional, nil))
		outsideScope.check(t, s.Call(t, "GET", "/tasks/"+theirs.taskAt(t, 0)+optional, nil))
		malformed.check(t, s.Call(t, "GET", "/tasks/"+s.taskAt(t, 0)+"/explanation?optional=yes", nil), "optional")
	})
}

func testAssignMany(t *testing.T, s *shift) {
	near, far := s.onDuty(t, 1, `,"capacity":2`), s.onDuty(t, 5, `,"capacity":2`)
	var tasks []string
	for range 5 {
		tasks = append(tasks, s.taskAt(t, 0, `,"quantity":1`))
	}
	taken := s.taskAt(t, 0, workers(far), `,"quantity":1`)
	body := `{"tasks":` + jsonList(append(tasks, taken, tasks[0])...) + `,"options":{"mode":"distance"}}`
	matches(t, s.Must(t, "POST", "/tasks/autoAssign", body),
		`{"assignedTasksCount":3,"assignedTasks":{"`+tasks[0]+`":"`+near+`","`+tasks[1]+`":"`+near+`","`+tasks[2]+`":"`+far+`"}}`)
	matches(t, s.queue(t, "workers/"+near), jsonList(tasks[:2]...))
	matches(t, s.queue(t, "workers/"+far), jsonList(taken, tasks[2]))
	for i, task := range tasks {
		said, _ := s.why(t, task)
		want := []string{`"` + near + `"`, `"` + near + `"`, `"` + far + `"`, `null`, `null`}[i]
		matches(t, said["worker"], want)
		matches(t, readTask(t, s.Client, task)["worker"], want)
	}
	notFound.check(t, s.Call(t, "GET", "/tasks/"+taken+"/explanation", nil)) // nothing was decided
	matches(t, s.Must(t, "POST", "/tasks/autoAssign", body), `{"assignedTasksCount":0,"assignedTasks":{}}`)
	matches(t, s.Must(t, "POST", "/tasks/autoAssign", `{"tasks":[]}`), `{"assignedTasksCount":0,"assignedTasks":{}}`)

	t.Run("without options it is by distance", func(t *testing.T) {
		near := s.onDuty(t, 0)
		task := s.taskAt(t, 0)
		matches(t, s.Must(t, "POST", "/tasks/autoAssign", `{"tasks":["`+task+`"]}`), `{"assignedTasksCount":1,"assignedTasks":{"`+task+`":"`+near+`"}}`)
	})
	t.Run("also tasks of a team", func(t *testing.T) {
		task := s.taskAt(t, 0, `,"container":{"type":"TEAM","team":"`+s.south+`"}`)
		matches(t, s.Must(t, "POST", "/tasks/autoAssign", `{"tasks":["`+task+`"],"options":{"mode":"load"}}`)["assignedTasksCount"], `1`)
		matches(t, s.queue(t, "teams/"+s.south), `[]`)
	})
}

func testAssignFamilies(t *testing.T, s *shift) {
	near, far := s.onDuty(t, 1, `,"capacity":2`), s.onDuty(t, 5)
	depends := func(on ...string) string { return `,"dependencies":` + jsonList(on...) }
	family := func(q float64) (parent, child, grandchild string) {
		quantity := fmt.Sprintf(`,"quantity":%g`, q)
		parent = s.taskAt(t, 0, quantity)
		child = s.taskAt(t, 0, quantity, depends(parent))
		return parent, child, s.taskAt(t, 0, quantity, depends(child))
	}
	t.Run("by request", func(t *testing.T) {
		parent, child, grandchild := family(0.5)
		got := s.Must(t, "POST", "/tasks/autoAssign", `{"tasks":["`+child+`"],"options":{"mode":"distance","considerDependencies":true}}`)
		matches(t, got, `{"assignedTasksCount":3,"assignedTasks":{"`+parent+`":"`+near+`","`+child+`":"`+near+`","`+grandchild+`":"`+near+`"}}`)
		matches(t, s.queue(t, "workers/"+near), jsonList(parent, child, grandchild))
	})
	t.Run("only where there is room for all", func(t *testing.T) {
		parent, child, grandchild := family(1)
		s.Must(t, "POST", "/tasks/autoAssign", `{"tasks":["`+child+`"],"options":{"mode":"distance","considerDependencies":true}}`)
		matches(t, s.queue(t, "workers/"+far), jsonList(parent, child, grandchild))
	})
	t.Run("alone by default", func(t *testing.T) {
		parent, child, _ := family(0)
		matches(t, s.Must(t, "POST", "/tasks/autoAssign", `{"tasks":["`+child+`"],"options":{"mode":"distance"}}`)["assignedTasksCount"], `1`)
		matches(t, readTask(t, s.Client, parent)["state"], `0`)
	})
	t.Run("when its last task is created", func(t *testing.T) {
		parent := s.taskAt(t, 0, `,"quantity":50`)
		elsewhere := s.taskAt(t, 0, workers(near), depends(parent))
		made := s.given(t, far, `"mode":"distance","considerDependencies":true`, depends(elsewhere))
		list := s.queue(t, "workers/"+far)
		matches(t, list[len(list)-3:], jsonList(parent, elsewhere, fmt.Sprint(made["id"])))
		if slices.Contains(s.queue(t, "workers/"+near), any(elsewhere)) {
			t.Error("one of the family has two workers")
		}
	})
	t.Run("without completed tasks", func(t *testing.T) {
		parent := s.taskAt(t, 0, workers(far))
		s.complete(t, parent, true)
		s.given(t, near, `"mode":"distance","considerDependencies":true`, depends(parent))
	})
}

func testAssignFaults(t *testing.T, p *apptest.Platform, s *shift) {
	theirs := newShift(t, p, "Zenith Faults")
	s.onDuty(t, 0)
	task := s.taskAt(t, 0)
	for name, test := range map[string]struct {
		sent string
		want rejection
		word string
	}{
		"no tasks":                      {`{}`, malformed, "tasks"},
		"no body":                       {``, malformed, "tasks"},
		"null tasks":                    {`{"tasks":null}`, malformed, "tasks"},
		"tasks in a text":               {`{"tasks":"` + task + `"}`, malformed, "tasks"},
		"options without a mode":        {`{"tasks":["` + task + `"],"options":{}}`, malformed, "options.mode"},
		"an unknown mode":               {`{"tasks":["` + task + `"],"options":{"mode":"DISTANCE"}}`, invalid, "options.mode"},
		"a negative count":              {`{"tasks":["` + task + `"],"options":{"mode":"load","maxAssignedTaskCount":-1}}`, invalid, "options.maxAssignedTaskCount"},
		"half a count":                  {`{"tasks":["` + task + `"],"options":{"mode":"load","maxAssignedTaskCount":0.5}}`, malformed, "options.maxAssignedTaskCount"},
		"an unknown task":               {`{"tasks":["` + task + `","` + unknownID + `"]}`, notFound, unknownID},
		"another organization's task":   {`{"tasks":["` + task + `","` + theirs.taskAt(t, 0) + `"]}`, outsideScope, ""},
		"an unknown team":               {`{"tasks":["` + task + `"],"options":{"mode":"load","teams":["` + unknownID + `"]}}`, notFound, unknownID},
		"another organization's team":   {`{"tasks":["` + task + `"],"options":{"mode":"load","teams":["` + theirs.north + `"]}}`, outsideScope, ""},
		"an empty task":                 {`{"tasks":[""]}`, malformed, "tasks[0]"},
		"another organization's worker": {`{"tasks":["` + task + `"],"options":{"mode":"load","excludedWorkerIds":["` + theirs.ada + `"]}}`, outsideScope, ""},
		"too many tasks":                {`{"tasks":[` + strings.Repeat(`"`+task+`",`, 1_000) + `"` + task + `"]}`, invalid, "1000"},
	} {
		t.Run(name, func(t *testing.T) {
			test.want.check(t, send(t, s.Client, "POST", "/tasks/autoAssign", test.sent), test.word)
			matches(t, fields(readTask(t, s.Client, task), "state", "worker"), `[0,null]`)
			notFound.check(t, s.Call(t, "GET", "/tasks/"+task+"/explanation", nil))
		})
	}
}
