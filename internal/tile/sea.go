package tile

import (
	"cmp"
	"math"
	"slices"
)

// addSea adds the sea. Coasts are lines with the land to their left; the sea is what they
// and the border of the extract enclose. Where they are incomplete, so that roads would be
// under water, the extract has no sea.
func (e *extract) addSea() {
	coasts := e.coasts
	e.coasts = nil
	rings, chains := closeRings(coasts, true)
	var seas, islands [][]point
	for _, ring := range rings {
		if area(ring) > 0 {
			seas = append(seas, ring)
		} else {
			islands = append(islands, ring)
		}
	}
	around, ok := alongBorder(chains, e.bounds)
	if !ok {
		return
	}
	seas = append(seas, around...)
	if len(around) == 0 && len(islands) > 0 {
		seas = append(seas, e.bounds.ring())
	}
	if len(seas) == 0 || e.flooded(seas, islands) {
		return
	}
	sea := e.intern(style{layer: layerWater, geometry: polygons, level: levelWater, attributes: attributes{kind: "ocean"}})
	e.addArea(sea, seas, islands)
}

// flooded reports whether more than a few roads are in the sea.
func (e *extract) flooded(seas, islands [][]point) bool {
	const sample = 400
	var at []point
	for _, s := range e.shapes {
		if s.layer == layerRoad && !s.bridge && !s.tunnel && s.kind != "ferry" && e.bounds.has(s.parts[0][0]) {
			at = append(at, s.parts[0][0])
		}
	}
	step, tested, wet := max(len(at)/sample, 1), 0, 0
	within := func(p point, rings [][]point) bool {
		return slices.ContainsFunc(rings, func(r []point) bool { return inRing(p, r) })
	}
	for i := 0; i < len(at); i += step {
		tested++
		if within(at[i], seas) && !within(at[i], islands) {
			wet++
		}
	}
	return wet*10 > tested
}

// onBorder is a line from one side of a box to another. begin and end are the positions of its
// ends along the border, clockwise from the northwest.
type onBorder struct {
	line       []point
	begin, end float64
}

// alongBorder closes coasts along the border of a box, with the sea inside. It reports
// whether they reach the border, at least nearly.
func alongBorder(chains [][]point, in box) (rings [][]point, ok bool) {
	var pieces []onBorder
	for _, chain := range chains {
		if chain = reach(chain, in); chain == nil {
			return nil, false
		}
		for _, line := range clipLine(chain, in) {
			begin, okBegin := in.along(line[0])
			end, okEnd := in.along(line[len(line)-1])
			if !okBegin || !okEnd {
				continue
			}
			pieces = append(pieces, onBorder{line, begin, end})
		}
	}
	slices.SortFunc(pieces, func(a, b onBorder) int { return cmp.Compare(a.begin, b.begin) })
	used := make([]bool, len(pieces))
	for first := range pieces {
		if used[first] {
			continue
		}
		var ring []point
		for at := first; !used[at]; {
			used[at] = true
			ring = append(ring, pieces[at].line...)
			next, _ := slices.BinarySearchFunc(pieces, pieces[at].end, func(p onBorder, v float64) int { return cmp.Compare(p.begin, v) })
			next %= len(pieces)
			ring = append(ring, in.corners(pieces[at].end, pieces[next].begin)...)
			at = next
		}
		if ring = append(ring, ring[0]); area(ring) > 0 {
			rings = append(rings, ring)
		}
	}
	return rings, true
}

// reach extends the ends of a line in a box to its border; nil if they are far from it.
func reach(line []point, in box) []point {
	far := float64(min(in.east-in.west, in.south-in.north)) / 4
	extend := func(p point) (point, bool) {
		if !in.has(p) {
			return p, true
		}
		best, to := math.Inf(1), p
		for _, q := range []point{{in.west, p.y, 0}, {in.east, p.y, 0}, {p.x, in.north, 0}, {p.x, in.south, 0}} {
			if d := math.Hypot(float64(q.x-p.x), float64(q.y-p.y)); d < best {
				best, to = d, q
			}
		}
		return to, best <= far
	}
	begin, ok := extend(line[0])
	end, also := extend(line[len(line)-1])
	if !ok || !also {
		return nil
	}
	return slices.Concat([]point{begin}, line, []point{end})
}

// along returns the position of a point along the border, from 0 to 4, and reports whether it
// is on the border.
func (b box) along(p point) (float64, bool) {
	width, height := float64(b.east-b.west), float64(b.south-b.north)
	switch {
	case p.y == b.north:
		return float64(p.x-b.west) / width, true
	case p.x == b.east:
		return 1 + float64(p.y-b.north)/height, true
	case p.y == b.south:
		return 2 + float64(b.east-p.x)/width, true
	case p.x == b.west:
		return 3 + float64(b.south-p.y)/height, true
	}
	return 0, false
}

// corners returns the corners between two locations on the border, clockwise.
func (b box) corners(from, to float64) (all []point) {
	if to < from {
		to += 4
	}
	ring := b.ring()
	for k := math.Floor(from) + 1; k <= to; k++ {
		all = append(all, ring[int(k)%4])
	}
	return all
}
