package geo_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dray/internal/geo"
	"dray/internal/lastmile"
)

// found is a geocoder that finds everything at one location.
func found(source string, precision lastmile.Precision) geo.Geocoder {
	return geocoderFunc(func(_ context.Context, q lastmile.AddressQuery) (lastmile.GeocodedAddress, error) {
		return lastmile.GeocodedAddress{Location: lastmile.Point{Lon: 1, Lat: 2}, Address: q.Address, Precision: precision, Source: source}, nil
	})
}

func rejecting(cause string) geo.Geocoder {
	return geocoderFunc(func(context.Context, lastmile.AddressQuery) (lastmile.GeocodedAddress, error) {
		return lastmile.GeocodedAddress{}, lastmile.AddressNotFound("%s", cause)
	})
}

func failing() geo.Geocoder {
	return geocoderFunc(func(context.Context, lastmile.AddressQuery) (lastmile.GeocodedAddress, error) {
		return lastmile.GeocodedAddress{}, errors.New("no network")
	})
}

func TestChain(t *testing.T) {
	type sources = []geo.Geocoder
	house, city := found("house", lastmile.PrecisionHouse), found("city", lastmile.PrecisionCity)
	tests := map[string]struct {
		sources sources
		least   lastmile.Precision
		want    string // the source, or part of the error
		failed  int
	}{
		"the first source finds it":                 {sources{house, city}, 0, "house", 0},
		"the next source replaces one that fails":   {sources{failing(), house}, 0, "house", 1},
		"the next source replaces one that rejects": {sources{rejecting("unknown"), house}, 0, "house", 0},
		"an imprecise result is skipped":            {sources{city, house}, lastmile.PrecisionStreet, "house", 0},
		"no result is precise enough":               {sources{city}, lastmile.PrecisionStreet, "only its city was found", 0},
		"all sources reject":                        {sources{rejecting("unknown here"), rejecting("unknown there")}, 0, "unknown there", 0},
		"one source fails and the others reject":    {sources{failing(), rejecting("unknown there")}, 0, "did not respond", 1},
		"all sources fail":                          {sources{failing(), failing()}, 0, "try again later", 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			failed := 0
			c := geo.Chain{Services: tt.sources, Failed: func(context.Context, error) { failed++ }}
			p, err := c.Geocode(t.Context(), lastmile.AddressQuery{Address: howard.Address, Precision: tt.least})
			if got := p.Source; err == nil && got != tt.want || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q, %v; want %s", got, err, tt.want)
			}
			if _, ok := errors.AsType[*lastmile.Error](err); err != nil && !ok {
				t.Errorf("%v is not for the client", err)
			}
			if failed != tt.failed {
				t.Errorf("%d failures were reported, want %d", failed, tt.failed)
			}
		})
	}
}

// memory is a cache that can fail.
type memory struct {
	mu     sync.Mutex
	kept   map[string][]byte
	keep   time.Duration
	broken bool
}

func (m *memory) Get(_ context.Context, key string) ([]byte, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken {
		return nil, false, errors.New("cache is broken")
	}
	value, ok := m.kept[key]
	return value, ok, nil
}

func (m *memory) Put(_ context.Context, key string, value []byte, keep time.Duration) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.broken {
		return errors.New("cache is broken")
	}
	m.kept[key], m.keep = value, keep
	return nil
}

