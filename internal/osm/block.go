package osm

import (
	"errors"
	"fmt"
)

// block holds the data that the elements of one block share.
type block struct {
	table       string // encoded string table
	strings     []span // parts of table
	granularity int64  // of coordinates, in 1e-9 degrees
	lon, lat    int64  // offsets of coordinates, in 1e-9 degrees
}

// span is a part of a string.
type span struct{ start, end uint32 }

var (
	errText  = errors.New("an element refers to a text that is not in its block")
	errTags  = errors.New("the keys and values of an element do not match")
	errWorld = errors.New("a node is not on the Earth")
)

// data reads the elements of a block.
func (r *reader) data(content []byte) error {
	b := &r.block
	*b = block{strings: b.strings[:0], granularity: 100}
	m := message{rest: content}
	for m.next() { // the fields may be in any order
		switch m.number {
		case 1:
			if err := b.readTable(m.bytes); err != nil {
				return err
			}
		case 17:
			b.granularity = int64(m.value)
		case 19:
			b.lat = int64(m.value)
		case 20:
			b.lon = int64(m.value)
		}
	}
	if m.err != nil {
		return m.err
	}
	if b.granularity <= 0 || b.granularity > 1e9 {
		return fmt.Errorf("the granularity of a block is %d", b.granularity)
	}
	m = message{rest: content}
	for m.next() {
		if m.number == 2 {
			if err := r.group(m.bytes); err != nil {
				return err
			}
		}
	}
	return m.err
}

func (b *block) readTable(encoded []byte) error {
	b.table, b.strings = string(encoded), b.strings[:0]
	m := message{rest: encoded}
	for m.next() {
		if m.number != 1 || m.kind != wireBytes {
			continue
		}
		if len(b.strings) == maxStrings {
			return fmt.Errorf("a block has more than %d texts", maxStrings)
		}
		end := uint32(len(encoded) - len(m.rest))
		b.strings = append(b.strings, span{end - uint32(len(m.bytes)), end})
	}
	return m.err
}

// text returns a string of the table.
func (b *block) text(index uint64) (string, bool) {
	if index >= uint64(len(b.strings)) {
		return "", false
	}
	at := b.strings[index]
	return b.table[at.start:at.end], true
}

// group reads a group of elements of one kind.
func (r *reader) group(encoded []byte) error {
	m := message{rest: encoded}
	for m.next() {
		var err error
		switch {
		case m.number == 1 && r.handler.Node != nil:
			err = r.plainNode(m.bytes)
		case m.number == 2 && r.handler.Node != nil:
			err = r.denseNodes(m.bytes)
		case m.number == 3 && r.handler.Way != nil:
			err = r.readWay(m.bytes)
		case m.number == 4 && r.handler.Relation != nil:
			err = r.readRelation(m.bytes)
		}
		if err != nil {
			return err
		}
	}
	return m.err
}

func (r *reader) plainNode(encoded []byte) error {
	m := message{rest: encoded}
	var keys, values packed
	var id, lat, lon int64
	for m.next() {
		switch m.number {
		case 1:
			id = signed(m.value)
		case 2:
			m.packed(&keys)
		case 3:
			m.packed(&values)
		case 8:
			lat = signed(m.value)
		case 9:
			lon = signed(m.value)
		}
	}
	if m.err != nil {
		return m.err
	}
	tags, err := r.block.tags(r.node.Tags, keys, values)
	if err != nil {
		return err
	}
	return r.emitNode(id, lat, lon, tags)
}

func (r *reader) denseNodes(encoded []byte) error {
	var ids, lats, lons, texts packed
	if err := readFields(encoded, nil, listField{1, &ids}, listField{8, &lats}, listField{9, &lons}, listField{10, &texts}); err != nil {
		return err
	}
	var id, lat, lon int64
	for {
		d, more := ids.next()
		y, moreY := lats.next()
		x, moreX := lons.next()
		if !more || !moreX || !moreY {
			if more || moreX || moreY || ids.broken || lats.broken || lons.broken {
				return errors.New("the ids and coordinates of a block of nodes do not match")
			}
			return nil
		}
		id, lat, lon = id+signed(d), lat+signed(y), lon+signed(x)
		tags, err := r.block.denseTags(r.node.Tags, &texts)
		if err != nil {
			return err
		}
		if err := r.emitNode(id, lat, lon, tags); err != nil {
			return err
		}
	}
}

