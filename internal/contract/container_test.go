package contract_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"dray/internal/app/apptest"
)

func TestContainerContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		r := newRoads(t, p, "Acme")
		org := string(r.Organization.ID)
		t.Run("a container that was never changed is empty, with every field", func(t *testing.T) {
			for path, own := range map[string]string{
				"organizations/" + org: `"type":"ORGANIZATION"`, "teams/" + r.south: `"type":"TEAM","team":"` + r.south + `"`, "workers/" + r.bob: `"type":"WORKER","worker":"` + r.bob + `"`,
			} {
				got := r.Must(t, "GET", "/containers/"+path, nil)
				matches(t, got, `{"id":"<id>","timeCreated":"<now>","timeLastModified":"<now>","organization":"`+org+`","activeTask":null,"tasks":[],`+own+`}`)
				if owner := strings.Split(path, "/")[1]; got["id"] == owner || got["id"] != r.Must(t, "GET", "/containers/"+path, nil)["id"] {
					t.Errorf("the id of the container of %s is %v", path, got["id"])
				}
			}
		})
		t.Run("tasks are put at a position", func(t *testing.T) { testContainerPlaces(t, newRoads(t, p, "Places")) })
		t.Run("a worker's tasks are replaced", func(t *testing.T) { testContainerReplace(t, newRoads(t, p, "Replace")) })
		t.Run("tasks come from wherever they are", func(t *testing.T) { testContainerFrom(t, newRoads(t, p, "From")) })
		t.Run("started and completed tasks do not move", func(t *testing.T) { testContainerStarted(t, newRoads(t, p, "Started")) })
		t.Run("related tasks move together on request", func(t *testing.T) { testContainerFamilies(t, newRoads(t, p, "Families")) })
		t.Run("containers have other paths as well", func(t *testing.T) { testContainerNames(t, newRoads(t, p, "Names")) })
		t.Run("invalid requests are rejected, and nothing moves", func(t *testing.T) { testContainerFaults(t, p, newRoads(t, p, "Faults")) })
		t.Run("concurrent changes of one container lose no task", func(t *testing.T) { testContainerCrowd(t, newRoads(t, p, "Crowd")) })
		t.Run("tasks of a deleted worker or team return to the organization", func(t *testing.T) {
			in := newRoads(t, p, "Leaving")
			kept := in.task(t)
			first, second := in.task(t, workers(in.bob)), in.task(t, workers(in.bob))
			third := in.task(t, `,"container":{"type":"TEAM","team":"`+in.south+`"}`)
			in.Call(t, "DELETE", "/workers/"+in.bob, nil).OK(t)
			in.Call(t, "DELETE", "/teams/"+in.south, nil).OK(t)
			home := string(in.Organization.ID)
			matches(t, in.queue(t, "organizations/"+home), `["`+kept+`","`+first+`","`+second+`","`+third+`"]`)
			matches(t, fields(readTask(t, in.Client, first), "state", "worker", "container"), `[0,null,{"type":"ORGANIZATION","organization":"`+home+`"}]`)
			notFound.check(t, in.Call(t, "GET", "/containers/workers/"+in.bob, nil))
		})
	})
}

// fields returns some fields of a record.
func fields(record map[string]any, names ...string) []any {
	values := make([]any, len(names))
	for i, name := range names {
		values[i] = record[name]
	}
	return values
}

// jsonList returns a list of ids as JSON.
func jsonList(ids ...string) string { return `["` + strings.Join(ids, `","`) + `"]` }

// arrange changes a container and checks that the response is what is read
// afterwards.
func (r roads) arrange(t testing.TB, path, body string) []any {
	t.Helper()
	reply := r.Must(t, "PUT", "/containers/"+path, body)
	matches(t, r.Must(t, "GET", "/containers/"+path, nil), string(encode(t, reply)))
	return reply["tasks"].([]any)
}

