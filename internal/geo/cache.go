package geo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"dray/internal/lastmile"
)

// Cache stores results for a limited time. It may drop them at any time.
type Cache interface {
	// Get returns the value of a key if it has not expired.
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	// Put stores a value for some time.
	Put(ctx context.Context, key string, value []byte, keep time.Duration) error
}

// How long results are cached.
const (
	FoundTTL    = 30 * 24 * time.Hour
	NotFoundTTL = 24 * time.Hour // map services are updated
)

// Cached caches the results of a geocoder.
type Cached struct {
	Geocoder Geocoder
	Cache    Cache
	Name     string                               // identifies the geocoder, so that results of different geocoders are kept apart
	OnError  func(ctx context.Context, err error) // called on errors of the cache, which do not affect the result
}

// cachedResult is a cached result.
type cachedResult struct {
	Place     *lastmile.GeocodedAddress `json:"place,omitempty"`
	Rejection string                    `json:"rejection,omitempty"` // cause of the error
}

// Geocode implements Geocoder.
func (c *Cached) Geocode(ctx context.Context, q lastmile.AddressQuery) (lastmile.GeocodedAddress, error) {
	q = shared(q)
	key := c.key(q)
	kept, ok, err := c.Cache.Get(ctx, key)
	c.failed(ctx, err)
	if ok && err == nil {
		var response cachedResult
		if err := json.Unmarshal(kept, &response); err == nil {
			switch {
			case response.Place != nil:
				return *response.Place, nil
			case response.Rejection != "":
				return lastmile.GeocodedAddress{}, lastmile.AddressNotFound("%s", response.Rejection)
			}
		}
	}
	place, err := c.Geocoder.Geocode(ctx, q)
	rejection, rejected := errors.AsType[*lastmile.Error](err)
	switch {
	case err == nil:
		c.put(ctx, key, cachedResult{Place: &place}, FoundTTL)
	case rejected:
		cause, _, _ := strings.Cut(rejection.Cause, ";")
		c.put(ctx, key, cachedResult{Rejection: cause}, NotFoundTTL)
	}
	return place, err
}

func (c *Cached) put(ctx context.Context, key string, response cachedResult, keep time.Duration) {
	value, err := json.Marshal(response)
	if err == nil {
		err = c.Cache.Put(ctx, key, value, keep)
	}
	c.failed(ctx, err)
}

func (c *Cached) failed(ctx context.Context, err error) {
	if err != nil && c.OnError != nil {
		c.OnError(ctx, err)
	}
}

// shared returns the parts of a query that are in the cache key. The others, such as the
// apartment, must not get into a result that other organizations get as well.
func shared(q lastmile.AddressQuery) lastmile.AddressQuery {
	a := q.Address
	return lastmile.AddressQuery{
		Unparsed: q.Unparsed, Language: q.Language, Country: q.Country,
		Address: lastmile.Address{Number: a.Number, Street: a.Street, City: a.City, State: a.State, PostalCode: a.PostalCode, Country: a.Country},
	}
}

// key returns the cache key of a query: everything that the result depends on.
func (c *Cached) key(q lastmile.AddressQuery) string {
	a := q.Address
	parts := []string{
		c.Name, q.Unparsed, q.Language, q.Country,
		a.Number, a.Street, a.City, a.State, a.PostalCode, a.Country,
	}
	for i, part := range parts {
		parts[i] = tidy(part)
	}
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	// The 3 is a version: results of version 1 could be in another country or state, and those of
	// version 2 could contain the apartment of another request.
	return "geocode/3/" + hex.EncodeToString(sum[:16])
}
