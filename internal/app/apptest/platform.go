package apptest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"dray/internal/access"
	"dray/internal/app"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
	"dray/internal/store/storetest"
	"dray/internal/textmessage"
	"dray/internal/work"
)

// Platform is the whole platform in the process of the test.
type Platform struct {
	*app.App
	URL        string
	Spec       *Spec
	DriverSpec *Spec // spec of the worker's API

	clock    *clock
	planning *planningClock
}

// Advance lets time pass on the platform's clock.
func (p *Platform) Advance(by time.Duration) { p.clock.advance(by) }

// StopClock stops the platform's clock, so that no test depends on the speed of the machine.
// After that, only Advance moves it, and each request by a millisecond.
func (p *Platform) StopClock() { p.clock.stop() }

// HoldPlanning keeps dispatches from ending their search for better routes until release is
// called.
func (p *Platform) HoldPlanning() (release func()) {
	p.planning.held.Add(1)
	return sync.OnceFunc(func() { p.planning.held.Add(-1) })
}

// RefreshDue refreshes the estimates of all workers whose refresh is due.
func (p *Platform) RefreshDue(t testing.TB) {
	t.Helper()
	if _, err := p.Tracking.RefreshDue(t.Context()); err != nil {
		t.Fatalf("refresh estimates: %v", err)
	}
}

// Option changes the configuration of a platform.
type Option func(*app.Config)

// Engines runs a test on each database.
func Engines(t *testing.T, test func(t *testing.T, p *Platform), options ...Option) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { test(t, New(t, options...)) })
	t.Run("postgres", func(t *testing.T) {
		url := storetest.Postgres(t)
		test(t, New(t, append(options, func(c *app.Config) { c.Database = url })...))
	})
}

// New starts a platform on an empty embedded database.
func New(t testing.TB, options ...Option) *Platform {
	t.Helper()
	config := app.DefaultConfig()
	config.Data, config.Patience = storetest.Folder(t), time.Minute
	for _, option := range options {
		option(&config)
	}
	clock := new(clock)
	a, err := app.New(t.Context(), config, slog.New(slog.DiscardHandler), clock.now, true)
	if err != nil {
		t.Fatalf("build the platform: %v", err)
	}
	hashQuickly(a)
	planning := new(planningClock)
	a.Dispatches.Elapsed = planning.elapsed
	server := httptest.NewServer(clock.tickEachRequest(a.Handler()))
	working, stopWork := context.WithCancel(context.WithoutCancel(t.Context()))
	var work sync.WaitGroup
	work.Go(func() { a.Jobs.Run(working) })
	work.Go(func() { a.Dispatching.Run(working) })
	work.Go(func() { a.Replanning.Run(working) })
	work.Go(func() { a.Hub.Run(working) })
	t.Cleanup(func() {
		server.Close()
		stopWork()
		work.Wait()
		if err := a.Stop(context.Background()); err != nil {
			t.Errorf("stop the platform: %v", err)
		}
	})
	p := &Platform{App: a, URL: server.URL, clock: clock, planning: planning}
	p.readSpecs(t)
	return p
}

// hashQuickly lowers the cost of password hashes. Tests hash hundreds of passwords, and a
// hash of the product's cost takes as long as dozens of requests.
func hashQuickly(a *app.App) {
	a.Sessions.Passwords.Cost = access.Cost{Memory: 64, Time: 1, Threads: 1}
}

// specs are the OpenAPI specs of the program, which do not depend on the configuration of a
// platform. Encoding and compressing them takes longer than starting a platform, so only the
// first platform of a process does it.
var specs struct {
	sync.Mutex
	api, driver *Spec
}

// readSpecs sets the specs of a platform.
func (p *Platform) readSpecs(t testing.TB) {
	t.Helper()
	specs.Lock()
	defer specs.Unlock()
	if specs.driver == nil {
		specs.api = NewSpec(t, p.Get(t, "/api/v2/openapi.json"))
		specs.driver = NewSpec(t, p.Get(t, "/driver/v1/openapi.json"))
	}
	p.Spec, p.DriverSpec = specs.api, specs.driver
}

// Until waits until a condition holds, long enough for a slow machine. what describes the
// condition in the message of a failure.
func Until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	const timeout = 2 * time.Minute
	for deadline := time.Now().Add(timeout); !condition(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not after %v: %s", timeout, what)
		}
	}
}

// Settle waits until all batches and dispatches are done and every write is counted, because
// the end of a job is visible before the write that ended it is in the statistics.
func (p *Platform) Settle(t testing.TB) {
	t.Helper()
	Until(t, "no job is left", func() bool {
		left := 0
		for _, kind := range []work.Kind{work.CreateBatch, work.Dispatch} {
			err := p.Store.Read(t.Context(), func(r *sqlstore.Tx) error {
				backlog, err := r.WorkBacklog(t.Context(), kind, p.Now())
				left += backlog.Waiting
				return err
			})
			if err != nil {
				t.Fatalf("count the jobs of kind %s that are left: %v", kind, err)
			}
		}
		return left == 0 && p.Store.Stats().Running == 0
	})
}

