package sms

import (
	"bytes"
	"context"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"dray/internal/lastmile"
	"dray/internal/textmessage"
)

// Sign signs a request as specified by Standard Webhooks.
type Sign func(secret []byte, id, timestamp string, body []byte) string

// HTTP is a generic gateway: a server that accepts messages as JSON, signed
// like webhooks, and sends them.
//
// A message is sent again with the same id if the response was lost; the server
// must then ignore it.
type HTTP struct {
	URL    string
	Sender string
	Secret []byte
	Sign   Sign
	Now    func() time.Time

	client *http.Client
}

// NewHTTP returns the gateway at an address.
func NewHTTP(address, sender string, secret []byte, sign Sign, now func() time.Time) (*HTTP, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the gateway's address must be an http or https URL")
	}
	if len(secret) == 0 {
		return nil, errors.New("a gateway over HTTP needs a secret to sign with")
	}
	return &HTTP{URL: address, Sender: sender, Secret: secret, Sign: sign, Now: now, client: newClient()}, nil
}

// Name implements messaging.Gateway.
func (h *HTTP) Name() string { return "http" }

// From implements messaging.Gateway.
func (h *HTTP) From() string { return h.Sender }

// outgoing is a message in the form that the server receives.
type outgoing struct {
	ID   lastmile.MessageID `json:"id"`
	To   lastmile.Phone     `json:"to"`
	From string             `json:"from"`
	Body string             `json:"body"`
	Meta outgoingMeta       `json:"meta"`
}

type outgoingMeta struct {
	Organization lastmile.OrganizationID `json:"organization"`
	Kind         textmessage.Kind        `json:"kind"`
	Task         lastmile.TaskID         `json:"task,omitzero"`
	Expires      int64                   `json:"expires"` // Unix milliseconds
	Segments     int                     `json:"segments"`
}

// Send implements messaging.Gateway.
func (h *HTTP) Send(ctx context.Context, m textmessage.Message) textmessage.Result {
	body, err := json.Marshal(outgoing{
		ID: m.ID, To: m.To, From: m.From, Body: m.Body,
		Meta: outgoingMeta{Organization: m.Organization, Kind: m.Kind, Task: m.Task, Expires: m.Expires.UnixMilli(), Segments: textmessage.Segments(m.Body)},
	})
	if err != nil {
		return textmessage.Result{Verdict: textmessage.SendRejected, Reason: "it cannot be written as JSON"}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return textmessage.Result{Verdict: textmessage.SendRejected, Reason: "the gateway's address cannot be used"}
	}
	timestamp := strconv.FormatInt(h.Now().Unix(), 10)
	request.Header = http.Header{
		"Content-Type":      {"application/json"},
		"User-Agent":        {"Dray-SMS/1"},
		"Idempotency-Key":   {string(m.ID)},
		"Webhook-Id":        {string(m.ID)},
		"Webhook-Timestamp": {timestamp},
		"Webhook-Signature": {h.Sign(h.Secret, string(m.ID), timestamp, body)},
	}
	status, reply, failed := exchange(h.client, request)
	switch {
	case failed.Verdict != 0:
		return failed
	case status >= 200 && status < 300:
		var known struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(reply, &known) != nil || len(known.ID) > 100 {
			known.ID = "" // it is optional
		}
		return textmessage.Result{Verdict: textmessage.SendAccepted, GatewayID: known.ID}
	}
	return textmessage.Result{Verdict: verdictFor(status), Reason: statusReason(status)}
}

// tolerance is the accepted clock difference of signed requests.
const tolerance = 5 * time.Minute

// Verify checks that a request is signed with the secret and recent.
func Verify(sign Sign, secret []byte, header http.Header, body []byte, now time.Time) error {
	id, timestamp := header.Get("Webhook-Id"), header.Get("Webhook-Timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || id == "" {
		return lastmile.Forbidden("webhook-id, webhook-timestamp and webhook-signature are needed")
	}
	if off := now.Sub(time.Unix(seconds, 0)); off > tolerance || off < -tolerance {
		return lastmile.Forbidden("webhook-timestamp is more than %.0f minutes off", tolerance.Minutes())
	}
	want := []byte(sign(secret, id, timestamp, body))
	for given := range strings.FieldsSeq(header.Get("Webhook-Signature")) {
		if hmac.Equal([]byte(given), want) {
			return nil
		}
	}
	return lastmile.Forbidden("webhook-signature does not match")
}
