package contract_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"dray/internal/app/apptest"
)

// TestSequenceContract sends organizations random sequences of valid and invalid requests.
// After each request, everything that can be read must be what a small model of the API
// predicts.
func TestSequenceContract(t *testing.T) {
	t.Parallel()
	liveThrough(t, 3, 100)
}

// liveThrough sends random requests to a number of organizations, a number of steps each.
func liveThrough(t *testing.T, organizations, steps int) {
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		for seed := range organizations {
			t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { newTwin(t, p, seed).live(t, steps) })
		}
	})
}

// twin is a model of an organization: what it must look like after all requests so far.
type twin struct {
	*apptest.Client
	random  *rand.Rand
	tasks   map[string]*twinTask
	made    []string            // existing tasks, in order of creation
	gone    []string            // ids of tasks that do not exist
	lists   map[string][]string // tasks of each container, by its path
	home    string              // path of the organization's container
	workers map[string]*twinWorker
	count   int // for names and actions that must be unique
	said    []string
}

type twinTask struct {
	created       float64
	state         int
	in            string // path of its container
	worker        string
	notes         string
	quantity      float64
	after, before int // windows, in minutes of a far day
	pickup        bool
	dependencies  []string
	label         int // metadata; 0 is none
	success       bool
}

type twinWorker struct {
	phone  *phone
	onDuty bool
	active string
}

// farDay is a day in 2090, in milliseconds.
const farDay = 3786912000000

func newTwin(t testing.TB, p *apptest.Platform, seed int) *twin {
	t.Helper()
	w := &twin{
		Client: p.Organization(t, fmt.Sprint("Twin ", seed)), random: rand.New(rand.NewPCG(uint64(seed), 3)),
		tasks: map[string]*twinTask{}, lists: map[string][]string{}, workers: map[string]*twinWorker{}, gone: []string{unknownID},
		count: seed * 1000,
	}
	w.home = "organizations/" + string(w.Organization.ID)
	w.lists[w.home] = nil
	for range 2 {
		w.found(t)
	}
	for range 3 {
		w.hire(t)
	}
	return w
}

// live makes random requests, and compares after each.
func (w *twin) live(t *testing.T, steps int) {
	acts := []func(testing.TB){
		w.create, w.create, w.create, w.create, w.update, w.update, w.update, w.arrange, w.arrange, w.arrange, w.start, w.start,
		w.complete, w.complete, w.clone, w.batch, w.remove, w.duty, w.leave,
	}
	for range steps {
		acts[w.random.IntN(len(acts))](t)
		w.compare(t)
		if t.Failed() {
			t.Fatalf("after:\n%s", strings.Join(w.said, "\n"))
		}
	}
}

// call sends a request and fails the test unless it is rejected with want, or accepted if
// want is zero.
func (w *twin) call(t testing.TB, want rejection, method, path string, body any) (response apptest.Response, taken bool) {
	t.Helper()
	w.said = append(w.said, fmt.Sprintf("%s %s %s, want %v", method, path, encode(t, body), want))
	response = send(t, w.Client, method, path, string(encode(t, body)))
	return response, w.assess(t, want, response)
}

func (w *twin) assess(t testing.TB, want rejection, response apptest.Response) (taken bool) {
	t.Helper()
	if want != (rejection{}) {
		want.check(t, response)
		return false
	}
	if response.Status != 200 {
		t.Errorf("responded with %d: %s", response.Status, response.Body)
	}
	return response.Status == 200
}

// chance returns true once in n times.
func (w *twin) chance(n int) bool { return w.random.IntN(n) == 0 }

// any returns a random element of a list.
func (w *twin) any(list []string) string { return list[w.random.IntN(len(list))] }

// some returns a few tasks, rarely with one that does not exist or one that is listed
// twice.
func (w *twin) some(most int) []string {
	list := []string{}
	for range w.random.IntN(most + 1) {
		task := w.one()
		if slices.Contains(list, task) && !w.chance(4) {
			continue
		}
		list = append(list, task)
	}
	return list
}

// one returns a task, rarely one that does not exist.
func (w *twin) one() string {
	if len(w.made) == 0 || w.chance(15) {
		return w.any(w.gone)
	}
	return w.any(w.made)
}

// container returns the path of a random container.
func (w *twin) container() string { return w.any(slices.Sorted(maps.Keys(w.lists))) }

// ref returns a container as tasks show it.
func ref(path string) map[string]any {
	kind, owner, _ := strings.Cut(path, "/")
	kind = strings.TrimSuffix(kind, "s")
	return map[string]any{"type": strings.ToUpper(kind), kind: owner}
}

