package geo_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/geo"
	"dray/internal/lastmile"
)

// endless is a body that never ends.
type endless struct{ byte }

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = e.byte
	}
	return len(p), nil
}

// misbehaviours are what a map service may do wrong.
var misbehaviours = map[string]func(w http.ResponseWriter, r *http.Request){
	"fails":                 func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusInternalServerError) },
	"is overloaded":         func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) },
	"rejects the key":       func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) },
	"responds with a page":  func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>Welcome to the café</html>") },
	"responds with nothing": func(http.ResponseWriter, *http.Request) {},
	"responds with null":    func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "null") },
	"responds with half":    func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, nominatimHouse[:80]) },
	"responds in another form": func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"a":[1,2,{"b":null}],"status":7,"features":"x"}`)
	},
	"responds with megabytes":   func(w http.ResponseWriter, _ *http.Request) { _, _ = io.CopyN(w, endless{'['}, 64<<20) },
	"responds with a bomb":      bomb,
	"breaks off":                func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	"names another continent":   lie(`"lat":"-33.87","lon":"151.2"`, `"coordinates":[151.2,-33.87]`, `{"lat":-33.87,"lng":151.2}`),
	"names no location":         lie(`"lat":"NaN","lon":"1e400"`, `"coordinates":[]`, `{}`),
	"names the open sea":        lie(`"lat":"0","lon":"0"`, `"coordinates":[0,0]`, `{"lat":0,"lng":0}`),
	"names an invalid location": lie(`"lat":"137.788","lon":"-1122.396"`, `"coordinates":[-1122.396,137.788]`, `{"lat":137.788,"lng":-1122.396}`),
	"names another country": func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, strings.NewReplacer(`"country_code":"us"`, `"country_code":"mx"`).Replace(nominatimHouse))
	},
}

var packedBomb = sync.OnceValue(func() []byte {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = io.CopyN(z, endless{' '}, 128<<20)
	_ = z.Close()
	return packed.Bytes()
})

// bomb responds with a small body that decompresses to a large one.
func bomb(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Encoding", "gzip")
	_, _ = w.Write(packedBomb())
}

// lie changes the location of the house.
func lie(nominatim, photon, google string) func(w http.ResponseWriter, r *http.Request) {
	return func(w http.ResponseWriter, r *http.Request) {
		house := nominatimHouse
		switch {
		case strings.Contains(r.URL.Path, "/maps/"):
			house = strings.Replace(googleHouse, `{"lat":37.788,"lng":-122.396}`, google, 1)
		case r.URL.Path == "/api":
			house = strings.Replace(photonHouse, `"coordinates":[-122.396,37.788]`, photon, 1)
		default:
			house = strings.Replace(house, `"lat":"37.788","lon":"-122.396"`, nominatim, 1)
		}
		fmt.Fprint(w, house)
	}
}

func TestTheNextSourceReplacesAMisbehavingOne(t *testing.T) {
	for what, misbehave := range misbehaviours {
		for name, provider := range providers {
			if what == "names another country" && name != "nominatim" {
				continue
			}
			t.Run(name+" "+what, func(t *testing.T) {
				url, asked := serve(t, misbehave)
				p, err := chain(open(t, fmt.Sprintf(provider.url, url), nil)).Geocode(t.Context(), howard)
				if err != nil || p.Source != "gazetteer" || p.Address.PostalCode != "94105" {
					t.Errorf("found %+v, %v", p, err)
				}
				if asked.count() == 0 {
					t.Error("it was not asked")
				}
			})
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	for name, provider := range providers {
		elsewhere, followed := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, provider.house) })
		url, _ := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere, http.StatusFound) })
		p, err := chain(open(t, fmt.Sprintf(provider.url, url), nil)).Geocode(t.Context(), howard)
		if err != nil || p.Source != "gazetteer" || followed.count() != 0 {
			t.Errorf("%s: found %+v, %v; the other server was asked %d times", name, p, err, followed.count())
		}
	}
}

// hanging does not respond until the client disconnects.
var hanging = roundTrip(func(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
})

// dripping responds with one letter per second, forever.
var dripping = roundTrip(func(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(readerFunc(func(p []byte) (int, error) {
		select {
		case <-time.After(time.Second):
			p[0] = ' '
			return 1, nil
		case <-r.Context().Done():
			return 0, r.Context().Err()
		}
	}))}, nil
})

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestASlowServiceIsNotWaitedFor(t *testing.T) {
	embedded(t)
	for what, network := range map[string]roundTrip{"hangs": hanging, "drips": dripping} {
		for name, provider := range providers {
			t.Run(name+" "+what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c := chain(open(t, fmt.Sprintf(provider.url, "http://maps.example.com"), network))
					start := time.Now()
					p, err := c.Geocode(t.Context(), howard)
					if err != nil || p.Source != "gazetteer" {
						t.Errorf("found %+v, %v", p, err)
					}
					if took := time.Since(start); took > 5*time.Second {
						t.Errorf("took %v", took)
					}
					// After the fourth failure, requests fail without waiting.
					for range 3 {
						_, _ = c.Geocode(t.Context(), howard)
					}
					start = time.Now()
					if p, err = c.Geocode(t.Context(), howard); err != nil || p.Source != "gazetteer" || time.Since(start) > 0 {
						t.Errorf("found %+v, %v after %v", p, err, time.Since(start))
					}
				})
			})
		}
	}
}

func TestACallersDeadlineLeavesTimeForTheNextSource(t *testing.T) {
	embedded(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		p, err := chain(open(t, "nominatim+http://maps.example.com", hanging)).Geocode(ctx, howard)
		if err != nil || p.Source != "gazetteer" || ctx.Err() != nil {
			t.Errorf("found %+v, %v; the caller's time: %v", p, err, ctx.Err())
		}
	})
}

func TestSlowServicesLeaveTimeForImportedMaps(t *testing.T) {
	embedded(t)
	synctest.Test(t, func(t *testing.T) {
		maps := geocoderFunc(func(ctx context.Context, q lastmile.AddressQuery) (lastmile.GeocodedAddress, error) {
			if ctx.Err() != nil {
				return lastmile.GeocodedAddress{}, ctx.Err()
			}
			return found("maps", lastmile.PrecisionHouse).Geocode(ctx, q)
		})
		c := geo.Chain{Local: []geo.Geocoder{maps, new(geo.Gazetteer)}}
		for range 3 {
			c.Services = append(c.Services, open(t, "photon+http://maps.example.com", hanging))
		}
		start := time.Now()
		p, err := c.Geocode(t.Context(), howard)
		if err != nil || p.Source != "maps" || time.Since(start) != 8*time.Second {
			t.Errorf("found %+v, %v after %v", p, err, time.Since(start))
		}
	})
}

func TestACallerThatLeavesGetsNoResponse(t *testing.T) {
	embedded(t)
	synctest.Test(t, func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		if _, err := chain(open(t, "nominatim+http://maps.example.com", hanging)).Geocode(ctx, howard); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func TestErrorsDoNotShowTheKey(t *testing.T) {
	failures := map[string]roundTrip{
		"no network": func(*http.Request) (*http.Response, error) { return nil, errors.New("connection refused") },
		"no page":    func(*http.Request) (*http.Response, error) { return reply(http.StatusNotFound, "") },
		"denied": func(*http.Request) (*http.Response, error) {
			return reply(http.StatusOK, `{"status":"REQUEST_DENIED"}`)
		},
	}
	for name, network := range failures {
		t.Run(name, func(t *testing.T) {
			_, err := open(t, "google+https://maps.example.com/?key=topsecret", network).Geocode(t.Context(), howard)
			if err == nil || strings.Contains(err.Error(), "topsecret") {
				t.Errorf("got %v", err)
			}
		})
	}
	for _, url := range []string{"google+https://\x7f?key=topsecret", "bing+https://maps.example.com?key=topsecret"} {
		if _, _, err := geo.OpenGeocoder(url, options(nil)); err == nil || strings.Contains(err.Error(), "topsecret") {
			t.Errorf("%s: got %v", url, err)
		}
	}
}

func TestStrangersTextIsMadeFit(t *testing.T) {
	long := strings.Repeat("x", 3*lastmile.MaxText)
	house := strings.NewReplacer(`"road":"Howard Street"`, `"road":"Howard\u0000\nStreet"`, `"suburb":"Transbay"`, `"county":"`+long+`"`).Replace(nominatimHouse)
	url, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, house) })
	p, err := open(t, "nominatim+"+url, nil).Geocode(t.Context(), howard)
	if err != nil || p.Address.Street != "Howard Street" || len(p.Address.County) != lastmile.MaxText {
		t.Errorf("found %q, a county of %d letters, %v", p.Address.Street, len(p.Address.County), err)
	}
}
