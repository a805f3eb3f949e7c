package boardapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"dray/internal/board"
	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// eventStream serves the endpoints of the event stream.
type eventStream struct{ *Server }

func (s eventStream) routes() []edge.Route {
	return edge.Tagged("Events",
		edge.Follow("/events", "Follow the organization's events as they happen", s.followEvents, "text/event-stream").WithQuery(
			edge.Parameter{Name: "since", Description: "ID of the last event received, as an alternative to the Last-Event-ID header. Default: only new events", Type: "number"},
			edge.Parameter{Name: "lists", Description: "true to follow lists of workers and teams and estimates, too", Type: "boolean"},
			edge.Parameter{Name: "positions", Description: "true to follow positions of workers, too", Type: "boolean"}).
			Describe(eventsDescription).
			Resumes("ID of the last event received. The stream continues after it", ": following after 4102\n\nid: 4103\nevent: workerDuty\ndata: {\"triggerId\":5, …}\n\n: still here\n"),
		edge.Get("/events/log", "List stored events", s.log,
			edge.Parameter{Name: "since", Description: "number of the event after which the list begins. Default: 0, the beginning of what is stored", Type: "number"},
			edge.Parameter{Name: "until", Description: "number of the last event to list. Default: the newest", Type: "number"}).
			Describe("Returns events in the order of their numbers, the same that GET /events sends: up to 1,000 per page, or what 1 MiB holds. next is null if nothing follows for now. The log grows: with since set to last of a page, a later request continues, whether or not next was null. Events are stored for 30 days by default."),
	)
}

const eventsDescription = `A stream of server-sent events. The ID of each event is a number: a client that reconnects sends the last one in the Last-Event-ID header and misses no event. The data is the same as the body of a webhook request.

With lists=true, the stream continues a board (GET /board) from its cursor. Events named containers have the list of a worker or a team after it has changed: container, activeTask, tasks (null if there are more than 1,000), pinned and version. A task that an event has moved elsewhere may still be in the list, until its next version; its pin ended. Events named tasks have tasks that were created without an event, as tasks of batches are, in the form of the board: a client shows those of which it does not show the same or a newer version. Events named fleet have the version of teams, hubs and schedules after one of them has changed, and at the beginning: a client that has another one (fleet of the board) reads them again, with GET /board?tasks=false. Events named estimates have workers (worker, delayTime) with the estimated times of their tasks, at most once a second. Events named hidden have a task that is elsewhere now, where a standard administrator does not see it: a client that shows the task removes it. With positions=true, events named positions have the latest positions of workers who moved, at most once a second. These events have no ID. After a client has reconnected, it gets the lists that have changed and the tasks that were created since the last event, perhaps again, and the latest estimates and positions. If events after the last one that it has received are no longer stored, the request is rejected with the cause cursorTooOld, and the client reads the board again.`

// eventNames is an upper bound of the bytes of an event in the stream besides its body.
const eventNames = 100

// followEvents serves GET /events. It streams every event after the last one that
// the client has received, in order, until the client disconnects.
func (s eventStream) followEvents(ctx context.Context, c *edge.Call, w http.ResponseWriter) error {
	seq, err := s.startOfStream(ctx, c)
	if err != nil {
		return err
	}
	next := s.nextEvents
	if want := (board.Wanted{Lists: c.Flag("lists"), Positions: c.Flag("positions")}); want != (board.Wanted{}) {
		follower, err := s.Live.Follow(ctx, c.Who, seq, want)
		if err != nil {
			return err
		}
		defer follower.Close()
		next = func(ctx context.Context, c *edge.Call, seq int64) ([]byte, int64, error) {
			return s.nextOfBoard(ctx, c, seq, follower)
		}
	}
	out, err := s.OpenStream(ctx, c, w)
	if err != nil {
		return err
	}
	if err := out.Send(fmt.Appendf(nil, ": following after %d\n\n", seq)); err != nil {
		return nil // the client has disconnected
	}
	for ctx.Err() == nil && c.HoldPart(0) == nil {
		text, last, err := next(ctx, c, seq)
		seq = last
		if err != nil || c.HoldPart(len(text)+cap(text)) != nil || out.Send(text) != nil {
			return nil // the client reconnects and resumes after its last event
		}
		if len(text) < fullPart && !s.Pause(ctx, edge.StreamPause) {
			return nil
		}
	}
	return nil
}

// fullPart is the minimum size of a part after which more may be ready to be read. A stream
// pauses after smaller parts: every change of an organization would otherwise be read once
// for each of its streams.
const fullPart = 64 << 10