// take removes a task from its list.
func (w *twin) take(id string) {
	if list, ok := w.lists[w.tasks[id].in]; ok {
		w.lists[w.tasks[id].in] = slices.DeleteFunc(list, func(other string) bool { return other == id })
	}
}

// enter puts a task into a container, at an index or at the end.
func (w *twin) enter(id, path string, index int) {
	w.take(id)
	task, list := w.tasks[id], w.lists[path]
	if index < 0 || index > len(list) {
		index = len(list)
	}
	w.lists[path] = slices.Insert(list, index, id)
	task.in, task.worker, task.state = path, "", 0
	if worker, ok := strings.CutPrefix(path, "workers/"); ok {
		task.worker, task.state = worker, 1
	}
}

// born adds a task that was just created.
func (w *twin) born(t testing.TB, shown map[string]any, task twinTask) {
	t.Helper()
	id := fmt.Sprint(shown["id"])
	at := task.in
	task.in = ""
	task.created, _ = shown["timeCreated"].(float64)
	w.tasks[id], w.made = &task, append(w.made, id)
	slices.SortFunc(w.made, func(a, b string) int {
		return cmp.Or(cmp.Compare(w.tasks[a].created, w.tasks[b].created), cmp.Compare(a, b))
	})
	w.enter(id, at, -1)
	w.compareTask(t, id, shown)
}

// details changes random fields of a task. It returns them as a request sends them, and the
// error that the API must return.
func (w *twin) details(id string, task *twinTask) (sent map[string]any, want rejection) {
	sent = map[string]any{}
	if w.chance(2) {
		w.count++
		task.notes = fmt.Sprint("note ", w.count)
		sent["notes"] = task.notes
	}
	if w.chance(3) {
		task.label = 1 + w.random.IntN(9)
		sent["metadata"] = []any{map[string]any{"name": "label", "type": "number", "value": task.label}}
	}
	if task.state > 1 {
		if task.state > 2 {
			delete(sent, "notes") // it may be sent, and would be ignored
		}
		return sent, want
	}
	if w.chance(4) {
		task.quantity = float64(w.random.IntN(7)) / 2
		sent["quantity"] = task.quantity
	}
	if w.chance(5) {
		task.pickup = !task.pickup
		sent["pickupTask"] = task.pickup
	}
	for name, minute := range map[string]*int{"completeAfter": &task.after, "completeBefore": &task.before} {
		if w.chance(4) {
			*minute = w.random.IntN(4)
			sent[name] = minutes(*minute)
		}
	}
	if task.after != 0 && task.before != 0 && task.after >= task.before {
		want = invalid
	}
	if w.chance(3) {
		task.dependencies = unique(w.some(3))
		sent["dependencies"] = task.dependencies
		if want == (rejection{}) {
			want = w.checkDependencies(id, task.dependencies)
		}
	}
	return sent, want
}

func unique(list []string) []string {
	once := []string{}
	for _, item := range list {
		if !slices.Contains(once, item) {
			once = append(once, item)
		}
	}
	return once
}

// minutes returns a time of the far day, or nil for 0.
func minutes(n int) any {
	if n == 0 {
		return nil
	}
	return farDay + n*60_000
}

// checkDependencies returns the error of the API for the dependencies of a task.
func (w *twin) checkDependencies(id string, on []string) rejection {
	switch {
	case slices.Contains(on, id):
		return invalid
	case slices.ContainsFunc(on, func(task string) bool { return w.tasks[task] == nil }):
		return notFound
	case slices.ContainsFunc(on, func(task string) bool { return w.reaches(task, id) }):
		return invalid
	}
	return rejection{}
}

// reaches reports whether a task depends on another, directly or not.
func (w *twin) reaches(from, to string) bool {
	return slices.ContainsFunc(w.tasks[from].dependencies, func(parent string) bool { return parent == to || w.reaches(parent, to) })
}

// draft returns a random task, the request that creates it, and the error that the API must
// return.
func (w *twin) draft() (task twinTask, body map[string]any, want rejection) {
	task.in = w.home
	body, want = w.details("", &task)
	body["destination"] = map[string]any{"address": map[string]any{"city": "X", "country": "Y"}, "location": []float64{-73.98, 40.75}}
	body["recipients"] = []any{}
	if w.chance(2) {
		task.in = w.container()
		body["container"] = ref(task.in)
	}
	if want == (rejection{}) && w.chance(20) {
		delete(body, "destination")
		want = malformed
	}
	return task, body, want
}

