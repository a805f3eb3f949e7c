package street

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strconv"
	"strings"

	"dray/internal/osm"
)

// extract reads an extract of OpenStreetMap.
type extract struct {
	*collection
	wanted map[int64]bool    // ways that relations need
	lines  map[int64][]int64 // nodes of these ways
	owners map[member]uint32 // streets of houses, from relations

	boundaries []boundary
	ways       []wayPart
	ranges     []rangeWay

	ids    []int64           // sorted ids of the nodes of all ways
	coords []micro           // their locations
	houses map[int64]address // nodes with a number, for ranges
}

type member struct {
	kind osm.Kind
	id   int64
}

// boundary is a relation that encloses an area, or a house.
type boundary struct {
	area   area
	ways   []int64
	house  address
	number string
}

// wayPart is a way with an address or a name.
type wayPart struct {
	house  address
	number string
	names  []string
	nodes  []int64
}

// rangeWay is a way along which house numbers are interpolated.
type rangeWay struct {
	step  uint32
	nodes []int64
}

// readExtract reads an extract in three passes: relations, ways, nodes. In the file, they are
// in the opposite order, but only the ways of relations and the nodes of ways are needed.
func readExtract(ctx context.Context, open func() (io.ReadCloser, error), progress func(float64)) (*collection, error) {
	e := &extract{
		collection: newCollection(), wanted: map[int64]bool{}, lines: map[int64][]int64{}, owners: map[member]uint32{}, houses: map[int64]address{},
	}
	passes := []osm.Handler{{Relation: e.relation}, {Way: e.way}, {Node: e.node}}
	for i, pass := range passes {
		if i == len(passes)-1 {
			e.collectIDs()
		}
		if err := readAll(ctx, open, pass); err != nil {
			return nil, err
		}
		progress(float64(i+1) / float64(len(passes)))
	}
	e.finish()
	return e.collection, nil
}

func readAll(ctx context.Context, open func() (io.ReadCloser, error), h osm.Handler) error {
	file, err := open()
	if err != nil {
		return err
	}
	defer file.Close()
	return osm.Read(ctx, file, h)
}

// nameKeys are the keys of other names, besides those in other languages.
var nameKeys = []string{"alt_name", "official_name", "short_name", "loc_name", "int_name", "old_name", "name_1", "reg_name"}

// maxNames is the maximum number of names of a street or place that are kept.
const maxNames = 24

// namesOf returns the names of an element, the usual one first; none if it has none.
func namesOf(tags osm.Tags) []string {
	name := strings.TrimSpace(tags.Get("name"))
	if name == "" {
		return nil
	}
	names := []string{strings.Clone(name)}
	for _, tag := range tags {
		if !strings.HasPrefix(tag.Key, "name:") && !slices.Contains(nameKeys, tag.Key) || strings.HasPrefix(tag.Key, "name:etymology") {
			continue
		}
		for value := range strings.SplitSeq(tag.Value, ";") {
			if value = strings.TrimSpace(value); value != "" && len(value) <= maxName && len(names) < maxNames && !slices.Contains(names, value) {
				names = append(names, strings.Clone(value))
			}
		}
	}
	return names
}

// addressOf returns the address of an element; number is empty if it has none.
func (e *extract) addressOf(tags osm.Tags) (number string, a address) {
	number = cmp.Or(tags.Get("addr:housenumber"), tags.Get("addr:housename"))
	if number == "" {
		return "", a
	}
	a = address{
		street: e.text(cmp.Or(tags.Get("addr:street"), tags.Get("addr:place"))), city: e.text(cmp.Or(tags.Get("addr:city"), tags.Get("addr:town"), tags.Get("addr:village"))),
		code: e.text(cmp.Or(tags.Get("addr:postcode"), tags.Get("postal_code"))), state: e.text(cmp.Or(tags.Get("addr:state"), tags.Get("addr:province"))),
		country: e.text(countryCode(tags.Get("addr:country"))),
	}
	return strings.Clone(number), a
}

// countryCode returns a country code in capitals, or "" if the text does not have that form.
func countryCode(text string) string {
	text = strings.ToUpper(strings.TrimSpace(text))
	if len(text) != 2 || text[0] < 'A' || text[0] > 'Z' || text[1] < 'A' || text[1] > 'Z' {
		return ""
	}
	return text
}

func (e *extract) relation(r *osm.Relation) error {
	number, house := e.addressOf(r.Tags)
	b := boundary{number: number, house: house}
	switch kind := r.Tags.Get("boundary"); {
	case r.Tags.Get("type") == "associatedStreet" || r.Tags.Get("type") == "street":
		street := e.text(cmp.Or(r.Tags.Get("name"), r.Tags.Get("addr:street")))
		for _, m := range r.Members {
			if m.Role == "house" || m.Role == "address" || m.Role == "" {
				e.owners[member{m.Kind, m.ID}] = street
			}
		}
		return nil
	case kind == "administrative":
		b.area.level, _ = strconv.Atoi(r.Tags.Get("admin_level"))
		b.area.names = namesOf(r.Tags)
		b.area.country = countryCode(cmp.Or(r.Tags.Get("ISO3166-1:alpha2"), r.Tags.Get("ISO3166-1")))
		if b.area.level < 2 || len(b.area.names) == 0 {
			return nil
		}
	case kind == "postal_code":
		b.area.code = strings.Clone(strings.TrimSpace(cmp.Or(r.Tags.Get("postal_code"), r.Tags.Get("addr:postcode"), r.Tags.Get("ref"))))
		if b.area.code == "" {
			return nil
		}
	case number == "":
		return nil
	}
	for _, m := range r.Members {
		if m.Kind == osm.KindWay && m.Role != "inner" {
			b.ways = append(b.ways, m.ID)
			e.wanted[m.ID] = true
		}
	}
	if owner := e.owners[member{osm.KindRelation, r.ID}]; b.house.street == 0 {
		b.house.street = owner
	}
	e.boundaries = append(e.boundaries, b)
	return nil
}

