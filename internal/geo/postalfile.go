package geo

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"dray/internal/geo/gazetteer"
	"dray/internal/lastmile"
)

// The fields of a line of GeoNames' postal code files.
const (
	postalCountry = 0
	postalCode    = 1
	postalName    = 2
	postalState   = 3
	postalCounty  = 5
	postalLat     = 9
	postalLon     = 10
	postalFields  = 12
)

// Limits of a postal code file.
const (
	maxPostalLine = 4 << 10
	maxPostalFile = 1 << 30
)

// ReadPostalCodes parses a postal code file of GeoNames, such as DE.txt from
// https://download.geonames.org/export/zip/, and calls each with its areas in
// order, except those without a location. It stops at the first malformed line and returns an
// error with its number.
func ReadPostalCodes(r io.Reader, each func(lastmile.PostalArea) error) error {
	return readPostalCodes(r, maxPostalFile, each)
}

// readPostalCodes implements ReadPostalCodes for files of at most some bytes.
func readPostalCodes(r io.Reader, most int64, each func(lastmile.PostalArea) error) error {
	places, err := gazetteer.Embedded()
	if err != nil {
		return err
	}
	limited := &io.LimitedReader{R: r, N: most + 1}
	lines := bufio.NewScanner(limited)
	lines.Buffer(nil, maxPostalLine)
	for n := 1; lines.Scan(); n++ {
		if limited.N == 0 {
			return fmt.Errorf("the file is too large; the maximum is %d bytes", most)
		}
		line := bytes.TrimPrefix(lines.Bytes(), []byte("\uFEFF"))
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		place, err := parsePostal(places, string(line))
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		if place.Location.IsZero() {
			continue
		}
		if err := each(place); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read the postal codes: %w", err)
	}
	return nil
}

func parsePostal(places *gazetteer.Gazetteer, line string) (lastmile.PostalArea, error) {
	fields := strings.Split(strings.TrimRight(line, "\r"), "\t")
	if len(fields) < postalFields-1 || !utf8.ValidString(line) {
		return lastmile.PostalArea{}, fmt.Errorf("%d fields where a postal code file of GeoNames has %d, with tabs between", len(fields), postalFields)
	}
	p := lastmile.PostalArea{
		Country: strings.ToUpper(strings.TrimSpace(fields[postalCountry])), Code: normalizePostal(fields[postalCode]),
		Name: sanitize(fields[postalName]), State: sanitize(fields[postalState]), County: sanitize(fields[postalCounty]),
	}
	if places.CountryName(p.Country) == "" {
		return p, fmt.Errorf("%q is not a country code", fields[postalCountry])
	}
	if p.Code == "" || p.Name == "" {
		return p, errors.New("there is no postal code or no name")
	}
	if fields[postalLat] == "" && fields[postalLon] == "" {
		return p, nil // a few areas have no location
	}
	lat, errLat := strconv.ParseFloat(strings.TrimSpace(fields[postalLat]), 64)
	lon, errLon := strconv.ParseFloat(strings.TrimSpace(fields[postalLon]), 64)
	at, err := lastmile.NewPoint(lon, lat)
	if errLat != nil || errLon != nil || err != nil {
		return p, fmt.Errorf("%q, %q is not a location on the earth", fields[postalLat], fields[postalLon])
	}
	if state, ok := places.State(p.Country, p.State); ok {
		p.State = state.Name
	}
	p.Location = at
	return p, nil
}

var postalFileName = regexp.MustCompile(`^[A-Z]{2}(_full(\.csv)?)?\.txt$|^allCountries\.txt$`)

// OpenPostalFile opens a file of postal codes, which may be a ZIP archive as published by
// GeoNames.
func OpenPostalFile(file io.ReaderAt, size int64) (io.ReadCloser, error) {
	begin := make([]byte, 4)
	if n, err := file.ReadAt(begin, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	} else if string(begin[:n]) != "PK\x03\x04" {
		return io.NopCloser(io.NewSectionReader(file, 0, size)), nil
	}
	archive, err := zip.NewReader(file, size)
	if err != nil {
		return nil, err
	}
	for _, f := range archive.File {
		if postalFileName.MatchString(f.Name) {
			return f.Open()
		}
	}
	return nil, errors.New("the archive holds no file of postal codes such as DE.txt")
}
