package geo

import (
	"context"

	"dray/internal/lastmile"
)

// EstimateSource is what times by formula say of their source.
const EstimateSource = "estimate"

// Estimate tells travel times by formula, without asking anybody.
type Estimate struct {
	Factor lastmile.TravelFactor // of the organization; the zero value for none
}

// Matrix implements TravelTimer. It does not fail.
func (e Estimate) Matrix(_ context.Context, by lastmile.VehicleType, from, to []lastmile.Point) (lastmile.TravelTimes, error) {
	times := lastmile.NewTravelTimes(len(from), len(to), EstimateSource)
	times.Estimated = true
	for i, a := range from {
		for j, b := range to {
			times.Durations[i][j], times.Distances[i][j] = lastmile.EstimateTravel(by, a, b)
		}
	}
	return times.Adjusted(e.Factor), nil
}
