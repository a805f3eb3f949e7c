package osm

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"
	"math"
)

// Writer writes a PBF file: nodes, then ways, then relations, each in the order of
// their ids. Tags are alternating keys and values.
type Writer struct {
	out   io.Writer
	err   error
	block outBlock
}

// maxWritten is the maximum number of elements written into one block; other
// programs expect at most 8,000.
const maxWritten = 8000

// outBlock is a block of elements of one kind.
type outBlock struct {
	kind    Kind
	count   int
	strings map[string]uint64
	table   pack // the string table
	group   pack // encoded ways or relations

	ids, lats, lons, tags pack // of dense nodes
	id, lat, lon          int64
}

// NewWriter returns a writer that has written the header of the file. The bounds are
// those of the area, in degrees.
func NewWriter(out io.Writer, west, south, east, north float64) *Writer {
	w := &Writer{out: out}
	var box, header pack
	for i, side := range []float64{west, east, north, south} {
		box.sint(i+1, int64(math.Round(side*1e9)))
	}
	header.bytes(1, box)
	header.bytes(4, []byte("OsmSchema-V0.6"))
	header.bytes(4, []byte("DenseNodes"))
	header.bytes(5, []byte("Sort.Type_then_ID"))
	header.bytes(16, []byte("dray"))
	w.blob("OSMHeader", header)
	return w
}

// Node writes a node.
func (w *Writer) Node(id int64, lon, lat float64, tags ...string) {
	b := w.begin(KindNode)
	y, x := int64(math.Round(lat*1e7)), int64(math.Round(lon*1e7))
	b.ids.zigzag(id - b.id)
	b.lats.zigzag(y - b.lat)
	b.lons.zigzag(x - b.lon)
	b.id, b.lat, b.lon = id, y, x
	for _, text := range tags {
		b.tags.varint(b.text(text))
	}
	b.tags.varint(0)
}

// Way writes a way.
func (w *Writer) Way(id int64, nodes []int64, tags ...string) {
	b := w.begin(KindWay)
	var way, refs pack
	way.uint(1, uint64(id))
	way = b.tagged(way, tags)
	last := int64(0)
	for _, ref := range nodes {
		refs.zigzag(ref - last)
		last = ref
	}
	way.bytes(8, refs)
	b.group.bytes(3, way)
}

// Relation writes a relation.
func (w *Writer) Relation(id int64, members []Member, tags ...string) {
	b := w.begin(KindRelation)
	var relation, roles, ids, types pack
	relation.uint(1, uint64(id))
	relation = b.tagged(relation, tags)
	last := int64(0)
	for _, m := range members {
		roles.varint(b.text(m.Role))
		ids.zigzag(m.ID - last)
		types.varint(uint64(m.Kind))
		last = m.ID
	}
	relation.bytes(8, roles)
	relation.bytes(9, ids)
	relation.bytes(10, types)
	b.group.bytes(4, relation)
}

// Close writes the last block. It does not close the underlying writer.
func (w *Writer) Close() error {
	w.flush()
	return w.err
}

// begin returns the block for the next element.
func (w *Writer) begin(kind Kind) *outBlock {
	if w.block.count == 0 || w.block.kind != kind || w.block.count == maxWritten {
		w.flush()
		w.block = outBlock{kind: kind, strings: map[string]uint64{"": 0}}
		w.block.table.bytes(1, nil)
	}
	w.block.count++
	return &w.block
}

// text returns the index of a text in the string table.
func (b *outBlock) text(text string) uint64 {
	at, known := b.strings[text]
	if !known {
		at = uint64(len(b.strings))
		b.strings[text] = at
		b.table.bytes(1, []byte(text))
	}
	return at
}

func (b *outBlock) tagged(element pack, tags []string) pack {
	var keys, values pack
	for i := 0; i+1 < len(tags); i += 2 {
		keys.varint(b.text(tags[i]))
		values.varint(b.text(tags[i+1]))
	}
	element.bytes(2, keys)
	element.bytes(3, values)
	return element
}

// flush writes the current block.
func (w *Writer) flush() {
	b := &w.block
	if b.count == 0 {
		return
	}
	if b.kind == KindNode {
		var dense pack
		dense.bytes(1, b.ids)
		dense.bytes(8, b.lats)
		dense.bytes(9, b.lons)
		dense.bytes(10, b.tags)
		b.group.bytes(2, dense)
	}
	var whole pack
	whole.bytes(1, b.table)
	whole.bytes(2, b.group)
	w.blob("OSMData", whole)
	w.block = outBlock{}
}

// blob writes a compressed block with its header.
func (w *Writer) blob(kind string, content []byte) {
	if w.err != nil {
		return
	}
	var compressed bytes.Buffer
	z := zlib.NewWriter(&compressed)
	_, err := z.Write(content)
	if err == nil {
		err = z.Close()
	}
	var blob, header pack
	blob.uint(2, uint64(len(content)))
	blob.bytes(3, compressed.Bytes())
	header.bytes(1, []byte(kind))
	header.uint(3, uint64(len(blob)))
	all := binary.BigEndian.AppendUint32(nil, uint32(len(header)))
	all = append(append(all, header...), blob...)
	if err == nil {
		_, err = w.out.Write(all)
	}
	w.err = err
}

// pack is an encoded protocol buffer.
type pack []byte

func (p *pack) varint(v uint64) { *p = binary.AppendUvarint(*p, v) }

func (p *pack) zigzag(v int64) { *p = binary.AppendVarint(*p, v) }

func (p *pack) uint(field int, v uint64) {
	p.varint(uint64(field) << 3)
	p.varint(v)
}

func (p *pack) sint(field int, v int64) {
	p.varint(uint64(field) << 3)
	p.zigzag(v)
}

func (p *pack) bytes(field int, content []byte) {
	p.varint(uint64(field)<<3 | 2)
	p.varint(uint64(len(content)))
	*p = append(*p, content...)
}
