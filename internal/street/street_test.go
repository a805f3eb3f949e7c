package street_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"dray/internal/osm"
	"dray/internal/osm/town"
	"dray/internal/street"
)

// townFile is the generated town, and townIndex its streets.
var townFile, townIndex = sync.OnceValue(func() []byte {
	var file bytes.Buffer
	if err := town.Write(&file, 1); err != nil {
		panic(err)
	}
	return file.Bytes()
}), sync.OnceValues(func() ([]byte, error) {
	var out bytes.Buffer
	err := street.Build(context.Background(), reopen(townFile()), &out, func(float64) {})
	return out.Bytes(), err
})

func reopen(content []byte) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil }
}

func openTown(t testing.TB) *street.Index {
	t.Helper()
	content, err := townIndex()
	if err != nil {
		t.Fatal(err)
	}
	x, err := street.Open(content)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// first returns the best hit.
func first(t *testing.T, x *street.Index, q street.Query) street.Hit {
	t.Helper()
	hits, err := x.Search(q)
	if err != nil {
		t.Fatal(err)
	}
	if len(hits) == 0 {
		return street.Hit{}
	}
	return hits[0]
}

func TestTownIsFoundToTheDoor(t *testing.T) {
	x := openTown(t)
	all := truths(t, townFile())
	random := rand.New(rand.NewPCG(7, 7))
	forms := map[string]func(truth) street.Query{
		"line": func(h truth) street.Query {
			return street.Query{Line: fmt.Sprintf("%s %s, %s, NY %s", h.number, h.street, h.city, h.code)}
		},
		"no code": func(h truth) street.Query {
			return street.Query{Line: fmt.Sprintf("%s %s, %s", h.number, h.street, h.city)}
		},
		"apartment": func(h truth) street.Query {
			return street.Query{Line: fmt.Sprintf("%s %s Apt 4B, %s, NY %s", h.number, h.street, h.city, h.code)}
		},
		"number last": func(h truth) street.Query {
			return street.Query{Line: fmt.Sprintf("%s %s, %s %s", h.street, h.number, h.code, h.city)}
		},
		"parts": func(h truth) street.Query {
			return street.Query{Number: h.number, Street: h.street, City: h.city, PostalCode: h.code}
		},
		"number in the street": func(h truth) street.Query { return street.Query{Street: h.number + " " + h.street, City: h.city} },
		"abbreviated": func(h truth) street.Query {
			short := strings.NewReplacer(" Street", " St.", " Avenue", " Ave", " Road", " Rd", " Drive", " Dr", " Boulevard", " Blvd", " Lane", " Ln", " Court", " Ct", " Place", " Pl", " Terrace", " Ter")
			return street.Query{Line: fmt.Sprintf("%s %s, %s %s", h.number, short.Replace(h.street), h.city, h.code)}
		},
		"swapped": func(h truth) street.Query {
			return street.Query{Line: fmt.Sprintf("%s %s, %s %s", h.number, swapped(random, h.street), h.city, h.code)}
		},
	}
	for name, form := range forms {
		t.Run(name, func(t *testing.T) {
			const sample = 300
			wrong := 0
			for range sample {
				h := all[random.IntN(len(all))]
				q := form(h)
				got := first(t, x, q)
				if meters(got.Location, h.at) > 30 || got.Kind != street.KindHouse || got.Number != h.number || !got.Confirmed || got.State != town.State {
					if wrong++; wrong < 4 {
						t.Logf("%+v: found %+v, want %+v", q, got, h)
					}
				}
			}
			if wrong > sample/100 {
				t.Errorf("%d of %d addresses are not found", wrong, sample)
			}
		})
	}
}

func TestMissingNumbersAreApproximate(t *testing.T) {
	x := openTown(t)
	one := truths(t, townFile())[0]
	value, err := strconv.Atoi(one.number)
	if err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		number string
		kind   street.Kind
	}{
		"a letter that is not known":   {one.number + "b", street.KindHouse},
		"a range around it":            {fmt.Sprintf("%d-%d", value, value+2), street.KindHouse},
		"a number far above all":       {"9998", street.KindNearby},
		"no number":                    {"", street.KindStreet},
		"a word instead of a number":   {"x", street.KindStreet},
		"a number that is much longer": {"123456789012", street.KindStreet},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := first(t, x, street.Query{Number: tt.number, Street: one.street, City: one.city})
			if got.Kind != tt.kind || got.Street != one.street {
				t.Errorf("found %+v, want kind %d", got, tt.kind)
			}
		})
	}
}

