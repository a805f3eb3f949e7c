package street

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// errUnknown means that a file has none of the formats.
var errUnknown = errors.New("the file is neither an OpenStreetMap extract (.osm.pbf), nor addresses of OpenAddresses (CSV or GeoJSON), nor postal codes of GeoNames (tab-separated text)")

// readSource reads a file of any format.
func readSource(ctx context.Context, open func() (io.ReadCloser, error), progress func(float64)) (*collection, error) {
	file, err := openUnpacked(open)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	in := bufio.NewReaderSize(file, 1<<16)
	begin, err := in.Peek(1 << 12)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if mark := []byte("\uFEFF"); bytes.HasPrefix(begin, mark) {
		begin = begin[len(mark):]
		if _, err := in.Discard(len(mark)); err != nil {
			return nil, err
		}
	}
	line, _, _ := bytes.Cut(begin, []byte("\n"))
	c := newCollection()
	rows := rowReader{collection: c, stop: ctx.Err}
	switch {
	case bytes.Contains(begin[:min(len(begin), 64)], []byte("OSMHeader")):
		return readExtract(ctx, open, progress)
	case len(begin) == 0 || !utf8.Valid(trimRune(begin)):
		return nil, errUnknown
	case bytes.HasPrefix(bytes.TrimSpace(begin), []byte("{")):
		err = rows.readGeoJSON(in)
	case bytes.Count(line, []byte("\t")) >= postalFields-2:
		err = rows.readPostal(in)
	case bytes.ContainsAny(line, ",;"):
		err = rows.readCSV(in, line)
	default:
		return nil, errUnknown
	}
	progress(1)
	return c, err
}

// maxUnpacked is the maximum size of the decompressed content of a file, in bytes.
const maxUnpacked = 64 << 30

// openUnpacked opens a file and decompresses it. Of a zip archive, as OpenAddresses and
// GeoNames publish them, it opens the largest file.
func openUnpacked(open func() (io.ReadCloser, error)) (io.ReadCloser, error) {
	file, err := open()
	if err != nil {
		return nil, err
	}
	var begin [4]byte
	n, err := io.ReadFull(file, begin[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, errors.Join(err, file.Close())
	}
	whole := io.MultiReader(bytes.NewReader(begin[:n]), file)
	switch {
	case bytes.HasPrefix(begin[:], []byte{0x1f, 0x8b}):
		unpacked, err := gzip.NewReader(whole)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("the file cannot be unpacked: %w", err), file.Close())
		}
		return unpackedFile{io.LimitReader(unpacked, maxUnpacked), file}, nil
	case string(begin[:]) == "PK\x03\x04":
		unpacked, err := largestOf(file)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("the archive cannot be read: %w", err), file.Close())
		}
		return unpackedFile{io.LimitReader(unpacked, maxUnpacked), file}, nil
	}
	return unpackedFile{whole, file}, nil
}

// unpackedFile reads from a Reader and closes the file below it.
type unpackedFile struct {
	io.Reader
	io.Closer
}

// largestOf returns the largest file of an archive.
func largestOf(file io.ReadCloser) (io.Reader, error) {
	archive, ok := file.(interface {
		io.ReaderAt
		io.Seeker
	})
	if !ok {
		return nil, errors.New("it cannot be read at any location")
	}
	size, err := archive.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	files, err := zip.NewReader(archive, size)
	if err != nil {
		return nil, err
	}
	if len(files.File) == 0 {
		return nil, errors.New("it is empty")
	}
	return slices.MaxFunc(files.File, func(a, b *zip.File) int {
		return cmp.Compare(a.UncompressedSize64, b.UncompressedSize64)
	}).Open()
}

// trimRune removes the end of a text, where a rune may be incomplete.
func trimRune(text []byte) []byte { return text[:max(len(text)-utf8.UTFMax, 0)] }

// rowReader reads files with one address after another.
type rowReader struct {
	*collection
	rows int
	stop func() error // returns an error if reading must end
}

// more counts a row and returns an error if reading must end.
func (r *rowReader) more() error {
	if r.rows++; r.rows%4096 == 0 {
		return r.stop()
	}
	return nil
}

// row adds an address.
func (r *rowReader) row(number, street, city, state, code, country string, lon, lat float64) {
	at, ok := microOf(lon, lat)
	if !ok || lon == 0 && lat == 0 || strings.TrimSpace(number) == "" {
		return
	}
	r.add(number, address{
		street: r.text(street), city: r.text(city), state: r.text(state), code: r.text(code), country: r.text(countryCode(country)), at: at,
	})
}

// columns are the names of columns: those of OpenAddresses, then those of the French
// national address base.
var columns = map[string][]string{
	"lon": {"lon", "longitude", "x"}, "lat": {"lat", "latitude", "y"}, "number": {"number", "numero", "housenumber"}, "street": {"street", "nom_voie", "road"},
	"city": {"city", "nom_commune", "commune"}, "region": {"region", "state"}, "code": {"postcode", "code_postal", "zip", "postal_code"}, "suffix": {"rep"}, "country": {"country"},
}

