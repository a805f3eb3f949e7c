package geo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"dray/internal/lastmile"
	"dray/internal/travel"
)

// LegCache stores many legs at once for a limited time. It may drop them at any
// time.
type LegCache interface {
	// GetAll returns the values of the keys that have not expired.
	GetAll(ctx context.Context, keys []string) (map[string][]byte, error)
	// PutAll stores values for some time.
	PutAll(ctx context.Context, values map[string][]byte, keep time.Duration) error
}

// LegTTL is how long the time of a leg is cached. Roads change rarely, but closures
// are frequent.
const LegTTL = time.Hour

// legsAtOnce is the maximum number of legs that are computed as one matrix. The size of the
// matrix grows with the square of this number.
const legsAtOnce = 10

// Travel returns travel times and caches each leg.
type Travel struct {
	TravelTimer
	Cache   LegCache                             // nil disables caching
	Name    string                               // identifies the routers, so that results of different configurations are kept apart
	OnError func(ctx context.Context, err error) // called on errors of the cache, which do not affect the result
}

// Legs returns the legs between consecutive waypoints.
func (t *Travel) Legs(ctx context.Context, by lastmile.VehicleType, way []lastmile.Point) ([]travel.Leg, error) {
	if len(way) < 2 {
		return nil, nil
	}
	legs := make([]travel.Leg, len(way)-1)
	keys, known := t.cached(ctx, by, way, legs)
	fresh := map[string][]byte{}
	for i := 0; i < len(legs); i++ {
		if known[i] {
			continue
		}
		end := i + 1
		for end < len(legs) && !known[end] && end-i < legsAtOnce {
			end++
		}
		if err := t.query(ctx, by, way[i:end+1], legs[i:end]); err != nil {
			return nil, err
		}
		for ; i < end; i++ {
			if keys != nil && !legs[i].Estimated {
				fresh[keys[i]] = encodeLeg(legs[i])
			}
		}
		i--
	}
	if len(fresh) > 0 {
		t.failed(ctx, t.Cache.PutAll(ctx, fresh, LegTTL))
	}
	return legs, nil
}

// query computes the legs between waypoints, which are the diagonal of a matrix.
func (t *Travel) query(ctx context.Context, by lastmile.VehicleType, way []lastmile.Point, legs []travel.Leg) error {
	times, err := t.Matrix(ctx, by, way[:len(legs)], way[1:])
	if err != nil {
		return fmt.Errorf("query %d legs: %w", len(legs), err)
	}
	for i := range legs {
		legs[i] = travel.Leg{Duration: times.Durations[i][i], Distance: times.Distances[i][i], Estimated: times.ByFormula(i, i)}
	}
	return nil
}

// cached fills in the cached legs. It returns the keys of all legs, and which are
// cached.
func (t *Travel) cached(ctx context.Context, by lastmile.VehicleType, way []lastmile.Point, legs []travel.Leg) ([]string, []bool) {
	known := make([]bool, len(legs))
	if t.Cache == nil {
		return nil, known
	}
	keys := make([]string, len(legs))
	for i := range legs {
		keys[i] = t.legKey(by, way[i], way[i+1])
	}
	found, err := t.Cache.GetAll(ctx, keys)
	t.failed(ctx, err)
	for i, key := range keys {
		if value, ok := found[key]; ok {
			legs[i], known[i] = decodeLeg(value)
		}
	}
	return keys, known
}

func (t *Travel) failed(ctx context.Context, err error) {
	if err != nil && t.OnError != nil {
		t.OnError(ctx, err)
	}
}

// legKey returns the cache key of a leg. Its ends are rounded to about ten
// meters, so that a worker who stands still does not cause new queries.
func (t *Travel) legKey(by lastmile.VehicleType, from, to lastmile.Point) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%.4f,%.4f\x00%.4f,%.4f", t.Name, by, from.Lon, from.Lat, to.Lon, to.Lat))
	return "leg/" + hex.EncodeToString(sum[:16])
}

// cachedLeg is a cached leg.
type cachedLeg struct {
	Milliseconds int64   `json:"ms"` // -1 if unreachable
	Meters       float64 `json:"m"`
}

func encodeLeg(l travel.Leg) []byte {
	kept := cachedLeg{Milliseconds: l.Duration.Milliseconds(), Meters: float64(l.Distance)}
	if l.Duration == travel.Unreachable {
		kept.Milliseconds = -1
	}
	value, _ := json.Marshal(kept) // cannot fail: two finite numbers
	return value
}

func decodeLeg(value []byte) (travel.Leg, bool) {
	var kept cachedLeg
	if err := json.Unmarshal(value, &kept); err != nil {
		return travel.Leg{}, false
	}
	leg := travel.Leg{Duration: time.Duration(kept.Milliseconds) * time.Millisecond, Distance: lastmile.Meters(kept.Meters)}
	if kept.Milliseconds < 0 {
		leg.Duration = travel.Unreachable
	}
	return leg, true
}
