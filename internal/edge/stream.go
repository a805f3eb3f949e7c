package edge

import (
	"context"
	"net/http"
	"time"
)

// KeepAliveInterval is the time after which a stream without events sends a
// comment, so that proxies keep the connection open.
const KeepAliveInterval = 20 * time.Second

// StreamPause is the shortest time between two updates of a stream, so that many
// changes at once are read together.
const StreamPause = 50 * time.Millisecond

// Stream is a response of server-sent events that has no end.
type Stream struct {
	w   http.ResponseWriter
	out *http.ResponseController
	now func() time.Time
}

// OpenStream begins a stream. The server's time limits are for requests that
// end.
func (s Settings) OpenStream(w http.ResponseWriter) (*Stream, error) {
	out := http.NewResponseController(w)
	if err := out.SetReadDeadline(time.Time{}); err != nil {
		return nil, err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	return &Stream{w: w, out: out, now: s.Now}, nil
}

// Send writes text to the client at once. Empty text is not sent.
func (s *Stream) Send(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	if err := s.out.SetWriteDeadline(s.now().Add(2 * KeepAliveInterval)); err != nil {
		return err
	}
	if _, err := s.w.Write(text); err != nil {
		return err
	}
	return s.out.Flush()
}

// Pause waits, and reports whether to continue: not when the client has
// disconnected or the server stops.
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
