package street

import (
	"cmp"
	"context"
	"io"
	"math"
	"slices"
	"strings"
)

// Build reads a source and writes its index. The source is an extract of
// OpenStreetMap (PBF), addresses of OpenAddresses (CSV or GeoJSON) or postal codes of
// GeoNames; it is opened several times. Progress is called with the share of the work
// that is done.
func Build(ctx context.Context, open func() (io.ReadCloser, error), out io.Writer, progress func(float64)) error {
	const reading = 0.7
	c, err := readSource(ctx, open, func(share float64) { progress(reading * share) })
	if err != nil {
		return err
	}
	if len(c.addresses)+len(c.roads)+len(c.postal) == 0 {
		return ErrEmpty
	}
	b := newBuilder(c)
	for i, step := range []func(){b.addAddresses, b.addRoads, b.sortDrafts, b.addCrossings, b.addPlaces} {
		if err := ctx.Err(); err != nil {
			return err
		}
		step()
		progress(reading + (1-reading)*float64(i+1)/6)
	}
	parts, err := b.encode(ctx)
	if err != nil {
		return err
	}
	return writeFile(out, parts)
}

// draftKey identifies a street by its name, city and postal code, as returned by builder.key.
// Streets without a city are distinguished by location.
type draftKey struct {
	street, city, code uint32
	cell               gridCell
}

// draft is a street that is being built.
type draft struct {
	draftKey
	names          []string
	city, code     uint32 // texts, as shown
	state, country uint32
	guessed        bool
	houses         []house
	lines          [][]micro
	crossings      []crossing
	low, high      micro // corners of the box around it
	at             micro
	id             uint32 // its position
	place          uint32
}

// builder builds an index from a collection.
type builder struct {
	*collection
	keys   []uint32 // maps each text to the first text with the same key
	byKey  map[string]uint32
	drafts []*draft
	known  map[draftKey]*draft
	byName map[uint32][]*draft // by the key of the street
	near   map[gridCell][]sample
	hubs   map[gridCell][]int // indexes of centers

	roadOf []*draft
	places []builtPlace
}

// sample is an address from which those nearby are completed.
type sample struct {
	at                         micro
	city, code, state, country uint32
}

// builtPlace is a city that is being built.
type builtPlace struct {
	names          []string
	state, country string
	count          int
	lon, lat       int64
}

func newBuilder(c *collection) *builder {
	b := &builder{collection: c, byKey: map[string]uint32{}, known: map[draftKey]*draft{}, byName: map[uint32][]*draft{}, near: map[gridCell][]sample{}, hubs: map[gridCell][]int{}}
	c.areas.index()
	for i, hub := range c.centers {
		cell := cellAt(hub.at, hubCell)
		b.hubs[cell] = append(b.hubs[cell], i)
	}
	return b
}

// The sizes of grids, in microdegrees.
const (
	hubCell    = 100_000
	sampleCell = 10_000
	apartCell  = 50_000
	indexCell  = 5_000
	placeCell  = 500_000
)

func cellAt(p micro, size int32) gridCell {
	return gridCell{cellIndex(p.lon, size), cellIndex(p.lat, size)}
}

// key returns the first text that is the same name.
func (b *builder) key(text uint32) uint32 {
	for uint32(len(b.keys)) <= text {
		key := keyOf(b.texts[len(b.keys)])
		id, known := b.byKey[key]
		if !known {
			id = uint32(len(b.keys))
			b.byKey[key] = id
		}
		b.keys = append(b.keys, id)
	}
	return b.keys[text]
}

// Distances within which something belongs together, in meters.
const (
	sameStreet = 700.0
	sameBlock  = 400.0
	sameTown   = 2500.0
	maxHub     = 15_000.0
)

// addAddresses adds the houses: first those whose city is known, then the others,
// which are usually in the same city as their neighbors.
func (b *builder) addAddresses() {
	var rest []address
	for _, a := range b.addresses {
		if a.code == 0 || a.city == 0 {
			city, code := b.areaOf(a.at)
			a.code, a.city = cmp.Or(a.code, code), cmp.Or(a.city, city)
		}
		if a.city == 0 || a.code == 0 {
			rest = append(rest, a)
			continue
		}
		b.addHouse(a, false)
	}
	for _, a := range rest {
		guessed := b.complete(&a)
		b.addHouse(a, guessed)
	}
	b.addresses = nil
}

