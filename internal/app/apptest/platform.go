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

	"dray/internal/app"
	"dray/internal/lastmile"
	"dray/internal/store"
	"dray/internal/store/storetest"
	"dray/internal/textmessage"
)

// Platform is the whole platform in the test's own process.
type Platform struct {
	*app.App
	URL        string
	Spec       *Spec
	DriverSpec *Spec // of the worker's interface

	clock *clock
}

// Advance lets time pass on the platform's clock.
func (p *Platform) Advance(by time.Duration) { p.clock.advance(by) }

// StopClock stops the platform's clock, so that nothing depends on how fast the
// machine is. Only Advance moves it then, and each request by a millisecond.
func (p *Platform) StopClock() { p.clock.stop() }

// Look lets the platform look at all workers who are due.
func (p *Platform) Look(t testing.TB) {
	t.Helper()
	if _, err := p.Tracking.Look(t.Context()); err != nil {
		t.Fatalf("look at workers: %v", err)
	}
}

// Option changes how a platform is put together.
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
	config.Data, config.Patience = t.TempDir(), time.Minute
	for _, option := range options {
		option(&config)
	}
	clock := new(clock)
	a, err := app.New(t.Context(), config, slog.New(slog.DiscardHandler), clock.now, true)
	if err != nil {
		t.Fatalf("put the platform together: %v", err)
	}
	server := httptest.NewServer(clock.apart(a.Handler()))
	working, stopWork := context.WithCancel(context.WithoutCancel(t.Context()))
	var work sync.WaitGroup
	work.Go(func() { a.Jobs.Run(working) })
	work.Go(func() { a.Watch.Run(working) })
	t.Cleanup(func() {
		server.Close()
		stopWork()
		work.Wait()
		if err := a.Stop(context.Background()); err != nil {
			t.Errorf("stop the platform: %v", err)
		}
	})
	p := &Platform{App: a, URL: server.URL, clock: clock}
	p.Spec = NewSpec(t, p.Get(t, "/api/v2/openapi.json"))
	p.DriverSpec = NewSpec(t, p.Get(t, "/driver/v1/openapi.json"))
	return p
}

// Until waits until something is so, for as long as a slow machine may need. What
// is so is said in words, for those who wait in vain.
func Until(t testing.TB, words string, so func() bool) {
	t.Helper()
	const most = 2 * time.Minute
	for deadline := time.Now().Add(most); !so(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not after %v: %s", most, words)
		}
	}
}

// Settle waits until all background work is done.
func (p *Platform) Settle(t testing.TB) {
	t.Helper()
	Until(t, "no job is left", func() bool {
		var left int
		err := p.Store.Read(t.Context(), func(r store.Reader) (err error) {
			left, err = r.JobsLeft(t.Context())
			return err
		})
		if err != nil {
			t.Fatalf("count what is left to do: %v", err)
		}
		return left == 0
	})
}

// Events are the events of an organization, in order, as webhooks are sent them.
func (p *Platform) Events(t testing.TB, org lastmile.OrganizationID) (bodies [][]byte) {
	t.Helper()
	const most = 10_000
	err := p.Store.Write(t.Context(), func(w store.Writer) error {
		if _, err := w.NumberEvents(t.Context(), most); err != nil {
			return err
		}
		found, err := w.EventsAfter(t.Context(), org, 0, most)
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
	answer, err := http.Get(p.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %s %v", path, answer.Status, err)
	}
	return body
}

// Client calls the interface for one organization and holds every answer
// against the document.
type Client struct {
	Platform     *Platform
	Organization lastmile.Organization
	Key          string
}

// Organization makes an organization of the United States.
func (p *Platform) Organization(t testing.TB, name string) *Client {
	t.Helper()
	p.clock.pass()
	made, err := p.Directory.Create(t.Context(), lastmile.OrganizationDraft{Name: name, Country: "US", Timezone: "America/New_York"})
	if err != nil {
		t.Fatal(err)
	}
	return &Client{Platform: p, Organization: made.Organization, Key: made.APIKey}
}

// Answer is what the interface answered.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
}

// Call sends a request; body is JSON text, or anything to encode, or nil.
func (c *Client) Call(t testing.TB, method, path string, body any, headers ...string) Answer {
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
	return Answer{Status: response.StatusCode, Header: response.Header, Body: got}
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

// Must sends a request that has to succeed and returns its answer as an
// object.
func (c *Client) Must(t testing.TB, method, path string, body any) map[string]any {
	t.Helper()
	return c.Call(t, method, path, body).OK(t).Object(t)
}

// OK fails the test when the answer is not 200.
func (a Answer) OK(t testing.TB) Answer {
	t.Helper()
	if a.Status != http.StatusOK {
		t.Fatalf("answered %d, want 200: %s", a.Status, a.Body)
	}
	return a
}

// Object decodes an answer that is an object.
func (a Answer) Object(t testing.TB) map[string]any {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(a.Body, &object); err != nil {
		t.Fatalf("not an object: %v: %s", err, a.Body)
	}
	return object
}

// List decodes an answer that is an array of objects.
func (a Answer) List(t testing.TB) []map[string]any {
	t.Helper()
	var list []map[string]any
	if err := json.Unmarshal(a.Body, &list); err != nil {
		t.Fatalf("not an array: %v: %s", err, a.Body)
	}
	return list
}

// Refused fails the test when the answer is not the error with this status and
// subcode, in the interface's shape. It returns the error's message.
func (a Answer) Refused(t testing.TB, status, subcode int) string {
	t.Helper()
	var body struct {
		Code    string
		Message struct {
			Error            int
			Message, Request string
		}
	}
	if err := json.Unmarshal(a.Body, &body); err != nil {
		t.Fatalf("answered %d, not an error of the interface: %v: %s", a.Status, err, a.Body)
	}
	if a.Status != status || body.Message.Error != subcode {
		t.Fatalf("answered %d with %d, want %d with %d: %s", a.Status, body.Message.Error, status, subcode, a.Body)
	}
	if body.Code == "" || body.Message.Message == "" || len(body.Message.Request) != 36 {
		t.Fatalf("an error without code, message or request id: %s", a.Body)
	}
	return body.Message.Message
}

// Outbox lists the text messages to a phone number, oldest first.
func (p *Platform) Outbox(t testing.TB, to string) (messages []textmessage.Message) {
	t.Helper()
	err := p.Store.Read(t.Context(), func(r store.Reader) (err error) {
		messages, err = r.Messages(t.Context(), store.MessageFilter{To: lastmile.Phone(to)})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

// Listen registers a webhook as if its server had been checked.
func (c *Client) Listen(t testing.TB, trigger lastmile.Trigger, threshold float64) lastmile.WebhookID {
	t.Helper()
	p := c.Platform
	hook := lastmile.Webhook{
		ID: lastmile.WebhookID(p.Tasks.NewID()), Organization: c.Organization.ID, Created: p.Now(), Modified: p.Now(),
		URL: "https://hooks.example.com/", Trigger: trigger, Threshold: &threshold, Enabled: true,
	}
	if err := p.Store.Write(t.Context(), func(w store.Writer) error { return w.SaveWebhook(t.Context(), hook) }); err != nil {
		t.Fatal(err)
	}
	return hook.ID
}

// Set changes the settings of the organization.
func (c *Client) Set(t testing.TB, s lastmile.Settings) {
	t.Helper()
	err := c.Platform.Store.Write(t.Context(), func(w store.Writer) error { return w.SaveSettings(t.Context(), c.Organization.ID, s) })
	if err != nil {
		t.Fatal(err)
	}
}
