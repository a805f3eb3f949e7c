package geo

import (
	"context"

	"dray/internal/lastmile"
)

// Unconfigured stands where no geocoder is set: it finds nothing and says what
// to do.
type Unconfigured struct{}

// Geocode refuses.
func (Unconfigured) Geocode(context.Context, lastmile.AddressQuery) (lastmile.Place, error) {
	return lastmile.Place{}, lastmile.Invalid("the address cannot be geocoded: this server has no geocoder").
		Because("send location as [longitude, latitude] together with the address")
}
