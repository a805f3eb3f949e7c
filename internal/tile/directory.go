package tile

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/binary"
	"hash/crc32"
	"io"
	"slices"
)

// tileID returns the number of a tile: tiles are numbered from the lowest zoom level on,
// and within one along a Hilbert curve.
func tileID(f frame) uint64 {
	id := (uint64(1)<<(2*f.zoom) - 1) / 3 // of all lower levels
	x, y := uint64(f.x), uint64(f.y)
	for side := uint64(1) << f.zoom >> 1; side > 0; side >>= 1 {
		var right, lower uint64
		if x&side != 0 {
			right = 1
		}
		if y&side != 0 {
			lower = 1
		}
		id += side * side * (3*right ^ lower)
		if lower == 0 {
			if right == 1 {
				x, y = side-1-x&(side-1), side-1-y&(side-1)
			}
			x, y = y, x
		}
	}
	return id
}

// firstIn returns the number of the first tile of a zoom level in a tile of a lower one.
func firstIn(f frame, zoom int) uint64 {
	level := func(z int) uint64 { return (uint64(1)<<(2*z) - 1) / 3 }
	return level(zoom) + (tileID(f)-level(f.zoom))<<(2*(zoom-f.zoom))
}

// dirEntry is an entry of a directory: a run of tiles with the same content or, if its run
// is 0, a directory of the tiles from its first one on.
type dirEntry struct {
	id     uint64
	run    uint32
	length uint32
	offset uint64
}

// Limits of directories.
const (
	maxEntries   = 1 << 20 // of one directory
	maxDirectory = 8 << 20 // bytes of one directory, not compressed
	maxDepth     = 3       // of directories in directories
)

// encodeDirectory returns a compressed directory.
func encodeDirectory(list []dirEntry) ([]byte, error) {
	var out pack
	out.varint(uint64(len(list)))
	last := uint64(0)
	for _, e := range list {
		out.varint(e.id - last)
		last = e.id
	}
	for _, e := range list {
		out.varint(uint64(e.run))
	}
	for _, e := range list {
		out.varint(uint64(e.length))
	}
	for i, e := range list {
		if i > 0 && e.offset == list[i-1].offset+uint64(list[i-1].length) {
			out.varint(0)
		} else {
			out.varint(e.offset + 1)
		}
	}
	return new(encoder).compress(out)
}

// decodeDirectory returns the entries of a directory.
func decodeDirectory(encoded []byte, compression uint8) ([]dirEntry, error) {
	plain, err := unpack(encoded, compression, maxDirectory)
	if err != nil {
		return nil, err
	}
	bad := false
	next := func() uint64 {
		v, n := binary.Uvarint(plain)
		if n <= 0 {
			bad = true
			return 0
		}
		plain = plain[n:]
		return v
	}
	count := next()
	if bad || count == 0 || count > maxEntries || count > uint64(len(plain)) {
		return nil, ErrDamaged
	}
	list := make([]dirEntry, count)
	last := uint64(0)
	for i := range list {
		step := next()
		if last += step; i > 0 && step == 0 || last < step {
			bad = true
		}
		list[i].id = last
	}
	for i := range list {
		v := next()
		list[i].run, bad = uint32(v), bad || v > 1<<31
	}
	for i := range list {
		v := next()
		list[i].length, bad = uint32(v), bad || v == 0 || v > 1<<31
	}
	for i := range list {
		switch v := next(); {
		case v > 0:
			list[i].offset = v - 1
		case i > 0:
			list[i].offset = list[i-1].offset + uint64(list[i-1].length)
		default:
			bad = true
		}
		bad = bad || list[i].offset > 1<<48
	}
	if bad || len(plain) > 0 {
		return nil, ErrDamaged
	}
	return list, nil
}

// find returns the entry of a directory that has a tile, or the directory that has it.
func find(list []dirEntry, id uint64) (dirEntry, bool) {
	at, exact := slices.BinarySearchFunc(list, id, func(e dirEntry, id uint64) int { return cmp.Compare(e.id, id) })
	if !exact {
		at--
	}
	if at < 0 || list[at].run > 0 && id-list[at].id >= uint64(list[at].run) {
		return dirEntry{}, false
	}
	return list[at], true
}

// The compression methods of PMTiles.
const (
	plainly = 1
	gzipped = 2
)

// unpack decompresses content, up to a size.
func unpack(content []byte, compression uint8, most int64) ([]byte, error) {
	if compression == plainly {
		return content, nil
	}
	if compression != gzipped {
		return nil, ErrDamaged
	}
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, ErrDamaged
	}
	plain, err := io.ReadAll(io.LimitReader(reader, most+1))
	if err != nil || int64(len(plain)) > most {
		return nil, ErrDamaged
	}
	return plain, nil
}

// stored returns content in the form of gzip without compressing it: its length depends
// only on that of the content, which must be short.
func stored(content []byte) []byte {
	out := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 1} // the last block follows
	out = binary.LittleEndian.AppendUint16(out, uint16(len(content)))
	out = binary.LittleEndian.AppendUint16(out, ^uint16(len(content)))
	out = append(out, content...)
	out = binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(content))
	return binary.LittleEndian.AppendUint32(out, uint32(len(content)))
}
