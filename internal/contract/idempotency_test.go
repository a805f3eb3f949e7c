package contract_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"dray/internal/app"
	"dray/internal/app/apptest"
	"dray/internal/edge"
	"dray/internal/lastmile"
)

const destinationBody = `{"address":{"city":"X","country":"Y"},"location":[1,2],"metadata":[{"name":"k","type":"string","value":"v"}]}`

// postBodies has two different bodies for each POST operation. OWN-… stands for the id of a
// record of the organization, NEW-phone and NEW-name for new values. The test fails when
// the OpenAPI spec has another operation. Files of resources add theirs with register.
var postBodies = map[string][2]string{
	"POST /admins":                  {`{"name":"A","email":"NEW-name@example.com"}`, `{"name":"B","email":"NEW-name@example.com"}`},
	"POST /admins/metadata":         {`[{"name":"a","type":"number","value":1}]`, `[{"name":"a","type":"number","value":2}]`},
	"POST /destinations":            {destinationBody, `{"address":{"city":"Z","country":"Y"},"location":[1,2]}`},
	"POST /destinations/metadata":   {`[{"name":"a","type":"number","value":1}]`, `[{"name":"a","type":"number","value":2}]`},
	"POST /recipients":              {`{"name":"A","phone":"NEW-phone"}`, `{"name":"B","phone":"NEW-phone"}`},
	"POST /recipients/metadata":     {`[{"name":"a","type":"number","value":1}]`, `[{"name":"a","type":"number","value":2}]`},
	"POST /workers":                 {`{"name":"A","phone":"NEW-phone","teams":["OWN-team"]}`, `{"name":"B","phone":"NEW-phone","teams":["OWN-team"]}`},
	"POST /workers/metadata":        {`[{"name":"a","type":"number","value":1}]`, `[{"name":"a","type":"number","value":2}]`},
	"POST /workers/{id}/invite":     {``, `{}`},
	"POST /workers/{id}/invitation": {``, `{}`},
	"POST /workers/{id}/schedule":   {`{"entries":[{"date":"2090-01-01","timezone":"UTC","shifts":[]}]}`, `{"entries":[]}`},
	"POST /teams":                   {`{"name":"NEW-name","workers":[],"managers":[]}`, `{"name":"NEW-name","workers":["OWN-worker"],"managers":[]}`},
	"POST /teams/metadata":          {`[{"name":"a","type":"number","value":1}]`, `[{"name":"a","type":"number","value":2}]`},
	"POST /tasks":                   {`{"destination":"OWN-destination","recipients":[]}`, `{"destination":"OWN-destination","recipients":[],"notes":"B"}`},
	"POST /routePlans":              {`{"name":"A","startTime":4000000000000}`, `{"name":"B","startTime":4000000000000}`},
	"POST /tasks/metadata":          {`[{"name":"a","type":"number","value":1}]`, `[{"name":"a","type":"number","value":2}]`},
	"POST /tasks/autoAssign":        {`{"tasks":["OWN-task"]}`, `{"tasks":["OWN-spare task"]}`},
	"POST /tasks/{id}/clone":        {``, `{"options":{"includeMetadata":true}}`},
	"POST /tasks/{id}/complete":     {`{"completionDetails":{"success":true}}`, `{"completionDetails":{"success":false}}`},
	"POST /customFields":            {`{"model":"Task","field":[{"name":"NEW-name","type":"date"}]}`, `{"model":"Task","field":[{"name":"NEW-name","type":"Url"}]}`},
	"POST /cfGroups/task":           {`{"name":"NEW-name","contextSaveConditions":[],"fields":[]}`, `{"name":"NEW-namex","contextSaveConditions":[],"fields":[]}`},
}