func (e *extract) way(w *osm.Way) error {
	if len(w.Refs) == 0 {
		return nil
	}
	if e.wanted[w.ID] {
		e.lines[w.ID] = slices.Clone(w.Refs)
	}
	if kind := w.Tags.Get("addr:interpolation"); kind != "" {
		step, _ := strconv.ParseUint(kind, 10, 8)
		switch kind {
		case "even", "odd":
			step = 2
		case "all":
			step = 1
		}
		e.ranges = append(e.ranges, rangeWay{uint32(step), slices.Clone(w.Refs)})
	}
	if number, a := e.addressOf(w.Tags); number != "" {
		if a.street == 0 {
			a.street = e.owners[member{osm.KindWay, w.ID}]
		}
		e.ways = append(e.ways, wayPart{house: a, number: number, nodes: slices.Clone(w.Refs)})
	}
	if named(w.Tags) {
		e.ways = append(e.ways, wayPart{names: namesOf(w.Tags), nodes: slices.Clone(w.Refs)})
	}
	return nil
}

// named reports whether a way is a street with a name.
func named(tags osm.Tags) bool {
	switch tags.Get("highway") {
	case "":
		return tags.Get("place") == "square" && tags.Get("name") != ""
	case "proposed", "construction", "platform", "rest_area", "services", "razed", "abandoned", "motorway_link", "trunk_link":
		return false
	}
	return strings.TrimSpace(tags.Get("name")) != ""
}

// collectIDs collects the ids of nodes whose locations are needed.
func (e *extract) collectIDs() {
	for _, w := range e.ways {
		e.ids = append(e.ids, w.nodes...)
	}
	for _, line := range e.lines {
		e.ids = append(e.ids, line...)
	}
	for _, r := range e.ranges {
		e.ids = append(e.ids, r.nodes...)
	}
	slices.Sort(e.ids)
	e.ids = slices.Clip(slices.Compact(e.ids))
	e.coords = make([]micro, len(e.ids))
	for i := range e.coords {
		e.coords[i] = nowhere
	}
}

// nowhere is the location of nodes that the extract does not have.
var nowhere = micro{1 << 30, 1 << 30}

// centerWeights are how far places reach, compared with a hamlet.
var centerWeights = map[string]float64{"city": 8, "town": 4, "village": 2, "hamlet": 1}

func (e *extract) node(n *osm.Node) error {
	at := micro{n.Lon / 10, n.Lat / 10}
	needed := false
	if i, ok := slices.BinarySearch(e.ids, n.ID); ok {
		e.coords[i], needed = at, true
	}
	if number, a := e.addressOf(n.Tags); number != "" {
		if a.street == 0 {
			a.street = e.owners[member{osm.KindNode, n.ID}]
		}
		a.at = at
		e.add(number, a)
		if value, ok := parseNumber(number); ok && needed {
			a.number = value
			e.houses[n.ID] = a
		}
	}
	if weight := centerWeights[n.Tags.Get("place")]; weight > 0 {
		if names := namesOf(n.Tags); names != nil {
			e.centers = append(e.centers, center{names, at, weight})
		}
	}
	return nil
}

func (e *extract) locate(ids []int64) []micro {
	line := make([]micro, 0, len(ids))
	for _, id := range ids {
		if i, ok := slices.BinarySearch(e.ids, id); ok && e.coords[i] != nowhere {
			line = append(line, e.coords[i])
		}
	}
	return line
}

// finish adds the houses, roads and areas that consist of nodes.
func (e *extract) finish() {
	for _, w := range e.ways {
		line := e.locate(w.nodes)
		switch {
		case len(line) == 0:
		case w.number != "":
			w.house.at = middle(line)
			e.add(w.number, w.house)
		case len(line) == len(w.nodes):
			e.roads = append(e.roads, road{names: w.names, line: line, nodes: w.nodes})
		default: // the extract ends here; without node ids, the road has no crossings
			e.roads = append(e.roads, road{names: w.names, line: line})
		}
	}
	for _, b := range e.boundaries {
		var lines [][]micro
		for _, id := range b.ways {
			lines = append(lines, e.locate(e.lines[id]))
		}
		if b.number != "" && len(lines) > 0 && len(lines[0]) > 0 {
			b.house.at = middle(lines[0])
			e.add(b.number, b.house)
		}
		if b.area.names != nil || b.area.code != "" {
			e.areas.add(b.area, lines)
		}
	}
	for _, r := range e.ranges {
		e.addRange(r)
	}
}

// addRange adds the houses along a way between its numbered nodes.
func (e *extract) addRange(r rangeWay) {
	last := -1
	for i, id := range r.nodes {
		house, ok := e.houses[id]
		if !ok {
			continue
		}
		if last >= 0 && e.houses[r.nodes[last]].street == house.street {
			e.interpolate(e.houses[r.nodes[last]], house, r.step, e.locate(r.nodes[last:i+1]))
		}
		last = i
	}
}

// middle returns the middle of the box around a line.
func middle(line []micro) micro {
	low, high := line[0], line[0]
	for _, p := range line {
		low.lon, low.lat = min(low.lon, p.lon), min(low.lat, p.lat)
		high.lon, high.lat = max(high.lon, p.lon), max(high.lat, p.lat)
	}
	return micro{int32((int64(low.lon) + int64(high.lon)) / 2), int32((int64(low.lat) + int64(high.lat)) / 2)}
}
