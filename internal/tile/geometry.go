package tile

import (
	"math"
	"slices"
)

// Coordinates are those of the Web Mercator projection: the world is a square whose
// sides have 2^worldBits units, with the origin in the northwest. A unit is 4 cm at the
// equator.
const (
	worldBits = 30
	worldSize = 1 << worldBits
	tileBits  = 12 // of the coordinates within a tile
	extent    = 1 << tileBits
	margin    = 64 // by which tiles overlap, in their coordinates
)

// point is a location. Its weight is the square of the distance by which a line would
// change without it, infinite for points that must stay.
type point struct {
	x, y   int32
	weight float32
}

var always = float32(math.Inf(1))

func (p point) at(q point) bool { return p.x == q.x && p.y == q.y }

// project returns the location of coordinates in units of 1e-7 degrees.
func project(lon, lat int32) (x, y int32) {
	const most = 85.0511287798 // degrees of latitude
	degrees := min(max(float64(lat)/1e7, -most), most)
	sin := math.Sin(degrees * math.Pi / 180)
	fx := (float64(lon)/1e7 + 180) / 360
	fy := 0.5 - math.Log((1+sin)/(1-sin))/(4*math.Pi)
	scale := func(v float64) int32 { return int32(min(max(v*worldSize, 0), worldSize)) }
	return scale(fx), scale(fy)
}

// degrees returns the coordinates of a location in degrees.
func degrees(x, y int32) (lon, lat float64) {
	lon = float64(x)/worldSize*360 - 180
	return lon, math.Atan(math.Sinh(math.Pi*(1-2*float64(y)/worldSize))) * 180 / math.Pi
}

// box is a rectangle, including its border.
type box struct{ west, north, east, south int32 }

var noBox = box{math.MaxInt32, math.MaxInt32, math.MinInt32, math.MinInt32}

func (b box) with(p point) box {
	return box{min(b.west, p.x), min(b.north, p.y), max(b.east, p.x), max(b.south, p.y)}
}

func (b box) join(o box) box {
	return box{min(b.west, o.west), min(b.north, o.north), max(b.east, o.east), max(b.south, o.south)}
}

// contains reports whether another box is inside.
func (b box) contains(o box) bool {
	return o.west >= b.west && o.north >= b.north && o.east <= b.east && o.south <= b.south
}

// touches reports whether another box has a point in common.
func (b box) touches(o box) bool {
	return o.west <= b.east && o.east >= b.west && o.north <= b.south && o.south >= b.north
}

func (b box) has(p point) bool {
	return p.x >= b.west && p.x <= b.east && p.y >= b.north && p.y <= b.south
}

// ring returns the box as a ring.
func (b box) ring() []point {
	return []point{
		{b.west, b.north, always}, {b.east, b.north, always}, {b.east, b.south, always}, {b.west, b.south, always}, {b.west, b.north, always},
	}
}

// filledBy reports whether a ring in the box fills all of it.
func (b box) filledBy(ring []point) bool {
	whole := 2 * (float64(b.east) - float64(b.west)) * (float64(b.south) - float64(b.north))
	return math.Abs(math.Abs(area(ring))-whole) < 1
}

func boxOf(line []point) box {
	b := noBox
	for _, p := range line {
		b = b.with(p)
	}
	return b
}

// area returns twice the signed area of a ring, which is positive if it runs clockwise on
// a map, as rings around areas do.
func area(ring []point) (sum float64) {
	for i := 1; i < len(ring); i++ {
		a, b := ring[i-1], ring[i]
		sum += float64(a.x)*float64(b.y) - float64(b.x)*float64(a.y)
	}
	return sum
}

// inRing reports whether a point is inside a ring.
func inRing(p point, ring []point) bool {
	inside := false
	for i := 1; i < len(ring); i++ {
		a, b := ring[i-1], ring[i]
		if (a.y > p.y) != (b.y > p.y) {
			at := float64(a.x) + (float64(p.y)-float64(a.y))/(float64(b.y)-float64(a.y))*(float64(b.x)-float64(a.x))
			if float64(p.x) < at {
				inside = !inside
			}
		}
	}
	return inside
}

