package sms_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"dray/internal/lastmile"
	"dray/internal/sms"
	"dray/internal/textmessage"
)

var start = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return start }

func message() textmessage.Message {
	m := textmessage.New("msgmsgmsgmsgmsgmsgmsgmsg", "acme", textmessage.KindStarted, "+12125550100", "Acme: on the way", start, start)
	m.From, m.Task, m.Sent = "+12125550001", "task", start
	return m
}

// server starts a gateway's server on loopback.
func server(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL
}

// closed is an address at which no server listens.
const closed = "http://127.0.0.1:1"

func sign(secret []byte, id, timestamp string, body []byte) string {
	return fmt.Sprintf("v1,%s/%s/%s/%d", secret, id, timestamp, len(body))
}

func httpGateway(t *testing.T, address string) *sms.HTTP {
	t.Helper()
	g, err := sms.NewHTTP(address, "+12125550001", []byte("secret"), sign, clock)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func twilio(t *testing.T, base string) *sms.Twilio {
	t.Helper()
	g, err := sms.NewTwilio(sms.Twilio{Base: base, Account: "AC1", Token: "token", Sender: "+12125550001", PublicURL: "https://dray.example", Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// hang closes the connection in the middle of a response.
func hang(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "1000")
	w.WriteHeader(http.StatusOK)
	panic(http.ErrAbortHandler)
}

func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

func TestGatewaysSayWhatBecameOfAMessage(t *testing.T) {
	const taken, rejected, busy, unsure = textmessage.SendAccepted, textmessage.SendRejected, textmessage.SendDeferred, textmessage.SendUncertain
	for name, tt := range map[string]struct {
		handler http.HandlerFunc
		http    textmessage.Verdict
		twilio  textmessage.Verdict
		id      string
	}{
		"good":                              {status(201, `{"sid":"SM1","id":"SM1","status":"queued"}`), taken, taken, "SM1"},
		"good without an id":                {status(200, `{}`), taken, unsure, ""},
		"good with a body that is not JSON": {status(200, `<html>`), taken, unsure, ""},
		"an invalid number":                 {status(400, `{"code":21211,"message":"Invalid 'To'"}`), rejected, rejected, ""},
		"too many":                          {status(429, ``), busy, busy, ""},
		"temporarily unavailable":           {status(503, ``), busy, busy, ""},
		"a wrong secret":                    {status(401, ``), busy, busy, ""},
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "https://evil.example/", http.StatusFound)
		}, busy, busy, ""},
		"an internal error":          {status(500, `{"sid":"SM1"}`), unsure, unsure, ""},
		"a response that breaks off": {hang, unsure, unsure, ""},
		"a connection that is shut":  {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, unsure, unsure, ""},
		"a response that has no end": {func(w http.ResponseWriter, r *http.Request) { endless(w, r) }, taken, unsure, ""},
	} {
		t.Run(name, func(t *testing.T) {
			address := server(t, tt.handler)
			if got := httpGateway(t, address).Send(t.Context(), message()); got.Verdict != tt.http || got.Verdict == taken && got.GatewayID != tt.id {
				t.Errorf("over HTTP: %+v, want %v", got, tt.http)
			}
			got := twilio(t, address).Send(t.Context(), message())
			if got.Verdict != tt.twilio || got.Verdict == taken && got.GatewayID != tt.id {
				t.Errorf("Twilio: %+v, want %v", got, tt.twilio)
			}
			if got.OptedOut {
				t.Error("accepted for a number that opted out")
			}
			if strings.Contains(got.Reason, "127.0.0.1") || strings.Contains(got.Reason, "token") {
				t.Errorf("the reason reveals too much: %s", got.Reason)
			}
		})
	}
	t.Run("a number that opted out at Twilio", func(t *testing.T) {
		got := twilio(t, server(t, status(400, `{"code":21610,"message":"Attempt to send to unsubscribed recipient"}`))).Send(t.Context(), message())
		if got.Verdict != rejected || !got.OptedOut {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("no server", func(t *testing.T) {
		if got := httpGateway(t, closed).Send(t.Context(), message()); got.Verdict != busy {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("no response in time", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		release := make(chan struct{})
		address := server(t, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			cancel() // after the gateway received the message
			<-release
		})
		t.Cleanup(func() { close(release) })
		if got := twilio(t, address).Send(ctx, message()); got.Verdict != unsure {
			t.Errorf("got %+v", got)
		}
	})
}

// endless responds until the client disconnects.
func endless(w http.ResponseWriter, r *http.Request) {
	for r.Context().Err() == nil {
		if _, err := io.WriteString(w, strings.Repeat("x", 64<<10)); err != nil {
			return
		}
	}
}

func TestTheHTTPGatewayIsSentASignedMessage(t *testing.T) {
	var (
		header http.Header
		body   []byte
	)
	address := server(t, func(_ http.ResponseWriter, r *http.Request) {
		header = r.Header
		body, _ = io.ReadAll(r.Body)
	})
	m := message()
	if got := httpGateway(t, address).Send(t.Context(), m); got.Verdict != textmessage.SendAccepted {
		t.Fatalf("not taken: %+v", got)
	}
	var sent map[string]any
	if err := json.Unmarshal(body, &sent); err != nil {
		t.Fatal(err)
	}
	meta := sent["meta"].(map[string]any)
	if sent["id"] != string(m.ID) || sent["to"] != string(m.To) || sent["from"] != m.From || sent["body"] != m.Body ||
		meta["organization"] != "acme" || meta["kind"] != "taskStarted" || meta["task"] != "task" || meta["segments"] != 1.0 {
		t.Errorf("sent %s", body)
	}
	timestamp := fmt.Sprint(start.Unix())
	if header.Get("Webhook-Id") != string(m.ID) || header.Get("Idempotency-Key") != string(m.ID) || header.Get("Webhook-Timestamp") != timestamp ||
		header.Get("Webhook-Signature") != sign([]byte("secret"), string(m.ID), timestamp, body) {
		t.Errorf("headers %v", header)
	}
}

func TestTwilioIsSentAForm(t *testing.T) {
	var (
		path, user, password string
		form                 url.Values
	)
	address := server(t, func(w http.ResponseWriter, r *http.Request) {
		user, password, _ = r.BasicAuth()
		_ = r.ParseForm()
		path, form = r.URL.Path, r.PostForm
		status(201, `{"sid":"SM1"}`)(w, r)
	})
	m := message()
	if got := twilio(t, address).Send(t.Context(), m); got.Verdict != textmessage.SendAccepted {
		t.Fatalf("not taken: %+v", got)
	}
	want := url.Values{
		"To": {"+12125550100"}, "From": {"+12125550001"}, "Body": {"Acme: on the way"}, "ValidityPeriod": {"3600"},
		"StatusCallback": {"https://dray.example/sms/twilio/status?message=msgmsgmsgmsgmsgmsgmsgmsg"},
	}
	if path != "/2010-04-01/Accounts/AC1/Messages.json" || user != "AC1" || password != "token" || form.Encode() != want.Encode() {
		t.Errorf("%s by %s:%s sent %v", path, user, password, form)
	}
	m.From = "MG" + strings.Repeat("0", 32)
	twilio(t, address).Send(t.Context(), m)
	if form.Get("MessagingServiceSid") != m.From || form.Has("From") {
		t.Errorf("from a messaging service: %v", form)
	}
}

func TestTwilioIsAskedForAMessageThatMayHaveBeenSent(t *testing.T) {
	list := func(messages ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet || r.URL.Query().Get("To") != "+12125550100" {
				t.Errorf("asked with %s %s", r.Method, r.URL)
			}
			fmt.Fprintf(w, `{"messages":[%s]}`, strings.Join(messages, ","))
		}
	}
	one := func(body, direction string, at time.Time) string {
		return fmt.Sprintf(`{"sid":"SM7","to":"+12125550100","body":%q,"direction":%q,"date_created":%q}`, body, direction, at.Format(time.RFC1123Z))
	}
	const text = "Acme: on the way"
	for name, tt := range map[string]struct {
		handler http.HandlerFunc
		want    textmessage.Verdict
	}{
		"it was sent":                  {list(one("else", "outbound-api", start), one(text, "outbound-api", start.Add(time.Second))), textmessage.SendAccepted},
		"it was not sent":              {list(), textmessage.SendDeferred},
		"only one with another text":   {list(one("Acme: delivered", "outbound-api", start)), textmessage.SendDeferred},
		"only one of yesterday":        {list(one(text, "outbound-api", start.Add(-24*time.Hour))), textmessage.SendDeferred},
		"only a received one":          {list(one(text, "inbound", start)), textmessage.SendDeferred},
		"the outcome is unknown":       {status(500, ``), textmessage.SendUncertain},
		"a response that says nothing": {status(200, `{}`), textmessage.SendUncertain},
		"a response that is no list":   {status(200, `[]`), textmessage.SendUncertain},
		"a connection that broke":      {hang, textmessage.SendUncertain},
	} {
		t.Run(name, func(t *testing.T) {
			if got := twilio(t, server(t, tt.handler)).Find(t.Context(), message(), nil); got.Verdict != tt.want {
				t.Errorf("got %+v, want %v", got, tt.want)
			}
		})
	}
	t.Run("several with the same text", func(t *testing.T) {
		sent := one(text, "outbound-api", start)
		gateway := twilio(t, server(t, list(sent, strings.ReplaceAll(sent, "SM7", "SM8"))))
		for _, tt := range []struct {
			taken []string
			want  textmessage.Result
		}{
			{nil, textmessage.Result{Verdict: textmessage.SendAccepted, GatewayID: "SM7"}},
			{[]string{"SM7"}, textmessage.Result{Verdict: textmessage.SendAccepted, GatewayID: "SM8"}},
			{[]string{"SM8", "SM7"}, textmessage.Result{Verdict: textmessage.SendDeferred}},
		} {
			if got := gateway.Find(t.Context(), message(), tt.taken); got != tt.want {
				t.Errorf("%v are taken: got %+v, want %+v", tt.taken, got, tt.want)
			}
		}
	})
}

func TestGatewaysThatCannotBe(t *testing.T) {
	for _, address := range []string{"", "ftp://x", "gateway", "https://"} {
		if _, err := sms.NewHTTP(address, "", []byte("s"), sign, clock); err == nil {
			t.Errorf("%q is taken for a gateway", address)
		}
	}
	if _, err := sms.NewHTTP("https://gateway.example", "", nil, sign, clock); err == nil {
		t.Error("a gateway without a secret")
	}
	good := sms.Twilio{Base: sms.TwilioAPI, Account: "AC1", Token: "t", Sender: "+1"}
	for name, spoil := range map[string]func(*sms.Twilio){
		"address": func(g *sms.Twilio) { g.Base = "twilio" }, "account": func(g *sms.Twilio) { g.Account = "" },
		"account with a path": func(g *sms.Twilio) { g.Account = "AC1/../x" }, "token": func(g *sms.Twilio) { g.Token = "" },
		"sender": func(g *sms.Twilio) { g.Sender = "" },
	} {
		bad := good
		spoil(&bad)
		if _, err := sms.NewTwilio(bad); err == nil {
			t.Errorf("Twilio without a good %s", name)
		}
	}
}

// The vectors are from Twilio's documentation and libraries.
func TestTwilioSignatures(t *testing.T) {
	form := url.Values{
		"CallSid": {"CA1234567890ABCDE"}, "Caller": {"+14158675309"}, "Digits": {"1234"}, "From": {"+14158675309"}, "To": {"+18005551212"},
	}
	got := sms.TwilioSignature("12345", "https://mycompany.com/myapp.php?foo=1&bar=2", form)
	if want := "RSOYDt4T1cUTdK1PDd93/VVr8B8="; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestOnlyTwilioIsBelieved(t *testing.T) {
	form := url.Values{"MessageSid": {"SM1"}, "From": {"+12125550100"}, "To": {"+12125550001"}, "Body": {"hello & bye"}, "NumMedia": {"0"}}
	post := func(target, signature string) (lastmile.Reply, error) {
		r := httptest.NewRequest(http.MethodPost, target, nil)
		r.Header.Set("X-Twilio-Signature", signature)
		return twilio(t, "https://api.example").ReadReply(r, []byte(form.Encode()))
	}
	for name, signed := range map[string]string{
		"the public address":               "https://dray.example/sms/twilio/inbound?a=b",
		"the public address with its port": "https://dray.example:443/sms/twilio/inbound?a=b",
	} {
		reply, err := post("/sms/twilio/inbound?a=b", sms.TwilioSignature("token", signed, form))
		want := lastmile.Reply{Gateway: "twilio", ID: "SM1", From: "+12125550100", To: "+12125550001", Body: "hello & bye"}
		if err != nil || reply != want {
			t.Errorf("%s: %+v, %v", name, reply, err)
		}
	}
	more := url.Values{"MessageSid": {"SM1"}}
	for name, signature := range map[string]string{
		"nothing": "", "another secret": sms.TwilioSignature("tokem", "https://dray.example/sms/twilio/inbound?a=b", form),
		"another address": sms.TwilioSignature("token", "https://dray.example/sms/twilio/inbound", form),
		"another scheme":  sms.TwilioSignature("token", "http://dray.example/sms/twilio/inbound?a=b", form),
		"another port":    sms.TwilioSignature("token", "https://dray.example:8443/sms/twilio/inbound?a=b", form),
		"another form":    sms.TwilioSignature("token", "https://dray.example/sms/twilio/inbound?a=b", more),
	} {
		if _, err := post("/sms/twilio/inbound?a=b", signature); err == nil {
			t.Errorf("a post signed with %s is accepted", name)
		}
	}
}

func TestReportsOfTwilio(t *testing.T) {
	for code, optedOut := range map[string]bool{"30003": false, "21610": true} {
		testReports(t, code, optedOut)
	}
}

func testReports(t *testing.T, code string, optedOut bool) {
	t.Helper()
	for state, want := range map[string]textmessage.State{
		"queued": "", "accepted": "", "sending": "", "sent": textmessage.StateSent, "delivered": textmessage.StateDelivered, "read": textmessage.StateDelivered,
		"undelivered": textmessage.StateFailed, "failed": textmessage.StateFailed, "nonsense": "",
	} {
		form := url.Values{"MessageSid": {"SM1"}, "MessageStatus": {state}, "ErrorCode": {code}}
		r := httptest.NewRequest(http.MethodPost, "/sms/twilio/status?message=m1", nil)
		r.Header.Set("X-Twilio-Signature", sms.TwilioSignature("token", "https://dray.example/sms/twilio/status?message=m1", form))
		report, err := twilio(t, "https://api.example").ReadReport(r, []byte(form.Encode()))
		if err != nil || report.State != want || report.Message != "m1" || report.GatewayID != "SM1" ||
			report.OptedOut != (optedOut && want == textmessage.StateFailed) || want == textmessage.StateFailed && report.Reason != "Twilio error "+code {
			t.Errorf("%s: %+v, %v", state, report, err)
		}
	}
}

func TestOnlyTheSecretIsBelieved(t *testing.T) {
	body := []byte(`{"id":"1"}`)
	at := func(d time.Duration) string { return fmt.Sprint(start.Add(d).Unix()) }
	for name, tt := range map[string]struct {
		id, timestamp, signature string
		accepted                 bool
	}{
		"a good one":           {"1", at(0), sign([]byte("s"), "1", at(0), body), true},
		"among others":         {"1", at(0), "v1,else " + sign([]byte("s"), "1", at(0), body) + " v2,x", true},
		"a clock a little off": {"1", at(-4 * time.Minute), sign([]byte("s"), "1", at(-4*time.Minute), body), true},
		"an old one":           {"1", at(-6 * time.Minute), sign([]byte("s"), "1", at(-6*time.Minute), body), false},
		"one of the future":    {"1", at(6 * time.Minute), sign([]byte("s"), "1", at(6*time.Minute), body), false},
		"another secret":       {"1", at(0), sign([]byte("S"), "1", at(0), body), false},
		"another id":           {"2", at(0), sign([]byte("s"), "1", at(0), body), false},
		"another time":         {"1", at(time.Second), sign([]byte("s"), "1", at(0), body), false},
		"no signature":         {"1", at(0), "", false},
		"no id":                {"", at(0), sign([]byte("s"), "", at(0), body), false},
		"no time":              {"1", "", sign([]byte("s"), "1", "", body), false},
		"a time that is none":  {"1", "now", sign([]byte("s"), "1", "now", body), false},
	} {
		header := http.Header{"Webhook-Id": {tt.id}, "Webhook-Timestamp": {tt.timestamp}, "Webhook-Signature": {tt.signature}}
		if err := sms.Verify(sign, []byte("s"), header, body, start); (err == nil) != tt.accepted {
			t.Errorf("%s: %v", name, err)
		}
	}
}
