package api

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"dray/internal/lastmile"
	"dray/internal/textmessage"
	"dray/internal/wire"
)

// TrackBase is the path that the pages of recipients are under. The page itself
// is of package web; here is what its script asks for.
const TrackBase = "/t"

// The limits of those who follow a task.
const (
	trackRate    = 20.0 // requests a second of one address
	maxFollowers = 2_000
	lookEvery    = 3 * time.Second
)

// TrackHandler returns a recipient's page and what it asks for, to be mounted
// at TrackBase. Whoever has the link may ask, and nobody else has anything to
// do with it: a request from a page of another site is as good as any.
func (s *Server) TrackHandler(page http.Handler) http.Handler {
	gate := &gate{Server: s, base: TrackBase, limiter: newLimiter(trackRate, s.Now), byAddress: true, routes: &router{}}
	for _, r := range s.trackRoutes() {
		r.anybody = true
		gate.routes.add(r.method, r.path, gate.open(r))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Referrer-Policy", "no-referrer")
		w.Header().Set("X-Robots-Tag", "noindex, nofollow")
		if path := strings.TrimPrefix(strings.TrimSuffix(r.URL.Path, "/"), TrackBase+"/"); strings.Contains(path, "/") {
			gate.ServeHTTP(w, r)
			return
		}
		if err := gate.limiter.take(w.Header(), s.Address(r)); err != nil {
			gate.refuse(w, r, err)
			return
		}
		page.ServeHTTP(w, r)
	})
}

func (s *Server) trackRoutes() []route {
	followers := make(chan struct{}, maxFollowers)
	return []route{
		get("/{token}/state", "Read how far a task is", wire.Following{}, s.showFollowed),
		{
			method: http.MethodGet, path: "/{token}/events", summary: "Follow a task",
			stream: func(ctx context.Context, c *call, w http.ResponseWriter) error {
				return s.followTask(ctx, c, w, followers)
			},
		},
		{
			method: http.MethodPost, path: "/{token}/viewed", summary: "Say that the page was opened",
			serve: func(ctx context.Context, c *call) (any, error) { return nil, s.Tasks.View(ctx, c.link()) },
		},
		post("/{token}/feedback", "Rate a completed task", nil, s.rateTask),
	}
}

// link is what the link to a page says.
func (c *call) link() string { return c.http.PathValue("token") }

// follow reads a task as the recipient sees it, in her language.
func (s *Server) follow(ctx context.Context, c *call) (wire.Following, error) {
	found, err := s.Tasks.Follow(ctx, c.link())
	return wire.NewFollowing(found, textmessage.ChooseLanguage(c.http.Header.Get("Accept-Language"), found.Country)), err
}

func (s *Server) showFollowed(ctx context.Context, c *call) (any, error) {
	return s.follow(ctx, c)
}

func (s *Server) rateTask(ctx context.Context, c *call, body wire.FeedbackBody) (any, error) {
	said, err := body.Domain()
	if err != nil {
		return nil, err
	}
	return nil, s.Tasks.Rate(ctx, c.link(), said)
}

// followTask serves GET /t/{token}/events: how far the task is, and again
// whenever that has changed, until the page is gone.
func (s *Server) followTask(ctx context.Context, c *call, w http.ResponseWriter, followers chan struct{}) error {
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
	out, err := s.openStream(w)
	if err != nil {
		return err
	}
	sent, err := wire.Encode(seen)
	if err != nil {
		return err
	}
	text := fmt.Appendf(nil, "event: state\ndata: %s\n\n", sent)
	quiet := time.Duration(0)
	for out.send(text) == nil && s.pause(ctx, lookEvery) {
		text, quiet = nil, quiet+lookEvery
		now, err := s.follow(ctx, c)
		switch {
		case isRefusal(err):
			out.send([]byte("event: gone\ndata: {}\n\n")) //nolint:errcheck // it ends in any case
			return nil
		case err != nil:
			return nil // the page asks again
		}
		latest, err := wire.Encode(now)
		switch {
		case err != nil:
			return nil // the page asks again
		case !bytes.Equal(latest, sent):
			text, sent, quiet = fmt.Appendf(nil, "event: state\ndata: %s\n\n", latest), latest, 0
		case quiet >= keepAliveEvery:
			text, quiet = []byte(": still here\n\n"), 0
		}
	}
	return nil
}