// maxRun is the maximum number of points that weigh considers at once. The time grows with
// its square at worst.
const maxRun = 1000

// weigh sets the weights of the points of a line, by the algorithm of Douglas and Peucker:
// the weight is the square of the distance from the line without the point.
func weigh(line []point) {
	for start := 0; start < len(line); start += maxRun {
		end := min(start+maxRun, len(line)-1)
		line[start].weight, line[end].weight = always, always
		weighRun(line[start : end+1])
	}
}

func weighRun(line []point) {
	type span struct{ first, last int }
	for stack := []span{{0, len(line) - 1}}; len(stack) > 0; {
		s := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		far, at := -1.0, -1
		for i := s.first + 1; i < s.last; i++ {
			if d := squareDistance(line[i], line[s.first], line[s.last]); d > far {
				far, at = d, i
			}
		}
		if at < 0 {
			continue
		}
		// A point never outweighs the one that it depends on.
		line[at].weight = min(float32(far), line[s.first].weight, line[s.last].weight)
		stack = append(stack, span{s.first, at}, span{at, s.last})
	}
}

// squareDistance returns the square of the distance between a point and a segment.
func squareDistance(p, a, b point) float64 {
	x, y := float64(a.x), float64(a.y)
	dx, dy := float64(b.x)-x, float64(b.y)-y
	if dx != 0 || dy != 0 {
		t := min(max(((float64(p.x)-x)*dx+(float64(p.y)-y)*dy)/(dx*dx+dy*dy), 0), 1)
		x, y = x+dx*t, y+dy*t
	}
	dx, dy = float64(p.x)-x, float64(p.y)-y
	return dx*dx + dy*dy
}

// clipLine returns the parts of a line that are in a box.
func clipLine(line []point, in box) (parts [][]point) {
	var part []point
	flush := func() {
		if len(part) > 1 {
			parts = append(parts, part)
		}
		part = nil
	}
	for i := 1; i < len(line); i++ {
		a, b, ok := clipSegment(line[i-1], line[i], in)
		if !ok {
			flush()
			continue
		}
		if len(part) == 0 || !part[len(part)-1].at(a) {
			flush()
			part = append(part, a)
		}
		if part = append(part, b); !b.at(line[i]) {
			flush()
		}
	}
	flush()
	return parts
}

// clipSegment returns the part of a segment that is in a box, by the algorithm of Liang
// and Barsky.
func clipSegment(a, b point, in box) (point, point, bool) {
	from, to := 0.0, 1.0
	dx, dy := float64(b.x)-float64(a.x), float64(b.y)-float64(a.y)
	for _, side := range [4][2]float64{
		{-dx, float64(a.x) - float64(in.west)}, {dx, float64(in.east) - float64(a.x)}, {-dy, float64(a.y) - float64(in.north)}, {dy, float64(in.south) - float64(a.y)},
	} {
		switch p, q := side[0], side[1]; {
		case p == 0 && q < 0:
			return a, b, false
		case p < 0:
			from = max(from, q/p)
		case p > 0:
			to = min(to, q/p)
		}
	}
	if from > to {
		return a, b, false
	}
	start, end := a, b
	if from > 0 {
		start = point{in.x(float64(a.x) + from*dx), in.y(float64(a.y) + from*dy), always}
	}
	if to < 1 {
		end = point{in.x(float64(a.x) + to*dx), in.y(float64(a.y) + to*dy), always}
	}
	return start, end, true
}

// x rounds a coordinate and limits it to the box.
func (b box) x(v float64) int32 {
	return int32(min(max(math.Round(v), float64(b.west)), float64(b.east)))
}

func (b box) y(v float64) int32 {
	return int32(min(max(math.Round(v), float64(b.north)), float64(b.south)))
}

