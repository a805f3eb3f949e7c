package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dray/internal/app"
	"dray/internal/app/apptest"
	"dray/internal/lastmile"
	"dray/internal/store/sqlstore"
)

func TestGeocodersFallBack(t *testing.T) {
	const house = `{"features":[{"geometry":{"coordinates":[-122.396,37.788]},"properties":{"type":"house","housenumber":"543","street":"Howard Street",
		"city":"San Francisco","state":"California","postcode":"94105","country":"United States","countrycode":"US"}}]}`
	var works atomic.Bool
	maps := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if !works.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		fmt.Fprint(w, house)
	}))
	defer maps.Close()
	p := apptest.New(t, func(c *app.Config) { c.Geocoders = append(c.Geocoders, "photon+"+maps.URL) })
	c := p.Organization(t, "Acme")
	const body = `{"address":{"number":"543","street":"Howard St","city":"San Francisco","state":"CA","country":"USA"}}`

	works.Store(true)
	if made := c.Must(t, "POST", "/destinations", body); fmt.Sprint(made["location"], made["warnings"]) != "[-122.396 37.788] []" {
		t.Errorf("by the map service: %v", made)
	}
	works.Store(false)
	const other = `{"address":{"number":"544","street":"Howard St","city":"San Francisco","state":"CA","country":"USA"}}` // not in the cache
	if made := c.Must(t, "POST", "/destinations", other); fmt.Sprint(made["location"], made["warnings"]) != "[-122.4194 37.7749] [APPROXIMATE]" {
		t.Errorf("when it fails: %v", made)
	}
	if p.Travel == nil {
		t.Error("there is no source of travel times")
	}
}

// TestBatchLimitsConcurrentGeocoding counts the concurrent requests of a batch to
// a map service.
func TestBatchLimitsConcurrentGeocoding(t *testing.T) {
	const limit = 8
	var (
		mu           sync.Mutex
		active, peak int
		full         = make(chan struct{}) // closed when limit requests are active
	)
	maps := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		active++
		if active == limit && peak < limit {
			close(full)
		}
		peak = max(peak, active)
		mu.Unlock()
		select { // wait for as many as allowed, and a little for one too many
		case <-full:
			time.Sleep(20 * time.Millisecond)
		case <-r.Context().Done():
		}
		fmt.Fprint(w, `{"features":[]}`)
		mu.Lock()
		active--
		mu.Unlock()
	}))
	defer maps.Close()
	p := apptest.New(t, func(c *app.Config) { c.Geocoders = append(c.Geocoders, "photon+"+maps.URL) })
	var tasks []string
	for i := range lastmile.MaxSyncBatch {
		tasks = append(tasks, fmt.Sprintf(`{"destination":{"address":{"number":"%d","street":"Main St","city":"Boston","state":"MA","country":"USA"}},"recipients":[]}`, i))
	}
	made := p.Organization(t, "Acme").Must(t, "POST", "/tasks/batch", `{"tasks":[`+strings.Join(tasks, ",")+`]}`)
	if found, _ := made["tasks"].([]any); len(found) != len(tasks) {
		t.Errorf("%d of %d tasks were created: %v", len(found), len(tasks), made["errors"])
	}
	if peak != limit {
		t.Errorf("%d concurrent requests, want %d", peak, limit)
	}
}

// TestTravelTimesComeFromTheRouter uses a router whose travel times the built-in
// formula would never return, and asks twice.
func TestTravelTimesComeFromTheRouter(t *testing.T) {
	var asked atomic.Int64
	var works atomic.Bool
	works.Store(true)
	router := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		if !works.Load() {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		row := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("777,", n), ",") + "]" }
		from, to := strings.Count(r.URL.Query().Get("sources"), ";")+1, strings.Count(r.URL.Query().Get("destinations"), ";")+1
		table := "[" + strings.TrimSuffix(strings.Repeat(row(to)+",", from), ",") + "]"
		fmt.Fprintf(w, `{"code":"Ok","durations":%s,"distances":%s}`, table, table)
	}))
	defer router.Close()
	p := apptest.New(t, func(c *app.Config) { c.Routers = append(c.Routers, "osrm+"+router.URL) })
	c := p.Organization(t, "Acme")
	team := c.Must(t, "POST", "/teams", `{"name":"T","workers":[],"managers":[]}`)["id"].(string)
	c.Must(t, "POST", "/hubs", map[string]any{
		"name": "H", "teams": []string{team}, "address": map[string]any{"city": "New York", "country": "US"}, "location": []float64{-74, 40.7},
	})
	made := c.Must(t, "POST", "/workers", map[string]any{"name": "W", "phone": "+12125550101", "teams": []string{team}, "vehicle": map[string]any{"type": "CAR"}})
	worker := lastmile.WorkerID(made["id"].(string))
	now := p.Now()
	seen := lastmile.Whereabouts{OnDuty: true, LastSeen: now, Location: &lastmile.Point{Lon: -74, Lat: 40.71}, LocatedAt: now}
	err := p.Store.Write(t.Context(), func(w *sqlstore.Tx) error { return w.SaveWhereabouts(t.Context(), c.Organization.ID, worker, seen) })
	if err != nil {
		t.Fatal(err)
	}
	task := c.Must(t, "POST", "/tasks", map[string]any{
		"destination": map[string]any{"address": map[string]any{"city": "New York", "country": "US"}, "location": []float64{-74, 40.72}},
		"recipients":  []any{}, "container": map[string]any{"type": "WORKER", "worker": worker},
	})["id"].(string)
	p.RefreshDue(t)
	if got, want := c.Must(t, "GET", "/tasks/"+task, nil)["estimatedArrivalTime"], float64(now.UnixMilli()+777_000); got == nil || got.(float64)-want > 60_000 || got.(float64) < want {
		t.Errorf("estimated to arrive at %v, want about %v", got, want)
	}
	question := "/teams/" + team + "/estimate?dropoffLocation=-74,40.73"
	first := func() float64 {
		t.Helper()
		steps := c.Must(t, "GET", question, nil)["steps"].([]any)
		return steps[0].(map[string]any)["travelTime"].(float64)
	}
	if got := first(); got != 777 {
		t.Errorf("travel time %v, want the router's 777", got)
	}
	before := asked.Load()
	first()
	p.Advance(time.Minute)
	p.RefreshDue(t)
	if asked.Load() != before {
		t.Errorf("%d requests to the router for cached travel times", asked.Load()-before)
	}
	works.Store(false)
	if got := first(); got != 777 {
		t.Errorf("travel time %v when the router fails, want the cached one", got)
	}
	p.Advance(2 * time.Hour)
	if got := first(); got == 777 || got <= 0 {
		t.Errorf("travel time %v two hours later, want the formula's", got)
	}
}
