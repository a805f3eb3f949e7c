package gazetteer

import (
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// magic begins the packed file; the digit is the version of the format.
const magic = "drayplaces1\n"

// Data is the data to be packed.
type Data struct {
	Sources   string // human-readable origin of the data
	Countries []CountryData
	Regions   []StateData
	Cities    []CityData
	Postal    []PostalData
}

// CountryData is a country to be packed.
type CountryData struct {
	Code  string   // ISO 3166-1 alpha-2
	Name  string   // in English
	Names []string // all other names and codes
}

// StateData is a state, province or similar division to be packed.
type StateData struct {
	Country, Code string
	Name          string // in English
	Names         []string
}

// CityData is a city to be packed.
type CityData struct {
	Name            string
	Country, Region string // codes
	County          string
	Lon, Lat        float64
	Population      int
	Names           []string // alternative names
}

// PostalData is a postal code of the United States to be packed.
type PostalData struct {
	Code     uint32
	City     int // index into Cities
	Lon, Lat float64
}

// Degrees are stored as integers in units of 1/10,000 degree, or 11 m.
const perDegree = 10_000

// Pack writes data in the embedded format. The order of the input does not
// matter.
func Pack(w io.Writer, d Data) error {
	if _, err := io.WriteString(w, magic); err != nil {
		return err
	}
	squeezed, err := flate.NewWriter(w, flate.BestCompression)
	if err != nil {
		return err
	}
	p := packer{w: squeezed}
	p.text([]string{d.Sources})
	countries := p.countries(d.Countries)
	regions := p.regions(d, countries)
	order := p.cities(d.Cities, regions)
	p.postal(d, order)
	if p.err != nil {
		return p.err
	}
	return squeezed.Close()
}

// packer writes columns and remembers the first error.
type packer struct {
	w   io.Writer
	err error
}

func (p *packer) column(column []byte) {
	if p.err == nil {
		_, p.err = p.w.Write(binary.AppendUvarint(nil, uint64(len(column))))
	}
	if p.err == nil {
		_, p.err = p.w.Write(column)
	}
}

// planes writes numbers as several columns, the lowest bytes first: high bytes
// vary little and compress well separately.
func (p *packer) planes(numbers []uint32, bytes int) {
	for plane := range bytes {
		column := make([]byte, len(numbers))
		for i, n := range numbers {
			column[i] = byte(n >> (8 * plane))
		}
		p.column(column)
	}
	for _, n := range numbers {
		if n>>(8*bytes) != 0 && p.err == nil {
			p.err = fmt.Errorf("%d does not fit %d bytes", n, bytes)
		}
	}
}

// text writes lines of text, which may be empty.
func (p *packer) text(lines []string) {
	var all bytes.Buffer
	for _, line := range lines {
		if len(line) > math.MaxUint8 && p.err == nil {
			p.err = fmt.Errorf("%q is too long", line)
		}
		all.WriteByte(byte(len(line)))
	}
	p.column(all.Bytes())
	p.column([]byte(strings.Join(lines, "")))
}

// keys writes sorted keys, each as the length of the prefix shared with the
// previous key, and the rest.
func (p *packer) keys(keys []string) {
	shared, rests := make([]byte, len(keys)), make([]string, len(keys))
	for i, key := range keys {
		same := 0
		if i > 0 {
			before := keys[i-1]
			for same < min(len(key), len(before), math.MaxUint8) && key[same] == before[same] {
				same++
			}
		}
		shared[i], rests[i] = byte(same), key[same:]
	}
	p.column(shared)
	p.text(rests)
}

// named is a key and the index of its record.
type named struct {
	key string
	ref uint32
}

// names writes keys and the indexes of their records. Of equal keys, the first wins.
func (p *packer) names(all []named, bytes int) {
	slices.SortStableFunc(all, func(a, b named) int { return strings.Compare(a.key, b.key) })
	all = slices.CompactFunc(all, func(a, b named) bool { return a.key == b.key })
	keys, refs := make([]string, len(all)), make([]uint32, len(all))
	for i, n := range all {
		keys[i], refs[i] = n.key, n.ref
	}
	p.keys(keys)
	p.planes(refs, bytes)
}

func (p *packer) countries(all []CountryData) map[string]uint32 {
	all = slices.SortedFunc(slices.Values(all), func(a, b CountryData) int { return strings.Compare(a.Code, b.Code) })
	index := make(map[string]uint32)
	var codes, shown []string
	var keys []named
	for i, c := range all {
		index[c.Code] = uint32(i)
		codes, shown = append(codes, c.Code), append(shown, c.Name)
		keys = append(keys, named{Fold(c.Name), uint32(i)}, named{strings.ToLower(c.Code), uint32(i)})
	}
	for i, c := range all {
		for _, name := range c.Names {
			if key := Fold(name); key != "" {
				keys = append(keys, named{key, uint32(i)})
			}
		}
	}
	p.text(codes)
	p.text(shown)
	p.names(keys, 1)
	return index
}

// regionKey identifies a region by country and code.
type regionKey struct{ country, code string }

// corner is the south-west corner of a region; locations are stored relative to
// it.
type corner struct{ lon, lat int32 }

type packedRegion struct {
	index  uint32
	corner corner
}

func (p *packer) regions(d Data, countries map[string]uint32) map[regionKey]packedRegion {
	corners := make(map[regionKey]corner)
	for _, c := range d.Cities {
		key := regionKey{c.Country, c.Region}
		at, ok := corners[key]
		if !ok {
			at = corner{math.MaxInt32, math.MaxInt32}
		}
		corners[key] = corner{min(at.lon, fixed(c.Lon)), min(at.lat, fixed(c.Lat))}
	}
	known := make(map[regionKey]StateData)
	for key := range corners {
		known[key] = StateData{Country: key.country, Code: key.code} // cities without a known region
	}
	for _, r := range d.Regions {
		known[regionKey{r.Country, r.Code}] = r
	}
	all := make([]StateData, 0, len(known))
	for _, r := range known {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b StateData) int {
		return cmp.Or(strings.Compare(a.Country, b.Country), strings.Compare(a.Code, b.Code))
	})

	packed := make(map[regionKey]packedRegion)
	var codes, shown []string
	var keys []named
	var of, lons, lats []uint32
	for i, r := range all {
		key := regionKey{r.Country, r.Code}
		at := corners[key]
		packed[key] = packedRegion{uint32(i), at}
		country, ok := countries[r.Country]
		if !ok && p.err == nil {
			p.err = fmt.Errorf("the country %q of region %q is not known", r.Country, r.Name)
		}
		codes, shown, of = append(codes, r.Code), append(shown, r.Name), append(of, country)
		lons, lats = append(lons, uint32(at.lon+180*perDegree)), append(lats, uint32(at.lat+90*perDegree))
		if r.Name != "" {
			keys = append(keys, named{r.Country + Fold(r.Name), uint32(i)})
		}
	}
	for i, r := range all {
		for _, name := range r.Names {
			if key := Fold(name); key != "" {
				keys = append(keys, named{r.Country + key, uint32(i)})
			}
		}
	}
	p.text(codes)
	p.text(shown)
	p.planes(of, 1)
	p.planes(lons, 3)
	p.planes(lats, 3)
	p.names(keys, 2)
	return packed
}