// clipRing returns the part of a ring that is in a box, by the algorithm of Sutherland and
// Hodgman: where the ring leaves the box, it runs along its sides. It has fewer than four
// points if nothing is left.
func clipRing(ring []point, in box) []point {
	for side := range 4 {
		if len(ring) == 0 {
			return nil
		}
		out := make([]point, 0, len(ring)+4)
		inside := func(p point) bool {
			switch side {
			case 0:
				return p.x >= in.west
			case 1:
				return p.y >= in.north
			case 2:
				return p.x <= in.east
			}
			return p.y <= in.south
		}
		cross := func(a, b point) point {
			dx, dy := float64(b.x)-float64(a.x), float64(b.y)-float64(a.y)
			switch side {
			case 0:
				return point{in.west, int32(math.Round(float64(a.y) + dy*(float64(in.west)-float64(a.x))/dx)), always}
			case 1:
				return point{int32(math.Round(float64(a.x) + dx*(float64(in.north)-float64(a.y))/dy)), in.north, always}
			case 2:
				return point{in.east, int32(math.Round(float64(a.y) + dy*(float64(in.east)-float64(a.x))/dx)), always}
			}
			return point{int32(math.Round(float64(a.x) + dx*(float64(in.south)-float64(a.y))/dy)), in.south, always}
		}
		add := func(p point) {
			if len(out) == 0 || !out[len(out)-1].at(p) {
				out = append(out, p)
			}
		}
		for i := 1; i < len(ring); i++ {
			a, b := ring[i-1], ring[i]
			switch {
			case inside(a) && inside(b):
				add(b)
			case inside(a):
				add(cross(a, b))
			case inside(b):
				add(cross(a, b))
				add(b)
			}
		}
		if len(out) > 0 && !out[0].at(out[len(out)-1]) {
			out = append(out, out[0])
		}
		ring = out
	}
	return ring
}

// closeRings joins lines at their ends and returns the closed ones, and the rest, which are
// not closed. If directed is set, lines are not reversed.
func closeRings(lines [][]point, directed bool) (rings, rest [][]point) {
	type spot struct{ x, y int32 }
	spotOf := func(p point) spot { return spot{p.x, p.y} }
	ends := map[spot][]int{}
	for i, line := range lines {
		if len(line) < 2 {
			continue
		}
		ends[spotOf(line[0])] = append(ends[spotOf(line[0])], i)
		if !directed {
			ends[spotOf(line[len(line)-1])] = append(ends[spotOf(line[len(line)-1])], i)
		}
	}
	used := make([]bool, len(lines))
	// take returns an unused line at an end. Used ones are removed, so that many lines
	// with the same end do not take long.
	take := func(end spot) int {
		for list := ends[end]; len(list) > 0; list = ends[end] {
			k := list[0]
			ends[end] = list[1:]
			if !used[k] {
				used[k] = true
				return k
			}
		}
		return -1
	}
	follow := func(ring []point) []point {
		for !ring[0].at(ring[len(ring)-1]) {
			k := take(spotOf(ring[len(ring)-1]))
			if k < 0 {
				break
			}
			next := lines[k]
			if !next[0].at(ring[len(ring)-1]) {
				next = slices.Clone(next)
				slices.Reverse(next)
			}
			ring = append(ring, next[1:]...)
		}
		return ring
	}
	begins := map[spot]bool{} // ends of lines, where others that continue them begin
	if directed {
		for _, line := range lines {
			if len(line) > 1 {
				begins[spotOf(line[len(line)-1])] = true
			}
		}
	}
	for _, inner := range []bool{false, true} { // chains from their beginning first
		for i, line := range lines {
			if used[i] || len(line) < 2 || directed && !inner && begins[spotOf(line[0])] {
				continue
			}
			used[i] = true
			switch ring := follow(slices.Clone(line)); {
			case len(ring) > 3 && ring[0].at(ring[len(ring)-1]):
				rings = append(rings, ring)
			case !ring[0].at(ring[len(ring)-1]):
				rest = append(rest, ring)
			}
		}
	}
	return rings, rest
}