// Events returns the bodies of an organization's events, in order.
func (p *Platform) Events(t testing.TB, org lastmile.OrganizationID) (bodies [][]byte) {
	t.Helper()
	const most = 10_000
	err := p.Store.Write(t.Context(), func(w *sqlstore.Tx) error {
		if _, err := w.NumberEvents(t.Context(), most); err != nil {
			return err
		}
		found, err := w.EventsAfter(t.Context(), org, 0, most, 0)
		bodies = nil
		for _, e := range found {
			bodies = append(bodies, e.Body)
		}
		return err
	})
	if err != nil {
		t.Fatalf("read events: %v", err)
	}
	return bodies
}

// Get reads a page that needs no key.
func (p *Platform) Get(t testing.TB, path string) []byte {
	t.Helper()
	reply, err := http.Get(p.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil || reply.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s %v", path, reply.Status, err)
	}
	return body
}

// Client calls the API for one organization and checks every response against the
// OpenAPI spec.
type Client struct {
	Platform     *Platform
	Organization lastmile.Organization
	Key          string
}

// Organization creates an organization in the United States.
func (p *Platform) Organization(t testing.TB, name string) *Client {
	t.Helper()
	p.clock.tick()
	made, err := p.Organizations.Create(t.Context(), lastmile.OrganizationDraft{Name: name, Country: "US", Timezone: "America/New_York"})
	if err != nil {
		t.Fatal(err)
	}
	return &Client{Platform: p, Organization: made.Organization, Key: made.APIKey}
}

// Response is a response of the API.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// Call sends a request; body is JSON text, or anything to encode, or nil.
func (c *Client) Call(t testing.TB, method, path string, body any, headers ...string) Response {
	t.Helper()
	sent := encode(t, body)
	request, err := http.NewRequestWithContext(t.Context(), method, c.Platform.URL+"/api/v2"+path, bytes.NewReader(sent))
	if err != nil {
		t.Fatal(err)
	}
	if c.Key != "" {
		request.SetBasicAuth(c.Key, "")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	got, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	c.Platform.Spec.Check(t, method, request.URL.Path, response.StatusCode, sent, got)
	return Response{Status: response.StatusCode, Header: response.Header, Body: got}
}

func encode(t testing.TB, body any) []byte {
	t.Helper()
	switch body := body.(type) {
	case nil:
		return nil
	case string:
		return []byte(body)
	case []byte:
		return body
	}
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Must sends a request that must succeed and returns the object in the response.
func (c *Client) Must(t testing.TB, method, path string, body any) map[string]any {
	t.Helper()
	return c.Call(t, method, path, body).OK(t).Object(t)
}

// OK fails the test if the status is not 200.
func (a Response) OK(t testing.TB) Response {
	t.Helper()
	if a.Status != http.StatusOK {
		t.Fatalf("status %d, want 200: %s", a.Status, a.Body)
	}
	return a
}

// Object decodes a response that is an object.
func (a Response) Object(t testing.TB) map[string]any {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(a.Body, &object); err != nil {
		t.Fatalf("not an object: %v: %s", err, a.Body)
	}
	return object
}

// List decodes a response that is an array of objects.
func (a Response) List(t testing.TB) []map[string]any {
	t.Helper()
	var list []map[string]any
	if err := json.Unmarshal(a.Body, &list); err != nil {
		t.Fatalf("not an array: %v: %s", err, a.Body)
	}
	return list
}

// Rejected fails the test unless the response is an error of the API with this status and
// error number. It returns the message of the error.
func (a Response) Rejected(t testing.TB, status, subcode int) string {
	t.Helper()
	var body struct {
		Code    string
		Message struct {
			Error            int
			Message, Request string
		}
	}
	if err := json.Unmarshal(a.Body, &body); err != nil {
		t.Fatalf("status %d without an error of the API: %v: %s", a.Status, err, a.Body)
	}
	if a.Status != status || body.Message.Error != subcode {
		t.Fatalf("status %d with error %d, want %d with %d: %s", a.Status, body.Message.Error, status, subcode, a.Body)
	}
	if body.Code == "" || body.Message.Message == "" || len(body.Message.Request) != 36 {
		t.Fatalf("an error without code, message or request id: %s", a.Body)
	}
	return body.Message.Message
}

// Outbox returns the text messages to a phone number, oldest first.
func (p *Platform) Outbox(t testing.TB, to string) (messages []textmessage.Message) {
	t.Helper()
	err := p.Store.Read(t.Context(), func(r *sqlstore.Tx) (err error) {
		messages, err = r.Messages(t.Context(), textmessage.Filter{To: lastmile.Phone(to)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

// Listen saves a webhook without a handshake.
func (c *Client) Listen(t testing.TB, trigger lastmile.Trigger, threshold float64) lastmile.WebhookID {
	t.Helper()
	p := c.Platform
	hook := lastmile.Webhook{
		ID: lastmile.WebhookID(p.Tasks.NewID()), Organization: c.Organization.ID, Created: p.Now(), Modified: p.Now(),
		URL: "https://hooks.example.com/", Trigger: trigger, Threshold: &threshold, Enabled: true,
	}
	if err := p.Store.Write(t.Context(), func(w *sqlstore.Tx) error { return w.SaveWebhook(t.Context(), hook) }); err != nil {
		t.Fatal(err)
	}
	return hook.ID
}

// Set saves the settings of the organization.
func (c *Client) Set(t testing.TB, s lastmile.Settings) {
	t.Helper()
	err := c.Platform.Store.Write(t.Context(), func(w *sqlstore.Tx) error { return w.SaveSettings(t.Context(), c.Organization.ID, s) })
	if err != nil {
		t.Fatal(err)
	}
}
