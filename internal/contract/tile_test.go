package contract_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
	"testing"

	"dray/internal/app"
	"dray/internal/app/apptest"
	"dray/internal/lastmile"
)

// tileAt returns the path of the tile at a location.
func tileAt(zoom int, at lastmile.Point) string {
	n := math.Exp2(float64(zoom))
	sin := math.Sin(at.Lat * math.Pi / 180)
	return fmt.Sprintf("/tiles/%d/%d/%d", zoom, int((at.Lon+180)/360*n), int((0.5-math.Log((1+sin)/(1-sin))/(4*math.Pi))*n))
}

func TestTilesContract(t *testing.T) {
	t.Parallel()
	p := apptest.New(t)
	get := func(path string, headers ...string) apptest.Response {
		t.Helper()
		return exchange(t, http.MethodGet, p.URL+path, nil, headers...)
	}
	if none := get("/tiles.json").OK(t).Object(t); len(none["tiles"].([]any)) != 0 || none["tilejson"] != "3.0.0" {
		t.Errorf("without a map, it is described as %v", none)
	}
	notFound.check(t, get("/tiles/0/0/0"), "There is no base map")
	importTown(t, p)
	about := get("/tiles.json").OK(t).Object(t)
	template := fmt.Sprint(about["tiles"].([]any)[0])
	version, ok := strings.CutPrefix(template, "/tiles/{z}/{x}/{y}?v=")
	if !ok || len(version) < 8 || about["tilejson"] != "3.0.0" || about["minzoom"] != 0.0 || about["maxzoom"] != 14.0 || about["attribution"] != "© OpenStreetMap contributors" {
		t.Fatalf("described as %v", about)
	}
	if layers := fmt.Sprint(about["vector_layers"]); !strings.Contains(layers, "id:road") || !strings.Contains(layers, "id:housenumber") {
		t.Errorf("the layers are %v", layers)
	}
	center := about["center"].([]any)
	middle := lastmile.Point{Lon: center[0].(float64), Lat: center[1].(float64)}
	bounds := about["bounds"].([]any)
	if middle.Lon < bounds[0].(float64) || middle.Lat < bounds[1].(float64) || middle.Lon > bounds[2].(float64) || middle.Lat > bounds[3].(float64) {
		t.Errorf("the center %v is not in %v", center, bounds)
	}

	path := tileAt(14, middle)
	tile := get(path+"?v="+version, "Accept-Encoding", "gzip").OK(t)
	for header, want := range map[string]string{
		"Content-Type": "application/vnd.mapbox-vector-tile", "Content-Encoding": "gzip", "Cache-Control": "public, max-age=31536000, immutable", "Vary": "Accept-Encoding",
	} {
		if got := tile.Header.Get(header); got != want {
			t.Errorf("%s is %q, want %q", header, got, want)
		}
	}
	unzip, err := gzip.NewReader(bytes.NewReader(tile.Body))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := io.ReadAll(unzip)
	if err != nil || !bytes.Contains(whole, []byte("Market")) && !bytes.Contains(whole, []byte("Street")) {
		t.Errorf("%d bytes without a street: %v", len(whole), err)
	}
	if plain := get(path, "Accept-Encoding", "identity").OK(t); !bytes.Equal(plain.Body, whole) || plain.Header.Get("Content-Encoding") != "" {
		t.Errorf("%d bytes that are not compressed, want %d", len(plain.Body), len(whole))
	}
	for query, want := range map[string]string{"": "public, max-age=300", "?v=other": "public, max-age=300"} {
		if got := get(path + query).OK(t).Header.Get("Cache-Control"); got != want {
			t.Errorf("%q is kept as %q, want %q", query, got, want)
		}
	}
	if again := get(path, "Accept-Encoding", "gzip", "If-None-Match", tile.Header.Get("Etag")); again.Status != http.StatusNotModified || len(again.Body) > 0 {
		t.Errorf("the same tile again: %d with %d bytes", again.Status, len(again.Body))
	}
	if again := get(path+".mvt", "Accept-Encoding", "gzip").OK(t); !bytes.Equal(again.Body, tile.Body) {
		t.Error("with an extension it is another tile")
	}
	if empty := get(tileAt(14, lastmile.Point{Lon: middle.Lon + 1, Lat: middle.Lat})); empty.Status != http.StatusNoContent {
		t.Errorf("an empty tile: %d", empty.Status)
	}
	for _, nonsense := range []string{"/tiles/15/9651/12318", "/tiles/-1/0/0", "/tiles/1/2/0", "/tiles/1/0/2", "/tiles/1/-1/0", "/tiles/a/b/c", "/tiles/1/1", "/tiles/1/1/1/1", "/tiles/99999999999999999999/1/1", "/tiles/"} {
		notFound.check(t, get(nonsense), "does not exist")
	}
	exchange(t, http.MethodPost, p.URL+path, nil).Rejected(t, 405, 1405)

	if err := p.Config.RemoveMap("town"); err != nil {
		t.Fatal(err)
	}
	refreshMaps(t, p)
	notFound.check(t, get(path), "There is no base map")
}

