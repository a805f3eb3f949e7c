package tileapi_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/osm/town"
	"dray/internal/tile"
	"dray/internal/tileapi"
)

// townTiles returns the tiles of the town generated from a seed.
func townTiles(t *testing.T, seed uint64) []byte {
	t.Helper()
	var source, out bytes.Buffer
	if err := town.Write(&source, seed); err != nil {
		t.Fatal(err)
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(source.Bytes())), nil }
	if err := tile.Build(t.Context(), open, &out, func(float64) {}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func opened(t *testing.T, content []byte) *tile.Map {
	t.Helper()
	m, err := tile.Open(content)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// middle returns the tile of a zoom level at the center of the tiles.
func middle(d tileapi.Description, zoom int) (x, y int) {
	n := math.Exp2(float64(zoom))
	sin := math.Sin(d.Center[1] * math.Pi / 180)
	return int((d.Center[0] + 180) / 360 * n), int((0.5 - math.Log((1+sin)/(1-sin))/(4*math.Pi)) * n)
}

func TestSeveralMaps(t *testing.T) {
	one, two := opened(t, townTiles(t, 1)), opened(t, townTiles(t, 2))
	maps, version := []*tile.Map{one}, "1"
	tiles := tileapi.NewImported(func() ([]*tile.Map, string) { return maps, version })
	d, err := tiles.Describe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	x, y := middle(d, 14)
	get := func() string {
		t.Helper()
		content, from, err := tiles.Tile(t.Context(), 14, x, y)
		if err != nil || from != version {
			t.Fatalf("version %q, want %q (%v)", from, version, err)
		}
		plain, err := tile.Inflate(content)
		if err != nil {
			t.Fatal(err)
		}
		return string(plain)
	}
	first := get()
	maps, version = []*tile.Map{two}, "0"
	second := get()
	maps, version = []*tile.Map{one, two}, "2"
	both := get()
	streets := regexp.MustCompile(`[A-Z][a-z]+ (?:Street|Avenue|Road|Lane|Place)`)
	for _, name := range streets.FindAllString(first+second, -1) {
		if !strings.Contains(both, name) {
			t.Errorf("of two maps, %s is missing", name)
		}
	}
	if len(both) <= max(len(first), len(second)) || len(both) >= len(first)+len(second) || strings.Count(both, "waterway") != 1 {
		t.Errorf("of two maps there are %d bytes, of each %d and %d", len(both), len(first), len(second))
	}
	if again := get(); again != both {
		t.Error("the same tile is different")
	}
	maps, version = []*tile.Map{two}, "3"
	if get() == both {
		t.Error("a map that was removed is still shown")
	}
	maps = nil
	if _, err := tiles.Describe(t.Context()); !lastmile.IsNotFound(err) {
		t.Errorf("without maps: %v", err)
	}
}

// host is another server with a PMTiles file.
type host struct {
	content  atomic.Pointer[[]byte]
	etag     atomic.Pointer[string]
	fails    atomic.Bool
	requests atomic.Int64
	before   func(request int64) // called before each request; nil for none
}

func (h *host) put(content []byte, tag string) {
	h.content.Store(&content)
	h.etag.Store(&tag)
}

// RoundTrip implements http.RoundTripper.
func (h *host) RoundTrip(r *http.Request) (*http.Response, error) {
	if n := h.requests.Add(1); h.before != nil {
		h.before(n)
	}
	if h.fails.Load() {
		return nil, errors.New("no route to host")
	}
	w := httptest.NewRecorder()
	w.Header().Set("Etag", *h.etag.Load())
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(*h.content.Load()))
	return w.Result(), nil
}

func TestTilesOfAFileOnAnotherServer(t *testing.T) {
	files := [][]byte{townTiles(t, 1), townTiles(t, 2)}
	synctest.Test(t, func(t *testing.T) {
		h := &host{}
		h.put(files[0], `"one"`)
		tiles, err := tileapi.Open("https://maps.example.com/town.pmtiles", &http.Client{Transport: h}, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		get := func() ([]byte, tileapi.Description, error) {
			d, err := tiles.Describe(t.Context())
			if err != nil {
				return nil, d, err
			}
			x, y := middle(d, 14)
			content, _, err := tiles.Tile(t.Context(), 14, x, y)
			return content, d, err
		}
		h.fails.Store(true)
		if _, _, err := get(); !isOverloaded(err) {
			t.Errorf("a server that cannot be reached: %v", err)
		}
		h.fails.Store(false)
		asked := h.requests.Load()
		if _, _, err := get(); !isOverloaded(err) || h.requests.Load() != asked {
			t.Errorf("asked again at once: %v", err)
		}
		time.Sleep(11 * time.Second)
		first, d, err := get()
		if err != nil || len(first) == 0 || len(d.Layers) != len(tile.Layers) || d.Version == "" {
			t.Fatalf("%d bytes, %+v, %v", len(first), d, err)
		}
		asked = h.requests.Load()
		if again, _, err := get(); err != nil || !bytes.Equal(again, first) || h.requests.Load() != asked {
			t.Errorf("the same tile was requested again: %v", err)
		}

		h.put(files[1], `"two"`)
		time.Sleep(11 * time.Minute)
		second, e, err := get()
		if err != nil || bytes.Equal(second, first) || e.Version == d.Version {
			t.Errorf("a new version of the file is not noticed: %v", err)
		}
		h.fails.Store(true)
		time.Sleep(11 * time.Minute)
		if again, _, err := get(); err != nil || !bytes.Equal(again, second) {
			t.Errorf("what is known is not used while the server cannot be reached: %v", err)
		}
	})
}

// TestFileIsReplacedWhileItIsOpened replaces a file between the requests for its header, its
// root directory and its metadata.
func TestFileIsReplacedWhileItIsOpened(t *testing.T) {
	files := [][]byte{townTiles(t, 1), townTiles(t, 2)}
	for _, request := range []int64{2, 3} {
		h := &host{}
		h.put(files[0], `"one"`)
		h.before = func(n int64) {
			if n == request {
				h.put(files[1], `"two"`)
			}
		}
		tiles, err := tileapi.Open("https://maps.example.com/town.pmtiles", &http.Client{Transport: h}, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		d, err := tiles.Describe(t.Context())
		if want := opened(t, files[1]).Info(); err != nil || d.Bounds != want.Bounds {
			t.Fatalf("replaced before request %d: the bounds are %v, want %v (%v)", request, d.Bounds, want.Bounds, err)
		}
		x, y := middle(d, 14)
		want, err := opened(t, files[1]).Tile(t.Context(), 14, x, y)
		if err != nil {
			t.Fatal(err)
		}
		if got, version, err := tiles.Tile(t.Context(), 14, x, y); err != nil || version != d.Version || !bytes.Equal(got, want) {
			t.Errorf("replaced before request %d: %d bytes, want %d (%v)", request, len(got), len(want), err)
		}
	}
}

// TestFileIsOpenedSlowly cancels a request that waits for another one, which opens the file.
func TestFileIsOpenedSlowly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		respond := make(chan struct{})
		client := &http.Client{Transport: roundTrip(func(*http.Request) *http.Response {
			<-respond
			w := httptest.NewRecorder()
			w.WriteHeader(http.StatusForbidden)
			return w.Result()
		})}
		tiles, err := tileapi.Open("https://maps.example.com/town.pmtiles", client, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		first := make(chan error)
		go func() {
			_, err := tiles.Describe(t.Context())
			first <- err
		}()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := tiles.Describe(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("the second request: %v", err)
		}
		close(respond)
		if err := <-first; !isOverloaded(err) {
			t.Errorf("the first request: %v", err)
		}
	})
}

// TestVersionOfATile replaces the maps while a tile is requested. Browsers must not keep the
// new tile as one of the old version.
func TestVersionOfATile(t *testing.T) {
	maps, version := []*tile.Map{opened(t, townTiles(t, 1))}, "old"
	imported := tileapi.NewImported(func() ([]*tile.Map, string) { return maps, version })
	tiles := afterDescription{imported, func() { version = "new" }}
	server := &tileapi.Server{Settings: edge.Settings{Log: slog.New(slog.DiscardHandler), Now: time.Now}, Tiles: tiles}
	for requested, want := range map[string]string{"old": "public, max-age=300", "new": "public, max-age=31536000, immutable"} {
		version = "old"
		w := httptest.NewRecorder()
		server.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/tiles/0/0/0?v="+requested, nil))
		if got := w.Header().Get("Cache-Control"); got != want {
			t.Errorf("with the %s version: kept as %q, want %q", requested, got, want)
		}
	}
}

// afterDescription is tiles that change after they were described.
type afterDescription struct {
	tileapi.Tiles
	change func()
}

// Describe implements Tiles.
func (a afterDescription) Describe(ctx context.Context) (tileapi.Description, error) {
	d, err := a.Tiles.Describe(ctx)
	a.change()
	return d, err
}

func isOverloaded(err error) bool {
	rejected, ok := errors.AsType[*lastmile.Error](err)
	return ok && rejected.Code == lastmile.CodeOverloaded
}

// TestFilesThatAreNotTiles reads from a server that sends something else.
func TestFilesThatAreNotTiles(t *testing.T) {
	for name, respond := range map[string]func(w http.ResponseWriter){
		"a page":   func(w http.ResponseWriter) { fmt.Fprint(w, strings.Repeat("<html>", 100)) },
		"an error": func(w http.ResponseWriter) { w.WriteHeader(http.StatusForbidden) },
		"a redirect": func(w http.ResponseWriter) {
			w.Header().Set("Location", "http://169.254.169.254/")
			w.WriteHeader(http.StatusFound)
		},
		"too little": func(w http.ResponseWriter) { w.WriteHeader(http.StatusPartialContent); fmt.Fprint(w, "PMTiles") },
		"a part of nonsense": func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusPartialContent)
			fmt.Fprint(w, strings.Repeat("x", 1000))
		},
	} {
		t.Run(name, func(t *testing.T) {
			client := &http.Client{
				Transport:     roundTrip(func(*http.Request) *http.Response { w := httptest.NewRecorder(); respond(w); return w.Result() }),
				CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			}
			tiles, err := tileapi.Open("http://maps.example.com/a.pmtiles?x=1", client, time.Now)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := tiles.Describe(t.Context()); !isOverloaded(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

type roundTrip func(*http.Request) *http.Response

// RoundTrip implements http.RoundTripper.
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r), nil }

func TestOpen(t *testing.T) {
	for raw, want := range map[string]string{
		"https://tiles.example.com/{z}/{x}/{y}.pbf":     "https://tiles.example.com",
		"http://127.0.0.1:8080/{z}/{x}/{y}":             "http://127.0.0.1:8080",
		"https://a.example.com/t?z={z}&x={x}&y={y}":     "https://a.example.com",
		"https://maps.example.com/planet.pmtiles":       "",
		"https://maps.example.com/planet.PMTILES?key=1": "",
	} {
		tiles, err := tileapi.Open(raw, nil, nil)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if got := tileapi.Origin(tiles); got != want {
			t.Errorf("browsers request %s from %q, want %q", raw, got, want)
		}
	}
	for _, raw := range []string{
		"", "tiles", "ftp://example.com/{z}/{x}/{y}", "https:///{z}/{x}/{y}", "https://example.com/{z}/{x}", "https://example.com/style.json", "https://example.com/{z}.pmtiles",
		"https://user:secret@example.com/a.pmtiles", "https://exa mple.com/{z}/{x}/{y}", "https://example.com; script-src */{z}/{x}/{y}",
	} {
		if _, err := tileapi.Open(raw, nil, nil); err == nil {
			t.Errorf("%q is accepted", raw)
		}
	}
	if _, err := tileapi.NewImported(func() ([]*tile.Map, string) { return nil, "" }).Describe(t.Context()); !lastmile.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
}
