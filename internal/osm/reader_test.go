package osm_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"dray/internal/osm"
)

// extract returns the path of an extract that is not part of the repository.
func extract(t testing.TB, name string) string {
	t.Helper()
	folder := os.Getenv("DRAY_TESTDATA")
	if folder == "" {
		t.Skip("SKIPPED: set DRAY_TESTDATA to the folder of the extracts")
	}
	return filepath.Join(folder, "osm", name+".osm.pbf")
}

// TestReadExtracts compares counts with those of osmium fileinfo -e.
func TestReadExtracts(t *testing.T) {
	type counts struct{ nodes, ways, relations int }
	for name, want := range map[string]counts{
		"columbus-plain-nodes": {110560, 15503, 111},
		"copenhagen":           {132142, 15597, 379},
		"liechtenstein":        {295005, 29874, 884},
		"malta":                {252937, 40028, 527},
		"milan":                {262352, 69043, 2350},
		"porto":                {347944, 51458, 357},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, err := os.Open(extract(t, name))
			if err != nil {
				t.Fatal(err)
			}
			defer file.Close()
			var got counts
			err = osm.Read(t.Context(), file, osm.Handler{
				Node:     func(*osm.Node) error { got.nodes++; return nil },
				Way:      func(*osm.Way) error { got.ways++; return nil },
				Relation: func(*osm.Relation) error { got.relations++; return nil },
			})
			if err != nil || got != want {
				t.Errorf("read %+v, want %+v (%v)", got, want, err)
			}
		})
	}
}

// Encoding of protocol buffers, as little of it as the tests need.

func number(field int, v uint64) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(field)<<3), v)
}

func content(field int, parts ...[]byte) []byte {
	all := bytes.Join(parts, nil)
	return append(binary.AppendUvarint(binary.AppendUvarint(nil, uint64(field)<<3|2), uint64(len(all))), all...)
}

func text(field int, s string) []byte { return content(field, []byte(s)) }

func list(field int, values ...uint64) []byte {
	var all []byte
	for _, v := range values {
		all = binary.AppendUvarint(all, v)
	}
	return content(field, all)
}

func zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

func zigzags(field int, values ...int64) []byte {
	var all []uint64
	for _, v := range values {
		all = append(all, zigzag(v))
	}
	return list(field, all...)
}

func framed(kind string, blob []byte) []byte {
	head := append(text(1, kind), number(3, uint64(len(blob)))...)
	return append(append(binary.BigEndian.AppendUint32(nil, uint32(len(head))), head...), blob...)
}

func deflated(content []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(content)
	w.Close()
	return b.Bytes()
}

func zipped(kind string, parts ...[]byte) []byte {
	all := bytes.Join(parts, nil)
	return framed(kind, append(number(2, uint64(len(all))), content(3, deflated(all))...))
}

func plain(kind string, parts ...[]byte) []byte { return framed(kind, content(1, parts...)) }

var (
	header = zipped("OSMHeader", text(4, "OsmSchema-V0.6"), text(4, "DenseNodes"), number(32, 1767225600),
		content(1, number(1, zigzag(12e9)), number(2, zigzag(13e9)), number(3, zigzag(56e9)), number(4, zigzag(55e9))))
	table = content(1, text(1, ""), text(1, "name"), text(1, "Østergade"), text(1, "via"), text(1, "highway"))

	denseGroup = content(2, content(2, zigzags(1, 7, 1), zigzags(8, 556770000, 10), zigzags(9, -125680000, -10), list(10, 0, 1, 2, 4, 2, 0)))
	plainGroup = content(2, content(1, number(1, zigzag(9)), list(2, 1), list(3, 2), number(8, zigzag(556780000)), number(9, zigzag(125690000))))
	wayGroup   = content(2, content(3, number(1, 5), list(2, 1), list(3, 2), zigzags(8, 7, 1, 1)))
	relGroup   = content(2, content(4, number(1, 6), list(2, 4), list(3, 2), list(8, 3, 0), zigzags(9, 5, 2), list(10, 1, 0)))
)

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// blobs returns the blobs of a file with every kind of element and of blob.
func blobs() [][]byte {
	return [][]byte{
		header,
		zipped("OSMData", table, denseGroup),
		plain("OSMData", wayGroup, table, plainGroup, relGroup), // the table need not come first
		plain("Unknown", []byte("skipped")),
	}
}

func sample() []byte { return join(blobs()...) }

// collect returns what a file contains, as text.
func collect(ctx context.Context, file []byte) (all []string, err error) {
	err = osm.Read(ctx, bytes.NewReader(file), osm.Handler{
		Header:   func(h osm.Header) error { all = append(all, fmt.Sprint(h)); return nil },
		Node:     func(n *osm.Node) error { all = append(all, fmt.Sprint(*n)); return nil },
		Way:      func(w *osm.Way) error { all = append(all, fmt.Sprint(*w)); return nil },
		Relation: func(r *osm.Relation) error { all = append(all, fmt.Sprint(*r)); return nil },
	})
	return all, err
}