func TestCached(t *testing.T) {
	var asked atomic.Int32
	var respondWith geo.Geocoder
	counting := geocoderFunc(func(ctx context.Context, q lastmile.AddressQuery) (lastmile.GeocodedAddress, error) {
		asked.Add(1)
		return respondWith.Geocode(ctx, q)
	})
	setup := func(g geo.Geocoder) (*geo.Cached, *memory) {
		asked.Store(0)
		respondWith = g
		m := &memory{kept: map[string][]byte{}}
		return &geo.Cached{Geocoder: counting, Cache: m, Name: "test"}, m
	}

	t.Run("a found address is requested once", func(t *testing.T) {
		c, m := setup(found("test", lastmile.PrecisionHouse))
		first, err1 := c.Geocode(t.Context(), howard)
		second, err2 := c.Geocode(t.Context(), howard)
		if err1 != nil || err2 != nil || fmt.Sprint(first) != fmt.Sprint(second) || asked.Load() != 1 || m.keep != geo.FoundTTL {
			t.Errorf("got %+v, %v, then %+v, %v; asked %d times; kept %v", first, err1, second, err2, asked.Load(), m.keep)
		}
	})
	t.Run("a rejection is cached for a shorter time", func(t *testing.T) {
		c, m := setup(rejecting("nobody lives there"))
		_, err1 := c.Geocode(t.Context(), howard)
		_, err2 := c.Geocode(t.Context(), howard)
		if err1 == nil || err2 == nil || err1.Error() != err2.Error() || asked.Load() != 1 || m.keep != geo.NotFoundTTL {
			t.Errorf("got %v, then %v; asked %d times; kept %v", err1, err2, asked.Load(), m.keep)
		}
	})
	t.Run("a failure is not cached", func(t *testing.T) {
		c, _ := setup(failing())
		_, _ = c.Geocode(t.Context(), howard)
		_, _ = c.Geocode(t.Context(), howard)
		if asked.Load() != 2 {
			t.Errorf("asked %d times", asked.Load())
		}
	})
	t.Run("a failing cache does not affect the result", func(t *testing.T) {
		c, m := setup(found("test", lastmile.PrecisionHouse))
		m.broken = true
		reported := 0
		c.OnError = func(context.Context, error) { reported++ }
		if p, err := c.Geocode(t.Context(), howard); err != nil || p.Source != "test" || reported != 2 {
			t.Errorf("got %+v, %v; reported %d times", p, err, reported)
		}
	})
	t.Run("an invalid cache entry is ignored", func(t *testing.T) {
		c, m := setup(found("test", lastmile.PrecisionHouse))
		_, _ = c.Geocode(t.Context(), howard)
		for key := range m.kept {
			m.kept[key] = []byte(`{"place":`)
		}
		if p, err := c.Geocode(t.Context(), howard); err != nil || p.Source != "test" || asked.Load() != 2 {
			t.Errorf("got %+v, %v; asked %d times", p, err, asked.Load())
		}
	})
	t.Run("a name and an apartment are not cached", func(t *testing.T) {
		c, m := setup(found("test", lastmile.PrecisionHouse))
		private := howard
		private.Address.Name, private.Address.Apartment, private.Address.County = "Ada Lovelace", "Apt 4B", "Kings"
		if p, err := c.Geocode(t.Context(), private); err != nil || p.Source != "test" {
			t.Fatalf("got %+v, %v", p, err)
		}
		for _, value := range m.kept {
			if text := string(value); strings.Contains(text, "Ada") || strings.Contains(text, "4B") || strings.Contains(text, "Kings") {
				t.Errorf("kept %s", text)
			}
		}
		p, err := c.Geocode(t.Context(), howard)
		if err != nil || p.Address.Name+p.Address.Apartment+p.Address.County != "" || asked.Load() != 1 {
			t.Errorf("another caller got %+v, %v; asked %d times", p, err, asked.Load())
		}
	})
	t.Run("an apartment of a line is cached with the line", func(t *testing.T) {
		url, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, nominatimHouse) })
		c, _ := setup(open(t, "nominatim+"+url, nil))
		for range 2 {
			p, err := c.Geocode(t.Context(), lastmile.AddressQuery{Unparsed: "543 Howard St Apt 4B, San Francisco, CA", Country: "US"})
			if err != nil || !strings.Contains(p.Address.Apartment, "4B") || asked.Load() != 1 {
				t.Errorf("got %+v, %v; asked %d times", p, err, asked.Load())
			}
		}
	})
	t.Run("different queries are cached separately", func(t *testing.T) {
		c, _ := setup(found("test", lastmile.PrecisionHouse))
		other, language, country := howard, howard, howard
		other.Address.Number, language.Language, country.Country = "544", "de", "DE"
		line := lastmile.AddressQuery{Unparsed: "543 Howard St, San Francisco"}
		for _, q := range []lastmile.AddressQuery{howard, other, language, country, line} {
			_, _ = c.Geocode(t.Context(), q)
		}
		if asked.Load() != 5 {
			t.Errorf("asked %d times, want 5", asked.Load())
		}
	})
}
