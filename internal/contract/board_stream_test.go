package contract_test

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dray/internal/app/apptest"
)

// screen is a client that shows a board and keeps it up to date.
type screen struct {
	mu        sync.Mutex
	board     map[string]any
	tasks     map[string]map[string]any
	workers   map[string]map[string]any
	teams     map[string]map[string]any
	seen      map[string]int // events by name
	positions map[string]map[string]any
	cursor    int
}

// newScreen shows a board.
func newScreen(board map[string]any) *screen {
	return &screen{
		board: board, tasks: records(board, "tasks"), workers: records(board, "workers"), teams: records(board, "teams"), seen: map[string]int{},
		positions: map[string]map[string]any{}, cursor: int(board["cursor"].(float64)),
	}
}

// show applies what a stream sends, until it ends.
func (s *screen) show(events <-chan streamed) {
	for e := range events {
		s.apply(e)
	}
}

func (s *screen) apply(e streamed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[e.event]++
	var body map[string]any
	var list []map[string]any
	if json.Unmarshal([]byte(e.data), &body) != nil {
		_ = json.Unmarshal([]byte(e.data), &list) // it is one of the two
	}
	switch e.event {
	case "containers":
		s.relist(body)
		return
	case "estimates":
		for _, of := range list {
			s.estimate(of)
		}
		return
	case "tasks":
		for _, task := range list {
			if known := s.tasks[fmt.Sprint(task["id"])]; known == nil || known["timeLastModified"].(float64) < task["timeLastModified"].(float64) {
				s.tasks[fmt.Sprint(task["id"])] = task
			}
		}
		return
	case "positions":
		for _, of := range list {
			s.positions[fmt.Sprint(of["worker"])] = of
		}
		return
	}
	s.cursor = e.id
	data, _ := body["data"].(map[string]any)
	if task, ok := data["task"].(map[string]any); ok {
		s.put(e.event, task)
	} else if worker, ok := data["worker"].(map[string]any); ok {
		s.hire(e.event, worker)
	}
}

// put shows a task, unless a newer version is shown.
func (s *screen) put(event string, task map[string]any) {
	id := fmt.Sprint(task["id"])
	if event == "taskDeleted" {
		delete(s.tasks, id)
		return
	}
	known := s.tasks[id]
	if known != nil && known["timeLastModified"].(float64) > task["timeLastModified"].(float64) {
		return
	}
	shown := onBoard(task)
	if known != nil && known["pinned"] != nil && asPlain(known["container"]) == asPlain(shown["container"]) {
		shown["pinned"] = known["pinned"]
	}
	s.tasks[id] = shown
}

func (s *screen) hire(event string, worker map[string]any) {
	id := fmt.Sprint(worker["id"])
	if event == "workerDeleted" {
		delete(s.workers, id)
		return
	}
	if s.workers[id] == nil {
		s.workers[id] = map[string]any{"version": 0.0, "tasks": []any{}, "activeTask": nil}
	}
	for _, name := range []string{"id", "name", "onDuty", "teams"} {
		s.workers[id][name] = worker[name]
	}
}

func (s *screen) relist(body map[string]any) {
	container, _ := body["container"].(map[string]any)
	owner := s.workers[fmt.Sprint(container["worker"])]
	if container["type"] == "TEAM" {
		owner = s.teams[fmt.Sprint(container["team"])]
	}
	if owner == nil || owner["version"].(float64) >= body["version"].(float64) {
		return
	}
	owner["version"], owner["tasks"] = body["version"], body["tasks"]
	if container["type"] == "TEAM" {
		return
	}
	owner["activeTask"] = body["activeTask"]
	pinned, _ := body["pinned"].(map[string]any)
	for id, task := range s.tasks {
		in, _ := task["container"].(map[string]any)
		if in["worker"] != container["worker"] {
			continue // it may have moved on since the list was read
		}
		if pin, ok := pinned[id]; ok {
			task["pinned"] = pin
		} else {
			delete(task, "pinned")
		}
	}
}

func (s *screen) estimate(of map[string]any) {
	if worker := s.workers[fmt.Sprint(of["worker"])]; worker != nil {
		worker["delayTime"] = of["delayTime"]
	}
	tasks, _ := of["tasks"].([]any)
	for _, each := range tasks {
		made, _ := each.(map[string]any)
		task := s.tasks[fmt.Sprint(made["id"])]
		for _, name := range []string{"estimatedArrivalTime", "estimatedCompletionTime", "eta", "delayTime"} {
			if task == nil || task["worker"] != of["worker"] || task["state"] == 3.0 {
				continue // it has left the worker since
			}
			if task[name] = made[name]; made[name] == nil {
				delete(task, name)
			}
		}
	}
}

