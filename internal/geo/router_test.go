package geo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/geo"
	"dray/internal/lastmile"
	"dray/internal/travel"
)

// city returns a grid of locations a few hundred meters apart.
func city(n int) []lastmile.Point {
	points := make([]lastmile.Point, n)
	for i := range points {
		points[i] = lastmile.Point{Lon: 9.1 + float64(i%40)*0.004, Lat: 45.4 + float64(i/40)*0.003}
	}
	return points
}

// wayTo returns the seconds and meters between two locations of city that the fake routers
// return. They are different for each pair.
func wayTo(a, b lastmile.Point) float64 {
	index := func(p lastmile.Point) float64 { return (p.Lon-9.1)/0.004 + 40*(p.Lat-45.4)/0.003 }
	return 60 + 300*index(a) + index(b)
}

// osrm responds like an OSRM server.
func osrm(t *testing.T, unreachable func(from, to int) bool) func(w http.ResponseWriter, r *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		coordinates := strings.Split(strings.TrimPrefix(r.URL.Path, "/table/v1/driving/"), ";")
		if len(coordinates) > 100 {
			t.Errorf("asked for %d places at once", len(coordinates))
		}
		point := func(i string) lastmile.Point {
			n, _ := strconv.Atoi(i)
			var p lastmile.Point
			if _, err := fmt.Sscanf(coordinates[n], "%f,%f", &p.Lon, &p.Lat); err != nil {
				t.Errorf("%q: %v", coordinates[n], err)
			}
			return p
		}
		var durations, distances [][]*float64
		for i, from := range strings.Split(r.URL.Query().Get("sources"), ";") {
			var row, far []*float64
			for j, to := range strings.Split(r.URL.Query().Get("destinations"), ";") {
				way := wayTo(point(from), point(to))
				if unreachable(i, j) {
					row, far = append(row, nil), append(far, nil)
					continue
				}
				row, far = append(row, &way), append(far, &way)
			}
			durations, distances = append(durations, row), append(distances, far)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"code": "Ok", "durations": durations, "distances": distances})
	}
}

// valhalla responds like a Valhalla server.
func valhalla(t *testing.T, unreachable func(from, to int) bool) func(w http.ResponseWriter, r *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		var question struct {
			Sources, Targets []struct{ Lat, Lon float64 }
			Costing          string
		}
		body := r.Context().Value(bodyKey{}).(string)
		if err := json.Unmarshal([]byte(body), &question); err != nil || r.URL.Path != "/sources_to_targets" || r.Method != http.MethodPost {
			t.Errorf("asked %s %s %s: %v", r.Method, r.URL.Path, body, err)
		}
		if len(question.Sources)*len(question.Targets) > 2500 {
			t.Errorf("asked for %d by %d at once", len(question.Sources), len(question.Targets))
		}
		rows := [][]map[string]any{}
		for i, from := range question.Sources {
			row := []map[string]any{}
			for j, to := range question.Targets {
				way := wayTo(lastmile.Point{Lon: from.Lon, Lat: from.Lat}, lastmile.Point{Lon: to.Lon, Lat: to.Lat})
				entry := map[string]any{"from_index": i, "to_index": j, "time": way, "distance": way / 1000}
				if unreachable(i, j) {
					entry["time"], entry["distance"] = nil, nil
				}
				row = append(row, entry)
			}
			rows = append(rows, row)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"sources_to_targets": rows, "units": "kilometers"})
	}
}

type bodyKey struct{}

func openRouter(t *testing.T, url string, transport http.RoundTripper) geo.TravelTimer {
	t.Helper()
	router, _, err := geo.OpenRouter(url, options(transport))
	if err != nil {
		t.Fatal(err)
	}
	return router
}

func TestRoutersFillTablesLargerThanTheirLimits(t *testing.T) {
	for kind, handler := range map[string]func(*testing.T, func(int, int) bool) func(http.ResponseWriter, *http.Request){"osrm": osrm, "valhalla": valhalla} {
		t.Run(kind, func(t *testing.T) {
			all := city(260)
			from, to := all[:130], all[75:]
			handle := handler(t, func(i, j int) bool { return i == 0 && j == 1 })
			url, asked := serveBody(t, handle)
			times, err := openRouter(t, kind+"+"+url, nil).Matrix(t.Context(), lastmile.Car, from, to)
			if err != nil {
				t.Fatal(err)
			}
			if times.Source != kind || times.Estimated || len(times.Durations) != len(from) || len(times.Durations[0]) != len(to) {
				t.Errorf("%d by %d times of %s", len(times.Durations), len(times.Durations[0]), times.Source)
			}
			unreachable := 0
			for i, a := range from {
				for j, b := range to {
					if times.Durations[i][j] == travel.Unreachable {
						unreachable++
						continue
					}
					want := wayTo(a, b)
					if got := times.Durations[i][j].Seconds(); got < want-0.1 || got > want+0.1 {
						t.Fatalf("from %d to %d takes %v s, want %v", i, j, got, want)
					}
					if got := float64(times.Distances[i][j]); got < want-0.1 || got > want+0.1 {
						t.Fatalf("from %d to %d is %v m, want %v", i, j, got, want)
					}
				}
			}
			if blocks := 3 * 4; asked.count() != blocks || unreachable != blocks {
				t.Errorf("%d requests, %d pairs without a way; want %d of both", asked.count(), unreachable, blocks)
			}
		})
	}
}

