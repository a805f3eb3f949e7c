// Package town generates a town: a believable street network with houses and
// addresses, as an OpenStreetMap file. The same seed gives the same town.
//
// The streets follow a field of directions that is shaped by a river, a market square and the
// neighborhoods around it, like the streets of towns that grew over time.
package town

import (
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"dray/internal/osm"
)

// The name of the town, and where it is.
const (
	Name                 = "Alderbrook"
	State                = "NY"
	Country              = "US"
	originLon, originLat = -73.9809, 40.7534
	metersPerLat         = 111_050.0
)

// Write generates the town of a seed and writes it as a PBF file.
func Write(out io.Writer, seed uint64) error {
	l := newLand(rand.New(rand.NewPCG(seed, 0x746f776e)))
	n := connect(l, layOut(l))
	n.nameStreets()
	d := &drawing{builder: build(n)}
	d.drawStreets()
	d.drawHouses()
	d.drawLand()
	return d.write(out)
}

// element is a node, way or relation. Its id is its position, counted from 1.
type element struct {
	at      vec
	refs    []int64
	members []osm.Member
	tags    []string
}

// drawing is the town as elements of the map.
type drawing struct {
	*builder
	nodes, ways, relations []element

	wayOf map[*edge]int64
}

func (d *drawing) node(at vec, tags ...string) int64 {
	d.nodes = append(d.nodes, element{at: at, tags: tags})
	return int64(len(d.nodes))
}

func (d *drawing) way(refs []int64, tags ...string) int64 {
	d.ways = append(d.ways, element{refs: refs, tags: tags})
	return int64(len(d.ways))
}

func (d *drawing) relation(members []osm.Member, tags ...string) {
	d.relations = append(d.relations, element{members: members, tags: tags})
}

// area draws a closed shape.
func (d *drawing) area(points []vec, tags ...string) int64 {
	var refs []int64
	for _, p := range points {
		refs = append(refs, d.node(p))
	}
	return d.way(append(refs, refs[0]), tags...)
}

// ban is a turn that is not allowed.
type ban struct {
	via      int
	from, to *edge
	kind     string
}

// drawStreets draws the streets, cut where a bridge or a banned turn begins.
func (d *drawing) drawStreets() {
	bans := d.chooseBans()
	cut := map[int]bool{}
	for _, b := range bans {
		cut[b.via] = true
	}
	ids := make([]int64, len(d.junctions))
	at := func(j int) int64 {
		if ids[j] == 0 {
			var tags []string
			if d.junctions[j].signals {
				tags = []string{"highway", "traffic_signals"}
			}
			ids[j] = d.node(d.junctions[j].at, tags...)
		}
		return ids[j]
	}
	d.wayOf = map[*edge]int64{}
	for i := 0; i < len(d.edges); {
		first := d.edges[i]
		refs := []int64{at(first.from)}
		next := int64(len(d.ways)) + 1
		for last := first.from; i < len(d.edges); i++ {
			e := d.edges[i]
			if e != first && (e.street != first.street || e.bridge != first.bridge || e.oneWay != first.oneWay || e.from != last || cut[e.from]) {
				break
			}
			points := simplify(e.points, 0.8)
			for _, p := range points[1 : len(points)-1] {
				refs = append(refs, d.node(p))
			}
			refs = append(refs, at(e.to))
			last = e.to
			d.wayOf[e] = next
		}
		d.way(refs, d.streetTags(first)...)
	}
	for _, b := range bans {
		d.relation([]osm.Member{
			{Kind: osm.KindWay, ID: d.wayOf[b.from], Role: "from"}, {Kind: osm.KindNode, ID: ids[b.via], Role: "via"}, {Kind: osm.KindWay, ID: d.wayOf[b.to], Role: "to"},
		}, "type", "restriction", "restriction", b.kind)
	}
	d.drawPaths(ids)
}

func (d *drawing) streetTags(e *edge) []string {
	s := e.street
	tags := []string{"highway", s.class, "name", s.name}
	speed := map[string]string{"primary": "40 mph", "secondary": "35 mph", "tertiary": "30 mph", "residential": "25 mph"}[s.class]
	if s.level != levelRing && d.square.to(e.points[0]) < coreRadius {
		speed = "25 mph"
	}
	tags = append(tags, "maxspeed", speed)
	if s.level <= levelMain {
		tags = append(tags, "lanes", map[bool]string{true: "4", false: "2"}[s.level == levelRing])
	}
	if e.oneWay {
		tags = append(tags, "oneway", "yes")
	}
	if e.bridge {
		tags = append(tags, "bridge", "yes", "layer", "1")
	}
	if s.name == "Ring Road" {
		tags = append(tags, "ref", "NY 900")
	}
	if s.name == "1st Avenue" {
		tags = append(tags, "alt_name", "First Avenue")
	}
	return tags
}

