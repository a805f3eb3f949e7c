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
	connectTimeout = 5 * time.Second
	maxResponse    = 256 << 10
	maxHeaders     = 64 << 10
)

// newClient returns a client for a server chosen by the operator, which may be
// in a private network. It does not follow redirects, because the operator did
// not choose their target.
func newClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: connectTimeout}).DialContext,
			TLSHandshakeTimeout:    connectTimeout,
			MaxIdleConnsPerHost:    16,
			MaxResponseHeaderBytes: maxHeaders,
			IdleConnTimeout:        30 * time.Second,
			ForceAttemptHTTP2:      true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// exchange sends a request and returns the status and the body of the response. If
// there is no response, failed says whether the gateway may have received the
// request.
func exchange(client *http.Client, request *http.Request) (status int, body []byte, failed textmessage.Result) {
	connected := false
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected = true }}
	response, err := client.Do(request.WithContext(httptrace.WithClientTrace(request.Context(), trace)))
	if err == nil {
		defer response.Body.Close()
		body, err = io.ReadAll(io.LimitReader(response.Body, maxResponse))
		if err == nil || response.StatusCode >= http.StatusMultipleChoices {
			return response.StatusCode, body, textmessage.Result{}
		}
	}
	if !connected {
		return 0, nil, textmessage.Result{Verdict: textmessage.SendDeferred, Reason: "the gateway cannot be reached: " + describe(err)}
	}
	return 0, nil, textmessage.Result{Verdict: textmessage.SendUncertain, Reason: "the gateway did not respond: " + describe(err)}
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

// verdictFor maps an error status to a verdict. A gateway that is busy or denies
// access has not accepted the message, but may accept it later. Any other server
// error may have occurred after the gateway accepted the message.
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
	return fmt.Sprintf("the gateway responded with status %d", status)
}
