package edge

import (
	"context"
	"errors"
	"net/http"
	"time"

	"dray/internal/lastmile"
)

// KeepAliveInterval is the time after which a stream without events sends a
// comment, so that proxies keep the connection open.
const KeepAliveInterval = 20 * time.Second

// StreamPatience is the maximum time in which a client must read a part of a stream.
const StreamPatience = 2 * KeepAliveInterval

// StreamPause is the shortest time between two updates of a stream, so that many
// changes at once are read together.
const StreamPause = 50 * time.Millisecond

// streamBytes is the memory that an open stream counts as in the budget.
const streamBytes = 32 << 10

// RevokedPause is the shortest time between two checks of a stream's credentials:
// a caller may revoke its own as often as it likes.
const RevokedPause = time.Second

// revokedFlush is the maximum time in which the end of a revoked stream must be sent.
const revokedFlush = 250 * time.Millisecond

// follow serves a stream until its end, or until the caller's credentials are
// revoked.
func (m *Mux) follow(ctx context.Context, w http.ResponseWriter, c *Call, rt Route) error {
	if caller := string(c.Who.Organization) + string(c.Who.Worker); m.access.Streams > 0 {
		if err := m.streams.Acquire(caller); err != nil {
			return err
		}
		defer m.streams.Release(caller)
	}
	c.hold.address = m.address(c.HTTP)
	if err := c.Hold(streamBytes); err != nil {
		return err
	}
	if rt.Operation.Public || m.access.Revoked == nil {
		return rt.stream(ctx, c, w)
	}
	ctx, cancel := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		if m.awaitRevocation(ctx, c) {
			cancel()
			// A write that waits for the client ends, too.
			http.NewResponseController(w).SetWriteDeadline(m.Now().Add(revokedFlush)) //nolint:errcheck // the response has ended
		}
	}()
	defer func() {
		cancel()
		<-watched // before the connection serves another request
	}()
	return rt.stream(ctx, c, w)
}

// awaitRevocation waits until the credentials of a request are no longer valid or give
// other rights, and returns true. It returns false if ctx ends or the server stops first.
// An error of the database does not end a stream.
func (m *Mux) awaitRevocation(ctx context.Context, c *Call) bool {
	for {
		revoked := m.access.Revoked()
		who, err := m.access.Authenticate(context.WithValue(ctx, follows{}, true), c.HTTP)
		if rejected, ok := errors.AsType[*lastmile.Error](err); ok && isDenial(rejected) {
			return true
		}
		if err == nil && !sameRole(who.Role, c.Who.Role) {
			return true
		}
		if !m.Pause(ctx, RevokedPause) {
			return false
		}
		if err != nil {
			continue
		}
		select {
		case <-revoked:
		case <-ctx.Done():
			return false
		}
	}
}

type follows struct{}

// Follows reports whether a caller is authenticated again because it follows a stream.
// That does not count as use of a session.
func Follows(ctx context.Context) bool { return ctx.Value(follows{}) != nil }

// Stream is a response of server-sent events that has no end.
type Stream struct {
	err  func() error // Err of the context, which ends when the caller may not follow any more
	w    http.ResponseWriter
	out  *http.ResponseController
	now  func() time.Time
	head bool // the client wants no more than the headers
}

// OpenStream begins a stream. It removes the read deadline, which is for requests that
// end.
func (s Settings) OpenStream(ctx context.Context, c *Call, w http.ResponseWriter) (*Stream, error) {
	out := http.NewResponseController(w)
	if err := out.SetReadDeadline(time.Time{}); err != nil {
		return nil, err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	return &Stream{err: ctx.Err, w: w, out: out, now: s.Now, head: c.HTTP.Method == http.MethodHead}, nil
}

// Send writes text to the client at once. Empty text is not sent. The response to a HEAD
// request has no text and ends: Send returns an error.
func (s *Stream) Send(text []byte) error {
	if s.head {
		return http.ErrBodyNotAllowed
	}
	if len(text) == 0 {
		return nil
	}
	if err := s.out.SetWriteDeadline(s.now().Add(StreamPatience)); err != nil {
		return err
	}
	// Check only now: follow cancels the context first, and then sets another deadline.
	if err := s.err(); err != nil {
		return err
	}
	if _, err := s.w.Write(text); err != nil {
		return err
	}
	return s.out.Flush()
}

// Pause waits for d. It reports false if the client disconnects or the server stops
// before.
func (s Settings) Pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
	case <-s.Ended:
	}
	return false
}

// Await waits for changed, and reports whether it came before the next keep-alive
// comment is due, the client disconnects or the server stops.
func (s Settings) Await(ctx context.Context, changed <-chan struct{}) bool {
	timer := time.NewTimer(KeepAliveInterval)
	defer timer.Stop()
	select {
	case <-changed:
		return true
	case <-timer.C:
	case <-ctx.Done():
	case <-s.Ended:
	}
	return false
}

// Stopping reports whether streams have to end.
func (s Settings) Stopping() bool {
	select {
	case <-s.Ended:
		return true
	default:
		return false
	}
}
