package road

import (
	"math"
	"slices"
)

// MaxSnap is the maximum distance of a location from a road, in meters. Locations farther
// away are not covered by the map.
const MaxSnap = 1500

// spot is a location on a segment.
type spot struct {
	segment uint32
	piece   uint32  // index of the point before it
	part    float64 // share of the segment before it; of the piece, until measure is called
	meters  float64 // from the location to the road
	at      Point   // on the road
	from    Point   // the location
}

// snap returns the nearest spot that a profile can use, and reports whether there
// is one.
func (m *Map) snap(p Profile, from Point) (spot, bool) {
	if !(from.Lat >= -90 && from.Lat <= 90 && from.Lon >= -180 && from.Lon <= 180) {
		return spot{}, false
	}
	lon, lat := int64(math.Round(from.Lon*1e7)), int64(math.Round(from.Lat*1e7))
	column, row := cellOf(lon, lat)
	scale := math.Cos(from.Lat * math.Pi / 180)
	unit := earthRadius * unitRadians // meters
	best := spot{meters: MaxSnap, segment: none, from: from}
	// Cells are narrower the farther they are from the equator.
	width := float64(cellSize) * unit * max(scale, 0.01)
	for ring := int64(0); ; ring++ {
		// Everything closer than this was in the rings before.
		if ring > 0 && (float64(ring)-1.25)*width > best.meters {
			break
		}
		if ring > 0 && float64(ring-1)*width > MaxSnap {
			break
		}
		for r := row - ring; r <= row+ring; r++ {
			if dy := float64(max(abs(r-row)-1, 0)) * cellSize * unit; dy-float64(cellSize)*unit/4 > best.meters {
				continue
			}
			step := max(2*ring, 1)
			if r == row-ring || r == row+ring {
				step = 1
			}
			for c := column - ring; c <= column+ring; c += step {
				m.snapInCell(p, cellKey(c, r), lon, lat, scale, &best)
			}
		}
	}
	return best, best.segment != none
}

func (m *Map) snapInCell(p Profile, key uint64, lon, lat int64, scale float64, best *spot) {
	at, found := slices.BinarySearch(m.cells, key)
	if !found {
		return
	}
	times := m.profiles[p].times
	ways := func(s uint32) float64 {
		if times[s<<1] != none && times[s<<1|1] != none {
			return 2
		}
		return 1
	}
	for _, s := range m.cellSegs[m.cellFirst[at]:m.cellFirst[at+1]] {
		if times[s<<1] == none && times[s<<1|1] == none {
			continue
		}
		found := *best
		if best.segment != none {
			found.meters += sameSpot * (ways(s) - ways(best.segment))
		}
		if m.snapTo(s, lon, lat, scale, &found); found.segment == s {
			*best = found
		}
	}
}

// sameSpot is the difference in meters below which spots are equally near. Of these, a road
// that can be left in both directions is preferred to a one-way street, as at a junction.
const sameSpot = 0.001

// snapTo replaces the best spot if a segment is closer.
func (m *Map) snapTo(s uint32, lon, lat int64, scale float64, best *spot) {
	const unit = earthRadius * unitRadians
	first, last := m.first[s], m.first[s+1]
	x1, y1 := m.relative(first, lon, lat, scale)
	for i := first + 1; i < last; i++ {
		x2, y2 := m.relative(i, lon, lat, scale)
		dx, dy := x2-x1, y2-y1
		t := 0.0
		if length := dx*dx + dy*dy; length > 0 {
			t = min(max(-(x1*dx+y1*dy)/length, 0), 1)
		}
		x, y := x1+t*dx, y1+t*dy
		if meters := math.Hypot(x, y) * unit; meters < best.meters {
			at := Point{(float64(lon) + x/scale) / 1e7, (float64(lat) + y) / 1e7}
			if scale == 0 {
				at.Lon = float64(lon) / 1e7
			}
			*best = spot{segment: s, piece: i - 1, part: t, meters: meters, at: at, from: best.from}
		}
		x1, y1 = x2, y2
	}
}

