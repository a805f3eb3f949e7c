package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"dray/internal/lastmile"
	"dray/internal/mapdata"
	"dray/internal/osm/town"
	"dray/internal/road"
	"dray/internal/simulate"
	"dray/internal/street"
)

// TownMap is the name of the map of the generated town.
const TownMap = "town"

// ImportTown generates a town and imports it like other maps, unless a usable one was
// imported before.
func (c *Config) ImportTown(ctx context.Context, seed uint64, progress func(product string, share float64)) (err error) {
	folder := c.MapFolder()
	if c.hasTown(ctx, folder) {
		return nil
	}
	if err := os.MkdirAll(folder.Path, 0o700); err != nil {
		return err
	}
	path := filepath.Join(folder.Path, TownMap+".osm.pbf")
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		if gone := os.Remove(path); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}()
	if err := errors.Join(town.Write(file, seed), file.Close()); err != nil {
		return fmt.Errorf("generate the town: %w", err)
	}
	_, err = folder.Import(ctx, path, TownMap, progress)
	return err
}

// hasTown reports whether the town was imported and can be used. It may have been imported by
// another version of the program, whose files differ.
func (c *Config) hasTown(ctx context.Context, folder mapdata.Folder) bool {
	maps, err := folder.List()
	at := slices.IndexFunc(maps, func(m mapdata.Map) bool { return m.Name == TownMap })
	if err != nil || at < 0 {
		return false
	}
	for _, p := range folder.Products {
		k := slices.IndexFunc(maps[at].Files, func(f mapdata.File) bool { return f.Product == p.Name })
		if k < 0 {
			return false
		}
		content, err := os.ReadFile(filepath.Join(folder.Path, maps[at].Files[k].Name))
		if err != nil || p.Check(ctx, content) != nil {
			return false
		}
	}
	return true
}

// Limits of the part of a map that a simulation uses.
const (
	cityRadius = 3500.0 // meters
	cityCell   = 0.02   // degrees; cell size for finding the densest part
	maxDoors   = 50_000
	fewDoors   = 100 // with fewer houses, streets count as addresses too
)

// City returns the densest part of an imported map, for a simulation.
func (a *App) City(ctx context.Context, name string) (*simulate.City, error) {
	a.Maps.open()
	index, roads := product(a.Maps.streets, name), product(a.Maps.roads, name)
	if index == nil || roads == nil {
		return nil, fmt.Errorf("the map %s cannot be used: remove it with dray map remove %s and start again", name, name)
	}
	whole, err := addressesOf(index)
	if err != nil {
		return nil, err
	}
	center := densest(whole)
	city := &simulate.City{Route: func(by lastmile.VehicleType, from, to lastmile.Point) ([]lastmile.Point, time.Duration) {
		return routeOn(roads, by, from, to)
	}}
	places := map[[2]string]lastmile.Address{}
	for _, h := range whole {
		at := lastmile.Point(h.Location)
		if lastmile.SphericalDistance(at, center) > cityRadius {
			continue
		}
		region, known := places[[2]string{h.State, h.Country}]
		if !known {
			found, err := a.Book.Finder.Reverse(ctx, at, 1)
			if err != nil {
				return nil, err
			}
			if len(found) > 0 {
				region = found[0].Address
			}
			places[[2]string{h.State, h.Country}] = region
		}
		city.Doors = append(city.Doors, simulate.Door{At: at, Address: lastmile.Address{
			Number: h.Number, Street: h.Street, City: cmp.Or(h.City, region.City), State: region.State, PostalCode: h.PostalCode, Country: region.Country,
		}})
	}
	if len(city.Doors) == 0 {
		return nil, fmt.Errorf("the map %s has no addresses", name)
	}
	return city, nil
}

// product returns the loaded product of a map; nil if none is in use.
func product[T any](l *mapdata.Live[T], name string) *T {
	for _, loaded := range l.All() {
		if loaded.Map == name {
			return loaded.Product
		}
	}
	return nil
}

// addressesOf returns the houses of an index and, if there are few, its streets. Of a large
// index, it returns a sample.
func addressesOf(index *street.Index) (all []street.Hit, err error) {
	houses, seen := 0, 0
	count := func(h street.Hit) bool {
		if h.Kind == street.KindHouse {
			houses++
		}
		return true
	}
	if err := index.Addresses(count); err != nil {
		return nil, err
	}
	every := 1 + houses/maxDoors
	err = index.Addresses(func(h street.Hit) bool {
		if h.Kind != street.KindHouse && houses >= fewDoors {
			return true
		}
		if seen++; seen%every == 0 {
			all = append(all, h)
		}
		return true
	})
	return all, err
}

// densest returns the center of the cell with the most addresses.
func densest(all []street.Hit) lastmile.Point {
	cellOf := func(h street.Hit) [2]int {
		return [2]int{int(h.Location.Lon / cityCell), int(h.Location.Lat / cityCell)}
	}
	counts := map[[2]int]int{}
	var best [2]int
	for _, h := range all {
		c := cellOf(h)
		if counts[c]++; counts[c] > counts[best] {
			best = c
		}
	}
	var sum lastmile.Point
	for _, h := range all {
		if cellOf(h) == best {
			sum.Lon, sum.Lat = sum.Lon+h.Location.Lon, sum.Lat+h.Location.Lat
		}
	}
	n := float64(max(counts[best], 1))
	return lastmile.Point{Lon: sum.Lon / n, Lat: sum.Lat / n}
}

// routeOn returns the way of a vehicle on the roads of a map.
func routeOn(roads *road.Map, by lastmile.VehicleType, from, to lastmile.Point) ([]lastmile.Point, time.Duration) {
	profile, special := map[lastmile.VehicleType]road.Profile{
		lastmile.OnFoot: road.Foot, lastmile.Bicycle: road.Bicycle, lastmile.Truck: road.Truck,
	}[by]
	if !special {
		profile = road.Car
	}
	found, err := roads.Route(profile, road.Point(from), road.Point(to))
	if err != nil {
		return nil, 0
	}
	line := make([]lastmile.Point, len(found.Line))
	for i, p := range found.Line {
		line[i] = lastmile.Point(p)
	}
	return line, found.Duration
}