// fixed converts degrees to their stored form.
func fixed(degrees float64) int32 { return int32(math.Round(degrees * perDegree)) }

// magnitude returns the size of a city in half powers of two.
func magnitude(population int) byte {
	if population < 1 {
		return 0
	}
	return byte(math.Round(2 * math.Log2(float64(population))))
}

// cities writes the cities and their alternative names. It returns the new
// index of each city.
func (p *packer) cities(all []CityData, regions map[regionKey]packedRegion) []uint32 {
	keys := make([]string, len(all))
	order := make([]int, len(all))
	for i, c := range all {
		keys[i], order[i] = Fold(c.Name), i
	}
	slices.SortFunc(order, func(i, j int) int {
		a, b := all[i], all[j]
		return cmp.Or(
			strings.Compare(keys[i], keys[j]), cmp.Compare(b.Population, a.Population),
			strings.Compare(a.Country, b.Country), strings.Compare(a.Region, b.Region), strings.Compare(a.County, b.County),
			cmp.Compare(a.Lon, b.Lon), cmp.Compare(a.Lat, b.Lat), strings.Compare(a.Name, b.Name),
		)
	})
	var (
		counties                = []string{""}
		countyIndex             = map[string]uint32{"": 0}
		sorted, shown           []string
		region, county, lon, at []uint32
		size                    []byte
		position                = make([]uint32, len(all))
		others                  []named
	)
	for _, i := range order {
		c := all[i]
		if _, ok := countyIndex[c.County]; !ok {
			countyIndex[c.County] = uint32(len(counties))
			counties = append(counties, c.County)
		}
		name := c.Name
		if name == titled(keys[i]) {
			name = ""
		}
		in := regions[regionKey{c.Country, c.Region}]
		position[i] = uint32(len(sorted))
		sorted, shown = append(sorted, keys[i]), append(shown, name)
		region, county = append(region, in.index), append(county, countyIndex[c.County])
		lon, at = append(lon, uint32(fixed(c.Lon)-in.corner.lon)), append(at, uint32(fixed(c.Lat)-in.corner.lat))
		size = append(size, magnitude(c.Population))
		for _, other := range c.Names {
			if key := Fold(other); key != "" && key != keys[i] {
				others = append(others, named{key, position[i]})
			}
		}
	}
	p.keys(sorted)
	p.text(shown)
	p.planes(region, 2)
	p.text(counties)
	p.planes(county, 2)
	p.column(size)
	p.planes(lon, 3)
	p.planes(at, 3)
	p.otherNames(others)
	return position
}

// otherNames writes alternative names of cities. Several cities may share a
// name.
func (p *packer) otherNames(all []named) {
	slices.SortFunc(all, func(a, b named) int { return cmp.Or(strings.Compare(a.key, b.key), cmp.Compare(a.ref, b.ref)) })
	all = slices.Compact(all)
	keys, refs := make([]string, len(all)), make([]uint32, len(all))
	for i, n := range all {
		keys[i], refs[i] = n.key, n.ref
	}
	p.keys(keys)
	p.planes(refs, 3)
}

func (p *packer) postal(d Data, position []uint32) {
	all := slices.SortedFunc(slices.Values(d.Postal), func(a, b PostalData) int {
		return cmp.Or(cmp.Compare(a.Code, b.Code), cmp.Compare(position[a.City], position[b.City]))
	})
	var codes []byte
	var city, lon, lat []uint32
	before := uint32(0)
	for _, z := range all {
		c := d.Cities[z.City]
		codes = binary.AppendUvarint(codes, uint64(z.Code-before))
		before = z.Code
		city = append(city, position[z.City])
		lon, lat = append(lon, zigzag(fixed(z.Lon)-fixed(c.Lon))), append(lat, zigzag(fixed(z.Lat)-fixed(c.Lat)))
	}
	p.column(codes)
	p.planes(city, 3)
	p.planes(lon, 3)
	p.planes(lat, 3)
}

// zigzag maps signed numbers to unsigned ones, so that small numbers stay
// small.
func zigzag(n int32) uint32 { return uint32(n<<1) ^ uint32(n>>31) }

func unzigzag(n uint32) int32 { return int32(n>>1) ^ -int32(n&1) }
