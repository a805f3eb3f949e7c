package sms

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"time"

	"dray/internal/textmessage"
)

// Limits of what is waited for and taken from a gateway.
const (
	connectWithin = 5 * time.Second
	maxAnswer     = 256 << 10
	maxHeaders    = 64 << 10
)

// newClient makes a client for a server that the operator chose, which may be
// in a private network. It follows nothing: where a server sends us is not where
// the operator sent us.
func newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: connectWithin}).DialContext,
			TLSHandshakeTimeout:    connectWithin,
			MaxIdleConnsPerHost:    16,
			MaxResponseHeaderBytes: maxHeaders,
			IdleConnTimeout:        30 * time.Second,
			ForceAttemptHTTP2:      true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// exchange sends a request. Where there is no answer, the result says whether
// the request can have arrived.
func exchange(client *http.Client, request *http.Request) (status int, answer []byte, failed textmessage.Result) {
	connected := false
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected = true }}
	response, err := client.Do(request.WithContext(httptrace.WithClientTrace(request.Context(), trace)))
	if err == nil {
		defer response.Body.Close()
		answer, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer))
		if err == nil || response.StatusCode >= http.StatusMultipleChoices {
			return response.StatusCode, answer, textmessage.Result{}
		}
	}
	if !connected {
		return 0, nil, textmessage.Result{Verdict: textmessage.SendDeferred, Reason: "the gateway cannot be reached: " + why(err)}
	}
	return 0, nil, textmessage.Result{Verdict: textmessage.SendUncertain, Reason: "the gateway did not answer: " + why(err)}
}

// why is an error without the address, which may hold a secret.
func why(err error) string {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	var timeout net.Error
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return "it took too long"
	case errors.Is(err, context.Canceled):
		return "the node is stopping"
	}
	return err.Error()
}

// judge is what a status that is no success says of the message. A server that
// is busy, or does not let us in, has not taken it, and may later. Any other
// fault of its own may have come after it took it.
func judge(status int) textmessage.Verdict {
	switch {
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable, status == http.StatusUnauthorized,
		status < http.StatusBadRequest:
		return textmessage.SendDeferred
	case status >= http.StatusInternalServerError, status == http.StatusRequestTimeout:
		return textmessage.SendUncertain
	}
	return textmessage.SendRejected
}

func answered(status int) string { return fmt.Sprintf("the gateway answered with status %d", status) }
