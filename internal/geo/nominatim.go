package geo

import (
	"cmp"
	"context"
	"maps"
	"net/url"
	"strconv"
	"strings"
	"time"

	"dray/internal/lastmile"
)

// publicNominatim is the server of the OpenStreetMap Foundation, which allows
// one request per second for a whole application.
const publicNominatim = "nominatim.openstreetmap.org"

// publicInterval is a second, plus a margin for clock differences.
const publicInterval = time.Second + 10*time.Millisecond

// maxHits is the maximum number of results that are requested.
const maxHits = "5"

// Nominatim uses a Nominatim server.
type Nominatim struct{ service *service }

// NewNominatim returns the Nominatim at base.
func NewNominatim(base url.URL, o Options) *Nominatim {
	s := newService("nominatim", base, maxResponse, o)
	if strings.EqualFold(base.Hostname(), publicNominatim) {
		s.pacer = newPacer(publicInterval, responseLimit/2)
	}
	return &Nominatim{s}
}

// Geocode implements Geocoder. It queries an address in parts first by parts and then as one
// line, because a query by parts misses cities with a different spelling.
func (n *Nominatim) Geocode(ctx context.Context, q lastmile.AddressQuery) (lastmile.GeocodedAddress, error) {
	ask, err := newQuestion(ctx, q)
	if err != nil {
		return lastmile.GeocodedAddress{}, err
	}
	for _, query := range nominatimQueries(ask) {
		var response []nominatimHit
		if err := n.service.get(ctx, responseLimit, "/search", query, &response); err != nil {
			return lastmile.GeocodedAddress{}, err
		}
		hits := make([]hit, len(response))
		for i, h := range response {
			hits[i] = h.hit()
		}
		if place, ok := ask.choose(n.service.name, hits); ok {
			return place, nil
		}
	}
	return lastmile.GeocodedAddress{}, lastmile.AddressNotFound("nominatim does not know it")
}

func nominatimQueries(ask question) []url.Values {
	common := func() url.Values {
		v := url.Values{"format": {"jsonv2"}, "addressdetails": {"1"}, "limit": {maxHits}, "accept-language": {ask.language}}
		if ask.likely != "" {
			v.Set("countrycodes", strings.ToLower(ask.likely))
		}
		return v
	}
	line := common()
	line.Set("q", ask.line())
	if ask.Unparsed != "" {
		anywhere := maps.Clone(line)
		anywhere.Del("countrycodes")
		if ask.country() != "" || !line.Has("countrycodes") {
			return []url.Values{line}
		}
		return []url.Values{line, anywhere}
	}
	parts := common()
	a := ask.Address
	for key, value := range map[string]string{
		"street": strings.TrimSpace(a.Number + " " + a.Street), "city": a.City, "state": a.State, "postalcode": a.PostalCode,
	} {
		if value != "" {
			parts.Set(key, value)
		}
	}
	return []url.Values{parts, line}
}

// nominatimHit is a result in the format jsonv2.
type nominatimHit struct {
	Lat         string            `json:"lat"`
	Lon         string            `json:"lon"`
	AddressType string            `json:"addresstype"`
	PlaceRank   int               `json:"place_rank"`
	Address     map[string]string `json:"address"`
}

func (h nominatimHit) hit() hit {
	a := h.Address
	return hit{
		GeocodedAddress: lastmile.GeocodedAddress{
			Location: parsePoint(h.Lon, h.Lat), Precision: h.precision(),
			Address: lastmile.Address{
				Number:     a["house_number"],
				Street:     cmp.Or(a["road"], a["pedestrian"], a["footway"], a["square"], a["place"]),
				City:       cmp.Or(a["city"], a["town"], a["village"], a["municipality"], a["hamlet"], a["suburb"], a["city_district"]),
				State:      cmp.Or(a["state"], a["region"], a["province"]),
				County:     a["county"],
				PostalCode: a["postcode"],
				Country:    a["country"],
			},
		},
		countryCode: a["country_code"],
	}
}

// Nominatim's ranks of places.
const (
	rankHouse  = 28
	rankStreet = 26
	rankCity   = 12
)

func (h nominatimHit) precision() lastmile.Precision {
	switch {
	case h.AddressType == "postcode":
		return lastmile.PrecisionPostalCode
	case h.PlaceRank >= rankHouse && h.Address["house_number"] != "":
		return lastmile.PrecisionHouse
	case h.PlaceRank >= rankStreet:
		return lastmile.PrecisionStreet
	case h.PlaceRank >= rankCity:
		return lastmile.PrecisionCity
	}
	return 0
}

// parsePoint parses a location; the zero Point if it is invalid.
func parsePoint(lon, lat string) lastmile.Point {
	x, errX := strconv.ParseFloat(lon, 64)
	y, errY := strconv.ParseFloat(lat, 64)
	if errX != nil || errY != nil {
		return lastmile.Point{}
	}
	return lastmile.Point{Lon: x, Lat: y}
}
