package order

import (
	"fmt"
	"math"
	"slices"

	"dray/internal/lastmile"
)

// MaxAreaPoints is the maximum number of positions of an area.
const MaxAreaPoints = 10_000

// Area is a part of the earth: polygons, each an outer ring and holes. Rings are
// closed, as in GeoJSON (RFC 7946). An edge between two positions more than half the
// earth apart crosses the antimeridian, unless it goes all the way around.
type Area [][][]lastmile.Point

// Positions returns how many positions the area has.
func (a Area) Positions() (n int) {
	for _, polygon := range a {
		for _, ring := range polygon {
			n += len(ring)
		}
	}
	return n
}

// check rejects an area without polygons or with invalid rings.
func (a Area) check(field string) error {
	for i, polygon := range a {
		if len(polygon) == 0 {
			return lastmile.Invalid("%s: polygon %d has no rings", field, i)
		}
		for j, ring := range polygon {
			name := fmt.Sprintf("%s: ring %d of polygon %d", field, j, i)
			switch {
			case len(ring) < 4:
				return lastmile.Invalid("%s has %d positions; at least 4 are required", name, len(ring))
			case ring[0] != ring[len(ring)-1]:
				return lastmile.Invalid("%s must end where it begins", name)
			}
		}
	}
	switch points := a.Positions(); {
	case points == 0:
		return lastmile.Invalid("%s must have at least one polygon", field)
	case points > MaxAreaPoints:
		return lastmile.Invalid("%s has %d positions; at most %d are allowed", field, points, MaxAreaPoints)
	}
	return nil
}

// minDegrees is the smallest coordinate that is not 0, less than a millimeter. Numbers
// close to zero, such as 5e-324, take a hundred times as long to read as others.
const minDegrees = 1e-9

// plain returns the area without coordinates that are hardly different from 0.
func (a Area) plain() Area {
	if a == nil {
		return nil
	}
	b := Area{}
	for _, polygon := range a {
		var rings [][]lastmile.Point
		for _, ring := range polygon {
			rings = append(rings, slices.Clone(ring))
			for i := range ring {
				p := &rings[len(rings)-1][i]
				if math.Abs(p.Lon) < minDegrees {
					p.Lon = 0
				}
				if math.Abs(p.Lat) < minDegrees {
					p.Lat = 0
				}
			}
		}
		b = append(b, rings)
	}
	return b
}

// Contains reports whether a point is in the area, which includes the edges of rings.
func (a Area) Contains(p lastmile.Point) bool {
	for _, polygon := range a {
		if inPolygon(p, polygon) {
			return true
		}
	}
	return false
}

func inPolygon(p lastmile.Point, polygon [][]lastmile.Point) bool {
	if in, edge := inRing(p, polygon[0]); !in && !edge {
		return false
	}
	for _, hole := range polygon[1:] {
		if in, edge := inRing(p, hole); in && !edge {
			return false
		}
	}
	return true
}

// inRing reports whether a point is inside a ring, and whether it is on its edge. The
// ring is unrolled, so that longitudes along it are continuous; the point may then
// be a turn around the earth away.
func inRing(p lastmile.Point, ring []lastmile.Point) (inside, edge bool) {
	for _, turn := range [...]float64{-360, 0, 360} {
		in, on := inUnrolled(lastmile.Point{Lon: p.Lon + turn, Lat: p.Lat}, ring)
		inside, edge = inside || in, edge || on
	}
	return inside, edge
}

func inUnrolled(p lastmile.Point, ring []lastmile.Point) (inside, edge bool) {
	a := ring[0]
	for _, next := range ring[1:] {
		b := lastmile.Point{Lon: unrolled(a, next), Lat: next.Lat}
		cross := (b.Lon-a.Lon)*(p.Lat-a.Lat) - (b.Lat-a.Lat)*(p.Lon-a.Lon)
		if cross == 0 && between(a.Lon, p.Lon, b.Lon) && between(a.Lat, p.Lat, b.Lat) {
			return false, true
		}
		// The even-odd rule: does a ray to the east cross the edge?
		if (a.Lat > p.Lat) != (b.Lat > p.Lat) && (cross > 0) == (b.Lat > a.Lat) {
			inside = !inside
		}
		a = b
	}
	return inside, false
}

// unrolled returns the longitude of b as it continues from that of a.
func unrolled(a, b lastmile.Point) float64 {
	lon := b.Lon + 360*math.Round((a.Lon-b.Lon)/360)
	if lon == a.Lon && lon != b.Lon && a.Lat == b.Lat { // from one side of the map to the other
		return a.Lon + 2*b.Lon
	}
	return lon
}

func between(a, x, b float64) bool { return min(a, b) <= x && x <= max(a, b) }
