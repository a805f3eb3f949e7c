package town

import (
	"math"
	"slices"
	"strconv"
)

// house is a building with an address.
type house struct {
	corners [4]vec
	at      vec // the middle
	door    vec
	number  int
	street  *street
	use     []string // tags of its use and name; nil if it has none
}

// span is a side of a block of which only the first and last number are known.
type span struct {
	from, to    vec
	first, last int
	street      *street
}

// lots describes the lots of a part of the town, in meters.
type lots struct {
	frontage, setback, width, depth float64
	built                           float64 // share of the lots that are built on
}

func (n *network) lots(p vec) lots {
	switch in := n.inside(p); {
	case n.industrial(p):
		return lots{62, 22, 42, 30, 0.72}
	case p.to(n.square) < coreRadius:
		return lots{15, 7.5, 14.4, 13, 0.97}
	case in < 0.66:
		return lots{22, 10, 13, 11, 0.93}
	case in < 0.9:
		return lots{29, 13, 14, 10, 0.86}
	default:
		return lots{38, 15, 15, 11, 0.5}
	}
}

// builder places houses.
type builder struct {
	*network
	houses []house
	spans  []span
	taken  map[cell][]*house
	roads  map[cell][]*edge
}

// build places the houses along the streets, numbered by the block as in American
// towns: the first block has 1 to 99, the second 101 to 199.
func build(n *network) *builder {
	b := &builder{network: n, taken: map[cell][]*house{}, roads: map[cell][]*edge{}}
	for _, e := range n.edges {
		seen := map[cell]bool{}
		for _, p := range e.points {
			if c := cellOf(p); !seen[c] {
				seen[c] = true
				b.roads[c] = append(b.roads[c], e)
			}
		}
	}
	blocks := map[*street]int{}
	listed := 0
	for _, s := range n.streets {
		edges := slices.DeleteFunc(slices.Clone(n.edges), func(e *edge) bool { return e.street != s })
		outer := n.inside(s.points[len(s.points)/2])
		byRange := s.level == levelHome && outer > 0.7 && listed < 4 && len(edges) > 1
		if byRange {
			listed++
		}
		for _, e := range edges {
			if e.bridge || e.length() < 30 {
				continue
			}
			block := blocks[s]
			blocks[s]++
			if s.level == levelRing && n.random.Float64() < 0.6 {
				continue
			}
			for side := range 2 {
				if byRange {
					b.rangeAlong(e, block*100, side)
				} else {
					b.along(e, block*100, side)
				}
			}
		}
	}
	b.useSome()
	return b
}

// walk returns the location after some meters of an edge, and the direction there.
func (e *edge) walk(meters float64) (at, along vec) {
	for i := 1; i < len(e.points); i++ {
		leg := e.points[i-1].to(e.points[i])
		if meters <= leg || i == len(e.points)-1 {
			along = e.points[i-1].toward(e.points[i])
			return e.points[i-1].plus(along.times(meters)), along
		}
		meters -= leg
	}
	return e.points[0], vec{1, 0}
}

// along builds houses on one side of an edge.
func (b *builder) along(e *edge, hundred, side int) {
	number := hundred + 1 + side
	length := e.length()
	for gone := 13.0; gone < length-12; {
		at, _ := e.walk(gone)
		lot := b.lots(at)
		middle, along := e.walk(gone + lot.frontage/2)
		out := along.left().times(float64(1 - 2*side))
		if b.inside(middle) > 1.12 {
			lot.built = 0.04
		}
		if b.random.Float64() < lot.built && number < hundred+100 {
			width := lot.width * (0.82 + 0.3*b.random.Float64())
			if lot.frontage-lot.width < 1 {
				width = lot.width
			}
			depth := lot.depth * (0.8 + 0.4*b.random.Float64())
			center := middle.plus(out.times(lot.setback + depth/2 + 1.5*b.random.Float64()))
			h := house{at: center, number: number, street: e.street, door: center.minus(out.times(depth / 2))}
			w, d := along.times(width/2), out.times(depth/2)
			h.corners = [4]vec{center.minus(w).minus(d), center.plus(w).minus(d), center.plus(w).plus(d), center.minus(w).plus(d)}
			if b.fits(&h) {
				b.add(h)
			}
		}
		number += 2
		if b.random.Float64() < 0.18 {
			number += 2
		}
		gone += lot.frontage
	}
}

// rangeAlong records the numbers of one side of an edge as a range.
func (b *builder) rangeAlong(e *edge, hundred, side int) {
	length := e.length()
	from, a := e.walk(15)
	to, z := e.walk(length - 15)
	k := float64(1-2*side) * 12
	houses := int((length - 30) / 25)
	if houses < 1 {
		return
	}
	first := hundred + 1 + side
	b.spans = append(b.spans, span{from.plus(a.left().times(k)), to.plus(z.left().times(k)), first, first + 2*houses, e.street})
}

