package driverapi

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"

	"dray/internal/codec"
	"dray/internal/edge"
)

// followList serves GET /driver/v1/events: the outline of the worker's list, whenever
// it has changed. The id of an event is a hash of the outline, so that a phone that
// reconnects, to any node, is sent what it missed.
func (s *Server) followList(ctx context.Context, c *edge.Call, w http.ResponseWriter) error {
	following := s.Work.Follow(c.Who)
	defer following.Close()
	list, err := following.List(ctx)
	if err != nil {
		return err
	}
	out, err := s.OpenStream(ctx, c, w)
	if err != nil {
		return err
	}
	seen := c.HTTP.Header.Get("Last-Event-ID")
	text := []byte(": following\n\n")
	for {
		outline := NewListOutline(list.Version, list.ActiveTask, list.Tasks)
		outline.Available = listID([]byte(list.Claimable))
		data, err := codec.Marshal(outline)
		if err != nil {
			return nil // the phone asks again
		}
		if id := listID(data); id != seen {
			text, seen = fmt.Appendf(text, "id: %s\nevent: list\ndata: %s\n\n", id, data), id
		}
		if out.Send(text) != nil {
			return nil
		}
		text = nil
		if !s.Pause(ctx, edge.StreamPause) {
			return nil
		}
		if !s.Await(ctx, following.Changed()) {
			text = []byte(": still here\n\n")
		}
		if ctx.Err() != nil || s.Stopping() {
			return nil
		}
		if _, err := s.authenticate(ctx, c.HTTP); err != nil {
			return nil // signed out meanwhile; the phone gets an error when it reconnects
		}
		if list, err = following.List(ctx); err != nil {
			return nil // the phone asks again
		}
	}
}

// listID returns a hash that identifies the content of a list.
func listID(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:12])
}
