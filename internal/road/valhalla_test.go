package road

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"testing"

	"dray/internal/osm"
)

// costings are the models of Valhalla for the profiles.
var costings = [profiles]string{Car: "auto", Truck: "truck", Bicycle: "bicycle", Foot: "pedestrian"}

// TestValhallaTimes reports how far travel times are from those of Valhalla on the same
// extract. See scripts/valhalla.sh.
func TestValhallaTimes(t *testing.T) {
	url, file := os.Getenv("DRAY_TEST_VALHALLA"), os.Getenv("DRAY_TEST_EXTRACT")
	if url == "" || file == "" {
		t.Skip("NOT COMPARED WITH VALHALLA: run scripts/valhalla.sh EXTRACT.osm.pbf go test -v -run ValhallaTimes ./internal/road")
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	n, err := readNetwork(t.Context(), func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(content)), nil })
	if err != nil {
		t.Fatal(err)
	}
	m := buildMap(t, n)
	points := onStreets(t, content, 50)
	for p := range Profile(profiles) {
		real := valhallaTimes(t, url, costings[p], points)
		cells, err := m.Matrix(t.Context(), p, points, points)
		if err != nil {
			t.Fatal(err)
		}
		var ratios []float64
		for i, c := range cells {
			from, to := points[i/len(points)], points[i%len(points)]
			apart := math.Hypot((from.Lon-to.Lon)*math.Cos(from.Lat*math.Pi/180), from.Lat-to.Lat) * 111_195
			if seconds := real[i]; c.Covered && seconds >= 60 && apart >= 300 {
				ratios = append(ratios, c.Duration.Seconds()/seconds)
			}
		}
		if len(ratios) < 500 {
			t.Fatalf("%s: only %d pairs can be compared", p, len(ratios))
		}
		slices.Sort(ratios)
		middle, sum := ratios[len(ratios)/2], 0.0
		for _, r := range ratios {
			sum += math.Abs(r/middle - 1)
		}
		t.Logf("%-8s %d pairs: %.2f times as long, after this factor off by %.1f %%", p, len(ratios), middle, 100*sum/float64(len(ratios)))
		if sum/float64(len(ratios)) > 0.3 || middle < 0.6 || middle > 1.7 {
			t.Errorf("%s: the times are not of this world", p)
		}
	}
}

// onStreets returns random points on streets, as stops of deliveries are.
func onStreets(t *testing.T, content []byte, n int) []Point {
	t.Helper()
	streets := []string{"primary", "secondary", "tertiary", "unclassified", "residential", "living_street"}
	var wanted []int64
	at := map[int64]Point{}
	err := osm.Read(t.Context(), bytes.NewReader(content), osm.Handler{
		Node: func(node *osm.Node) error {
			lon, lat := node.Degrees()
			at[node.ID] = Point{lon, lat}
			return nil
		},
		Way: func(w *osm.Way) error {
			if slices.Contains(streets, w.Tags.Get("highway")) && w.Tags.Get("access") == "" {
				wanted = append(wanted, w.Refs...)
			}
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	var points []Point
	for len(points) < n {
		if p, known := at[wanted[random.IntN(len(wanted))]]; known {
			points = append(points, p)
		}
	}
	return points
}

// valhallaTimes returns the seconds between all pairs of points, 0 if there is no way.
func valhallaTimes(t *testing.T, url, costing string, points []Point) []float64 {
	t.Helper()
	type point struct {
		Lon float64 `json:"lon"`
		Lat float64 `json:"lat"`
	}
	var all []point
	for _, p := range points {
		all = append(all, point(p))
	}
	question, err := json.Marshal(map[string]any{"sources": all, "targets": all, "costing": costing})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/sources_to_targets", bytes.NewReader(question))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var reply struct {
		Rows [][]struct {
			Time float64 `json:"time"`
		} `json:"sources_to_targets"`
	}
	if err := json.NewDecoder(response.Body).Decode(&reply); err != nil || len(reply.Rows) != len(points) {
		t.Fatalf("%s: %d rows: %v", costing, len(reply.Rows), err)
	}
	var seconds []float64
	for _, row := range reply.Rows {
		for _, c := range row {
			seconds = append(seconds, c.Time)
		}
	}
	return seconds
}
