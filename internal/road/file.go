package road

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"runtime"
	"slices"
	"unsafe"

	"dray/internal/mapdata"
)

// The file begins with a header: the magic, the version, the number of sections,
// the checksum of the header, and for every section its offset, its length and its
// checksum. Numbers are little-endian, sections are aligned to eight bytes, and
// their elements are those of the slices of Map.
const (
	magic     = "DRAYROAD"
	version   = 1
	align     = 8
	headSize  = 32
	entrySize = 24
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// ErrDamaged means that a file is not one that Build wrote, or that it was changed
// since.
var ErrDamaged = errors.New("the road file is damaged; import the map again")

// ErrVersion means that another version of the program wrote a file.
var ErrVersion = errors.New("the road file is of another version; import the map again")

// Map holds the roads of an extract. Its methods may be called concurrently.
type Map struct {
	data []byte // the file, mapped into memory or not

	bounds    []int32  // west, south, east, north in 1e-7 degrees
	points    []int32  // longitudes and latitudes
	first     []uint32 // first point of every segment, plus the end
	lengths   []uint32 // decimeters, by segment
	segNames  []uint32 // by segment
	nameFirst []uint32 // first byte of every name, plus the end
	nameBytes []byte
	cells     []uint64 // keys of the cells that have segments, sorted
	cellFirst []uint32 // index into cellSegs of every cell, plus the end
	cellSegs  []uint32

	profiles [profiles]profileMap
}

// profileMap is the part of a map for one profile.
type profileMap struct {
	hierarchy
	times []uint32 // milliseconds, by directed segment
	ends  []ends   // by directed segment
	tails []tail   // sorted
}

// sections returns pointers to the slices that a file consists of, in its order.
func (m *Map) sections() []any {
	all := []any{
		&m.bounds, &m.points, &m.first, &m.lengths, &m.segNames, &m.nameFirst, &m.nameBytes, &m.cells, &m.cellFirst, &m.cellSegs,
	}
	for i := range m.profiles {
		p := &m.profiles[i]
		all = append(all, &p.outFirst, &p.out, &p.inFirst, &p.in, &p.times, &p.ends, &p.tails)
	}
	return all
}

// bytesOf returns the memory of a slice.
func bytesOf[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(s[0])))
}

// sliceOf returns a slice of the elements in aligned memory, and reports whether
// its size is a multiple of theirs.
func sliceOf[T any](into *[]T, b []byte) bool {
	size := int(unsafe.Sizeof(*new(T)))
	*into = nil
	if len(b) > 0 {
		*into = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/size)
	}
	return len(b)%size == 0
}

func encode(section any) []byte {
	switch s := section.(type) {
	case *[]byte:
		return *s
	case *[]int32:
		return bytesOf(*s)
	case *[]uint32:
		return bytesOf(*s)
	case *[]uint64:
		return bytesOf(*s)
	case *[]arc:
		return bytesOf(*s)
	case *[]ends:
		return bytesOf(*s)
	case *[]tail:
		return bytesOf(*s)
	}
	return nil
}

func decode(section any, b []byte) bool {
	switch s := section.(type) {
	case *[]byte:
		*s = b
		return true
	case *[]int32:
		return sliceOf(s, b)
	case *[]uint32:
		return sliceOf(s, b)
	case *[]uint64:
		return sliceOf(s, b)
	case *[]arc:
		return sliceOf(s, b)
	case *[]ends:
		return sliceOf(s, b)
	case *[]tail:
		return sliceOf(s, b)
	}
	return false
}

func aligned(n int) int { return (n + align - 1) / align * align }

// write writes the file of a map.
func (m *Map) write(w io.Writer) error {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		return errors.New("maps need a little-endian machine")
	}
	all := m.sections()
	head := make([]byte, headSize+entrySize*len(all))
	copy(head, magic)
	binary.LittleEndian.PutUint32(head[8:], version)
	binary.LittleEndian.PutUint32(head[12:], uint32(len(all)))
	offset := aligned(len(head))
	for i, s := range all {
		content, entry := encode(s), head[headSize+entrySize*i:]
		binary.LittleEndian.PutUint64(entry, uint64(offset))
		binary.LittleEndian.PutUint64(entry[8:], uint64(len(content)))
		binary.LittleEndian.PutUint32(entry[16:], crc32.Checksum(content, castagnoli))
		offset += aligned(len(content))
	}
	binary.LittleEndian.PutUint64(head[16:], uint64(offset))
	binary.LittleEndian.PutUint32(head[24:], headSum(head))
	if _, err := w.Write(padded(head)); err != nil {
		return err
	}
	for _, s := range all {
		if _, err := w.Write(encode(s)); err != nil {
			return err
		}
		if _, err := w.Write(make([]byte, aligned(len(encode(s)))-len(encode(s)))); err != nil {
			return err
		}
	}
	return nil
}

