package app

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"dray/internal/geo"
	"dray/internal/lastmile"
	"dray/internal/mapdata"
	"dray/internal/road"
	"dray/internal/store/sqlstore"
	"dray/internal/street"
	"dray/internal/tile"
)

// The intervals at which a node checks for imported maps and saves which maps it has, for the
// other nodes. A node that has not saved them for shareFor is considered gone.
const (
	mapsInterval  = 2 * time.Second
	shareInterval = time.Minute
	shareFor      = 5 * time.Minute
)

// BindMaps adds the flag that locates imported maps.
func (c *Config) BindMaps(f *flag.FlagSet) {
	f.StringVar(&c.Maps, "maps", c.Maps, "`folder` of imported maps (default maps in the data folder)")
}

// ImportedMap is a map in the list of imported maps.
type ImportedMap = mapdata.Map

// MapName returns the default name of the map of a file.
func MapName(file string) string { return mapdata.NameOf(file) }

// MapFolder returns the folder of imported maps.
func (c *Config) MapFolder() mapdata.Folder {
	return mapdata.Folder{
		Path: cmp.Or(c.Maps, filepath.Join(c.Data, "maps")),
		Products: []mapdata.Product{
			{Name: roadProduct, Build: road.Build, Check: checked(road.Open), Accepts: isExtract, Empty: road.ErrNoRoads},
			{Name: streetProduct, Build: street.Build, Check: checked(street.Open), Accepts: func(string) bool { return true }, Empty: street.ErrEmpty},
			{Name: tileProduct, Build: tile.Build, Check: checked(tile.Open), Accepts: isExtract, Empty: tile.ErrEmpty},
		},
		Now: Clock,
	}
}

// The products of a map: for travel times, for finding addresses, and for display.
const (
	roadProduct   = "roads"
	streetProduct = "streets"
	tileProduct   = "tiles"
)

// isExtract reports whether a file is an extract of OpenStreetMap, by its name or content.
func isExtract(path string) bool {
	if strings.HasSuffix(strings.ToLower(path), ".pbf") {
		return true
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	begin := make([]byte, 64)
	n, err := io.ReadFull(file, begin)
	return (err == nil || errors.Is(err, io.ErrUnexpectedEOF)) && bytes.Contains(begin[:n], []byte("OSMHeader"))
}

// verifier is a product that can be verified.
type verifier interface {
	Verify(ctx context.Context) error
}

// checked returns a check that opens and verifies a product.
func checked[T verifier](open func([]byte) (T, error)) func(context.Context, []byte) error {
	return func(ctx context.Context, content []byte) error {
		product, err := open(content)
		if err != nil {
			return err
		}
		return product.Verify(ctx)
	}
}

// Maps are the imported maps that a node uses.
type Maps struct {
	log     *slog.Logger
	db      *sqlstore.Store // where nodes save which maps they use
	now     func() time.Time
	node    string // the node's name
	roads   *mapdata.Live[road.Map]
	streets *mapdata.Live[street.Index]
	tiles   *mapdata.Live[tile.Map]

	note    atomic.Pointer[string] // how the maps of other nodes differ
	problem atomic.Pointer[string] // the last problem that was logged
}

// newMaps returns the imported maps. A problem with them does not prevent the start: they are
// used as soon as it is solved.
func newMaps(c Config, db *sqlstore.Store, log *slog.Logger, now func() time.Time) (*Maps, error) {
	host, err := os.Hostname()
	if err != nil {
		return nil, err
	}
	folder := c.MapFolder()
	return &Maps{
		log: log, db: db, now: now, node: host + " " + c.Listen,
		roads:   mapdata.NewLive(folder, roadProduct, road.Open, (*road.Map).Verify),
		streets: mapdata.NewLive(folder, streetProduct, street.Open, (*street.Index).Verify),
		tiles:   mapdata.NewLive(folder, tileProduct, tile.Open, (*tile.Map).Verify),
	}, nil
}

// Roads returns the roads of all maps.
func (m *Maps) Roads() []*road.Map { return products(m.roads.All()) }

// Streets returns the streets of all maps.
func (m *Maps) Streets() []*street.Index { return products(m.streets.All()) }

// Tiles returns the tiles of all maps, and the version of this set of files.
func (m *Maps) Tiles() ([]*tile.Map, string) {
	all := m.tiles.All() // read once, so that tiles and version match: browsers cache tiles by version
	return products(all), version(all)
}

// matrices returns travel times on the roads of all maps, with a cache of matrices.
func (m *Maps) matrices(speed float64) *geo.Matrices {
	return &geo.Matrices{TravelTimer: geo.Roads{Maps: m.Roads, Speed: speed}, Version: func() string { return version(m.roads.All()) }}
}

// version returns a hash that identifies the files in use.
func version[T any](all []mapdata.Loaded[T]) string {
	sum := sha256.New()
	for _, loaded := range all {
		io.WriteString(sum, loaded.Checksum) //nolint:errcheck // it does not fail
	}
	return hex.EncodeToString(sum.Sum(nil)[:6])
}

// ways returns travel times on the roads of all maps, or by formula.
func (m *Maps) ways(speed float64) *geo.Travel {
	return &geo.Travel{TravelTimer: &geo.Routers{Local: []geo.TravelTimer{geo.Roads{Maps: m.Roads, Speed: speed}, geo.Estimate{}}}}
}

func products[T any](all []mapdata.Loaded[T]) []*T {
	list := make([]*T, len(all))
	for i, loaded := range all {
		list[i] = loaded.Product
	}
	return list
}

// open opens imported maps. Their content is verified later, so that large maps do not delay
// the start.
func (m *Maps) open() {
	roads, err := m.roads.Refresh()
	streets, problem := m.streets.Refresh()
	tiles, third := m.tiles.Refresh()
	if roads || streets || tiles {
		m.log.Info("the maps have changed", "maps", m.names())
	}
	m.report(errors.Join(err, problem, third))
}

// Refresh opens imported maps and drops those that were removed or are damaged.
func (m *Maps) Refresh(ctx context.Context) error {
	m.open()
	err := errors.Join(m.roads.Verify(ctx), m.streets.Verify(ctx), m.tiles.Verify(ctx))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		m.log.Error("a map is not used", "error", err)
	}
	return nil
}

