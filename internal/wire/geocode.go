package wire

import (
	"dray/internal/lastmile"
)

// FoundAddress is an address that a search found.
type FoundAddress struct {
	// Location of the address, as [longitude, latitude] in degrees.
	Location LonLat `json:"location" example:"[-73.9857, 40.7484]"`
	// The address. Parts that are not known are empty.
	Address Address `json:"address"`
	// The address on one line, to be shown.
	Line string `json:"line" example:"350 5th Avenue, New York, New York 10118, United States"`
	// What the location is the location of: house, street, postalCode or city.
	Precision string `json:"precision" enum:"house,street,postalCode,city" example:"house"`
	// APPROXIMATE if the location is not that of the address itself.
	Warnings []string `json:"warnings" example:"[]"`
	// What found the address: streets for imported maps, gazetteer for the built-in list of cities.
	Source string `json:"source" example:"streets"`
}

// NewFoundAddresses returns addresses that a search found, in their wire form.
func NewFoundAddresses(found []lastmile.GeocodedAddress) []FoundAddress {
	all := make([]FoundAddress, len(found))
	for i, f := range found {
		address := Address(f.Address)
		address.County = ""
		all[i] = FoundAddress{
			Location: LonLat(f.Location), Address: address, Line: f.Address.Line(), Precision: f.Precision.String(), Warnings: orEmpty(f.Warnings), Source: f.Source,
		}
	}
	return all
}
