package gazetteer

import (
	"iter"

	"dray/internal/lastmile"
)

// Inhabited reports whether any city of a country, or of one of its states, is
// near a location.
func (g *Gazetteer) Inhabited(country string, state State, near lastmile.Point, within lastmile.Meters) bool {
	const perMeter = perDegree / 111_000.0
	lon, lat := fixed(near.Lon), fixed(near.Lat)
	apart := int32(float64(within)*perMeter) + 1
	for row := range g.between(lat-apart, lat+apart) {
		if !g.inCountry(row, country) || state != (State{}) && g.state(g.cityRegion[row]) != state {
			continue
		}
		if point(g.cityLon[row], g.cityLat[row]).Distance(point(lon, lat)) <= within {
			return true
		}
	}
	return false
}

// between returns the cities between two latitudes.
func (g *Gazetteer) between(south, north int32) iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, row := range g.byBand[g.bands[bandOf(south)]:g.bands[bandOf(north)+1]] {
			if at := g.cityLat[row]; at >= south && at <= north && !yield(int(row)) {
				return
			}
		}
	}
}

// bandCount is the number of bands of half a degree of latitude.
const bandCount = 360

// bandOf returns the band of a latitude, from south to north.
func bandOf(lat int32) int {
	return int(min(max((lat+90*perDegree)/(perDegree/2), 0), bandCount-1))
}

// sortBands sorts the cities by their bands.
func (g *Gazetteer) sortBands() {
	for _, lat := range g.cityLat {
		g.bands[bandOf(lat)+1]++
	}
	for band := range bandCount {
		g.bands[band+1] += g.bands[band]
	}
	at := g.bands
	g.byBand = make([]uint32, len(g.cityLat))
	for row, lat := range g.cityLat {
		g.byBand[at[bandOf(lat)]] = uint32(row)
		at[bandOf(lat)]++
	}
}

// Nearest returns the city whose center is nearest to a location. A city counts as
// nearer the larger it is, because larger cities reach farther.
func (g *Gazetteer) Nearest(near lastmile.Point, within lastmile.Meters) (City, bool) {
	const perMeter = perDegree / 111_000.0
	lon, lat := fixed(near.Lon), fixed(near.Lat)
	apart := int32(float64(within)*perMeter) + 1
	best, found := float64(within), -1
	for row := range g.between(lat-apart, lat+apart) {
		away := float64(lastmile.SphericalDistance(point(g.cityLon[row], g.cityLat[row]), point(lon, lat)))
		if away > float64(within) {
			continue
		}
		if away /= 1 + float64(g.citySize[row])/10; away < best {
			best, found = away, row
		}
	}
	if found < 0 {
		return City{}, false
	}
	return g.city(found, 0), true
}
