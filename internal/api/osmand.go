package api

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"dray/internal/lastmile"
	"dray/internal/wire"
)

// osmandRoutes take positions from tracker apps as OsmAnd and Traccar Client
// send them. Whoever has the token of the worker's tracker may: there is no
// other way to say who one is in such an app.
func (s *Server) osmandRoutes() []route {
	take := func(method string) route {
		return route{method: method, path: "/osmand", summary: "Report a position from a tracker app", reply: wire.Believed{}, serve: s.osmand, anybody: true}
	}
	return []route{
		take(http.MethodGet), take(http.MethodPost),
	}
}

// trackerRoutes are what a worker does about tracker apps.
func (s *Server) trackerRoutes() []route {
	return []route{
		{method: http.MethodPost, path: "/tracker", summary: "Make a token for a tracker app", reply: wire.TrackerToken{}, serve: s.newTracker},
		remove("/tracker", "End the token for a tracker app", s.endTracker),
	}
}

func (s *Server) newTracker(ctx context.Context, c *call) (any, error) {
	token, err := s.Sessions.NewTracker(ctx, c.who)
	return wire.TrackerToken{Token: token}, err
}

func (s *Server) endTracker(ctx context.Context, c *call) (any, error) {
	return nil, s.Sessions.EndTracker(ctx, c.who)
}

// osmand takes one position: in the query, in a form, or as newer apps send it
// in JSON.
func (s *Server) osmand(ctx context.Context, c *call) (any, error) {
	sent, err := c.osmandValues()
	if err != nil {
		return nil, err
	}
	who, err := s.Sessions.AuthenticateTracker(ctx, cmp.Or(sent.Get("id"), sent.Get("deviceid")))
	if err != nil {
		return nil, err
	}
	position, err := osmandPosition(sent, s.Now())
	if err != nil {
		return nil, err
	}
	accepted, err := s.Tracking.Report(ctx, who, []lastmile.Position{position})
	return wire.Believed{Accepted: accepted}, err
}

// osmandValues are the parameters of a position, wherever they were sent.
func (c *call) osmandValues() (url.Values, error) {
	values := url.Values{}
	maps.Copy(values, c.query)
	text := strings.TrimSpace(string(c.body))
	switch {
	case text == "":
		return values, nil
	case strings.HasPrefix(text, "{"):
		var body wire.TrackerBody
		if err := wire.Decode(c.body, &body); err != nil {
			return nil, err
		}
		for name, value := range body.Values() {
			values.Set(name, value)
		}
		return values, nil
	}
	form, err := url.ParseQuery(text)
	if err != nil {
		return nil, lastmile.Malformed("the request body cannot be read: send a form or JSON")
	}
	if err := checkQuery(form); err != nil {
		return nil, err
	}
	maps.Copy(values, form)
	return values, nil
}

// knot is the unit of speed of tracker apps, in metres a second.
const knot = 0.514444

// osmandPosition reads a position. Without a time it is of now.
func osmandPosition(sent url.Values, now time.Time) (p lastmile.Position, err error) {
	if lat, lon, both := strings.Cut(sent.Get("location"), ","); both && !sent.Has("lat") && !sent.Has("lon") {
		sent.Set("lat", lat)
		sent.Set("lon", lon)
	}
	numbers := map[string]*float64{}
	for _, name := range []string{"lat", "lon", "accuracy", "hdop", "speed", "metersPerSecond", "bearing", "heading", "batt"} {
		if numbers[name], err = osmandNumber(sent, name); err != nil {
			return p, err
		}
	}
	switch {
	case numbers["lat"] == nil:
		return p, lastmile.Missing("lat")
	case numbers["lon"] == nil:
		return p, lastmile.Missing("lon")
	}
	if p.Location, err = lastmile.NewPoint(*numbers["lon"], *numbers["lat"]); err != nil {
		return p, err
	}
	if p.At, err = osmandTime(sent.Get("timestamp"), now); err != nil {
		return p, err
	}
	p.Accuracy, p.Heading = cmp.Or(numbers["accuracy"], numbers["hdop"]), cmp.Or(numbers["bearing"], numbers["heading"])
	if numbers["batt"] != nil { // in percent
		p.Battery = new(*numbers["batt"] / 100)
	}
	if p.Speed = numbers["metersPerSecond"]; p.Speed == nil && numbers["speed"] != nil {
		p.Speed = new(*numbers["speed"] * knot)
	}
	return p, nil
}

// osmandNumber is a number among the parameters; nil when it was not sent.
func osmandNumber(sent url.Values, name string) (*float64, error) {
	text := sent.Get(name)
	if text == "" {
		return nil, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return nil, lastmile.Malformed("%s must be a number, not %q", name, clip(text))
	}
	return &n, nil
}

// osmandTime reads a time as tracker apps send it: in Unix seconds or
// milliseconds, or in ISO 8601.
func osmandTime(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return now, nil
	}
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		const lastSecond = 1e11 // a larger number is in milliseconds
		if n >= 0 && n < lastSecond {
			n *= 1000
		}
		var ms wire.Millis
		if err := json.Unmarshal(strconv.AppendFloat(nil, math.Trunc(n), 'f', 0, 64), &ms); err != nil {
			return time.Time{}, lastmile.Invalid("timestamp must be a time in Unix seconds or milliseconds, not %q", clip(text))
		}
		return ms.Time(), nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateTime} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC().Truncate(time.Millisecond), nil
		}
	}
	return time.Time{}, lastmile.Malformed("timestamp must be a time in Unix seconds or milliseconds, or in ISO 8601, not %q", clip(text))
}
