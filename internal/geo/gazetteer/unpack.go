package gazetteer

import (
	"bufio"
	"compress/flate"
	_ "embed" // for the data
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
)

//go:embed places.bin
var packed string

// Embedded returns the embedded gazetteer. The first call unpacks it, which
// takes about a tenth of a second.
var Embedded = sync.OnceValues(func() (*Gazetteer, error) {
	g, err := Unpack(strings.NewReader(packed))
	if err != nil {
		return nil, fmt.Errorf("unpack the embedded places: %w", err)
	}
	return g, nil
})

// maxColumn limits what a corrupt file can make the program allocate.
const maxColumn = 1 << 25

var errDamaged = errors.New("the packed places are corrupt")

// Unpack reads the output of Pack.
func Unpack(r io.Reader) (*Gazetteer, error) {
	begin := make([]byte, len(magic))
	if _, err := io.ReadFull(r, begin); err != nil {
		return nil, err
	}
	if string(begin) != magic {
		return nil, errDamaged
	}
	u := unpacker{r: bufio.NewReader(flate.NewReader(r))}
	g := &Gazetteer{}
	g.Sources = strings.Join(u.text(), "")
	u.countries(g)
	u.regions(g)
	u.cities(g)
	u.postal(g)
	if _, err := u.r.ReadByte(); !errors.Is(err, io.EOF) {
		u.fail(errors.Join(errDamaged, err)) // truncated or with trailing data
	}
	if u.err != nil {
		return nil, u.err
	}
	return g, nil
}

// unpacker reads columns and remembers the first error; after it, all columns
// are empty.
type unpacker struct {
	r   *bufio.Reader
	err error
}

func (u *unpacker) fail(err error) {
	if u.err == nil {
		u.err = err
	}
}

func (u *unpacker) column() []byte {
	if u.err != nil {
		return nil
	}
	n, err := binary.ReadUvarint(u.r)
	if err != nil || n > maxColumn {
		u.fail(errors.Join(errDamaged, err))
		return nil
	}
	column := make([]byte, n)
	if _, err := io.ReadFull(u.r, column); err != nil {
		u.fail(errors.Join(errDamaged, err))
		return nil
	}
	return column
}

// planes reads numbers below limit.
func planes[N uint8 | uint16 | uint32](u *unpacker, bytes int, limit int) []N {
	var numbers []N
	for plane := range bytes {
		column := u.column()
		if plane == 0 {
			numbers = make([]N, len(column))
		}
		if len(column) != len(numbers) {
			u.fail(errDamaged)
			return nil
		}
		for i, b := range column {
			numbers[i] |= N(b) << (8 * plane)
		}
	}
	for _, n := range numbers {
		if int(n) >= limit {
			u.fail(errDamaged)
			return nil
		}
	}
	return numbers
}

// lines reads lines of text.
func (u *unpacker) lines() table {
	lengths, all := u.column(), u.column()
	bounds := make([]uint32, len(lengths)+1)
	for i, n := range lengths {
		bounds[i+1] = bounds[i] + uint32(n)
	}
	if int(bounds[len(lengths)]) != len(all) {
		u.fail(errDamaged)
		return table{}
	}
	return table{all, bounds}
}

func (u *unpacker) text() []string {
	lines := u.lines()
	all := string(lines.text)
	out := make([]string, lines.len())
	for i := range out {
		out[i] = all[lines.bounds[i]:lines.bounds[i+1]]
	}
	return out
}

// keys reads sorted keys.
func (u *unpacker) keys() table {
	shared, rests := u.column(), u.lines()
	if len(shared) != rests.len() {
		u.fail(errDamaged)
		return table{}
	}
	size := len(rests.text)
	for _, n := range shared {
		size += int(n)
	}
	t := table{text: make([]byte, 0, size), bounds: make([]uint32, len(shared)+1)}
	before := 0 // start of the previous key
	for i, n := range shared {
		begin := len(t.text)
		if int(n) > begin-before {
			u.fail(errDamaged)
			return table{}
		}
		t.text = append(append(t.text, t.text[before:before+int(n)]...), rests.key(i)...)
		t.bounds[i+1] = uint32(len(t.text))
		before = begin
	}
	return t
}

