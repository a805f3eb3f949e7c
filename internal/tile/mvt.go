package tile

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"slices"
)

// frame is a tile's part of the world.
type frame struct {
	zoom int
	x, y int32
}

// unit returns the size of a tile's unit of coordinates.
func (f frame) unit() int32 { return 1 << (worldBits - tileBits - f.zoom) }

// box returns the part of the world that a tile shows, with its margin.
func (f frame) box() box {
	size, edge := int32(1)<<(worldBits-f.zoom), margin*f.unit()
	return box{f.x*size - edge, f.y*size - edge, f.x*size + size + edge, f.y*size + size + edge}
}

// children returns the four tiles that a tile consists of.
func (f frame) children() (four [4]frame) {
	for i := range four {
		four[i] = frame{f.zoom + 1, f.x*2 + int32(i&1), f.y*2 + int32(i>>1)}
	}
	return four
}

// encoder encodes tiles. It is reused.
type encoder struct {
	out, body pack
	zip       *gzip.Writer
	zipped    bytes.Buffer
	layers    [layers]outLayer
	drawn     []*shape
	line      []int32 // coordinates of a part, x and y alternately
}

// outLayer is a layer of a tile.
type outLayer struct {
	features []*outFeature
	groups   map[attributes]*outFeature
	keys     []string
	keyIndex map[string]uint64
	values   []string // encoded
	index    map[string]uint64
}

func (l *outLayer) reset() {
	if l.groups == nil {
		*l = outLayer{groups: map[attributes]*outFeature{}, keyIndex: map[string]uint64{}, index: map[string]uint64{}}
	}
	clear(l.groups)
	clear(l.keyIndex)
	clear(l.index)
	l.features, l.keys, l.values = l.features[:0], l.keys[:0], l.values[:0]
}

// outFeature is one or more shapes with the same attributes.
type outFeature struct {
	attributes
	geometry geometry
	commands pack
	x, y     int32 // end of the last command
}

// encode returns a compressed tile, or nil if it is empty. Shapes that are too small to see
// are left out and, if the tile is too large, the least important shapes.
func (e *encoder) encode(f frame, shapes []*shape) ([]byte, error) {
	e.drawn = e.drawn[:0]
	unit := float64(f.unit())
	leastArea, leastLine := 64*unit*unit, 2*unit
	if f.zoom == MaxZoom {
		leastArea, leastLine = 4*unit*unit, 0
	}
	for _, s := range shapes {
		if f.zoom < int(s.minZoom) || s.geometry == polygons && s.size < leastArea || s.geometry == lines && s.size < leastLine {
			continue
		}
		e.drawn = append(e.drawn, s)
	}
	for limit := maxTile; len(e.drawn) > 0; limit = limit * 9 / 10 {
		size := e.draw(f)
		if size <= maxTile {
			break
		}
		e.reduce(f, size, limit)
	}
	if len(e.out) == 0 || len(e.drawn) == 0 {
		return nil, nil
	}
	return e.compress(e.out)
}

// worthwhile is the number of bytes from which compression makes a tile smaller.
const worthwhile = 200

func (e *encoder) compress(content []byte) ([]byte, error) {
	if len(content) < worthwhile {
		return stored(content), nil
	}
	e.zipped.Reset()
	if e.zip == nil {
		e.zip, _ = gzip.NewWriterLevel(nil, gzip.DefaultCompression) // the level is valid
	}
	e.zip.Reset(&e.zipped)
	if _, err := e.zip.Write(content); err != nil {
		return nil, err
	}
	if err := e.zip.Close(); err != nil {
		return nil, err
	}
	return bytes.Clone(e.zipped.Bytes()), nil
}

