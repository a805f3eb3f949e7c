package wire

import (
	"net/url"
	"strings"

	"dray/internal/lastmile"
	"dray/internal/travel"
)

// Manifest is a delivery manifest as the interface shows it. Directions need a
// road network: without one there are none, and no total distance.
type Manifest struct {
	ManifestDate  Millis           `json:"manifestDate"`
	DepartureTime Millis           `json:"departureTime"`
	Driver        ManifestDriver   `json:"driver"`
	Vehicle       *ManifestVehicle `json:"vehicle"` // null: on foot
	HubAddress    string           `json:"hubAddress"`
	Tasks         []Task           `json:"tasks"`
	TurnByTurn    []ManifestLeg    `json:"turnByTurn"`
	TotalDistance *string          `json:"totalDistance"` // null without directions
}

// ManifestDriver is the worker of a manifest.
type ManifestDriver struct {
	Name  string         `json:"name"`
	Phone lastmile.Phone `json:"phone"`
}

// ManifestVehicle is the vehicle of a manifest.
type ManifestVehicle struct {
	Type             lastmile.VehicleType `json:"type"`
	Description      *string              `json:"description"`
	LicensePlate     *string              `json:"licensePlate"`
	Color            *string              `json:"color"`
	TimeLastModified Millis               `json:"timeLastModified"`
}

// ManifestLeg is the way to one stop of a manifest.
type ManifestLeg struct {
	StartAddress    string   `json:"start_address"`
	EndAddress      string   `json:"end_address"`
	ETA             Millis   `json:"eta"`
	DrivingDistance string   `json:"driving_distance"`
	Steps           []string `json:"steps"`
}

// NewManifest returns a manifest in the form that is sent.
func NewManifest(m travel.Manifest) Manifest {
	shown := Manifest{
		ManifestDate: Millis(m.At), DepartureTime: Millis(m.Departure),
		Driver:     ManifestDriver{Name: m.Worker.Name, Phone: m.Worker.Phone},
		HubAddress: m.Hub.Address.Line(), Tasks: each(m.Tasks, NewTask), TurnByTurn: []ManifestLeg{},
	}
	if v := m.Worker.Vehicle; v != nil {
		shown.Vehicle = &ManifestVehicle{
			Type: v.Type, Description: orNull(v.Description), LicensePlate: orNull(v.LicensePlate),
			Color: orNull(v.Color), TimeLastModified: Millis(v.Modified),
		}
	}
	return shown
}

// MarketplaceBody is a request of published clients for a manifest: the
// address of another request.
type MarketplaceBody struct {
	Path   string `json:"path"`
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
		return nil, lastmile.Invalid("path must be %s?hubId=…&workerId=…, not %q", manifestPath, clip(b.Path))
	}
	if b.Method != "" && !strings.EqualFold(b.Method, "GET") {
		return nil, lastmile.Invalid("method must be GET, not %q", clip(b.Method))
	}
	query, err := url.ParseQuery(address.RawQuery)
	if err != nil {
		return nil, lastmile.Malformed("the query of path cannot be read: percent-encode it")
	}
	return query, nil
}
