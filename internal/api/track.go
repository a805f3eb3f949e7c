package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"dray/internal/lastmile"
	"dray/internal/taskflow"
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
	refreshEvery = 3 * time.Second // what a page shows changes with time, which needs no query
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
	return wire.NewFollowing(found, c.language(found.Country)), err
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
	page, err := s.Tasks.FollowTask(ctx, c.link())
	if err != nil {
		return err
	}
	defer page.Close()
	sent, err := s.encodePage(c, page)
	if err != nil {
		return err
	}
	out, err := s.openStream(w)
	if err != nil {
		return err
	}
	text := fmt.Appendf(nil, "event: state\ndata: %s\n\n", sent)
	last := s.Now()
	for out.send(text) == nil && s.pause(ctx, streamPause) {
		latest, err := s.nextPage(ctx, c, page)
		text = nil
		switch {
		case isRefusal(err):
			out.send([]byte("event: gone\ndata: {}\n\n")) //nolint:errcheck // it ends in any case
			return nil
		case err != nil:
			return nil // the page asks again
		case !bytes.Equal(latest, sent):
			text, sent = fmt.Appendf(nil, "event: state\ndata: %s\n\n", latest), latest
		case s.Now().Sub(last) >= keepAliveEvery:
			text = []byte(": still here\n\n")
		}
		if text != nil {
			last = s.Now()
		}
	}
	return nil
}

// nextPage waits until the page has changed, or might look different because time
// has passed, and returns how it looks then. Only a change is read.
func (s *Server) nextPage(ctx context.Context, c *call, page *taskflow.TaskFollower) (shown []byte, err error) {
	timer := time.NewTimer(refreshEvery)
	defer timer.Stop()
	select {
	case <-page.Changed():
		err = page.Read(ctx)
	case <-timer.C:
	case <-ctx.Done():
		err = ctx.Err()
	case <-s.Ended:
		err = errStreamsEnded
	}
	if err != nil {
		return nil, err
	}
	return s.encodePage(c, page)
}

// errStreamsEnded ends a stream when the server stops.
var errStreamsEnded = errors.New("streams have ended")

// encodePage returns a page as its recipient sees it now.
func (s *Server) encodePage(c *call, page *taskflow.TaskFollower) ([]byte, error) {
	found, err := page.Show()
	if err != nil {
		return nil, err
	}
	return wire.Encode(wire.NewFollowing(found, c.language(found.Country)))
}

// language is the language in which a page is shown in a country.
func (c *call) language(country string) string {
	return textmessage.ChooseLanguage(c.http.Header.Get("Accept-Language"), country)
}