func (u *unpacker) countries(g *Gazetteer) {
	codes, names := u.text(), u.text()
	for i, code := range codes {
		if len(code) != 2 || len(names) != len(codes) {
			u.fail(errDamaged)
			return
		}
		g.countries = append(g.countries, country{code: code, name: names[i]})
	}
	g.countryKeys = u.keys()
	g.countryOf = planes[uint8](u, 1, len(codes))
	u.equal(g.countryKeys.len(), len(g.countryOf))
}

func (u *unpacker) regions(g *Gazetteer) {
	codes, names := u.text(), u.text()
	of := planes[uint8](u, 1, len(g.countries))
	lons, lats := planes[uint32](u, 3, 360*perDegree+1), planes[uint32](u, 3, 180*perDegree+1)
	u.equal(len(codes), len(names), len(of), len(lons), len(lats))
	if u.err != nil {
		return
	}
	g.regions = make([]region, len(codes))
	for i := range g.regions {
		g.regions[i] = region{
			code: codes[i], name: names[i], country: of[i],
			lon: int32(lons[i]) - 180*perDegree, lat: int32(lats[i]) - 90*perDegree,
		}
	}
	g.regionKeys = u.keys()
	g.regionOf = planes[uint16](u, 2, len(codes))
	u.equal(g.regionKeys.len(), len(g.regionOf))
}

func (u *unpacker) cities(g *Gazetteer) {
	g.cityKeys, g.cityNames = u.keys(), u.lines()
	g.cityRegion = planes[uint16](u, 2, len(g.regions))
	g.counties = u.text()
	g.cityCounty = planes[uint16](u, 2, len(g.counties))
	g.citySize = u.column()
	lons, lats := planes[uint32](u, 3, 1<<24), planes[uint32](u, 3, 1<<24)
	u.equal(g.cityKeys.len(), g.cityNames.len(), len(g.cityRegion), len(g.cityCounty), len(g.citySize), len(lons), len(lats))
	if u.err != nil {
		return
	}
	g.cityLon, g.cityLat = make([]int32, len(lons)), make([]int32, len(lats))
	for i, of := range g.cityRegion {
		g.regions[of].largest = max(g.regions[of].largest, g.citySize[i])
		g.cityLon[i], g.cityLat[i] = g.regions[of].lon+int32(lons[i]), g.regions[of].lat+int32(lats[i])
	}
	g.sortBands()
	g.otherKeys = u.keys()
	g.otherOf = planes[uint32](u, 3, g.cityKeys.len())
	u.equal(g.otherKeys.len(), len(g.otherOf))
}

func (u *unpacker) postal(g *Gazetteer) {
	codes := u.column()
	code := uint64(0)
	for len(codes) > 0 {
		step, n := binary.Uvarint(codes)
		code += step
		if n <= 0 || code > 99999 {
			u.fail(errDamaged)
			return
		}
		g.postal = append(g.postal, uint32(code))
		codes = codes[n:]
	}
	g.postal = slices.Clip(g.postal)
	g.postalCity = planes[uint32](u, 3, g.cityKeys.len())
	lons, lats := planes[uint32](u, 3, 1<<24), planes[uint32](u, 3, 1<<24)
	u.equal(len(g.postal), len(g.postalCity), len(lons), len(lats))
	if u.err != nil {
		return
	}
	g.postalLon, g.postalLat = make([]int32, len(lons)), make([]int32, len(lats))
	for i, c := range g.postalCity {
		g.postalLon[i], g.postalLat[i] = g.cityLon[c]+unzigzag(lons[i]), g.cityLat[c]+unzigzag(lats[i])
	}
}

// equal rejects columns of different lengths.
func (u *unpacker) equal(lengths ...int) {
	for _, n := range lengths {
		if n != lengths[0] {
			u.fail(errDamaged)
		}
	}
}
