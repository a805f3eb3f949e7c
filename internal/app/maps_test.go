package app_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"dray/internal/app"
	"dray/internal/app/apptest"
)

func TestAddressesAreFoundThroughTheProgramsChain(t *testing.T) {
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
		t.Error("nobody tells travel times")
	}
}
