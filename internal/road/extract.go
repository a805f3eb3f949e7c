package road

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"dray/internal/osm"
)

// Limits of an extract. They bound the memory that hostile files can use: a real
// extract of a large country stays below them.
const (
	maxWayNodes     = 150_000_000 // of all roads
	maxRestrictions = 4_000_000
	maxDegree       = 500 // roads that meet in one point
	maxNameLength   = 255
)

// network is the roads of an extract, for all profiles.
type network struct {
	points   []int32 // longitudes and latitudes of all segments, in 1e-7 degrees
	segments []segment
	vertices int
	blocked  []uint8 // by vertex: the profiles that cannot pass, as a set of bits
	speeds   []speeds
	names    []string
	rules    []turnRule
}

// segment is a part of a road between two vertices, which are junctions or ends.
type segment struct {
	from, to     uint32    // vertices
	first, count uint32    // points of its line
	length       uint32    // decimeters
	name, speeds uint32    // indexes
	wait         [2]uint32 // milliseconds, along and against its direction
}

// turnRule is a turn restriction. Travelers on all directed segments of the path but the last
// must not continue with the last or, if only is set, must continue with it.
type turnRule struct {
	path     []uint32 // segment<<1, plus 1 if against its direction
	only     bool
	profiles uint8 // set of bits
}

// way is a road as the extract has it.
type way struct {
	id           int64
	first, count uint32 // of refs
	name, speeds uint32
	segments     uint32 // its first segment; they are in order
	parts        uint32
}

// relation is a turn restriction as the extract has it.
type relation struct {
	from, to, via []int64 // ways
	node          int64   // instead of via ways; 0 if none
	only          bool
	profiles      uint8
}

// extract reads the roads of a file.
type extract struct {
	network
	ways      []way
	refs      []int64 // nodes of all ways
	relations []relation
	ids       []int64 // sorted nodes of all ways

	nodes  []node   // by position in ids
	vertex []uint32 // by position in ids, plus 1; 0 for none
	cursor int      // where the next node is expected in ids

	nameIndex  map[string]uint32
	speedIndex map[speeds]uint32
}

// node is a point of a road.
type node struct {
	lon, lat int32
	wait     uint16 // milliseconds
	uses     uint8  // 2 or more make it a vertex
	blocked  uint8
	way      uint8 // bit 0: wait only along the way; bit 1: only against it
	found    bool
}

// readNetwork reads the roads of a file, which is read twice.
func readNetwork(ctx context.Context, open func() (io.ReadCloser, error)) (*network, error) {
	x := newExtract()
	if err := pass(ctx, open, osm.Handler{Way: x.addWay, Relation: x.addRelation}); err != nil {
		return nil, err
	}
	x.sortNodes()
	if err := pass(ctx, open, osm.Handler{Node: x.addNode}); err != nil {
		return nil, err
	}
	return x.finish()
}

func newExtract() *extract {
	return &extract{
		network:   network{names: []string{""}},
		nameIndex: map[string]uint32{"": 0}, speedIndex: map[speeds]uint32{},
	}
}

// sortNodes prepares for reading the nodes of the ways.
func (x *extract) sortNodes() {
	x.ids = slices.Clone(x.refs)
	slices.Sort(x.ids)
	x.ids = slices.Compact(x.ids)
	x.nodes = make([]node, len(x.ids))
}

// finish builds the network.
func (x *extract) finish() (*network, error) {
	x.countUses()
	if err := x.split(); err != nil {
		return nil, err
	}
	if len(x.segments) == 0 {
		return nil, ErrNoRoads
	}
	x.resolveRules()
	n := x.network // without the rest, which is large
	return &n, nil
}

// ErrNoRoads means that an extract has no roads.
var ErrNoRoads = errors.New("the file has no roads")

func pass(ctx context.Context, open func() (io.ReadCloser, error), h osm.Handler) error {
	file, err := open()
	if err != nil {
		return err
	}
	defer file.Close()
	return osm.Read(ctx, file, h)
}

