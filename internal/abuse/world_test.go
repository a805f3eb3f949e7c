package abuse

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// tenant is an organization with two workers, one of them signed in.
type tenant struct {
	*client
	number  int
	org     string
	team    string
	workers []string
	phone   string  // phone number of the worker who is signed in
	session *client // client of that worker
	device  any     // token of the device of that worker
	link    string  // path of the tracking page of a completed task

	// Set by the preparations of attacks, except for anonymous.
	tasks     []string  // tasks to move
	planTasks []string  // tasks of a route plan
	crewTasks []string  // tasks to assign automatically
	service   string    // a delivery service
	shops     []*client // clients of the organization
	anonymous *client   // without credentials, at another network address

	// Set by the preparations of attacks, except for planned.
	changed    string                 // a task with a long history
	dispatched string                 // a team with tasks to dispatch
	planned    atomic.Pointer[string] // the last dispatch of that team
	hook       string                 // a webhook with many notifications
}

const password = "correct horse battery"

func bearer(signedIn reply) string { return fmt.Sprint("Bearer ", signedIn.object()["token"]) }

// taskBody returns a new task.
func taskBody(notes string) map[string]any {
	return map[string]any{
		"destination": map[string]any{
			"address":  map[string]any{"number": "1", "street": "Main Street", "city": "New York", "country": "US"},
			"location": []float64{-74, 40.7},
		},
		"recipients": []any{}, "notes": notes,
	}
}

var temporary = regexp.MustCompile(`temporary password (\S+) within`)

// newTenant creates an organization.
func newTenant(t *testing.T, s *server, number int) *tenant {
	t.Helper()
	var made struct {
		Organization struct{ ID string }
		APIKey       string
	}
	s.run(t, &made, "org", "create", "--name", fmt.Sprint("Organization ", number), "--country", "US", "--timezone", "America/New_York")
	from := fmt.Sprintf("203.0.113.%d", number)
	o := &tenant{
		client: newClient(s, from, keyOf(made.APIKey)), number: number, org: made.Organization.ID,
		anonymous: newClient(s, fmt.Sprintf("198.51.100.%d", number), ""),
		phone:     fmt.Sprintf("+1212555%04d", number*1000),
	}
	o.anonymous.statuses = o.statuses
	o.team = o.must(t, "/api/v2/teams", map[string]any{"name": "Team", "workers": []any{}, "managers": []any{}, "enableSelfAssignment": true}).id()
	for i := range 2 {
		worker := map[string]any{"name": fmt.Sprint("Worker ", i), "phone": fmt.Sprintf("+1212555%04d", number*1000+i), "teams": []string{o.team}}
		o.workers = append(o.workers, o.must(t, "/api/v2/workers", worker).id())
	}
	o.signIn(t)
	task := taskBody("delivered")
	task["container"] = map[string]any{"type": "WORKER", "worker": o.workers[0]}
	id := o.must(t, "/api/v2/tasks", task).id()
	o.session.must(t, "/driver/v1/tasks/"+id+"/start", map[string]any{"actionId": "start"})
	o.session.must(t, "/driver/v1/tasks/"+id+"/complete", map[string]any{"actionId": "complete", "success": true})
	tracked := fmt.Sprint(o.get(t.Context(), "/api/v2/tasks/"+id).object()["trackingURL"])
	o.link = regexp.MustCompile(`/t/.*$`).FindString(tracked)
	return o
}

// signIn accepts the invitation of the first worker.
func (o *tenant) signIn(t *testing.T) {
	t.Helper()
	var messages []struct{ Body string }
	o.server.run(t, &messages, "outbox", "--to", o.phone, "--limit", "1")
	if len(messages) == 0 {
		t.Fatalf("%s was sent no invitation", o.phone)
	}
	found := temporary.FindStringSubmatch(messages[0].Body)
	if found == nil {
		t.Fatalf("no password in %q", messages[0].Body)
	}
	begun := o.with("").must(t, "/driver/v1/login", o.credentials(found[1]))
	o.session, o.device = o.with(bearer(begun)), begun.object()["device"]
	o.session.must(t, "/driver/v1/password", map[string]any{"password": password})
	if a := o.session.put(t.Context(), "/driver/v1/duty", map[string]any{"onDuty": true}); a.status != http.StatusOK {
		t.Fatalf("go on duty: %d %s", a.status, a.body)
	}
}

// credentials returns the body of a sign-in as the worker's app sends it.
func (o *tenant) credentials(password string) map[string]any {
	body := map[string]any{"phone": o.phone, "password": password}
	if o.device != nil {
		body["device"] = o.device
	}
	return body
}

// createTasks creates tasks in batches and returns their ids. More is merged into
// each of them.
func (o *tenant) createTasks(t *testing.T, count int, more map[string]any) (ids []string) {
	t.Helper()
	for len(ids) < count {
		var tasks []any
		for range 100 {
			task := taskBody("abuse")
			maps.Copy(task, more)
			tasks = append(tasks, task)
		}
		made, _ := o.must(t, "/api/v2/tasks/batch", map[string]any{"tasks": tasks}).object()["tasks"].([]any)
		if len(made) == 0 {
			t.Fatal("a batch created no tasks")
		}
		for _, one := range made {
			ids = append(ids, fmt.Sprint(one.(map[string]any)["id"]))
		}
	}
	return ids
}

// attack is one way to misuse the server.
type attack struct {
	name    string
	prepare func(t *testing.T, w *world) // once, before it is first played
	run     func(ctx context.Context, w *world, by *tenant)
}

// world is a server with an honest organization and three others.
type world struct {
	server   *server
	receiver string // URL
	honest   *honest
	tenants  []*tenant
	prepared map[string]bool // by the name of the attack or of a shared preparation
}

func newWorld(t *testing.T, program, database string) *world {
	t.Helper()
	receiver, flags := newReceiver(t)
	w := &world{server: newServer(t, program, database, flags...), receiver: receiver, prepared: map[string]bool{}}
	w.honest = &honest{tenant: newTenant(t, w.server, 1), took: map[string][]time.Duration{}, tasks: map[string]*acknowledged{}}
	for i := range 3 {
		w.tenants = append(w.tenants, newTenant(t, w.server, 2+i))
	}
	return w
}

// mob repeats a function in several goroutines until the context ends, with a
// pause after each call. They do not start at the same moment: the test measures
// the server, not how the machine shares its processors with the attackers.
func mob(ctx context.Context, members int, pause time.Duration, act func(ctx context.Context, member, turn int)) {
	var all sync.WaitGroup
	for i := range members {
		all.Go(func() {
			pace(ctx, pause*time.Duration(i)/time.Duration(members))
			for n := 0; ctx.Err() == nil; n++ {
				act(ctx, i, n)
				pace(ctx, pause)
			}
		})
	}
	all.Wait()
}
