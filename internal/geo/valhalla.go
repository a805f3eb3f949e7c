package geo

import (
	"context"
	"fmt"
	"net/url"

	"dray/internal/lastmile"
	"dray/internal/travel"
)

// valhallaSide is the maximum number of origins and of destinations per
// request: servers accept 2,500 pairs by default.
const valhallaSide = 50

// Valhalla uses a Valhalla server. It supports every vehicle type.
type Valhalla struct{ service *service }

// NewValhalla returns the Valhalla at base.
func NewValhalla(base url.URL, o Options) *Valhalla {
	return &Valhalla{newService("valhalla", base, maxTable, o)}
}

// valhallaCosting maps vehicle types to Valhalla's costing models.
var valhallaCosting = map[lastmile.VehicleType]string{
	lastmile.Car: "auto", lastmile.Motorcycle: "motorcycle", lastmile.Truck: "truck",
	lastmile.Bicycle: "bicycle", lastmile.OnFoot: "pedestrian",
}

// Matrix implements TravelTimer.
func (v *Valhalla) Matrix(ctx context.Context, by lastmile.VehicleType, from, to []lastmile.Point) (travel.Times, error) {
	costing, ok := valhallaCosting[by]
	if !ok {
		return travel.Times{}, fmt.Errorf("query valhalla: %w: %q", errNoMode, by)
	}
	return fill(ctx, v.service.name, from, to, valhallaSide, func(ctx context.Context, b block) ([][]cell, error) {
		return v.ask(ctx, costing, b)
	})
}

func (v *Valhalla) ask(ctx context.Context, costing string, b block) ([][]cell, error) {
	question := valhallaQuestion{
		Sources: valhallaPoints(b.from), Targets: valhallaPoints(b.to), Costing: costing, Units: "kilometers",
	}
	var response valhallaResponse
	if err := v.service.post(ctx, b.within, "/sources_to_targets", question, &response); err != nil {
		return nil, err
	}
	cells := make([][]cell, len(response.Rows))
	for i, row := range response.Rows {
		cells[i] = make([]cell, len(row))
		for j, c := range row {
			cells[i][j].seconds = c.Time
			if c.Distance != nil {
				meters := *c.Distance * 1000
				cells[i][j].meters = &meters
			}
		}
	}
	return cells, nil
}

type valhallaQuestion struct {
	Sources []valhallaPoint `json:"sources"`
	Targets []valhallaPoint `json:"targets"`
	Costing string          `json:"costing"`
	Units   string          `json:"units"`
}

type valhallaPoint struct {
	Lat float64 `json:"lat"`
	Lon float64 `json:"lon"`
}

func valhallaPoints(points []lastmile.Point) []valhallaPoint {
	all := make([]valhallaPoint, len(points))
	for i, p := range points {
		all[i] = valhallaPoint{Lat: p.Lat, Lon: p.Lon}
	}
	return all
}

type valhallaResponse struct {
	Rows [][]struct {
		Time     *float64 `json:"time"`
		Distance *float64 `json:"distance"` // kilometers
	} `json:"sources_to_targets"`
}
