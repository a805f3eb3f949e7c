package street

import (
	"cmp"
	"math"
	"runtime"
	"slices"

	"dray/internal/mapdata"
)

// maxReverse is the maximum distance of an address, in meters.
const maxReverse = 250.0

// Reverse returns the addresses nearest to a location, the nearest first: houses, and
// streets where there is no house.
func (x *Index) Reverse(p Point, limit int) (hits []Hit, err error) {
	defer runtime.KeepAlive(x)
	defer mapdata.Protect(&err, ErrDamaged)()
	at, ok := microOf(p.Lon, p.Lat)
	if !ok {
		return nil, nil
	}
	center := cellAt(at, indexCell)
	seen := map[uint32]bool{}
	width := int32(math.Ceil(maxReverse / metersPerDegree * 1e6 / indexCell / max(math.Cos(p.Lat*math.Pi/180), 0.01)))
	width = min(width, 8)
	for y := center.y - 1; y <= center.y+1; y++ {
		for dx := -width; dx <= width; dx++ {
			x.inCell(gridCell{center.x + dx, y}, func(id uint32) {
				if s, ok := x.street(id); ok && !seen[id] {
					seen[id] = true
					hits = append(hits, x.nearest(s, at)...)
				}
			})
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(a.Distance, b.Distance) })
	return hits[:min(len(hits), min(max(limit, 1), MaxHits))], nil
}

// inCell calls a function with the streets in a cell of the grid.
func (x *Index) inCell(c gridCell, each func(id uint32)) {
	low, high := 0, len(x.parts[secCells])/cellRecord
	for low < high {
		at := (low + high) / 2
		rec := x.parts[secCells][at*cellRecord:]
		if cmp.Or(cmp.Compare(int32(number(rec, 4)), c.y), cmp.Compare(int32(number(rec, 0)), c.x)) < 0 {
			low = at + 1
		} else {
			high = at
		}
	}
	rec, ok := x.record(secCells, cellRecord, uint32(low))
	if !ok || int32(number(rec, 0)) != c.x || int32(number(rec, 4)) != c.y {
		return
	}
	r := x.at(secCellLists, number(rec, 8))
	count := r.count(1)
	postings{reader: r, count: count}.each(each)
}

// streetPenalty is a distance in meters. A house is preferred to its street if it is farther
// away by less than that: people mean the house that they are in front of.
const streetPenalty = 30.0

// nearest returns the nearest house of a street, or the nearest location on it.
func (x *Index) nearest(s streetRecord, at micro) []Hit {
	best, away := house{}, math.Inf(1)
	r := x.houses(s, func(h house) bool {
		if d := h.at.meters(at); d < away && !h.ranged {
			best, away = h, d
		}
		return true
	})
	on, off := micro{}, math.Inf(1)
	x.lines(s, r, func(a, b micro) {
		if d, p := at.toSegment(a, b); d < off {
			on, off = p, d
		}
	})
	h := x.hit(s)
	switch {
	case away <= maxReverse && away <= off+streetPenalty:
		h.Kind, h.Number, h.Location, h.Distance = KindHouse, numberText(best.number), best.at.point(), away
	case off <= maxReverse:
		h.Location, h.Distance = on.point(), off+streetPenalty
	default:
		return nil
	}
	h.Score, h.Confirmed = 1/(1+h.Distance/50), true
	return []Hit{h}
}

// toSegment returns the distance to a segment, and the nearest point of it.
func (m micro) toSegment(a, b micro) (float64, micro) {
	k := math.Cos(float64(m.lat) / 1e6 * math.Pi / 180)
	ax, ay := float64(a.lon-m.lon)*k, float64(a.lat-m.lat)
	dx, dy := float64(b.lon-a.lon)*k, float64(b.lat-a.lat)
	part := 0.0
	if length := dx*dx + dy*dy; length > 0 {
		part = min(max(-(ax*dx+ay*dy)/length, 0), 1)
	}
	p := along(a, b, part)
	return m.meters(p), p
}

// PostalArea is the area of a postal code.
type PostalArea struct {
	Code, City, State, Country string
	Location                   Point
}

// PostalAreas returns the areas with a postal code.
func (x *Index) PostalAreas(code string) (all []PostalArea, err error) {
	defer runtime.KeepAlive(x)
	defer mapdata.Protect(&err, ErrDamaged)()
	plain := plainCode(code)
	at, found := x.findCode(plain)
	for ; found && at < uint32(len(x.parts[secCodes])/codeSize); at++ {
		text, where, city := x.code(at)
		if plainCode(text) != plain {
			break
		}
		p, _ := x.place(city)
		a := PostalArea{Code: text, State: p.state, Country: p.country, Location: where.point()}
		if len(p.names) > 0 {
			a.City = p.names[0]
		}
		all = append(all, a)
	}
	return all, nil
}

// Addresses calls a function with the houses of the index, street by street, until it
// returns false. A street without houses is one address.
func (x *Index) Addresses(each func(Hit) bool) (err error) {
	defer runtime.KeepAlive(x)
	defer mapdata.Protect(&err, ErrDamaged)()
	for i := range uint32(x.Streets()) {
		s, _ := x.street(i)
		whole := x.hit(s)
		more, houses := true, 0
		x.houses(s, func(h house) bool {
			one := whole
			one.Kind, one.Number, one.Location = KindHouse, numberText(h.number), h.at.point()
			houses++
			more = each(one)
			return more
		})
		if houses == 0 {
			more = each(whole)
		}
		if !more {
			break
		}
	}
	return nil
}
