package contract_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"dray/internal/app"
	"dray/internal/app/apptest"
	"dray/internal/textmessage"
	"dray/internal/webhook"
)

const gatewaySecret = "a secret of the gateway"

// withSecret gives the platform the gateway's secret in a file.
func withSecret(t *testing.T) apptest.Option {
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte(gatewaySecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(c *app.Config) { c.SMS.SecretFile, c.PublicURL = file, "https://dray.example" }
}

func TestSMSContract(t *testing.T) {
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		acme, zenith := p.Organization(t, "Acme evil.com"), p.Organization(t, "Zenith")
		team := driverTeam(t, acme, "Texting", false)
		worker, hers := hire(t, acme, team, "+12125550170")
		hers.call(t, http.MethodPut, "/duty", map[string]any{"onDuty": true}).OK(t)
		inbox := &texted{acme, worker, hers}
		t.Run("a recipient gets one message for each step of a task", func(t *testing.T) { inbox.testLife(t) })
		t.Run("the first message says when to expect the worker", func(t *testing.T) { inbox.testExpected(t) })
		t.Run("a recipient who wants no messages gets none", func(t *testing.T) { inbox.testSkips(t) })
		t.Run("the organization sets which messages are sent, and their texts", func(t *testing.T) { inbox.testSettings(t) })
		t.Run("a recipient stops messages and starts them again", func(t *testing.T) { inbox.testStop(t, zenith) })
		t.Run("a reply that is not a keyword causes an event", func(t *testing.T) { inbox.testReply(t, zenith) })
		t.Run("a gateway reports the result of a message", func(t *testing.T) { inbox.testReport(t) })
		t.Run("forged posts are rejected", func(t *testing.T) { testForgeries(t, p) })
	}, withSecret(t))
}

// texted is an organization with a worker whose recipients get text messages.
type texted struct {
	*apptest.Client
	worker string
	phone  *phone
}

// task creates a task of the worker for the recipient with a number.
func (o *texted) task(t *testing.T, number string, more map[string]any) string {
	t.Helper()
	recipient := map[string]any{"name": "Grace http://x.example", "phone": number}
	if r, ok := more["recipient"]; ok {
		recipient = r.(map[string]any)
		delete(more, "recipient")
	}
	body := map[string]any{"recipients": []any{recipient}, "container": map[string]any{"type": "WORKER", "worker": o.worker}}
	maps.Copy(body, more)
	return driverTask(t, o.Client, body)
}

// work carries out a task and returns the messages that the recipient was sent.
func (o *texted) work(t *testing.T, task, number string, success bool) (kinds []textmessage.Kind, bodies []string) {
	t.Helper()
	before := len(o.Platform.Outbox(t, number))
	for range 2 { // a phone that gets no response repeats the request
		o.phone.do(t, "start", task, "s"+task, nil)
	}
	for range 2 {
		o.phone.do(t, "arrive", task, "a"+task, nil)
	}
	o.phone.do(t, "arrive", task, "b"+task, nil)
	o.phone.do(t, "complete", task, "c"+task, map[string]any{"success": success})
	for _, m := range o.Platform.Outbox(t, number)[before:] {
		kinds, bodies = append(kinds, m.Kind), append(bodies, m.Body)
		if m.Organization != o.Organization.ID || string(m.Task) != task || m.State != textmessage.StateQueued {
			t.Errorf("sent %+v", m)
		}
	}
	return kinds, bodies
}

// configure changes the settings of text messages until the test ends.
func (o *texted) configure(t *testing.T, change func(*textmessage.Settings) error) {
	t.Helper()
	configure := func(change func(*textmessage.Settings) error) {
		if _, err := o.Platform.Messages.Configure(context.WithoutCancel(t.Context()), o.Organization.ID, change); err != nil {
			t.Fatal(err)
		}
	}
	configure(change)
	t.Cleanup(func() {
		configure(func(s *textmessage.Settings) error {
			*s = textmessage.DefaultSettings(s.Organization)
			return nil
		})
	})
}

