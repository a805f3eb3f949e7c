package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"dray/internal/app"
)

func mapImportCommand() command {
	return command{
		name: "map import", args: "FILE...", summary: "Import extracts of OpenStreetMap (.osm.pbf), addresses and postal codes, also while a server is running",
		examples: []string{"dray map import milan.osm.pbf", "dray map import italy-latest.osm.pbf --name italy --data /var/lib/dray"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			bindMapFolder(f, c)
			name := f.String("name", "", "`name` of the map, which replaces the one of the same name (default: from the file)")
			return func(ctx context.Context, inv *invocation) error { return importMaps(ctx, inv, *name) }
		},
	}
}

// bindMapFolder adds the flags that locate imported maps.
func bindMapFolder(f *flag.FlagSet, c *app.Config) {
	c.BindStorage(f)
	c.BindMaps(f)
}

// mapResult is a map in the output of commands.
type mapResult struct {
	Name     string   `json:"name"`
	Products []string `json:"products"`
	Bytes    int64    `json:"bytes"` // of all files
	Version  string   `json:"version"`
	Source   string   `json:"source"`
	Imported int64    `json:"timeImported"`
}

func newMapResult(m app.ImportedMap) mapResult {
	result := mapResult{Name: m.Name, Version: m.Checksum(), Source: m.Source, Imported: m.Imported.UnixMilli()}
	for _, f := range m.Files {
		result.Products, result.Bytes = append(result.Products, f.Product), result.Bytes+f.Bytes
	}
	return result
}

func importMaps(ctx context.Context, inv *invocation, name string) error {
	switch {
	case len(inv.Args) == 0:
		return usageErrorf("name at least one file")
	case len(inv.Args) > 1 && name != "":
		return usageErrorf("--name is for one file")
	}
	folder := inv.Config.MapFolder()
	for _, file := range inv.Args {
		as := name
		if as == "" {
			as = app.MapName(file)
		}
		inv.progress.report(as, 0)
		m, err := folder.Import(ctx, file, as, func(product string, share float64) {
			inv.progress.report(fmt.Sprintf("%s, %s %s", as, product, bar(share)), 0)
		})
		if err != nil {
			return err
		}
		result := newMapResult(m)
		if err := inv.print(result, "The map %s is imported: %s, %s bytes.\n", m.Name, strings.Join(result.Products, ", "), thousands(result.Bytes)); err != nil {
			return err
		}
	}
	return nil
}

// bar returns a share as a bar and a percentage.
func bar(share float64) string {
	const width = 20
	done := min(max(int(share*width), 0), width)
	return fmt.Sprintf("[%s%s] %d %%", strings.Repeat("#", done), strings.Repeat(".", width-done), min(max(int(share*100), 0), 100))
}

func mapListCommand() command {
	return command{
		name: "map list", summary: "List imported maps; with PostgreSQL, also those of every node",
		examples: []string{"dray map list", "dray map list --database postgres://dray@db/dray"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			bindMapFolder(f, c)
			return listMaps
		},
	}
}

func listMaps(ctx context.Context, inv *invocation) error {
	all, err := inv.Config.MapFolder().List()
	if err != nil {
		return err
	}
	results, rows := []mapResult{}, &table{header: []string{"MAP", "PRODUCTS", "BYTES", "VERSION", "IMPORTED", "SOURCE"}}
	for _, m := range all {
		result := newMapResult(m)
		results = append(results, result)
		rows.add(m.Name, strings.Join(result.Products, ", "), thousands(result.Bytes), result.Version, formatTime(m.Imported), m.Source)
	}
	byNode, nodes := &table{header: []string{"NODE", "MAPS", "COMPARED WITH OTHER NODES"}}, map[string]any{}
	if inv.Config.Database != "" {
		if err := inv.with(ctx, func(a *app.App) error { return addNodes(ctx, a, nodes, byNode) }); err != nil {
			return err
		}
	}
	text := rows.format(inv.out)
	if len(byNode.rows) > 0 {
		text += "\n" + byNode.format(inv.out)
	}
	if text == "" && !inv.json {
		_, err := io.WriteString(inv.errs, "No map is imported.\n")
		return err
	}
	return inv.print(map[string]any{"maps": results, "nodes": nodes}, "%s", text)
}

// addNodes adds the maps of every node that shares the database.
func addNodes(ctx context.Context, a *app.App, results map[string]any, rows *table) error {
	nodes, err := a.Maps.Nodes(ctx)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		results[name] = nodes[name].Maps
		var have []string
		for _, m := range slices.Sorted(maps.Keys(nodes[name].Maps)) {
			have = append(have, m+" "+nodes[name].Maps[m])
		}
		state, as := "the same", green
		if different := nodes.Differences(name); different != "" {
			state, as = different, yellow
		}
		rows.add(name, strings.Join(have, ", "), state)
		rows.color(2, as)
	}
	return nil
}

func mapRemoveCommand() command {
	return command{
		name: "map remove", args: "NAME", summary: "Remove an imported map",
		examples: []string{"dray map remove milan"},
		setup: func(f *flag.FlagSet, c *app.Config) func(context.Context, *invocation) error {
			bindMapFolder(f, c)
			return func(_ context.Context, inv *invocation) error {
				if len(inv.Args) != 1 {
					return usageErrorf("name one map; `dray map list` shows them")
				}
				if err := inv.Config.RemoveMap(inv.Args[0]); err != nil {
					return err
				}
				return inv.print(map[string]any{"name": inv.Args[0], "removed": true}, "The map %s is removed.\n", inv.Args[0])
			}
		},
	}
}
