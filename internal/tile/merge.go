package tile

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
)

// Inflate returns a tile that is not compressed.
func Inflate(content []byte) ([]byte, error) { return unpack(content, gzipped, maxStored) }

// Merge returns a tile with the features of several tiles. Features that overlapping extracts
// have in common are drawn once, as in the largest tile, even if their shapes differ a little.
// All tiles are compressed with gzip. If the result is too large, Merge returns the largest of
// the tiles.
func Merge(tiles [][]byte) ([]byte, error) {
	var names []string
	merged := map[string]*mergedLayer{}
	tiles = slices.Clone(tiles)
	slices.SortStableFunc(tiles, func(a, b []byte) int { return cmp.Compare(len(b), len(a)) })
	for _, content := range tiles {
		plain, err := Inflate(content)
		if err != nil {
			return nil, err
		}
		m := message{rest: plain}
		for m.next() {
			if m.number != 3 {
				continue
			}
			in, err := parseLayer(m.content)
			if err != nil {
				return nil, err
			}
			l := merged[in.name]
			if l == nil {
				l = &mergedLayer{values: map[string]uint64{}, keys: map[string]uint64{}, seen: map[string]bool{}, drawn: map[spot]bool{}}
				merged[in.name] = l
				names = append(names, in.name)
			}
			if err := l.add(in); err != nil {
				return nil, err
			}
		}
		if m.bad {
			return nil, ErrDamaged
		}
	}
	var out pack
	for _, name := range names {
		out.bytes(3, merged[name].encode(name))
	}
	if len(out) > maxTile {
		return tiles[0], nil
	}
	return new(encoder).compress(out)
}

// message reads the fields of a protocol buffer.
type message struct {
	rest    []byte
	number  uint64
	value   uint64
	content []byte
	bad     bool
}

func (m *message) varint() uint64 {
	v, n := binary.Uvarint(m.rest)
	if n <= 0 {
		m.bad, m.rest = true, nil
		return 0
	}
	m.rest = m.rest[n:]
	return v
}

func (m *message) next() bool {
	if len(m.rest) == 0 {
		return false
	}
	key := m.varint()
	m.number, m.content, m.value = key>>3, nil, 0
	skip := uint64(0)
	switch key & 7 {
	case 0:
		m.value = m.varint()
		return !m.bad
	case 1:
		skip = 8
	case 2:
		skip = m.varint()
	case 5:
		skip = 4
	default:
		m.bad = true
	}
	if m.bad || skip > uint64(len(m.rest)) {
		m.bad = true
		return false
	}
	m.content, m.rest = m.rest[:skip], m.rest[skip:]
	return true
}

// parsedLayer is a layer of a tile.
type parsedLayer struct {
	name                   string
	keys, values, features [][]byte
}

func parseLayer(encoded []byte) (l parsedLayer, err error) {
	m := message{rest: encoded}
	for m.next() {
		switch m.number {
		case 1:
			l.name = string(m.content)
		case 2:
			l.features = append(l.features, m.content)
		case 3:
			l.keys = append(l.keys, m.content)
		case 4:
			l.values = append(l.values, m.content)
		case 5:
			m.bad = m.bad || m.value != extent
		}
	}
	if m.bad {
		return l, ErrDamaged
	}
	return l, nil
}

// mergedLayer is a layer of several tiles.
type mergedLayer struct {
	keys, values map[string]uint64
	keyList      []string
	valueList    []string
	features     []pack
	seen         map[string]bool
	drawn        map[spot]bool // cells in which earlier tiles draw something
}

func number(of map[string]uint64, list *[]string, text []byte) uint64 {
	n, known := of[string(text)]
	if !known {
		n = uint64(len(*list))
		of[string(text)], *list = n, append(*list, string(text))
	}
	return n
}

// add adds the features of a tile, without the strokes that earlier tiles have.
func (l *mergedLayer) add(in parsedLayer) error {
	added := map[spot]bool{}
	for _, f := range in.features {
		var tags, shape pack
		var name, kind string
		var form uint64
		m := message{rest: f}
		for m.next() {
			switch m.number {
			case 2:
				pairs := message{rest: m.content}
				for len(pairs.rest) > 0 {
					k, v := pairs.varint(), pairs.varint()
					if pairs.bad || k >= uint64(len(in.keys)) || v >= uint64(len(in.values)) {
						return ErrDamaged
					}
					switch string(in.keys[k]) {
					case "name", "number":
						name = string(in.values[v])
					case "class", "kind":
						kind = string(in.values[v])
					}
					tags.varint(number(l.keys, &l.keyList, in.keys[k]))
					tags.varint(number(l.values, &l.valueList, in.values[v]))
				}
			case 3:
				form = m.value
			case 4:
				shape = m.content
			}
		}
		all, ok := strokesOf(shape)
		if m.bad || !ok {
			return ErrDamaged
		}
		encoded := func(shape pack) (out pack) {
			if len(tags) > 0 {
				out.bytes(2, tags)
			}
			out.uint(3, form)
			out.bytes(4, shape)
			return out
		}
		whole := string(encoded(shape))
		if l.seen[whole] {
			continue
		}
		l.seen[whole] = true
		// A road may have another class in a newer extract.
		if rest := l.notDrawn(all, cmp.Or(name, kind), added); len(rest) > 0 {
			l.features = append(l.features, encoded(rest))
		}
	}
	maps.Copy(l.drawn, added)
	return nil
}

