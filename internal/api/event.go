package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	"dray/internal/edge"
	"dray/internal/lastmile"
)

// eventStream serves the endpoints of the event stream.
type eventStream struct{ *Server }

func (s eventStream) routes() []edge.Route {
	return edge.Tagged("Events",
		edge.Follow("/events", "Follow the organization's events as they happen", s.followEvents, "text/event-stream").WithQuery(
			edge.Parameter{Name: "since", Description: "ID of the last event received, as an alternative to the Last-Event-ID header. Default: only new events", Type: "number"}).
			Describe("A stream of server-sent events. The ID of each event is a number: a client that reconnects sends the last one in the Last-Event-ID header and misses no event. The data is the same as the body of a webhook request.").
			Resumes("ID of the last event received. The stream continues after it", ": following after 4102\n\nid: 4103\nevent: workerDuty\ndata: {\"triggerId\":5, …}\n\n: still here\n"),
	)
}

// eventNames is more than what an event of the stream has besides its body.
const eventNames = 100

// followEvents serves GET /events. It streams every event after the last one that
// the client has received, in order, until the client disconnects.
func (s eventStream) followEvents(ctx context.Context, c *edge.Call, w http.ResponseWriter) error {
	seq, err := s.startOfStream(ctx, c)
	if err != nil {
		return err
	}
	out, err := s.OpenStream(ctx, w)
	if err != nil {
		return err
	}
	if err := out.Send(fmt.Appendf(nil, ": following after %d\n\n", seq)); err != nil {
		return nil //nolint:nilerr // the client has disconnected
	}
	for ctx.Err() == nil && c.HoldPart(0) == nil {
		waiting, cancel := context.WithTimeout(ctx, edge.KeepAliveInterval)
		events, last, err := s.Feed.Next(waiting, c.Who, seq)
		cancel()
		size := 0
		for _, e := range events {
			size += len(e.Body) + eventNames
		}
		text := make([]byte, 0, size)
		for _, e := range events {
			text = fmt.Appendf(text, "id: %d\nevent: %s\ndata: ", e.Seq, e.Trigger)
			text = append(append(text, e.Body...), "\n\n"...)
		}
		seq = last
		if len(events) == 0 {
			text = []byte(": still here\n\n")
		}
		if err != nil || c.HoldPart(len(text)+cap(text)) != nil || out.Send(text) != nil {
			return nil //nolint:nilerr // the client reconnects and resumes after its last event
		}
	}
	return nil
}

// startOfStream returns the number of the last event that the client has received.
func (s eventStream) startOfStream(ctx context.Context, c *edge.Call) (int64, error) {
	head, err := s.Feed.Head(ctx, c.Who)
	if err != nil {
		return 0, err
	}
	field, last := "Last-Event-ID", c.HTTP.Header.Get("Last-Event-ID")
	if last == "" {
		field, last = "since", c.Query.Get("since")
	}
	if last == "" {
		return head, nil
	}
	seq, err := strconv.ParseInt(last, 10, 64)
	if err != nil || seq < 0 {
		return 0, lastmile.Invalid("%s must be the number of an event, not %q", field, edge.Clip(last))
	}
	return min(seq, head), nil
}
