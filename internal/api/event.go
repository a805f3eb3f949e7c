package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"dray/internal/lastmile"
)

func (s *Server) eventRoutes() []route {
	return tagged("Events", route{
		method: http.MethodGet, path: "/events", summary: "Follow the organization's events as they happen",
		query: []parameter{
			{name: "since", about: "number of the last event that was seen, instead of the Last-Event-ID header; from now on unless given", kind: "number"},
		},
		media: []string{"text/event-stream"}, stream: s.followEvents,
	})
}

// followEvents serves GET /events: every event after the one the client saw
// last, in order, as long as the client listens.
func (s *Server) followEvents(ctx context.Context, c *call, w http.ResponseWriter) error {
	seq, err := s.startOfStream(ctx, c)
	if err != nil {
		return err
	}
	out, err := s.openStream(w)
	if err != nil {
		return err
	}
	if err := out.send(fmt.Appendf(nil, ": following after %d\n\n", seq)); err != nil {
		return nil //nolint:nilerr // the client is gone; there is nobody to tell
	}
	for ctx.Err() == nil {
		waiting, cancel := context.WithTimeout(ctx, keepAliveEvery)
		events, err := s.Feed.Next(waiting, c.who, seq)
		cancel()
		var text []byte
		for _, e := range events {
			text = fmt.Appendf(text, "id: %d\nevent: %s\ndata: %s\n\n", e.Seq, e.Trigger, e.Body)
			seq = e.Seq
		}
		if len(events) == 0 {
			text = []byte(": still here\n\n")
		}
		if err != nil || out.send(text) != nil {
			return nil //nolint:nilerr // the client resumes where it was
		}
	}
	return nil
}

// startOfStream is the number of the last event that the client has seen.
func (s *Server) startOfStream(ctx context.Context, c *call) (int64, error) {
	head, err := s.Feed.Head(ctx, c.who)
	if err != nil {
		return 0, err
	}
	field, last := "Last-Event-ID", c.http.Header.Get("Last-Event-ID")
	if last == "" {
		field, last = "since", c.query.Get("since")
	}
	if last == "" {
		return head, nil
	}
	seq, err := strconv.ParseInt(last, 10, 64)
	if err != nil || seq < 0 {
		return 0, lastmile.Invalid("%s must be the number of an event, not %q", field, clip(last))
	}
	return min(seq, head), nil
}