func (o *texted) testLife(t *testing.T) {
	kinds, _ := o.work(t, o.task(t, "+12125550171", nil), "+12125550171", true)
	if want := []textmessage.Kind{textmessage.KindStarted, textmessage.KindCompleted}; !slices.Equal(kinds, want) {
		t.Fatalf("got %q, want %q", kinds, want)
	}
	o.configure(t, func(s *textmessage.Settings) error {
		s.SetEnabled(textmessage.Occasion{Kind: textmessage.KindArrived}, true)
		s.SetEnabled(textmessage.Occasion{Kind: textmessage.KindArrived, Pickup: true}, true)
		return nil
	})
	task := o.task(t, "+12125550171", nil)
	tracking, _ := o.Must(t, http.MethodGet, "/tasks/"+task, nil)["trackingURL"].(string)
	kinds, bodies := o.work(t, task, "+12125550171", true)
	if want := []textmessage.Kind{textmessage.KindStarted, textmessage.KindArrived, textmessage.KindCompleted}; !slices.Equal(kinds, want) {
		t.Fatalf("got %q, want %q", kinds, want)
	}
	want := []string{
		"Acme evil. com: W is on the way with your delivery. Follow it here: " + tracking,
		"Acme evil. com: W has arrived with your delivery.",
		"Acme evil. com: your delivery is complete. Thank you! " + tracking,
	}
	if !slices.Equal(bodies, want) {
		t.Errorf("got %q, want %q", bodies, want)
	}
	failed := o.task(t, "+12125550171", map[string]any{"pickupTask": true})
	kinds, bodies = o.work(t, failed, "+12125550171", false)
	if want := []textmessage.Kind{textmessage.KindStarted, textmessage.KindArrived, textmessage.KindFailed}; !slices.Equal(kinds, want) {
		t.Fatalf("got %q, want %q", kinds, want)
	}
	if !strings.Contains(bodies[0], "to pick up from you") || !strings.Contains(bodies[2], "could not complete your pickup") {
		t.Errorf("of a pickup: %q", bodies)
	}
}

// testExpected starts a task with a worker whose location is known.
func (o *texted) testExpected(t *testing.T) {
	zone, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Fatal(err)
	}
	if now := time.Now().In(zone); now.YearDay() != now.Add(time.Hour).YearDay() {
		t.Skip("the worker arrives after midnight, which the message does not say")
	}
	number := "+12125550180"
	o.phone.standsAt(t, -74.01, 40.7)
	_, bodies := o.work(t, o.task(t, number, nil), number, true)
	if len(bodies) != 2 || !strings.Contains(bodies[0], "W is on the way with your delivery and will be there at about ") {
		t.Errorf("got %q", bodies)
	}
}

func (o *texted) testSkips(t *testing.T) {
	muted := map[string]any{"name": "Quiet", "phone": "+12125550172", "skipSMSNotifications": true}
	willing := map[string]any{"name": "Talk", "phone": "+12125550173"}
	for name, tt := range map[string]struct {
		number string
		more   map[string]any
		want   int
	}{
		"a recipient who wants none":        {"+12125550172", map[string]any{"recipient": muted}, 0},
		"a task that tries to turn them on": {"+12125550172", map[string]any{"recipient": muted, "recipientSkipSMSNotifications": false}, 0},
		"a task that turns them off":        {"+12125550173", map[string]any{"recipient": willing, "recipientSkipSMSNotifications": true}, 0},
		"a task that does not":              {"+12125550173", map[string]any{"recipient": willing, "recipientSkipSMSNotifications": false}, 2},
		"a new recipient":                   {"+12125550174", nil, 2},
	} {
		task := o.task(t, tt.number, tt.more)
		if kinds, _ := o.work(t, task, tt.number, true); len(kinds) != tt.want {
			t.Errorf("%s: got %q, want %d messages", name, kinds, tt.want)
		}
	}
}

