package contract_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"dray/internal/app/apptest"
)

// timed creates a task and returns its id and the time of its creation.
func (r roads) timed(t testing.TB, more ...string) (id string, created int64) {
	t.Helper()
	made := r.Must(t, "POST", "/tasks", newTask(more...))
	return fmt.Sprint(made["id"]), int64(made["timeCreated"].(float64))
}

func TestTaskListContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		r := newRoads(t, p, "Acme")
		begin := p.Now().UnixMilli()
		t.Run("an organization without tasks has an empty list", func(t *testing.T) {
			matches(t, r.Must(t, "GET", "/tasks/all?from=0", nil), `{"tasks":[]}`)
		})
		testTaskFilters(t, r)
		t.Run("tasks of one millisecond are in the order of their creation", func(t *testing.T) {
			testTasksOfOneMoment(t, newRoads(t, p, "Moment"))
		})
		t.Run("a list shows tasks as they are read", func(t *testing.T) {
			page := r.Must(t, "GET", "/tasks/all?from=0", nil)
			for _, task := range page["tasks"].([]any) {
				matches(t, task, string(encode(t, readTask(t, r.Client, task.(map[string]any)["id"]))))
			}
		})
		t.Run("an invalid parameter is rejected", func(t *testing.T) {
			malformed.check(t, r.Call(t, "GET", "/tasks/all", nil), "from")
			malformed.check(t, r.Call(t, "GET", "/tasks", nil), "from")
			malformed.check(t, r.Call(t, "GET", "/tasks/all?from=", nil), "from")
			for _, name := range []string{"from", "to", "completeBeforeBefore", "completeAfterAfter"} {
				q := url.Values{"from": {"0"}}
				q.Set(name, "yesterday")
				malformed.check(t, r.Call(t, "GET", "/tasks/all?"+q.Encode(), nil), name)
				q.Set(name, "-5")
				invalid.check(t, r.Call(t, "GET", "/tasks/all?"+q.Encode(), nil), name)
				q.Set(name, "99999999999999999")
				invalid.check(t, r.Call(t, "GET", "/tasks/all?"+q.Encode(), nil), name)
			}
			for _, states := range []string{"4", "-1", "1.5", "0,x", "unassigned", "0;1"} {
				invalid.check(t, r.Call(t, "GET", "/tasks/all?from=0&state="+url.QueryEscape(states), nil), "state")
			}
			notFound.check(t, r.Call(t, "GET", "/tasks/all?from=0&lastId="+unknownID, nil))
			notFound.check(t, r.Call(t, "GET", "/tasks/all?from=0&lastId=x", nil))
			invalid.check(t, r.Call(t, "GET", "/tasks/all?from=0&worker=%ff%00", nil), "worker")
			many := strings.TrimSuffix(strings.Repeat(unknownID+",", 501), ",")
			invalid.check(t, r.Call(t, "GET", "/tasks/all?from=0&containers="+many, nil), "containers", "500")
			invalid.check(t, r.Call(t, "GET", "/tasks/all?from=0&dependencies="+many, nil), "dependencies", "100")
		})
		t.Run("a list continues from page to page, even if tasks change meanwhile", func(t *testing.T) { testTaskPages(t, newRoads(t, p, "Pages")) })
		t.Run("another organization's tasks are in no list", func(t *testing.T) {
			theirs := newRoads(t, p, "Zenith")
			task := theirs.task(t, workers(theirs.ada))
			for _, q := range []string{"", "&worker=" + theirs.ada, "&containers=" + theirs.ada, "&containers=" + string(theirs.Organization.ID), "&dependencies=" + task} {
				if got, _ := pageIDs(t, r.Client, fmt.Sprintf("/tasks/all?from=%d%s", begin, q)); slices.Contains(got, task) {
					t.Errorf("%q shows it", q)
				}
			}
			outsideScope.check(t, r.Call(t, "GET", "/tasks/all?from=0&lastId="+task, nil))
		})
	})
}

// testTasksOfOneMoment lists tasks that were all created at the same time.
func testTasksOfOneMoment(t *testing.T, r roads) {
	items := strings.Repeat(","+newTask(), 100)[1:]
	made := r.Must(t, "POST", "/tasks/batch", `{"tasks":[`+items+`]}`)
	var want []string
	for _, task := range made["tasks"].([]any) {
		want = append(want, fmt.Sprint(task.(map[string]any)["id"]))
	}
	got, last := pageIDs(t, r.Client, "/tasks/all?from=0")
	more, _ := pageIDs(t, r.Client, "/tasks/all?from=0&lastId="+fmt.Sprint(last))
	if got = append(got, more...); !slices.Equal(got, want) {
		t.Errorf("made were %v, listed are %v", want, got)
	}
}