// complete adds the city and postal code of its neighbors to an address. It reports whether
// the city is a guess.
func (b *builder) complete(a *address) (guessed bool) {
	fits := func(city, code uint32) bool {
		return (a.city == 0 || b.key(a.city) == b.key(city)) && (a.code == 0 || b.key(a.code) == b.key(code))
	}
	if d := b.nearest(b.key(a.street), sameStreet, a.at); d != nil && fits(d.city, d.code) {
		a.city, a.code = d.city, d.code
	} else if s, ok := b.neighbor(a.at, sameBlock); ok && fits(s.city, s.code) {
		a.city, a.code = s.city, s.code
	}
	if a.city == 0 {
		a.city, guessed = b.hub(a.at), true
	}
	return guessed
}

// townLevels are the levels of administration that are cities, best first.
var townLevels = []int{8, 9, 7, 10, 6}

// areaOf returns the city and postal code by the areas around a location.
func (b *builder) areaOf(p micro) (city, code uint32) {
	best := len(townLevels)
	wanted := func(a *area) bool { return a.code != "" || slices.Contains(townLevels, a.level) }
	b.areas.around(p, wanted, func(a *area) {
		if a.code != "" && code == 0 {
			code = b.text(a.code)
		}
		if rank := slices.Index(townLevels, a.level); a.code == "" && rank >= 0 && rank < best {
			best, city = rank, b.text(a.names[0])
		}
	})
	return city, code
}

// hub returns the city, town or village that a location most likely belongs to.
func (b *builder) hub(p micro) uint32 {
	best, found := maxHub, -1
	cell := cellAt(p, hubCell)
	for x := cell.x - 2; x <= cell.x+2; x++ {
		for y := cell.y - 2; y <= cell.y+2; y++ {
			for _, i := range b.hubs[gridCell{x, y}] {
				if away := b.centers[i].at.meters(p) / b.centers[i].weight; away < best {
					best, found = away, i
				}
			}
		}
	}
	if found < 0 {
		return 0
	}
	return b.text(b.centers[found].names[0])
}

// neighbor returns the nearest sample within some meters.
func (b *builder) neighbor(p micro, within float64) (best sample, ok bool) {
	reach := int32(within/1000) + 1
	cell := cellAt(p, sampleCell)
	for x := cell.x - reach; x <= cell.x+reach; x++ {
		for y := cell.y - reach; y <= cell.y+reach; y++ {
			for _, s := range b.near[gridCell{x, y}] {
				if away := s.at.meters(p); away < within {
					best, ok, within = s, true, away
				}
			}
		}
	}
	return best, ok
}

// maxSamples is the maximum number of addresses kept as samples of a cell.
const maxSamples = 24

func (b *builder) addHouse(a address, guessed bool) {
	d := b.draft(b.texts[a.street], a.street, a.city, a.code, a.at, guessed)
	d.state, d.country = cmp.Or(d.state, a.state), cmp.Or(d.country, a.country)
	d.houses = append(d.houses, house{a.number, a.at, a.ranged})
	d.grow(a.at)
	cell := cellAt(a.at, sampleCell)
	if all := b.near[cell]; !guessed && len(all) < maxSamples && !slices.ContainsFunc(all, func(s sample) bool { return s.at.meters(a.at) < 60 }) {
		b.near[cell] = append(all, sample{a.at, a.city, a.code, a.state, a.country})
	}
}

// draft returns the street with a name in a city, which it adds if necessary.
func (b *builder) draft(name string, street, city, code uint32, at micro, guessed bool) *draft {
	key := draftKey{street: b.key(street), city: b.key(city), code: b.key(code)}
	if city == 0 {
		key.cell = cellAt(at, apartCell)
	}
	d := b.known[key]
	if d == nil {
		d = &draft{
			draftKey: key, names: []string{name}, city: city, code: code, guessed: guessed,
			low: micro{math.MaxInt32, math.MaxInt32}, high: micro{math.MinInt32, math.MinInt32},
		}
		b.known[key] = d
		b.drafts = append(b.drafts, d)
		b.byName[key.street] = append(b.byName[key.street], d)
	}
	return d
}

func (d *draft) grow(p micro) {
	d.low.lon, d.low.lat = min(d.low.lon, p.lon), min(d.low.lat, p.lat)
	d.high.lon, d.high.lat = max(d.high.lon, p.lon), max(d.high.lat, p.lat)
}

// away returns the distance to the box around a street.
func (d *draft) away(p micro) float64 {
	inside := micro{min(max(p.lon, d.low.lon), d.high.lon), min(max(p.lat, d.low.lat), d.high.lat)}
	return inside.meters(p)
}

// nearest returns the street with a name that is nearest to any of some locations.
func (b *builder) nearest(street uint32, within float64, points ...micro) (best *draft) {
	exact := math.Inf(1) // distance to a house, if the boxes of streets are equally near
	for _, d := range b.byName[street] {
		for _, p := range points {
			away := d.away(p)
			if away > within || away == within && best != nil && exact == 0 {
				continue
			}
			house := d.toHouse(p)
			if away < within || house < exact {
				best, within, exact = d, away, house
			}
		}
	}
	return best
}

