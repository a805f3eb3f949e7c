package town

import (
	"math"
	"slices"
)

// level is the importance of a street. The most important is the first.
type level int

const (
	levelRing level = iota
	levelMain
	levelMinor
	levelHome
)

// street is a street as a line. nameStreets sets its name and class.
type street struct {
	level  level
	points []vec
	closed bool
	across bool // runs across the grain (preferred street direction)
	main   bool // one of the two through the square

	name  string
	class string // value of the tag highway
}

// sample is a point of a street.
type sample struct {
	at, along vec
	level     level
}

const (
	stride   = 8.0  // meters between points of a street
	cellSize = 90.0 // of the index of samples
)

type cell struct{ x, y int }

func cellOf(p vec) cell {
	return cell{int(math.Floor(p.x / cellSize)), int(math.Floor(p.y / cellSize))}
}

// tracer draws streets that follow the grain of the land at a distance from each
// other.
type tracer struct {
	*land
	streets []*street
	samples map[cell][]sample
}

// layOut returns all streets, as lines.
func layOut(l *land) []*street {
	t := &tracer{land: l, samples: map[cell][]sample{}}
	for _, side := range []float64{-1, 1} {
		t.quay(side)
	}
	t.ringRoad()
	t.grow(levelMain, 560, 560)
	t.placeParks()
	t.grow(levelMinor, 300, 330)
	t.grow(levelHome, 104, 168)
	return t.streets
}

func (t *tracer) add(s *street) {
	t.streets = append(t.streets, s)
	for i := 1; i < len(s.points); i++ {
		along := s.points[i-1].toward(s.points[i])
		c := cellOf(s.points[i])
		t.samples[c] = append(t.samples[c], sample{s.points[i], along, s.level})
	}
}

// quay adds the street along one bank of the river.
func (t *tracer) quay(side float64) {
	s := &street{level: levelMinor, across: true}
	for y := -townRadius * 1.2; y < townRadius*1.2; y += stride {
		at := vec{t.riverX(y), y}.plus(t.flow(y).left().times(-side * (t.riverWidth(y) + 34)))
		if t.inside(at) < 0.97 {
			s.points = append(s.points, at)
		}
	}
	t.add(s)
}

func (t *tracer) ringRoad() {
	s := &street{level: levelRing, closed: true}
	for angle := 0.0; angle < 2*math.Pi; angle += stride / ringRadius {
		s.points = append(s.points, t.ring(angle))
	}
	s.points = append(s.points, s.points[0])
	t.add(s)
}

// crowded reports whether a street of about the same direction is nearby.
func (t *tracer) crowded(p, along vec, spacing float64) bool {
	reach := int(math.Ceil(spacing / cellSize))
	c := cellOf(p)
	for x := c.x - reach; x <= c.x+reach; x++ {
		for y := c.y - reach; y <= c.y+reach; y++ {
			for _, s := range t.samples[cell{x, y}] {
				if math.Abs(s.along.dot(along)) > 0.72 && s.at.to(p) < spacing {
					return true
				}
			}
		}
	}
	return false
}

// meets reports whether a street of a level lies within some meters.
func (t *tracer) meets(p vec, l level, within float64) bool {
	c := cellOf(p)
	for x := c.x - 1; x <= c.x+1; x++ {
		for y := c.y - 1; y <= c.y+1; y++ {
			for _, s := range t.samples[cell{x, y}] {
				if s.level == l && s.at.to(p) < within {
					return true
				}
			}
		}
	}
	return false
}

// allowed reports whether a street of a level may be at a location.
func (t *tracer) allowed(p vec, l level) bool {
	if l == levelMain {
		return t.square.to(p) < landRadius
	}
	limit := 1.0
	if l == levelMinor {
		limit = 1.06
	}
	return t.inside(p) < limit && t.dry(p) > 24 && t.park(p, 14) == nil && p.to(t.square) > squareSize
}

// direction returns the direction of a street at p: of the two possible ones, the
// one that continues the last.
func (t *tracer) direction(p vec, l level, across bool, last vec) vec {
	d := t.grain(p, l == levelMain)
	if across {
		d = d.left()
	}
	if d.dot(last) < 0 {
		d = d.times(-1)
	}
	return d
}