func asPlain(v any) string {
	data, _ := json.Marshal(v) // it was decoded from JSON
	return string(data)
}

// differences returns where the screen differs from a board.
func (s *screen) differences(board map[string]any) (all []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	compareRecords := func(what string, shown, want map[string]map[string]any, fields []string) {
		for _, id := range slices.Sorted(maps.Keys(want)) {
			if shown[id] == nil {
				all = append(all, fmt.Sprintf("%s %s is not shown", what, id))
				continue
			}
			for _, name := range fields {
				if a, b := asPlain(shown[id][name]), asPlain(want[id][name]); a != b {
					all = append(all, fmt.Sprintf("%s of %s %s is %s, want %s", name, what, id, a, b))
				}
			}
		}
		for _, id := range slices.Sorted(maps.Keys(shown)) {
			if want[id] == nil {
				all = append(all, fmt.Sprintf("%s %s is shown, and should not be", what, id))
			}
		}
	}
	fields := slices.Concat(boardFields, []string{"pinned", "startTime", "completionDetails", "notes", "recipients", "destination"})
	fields = slices.DeleteFunc(fields, func(name string) bool { return name == "delayTime" }) // it grows
	compareRecords("task", s.tasks, records(board, "tasks"), fields)
	compareRecords("worker", s.workers, records(board, "workers"), []string{"name", "onDuty", "teams", "tasks", "activeTask", "version"})
	compareRecords("team", s.teams, records(board, "teams"), []string{"tasks", "version"})
	return all
}

// dispatcher makes random changes.
type dispatcher struct {
	*apptest.Client
	random         *rand.Rand
	workers, teams []string
	phones         map[string]*phone
	n              int
}

func (d *dispatcher) pick(all []string) string { return all[d.random.IntN(len(all))] }

// open returns the ids of tasks in some states, in random order.
func (d *dispatcher) open(t testing.TB, states string) (ids []string) {
	for _, task := range d.Must(t, "GET", "/tasks/all?from=1&state="+states, nil)["tasks"].([]any) {
		ids = append(ids, fmt.Sprint(task.(map[string]any)["id"]))
	}
	d.random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
	return ids
}

// change makes a change, which may be rejected because of another one.
func (d *dispatcher) change(t testing.TB) {
	d.n++
	container := fmt.Sprintf(`{"type":"WORKER","worker":%q}`, d.pick(d.workers))
	if d.random.IntN(4) == 0 {
		container = fmt.Sprintf(`{"type":"TEAM","team":%q}`, d.pick(d.teams))
	}
	method, path, body := "POST", "/tasks", ""
	switch kind := d.random.IntN(15); kind {
	case 0, 1, 2:
		body = fmt.Sprintf(`{"destination":{"address":{"city":"New York","country":"US"},"location":[-74,%f]},"recipients":[]`, 40.7+d.random.Float64()/10)
		switch d.random.IntN(3) {
		case 0:
			body += `,"container":` + container
		case 1:
			body += `,"autoAssign":{"mode":"load"}`
		}
		body += `}`
	case 3:
		ids := d.open(t, "0,1")
		if len(ids) == 0 {
			return
		}
		method, path, body = "PUT", "/tasks/"+ids[0], fmt.Sprintf(`{"container":%s,"notes":"change %d"}`, container, d.n)
	case 4, 5:
		worker := d.pick(d.workers)
		list, _ := d.Must(t, "GET", "/containers/workers/"+worker, nil)["tasks"].([]any)
		ids := d.open(t, "0,1")
		for _, task := range list {
			ids = append(ids, fmt.Sprint(task))
		}
		slices.Sort(ids)
		ids = slices.Compact(ids)
		d.random.Shuffle(len(ids), func(i, j int) { ids[i], ids[j] = ids[j], ids[i] })
		method, path, body = "PUT", "/containers/workers/"+worker, asText(t, map[string]any{"tasks": ids[:min(len(ids), 6)]})
	case 6:
		ids := d.open(t, "0,1")
		if len(ids) == 0 {
			return
		}
		method, path = "DELETE", "/tasks/"+ids[0]
	case 7:
		ids := d.open(t, "0")
		body = asText(t, map[string]any{"tasks": ids[:min(len(ids), 5)], "options": map[string]any{"mode": "load"}})
		path = "/tasks/autoAssign"
	case 8:
		path, body = "/teams/"+d.pick(d.teams)+"/dispatch", `{}`
	case 9:
		ids := d.open(t, "1")
		if len(ids) == 0 {
			return
		}
		method, path, body = "PUT", "/tasks/"+ids[0]+"/pin", `{}`
	case 10, 11, 12:
		// The last task has a container, is rejected, or is like the others.
		place := fmt.Sprintf(`{"destination":{"address":{"city":"New York","country":"US"},"location":[-74,%f]},"recipients":[],"notes":"batch %d"`, 40.7+d.random.Float64()/10, d.n)
		last := []string{`,"container":` + container, `,"quantity":-1`, ``}[kind-10]
		path, body = "/tasks/batch", `{"tasks":[`+place+`},`+place+`},`+place+last+`}]}`
	default:
		d.drive(t)
		return
	}
	if a := send(t, d.Client, method, path, body); a.Status >= 500 {
		t.Errorf("%s %s: %s", method, path, a.Body)
	}
}

