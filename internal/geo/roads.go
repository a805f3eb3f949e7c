package geo

import (
	"context"
	"errors"
	"time"

	"dray/internal/lastmile"
	"dray/internal/road"
	"dray/internal/travel"
)

// RoadSource is the Source of times on the roads of imported maps.
const RoadSource = "roads"

// Roads returns travel times on the roads of imported maps. Times between locations that no
// map covers are estimated by formula and marked as gaps.
type Roads struct {
	Maps  func() []*road.Map // returns the maps in use; where they overlap, the first is used
	Speed float64            // speed factor of simulated workers; 1 is real time, and 0 means 1
}

// roadProfiles are the profiles of vehicle types.
var roadProfiles = map[lastmile.VehicleType]road.Profile{
	lastmile.Car: road.Car, lastmile.Motorcycle: road.Car, lastmile.Truck: road.Truck,
	lastmile.Bicycle: road.Bicycle, lastmile.OnFoot: road.Foot,
}

// errNotCovered means that no map covers any of the pairs.
var errNotCovered = errors.New("no imported map covers the locations")

// Matrix implements TravelTimer.
func (r Roads) Matrix(ctx context.Context, by lastmile.VehicleType, from, to []lastmile.Point) (travel.Times, error) {
	profile, ok := roadProfiles[by]
	if !ok {
		return travel.Times{}, errNoMode
	}
	var times travel.Times
	missing := len(from) * len(to)
	for _, m := range r.Maps() {
		rows, origins := inside(m, from)
		columns, destinations := inside(m, to)
		if missing == 0 || len(rows) == 0 || len(columns) == 0 {
			continue
		}
		cells, err := m.Matrix(ctx, profile, origins, destinations)
		if err != nil {
			return travel.Times{}, err
		}
		if times.Durations == nil {
			times = allByFormula(by, from, to)
		}
		for i, row := range rows {
			for j, column := range columns {
				if c := cells[i*len(columns)+j]; c.Covered && times.Gaps[row][column] {
					times.Durations[row][column], times.Distances[row][column] = r.paced(c.Duration), lastmile.Meters(c.Meters)
					times.Gaps[row][column] = false
					missing--
				}
			}
		}
	}
	switch missing {
	case len(from) * len(to):
		return travel.Times{}, errNotCovered
	case 0:
		times.Gaps = nil
	}
	return times, nil
}

// paced returns the duration of a trip at the speed of workers.
func (r Roads) paced(d time.Duration) time.Duration {
	if r.Speed > 0 && r.Speed != 1 {
		return time.Duration(float64(d) / r.Speed)
	}
	return d
}

// allByFormula returns times that are all gaps, estimated by formula.
func allByFormula(by lastmile.VehicleType, from, to []lastmile.Point) travel.Times {
	times := travel.NewTimes(len(from), len(to), RoadSource)
	times.Gaps = make([][]bool, len(from))
	for i, a := range from {
		times.Gaps[i] = make([]bool, len(to))
		for j, b := range to {
			times.Durations[i][j], times.Distances[i][j] = travel.Approximate(by, a, b)
			times.Gaps[i][j] = true
		}
	}
	return times
}

// inside returns the locations that a map may cover, and their indexes.
func inside(m *road.Map, all []lastmile.Point) (at []int, points []road.Point) {
	const margin = 0.02 // degrees; at most latitudes, more than the maximum distance of a location from a road
	southwest, northeast := m.Bounds()
	for i, p := range all {
		if p.Lon >= southwest.Lon-margin && p.Lon <= northeast.Lon+margin && p.Lat >= southwest.Lat-margin && p.Lat <= northeast.Lat+margin {
			at, points = append(at, i), append(points, road.Point{Lon: p.Lon, Lat: p.Lat})
		}
	}
	return at, points
}

// Route returns the way along stops: on the roads of imported maps, and straight between
// stops that no map covers.
func (r Roads) Route(ctx context.Context, by lastmile.VehicleType, stops []lastmile.Point) (whole travel.Route, err error) {
	for i := 1; i < len(stops); i++ {
		if err := ctx.Err(); err != nil {
			return travel.Route{}, err
		}
		whole.Add(r.leg(by, stops[i-1], stops[i]))
	}
	whole.Thin(travel.MaxRoutePoints)
	return whole, nil
}

// leg returns the way between two stops.
func (r Roads) leg(by lastmile.VehicleType, from, to lastmile.Point) travel.Route {
	profile, ok := roadProfiles[by]
	for _, m := range r.Maps() {
		_, ends := inside(m, []lastmile.Point{from, to})
		if !ok || len(ends) < 2 {
			continue
		}
		found, err := m.Route(profile, ends[0], ends[1])
		if err != nil { // the map does not cover it or is damaged; the next verification of the map reports damage
			continue
		}
		leg := travel.Route{Duration: r.paced(found.Duration), Distance: lastmile.Meters(found.Meters), Line: make([]lastmile.Point, len(found.Line))}
		for i, p := range found.Line {
			leg.Line[i] = lastmile.Point(p)
		}
		return leg
	}
	leg := travel.Route{Line: []lastmile.Point{from, to}, ByFormula: true}
	leg.Duration, leg.Distance = travel.Approximate(by, from, to)
	return leg
}
