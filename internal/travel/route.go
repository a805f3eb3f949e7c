package travel

import (
	"math"
	"time"

	"dray/internal/lastmile"
)

// Route is the way along some stops.
type Route struct {
	Duration  time.Duration
	Distance  lastmile.Meters
	Line      []lastmile.Point
	ByFormula bool // at least one leg is a straight line, because no roads are known
}

// The limits of routes.
const (
	MaxRouteStops  = 50
	MaxRoutePoints = 20_000 // of the line
)

// CheckRouteStops rejects too few or too many stops of a route.
func CheckRouteStops(stops []lastmile.Point) error {
	if len(stops) < 2 || len(stops) > MaxRouteStops {
		return lastmile.Invalid("stops must have 2 to %d locations, not %d", MaxRouteStops, len(stops))
	}
	return nil
}

// Add appends a leg to the route.
func (r *Route) Add(leg Route) {
	r.Duration, r.Distance, r.ByFormula = r.Duration+leg.Duration, r.Distance+leg.Distance, r.ByFormula || leg.ByFormula
	line := leg.Line
	if n := len(r.Line); n > 0 && len(line) > 0 && r.Line[n-1] == line[0] {
		line = line[1:]
	}
	r.Line = append(r.Line, line...)
}

// Thin removes points that are close to the previous one, until at most the given number is
// left.
func (r *Route) Thin(most int) {
	for apart := 5.0; len(r.Line) > most; apart *= 2 {
		kept := r.Line[:1]
		for i, p := range r.Line[1:] {
			if i == len(r.Line)-2 || float64(lastmile.SphericalDistance(kept[len(kept)-1], p)) >= apart {
				kept = append(kept, p)
			}
		}
		if len(kept) == len(r.Line) && apart > 1e8 {
			return
		}
		r.Line = kept
	}
}

// Polyline returns the line in the encoded polyline format, with five decimals.
func (r Route) Polyline() string {
	var out []byte
	lat, lon := int64(0), int64(0)
	add := func(v int64) {
		for v = v<<1 ^ v>>63; v >= 0x20; v >>= 5 {
			out = append(out, byte(v&0x1f|0x20)+63)
		}
		out = append(out, byte(v)+63)
	}
	for _, p := range r.Line {
		y, x := int64(math.Round(p.Lat*1e5)), int64(math.Round(p.Lon*1e5))
		add(y - lat)
		add(x - lon)
		lat, lon = y, x
	}
	return string(out)
}
