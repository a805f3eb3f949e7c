package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"dray/internal/lastmile"
)

// keepAliveEvery is how often a quiet stream says that it is still there.
const keepAliveEvery = 20 * time.Second

// streamPause is the shortest time between two updates of a stream, so that many
// changes at once are read together.
const streamPause = 50 * time.Millisecond

// stream is an answer of server-sent events that has no end.
type stream struct {
	w   http.ResponseWriter
	out *http.ResponseController
	now func() time.Time
}

// openStream begins a stream. The server's limits are for requests that end.
func (s *Server) openStream(w http.ResponseWriter) (*stream, error) {
	out := http.NewResponseController(w)
	if err := out.SetReadDeadline(time.Time{}); err != nil {
		return nil, err
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	return &stream{w: w, out: out, now: s.Now}, nil
}

// send writes what a client is to see at once; nothing is fine.
func (s *stream) send(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	if err := s.out.SetWriteDeadline(s.now().Add(2 * keepAliveEvery)); err != nil {
		return err
	}
	if _, err := s.w.Write(text); err != nil {
		return err
	}
	return s.out.Flush()
}

// pause waits, and tells whether to go on: not when the client is gone or the
// server stops.
func (s *Server) pause(ctx context.Context, d time.Duration) bool {
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

// isRefusal tells whether an error is for the client to act on.
func isRefusal(err error) bool {
	_, ok := errors.AsType[*lastmile.Error](err)
	return ok
}
