package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dray/internal/access"
	"dray/internal/app"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
	"dray/internal/store/storetest"
)

// dispatch is an organization whose tasks are moved by many clients at once,
// through one node with SQLite or three nodes with one PostgreSQL database.
type dispatch struct {
	nodes   []*app.App
	servers []*httptest.Server
	http    *http.Client
	org     lastmile.OrganizationID
	key     string
	team    string
	workers []string
	retried atomic.Int64 // responses 503, which were retried
}

// workerCapacity is the capacity of each worker.
const workerCapacity = 10

func onDispatches(t *testing.T, workers int, test func(t *testing.T, d *dispatch)) {
	t.Run("one node on sqlite", func(t *testing.T) { test(t, newDispatch(t, 1, workers, app.Config{Data: storetest.Folder(t)})) })
	t.Run("three nodes on postgres", func(t *testing.T) {
		test(t, newDispatch(t, 3, workers, app.Config{Data: t.TempDir(), Database: storetest.Postgres(t)}))
	})
}

func newDispatch(t *testing.T, nodes, workers int, c app.Config) *dispatch {
	t.Helper()
	d := &dispatch{http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 256}}}
	t.Cleanup(d.http.CloseIdleConnections)
	for range nodes {
		a, err := app.New(t.Context(), c, slog.New(slog.DiscardHandler), app.Clock, true)
		if err != nil {
			t.Fatal(err)
		}
		server := httptest.NewServer(a.Handler())
		t.Cleanup(func() {
			server.Close()
			if err := a.Stop(context.WithoutCancel(t.Context())); err != nil {
				t.Error(err)
			}
		})
		d.nodes, d.servers = append(d.nodes, a), append(d.servers, server)
	}
	made, err := d.nodes[0].Organizations.Create(t.Context(), lastmile.OrganizationDraft{Name: "Yard", Country: "US", Timezone: "America/New_York"})
	if err != nil {
		t.Fatal(err)
	}
	d.org, d.key = made.Organization.ID, made.APIKey
	d.team = d.id(t, "/teams", `{"name":"Yard","workers":[],"managers":[]}`)
	err = d.nodes[0].Store.Write(t.Context(), func(w *sqlstore.Tx) error {
		d.workers = d.workers[:0]
		for i := range workers {
			worker := lastmile.Worker{
				ID: lastmile.WorkerID(access.RandomSecret(lastmile.IDLength)), Organization: d.org, Created: app.Clock(), Modified: app.Clock(), Name: "W",
				Phone: lastmile.Phone(fmt.Sprintf("+1212555%04d", i)), Teams: []lastmile.TeamID{lastmile.TeamID(d.team)}, Capacity: workerCapacity,
			}
			at := lastmile.Whereabouts{OnDuty: true, Location: &lastmile.Point{Lon: float64(i%7) / 100, Lat: float64(i/7) / 100}}
			if err := errors.Join(w.SaveWorker(t.Context(), worker), w.SaveWhereabouts(t.Context(), d.org, worker.ID, at)); err != nil {
				return err
			}
			d.workers = append(d.workers, string(worker.ID))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// call sends a request to a random node and retries it while nodes are overloaded.
func (d *dispatch) call(t *testing.T, method, path, body string) (int, []byte) {
	t.Helper()
	for try := 0; ; try++ {
		server := d.servers[rand.IntN(len(d.servers))]
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+"/api/v2"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.SetBasicAuth(d.key, "")
		response, err := d.http.Do(request)
		if err != nil {
			t.Errorf("%s %s: %v", method, path, err)
			return 0, nil
		}
		got, err := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode == http.StatusServiceUnavailable && try < 50 {
			d.retried.Add(1)
			time.Sleep(rand.N(50 * time.Millisecond))
			continue
		}
		if err != nil || response.StatusCode >= http.StatusInternalServerError {
			t.Errorf("%s %s: %s %s %v", method, path, response.Status, got, err)
		}
		return response.StatusCode, got
	}
}

func (d *dispatch) must(t *testing.T, method, path, body string) map[string]any {
	t.Helper()
	status, got := d.call(t, method, path, body)
	var object map[string]any
	if err := json.NewDecoder(bytes.NewReader(got)).Decode(&object); status != http.StatusOK || err != nil {
		t.Errorf("%s %s: %d %s %v", method, path, status, got, err)
		return map[string]any{}
	}
	return object
}

func (d *dispatch) id(t *testing.T, path, body string) string {
	t.Helper()
	return fmt.Sprint(d.must(t, "POST", path, body)["id"])
}

// task returns the body of a task at a random location.
func (d *dispatch) task(more string) string {
	return fmt.Sprintf(`{"destination":{"address":{"city":"X","country":"Y"},"location":[%g,%g]},"recipients":[]%s}`,
		float64(rand.IntN(7))/100, float64(rand.IntN(7))/100, more)
}

// texts returns the items of a JSON array as strings.
func texts(list any) []string {
	items, _ := list.([]any)
	all := make([]string, len(items))
	for i, item := range items {
		all[i] = fmt.Sprint(item)
	}
	return all
}

// client moves tasks at random. Heavy tasks are only assigned automatically, which
// respects the capacity; light tasks have no quantity and may go to any worker.
type client struct {
	d           *dispatch
	heavy, idle []string // idle: the heavy tasks created without automatic assignment
	light       []string
	gone        []string // deleted
}

// act makes a random call.
func (m *client) act(t *testing.T) {
	d := m.d
	worker := d.workers[rand.IntN(len(d.workers))]
	pick := func(list []string) string {
		if len(list) == 0 {
			return ""
		}
		return list[rand.IntN(len(list))]
	}
	switch rand.IntN(10) {
	case 0, 1:
		made := d.must(t, "POST", "/tasks", d.task(fmt.Sprintf(`,"quantity":%g,"autoAssign":{"mode":%q}`, 0.5+float64(rand.IntN(6))/2, []string{"distance", "load"}[rand.IntN(2)])))
		m.heavy = append(m.heavy, fmt.Sprint(made["id"]))
	case 2:
		id := d.id(t, "/tasks", d.task(`,"quantity":1.5`))
		m.heavy, m.idle = append(m.heavy, id), append(m.idle, id)
	case 3:
		if len(m.idle) > 0 {
			d.must(t, "POST", "/tasks/autoAssign", `{"tasks":["`+strings.Join(m.idle, `","`)+`"],"options":{"mode":"load"}}`)
		}
	case 4, 5:
		m.light = append(m.light, d.id(t, "/tasks", d.task(`,"container":{"type":"WORKER","worker":"`+worker+`"}`)))
	case 6, 7:
		if task := pick(m.light); task != "" {
			d.must(t, "PUT", "/containers/workers/"+worker, fmt.Sprintf(`{"tasks":[%d,%q]}`, rand.IntN(4)-1, task))
		}
	case 8:
		if task := pick(m.heavy); task != "" { // unassign it
			d.must(t, "PUT", "/containers/"+[]string{"teams/" + d.team, "organizations/" + string(d.org)}[rand.IntN(2)], fmt.Sprintf(`{"tasks":[%d,%q]}`, rand.IntN(3)-1, task))
		}
	default:
		for _, list := range []*[]string{&m.light, &m.heavy} {
			if task := pick(*list); task != "" && rand.IntN(2) == 0 {
				d.call(t, "DELETE", "/tasks/"+task, "")
				isTask := func(id string) bool { return id == task }
				*list, m.idle, m.gone = slices.DeleteFunc(*list, isTask), slices.DeleteFunc(m.idle, isTask), append(m.gone, task)
			}
		}
	}
}

// runClients has clients move tasks and then checks that tasks, containers and
// workers agree.
func runClients(t *testing.T, d *dispatch, count, acts int) {
	clients := make([]*client, count)
	stop := make(chan struct{})
	var watching, moving sync.WaitGroup
	watching.Go(func() { // no worker exceeds the capacity at any time
		for {
			select {
			case <-stop:
				return
			case <-time.After(20 * time.Millisecond):
			}
			d.checkLoads(t)
		}
	})
	begin := time.Now()
	for i := range clients {
		clients[i] = &client{d: d}
		moving.Go(func() {
			for range acts {
				clients[i].act(t)
			}
		})
	}
	moving.Wait()
	close(stop)
	watching.Wait()
	d.checkLoads(t)
	var alive, gone []string
	for _, m := range clients {
		alive, gone = slices.Concat(alive, m.heavy, m.light), append(gone, m.gone...)
	}
	assigned := d.checkTasks(t, alive, gone)
	t.Logf("%d calls in %v, %d retried; %d tasks, %d assigned, %d deleted",
		count*acts, time.Since(begin).Round(time.Millisecond), d.retried.Load(), len(alive), assigned, len(gone))
	if assigned == 0 || len(gone) == 0 {
		t.Error("too few tasks were assigned or deleted to prove anything")
	}
}

// checkLoads fails the test if a worker's load exceeds the capacity.
func (d *dispatch) checkLoads(t *testing.T) {
	t.Helper()
	err := d.nodes[0].Store.Read(t.Context(), func(r *sqlstore.Tx) error {
		queues, err := r.Queues(t.Context(), d.org)
		for worker, queue := range queues {
			load := 0.0
			for _, task := range queue {
				load += task.Quantity
			}
			if load > workerCapacity {
				t.Errorf("worker %s has a load of %g, more than %d", worker, load, workerCapacity)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// checkTasks fails the test unless each task is in exactly the container that it
// names.
func (d *dispatch) checkTasks(t *testing.T, alive, gone []string) (assigned int) {
	t.Helper()
	where := map[string]string{} // containers by task
	for _, owner := range append([]string{"organizations/" + string(d.org), "teams/" + d.team}, prefixed("workers/", d.workers)...) {
		container := d.must(t, "GET", "/containers/"+owner, "")
		list := texts(container["tasks"])
		for _, task := range list {
			if other, twice := where[task]; twice {
				t.Errorf("%s is in the containers of %s and %s", task, other, owner)
			}
			where[task] = owner
		}
		if kind, id, _ := strings.Cut(owner, "/"); kind != "organizations" {
			if shown := texts(d.must(t, "GET", "/"+kind+"/"+id, "")["tasks"]); !slices.Equal(shown, list) {
				t.Errorf("%s shows %v, its container %v", owner, shown, list)
			}
		}
	}
	for _, task := range alive {
		shown := d.must(t, "GET", "/tasks/"+task, "")
		in, _ := shown["container"].(map[string]any)
		owner := strings.ToLower(fmt.Sprint(in["type"])) + "s/" + fmt.Sprint(in[strings.ToLower(fmt.Sprint(in["type"]))])
		if where[task] != owner {
			t.Errorf("%s names the container of %s and is in that of %q", task, owner, where[task])
		}
		worker, isAssigned := strings.CutPrefix(owner, "workers/")
		if isAssigned != (shown["state"] == 1.0) || isAssigned && shown["worker"] != worker || !isAssigned && shown["worker"] != nil {
			t.Errorf("%s is in state %v, assigned to %v, in the container of %s", task, shown["state"], shown["worker"], owner)
		}
		if isAssigned {
			assigned++
		}
		delete(where, task)
	}
	for _, task := range slices.Sorted(maps.Keys(where)) {
		t.Errorf("%s is in the container of %s and was not created by a client", task, where[task])
	}
	for _, task := range gone {
		if status, _ := d.call(t, "GET", "/tasks/"+task, ""); status != http.StatusNotFound {
			t.Errorf("%s was deleted, and GET returns %d", task, status)
		}
	}
	return assigned
}

func prefixed(prefix string, list []string) []string {
	all := make([]string, len(list))
	for i, item := range list {
		all[i] = prefix + item
	}
	return all
}

// TestConcurrentDispatch has 64 clients assign, move and delete tasks of 50 workers
// at once. Afterwards each task is in one container, and no worker's load has
// exceeded the capacity.
func TestConcurrentDispatch(t *testing.T) {
	onDispatches(t, 50, func(t *testing.T, d *dispatch) { runClients(t, d, 64, 8) })
}

// TestContainerHistories has a few clients change the same containers and checks
// that the history is linearizable: one order of the calls explains all responses.
func TestContainerHistories(t *testing.T) {
	onDispatches(t, 3, func(t *testing.T, d *dispatch) {
		for range 3 {
			checkHistory(t, d, 6, 12)
		}
	})
}

// checkHistory checks one history of container changes.
func checkHistory(t *testing.T, d *dispatch, clients, stepsEach int) {
	t.Helper()
	owners := append([]string{"organizations/" + string(d.org), "teams/" + d.team}, prefixed("workers/", d.workers)...)
	start := lists{}
	for i := range 8 {
		in := []string{"", `,"container":{"type":"WORKER","worker":"` + d.workers[0] + `"}`, `,"container":{"type":"TEAM","team":"` + d.team + `"}`}[i%3]
		d.id(t, "/tasks", d.task(in))
	}
	var tasks []string
	for _, owner := range owners {
		start[owner] = texts(d.must(t, "GET", "/containers/"+owner, "")["tasks"])
		tasks = append(tasks, start[owner]...)
	}
	var (
		mu    sync.Mutex
		steps []step
		group sync.WaitGroup
	)
	clock := time.Now()
	for range clients {
		group.Go(func() {
			for range stepsEach {
				begin := int64(time.Since(clock))
				s := d.randomStep(t, owners, tasks)
				s.begin, s.end = begin, int64(time.Since(clock))
				mu.Lock()
				steps = append(steps, s)
				mu.Unlock()
			}
		})
	}
	group.Wait()
	if t.Failed() {
		return
	}
	if fit, ok := linearize(steps, start, len(d.nodes) == 1); !ok {
		var log strings.Builder
		for _, s := range steps {
			fmt.Fprintf(&log, "\n%10d to %10d: %s", s.begin/1000, s.end/1000, s.text)
		}
		t.Errorf("no order explains these responses; at most %d of %d:%s", fit, len(steps), log.String())
	}
	for _, task := range tasks {
		d.call(t, "DELETE", "/tasks/"+task, "")
	}
}

// randomStep makes a random call and returns it as a step.
func (d *dispatch) randomStep(t *testing.T, owners, all []string) step {
	in, task := owners[rand.IntN(len(owners))], all[rand.IntN(len(all))]
	home := owners[0]
	switch rand.IntN(12) {
	case 0, 1, 2: // read
		got := texts(d.must(t, "GET", "/containers/"+in, "")["tasks"])
		return read(0, 0, in, got...)
	case 3, 4: // replace all tasks of a worker
		in = owners[2+rand.IntN(len(owners)-2)]
		other := all[rand.IntN(len(all))]
		list := slices.Compact([]string{task, other})
		got := texts(d.must(t, "PUT", "/containers/"+in, `{"tasks":["`+strings.Join(list, `","`)+`"]}`)["tasks"])
		return step{text: fmt.Sprintf("replace %s by %v: %v", in, list, got), apply: func(before lists, late tasks) []lists {
			after := before.without(list...)
			left := after[in]
			after[in] = list
			return after.put(home, late, func(rest []string) ([]string, bool) { return append(rest, left...), slices.Equal(list, got) })
		}}
	case 5: // create in the organization's container; the response has no list
		return create(0, 0, home, d.id(t, "/tasks", d.task("")))
	case 6: // move by an update of the task
		kind, id, _ := strings.Cut(in, "/")
		kind = strings.TrimSuffix(kind, "s")
		d.must(t, "PUT", "/tasks/"+task, fmt.Sprintf(`{"container":{"type":%q,%q:%q}}`, strings.ToUpper(kind), kind, id))
		return step{text: fmt.Sprintf("move %s to %s", task, in), apply: func(before lists, late tasks) []lists {
			if slices.Contains(before[in], task) {
				return []lists{before} // its position does not change
			}
			return before.without(task).put(in, late, func(list []string) ([]string, bool) { return append(list, task), true })
		}}
	default:
		index := rand.IntN(5) - 1
		got := texts(d.must(t, "PUT", "/containers/"+in, fmt.Sprintf(`{"tasks":[%d,%q]}`, index, task))["tasks"])
		return insert(0, 0, in, index, task, got...)
	}
}