// log serves GET /events/log.
func (s eventStream) log(ctx context.Context, c *edge.Call) (EventLog, error) {
	since, err := eventNumber(c, "since", 0)
	if err != nil {
		return EventLog{}, err
	}
	until, err := eventNumber(c, "until", maxEvent)
	if err != nil {
		return EventLog{}, err
	}
	head, err := s.Feed.Head(ctx, c.Who) // read first: the page has what was stored until then
	if err != nil {
		return EventLog{}, err
	}
	since = min(since, head) // a client that goes on after a number that does not exist yet misses nothing
	found, last, err := s.Feed.Page(ctx, c.Who, since)
	page := EventLog{Events: []LogEntry{}, Last: min(last, max(until, since))}
	for _, e := range found {
		if e.Seq <= until {
			page.Events = append(page.Events, LogEntry{Number: e.Seq, TimeStored: wire.Millis(e.Stored), Event: e.Body})
		}
	}
	if last > since && last < min(until, head) {
		page.Next = &last
	}
	return page, err
}

// maxEvent is greater than the number of every event, and exact in JSON.
const maxEvent = 1 << 53

// eventNumber returns a query parameter that is the number of an event; usual if it was
// not sent.
func eventNumber(c *edge.Call, name string, usual int64) (int64, error) {
	n, sent, err := c.Number(name)
	if err != nil || !sent {
		return usual, err
	}
	if n < 0 || n > maxEvent || n != float64(int64(n)) {
		return 0, lastmile.Malformed("%s must be the number of an event, not %q", name, edge.Clip(c.Query.Get(name)))
	}
	return int64(n), nil
}

var stillHere = []byte(": still here\n\n")

// nextEvents returns the next events as they are sent, and the number of the last one.
func (s eventStream) nextEvents(ctx context.Context, c *edge.Call, seq int64) ([]byte, int64, error) {
	waiting, cancel := context.WithTimeout(ctx, edge.KeepAliveInterval)
	defer cancel()
	events, last, err := s.Feed.Next(waiting, c.Who, seq)
	if len(events) == 0 {
		return stillHere, last, err
	}
	size := 0
	for _, e := range events {
		size += len(e.Body) + eventNames
	}
	text := make([]byte, 0, size)
	for _, e := range events {
		text = appendEvent(text, e.Seq, e.Trigger.String(), e.Body)
	}
	return text, last, err
}

// appendEvent appends an event as it is sent; one that is not in the event log has no number.
func appendEvent(text []byte, seq int64, name string, data []byte) []byte {
	if seq != 0 {
		text = fmt.Appendf(text, "id: %d\n", seq)
	}
	return append(append(fmt.Appendf(text, "event: %s\ndata: ", name), data...), "\n\n"...)
}

// boardBeat is the time after which a board without news is sent a comment: it must notice
// soon that a connection is dead.
const boardBeat = 5 * time.Second

// nextOfBoard returns the next events and what else has changed on the board, as they are
// sent. A list comes after the events before it.
func (s eventStream) nextOfBoard(ctx context.Context, c *edge.Call, seq int64, follower *board.Follower) (text []byte, last int64, err error) {
	waiting, cancel := context.WithTimeout(ctx, boardBeat)
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		follower.Until(waiting, cancel)
	}()
	events, last, err := s.Feed.NextOfBoard(waiting, c.Who, seq)
	idle := errors.Is(waiting.Err(), context.DeadlineExceeded)
	cancel()
	<-ended
	if err != nil {
		return nil, seq, err
	}
	for _, e := range events {
		if e.Body != nil {
			follower.Repeat(e.Task, e.Worker)
		}
	}
	messages, err := follower.Take(ctx, last)
	if err != nil {
		return nil, seq, err
	}
	size := 0
	for _, e := range events {
		size += len(e.Body) + eventNames
	}
	for _, m := range messages {
		size += len(m.Data) + eventNames
	}
	text = make([]byte, 0, size)
	for _, e := range events {
		for len(messages) > 0 && messages[0].Logged && messages[0].Seq < e.Seq {
			text = appendEvent(text, 0, messages[0].Name, messages[0].Data)
			messages = messages[1:]
		}
		if e.Body == nil {
			text = appendEvent(text, 0, "hidden", fmt.Appendf(nil, `{"task":%q}`, e.Task))
			continue
		}
		text = appendEvent(text, e.Seq, e.Trigger.String(), e.Body)
	}
	for _, m := range messages {
		text = appendEvent(text, 0, m.Name, m.Data)
	}
	if len(text) == 0 && idle {
		text = stillHere
	}
	return text, last, nil
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