// TestTilesOfAnotherServer configures a template of tiles.
func TestTilesOfAnotherServer(t *testing.T) {
	t.Parallel()
	const template = "https://tiles.example.com:8443/v1/{z}/{x}/{y}.pbf?key=k"
	p := apptest.New(t, func(c *app.Config) { c.Tiles = template })
	about := exchange(t, http.MethodGet, p.URL+"/tiles.json", nil).OK(t).Object(t)
	if fmt.Sprint(about["tiles"]) != "["+template+"]" || about["attribution"] != "© OpenStreetMap contributors" {
		t.Errorf("described as %v", about)
	}
	notFound.check(t, exchange(t, http.MethodGet, p.URL+"/tiles/0/0/0", nil), "does not exist")
	for _, page := range []string{"/driver", "/t/none"} {
		policy := exchange(t, http.MethodGet, p.URL+page, nil).Header.Get("Content-Security-Policy")
		if !strings.Contains(policy, "connect-src 'self' https://tiles.example.com:8443;") {
			t.Errorf("the policy of %s is %q", page, policy)
		}
	}
}

func TestRouteContract(t *testing.T) {
	t.Parallel()
	p := apptest.New(t)
	c := p.Organization(t, "Acme")
	_, worker := hire(t, c, driverTeam(t, c, "Team", false), string(apptest.Phone()))
	callers := map[string]func(path string) apptest.Response{
		"an API key": func(path string) apptest.Response { return c.Call(t, "GET", path, nil) },
		"a worker":   func(path string) apptest.Response { return worker.call(t, "GET", path, nil) },
	}
	for name, call := range callers {
		t.Run(name+" without a map", func(t *testing.T) {
			got := call("/route?stops=-120.2,38.5;-120.95,40.7;-126.453,43.252").OK(t).Object(t)
			if got["source"] != "formula" || got["geometry"] != "_p~iF~ps|U_ulLnnqC_mqNvxq`@" || got["distance"].(float64) < 700_000 || got["duration"].(float64) < 3600 {
				t.Errorf("got %v", got)
			}
			call("/route?stops=-120.2,38.5%3B-120.95,40.7").OK(t)
		})
		t.Run(name+" sends invalid queries", func(t *testing.T) {
			for query, tt := range map[string]struct {
				want  rejection
				words []string
			}{
				"":                                    {malformed, []string{"stops"}},
				"stops=1,2":                           {invalid, []string{"stops", "2 to 50"}},
				"stops=1,2;":                          {invalid, []string{"stops", "2 to 50"}},
				"stops=1,2;x,4":                       {malformed, []string{"stops"}},
				"stops=1,2;3":                         {malformed, []string{"stops"}},
				"stops=1,2;;3,4":                      {malformed, []string{"stops"}},
				"stops=1,2;3,91":                      {malformed, []string{"stops"}},
				"stops=" + strings.Repeat("1,2;", 51): {invalid, []string{"stops", "50", "51"}},
				"stops=NaN,2;3,4":                     {malformed, []string{"stops"}},
			} {
				t.Run(fmt.Sprintf("%.20s", query), func(t *testing.T) { tt.want.check(t, call("/route?"+query), tt.words...) })
			}
		})
	}
	invalid.check(t, c.Call(t, "GET", "/route?stops=1,2;3,4&vehicle=BOAT", nil), "vehicle", "FOOT", "BOAT")
	importTown(t, p)
	at := townPoints(t, p)
	from, to := at(0.4), at(0.6)
	stops := fmt.Sprintf("/route?stops=%f,%f;%f,%f", from.Lon, from.Lat, to.Lon, to.Lat)
	car, foot := c.Must(t, "GET", stops, nil), c.Must(t, "GET", stops+"&vehicle=foot", nil)
	for name, got := range map[string]map[string]any{"a car": car, "on foot": foot, "a worker": callers["a worker"](stops).OK(t).Object(t)} {
		if got["source"] != "roads" || len(got["geometry"].(string)) < 40 {
			t.Errorf("%s: %v", name, got)
		}
	}
	if foot["duration"].(float64) < 2*car["duration"].(float64) {
		t.Errorf("on foot %v, by car %v", foot["duration"], car["duration"])
	}
	legs, err := p.Travel.Legs(t.Context(), lastmile.Car, []lastmile.Point{from, to})
	if err != nil || math.Abs(float64(legs[0].Distance)-car["distance"].(float64)) > 2 || math.Abs(legs[0].Duration.Seconds()-car["duration"].(float64)) > 2 {
		t.Errorf("the way has %v m and %v s, its estimate %v, %v", car["distance"], car["duration"], legs, err)
	}
}