func (w *twin) create(t testing.TB) {
	task, body, want := w.draft()
	if response, taken := w.call(t, want, "POST", "/tasks", body); taken {
		w.born(t, response.Object(t), task)
	}
}

func (w *twin) batch(t testing.TB) {
	var (
		bodies []any
		drafts []twinTask
		errors []float64
	)
	for range 1 + w.random.IntN(4) {
		task, body, want := w.draft()
		bodies = append(bodies, body)
		if want == (rejection{}) {
			drafts = append(drafts, task)
		} else {
			errors = append(errors, float64(want.subcode))
		}
	}
	response, taken := w.call(t, rejection{}, "POST", "/tasks/batch", map[string]any{"tasks": bodies})
	if !taken {
		return
	}
	result := response.Object(t)
	var codes []float64
	for _, fault := range objects(t, result["errors"]) {
		codes = append(codes, fault["error"].(map[string]any)["error"].(float64))
	}
	if made := objects(t, result["tasks"]); len(made) == len(drafts) {
		for i, shown := range made {
			w.born(t, shown, drafts[i])
		}
	} else {
		t.Errorf("%d tasks were made, want %d: %v", len(made), len(drafts), result["errors"])
	}
	if !slices.Equal(codes, errors) {
		t.Errorf("the errors are %v, want %v", codes, errors)
	}
}

func (w *twin) update(t testing.TB) {
	id := w.one()
	if w.tasks[id] == nil {
		w.call(t, notFound, "PUT", "/tasks/"+id, map[string]any{"notes": "x"})
		return
	}
	changed := *w.tasks[id]
	body, want := w.details(id, &changed)
	to := ""
	if w.chance(3) {
		to = w.container()
		body["container"] = ref(to)
	}
	response, taken := w.call(t, want, "PUT", "/tasks/"+id, body)
	if !taken {
		return
	}
	if changed.state > 2 {
		changed.notes = w.tasks[id].notes
	}
	*w.tasks[id] = changed
	if to != "" && to != changed.in && changed.state < 2 {
		w.enter(id, to, -1)
	}
	w.compareTask(t, id, response.Object(t))
}

func (w *twin) clone(t testing.TB) {
	id := w.one()
	options := map[string]any{"includeMetadata": w.chance(2), "includeDependencies": w.chance(2)}
	if w.tasks[id] == nil {
		w.call(t, notFound, "POST", "/tasks/"+id+"/clone", map[string]any{"options": options})
		return
	}
	task := *w.tasks[id]
	task.in, task.success = w.home, false
	if options["includeMetadata"] == false {
		task.label = 0
	}
	if options["includeDependencies"] == false {
		task.dependencies = nil
	}
	if w.chance(2) {
		w.count++
		task.notes = fmt.Sprint("clone ", w.count)
		options["overrides"] = map[string]any{"notes": task.notes}
	}
	if response, taken := w.call(t, rejection{}, "POST", "/tasks/"+id+"/clone", map[string]any{"options": options}); taken {
		shown := response.Object(t)
		has(t, shown, "sourceTaskId", id)
		w.born(t, shown, task)
	}
}

func (w *twin) remove(t testing.TB) {
	id, want := w.one(), rejection{}
	switch task := w.tasks[id]; {
	case task == nil:
		want = notFound
	case task.state > 1:
		want = invalid
	}
	if _, taken := w.call(t, want, "DELETE", "/tasks/"+id, nil); !taken {
		return
	}
	w.take(id)
	is := func(other string) bool { return other == id }
	w.made = slices.DeleteFunc(w.made, is)
	w.gone = append(w.gone, id)
	delete(w.tasks, id)
	for _, task := range w.tasks {
		task.dependencies = slices.DeleteFunc(slices.Clone(task.dependencies), is)
	}
}