func testContainerPlaces(t *testing.T, r roads) {
	org := string(r.Organization.ID)
	for kind, path := range map[string]string{"an organization's": "organizations/" + org, "a team's": "teams/" + r.north, "a worker's": "workers/" + r.ada} {
		t.Run(kind, func(t *testing.T) {
			in := map[string]string{"o": "", "t": `,"container":{"type":"TEAM","team":"` + r.north + `"}`, "w": workers(r.ada)}[path[:1]]
			a, b, c, d := r.task(t, in), r.task(t, in), r.task(t, in), r.task(t, in)
			others := r.queue(t, path)
			others = others[:len(others)-4]
			if len(others) > 0 {
				t.Fatalf("%v are there already", others)
			}
			x, y := r.task(t, `,"container":{"type":"TEAM","team":"`+r.south+`"}`), r.task(t, `,"container":{"type":"TEAM","team":"`+r.south+`"}`)
			for _, step := range []struct {
				sent string
				want []string
			}{
				{`[-1,"` + x + `"]`, []string{a, b, c, d, x}},
				{`[0,"` + y + `"]`, []string{y, a, b, c, d, x}},
				{`[0,"` + x + `","` + d + `"]`, []string{x, d, y, a, b, c}},
				{`[2,"` + c + `"]`, []string{x, d, c, y, a, b}},
				{`[1,"` + x + `"]`, []string{d, x, c, y, a, b}}, // taken out first
				{`[99,"` + d + `"]`, []string{x, c, y, a, b, d}},
				{`[-1,"` + a + `","` + x + `"]`, []string{c, y, b, d, a, x}},
				{`[5,"` + c + `"]`, []string{y, b, d, a, x, c}},
				{`[3]`, []string{y, b, d, a, x, c}},
				{`[-1,"` + y + `","` + b + `","` + d + `","` + a + `","` + x + `","` + c + `"]`, []string{y, b, d, a, x, c}},
			} {
				matches(t, r.arrange(t, path, `{"tasks":`+step.sent+`}`), jsonList(step.want...))
			}
			for _, task := range []string{a, b, c, d, x, y} {
				r.Call(t, "DELETE", "/tasks/"+task, nil).OK(t)
			}
		})
	}
	t.Run("an update is seen in timeLastModified", func(t *testing.T) {
		before := r.Must(t, "GET", "/containers/workers/"+r.bob, nil)
		after := r.Must(t, "PUT", "/containers/workers/"+r.bob, `{"tasks":[-1,"`+r.task(t)+`"]}`)
		if before["timeLastModified"].(float64) >= after["timeLastModified"].(float64) {
			t.Errorf("it went from %v to %v", before["timeLastModified"], after["timeLastModified"])
		}
		matches(t, after["timeCreated"], string(encode(t, before["timeCreated"])))
	})
}

func testContainerReplace(t *testing.T, r roads) {
	org := string(r.Organization.ID)
	path := "workers/" + r.ada
	a, b, c := r.task(t, workers(r.ada)), r.task(t, workers(r.ada)), r.task(t, workers(r.ada))
	x := r.task(t)
	matches(t, r.arrange(t, path, `{"tasks":`+jsonList(c, x, a)+`}`), jsonList(c, x, a))
	matches(t, r.queue(t, "organizations/"+org), jsonList(b)) // left out, and so back in the organization's container
	matches(t, fields(readTask(t, r.Client, b), "state", "worker"), `[0,null]`)
	matches(t, fields(readTask(t, r.Client, x), "state", "worker"), `[1,"`+r.ada+`"]`)
	matches(t, r.arrange(t, path, `{"tasks":`+jsonList(a, x, c)+`}`), jsonList(a, x, c))
	matches(t, r.arrange(t, path, `{"tasks":[]}`), `[]`)
	matches(t, r.queue(t, "organizations/"+org), jsonList(b, a, x, c))
	for _, other := range []string{"organizations/" + org, "teams/" + r.north} {
		invalid.check(t, r.Call(t, "PUT", "/containers/"+other, `{"tasks":`+jsonList(a)+`}`), "tasks", "position")
		invalid.check(t, r.Call(t, "PUT", "/containers/"+other, `{"tasks":[]}`), "tasks")
	}
}

func testContainerFrom(t *testing.T, r roads) {
	org := string(r.Organization.ID)
	home, ofTeam, ofAda, ofBob := r.task(t), r.task(t, `,"container":{"type":"TEAM","team":"`+r.north+`"}`), r.task(t, workers(r.ada)), r.task(t, workers(r.bob))
	matches(t, r.arrange(t, "workers/"+r.bob, `{"tasks":[0,"`+home+`","`+ofTeam+`","`+ofAda+`"]}`), jsonList(home, ofTeam, ofAda, ofBob))
	for _, path := range []string{"organizations/" + org, "teams/" + r.north, "workers/" + r.ada} {
		matches(t, r.queue(t, path), `[]`)
	}
	for _, task := range []string{home, ofTeam, ofAda, ofBob} {
		matches(t, fields(readTask(t, r.Client, task), "state", "worker", "container"), `[1,"`+r.bob+`",{"type":"WORKER","worker":"`+r.bob+`"}]`)
	}
	matches(t, r.Must(t, "GET", "/workers/"+r.bob, nil)["tasks"], jsonList(home, ofTeam, ofAda, ofBob))
	matches(t, r.arrange(t, "teams/"+r.south, `{"tasks":[-1,"`+ofBob+`","`+home+`"]}`), jsonList(ofBob, home))
	matches(t, r.Must(t, "GET", "/teams/"+r.south, nil)["tasks"], jsonList(ofBob, home))
	matches(t, fields(readTask(t, r.Client, home), "state", "worker", "container"), `[0,null,{"type":"TEAM","team":"`+r.south+`"}]`)
}