// chooseBans bans left turns from small streets into busy ones, at some crossings.
func (d *drawing) chooseBans() (bans []ban) {
	for j, here := range d.junctions {
		if len(here.edges) != 4 || d.random.Float64() > 0.3 {
			continue
		}
		for _, from := range here.edges {
			for _, to := range here.edges {
				if from.street.level != levelHome || to.street.level > levelMain || from.bridge || to.bridge {
					continue
				}
				in, ok := from.heading(j, false)
				out, also := to.heading(j, true)
				if ok && also && in.cross(out) > 0.7 {
					bans = append(bans, ban{j, from, to, "no_left_turn"})
				}
			}
		}
	}
	return bans
}

// heading returns the direction of travel at a junction, toward it or away from it,
// and whether it is allowed.
func (e *edge) heading(at int, away bool) (vec, bool) {
	last := len(e.points) - 1
	start := e.points[0].toward(e.points[1])
	end := e.points[last-1].toward(e.points[last])
	switch {
	case away && e.from == at:
		return start, true
	case !away && e.to == at:
		return end, true
	case away:
		return end.times(-1), !e.oneWay
	}
	return start.times(-1), !e.oneWay
}

// drawPaths draws the paths of parks, joined to the streets around them.
func (d *drawing) drawPaths(ids []int64) {
	for _, k := range d.parks {
		var loop []int64
		for _, p := range outlineOf(k.center, 16, func(a float64) float64 { return 0.66 * k.edge(a) }) {
			loop = append(loop, d.node(p))
		}
		d.way(append(slices.Clone(loop), loop[0]), "highway", "footway")
		for i := 0; i < len(loop); i += 4 {
			from := d.nodes[loop[i]-1].at
			best, near := 0, 160.0
			for j := range d.junctions {
				if ids[j] != 0 && d.junctions[j].at.to(from) < near && d.dry(d.junctions[j].at) > 5 {
					best, near = j, d.junctions[j].at.to(from)
				}
			}
			if near < 160 {
				d.way([]int64{loop[i], ids[best]}, "highway", "footway")
			}
		}
	}
}

// drawHouses draws the buildings. Most have their address on the building, some on
// a node at the door.
func (d *drawing) drawHouses() {
	for _, h := range d.houses {
		address := []string{
			"addr:housenumber", text(h.number), "addr:street", h.street.name, "addr:city", Name, "addr:postcode", d.postalCode(h.at), "addr:state", State,
		}
		kind := "house"
		switch {
		case d.industrial(h.at):
			kind = "industrial"
		case h.at.to(d.square) < coreRadius:
			kind = "apartments"
		case h.use != nil:
			kind = "yes"
		}
		tags := append([]string{"building", kind}, h.use...)
		if d.random.Float64() < 0.08 {
			d.node(h.door, append([]string{"entrance", "main"}, address...)...)
		} else {
			tags = append(tags, address...)
		}
		d.area(h.corners[:], tags...)
	}
	for _, s := range d.spans {
		end := func(at vec, number int) int64 {
			return d.node(at, "addr:housenumber", text(number), "addr:street", s.street.name, "addr:city", Name, "addr:postcode", d.postalCode(at))
		}
		kind := "odd"
		if s.first%2 == 0 {
			kind = "even"
		}
		d.way([]int64{end(s.from, s.first), end(s.to, s.last)}, "addr:interpolation", kind)
	}
}