func testTaskFilters(t *testing.T, r roads) {
	const hour = 3_600_000
	soon := r.Platform.Now().UnixMilli() + hour
	first, at1 := r.timed(t, fmt.Sprintf(`,"completeAfter":%d,"completeBefore":%d`, soon, soon+hour))
	second, at2 := r.timed(t, `,"container":{"type":"TEAM","team":"`+r.south+`"},"dependencies":["`+first+`"]`)
	third, at3 := r.timed(t, workers(r.ada), fmt.Sprintf(`,"completeBefore":%d,"dependencies":["%s","%s"]`, soon, second, first))
	fourth, at4 := r.timed(t, workers(r.bob))
	fifth, at5 := r.timed(t, workers(r.ada), fmt.Sprintf(`,"completeAfter":%d`, soon+hour))
	r.begin(t, fourth)
	r.complete(t, fifth, true)
	done := int64(readTask(t, r.Client, fifth)["completionDetails"].(map[string]any)["time"].(float64))
	all := []string{first, second, third, fourth, fifth}
	org := string(r.Organization.ID)
	containerID := func(path string) string { return fmt.Sprint(r.Must(t, "GET", "/containers/"+path, nil)["id"]) }
	tests := map[string]struct {
		query string
		want  []string
	}{
		"all":                                         {"from=0", all},
		"from is inclusive":                           {fmt.Sprintf("from=%d", at2), []string{second, third, fourth, fifth}},
		"from is not sooner":                          {fmt.Sprintf("from=%d", at2+1), []string{third, fourth, fifth}},
		"to is exclusive":                             {fmt.Sprintf("from=%d&to=%d", at1, at3), []string{first, second}},
		"to is not later":                             {fmt.Sprintf("from=%d&to=%d", at1, at3+1), []string{first, second, third}},
		"an empty window":                             {fmt.Sprintf("from=%d&to=%d", at2, at2), nil},
		"a window the wrong way round":                {fmt.Sprintf("from=%d&to=%d", at4, at2), nil},
		"times with a fraction":                       {fmt.Sprintf("from=%d.0&to=%d.9", at2, at4), []string{second, third}},
		"… whose plus is not encoded":                 {"from=" + fmt.Sprintf("%e", float64(at1)/2), all},
		"times with an exponent":                      {"from=" + url.QueryEscape(fmt.Sprintf("%e", float64(at1)/2)), all},
		"completed tasks by when they were completed": {fmt.Sprintf("from=%d", done), []string{fifth}},
		"… inclusive":                                 {fmt.Sprintf("from=%d&to=%d", done, done+1), []string{fifth}},
		"… not by when they were created":             {fmt.Sprintf("from=%d&to=%d", at5, at5+1), nil},
		"… exclusive":                                 {fmt.Sprintf("from=%d&to=%d", at1, done), []string{first, second, third, fourth}},
		"… not after":                                 {fmt.Sprintf("from=%d", done+1), nil},
		"in the future":                               {fmt.Sprintf("from=%d", soon), nil},
		"unassigned":                                  {"from=0&state=0", []string{first, second}},
		"assigned":                                    {"from=0&state=1", []string{third}},
		"assigned, as a fraction":                     {"from=0&state=1.0", []string{third}},
		"active":                                      {"from=0&state=2", []string{fourth}},
		"completed":                                   {"from=0&state=3", []string{fifth}},
		"of several states":                           {"from=0&state=3,1,0", []string{first, second, third, fifth}},
		"of states with spaces":                       {"from=0&state=1,%202,%203", []string{third, fourth, fifth}},
		"of states with an encoded comma":             {"from=0&state=1%2C2", []string{third, fourth}},
		"of a state twice":                            {"from=0&state=0,0", []string{first, second}},
		"of a state in a window":                      {fmt.Sprintf("from=%d&state=3&to=%d", at1, done), nil},
		"of a worker":                                 {"from=0&worker=" + r.ada, []string{third, fifth}},
		"of a worker, completed":                      {"from=0&state=3&worker=" + r.ada, []string{fifth}},
		"of a worker in a window":                     {fmt.Sprintf("from=%d&worker=%s", done, r.ada), []string{fifth}},
		"of an unknown worker":                        {"from=0&worker=" + unknownID, nil},
		"of an invalid worker id":                     {"from=0&worker=x", nil},
		"to be completed by":                          {fmt.Sprintf("from=0&completeBeforeBefore=%d", soon+hour), []string{first, third}},
		"… inclusive, to the millisecond":             {fmt.Sprintf("from=0&completeBeforeBefore=%d", soon+hour-1), []string{third}},
		"to be completed from":                        {fmt.Sprintf("from=0&completeAfterAfter=%d", soon), []string{first, fifth}},
		"… inclusive to the millisecond":              {fmt.Sprintf("from=0&completeAfterAfter=%d", soon+1), []string{fifth}},
		"both":                                        {fmt.Sprintf("from=0&completeAfterAfter=%d&completeBeforeBefore=%d", soon, soon+hour), []string{first}},
		"that depend on a task":                       {"from=0&dependencies=" + first, []string{second, third}},
		"that depend on all of several":               {"from=0&dependencies=" + first + "," + second, []string{third}},
		"that depend, as a client writes it":          {"from=0&dependencies=" + url.QueryEscape("["+first+" "+second+"]"), []string{third}},
		"that depend on an unknown task":              {"from=0&dependencies=" + unknownID, nil},
		"in the organization's container":             {"from=0&containers=" + org, []string{first}},
		"in a team's":                                 {"from=0&containers=" + r.south, []string{second}},
		"in a worker's":                               {"from=0&containers=" + r.ada, []string{third}},
		"in a worker's, active":                       {"from=0&containers=" + r.bob, []string{fourth}},
		"in one, by its own id":                       {"from=0&containers=" + containerID("workers/"+r.ada), []string{third}},
		"in some, by their own ids":                   {"from=0&containers=" + containerID("organizations/"+org) + "," + containerID("teams/"+r.south), []string{first, second}},
		"in several":                                  {"from=0&containers=" + r.ada + "," + org + "," + r.ada, []string{first, third}},
		"in an unknown container":                     {"from=0&containers=" + unknownID, nil},
		"containers do not count with a worker":       {"from=0&worker=" + r.bob + "&containers=" + r.south, []string{fourth}},
		"containers do not count with a state":        {"from=0&state=2&containers=" + r.south, []string{fourth}},
		"after a task":                                {"from=0&lastId=" + second, []string{third, fourth, fifth}},
		"after a task, of a state":                    {"from=0&state=0&lastId=" + first, []string{second}},
		"after one that is completed":                 {"from=0&lastId=" + fifth, nil},
		"parameters that have no value":               {"from=0&to=undefined&lastId=undefined&state=null&worker=None", all},
		"parameters that are empty":                   {"from=0&to=&lastId=&state=&worker=&completeBeforeBefore=&completeAfterAfter=&dependencies=&containers=", all},
		"unknown parameters":                          {"from=0&limit=1&unheardOf=x", all},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, path := range []string{"/tasks/all?", "/tasks?"} {
				page := r.Must(t, "GET", path+test.query, nil)
				if _, more := page["lastId"]; more {
					t.Error("the only page has a lastId")
				}
				if got, _ := pageIDs(t, r.Client, path+test.query); !slices.Equal(got, test.want) {
					t.Errorf("%s%s\n got %v\nwant %v", path, test.query, got, test.want)
				}
			}
		})
	}
}