// serveBody is like serve for handlers that need the request body after it was
// recorded.
func serveBody(t *testing.T, handler func(w http.ResponseWriter, r *http.Request)) (string, *recorder) {
	var asked *recorder
	url, asked := serve(t, func(w http.ResponseWriter, r *http.Request) {
		asked.mu.Lock()
		body := ""
		for i, noted := range asked.requests {
			if noted == r {
				body = asked.bodies[i]
			}
		}
		asked.mu.Unlock()
		handler(w, r.WithContext(context.WithValue(r.Context(), bodyKey{}, body)))
	})
	return url, asked
}

func TestTheEstimateReplacesAMisbehavingRouter(t *testing.T) {
	points := city(10)
	far := []lastmile.Point{{Lon: 9.1, Lat: 45.4}, {Lon: 12.5, Lat: 41.9}} // Milan and Rome
	table := func(n int, cell string) string {
		row := "[" + strings.TrimSuffix(strings.Repeat(cell+",", n), ",") + "]"
		return "[" + strings.TrimSuffix(strings.Repeat(row+",", n), ",") + "]"
	}
	bad := map[string]struct {
		osrm, valhalla string
		points         []lastmile.Point
	}{
		"a table too small":    {`{"code":"Ok","durations":[[1]],"distances":[[1]]}`, `{"sources_to_targets":[[{"time":1,"distance":1}]]}`, points},
		"no table":             {`{"code":"Ok"}`, `{}`, points},
		"an error":             {`{"code":"TooBig","message":"no"}`, `{"error_code":154,"error":"no"}`, points},
		"times below zero":     {`{"code":"Ok","durations":` + table(10, "-5") + `}`, `{"sources_to_targets":` + table(10, `{"time":-5,"distance":1}`) + `}`, points},
		"times without end":    {`{"code":"Ok","durations":` + table(10, "1e300") + `}`, `{"sources_to_targets":` + table(10, `{"time":1e300,"distance":1}`) + `}`, points},
		"distances below zero": {`{"code":"Ok","durations":` + table(10, "5") + `,"distances":` + table(10, "-1") + `}`, `{"sources_to_targets":` + table(10, `{"time":5,"distance":-1}`) + `}`, points},
		"faster than possible": {`{"code":"Ok","durations":` + table(2, "60") + `}`, `{"sources_to_targets":` + table(2, `{"time":60,"distance":1}`) + `}`, far},
		"words for times":      {`{"code":"Ok","durations":` + table(10, `"x"`) + `}`, `{"sources_to_targets":` + table(10, `{"time":"x"}`) + `}`, points},
		"not JSON":             {`<html>`, `<html>`, points},
		"megabytes":            {strings.Repeat(" ", 9<<20), strings.Repeat(" ", 9<<20), points},
	}
	for what, responses := range bad {
		for kind, body := range map[string]string{"osrm": responses.osrm, "valhalla": responses.valhalla} {
			t.Run(kind+" responds with "+what, func(t *testing.T) {
				url, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, body) })
				failed := 0
				routers := geo.Routers{
					Services: []geo.TravelTimer{openRouter(t, kind+"+"+url, nil)},
					Local:    []geo.TravelTimer{geo.Estimate{}},
					Failed:   func(context.Context, error) { failed++ },
				}
				times, err := routers.Matrix(t.Context(), lastmile.Car, responses.points, responses.points)
				if err != nil || times.Source != "estimate" || !times.Estimated || failed != 1 {
					t.Errorf("times of %q, %v; %d failures reported", times.Source, err, failed)
				}
			})
		}
	}
}

func TestASlowRouterIsNotWaitedFor(t *testing.T) {
	for _, kind := range []string{"osrm", "valhalla"} {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				routers := geo.Routers{
					Services: []geo.TravelTimer{openRouter(t, kind+"+http://router.example.com", hanging)},
					Local:    []geo.TravelTimer{geo.Estimate{}},
				}
				start := time.Now()
				times, err := routers.Matrix(t.Context(), lastmile.Car, city(1), city(2))
				if took := time.Since(start); err != nil || times.Source != "estimate" || took > 4*time.Second {
					t.Errorf("times of %q, %v after %v", times.Source, err, took)
				}
				start = time.Now()
				times, err = routers.Matrix(t.Context(), lastmile.Car, city(200), city(200))
				if took := time.Since(start); err != nil || times.Source != "estimate" || took > 2*time.Minute {
					t.Errorf("a large table: times of %q, %v after %v", times.Source, err, took)
				}
			})
		})
	}
}

