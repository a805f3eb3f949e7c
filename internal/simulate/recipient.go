package simulate

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// What recipients do.
const (
	chanceRate  = 0.35 // probability of rating a task
	chanceReply = 0.04 // probability of replying to the first message
	pagePause   = time.Second
)

var (
	praise = []string{"", "", "", "Thank you!", "Fast and friendly.", "Came right on time.", "Very careful with the box.", "Great service, as always."}
	blame  = []string{"", "Too late.", "The box was dented.", "Nobody rang the bell."}
	words  = []string{"Thanks!", "Please leave it with the doorman.", "I am home in 20 minutes.", "Which entrance do you need?", "OK"}
)

// react does what the recipient of a completed task does: rate it, perhaps.
func (p *phone) react(ctx context.Context, t shownTask, success bool) error {
	if p.random.Float64() >= chanceRate {
		return nil
	}
	rating, comments := 4+p.random.IntN(2), one(p.random, praise)
	if !success || p.random.Float64() < 0.08 {
		rating, comments = 1+p.random.IntN(3), one(p.random, blame)
	}
	page, err := url.Parse(t.TrackingURL)
	if err != nil || page.Path == "" {
		return err
	}
	if err := p.page(ctx, "POST /t/{token}/viewed", page.Path+"/viewed", map[string]any{}, nil); err != nil {
		return err
	}
	return p.page(ctx, "POST /t/{token}/feedback", page.Path+"/feedback", map[string]any{"rating": rating, "comments": comments}, nil)
}

// reply replies to a text message, perhaps.
func (p *phone) reply(ctx context.Context, t shownTask) error {
	if p.options.Reply == nil || len(t.Recipients) == 0 || p.random.Float64() >= chanceReply {
		return nil
	}
	return p.options.Reply(ctx, t.Recipients[0].Phone, one(p.random, words))
}

// page sends a request of a tracking page.
func (s *simulation) page(ctx context.Context, name, path string, body, response any) error {
	method := http.MethodPost
	if body == nil {
		method = http.MethodGet
	}
	err := s.client.send(ctx, request{name: name, method: method, path: path, body: body, response: response})
	if rejected(err) { // the page has expired, or too many of this address were read
		return nil
	}
	return err
}

// samplePage reads the tracking page of a task and checks that the time it shows
// can still come true.
func (s *simulation) samplePage(ctx context.Context, t shownTask) error {
	s.mu.Lock()
	due := s.now().Sub(s.sampled) >= pagePause
	if due {
		s.sampled = s.now()
	}
	s.mu.Unlock()
	page, err := url.Parse(t.TrackingURL)
	if err != nil || !due {
		return err
	}
	var shown struct {
		Stage    string `json:"stage"`
		After    int64  `json:"completeAfter"`
		Expected int64  `json:"estimatedArrivalTime"`
	}
	if err := s.page(ctx, "GET /t/{token}/state", page.Path+"/state", nil, &shown); err != nil {
		return err
	}
	s.day.mu.Lock()
	s.day.pages++
	s.day.mu.Unlock()
	switch {
	case shown.Expected == 0 || shown.Stage == "completed" || shown.Stage == "failed":
	case shown.Expected < shown.After:
		s.ledger.violation("the page of task %s expects the worker %d s before its window opens", t.ID, (shown.After-shown.Expected)/1000)
	case shown.Stage != "arrived" && shown.Expected < s.now().Add(-2*time.Minute).UnixMilli():
		s.ledger.violation("the page of task %s expects the worker at a time that has passed", t.ID)
	}
	return nil
}