// reduce keeps the most important of the shapes that were drawn, so that a tile of size bytes
// shrinks to about limit bytes.
func (e *encoder) reduce(f frame, size, limit int) {
	cost := func(s *shape) (bytes float64) {
		least := tolerance(f)
		for _, part := range s.parts {
			for _, p := range part {
				if p.weight > least {
					bytes += 3
				}
			}
		}
		return bytes + 8 + float64(len(s.name))/2
	}
	slices.SortStableFunc(e.drawn, func(a, b *shape) int {
		return cmp.Or(cmp.Compare(b.level, a.level), cmp.Compare(b.size, a.size))
	})
	whole := 0.0
	for _, s := range e.drawn {
		whole += cost(s)
	}
	left := whole * float64(limit) / float64(size)
	e.drawn = slices.DeleteFunc(e.drawn, func(s *shape) bool {
		left -= cost(s)
		return left < 0
	})
}

// tolerance returns the least weight of points that are drawn.
func tolerance(f frame) float32 {
	pixels := 4 * float32(f.unit())
	if f.zoom == MaxZoom { // it is also enlarged for higher zoom levels
		pixels = float32(f.unit())
	}
	return pixels * pixels
}

// draw encodes a tile and returns its size.
func (e *encoder) draw(f frame) int {
	// Large areas are below small ones, and small roads below large ones.
	slices.SortStableFunc(e.drawn, func(a, b *shape) int {
		if a.geometry == polygons && b.geometry == polygons {
			return cmp.Compare(b.size, a.size)
		}
		return cmp.Or(cmp.Compare(a.geometry, b.geometry), cmp.Compare(a.level, b.level))
	})
	for i := range e.layers {
		e.layers[i].reset()
	}
	for _, s := range e.drawn {
		e.add(f, s)
	}
	e.out = e.out[:0]
	for i := range e.layers {
		e.addLayer(layerNames[i], &e.layers[i])
	}
	return len(e.out)
}

// add draws a shape. Roads, waterways and buildings with the same attributes are one
// feature.
func (e *encoder) add(f frame, s *shape) {
	l := &e.layers[s.layer]
	what := s.attributes.at(f.zoom, s.layer)
	grouped := s.geometry == lines || s.layer == layerBuilding
	feature := l.groups[what]
	if !grouped || feature == nil {
		feature = &outFeature{attributes: what, geometry: s.geometry}
	}
	before := len(feature.commands)
	dropped := true // whether the area around the next holes is not drawn
	for _, part := range s.parts {
		switch s.geometry {
		case points:
			e.addPoint(f, feature, part[0])
		case lines:
			e.project(f, part, 2)
			e.addLine(feature, len(e.line)/2)
		case polygons:
			hole := area(part) < 0
			if hole && dropped {
				continue
			}
			drawn := e.addRing(f, feature, part, hole)
			if !hole {
				dropped = !drawn
			}
		}
	}
	if before == 0 && len(feature.commands) > 0 {
		l.features = append(l.features, feature)
		if grouped {
			l.groups[what] = feature
		}
	}
}

func (e *encoder) addPoint(f frame, feature *outFeature, p point) {
	x, y := f.local(p)
	if x < 0 || y < 0 || x >= extent || y >= extent { // another tile has it
		return
	}
	feature.commands.varint(1 | 1<<3)
	feature.moveTo(x, y)
}

// local returns the coordinates of a point in a tile.
func (f frame) local(p point) (x, y int32) {
	shift := worldBits - tileBits - f.zoom
	return p.x>>shift - f.x<<tileBits, p.y>>shift - f.y<<tileBits
}

// project sets line to the points of a part that are drawn; to none if there are fewer than
// least.
func (e *encoder) project(f frame, part []point, least int) {
	e.line = e.line[:0]
	weight := tolerance(f)
	for i, p := range part {
		if p.weight <= weight && i > 0 && i < len(part)-1 {
			continue
		}
		x, y := f.local(p)
		if n := len(e.line); n > 0 && e.line[n-2] == x && e.line[n-1] == y {
			continue
		}
		e.line = append(e.line, x, y)
	}
	if len(e.line) < 2*least {
		e.line = e.line[:0]
	}
}

func (e *encoder) addLine(feature *outFeature, count int) {
	if count < 2 {
		return
	}
	feature.commands.varint(1 | 1<<3)
	feature.moveTo(e.line[0], e.line[1])
	feature.commands.varint(2 | uint64(count-1)<<3)
	for i := 1; i < count; i++ {
		feature.moveTo(e.line[2*i], e.line[2*i+1])
	}
}

