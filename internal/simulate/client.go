package simulate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// How long and how often a failed request is retried.
const (
	patience    = time.Minute
	firstPause  = 200 * time.Millisecond
	longPause   = 5 * time.Second
	maxResponse = 64 << 20
)

// client sends requests and counts their results.
type client struct {
	base  string // without a trailing slash
	http  *http.Client
	now   func() time.Time
	tally *tally
}

// request is a request. All requests may be repeated: they have an idempotency
// key or are idempotent.
type request struct {
	name         string // the route, for the report
	method, path string
	key, token   string // key of an organization, or token of a worker
	once         string // Idempotency-Key
	body         any    // sent as JSON, or a photo
	response     any    // where to decode the response; nil to ignore it
}

// rejection is a response other than 200.
type rejection struct {
	name    string
	status  int
	number  int
	message string
	after   time.Duration
}

// Error implements error.
func (r *rejection) Error() string {
	return fmt.Sprintf("%s: status %d (%d): %s", r.name, r.status, r.number, r.message)
}

// rejected reports whether the server rejected a request and will reject it
// again.
func rejected(err error) bool {
	r, ok := errors.AsType[*rejection](err)
	return ok && r.status < 500 && r.status != http.StatusTooManyRequests
}

// send sends a request until it gets a final response. Lost responses, overload
// and server errors are retried.
func (c *client) send(ctx context.Context, r request) error {
	pause, deadline := firstPause, c.now().Add(patience)
	for {
		err := c.try(ctx, r)
		if err == nil || rejected(err) || ctx.Err() != nil || c.now().After(deadline) {
			return err
		}
		again := pause
		if busy, ok := errors.AsType[*rejection](err); ok {
			again = max(pause, min(busy.after, longPause))
		}
		if !wait(ctx, again) {
			return err
		}
		pause = min(2*pause, longPause)
	}
}

// try sends a request once.
func (c *client) try(ctx context.Context, r request) error {
	sent, isPhoto := r.body.(photo)
	if !isPhoto && r.body != nil {
		var err error
		if sent, err = json.Marshal(r.body); err != nil {
			return fmt.Errorf("encode %s: %w", r.name, err)
		}
	}
	// Requests are completed even after cancellation: an aborted one might have
	// had an effect.
	out, err := http.NewRequestWithContext(context.WithoutCancel(ctx), r.method, c.base+r.path, bytes.NewReader(sent))
	if err != nil {
		return err
	}
	switch {
	case r.token != "":
		out.Header.Set("Authorization", "Bearer "+r.token)
	case r.key != "":
		out.SetBasicAuth(r.key, "")
	}
	if isPhoto {
		out.Header.Set("Content-Type", "image/jpeg")
	}
	if r.once != "" {
		out.Header.Set("Idempotency-Key", r.once)
	}
	begun := c.now()
	in, err := c.http.Do(out)
	if err != nil {
		c.tally.responded(r.name, 0, 0)
		return fmt.Errorf("%s: %w", r.name, err)
	}
	defer in.Body.Close()
	got, err := io.ReadAll(io.LimitReader(in.Body, maxResponse))
	if err != nil {
		c.tally.responded(r.name, 0, 0)
		return fmt.Errorf("read the response to %s: %w", r.name, err)
	}
	c.tally.responded(r.name, in.StatusCode, c.now().Sub(begun))
	if in.StatusCode != http.StatusOK {
		no := newRejection(r.name, in, got)
		c.tally.rejected(r.name, no.message)
		return no
	}
	if r.response == nil {
		return nil
	}
	if err := json.Unmarshal(got, r.response); err != nil {
		return fmt.Errorf("decode the response to %s: %w", r.name, err)
	}
	return nil
}

func newRejection(name string, in *http.Response, body []byte) *rejection {
	said := struct {
		Message struct {
			Error   int    `json:"error"`
			Message string `json:"message"`
		} `json:"message"`
	}{}
	said.Message.Message = http.StatusText(in.StatusCode)
	//nolint:errcheck // a response that is not JSON has its status alone
	json.Unmarshal(body, &said)
	seconds, _ := strconv.Atoi(in.Header.Get("Retry-After")) // 0 means soon
	return &rejection{
		name: name, status: in.StatusCode, number: said.Message.Error, message: said.Message.Message,
		after: time.Duration(seconds) * time.Second,
	}
}

// wait waits and reports whether to continue.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