func testTaskPages(t *testing.T, r roads) {
	var made []string
	for range 130 {
		made = append(made, r.task(t))
	}
	r.complete(t, id(t, r.Client, "/tasks", newTask(workers(r.ada))), true) // the 131st
	page := func(after any) ([]string, any) {
		path := "/tasks/all?from=0"
		if after != nil {
			path += "&lastId=" + fmt.Sprint(after)
		}
		return pageIDs(t, r.Client, path)
	}
	first, last := page(nil)
	if len(first) != 64 || last != first[63] {
		t.Fatalf("the first page has %d tasks and lastId %v", len(first), last)
	}
	again, _ := page(nil)
	if !slices.Equal(first, again) {
		t.Error("the same page differs")
	}
	r.Call(t, "DELETE", "/tasks/"+first[63], nil).OK(t) // the task after which the next page continues
	r.Call(t, "DELETE", "/tasks/"+first[3], nil).OK(t)
	more := []string{r.task(t), r.task(t)}
	second, last := page(last)
	if len(second) != 64 || last != second[63] {
		t.Fatalf("the second page has %d tasks and lastId %v", len(second), last)
	}
	r.Must(t, "PUT", "/tasks/"+second[63], `{"notes":"changed","container":{"type":"WORKER","worker":"`+r.bob+`"}}`)
	third, last := page(last)
	if len(third) != 5 || last != nil {
		t.Fatalf("the third page has %d tasks and lastId %v", len(third), last)
	}
	listed := slices.Concat(first, second, third)
	if unique := slices.Compact(slices.Sorted(slices.Values(listed))); len(unique) != len(listed) {
		t.Errorf("of %d tasks %d are different", len(listed), len(unique))
	}
	for _, task := range append(made, more...) {
		if !slices.Contains(listed, task) {
			t.Errorf("%s is on no page", task)
		}
	}
	if end, last := page(listed[len(listed)-1]); len(end) != 0 || last != nil {
		t.Errorf("after the last task come %v", end)
	}
	exact := listed[len(listed)-64:]
	if got, last := page(listed[len(listed)-65]); !slices.Equal(got, exact) || last != nil {
		t.Errorf("the last 64 tasks are a page of %d with lastId %v", len(got), last)
	}
}