// addRing draws a ring and reports whether it is large enough.
func (e *encoder) addRing(f frame, feature *outFeature, ring []point, hole bool) bool {
	e.project(f, ring, 4)
	n := len(e.line) / 2
	if n < 4 {
		return false
	}
	var sum int64
	for i := 1; i < n; i++ {
		sum += int64(e.line[2*i-2])*int64(e.line[2*i+1]) - int64(e.line[2*i])*int64(e.line[2*i-1])
	}
	if sum == 0 || sum < 0 != hole {
		return false
	}
	e.addLine(feature, n-1)
	feature.commands.varint(7 | 1<<3)
	return true
}

func (o *outFeature) moveTo(x, y int32) {
	o.commands.zigzag(int64(x - o.x))
	o.commands.zigzag(int64(y - o.y))
	o.x, o.y = x, y
}

// addLayer appends a layer to the tile.
func (e *encoder) addLayer(name string, l *outLayer) {
	if len(l.features) == 0 {
		return
	}
	e.body = e.body[:0]
	e.body.bytes(1, []byte(name))
	for _, f := range l.features {
		var feature pack
		if tags := l.tags(name, f); len(tags) > 0 {
			feature.bytes(2, tags)
		}
		feature.uint(3, uint64(f.geometry))
		feature.bytes(4, f.commands)
		e.body.bytes(2, feature)
	}
	for _, key := range l.keys {
		e.body.bytes(3, []byte(key))
	}
	for _, value := range l.values {
		e.body.bytes(4, []byte(value))
	}
	e.body.uint(5, extent)
	e.body.uint(15, 2) // version
	e.out.bytes(3, e.body)
}

// tags returns the attributes of a feature, as positions in the lists of its layer.
func (l *outLayer) tags(name string, f *outFeature) (tags pack) {
	add := func(key string, value pack) {
		k, known := l.keyIndex[key]
		if !known {
			k = uint64(len(l.keys))
			l.keyIndex[key], l.keys = k, append(l.keys, key)
		}
		v, known := l.index[string(value)]
		if !known {
			v = uint64(len(l.values))
			l.index[string(value)], l.values = v, append(l.values, string(value))
		}
		tags.varint(k)
		tags.varint(v)
	}
	text := func(key, value string) {
		if value != "" {
			var encoded pack
			encoded.bytes(1, []byte(value))
			add(key, encoded)
		}
	}
	number := func(key string, value int64) {
		if value != 0 {
			var encoded pack
			encoded.varint(6 << 3)
			encoded.zigzag(value)
			add(key, encoded)
		}
	}
	yes := func(key string, value bool) {
		if value {
			var encoded pack
			encoded.uint(7, 1)
			add(key, encoded)
		}
	}
	kind, label := "kind", "name"
	switch name {
	case layerNames[layerRoad]:
		kind = "class"
	case layerNames[layerNumber]:
		label = "number"
	}
	text(kind, f.kind)
	text(label, f.name)
	text("ref", f.ref)
	number("oneway", int64(f.oneway))
	number("rank", int64(f.rank))
	yes("bridge", f.bridge)
	yes("tunnel", f.tunnel)
	return tags
}

// pack is an encoded protocol buffer.
type pack []byte

func (p *pack) varint(v uint64) { *p = binary.AppendUvarint(*p, v) }

func (p *pack) zigzag(v int64) { *p = binary.AppendVarint(*p, v) }

func (p *pack) uint(field int, v uint64) {
	p.varint(uint64(field) << 3)
	p.varint(v)
}

func (p *pack) bytes(field int, content []byte) {
	p.varint(uint64(field)<<3 | 2)
	p.varint(uint64(len(content)))
	*p = append(*p, content...)
}

// solid reports whether a shape fills the whole of a box.
func (s *shape) solid(b box) bool {
	return s.geometry == polygons && len(s.parts) == 1 && s.box == b && b.filledBy(s.parts[0])
}
