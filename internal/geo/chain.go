package geo

import (
	"context"
	"errors"
	"slices"
	"time"

	"dray/internal/geo/gazetteer"
	"dray/internal/lastmile"
)

// geocodeTimeout limits the time to geocode one address with all services.
const geocodeTimeout = 8 * time.Second

// Chain queries geocoders in order until one finds the address with sufficient
// precision. Sources that fail are skipped, and so are results outside the
// country or state that the address names.
type Chain struct {
	Services []Geocoder // over the network, best first
	Local    []Geocoder // need no network; queried after the services, best first
	Failed   func(ctx context.Context, err error)
}

// Geocode implements Geocoder. It waits a few seconds at most for all services together.
func (c *Chain) Geocode(ctx context.Context, q lastmile.AddressQuery) (lastmile.GeocodedAddress, error) {
	places, err := gazetteer.Embedded()
	if err != nil {
		return lastmile.GeocodedAddress{}, err
	}
	readings, err := read(places, q)
	if err != nil {
		return lastmile.GeocodedAddress{}, err
	}
	regions := regionsOf(readings)
	network, cancel := withNetworkTimeout(ctx, geocodeTimeout)
	defer cancel()
	var rejection error
	failed := false
	for i, source := range slices.Concat(c.Services, c.Local) {
		within := network
		if i >= len(c.Services) {
			within = ctx
		}
		place, err := source.Geocode(within, q)
		switch {
		case err != nil:
		case admits(places, regions, place, ""):
			err = place.RequirePrecision(q.Precision)
		default:
			err = lastmile.AddressNotFound("it was found only outside %s", describe(places, regions))
		}
		if err == nil {
			return place, nil
		}
		if errors.Is(ctx.Err(), context.Canceled) {
			return lastmile.GeocodedAddress{}, ctx.Err()
		}
		if _, ok := errors.AsType[*lastmile.Error](err); ok {
			rejection = err // the last error is the most specific
			continue
		}
		failed = true
		if c.Failed != nil {
			c.Failed(ctx, err)
		}
	}
	switch {
	case rejection == nil:
		return lastmile.GeocodedAddress{}, lastmile.Overloaded("no geocoder responds; try again later")
	case failed:
		rejected, _ := errors.AsType[*lastmile.Error](rejection)
		return lastmile.GeocodedAddress{}, rejected.Because("%s; a geocoder did not respond, so try again later", rejected.Cause)
	}
	return lastmile.GeocodedAddress{}, rejection
}

// withNetworkTimeout returns a context for network requests. It lasts at most the given
// time, and ends early enough for the caller to continue without a result.
func withNetworkTimeout(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		most = min(most, left-min(left/5, time.Second))
	}
	return context.WithTimeout(ctx, most)
}
