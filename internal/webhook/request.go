package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"dray/internal/lastmile"
)

// Reasons why an attempt failed. They reveal nothing about internal networks. They are
// stored, and the dashboard translates them: do not reword them.
const (
	reasonBadURL      = "the address cannot be used"
	reasonForbidden   = "the target is not allowed"
	reasonConnect     = "could not connect"
	reasonCertificate = "the certificate is not valid"
	reasonTimeout     = "no complete answer in time"
	reasonBroken      = "the answer broke off"
	reasonMismatch    = "the answer did not match"
	reasonStatus      = "the answer was not 200"
)

// Handshake verifies that a server agrees to be a webhook: its response must be
// the random text that it was sent. The error is shown to the client.
func (e *Egress) Handshake(ctx context.Context, raw, check string) error {
	u, err := e.check(raw)
	if err != nil {
		return rejected(reasonBadURL)
	}
	if u.RawQuery != "" { // keep the query as it is: it may be signed
		u.RawQuery += "&"
	}
	u.RawQuery += "check=" + url.QueryEscape(check)
	status, response, reason := e.send(ctx, http.MethodGet, u, nil, nil)
	switch {
	case status == 0 && reason == reasonTimeout:
		return rejected(reasonConnect) // do not reveal whether a port is filtered
	case status == 0 && reason != reasonBroken:
		return rejected(reason)
	case status != http.StatusOK || strings.TrimSuffix(string(response), "\n") != check:
		return rejected(reasonMismatch)
	}
	return nil
}

// remedies explain how to fix each cause of a rejected webhook.
var remedies = map[string]string{
	reasonBadURL:      "the url must name its server by a DNS name in ASCII or by a plain IP address, with a port from 1 to 65535 or none",
	reasonForbidden:   "webhooks reach public addresses on ports 443 and 8443, and what the operator of this server allows",
	reasonConnect:     "the url must be of a server that speaks HTTPS and responds within seconds",
	reasonCertificate: "the server must show a certificate for its name, in force, from an authority that this server knows",
	reasonMismatch:    "the url must respond to GET ?check=TEXT with status 200 and exactly that text",
}

func rejected(reason string) error {
	return lastmile.InvalidHook("the webhook could not be validated: %s", reason).Because("%s", remedies[reason])
}

// Post sends a notification. The reason explains a failure and is empty when the
// response has status 200. If the status is another, response is the beginning of the
// body.
func (e *Egress) Post(ctx context.Context, raw string, header http.Header, body []byte) (status int, reason, response string) {
	u, err := e.check(raw)
	if err != nil {
		return 0, reasonBadURL, ""
	}
	status, content, reason := e.send(ctx, http.MethodPost, u, header, body)
	if reason == "" && status != http.StatusOK {
		reason, response = reasonStatus, legible(content)
	}
	return status, reason, response
}

// legible converts content to text that every database can store.
func legible(content []byte) string {
	text := strings.ReplaceAll(strings.ToValidUTF8(string(content), ""), "\x00", "")
	return strings.TrimSpace(text)
}

// send makes one request. If the status of the response is not 200, it returns only the
// first maxExcerpt bytes, or fewer if these do not arrive within excerptTimeout.
func (e *Egress) send(ctx context.Context, method string, u *url.URL, header http.Header, body []byte) (status int, content []byte, reason string) {
	ctx, cancel := context.WithTimeout(ctx, e.options.Timeout)
	defer cancel()
	request := (&http.Request{Method: method, URL: u, Host: u.Host, Header: header}).WithContext(ctx)
	if request.Header == nil {
		request.Header = http.Header{}
	}
	if len(body) > 0 {
		request.ContentLength = int64(len(body))
		request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
		request.Body = io.NopCloser(bytes.NewReader(body))
	}
	request.Header["User-Agent"] = userAgent
	request.Header["Accept-Encoding"] = identity
	// An empty value is not sent. It permits the transport to retry on a new
	// connection when the server closes an idle one at the same moment.
	request.Header["Idempotency-Key"] = nil
	response, err := e.transport.RoundTrip(request)
	if err != nil {
		return 0, nil, failureReason(ctx, err)
	}
	defer response.Body.Close()
	if response.ContentLength == 0 {
		return response.StatusCode, nil, ""
	}
	if response.StatusCode != http.StatusOK {
		defer time.AfterFunc(excerptTimeout, cancel).Stop()
		content, _ = io.ReadAll(io.LimitReader(response.Body, maxExcerpt)) // as far as it gets: the status says enough
		return response.StatusCode, content, ""
	}
	content, err = io.ReadAll(io.LimitReader(response.Body, maxResponse))
	if err != nil {
		return response.StatusCode, nil, failureReason(ctx, err)
	}
	return response.StatusCode, content, ""
}

var userAgent, identity = []string{"Dray-Webhook/1"}, []string{"identity"}

// failureReason maps an error to one of the reasons.
func failureReason(ctx context.Context, err error) string {
	var (
		certificate *tls.CertificateVerificationError
		unconnected connectError
	)
	switch {
	case errors.Is(err, errForbidden):
		return reasonForbidden
	case errors.As(err, &certificate):
		return reasonCertificate
	case ctx.Err() != nil || timedOut(err):
		return reasonTimeout
	case errors.As(err, &unconnected):
		return reasonConnect
	}
	return reasonBroken
}

func timedOut(err error) bool {
	var timeout net.Error
	if unconnected, ok := errors.AsType[connectError](err); ok {
		err = unconnected.error
	}
	return errors.As(err, &timeout) && timeout.Timeout()
}
