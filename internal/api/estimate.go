package api

import (
	"context"
	"strings"
	"time"

	"dray/internal/lastmile"
	"dray/internal/travel"
	"dray/internal/wire"
)

// estimateQuery are the parameters of an estimate.
var estimateQuery = []parameter{
	{name: "dropoffLocation", about: "longitude,latitude of the drop-off; this or pickupLocation must be there"},
	{name: "pickupLocation", about: "longitude,latitude of the pickup"},
	{name: "pickupTime", about: "Unix seconds; no pickup before this; as soon as can be unless given", kind: "number"},
	{name: "restrictedVehicleTypes", about: "comma-separated types of vehicles that cannot do it"},
	{name: "restrictedVehiclesTypes", about: "another spelling of restrictedVehicleTypes"},
	{name: "serviceTime", about: "seconds at each stop; 120 unless given", kind: "number"},
}

// estimate answers who of a team could do something first.
func (s *Server) estimate(ctx context.Context, c *call) (any, error) {
	q := travel.EstimateRequest{Service: travel.DefaultStopTime}
	var err error
	if q.Pickup, err = c.place("pickupLocation"); err != nil {
		return nil, err
	}
	if q.Dropoff, err = c.place("dropoffLocation"); err != nil {
		return nil, err
	}
	seconds, sent, err := c.number("pickupTime")
	if err != nil {
		return nil, err
	}
	if sent {
		const latest = 4_102_444_800 // 2100
		if seconds < 0 || seconds > latest {
			return nil, lastmile.Invalid("pickupTime must be a time in Unix seconds, not %g", seconds)
		}
		q.PickupTime = time.Unix(int64(seconds), 0).UTC()
	}
	if seconds, sent, err = c.number("serviceTime"); err != nil {
		return nil, err
	}
	if sent {
		q.Service = time.Duration(min(max(seconds, -1), 2*lastmile.MaxServiceTime.Seconds()) * float64(time.Second))
	}
	// Both spellings are in use.
	for _, v := range append(c.list("restrictedVehicleTypes"), c.list("restrictedVehiclesTypes")...) {
		q.ExcludedVehicles = append(q.ExcludedVehicles, lastmile.VehicleType(strings.ToUpper(v)))
	}
	return s.Fleet.Estimate(ctx, c.who, lastmile.TeamID(c.id()), q)
}

// place is a query parameter of the form longitude,latitude; nil when it was
// not sent.
func (c *call) place(name string) (*lastmile.Point, error) {
	text := c.query.Get(name)
	if text == "" {
		return nil, nil
	}
	var pair wire.LonLat
	if err := pair.UnmarshalJSON([]byte("[" + strings.Trim(text, "[] ") + "]")); err != nil {
		return nil, lastmile.Malformed("%s must be a longitude and a latitude, separated by a comma, not %q", name, clip(text))
	}
	at := pair.Point()
	return &at, nil
}