func testContainerStarted(t *testing.T, r roads) {
	active, done, waiting := r.task(t, workers(r.ada)), r.task(t, workers(r.ada)), r.task(t, workers(r.ada))
	r.complete(t, done, true)
	r.begin(t, active)
	matches(t, fields(r.Must(t, "GET", "/containers/workers/"+r.ada, nil), "activeTask", "tasks"), `["`+active+`",["`+waiting+`"]]`)
	for _, task := range []string{active, done} {
		for _, path := range []string{"workers/" + r.bob, "workers/" + r.ada, "teams/" + r.north} {
			invalid.check(t, r.Call(t, "PUT", "/containers/"+path, `{"tasks":[-1,"`+waiting+`","`+task+`"]}`), task)
		}
	}
	matches(t, r.queue(t, "workers/"+r.ada), jsonList(waiting))
	matches(t, r.arrange(t, "workers/"+r.ada, `{"tasks":[]}`), `[]`) // the active one is not in the list
	matches(t, r.Must(t, "GET", "/containers/workers/"+r.ada, nil)["activeTask"], `"`+active+`"`)
}

func testContainerFamilies(t *testing.T, r roads) {
	depends := func(on ...string) string { return `,"dependencies":` + jsonList(on...) }
	parent := r.task(t)
	child := r.task(t, depends(parent), workers(r.bob))
	grandchild := r.task(t, depends(child), `,"container":{"type":"TEAM","team":"`+r.south+`"}`)
	stranger := r.task(t)
	for i, flag := range []string{`"considerDependencies":true`, `"includeDependencies":true`, `"considerDependencies":"true"`} {
		path := []string{"workers/" + r.ada, "teams/" + r.north, "workers/" + r.bob}[i]
		got := send(t, r.Client, "PUT", "/containers/"+path, `{"tasks":[-1,"`+child+`"],`+flag+`}`).OK(t).Object(t)
		matches(t, got["tasks"], jsonList(parent, child, grandchild)) // parents first
	}
	matches(t, r.arrange(t, "workers/"+r.ada, `{"tasks":[0,"`+child+`"],"considerDependencies":false}`), jsonList(child))
	matches(t, r.queue(t, "workers/"+r.bob), jsonList(parent, grandchild))
	matches(t, r.queue(t, "organizations/"+string(r.Organization.ID)), jsonList(stranger))

	t.Run("parents come first on every path", func(t *testing.T) {
		root := r.task(t)
		left, right := r.task(t, depends(root)), r.task(t, depends(root))
		last := r.task(t, depends(left, right))
		for _, one := range []string{root, left, right, last} {
			list := r.arrange(t, "teams/"+r.north, `{"tasks":[-1,"`+one+`"],"considerDependencies":true}`)
			place := func(id string) int { return slices.Index(list, any(id)) }
			if len(list) != 4 || place(root) != 0 || place(last) != 3 {
				t.Errorf("the family of %s is %v, want %s first and %s last", one, list, root, last)
			}
		}
	})

	r.Must(t, "PUT", "/containers/workers/"+r.bob, `{"tasks":[0,"`+parent+`"]}`)
	r.complete(t, parent, true)
	matches(t, r.arrange(t, "workers/"+r.ada, `{"tasks":`+jsonList(grandchild)+`,"considerDependencies":true}`), jsonList(child, grandchild)) // completed tasks stay
}

func testContainerNames(t *testing.T, r roads) {
	org := string(r.Organization.ID)
	a, b := r.task(t), r.task(t)
	matches(t, r.Must(t, "PUT", "/containers/organization/"+org, `{"tasks":[0,"`+b+`"]}`)["tasks"], jsonList(b, a))
	for owner, kind := range map[string]string{org: "ORGANIZATION", r.south: "TEAM", r.bob: "WORKER"} {
		got := r.Must(t, "PUT", "/containers/"+owner, `{"tasks":[-1,"`+a+`"]}`)
		matches(t, got["type"], `"`+kind+`"`)
		list := got["tasks"].([]any)
		if list[len(list)-1] != a {
			t.Errorf("%s has %v", kind, list)
		}
	}
	matches(t, r.Must(t, "PUT", "/containers/"+r.bob, `{"tasks":[]}`)["tasks"], `[]`)
	cause := notFound.check(t, r.Call(t, "PUT", "/containers/"+unknownID, `{"tasks":[0]}`))
	matches(t, cause, `"Container does not exist."`)
}

