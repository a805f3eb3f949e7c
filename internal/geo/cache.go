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

// Cache keeps answers for a while. It may forget them at any time.
type Cache interface {
	// Get returns what was put under a key and is not too old.
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	// Put keeps a value for a while.
	Put(ctx context.Context, key string, value []byte, keep time.Duration) error
}

// How long answers are kept.
const (
	KeepFound   = 30 * 24 * time.Hour
	KeepUnknown = 24 * time.Hour // map services learn
)

// Cached asks a geocoder only for what it has not asked before.
type Cached struct {
	Geocoder Geocoder
	Cache    Cache
	Name     string                               // of the geocoder, so that two do not mix
	Failed   func(ctx context.Context, err error) // of the cache; the answer comes all the same
}

// cachedPlace is an answer as it is kept.
type cachedPlace struct {
	Place   *lastmile.GeocodedAddress `json:"place,omitempty"`
	Refusal string                    `json:"refusal,omitempty"` // the cause
}

// Geocode implements Geocoder.
func (c *Cached) Geocode(ctx context.Context, q lastmile.AddressQuery) (lastmile.GeocodedAddress, error) {
	key := c.key(q)
	kept, ok, err := c.Cache.Get(ctx, key)
	c.failed(ctx, err)
	if ok && err == nil {
		var answer cachedPlace
		if err := json.Unmarshal(kept, &answer); err == nil {
			switch {
			case answer.Place != nil:
				return *answer.Place, nil
			case answer.Refusal != "":
				return lastmile.GeocodedAddress{}, lastmile.AddressNotFound("%s", answer.Refusal)
			}
		}
	}
	place, err := c.Geocoder.Geocode(ctx, q)
	refusal, refused := errors.AsType[*lastmile.Error](err)
	switch {
	case err == nil:
		c.put(ctx, key, cachedPlace{Place: &place}, KeepFound)
	case refused:
		cause, _, _ := strings.Cut(refusal.Cause, ";")
		c.put(ctx, key, cachedPlace{Refusal: cause}, KeepUnknown)
	}
	return place, err
}

func (c *Cached) put(ctx context.Context, key string, answer cachedPlace, keep time.Duration) {
	value, err := json.Marshal(answer)
	if err == nil {
		err = c.Cache.Put(ctx, key, value, keep)
	}
	c.failed(ctx, err)
}

func (c *Cached) failed(ctx context.Context, err error) {
	if err != nil && c.Failed != nil {
		c.Failed(ctx, err)
	}
}

// key is what an answer is kept under: everything that it depends on.
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
	return "geocode/" + hex.EncodeToString(sum[:16])
}