func TestRangesOfNumbers(t *testing.T) {
	x := openTown(t)
	var ends []truth
	nodes := map[int64]truth{}
	err := osm.Read(t.Context(), bytes.NewReader(townFile()), osm.Handler{
		Node: func(n *osm.Node) error {
			lon, lat := n.Degrees()
			nodes[n.ID] = truth{n.Tags.Get("addr:housenumber"), n.Tags.Get("addr:street"), "", "", street.Point{Lon: lon, Lat: lat}}
			return nil
		},
		Way: func(w *osm.Way) error {
			if w.Tags.Get("addr:interpolation") != "" && len(ends) == 0 {
				ends = []truth{nodes[w.Refs[0]], nodes[w.Refs[1]]}
			}
			return nil
		},
	})
	if err != nil || len(ends) == 0 {
		t.Fatalf("the town has no ranges: %v", err)
	}
	low, _ := strconv.Atoi(ends[0].number)
	high, _ := strconv.Atoi(ends[1].number)
	middle := low + (high-low)/4*2
	got := first(t, x, street.Query{Number: strconv.Itoa(middle), Street: ends[0].street, City: town.Name})
	whole := meters(ends[0].at, ends[1].at)
	share := float64(middle-low) / float64(high-low)
	if got.Kind != street.KindRange || got.Number != strconv.Itoa(middle) {
		t.Fatalf("number %d between %d and %d: found %+v", middle, low, high, got)
	}
	if away := meters(got.Location, ends[0].at); away < whole*share-5 || away > whole*share+5 {
		t.Errorf("number %d is %.0f m from the beginning, want %.0f", middle, away, whole*share)
	}
}

func TestCrossings(t *testing.T) {
	x := openTown(t)
	want := first(t, x, street.Query{Line: "Main Street & Bridge Street, Alderbrook"})
	if want.Kind != street.KindCrossing || !strings.Contains(want.Street, " & ") {
		t.Fatalf("found %+v", want)
	}
	for _, line := range []string{
		"Bridge St and Main St, Alderbrook, NY", "Main Street at Bridge Street", "main street/bridge street", "Main Street @ Bridge Street", "corner of Main Street and Bridge Street",
		"Main Street / Bridge Street, Alderbrook", "Mian Street & Bridge Street, Alderbrook",
	} {
		got := first(t, x, street.Query{Line: line})
		if got.Kind != street.KindCrossing || meters(got.Location, want.Location) > 1 {
			t.Errorf("%s: found %+v, want %+v", line, got, want)
		}
	}
	if got := first(t, x, street.Query{Street: "Main Street & Bridge Street", City: "Alderbrook"}); got.Kind != street.KindCrossing {
		t.Errorf("in parts: found %+v", got)
	}
	if got := first(t, x, street.Query{Line: "Main Street & Nowhere Road"}); got.Kind == street.KindCrossing {
		t.Errorf("found %+v", got)
	}
}

func TestOtherCitiesAreNotConfirmed(t *testing.T) {
	x := openTown(t)
	for _, q := range []street.Query{
		{Line: "12 Main Street, Seattle, WA 98101"},
		{Number: "12", Street: "Main Street", City: "Seattle"},
		{Number: "12", Street: "Main Street", City: "Seattle", PostalCode: "98101"},
		{Line: "12 Main Street"},
	} {
		if got := first(t, x, q); got.Confirmed {
			t.Errorf("%+v: found %+v", q, got)
		}
	}
	for _, q := range []street.Query{
		{Line: "1 Qxyzzy Strasse, Alderbrook"},
		{Line: ""},
		{Line: ",,,"},
		{Line: "Alderbrook"},
		{Street: "Alderbrook Lane", City: "Alderbrook"},
		{Line: strings.Repeat("street ", 5000)},
	} {
		if got := first(t, x, q); got.Score > 0.8 {
			t.Errorf("%.60v: found %+v", q, got)
		}
	}
}

