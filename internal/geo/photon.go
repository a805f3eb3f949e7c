package geo

import (
	"cmp"
	"context"
	"net/url"
	"slices"

	"dray/internal/lastmile"
)

// Photon uses a Photon server.
type Photon struct{ service *service }

// NewPhoton returns the Photon at base.
func NewPhoton(base url.URL, o Options) *Photon {
	return &Photon{newService("photon", base, maxResponse, o)}
}

// photonLanguages are the languages that every Photon supports; it rejects
// others.
var photonLanguages = []string{"en", "de", "fr"}

// Geocode implements Geocoder.
func (p *Photon) Geocode(ctx context.Context, q lastmile.AddressQuery) (lastmile.GeocodedAddress, error) {
	ask, err := newQuestion(ctx, q)
	if err != nil {
		return lastmile.GeocodedAddress{}, err
	}
	query := url.Values{"q": {ask.line()}, "limit": {maxHits}}
	if slices.Contains(photonLanguages, ask.language) {
		query.Set("lang", ask.language)
	}
	var response photonResponse
	if err := p.service.get(ctx, responseLimit, "/api", query, &response); err != nil {
		return lastmile.GeocodedAddress{}, err
	}
	hits := make([]hit, len(response.Features))
	for i, f := range response.Features {
		hits[i] = f.hit()
	}
	if place, ok := ask.choose(p.service.name, hits); ok {
		return place, nil
	}
	return lastmile.GeocodedAddress{}, lastmile.AddressNotFound("photon does not know it")
}

// photonResponse is a GeoJSON collection of places.
type photonResponse struct {
	Features []photonFeature `json:"features"`
}

type photonFeature struct {
	Geometry struct {
		Coordinates []float64 `json:"coordinates"`
	} `json:"geometry"`
	Properties struct {
		HouseNumber string `json:"housenumber"`
		Street      string `json:"street"`
		Name        string `json:"name"`
		City        string `json:"city"`
		District    string `json:"district"`
		Locality    string `json:"locality"`
		County      string `json:"county"`
		State       string `json:"state"`
		Postcode    string `json:"postcode"`
		Country     string `json:"country"`
		CountryCode string `json:"countrycode"`
		Type        string `json:"type"`
		OSMValue    string `json:"osm_value"`
	} `json:"properties"`
}

func (f photonFeature) hit() hit {
	p := f.Properties
	h := hit{countryCode: p.CountryCode, GeocodedAddress: lastmile.GeocodedAddress{
		Address: lastmile.Address{
			Number: p.HouseNumber, Street: p.Street, City: cmp.Or(p.City, p.Locality, p.District),
			State: p.State, County: p.County, PostalCode: p.Postcode, Country: p.Country,
		},
	}}
	if len(f.Geometry.Coordinates) >= 2 {
		h.Location = lastmile.Point{Lon: f.Geometry.Coordinates[0], Lat: f.Geometry.Coordinates[1]}
	}
	switch {
	case p.HouseNumber != "":
		h.Precision = lastmile.PrecisionHouse
	case p.Type == "street":
		h.Precision = lastmile.PrecisionStreet
		h.Address.Street = cmp.Or(p.Street, p.Name)
	case p.Type == "house": // a shop or similar without a number
		h.Precision = lastmile.PrecisionStreet
	case p.OSMValue == "postcode" || p.OSMValue == "postal_code":
		h.Precision = lastmile.PrecisionPostalCode
	case p.Type == "city" || p.Type == "district" || p.Type == "locality":
		h.Precision = lastmile.PrecisionCity
		h.Address.City = cmp.Or(h.Address.City, p.Name)
	}
	return h
}
