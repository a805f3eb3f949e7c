package street

import (
	"strings"
)

// collection is the content of a source: addresses, streets, and the areas that determine
// their cities and postal codes.
type collection struct {
	texts   []string // 0 is empty
	textIDs map[string]uint32

	addresses []address
	roads     []road
	areas     areas
	centers   []center
	postal    []postalArea
}

// address is a house as read. Its texts are indexes into collection.texts.
type address struct {
	number             houseNumber
	street, city, code uint32
	state, country     uint32
	at                 micro
	ranged             bool
}

// road is a named way.
type road struct {
	names []string // the first is shown
	line  []micro
	nodes []int64 // ids of the points
}

// center is a city, town or village on the map.
type center struct {
	names  []string
	at     micro
	weight float64
}

// postalArea is the center of a postal code.
type postalArea struct {
	code, city, state, country string
	at                         micro
	place                      uint32 // index of its place, set by addPlaces
}

func newCollection() *collection {
	return &collection{texts: []string{""}, textIDs: map[string]uint32{"": 0}}
}

// maxName is the maximum length of a name, in bytes.
const maxName = 250

// text returns the index of a text, which it adds if necessary.
func (c *collection) text(text string) uint32 {
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, separator, " ")), " ")
	if len(text) > maxName {
		text = strings.ToValidUTF8(text[:maxName], "")
	}
	id, known := c.textIDs[text]
	if !known {
		id = uint32(len(c.texts))
		text = strings.Clone(text)
		c.texts = append(c.texts, text)
		c.textIDs[text] = id
	}
	return id
}

// maxNumbers is the maximum number of house numbers in one value, such as 1;3;5.
const maxNumbers = 50

// add adds a house. A list of numbers counts as several houses.
func (c *collection) add(numbers string, a address) {
	if a.street == 0 {
		return
	}
	listed := 0
	for number := range strings.FieldsFuncSeq(numbers, func(r rune) bool { return r == ';' || r == ',' }) {
		n, ok := parseNumber(number)
		if !ok {
			n, ok = nameHouse(number)
		}
		if listed++; !ok || listed > maxNumbers {
			continue
		}
		n.suffix = strings.Clone(n.suffix)
		a.number = n
		c.addresses = append(c.addresses, a)
	}
}

// maxRange is the maximum difference between the ends of a range of house numbers.
const maxRange = 2000

// interpolate adds the houses between two known ones. step is the difference between
// consecutive numbers; line leads from the first house to the last.
func (c *collection) interpolate(first, last address, step uint32, line []micro) {
	if first.number.value > last.number.value {
		first, last = last, first
		reversed := make([]micro, len(line))
		for i, p := range line {
			reversed[len(line)-1-i] = p
		}
		line = reversed
	}
	a, b := first.number.value, last.number.value
	if step == 0 || b-a > maxRange || len(line) < 2 {
		return
	}
	length := 0.0
	for i := 1; i < len(line); i++ {
		length += line[i-1].meters(line[i])
	}
	for n := a + step; n < b; n += step {
		left := length * float64(n-a) / float64(b-a)
		between := first
		between.number, between.ranged, between.at = houseNumber{value: n}, true, line[len(line)-1]
		for i := 1; i < len(line); i++ {
			leg := line[i-1].meters(line[i])
			if left <= leg && leg > 0 {
				between.at = along(line[i-1], line[i], left/leg)
				break
			}
			left -= leg
		}
		c.addresses = append(c.addresses, between)
	}
}

func along(a, b micro, part float64) micro {
	return micro{a.lon + int32(part*float64(b.lon-a.lon)), a.lat + int32(part*float64(b.lat-a.lat))}
}