// readCSV reads the addresses of OpenAddresses or of the French address base.
func (r *rowReader) readCSV(in io.Reader, header []byte) error {
	limited := &io.LimitedReader{R: in, N: maxFeature}
	rows := csv.NewReader(limited)
	if bytes.Count(header, []byte(";")) > bytes.Count(header, []byte(",")) {
		rows.Comma = ';'
	}
	rows.ReuseRecord, rows.LazyQuotes, rows.FieldsPerRecord = true, true, -1
	first, err := rows.Read()
	if err != nil {
		return fmt.Errorf("the CSV file cannot be read: %w", err)
	}
	at := map[string]int{}
	for column, names := range columns {
		at[column] = -1
		for _, name := range slices.Backward(names) { // the first has precedence
			if i := slices.IndexFunc(first, func(title string) bool { return strings.EqualFold(strings.Trim(title, " \""), name) }); i >= 0 {
				at[column] = i
			}
		}
	}
	for _, needed := range []string{"lon", "lat", "number", "street"} {
		if at[needed] < 0 {
			return fmt.Errorf("the CSV file has no column %s; OpenAddresses has LON, LAT, NUMBER, STREET, CITY, REGION and POSTCODE", strings.ToUpper(needed))
		}
	}
	for {
		limited.N = maxFeature
		fields, err := rows.Read()
		if limited.N == 0 {
			return fmt.Errorf("the CSV file cannot be read after row %d: the next row is too long", r.rows)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = r.more()
		}
		if err != nil {
			return fmt.Errorf("the CSV file cannot be read: %w", err)
		}
		get := func(column string) string {
			if i := at[column]; i >= 0 && i < len(fields) {
				return fields[i]
			}
			return ""
		}
		lon, errLon := strconv.ParseFloat(get("lon"), 64)
		lat, errLat := strconv.ParseFloat(get("lat"), 64)
		if errLon != nil || errLat != nil {
			continue
		}
		r.row(get("number")+get("suffix"), get("street"), get("city"), get("region"), get("code"), get("country"), lon, lat)
	}
}

// feature is an address in GeoJSON.
type feature struct {
	Type     string `json:"type"`
	Geometry struct {
		Type        string          `json:"type"`
		Coordinates json.RawMessage `json:"coordinates"`
	} `json:"geometry"`
	Properties map[string]any `json:"properties"`
}

// maxFeature is the maximum length of a row or feature of a file, in bytes.
const maxFeature = 1 << 20

// readGeoJSON reads features that follow one another, or those of one collection.
func (r *rowReader) readGeoJSON(in *bufio.Reader) error {
	limited := &io.LimitedReader{R: in, N: maxFeature}
	decoder := json.NewDecoder(limited)
	collection := false
	begin, _ := in.Peek(1 << 12)
	if at := bytes.Index(begin, []byte(`"features"`)); at >= 0 && !bytes.Contains(begin[:at], []byte(`"geometry"`)) {
		open := bytes.IndexByte(begin[at:], '[')
		if open < 0 {
			return errors.New("the GeoJSON file cannot be read: its features are no list")
		}
		if _, err := in.Discard(at + open); err != nil {
			return err
		}
		if _, err := decoder.Token(); err != nil {
			return fmt.Errorf("the GeoJSON file cannot be read: %w", err)
		}
		collection = true
	}
	for !collection || decoder.More() {
		var f feature
		if err := decoder.Decode(&f); errors.Is(err, io.EOF) && !collection {
			return nil
		} else if err != nil {
			return fmt.Errorf("the GeoJSON file cannot be read after feature %d: %w", r.rows, err)
		}
		if err := r.more(); err != nil {
			return err
		}
		r.addFeature(f)
		limited.N = maxFeature
	}
	if _, err := decoder.Token(); err != nil { // the end of the list
		return fmt.Errorf("the GeoJSON file cannot be read after feature %d: %w", r.rows, err)
	}
	return nil
}

func (r *rowReader) addFeature(f feature) {
	var at [2]float64
	if f.Geometry.Type != "Point" || json.Unmarshal(f.Geometry.Coordinates, &at) != nil {
		return
	}
	get := func(column string) string {
		for _, name := range columns[column] {
			switch v := f.Properties[name].(type) {
			case string:
				return v
			case float64:
				return strconv.FormatFloat(v, 'f', -1, 64)
			}
		}
		return ""
	}
	r.row(get("number"), get("street"), get("city"), get("region"), get("code"), get("country"), at[0], at[1])
}

// The fields of a line of GeoNames' postal code files.
const (
	postalCountry = 0
	postalCode    = 1
	postalName    = 2
	postalState   = 3
	postalLat     = 9
	postalLon     = 10
	postalFields  = 12
)

// maxPostalLine is the maximum length of a line of a file of postal codes, in bytes.
const maxPostalLine = 4 << 10

// readPostal reads the postal codes of GeoNames.
func (r *rowReader) readPostal(in io.Reader) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, maxPostalLine)
	for n := 1; lines.Scan(); n++ {
		if err := r.more(); err != nil {
			return err
		}
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) < postalFields-1 {
			return fmt.Errorf("line %d has %d fields where a postal code file of GeoNames has %d, with tabs between", n, len(fields), postalFields)
		}
		lat, errLat := strconv.ParseFloat(strings.TrimSpace(fields[postalLat]), 64)
		lon, errLon := strconv.ParseFloat(strings.TrimSpace(fields[postalLon]), 64)
		at, ok := microOf(lon, lat)
		if cmp.Or(errLat, errLon) != nil || !ok || lat == 0 && lon == 0 {
			continue // a few have no location
		}
		r.postal = append(r.postal, postalArea{
			code: strings.Clone(fields[postalCode]), city: r.texts[r.text(fields[postalName])], state: r.texts[r.text(fields[postalState])],
			country: r.texts[r.text(countryCode(fields[postalCountry]))], at: at,
		})
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("the postal codes cannot be read: %w", err)
	}
	return nil
}
