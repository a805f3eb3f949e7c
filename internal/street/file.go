package street

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"runtime"

	"dray/internal/mapdata"
)

// The sections of an index file.
const (
	secStrings   = iota // each a length and its bytes
	secPlaces           // records of cities
	secCodes            // records of postal codes, ordered by their plain form
	secStreets          // records of streets
	secDetails          // houses, lines and crossings of streets
	secWords            // start of each word of the vocabulary, in order
	secWordText         // the words
	secWordLists        // start of the lists of each word
	secLists            // the streets, then the places with a word
	secCells            // records of the grid, ordered by cell
	secCellLists        // the streets in each cell
	sections
)

// The sizes of the file's parts, in bytes.
const (
	magic       = "DRAYSTRT"
	version     = 1
	headSize    = 32
	entrySize   = 24
	placeSize   = 24
	codeSize    = 16
	streetSize  = 28
	cellRecord  = 12
	maxSections = 1 << 32 // bytes of one section, because offsets have four bytes
)

// ErrDamaged means that a file is not a complete index.
var ErrDamaged = errors.New("the street index is damaged; import the map again")

// ErrEmpty means that a source has no street and no postal code.
var ErrEmpty = errors.New("the file contains no street, address or postal code")

// ErrVersion means that a file was written by another version of this program.
var ErrVersion = errors.New("the street index was written by another version; import the map again")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// writeFile writes the sections with a header.
func writeFile(out io.Writer, parts [sections][]byte) error {
	head := make([]byte, headSize+entrySize*sections)
	copy(head, magic)
	binary.LittleEndian.PutUint32(head[8:], version)
	binary.LittleEndian.PutUint32(head[12:], sections)
	offset := uint64(len(head))
	for i, part := range parts {
		if len(part) >= maxSections {
			return errors.New("the area is too large for one index; import smaller extracts side by side")
		}
		entry := head[headSize+entrySize*i:]
		binary.LittleEndian.PutUint64(entry, offset)
		binary.LittleEndian.PutUint64(entry[8:], uint64(len(part)))
		binary.LittleEndian.PutUint32(entry[16:], crc32.Checksum(part, castagnoli))
		offset += uint64(len(part))
	}
	binary.LittleEndian.PutUint64(head[16:], offset)
	binary.LittleEndian.PutUint32(head[24:], headSum(head))
	for _, part := range append([][]byte{head}, parts[:]...) {
		if _, err := out.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// headSum returns the checksum of a header, without itself.
func headSum(head []byte) uint32 {
	sum := crc32.Update(0, castagnoli, head[:24])
	return crc32.Update(sum, castagnoli, head[28:headSize+entrySize*sections])
}

// Index is an index of streets. It is safe for concurrent use.
type Index struct {
	data  []byte
	parts [sections][]byte
}

// Open returns the index in a file's content, which must not change while it is used.
// It checks the header and the sizes of all sections; Verify checks the rest.
func Open(data []byte) (_ *Index, err error) {
	defer mapdata.Protect(&err, ErrDamaged)()
	x := &Index{data: data}
	switch {
	case len(data) < headSize || !bytes.Equal(data[:len(magic)], []byte(magic)):
		return nil, ErrDamaged
	case binary.LittleEndian.Uint32(data[8:]) != version:
		return nil, ErrVersion
	case len(data) < headSize+entrySize*sections || binary.LittleEndian.Uint32(data[12:]) != sections ||
		binary.LittleEndian.Uint64(data[16:]) != uint64(len(data)) || binary.LittleEndian.Uint32(data[24:]) != headSum(data):
		return nil, ErrDamaged
	}
	for i := range x.parts {
		entry := data[headSize+entrySize*i:]
		offset, size := binary.LittleEndian.Uint64(entry), binary.LittleEndian.Uint64(entry[8:])
		if offset > uint64(len(data)) || size > uint64(len(data))-offset {
			return nil, ErrDamaged
		}
		x.parts[i] = data[offset : offset+size]
	}
	records := map[int]int{secPlaces: placeSize, secCodes: codeSize, secStreets: streetSize, secWords: 4, secWordLists: 4, secCells: cellRecord}
	for part, size := range records {
		if len(x.parts[part])%size != 0 {
			return nil, ErrDamaged
		}
	}
	if len(x.parts[secWords]) != len(x.parts[secWordLists]) {
		return nil, ErrDamaged
	}
	return x, nil
}

// Verify checks the checksums of the whole file, which reads all of it, unless the context ends.
func (x *Index) Verify(ctx context.Context) (err error) {
	defer runtime.KeepAlive(x)
	defer mapdata.Protect(&err, ErrDamaged)()
	for i, part := range x.parts {
		sum, err := mapdata.Checksum(ctx, 0, part)
		if err != nil {
			return err
		}
		if sum != binary.LittleEndian.Uint32(x.data[headSize+entrySize*i+16:]) {
			return fmt.Errorf("section %d: %w", i, ErrDamaged)
		}
	}
	return nil
}

// Streets returns how many streets the index has.
func (x *Index) Streets() int { return len(x.parts[secStreets]) / streetSize }

// micro is a location in millionths of degrees.
type micro struct{ lon, lat int32 }

func (m micro) point() Point { return Point{float64(m.lon) / 1e6, float64(m.lat) / 1e6} }

// microOf returns a location; ok is false if it is not on the earth.
func microOf(lon, lat float64) (m micro, ok bool) {
	if !(lon >= -180 && lon <= 180 && lat >= -90 && lat <= 90) {
		return micro{}, false
	}
	return micro{int32(math.Round(lon * 1e6)), int32(math.Round(lat * 1e6))}, true
}

// metersPerDegree is the length of a degree of latitude.
const metersPerDegree = 111_195.0

// meters returns the distance of two locations, which is exact enough within a city.
func (m micro) meters(o micro) float64 {
	middle := (float64(m.lat) + float64(o.lat)) / 2e6 * math.Pi / 180
	turn := math.Abs(float64(m.lon) - float64(o.lon))
	if turn > 180e6 {
		turn = 360e6 - turn // across the antimeridian
	}
	return math.Hypot(turn*math.Cos(middle), float64(m.lat)-float64(o.lat)) * metersPerDegree / 1e6
}

// reader reads numbers from a part of the file. After an error, it returns zeros.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return v
}

func (r *reader) int() int64 {
	v := r.uint()
	return int64(v>>1) ^ -int64(v&1)
}

// count reads the number of elements that follow, each of at least size bytes.
func (r *reader) count(size int) int {
	n := r.uint()
	if n > uint64(len(r.rest)/size) {
		r.bad, r.rest = true, nil
		return 0
	}
	return int(n)
}

func (r *reader) text(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.bad, r.rest = true, nil
		return nil
	}
	text := r.rest[:n]
	r.rest = r.rest[n:]
	return text
}