// report logs a problem, but only once while it lasts.
func (m *Maps) report(err error) {
	problem := ""
	if err != nil {
		problem = err.Error()
	}
	before := m.problem.Swap(&problem)
	if problem != "" && (before == nil || *before != problem) {
		m.log.Error("a map cannot be used", "error", err)
	}
}

// names returns the versions of the maps in use by name.
func (m *Maps) names() map[string]string {
	names := map[string]string{}
	add(names, m.roads.All())
	add(names, m.streets.All())
	add(names, m.tiles.All())
	return names
}

// add appends the checksums of files to the versions of their maps.
func add[T any](names map[string]string, all []mapdata.Loaded[T]) {
	for _, loaded := range all {
		sums := append(strings.Fields(strings.ReplaceAll(names[loaded.Map], "-", " ")), loaded.Checksum[:min(len(loaded.Checksum), 8)])
		names[loaded.Map] = strings.Join(sums, "-")
	}
}

// nodeMapsKey is the key under which nodes that share a database save which maps they use.
const nodeMapsKey = "nodes/maps"

// Compare saves which maps the node uses and compares them with those of other
// nodes. On SQLite there is one node.
func (m *Maps) Compare(ctx context.Context) error {
	if m.db.Engine() == "sqlite" {
		return nil
	}
	var nodes mapdata.Nodes
	err := m.db.Write(ctx, func(w *sqlstore.Tx) (err error) {
		now := m.now()
		if nodes, err = readNodeMaps(ctx, w, now); err != nil {
			return err
		}
		nodes[m.node] = mapdata.Node{Seen: now, Maps: m.names()}
		value, err := nodes.Encode()
		if err != nil {
			return err
		}
		return w.SaveResponse(ctx, nodeMapsKey, value, now.Add(shareFor))
	})
	if err != nil {
		return err
	}
	note := nodes.Differences(m.node)
	m.note.Store(&note)
	return nil
}

// readNodeMaps returns the maps of the nodes that were seen recently.
func readNodeMaps(ctx context.Context, r *sqlstore.Tx, now time.Time) (mapdata.Nodes, error) {
	value, err := r.CachedResponse(ctx, nodeMapsKey, now)
	if err != nil {
		return nil, err
	}
	return mapdata.ParseNodes(value, now.Add(-shareFor))
}

// Nodes returns the maps of all nodes that share the database.
func (m *Maps) Nodes(ctx context.Context) (nodes mapdata.Nodes, err error) {
	err = m.db.Read(ctx, func(r *sqlstore.Tx) (err error) {
		nodes, err = readNodeMaps(ctx, r, m.now())
		return err
	})
	return nodes, err
}

// readyNote returns what /readyz adds to the response of a node that is ready.
func (m *Maps) readyNote() string {
	if note := m.note.Load(); note != nil && *note != "" {
		return "; the maps of nodes differ: " + *note
	}
	return ""
}

// RemoveMap removes an imported map.
func (c *Config) RemoveMap(name string) error {
	err := c.MapFolder().Remove(name)
	if errors.Is(err, mapdata.ErrNotFound) {
		return lastmile.NotFound("map", name)
	}
	return err
}