// grow adds streets of a level, side by side, until there is no room.
func (t *tracer) grow(l level, spacing, spacingAcross float64) {
	type start struct {
		at     vec
		across bool
	}
	queue := []start{{t.square, false}, {t.square, true}}
	if l != levelMain {
		queue = nil
	}
	for range 500 { // random starts in the rest of the area
		at := t.square.plus(heading(2 * math.Pi * t.random.Float64()).times(townRadius * 1.1 * math.Sqrt(t.random.Float64())))
		queue = append(queue, start{at, t.random.IntN(2) == 0})
	}
	for i := 0; i < len(queue) && i < 40_000; i++ {
		seed, gap := queue[i], spacing
		if seed.across {
			gap = spacingAcross
		}
		switch first := l == levelMain && i < 2; {
		case first:
			gap = 200
		case l == levelHome && t.industrial(seed.at):
			gap *= 1.6
		case l == levelHome && seed.at.to(t.square) < coreRadius*1.2:
			gap *= 0.72
		}
		along := t.direction(seed.at, l, seed.across, vec{1, 0})
		first := l == levelMain && i < 2
		if !first && (!t.allowed(seed.at, l) || t.crowded(seed.at, along, gap*0.96) || l == levelMain && (t.inside(seed.at) > 0.9 || t.dry(seed.at) < 60)) {
			continue
		}
		back := t.run(seed.at, along.times(-1), seed.across, l, gap)
		forth := t.run(seed.at, along, seed.across, l, gap)
		s := &street{level: l, across: seed.across, main: first}
		slices.Reverse(back)
		s.points = append(s.points, back...)
		s.points = append(append(s.points, seed.at), forth...)
		if len(s.points) < 9 {
			continue
		}
		t.add(s)
		side := t.direction(seed.at, l, !seed.across, vec{0, 1})
		for k := 0; k < len(s.points); k += 6 {
			if k > 0 {
				side = s.points[k-1].toward(s.points[k]).left()
			}
			queue = append(queue, start{s.points[k].plus(side.times(gap)), seed.across}, start{s.points[k].minus(side.times(gap)), seed.across})
		}
	}
}

// run follows the grain from a location until there is no room.
func (t *tracer) run(at, along vec, across bool, l level, gap float64) (points []vec) {
	const longest = 900
	for len(points) < longest {
		middle := at.plus(t.direction(at, l, across, along).times(stride / 2))
		along = t.direction(middle, l, across, along)
		next := at.plus(along.times(stride))
		switch {
		case !t.allowed(next, l):
			return t.join(points, along, 40)
		case t.crowded(next, along, gap*0.52):
			return t.join(points, along, gap)
		case l == levelHome && len(points) > 3 && t.meets(next, levelRing, stride*0.8):
			return append(points, next, next.plus(along.times(stride)))
		}
		points = append(points, next)
		at = next
	}
	return points
}

// join extends a street straight to the next one, if that is near.
func (t *tracer) join(points []vec, along vec, within float64) []vec {
	if len(points) == 0 {
		return points
	}
	at := points[len(points)-1]
	longer := points
	for gone := 0.0; gone < within; gone += stride {
		at = at.plus(along.times(stride))
		if t.dry(at) < 20 || t.park(at, 10) != nil {
			break
		}
		longer = append(longer, at)
		c := cellOf(at)
		for x := c.x - 1; x <= c.x+1; x++ {
			for y := c.y - 1; y <= c.y+1; y++ {
				for _, s := range t.samples[cell{x, y}] {
					if s.at.to(at) < stride*0.8 {
						return append(longer, at.plus(along.times(stride)))
					}
				}
			}
		}
	}
	return points
}

// placeParks chooses where the parks are, away from the main roads.
func (t *tracer) placeParks() {
	names := []string{"Founders Park", "Mill Meadow", "Orchard Park", "Veterans Green", "Heron Park"}
	for try := 0; try < 4000 && len(t.parks) < len(names); try++ {
		k := park{name: names[len(t.parks)], shape: newWave(t.random, 0.08, 2), radius: 70 + 85*t.random.Float64(), lake: len(t.parks) == 0}
		if k.lake {
			k.radius = 165
		}
		k.center = t.square.plus(heading(2 * math.Pi * t.random.Float64()).times(300 + 1100*t.random.Float64()))
		if t.inside(k.center) > 0.85 || t.dry(k.center) < k.radius+45 || t.park(k.center, k.radius+220) != nil || t.industrial(k.center) {
			continue
		}
		near := false
		for _, s := range t.streets {
			for _, p := range s.points {
				near = near || p.to(k.center) < k.radius*1.15+24
			}
		}
		if !near {
			t.parks = append(t.parks, k)
		}
	}
}