func TestSearchPrefersWhatIsNear(t *testing.T) {
	rows := "LON,LAT,NUMBER,STREET,CITY,REGION,POSTCODE\n"
	for i := range 6 {
		rows += fmt.Sprintf("%d.5,50.1,12,Main Street,Town %c,,%d\n", i, 'A'+i, 1000+i)
	}
	x := build(t, []byte(rows))
	for i := range 6 {
		got := first(t, x, street.Query{Line: "12 Main Street", Near: []street.Point{{Lon: float64(i) + 0.4, Lat: 50}}})
		if got.City != fmt.Sprintf("Town %c", 'A'+i) {
			t.Errorf("near town %d: found %+v", i, got)
		}
	}
	if got := first(t, x, street.Query{Line: "12 Main Street, Town C", Near: []street.Point{{Lon: 5.4, Lat: 50}}}); got.City != "Town C" || !got.Confirmed {
		t.Errorf("found %+v", got)
	}
}

// TestLongWords checks that words are counted, however they are joined.
func TestLongWords(t *testing.T) {
	x := openTown(t)
	for name, joined := range map[string]string{
		"hyphens":    "main" + strings.Repeat("-a", 100),
		"apostrophe": "main" + strings.Repeat("'a.b", 50),
		"after some": strings.Repeat("main ", 20) + strings.Repeat("a-b-c-", 50),
		"many":       strings.Repeat("main-street ", 100),
	} {
		for _, q := range []street.Query{
			{Line: joined},
			{Line: joined, Prefix: true},
			{Line: "12 " + joined + " & " + joined},
			{Street: joined, Number: "12", City: joined},
			{Street: joined, Number: joined, City: joined},
		} {
			if _, err := x.Search(q); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := x.Towns(q); err != nil {
				t.Errorf("%s: towns: %v", name, err)
			}
		}
	}
}

func TestAutocomplete(t *testing.T) {
	x := openTown(t)
	one := truths(t, townFile())[40]
	whole := one.number + " " + one.street
	for length := len(whole) - 3; length < len(whole); length++ {
		hits, err := x.Search(street.Query{Line: whole[:length], Prefix: true, Limit: 8})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, h := range hits {
			found = found || h.Street == one.street && h.Number == one.number
		}
		if !found || len(hits) > 8 {
			t.Errorf("%q: %+v, want %s", whole[:length], hits, whole)
		}
	}
	if hits, err := x.Search(street.Query{Line: "ma", Prefix: true, Limit: 5}); err != nil || len(hits) == 0 {
		t.Errorf("found %+v: %v", hits, err)
	}
}

func TestTowns(t *testing.T) {
	x := build(t, []byte(world))
	for line, want := range map[string]string{
		"Berlin": "Berlin", "berl": "Berlin", "Muenchen": "München", "Mün": "München", "Ciudad de": "Ciudad de México", "New": "New York",
		"New Y": "New York", "Stokholm": "Stockholm", "Москва": "Москва",
		"Berlin 12": "", "Berlin Germany": "", "York": "", "": "", "Atlantis": "",
	} {
		towns, err := x.Towns(street.Query{Line: line, Prefix: true, Limit: 3, Near: []street.Point{{Lon: -73.9, Lat: 40.7}}})
		got := ""
		if len(towns) > 0 {
			got = towns[0].Name
		}
		if err != nil || got != want || got != "" && got == line && !towns[0].Exact {
			t.Errorf("%q: found %+v, want %q: %v", line, towns, want, err)
		}
	}
	for line, want := range map[string]int{"Berlin": 1, "Berl": 0, "Berlim": 0} {
		if towns, err := x.Towns(street.Query{Line: line, Limit: 3}); err != nil || len(towns) != want {
			t.Errorf("%q in full: found %+v: %v", line, towns, err)
		}
	}
}

