package app

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

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

// MapFolder returns the folder of imported maps.
func (c *Config) MapFolder() mapdata.Folder {
	return mapdata.Folder{
		Path: cmp.Or(c.Maps, filepath.Join(c.Data, "maps")),
		Products: []mapdata.Product{
			{Name: roadProduct, Build: road.Build, Check: checkRoads, Accepts: isPBF, Empty: road.ErrNoRoads},
			{Name: streetProduct, Build: street.Build, Check: checkStreets, Accepts: func(string) bool { return true }, Empty: street.ErrEmpty},
		},
		Now: Clock,
	}
}

// The products that are built from extracts: travel times and addresses.
const (
	roadProduct   = "roads"
	streetProduct = "streets"
)

func isPBF(file string) bool { return strings.HasSuffix(strings.ToLower(file), ".pbf") }

func checkRoads(content []byte) error {
	m, err := road.Open(content)
	if err != nil {
		return err
	}
	return m.Verify()
}

func checkStreets(content []byte) error {
	x, err := street.Open(content)
	if err != nil {
		return err
	}
	return x.Verify()
}

// mapFiles is the imported maps that a node uses.
type mapFiles struct {
	folder  mapdata.Folder
	roads   *mapdata.Live[road.Map]
	streets *mapdata.Live[street.Index]

	note    atomic.Pointer[string] // how the maps of other nodes differ
	problem string                 // the last one that was logged
}

// openMapFiles opens the imported maps. A problem with them does not prevent the
// start: they are used as soon as it is solved.
func openMapFiles(c Config) *mapFiles {
	m := &mapFiles{folder: c.MapFolder()}
	m.roads = mapdata.NewLive(m.folder, roadProduct, road.Open, (*road.Map).Verify)
	m.streets = mapdata.NewLive(m.folder, streetProduct, street.Open, (*street.Index).Verify)
	return m
}

// Roads returns the roads of all maps.
func (m *mapFiles) Roads() (all []*road.Map) {
	for _, loaded := range m.roads.All() {
		all = append(all, loaded.Product)
	}
	return all
}

// Streets returns the streets of all maps.
func (m *mapFiles) Streets() (all []*street.Index) {
	for _, loaded := range m.streets.All() {
		all = append(all, loaded.Product)
	}
	return all
}

// openMaps uses the maps that were imported. Their content is verified later, so
// that large maps do not delay the start.
func (a *App) openMaps() {
	roads, err := a.maps.roads.Refresh()
	streets, also := a.maps.streets.Refresh()
	if roads || streets {
		a.Log.Info("the maps have changed", "maps", a.maps.names())
	}
	a.maps.report(a.Log, errors.Join(err, also))
}

// refreshMaps uses maps that were imported and drops those that were removed or are
// damaged.
func (a *App) refreshMaps(context.Context) error {
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

// names returns the checksums of the maps in use by name.
func (m *mapFiles) names() map[string]string {
	names := map[string]string{}
	add := func(name, checksum string) {
		if names[name] != "" {
			names[name] += "-"
		}
		names[name] += checksum[:min(len(checksum), 8)]
	}
	for _, loaded := range m.roads.All() {
		add(loaded.Map, loaded.Checksum)
	}
	for _, loaded := range m.streets.All() {
		add(loaded.Map, loaded.Checksum)
	}
	return names
}

// nodeMapsKey is where nodes that share a database save which maps they use.
const nodeMapsKey = "nodes/maps"

// shareMaps saves which maps the node uses and compares them with those of other
// nodes. On SQLite there is one node.
func (a *App) shareMaps(ctx context.Context) error {
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
