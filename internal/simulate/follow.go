package simulate

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// streamTimeout is how long the event stream may take to deliver the last event.
const streamTimeout = 30 * time.Second

// The triggers that end a task.
const (
	triggerCompleted = 3
	triggerFailed    = 4
)

// openStream opens the organization's event stream after the last event seen,
// or from now on if it is empty. It returns when the server has responded.
func (s *simulation) openStream(ctx context.Context, last string) (*http.Response, error) {
	out, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodGet, s.client.base+"/api/v2/events", nil)
	if err != nil {
		return nil, err
	}
	out.SetBasicAuth(s.options.Key, "")
	if last != "" {
		out.Header.Set("Last-Event-ID", last)
	}
	in, err := (&http.Client{Transport: s.client.http.Transport}).Do(out)
	if err != nil {
		return nil, fmt.Errorf("follow events: %w", err)
	}
	if in.StatusCode != http.StatusOK {
		in.Body.Close()
		return nil, newRejection("GET /events", in, nil)
	}
	return in, nil
}

// follow records the completed tasks that the event stream reports, until the
// context ends. A broken stream is resumed.
func (s *simulation) follow(ctx context.Context, stream *http.Response) {
	last := ""
	for {
		stop := context.AfterFunc(ctx, func() { stream.Body.Close() })
		last = s.read(stream, last)
		stop()
		stream.Body.Close()
		for {
			if !wait(ctx, firstPause) {
				return
			}
			next, err := s.openStream(ctx, last)
			if err == nil {
				stream = next
				break
			}
		}
	}
}

// read reads a stream to its end and returns the number of the last event.
func (s *simulation) read(stream *http.Response, last string) string {
	lines := bufio.NewScanner(stream.Body)
	lines.Buffer(nil, 4<<20)
	number := last
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			number = value
		case "data":
			var event struct {
				TaskID    string `json:"taskId"`
				TriggerID int    `json:"triggerId"`
			}
			if err := json.Unmarshal([]byte(value), &event); err != nil {
				s.ledger.violation("the event stream sent invalid JSON: %v", err)
				continue
			}
			if event.TriggerID == triggerCompleted || event.TriggerID == triggerFailed {
				s.ledger.completionReported(event.TaskID)
			}
			last = number
		}
	}
	return last
}