// drive starts or completes a task of a worker, who also moves.
func (d *dispatcher) drive(t testing.TB) {
	worker := d.pick(d.workers)
	shown := d.Must(t, "GET", "/workers/"+worker, nil)
	phone, list := d.phones[worker], shown["tasks"].([]any)
	phone.call(t, "POST", "/positions", map[string]any{"positions": []any{map[string]any{"location": []float64{-74, 40.7 + d.random.Float64()/100}, "time": phone.platform.Now().UnixMilli()}}})
	action := fmt.Sprintf("%s %d", worker, d.n)
	switch {
	case shown["activeTask"] != nil:
		phone.try(t, "complete", fmt.Sprint(shown["activeTask"]), action, map[string]any{"success": d.random.IntN(3) > 0})
	case len(list) > 0:
		phone.try(t, "start", fmt.Sprint(list[0]), action, nil)
	}
}

// same waits until all screens show what a new board shows.
func same(t *testing.T, c *apptest.Client, screens []*screen) {
	t.Helper()
	var differences []string
	for begin := time.Now(); time.Since(begin) < 2*time.Minute; time.Sleep(20 * time.Millisecond) {
		final := board(t, c, "")
		differences = nil
		for i, s := range screens {
			for _, text := range s.differences(final) {
				differences = append(differences, fmt.Sprintf("screen %d: %s", i, text))
			}
		}
		if len(differences) == 0 {
			return
		}
	}
	t.Fatal(strings.Join(differences[:min(len(differences), 30)], "\n"))
}

// TestBoardStreamContract changes everything at the same time while clients open boards and
// follow them. In the end each shows what a new board shows, record by record.
func TestBoardStreamContract(t *testing.T) {
	t.Parallel()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		p.RunWebhooks(t)
		c := p.Organization(t, "Acme")
		logging, stop := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() { // as a node does
			for logging.Err() == nil {
				if err := p.Lists.Log(logging); err != nil && logging.Err() == nil {
					t.Error(err)
				}
				if _, err := p.Tracking.RefreshDue(logging); err != nil && logging.Err() == nil {
					t.Error(err)
				}
				time.Sleep(20 * time.Millisecond)
			}
		})
		defer func() {
			stop()
			group.Wait()
		}()
		team, other := driverTeam(t, c, "One", false), driverTeam(t, c, "Two", false)
		phones, workers := map[string]*phone{}, []string{}
		for i := range 4 {
			worker, phone := driver(t, c, []string{team, other}[i%2], fmt.Sprintf("+1212555070%d", i))
			phone.at(t, 40.7)
			phones[worker], workers = phone, append(workers, worker)
		}
		const each = 40
		var (
			screens []*screen
			changes sync.WaitGroup
		)
		open := func() {
			shown := newScreen(board(t, c, ""))
			s := follow(t, c, fmt.Sprintf("?since=%d&lists=1&positions=true", shown.cursor))
			go shown.show(s.events) // until the stream is closed
			screens = append(screens, shown)
		}
		open()
		for n := range 4 {
			d := &dispatcher{Client: c, random: rand.New(rand.NewPCG(7, uint64(n))), workers: workers, teams: []string{team, other}, phones: phones, n: 1_000 * n}
			changes.Go(func() {
				for range each {
					d.change(t)
				}
			})
		}
		for range 4 {
			time.Sleep(100 * time.Millisecond)
			open()
		}
		changes.Wait()
		p.Settle(t)
		open()
		same(t, c, screens)
		first := screens[0]
		first.mu.Lock()
		defer first.mu.Unlock()
		for _, name := range []string{"containers", "tasks", "estimates", "positions", "taskCreated", "taskAssigned", "taskDeleted", "taskStarted"} {
			if first.seen[name] == 0 {
				t.Errorf("no event %s was sent: %v", name, first.seen)
			}
		}
		if len(first.positions) != len(workers) {
			t.Errorf("positions of %d workers", len(first.positions))
		}
	})
}