func (r *reader) emitNode(id, lat, lon int64, tags Tags) error {
	b := &r.block
	y, okY := toUnits(lat, b.granularity, b.lat, 90)
	x, okX := toUnits(lon, b.granularity, b.lon, 180)
	if !okX || !okY {
		return errWorld
	}
	r.node = Node{ID: id, Lon: x, Lat: y, Tags: tags}
	return r.handled(r.handler.Node(&r.node))
}

// toUnits converts a coordinate of a block to units of 1e-7 degrees, and reports
// whether its absolute value is at most the given number of degrees.
func toUnits(v, granularity, offset, most int64) (int32, bool) {
	if v > 1e12/granularity || v < -1e12/granularity || offset > 1e12 || offset < -1e12 {
		return 0, false
	}
	nano := offset + v*granularity
	if nano > most*1e9 || nano < -most*1e9 {
		return 0, false
	}
	if nano < 0 {
		return int32((nano - 50) / 100), true
	}
	return int32((nano + 50) / 100), true
}

// tags reads the tags of an element into a slice and returns it.
func (b *block) tags(into Tags, keys, values packed) (Tags, error) {
	into = into[:0]
	for {
		k, more := keys.next()
		v, moreValues := values.next()
		switch {
		case !more && !moreValues && !keys.broken && !values.broken:
			return into, nil
		case !more || !moreValues || len(into) == maxTags:
			return into, errTags
		}
		key, ok := b.text(k)
		value, okValue := b.text(v)
		if !ok || !okValue {
			return into, errText
		}
		into = append(into, Tag{key, value})
	}
}

// denseTags reads the tags of the next node into a slice and returns it. A zero ends them.
func (b *block) denseTags(into Tags, texts *packed) (Tags, error) {
	into = into[:0]
	for {
		k, more := texts.next()
		if !more && texts.broken {
			return into, errTags
		}
		if !more || k == 0 {
			return into, nil
		}
		v, more := texts.next()
		if !more || len(into) == maxTags {
			return into, errTags
		}
		key, ok := b.text(k)
		value, okValue := b.text(v)
		if !ok || !okValue {
			return into, errText
		}
		into = append(into, Tag{key, value})
	}
}

func (r *reader) readWay(encoded []byte) error {
	var keys, values, refs packed
	w := &r.way
	if err := readFields(encoded, &w.ID, listField{2, &keys}, listField{3, &values}, listField{8, &refs}); err != nil {
		return err
	}
	var err error
	if w.Tags, err = r.block.tags(w.Tags, keys, values); err != nil {
		return err
	}
	if n := refs.count(); n > maxRefs {
		return fmt.Errorf("way %d has %d nodes", w.ID, n)
	}
	w.Refs = w.Refs[:0]
	var id int64
	for d, more := refs.next(); more; d, more = refs.next() {
		id += signed(d)
		w.Refs = append(w.Refs, id)
	}
	if refs.broken {
		return errTruncated
	}
	return r.handled(r.handler.Way(w))
}

func (r *reader) readRelation(encoded []byte) error {
	var keys, values, roles, ids, kinds packed
	rel := &r.relation
	if err := readFields(encoded, &rel.ID, listField{2, &keys}, listField{3, &values}, listField{8, &roles}, listField{9, &ids}, listField{10, &kinds}); err != nil {
		return err
	}
	var err error
	if rel.Tags, err = r.block.tags(rel.Tags, keys, values); err != nil {
		return err
	}
	if n := ids.count(); n > maxRefs {
		return fmt.Errorf("relation %d has %d members", rel.ID, n)
	}
	rel.Members = rel.Members[:0]
	var id int64
	for {
		d, more := ids.next()
		role, moreRoles := roles.next()
		kind, moreKinds := kinds.next()
		if !more || !moreRoles || !moreKinds {
			if more || moreRoles || moreKinds || ids.broken || roles.broken || kinds.broken {
				return fmt.Errorf("the members of relation %d are incomplete", rel.ID)
			}
			return r.handled(r.handler.Relation(rel))
		}
		text, ok := r.block.text(role)
		if !ok || kind > uint64(KindRelation) {
			return errText
		}
		id += signed(d)
		rel.Members = append(rel.Members, Member{Kind(kind), id, text})
	}
}
