package geo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Limits of what is waited for and taken from a map service.
const (
	answerWithin  = 4 * time.Second // a geocoder
	connectWithin = 2 * time.Second
	maxAnswer     = 1 << 20 // of a geocoder
	maxTable      = 8 << 20 // of a router
)

// Options are what all map services need.
type Options struct {
	Now       func() time.Time
	UserAgent string            // tells a public service who asks
	Transport http.RoundTripper // nil for the network
}

// service is a map service over HTTP.
type service struct {
	name    string
	base    url.URL
	agent   string
	limit   int64 // of an answer
	client  *http.Client
	breaker *breaker
	pacer   *pacer // nil when there is no limit
}

func newService(name string, base url.URL, limit int64, o Options) *service {
	transport := o.Transport
	if transport == nil {
		transport = &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			DialContext:            (&net.Dialer{Timeout: connectWithin}).DialContext,
			TLSHandshakeTimeout:    connectWithin,
			MaxIdleConnsPerHost:    8,
			MaxResponseHeaderBytes: 64 << 10,
			IdleConnTimeout:        time.Minute,
			ForceAttemptHTTP2:      true,
		}
	}
	return &service{
		name: name, base: base, agent: o.UserAgent, limit: limit,
		client: &http.Client{
			Transport: transport,
			// Where a service sends us is not where the operator sent us.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		breaker: &breaker{now: o.Now},
	}
}

// get asks for a path below the service's own, and decodes the answer.
func (s *service) get(ctx context.Context, within time.Duration, path string, query url.Values, answer any) error {
	u := s.base
	u.Path = strings.TrimSuffix(u.Path, "/") + path
	all := u.Query()
	maps.Copy(all, query)
	u.RawQuery = all.Encode()
	return s.do(ctx, within, http.MethodGet, u, nil, answer)
}

// post sends a question as JSON, and decodes the answer.
func (s *service) post(ctx context.Context, within time.Duration, path string, question, answer any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return err
	}
	u := s.base
	u.Path = strings.TrimSuffix(u.Path, "/") + path
	return s.do(ctx, within, http.MethodPost, u, body, answer)
}

// do asks once. Errors never hold the URL, which may hold a key.
func (s *service) do(ctx context.Context, within time.Duration, method string, u url.URL, body []byte, answer any) error {
	if err := s.breaker.allow(); err != nil {
		return fmt.Errorf("ask %s: %w", s.name, err)
	}
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := s.pacer.wait(limited); err != nil {
		s.breaker.skip()
		return fmt.Errorf("ask %s: %w", s.name, err)
	}
	err := s.exchange(limited, method, u, body, answer)
	if errors.Is(ctx.Err(), context.Canceled) {
		s.breaker.skip() // the caller has gone, which says nothing about the service
	} else {
		s.breaker.done(err)
	}
	if err != nil {
		return fmt.Errorf("ask %s: %w", s.name, err)
	}
	return nil
}

// statusError is an answer that is not 200.
type statusError struct {
	status     int
	retryAfter time.Duration
}

// Error implements error.
func (e *statusError) Error() string { return fmt.Sprintf("it answered with status %d", e.status) }

var errTooLarge = errors.New("the answer is too large")

func (s *service) exchange(ctx context.Context, method string, u url.URL, body []byte, answer any) error {
	request, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return errors.New("the request cannot be made of the address given")
	}
	request.Header.Set("User-Agent", s.agent)
	request.Header.Set("Accept", "application/json")
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := s.client.Do(request)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err // without the URL
		}
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return &statusError{response.StatusCode, retryAfter(response.Header.Get("Retry-After"))}
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, s.limit+1))
	if err != nil {
		return err
	}
	if int64(len(content)) > s.limit {
		return errTooLarge
	}
	if err := json.Unmarshal(content, answer); err != nil {
		return fmt.Errorf("the answer cannot be read: %w", err)
	}
	if a, ok := answer.(checked); ok {
		return a.check()
	}
	return nil
}

// checked is an answer that tells by itself when the service has failed.
type checked interface{ check() error }

func retryAfter(header string) time.Duration {
	seconds, err := strconv.Atoi(header)
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
