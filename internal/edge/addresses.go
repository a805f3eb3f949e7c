package edge

import "dray/internal/lastmile"

// AddressParameters are the query parameters of a search for addresses, which the API
// of organizations and that of workers have in common.
var AddressParameters = []Parameter{
	{Name: "q", Description: "beginning of an address, at most 250 characters. Either this or location is required", Example: "350 5th Av"},
	{Name: "location", Description: "longitude,latitude whose address to find"},
	{Name: "near", Description: "longitude,latitude near which addresses are preferred. Default: the hubs of the organization"},
	{Name: "limit", Description: "maximum number of addresses. Default: 5; maximum: 20", Type: "number"},
}

// AddressSearch returns the values of AddressParameters; nil for those that were not sent.
func (c *Call) AddressSearch() (text string, at, near *lastmile.Point, limit *float64, err error) {
	if at, err = c.Point("location"); err != nil {
		return "", nil, nil, nil, err
	}
	if near, err = c.Point("near"); err != nil {
		return "", nil, nil, nil, err
	}
	if number, sent, err := c.Number("limit"); err != nil {
		return "", nil, nil, nil, err
	} else if sent {
		limit = &number
	}
	return c.Query.Get("q"), at, near, limit, nil
}