// stroke is a part of a shape: a point, a line or a ring.
type stroke struct {
	points [][2]int32
	closed bool
}

// strokesOf decodes a shape.
func strokesOf(shape []byte) (all []stroke, ok bool) {
	const moveTo, lineTo, closePath = 1, 2, 7
	m := message{rest: shape}
	var x, y int32
	for len(m.rest) > 0 {
		command := m.varint()
		if command&7 == closePath && len(all) > 0 {
			all[len(all)-1].closed = true
			continue
		}
		if command&7 != moveTo && (command&7 != lineTo || len(all) == 0) {
			return nil, false
		}
		for n := command >> 3; n > 0 && !m.bad; n-- {
			x, y = x+unzigzag(m.varint()), y+unzigzag(m.varint())
			if command&7 == moveTo {
				all = append(all, stroke{})
			}
			last := &all[len(all)-1]
			last.points = append(last.points, [2]int32{x, y})
		}
	}
	return all, !m.bad
}

func unzigzag(v uint64) int32 { return int32(v>>1) ^ -int32(v&1) }

// isHole reports whether a stroke is a hole of the ring before it.
func (s stroke) isHole() bool {
	var sum int64
	for i, p := range s.points {
		next := s.points[(i+1)%len(s.points)]
		sum += int64(p[0])*int64(next[1]) - int64(next[0])*int64(p[1])
	}
	return s.closed && sum < 0
}

// notDrawn returns the shape of the strokes that earlier tiles do not have, and adds their
// cells to added.
func (l *mergedLayer) notDrawn(all []stroke, name string, added map[spot]bool) pack {
	var out outFeature
	known := false
	for _, s := range all {
		path := s.spots(name)
		if !s.isHole() {
			known = l.isDrawn(path)
		}
		if known {
			continue
		}
		for _, at := range path {
			added[at] = true
		}
		out.commands.varint(1 | 1<<3)
		out.moveTo(s.points[0][0], s.points[0][1])
		if rest := s.points[1:]; len(rest) > 0 {
			out.commands.varint(2 | uint64(len(rest))<<3)
			for _, p := range rest {
				out.moveTo(p[0], p[1])
			}
		}
		if s.closed {
			out.commands.varint(7 | 1<<3)
		}
	}
	return out.commands
}

// spot is a cell of a tile in which something is drawn.
type spot struct {
	name        string
	column, row int16
}

// cellSize is the size of cells: a shape stays in the same cells, or next to them, when it
// is drawn more precisely.
const cellSize = extent / 128

// Limits of the cells that are visited: between two points, and of a stroke.
const (
	maxSteps = 2 * extent / cellSize
	maxSpots = 10_000
)

// spots returns the cells along a stroke, as far as they are in the tile.
func (s stroke) spots(name string) (path []spot) {
	from := s.points[0]
	for _, to := range s.points {
		dx, dy := int64(to[0])-int64(from[0]), int64(to[1])-int64(from[1])
		steps := min(max(dx, -dx, dy, -dy)/cellSize+1, maxSteps)
		for i := int64(1); i <= steps && len(path) < maxSpots; i++ {
			x, y := int64(from[0])+dx*i/steps, int64(from[1])+dy*i/steps
			if x < 0 || y < 0 || x >= extent || y >= extent {
				continue
			}
			if at := (spot{name, int16(x / cellSize), int16(y / cellSize)}); len(path) == 0 || path[len(path)-1] != at {
				path = append(path, at)
			}
		}
		from = to
	}
	return path
}

// isDrawn reports whether most of a path is in or next to cells in which earlier tiles draw
// something with the same name.
func (l *mergedLayer) isDrawn(path []spot) bool {
	near := 0
	for _, at := range path {
		found := false
		for i := range int16(9) {
			found = found || l.drawn[spot{at.name, at.column + i%3 - 1, at.row + i/3 - 1}]
		}
		if found {
			near++
		}
	}
	return 4*near > 3*len(path)
}

func (l *mergedLayer) encode(name string) (out pack) {
	out.bytes(1, []byte(name))
	for _, f := range l.features {
		out.bytes(2, f)
	}
	for _, key := range l.keyList {
		out.bytes(3, []byte(key))
	}
	for _, value := range l.valueList {
		out.bytes(4, []byte(value))
	}
	out.uint(5, extent)
	out.uint(15, 2)
	return slices.Clip(out)
}
