package geo

import (
	"context"
	"errors"
	"time"

	"dray/internal/lastmile"
)

// geocodeWithin is the most time one address takes, over all sources.
const geocodeWithin = 8 * time.Second

// Chain asks one geocoder after another until one has found the address well
// enough. A source that fails is passed over.
type Chain struct {
	Sources []Geocoder // the best first; the last needs no network
	Failed  func(ctx context.Context, err error)
}

// Geocode implements Geocoder. It is within a few seconds, whatever the
// sources do, as long as the last one needs no network.
func (c *Chain) Geocode(ctx context.Context, q lastmile.AddressQuery) (lastmile.GeocodedAddress, error) {
	network, cancel := networkTime(ctx, geocodeWithin)
	defer cancel()
	var refusal error
	failed := false
	for i, source := range c.Sources {
		within := network
		if i == len(c.Sources)-1 {
			within = ctx
		}
		place, err := source.Geocode(within, q)
		if err == nil {
			err = place.RequirePrecision(q.Precision)
		}
		if err == nil {
			return place, nil
		}
		if errors.Is(ctx.Err(), context.Canceled) {
			return lastmile.GeocodedAddress{}, ctx.Err()
		}
		if _, ok := errors.AsType[*lastmile.Error](err); ok {
			refusal = err // the last one to refuse knows why
			continue
		}
		failed = true
		if c.Failed != nil {
			c.Failed(ctx, err)
		}
	}
	switch {
	case refusal == nil:
		return lastmile.GeocodedAddress{}, lastmile.Overloaded("no geocoder answers; try again later")
	case failed:
		refused, _ := errors.AsType[*lastmile.Error](refusal)
		return lastmile.GeocodedAddress{}, refused.Because("%s; a geocoder did not answer, so it may be worth to try again later", refused.Cause)
	}
	return lastmile.GeocodedAddress{}, refusal
}

// networkTime is the part of a caller's time that may go by while others
// answer: at most some, and never so much that nothing is left to do without
// them.
func networkTime(ctx context.Context, most time.Duration) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		most = min(most, left-min(left/5, time.Second))
	}
	return context.WithTimeout(ctx, most)
}