func (x *extract) addWay(w *osm.Way) error {
	s := roadSpeeds(w.Tags)
	if !s.usable() || len(w.Refs) < 2 {
		return nil
	}
	if len(x.refs)+len(w.Refs) > maxWayNodes {
		return fmt.Errorf("the roads of the file have more than %d points", maxWayNodes)
	}
	index, known := x.speedIndex[s]
	if !known {
		index = uint32(len(x.speeds))
		x.speedIndex[s], x.speeds = index, append(x.speeds, s)
	}
	x.ways = append(x.ways, way{
		id: w.ID, first: uint32(len(x.refs)), count: uint32(len(w.Refs)), name: x.name(w.Tags), speeds: index,
	})
	x.refs = append(x.refs, w.Refs...)
	return nil
}

// name returns the index of the name of a way.
func (x *extract) name(tags osm.Tags) uint32 {
	name := tags.Get("name")
	if name == "" {
		name = tags.Get("ref")
	}
	if len(name) > maxNameLength {
		name = strings.ToValidUTF8(name[:maxNameLength], "")
	}
	index, known := x.nameIndex[name]
	if !known {
		name = strings.Clone(name)
		index = uint32(len(x.names))
		x.nameIndex[name], x.names = index, append(x.names, name)
	}
	return index
}

// restricted are the keys of turn restrictions, with the profiles they are for.
var restricted = map[string]uint8{
	"restriction":               1<<Car | 1<<Truck | 1<<Bicycle,
	"restriction:motorcar":      1 << Car,
	"restriction:motor_vehicle": 1<<Car | 1<<Truck,
	"restriction:hgv":           1 << Truck,
	"restriction:bicycle":       1 << Bicycle,
}

// exempt are the vehicles that a restriction can except.
var exempt = map[string]uint8{
	"motorcar": 1 << Car, "motor_vehicle": 1<<Car | 1<<Truck, "hgv": 1 << Truck, "goods": 1 << Truck, "bicycle": 1 << Bicycle,
}

// addRelation keeps turn restrictions.
func (x *extract) addRelation(r *osm.Relation) error {
	if r.Tags.Get("type") != "restriction" || len(r.Members) > 16 {
		return nil
	}
	var kept relation
	var kind string
	for key, set := range restricted {
		if value := r.Tags.Get(key); value != "" {
			kept.profiles |= set
			kind = max(kind, value)
		}
	}
	for vehicle := range strings.SplitSeq(r.Tags.Get("except"), ";") {
		kept.profiles &^= exempt[strings.TrimSpace(vehicle)]
	}
	switch {
	case kept.profiles == 0:
		return nil
	case strings.HasPrefix(kind, "only_"):
		kept.only = true
	case !strings.HasPrefix(kind, "no_"):
		return nil
	}
	for _, m := range r.Members {
		switch {
		case m.Role == "from" && m.Kind == osm.KindWay:
			kept.from = append(kept.from, m.ID)
		case m.Role == "to" && m.Kind == osm.KindWay:
			kept.to = append(kept.to, m.ID)
		case m.Role == "via" && m.Kind == osm.KindWay:
			kept.via = append(kept.via, m.ID)
		case m.Role == "via" && m.Kind == osm.KindNode:
			kept.node = m.ID
		}
	}
	if len(x.relations) == maxRestrictions {
		return fmt.Errorf("the file has more than %d turn restrictions", maxRestrictions)
	}
	x.relations = append(x.relations, kept)
	return nil
}

// addNode keeps a node of a road. Nodes are usually sorted, so that the next is
// where the cursor is.
func (x *extract) addNode(n *osm.Node) error {
	if at := x.cursor; at == len(x.ids) || x.ids[at] != n.ID {
		if at < len(x.ids) && n.ID < x.ids[at] && (at == 0 || n.ID > x.ids[at-1]) {
			return nil
		}
		found := false
		if x.cursor, found = slices.BinarySearch(x.ids, n.ID); !found {
			return nil
		}
	}
	kept := &x.nodes[x.cursor]
	x.cursor++
	kept.lon, kept.lat, kept.found = n.Lon, n.Lat, true
	if len(n.Tags) > 0 {
		kept.wait, kept.blocked = delay(n.Tags), blocks(n.Tags)
		direction := n.Tags.Get("traffic_signals:direction")
		if direction == "" {
			direction = n.Tags.Get("direction")
		}
		switch direction {
		case "forward":
			kept.way = 1
		case "backward":
			kept.way = 2
		}
	}
	return nil
}