func testContainerFaults(t *testing.T, p *apptest.Platform, r roads) {
	theirs := newRoads(t, p, "Zenith")
	a, b := r.task(t, workers(r.ada)), r.task(t, workers(r.ada))
	path := "/containers/workers/" + r.ada
	before := r.Must(t, "GET", path, nil)
	for name, test := range map[string]struct {
		sent  string
		want  rejection
		words []string
	}{
		"no tasks":                    {`{}`, malformed, []string{"tasks"}},
		"no body":                     {``, malformed, []string{"tasks"}},
		"null":                        {`null`, malformed, []string{"tasks"}},
		"null tasks":                  {`{"tasks":null}`, malformed, []string{"tasks"}},
		"one task as a text":          {`{"tasks":"` + a + `"}`, malformed, []string{"tasks"}},
		"a negative position":         {`{"tasks":[-2,"` + b + `"]}`, invalid, []string{"-2"}},
		"half a position":             {`{"tasks":[0.5,"` + b + `"]}`, malformed, []string{"tasks"}},
		"a position as a text":        {`{"tasks":["0","` + b + `"]}`, notFound, []string{"0"}},
		"a huge position":             {`{"tasks":[3000000000,"` + b + `"]}`, malformed, []string{"tasks"}},
		"two positions":               {`{"tasks":[0,1,"` + b + `"]}`, malformed, []string{"tasks"}},
		"a position after a task":     {`{"tasks":["` + b + `",0]}`, malformed, []string{"tasks"}},
		"a task twice":                {`{"tasks":[0,"` + b + `","` + b + `"]}`, invalid, []string{"twice"}},
		"an object":                   {`{"tasks":[0,{"id":"` + b + `"}]}`, malformed, []string{"tasks", "an object"}},
		"an empty task":               {`{"tasks":[0,"` + b + `",""]}`, malformed, []string{"tasks", "empty"}},
		"null among the tasks":        {`{"tasks":[0,null]}`, malformed, []string{"tasks", "null"}},
		"an unknown task":             {`{"tasks":[0,"` + b + `","` + unknownID + `"]}`, notFound, []string{unknownID}},
		"another organization's task": {`{"tasks":[0,"` + b + `","` + theirs.task(t) + `"]}`, outsideScope, nil},
		"an invalid flag":             {`{"tasks":[0,"` + b + `"],"considerDependencies":"yes"}`, malformed, []string{"considerDependencies"}},
	} {
		t.Run(name, func(t *testing.T) {
			test.want.check(t, send(t, r.Client, "PUT", path, test.sent), test.words...)
			matches(t, r.Must(t, "GET", path, nil), string(encode(t, before)))
		})
	}
	for _, method := range []string{"GET", "PUT"} {
		for _, at := range []string{"/containers/workers/" + unknownID, "/containers/teams/" + r.ada, "/containers/workers/" + r.north, "/containers/organizations/x"} {
			matches(t, notFound.check(t, r.Call(t, method, at, `{"tasks":[0]}`)), `"Container does not exist."`)
		}
		for _, at := range []string{"/containers/hubs/" + r.hub, "/containers/worker/" + r.ada} {
			matches(t, invalid.check(t, r.Call(t, method, at, `{"tasks":[0]}`)), `"Invalid container identifier."`)
		}
		for _, at := range []string{"workers/" + theirs.ada, "teams/" + theirs.north, "organizations/" + string(theirs.Organization.ID)} {
			outsideScope.check(t, r.Call(t, method, "/containers/"+at, `{"tasks":[0]}`))
		}
	}
	outsideScope.check(t, r.Call(t, "PUT", "/containers/"+theirs.ada, `{"tasks":[0]}`))
}

func testContainerCrowd(t *testing.T, r roads) {
	const crowd, each = 8, 6
	tasks := r.tasks(t, crowd*each)
	var group sync.WaitGroup
	for n := range crowd {
		group.Go(func() {
			for i := range each {
				task := tasks[n*each+i]
				index := []int{-1, 0, 2}[i%3]
				send(t, r.Client, "PUT", "/containers/workers/"+r.ada, fmt.Sprintf(`{"tasks":[%d,%q]}`, index, task)).OK(t)
			}
		})
	}
	group.Wait()
	got := []string{}
	for _, task := range r.queue(t, "workers/"+r.ada) {
		got = append(got, fmt.Sprint(task))
	}
	slices.Sort(got)
	slices.Sort(tasks)
	if !slices.Equal(got, tasks) {
		t.Errorf("the container has %d tasks, want %d", len(got), len(tasks))
	}
	matches(t, r.queue(t, "organizations/"+string(r.Organization.ID)), `[]`)
}
