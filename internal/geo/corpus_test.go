package geo_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"dray/internal/geo"
	"dray/internal/lastmile"
)

// corpus reads a file of testdata: lines of columns separated by "|". Lines that
// are empty or begin with "#" are skipped.
func corpus(t *testing.T, name string) [][]string {
	t.Helper()
	content, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	var rows [][]string
	for line := range strings.Lines(string(content)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Split(line, "|")
		for i, column := range columns {
			columns[i] = strings.TrimSpace(column)
		}
		rows = append(rows, columns)
	}
	return rows
}

// outcome returns the result of geocoding in the form of the corpus.
func outcome(t *testing.T, q lastmile.AddressQuery, parts func(lastmile.Address) []string) string {
	t.Helper()
	p, err := new(geo.Gazetteer).Geocode(t.Context(), q)
	if rejection, ok := errors.AsType[*lastmile.Error](err); ok && rejection.Code == lastmile.CodeInvalid && rejection.Cause != "" {
		return "error 1000"
	}
	if err != nil {
		t.Errorf("%+v: %v", q, err)
	}
	return strings.Join(parts(p.Address), " | ")
}

func TestCorpusOfLines(t *testing.T) {
	rows := corpus(t, "lines.txt")
	for _, row := range rows {
		if len(row) != 3 && len(row) != 9 {
			t.Fatalf("%q has %d columns", row, len(row))
		}
		got := outcome(t, lastmile.AddressQuery{Unparsed: row[1], Country: row[0]}, func(a lastmile.Address) []string {
			return []string{a.Number, a.Street, a.Apartment, a.City, a.State, a.PostalCode, a.Country}
		})
		if want := strings.Join(row[2:], " | "); got != want {
			t.Errorf("%s (%s):\n got %s\nwant %s", row[1], row[0], got, want)
		}
	}
	t.Logf("%d lines", len(rows))
}

func TestCorpusOfParts(t *testing.T) {
	rows := corpus(t, "parts.txt")
	for _, row := range rows {
		if len(row) != 5 && len(row) != 8 {
			t.Fatalf("%q has %d columns", row, len(row))
		}
		ask := lastmile.Address{Number: "1", Street: "Main St", City: row[0], State: row[1], PostalCode: row[2], Country: row[3]}
		got := outcome(t, lastmile.AddressQuery{Address: ask, Country: "US"}, func(a lastmile.Address) []string {
			if a.Number != ask.Number || a.Street != ask.Street {
				t.Errorf("%v: number %q, street %q", row, a.Number, a.Street)
			}
			return []string{a.City, a.State, a.PostalCode, a.Country}
		})
		if want := strings.Join(row[4:], " | "); got != want {
			t.Errorf("%v:\n got %s\nwant %s", row[:4], got, want)
		}
	}
	t.Logf("%d addresses", len(rows))
}
