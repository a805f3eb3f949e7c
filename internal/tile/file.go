package tile

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"runtime"
	"slices"
	"sync/atomic"

	"dray/internal/mapdata"
)

// A file has a header, the root directory, the metadata, further directories and the
// tiles; see https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md.
const (
	magic      = "PMTiles\x03"
	headSize   = 127
	rootWithin = 16 << 10 // bytes at the start of the file, which contain the root directory
	leafSize   = 4096     // entries of a directory that is not the root
	typeMVT    = 1

	maxMetadata = 1 << 20 // bytes, compressed or not
	maxStored   = 8 << 20 // bytes of a tile in a file
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// section is a part of a file.
type section struct{ offset, length uint64 }

// header is the header of a file.
type header struct {
	root, metadata, leaves, tiles section
	addressed, entries, contents  uint64
	clustered                     bool
	inner, outer                  uint8 // compression of directories and of tiles
	kind                          uint8
	minZoom, maxZoom, centerZoom  uint8
	bounds                        [4]int32 // west, south, east, north in 1e-7 degrees
	center                        [2]int32
}

func (h header) encode() []byte {
	out := []byte(magic)
	for _, s := range []section{h.root, h.metadata, h.leaves, h.tiles} {
		out = binary.LittleEndian.AppendUint64(out, s.offset)
		out = binary.LittleEndian.AppendUint64(out, s.length)
	}
	for _, n := range []uint64{h.addressed, h.entries, h.contents} {
		out = binary.LittleEndian.AppendUint64(out, n)
	}
	clustered := byte(0)
	if h.clustered {
		clustered = 1
	}
	out = append(out, clustered, h.inner, h.outer, h.kind, h.minZoom, h.maxZoom)
	for _, v := range h.bounds {
		out = binary.LittleEndian.AppendUint32(out, uint32(v))
	}
	out = append(out, h.centerZoom)
	for _, v := range h.center {
		out = binary.LittleEndian.AppendUint32(out, uint32(v))
	}
	return out
}

func decodeHeader(in []byte) (h header, err error) {
	if len(in) < headSize || string(in[:len(magic)]) != magic {
		return h, ErrDamaged
	}
	at := len(magic)
	number := func() uint64 {
		at += 8
		return binary.LittleEndian.Uint64(in[at-8:])
	}
	degrees := func() int32 {
		at += 4
		return int32(binary.LittleEndian.Uint32(in[at-4:]))
	}
	for _, s := range []*section{&h.root, &h.metadata, &h.leaves, &h.tiles} {
		s.offset, s.length = number(), number()
		if s.offset > 1<<48 || s.length > 1<<48 {
			return h, ErrDamaged
		}
	}
	h.addressed, h.entries, h.contents = number(), number(), number()
	h.clustered, h.inner, h.outer, h.kind, h.minZoom, h.maxZoom = in[at] == 1, in[at+1], in[at+2], in[at+3], in[at+4], in[at+5]
	at += 6
	for i := range h.bounds {
		h.bounds[i] = degrees()
	}
	h.centerZoom = in[at]
	at++
	h.center = [2]int32{degrees(), degrees()}
	if h.minZoom > h.maxZoom || h.maxZoom > 24 || h.root.length > rootWithin {
		return h, ErrDamaged
	}
	return h, nil
}

// metadata is the metadata of a file.
type metadata struct {
	Name        string `json:"name"`
	Type        string `json:"type"`
	Attribution string `json:"attribution"`
	Generator   string `json:"generator"`
	// Checksum is the CRC-32C of the header, the directories and the tiles.
	Checksum string  `json:"checksum"`
	Layers   []Layer `json:"vector_layers"`
}

// writeFile writes tiles to a file.
func writeFile(out io.Writer, tiles []entry, bounds box, center point) error {
	slices.SortFunc(tiles, func(a, b entry) int { return cmp.Compare(a.id, b.id) })
	list, contents, h := layOut(tiles)
	root, leaves, err := encodeTree(list)
	if err != nil {
		return err
	}
	west, north := degrees(bounds.west, bounds.north)
	east, south := degrees(bounds.east, bounds.south)
	lon, lat := degrees(center.x, center.y)
	h.clustered, h.inner, h.outer, h.kind = true, gzipped, gzipped, typeMVT
	h.minZoom, h.maxZoom, h.centerZoom = MinZoom, MaxZoom, 13
	h.bounds = [4]int32{int32(west * 1e7), int32(south * 1e7), int32(east * 1e7), int32(north * 1e7)}
	h.center = [2]int32{int32(lon * 1e7), int32(lat * 1e7)}

	about := metadata{Name: "Dray", Type: "baselayer", Attribution: Attribution, Generator: "dray", Checksum: "00000000", Layers: Layers}
	text, err := json.Marshal(about)
	if err != nil {
		return err
	}
	// The checksum covers the header, and the header contains the length of the metadata,
	// which contains the checksum. The metadata is therefore stored in gzip without
	// compression, so that its length does not depend on the checksum.
	h.root = section{headSize, uint64(len(root))}
	h.metadata = section{h.root.offset + h.root.length, uint64(len(stored(text)))}
	h.leaves = section{h.metadata.offset + h.metadata.length, uint64(len(leaves))}
	h.tiles.offset = h.leaves.offset + h.leaves.length
	head := h.encode()
	sum := crc32.New(castagnoli)
	parts := slices.Concat([][]byte{head, root, leaves}, contents)
	for _, part := range parts {
		sum.Write(part)
	}
	about.Checksum = fmt.Sprintf("%08x", sum.Sum32())
	if text, err = json.Marshal(about); err != nil {
		return err
	}
	for _, part := range slices.Concat([][]byte{head, root, stored(text), leaves}, contents) {
		if _, err := out.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// layOut returns the entries of tiles, which are in order, and their contents. Equal
// contents are stored once.
func layOut(tiles []entry) (list []dirEntry, contents [][]byte, h header) {
	known := map[[16]byte]uint64{}
	for _, t := range tiles {
		sum := sha256.Sum256(t.content)
		key := [16]byte(sum[:16])
		offset, again := known[key]
		if !again {
			offset = h.tiles.length
			known[key] = offset
			contents = append(contents, t.content)
			h.tiles.length += uint64(len(t.content))
		}
		h.addressed += uint64(t.run)
		if n := len(list); n > 0 && list[n-1].offset == offset && again && list[n-1].id+uint64(list[n-1].run) == t.id {
			list[n-1].run += t.run
			continue
		}
		list = append(list, dirEntry{t.id, t.run, uint32(len(t.content)), offset})
	}
	h.entries, h.contents = uint64(len(list)), uint64(len(contents))
	return list, contents, h
}

// encodeTree returns the directories of entries: the root, which is at the beginning of
// the file, and those that do not fit there.
func encodeTree(list []dirEntry) (root, leaves []byte, err error) {
	if root, err = encodeDirectory(list); err != nil || headSize+len(root) <= rootWithin {
		return root, nil, err
	}
	for size := leafSize; ; size *= 2 {
		var tops []dirEntry
		leaves = nil
		for part := range slices.Chunk(list, size) {
			leaf, err := encodeDirectory(part)
			if err != nil {
				return nil, nil, err
			}
			tops = append(tops, dirEntry{part[0].id, 0, uint32(len(leaf)), uint64(len(leaves))})
			leaves = append(leaves, leaf...)
		}
		if root, err = encodeDirectory(tops); err != nil || headSize+len(root) <= rootWithin {
			return root, leaves, err
		}
	}
}

// Source reads a part of a file.
type Source func(ctx context.Context, offset, length uint64) ([]byte, error)

// Map is a file of tiles. Its methods may be called concurrently.
type Map struct {
	data   []byte // the file, if it is in memory
	source Source // reads the file, if it is not in memory
	head   header
	root   []dirEntry
	meta   metadata

	leaves *[leafSlots]atomic.Pointer[leaf] // most recently read, by hash of offset
}

// leafSlots is the number of directories besides the root that a map caches. Each takes about
// 100 KB.
const leafSlots = 16

// leaf is a directory that was read.
type leaf struct {
	offset uint64
	list   []dirEntry
}

// Open returns the map in a file's content, which must not change as long as the map is
// referenced. It checks the header and the root directory; Verify checks the rest.
func Open(data []byte) (m *Map, err error) {
	defer mapdata.Protect(&err, ErrDamaged)()
	m = &Map{data: data, leaves: new([leafSlots]atomic.Pointer[leaf])}
	if err := m.open(m.slice); err != nil {
		return nil, err
	}
	for _, s := range []section{m.head.root, m.head.metadata, m.head.leaves, m.head.tiles} {
		if s.offset > uint64(len(data)) || s.length > uint64(len(data))-s.offset {
			return nil, ErrDamaged
		}
	}
	return m, nil
}

// OpenSource returns the map of a file that is not in memory.
func OpenSource(ctx context.Context, source Source) (*Map, error) {
	m := &Map{source: source, leaves: new([leafSlots]atomic.Pointer[leaf])}
	return m, m.open(m.reader(ctx))
}

// reader reads a part of the file.
type reader func(offset, length uint64) ([]byte, error)

// reader returns a reader of the file with the context of a caller.
func (m *Map) reader(ctx context.Context) reader {
	if m.source == nil {
		return m.slice
	}
	return func(offset, length uint64) ([]byte, error) { return m.source(ctx, offset, length) }
}

// slice returns a part of a file that is in memory.
func (m *Map) slice(offset, length uint64) ([]byte, error) {
	if size := uint64(len(m.data)); offset > size || length > size-offset {
		return nil, ErrDamaged
	}
	return m.data[offset : offset+length], nil
}

// open reads the header, the root directory and the metadata.
func (m *Map) open(read reader) error {
	begin, err := read(0, headSize)
	if err != nil {
		return err
	}
	if m.head, err = decodeHeader(begin); err != nil {
		return err
	}
	switch {
	case m.head.kind != typeMVT:
		return fmt.Errorf("%w: its tiles are not vector tiles", ErrDamaged)
	case m.head.outer != gzipped && m.head.outer != plainly, m.head.inner != gzipped && m.head.inner != plainly:
		return fmt.Errorf("%w: its compression is neither gzip nor none", ErrDamaged)
	case m.head.metadata.length > maxMetadata:
		return ErrDamaged
	}
	encoded, err := read(m.head.root.offset, m.head.root.length)
	if err != nil {
		return err
	}
	if m.root, err = decodeDirectory(encoded, m.head.inner); err != nil {
		return err
	}
	if m.head.metadata.length == 0 {
		return nil
	}
	if encoded, err = read(m.head.metadata.offset, m.head.metadata.length); err != nil {
		return err
	}
	plain, err := unpack(encoded, m.head.inner, maxMetadata)
	if err == nil && json.Unmarshal(plain, &m.meta) != nil {
		err = ErrDamaged
	}
	return err
}

// Info describes a map.
type Info struct {
	MinZoom, MaxZoom int
	Bounds           [4]float64 // west, south, east, north in degrees
	Center           [3]float64 // longitude, latitude, zoom level
	Attribution      string
	Layers           []Layer
}

// Info describes the map.
func (m *Map) Info() Info {
	h := m.head
	return Info{
		MinZoom: int(h.minZoom), MaxZoom: int(h.maxZoom),
		Bounds:      [4]float64{float64(h.bounds[0]) / 1e7, float64(h.bounds[1]) / 1e7, float64(h.bounds[2]) / 1e7, float64(h.bounds[3]) / 1e7},
		Center:      [3]float64{float64(h.center[0]) / 1e7, float64(h.center[1]) / 1e7, float64(h.centerZoom)},
		Attribution: cmp.Or(m.meta.Attribution, Attribution), Layers: m.meta.Layers,
	}
}

// Tile returns a tile, compressed with gzip; nil if the map has none there. The location
// of the tile must be valid; see Valid.
func (m *Map) Tile(ctx context.Context, zoom, x, y int) (content []byte, err error) {
	defer runtime.KeepAlive(m)
	defer mapdata.Protect(&err, ErrDamaged)()
	if zoom < int(m.head.minZoom) || zoom > int(m.head.maxZoom) {
		return nil, nil
	}
	id, read := tileID(frame{zoom, int32(x), int32(y)}), m.reader(ctx)
	list := m.root
	for range maxDepth {
		e, found := find(list, id)
		if !found {
			return nil, nil
		}
		if e.run > 0 {
			return m.content(read, e)
		}
		if list, err = m.leaf(read, e); err != nil {
			return nil, err
		}
	}
	return nil, ErrDamaged
}

// Valid reports whether zoom, x and y address a tile.
func Valid(zoom, x, y int) bool {
	return zoom >= 0 && zoom <= 24 && x >= 0 && y >= 0 && x < 1<<zoom && y < 1<<zoom
}

// leaf returns the directory of an entry.
func (m *Map) leaf(read reader, e dirEntry) ([]dirEntry, error) {
	if !within(e, m.head.leaves) || e.length > maxDirectory {
		return nil, ErrDamaged
	}
	slot := &m.leaves[e.offset*0x9e3779b97f4a7c15>>60] // a hash of the offset
	if known := slot.Load(); known != nil && known.offset == e.offset {
		return known.list, nil
	}
	encoded, err := read(m.head.leaves.offset+e.offset, uint64(e.length))
	if err != nil {
		return nil, err
	}
	list, err := decodeDirectory(encoded, m.head.inner)
	if err == nil {
		slot.Store(&leaf{e.offset, list})
	}
	return list, err
}

func within(e dirEntry, s section) bool {
	return e.offset <= s.length && uint64(e.length) <= s.length-e.offset
}

// content returns the tile of an entry.
func (m *Map) content(read reader, e dirEntry) ([]byte, error) {
	if !within(e, m.head.tiles) || e.length > maxStored {
		return nil, ErrDamaged
	}
	content, err := read(m.head.tiles.offset+e.offset, uint64(e.length))
	if err != nil {
		return nil, err
	}
	if m.head.outer == plainly {
		return new(encoder).compress(content)
	}
	return bytes.Clone(content), nil
}

// Verify checks the checksum and all directories of a file that is in memory, which reads
// all of it, unless the context ends.
func (m *Map) Verify(ctx context.Context) (err error) {
	defer runtime.KeepAlive(m)
	defer mapdata.Protect(&err, ErrDamaged)()
	sum := crc32.Checksum(m.data[:headSize], castagnoli)
	for _, s := range []section{m.head.root, m.head.leaves, m.head.tiles} {
		if sum, err = mapdata.Checksum(ctx, sum, m.data[s.offset:s.offset+s.length]); err != nil {
			return err
		}
	}
	if m.meta.Checksum != fmt.Sprintf("%08x", sum) {
		return ErrDamaged
	}
	for _, e := range m.root {
		if err := ctx.Err(); err != nil {
			return err
		}
		if e.run > 0 {
			if !within(e, m.head.tiles) {
				return ErrDamaged
			}
			continue
		}
		list, err := m.leaf(m.slice, e)
		if err != nil {
			return err
		}
		for _, t := range list {
			if t.run == 0 || !within(t, m.head.tiles) {
				return ErrDamaged
			}
		}
	}
	return nil
}

// From returns the map with another source of the same file.
func (m *Map) From(source Source) *Map {
	other := *m
	other.source, other.leaves = source, new([leafSlots]atomic.Pointer[leaf])
	return &other
}