func (r *reader) step(from micro) micro {
	return micro{from.lon + int32(r.int()), from.lat + int32(r.int())}
}

// at returns a part of the file from an offset on.
func (x *Index) at(part int, offset uint32) reader {
	if uint64(offset) > uint64(len(x.parts[part])) {
		return reader{bad: true}
	}
	return reader{rest: x.parts[part][offset:]}
}

func (x *Index) string(ref uint32) string {
	r := x.at(secStrings, ref)
	return string(r.text(r.uint()))
}

func number(record []byte, at int) uint32 { return binary.LittleEndian.Uint32(record[at:]) }

func location(record []byte, at int) micro {
	return micro{int32(number(record, at)), int32(number(record, at+4))}
}

// record returns record i of a section; false if it does not exist.
func (x *Index) record(part, size int, i uint32) ([]byte, bool) {
	all := x.parts[part]
	if uint64(i) >= uint64(len(all)/size) {
		return nil, false
	}
	return all[int(i)*size:][:size], true
}

// none is the reference to a place or postal code that is not known.
const none = math.MaxUint32

// place is a city.
type place struct {
	names          []string // the first is shown
	state, country string
	at             micro
}

func (x *Index) place(i uint32) (p place, ok bool) {
	rec, ok := x.record(secPlaces, placeSize, i)
	if !ok {
		return p, false
	}
	return place{names: split(x.string(number(rec, 0))), state: x.string(number(rec, 4)), country: x.string(number(rec, 8)), at: location(rec, 12)}, true
}

// code returns a postal code, where it is, and its place.
func (x *Index) code(i uint32) (code string, at micro, city uint32) {
	rec, ok := x.record(secCodes, codeSize, i)
	if !ok {
		return "", micro{}, none
	}
	return x.string(number(rec, 0)), location(rec, 4), number(rec, 12)
}

// streetRecord is a street without its details.
type streetRecord struct {
	id          uint32
	names       uint32
	place, code uint32
	at          micro
	details     uint32
	guessed     bool // the place is the nearest one
}

func (x *Index) street(i uint32) (s streetRecord, ok bool) {
	rec, ok := x.record(secStreets, streetSize, i)
	if !ok {
		return s, false
	}
	return streetRecord{
		id: i, names: number(rec, 0), place: number(rec, 4), code: number(rec, 8), at: location(rec, 12), details: number(rec, 20), guessed: number(rec, 24)&1 != 0,
	}, true
}

// house is a house of a street.
type house struct {
	number houseNumber
	at     micro
	ranged bool // interpolated in a range of numbers
}

// houses calls a function with the houses of a street, ordered by number, until it returns
// false. If it never does, the reader that houses returns is at the lines of the street.
func (x *Index) houses(s streetRecord, each func(house) bool) reader {
	r := x.at(secDetails, s.details)
	h := house{at: s.at}
	for range r.count(3) {
		// The lowest bits report whether there is a suffix, and whether the number is
		// interpolated.
		step := r.uint()
		h.number.value += uint32(step >> 2)
		h.ranged = step&2 != 0
		h.number.suffix = ""
		if step&1 != 0 {
			h.number.suffix = string(r.text(r.uint()))
		}
		h.at = r.step(h.at)
		if r.bad || !each(h) {
			break
		}
	}
	return r
}

// lines calls a function with the segments of a street's lines. r is the result of houses;
// the reader that lines returns is at the crossings.
func (x *Index) lines(s streetRecord, r reader, each func(a, b micro)) reader {
	at := s.at
	for range r.count(3) {
		for i := range r.count(2) {
			next := r.step(at)
			if r.bad {
				return r
			}
			if i > 0 {
				each(at, next)
			}
			at = next
		}
	}
	return r
}

// crossing is the location where a street meets another.
type crossing struct {
	other uint32
	at    micro
}

func (x *Index) crossings(s streetRecord) (all []crossing) {
	r := x.houses(s, func(house) bool { return true })
	r = x.lines(s, r, func(micro, micro) {})
	at := s.at
	for range r.count(3) {
		c := crossing{other: uint32(r.uint())}
		at = r.step(at)
		c.at = at
		if r.bad {
			break
		}
		all = append(all, c)
	}
	return all
}

// Size returns the size of the index in bytes.
func (x *Index) Size() int { return len(x.data) }