func (w *twin) arrange(t testing.TB) {
	path, ids := w.container(), w.some(4)
	index, replace := w.random.IntN(6)-1, w.chance(4)
	sent := map[string]any{"tasks": ids}
	if !replace {
		sent["tasks"] = slices.Insert(anys(ids), 0, any(index))
	}
	families := w.chance(3)
	if families {
		sent["considerDependencies"] = true
	}
	want := rejection{}
	unfit := func(id string) bool { return w.tasks[id].state > 1 }
	switch {
	case replace && !strings.HasPrefix(path, "workers/"), len(unique(ids)) != len(ids):
		want = invalid
	case slices.ContainsFunc(ids, func(id string) bool { return w.tasks[id] == nil }):
		want = notFound
	case slices.ContainsFunc(ids, unfit):
		want = invalid
	}
	response, taken := w.call(t, want, "PUT", "/containers/"+path, sent)
	if !taken {
		return
	}
	if families {
		ids = slices.DeleteFunc(w.families(ids), unfit)
	}
	if replace {
		index = 0
		for _, id := range slices.Clone(w.lists[path]) {
			if !slices.Contains(ids, id) {
				w.enter(id, w.home, -1)
			}
		}
	}
	for _, id := range ids { // all are taken out, then put in
		w.take(id)
	}
	for i, id := range ids {
		at := index
		if index >= 0 {
			at = min(index+i, len(w.lists[path]))
		}
		w.enter(id, path, at)
	}
	matches(t, response.Object(t)["tasks"], string(encode(t, anys(w.lists[path]))))
}

// families returns tasks with all related tasks, from the nearest to the farthest, each
// after its parents.
func (w *twin) families(ids []string) (all []string) {
	parents := func(id string) []string { return slices.Sorted(slices.Values(w.tasks[id].dependencies)) }
	children := func(id string) []string {
		return slices.Sorted(func(yield func(string) bool) {
			for _, task := range w.made {
				if slices.Contains(w.tasks[task].dependencies, id) && !yield(task) {
					return
				}
			}
		})
	}
	found, listed := map[string]bool{}, map[string]bool{}
	var list func(id string)
	list = func(id string) {
		if listed[id] {
			return
		}
		listed[id] = true
		for _, parent := range parents(id) {
			list(parent)
		}
		all = append(all, id)
	}
	for _, id := range ids {
		var family []string
		for next := []string{id}; len(next) > 0; next = next[1:] {
			if near := next[0]; !found[near] {
				found[near], family = true, append(family, near)
				next = slices.Concat(next, parents(near), children(near))
			}
		}
		for _, one := range family {
			list(one)
		}
	}
	return all
}

func anys(list []string) []any {
	all := make([]any, len(list))
	for i, item := range list {
		all[i] = item
	}
	return all
}

// start makes a worker start one of its own tasks, or rarely any other task.
func (w *twin) start(t testing.TB) {
	worker := w.any(slices.Sorted(maps.Keys(w.workers)))
	who, id := w.workers[worker], w.one()
	if own := w.lists["workers/"+worker]; len(own) > 0 && !w.chance(6) {
		id = w.any(own)
	}
	task, want := w.tasks[id], rejection{}
	switch {
	case task == nil:
		want = notFound
	case task.worker != worker:
		want = outsideScope
	case !who.onDuty, who.active != "", task.state != 1,
		slices.ContainsFunc(task.dependencies, func(on string) bool { return w.tasks[on].state != 3 }):
		want = invalid
	}
	if w.act(t, want, worker, "start", id, nil) {
		w.take(id)
		task.state, who.active = 2, id
	}
}

func (w *twin) act(t testing.TB, want rejection, worker, verb, task string, more map[string]any) (taken bool) {
	t.Helper()
	w.count++
	w.said = append(w.said, fmt.Sprintf("%s: %s %s %v, want %v", worker, verb, task, more, want))
	return w.assess(t, want, w.workers[worker].phone.try(t, verb, task, fmt.Sprint("action ", w.count), more))
}

// complete has an active task completed by its worker or by the dispatcher, or tries to
// complete another task.
func (w *twin) complete(t testing.TB) {
	id := w.one()
	for _, worker := range slices.Sorted(maps.Keys(w.workers)) {
		if active := w.workers[worker].active; active != "" && !w.chance(3) {
			id = active
		}
	}
	task, want := w.tasks[id], rejection{}
	switch {
	case task == nil:
		want = notFound
	case task.state != 2:
		want = invalid
	}
	success, taken := w.chance(2), false
	if want == (rejection{}) && w.chance(2) {
		taken = w.act(t, want, task.worker, "complete", id, map[string]any{"success": success})
	} else {
		_, taken = w.call(t, want, "POST", "/tasks/"+id+"/complete", map[string]any{"completionDetails": map[string]any{"success": success}})
	}
	if taken {
		w.workers[task.worker].active = ""
		task.state, task.in, task.success = 3, "", success
	}
}

func (w *twin) duty(t testing.TB) {
	worker := w.any(slices.Sorted(maps.Keys(w.workers)))
	who := w.workers[worker]
	who.onDuty = !who.onDuty
	who.phone.call(t, "PUT", "/duty", map[string]any{"onDuty": who.onDuty}).OK(t)
}

