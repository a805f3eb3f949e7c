package sms

import (
	"context"
	"crypto/hmac"
	"crypto/sha1" // Twilio's signatures use it
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"dray/internal/lastmile"
	"dray/internal/textmessage"
)

// TwilioAPI is the base URL of Twilio's API.
const TwilioAPI = "https://api.twilio.com"

// The paths that Twilio calls.
const (
	TwilioReplies = "/sms/twilio/inbound"
	TwilioReports = "/sms/twilio/status"
)

// Twilio is a gateway for Twilio's REST API.
type Twilio struct {
	Base      string // without a trailing slash
	Account   string
	Token     string
	Sender    string // number, name or id of a messaging service
	PublicURL string // URL of this installation, for Twilio's requests
	Now       func() time.Time

	client *http.Client
}

// NewTwilio returns the gateway of an account.
func NewTwilio(t Twilio) (*Twilio, error) {
	u, err := url.Parse(t.Base)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("the address of Twilio's API must be an http or https URL")
	case t.Account == "" || strings.ContainsAny(t.Account, "/?#"):
		return nil, errors.New("Twilio needs the SID of an account")
	case t.Token == "":
		return nil, errors.New("Twilio needs the account's auth token as the secret")
	case t.Sender == "":
		return nil, errors.New("Twilio needs a number or messaging service to send from")
	}
	t.Base, t.client = strings.TrimSuffix(t.Base, "/"), newClient()
	return &t, nil
}

// Name implements messaging.Gateway.
func (t *Twilio) Name() string { return "twilio" }

// From implements messaging.Gateway.
func (t *Twilio) From() string { return t.Sender }

// The maximum time that Twilio may hold an undeliverable message, and the
// minimum it accepts.
const (
	longestValidity  = 4 * time.Hour
	shortestValidity = time.Second
)

// twilioOptedOut is Twilio's error code for a number that replied STOP, which Twilio
// handles itself and may not forward.
const twilioOptedOut = 21610

// twilioMessage is Twilio's representation of a message or an error.
type twilioMessage struct {
	SID       string `json:"sid"`
	To        string `json:"to"`
	Body      string `json:"body"`
	Direction string `json:"direction"`
	Created   string `json:"date_created"` // RFC 2822
	Code      int    `json:"code"`
	Message   string `json:"message"`
}

// Send implements messaging.Gateway.
func (t *Twilio) Send(ctx context.Context, m textmessage.Message) textmessage.Result {
	form := url.Values{
		"To": {string(m.To)}, "Body": {m.Body},
		"StatusCallback": {t.PublicURL + TwilioReports + "?message=" + url.QueryEscape(string(m.ID))},
	}
	if validity := min(m.Expires.Sub(t.Now()), longestValidity); validity >= shortestValidity {
		form.Set("ValidityPeriod", strconv.Itoa(int(validity/time.Second)))
	}
	if strings.HasPrefix(m.From, "MG") && len(m.From) == 34 {
		form.Set("MessagingServiceSid", m.From)
	} else {
		form.Set("From", m.From)
	}
	var taken twilioMessage
	status, failed := t.request(ctx, http.MethodPost, "", strings.NewReader(form.Encode()), &taken)
	switch {
	case failed.Verdict != 0:
		return failed
	case status >= 200 && status < 300 && taken.SID != "":
		return textmessage.Result{Verdict: textmessage.SendAccepted, GatewayID: taken.SID}
	case status >= 200 && status < 300:
		return textmessage.Result{Verdict: textmessage.SendUncertain, Reason: "the gateway's response has no sid"}
	}
	reason := statusReason(status)
	if taken.Code != 0 {
		reason = "Twilio error " + strconv.Itoa(taken.Code) + ": " + taken.Message
	}
	return textmessage.Result{Verdict: verdictFor(status), Reason: reason, OptedOut: taken.Code == twilioOptedOut}
}

