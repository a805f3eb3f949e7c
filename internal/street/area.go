package street

import (
	"cmp"
	"math"
	"slices"
)

// area is the area of a boundary.
type area struct {
	names    []string
	code     string // of a postal area
	country  string // ISO 3166-1 code of a country
	level    int    // of administration: 2 is a country, 4 a state, 8 a town; 0 for a postal code
	rings    [][]micro
	min, max micro
	size     float64 // of its box, for comparison
}

// areas finds the boundaries around a location, by a grid of their boxes.
type areas struct {
	all   []area // sorted by size
	grid  map[gridCell][]int32
	large []int32 // areas that would need too many cells, such as Canada
}

type gridCell struct{ x, y int32 }

const (
	areaCell     = 100_000 // microdegrees
	maxAreaCells = 200_000
)

// add adds the boundary that lines form. Rings that are not closed, because the extract ends
// there, are left out.
func (a *areas) add(one area, lines [][]micro) {
	one.rings = closeRings(lines)
	if len(one.rings) == 0 {
		return
	}
	one.min, one.max = micro{math.MaxInt32, math.MaxInt32}, micro{math.MinInt32, math.MinInt32}
	for _, ring := range one.rings {
		for _, p := range ring {
			one.min.lon, one.min.lat = min(one.min.lon, p.lon), min(one.min.lat, p.lat)
			one.max.lon, one.max.lat = max(one.max.lon, p.lon), max(one.max.lat, p.lat)
		}
	}
	one.size = (float64(one.max.lon) - float64(one.min.lon)) * (float64(one.max.lat) - float64(one.min.lat))
	a.all = append(a.all, one)
}

// index prepares the search.
func (a *areas) index() {
	a.grid = map[gridCell][]int32{}
	slices.SortStableFunc(a.all, func(p, q area) int { return cmp.Compare(p.size, q.size) })
	for i, one := range a.all {
		west, east := one.min.lon/areaCell-1, one.max.lon/areaCell
		south, north := one.min.lat/areaCell-1, one.max.lat/areaCell
		if int64(east-west+1)*int64(north-south+1) > maxAreaCells {
			a.large = append(a.large, int32(i))
			continue
		}
		for x := west; x <= east; x++ {
			for y := south; y <= north; y++ {
				c := gridCell{x, y}
				a.grid[c] = append(a.grid[c], int32(i))
			}
		}
	}
}

// around calls a function with the wanted areas around a location, the smallest first. The
// boundaries of countries are long, so that areas should not be wanted without need.
func (a *areas) around(p micro, wanted func(*area) bool, each func(*area)) {
	for _, list := range [][]int32{a.grid[gridCell{cellIndex(p.lon, areaCell), cellIndex(p.lat, areaCell)}], a.large} {
		for _, i := range list {
			if one := &a.all[i]; wanted(one) && one.contains(p) {
				each(one)
			}
		}
	}
}

func cellIndex(v, size int32) int32 {
	if v < 0 {
		return (v+1)/size - 1
	}
	return v / size
}

func (a *area) contains(p micro) bool {
	if p.lon < a.min.lon || p.lon > a.max.lon || p.lat < a.min.lat || p.lat > a.max.lat {
		return false
	}
	inside := false
	for _, ring := range a.rings {
		for i := 1; i < len(ring); i++ {
			u, v := ring[i-1], ring[i]
			if (u.lat > p.lat) == (v.lat > p.lat) {
				continue
			}
			at := float64(u.lon) + float64(p.lat-u.lat)/float64(v.lat-u.lat)*float64(v.lon-u.lon)
			if float64(p.lon) < at {
				inside = !inside
			}
		}
	}
	return inside
}

// closeRings joins lines at their ends and returns the closed ones.
func closeRings(lines [][]micro) (rings [][]micro) {
	ends := map[micro][]int{}
	for i, line := range lines {
		if len(line) < 2 {
			continue
		}
		ends[line[0]] = append(ends[line[0]], i)
		ends[line[len(line)-1]] = append(ends[line[len(line)-1]], i)
	}
	used := make([]bool, len(lines))
	for i, line := range lines {
		if used[i] || len(line) < 2 {
			continue
		}
		used[i] = true
		ring := slices.Clone(line)
		for ring[0] != ring[len(ring)-1] {
			end := ring[len(ring)-1]
			k := slices.IndexFunc(ends[end], func(other int) bool { return !used[other] })
			if k < 0 {
				break
			}
			next := lines[ends[end][k]]
			used[ends[end][k]] = true
			if next[0] != end {
				next = slices.Clone(next)
				slices.Reverse(next)
			}
			ring = append(ring, next[1:]...)
		}
		if len(ring) > 3 && ring[0] == ring[len(ring)-1] {
			rings = append(rings, ring)
		}
	}
	return rings
}
