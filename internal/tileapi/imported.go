package tileapi

import (
	"context"
	"errors"
	"fmt"

	"dray/internal/tile"
)

// Imported is the source of the tiles of imported maps. Where several maps have a tile, as at
// the border between two extracts, they are merged.
type Imported struct {
	// Maps returns the maps in use, and a version that identifies this set of maps.
	Maps func() (maps []*tile.Map, version string)

	merged cache
}

// NewImported returns the tiles of imported maps.
func NewImported(maps func() ([]*tile.Map, string)) *Imported {
	return &Imported{Maps: maps, merged: cache{most: mergedBytes}}
}

// Describe implements Tiles. The center is that of the first map.
func (t *Imported) Describe(context.Context) (d Description, err error) {
	maps, version := t.Maps()
	if len(maps) == 0 {
		return d, errNone()
	}
	d = Description{Info: maps[0].Info(), Version: version}
	for _, m := range maps[1:] {
		info := m.Info()
		d.MinZoom, d.MaxZoom = min(d.MinZoom, info.MinZoom), max(d.MaxZoom, info.MaxZoom)
		d.Bounds = [4]float64{
			min(d.Bounds[0], info.Bounds[0]), min(d.Bounds[1], info.Bounds[1]), max(d.Bounds[2], info.Bounds[2]), max(d.Bounds[3], info.Bounds[3]),
		}
	}
	return d, nil
}

// Tile implements Tiles.
func (t *Imported) Tile(ctx context.Context, zoom, x, y int) (content []byte, version string, err error) {
	maps, version := t.Maps()
	key := fmt.Sprintf("%s/%d/%d/%d", version, zoom, x, y)
	if len(maps) > 1 {
		if content, ok := t.merged.get(key); ok {
			return content, version, nil
		}
	}
	var all [][]byte
	var problems []error
	for _, m := range maps {
		content, err := m.Tile(ctx, zoom, x, y)
		switch {
		case err != nil:
			problems = append(problems, err)
		case content != nil:
			all = append(all, content)
		}
	}
	switch {
	case len(all) == 0:
		return nil, version, errors.Join(problems...)
	case len(all) == 1:
		return all[0], version, nil
	}
	if content, err = tile.Merge(all); err != nil {
		return nil, "", err
	}
	t.merged.put(key, content)
	return content, version, nil
}