func TestSlowRoutersLeaveTimeForImportedMaps(t *testing.T) {
	roads, a, b := roadsOfTown(t)
	synctest.Test(t, func(t *testing.T) {
		routers := geo.Routers{Local: []geo.TravelTimer{roads, geo.Estimate{}}}
		for range 50 { // 2 minutes are over before all have failed
			routers.Services = append(routers.Services, openRouter(t, "osrm+http://router.example.com", hanging))
		}
		times, err := routers.Matrix(t.Context(), lastmile.Car, []lastmile.Point{a}, []lastmile.Point{b})
		if err != nil || times.Source != geo.RoadSource {
			t.Errorf("times of %q, %v", times.Source, err)
		}
	})
}

func TestARouterIsAskedOnlyForWhatItKnows(t *testing.T) {
	cars, askedCars := serve(t, osrm(t, func(int, int) bool { return false }))
	bicycles, askedBicycles := serve(t, osrm(t, func(int, int) bool { return false }))
	routers := geo.Routers{
		Services: []geo.TravelTimer{openRouter(t, "osrm+"+cars, nil), openRouter(t, "osrm+"+bicycles+"?modes=bicycle", nil)},
		Local:    []geo.TravelTimer{geo.Estimate{}},
		Failed:   func(_ context.Context, err error) { t.Error(err) },
	}
	for by, want := range map[lastmile.VehicleType]string{
		lastmile.Car: "osrm", lastmile.Truck: "osrm", lastmile.Motorcycle: "osrm", lastmile.Bicycle: "osrm", lastmile.OnFoot: "estimate",
	} {
		times, err := routers.Matrix(t.Context(), by, city(2), city(3))
		if err != nil || times.Source != want {
			t.Errorf("%q: times of %q, %v; want %s", by, times.Source, err, want)
		}
	}
	if askedCars.count() != 3 || askedBicycles.count() != 1 {
		t.Errorf("cars were asked for %d times, bicycles %d", askedCars.count(), askedBicycles.count())
	}
}

func TestValhallaIsAskedByVehicle(t *testing.T) {
	for by, want := range map[lastmile.VehicleType]string{
		lastmile.Car: "auto", lastmile.Truck: "truck", lastmile.Motorcycle: "motorcycle", lastmile.Bicycle: "bicycle", lastmile.OnFoot: "pedestrian",
	} {
		url, asked := serveBody(t, valhalla(t, func(int, int) bool { return false }))
		if _, err := openRouter(t, "valhalla+"+url, nil).Matrix(t.Context(), by, city(1), city(1)); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(asked.bodies[0], `"costing":"`+want+`"`) {
			t.Errorf("%q: asked %s", by, asked.bodies[0])
		}
	}
}

func TestEmptyTableSendsNoRequest(t *testing.T) {
	router := openRouter(t, "osrm+http://router.example.com", roundTrip(func(*http.Request) (*http.Response, error) {
		return nil, errors.New("asked")
	}))
	if times, err := router.Matrix(t.Context(), lastmile.Car, nil, city(3)); err != nil || len(times.Durations) != 0 {
		t.Errorf("got %+v, %v", times, err)
	}
}

func TestOpenRouter(t *testing.T) {
	tests := map[string]struct{ url, want string }{
		"by prefix":         {"osrm+http://router.example.com", "osrm"},
		"by port":           {"http://localhost:8002", "valhalla"},
		"osrm by port":      {"http://localhost:5000", "osrm"},
		"by host":           {"https://valhalla.example.com", "valhalla"},
		"modes":             {"osrm+http://router.example.com?modes=bicycle+foot", "osrm"},
		"unknown mode":      {"osrm+http://router.example.com?modes=boat", ""},
		"strange profile":   {"osrm+http://router.example.com?profile=../admin", ""},
		"unknown kind":      {"graphhopper+http://router.example.com", ""},
		"not to be guessed": {"https://router.example.com", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, kind, err := geo.OpenRouter(tt.url, options(nil))
			if kind != tt.want || (err != nil) != (tt.want == "") {
				t.Errorf("got %q, %v; want %q", kind, err, tt.want)
			}
		})
	}
}

func TestEstimateUsesTheOrganizationsFactor(t *testing.T) {
	points := city(30)
	plain, _ := geo.Estimate{}.Matrix(t.Context(), lastmile.Car, points, points)
	slow, _ := geo.Estimate{Factor: travel.Factor{Factor: 1.5, Trips: 100}}.Matrix(t.Context(), lastmile.Car, points, points)
	for i := range points {
		for j := range points {
			if got, want := slow.Durations[i][j], time.Duration(1.5*float64(plain.Durations[i][j])); got != want {
				t.Fatalf("from %d to %d: %v, want %v", i, j, got, want)
			}
			if slow.Distances[i][j] != plain.Distances[i][j] {
				t.Fatalf("from %d to %d the distance changed", i, j)
			}
		}
	}
}