// relative returns the coordinates of a point of the map relative to a location,
// in units of latitude.
func (m *Map) relative(i uint32, lon, lat int64, scale float64) (x, y float64) {
	dx := int64(m.points[2*i]) - lon
	if dx > 1_800_000_000 {
		dx -= 3_600_000_000
	} else if dx < -1_800_000_000 {
		dx += 3_600_000_000
	}
	return float64(dx) * scale, float64(int64(m.points[2*i+1]) - lat)
}

// measure replaces the part of the piece by the part of the whole segment.
func (m *Map) measure(s *spot) {
	var before, all float64
	for i := m.first[s.segment]; i+1 < m.first[s.segment+1]; i++ {
		d := distance(m.points[2*i], m.points[2*i+1], m.points[2*i+2], m.points[2*i+3])
		if i < s.piece {
			before += d
		} else if i == s.piece {
			before += d * s.part
		}
		all += d
	}
	s.part = 0
	if all > 0 {
		s.part = min(before/all, 1)
	}
}

// approach is the speed between a location and the road, in meters per second, such as that
// of vehicles on a driveway.
var approach = [profiles]float64{Car: 4, Truck: 3, Bicycle: 3, Foot: 1.39}

// off returns the weight of the way between a location and the road.
func (s spot) off(p Profile) weight {
	return newWeight(uint32(s.meters/approach[p]*1000), uint32(s.meters*10))
}

// seed is a node at which a search begins.
type seed struct {
	node   uint32
	weight weight
	spot   uint32 // directed segment
}

// sources returns the nodes that are reached first from a spot.
func (m *Map) sources(p Profile, s spot, into []seed) []seed {
	pm := &m.profiles[p]
	for direction := range uint32(2) {
		if d := s.segment<<1 | direction; pm.times[d] != none {
			into = append(into, seed{pm.ends[d].head, m.whole(p, d).share(1-s.along(direction)) + s.off(p), d})
		}
	}
	return into
}

// targets returns the nodes from which a spot is reached last.
func (m *Map) targets(p Profile, s spot, into []seed) []seed {
	pm := &m.profiles[p]
	for direction := range uint32(2) {
		d := s.segment<<1 | direction
		if pm.times[d] == none {
			continue
		}
		w := m.whole(p, d).share(s.along(direction)) + s.off(p)
		into = append(into, seed{pm.ends[d].tail, w, d})
		at, _ := slices.BinarySearchFunc(pm.tails, d, func(t tail, d uint32) int { return int(int64(t.segment) - int64(d)) })
		for ; at < len(pm.tails) && pm.tails[at].segment == d; at++ {
			into = append(into, seed{pm.tails[at].node, w, d})
		}
	}
	return into
}

// along returns the part of the segment before the spot in a direction.
func (s spot) along(direction uint32) float64 {
	if direction == 1 {
		return 1 - s.part
	}
	return s.part
}

// whole returns the weight of a directed segment.
func (m *Map) whole(p Profile, d uint32) weight {
	return newWeight(m.profiles[p].times[d], m.lengths[d>>1])
}

// direct returns the weight of the way between two spots along the segment they
// share, and its direction; unreachable if there is none.
func (m *Map) direct(p Profile, a, b spot) (weight, uint32) {
	if a.from == b.from {
		return 0, a.segment << 1
	}
	best, found := unreachable, uint32(none)
	if a.segment != b.segment {
		return best, found
	}
	for direction := range uint32(2) {
		d := a.segment<<1 | direction
		if part := b.along(direction) - a.along(direction); part >= 0 && m.profiles[p].times[d] != none {
			if w := m.whole(p, d).share(part) + a.off(p) + b.off(p); w < best {
				best, found = w, d
			}
		}
	}
	return best, found
}
