// Package geo geocodes addresses and returns travel times, with the embedded gazetteer and a
// formula, with imported maps, and with map services that the operator configures.
//
// Responses of services are not trusted: they may be late, too large, misdirected or wrong,
// and then the next source is used. No service is called inside a transaction.
package geo

import (
	"context"

	"dray/internal/lastmile"
	"dray/internal/travel"
)

// Geocoder finds the location of an address.
type Geocoder interface {
	// Geocode returns the best location of an address, or a *lastmile.Error if
	// there is none. Any other error means that this source failed.
	Geocode(ctx context.Context, q lastmile.AddressQuery) (lastmile.GeocodedAddress, error)
}

// TravelTimer returns travel times.
type TravelTimer interface {
	// Matrix returns the times between all pairs of origins and destinations.
	Matrix(ctx context.Context, by lastmile.VehicleType, from, to []lastmile.Point) (travel.Times, error)
}