// leave deletes a worker or a team, and creates another.
func (w *twin) leave(t testing.TB) {
	path, want := w.container(), rejection{}
	kind, id, _ := strings.Cut(path, "/")
	switch {
	case kind == "organizations":
		return
	case kind == "workers" && w.workers[id].active != "":
		want = invalid
	}
	if _, taken := w.call(t, want, "DELETE", "/"+path, nil); !taken {
		return
	}
	for _, task := range slices.Clone(w.lists[path]) {
		w.enter(task, w.home, -1)
	}
	delete(w.lists, path)
	w.call(t, notFound, "GET", "/containers/"+path, nil)
	if kind == "teams" {
		w.found(t)
		return
	}
	delete(w.workers, id)
	w.hire(t)
}

// found creates a team.
func (w *twin) found(t testing.TB) {
	t.Helper()
	w.count++
	w.lists["teams/"+id(t, w.Client, "/teams", fmt.Sprintf(`{"name":"Team %d","workers":[],"managers":[]}`, w.count))] = nil
}

// hire creates a worker of a random team, who goes on duty.
func (w *twin) hire(t testing.TB) {
	t.Helper()
	w.count++
	teams := slices.DeleteFunc(slices.Sorted(maps.Keys(w.lists)), func(path string) bool { return !strings.HasPrefix(path, "teams/") })
	worker, phone := hire(t, w.Client, strings.TrimPrefix(w.any(teams), "teams/"), fmt.Sprintf("+1212%07d", 5550000+w.count))
	phone.call(t, "PUT", "/duty", map[string]any{"onDuty": true}).OK(t)
	w.lists["workers/"+worker] = nil
	w.workers[worker] = &twinWorker{phone: phone, onDuty: true}
}

// compare reads everything and compares it with the model.
func (w *twin) compare(t testing.TB) {
	t.Helper()
	for path, list := range w.lists {
		active := any(nil)
		if who := w.workers[strings.TrimPrefix(path, "workers/")]; who != nil && who.active != "" {
			active = who.active
		}
		got := w.Must(t, "GET", "/containers/"+path, nil)
		matches(t, []any{got["tasks"], got["activeTask"]}, string(encode(t, []any{anys(list), active})))
	}
	var listed []string
	for last := ""; ; {
		page := w.Must(t, "GET", "/tasks/all?from=1&lastId="+last, nil)
		for _, shown := range objects(t, page["tasks"]) {
			id := fmt.Sprint(shown["id"])
			listed = append(listed, id)
			if w.tasks[id] != nil {
				w.compareTask(t, id, shown)
			}
		}
		if page["lastId"] == nil {
			break
		}
		last = fmt.Sprint(page["lastId"])
	}
	if !slices.Equal(listed, w.made) {
		t.Errorf("the tasks are %v, want %v", listed, w.made)
	}
	for _, shown := range list(t, w.Client, "/workers") {
		who, active := w.workers[fmt.Sprint(shown["id"])], any(nil)
		if who == nil {
			t.Errorf("there is a worker %v", shown["id"])
			continue
		}
		tasks := anys(w.lists[fmt.Sprint("workers/", shown["id"])])
		if who.active != "" {
			active = who.active
		}
		matches(t, fields(shown, "onDuty", "activeTask", "tasks"), string(encode(t, []any{who.onDuty, active, tasks})))
	}
}

// compareTask compares a task of the model with a response.
func (w *twin) compareTask(t testing.TB, id string, shown map[string]any) {
	t.Helper()
	task := w.tasks[id]
	want := map[string]any{
		"id": id, "state": task.state, "worker": nil, "notes": task.notes, "quantity": task.quantity, "pickupTask": task.pickup,
		"completeAfter": minutes(task.after), "completeBefore": minutes(task.before), "dependencies": anys(task.dependencies), "metadata": []any{},
	}
	if task.worker != "" {
		want["worker"] = task.worker
	}
	if task.label != 0 {
		want["metadata"] = []any{map[string]any{"name": "label", "type": "number", "value": task.label, "visibility": []any{"api"}}}
	}
	if task.state < 3 {
		want["container"] = ref(task.in)
	} else {
		want["success"] = task.success
	}
	got := maps.Clone(shown)
	if success, done := shown["completionDetails"].(map[string]any)["success"]; done {
		got["success"] = success
	}
	maps.DeleteFunc(got, func(key string, _ any) bool {
		_, known := want[key]
		return !known && key != "container" && key != "success"
	})
	for _, fault := range faults(t, got, string(encode(t, want))) {
		t.Errorf("task %s: %s", id, fault)
	}
}
