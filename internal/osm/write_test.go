package osm_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"dray/internal/osm"
)

func TestWrittenElementsAreRead(t *testing.T) {
	var file bytes.Buffer
	w := osm.NewWriter(&file, -74.1, 40.6, -73.9, 40.8)
	var want []string
	for i := range int64(20_000) { // three blocks
		id, lon, lat := i*3+1, -74+float64(i)/1e6, 40.7-float64(i)/1e6
		var tags []string
		if i%5 == 0 {
			tags = []string{"addr:housenumber", fmt.Sprint(i), "name", "Straße"}
		}
		w.Node(id, lon, lat, tags...)
		want = append(want, fmt.Sprintf("node %d %.6f %.6f %s", id, lon, lat, strings.Join(tags, " ")))
	}
	w.Way(7, []int64{1, 4, 1 << 40, 2}, "highway", "residential")
	w.Way(8, nil)
	w.Relation(9, []osm.Member{{Kind: osm.KindWay, ID: 7, Role: "from"}, {Kind: osm.KindNode, ID: 1, Role: "via"}, {Kind: osm.KindRelation, ID: 2}}, "type", "restriction")
	want = append(want, "way 7 [1 4 1099511627776 2] highway residential", "way 8 [] ", "relation 9 [{1 7 from} {0 1 via} {2 2 }] type restriction")
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	var got []string
	var header osm.Header
	join := func(tags osm.Tags) string {
		var all []string
		for _, tag := range tags {
			all = append(all, tag.Key, tag.Value)
		}
		return strings.Join(all, " ")
	}
	err := osm.Read(t.Context(), &file, osm.Handler{
		Header: func(h osm.Header) error { header = h; return nil },
		Node: func(n *osm.Node) error {
			lon, lat := n.Degrees()
			got = append(got, fmt.Sprintf("node %d %.6f %.6f %s", n.ID, lon, lat, join(n.Tags)))
			return nil
		},
		Way: func(w *osm.Way) error {
			got = append(got, fmt.Sprintf("way %d %v %s", w.ID, w.Refs, join(w.Tags)))
			return nil
		},
		Relation: func(r *osm.Relation) error {
			got = append(got, fmt.Sprintf("relation %d %v %s", r.ID, r.Members, join(r.Tags)))
			return nil
		},
	})
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("read %d elements, want %d; the last are %q: %v", len(got), len(want), got[max(len(got)-4, 0):], err)
	}
	if header.Left != -74.1 || header.Bottom != 40.6 || header.Right != -73.9 || header.Top != 40.8 {
		t.Errorf("the header is %+v", header)
	}
}

func TestWriterReportsErrors(t *testing.T) {
	full := errors.New("the disk is full")
	w := osm.NewWriter(failing{full}, 0, 0, 1, 1)
	w.Node(1, 0, 0)
	if err := w.Close(); !errors.Is(err, full) {
		t.Errorf("the error is %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }
