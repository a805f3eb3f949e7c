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

// LegCache keeps what is known of many ways at once. It may forget them at any
// time.
type LegCache interface {
	// GetAll returns what was put under each of some keys and is not too old.
	GetAll(ctx context.Context, keys []string) (map[string][]byte, error)
	// PutAll keeps values for a while.
	PutAll(ctx context.Context, values map[string][]byte, keep time.Duration) error
}

// KeepLeg is how long the time a router told is good for: roads change slowly,
// and closures do not.
const KeepLeg = time.Hour

// legsAtOnce is how many legs of a way one table holds. A table has the ways
// that nobody asked for too, so that it grows with the square.
const legsAtOnce = 10

// Travel tells travel times, and asks its routers for each leg of a way only
// once in a while.
type Travel struct {
	TravelTimer
	Cache  LegCache                             // nil keeps nothing
	Name   string                               // of the routers, so that those of another configuration do not mix
	Failed func(ctx context.Context, err error) // of the cache; the answer comes all the same
}

// Legs returns how long each leg of a way takes, from every place to the next.
func (t *Travel) Legs(ctx context.Context, by lastmile.VehicleType, way []lastmile.Point) ([]travel.Leg, error) {
	if len(way) < 2 {
		return nil, nil
	}
	legs := make([]travel.Leg, len(way)-1)
	keys, known := t.kept(ctx, by, way, legs)
	fresh := map[string][]byte{}
	for i := 0; i < len(legs); i++ {
		if known[i] {
			continue
		}
		end := i + 1
		for end < len(legs) && !known[end] && end-i < legsAtOnce {
			end++
		}
		if err := t.ask(ctx, by, way[i:end+1], legs[i:end]); err != nil {
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
		t.failed(ctx, t.Cache.PutAll(ctx, fresh, KeepLeg))
	}
	return legs, nil
}

// ask fills in the legs of a part of the way.
func (t *Travel) ask(ctx context.Context, by lastmile.VehicleType, way []lastmile.Point, legs []travel.Leg) error {
	times, err := t.Matrix(ctx, by, way[:len(legs)], way[1:])
	if err != nil {
		return fmt.Errorf("ask for %d legs: %w", len(legs), err)
	}
	for i := range legs {
		legs[i] = travel.Leg{Duration: times.Durations[i][i], Distance: times.Distances[i][i], Estimated: times.Estimated}
	}
	return nil
}

// kept fills in the legs that are in the cache. It returns the keys of all, and
// which are known.
func (t *Travel) kept(ctx context.Context, by lastmile.VehicleType, way []lastmile.Point, legs []travel.Leg) ([]string, []bool) {
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
	if err != nil && t.Failed != nil {
		t.Failed(ctx, err)
	}
}

// legKey is what a leg is kept under: its ends to some ten meters, or a worker
// who stands still would be asked for again and again.
func (t *Travel) legKey(by lastmile.VehicleType, from, to lastmile.Point) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%.4f,%.4f\x00%.4f,%.4f", t.Name, by, from.Lon, from.Lat, to.Lon, to.Lat))
	return "leg/" + hex.EncodeToString(sum[:16])
}

// keptLeg is a leg as it is kept.
type keptLeg struct {
	Milliseconds int64   `json:"ms"` // -1: no way
	Meters       float64 `json:"m"`
}

func encodeLeg(l travel.Leg) []byte {
	kept := keptLeg{Milliseconds: l.Duration.Milliseconds(), Meters: float64(l.Distance)}
	if l.Duration == travel.Unreachable {
		kept.Milliseconds = -1
	}
	value, _ := json.Marshal(kept) // two finite numbers
	return value
}

func decodeLeg(value []byte) (travel.Leg, bool) {
	var kept keptLeg
	if err := json.Unmarshal(value, &kept); err != nil {
		return travel.Leg{}, false
	}
	leg := travel.Leg{Duration: time.Duration(kept.Milliseconds) * time.Millisecond, Distance: lastmile.Meters(kept.Meters)}
	if kept.Milliseconds < 0 {
		leg.Duration = travel.Unreachable
	}
	return leg, true
}
