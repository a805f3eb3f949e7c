package geo

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"dray/internal/lastmile"
)

// Google uses Google's Geocoding API. The key is in the query of the URL.
type Google struct{ service *service }

// NewGoogle returns the Geocoding API at base, with the key in its query.
func NewGoogle(base url.URL, o Options) *Google {
	if strings.Trim(base.Path, "/") == "" {
		base.Path = "/maps/api/geocode/json"
	}
	return &Google{newService("google", base, maxResponse, o)}
}

// Geocode implements Geocoder.
func (g *Google) Geocode(ctx context.Context, q lastmile.AddressQuery) (lastmile.GeocodedAddress, error) {
	ask, err := newQuestion(ctx, q)
	if err != nil {
		return lastmile.GeocodedAddress{}, err
	}
	query := url.Values{"address": {ask.line()}, "language": {ask.language}}
	if country := ask.country(); country != "" {
		query.Set("components", "country:"+country)
	} else if ask.likely != "" {
		query.Set("region", strings.ToLower(ask.likely))
	}
	var response googleResponse
	if err := g.service.get(ctx, responseLimit, "", query, &response); err != nil {
		return lastmile.GeocodedAddress{}, err
	}
	hits := make([]hit, len(response.Results))
	for i, r := range response.Results {
		hits[i] = r.hit()
	}
	if place, ok := ask.choose(g.service.name, hits); ok {
		return place, nil
	}
	return lastmile.GeocodedAddress{}, lastmile.AddressNotFound("google does not know it")
}

type googleResponse struct {
	Status  string         `json:"status"`
	Results []googleResult `json:"results"`
}

func (a *googleResponse) check() error {
	if a.Status != "OK" && a.Status != "ZERO_RESULTS" {
		return fmt.Errorf("it responded with %q", sanitize(a.Status))
	}
	return nil
}

type googleResult struct {
	PlaceID  string   `json:"place_id"`
	Types    []string `json:"types"`
	Geometry struct {
		LocationType string `json:"location_type"`
		Location     struct {
			Lat float64 `json:"lat"`
			Lng float64 `json:"lng"`
		} `json:"location"`
	} `json:"geometry"`
	Components []struct {
		LongName  string   `json:"long_name"`
		ShortName string   `json:"short_name"`
		Types     []string `json:"types"`
	} `json:"address_components"`
}

func (r googleResult) hit() hit {
	h := hit{GeocodedAddress: lastmile.GeocodedAddress{
		PlaceID: r.PlaceID, Precision: r.precision(),
		Location: lastmile.Point{Lon: r.Geometry.Location.Lng, Lat: r.Geometry.Location.Lat},
	}}
	a := &h.Address
	// The first component of a type wins.
	for _, kind := range []struct {
		name string
		part *string
	}{
		{"street_number", &a.Number},
		{"route", &a.Street},
		{"subpremise", &a.Apartment},
		{"locality", &a.City},
		{"postal_town", &a.City},
		{"sublocality", &a.City},
		{"administrative_area_level_3", &a.City},
		{"administrative_area_level_2", &a.County},
		{"administrative_area_level_1", &a.State},
		{"postal_code", &a.PostalCode},
		{"country", &a.Country},
	} {
		for _, c := range r.Components {
			if *kind.part == "" && slices.Contains(c.Types, kind.name) {
				*kind.part = c.LongName
				if kind.name == "country" {
					h.countryCode = c.ShortName
				}
			}
		}
	}
	return h
}

func (r googleResult) precision() lastmile.Precision {
	is := func(kinds ...string) bool {
		return slices.ContainsFunc(kinds, func(kind string) bool { return slices.Contains(r.Types, kind) })
	}
	switch r.Geometry.LocationType {
	case "ROOFTOP", "RANGE_INTERPOLATED":
		return lastmile.PrecisionHouse
	}
	switch {
	case is("street_address", "premise", "subpremise", "route", "intersection"):
		return lastmile.PrecisionStreet
	case is("postal_code"):
		return lastmile.PrecisionPostalCode
	case is("locality", "sublocality", "postal_town", "neighborhood", "administrative_area_level_3"):
		return lastmile.PrecisionCity
	}
	return 0
}
