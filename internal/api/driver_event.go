package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"time"

	"dray/internal/wire"
)

// followList serves GET /driver/v1/events: what the worker's list is, whenever
// that has changed. The id of an event stands for all that the list was, so a
// phone that comes back, to whatever node, is told if it missed anything.
func (s *Server) followList(ctx context.Context, c *call, w http.ResponseWriter) error {
	following := s.Tasks.FollowList(c.who)
	defer following.Close()
	list, err := s.Tasks.Work(ctx, c.who)
	if err != nil {
		return err
	}
	out, err := s.openStream(w)
	if err != nil {
		return err
	}
	seen := c.http.Header.Get("Last-Event-ID")
	text := []byte(": following\n\n")
	for {
		outline := wire.NewListOutline(list.Version, list.ActiveTask, list.Tasks)
		data, err := wire.Encode(outline)
		if err != nil {
			return nil // the phone asks again
		}
		if id := listID(data); id != seen {
			text, seen = fmt.Appendf(text, "id: %s\nevent: list\ndata: %s\n\n", id, data), id
		}
		if out.send(text) != nil {
			return nil
		}
		text = nil
		if !s.pause(ctx, streamPause) {
			return nil
		}
		if !s.await(ctx, following.Changed()) {
			text = []byte(": still here\n\n")
		}
		if ctx.Err() != nil || s.over() {
			return nil
		}
		if _, err := s.authenticateWorker(ctx, c.http); err != nil {
			return nil // signed out meanwhile; the phone will be told when it asks
		}
		if list, err = s.Tasks.Work(ctx, c.who); err != nil {
			return nil // the phone asks again
		}
	}
}

// listID stands for all that a list was at a moment.
func listID(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:12])
}

// await waits for something, and tells whether it came before a sign of life is
// due, the client left or the server stops.
func (s *Server) await(ctx context.Context, moved <-chan struct{}) bool {
	timer := time.NewTimer(keepAliveEvery)
	defer timer.Stop()
	select {
	case <-moved:
		return true
	case <-timer.C:
	case <-ctx.Done():
	case <-s.Ended:
	}
	return false
}

// over tells whether streams have to end.
func (s *Server) over() bool {
	select {
	case <-s.Ended:
		return true
	default:
		return false
	}
}