// start assigns a task to the worker and makes it active, as the worker's app does.
func start[W interface {
	Task(context.Context, lastmile.OrganizationID, lastmile.TaskID) (lastmile.Task, error)
	SaveTask(context.Context, lastmile.Task) error
}](t testing.TB, write func(context.Context, func(W) error) error, w *world, id string) {
	t.Helper()
	w.Must(t, "PUT", "/containers/workers/"+w.own["worker"], `{"tasks":[-1,"`+id+`"]}`)
	err := write(t.Context(), func(to W) error {
		task, err := to.Task(t.Context(), w.Organization.ID, lastmile.TaskID(id))
		if err != nil {
			return err
		}
		if _, err := task.Start(nil, lastmile.Estimates{}, lastmile.Actor{}, app.Clock()); err != nil {
			return err
		}
		return to.SaveTask(t.Context(), task)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// postOperations returns the POST operations of the OpenAPI spec, except those of webhooks,
// which need a receiver and are tested with one.
func postOperations(t testing.TB, p *apptest.Platform) []string {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	if err := json.Unmarshal(p.Get(t, "/api/v2/openapi.json"), &doc); err != nil {
		t.Fatal(err)
	}
	var operations []string
	for path, methods := range doc.Paths {
		if _, ok := methods["post"]; ok && !elsewhere("POST "+path) && !strings.HasPrefix(path, "/webhooks") {
			operations = append(operations, "POST "+path)
		}
	}
	slices.Sort(operations)
	return operations
}

// searches reports whether an operation changes nothing.
func searches(operation string) bool {
	return strings.HasSuffix(operation, "/metadata") || operation == "POST /integrations/marketplace" || strings.HasSuffix(operation, "/preview")
}

// asJSON returns a value as JSON.
func asJSON(t testing.TB, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// destinations counts the destinations of destinationBody.
func destinations(t testing.TB, c *apptest.Client) int {
	t.Helper()
	return len(c.Call(t, "POST", "/destinations/metadata", `[{"name":"k","type":"string","value":"v"}]`).OK(t).List(t))
}

func TestIdempotencyContract(t *testing.T) {
	t.Parallel()
	const header, replayed = "Idempotency-Key", "Idempotent-Replayed"
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		c := newWorld(t, p, "acme", "212")

		// All operations use the same key, because paths do not share keys.
		for _, operation := range postOperations(t, p) {
			t.Run(operation+" is performed once for a key", func(t *testing.T) {
				bodies, known := postBodies[operation]
				if !known {
					t.Fatal("the OpenAPI spec has an operation that this test has no bodies for")
				}
				if searches(operation) {
					t.Skip("a search is performed each time")
				}
				c.made++
				if operation == "POST /tasks/{id}/complete" {
					start(t, p.Store.Write, c, c.own["task"])
				}
				switch operation {
				case "POST /clients/invitations/{id}/accept":
					c.own["client"] = c.own["invitation"]
				case "POST /dispatches/{id}/apply", "POST /dispatches/{id}/discard":
					c.own["dispatche"] = c.dispatch(t, lastmile.DispatchPlanned)
				case "POST /dispatches/{id}/undone":
					c.own["dispatche"] = c.dispatch(t, lastmile.DispatchSucceeded)
				case "POST /dispatches/{id}/stop":
					c.own["dispatche"] = c.dispatch(t, lastmile.DispatchPending)
				}
				path := strings.Replace(strings.TrimPrefix(operation, "POST "), "{id}", c.own[strings.TrimSuffix(strings.Split(operation, "/")[1], "s")], 1)
				body, other := c.fill(bodies[0]), c.fill(bodies[1])
				first := c.Call(t, "POST", path, body, header, "one key").OK(t)
				if first.Header.Get(replayed) != "" {
					t.Error("the first response says it is a repeated one")
				}
				p.Settle(t)
				written := p.Store.Stats().Operations
				again := c.Call(t, "POST", path, body, header, "one key").OK(t)
				if string(again.Body) != string(first.Body) || again.Header.Get(replayed) != "true" {
					t.Errorf("responded with %s, and again, with %s %q, %s", first.Body, replayed, again.Header.Get(replayed), again.Body)
				}
				checkHeaders(t, again)
				if first.Header.Get("X-Request-Id") == again.Header.Get("X-Request-Id") {
					t.Error("two requests have one id")
				}
				invalid.check(t, c.Call(t, "POST", path, other, header, "one key"), header, "one key")
				if now := p.Store.Stats().Operations; now != written {
					t.Errorf("the repeated requests wrote %d times", now-written)
				}
			})
		}
		t.Run("searches are performed each time, and write nothing", func(t *testing.T) {
			const path, body = "/destinations/metadata", `[{"name":"k","type":"string","value":"v"}]`
			before := len(c.Call(t, "POST", path, body, header, "search").OK(t).List(t))
			c.Must(t, "POST", "/destinations", destinationBody)
			written := p.Store.Stats().Operations
			again := c.Call(t, "POST", path, body, header, "search").OK(t)
			if found := len(again.List(t)); found != before+1 || again.Header.Get(replayed) != "" {
				t.Errorf("found %d, and after another was created %d", before, found)
			}
			c.Call(t, "POST", path, `[{"name":"k","type":"string","value":"w"}]`, header, "search").OK(t)
			invalid.check(t, c.Call(t, "POST", path, body, header, ""), header)
			if now := p.Store.Stats().Operations; now != written {
				t.Errorf("the searches wrote %d times", now-written)
			}
		})
		t.Run("a response that is too large to be stored is rebuilt", func(t *testing.T) {
			task := func(i int, city string) string {
				entries := make([]string, 15)
				for k := range entries {
					entries[k] = fmt.Sprintf(`{"name":"k%d","type":"string","value":"%s"}`, k, strings.Repeat("v", 900))
				}
				return fmt.Sprintf(`{"destination":{"address":{"city":"%s","country":"Y"},"location":[1,2]},"recipients":[],"notes":"%d","metadata":[%s]}`, city, i, strings.Join(entries, ","))
			}
			tasks := make([]string, 100)
			for i := range tasks {
				tasks[i] = task(i, []string{"X", ""}[i%50/49]) // two have no city
			}
			body := `{"tasks":[` + strings.Join(tasks, ",") + `]}`
			first := c.Call(t, "POST", "/tasks/batch", body, header, "large").OK(t)
			if len(first.Body) <= edge.MaxReceipt {
				t.Fatalf("the response has only %d bytes", len(first.Body))
			}
			again := c.Call(t, "POST", "/tasks/batch", body, header, "large").OK(t)
			if again.Header.Get(replayed) != "true" {
				t.Error("the response does not say that it is a repeated one")
			}
			// Each task is as it is read, without fields that only its creation shows.
			one, two := first.Object(t), again.Object(t)
			matches(t, two["errors"], asJSON(t, one["errors"]))
			for i, made := range one["tasks"].([]any) {
				if shown := two["tasks"].([]any)[i]; made.(map[string]any)["id"] != shown.(map[string]any)["id"] || made.(map[string]any)["notes"] != shown.(map[string]any)["notes"] {
					t.Errorf("task %d was %v, and is %v", i, made, shown)
				}
			}
			deleted := fmt.Sprint(one["tasks"].([]any)[0].(map[string]any)["id"])
			c.Call(t, "DELETE", "/tasks/"+deleted, nil).OK(t)
			if left := c.Call(t, "POST", "/tasks/batch", body, header, "large").OK(t).Object(t)["tasks"].([]any); len(left) != 97 {
				t.Errorf("%d tasks are left, want 97", len(left))
			}
		})
		t.Run("an organization does not share its keys with another", func(t *testing.T) {
			stranger := p.Organization(t, "Zenith")
			ours := c.Call(t, "POST", "/destinations", destinationBody, header, "shared").OK(t)
			theirs := stranger.Call(t, "POST", "/destinations", destinationBody, header, "shared").OK(t)
			if string(ours.Body) == string(theirs.Body) || theirs.Header.Get(replayed) != "" || destinations(t, stranger) != 1 {
				t.Errorf("responded with %s and %s", ours.Body, theirs.Body)
			}
		})
		t.Run("two keys of one organization share its idempotency keys", func(t *testing.T) {
			second, _, err := p.APIKeys.Create(t.Context(), c.Organization.ID, "second")
			if err != nil {
				t.Fatal(err)
			}
			first := c.Call(t, "POST", "/destinations", destinationBody, header, "both").OK(t)
			again := (&apptest.Client{Platform: p, Key: second}).Call(t, "POST", "/destinations", destinationBody, header, "both").OK(t)
			if string(first.Body) != string(again.Body) {
				t.Errorf("responded with %s and %s", first.Body, again.Body)
			}
		})
		t.Run("32 concurrent duplicates create one record", func(t *testing.T) {
			before := destinations(t, c.Client)
			replies := make([]apptest.Response, 32)
			var group sync.WaitGroup
			for i := range replies {
				group.Go(func() { replies[i] = send(t, c.Client, "POST", "/destinations", destinationBody, header, "at once") })
			}
			group.Wait()
			originals := 0
			for _, a := range replies {
				if string(a.OK(t).Body) != string(replies[0].Body) {
					t.Errorf("responded with %s and %s", replies[0].Body, a.Body)
				}
				if a.Header.Get(replayed) == "" {
					originals++
				}
			}
			if made := destinations(t, c.Client) - before; made != 1 || originals != 1 {
				t.Errorf("%d records were made, and %d responses say they are the first", made, originals)
			}
		})
		t.Run("without a key, the same request is performed again", func(t *testing.T) {
			before := destinations(t, c.Client)
			c.Must(t, "POST", "/destinations", destinationBody)
			c.Must(t, "POST", "/destinations", destinationBody)
			if made := destinations(t, c.Client) - before; made != 2 {
				t.Errorf("%d records were made", made)
			}
		})
		t.Run("a rejected request does not use up its key", func(t *testing.T) {
			worker := func(phone string) string {
				return `{"name":"W","phone":"` + phone + `","teams":["` + c.own["team"] + `"]}`
			}
			invalid.check(t, c.Call(t, "POST", "/workers", worker("12"), header, "rejected"))
			c.Must(t, "POST", "/workers", worker("+12125557001"))
			duplicate.check(t, c.Call(t, "POST", "/workers", worker("+12125557001"), header, "rejected"))
			notFound.check(t, c.Call(t, "POST", "/workers", `{"name":"W","phone":"+12125557002","teams":["`+unknownID+`"]}`, header, "rejected"))
			made := c.Call(t, "POST", "/workers", worker("+12125557002"), header, "rejected").OK(t)
			if made.Header.Get(replayed) != "" {
				t.Error("the response is an old one")
			}
			again := c.Call(t, "POST", "/workers", worker("+12125557002"), header, "rejected").OK(t)
			if string(again.Body) != string(made.Body) || len(outbox(t, p, "+12125557002")) != 1 {
				t.Errorf("responded with %s and %s", made.Body, again.Body)
			}
		})
		t.Run("the response is the first one, even if the record was deleted since", func(t *testing.T) {
			const body = `{"name":"Kept","workers":[],"managers":[]}`
			made := c.Call(t, "POST", "/teams", body, header, "kept").OK(t)
			c.Call(t, "DELETE", "/teams/"+fmt.Sprint(made.Object(t)["id"]), nil).OK(t)
			again := c.Call(t, "POST", "/teams", body, header, "kept").OK(t)
			if string(again.Body) != string(made.Body) {
				t.Errorf("responded with %s and %s", made.Body, again.Body)
			}
			notFound.check(t, c.Call(t, "GET", "/teams/"+fmt.Sprint(made.Object(t)["id"]), nil))
		})
		t.Run("a trailing slash does not make another path", func(t *testing.T) {
			made := c.Call(t, "POST", "/destinations", destinationBody, header, "slash").OK(t)
			again := c.Call(t, "POST", "/destinations/", destinationBody, header, "slash").OK(t)
			if string(again.Body) != string(made.Body) {
				t.Errorf("responded with %s and %s", made.Body, again.Body)
			}
		})
		t.Run("each record in the path has its own keys", func(t *testing.T) {
			other := c.make(t, "worker")
			const body = `{"entries":[{"date":"2091-01-01","timezone":"UTC","shifts":[]}]}`
			c.Call(t, "POST", "/workers/"+c.own["worker"]+"/schedule", body, header, "named").OK(t)
			a := c.Call(t, "POST", "/workers/"+other+"/schedule", body, header, "named").OK(t)
			if a.Header.Get(replayed) != "" {
				t.Error("two records share a key")
			}
		})
		t.Run("a key is 1 to 255 printable characters, once", func(t *testing.T) {
			for _, key := range []string{"", strings.Repeat("k", 256), "Schlüssel", "tab\tbed", "\x80"} {
				invalid.check(t, c.Call(t, "POST", "/destinations", destinationBody, header, key), header)
			}
			invalid.check(t, send(t, c.Client, "POST", "/destinations", destinationBody, header, "one", header, "two"), header)
			for _, key := range []string{"k", "~ !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}", strings.Repeat("k", 255)} {
				c.Call(t, "POST", "/destinations", destinationBody, header, key).OK(t)
				if a := c.Call(t, "POST", "/destinations", destinationBody, header, key).OK(t); a.Header.Get(replayed) != "true" {
					t.Errorf("the key %q was deleted", key)
				}
			}
		})
		t.Run("requests of other methods are performed each time", func(t *testing.T) {
			path := "/recipients/" + c.own["recipient"]
			c.Call(t, "PUT", path, `{"notes":"one"}`, header, "put").OK(t)
			matches(t, c.Call(t, "PUT", path, `{"notes":"two"}`, header, "put").OK(t).Object(t)["notes"], `"two"`)
			matches(t, c.Call(t, "GET", path, nil, header, "put").OK(t).Object(t)["notes"], `"two"`)
		})
		t.Run("a key expires after 48 hours", func(t *testing.T) {
			first := c.Call(t, "POST", "/destinations", destinationBody, header, "old").OK(t)
			for _, tt := range []struct {
				after time.Duration
				same  bool
			}{
				{lastmile.ReceiptLifetime - time.Minute, true},
				{lastmile.ReceiptLifetime + time.Minute, false},
			} {
				p.Now = func() time.Time { return app.Clock().Add(tt.after) }
				later := httptest.NewServer(p.Handler())
				a := exchange(t, "POST", later.URL+"/api/v2/destinations", strings.NewReader(destinationBody), "Authorization", basic(c.Key), header, "old").OK(t)
				if (string(a.Body) == string(first.Body)) != tt.same {
					t.Errorf("after %s, responded with %s and then %s", tt.after, first.Body, a.Body)
				}
				later.Close()
			}
		})
	})
}
