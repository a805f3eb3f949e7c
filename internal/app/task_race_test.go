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
	"dray/internal/store"
	"dray/internal/store/storetest"
)

// dispatch is an organization whose tasks many clients move about at once, through
// one node on SQLite or three on one PostgreSQL database.
type dispatch struct {
	nodes   []*app.App
	servers []*httptest.Server
	http    *http.Client
	org     lastmile.OrganizationID
	key     string
	team    string
	workers []string
	busy    atomic.Int64 // answers that asked to try again
}

// workerCapacity is what each worker can carry.
const workerCapacity = 10

func onDispatches(t *testing.T, workers int, test func(t *testing.T, d *dispatch)) {
	t.Run("one node on sqlite", func(t *testing.T) { test(t, newDispatch(t, 1, workers, app.Config{Data: t.TempDir()})) })
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
	err = d.nodes[0].Store.Write(t.Context(), func(w store.Writer) error {
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

// call sends a request to any node, again for as long as the answer asks for
// it.
func (d *dispatch) call(t *testing.T, method, path, body string) (int, []byte) {
	t.Helper()
	for try := 0; ; try++ {
		server := d.servers[rand.IntN(len(d.servers))]
		request, err := http.NewRequestWithContext(t.Context(), method, server.URL+"/api/v2"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.SetBasicAuth(d.key, "")
		answer, err := d.http.Do(request)
		if err != nil {
			t.Errorf("%s %s: %v", method, path, err)
			return 0, nil
		}
		got, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if answer.StatusCode == http.StatusServiceUnavailable && try < 50 {
			d.busy.Add(1)
			time.Sleep(rand.N(50 * time.Millisecond))
			continue
		}
		if err != nil || answer.StatusCode >= http.StatusInternalServerError {
			t.Errorf("%s %s: %s %s %v", method, path, answer.Status, got, err)
		}
		return answer.StatusCode, got
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

// task is the body of a task somewhere in the yard.
func (d *dispatch) task(more string) string {
	return fmt.Sprintf(`{"destination":{"address":{"city":"X","country":"Y"},"location":[%g,%g]},"recipients":[]%s}`,
		float64(rand.IntN(7))/100, float64(rand.IntN(7))/100, more)
}

// texts are the texts of a list.
func texts(list any) []string {
	items, _ := list.([]any)
	all := make([]string, len(items))
	for i, item := range items {
		all[i] = fmt.Sprint(item)
	}
	return all
}

// client is one of the clients: tasks of some weight are only assigned
// automatically, for which there must be room; weightless ones go anywhere.
type client struct {
	d           *dispatch
	heavy, idle []string // its own; idle are those that nobody has, as far as it knows
	light       []string
	gone        []string
}

// act does something at random.
func (m *client) act(t *testing.T) {
	d := m.d
	worker := d.workers[rand.IntN(len(d.workers))]
	any := func(list []string) string {
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
		if task := any(m.light); task != "" {
			d.must(t, "PUT", "/containers/workers/"+worker, fmt.Sprintf(`{"tasks":[%d,%q]}`, rand.IntN(4)-1, task))
		}
	case 8:
		if task := any(m.heavy); task != "" { // back to where nobody carries it
			d.must(t, "PUT", "/containers/"+[]string{"teams/" + d.team, "organizations/" + string(d.org)}[rand.IntN(2)], fmt.Sprintf(`{"tasks":[%d,%q]}`, rand.IntN(3)-1, task))
		}
	default:
		for _, list := range []*[]string{&m.light, &m.heavy} {
			if task := any(*list); task != "" && rand.IntN(2) == 0 {
				d.call(t, "DELETE", "/tasks/"+task, "")
				forget := func(id string) bool { return id == task }
				*list, m.idle, m.gone = slices.DeleteFunc(*list, forget), slices.DeleteFunc(m.idle, forget), append(m.gone, task)
			}
		}
	}
}

// runClients lets clients move tasks about and then looks for anything that does
// not agree with the rest.
func runClients(t *testing.T, d *dispatch, count, acts int) {
	clients := make([]*client, count)
	stop := make(chan struct{})
	var watching, moving sync.WaitGroup
	watching.Go(func() { // nobody carries too much, at any time
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
	t.Logf("%d calls in %v, %d told to try again; %d tasks, %d with a worker, %d deleted",
		count*acts, time.Since(begin).Round(time.Millisecond), d.busy.Load(), len(alive), assigned, len(gone))
	if assigned == 0 || len(gone) == 0 {
		t.Error("too little happened")
	}
}

// checkLoads fails the test when somebody carries more than there is room for.
func (d *dispatch) checkLoads(t *testing.T) {
	t.Helper()
	err := d.nodes[0].Store.Read(t.Context(), func(r store.Reader) error {
		queues, err := r.Queues(t.Context(), d.org)
		for worker, queue := range queues {
			load := 0.0
			for _, task := range queue {
				load += task.Quantity
			}
			if load > workerCapacity {
				t.Errorf("worker %s carries %g of %d", worker, load, workerCapacity)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// checkTasks fails the test unless each task is where it says it is, once.
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
			t.Errorf("%s says that it is in the container of %s, and is in that of %q", task, owner, where[task])
		}
		worker, isAssigned := strings.CutPrefix(owner, "workers/")
		if isAssigned != (shown["state"] == 1.0) || isAssigned && shown["worker"] != worker || !isAssigned && shown["worker"] != nil {
			t.Errorf("%s is in state %v, of %v, in the container of %s", task, shown["state"], shown["worker"], owner)
		}
		if isAssigned {
			assigned++
		}
		delete(where, task)
	}
	for _, task := range slices.Sorted(maps.Keys(where)) {
		t.Errorf("%s is in the container of %s, and nobody made it", task, where[task])
	}
	for _, task := range gone {
		if status, _ := d.call(t, "GET", "/tasks/"+task, ""); status != http.StatusNotFound {
			t.Errorf("%s was deleted, and is there: %d", task, status)
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

// TestConcurrentDispatch lets 64 clients assign, move and delete tasks of 50 workers
// at once.
func TestConcurrentDispatch(t *testing.T) {
	onDispatches(t, 50, func(t *testing.T, d *dispatch) { runClients(t, d, 64, 8) })
}

// TestContainerHistories lets a few clients change the same few containers and
// finds an order in which each answer was true when it was given.
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
		t.Errorf("no order explains these answers; at most %d of %d fit:%s", fit, len(steps), log.String())
	}
	for _, task := range tasks {
		d.call(t, "DELETE", "/tasks/"+task, "")
	}
}

// randomStep does one thing to containers and returns what that means for their
// lists.
func (d *dispatch) randomStep(t *testing.T, owners, all []string) step {
	in, task := owners[rand.IntN(len(owners))], all[rand.IntN(len(all))]
	home := owners[0]
	switch rand.IntN(12) {
	case 0, 1, 2: // read
		got := texts(d.must(t, "GET", "/containers/"+in, "")["tasks"])
		return read(0, 0, in, got...)
	case 3, 4: // replace all that a worker has
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
	case 5: // create in the organization's container, without a look at it
		return create(0, 0, home, d.id(t, "/tasks", d.task("")))
	case 6: // move by an update of the task
		kind, id, _ := strings.Cut(in, "/")
		kind = strings.TrimSuffix(kind, "s")
		d.must(t, "PUT", "/tasks/"+task, fmt.Sprintf(`{"container":{"type":%q,%q:%q}}`, strings.ToUpper(kind), kind, id))
		return step{text: fmt.Sprintf("move %s to %s", task, in), apply: func(before lists, late tasks) []lists {
			if slices.Contains(before[in], task) {
				return []lists{before} // it stays where it is
			}
			return before.without(task).put(in, late, func(list []string) ([]string, bool) { return append(list, task), true })
		}}
	default:
		index := rand.IntN(5) - 1
		got := texts(d.must(t, "PUT", "/containers/"+in, fmt.Sprintf(`{"tasks":[%d,%q]}`, index, task))["tasks"])
		return insert(0, 0, in, index, task, got...)
	}
}
