package geo_test

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
	"testing"

	"dray/internal/geo"
	"dray/internal/lastmile"
)

const someCodes = "DE\t10115\tBerlin\tBerlin\tBE\t\t00\tBerlin, Stadt\t11000\t52.5337\t13.3872\t4\n" +
	"DE\t80331\tMünchen\tBayern\tBY\tUpper Bavaria\t091\tMünchen\t09162\t48.1345\t11.571\t4\n" +
	"DE\t00000\tNirgends\t\t\t\t\t\t\t\t\t\n" +
	"GB\tsw1a 1aa\tLondon\tEngland\tENG\tGreater London\t\t\t\t51.501\t-0.1416\t6\r\n"

func readCodes(r io.Reader) (all []lastmile.PostalArea, err error) {
	err = geo.ReadPostalCodes(r, func(p lastmile.PostalArea) error {
		all = append(all, p)
		return nil
	})
	return all, err
}

func TestReadPostalCodes(t *testing.T) {
	got, err := readCodes(strings.NewReader("\uFEFF" + someCodes + "\n"))
	want := []lastmile.PostalArea{
		{Country: "DE", Code: "10115", Name: "Berlin", State: "Berlin", Location: lastmile.Point{Lon: 13.3872, Lat: 52.5337}},
		{Country: "DE", Code: "80331", Name: "München", State: "Bavaria", County: "Upper Bavaria", Location: lastmile.Point{Lon: 11.571, Lat: 48.1345}},
		{Country: "GB", Code: "SW1A1AA", Name: "London", State: "England", County: "Greater London", Location: lastmile.Point{Lon: -0.1416, Lat: 51.501}},
	}
	if err != nil || len(got) != len(want) {
		t.Fatalf("got %+v, %v", got, err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %+v, want %+v", got[i], want[i])
		}
	}
}

func TestReadPostalCodesSaysWhichLineIsWrong(t *testing.T) {
	good := "DE\t10115\tBerlin\tBerlin\tBE\t\t00\t\t\t52.5\t13.3\t4\n"
	for name, line := range map[string]string{
		"no tabs":          "DE 10115 Berlin",
		"few fields":       "DE\t10115\tBerlin",
		"no country":       "XX\t10115\tBerlin\t\t\t\t\t\t\t52.5\t13.3\t4",
		"no code":          "DE\t--\tBerlin\t\t\t\t\t\t\t52.5\t13.3\t4",
		"no name":          "DE\t10115\t \t\t\t\t\t\t\t52.5\t13.3\t4",
		"invalid latitude": "DE\t10115\tBerlin\t\t\t\t\t\t\tx\t13.3\t4",
		"off the earth":    "DE\t10115\tBerlin\t\t\t\t\t\t\t152.5\t13.3\t4",
		"not UTF-8":        "DE\t10115\tBer\xfflin\t\t\t\t\t\t\t52.5\t13.3\t4",
		"no longitude":     "DE\t10115\tBerlin\t\t\t\t\t\t\t52.5\t\t4",
		"a picture":        "\x89PNG\r\n\x1a",
		"another format":   `{"postal":"10115"}`,
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := readCodes(strings.NewReader(good + line + "\n")); err == nil || !strings.Contains(err.Error(), "line 2") {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
	if _, err := readCodes(strings.NewReader(strings.Repeat("x", 1<<20))); err == nil {
		t.Error("a line without end was read")
	}
}

func TestALargePostalFileIsRejected(t *testing.T) {
	for size, want := range map[int]bool{len(someCodes): true, len(someCodes) - 1: false, len(someCodes) / 2: false} {
		err := geo.ReadPostalCodesOfSize(strings.NewReader(someCodes), int64(size), func(lastmile.PostalArea) error { return nil })
		if (err == nil) != want || err != nil && !strings.Contains(err.Error(), "too large") {
			t.Errorf("%d bytes of %d are allowed: %v", size, len(someCodes), err)
		}
	}
}

func TestOpenPostalFile(t *testing.T) {
	archive := func(name string) []byte {
		var packed bytes.Buffer
		z := zip.NewWriter(&packed)
		readme, _ := z.Create("readme.txt")
		_, _ = io.WriteString(readme, "read me")
		codes, _ := z.Create(name)
		_, _ = io.WriteString(codes, someCodes)
		_ = z.Close()
		return packed.Bytes()
	}
	for name, tt := range map[string]struct {
		file []byte
		want int // number of areas, or -1 for an error
	}{
		"a text":                   {[]byte(someCodes), 3},
		"an archive":               {archive("DE.txt"), 3},
		"an archive of all codes":  {archive("GB_full.txt"), 3},
		"an archive without codes": {archive("photo.jpg"), -1},
		"half an archive":          {archive("DE.txt")[:60], -1},
		"nothing":                  {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := geo.OpenPostalFile(bytes.NewReader(tt.file), int64(len(tt.file)))
			if (err != nil) != (tt.want < 0) {
				t.Fatal(err)
			}
			if err != nil {
				return
			}
			defer r.Close()
			if got, err := readCodes(r); err != nil || len(got) != tt.want {
				t.Errorf("got %d places, %v; want %d", len(got), err, tt.want)
			}
		})
	}
}

func FuzzReadPostalCodes(f *testing.F) {
	f.Add(someCodes)
	f.Add("DE\t1\t\t\t\t\t\t\t\t1e400\tNaN\t")
	f.Fuzz(func(t *testing.T, text string) {
		_ = geo.ReadPostalCodes(strings.NewReader(text), func(p lastmile.PostalArea) error {
			if _, err := lastmile.NewPoint(p.Location.Lon, p.Location.Lat); err != nil || p.Location.IsZero() || p.Code == "" || p.Name == "" || len(p.Country) != 2 {
				t.Fatalf("half a place: %+v", p)
			}
			return nil
		})
	})
}