// nodeIndex returns the position of a node of a way.
func (x *extract) nodeIndex(id int64) int {
	at, _ := slices.BinarySearch(x.ids, id)
	return at
}

// countUses finds out which nodes are vertices: the ends of ways, junctions,
// barriers and the nodes of turn restrictions.
func (x *extract) countUses() {
	use := func(at int, times uint8) {
		x.nodes[at].uses = min(x.nodes[at].uses+times, 2)
	}
	for _, w := range x.ways {
		for i, id := range x.refs[w.first : w.first+w.count] {
			times := uint8(1)
			if i == 0 || i == int(w.count)-1 {
				times = 2
			}
			use(x.nodeIndex(id), times)
		}
	}
	for _, r := range x.relations {
		if at, found := slices.BinarySearch(x.ids, r.node); found {
			use(at, 2)
		}
	}
	for i := range x.nodes {
		if x.nodes[i].blocked != 0 {
			use(i, 2)
		}
	}
}

// split divides the ways into segments at their vertices.
func (x *extract) split() error {
	x.vertex = make([]uint32, len(x.nodes))
	var line []int // nodes of the segment
	for i := range x.ways {
		w := &x.ways[i]
		w.segments = uint32(len(x.segments))
		line = line[:0]
		for _, id := range x.refs[w.first : w.first+w.count] {
			at := x.nodeIndex(id)
			if !x.nodes[at].found { // outside of the extract
				if len(line) > 1 {
					x.addSegment(w, line)
				}
				line = line[:0]
				continue
			}
			if n := len(line); n > 0 && line[n-1] == at {
				continue
			}
			line = append(line, at)
			if x.nodes[at].uses >= 2 && len(line) > 1 {
				x.addSegment(w, line)
				line = append(line[:0], at)
			}
		}
		if len(line) > 1 {
			x.addSegment(w, line)
		}
		w.parts = uint32(len(x.segments)) - w.segments
	}
	degrees := make([]uint16, x.vertices)
	for _, s := range x.segments {
		for _, v := range [2]uint32{s.from, s.to} {
			if degrees[v]++; degrees[v] > maxDegree {
				return fmt.Errorf("more than %d roads meet in one point", maxDegree)
			}
		}
	}
	return nil
}

// vertexAt returns the vertex of a node, which becomes one if it is not yet.
func (x *extract) vertexAt(at int) uint32 {
	if x.vertex[at] == 0 {
		x.vertices++
		x.vertex[at] = uint32(x.vertices)
		x.blocked = append(x.blocked, x.nodes[at].blocked)
	}
	return x.vertex[at] - 1
}

func (x *extract) addSegment(w *way, line []int) {
	last := len(line) - 1
	s := segment{
		from: x.vertexAt(line[0]), to: x.vertexAt(line[last]), first: uint32(len(x.points) / 2), count: uint32(len(line)),
		name: w.name, speeds: w.speeds,
	}
	var meters float64
	for i, at := range line {
		n := x.nodes[at]
		x.points = append(x.points, n.lon, n.lat)
		if i > 0 {
			before := x.nodes[line[i-1]]
			meters += distance(before.lon, before.lat, n.lon, n.lat)
		}
		if i > 0 && n.way != 2 {
			s.wait[0] += uint32(n.wait)
		}
		if i < last && n.way != 1 {
			s.wait[1] += uint32(n.wait)
		}
	}
	s.length = uint32(min(math.Round(meters*10), 1e9))
	x.segments = append(x.segments, s)
}

const (
	earthRadius = 6_371_008.8 // meters
	unitRadians = math.Pi / 180 / 1e7
)

// distance returns the meters between two points that are close to each other, or
// at least on the same side of the Earth.
func distance(lon1, lat1, lon2, lat2 int32) float64 {
	x := float64(int64(lon2)-int64(lon1)) * unitRadians
	if x > math.Pi {
		x -= 2 * math.Pi
	} else if x < -math.Pi {
		x += 2 * math.Pi
	}
	x *= math.Cos((float64(lat1) + float64(lat2)) / 2 * unitRadians)
	y := float64(int64(lat2)-int64(lat1)) * unitRadians
	return earthRadius * math.Hypot(x, y)
}
