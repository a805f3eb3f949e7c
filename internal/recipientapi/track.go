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
	"dray/internal/trackingpage"
	"dray/internal/upload"
	"dray/internal/wire"
)

// TrackBase is the path that the pages of recipients are under. The page itself
// is in package web; this package serves the requests of its script.
const TrackBase = "/t"

// Limits of recipients and their requests.
const (
	trackRate    = 20.0 // requests per second from one address
	maxFollowers = 2_000
	maxFeedback  = 16 << 10 // bytes of a request body

	// Followers of one task, from one network, and of all tasks of one organization.
	maxFollowersOfTask         = 20
	maxFollowersOfNetwork      = 100
	maxFollowersOfOrganization = 1_000

	refreshEvery = 3 * time.Second // a page also changes with time, for which nothing is read
)

// Tracking serves the requests of recipients' pages.
type Tracking struct {
	edge.Settings
	Pages   *taskflow.Pages
	Uploads *upload.Uploads
	Routes  *taskflow.Routes
}

// Handler serves a recipient's page and its requests, to be mounted at TrackBase.
// Everyone who has the link has access.
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
	slots := newFollowerSlots()
	follow := func(ctx context.Context, c *edge.Call, w http.ResponseWriter) error {
		return s.followTask(ctx, c, w, slots)
	}
	return []edge.Route{
		edge.Get("/{token}/state", "Read the state of a task", s.follow).Public(),
		edge.Follow("/{token}/events", "Follow a task", follow).Public(),
		edge.SendOnly("/{token}/viewed", "Report that the page was opened", s.view).Public(),
		edge.Follow("/{token}/logo", "Read the logo of the organization", s.showLogo, edge.ImageTypes...).Public(),
		edge.Do("/{token}/newTime", "Request another time for a failed task", s.requestTime).Public().Limit(maxFeedback),
		edge.Do("/{token}/feedback", "Rate a completed task", s.rateTask).Public().Limit(maxFeedback),
	}
}

// link returns the token in the link to a page.
func link(c *edge.Call) string { return c.Path("token") }

func (s *Tracking) view(ctx context.Context, c *edge.Call) error {
	return s.Pages.View(ctx, link(c))
}

// follow reads a task as the recipient sees it, in the recipient's language.
func (s *Tracking) follow(ctx context.Context, c *edge.Call) (TrackingPage, error) {
	found, err := s.Pages.Follow(ctx, link(c))
	if err != nil {
		return TrackingPage{}, err
	}
	return s.show(ctx, c, found)
}

func (s *Tracking) rateTask(ctx context.Context, c *edge.Call, body FeedbackBody) error {
	feedback, err := body.Domain()
	if err != nil {
		return err
	}
	return s.Pages.Rate(ctx, link(c), feedback)
}

func (s *Tracking) requestTime(ctx context.Context, c *edge.Call, body NewTimeBody) error {
	begin, err := body.Domain()
	if err != nil {
		return err
	}
	return s.Pages.RequestTime(ctx, link(c), begin)
}

// showLogo serves GET /t/{token}/logo. Pages are opened again and again; the logo
// rarely changes.
func (s *Tracking) showLogo(ctx context.Context, c *edge.Call, w http.ResponseWriter) error {
	merchant, err := s.Pages.Merchant(ctx, link(c))
	if err != nil {
		return err
	}
	logo, err := s.Uploads.Logo(ctx, merchant)
	if lastmile.IsNotFound(err) {
		return trackingpage.NotFound()
	}
	if err != nil {
		return err
	}
	if err := c.Hold(len(logo.Data)); err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "private, max-age=3600")
	s.SendImage(w, logo.Type, logo.Data)
	return nil
}

// followTask serves GET /t/{token}/events: the state of the task, at once and whenever
// it has changed, until the page expires.
func (s *Tracking) followTask(ctx context.Context, c *edge.Call, w http.ResponseWriter, slots *followerSlots) error {
	network := s.Address(c.HTTP)
	if err := slots.enter(link(c), network); err != nil {
		return err
	}
	defer slots.leave(link(c), network)
	page, err := s.Pages.FollowTask(ctx, link(c))
	if err != nil {
		return err
	}
	defer page.Close()
	organization := string(page.Organization())
	if slots.organizations.Acquire(organization) != nil {
		return tooManyFollow("tasks of this organization")
	}
	defer slots.organizations.Release(organization)
	sent, err := s.encodePage(ctx, c, page)
	if err != nil {
		return err
	}
	out, err := s.OpenStream(ctx, c, w)
	if err != nil {
		return err
	}
	text := fmt.Appendf(nil, "event: state\ndata: %s\n\n", sent)
	last := s.Now()
	for out.Send(text) == nil && s.Pause(ctx, edge.StreamPause) {
		latest, err := s.nextPage(ctx, c, page)
		text = nil
		switch {
		case isRejection(err):
			out.Send([]byte("event: gone\ndata: {}\n\n")) //nolint:errcheck // it ends in any case
			return nil
		case err != nil:
			return nil // the page asks again
		case !bytes.Equal(latest, sent):
			text, sent = fmt.Appendf(nil, "event: state\ndata: %s\n\n", latest), latest
		case s.Now().Sub(last).Abs() >= edge.KeepAliveInterval: // the clock may have been set back
			text = []byte(": still here\n\n")
		}
		if text != nil {
			last = s.Now()
		}
	}
	return nil
}

// nextPage waits until the page has changed, or might look different because time
// has passed, and returns it as it is then. Data is read only after a change.
func (s *Tracking) nextPage(ctx context.Context, c *edge.Call, page *taskflow.TaskFollower) (shown []byte, err error) {
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
	return s.encodePage(ctx, c, page)
}

// errStreamsEnded ends a stream when the server stops.
var errStreamsEnded = errors.New("streams have ended")

// encodePage returns a page as its recipient sees it now.
func (s *Tracking) encodePage(ctx context.Context, c *edge.Call, page *taskflow.TaskFollower) ([]byte, error) {
	found, err := page.Show()
	if err != nil {
		return nil, err
	}
	shown, err := s.show(ctx, c, found)
	if err != nil {
		return nil, err
	}
	return codec.Marshal(shown)
}

// show returns a page with the way of the worker, from the location that it shows.
func (s *Tracking) show(ctx context.Context, c *edge.Call, found trackingpage.Page) (TrackingPage, error) {
	page := NewTrackingPage(found, language(c, found.Country))
	if found.Location == nil {
		return page, nil
	}
	way, err := s.Routes.Shown(ctx, link(c), found.Vehicle, *found.Location, *found.Destination)
	page.Route = new(wire.NewRoute(way))
	return page, err
}

// language returns the language in which a page is shown: the client's choice, or else
// that of a country.
func language(c *edge.Call, country string) string {
	return textmessage.ChooseLanguage(c.HTTP.Header.Get("Accept-Language"), country)
}

// isRejection reports whether an error will be the same if the client tries again.
func isRejection(err error) bool {
	rejected, ok := errors.AsType[*lastmile.Error](err)
	return ok && !rejected.Transient()
}
