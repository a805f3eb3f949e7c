package recipientapi

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"dray/internal/codec"
	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/taskflow"
	"dray/internal/textmessage"
	"dray/internal/wire"
)

// TrackBase is the path that the pages of recipients are under. The page itself
// is in package web; here is what its script requests.
const TrackBase = "/t"

// The limits of those who follow a task.
const (
	trackRate    = 20.0 // requests a second of one address
	maxFollowers = 2_000
	lookEvery    = 3 * time.Second
)

// Tracking serves what the page of a recipient requests.
type Tracking struct {
	edge.Settings
	Tasks *taskflow.Flow
}

// Handler returns a recipient's page and what it requests, to be mounted at
// TrackBase. Everyone who has the link has access, also from pages of other
// sites.
func (s *Tracking) Handler(page http.Handler) http.Handler {
	mux := edge.NewMux(s.Settings, TrackBase, edge.Access{RateLimit: trackRate, ByAddress: true}, s.routes()...)
	page = mux.Limited(page)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("X-Robots-Tag", "noindex, nofollow")
		if path := strings.TrimPrefix(strings.TrimSuffix(r.URL.Path, "/"), TrackBase+"/"); strings.Contains(path, "/") {
			mux.ServeHTTP(w, r)
			return
		}
		page.ServeHTTP(w, r)
	})
}

func (s *Tracking) routes() []edge.Route {
	followers := make(chan struct{}, maxFollowers)
	follow := func(ctx context.Context, c *edge.Call, w http.ResponseWriter) error {
		return s.followTask(ctx, c, w, followers)
	}
	return []edge.Route{
		edge.Get("/{token}/state", "Read how far a task is", s.follow).Public(),
		edge.Follow("/{token}/events", "Follow a task", follow).Public(),
		edge.SendOnly("/{token}/viewed", "Report that the page was opened", s.view).Public(),
		edge.Do("/{token}/feedback", "Rate a completed task", s.rateTask).Public(),
	}
}

// link is the token in the link to a page.
func link(c *edge.Call) string { return c.Path("token") }

func (s *Tracking) view(ctx context.Context, c *edge.Call) error {
	return s.Tasks.View(ctx, link(c))
}

// follow reads a task as the recipient sees it, in her language.
func (s *Tracking) follow(ctx context.Context, c *edge.Call) (wire.Following, error) {
	found, err := s.Tasks.Follow(ctx, link(c))
	return wire.NewFollowing(found, textmessage.ChooseLanguage(c.HTTP.Header.Get("Accept-Language"), found.Country)), err
}

func (s *Tracking) rateTask(ctx context.Context, c *edge.Call, body wire.FeedbackBody) error {
	feedback, err := body.Domain()
	if err != nil {
		return err
	}
	return s.Tasks.Rate(ctx, link(c), feedback)
}

// followTask serves GET /t/{token}/events: how far the task is, and again
// whenever that has changed, until the page is gone.
func (s *Tracking) followTask(ctx context.Context, c *edge.Call, w http.ResponseWriter, followers chan struct{}) error {
	select {
	case followers <- struct{}{}:
		defer func() { <-followers }()
	default:
		return lastmile.Overloaded("too many follow tasks just now: ask for the state instead")
	}
	seen, err := s.follow(ctx, c)
	if err != nil {
		return err
	}
	out, err := s.OpenStream(w)
	if err != nil {
		return err
	}
	sent, err := codec.Marshal(seen)
	if err != nil {
		return err
	}
	text := fmt.Appendf(nil, "event: state\ndata: %s\n\n", sent)
	quiet := time.Duration(0)
	for out.Send(text) == nil && s.Pause(ctx, lookEvery) {
		text, quiet = nil, quiet+lookEvery
		now, err := s.follow(ctx, c)
		switch {
		case isRejection(err):
			out.Send([]byte("event: gone\ndata: {}\n\n")) //nolint:errcheck // it ends in any case
			return nil
		case err != nil:
			return nil // the page asks again
		}
		latest, err := codec.Marshal(now)
		switch {
		case err != nil:
			return nil // the page asks again
		case !bytes.Equal(latest, sent):
			text, sent, quiet = fmt.Appendf(nil, "event: state\ndata: %s\n\n", latest), latest, 0
		case quiet >= edge.KeepAliveInterval:
			text, quiet = []byte(": still here\n\n"), 0
		}
	}
	return nil
}

// isRejection reports whether an error is for the client to act on.
func isRejection(err error) bool {
	_, ok := errors.AsType[*lastmile.Error](err)
	return ok
}
