package wire

import "dray/internal/lastmile"

// Address is an address as the interface shows it.
type Address struct {
	Name       string `json:"name,omitzero"` // only if given
	Number     string `json:"number"`
	Street     string `json:"street"`
	Apartment  string `json:"apartment"` // "" when none
	City       string `json:"city"`
	State      string `json:"state"`
	PostalCode string `json:"postalCode"`
	County     string `json:"county,omitzero"` // hubs only
	Country    string `json:"country"`
}

// AddressBody is an address in a request.
type AddressBody struct {
	Name       string `json:"name"`
	Number     Text   `json:"number"`
	Street     string `json:"street"`
	Apartment  Text   `json:"apartment"`
	City       string `json:"city"`
	State      string `json:"state"`
	PostalCode Text   `json:"postalCode"`
	Country    string `json:"country"`
	Unparsed   string `json:"unparsed"`
}

func (a AddressBody) domain() lastmile.Address {
	return lastmile.Address{
		Name: a.Name, Number: string(a.Number), Street: a.Street, Apartment: string(a.Apartment),
		City: a.City, State: a.State, PostalCode: string(a.PostalCode), Country: a.Country,
	}
}