func TestRead(t *testing.T) {
	got, err := collect(t.Context(), sample())
	want := []string{
		"{12 55 13 56 1767225600}",
		"{7 -125680000 556770000 []}",
		"{8 -125680010 556770010 [{name Østergade} {highway Østergade}]}",
		"{5 [7 8 9] [{name Østergade}]}",
		"{9 125690000 556780000 [{name Østergade}]}",
		"{6 [{1 5 via} {0 7 }] [{highway Østergade}]}",
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func TestReadUnits(t *testing.T) {
	for name, test := range map[string]struct {
		block    []byte
		lon, lat int32
	}{
		"nanodegrees": {join(number(17, 1), content(2, content(1, number(8, zigzag(90e9)), number(9, zigzag(-180e9))))), -1800000000, 900000000},
		"an offset":   {join(number(19, 5e9), number(20, 7e9), content(2, content(1, number(8, zigzag(1)), number(9, zigzag(-1))))), 69999999, 50000001},
		"rounding":    {join(number(17, 1), content(2, content(1, number(8, zigzag(149)), number(9, zigzag(-151))))), -2, 1},
	} {
		t.Run(name, func(t *testing.T) {
			err := osm.Read(t.Context(), bytes.NewReader(join(header, plain("OSMData", test.block))), osm.Handler{
				Node: func(n *osm.Node) error {
					if n.Lon != test.lon || n.Lat != test.lat {
						t.Errorf("at %d,%d, want %d,%d", n.Lon, n.Lat, test.lon, test.lat)
					}
					return nil
				},
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestReadRejects(t *testing.T) {
	data := func(parts ...[]byte) []byte { return join(header, plain("OSMData", parts...)) }
	bomb := deflated(make([]byte, 40<<20))
	for name, test := range map[string]struct {
		file []byte
		want string
	}{
		"an empty file":                      {nil, "byte 0: the file is empty"},
		"another format":                     {[]byte("<?xml version='1.0'?>"), "not an .osm.pbf file"},
		"no header":                          {plain("OSMData", table), "does not begin with a header"},
		"history":                            {zipped("OSMHeader", text(4, "HistoricalInformation")), `needs the feature "HistoricalInformation"`},
		"a large blob header":                {[]byte{0, 2, 0, 0}, "the header of a block has 131072 bytes"},
		"a large blob":                       {join(binary.BigEndian.AppendUint32(nil, 15), text(1, "OSMData"), number(3, 1<<30)), "a block has 1073741824 bytes"},
		"a large block":                      {framed("OSMHeader", join(number(2, 1<<30), content(3, bomb))), "a block has 1073741824 bytes"},
		"a block larger than it says":        {framed("OSMHeader", join(number(2, 10), content(3, bomb))), "size or checksum is wrong"},
		"a block smaller than it says":       {framed("OSMHeader", join(number(2, 50), content(3, deflated([]byte("x"))))), "damaged"},
		"another compression":                {framed("OSMHeader", content(7, []byte("x"))), "other than zlib"},
		"a text that does not exist":         {data(table, content(2, content(3, list(2, 1), list(3, 99)))), "not in its block"},
		"a key without a value":              {data(table, content(2, content(3, list(2, 1)))), "do not match"},
		"a dense key without a value":        {data(table, content(2, content(2, zigzags(1, 1), zigzags(8, 1), zigzags(9, 1), list(10, 1)))), "do not match"},
		"a node without a latitude":          {data(content(2, content(2, zigzags(1, 1), zigzags(9, 1)))), "do not match"},
		"a latitude of 91":                   {data(content(2, content(1, number(8, zigzag(91e7))))), "not on the Earth"},
		"a latitude that overflows":          {data(content(2, content(1, number(8, 1<<63)))), "not on the Earth"},
		"a granularity of zero":              {data(number(17, 0), denseGroup), "granularity"},
		"members without roles":              {data(table, content(2, content(4, zigzags(9, 1)))), "incomplete"},
		"a member that is a changeset":       {data(table, content(2, content(4, list(8, 0), zigzags(9, 1), list(10, 3)))), "not in its block"},
		"numbers that are not packed":        {data(content(2, content(3, number(8, 3)))), "not packed"},
		"numbers in two lists":               {data(content(2, content(3, zigzags(8, 3), zigzags(8, 4)))), "not packed"},
		"a way with too many nodes":          {data(content(2, content(3, content(8, make([]byte, 1<<20+1))))), "has 1048577 nodes"},
		"a relation with too many members":   {data(content(2, content(4, content(9, make([]byte, 1<<20+1))))), "has 1048577 members"},
		"too many texts":                     {data(content(1, bytes.Repeat(text(1, ""), 1<<22+1))), "more than 4194304 texts"},
		"a field of an unknown type":         {data([]byte{7}), "unknown type 7"},
		"a number that ends in its middle":   {data(content(2, content(3, content(8, []byte{0x80})))), "truncated"},
		"a field longer than its message":    {data([]byte{0x12, 0x50}), "truncated"},
		"a length that overflows":            {data(append([]byte{0x12}, binary.AppendUvarint(nil, 1<<63)...)), "truncated"},
		"a fixed number that ends too early": {data([]byte{1, 2, 3}), "truncated"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := collect(t.Context(), test.file); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// TestReadTruncated cuts a file after every byte. A cut between two blobs is not
// an error of the format.
func TestReadTruncated(t *testing.T) {
	whole := sample()
	end, ends := 0, map[int]bool{}
	for _, blob := range blobs() {
		end += len(blob)
		ends[end] = true
	}
	for n := range whole {
		if _, err := collect(t.Context(), whole[:n]); (err == nil) != ends[n] {
			t.Errorf("cut after %d of %d bytes: %v", n, len(whole), err)
		}
	}
}

func TestReadStops(t *testing.T) {
	stop := errors.New("enough")
	seen := 0
	err := osm.Read(t.Context(), bytes.NewReader(sample()), osm.Handler{Node: func(*osm.Node) error { seen++; return stop }})
	if !errors.Is(err, stop) || err.Error() != "enough" || seen != 1 {
		t.Errorf("read on after the handler's error: %v, %d nodes", err, seen)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := collect(ctx, sample()); !errors.Is(err, context.Canceled) {
		t.Errorf("read with a canceled context: %v", err)
	}
}