func (o *texted) testSettings(t *testing.T) {
	messages := o.Platform.Messages
	configure := func(change func(*textmessage.Settings) error) error {
		_, err := messages.Configure(t.Context(), o.Organization.ID, change)
		return err
	}
	err := configure(func(s *textmessage.Settings) error {
		s.Language = "de"
		s.SetEnabled(textmessage.Occasion{Kind: textmessage.KindArrived}, false)
		return s.SetText(textmessage.Template{
			Occasion: textmessage.Occasion{Kind: textmessage.KindStarted}, Language: "de", Text: "Hallo {recipient}, {task}!",
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	defer configure(func(s *textmessage.Settings) error { //nolint:errcheck // checked by the tests that follow
		*s = textmessage.DefaultSettings(s.Organization)
		return nil
	})
	number := "+12125550175"
	task := o.task(t, number, map[string]any{"recipientName": "Frau Ärger"})
	short, _ := o.Must(t, http.MethodGet, "/tasks/"+task, nil)["shortId"].(string)
	_, bodies := o.work(t, task, number, true)
	if len(bodies) != 2 || bodies[0] != "Hallo Frau Ärger, "+short+"!" || !strings.Contains(bodies[1], "Ihre Lieferung ist zugestellt") {
		t.Errorf("got %q", bodies)
	}
	french := map[string]any{
		"name": "Zoé", "phone": number, "metadata": []any{map[string]any{"name": "language", "type": "string", "value": "fr"}},
	}
	_, bodies = o.work(t, o.task(t, number, map[string]any{"recipient": french}), number, true)
	if len(bodies) != 2 || !strings.Contains(bodies[0], "est en route avec votre colis") {
		t.Errorf("got %q", bodies)
	}
	err = configure(func(s *textmessage.Settings) error {
		return s.SetText(textmessage.Template{Occasion: textmessage.Occasion{Kind: textmessage.KindStarted}, Language: "de", Text: "{worker} {delay}"})
	})
	if err == nil || !strings.Contains(err.Error(), "{delay} cannot be filled in") {
		t.Errorf("a text that cannot be filled in: %v", err)
	}
}

// postSigned posts JSON as the gateway does.
func postSigned(t *testing.T, p *apptest.Platform, path string, body any, spoil func(http.Header)) apptest.Response {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	if text, ok := body.(string); ok {
		data = []byte(text)
	}
	timestamp := strconv.FormatInt(time.Now().Unix(), 10)
	header := http.Header{
		"Webhook-Id": {"post"}, "Webhook-Timestamp": {timestamp},
		"Webhook-Signature": {webhook.StandardSignature([]byte(gatewaySecret), "post", timestamp, data)},
	}
	if spoil != nil {
		spoil(header)
	}
	return postRaw(t, p, path, header, string(data))
}

func postRaw(t *testing.T, p *apptest.Platform, path string, header http.Header, body string) apptest.Response {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	received, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return apptest.Response{Status: response.StatusCode, Header: response.Header, Body: received}
}

// triggered returns the events of a trigger that an organization received.
func triggered(t *testing.T, c *apptest.Client, trigger float64) (events []map[string]any) {
	t.Helper()
	for _, body := range c.Platform.Events(t, c.Organization.ID) {
		var event map[string]any
		if err := json.Unmarshal(body, &event); err != nil {
			t.Fatal(err)
		}
		if event["triggerId"] == trigger {
			events = append(events, event)
		}
	}
	return events
}

// reached sends the messages that wait in the outbox, so that they count as sent.
func reached(t *testing.T, p *apptest.Platform) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var sending sync.WaitGroup
	sending.Go(func() { p.Texts.Run(ctx) })
	defer sending.Wait()
	defer stop()
	waiting := func(m textmessage.Message) bool {
		return m.State == textmessage.StateQueued || m.State == textmessage.StateSending
	}
	apptest.Until(t, "no message waits", func() bool { return !slices.ContainsFunc(p.Outbox(t, ""), waiting) })
}

func (o *texted) testStop(t *testing.T, zenith *apptest.Client) {
	number := "+12125550176"
	o.work(t, o.task(t, number, nil), number, true)
	reached(t, o.Platform)
	recipient := o.Must(t, http.MethodGet, "/recipients/phone/"+number, nil)
	id, _ := recipient["id"].(string)
	stop := map[string]any{"id": "r1", "from": number, "to": "+12125550001", "body": "STOP"}
	for range 2 { // a gateway that gets no response repeats the request
		postSigned(t, o.Platform, "/sms/inbound", stop, nil).OK(t)
	}
	events := triggered(t, o.Client, 17)
	if len(events) != 1 {
		t.Fatalf("got %v", events)
	}
	who, _ := events[0]["recipient"].(map[string]any)
	if who["id"] != id || who["name"] != recipient["name"] || who["phone"] != number || events[0]["SMS"] != "STOP" ||
		events[0]["triggerName"] != "SMSRecipientOptOut" || events[0]["timestamp"] == nil {
		t.Errorf("got %v", events[0])
	}
	if got := o.Must(t, http.MethodGet, "/recipients/"+id, nil); got["skipSMSNotifications"] != true {
		t.Errorf("the recipient is %v", got)
	}
	if other := triggered(t, zenith, 17); len(other) != 0 {
		t.Errorf("another organization received %v", other)
	}
	// The organization cannot undo the recipient's opt-out.
	o.Must(t, http.MethodPut, "/recipients/"+id, map[string]any{"skipSMSNotifications": false})
	if kinds, _ := o.work(t, o.task(t, number, nil), number, true); len(kinds) != 0 {
		t.Errorf("got %q after a stop", kinds)
	}
	postSigned(t, o.Platform, "/sms/inbound", map[string]any{"id": "r2", "from": number, "to": "", "body": " start! "}, nil).OK(t)
	if got := o.Must(t, http.MethodGet, "/recipients/"+id, nil); got["skipSMSNotifications"] != false {
		t.Errorf("the recipient is %v", got)
	}
	if kinds, _ := o.work(t, o.task(t, number, nil), number, true); len(kinds) != 2 {
		t.Errorf("got %q after a start", kinds)
	}
}

func (o *texted) testReply(t *testing.T, zenith *apptest.Client) {
	number := "+12125550177"
	o.work(t, o.task(t, number, nil), number, true)
	reached(t, o.Platform)
	reply := map[string]any{"id": "r3", "from": number, "to": "+12125550001", "body": "Where is it? \u202e<b>"}
	for range 2 {
		postSigned(t, o.Platform, "/sms/inbound", reply, nil).OK(t)
	}
	events := triggered(t, o.Client, 14)
	if len(events) != 1 {
		t.Fatalf("got %v", events)
	}
	e := events[0]
	if e["triggerName"] != "smsRecipientResponseMissed" || e["from"] != number || e["to"] != "+12125550001" || e["body"] != reply["body"] || e["time"] == nil {
		t.Errorf("got %v", e)
	}
	if other := triggered(t, zenith, 14); len(other) != 0 {
		t.Errorf("another organization received %v", other)
	}
}

func (o *texted) testReport(t *testing.T) {
	number := "+12125550178"
	o.configure(t, func(s *textmessage.Settings) error {
		s.SetEnabled(textmessage.Occasion{Kind: textmessage.KindArrived}, true)
		return nil
	})
	o.work(t, o.task(t, number, nil), number, true)
	reached(t, o.Platform)
	sent := o.Platform.Outbox(t, number)
	for i, tt := range []struct {
		body  map[string]any
		state textmessage.State
	}{
		{map[string]any{"id": sent[0].ID, "status": "delivered"}, textmessage.StateDelivered},
		{map[string]any{"id": sent[1].ID, "status": "failed", "reason": "no such phone"}, textmessage.StateFailed},
		{map[string]any{"id": sent[2].ID, "status": "sent"}, textmessage.StateSent},
	} {
		postSigned(t, o.Platform, "/sms/status", tt.body, nil).OK(t)
		if got := o.Platform.Outbox(t, number)[i]; got.State != tt.state || tt.body["reason"] != nil && got.Reason != tt.body["reason"] {
			t.Errorf("after %v it is %s (%s)", tt.body, got.State, got.Reason)
		}
	}
	postSigned(t, o.Platform, "/sms/status", map[string]any{"id": "unknown", "status": "sent"}, nil).Rejected(t, 404, 1402)
	postSigned(t, o.Platform, "/sms/status", map[string]any{"id": sent[0].ID, "status": "lost"}, nil).Rejected(t, 400, 1000)
	postSigned(t, o.Platform, "/sms/status", map[string]any{"status": "sent"}, nil).Rejected(t, 400, 1900)
}

func testForgeries(t *testing.T, p *apptest.Platform) {
	good := map[string]any{"id": "f1", "from": "+12125550179", "to": "+12125550001", "body": "STOP"}
	for name, spoil := range map[string]func(http.Header){
		"no signature":      func(h http.Header) { h.Del("Webhook-Signature") },
		"another signature": func(h http.Header) { h.Set("Webhook-Signature", "v1,AAAA") },
		"another id":        func(h http.Header) { h.Set("Webhook-Id", "other") },
		"an old time": func(h http.Header) {
			h.Set("Webhook-Timestamp", strconv.FormatInt(time.Now().Add(-time.Hour).Unix(), 10))
		},
		"no headers": func(h http.Header) { clear(h) },
	} {
		t.Run(name, func(t *testing.T) {
			postSigned(t, p, "/sms/inbound", good, spoil).Rejected(t, 403, 1300)
			postSigned(t, p, "/sms/status", good, spoil).Rejected(t, 403, 1300)
		})
	}
	for name, body := range map[string]any{
		"no JSON": "{", "an id that is a number": `{"id":1}`, "a text with a NUL": "{\"id\":\"\\u0000\"}",
	} {
		t.Run(name, func(t *testing.T) {
			if a := postSigned(t, p, "/sms/inbound", body, nil); a.Status != 400 {
				t.Errorf("responded with %d: %s", a.Status, a.Body)
			}
		})
	}
	postSigned(t, p, "/sms/inbound", map[string]any{"from": "+12125550179"}, nil).Rejected(t, 400, 1900)
	postRaw(t, p, "/sms/twilio/inbound", http.Header{}, "").Rejected(t, 404, 1402) // there is no Twilio here
}

// fakeTwilio accepts messages as Twilio's API does.
type fakeTwilio struct {
	mu    sync.Mutex
	forms []url.Values
}

func (f *fakeTwilio) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	account, token, _ := r.BasicAuth()
	if account != "AC1" || token != gatewaySecret || r.URL.Path != "/2010-04-01/Accounts/AC1/Messages.json" || r.ParseForm() != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.forms = append(f.forms, r.PostForm)
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, `{"sid":"SM%d","status":"queued"}`, len(f.forms))
}

const twilioReplies = "/sms/twilio/inbound"

// twilioSigned signs a form as Twilio does.
func twilioSigned(address string, form url.Values) string {
	mac := hmac.New(sha1.New, []byte(gatewaySecret))
	mac.Write([]byte(address))
	for _, name := range slices.Sorted(maps.Keys(form)) {
		mac.Write([]byte(name + form.Get(name)))
	}
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func TestTwilioContract(t *testing.T) {
	gateway := &fakeTwilio{}
	server := httptest.NewServer(gateway)
	defer server.Close()
	apptest.Engines(t, func(t *testing.T, p *apptest.Platform) {
		gateway.forms = nil
		acme := p.Organization(t, "Acme")
		team := driverTeam(t, acme, "Texting", false)
		number := "+12125550180"
		acme.Must(t, http.MethodPost, "/workers", map[string]any{"name": "W", "phone": number, "teams": []string{team}})
		secret := p.Outbox(t, number)[0].Body
		reached(t, p)
		sent := p.Outbox(t, number)[0]
		if sent.State != textmessage.StateSent || sent.Body != "" || sent.GatewayID != "SM1" || sent.From != "+12125550001" {
			t.Errorf("kept as %+v", sent)
		}
		if len(gateway.forms) != 1 || gateway.forms[0].Get("To") != number || gateway.forms[0].Get("Body") != secret {
			t.Fatalf("sent %v", gateway.forms)
		}
		callback := strings.TrimPrefix(gateway.forms[0].Get("StatusCallback"), "https://dray.example")
		post := func(path, signed string, form url.Values) apptest.Response {
			return postRaw(t, p, path, http.Header{
				"Content-Type": {"application/x-www-form-urlencoded"}, "X-Twilio-Signature": {twilioSigned(signed, form)},
			}, form.Encode())
		}
		report := url.Values{"MessageSid": {"SM1"}, "MessageStatus": {"delivered"}}
		post(callback, "https://elsewhere.example"+callback, report).Rejected(t, 403, 1300)
		post(callback, "https://dray.example:443"+callback, report).OK(t)
		if got := p.Outbox(t, number)[0]; got.State != textmessage.StateDelivered {
			t.Errorf("it is %s", got.State)
		}
		reply := url.Values{"MessageSid": {"SMin"}, "From": {number}, "To": {"+12125550001"}, "Body": {"who is this?"}}
		post(twilioReplies, "https://dray.example/other", reply).Rejected(t, 403, 1300)
		for range 2 {
			received := post(twilioReplies, "https://dray.example"+twilioReplies, reply).OK(t)
			if received.Header.Get("Content-Type") != "text/xml; charset=utf-8" || string(received.Body) != "<Response></Response>" {
				t.Errorf("responded with %v %s", received.Header, received.Body)
			}
		}
		if events := triggered(t, acme, 14); len(events) != 1 || events[0]["body"] != "who is this?" {
			t.Errorf("got %v", events)
		}
		postRaw(t, p, "/sms/inbound", http.Header{}, "{}").Rejected(t, 404, 1402) // there is no other gateway here
	}, withSecret(t), func(c *app.Config) {
		c.SMS.Gateway, c.SMS.Account, c.SMS.From = "twilio+"+server.URL, "AC1", "+12125550001"
	})
}
