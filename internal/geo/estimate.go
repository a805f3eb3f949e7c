package geo

import (
	"context"

	"dray/internal/lastmile"
	"dray/internal/travel"
)

// EstimateSource is the Source of times estimated by formula.
const EstimateSource = "estimate"

// Estimate estimates travel times by formula.
type Estimate struct {
	Factor travel.Factor // the organization's factor; the zero value for none
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