// toHouse returns the distance to the nearest of at most 64 houses of a street.
func (d *draft) toHouse(p micro) float64 {
	best := math.Inf(1)
	for i := 0; i < len(d.houses); i += 1 + len(d.houses)/64 {
		best = min(best, d.houses[i].at.meters(p))
	}
	return best
}

// addRoads adds the lines of named ways to the streets with their houses, or as
// streets without houses.
func (b *builder) addRoads() {
	b.roadOf = make([]*draft, len(b.roads))
	for i, r := range b.roads {
		points := []micro{r.line[0], r.line[len(r.line)/2], r.line[len(r.line)-1]}
		var d *draft
		for _, name := range r.names {
			if d = b.nearest(b.key(b.text(name)), sameBlock, points...); d != nil {
				break
			}
		}
		if d == nil {
			city, code, guessed := b.surroundings(points[1])
			d = b.draft(r.names[0], b.text(r.names[0]), city, code, points[1], guessed)
		}
		for _, name := range r.names {
			if len(d.names) < maxNames && !slices.ContainsFunc(d.names, func(other string) bool { return keyOf(other) == keyOf(name) }) {
				d.names = append(d.names, name)
			}
		}
		d.lines = append(d.lines, r.line)
		for _, p := range r.line {
			d.grow(p)
		}
		b.roadOf[i] = d
	}
}

// surroundings returns the city and the postal code of a location.
func (b *builder) surroundings(p micro) (city, code uint32, guessed bool) {
	city, code = b.areaOf(p)
	if s, ok := b.neighbor(p, sameBlock); ok {
		return s.city, cmp.Or(code, s.code), false
	}
	if city != 0 {
		return city, code, false
	}
	if s, ok := b.neighbor(p, sameTown); ok {
		return s.city, code, true
	}
	return b.hub(p), code, true
}

// addCrossings finds where streets meet: at nodes that their ways share.
func (b *builder) addCrossings() {
	type visit struct {
		node int64
		road int32
		at   int32
	}
	var visits []visit
	for i, r := range b.roads {
		for k, node := range r.nodes {
			visits = append(visits, visit{node, int32(i), int32(k)})
		}
	}
	slices.SortFunc(visits, func(a, b visit) int { return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.road, b.road)) })
	for from := 0; from < len(visits); {
		to := from + 1
		for to < len(visits) && visits[to].node == visits[from].node {
			to++
		}
		// More roads than this do not meet at one node.
		const most = 12
		for i := from; i < min(to, from+most); i++ {
			for k := i + 1; k < min(to, from+most); k++ {
				one, other := b.roadOf[visits[i].road], b.roadOf[visits[k].road]
				if one.street == other.street {
					continue
				}
				at := b.roads[visits[i].road].line[visits[i].at]
				one.meet(other.id, at)
				other.meet(one.id, at)
			}
		}
		from = to
	}
}

// maxCrossings is the maximum number of crossings of a street that are kept.
const maxCrossings = 2000

func (d *draft) meet(other uint32, at micro) {
	c := crossing{other, at}
	if len(d.crossings) < maxCrossings && !slices.Contains(d.crossings, c) {
		d.crossings = append(d.crossings, c)
	}
}

// sortDrafts orders the streets by where they are, so that neighbors are close
// together in the file, and sets their ids.
func (b *builder) sortDrafts() {
	for _, d := range b.drafts {
		d.at = d.middle()
	}
	slices.SortStableFunc(b.drafts, func(p, q *draft) int {
		return cmp.Or(
			cmp.Compare(cellIndex(p.at.lat, apartCell), cellIndex(q.at.lat, apartCell)),
			cmp.Compare(cellIndex(p.at.lon, apartCell), cellIndex(q.at.lon, apartCell)),
			strings.Compare(p.names[0], q.names[0]), cmp.Compare(p.at.lat, q.at.lat), cmp.Compare(p.at.lon, q.at.lon),
		)
	})
	for i, d := range b.drafts {
		d.id = uint32(i)
	}
}

// middle returns a location on a street that is close to its middle.
func (d *draft) middle() micro {
	var points []micro
	for _, line := range d.lines {
		points = append(points, line...)
	}
	if len(points) == 0 {
		for _, h := range d.houses {
			points = append(points, h.at)
		}
	}
	var lon, lat int64
	for _, p := range points {
		lon, lat = lon+int64(p.lon), lat+int64(p.lat)
	}
	n := int64(len(points))
	center := micro{int32(lon / n), int32(lat / n)}
	return slices.MinFunc(points, func(p, q micro) int { return cmp.Compare(p.meters(center), q.meters(center)) })
}
