// Package geo finds addresses and travel times: by the gazetteer and the
// formulas in the program, and by map services that the operator names.
//
// What a service answers is treated as hostile: it comes late, too large, from
// elsewhere or wrong, and then the next source answers. None is ever asked
// inside a transaction. Whatever comes to know streets and roads by itself
// later takes its place in the same two chains.
package geo

import (
	"context"

	"dray/internal/lastmile"
	"dray/internal/travel"
)

// Geocoder finds the place of an address.
type Geocoder interface {
	// Geocode returns the best place for an address, or a *lastmile.Error when
	// there is none. Any other error means that this source could not tell.
	Geocode(ctx context.Context, q lastmile.AddressQuery) (lastmile.Place, error)
}

// TravelTimer tells how long ways take.
type TravelTimer interface {
	// Matrix returns the times from each of some places to each of others.
	Matrix(ctx context.Context, by lastmile.VehicleType, from, to []lastmile.Point) (travel.Times, error)
}