func padded(b []byte) []byte { return append(b, make([]byte, aligned(len(b))-len(b))...) }

// headSum returns the checksum of a header, without itself.
func headSum(head []byte) uint32 {
	clean := slices.Clone(head)
	clear(clean[24:28])
	return crc32.Checksum(clean, castagnoli)
}

// Open returns the map in a file's content, which must not change as long as the map is
// referenced. It checks the header and the sizes of all sections; Verify checks the rest.
// Queries of a damaged file fail at worst.
func Open(data []byte) (_ *Map, err error) {
	defer mapdata.Protect(&err, ErrDamaged)()
	m := &Map{data: data}
	all := m.sections()
	size := headSize + entrySize*len(all)
	switch {
	case len(data) < headSize || !bytes.Equal(data[:8], []byte(magic)):
		return nil, ErrDamaged
	case binary.LittleEndian.Uint32(data[8:]) != version:
		return nil, ErrVersion
	case binary.NativeEndian.Uint16([]byte{1, 0}) != 1:
		return nil, errors.New("maps need a little-endian machine")
	case len(data) < size || binary.LittleEndian.Uint32(data[12:]) != uint32(len(all)) ||
		binary.LittleEndian.Uint64(data[16:]) != uint64(len(data)) || binary.LittleEndian.Uint32(data[24:]) != headSum(data[:size]):
		return nil, ErrDamaged
	}
	if uintptr(unsafe.Pointer(unsafe.SliceData(data)))%align != 0 {
		return nil, errors.New("the content of the road file is not aligned in memory")
	}
	for i, s := range all {
		entry := data[headSize+entrySize*i:]
		offset, length := binary.LittleEndian.Uint64(entry), binary.LittleEndian.Uint64(entry[8:])
		if offset%align != 0 || offset > uint64(len(data)) || length > uint64(len(data))-offset || !decode(s, data[offset:offset+length]) {
			return nil, ErrDamaged
		}
	}
	if !m.consistent() {
		return nil, ErrDamaged
	}
	m.bounds = slices.Clone(m.bounds) // a copy, because Bounds cannot report a page that cannot be read
	return m, nil
}

// consistent reports whether the lengths of the sections fit together.
func (m *Map) consistent() bool {
	segments := len(m.lengths)
	ok := len(m.bounds) == 4 && len(m.segNames) == segments && indexes(m.first, segments, len(m.points)/2) &&
		len(m.nameFirst) > 0 && indexes(m.nameFirst, len(m.nameFirst)-1, len(m.nameBytes)) &&
		indexes(m.cellFirst, len(m.cells), len(m.cellSegs))
	for i := range m.profiles {
		p := &m.profiles[i]
		ok = ok && len(p.outFirst) > 0 && len(p.times) == 2*segments && len(p.ends) == 2*segments &&
			indexes(p.outFirst, len(p.outFirst)-1, len(p.out)) && indexes(p.inFirst, len(p.outFirst)-1, len(p.in))
	}
	return ok
}

// indexes reports whether first may be the start of n parts of a list, plus the end.
func indexes(first []uint32, n, length int) bool {
	return len(first) == n+1 && first[0] == 0 && int(first[n]) == length
}

// Verify checks the checksums of the whole file, which reads all of it, unless the context ends.
func (m *Map) Verify(ctx context.Context) (err error) {
	defer runtime.KeepAlive(m)
	defer mapdata.Protect(&err, ErrDamaged)()
	for i := range m.sections() {
		entry := m.data[headSize+entrySize*i:]
		offset, length := binary.LittleEndian.Uint64(entry), binary.LittleEndian.Uint64(entry[8:])
		sum, err := mapdata.Checksum(ctx, 0, m.data[offset:offset+length])
		if err != nil {
			return err
		}
		if sum != binary.LittleEndian.Uint32(entry[16:]) {
			return fmt.Errorf("section %d: %w", i, ErrDamaged)
		}
	}
	return nil
}

// Bounds returns the area of the roads in degrees.
func (m *Map) Bounds() (southwest, northeast Point) {
	return m.point(m.bounds[0], m.bounds[1]), m.point(m.bounds[2], m.bounds[3])
}

func (m *Map) point(lon, lat int32) Point { return Point{float64(lon) / 1e7, float64(lat) / 1e7} }
