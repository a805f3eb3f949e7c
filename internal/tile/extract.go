package tile

import (
	"context"
	"fmt"
	"io"
	"slices"

	"dray/internal/osm"
)

// shape is a feature to draw, or its part in a tile.
type shape struct {
	*style
	box box
	// size is the area of the whole polygon, or the longer side of the whole line's box.
	size float64
	// parts are a point, lines or rings. A ring around an area runs clockwise and is followed
	// by its holes, which run counterclockwise.
	parts [][]point
}

// extract reads the shapes of an extract.
type extract struct {
	*styler
	shapes    []*shape
	relations []relation
	wanted    map[int64][]point // ways that relations need
	coasts    [][]point
	bounds    box // of the extract; of all points if it has none
	all       box // of all points
	count     int // number of points

	ids    []int64 // sorted nodes of all ways
	places []place // by position in ids
	cursor int     // where the next node is expected in ids
}

// place is the location of a node.
type place struct{ x, y int32 }

// nowhere is the location of nodes that the extract does not have.
var nowhere = place{-1, -1}

// relation is an area of several ways.
type relation struct {
	style        *style
	outer, inner []int64
	number       *style
}

// readExtract reads a file in four passes: the relations, to know which ways they need; the
// ways, to know which nodes they need; the nodes; and the ways again.
func readExtract(ctx context.Context, open func() (io.ReadCloser, error), progress func(float64)) (*extract, error) {
	e := &extract{styler: newStyler(), wanted: map[int64][]point{}, bounds: noBox, all: noBox}
	for i, pass := range []osm.Handler{{Header: e.header, Relation: e.relation}, {Way: e.listWay}, {Node: e.node}, {Way: e.way}} {
		if i == 2 {
			slices.Sort(e.ids)
			e.ids = slices.Clip(slices.Compact(e.ids))
			e.places = slices.Repeat([]place{nowhere}, len(e.ids))
		}
		if err := e.pass(ctx, open, pass); err != nil {
			return nil, err
		}
		progress(float64(i+1) / 4)
	}
	e.ids, e.places = nil, nil
	if e.bounds == noBox {
		e.bounds = e.all
	}
	for _, r := range e.relations {
		e.addRelation(r)
	}
	e.wanted, e.relations = nil, nil
	e.addSea()
	e.styles, e.texts = nil, nil
	if len(e.shapes) == 0 {
		return nil, ErrEmpty
	}
	return e, nil
}

func (e *extract) pass(ctx context.Context, open func() (io.ReadCloser, error), h osm.Handler) error {
	file, err := open()
	if err != nil {
		return err
	}
	defer file.Close()
	return osm.Read(ctx, file, h)
}

func (e *extract) header(h osm.Header) error {
	if !(h.Left >= -180 && h.Right <= 180 && h.Bottom >= -90 && h.Top <= 90 && h.Left < h.Right && h.Bottom < h.Top) {
		return nil
	}
	west, north := project(int32(h.Left*1e7), int32(h.Top*1e7))
	east, south := project(int32(h.Right*1e7), int32(h.Bottom*1e7))
	if west < east && north < south {
		e.bounds = box{west, north, east, south}
	}
	return nil
}

func (e *extract) relation(r *osm.Relation) error {
	if r.Tags.Get("type") != "multipolygon" {
		return nil
	}
	one := relation{style: e.area(r.Tags), number: e.number(r.Tags)}
	if one.style == nil {
		return nil
	}
	for _, m := range r.Members {
		if m.Kind != osm.KindWay {
			continue
		}
		if m.Role == "inner" {
			one.inner = append(one.inner, m.ID)
		} else {
			one.outer = append(one.outer, m.ID)
		}
		e.wanted[m.ID] = nil
	}
	e.relations = append(e.relations, one)
	return nil
}

// drawn returns how a way is drawn, and reports whether its nodes are needed.
func (e *extract) drawn(w *osm.Way) (found *style, coast, needed bool) {
	if len(w.Refs) < 2 {
		return nil, false, false
	}
	found = e.styler.way(w.Tags, w.Refs[0] == w.Refs[len(w.Refs)-1] && len(w.Refs) > 3)
	coast = w.Tags.Get("natural") == "coastline"
	_, wanted := e.wanted[w.ID]
	return found, coast, found != nil || coast || wanted
}

// listWay lists the nodes of a way.
func (e *extract) listWay(w *osm.Way) error {
	if _, _, needed := e.drawn(w); !needed {
		return nil
	}
	if len(e.ids)+len(w.Refs) > maxPoints {
		return fmt.Errorf("the file has more than %d points to draw; import smaller extracts side by side", maxPoints)
	}
	e.ids = append(e.ids, w.Refs...)
	return nil
}

func (e *extract) node(n *osm.Node) error {
	x, y := project(n.Lon, n.Lat)
	if e.cursor >= len(e.ids) || e.ids[e.cursor] != n.ID {
		at, found := slices.BinarySearch(e.ids, n.ID)
		if e.cursor = at; !found {
			e.cursor = len(e.ids)
		}
	}
	if e.cursor < len(e.ids) {
		e.places[e.cursor] = place{x, y}
		e.cursor++
	}
	if len(n.Tags) == 0 {
		return nil
	}
	at := point{x, y, always}
	e.addPoint(e.place(n.Tags), at)
	e.addPoint(e.number(n.Tags), at)
	return nil
}

func (e *extract) addPoint(s *style, at point) {
	if s != nil {
		e.add(&shape{style: s, box: noBox.with(at), parts: [][]point{{at}}})
	}
}