func (b *builder) add(h house) {
	b.houses = append(b.houses, h)
	kept := h
	b.taken[cellOf(h.at)] = append(b.taken[cellOf(h.at)], &kept)
}

// fits reports whether there is room for a house.
func (b *builder) fits(h *house) bool {
	if h.at.to(b.square) < squareSize+16 {
		return false
	}
	for _, p := range append([]vec{h.at}, h.corners[:]...) {
		if b.dry(p) < 6 || b.park(p, 2) != nil {
			return false
		}
	}
	c := cellOf(h.at)
	for x := c.x - 1; x <= c.x+1; x++ {
		for y := c.y - 1; y <= c.y+1; y++ {
			for _, other := range b.taken[cell{x, y}] {
				if overlap(h, other) {
					return false
				}
			}
			for _, e := range b.roads[cell{x, y}] {
				for i := 1; i < len(e.points); i++ {
					if e.points[i].to(h.at) < 60 && h.onRoad(e.points[i-1], e.points[i]) {
						return false
					}
				}
			}
		}
	}
	return true
}

// onRoad reports whether a house is on a road, or almost.
func (h *house) onRoad(a, b vec) bool {
	const margin = 5.5
	for i, p := range h.corners {
		along := a.toward(b)
		at := min(max(p.minus(a).dot(along), 0), a.to(b))
		if p.to(a.plus(along.times(at))) < margin {
			return true
		}
		if _, _, ok := intersect(p, h.corners[(i+1)%4], a, b); ok {
			return true
		}
	}
	return false
}

// overlap reports whether two houses overlap, by the theorem of separating axes.
func overlap(a, b *house) bool {
	const touch = 0.4 // meters by which neighbors in a row may overlap
	for _, one := range []*house{a, b} {
		for i := range 2 {
			axis := one.corners[i].toward(one.corners[i+1])
			aLow, aHigh := project(a, axis)
			bLow, bHigh := project(b, axis)
			if aHigh-touch < bLow || bHigh-touch < aLow {
				return false
			}
		}
	}
	return true
}

func project(h *house, axis vec) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, p := range h.corners {
		low, high = min(low, p.dot(axis)), max(high, p.dot(axis))
	}
	return low, high
}

// useSome gives some buildings a use and a name.
func (b *builder) useSome() {
	uses := []struct {
		count int
		tags  []string
		names []string
	}{
		{1, []string{"amenity", "townhall"}, []string{"Town Hall"}},
		{1, []string{"amenity", "library"}, []string{"Public Library"}},
		{1, []string{"amenity", "hospital"}, []string{"Mercy Hospital"}},
		{2, []string{"amenity", "fire_station"}, []string{"Fire Station 1", "Fire Station 2"}},
		{4, []string{"amenity", "school"}, []string{"Maple School", "Hillside School", "Riverside School", "Orchard School"}},
		{4, []string{"amenity", "place_of_worship"}, []string{"Grace Church", "St. Mary's Church", "First Chapel", "Temple Beth El"}},
		{5, []string{"shop", "supermarket"}, []string{"Harvest Market", "Corner Grocer", "Fresh Basket", "Union Foods", "Green Cart"}},
		{4, []string{"amenity", "pharmacy"}, []string{"Central Pharmacy", "Bridge Pharmacy", "Elm Drugs", "Quay Pharmacy"}},
		{12, []string{"shop", "bakery"}, []string{"Corner Bakery", "Morning Loaf", "Old Mill Bakery"}},
		{16, []string{"amenity", "cafe"}, []string{"Lantern Cafe", "Copper Kettle", "Cafe Heron", "The Quiet Cup"}},
		{20, []string{"amenity", "restaurant"}, []string{"Noodle Kitchen", "The Ferryman", "Trattoria Lucia", "Golden Carp", "Saddler's Table"}},
	}
	for _, use := range uses {
		for i := range use.count {
			for range 400 {
				h := &b.houses[b.random.IntN(len(b.houses))]
				if h.use == nil && (len(use.names) > use.count || h.at.to(b.square) < coreRadius*1.6) {
					h.use = slices.Concat(use.tags, []string{"name", use.names[i%len(use.names)]})
					break
				}
			}
		}
	}
}

// postalCode returns the postal code of a location: the four quarters around the
// square have those that the area has in reality.
func (l *land) postalCode(p vec) string {
	return [2][2]string{{"10018", "10036"}, {"10016", "10017"}}[btoi(p.x > l.square.x)][btoi(p.y > l.square.y)]
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

func text(n int) string { return strconv.Itoa(n) }
