package street

import (
	"cmp"
	"context"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
)

// addPlaces finds the cities of the streets. Cities of the same name are kept apart
// by their state and where they are.
func (b *builder) addPlaces() {
	others := map[string][]string{} // other names, by the key of the first
	note := func(names []string) {
		if len(names) > 1 {
			key := keyOf(names[0])
			others[key] = append(others[key], names[1:]...)
		}
	}
	for _, c := range b.centers {
		note(c.names)
	}
	for _, a := range b.areas.all {
		if slices.Contains(townLevels, a.level) {
			note(a.names)
		}
	}
	index := map[placeKey]uint32{}
	known := map[placeKey][2]string{} // state and country of a city, from any of its streets
	regions := make([][2]string, len(b.drafts))
	for i, d := range b.drafts {
		state, country := b.regionOf(d)
		key := placeKey{city: b.key(d.city), cell: cellAt(d.at, placeCell)}
		known[key] = [2]string{cmp.Or(known[key][0], state), cmp.Or(known[key][1], country)}
		regions[i] = [2]string{state, country}
	}
	for i, d := range b.drafts {
		all := known[placeKey{city: b.key(d.city), cell: cellAt(d.at, placeCell)}]
		d.place = b.placeOf(index, others, d.city, cmp.Or(regions[i][0], all[0]), cmp.Or(regions[i][1], all[1]), d.at)
	}
	for i, p := range b.postal {
		city := b.text(p.city)
		b.postal[i].place = b.placeOf(index, others, city, p.state, p.country, p.at)
	}
}

type placeKey struct {
	city           uint32
	state, country string
	cell           gridCell
}

