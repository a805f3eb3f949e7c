package tileapi

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"

	"dray/internal/edge"
	"dray/internal/lastmile"
	"dray/internal/tile"
)

// The limits of tiles.
const (
	tileRate    = 1000.0   // requests per second from one IP address, which many phones may share
	mergedBytes = 32 << 20 // cache of tiles merged from several maps
)

// Cache-Control of tiles. A tile that is requested with its version never changes.
const (
	versionedAge = "public, max-age=31536000, immutable"
	currentAge   = "public, max-age=300"
)

// Tiles is a source of tiles.
type Tiles interface {
	// Describe describes the tiles. Its version changes whenever a tile does. It returns
	// errNone if there are none.
	Describe(ctx context.Context) (Description, error)
	// Tile returns a tile, compressed with gzip; nil if it is empty. Its version may be newer
	// than that of an earlier description.
	Tile(ctx context.Context, zoom, x, y int) (content []byte, version string, err error)
}

// Description describes tiles.
type Description struct {
	tile.Info
	Version  string
	Template string // URL of tiles on another server; empty if this server serves them
}

// errNone returns the error of a server without a base map.
func errNone() error {
	return &lastmile.Error{Code: lastmile.CodeNotFound, Message: "There is no base map: import one with dray map import, or set --tiles."}
}

// Server serves tiles without authentication.
type Server struct {
	edge.Settings
	Tiles Tiles
}

// Handler returns the paths /tiles.json and /tiles/{z}/{x}/{y}.
func (s *Server) Handler() http.Handler {
	return edge.NewMux(s.Settings, "", edge.Access{RateLimit: tileRate, ByAddress: true},
		edge.Get("/tiles.json", "Describe the base map", s.describe).Public(),
		edge.Follow("/tiles/{z}/{x}/{y}", "Read a tile of the base map", s.tile).Public(),
	)
}

// document is a description in the form of TileJSON 3.0.0.
type document struct {
	TileJSON    string       `json:"tilejson"`
	Name        string       `json:"name"`
	Version     string       `json:"version"`
	Scheme      string       `json:"scheme"`
	Tiles       []string     `json:"tiles"`
	MinZoom     int          `json:"minzoom"`
	MaxZoom     int          `json:"maxzoom"`
	Bounds      [4]float64   `json:"bounds"`
	Center      [3]float64   `json:"center"`
	Attribution string       `json:"attribution"`
	Layers      []tile.Layer `json:"vector_layers"`
}

// describe serves GET /tiles.json. The URL of this server's own tiles has no host, so
// that it is valid under any host name. Without tiles the list of URLs is empty,
// because browsers would log an error status on every page with a map.
func (s *Server) describe(ctx context.Context, _ *edge.Call) (document, error) {
	d, err := s.Tiles.Describe(ctx)
	none := lastmile.IsNotFound(err)
	if err != nil && !none {
		return document{}, err
	}
	tiles := []string{cmp.Or(d.Template, "/tiles/{z}/{x}/{y}?v="+d.Version)}
	if none {
		tiles = []string{}
	}
	if d.Layers == nil {
		d.Layers = []tile.Layer{}
	}
	return document{
		TileJSON: "3.0.0", Name: "Dray", Version: "1.0.0", Scheme: "xyz", Tiles: tiles, MinZoom: d.MinZoom, MaxZoom: d.MaxZoom,
		Bounds: d.Bounds, Center: d.Center, Attribution: d.Attribution, Layers: d.Layers,
	}, nil
}

// tile serves GET /tiles/{z}/{x}/{y}. A file extension after y is ignored.
func (s *Server) tile(ctx context.Context, c *edge.Call, w http.ResponseWriter) error {
	d, err := s.Tiles.Describe(ctx)
	if err != nil {
		return err
	}
	last, _, _ := strings.Cut(c.Path("y"), ".")
	z, errZ := strconv.Atoi(c.Path("z"))
	x, errX := strconv.Atoi(c.Path("x"))
	y, errY := strconv.Atoi(last)
	if errZ != nil || errX != nil || errY != nil || z < d.MinZoom || z > d.MaxZoom || !tile.Valid(z, x, y) || d.Template != "" {
		return lastmile.NotFound("tile", edge.Clip(c.HTTP.URL.Path)).Because("z must be from %d to %d, and x and y from 0 to 2^z-1", d.MinZoom, d.MaxZoom)
	}
	content, version, err := s.Tiles.Tile(ctx, z, x, y)
	if err != nil {
		return err
	}
	age := currentAge
	if c.Query.Get("v") == version {
		age = versionedAge
	}
	w.Header().Set("Cache-Control", age)
	if content == nil {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if err := c.HoldPart(len(content)); err != nil {
		return err
	}
	return send(c.HTTP, w, content)
}

// send responds with a tile, compressed unless the client does not accept that.
func send(r *http.Request, w http.ResponseWriter, content []byte) (err error) {
	header := w.Header()
	header.Set("Vary", "Accept-Encoding")
	if acceptsGzip(r) {
		header.Set("Content-Encoding", "gzip")
	} else if content, err = tile.Inflate(content); err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	etag := `"` + base64.RawURLEncoding.EncodeToString(sum[:12]) + `"`
	header.Set("Etag", etag)
	header.Set("Content-Type", "application/vnd.mapbox-vector-tile")
	if match := r.Header.Get("If-None-Match"); match == "*" || strings.Contains(match, etag) {
		header.Del("Content-Encoding")
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	header.Set("Content-Length", strconv.Itoa(len(content)))
	w.Write(content) //nolint:errcheck // the client may be gone
	return nil
}

// acceptsGzip reports whether a client accepts gzip. Clients that do not send Accept-Encoding
// do.
func acceptsGzip(r *http.Request) bool {
	accepted := strings.ReplaceAll(strings.ToLower(r.Header.Get("Accept-Encoding")), " ", "")
	if accepted == "" || accepted == "*" {
		return true
	}
	for coding := range strings.SplitSeq(accepted, ",") {
		if name, weight, _ := strings.Cut(coding, ";"); name == "gzip" {
			return strings.Trim(weight, "q=0.") != "" || weight == ""
		}
	}
	return false
}

// shorten returns a short hash of a text.
func shorten(text string) string {
	sum := sha256.Sum256([]byte(text))
	return base64.RawURLEncoding.EncodeToString(sum[:9])
}
