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

// Limits of requests to a map service.
const (
	responseLimit = 4 * time.Second // timeout of a geocoder, including the wait for its rate limit
	connectWithin = 2 * time.Second
	maxResponse   = 1 << 20 // bytes of a geocoder's response
	maxTable      = 8 << 20 // bytes of a router's response
)

// Options are common to all map services.
type Options struct {
	Now       func() time.Time
	UserAgent string            // identifies the installation to public services
	Transport http.RoundTripper // nil for the default
}

// service is a map service over HTTP.
type service struct {
	name    string
	base    url.URL
	agent   string
	limit   int64 // maximum size of a response, in bytes
	client  *http.Client
	breaker *breaker
	pacer   *pacer // nil for no limit
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
			// The operator did not choose the target of a redirect.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		breaker: &breaker{now: o.Now},
	}
}

// get requests a path below the service's base URL and decodes the response.
func (s *service) get(ctx context.Context, within time.Duration, path string, query url.Values, reply any) error {
	u := s.base
	u.Path = strings.TrimSuffix(u.Path, "/") + path
	all := u.Query()
	maps.Copy(all, query)
	u.RawQuery = all.Encode()
	return s.do(ctx, within, http.MethodGet, u, nil, reply)
}

// post sends a request as JSON and decodes the response.
func (s *service) post(ctx context.Context, within time.Duration, path string, question, reply any) error {
	body, err := json.Marshal(question)
	if err != nil {
		return err
	}
	u := s.base
	u.Path = strings.TrimSuffix(u.Path, "/") + path
	return s.do(ctx, within, http.MethodPost, u, body, reply)
}

// do sends one request. Its errors do not contain the URL, which may hold a
// key.
func (s *service) do(ctx context.Context, within time.Duration, method string, u url.URL, body []byte, reply any) error {
	probe, err := s.breaker.allow()
	if err != nil {
		return fmt.Errorf("query %s: %w", s.name, err)
	}
	limited, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := s.pacer.wait(limited); err != nil {
		s.breaker.skip(probe)
		return fmt.Errorf("query %s: %w", s.name, err)
	}
	deadline, _ := limited.Deadline()
	short := time.Until(deadline) < within/2 // the caller, or services before this one, left little time
	err = s.exchange(limited, method, u, body, reply)
	if errors.Is(ctx.Err(), context.Canceled) || short && limited.Err() != nil {
		s.breaker.skip(probe) // the caller did not wait, which says nothing about the service
	} else {
		s.breaker.done(probe, err)
	}
	if err != nil {
		return fmt.Errorf("query %s: %w", s.name, err)
	}
	return nil
}

// statusError is a response with a status other than 200.
type statusError struct {
	status     int
	retryAfter time.Duration
}

// Error implements error.
func (e *statusError) Error() string { return fmt.Sprintf("it responded with status %d", e.status) }

var errTooLarge = errors.New("the response is too large")

func (s *service) exchange(ctx context.Context, method string, u url.URL, body []byte, reply any) error {
	request, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return errors.New("the address does not make a valid request")
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
	if err := json.Unmarshal(content, reply); err != nil {
		return fmt.Errorf("the response cannot be decoded: %w", err)
	}
	if a, ok := reply.(checked); ok {
		return a.check()
	}
	return nil
}

// checked is a response that can itself report a failure of the service.
type checked interface{ check() error }

func retryAfter(header string) time.Duration {
	seconds, err := strconv.Atoi(header)
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