// placeOf returns the index of a place, which it adds if necessary.
func (b *builder) placeOf(index map[placeKey]uint32, others map[string][]string, city uint32, state, country string, at micro) uint32 {
	if city == 0 {
		return none
	}
	key := placeKey{b.key(city), state, country, cellAt(at, placeCell)}
	i, known := index[key]
	if !known {
		i = uint32(len(b.places))
		index[key] = i
		names := []string{b.texts[city]}
		for _, name := range others[keyOf(b.texts[city])] {
			if len(names) < maxNames && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		b.places = append(b.places, builtPlace{names: names, state: state, country: country})
	}
	p := &b.places[i]
	p.count++
	p.lon, p.lat = p.lon+int64(at.lon), p.lat+int64(at.lat)
	return i
}

// regionOf returns the state and the country of a street.
func (b *builder) regionOf(d *draft) (state, country string) {
	state, country = b.texts[d.state], b.texts[d.country]
	if state != "" && country != "" {
		return state, country
	}
	wanted := func(a *area) bool {
		return a.code == "" && (a.level == 4 && state == "" || a.level == 2 && country == "")
	}
	b.areas.around(d.at, wanted, func(a *area) {
		if a.level == 4 {
			state = a.names[0]
		} else {
			country = a.country
		}
	})
	if s, ok := b.neighbor(d.at, sameTown); ok {
		state, country = cmp.Or(state, b.texts[s.state]), cmp.Or(country, b.texts[s.country])
	}
	return state, country
}

// encoder writes the sections of the file.
type encoder struct {
	parts   [sections][]byte
	strings map[string]uint32
	words   map[string]*wordLists
}

// wordLists are the streets and places that have a word.
type wordLists struct{ streets, places []uint32 }

func (e *encoder) string(text string) uint32 {
	ref, known := e.strings[text]
	if !known {
		ref = uint32(len(e.parts[secStrings]))
		e.parts[secStrings] = binary.AppendUvarint(e.parts[secStrings], uint64(len(text)))
		e.parts[secStrings] = append(e.parts[secStrings], text...)
		e.strings[text] = ref
	}
	return ref
}

func (e *encoder) record(part int, fields ...uint32) {
	for _, f := range fields {
		e.parts[part] = binary.LittleEndian.AppendUint32(e.parts[part], f)
	}
}

// lists calls a function with the lists of all words of some names.
func (e *encoder) lists(names []string, each func(*wordLists)) {
	add := func(w string) {
		l := e.words[w]
		if l == nil {
			l = &wordLists{}
			e.words[w] = l
		}
		each(l)
	}
	for _, name := range names {
		words := wordsOf(name)
		for i, w := range words {
			add(w)
			// Many write two words as one.
			if i > 0 && len(words[i-1]) > 2 && len(words[i-1])+len(w) <= maxJoined && (!commonWords[w] || compound[w]) {
				add(words[i-1] + w)
			}
		}
	}
}

// maxJoined is the maximum length of two words that are also indexed as one, in bytes.
const maxJoined = 28

// compound are types of streets that are often written as one word with the name.
var compound = map[string]bool{"strasse": true, "straat": true, "weg": true, "platz": true, "gade": true, "gate": true, "vej": true, "allee": true}

func push(list *[]uint32, id uint32) {
	if n := len(*list); n == 0 || (*list)[n-1] != id {
		*list = append(*list, id)
	}
}

// encode returns the sections of the file.
func (b *builder) encode(ctx context.Context) ([sections][]byte, error) {
	e := &encoder{strings: map[string]uint32{}, words: map[string]*wordLists{}}
	e.string("")
	for i, p := range b.places {
		at := micro{int32(p.lon / int64(p.count)), int32(p.lat / int64(p.count))}
		e.record(secPlaces, e.string(strings.Join(p.names, separator)), e.string(p.state), e.string(p.country), uint32(at.lon), uint32(at.lat), uint32(p.count))
		e.lists(p.names, func(l *wordLists) { push(&l.places, uint32(i)) })
	}
	codes := b.encodeCodes(e)
	cells := map[gridCell][]uint32{}
	for i, d := range b.drafts {
		if i%1000 == 0 && ctx.Err() != nil {
			return e.parts, ctx.Err()
		}
		code := uint32(none)
		if d.code != 0 {
			code = codes[b.codeKey(b.texts[d.code], d.place)]
		}
		flags := uint32(0)
		if d.guessed {
			flags = 1
		}
		names := e.string(strings.Join(d.names, separator))
		e.record(secStreets, names, d.place, code, uint32(d.at.lon), uint32(d.at.lat), uint32(len(e.parts[secDetails])), flags)
		e.parts[secDetails] = d.appendDetails(e.parts[secDetails])
		e.lists(d.names, func(l *wordLists) { push(&l.streets, uint32(i)) })
		d.cells(func(c gridCell) { cells[c] = append(cells[c], uint32(i)) })
	}
	e.encodeWords()
	for _, c := range slices.SortedFunc(maps.Keys(cells), func(p, q gridCell) int { return cmp.Or(cmp.Compare(p.y, q.y), cmp.Compare(p.x, q.x)) }) {
		e.record(secCells, uint32(c.x), uint32(c.y), uint32(len(e.parts[secCellLists])))
		e.parts[secCellLists] = appendList(binary.AppendUvarint(e.parts[secCellLists], uint64(len(cells[c]))), cells[c])
	}
	return e.parts, nil
}

// codeKey identifies a postal code. Different countries may have the same one.
type codeKey struct{ plain, country string }

func (b *builder) codeKey(code string, place uint32) codeKey {
	key := codeKey{plain: plainCode(code)}
	if key.plain != "" && place != none {
		key.country = b.places[place].country
	}
	return key
}

// encodeCodes writes the postal codes and returns their positions.
func (b *builder) encodeCodes(e *encoder) map[codeKey]uint32 {
	type built struct {
		codeKey
		code     string
		place    uint32
		count    int64
		lon, lat int64
	}
	var all []*built
	add := func(code string, place uint32, at micro, merge map[codeKey]*built) {
		key := b.codeKey(code, place)
		if key.plain == "" {
			return
		}
		c := merge[key]
		if c == nil {
			c = &built{codeKey: key, code: code, place: place}
			merge[key] = c
			all = append(all, c)
		}
		c.count++
		c.lon, c.lat = c.lon+int64(at.lon), c.lat+int64(at.lat)
	}
	merged := map[codeKey]*built{}
	for _, d := range b.drafts {
		if d.code != 0 {
			add(b.texts[d.code], d.place, d.at, merged)
		}
	}
	for _, p := range b.postal {
		add(p.code, p.place, p.at, map[codeKey]*built{}) // a code may have several places
	}
	slices.SortStableFunc(all, func(p, q *built) int { return strings.Compare(p.plain, q.plain) })
	positions := map[codeKey]uint32{{}: none}
	for i, c := range all {
		if _, known := positions[c.codeKey]; !known {
			positions[c.codeKey] = uint32(i)
		}
		e.record(secCodes, e.string(c.code), uint32(int32(c.lon/c.count)), uint32(int32(c.lat/c.count)), c.place)
	}
	return positions
}

func (e *encoder) encodeWords() {
	for _, w := range slices.Sorted(maps.Keys(e.words)) {
		e.record(secWords, uint32(len(e.parts[secWordText])))
		e.parts[secWordText] = append(binary.AppendUvarint(e.parts[secWordText], uint64(len(w))), w...)
		e.record(secWordLists, uint32(len(e.parts[secLists])))
		l := e.words[w]
		list := appendList(nil, l.streets)
		out := binary.AppendUvarint(e.parts[secLists], uint64(len(list)))
		out = append(binary.AppendUvarint(out, uint64(len(l.streets))), list...)
		e.parts[secLists] = appendList(binary.AppendUvarint(out, uint64(len(l.places))), l.places)
	}
}

// appendList appends ids, which increase, as differences.
func appendList(to []byte, ids []uint32) []byte {
	last := uint32(0)
	for _, id := range ids {
		to = binary.AppendUvarint(to, uint64(id-last))
		last = id
	}
	return to
}

// appendDetails appends the houses, lines and crossings of a street.
func (d *draft) appendDetails(to []byte) []byte {
	slices.SortStableFunc(d.houses, func(p, q house) int {
		exact := func(h house) int {
			if h.ranged {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(p.number.value, q.number.value), strings.Compare(p.number.suffix, q.number.suffix), cmp.Compare(exact(p), exact(q)))
	})
	// Houses with the same number that are close together, such as the entrances of a building,
	// are stored once.
	houses := slices.CompactFunc(d.houses, func(p, q house) bool { return p.number == q.number && (q.ranged || p.at.meters(q.at) < 25) })
	to = binary.AppendUvarint(to, uint64(len(houses)))
	at, value := d.at, uint32(0)
	for _, h := range houses {
		step := uint64(h.number.value-value) << 2
		if h.number.suffix != "" {
			step |= 1
		}
		if h.ranged {
			step |= 2
		}
		to = binary.AppendUvarint(to, step)
		if h.number.suffix != "" {
			to = append(binary.AppendUvarint(to, uint64(len(h.number.suffix))), h.number.suffix...)
		}
		to = appendStep(to, at, h.at)
		at, value = h.at, h.number.value
	}
	to = binary.AppendUvarint(to, uint64(len(d.lines)))
	at = d.at
	for _, line := range d.lines {
		line = simplify(line)
		to = binary.AppendUvarint(to, uint64(len(line)))
		for _, p := range line {
			to = appendStep(to, at, p)
			at = p
		}
	}
	to = binary.AppendUvarint(to, uint64(len(d.crossings)))
	at = d.at
	for _, c := range d.crossings {
		to = appendStep(binary.AppendUvarint(to, uint64(c.other)), at, c.at)
		at = c.at
	}
	return to
}

func appendStep(to []byte, from, at micro) []byte {
	to = binary.AppendVarint(to, int64(at.lon)-int64(from.lon))
	return binary.AppendVarint(to, int64(at.lat)-int64(from.lat))
}

// simplifyWithin is the maximum distance of removed points from the line, in meters.
const simplifyWithin = 3.0

// simplify removes points that are close to the rest of the line.
func simplify(line []micro) []micro {
	if len(line) < 3 {
		return line
	}
	first, last := line[0], line[len(line)-1]
	far, at := 0.0, 0
	for i := 1; i < len(line)-1; i++ {
		if off, _ := line[i].toSegment(first, last); off > far {
			far, at = off, i
		}
	}
	if far < simplifyWithin {
		return []micro{first, last}
	}
	return append(slices.Clone(simplify(line[:at+1])), simplify(line[at:])[1:]...)
}

// cells calls a function with the cells of the grid that a street touches.
func (d *draft) cells(each func(gridCell)) {
	seen := map[gridCell]bool{}
	add := func(p micro) {
		if c := cellAt(p, indexCell); !seen[c] {
			seen[c] = true
			each(c)
		}
	}
	for _, h := range d.houses {
		add(h.at)
	}
	for _, line := range d.lines {
		add(line[0])
		for i := 1; i < len(line); i++ {
			steps := min(int(line[i-1].meters(line[i])/200), 1000) + 1
			for k := 1; k <= steps; k++ {
				add(along(line[i-1], line[i], float64(k)/float64(steps)))
			}
		}
	}
}
