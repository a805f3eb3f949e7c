package wire

import (
	"net/url"
	"strings"

	"dray/internal/codec"
	"dray/internal/lastmile"
	"dray/internal/travel"
)

// Manifest is a delivery manifest: what a worker has to do, on paper.
//
// Directions need a road network: without one there are none, and no total distance.
type Manifest struct {
	// When the manifest was generated, in Unix milliseconds.
	ManifestDate Millis `json:"manifestDate" example:"1894017600000"`
	// The completeAfter of the first task, or else the time when the manifest was generated, in Unix
	// milliseconds.
	DepartureTime Millis `json:"departureTime" example:"1894021200000"`
	// The worker.
	Driver ManifestDriver `json:"driver"`
	// The worker's vehicle; null means on foot.
	Vehicle *ManifestVehicle `json:"vehicle"`
	// Address of the hub in one line.
	HubAddress string `json:"hubAddress" example:"350 5th Avenue, New York, New York 10118, United States"`
	// All that the worker has to do, in the order of the route.
	Tasks []Task `json:"tasks" example:"[]"`
	// Directions to each stop. Empty: the server has none.
	TurnByTurn []ManifestLeg `json:"turnByTurn" example:"[]"`
	// Length of the route; null without directions.
	TotalDistance *string `json:"totalDistance" example:"null"`
}

// ManifestDriver is the worker of a manifest.
type ManifestDriver struct {
	// Name.
	Name string `json:"name" example:"Ada Lovelace"`
	// Phone number in international form, with a leading +.
	Phone lastmile.Phone `json:"phone" example:"+12125550142"`
}

// ManifestVehicle is the vehicle of a manifest.
type ManifestVehicle struct {
	// Kind of vehicle.
	Type lastmile.VehicleType `json:"type" example:"TRUCK"`
	// Make, model, year or other marks.
	Description *string `json:"description" example:"2022 Ford Transit"`
	// License plate.
	LicensePlate *string `json:"licensePlate" example:"7ABC123"`
	// Color.
	Color *string `json:"color" example:"white"`
	// When the record last changed, in Unix milliseconds.
	TimeLastModified Millis `json:"timeLastModified" example:"1767229200000"`
}

// ManifestLeg is the way to one stop.
type ManifestLeg struct {
	// Where the way starts.
	StartAddress string `json:"start_address"`
	// Where the way ends.
	EndAddress string `json:"end_address"`
	// When the worker will be there, in Unix milliseconds.
	ETA Millis `json:"eta"`
	// Length of the way.
	DrivingDistance string `json:"driving_distance"`
	// Directions.
	Steps []string `json:"steps"`
}

// NewManifest returns a manifest in the form that is sent.
func NewManifest(m travel.Manifest) Manifest {
	shown := Manifest{
		ManifestDate: Millis(m.At), DepartureTime: Millis(m.Departure),
		Driver:     ManifestDriver{Name: m.Worker.Name, Phone: m.Worker.Phone},
		HubAddress: m.Hub.Address.Line(), Tasks: Each(m.Tasks, NewTask), TurnByTurn: []ManifestLeg{},
	}
	if v := m.Worker.Vehicle; v != nil {
		shown.Vehicle = &ManifestVehicle{
			Type: v.Type, Description: orNull(v.Description), LicensePlate: orNull(v.LicensePlate),
			Color: orNull(v.Color), TimeLastModified: Millis(v.Modified),
		}
	}
	return shown
}

// MarketplaceBody is a request for a manifest as published clients send it.
type MarketplaceBody struct {
	// providers/manifest/generate?hubId=…&workerId=…, with the two ids.
	Path string `json:"path" required:"true"`
	// GET.
	Method string `json:"method"`
}

// manifestPath is the only address that can be asked for.
const manifestPath = "providers/manifest/generate"

// Query returns the parameters of the address.
func (b MarketplaceBody) Query() (url.Values, error) {
	if b.Path == "" {
		return nil, lastmile.Missing("path")
	}
	address, err := url.Parse(strings.TrimPrefix(b.Path, "/"))
	if err != nil || address.Path != manifestPath || address.Host != "" {
		return nil, lastmile.Invalid("path must be %s?hubId=…&workerId=…, not %q", manifestPath, codec.Clip(b.Path))
	}
	if b.Method != "" && !strings.EqualFold(b.Method, "GET") {
		return nil, lastmile.Invalid("method must be GET, not %q", codec.Clip(b.Method))
	}
	query, err := url.ParseQuery(address.RawQuery)
	if err != nil {
		return nil, lastmile.Malformed("the query of path cannot be read: percent-encode it")
	}
	return query, nil
}
