package geo

import (
	"context"

	"dray/internal/lastmile"
	"dray/internal/travel"
)

// EstimateSource is what times by formula say of their source.
const EstimateSource = "estimate"

// Estimate tells travel times by formula, without asking anybody.
type Estimate struct {
	Factor travel.Factor // of the organization; the zero value for none
}

// Matrix implements TravelTimer. It does not fail.
func (e Estimate) Matrix(_ context.Context, by lastmile.VehicleType, from, to []lastmile.Point) (travel.Times, error) {
	times := travel.NewTimes(len(from), len(to), EstimateSource)
	times.Estimated = true
	for i, a := range from {
		for j, b := range to {
			times.Durations[i][j], times.Distances[i][j] = travel.Approximate(by, a, b)
		}
	}
	return times.Adjusted(e.Factor), nil
}