// drawLand draws the water, the parks and the areas, and names them.
func (d *drawing) drawLand() {
	var west, east, middle []vec
	for y := -riverEnds; y <= riverEnds; y += 40 {
		at := vec{d.riverX(y), y}
		off := d.flow(y).left().times(d.riverWidth(y))
		west, east, middle = append(west, at.plus(off)), append(east, at.minus(off)), append(middle, at)
	}
	slices.Reverse(east)
	d.area(slices.Concat(west, east), "natural", "water", "water", "river", "name", "Alder River")
	var course []int64
	for _, p := range middle {
		course = append(course, d.node(p))
	}
	d.way(course, "waterway", "river", "name", "Alder River")
	for _, k := range d.parks {
		d.area(outlineOf(k.center, 28, k.edge), "leisure", "park", "name", k.name)
		if k.lake {
			d.area(outlineOf(k.center, 20, func(a float64) float64 { return 0.36 * k.edge(a) * (1 + 0.15*math.Sin(3*a)) }), "natural", "water", "water", "pond", "name", "Swan Pond")
		}
	}
	edge := func(scale float64) []vec {
		return outlineOf(d.square, 60, func(a float64) float64 { return scale * d.edge(a, townRadius, d.outline) })
	}
	d.area(edge(1.03), "landuse", "residential")
	d.area(outlineOf(d.square, 32, func(float64) float64 { return coreRadius }), "landuse", "retail")
	var factories []vec
	for i := -9.0; i <= 9; i++ {
		factories = append(factories, d.square.plus(heading(d.industry+i/17).times(ringRadius*0.98)))
	}
	for i := 9.0; i >= -9; i-- {
		a := d.industry + i/17
		factories = append(factories, d.square.plus(heading(a).times(1.05*d.edge(a, townRadius, d.outline))))
	}
	d.area(factories, "landuse", "industrial")
	d.area(outlineOf(d.square, 24, func(float64) float64 { return squareSize }), "highway", "pedestrian", "area", "yes", "place", "square", "name", "Market Square")
	kinds := []string{"forest", "farmland", "meadow", "farmland", "forest", "forest"}
	for i := range 26 {
		center := d.square.plus(heading(float64(i)*0.9 + d.random.Float64()).times(2050 + 1100*d.random.Float64()))
		size, shape := 180+260*d.random.Float64(), newWave(d.random, 0.14, 2)
		if d.dry(center) > size*1.3 && d.inside(center) > 1.2 {
			d.area(outlineOf(center, 22, func(a float64) float64 { return size * (1 + shape.at(a)) }), "landuse", kinds[i%len(kinds)])
		}
	}
	d.drawPlaces(edge(1.3))
}

// drawPlaces draws the names of the town and its parts, and their boundaries.
func (d *drawing) drawPlaces(limits []vec) {
	d.node(d.square, "place", "town", "name", Name, "population", "21400")
	suburbs := []string{"Eastbank", "Northfield", "Highland", "Millside", "Southgate", "Lowmeadow"}
	for i, p := range d.patches[1:] {
		d.node(p.center, "place", "suburb", "name", suburbs[i])
	}
	boundary := d.area(limits, "boundary", "administrative", "admin_level", "8")
	d.relation([]osm.Member{{Kind: osm.KindWay, ID: boundary, Role: "outer"}}, "type", "boundary", "boundary", "administrative", "admin_level", "8", "name", Name)
	for quarter := range 4 {
		shape := []vec{d.square}
		for i := range 13 {
			angle := (float64(quarter) + float64(i)/12) * math.Pi / 2
			shape = append(shape, d.square.plus(heading(angle).times(1.3*d.edge(angle, townRadius, d.outline))))
		}
		code := d.postalCode(d.square.plus(heading((float64(quarter) + 0.5) * math.Pi / 2)))
		outer := d.area(shape)
		d.relation([]osm.Member{{Kind: osm.KindWay, ID: outer, Role: "outer"}}, "type", "boundary", "boundary", "postal_code", "postal_code", code)
	}
}

func (d *drawing) degrees(p vec) (lon, lat float64) {
	return originLon + p.x/(metersPerLat*math.Cos(originLat*math.Pi/180)), originLat + p.y/metersPerLat
}

func (d *drawing) write(out io.Writer) error {
	west, south := d.degrees(vec{-riverEnds, -riverEnds})
	east, north := d.degrees(vec{riverEnds, riverEnds})
	w := osm.NewWriter(out, west, south, east, north)
	for i, e := range d.nodes {
		lon, lat := d.degrees(e.at)
		w.Node(int64(i+1), lon, lat, e.tags...)
	}
	for i, e := range d.ways {
		w.Way(int64(i+1), e.refs, e.tags...)
	}
	for i, e := range d.relations {
		w.Relation(int64(i+1), e.members, e.tags...)
	}
	return w.Close()
}
