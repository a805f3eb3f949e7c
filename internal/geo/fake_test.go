package geo_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"dray/internal/geo"
	"dray/internal/lastmile"
)

// roundTrip is a transport implemented by a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func reply(status int, body string) (*http.Response, error) {
	return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{}}, nil
}

func options(transport http.RoundTripper) geo.Options {
	return geo.Options{Now: time.Now, UserAgent: "Dray/test", Transport: transport}
}

// recorder is a server that records its requests.
type recorder struct {
	mu       sync.Mutex
	requests []*http.Request
	bodies   []string
}

func (r *recorder) note(request *http.Request) {
	body, _ := io.ReadAll(request.Body)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests, r.bodies = append(r.requests, request), append(r.bodies, string(body))
}

func (r *recorder) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.requests)
}

// serve starts a server with fixed responses.
func serve(t *testing.T, handler func(w http.ResponseWriter, r *http.Request)) (string, *recorder) {
	t.Helper()
	asked := &recorder{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.note(r)
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func open(t *testing.T, url string, transport http.RoundTripper) geo.Geocoder {
	t.Helper()
	g, _, err := geo.OpenGeocoder(url, options(transport))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// chain is the default chain, preceded by one provider.
func chain(provider geo.Geocoder) *geo.Chain {
	return &geo.Chain{Services: []geo.Geocoder{provider}, Local: []geo.Geocoder{new(geo.Gazetteer)}}
}

var howard = lastmile.AddressQuery{
	Address: lastmile.Address{Number: "543", Street: "Howard St", City: "San Francisco", State: "CA", PostalCode: "94105", Country: "United States"},
	Country: "US",
}

// geocoderFunc is a geocoder implemented by a function.
type geocoderFunc func(context.Context, lastmile.AddressQuery) (lastmile.GeocodedAddress, error)

func (f geocoderFunc) Geocode(ctx context.Context, q lastmile.AddressQuery) (lastmile.GeocodedAddress, error) {
	return f(ctx, q)
}