// Find implements messaging.Finder. It searches the messages sent to the number
// since the first attempt by their text, because Twilio stores no id of ours. taken
// has the ids of other messages.
func (t *Twilio) Find(ctx context.Context, m textmessage.Message, taken []string) textmessage.Result {
	var list struct {
		Messages []twilioMessage `json:"messages"`
	}
	query := "?" + url.Values{"To": {string(m.To)}, "PageSize": {"100"}}.Encode()
	status, failed := t.request(ctx, http.MethodGet, query, http.NoBody, &list)
	if failed.Verdict != 0 {
		return textmessage.Result{Verdict: textmessage.SendUncertain, Reason: failed.Reason}
	}
	if status != http.StatusOK || list.Messages == nil {
		return textmessage.Result{Verdict: textmessage.SendUncertain, Reason: statusReason(status) + " when asked for the message"}
	}
	for _, sent := range list.Messages {
		created, err := time.Parse(time.RFC1123Z, sent.Created)
		if err != nil || created.Before(m.Sent.Truncate(time.Second).Add(-time.Minute)) {
			continue
		}
		if sent.Body == m.Body && sent.To == string(m.To) && strings.HasPrefix(sent.Direction, "outbound") && sent.SID != "" && !slices.Contains(taken, sent.SID) {
			return textmessage.Result{Verdict: textmessage.SendAccepted, GatewayID: sent.SID}
		}
	}
	return textmessage.Result{Verdict: textmessage.SendDeferred}
}

// request sends a request for the account's messages.
func (t *Twilio) request(ctx context.Context, method, query string, body io.Reader, reply any) (int, textmessage.Result) {
	address := t.Base + "/2010-04-01/Accounts/" + t.Account + "/Messages.json" + query
	request, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return 0, textmessage.Result{Verdict: textmessage.SendRejected, Reason: "the gateway's address cannot be used"}
	}
	request.Header = http.Header{"Accept": {"application/json"}, "User-Agent": {"Dray-SMS/1"}}
	if method == http.MethodPost {
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	request.SetBasicAuth(t.Account, t.Token)
	status, data, failed := exchange(t.client, request)
	if failed.Verdict == 0 && json.Unmarshal(data, reply) != nil {
		return status, textmessage.Result{} // treated as no response
	}
	return status, failed
}

// ReadReply parses a received text message as posted by Twilio.
func (t *Twilio) ReadReply(r *http.Request, body []byte) (lastmile.Reply, error) {
	form, err := t.verify(r, body)
	return lastmile.Reply{
		Gateway: t.Name(), ID: form.Get("MessageSid"), From: lastmile.Phone(form.Get("From")), To: form.Get("To"), Body: form.Get("Body"),
	}, err
}

// ReadReport parses a delivery report as posted by Twilio. Reports without news
// have no state.
func (t *Twilio) ReadReport(r *http.Request, body []byte) (textmessage.DeliveryReport, error) {
	form, err := t.verify(r, body)
	report := textmessage.DeliveryReport{Message: lastmile.MessageID(r.URL.Query().Get("message")), GatewayID: form.Get("MessageSid")}
	switch form.Get("MessageStatus") {
	case "sent":
		report.State = textmessage.StateSent
	case "delivered", "read":
		report.State = textmessage.StateDelivered
	case "failed", "undelivered", "canceled":
		report.State, report.Reason = textmessage.StateFailed, "the gateway could not deliver it"
		if code := form.Get("ErrorCode"); code != "" {
			report.Reason, report.OptedOut = "Twilio error "+code, code == strconv.Itoa(twilioOptedOut)
		}
	}
	return report, err
}

// verify returns the form of a request with a valid signature of Twilio.
func (t *Twilio) verify(r *http.Request, body []byte) (url.Values, error) {
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, lastmile.Malformed("the body must be a form")
	}
	given := []byte(r.Header.Get("X-Twilio-Signature"))
	for _, address := range t.addresses(r) {
		if hmac.Equal(given, []byte(TwilioSignature(t.Token, address, form))) {
			return form, nil
		}
	}
	return nil, lastmile.Forbidden("X-Twilio-Signature does not match")
}

// addresses returns the possible URLs of a request: with and without the
// default port.
func (t *Twilio) addresses(r *http.Request) []string {
	u, err := url.Parse(t.PublicURL)
	if err != nil {
		return nil
	}
	tail := strings.TrimSuffix(u.EscapedPath(), "/") + r.URL.EscapedPath()
	if r.URL.RawQuery != "" {
		tail += "?" + r.URL.RawQuery
	}
	standard := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	host := u.Host
	if u.Port() == standard {
		host = strings.TrimSuffix(host, ":"+standard)
	}
	all := []string{u.Scheme + "://" + host + tail}
	if u.Port() == "" || u.Port() == standard {
		all = append(all, u.Scheme+"://"+host+":"+standard+tail)
	}
	return all
}

// TwilioSignature returns Twilio's signature of a request to an address.
func TwilioSignature(token, address string, form url.Values) string {
	mac := hmac.New(sha1.New, []byte(token))
	mac.Write([]byte(address))
	names := make([]string, 0, len(form))
	for name := range form {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		values := slices.Compact(slices.Sorted(slices.Values(form[name])))
		for _, value := range values {
			mac.Write([]byte(name + value))
		}
	}
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
