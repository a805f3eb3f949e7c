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

// Limits of requests to a gateway.
const (
	connectWithin = 5 * time.Second
	maxAnswer     = 256 << 10
	maxHeaders    = 64 << 10
)

// newClient returns a client for a server chosen by the operator, which may be
// in a private network. It does not follow redirects, because the operator did
// not choose their target.
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

// exchange sends a request. Without a response, the result says whether the
// request may have arrived.
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
		return 0, nil, textmessage.Result{Verdict: textmessage.SendDeferred, Reason: "the gateway cannot be reached: " + describe(err)}
	}
	return 0, nil, textmessage.Result{Verdict: textmessage.SendUncertain, Reason: "the gateway did not answer: " + describe(err)}
}

// describe describes an error without the URL, which may contain a secret.
func describe(err error) string {
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

// verdictFor maps an error status to a verdict. A server that is busy or denies
// access has not accepted the message and may later. Any other server error may
// have occurred after it accepted the message.
func verdictFor(status int) textmessage.Verdict {
	switch {
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable, status == http.StatusUnauthorized,
		status < http.StatusBadRequest:
		return textmessage.SendDeferred
	case status >= http.StatusInternalServerError, status == http.StatusRequestTimeout:
		return textmessage.SendUncertain
	}
	return textmessage.SendRejected
}

func statusReason(status int) string {
	return fmt.Sprintf("the gateway answered with status %d", status)
}
