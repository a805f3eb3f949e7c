package osm

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// The wire types of protocol buffers.
const (
	wireVarint = 0
	wire64     = 1
	wireBytes  = 2
	wire32     = 5
)

var errTruncated = errors.New("a message is truncated")

// message reads the fields of an encoded protocol buffer.
type message struct {
	rest   []byte
	number int    // field number of the current field
	kind   int    // wire type of the current field
	value  uint64 // value of a varint
	bytes  []byte // content of a field with a length
	err    error
}

// next advances to the next field and reports whether there is one. Fields with
// fixed widths, which no message of the format has, are skipped.
func (m *message) next() bool {
	for len(m.rest) > 0 {
		key, n := binary.Uvarint(m.rest)
		if n <= 0 || key>>3 > 1<<29 {
			m.err = errTruncated
			return false
		}
		m.rest = m.rest[n:]
		m.number, m.kind = int(key>>3), int(key&7)
		switch m.kind {
		case wireVarint:
			value, n := binary.Uvarint(m.rest)
			if n <= 0 {
				m.err = errTruncated
				return false
			}
			m.value, m.bytes, m.rest = value, nil, m.rest[n:]
			return true
		case wireBytes:
			size, n := binary.Uvarint(m.rest)
			if n <= 0 || size > uint64(len(m.rest)-n) {
				m.err = errTruncated
				return false
			}
			m.value, m.bytes, m.rest = 0, m.rest[n:n+int(size)], m.rest[n+int(size):]
			return true
		case wire64, wire32:
			width := 8
			if m.kind == wire32 {
				width = 4
			}
			if len(m.rest) < width {
				m.err = errTruncated
				return false
			}
			m.rest = m.rest[width:]
		default:
			m.err = fmt.Errorf("a message has a field of the unknown type %d", m.kind)
			return false
		}
	}
	return false
}

// packed sets into to the numbers of a repeated field. It rejects numbers that are not packed
// or not in one field, because no known writer produces them.
func (m *message) packed(into *packed) {
	if m.kind != wireBytes || len(into.rest) > 0 {
		m.err = fmt.Errorf("the numbers of field %d are not packed", m.number)
		m.rest = nil
		return
	}
	into.rest = m.bytes
}

// packed is a list of varints.
type packed struct {
	rest   []byte
	broken bool
}

// next returns the next number, and reports whether there was one.
func (p *packed) next() (uint64, bool) {
	if len(p.rest) == 0 {
		return 0, false
	}
	if b := p.rest[0]; b < 0x80 {
		p.rest = p.rest[1:]
		return uint64(b), true
	}
	value, n := binary.Uvarint(p.rest)
	if n <= 0 {
		p.rest, p.broken = nil, true
		return 0, false
	}
	p.rest = p.rest[n:]
	return value, true
}

// count returns how many numbers there are.
func (p *packed) count() (n int) {
	for _, b := range p.rest {
		if b < 0x80 {
			n++
		}
	}
	return n
}

// signed decodes a number in zigzag encoding.
func signed(v uint64) int64 { return int64(v>>1) ^ -int64(v&1) }

// listField is a repeated field and the list for its numbers.
type listField struct {
	number int
	into   *packed
}

// readFields reads the id of an element, if id is not nil, and its repeated fields.
func readFields(encoded []byte, id *int64, lists ...listField) error {
	m := message{rest: encoded}
	for m.next() {
		if m.number == 1 && id != nil {
			*id = int64(m.value)
			continue
		}
		for _, l := range lists {
			if l.number == m.number {
				m.packed(l.into)
				break
			}
		}
	}
	return m.err
}
