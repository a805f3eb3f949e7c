package api

import (
	"context"
	"strings"
	"time"

	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/wire"
)

// estimates serves the endpoints of team estimates.
type estimates struct{ *Server }

// estimateQuery lists the query parameters of an estimate.
var estimateQuery = []edge.Parameter{
	{Name: "dropoffLocation", Description: "longitude,latitude of the drop-off. Either this or pickupLocation is required", Example: "-73.9857,40.7484"},
	{Name: "pickupLocation", Description: "longitude,latitude of the pickup"},
	{Name: "pickupTime", Description: "earliest time of the pickup, in Unix seconds. Default: as soon as possible", Type: "number"},
	{Name: "restrictedVehicleTypes", Description: "comma-separated types of vehicles to exclude"},
	{Name: "restrictedVehiclesTypes", Description: "alias of restrictedVehicleTypes"},
	{Name: "serviceTime", Description: "time spent at each stop, in seconds. Default: 120", Type: "number"},
}

// estimate returns the worker of a team who could complete the stops first.
func (s estimates) estimate(ctx context.Context, c *edge.Call) (wire.TeamEstimate, error) {
	q := wire.NewEstimateRequest()
	var err error
	if q.Pickup, err = c.Point("pickupLocation"); err != nil {
		return wire.TeamEstimate{}, err
	}
	if q.Dropoff, err = c.Point("dropoffLocation"); err != nil {
		return wire.TeamEstimate{}, err
	}
	seconds, sent, err := c.Number("pickupTime")
	if err != nil {
		return wire.TeamEstimate{}, err
	}
	if sent {
		const latest = 4_102_444_800 // 2100
		if seconds < 0 || seconds > latest {
			return wire.TeamEstimate{}, lastmile.Invalid("pickupTime must be a time in Unix seconds, not %g", seconds)
		}
		q.PickupTime = time.Unix(int64(seconds), 0).UTC()
	}
	if seconds, sent, err = c.Number("serviceTime"); err != nil {
		return wire.TeamEstimate{}, err
	}
	if sent {
		q.Service = time.Duration(min(max(seconds, -1), 2*lastmile.MaxServiceTime.Seconds()) * float64(time.Second))
	}
	// Both spellings are in use.
	for _, v := range append(c.List("restrictedVehicleTypes"), c.List("restrictedVehiclesTypes")...) {
		q.ExcludedVehicles = append(q.ExcludedVehicles, lastmile.VehicleType(strings.ToUpper(v)))
	}
	estimate, err := s.Dispatches.Estimate(ctx, c.Who, lastmile.TeamID(c.ID()), q)
	return wire.NewTeamEstimate(estimate), err
}
