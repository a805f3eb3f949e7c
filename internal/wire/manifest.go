package wire

import (
	"net/url"
	"strings"

	"dray/internal/codec"
	"dray/internal/lastmile"
	"dray/internal/travel"
)

// Manifest is a delivery manifest: a printable list of a worker's tasks.
//
// The server does not generate directions: TurnByTurn is always empty and TotalDistance null.
type Manifest struct {
	// Unix time in milliseconds at which the manifest was generated.
	ManifestDate Millis `json:"manifestDate" example:"1894017600000"`
	// Unix time in milliseconds of the departure: the completeAfter of the first task, or else the
	// time at which the manifest was generated.
	DepartureTime Millis `json:"departureTime" example:"1894021200000"`
	// Worker who carries out the tasks.
	Driver ManifestDriver `json:"driver"`
	// Vehicle of the worker; null if the worker is on foot.
	Vehicle *ManifestVehicle `json:"vehicle"`
	// Address of the hub, in one line.
	HubAddress string `json:"hubAddress" example:"350 5th Avenue, New York, New York 10118, United States"`
	// All tasks of the worker, in the order of the route.
	Tasks []Task `json:"tasks" example:"[]"`
	// Directions to each stop. Reserved; always empty.
	TurnByTurn []ManifestLeg `json:"turnByTurn" example:"[]"`
	// Length of the route. Reserved; always null.
	TotalDistance *string `json:"totalDistance" example:"null"`
}

// ManifestDriver is the worker of a manifest.
type ManifestDriver struct {
	// Name of the worker.
	Name string `json:"name" example:"Ada Lovelace"`
	// Phone number of the worker, in international format with a leading +.
	Phone lastmile.Phone `json:"phone" example:"+12125550142"`
}

// ManifestVehicle is the vehicle of a manifest.
type ManifestVehicle struct {
	// Type of the vehicle.
	Type lastmile.VehicleType `json:"type" example:"TRUCK"`
	// Description of the vehicle, such as make, model or year.
	Description *string `json:"description" example:"2022 Ford Transit"`
	// License plate of the vehicle.
	LicensePlate *string `json:"licensePlate" example:"7ABC123"`
	// Color of the vehicle.
	Color *string `json:"color" example:"white"`
	// Unix time in milliseconds at which the vehicle was last modified.
	TimeLastModified Millis `json:"timeLastModified" example:"1767229200000"`
}

// ManifestLeg is one leg of the route, with directions.
type ManifestLeg struct {
	// Address at which the leg starts.
	StartAddress string `json:"start_address"`
	// Address at which the leg ends.
	EndAddress string `json:"end_address"`
	// Unix time in milliseconds at which the worker will arrive.
	ETA Millis `json:"eta"`
	// Length of the leg.
	DrivingDistance string `json:"driving_distance"`
	// Directions, step by step.
	Steps []string `json:"steps"`
}

// NewManifest returns a manifest in its wire form.
func NewManifest(m travel.Manifest) Manifest {
	shown := Manifest{
		ManifestDate: Millis(m.At), DepartureTime: Millis(m.Departure),
		Driver:     ManifestDriver{Name: m.Worker.Name, Phone: m.Worker.Phone},
		HubAddress: m.Hub.Address.Line(), Tasks: Each(m.Tasks, NewTask), TurnByTurn: []ManifestLeg{},
	}
	if v := m.Worker.Vehicle; v != nil {
		shown.Vehicle = &ManifestVehicle{
			Type: v.Type, Description: OrNull(v.Description), LicensePlate: OrNull(v.LicensePlate),
			Color: OrNull(v.Color), TimeLastModified: Millis(v.Modified),
		}
	}
	return shown
}

// MarketplaceBody is the body of a request for a manifest, in the form that published clients use.
type MarketplaceBody struct {
	// Path of the request: providers/manifest/generate?hubId=…&workerId=…, with the two IDs.
	Path string `json:"path" required:"true"`
	// HTTP method: GET.
	Method string `json:"method"`
}

// manifestPath is the only path that can be requested.
const manifestPath = "providers/manifest/generate"

// Query returns the query parameters of the path.
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
