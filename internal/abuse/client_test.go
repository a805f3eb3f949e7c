package abuse

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// client sends requests from one network address with the same credentials.
type client struct {
	server        *server
	authorization string
	from          string // network address, as a reverse proxy would report it
	http          *http.Client
	statuses      *statuses
}

func newClient(s *server, from, authorization string) *client {
	return &client{
		server: s, authorization: authorization, from: from, statuses: &statuses{},
		http: &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 256}},
	}
}

func keyOf(key string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte(key+":")) }

// with returns a client with other credentials.
func (c *client) with(authorization string) *client {
	other := *c
	other.authorization = authorization
	return &other
}

// reply is a response, or none (status 0) if the connection was closed.
type reply struct {
	status int
	body   []byte // at most 4 MiB of it
}

// object returns the body as JSON.
func (a reply) object() (o map[string]any) {
	json.Unmarshal(a.body, &o) //nolint:errcheck // then there are no members
	return o
}

func (a reply) id() string { return fmt.Sprint(a.object()["id"]) }

// encode returns a body: bytes and strings as they are, anything else as JSON.
func encode(body any) []byte {
	switch body := body.(type) {
	case nil:
		return nil
	case string:
		return []byte(body)
	case []byte:
		return body
	}
	text, err := json.Marshal(body)
	if err != nil {
		return fmt.Append(nil, err)
	}
	return text
}

// do sends a request and returns the response.
func (c *client) do(ctx context.Context, method, path string, body any, headers ...string) reply {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+c.server.address+path, bytes.NewReader(encode(body)))
	if err != nil {
		return reply{}
	}
	request.Header.Set("X-Forwarded-For", c.from)
	if c.authorization != "" {
		request.Header.Set("Authorization", c.authorization)
	}
	for pair := range slices.Chunk(headers, 2) {
		request.Header.Set(pair[0], pair[1])
	}
	response, err := c.http.Do(request)
	if err != nil {
		c.statuses.add(ctx, path, reply{body: fmt.Append(nil, err)})
		return reply{}
	}
	defer response.Body.Close()
	got, err := io.ReadAll(io.LimitReader(response.Body, 4<<20))
	if err == nil {
		_, err = io.Copy(io.Discard, response.Body)
	}
	a := reply{status: response.StatusCode, body: got}
	if err != nil {
		a = reply{}
	}
	c.statuses.add(ctx, method+" "+path, a)
	return a
}

func (c *client) get(ctx context.Context, path string) reply {
	return c.do(ctx, http.MethodGet, path, nil)
}

func (c *client) post(ctx context.Context, path string, body any, headers ...string) reply {
	return c.do(ctx, http.MethodPost, path, body, headers...)
}

func (c *client) put(ctx context.Context, path string, body any) reply {
	return c.do(ctx, http.MethodPut, path, body)
}

// must sends a POST request that has to succeed.
func (c *client) must(t *testing.T, path string, body any) reply {
	t.Helper()
	a := c.post(t.Context(), path, body)
	if a.status/100 != 2 {
		t.Fatalf("POST %s: %d %.300s", path, a.status, a.body)
	}
	return a
}

// dial opens a connection that buffers little, and is closed with the context.
func (c *client) dial(ctx context.Context) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: 10 * time.Second}).DialContext(ctx, "tcp", c.server.address)
	if err != nil {
		return nil, err
	}
	conn.(*net.TCPConn).SetReadBuffer(4 << 10) //nolint:errcheck // a larger buffer is the milder attack
	context.AfterFunc(ctx, func() { conn.Close() })
	return conn, nil
}

// head returns the text of a request up to its body.
func (c *client) head(method, path string, length int) string {
	text := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: dray\r\nX-Forwarded-For: %s\r\nContent-Type: application/json\r\n", method, path, c.from)
	if c.authorization != "" {
		text += "Authorization: " + c.authorization + "\r\n"
	}
	if length > 0 {
		text += fmt.Sprintf("Content-Length: %d\r\n", length)
	}
	return text + "\r\n"
}

// leaks matches what no response may contain.
var leaks = regexp.MustCompile(`(?i)\b(pgx|pgxpool|pgconn|SQLSTATE|sqlite3?)\b|goroutine |dial tcp|/internal/|\.go:\d`) // whole words, because ids may contain the letters

// statuses counts responses, and keeps examples of those that no caller should see.
type statuses struct {
	mu     sync.Mutex
	counts map[int]int
	faults map[string]string // by kind, one example each
}

func (s *statuses) add(ctx context.Context, what string, a reply) {
	if ctx.Err() != nil {
		return // the end of the attack
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts == nil {
		s.counts, s.faults = map[int]int{}, map[string]string{}
	}
	s.counts[a.status]++
	example := fmt.Sprintf("%.120s: %d %.300s", what, a.status, a.body)
	if a.status >= 500 && a.status != http.StatusServiceUnavailable {
		s.faults[fmt.Sprint("a response with status ", a.status)] = example
	}
	if a.status != 0 && a.status != http.StatusOK && leaks.Match(a.body) {
		s.faults["a response that shows internals"] = example
	}
}

// fault records what should not have happened.
func (s *statuses) fault(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.faults == nil {
		s.counts, s.faults = map[int]int{}, map[string]string{}
	}
	s.faults[format] = fmt.Sprintf(format, args...)
}

// take returns the counts as text, and the faults, and starts over.
func (s *statuses) take() (counts string, faults []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for status, n := range s.counts {
		counts += fmt.Sprintf(" %d×%d", n, status)
	}
	for kind, example := range s.faults {
		faults = append(faults, kind+": "+example)
	}
	s.counts, s.faults = nil, nil
	return strings.TrimSpace(counts), faults
}
