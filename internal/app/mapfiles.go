package app

import (
	"bytes"
	"cmp"
	"context"
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
)

// How often a node checks for imported maps, and how often it saves which it has, for
// the other nodes. A node that has not done so for a while is gone.
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
		},
		Now: Clock,
	}
}

// The products: what travel times come from, and what addresses are found with.
const (
	roadProduct   = "roads"
	streetProduct = "streets"
)

// isExtract reports whether a file is an extract of OpenStreetMap, or should be one
// by its name.
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

// checked returns the check of a product that can be opened and verified.
func checked[T interface{ Verify() error }](open func([]byte) (T, error)) func([]byte) error {
	return func(content []byte) error {
		product, err := open(content)
		if err != nil {
			return err
		}
		return product.Verify()
	}
}

// mapFiles is the imported maps that a node uses.
type mapFiles struct {
	roads   *mapdata.Live[road.Map]
	streets *mapdata.Live[street.Index]

	note    atomic.Pointer[string] // how the maps of other nodes differ
	problem string                 // the last one that was logged
}

// openMapFiles opens the imported maps. A problem with them does not prevent the
// start: they are used as soon as it is solved.
func openMapFiles(c Config) *mapFiles {
	folder := c.MapFolder()
	return &mapFiles{
		roads:   mapdata.NewLive(folder, roadProduct, road.Open, (*road.Map).Verify),
		streets: mapdata.NewLive(folder, streetProduct, street.Open, (*street.Index).Verify),
	}
}

// Roads returns the roads of all maps.
func (m *mapFiles) Roads() []*road.Map { return products(m.roads) }

// Streets returns the streets of all maps.
func (m *mapFiles) Streets() []*street.Index { return products(m.streets) }

// ways returns travel times on the roads of all maps, or by formula.
func (m *mapFiles) ways(speed float64) *geo.Travel {
	return &geo.Travel{TravelTimer: &geo.Routers{Sources: []geo.TravelTimer{geo.Roads{Maps: m.Roads, Speed: speed}, geo.Estimate{}}}}
}

func products[T any](l *mapdata.Live[T]) []*T {
	all := l.All()
	list := make([]*T, len(all))
	for i, loaded := range all {
		list[i] = loaded.Product
	}
	return list
}

// openMaps uses the maps that were imported. Their content is verified later, so
// that large maps do not delay the start.
func (a *App) openMaps() {
	roads, err := a.maps.roads.Refresh()
	streets, problem := a.maps.streets.Refresh()
	if roads || streets {
		a.Log.Info("the maps have changed", "maps", a.maps.names())
	}
	a.maps.report(a.Log, errors.Join(err, problem))
}

// RefreshMaps uses maps that were imported and drops those that were removed or are
// damaged.
func (a *App) RefreshMaps(context.Context) error {
	a.openMaps()
	if err := errors.Join(a.maps.roads.Verify(), a.maps.streets.Verify()); err != nil {
		a.Log.Error("a map is not used", "error", err)
	}
	return nil
}

// report logs a problem, once for as long as it lasts.
func (m *mapFiles) report(log *slog.Logger, err error) {
	problem := ""
	if err != nil {
		problem = err.Error()
	}
	if problem != "" && problem != m.problem {
		log.Error("a map cannot be used", "error", err)
	}
	m.problem = problem
}

// names returns the versions of the maps in use by name.
func (m *mapFiles) names() map[string]string {
	names := map[string]string{}
	add(names, m.roads.All())
	add(names, m.streets.All())
	return names
}

// add appends the checksums of files to the versions of their maps.
func add[T any](names map[string]string, all []mapdata.Loaded[T]) {
	for _, loaded := range all {
		sums := append(strings.Fields(strings.ReplaceAll(names[loaded.Map], "-", " ")), loaded.Checksum[:min(len(loaded.Checksum), 8)])
		names[loaded.Map] = strings.Join(sums, "-")
	}
}

// nodeMapsKey is where nodes that share a database save which maps they use.
const nodeMapsKey = "nodes/maps"

// CompareMaps saves which maps the node uses and compares them with those of other
// nodes. On SQLite there is one node.
func (a *App) CompareMaps(ctx context.Context) error {
	if a.Store.Engine() == "sqlite" {
		return nil
	}
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	self := host + " " + a.Config.Listen
	var nodes mapdata.Nodes
	err = a.Store.Write(ctx, func(w *sqlstore.Tx) (err error) {
		now := a.Now()
		if nodes, err = readNodeMaps(ctx, w, now); err != nil {
			return err
		}
		nodes[self] = mapdata.Node{Seen: now, Maps: a.maps.names()}
		value, err := nodes.Encode()
		if err != nil {
			return err
		}
		return w.SaveAnswer(ctx, nodeMapsKey, value, now.Add(shareFor))
	})
	if err != nil {
		return err
	}
	note := nodes.Differences(self)
	a.maps.note.Store(&note)
	return nil
}

// readNodeMaps returns the maps of the nodes that were seen lately.
func readNodeMaps(ctx context.Context, r *sqlstore.Tx, now time.Time) (mapdata.Nodes, error) {
	value, err := r.CachedAnswer(ctx, nodeMapsKey, now)
	if err != nil {
		return nil, err
	}
	return mapdata.ParseNodes(value, now.Add(-shareFor))
}

// NodeMaps returns the maps of all nodes that share the database.
func (a *App) NodeMaps(ctx context.Context) (nodes mapdata.Nodes, err error) {
	err = a.Store.Read(ctx, func(r *sqlstore.Tx) (err error) {
		nodes, err = readNodeMaps(ctx, r, a.Now())
		return err
	})
	return nodes, err
}

// readyNote returns what /readyz says besides that the node is ready.
func (m *mapFiles) readyNote() string {
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