func TestReverse(t *testing.T) {
	x := openTown(t)
	all := truths(t, townFile())
	for i := 0; i < len(all); i += 50 {
		at := all[i].at
		at.Lat += 0.00001
		hits, err := x.Reverse(at, 3)
		if err != nil || len(hits) == 0 {
			t.Fatalf("%+v: found %+v: %v", all[i], hits, err)
		}
		if hits[0].Distance > 15 || hits[0].Kind != street.KindHouse {
			t.Errorf("%+v: found %+v", all[i], hits[0])
		}
	}
	for _, far := range []street.Point{{}, {Lon: 181}, {Lon: 12, Lat: 55}, {Lon: -74, Lat: 90}} {
		if hits, err := x.Reverse(far, 3); err != nil || len(hits) != 0 {
			t.Errorf("%+v: found %+v: %v", far, hits, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	x := openTown(t)
	want := map[string]bool{}
	for _, h := range truths(t, townFile()) {
		want[h.number+" "+h.street] = true
	}
	houses, streets := 0, 0
	err := x.Addresses(func(h street.Hit) bool {
		if h.Kind != street.KindHouse {
			streets++
			return true
		}
		delete(want, h.Number+" "+h.Street)
		houses++
		return true
	})
	if err != nil || len(want) > 0 || houses == 0 || streets == 0 {
		t.Errorf("%d houses and %d streets; %d are missing: %v", houses, streets, len(want), err)
	}
	count := 0
	if err := x.Addresses(func(street.Hit) bool { count++; return count < 10 }); err != nil || count != 10 {
		t.Errorf("%d addresses: %v", count, err)
	}
}

const aFeature = `{"type":"Feature","properties":{"number":"7B","street":"Store Kongensgade","city":"København K","postcode":"1264"},"geometry":{"type":"Point","coordinates":[12.57,55.68]}}`

func TestFormats(t *testing.T) {
	for name, content := range map[string]string{
		"OpenAddresses CSV":    "LON,LAT,NUMBER,STREET,UNIT,CITY,DISTRICT,REGION,POSTCODE,ID,HASH\n12.57,55.68,7B,Store Kongensgade,,København K,,,1264,,x\nx,y,1,A,,,,,,,\n0,0,1,A,,,,,,,\n",
		"lower case with BOM":  "\uFEFFlon,lat,number,street,city,postcode\n12.57,55.68,7B,\"Store Kongensgade\",København K,1264\n",
		"French address base":  "id;numero;rep;nom_voie;code_postal;nom_commune;x;y;lon;lat\n1;7;b;Store Kongensgade;1264;København K;1;2;12.57;55.68\n",
		"GeoJSON with BOM":     "\uFEFF" + aFeature + "\n",
		"a collection and BOM": "\uFEFF" + `{"type":"FeatureCollection","features":[` + aFeature + `]}`,
		"quoted with BOM":      "\uFEFF\"LON\",\"LAT\",\"NUMBER\",\"STREET\",\"CITY\",\"POSTCODE\"\n12.57,55.68,7B,Store Kongensgade,København K,1264\n",
		"GeoJSON lines":        aFeature + "\n" + `{"type":"Feature","properties":{},"geometry":null}`,
		"a GeoJSON collection": `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"number":"7B","street":"Store Kongensgade","city":"København K","postcode":1264},"geometry":{"type":"Point","coordinates":[12.57,55.68]}}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			x := build(t, []byte(content))
			got := first(t, x, street.Query{Line: "store kongensgade 7 b, 1264 københavn"})
			if got.Kind != street.KindHouse || got.Number != "7B" || got.PostalCode != "1264" || meters(got.Location, street.Point{Lon: 12.57, Lat: 55.68}) > 1 || !got.Confirmed {
				t.Errorf("found %+v", got)
			}
		})
	}
	t.Run("packed", func(t *testing.T) {
		const rows = "LON,LAT,NUMBER,STREET\n12.57,55.68,7B,Store Kongensgade\n"
		var zipped, gzipped bytes.Buffer
		archive := zip.NewWriter(&zipped)
		for name, text := range map[string]string{"readme.txt": "none", "addresses.csv": rows} {
			entry, err := archive.Create(name)
			if err == nil {
				_, err = io.WriteString(entry, text)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		packer := gzip.NewWriter(&gzipped)
		_, err := io.WriteString(packer, rows)
		if err := errors.Join(err, packer.Close(), archive.Close()); err != nil {
			t.Fatal(err)
		}
		for _, content := range [][]byte{zipped.Bytes(), gzipped.Bytes()} {
			var out bytes.Buffer
			open := func() (io.ReadCloser, error) { return inMemory{bytes.NewReader(content)}, nil }
			if err := street.Build(t.Context(), open, &out, func(float64) {}); err != nil {
				t.Error(err)
			}
		}
	})
	t.Run("GeoNames", func(t *testing.T) {
		x := build(t, []byte("DE\t99084\tErfurt\tThüringen\tTH\t\t00\tErfurt\t16051\t50.9787\t11.0328\t4\nDE\t99084\tDaberstedt\tThüringen\tTH\t\t\t\t\t50.97\t11.04\t4\n"))
		areas, err := x.PostalAreas("99 084")
		if err != nil || len(areas) != 2 || areas[0].City != "Erfurt" || areas[0].Country != "DE" || areas[0].State != "Thüringen" {
			t.Errorf("found %+v: %v", areas, err)
		}
		if areas, err := x.PostalAreas("1"); err != nil || len(areas) != 0 {
			t.Errorf("found %+v: %v", areas, err)
		}
	})
}

// TestPostalCodesOfTwoCountries keeps equal postal codes of different countries apart.
func TestPostalCodesOfTwoCountries(t *testing.T) {
	x := build(t, []byte(`LON,LAT,NUMBER,STREET,CITY,POSTCODE,COUNTRY
16.37,48.21,1,Graben,Wien,1010,AT
16.39,48.23,3,Ring,Wien,1010,AT
6.65,46.53,1,Avenue du Temple,Lausanne,1010,CH
`))
	areas, err := x.PostalAreas("1010")
	if err != nil || len(areas) != 2 {
		t.Fatalf("found %+v: %v", areas, err)
	}
	for _, a := range areas {
		want := map[string]street.Point{"AT Wien": {Lon: 16.38, Lat: 48.22}, "CH Lausanne": {Lon: 6.65, Lat: 46.53}}[a.Country+" "+a.City]
		if meters(a.Location, want) > 1 {
			t.Errorf("%s is at %v, want %v", a.City, a.Location, want)
		}
	}
	for line, city := range map[string]string{"Graben 1, 1010 Wien": "Wien", "Avenue du Temple 1, 1010 Lausanne": "Lausanne"} {
		if got := first(t, x, street.Query{Line: line}); got.PostalCode != "1010" || got.City != city || !got.Confirmed || !got.Whole {
			t.Errorf("%s: found %+v", line, got)
		}
	}
}

// TestHousesCloseTogether finds the houses of the last street of the file, which are a few
// bytes each.
func TestHousesCloseTogether(t *testing.T) {
	rows := "LON,LAT,NUMBER,STREET,CITY\n"
	for n := range 30 {
		rows += fmt.Sprintf("12.57,%.5f,%d,Row,Town\n", 55.68+float64(n)*0.00003, n+1)
	}
	x := build(t, []byte(rows))
	for n := range 30 {
		if got := first(t, x, street.Query{Line: fmt.Sprintf("Row %d, Town", n+1)}); got.Kind != street.KindHouse || got.Number != fmt.Sprint(n+1) {
			t.Fatalf("number %d: found %+v", n+1, got)
		}
	}
}

// inMemory is a file in memory.
type inMemory struct{ *bytes.Reader }

func (inMemory) Close() error { return nil }

func TestFilesThatCannotBeRead(t *testing.T) {
	for name, tt := range map[string]struct{ content, want string }{
		"nothing":                       {"", "neither"},
		"binary":                        {"\x00\x01\x02\xff\xfe" + strings.Repeat("\xff", 100), "neither"},
		"text":                          {"once upon a time\nthere was a street\n", "neither"},
		"CSV without streets":           {"a,b,c\n1,2,3\n", "no column"},
		"CSV without addresses":         {"LON,LAT,NUMBER,STREET\n", "contains no street"},
		"CSV without end":               {"LON,LAT,NUMBER,STREET\n1,2,3,\"" + strings.Repeat("x", 3<<20), "too long"},
		"GeoJSON cut after a feature":   {`{"type":"FeatureCollection","features":[` + aFeature, "cannot be read"},
		"GeoJSON cut after a comma":     {`{"type":"FeatureCollection","features":[` + aFeature + ",", "cannot be read"},
		"GeoJSON without end":           {`{"type":"FeatureCollection","features":[{"type":"Feature"`, "cannot be read"},
		"GeoJSON without end of a text": {`{"type":"Feature","properties":{"number":"` + strings.Repeat("x", 3<<20), "cannot be read"},
		"features without a list":       {`{"features":{}}`, "no list"},
		"postal codes cut short":        {"DE\t1\tA\tB\tC\tD\tE\tF\tG\t50\t11\t4\nDE\t1\n", "line 2"},
		"a broken archive":              {"PK\x03\x04 and nothing else", "archive"},
		"a broken gzip":                 {"\x1f\x8b and nothing else", "unpacked"},
		"a broken extract":              {string(townFile()[:5000]), "at byte"},
	} {
		t.Run(name, func(t *testing.T) {
			err := street.Build(t.Context(), reopen([]byte(tt.content)), io.Discard, func(float64) {})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v, want one with %q", err, tt.want)
			}
		})
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := street.Build(canceled, reopen(townFile()), io.Discard, func(float64) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func TestOtherVersionsAreRejected(t *testing.T) {
	content, err := townIndex()
	if err != nil {
		t.Fatal(err)
	}
	other := bytes.Clone(content)
	other[8]++
	if _, err := street.Open(other); !errors.Is(err, street.ErrVersion) {
		t.Errorf("the error is %v", err)
	}
	for _, size := range []int{0, 7, 31, 40, len(content) / 2, len(content) - 1} {
		if _, err := street.Open(content[:size]); !errors.Is(err, street.ErrDamaged) {
			t.Errorf("%d bytes: the error is %v", size, err)
		}
	}
}

func TestDamagedFiles(t *testing.T) { searchDamaged(t, 300) }

// searchDamaged searches damaged files.
func searchDamaged(t *testing.T, count int) {
	t.Helper()
	content, err := townIndex()
	if err != nil {
		t.Fatal(err)
	}
	queries := []street.Query{
		{Line: "12 Main Street, Alderbrook, NY 10018"},
		{Line: "Mian Street & Bridge Street"},
		{Line: "elm", Prefix: true, Limit: 20},
		{Number: "7", Street: "Oka Street", City: "Alderbrok", PostalCode: "10036", Near: []street.Point{{Lon: -73.98, Lat: 40.75}}},
	}
	random := rand.New(rand.NewPCG(11, 13))
	noticed := 0
	for range count {
		damaged := bytes.Clone(content)
		for range 1 + random.IntN(12) {
			at := random.IntN(len(damaged))
			if random.IntN(3) == 0 {
				at = random.IntN(4096)
			}
			switch random.IntN(3) {
			case 0:
				damaged[at] = byte(random.Uint32())
			case 1:
				damaged[at] ^= 1 << random.IntN(8)
			default:
				for k := at; k < min(at+8, len(damaged)); k++ {
					damaged[k] = 0xff
				}
			}
		}
		if random.IntN(4) == 0 {
			damaged = damaged[:random.IntN(len(damaged))]
		}
		x, err := street.OpenDamaged(damaged)
		if err != nil {
			noticed++
			continue
		}
		if x.Verify(t.Context()) == nil && !bytes.Equal(damaged[street.HeadSize:], content[street.HeadSize:]) {
			t.Error("Verify does not notice the damage")
		}
		for _, q := range queries {
			if _, err := x.Search(q); err != nil && !errors.Is(err, street.ErrDamaged) {
				t.Errorf("the error is %v", err)
			}
		}
		if _, err := x.Reverse(street.Point{Lon: -73.98, Lat: 40.7534}, 5); err != nil && !errors.Is(err, street.ErrDamaged) {
			t.Errorf("the error is %v", err)
		}
		if _, err := x.Towns(street.Query{Line: "Alder", Prefix: true}); err != nil && !errors.Is(err, street.ErrDamaged) {
			t.Errorf("the error is %v", err)
		}
		if _, err := x.PostalAreas("10018"); err != nil && !errors.Is(err, street.ErrDamaged) {
			t.Errorf("the error is %v", err)
		}
	}
	t.Logf("%d files, %d rejected when opened", count, noticed)
}
