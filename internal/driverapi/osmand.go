package driverapi

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"

	"dray/internal/codec"
	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// osmandRoutes returns the routes that accept positions from tracker apps in the
// protocol of OsmAnd and Traccar Client. The token of the worker's tracker is the only
// credential that such an app can send.
func (s *Server) osmandRoutes() []edge.Route {
	const summary = "Report a position from a tracker app"
	return []edge.Route{
		edge.Get("/osmand", summary, s.osmand).Public(),
		edge.Send("/osmand", summary, s.osmand).Public(),
	}
}

// trackerRoutes returns the routes for the token of a worker's tracker app.
func (s *Server) trackerRoutes() []edge.Route {
	return []edge.Route{
		edge.Send("/tracker", "Create a token for a tracker app", s.newTracker).
			Describe("The token is for apps that support the OsmAnd protocol, at /driver/v1/osmand. It replaces the previous token and only permits reporting positions."),
		edge.Delete("/tracker", "Revoke the token for a tracker app", s.endTracker).
			Describe("The token becomes invalid."),
	}
}

func (s *Server) newTracker(ctx context.Context, c *edge.Call) (TrackerToken, error) {
	token, err := s.Sessions.NewTracker(ctx, c.Who)
	return TrackerToken{Token: token}, err
}

func (s *Server) endTracker(ctx context.Context, c *edge.Call) error {
	return s.Sessions.EndTracker(ctx, c.Who)
}

// osmand accepts one position: in the query, in a form, or in JSON as newer apps send
// it.
func (s *Server) osmand(ctx context.Context, c *edge.Call) (AcceptedPositions, error) {
	sent, err := osmandValues(c)
	if err != nil {
		return AcceptedPositions{}, err
	}
	who, err := s.Sessions.AuthenticateTracker(ctx, cmp.Or(sent.Get("id"), sent.Get("deviceid")))
	if err != nil {
		return AcceptedPositions{}, err
	}
	position, err := osmandPosition(sent, s.Now())
	if err != nil {
		return AcceptedPositions{}, err
	}
	accepted, err := s.Tracking.Report(lastmile.WithCaller(ctx, string(who.Organization)), who, []lastmile.Position{position})
	return AcceptedPositions{Accepted: accepted}, err
}

// osmandValues returns the parameters of a position, from the query and the body.
func osmandValues(c *edge.Call) (url.Values, error) {
	values := url.Values{}
	maps.Copy(values, c.Query)
	text := strings.TrimSpace(string(c.Body))
	switch {
	case text == "":
		return values, nil
	case strings.HasPrefix(text, "{"):
		var body TrackerBody
		if err := codec.Decode(c.Body, &body); err != nil {
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
	if err := edge.CheckQuery(form); err != nil {
		return nil, err
	}
	maps.Copy(values, form)
	return values, nil
}

// knot is the unit of speed of tracker apps, in meters per second.
const knot = 0.514444

// osmandPosition reads a position. Without a time, it is the position at now.
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

// osmandNumber returns a numeric parameter; nil when it was not sent.
func osmandNumber(sent url.Values, name string) (*float64, error) {
	text := sent.Get(name)
	if text == "" {
		return nil, nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return nil, lastmile.Malformed("%s must be a number, not %q", name, edge.Clip(text))
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
			return time.Time{}, lastmile.Invalid("timestamp must be a time in Unix seconds or milliseconds, not %q", edge.Clip(text))
		}
		return ms.Time(), nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateTime} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC().Truncate(time.Millisecond), nil
		}
	}
	return time.Time{}, lastmile.Malformed("timestamp must be a time in Unix seconds or milliseconds, or in ISO 8601, not %q", edge.Clip(text))
}
