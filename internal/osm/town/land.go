package town

import (
	"math"
	"math/rand/v2"
)

// vec is a location, in meters east and north of the origin, or a direction.
type vec struct{ x, y float64 }

func (a vec) plus(b vec) vec           { return vec{a.x + b.x, a.y + b.y} }
func (a vec) minus(b vec) vec          { return vec{a.x - b.x, a.y - b.y} }
func (a vec) times(k float64) vec      { return vec{a.x * k, a.y * k} }
func (a vec) dot(b vec) float64        { return a.x*b.x + a.y*b.y }
func (a vec) cross(b vec) float64      { return a.x*b.y - a.y*b.x }
func (a vec) length() float64          { return math.Sqrt(a.x*a.x + a.y*a.y) }
func (a vec) to(b vec) float64         { return a.minus(b).length() }
func (a vec) left() vec                { return vec{-a.y, a.x} }
func (a vec) toward(b vec) vec         { return b.minus(a).unit() }
func heading(angle float64) vec        { return vec{math.Cos(angle), math.Sin(angle)} }
func (a vec) mix(b vec, k float64) vec { return a.times(1 - k).plus(b.times(k)) }

func (a vec) unit() vec {
	l := a.length()
	if l == 0 {
		return vec{1, 0}
	}
	return a.times(1 / l)
}

// The measures of the town, in meters.
const (
	ringRadius = 1080.0
	townRadius = 1600.0
	coreRadius = 430.0
	landRadius = 3300.0 // limit of the main roads
	riverEnds  = 4200.0
	squareSize = 42.0
)

// wave is a sum of sines, for shapes that are not quite regular.
type wave [3]struct{ size, rate, phase float64 }

func newWave(random *rand.Rand, size, rate float64) (w wave) {
	for i := range w {
		k := float64(i + 1)
		w[i].size, w[i].rate, w[i].phase = size/k*(0.7+0.6*random.Float64()), rate*k, 2*math.Pi*random.Float64()
	}
	return w
}

func (w wave) at(t float64) (sum float64) {
	for _, s := range w {
		sum += s.size * math.Sin(s.rate*t+s.phase)
	}
	return sum
}

// land is the site of the town before its streets: the river, the shape of the town and the
// directions in which people build.
type land struct {
	random            *rand.Rand
	bends             wave // of the river
	outline, ringLine wave
	square            vec // the market square
	patches           []patch
	parks             []park
	industry          float64 // direction in which the factories are
}

// patch is an area with its own direction of streets.
type patch struct {
	center vec
	reach  float64
	angle  float64
	round  bool // streets run around the center
}

// park is a green area.
type park struct {
	name   string
	center vec
	radius float64
	shape  wave
	lake   bool
}

func newLand(random *rand.Rand) *land {
	l := &land{
		random: random, bends: newWave(random, 150, 1/620.0), outline: newWave(random, 0.11, 2), ringLine: newWave(random, 0.05, 2),
		industry: 2 * math.Pi * random.Float64(),
	}
	l.bends[0].size = 190
	// The square is a few steps from the river, in a bend.
	l.square = vec{l.riverX(0) - 265, 0}
	l.patches = append(l.patches, patch{l.square, 330, 0, true})
	for i := range 6 {
		at := l.square.plus(heading(float64(i)*math.Pi/3 + random.Float64()).times(700 + 700*random.Float64()))
		l.patches = append(l.patches, patch{at, 620, (random.Float64() - 0.5) * 1.1, false})
	}
	return l
}

// riverX returns the x coordinate of the middle of the river.
func (l *land) riverX(y float64) float64 { return 240 + l.bends.at(y) }

// riverWidth returns half the width of the river.
func (l *land) riverWidth(y float64) float64 { return 42 + 9*math.Sin(y/510) }

// flow returns the direction of the river.
func (l *land) flow(y float64) vec { return vec{l.riverX(y+5) - l.riverX(y-5), 10}.unit() }

// offRiver returns the distance to the middle of the river, positive to its east.
func (l *land) offRiver(p vec) float64 { return (p.x - l.riverX(p.y)) * l.flow(p.y).y }

// dry returns the distance to the water, which is negative in it.
func (l *land) dry(p vec) float64 { return math.Abs(l.offRiver(p)) - l.riverWidth(p.y) }

// inside returns how far a location is from the square, where 1 is the edge of the
// town.
func (l *land) inside(p vec) float64 {
	return l.square.to(p) / l.edge(l.bearing(p), townRadius, l.outline)
}

func (l *land) bearing(p vec) float64 { return math.Atan2(p.y-l.square.y, p.x-l.square.x) }

func (l *land) edge(angle, radius float64, shape wave) float64 { return radius * (1 + shape.at(angle)) }

// ring returns a point of the ring road.
func (l *land) ring(angle float64) vec {
	return l.square.plus(heading(angle).times(l.edge(angle, ringRadius, l.ringLine)))
}

// industrial reports whether a location is among the factories.
func (l *land) industrial(p vec) bool {
	return l.square.to(p) > ringRadius*0.95 && math.Cos(l.bearing(p)-l.industry) > 0.86
}

// park returns the park at a location, or within some meters of it.
func (l *land) park(p vec, margin float64) *park {
	for i := range l.parks {
		k := &l.parks[i]
		if p.to(k.center) < k.edge(math.Atan2(p.y-k.center.y, p.x-k.center.x))+margin {
			return k
		}
	}
	return nil
}

func (k *park) edge(angle float64) float64 { return k.radius * (1 + k.shape.at(angle)) }

// outlineOf returns the points of a closed shape.
func outlineOf(center vec, count int, radius func(angle float64) float64) []vec {
	points := make([]vec, 0, count)
	for i := range count {
		angle := 2 * math.Pi * float64(i) / float64(count)
		points = append(points, center.plus(heading(angle).times(radius(angle))))
	}
	return points
}

// grain returns the direction of the streets at a location; the others are at right
// angles to it. Directions are averaged as tensors, so that opposite ones agree. The
// main roads are older than the streets around the square.
func (l *land) grain(p vec, main bool) vec {
	var c, s float64
	add := func(angle, weight float64) {
		c += weight * math.Cos(2*angle)
		s += weight * math.Sin(2*angle)
	}
	add(0.12, 0.15)
	for _, k := range l.patches {
		away := p.to(k.center)
		weight := math.Exp(-away * away / (k.reach * k.reach))
		switch {
		case k.round && main:
			continue
		case k.round:
			d := p.minus(k.center)
			add(math.Atan2(d.y, d.x)+math.Pi/2, 1.2*weight*min(away/90, 1))
		default:
			add(k.angle, weight)
		}
	}
	f := l.flow(p.y)
	add(math.Atan2(f.y, f.x)+math.Pi/2, 1.1*math.Exp(-max(l.dry(p), 0)/170))
	return heading(math.Atan2(s, c) / 2)
}
