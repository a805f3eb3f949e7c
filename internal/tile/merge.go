package tile

import (
	"encoding/binary"
	"slices"
)

// Inflate returns a tile that is not compressed.
func Inflate(content []byte) ([]byte, error) { return unpack(content, gzipped, maxStored) }

// Merge returns a tile with everything that several have, without what is equal. All are
// compressed with gzip. If there is too much for one tile, it is the largest of them.
func Merge(tiles [][]byte) ([]byte, error) {
	var names []string
	merged := map[string]*mergedLayer{}
	var largest []byte
	for _, content := range tiles {
		if len(content) > len(largest) {
			largest = content
		}
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
				l = &mergedLayer{values: map[string]uint64{}, keys: map[string]uint64{}, seen: map[string]bool{}}
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
		return largest, nil
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

// mergedLayer is what several tiles have in a layer.
type mergedLayer struct {
	keys, values map[string]uint64
	keyList      []string
	valueList    []string
	features     []pack
	seen         map[string]bool
}

func number(of map[string]uint64, list *[]string, text []byte) uint64 {
	n, known := of[string(text)]
	if !known {
		n = uint64(len(*list))
		of[string(text)], *list = n, append(*list, string(text))
	}
	return n
}

func (l *mergedLayer) add(in parsedLayer) error {
	for _, f := range in.features {
		var out, tags pack
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
					tags.varint(number(l.keys, &l.keyList, in.keys[k]))
					tags.varint(number(l.values, &l.valueList, in.values[v]))
				}
				out.bytes(2, tags)
			case 3:
				out.uint(3, m.value)
			case 4:
				out.bytes(4, m.content)
			}
		}
		if m.bad {
			return ErrDamaged
		}
		if !l.seen[string(out)] {
			l.seen[string(out)] = true
			l.features = append(l.features, out)
		}
	}
	return nil
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