func (e *extract) add(s *shape) {
	e.shapes = append(e.shapes, s)
	e.all = e.all.join(s.box)
	for _, part := range s.parts {
		e.count += len(part)
	}
}

func (e *extract) way(w *osm.Way) error {
	found, coast, needed := e.drawn(w)
	if !needed {
		return nil
	}
	line := e.locate(w.Refs)
	if _, wanted := e.wanted[w.ID]; wanted {
		e.wanted[w.ID] = line
	}
	if coast {
		e.coasts = append(e.coasts, line)
	}
	switch {
	case found == nil:
	case found.geometry == lines:
		e.addLine(found, line)
	case len(line) > 2 && e.nearlyWhole(w.Refs):
		ring := slices.Clone(line)
		if !ring[0].at(ring[len(ring)-1]) { // the extract ends here
			ring = append(ring, ring[0])
		}
		e.addArea(found, [][]point{ring}, nil)
		if number := e.number(w.Tags); number != nil {
			e.addPoint(number, middle(line))
		}
	}
	return nil
}

// locate returns the points of a way that the extract has.
func (e *extract) locate(refs []int64) []point {
	line := make([]point, 0, len(refs))
	for _, id := range refs {
		at, found := slices.BinarySearch(e.ids, id)
		if !found || e.places[at] == nowhere {
			continue
		}
		p := point{e.places[at].x, e.places[at].y, 0}
		if len(line) == 0 || !line[len(line)-1].at(p) {
			line = append(line, p)
		}
	}
	return line
}

// nearlyWhole reports whether the extract has at least nine tenths of the nodes of an area.
// With fewer, its shape would be wrong.
func (e *extract) nearlyWhole(refs []int64) bool {
	missing := 0
	for _, id := range refs {
		if at, found := slices.BinarySearch(e.ids, id); !found || e.places[at] == nowhere {
			missing++
		}
	}
	return missing*10 <= len(refs)
}

// addLine adds a line. Where it crosses the antimeridian it is cut.
func (e *extract) addLine(s *style, line []point) {
	one := shape{style: s, box: noBox}
	for start, i := 0, 1; i <= len(line); i++ {
		if i < len(line) && abs(line[i].x-line[i-1].x) <= worldSize/2 {
			continue
		}
		if part := slices.Clone(line[start:i]); len(part) > 1 {
			weigh(part)
			one.parts = append(one.parts, part)
			one.box = one.box.join(boxOf(part))
		}
		start = i
	}
	if len(one.parts) > 0 {
		one.size = float64(max(one.box.east-one.box.west, one.box.south-one.box.north))
		e.add(&one)
	}
}

// maxTests limits the search for the areas that contain holes. Further holes are filled.
const maxTests = 100_000_000

func abs(n int32) int32 { return max(n, -n) }

// addArea adds an area with its holes. Rings that are not closed are left out.
func (e *extract) addArea(s *style, outer, inner [][]point) {
	one := shape{style: s, box: noBox}
	tests := 0 // cost of locating the holes, in points
	boxes := make([]box, len(inner))
	for i, hole := range inner {
		boxes[i] = boxOf(hole)
		orient(hole, false)
		weigh(hole)
	}
	placed := make([]bool, len(inner))
	for _, ring := range outer {
		b := boxOf(ring)
		if len(ring) < 4 || !ring[0].at(ring[len(ring)-1]) || area(ring) == 0 || b.east-b.west > worldSize/2 {
			continue
		}
		orient(ring, true)
		weigh(ring)
		one.parts, one.box, one.size = append(one.parts, ring), one.box.join(b), one.size+area(ring)/2
		for i, hole := range inner {
			if placed[i] || tests > maxTests {
				continue
			}
			if tests++; b.contains(boxes[i]) {
				tests += len(ring)
				if inRing(hole[0], ring) {
					one.parts, placed[i] = append(one.parts, hole), true
				}
			}
		}
	}
	if len(one.parts) > 0 {
		e.add(&one)
	}
}

// orient makes a ring run clockwise or the other way.
func orient(ring []point, clockwise bool) {
	if area(ring) > 0 != clockwise {
		slices.Reverse(ring)
	}
}

func (e *extract) addRelation(r relation) {
	rings := func(ids []int64) [][]point {
		var all [][]point
		for _, id := range ids {
			all = append(all, e.wanted[id])
		}
		closed, _ := closeRings(all, false)
		return closed
	}
	outer := rings(r.outer)
	e.addArea(r.style, outer, rings(r.inner))
	if r.number != nil && len(outer) > 0 {
		e.addPoint(r.number, middle(outer[0]))
	}
}

// middle returns the center of an area, or the middle of its box if that is outside.
func middle(ring []point) point {
	b := boxOf(ring)
	center := point{b.west + (b.east-b.west)/2, b.north + (b.south-b.north)/2, always}
	var sum, x, y float64
	for i := 1; i < len(ring); i++ {
		ax, ay := float64(ring[i-1].x-b.west), float64(ring[i-1].y-b.north)
		bx, by := float64(ring[i].x-b.west), float64(ring[i].y-b.north)
		k := ax*by - bx*ay
		sum, x, y = sum+k, x+(ax+bx)*k, y+(ay+by)*k
	}
	if sum == 0 {
		return center
	}
	at := point{b.west + int32(x/sum/3), b.north + int32(y/sum/3), always}
	if !b.has(at) || !inRing(at, ring) {
		return center
	}
	return at
}
