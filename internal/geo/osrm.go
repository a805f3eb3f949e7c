package geo

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"dray/internal/lastmile"
	"dray/internal/travel"
)

// osrmSide is the maximum number of origins and of destinations per request:
// servers accept 100 locations by default.
const osrmSide = 50

// OSRM uses an OSRM server. A server supports one mode of travel, usually the car.
type OSRM struct {
	service *service
	profile string
	modes   []lastmile.VehicleType
}

// NewOSRM returns the OSRM at base, which serves the given vehicle types.
func NewOSRM(base url.URL, profile string, modes []lastmile.VehicleType, o Options) *OSRM {
	return &OSRM{newService("osrm", base, maxTable, o), profile, modes}
}

// Matrix implements TravelTimer.
func (r *OSRM) Matrix(ctx context.Context, by lastmile.VehicleType, from, to []lastmile.Point) (travel.Times, error) {
	if !slices.Contains(r.modes, by) {
		return travel.Times{}, fmt.Errorf("query osrm: %w: %q", errNoMode, by)
	}
	return fill(ctx, r.service.name, from, to, osrmSide, r.ask)
}

func (r *OSRM) ask(ctx context.Context, b block) ([][]cell, error) {
	var places, sources, destinations []string
	for i, p := range slices.Concat(b.from, b.to) {
		places = append(places, degrees(p.Lon)+","+degrees(p.Lat))
		if i < len(b.from) {
			sources = append(sources, strconv.Itoa(i))
		} else {
			destinations = append(destinations, strconv.Itoa(i))
		}
	}
	query := url.Values{
		"sources": {strings.Join(sources, ";")}, "destinations": {strings.Join(destinations, ";")},
		"annotations": {"duration,distance"}, "generate_hints": {"false"},
	}
	var response osrmResponse
	path := "/table/v1/" + r.profile + "/" + strings.Join(places, ";")
	if err := r.service.get(ctx, b.within, path, query, &response); err != nil {
		return nil, err
	}
	cells := make([][]cell, len(response.Durations))
	for i, row := range response.Durations {
		cells[i] = make([]cell, len(row))
		for j, seconds := range row {
			cells[i][j].seconds = seconds
			if i < len(response.Distances) && j < len(response.Distances[i]) {
				cells[i][j].meters = response.Distances[i][j]
			}
		}
	}
	return cells, nil
}

type osrmResponse struct {
	Code      string       `json:"code"`
	Durations [][]*float64 `json:"durations"`
	Distances [][]*float64 `json:"distances"`
}

func (a *osrmResponse) check() error {
	if a.Code != "Ok" {
		return fmt.Errorf("it responded with %q", sanitize(a.Code))
	}
	return nil
}

// degrees formats a coordinate to a tenth of a meter.
func degrees(d float64) string { return strconv.FormatFloat(d, 'f', 6, 64) }
