package osm

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Limits of the format. Files that exceed them are rejected.
const (
	maxBlobHeader = 64 << 10
	maxBlob       = 32 << 20 // compressed or not
	maxRefs       = 1 << 20  // nodes of a way, members of a relation; the API of OpenStreetMap allows 32,000
	maxTags       = 1 << 14  // of an element
	maxStrings    = 1 << 22  // of a block; writers put 8,000 elements in it
)

// Handler is called with the elements of a file, in the order of the file.
// Elements and their slices are reused after a function returns; strings are not,
// but each keeps its whole block in memory: clone the ones you store. Elements
// without a function are skipped quickly. An error ends the reading.
type Handler struct {
	Header   func(Header) error
	Node     func(*Node) error
	Way      func(*Way) error
	Relation func(*Relation) error
}

// Read reads a file. An error in the file names the offset of the blob that
// cannot be read; an error of the handler is returned unwrapped.
func Read(ctx context.Context, file io.Reader, h Handler) error {
	r := reader{file: bufio.NewReaderSize(file, 1<<16), handler: h}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		start := r.offset
		err := r.blob()
		switch {
		case errors.Is(err, errEnd) && start > 0:
			return nil
		case err != nil && r.stopped:
			return err
		case err != nil:
			return fmt.Errorf("the OSM file cannot be read at byte %d: %w", start, err)
		}
	}
}

// errEnd means that there is no further blob. Read returns it only if there was
// none at all, hence the text.
var errEnd = errors.New("the file is empty")

// reader is the state of reading one file. Its buffers are reused for every blob.
type reader struct {
	file    *bufio.Reader
	offset  int64
	handler Handler
	stopped bool // the handler returned the error

	head, packed, plain []byte
	inflate             io.ReadCloser
	seenHeader          bool

	block    block
	node     Node
	way      Way
	relation Relation
}

// blob reads one blob: its length, its header and its content.
func (r *reader) blob() error {
	var length [4]byte
	n, err := io.ReadFull(r.file, length[:])
	r.offset += int64(n)
	switch {
	case errors.Is(err, io.EOF):
		return errEnd
	case err != nil:
		return truncated(err)
	}
	size := binary.BigEndian.Uint32(length[:])
	if size > maxBlobHeader {
		return fmt.Errorf("this is not an .osm.pbf file, or it is damaged: the header of a block has %d bytes", size)
	}
	if r.head, err = r.fill(r.head, int(size)); err != nil {
		return err
	}
	kind, dataSize, err := blobHeader(r.head)
	if err != nil {
		return err
	}
	if r.packed, err = r.fill(r.packed, dataSize); err != nil {
		return err
	}
	switch kind {
	case "OSMHeader", "OSMData":
	default: // the format allows others
		return nil
	}
	content, err := r.content(r.packed)
	switch {
	case err != nil:
		return err
	case kind == "OSMHeader":
		return r.header(content)
	case !r.seenHeader:
		return errors.New("the file does not begin with a header")
	}
	return r.data(content)
}

// truncated describes the error of a read that found the end of the file.
func truncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the file is truncated")
	}
	return err
}

// fill reads bytes of the file into a buffer.
func (r *reader) fill(buffer []byte, size int) ([]byte, error) {
	if cap(buffer) < size {
		buffer = make([]byte, size)
	}
	buffer = buffer[:size]
	n, err := io.ReadFull(r.file, buffer)
	r.offset += int64(n)
	if err != nil {
		return buffer, truncated(err)
	}
	return buffer, nil
}

func blobHeader(encoded []byte) (kind string, size int, err error) {
	m := message{rest: encoded}
	known := false
	for m.next() {
		switch m.number {
		case 1:
			kind = string(m.bytes)
		case 3:
			if m.value > maxBlob {
				return "", 0, fmt.Errorf("a block has %d bytes, more than the format allows", m.value)
			}
			size, known = int(m.value), true
		}
	}
	if m.err == nil && (kind == "" || !known) {
		m.err = errors.New("this is not an .osm.pbf file, or it is damaged: a block has no type or size")
	}
	return kind, size, m.err
}

// content returns the uncompressed content of a blob.
func (r *reader) content(encoded []byte) ([]byte, error) {
	m := message{rest: encoded}
	var raw, deflated []byte
	var size uint64
	for m.next() {
		switch m.number {
		case 1:
			raw = m.bytes
		case 2:
			size = m.value
		case 3:
			deflated = m.bytes
		case 4, 5, 6, 7:
			return nil, errors.New("the file is compressed with a method other than zlib; convert it, for example with osmium cat -f pbf")
		}
	}
	switch {
	case m.err != nil:
		return nil, m.err
	case deflated == nil:
		return raw, nil
	case size > maxBlob:
		return nil, fmt.Errorf("a block has %d bytes, more than the format allows", size)
	}
	if r.inflate == nil {
		inflate, err := zlib.NewReader(bytes.NewReader(deflated))
		if err != nil {
			return nil, fmt.Errorf("a block is damaged: %w", err)
		}
		r.inflate = inflate
	} else if err := r.inflate.(zlib.Resetter).Reset(bytes.NewReader(deflated), nil); err != nil {
		return nil, fmt.Errorf("a block is damaged: %w", err)
	}
	if cap(r.plain) < int(size) {
		r.plain = make([]byte, size)
	}
	r.plain = r.plain[:size]
	if _, err := io.ReadFull(r.inflate, r.plain); err != nil {
		return nil, fmt.Errorf("a block is damaged: %w", err)
	}
	// The end of the stream has the checksum.
	if n, err := r.inflate.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		return nil, errors.New("a block is damaged: its size or checksum is wrong")
	}
	return r.plain, nil
}

// header checks that the file needs nothing that this package does not support.
func (r *reader) header(encoded []byte) error {
	m := message{rest: encoded}
	var h Header
	for m.next() {
		switch m.number {
		case 1:
			if err := h.bounds(m.bytes); err != nil {
				return err
			}
		case 4:
			switch feature := string(m.bytes); feature {
			case "OsmSchema-V0.6", "DenseNodes":
			default:
				return fmt.Errorf("the file needs the feature %.40q, which is not supported", feature)
			}
		case 32:
			h.Timestamp = int64(m.value)
		}
	}
	if m.err != nil {
		return m.err
	}
	r.seenHeader = true
	if r.handler.Header == nil {
		return nil
	}
	return r.handled(r.handler.Header(h))
}

func (h *Header) bounds(encoded []byte) error {
	m := message{rest: encoded}
	for m.next() {
		degrees := float64(signed(m.value)) / 1e9
		switch m.number {
		case 1:
			h.Left = degrees
		case 2:
			h.Right = degrees
		case 3:
			h.Top = degrees
		case 4:
			h.Bottom = degrees
		}
	}
	return m.err
}

// handled marks an error as one of the handler.
func (r *reader) handled(err error) error {
	r.stopped = err != nil
	return err
}
